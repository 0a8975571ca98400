"""The values that cross kb's boundary, all frozen."""

from dataclasses import dataclass
from typing import Literal

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, Lang] = ("zh", "en")
PassageKind = Literal["question", "answer", "row"]


@dataclass(frozen=True, slots=True)
class Span:
    """A byte range of a corpus file, with the digest of its bytes."""

    file: str
    """Path relative to the corpus root, with forward slashes."""
    start: int
    """First byte."""
    end: int
    """One past the last byte."""
    sha256: str
    """Hex digest of `bytes[start:end]`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question and its answer in one language; twins in two languages share the id."""

    id: str
    lang: Lang
    title: str
    """The question as the heading puts it, without the id."""
    text: str
    """The answer in Markdown, exactly the bytes of `span`."""
    platform: str
    kind: str
    sources: tuple[str, ...]
    """Full source names with the place in the source."""
    asks: tuple[str, ...]
    """Other ways of asking, indexed as questions."""
    complete: str
    """Name of the vocabulary that a table of this entry lists completely, or ''."""
    span: Span
    line: int
    """Line of the heading in the file, from 1."""


@dataclass(frozen=True, slots=True)
class Block:
    """One citable piece of an answer: a paragraph, list item, table row or fence."""

    text: str
    """What a reader sees; a table row comes with its header row."""
    index_text: str
    """What is indexed: a row as `header: cell` pairs."""
    is_row: bool
    start: int
    """First byte in the corpus file."""
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that is indexed and leads to its entry."""

    entry_id: str
    lang: Lang
    kind: PassageKind
    text: str
    start: int
    """Byte range in the corpus file (of the heading line for questions)."""
    end: int


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """What one channel said about an entry."""

    rank: int
    """1 is best."""
    score: float
    """The channel's own score: BM25 (higher is better) or cosine."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked entry."""

    id: str
    score: float
    """Fused score in [0, 1]; good for ranking only, never a confidence."""
    channels: tuple[tuple[str, ChannelScore], ...]
    """(channel name, score) for each channel that found the entry."""
    coverage: float
    """Share of the question's idf mass whose words occur in the entry, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """An identifier of the question that the corpus does not know."""

    text: str
    kind: str
    """code, option, operator, chip, version or name."""
    nearest: tuple[str, ...]
    """The most similar identifiers that the corpus knows."""
    blocking: bool
    """Whether it forbids a confident answer."""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A name of a standard vocabulary that a complete list does not contain."""

    name: str
    vocabulary: str
    entry_id: str
    """The entry that holds the complete list."""


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome of one search."""

    question: str
    """The question after cleaning, as it was searched."""
    lang: Lang
    hits: tuple[Hit, ...]
    features: tuple[tuple[str, float], ...]
    """Named features of the confidence model."""
    confidence: float
    """Calibrated probability that the first hit answers the question, 0 to 1."""
    threshold: float
    """Confidence from which an answer is given."""
    unknown: tuple[Unknown, ...]
    unlisted: tuple[Unlisted, ...]
    corrected: tuple[tuple[str, str], ...]
    """(as typed, as searched) for words taken as typing errors."""
    degraded: tuple[str, ...]
    """What did not work, one sentence each."""
