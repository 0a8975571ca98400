"""Names and sentences as they stand in tables and charts: on one line, cut, padded, wrapped."""

from itertools import pairwise

from rich.cells import cell_len, set_cell_size

from assistant.tui.safe import one_line
from assistant.tui.wrapping import breaks

__all__ = ["cut", "padded", "wrapped"]


def cut(text: str, width: int) -> str:
    """Return a name of at most `width` cells: its begin and its end, where names differ."""
    text = one_line(text)
    if cell_len(text) <= width:
        return text
    if width < 6:
        return set_cell_size(text, max(width, 0)).rstrip()
    head = (width - 1) // 3
    end, cells = "", 0
    for character in reversed(text):
        cells += cell_len(character)
        if cells > width - 1 - head:
            break
        end = character + end
    return f"{set_cell_size(text, head).rstrip()}…{end}"


def padded(text: str, width: int) -> str:
    """Return a name of exactly `width` cells."""
    return set_cell_size(cut(text, width), width)


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most `width` cells, broken at spaces and where Chinese text breaks; a long word anywhere."""
    text = one_line(text)
    ends = [0, *breaks(text, max(width, 1)), len(text)]
    return [text[start:end].rstrip(" ") for start, end in pairwise(ends)]
