"""The entries of the corpus that are nearest to a line that no rule knows."""

from dataclasses import dataclass

from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["Near", "nearest"]

_MOST = 4
#: So much of a line is searched for.
_SEARCHED = 400


@dataclass(frozen=True, slots=True)
class Near:
    """What a search for a line found."""

    entries: tuple[tuple[str, str, str], ...]
    """Id, title and platform; best first."""
    confidence: float
    """Calibrated probability that the first one is about it."""
    is_sure: bool
    """Whether that is enough for an answer."""


def nearest(services: Services, text: str, lang: Lang, *, with_meaning: bool) -> Near:
    """Return the entries nearest to a line; takes up to seconds."""
    found = services.search(text[:_SEARCHED], lang=lang, platform=None, with_meaning=with_meaning)
    entries = []
    with services.word_lock:
        for hit in found.hits[:_MOST]:
            entry = services.word_searcher.store.entry(hit.id, lang)
            if entry is not None:
                entries.append((entry.id, entry.title, entry.platform))
    return Near(tuple(entries), found.confidence, found.confidence >= found.threshold)
