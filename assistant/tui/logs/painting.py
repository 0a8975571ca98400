"""A row of a log as cells: mark, number, text; what is cut off at the left and right is never looked at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from assistant.logs.codes import find_codes
from assistant.logs.decode import Line
from assistant.tui.logs.find import found_in, shown

__all__ = ["MARKS", "Frame", "character_at", "gutter", "paint", "prefix", "width_of"]

#: What a row speaks for -> the mark in front of it; a mark is told by its form, not only by its colour.
MARKS: Mapping[str, str] = {"answer": "●", "cause": "○", "later": "↳", "symptom": "▲", "benign": "✓", "unknown": "?"}
#: Codes are looked for in so many characters of a row.
_CODED = 2000
#: Cells are counted for so many characters at a time.
_COUNTED = 512
#: The width of a longer text is estimated: a piece of an endless line would take milliseconds.
_MEASURED = 4096

Styles = Callable[[str], Style]
"""Name of a part -> its style."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What all rows of a screen share."""

    left: int
    """Cells that are scrolled off."""
    width: int
    """Cells of the screen."""
    gutter: int
    """Cells in front of the text."""
    query: str
    with_codes: bool


def gutter(lines: int) -> int:
    """Return the cells in front of the text: mark, number, bar."""
    return 2 + max(len(str(lines)), 3) + 3


def paint(line: Line, frame: Frame, base: Style, kind: str, style: Styles) -> Strip:
    """Return the cells of a row.

    Args:
        line: the row.
        frame: what is seen of it.
        base: of the whole row.
        kind: what it speaks for, as in `MARKS`; empty for nothing.
        style: of its parts.
    """
    mark = style(kind) if kind else Style.null()
    dim = style("number")
    number = "+" if line.piece else str(line.number)
    segments = [
        Segment(f"{MARKS.get(kind, ' ')} ", base + mark),
        Segment(f"{number:>{frame.gutter - 5}} ", base + dim),
        Segment("│ ", base + mark + dim),
        *_text(line, frame, base + mark if mark.bold else base, base, style),
    ]
    return Strip(segments).adjust_cell_length(frame.width, base)


def _text(line: Line, frame: Frame, plain: Style, base: Style, style: Styles) -> list[Segment]:
    """Return the visible part of the text, cut where its style changes."""
    head, body = prefix(line), shown(line.text)
    text = head + body
    begin, inside = character_at(text, frame.left)
    seen = text[begin : begin + frame.width + 1]
    end = begin + character_at(seen, frame.width - frame.gutter + inside)[0] + 1
    end = min(end, len(text))
    at = len(head)
    spans = [(0, at, base + style("prefix"))] if head else []
    if frame.with_codes and begin < _CODED:
        spans += [(at + one.start, at + one.end, style("code")) for one in find_codes(body[:_CODED])]
    if frame.query:
        # A match may begin before what is seen.
        since = max(begin - at - len(frame.query), 0)
        found = found_in(body[since : end - at + len(frame.query)], frame.query) if end > at else []
        spans += [(at + since + start, at + since + stop, style("found")) for start, stop in found]
    spans = [(max(start, begin), min(stop, end), one) for start, stop, one in spans if start < end and stop > begin]
    cuts = sorted({begin, end, *(start for start, _, _ in spans), *(stop for _, stop, _ in spans)})
    segments = []
    for start, stop in pairwise(cuts):
        painted = plain
        for first, last, one in spans:
            if first <= start and stop <= last:
                painted = one if stop <= at else painted + one
        segments.append(Segment(text[start:stop], painted))
    # A wide character that is cut at the left edge leaves a blank.
    if inside and segments:
        strip = Strip(segments)
        segments = list(strip.crop(inside, strip.cell_length))
    return segments


def prefix(line: Line) -> str:
    """Return time and stream that the carriers of the log wrote in front of the row."""
    told = " ".join(part for part in (line.time, line.stream) if part)
    return shown(told) + " " if told and not line.piece else ""


def width_of(line: Line) -> int:
    """Return the cells of the text of a row; of a very long one at least so many."""
    text = prefix(line) + line.text
    if len(text) > _MEASURED:
        return len(text) if text.isascii() else 2 * len(text)
    text = shown(text)
    return len(text) if text.isascii() else cell_len(text)


def character_at(text: str, cells: int) -> tuple[int, int]:
    """Return the character at a cell, and how many of its cells are to the left; the end if the text is shorter."""
    if text.isascii():
        return min(max(cells, 0), len(text)), 0
    at = 0
    for begin in range(0, len(text), _COUNTED):
        size = cell_len(text[begin : begin + _COUNTED])
        if at + size > cells:
            break
        at += size
    else:
        return len(text), 0
    for i in range(begin, len(text)):
        size = get_character_cell_size(text[i])
        if at + size > cells:
            return i, cells - at
        at += size
    return len(text), 0
