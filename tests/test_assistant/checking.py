"""Runs a check by name, for the tests of checks."""

from assistant.checks.run import run_check
from assistant.checks.show import sentence
from assistant.checks.table import CHECKS


def results(name: str, **given: object) -> dict:
    """Return the results of a check."""
    return dict(run_check(CHECKS[name], given).result)


def both(name: str, **given: object) -> tuple[str, str]:
    """Return the sentence in Chinese and in English."""
    outcome = run_check(CHECKS[name], given)
    return sentence(CHECKS[name], outcome, "zh"), sentence(CHECKS[name], outcome, "en")
