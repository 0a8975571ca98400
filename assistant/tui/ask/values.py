"""What the jobs of the area give and its widgets show. All frozen."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from assistant.types import Answer, AnswerEntry, EntryCheck
    from kb.types import Hit, Lang

__all__ = ["Full", "Opened", "Request", "Row", "Typed"]

Mark = Literal["answer", "related", "hit", "ask"]
"""ask: not an entry, but a question to ask."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question with its filters."""

    question: str
    lang: "Lang | None"
    """Language of the answer; None for the question's."""
    platform: str | None
    window: "Lang | None" = field(default=None, compare=False)
    """Language of the window."""

    @property
    def answer_lang(self) -> "Lang | None":
        """Language to answer in: pasted lines, codes and names have none of their own, for them it is the window's."""
        from assistant.language import has_language

        return self.lang or (None if has_language(self.question) else self.window)


@dataclass(frozen=True, slots=True)
class Row:
    """An entry to choose, or a question to ask."""

    id: str
    title: str
    platform: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Typed:
    """What the words of an unfinished question find."""

    rows: tuple[Row, ...]
    lang: "Lang"
    best: "AnswerEntry | None"
    seconds: float


@dataclass(frozen=True, slots=True)
class Full:
    """The answer to a question, and everything found for it."""

    answer: "Answer"
    rows: tuple[Row, ...]
    hits: "tuple[Hit, ...]"
    entries: int
    """Number of entries that were searched."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Opened:
    """One entry that was chosen."""

    entry: "AnswerEntry"
    checks: "tuple[EntryCheck, ...]"
    related: tuple[tuple[str, str], ...] = ()
