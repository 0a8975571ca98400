"""Where a line breaks: at spaces, and between any two characters of which one is Chinese."""

from rich.cells import get_character_cell_size as cells

__all__ = ["breaks", "least_width"]

_NO_START = frozenset("，。、；：？！）》」』】”’…—,.;:?!)]}%")
_NO_END = frozenset("（《「『【“‘([{")


def breaks(text: str, width: int) -> list[int]:
    """Return the offsets at which a text is cut so that every piece fits; spaces stay at the end of a piece.

    Args:
        text: one line.
        width: cells, at least 1.
    """
    offsets: list[int] = []
    start = used = 0
    chance = 0
    for index, character in enumerate(text):
        if index > start and _may_break(text[index - 1], character):
            chance = index
        size = cells(character)
        if used + size > width and character != " " and index > start:
            cut = chance if chance > start else index
            offsets.append(cut)
            used = sum(map(cells, text[cut:index]))
            start = chance = cut
        used += size
    return offsets


def least_width(text: str, most: int = 16) -> int:
    """Return the width of the longest piece that should not be broken, at most `most` cells."""
    longest = used = 0
    for index, character in enumerate(text):
        if index and _may_break(text[index - 1], character):
            used = 0
        used += cells(character) if character not in " \n" else 0
        longest = max(longest, used)
    return max(1, min(longest, most))


def _may_break(before: str, after: str) -> bool:
    if before in " \n":
        return after != " "
    if after in _NO_START or before in _NO_END:
        return False
    return cells(before) == 2 or cells(after) == 2
