"""Bars of block characters, and parts of a line in another style."""

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from assistant.tui.cells import bar, styled

BOLD = Style(bold=True)


@pytest.mark.parametrize(
    ("cells", "drawn"), [(0, ""), (-1, ""), (1e-9, "▏"), (0.5, "▌"), (1, "█"), (2.25, "██▎"), (2.99, "███")]
)
def test_a_bar_is_exact_to_an_eighth_and_never_nothing(cells: float, drawn: str) -> None:
    assert bar(cells) == drawn


@pytest.mark.parametrize(
    ("start", "end", "bold"), [(0, 2, "中"), (2, 4, "ab"), (1, 99, " ab"), (3, 3, ""), (4, 9, ""), (0, 99, "中ab")]
)
def test_a_part_of_a_line_gets_a_style(start: int, end: int, bold: str) -> None:
    line = styled(Strip([Segment("中ab")]), start, end, BOLD)

    assert line.cell_length == 4
    assert "".join(part.text for part in line if part.style and part.style.bold) == bold
