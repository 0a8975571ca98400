"""`toml check` blocks of an entry: found, parsed, run and compared with what they expect. Never evaluated as code.

check = "fp16_sum"          a name of the table
values = [60000, 40000]     its arguments
expect = 65504              the first result; or a table {total = 65504, overflows = true}
tolerance = 0               largest allowed |got - expected|, default 0: equal
relative = 0                the same in units of |expected|; a value passes if either allows it
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from assistant.checks.run import LIMIT_SECONDS, run_check
from assistant.checks.table import CHECKS
from assistant.checks.types import Check, Outcome, Value
from assistant.errors import BadInput
from kb.parse import CHECK_FENCE
from kb.types import Entry

__all__ = ["Fence", "fences", "run_fence"]

_OWN: Final = frozenset({"check", "expect", "tolerance", "relative"})
#: Longest text of one block.
MAX_FENCE: Final = 20_000


@dataclass(frozen=True, slots=True)
class Fence:
    """One block as it stands in an entry."""

    entry_id: str
    text: str
    """The TOML between the fence lines."""
    file: str
    """Corpus file of the entry."""
    start: int
    """First byte of the opening fence in that file."""


def fences(entry: Entry) -> tuple[Fence, ...]:
    """Return the check blocks of an entry, in order."""
    return tuple(
        Fence(entry.id, match[1], entry.span.file, entry.span.start + len(entry.text[: match.start()].encode()))
        for match in CHECK_FENCE.finditer(entry.text)
    )


def run_fence(fence: Fence, *, base: Path | None = None, limit: float = LIMIT_SECONDS) -> Outcome:
    """Return the outcome of a block: pass, fail (with the reason) or skip (over its limit).

    A block that cannot be read, names no check or does not fit its parameters fails: a corpus is wrong then.

    Args:
        fence: the block.
        base: directory that file arguments must lie in; None refuses file arguments.
        limit: seconds.
    """
    name, given = "?", dict[str, Value]()
    try:
        table = _parsed(fence)
        name = str(table.get("check", "?"))
        check = _check(name)
        given = {key: value for key, value in table.items() if key not in _OWN}
        if base is None and any(parameter.kind == "file" and parameter.name in given for parameter in check.parameters):
            raise BadInput("file arguments are not allowed in this document")
        expected = _expected(check, table)
        tolerance, relative = _tolerance(table, "tolerance"), _tolerance(table, "relative")
        outcome = run_check(check, given, base=base, limit=limit)
    except BadInput as error:
        return Outcome(name, given, "fail", {}, {}, 0.0, str(error))
    if outcome.status == "skip":
        return replace(outcome, expected=expected)
    wrong = _differences(outcome.result, expected, tolerance, relative)
    return replace(outcome, status="fail" if wrong else "pass", expected=expected, reason="; ".join(wrong))


def _parsed(fence: Fence) -> dict[str, Any]:
    if len(fence.text) > MAX_FENCE:
        raise BadInput(f"the block is longer than {MAX_FENCE:,} characters")
    try:
        return tomllib.loads(fence.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"the block is not valid TOML: {error}") from None


def _check(name: str) -> Check:
    if name not in CHECKS:
        from rapidfuzz import process

        nearest = [match[0] for match in process.extract(name, list(CHECKS), limit=2, score_cutoff=60)]
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        raise BadInput(f"no check is called {name!r}{hint}; 'asknpu run --list' shows all")
    return CHECKS[name]


def _expected(check: Check, table: Mapping[str, Any]) -> dict[str, Value]:
    if "expect" not in table:
        raise BadInput(f"{check.name}: the block has no 'expect'")
    names = [result.name for result in check.results]
    expect = table["expect"]
    if not isinstance(expect, dict):
        return {names[0]: expect}
    for name in expect:
        if name not in names:
            raise BadInput(f"{check.name} gives no {name!r}; it gives {', '.join(names)}")
    if not expect:
        raise BadInput(f"{check.name}: 'expect' is empty")
    return dict(expect)


def _tolerance(table: Mapping[str, Any], key: str) -> float:
    value = table.get(key, 0.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        raise BadInput(f"{key} is {value!r}; expected a number of at least 0")
    return float(value)


def _differences(
    got: Mapping[str, Value], expected: Mapping[str, Value], tolerance: float, relative: float
) -> list[str]:
    """Return a sentence for each result that is not as expected."""
    return [
        f"{name} is {got[name]}, expected {want}"
        for name, want in expected.items()
        if not _equal(got[name], want, tolerance, relative)
    ]


def _equal(got: Value, want: Value, tolerance: float, relative: float) -> bool:
    if isinstance(want, list | tuple):
        return (
            isinstance(got, Sequence)
            and not isinstance(got, str)
            and len(got) == len(want)
            and all(_equal(one, other, tolerance, relative) for one, other in zip(got, want, strict=True))
        )
    if isinstance(want, bool) or isinstance(got, bool) or isinstance(want, str) or isinstance(got, str):
        return type(got) is type(want) and bool(got == want)
    if not isinstance(got, int | float) or not isinstance(want, int | float):
        return False
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if got == want:
        return True
    if math.isinf(want) or math.isinf(got):
        return False
    return abs(got - want) <= max(tolerance, relative * abs(want))
