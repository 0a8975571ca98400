"""Matches of a text in painted lines, also where the text continues in the next line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

__all__ = ["Match", "find"]


@dataclass(frozen=True, slots=True)
class Match:
    """One match."""

    parts: tuple[tuple[int, int, int], ...]
    """(line, first cell, one past the last cell) in each line that it touches."""

    @property
    def line(self) -> int:
        """Line where it starts."""
        return self.parts[0][0]


def find(lines: Sequence[str], wanted: str) -> list[Match]:
    """Return all matches in order; case does not matter, a space matches a line break.

    Args:
        lines: painted lines as text.
        wanted: what to find, literally; nothing is found for an empty one.
    """
    words = wanted.split()
    if not words:
        return []
    # A painted line may break anywhere in Chinese; the next line starts with its indentation.
    step = r"(?: *\n[ ▌│]*)?"
    pattern = r"(?: +| *\n[ ▌│]*)".join(step.join(map(re.escape, word)) for word in words)
    text = "\n".join(line.rstrip() for line in lines)
    starts, offset = [], 0
    for line in text.split("\n"):
        starts.append(offset)
        offset += len(line) + 1
    found: list[Match] = []
    number = 0
    for match in re.finditer(pattern, text, re.IGNORECASE):
        while number + 1 < len(starts) and starts[number + 1] <= match.start():
            number += 1
        found.append(Match(tuple(_parts(text, starts, number, match.start(), match.end()))))
    return found


def _parts(text: str, starts: Sequence[int], line: int, start: int, end: int) -> list[tuple[int, int, int]]:
    parts = []
    while line < len(starts) and starts[line] < end:
        stop = starts[line + 1] - 1 if line + 1 < len(starts) else len(text)
        first, last = max(start, starts[line]), min(end, stop)
        if line != 0 and starts[line] > start:
            while first < last and text[first] in " ▌│":
                first += 1
        if first < last:
            before = cell_len(text[starts[line] : first])
            parts.append((line, before, before + cell_len(text[first:last])))
        line += 1
    return parts
