"""A question -> the calculation it asks for: checks found by the search of the corpus, arguments read from the text.

    quantities in the text? -> search the table of checks -> read the arguments of the best ones -> choose -> compute

A check is computed when it fits the question well and everything it needs was read without doubt; where something is
missing or could be meant twice, that is said instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from assistant.checks.documents import check_of
from assistant.checks.quantities import scan
from assistant.checks.read import READ_MOST, Reading, arguments
from assistant.checks.run import run_check
from assistant.checks.types import REQUIRED, Check, Outcome
from assistant.errors import BadInput
from assistant.types import Computed
from kb.search import Searcher
from kb.types import Lang

__all__ = ["Match", "computing", "matches"]

#: Checks whose arguments are read.
_TRIED: Final = 8
#: What the share of required arguments that were read adds to the search score of a check, and what one quantity of
#: the text that it does not use takes away.
_COMPLETE: Final = 0.25
_UNUSED: Final = 0.08
#: Least match of a check that is computed, and of one whose missing arguments are asked for.
COMPUTE_FROM: Final = 0.62
ASK_FROM: Final = 0.75
#: Seconds for one calculation in an answer.
_LIMIT: Final = 2.0


@dataclass(frozen=True, slots=True)
class Match:
    """A check that may be meant, with what the question says about its arguments."""

    check: Check
    search: float
    """Score of the search among the checks, 0 to 1."""
    reading: Reading
    match: float
    """How well question and check fit, about 0 to 1.25."""

    @property
    def is_complete(self) -> bool:
        """Whether everything that the check needs was read without doubt, and anything at all."""
        return not self.reading.missing and not self.reading.ambiguous and bool(self.reading.arguments)


def computing(open_searcher: Callable[[], Searcher]) -> Callable[[str, Lang], Computed | None]:
    """Return the function (question, language) -> calculation; the index of checks opens at the first need.

    Args:
        open_searcher: opens a searcher over `documents.as_corpus`.
    """
    opened: list[Searcher] = []

    def compute(question: str, lang: Lang) -> Computed | None:
        # Most questions have nothing to compute with; they pay for a scan of their text only.
        if not scan(question[:READ_MOST], frozenset()):
            return None
        if not opened:
            opened.append(open_searcher())
        found = matches(question, opened[0])
        return _computed(found) if found else None

    return compute


def matches(question: str, searcher: Searcher) -> tuple[Match, ...]:
    """Return the checks that may be meant, the best first."""
    found = []
    for hit in searcher.search(question, limit=_TRIED).hits:
        check = check_of(hit.id)
        reading = arguments(check, question)
        required = sum(parameter.default is REQUIRED for parameter in check.parameters)
        open_ones = len(reading.missing) + sum(name not in reading.arguments for name in reading.ambiguous)
        share = 1 - min(open_ones / required, 1) if required else float(bool(reading.arguments))
        match = hit.score + _COMPLETE * share - _UNUSED * len(reading.unused)
        found.append(Match(check, hit.score, reading, match))
    return tuple(sorted(found, key=lambda one: -one.match))


def _computed(found: tuple[Match, ...]) -> Computed | None:
    best = found[0]
    complete = next((one for one in found if one.is_complete and one.match >= COMPUTE_FROM), None)
    if complete is not None and complete.match >= best.match - _COMPLETE:
        return _with_outcome(complete, _run(complete))
    if best.match >= ASK_FROM and (best.reading.arguments or best.reading.ambiguous):
        return _with_outcome(best, None)
    return None


def _run(match: Match) -> Outcome:
    try:
        return run_check(match.check, match.reading.arguments, limit=_LIMIT)
    except BadInput as error:
        return Outcome(match.check.name, dict(match.reading.arguments), "skip", {}, {}, 0.0, str(error))


def _with_outcome(match: Match, outcome: Outcome | None) -> Computed:
    reading = match.reading
    return Computed(
        check=match.check.name,
        outcome=outcome,
        read=tuple((name, candidate.text) for name, candidate in reading.evidence.items()),
        missing=reading.missing,
        ambiguous=tuple((name, tuple(c.text for c in many)) for name, many in reading.ambiguous.items()),
        given=dict(reading.arguments),
    )
