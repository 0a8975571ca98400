"""The area Logs without a window: rows of a log on disk, finding, painting, the texts."""

import random
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.style import Style

from assistant.logs.decode import lines as decoded
from assistant.tui.logs.find import find, found_in, shown
from assistant.tui.logs.painting import Frame, character_at, gutter, paint, width_of
from assistant.tui.logs.rows import Rows
from tests.test_assistant.logs_area import rows_of

ENCODED = {
    "utf-8": "中文 line {i} ret = [507899]\n".encode(),
    "gb18030": "错误 line {i}\n".encode("gb18030"),
    "crlf": b"line {i}\r\n",
    "cr": b"progress {i}\r",
    "docker": b'{"log":"line {i}\\n","stream":"stderr","time":"2024-01-02T03:04:05.6Z"}\n',
}


@pytest.mark.parametrize("kind", [*ENCODED, "utf-16", "long", "mixed", "empty", "tiny"])
@pytest.mark.parametrize("portions", [7_001, 1 << 18])
def test_rows_are_the_lines_that_the_decoder_gives(kind: str, portions: int, tmp_path: Path) -> None:
    if kind in ENCODED:
        data = b"".join(ENCODED[kind].replace(b"{i}", str(i).encode()) for i in range(1_500)) + b"no end"
    elif kind == "utf-16":
        data = "\ufeff".encode("utf-16-le") + "".join(f"行 {i}\n" for i in range(4_000)).encode("utf-16-le")
    elif kind == "long":
        data = b"first\n" + b"x" * 200_000 + b"\n" + "长".encode() * 90_000 + b"\nlast\nend"
    elif kind == "mixed":
        dice = random.Random(7)
        data = b"".join(
            bytes(dice.choice(b"abc \r\n\t\0\x1b\xd6\xd0") for _ in range(dice.randrange(90))) for _ in range(900)
        )
    else:
        data = b"" if kind == "empty" else b"a\nb\r\n\nc"
    expected = list(decoded(data))
    with rows_of(data, tmp_path, portions) as rows:
        assert rows.count == len(expected)
        assert [rows.row(i) for i in range(rows.count)] == expected
        assert rows.row(rows.count) is None and rows.row(-1) is None
        if expected:
            assert rows.lines == expected[-1].number
            for index in {0, len(expected) // 2, len(expected) - 1}:
                line = expected[index]
                assert rows.row_at(line.start) == index or not line.raw
                first = next(i for i, one in enumerate(expected) if one.number == line.number)
                assert rows.row_of(line.number) == first


def test_rows_are_seen_while_they_come(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    rows = Rows("growing.log", path)
    with path.open("ab", buffering=0) as file:
        for i in range(4_000):
            data = f"line {i}\npart".encode()
            file.write(data)
            rows.feed(data)
    last, tail = rows.row(rows.count - 2), rows.row(rows.count - 1)
    rows.release()
    assert last is not None and last.text == "partline 3999"
    assert tail is not None and tail.text == "part"
    assert rows.lines == 4_001
    assert len(rows._starts) < 10


def test_find_goes_both_ways_and_round(tmp_path: Path) -> None:
    text = "".join(f"{'中文 NEEDLE' if i in (10, 5_000, 19_000) else 'hay'} {i}\n" for i in range(20_000))
    with rows_of(text.encode(), tmp_path) as rows:

        def at(query: str, row: int, *, back: bool = False) -> int | None:
            return find(rows, query, row, back=back, stop=lambda: False, on_block=lambda done: None)

        assert [at("needle", row) for row in (-1, 10, 5_000, 19_000)] == [10, 5_000, 19_000, 10]
        assert [at("中文 needle", row, back=True) for row in (19_500, 19_000, 5_000, 10)] == [19_000, 5_000, 10, 19_000]
        assert at("nothing", 5) is None
        assert at("hay 7777", 7_777) == 7_777
        assert find(rows, "needle", 0, back=False, stop=lambda: True, on_block=lambda done: None) is None
        assert found_in("aAa", "A") == [(0, 1), (1, 2), (2, 3)]


WIDE = (
    b"plain",
    b"",
    "中文日志中文日志".encode(),
    "a中b文c日d志 😀 [red]x[/red] [NDRV]".encode(),
    "e\u0301 combining, \u200b zero, tab\there".encode(),
    b"\x1b[31mred\x1b[0m \x1b]52;c;aa\x07clip \x00nul",
    b'{"log":"line\\n","stream":"stderr","time":"2024-01-02T03:04:05.6Z"}',
    b"x" * 70_000,
    "长".encode() * 9_000,
)


@pytest.mark.parametrize("left", [0, 1, 2, 3, 7, 600])
@pytest.mark.parametrize("data", WIDE, ids=lambda data: f"{data[:12]!r}")
def test_a_row_fills_the_screen_whatever_is_in_it(data: bytes, left: int) -> None:
    (line, *_) = decoded(data + b"\n")
    frame = Frame(left, 60, gutter(1), "i", True)
    strip = paint(line, frame, Style(), "cause", lambda name: Style(bold=name == "found"))

    assert strip.cell_length == cell_len(strip.text) == 60
    assert strip.text.startswith("○   1 │ ")
    assert "\x1b" not in strip.text and "\x00" not in strip.text
    if line.text.isascii() and len(line.text) < 4_000 and not line.time:
        assert strip.text[8:].rstrip() == shown(line.text)[left : left + 52].rstrip()
    assert width_of(line) >= min(cell_len(shown(line.text)), 4_000)


def test_what_is_found_is_painted_also_where_it_begins_off_the_screen() -> None:
    (line,) = decoded("中 needle and needle E19999".encode())
    strip = paint(
        line, Frame(5, 40, 8, "NEEDLE", True), Style(), "", lambda name: Style(bold=name == "found", dim=name == "code")
    )

    bold = "".join(text for text, style, _ in strip if style is not None and style.bold)
    assert bold == "edle" + "needle"
    assert "".join(text for text, style, _ in strip if style is not None and style.dim) == "E19999"


def test_a_cell_names_its_character() -> None:
    assert [character_at("a中b", cells) for cells in range(6)] == [(0, 0), (1, 0), (1, 1), (2, 0), (3, 0), (3, 0)]
    assert character_at("中" * 5_000, 6_001) == (3_000, 1)
    assert character_at("plain", 99) == (5, 0)


def test_shown_text_has_no_control_characters() -> None:
    assert shown("a\tb\x1b[2J\x07") == "a    b\\u001b[2J\\u0007"
