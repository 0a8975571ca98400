"""A question -> the calculation it asks for: checks found by the search of the corpus, arguments read from the text.

    quantities in the text? -> search the table of checks -> read the arguments of the best ones -> choose -> compute

A check is computed when it fits the question well and everything it needs was read without doubt; where something is
missing or could be meant twice, that is said instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from assistant.checks import values
from assistant.checks.documents import check_of
from assistant.checks.read import Reading, arguments
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.checks.types import REQUIRED, Check, Outcome, Value
from assistant.errors import BadInput
from assistant.types import Computed
from kb.search import Searcher

__all__ = ["Match", "computed", "matches"]

#: Checks whose arguments are read.
_TRIED: Final = 8
#: What the share of required arguments that were read adds to the search score of a check, and what one quantity (one
#: number type) of the text that it does not use takes away.
_COMPLETE: Final = 0.25
_UNUSED: Final = 0.12
_TYPE_UNUSED: Final = 0.03
#: Least match of a check that is computed, and of one whose missing arguments are asked for.
COMPUTE_FROM: Final = 0.62
ASK_FROM: Final = 0.75
#: Least search score of a check that is computed: where two or more quantities stand beside their names, where one
#: does, where all are only what was left over.
FIRM_FROM: Final = 0.6
SEARCH_FROM: Final = 0.68
LOOSE_FROM: Final = 0.76
#: Values of one ambiguous argument that are all computed.
_ALTERNATIVES: Final = 4
#: Words for quantities, ASCII ones of all checks: "batch 4" is no left-over number for a check without a batch.
_NAMES: Final = frozenset(
    word.lower()
    for check in CHECKS.values()
    for parameter in check.parameters
    if parameter.kind in ("number", "integer")
    for word in (parameter.name, *parameter.words)
    if word.isascii() and len(word) > 2
)
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
    def quantities(self) -> frozenset[str]:
        """Arguments read that are no choices and flags."""
        worded = {p.name for p in self.check.parameters if p.kind in ("choice", "flag")}
        return frozenset(self.reading.arguments.keys() - worded)

    @property
    def is_meant(self) -> bool:
        """Whether the question fits well enough; better, if its quantities could belong to any check."""
        required = {p.name for p in self.check.parameters if p.default is REQUIRED}
        read = self.quantities | (required & self.reading.arguments.keys()) | self.reading.ambiguous.keys()
        named = len(read - self.reading.left_over)
        return self.match >= COMPUTE_FROM and self.search >= (LOOSE_FROM, SEARCH_FROM, FIRM_FROM)[min(named, 2)]


def computed(question: str, searcher: Searcher) -> Computed | None:
    """Return the calculation that a question asks for, None if it asks for none.

    Args:
        question: any text.
        searcher: over `documents.as_corpus`.
    """
    found = matches(question, searcher)
    return _computed(found) if found else None


def matches(question: str, searcher: Searcher) -> tuple[Match, ...]:
    """Return the checks that may be meant, the best first."""
    found = []
    for hit in searcher.search(question, limit=_TRIED).hits:
        check = check_of(hit.id)
        reading = arguments(check, question, _NAMES)
        required = sum(parameter.default is REQUIRED for parameter in check.parameters)
        open_ones = len(reading.missing) + sum(name not in reading.arguments for name in reading.ambiguous)
        share = 1 - min(open_ones / required, 1) if required else float(bool(reading.arguments))
        left = sum(_TYPE_UNUSED if token.kind == "dtype" else _UNUSED for token in reading.unused)
        match = hit.score + _COMPLETE * share - left
        found.append(Match(check, hit.score, reading, match))
    return tuple(sorted(found, key=lambda one: -one.match))


def _computed(found: tuple[Match, ...]) -> Computed | None:
    best = found[0]
    chosen = next((one for one in found if one.is_meant and _choices(one)), None)
    if chosen is not None and chosen.match >= best.match - _COMPLETE:
        outcomes = [outcome for given in _choices(chosen) if (outcome := _run(chosen.check, given)) is not None]
        return _told(chosen, tuple(outcomes)) if outcomes else None
    if best.match >= ASK_FROM and best.search >= LOOSE_FROM and best.quantities - best.reading.left_over:
        return _told(best, ())
    return None


def _choices(match: Match) -> list[dict[str, Value]]:
    """Return the arguments to compute with: one set, or one for each value of the one argument that is ambiguous."""
    reading = match.reading
    required = {p.name for p in match.check.parameters if p.default is REQUIRED}
    open_ones = [name for name in reading.ambiguous if name in required]
    if reading.missing or len(open_ones) > 1 or not (match.quantities or open_ones):
        return []
    if not open_ones:
        return [dict(reading.arguments)]
    candidates = reading.ambiguous[open_ones[0]]
    if len(candidates) > _ALTERNATIVES:
        return []
    return [{**reading.arguments, open_ones[0]: candidate.value} for candidate in candidates]


def _run(check: Check, given: Mapping[str, Value]) -> Outcome | None:
    """Return the outcome, one with the reason for arguments that do not fit; None where too little was said."""
    try:
        typed = values.arguments(check, given)
    except BadInput as error:
        return Outcome(check.name, dict(given), "skip", {}, {}, 0.0, str(error))
    try:
        return run_check(check, given, limit=_LIMIT)
    except BadInput as error:
        if all(parameter.default is not REQUIRED for parameter in check.parameters):
            # It takes one of several arguments, and the question gives none of them.
            return None
        return Outcome(check.name, typed, "skip", {}, {}, 0.0, str(error))


def _told(match: Match, outcomes: tuple[Outcome, ...]) -> Computed:
    reading = match.reading
    return Computed(
        check=match.check.name,
        outcomes=outcomes,
        read=tuple((name, candidate.text) for name, candidate in reading.evidence.items()),
        missing=reading.missing,
        ambiguous=tuple((name, tuple(c.text for c in many)) for name, many in reading.ambiguous.items()),
        given=dict(reading.arguments),
    )
