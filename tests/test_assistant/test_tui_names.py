"""Names and sentences in the tables of the area Model: cut, padded and broken to a width in cells."""

import pytest
from rich.cells import cell_len

from assistant.tui.model.names import cut, padded, wrapped
from assistant.tui.safe import one_line

TEXTS = (
    "",
    "short",
    "/model/stage/卷积/Conv_0123456789_with_a_long_name",
    "由 scale、zero_point（offset）和整数类型算出",
    "😀漢字[red]\x1b[31m\n\t",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [1, 5, 12, 40])
def test_nothing_is_wider_than_told(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= width
    assert cell_len(padded(text, width)) == width
    lines = wrapped(text, max(width, 2))
    assert all(cell_len(line) <= max(width, 2) for line in lines)
    assert "".join(lines).replace(" ", "") == one_line(text).replace(" ", "")


def test_a_cut_name_keeps_its_begin_and_its_end() -> None:
    assert cut("/model/stage1/block/conv1", 12) == "/mo…ck/conv1"


def test_chinese_breaks_between_its_characters_and_a_mark_never_begins_a_line() -> None:
    assert wrapped("由 scale、zero_point（offset）和整数类型算出", 20) == [
        "由 scale、zero_point", "（offset）和整数类型", "算出",
    ]  # fmt: skip
