"""What the words of a question say about an entry, weighted by how rare they are in the corpus."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.glossary import Glossary
from kb.store import Store

SYNONYM_CREDIT = 0.7
"""What a glossary synonym counts against the word itself."""
GUESS_CREDIT = 0.5
"""What a word counts that was taken for a typing error of a known one; it may be a real word of another field."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The distinct tokens of one question and their weights."""

    store: Store
    entries: int
    """Number of entries in the index."""
    masses: Mapping[str, float]
    """Token -> inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5))."""
    credits: Mapping[str, float]
    """Token -> 1, or `GUESS_CREDIT`, or 0 for a token that the corpus does not have."""
    synonyms: Mapping[str, frozenset[str]]
    """Token -> tokens that the glossary puts beside it."""

    @property
    def total(self) -> float:
        """Sum of the masses, at least a tiny positive number."""
        return sum(self.masses.values()) or 1e-9

    def coverage(self, entry_id: str) -> float:
        """Return the share of the question's mass that occurs in an entry, 0 to 1."""
        have = self.store.entry_tokens(entry_id)
        covered = 0.0
        for token, mass in self.masses.items():
            if token in have:
                covered += mass * self.credits[token]
            elif self.synonyms[token] & have:
                covered += mass * SYNONYM_CREDIT * (self.credits[token] or 1.0)
        return covered / self.total

    def phrase(self, entry_id: str) -> float:
        """Return the best weighted F1 overlap of the question with an indexed phrasing of an entry, 0 to 1."""
        phrases = [set(phrase.split()) for phrase in self.store.questions_of(entry_id)]
        others = self.store.document_frequencies(set().union(*phrases) - set(self.masses))
        masses = {**self.masses, **{token: idf(self.entries, count) for token, count in others.items()}}
        best = 0.0
        for phrase in phrases:
            both = sum(self.masses[token] * self.credits[token] for token in phrase if token in self.masses)
            best = max(best, 2 * both / (self.total + sum(masses[token] for token in phrase)))
        return best

    def unknown(self) -> float:
        """Return the share of the question's mass that the corpus does not have, 0 to 1."""
        return sum(mass * (1 - self.credits[token]) for token, mass in self.masses.items()) / self.total


def gather(store: Store, entries: int, tokens: Sequence[str], guessed: frozenset[str], glossary: Glossary) -> Evidence:
    """Return the evidence of a question's tokens.

    Args:
        store: the index.
        entries: number of entries in it.
        tokens: index tokens of the question, typing errors corrected.
        guessed: those of them that stand for a corrected word.
        glossary: synonyms.
    """
    counts = store.document_frequencies(tokens)
    credits = {
        token: 0.0 if not count else GUESS_CREDIT if token in guessed else 1.0 for token, count in counts.items()
    }
    return Evidence(
        store,
        entries,
        {token: idf(entries, count) for token, count in counts.items()},
        credits,
        {token: glossary.expand([token]) for token in counts},
    )


def idf(entries: int, frequency: int) -> float:
    """Return the inverse document frequency of BM25, never negative."""
    return math.log(1 + (entries - frequency + 0.5) / (frequency + 0.5))
