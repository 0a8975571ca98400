"""What of an entry is indexed: its heading and each way of asking as questions, its text in pieces, each table row."""

from collections.abc import Iterable

from kb.parse import blocks
from kb.types import Block, Entry, Passage

_MAX_CHARACTERS = {"zh": 400, "en": 900}
"""Longer passages blur: their vector is near everything and close to nothing."""


def passages_of(entry: Entry) -> tuple[Passage, ...]:
    """Return the passages of an entry. Text passages and rows start with the entry's title."""
    span = entry.span
    found = [
        Passage(entry.id, entry.lang, "question", phrase, span.start, span.end)
        for phrase in dict.fromkeys((entry.title, *entry.asks))
    ]
    pieces = blocks(entry)
    for piece in pieces:
        if piece.is_row:
            text = f"{entry.title} | {piece.index_text}"
            found.append(Passage(entry.id, entry.lang, "row", text, piece.start, piece.end))
    for group in _groups((piece for piece in pieces if not piece.is_row), _MAX_CHARACTERS[entry.lang]):
        text = "\n".join((entry.title, *(piece.index_text for piece in group)))
        found.append(Passage(entry.id, entry.lang, "answer", text, group[0].start, group[-1].end))
    return tuple(found)


def _groups(pieces: Iterable[Block], limit: int) -> list[list[Block]]:
    """Join neighbouring blocks until a group would exceed the limit; a longer block stays alone."""
    groups: list[list[Block]] = []
    length = 0
    for piece in pieces:
        if not piece.index_text:
            continue
        if not groups or length + len(piece.index_text) > limit:
            groups.append([])
            length = 0
        groups[-1].append(piece)
        length += len(piece.index_text)
    return groups
