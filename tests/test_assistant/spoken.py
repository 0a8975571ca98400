"""Outcomes as sentences for golden tests: numbers in six digits, code words by their labels."""

import math
from collections.abc import Mapping

from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.checks.types import Outcome


def run(name: str, given: Mapping[str, object]) -> Outcome:
    outcome = run_check(CHECKS[name], given)
    assert outcome.status == "done", outcome.reason
    assert set(outcome.result) == {result.name for result in CHECKS[name].results}
    return outcome


def spoken(name: str, given: Mapping[str, object]) -> tuple[str, str]:
    """Return what a check says, in zh and en."""
    check, outcome = CHECKS[name], run(name, given)
    labels = {result.name: result.labels for result in check.results}

    def text(key: str, value: object, lang: int) -> str:
        if isinstance(value, list | tuple):
            return "[" + ", ".join(text(key, item, lang) for item in value) + "]"
        if isinstance(value, bool):
            return (("否", "no"), ("是", "yes"))[value][lang]
        if isinstance(value, str):
            return labels[key][value][lang] if value in labels.get(key, {}) else value
        if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    values = {**outcome.arguments, **outcome.result}
    return tuple(
        shown.format(**{key: text(key, value, lang) for key, value in values.items()})
        for lang, shown in enumerate((check.shown_zh, check.shown_en))
    )
