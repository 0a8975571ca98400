"""Widen a word search with the glossary: words of the other language and synonyms for the same thing."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kb import terms
from kb.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Glossary:
    """Phrases as token sequences, each with the tokens of its synonyms."""

    by_phrase: Mapping[tuple[str, ...], frozenset[str]]
    """Token sequence of a phrase -> tokens of all phrases that mean the same."""
    longest: int
    """Length of the longest phrase, in tokens."""

    def expand(self, tokens: list[str]) -> frozenset[str]:
        """Return the tokens that the glossary adds to a question's tokens."""
        added: set[str] = set()
        for start in range(len(tokens)):
            for length in range(min(self.longest, len(tokens) - start), 0, -1):
                synonyms = self.by_phrase.get(tuple(tokens[start : start + length]))
                if synonyms is not None:
                    added |= synonyms
        return frozenset(added - set(tokens))


def load(path: str, data: bytes) -> Glossary:
    """Read `[[term]]` tables with `zh = [..]` and `en = [..]`.

    Raises:
        CorpusError: not TOML, or a term without words; the message names the file.
    """
    try:
        terms_read = tomllib.loads(data.decode("utf-8")).get("term", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}:1: not valid TOML: {error}") from None
    by_phrase: dict[tuple[str, ...], set[str]] = {}
    for number, term in enumerate(terms_read, 1):
        phrases = [*term.get("zh", []), *term.get("en", [])]
        if not phrases or not all(isinstance(phrase, str) and phrase.strip() for phrase in phrases):
            raise CorpusError(f"{path}:1: term {number} needs lists zh and en of non-empty strings")
        _add_term(by_phrase, phrases)
    return Glossary(
        {phrase: frozenset(synonyms) for phrase, synonyms in by_phrase.items()},
        max(map(len, by_phrase), default=0),
    )


def _add_term(by_phrase: dict[tuple[str, ...], set[str]], phrases: Iterable[str]) -> None:
    sequences = [tuple(terms.tokens(phrase)) for phrase in phrases]
    every = {token for sequence in sequences for token in sequence}
    for sequence in sequences:
        if sequence:
            by_phrase.setdefault(sequence, set()).update(every - set(sequence))
