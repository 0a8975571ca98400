"""Cells of a line: a bar of block characters, and a part in another style."""

from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

__all__ = ["bar", "styled"]

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def bar(cells: float) -> str:
    """Return a bar as long as so many cells, to an eighth of one; above 0 it is never nothing."""
    if cells <= 0:
        return ""
    eighths = max(round(cells * 8), 1)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def styled(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Return a line with a style over the cells from `start` to before `end`."""
    end = min(end, strip.cell_length)
    if not start < end:
        return strip
    inside = strip.crop(start, end)
    marked = Strip(list(Segment.apply_style(inside, post_style=style)), inside.cell_length)
    return Strip.join([strip.crop(0, start), marked, strip.crop(end)])
