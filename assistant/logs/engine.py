"""Engines that find many texts at once: hyperscan if it is installed, else an Aho-Corasick automaton.

Both find the same. Hyperscan (the extra `fast`) takes half of the time or less; it exists for x86 and ARM only.
"""

import threading
from collections.abc import Callable, Sequence

__all__ = ["Find", "Occurrence", "engine", "name"]

Occurrence = tuple[int, int, int]
"""(number of the text, start, end)"""
Find = Callable[[bytes], Sequence[Occurrence]]
"""Returns every occurrence in bytes, overlapping ones too, by end."""


def engine(texts: Sequence[bytes]) -> Find:
    """Return a search for texts, none of them empty."""
    return _hyperscan(texts) or _automaton(texts)


def name() -> str:
    """Return which engine is used."""
    return "hyperscan" if _hyperscan([b"text"]) else "Aho-Corasick"


def _automaton(texts: Sequence[bytes]) -> Find:
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    automaton = BytesAhoCorasick(texts, implementation=Implementation.DFA)
    return lambda data: automaton.find_matches_as_indexes(data, overlapping=True)


def _hyperscan(texts: Sequence[bytes]) -> Find | None:
    """Return None if hyperscan is not installed, or this processor or a text is none for it."""
    try:
        import hyperscan
    except ImportError:
        return None
    # Its binding takes a zero for the end of a text, and it has no empty databases.
    if not texts or any(b"\0" in text for text in texts):
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=list(texts), ids=list(range(len(texts))), elements=len(texts), flags=0, literal=True
        )
    except hyperscan.error:
        return None
    sizes = [len(text) for text in texts]
    # Its scratch memory serves one search at a time.
    lock = threading.Lock()

    def find(data: bytes) -> list[Occurrence]:
        found: list[Occurrence] = []
        keep = found.append

        def on_match(text: int, _start: int, end: int, _flags: int, _context: object) -> None:
            keep((text, end - sizes[text], end))

        with lock:
            database.scan(data, match_event_handler=on_match)
        return found

    return find
