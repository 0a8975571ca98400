"""The values that commands and screens show, all frozen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assistant.checks.types import Outcome, Value
from assistant.logs.types import Brought
from kb.types import Hit, Lang, Span, Unknown, Unlisted


@dataclass(frozen=True, slots=True)
class Piece:
    """A quoted part of an entry."""

    text: str
    """Markdown; a table row comes with its header."""
    span: Span
    """The exact bytes of the part (of the row alone, for a row)."""
    is_row: bool


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """One entry as an answer shows it."""

    id: str
    title: str
    platform: str
    kind: str
    lang: Lang
    text: str
    """The whole answer, exactly the bytes of `source`."""
    score: float
    source: Span
    line: int
    """Line of the heading in the corpus file."""
    names: tuple[str, ...]
    """Source documents with the place in them."""
    focus: tuple[Piece, ...]
    """The parts that matter for the question; empty if the entry is short enough to show whole."""
    hit: Hit | None
    """How the search found it; None if it was not found by search."""


@dataclass(frozen=True, slots=True)
class EntryCheck:
    """A check block of a shown entry, run for this answer."""

    entry_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Computed:
    """A calculation that the question asks for."""

    check: str
    outcomes: tuple[Outcome, ...]
    """Empty while an argument is missing; several for the values that one ambiguous argument may have."""
    read: tuple[tuple[str, str], ...]
    """(parameter, the words of the question that it was read from)."""
    missing: tuple[str, ...]
    """Required parameters that the question does not give."""
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...]
    """(parameter, the candidates as the question writes them): none was chosen, but all may have been computed."""
    given: Mapping[str, Value]
    """Arguments that were read, by parameter."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the assistant says to one question."""

    question: str
    status: Literal["answered", "abstained"]
    confidence: float
    lang: Lang
    entries: tuple[AnswerEntry, ...]
    """Best first; empty when abstaining."""
    related: tuple[tuple[str, str], ...]
    """(id, title) of further entries."""
    unlisted: tuple[Unlisted, ...]
    """Names that a complete list does not contain; `entries` holds that list."""
    unknown: tuple[Unknown, ...]
    nearest: tuple[tuple[str, str], ...]
    """(id, title) of the nearest entries when abstaining."""
    corrected: tuple[tuple[str, str], ...]
    degraded: tuple[str, ...]
    checks: tuple[EntryCheck, ...]
    """The check blocks of `entries`, run now. One that fails lowers `confidence` below the threshold."""
    computed: Computed | None
    """What the question asks to compute; None if nothing."""
    brought: Brought
    """Codes and log lines of the question, and what they mean."""
    features: tuple[tuple[str, float], ...]
    threshold: float
