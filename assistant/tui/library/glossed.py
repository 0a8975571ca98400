"""Terms of the glossary that occur in an entry, and the entries that explain them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from assistant.tui.library.shelf import Shelf, Term
from kb import terms
from kb.parse import without_checks
from kb.types import Entry, Lang

__all__ = ["Asking", "Gloss", "glosses"]

EXPLAINED = 2
Asking = dict[tuple[Term, Lang], tuple[Entry, ...]]
"""Term and language -> the entries whose question has a word of it."""


@dataclass(frozen=True, slots=True)
class Gloss:
    """One term that a text uses."""

    used: str
    """The word as the glossary writes it, in the text's order."""
    term: Term
    entries: tuple[str, ...]
    """Ids of entries whose question has the word, the same platform first."""
    questions: int = 0
    """How many questions have it: of a word that is everywhere nobody asks what it means."""


def glosses(shelf: Shelf, entry: Entry, asking: Asking) -> tuple[Gloss, ...]:
    """Return the terms of an entry's title and text in the order of their first use; a millisecond for a new term.

    Args:
        shelf: the corpus.
        entry: one of it.
        asking: what was found for earlier entries of the same shelf; grows.
    """
    tokens = terms.tokens(f"{entry.title}\n{without_checks(entry.text)}")
    places: dict[tuple[str, ...], int] = {}
    phrases, longest = _phrases(shelf.terms)
    for start in range(len(tokens)):
        for length in range(1, longest + 1):
            phrase = tuple(tokens[start : start + length])
            if phrase in phrases:
                places.setdefault(phrase, start)
    # Of several words for one term the longest one used names it: "quantization scale" rather than "scale".
    best: dict[Term, tuple[int, int, str]] = {}
    for phrase, start in places.items():
        term, word = phrases[phrase]
        first = min(start, best[term][0]) if term in best else start
        word = word if term not in best or len(phrase) > best[term][1] else best[term][2]
        best[term] = (first, max(len(phrase), best[term][1]) if term in best else len(phrase), word)
    ordered = sorted(best.items(), key=lambda item: item[1][0])
    found = []
    for term, (_, _, word) in ordered:
        if (key := (term, entry.lang)) not in asking:
            asking[key] = _asking(shelf, term, entry.lang)
        others = [one for one in asking[key] if one.id != entry.id]
        others.sort(key=lambda one: one.platform != entry.platform)
        found.append(Gloss(word, term, tuple(one.id for one in others[:EXPLAINED]), len(others)))
    return tuple(found)


@lru_cache(1)
def _phrases(found: tuple[Term, ...]) -> tuple[dict[tuple[str, ...], tuple[Term, str]], int]:
    """Return tokens of a word -> its term and the word; and the length of the longest."""
    phrases = {
        tuple(terms.tokens(word)): (term, word) for term in found for word in (*term.zh, *term.en) if word.strip()
    }
    return phrases, max(map(len, phrases), default=0)


def _asking(shelf: Shelf, term: Term, lang: Lang) -> tuple[Entry, ...]:
    """Return the entries whose question has a word of the term, the shortest question first."""
    words = [word.casefold() for word in (*term.zh, *term.en) if len(word) > 1]
    found = [one for one in shelf.entries.values() if one.lang == lang and _has(one.title.casefold(), words)]
    return tuple(sorted(found, key=lambda one: len(one.title)))


def _has(title: str, words: Iterable[str]) -> bool:
    for word in words:
        start = title.find(word)
        while start >= 0:
            around = title[start - 1 : start] + title[start + len(word) : start + len(word) + 1]
            if not word.isascii() or not any(one.isascii() and one.isalnum() for one in around):
                return True
            start = title.find(word, start + 1)
    return False
