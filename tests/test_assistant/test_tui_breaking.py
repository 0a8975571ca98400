"""Lines of Chinese break between any two characters, those of English at spaces, in every widget."""

import pytest
from rich.cells import cell_len
from textual.content import Content

from assistant.tui.breaking import break_chinese


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("已检索 363 个条目，没有可靠的答案", 20, ["已检索 363 个条目，", "没有可靠的答案"]),
        ("≈ Nano 的对称量化怎么算", 14, ["≈ Nano 的对称", "量化怎么算"]),
        ("one two three", 8, ["one two", "three"]),
        ("averyveryverylongword", 8, ["averyver", "yverylon", "gword"]),
        ("😀😀😀 [red] 长长长", 8, ["😀😀😀", "[red] 长", "长长"]),
    ],
)
def test_lines_break_where_readers_expect(text: str, width: int, lines: list[str]) -> None:
    break_chinese()
    found = [str(line).rstrip() for line in Content(text).wrap(width)]

    assert found == lines
    assert all(cell_len(line) <= width for line in found)
