"""A page of Markdown sections, and the same page in lines."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual.strip import Strip

__all__ = ["TERM", "TOP", "Link", "Painted", "Section", "Spot"]

Spot = tuple[str, float]
"""Where in a page: key of a section, and how far into it, 0 to 1. It holds at any width and in both languages."""
TOP: Spot = ("", 0.0)
TERM = "term:"
"""Begins a target that explains a word rather than leads away."""


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of a page."""

    key: str
    """Entry id; "" for the title of a document."""
    markdown: str
    links: Mapping[str, str] | None = None
    """Word -> what it leads to; None for a text whose links are only shown."""


@dataclass(frozen=True, slots=True)
class Link:
    """Cells that lead somewhere."""

    target: str
    parts: tuple[tuple[int, int, int], ...]
    """(line, first cell, one past the last cell) in each line that it touches."""

    @property
    def line(self) -> int:
        """Line where it starts."""
        return self.parts[0][0]


@dataclass(frozen=True, slots=True)
class Painted:
    """A page in lines."""

    strips: tuple[Strip, ...]
    texts: tuple[str, ...]
    """The same lines as text."""
    anchors: Mapping[str, int]
    """Key of a section -> its first line."""
    headings: tuple[tuple[str, int, int], ...]
    """(text, level, line) of every heading."""
    links: tuple[Link, ...] = ()
    """In reading order."""

    def spot(self, line: int) -> Spot:
        """Return where a line is."""
        key, first = max(((k, n) for k, n in self.anchors.items() if n <= line), key=lambda item: item[1], default=TOP)
        return key, (line - first) / max(1, self._length(int(first)))

    def line(self, spot: Spot) -> int:
        """Return the line of a spot; the first line if the page has no such section."""
        first = self.anchors.get(spot[0])
        return 0 if first is None else first + round(spot[1] * self._length(first))

    def _length(self, first: int) -> int:
        return min((n for n in self.anchors.values() if n > first), default=len(self.strips)) - first
