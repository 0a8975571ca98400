"""What words stand for: the glossary's synonyms in both languages, and the words that name a platform."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb import corpus, terms
from kb.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Glossary:
    """Phrases as token sequences, each with the tokens of its synonyms."""

    by_phrase: Mapping[tuple[str, ...], frozenset[str]]
    """Token sequence of a phrase -> tokens of all phrases that mean the same."""
    longest: int
    """Length of the longest phrase, in tokens."""

    def to_json(self) -> bytes:
        """Return the glossary as JSON that `from_json` reads."""
        return json.dumps({" ".join(k): sorted(v) for k, v in self.by_phrase.items()}, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Glossary":
        """Read what `to_json` wrote."""
        by_phrase = {tuple(key.split()): frozenset(value) for key, value in json.loads(data or b"{}").items()}
        return cls(by_phrase, max(map(len, by_phrase), default=0))

    def expand(self, tokens: list[str]) -> frozenset[str]:
        """Return the tokens that the glossary adds to a question's tokens."""
        added: set[str] = set()
        for start in range(len(tokens)):
            for length in range(min(self.longest, len(tokens) - start), 0, -1):
                synonyms = self.by_phrase.get(tuple(tokens[start : start + length]))
                if synonyms is not None:
                    added |= synonyms
        return frozenset(added - set(tokens))


@dataclass(frozen=True, slots=True)
class Platforms:
    """The words that name each platform."""

    by_phrase: Mapping[tuple[str, ...], str]
    """Token sequence of a word -> platform."""

    def to_json(self) -> bytes:
        """Return the words as JSON that `from_json` reads."""
        return json.dumps({" ".join(key): value for key, value in self.by_phrase.items()}, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Platforms":
        """Read what `to_json` wrote."""
        return cls({tuple(key.split()): value for key, value in json.loads(data or b"{}").items()})

    def named(self, tokens: Sequence[str]) -> frozenset[str]:
        """Return the platforms that a question's tokens name."""
        longest = max(map(len, self.by_phrase), default=0)
        return frozenset(
            platform
            for start in range(len(tokens))
            for length in range(1, longest + 1)
            if (platform := self.by_phrase.get(tuple(tokens[start : start + length])))
        )


def load_platforms(path: str, data: bytes) -> Platforms:
    """Read `platforms.toml`: a table `[platform]` with `words = [..]` per platform.

    Raises:
        CorpusError: not TOML, or a platform without words.
    """
    by_phrase: dict[tuple[str, ...], str] = {}
    for platform, table in corpus.toml(path, data).items():
        words = table.get("words") if isinstance(table, dict) else None
        if not words or not all(isinstance(word, str) and word.strip() for word in words):
            raise CorpusError(f"{path}:1: platform {platform!r} needs 'words', a list of non-empty strings")
        by_phrase |= {tuple(terms.tokens(word)): platform for word in words}
    return Platforms(by_phrase)


def load(path: str, data: bytes) -> Glossary:
    """Read `[[term]]` tables with `zh = [..]` and `en = [..]`.

    Raises:
        CorpusError: not TOML, or a term without words; the message names the file.
    """
    terms_read = corpus.toml(path, data).get("term", [])
    if not isinstance(terms_read, list):
        raise CorpusError(f"{path}:1: 'term' must be a list of tables")
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
