"""The checks grouped by topic, and what a filter leaves of them."""

from collections.abc import Iterable, Mapping

from assistant.checks.types import Check

__all__ = ["grouped", "matches", "topic"]


def topic(check: Check) -> str:
    """Return the topic of a check: the file of its function."""
    return check.function.__module__.rpartition(".")[2]


def matches(check: Check, words: Iterable[str]) -> bool:
    """Return whether a check has all words in its name, its titles or the questions it answers, in either language.

    Args:
        check: the check.
        words: casefolded.
    """
    text = "\n".join((check.name, check.zh, check.en, *check.asks_zh, *check.asks_en)).casefold()
    return all(word in text for word in words)


def grouped(checks: Mapping[str, Check], filtered: str) -> list[tuple[str, list[Check]]]:
    """Return (topic, its checks that match) in the order of the table; all for an empty filter."""
    words = filtered.casefold().split()
    groups: dict[str, list[Check]] = {}
    for check in checks.values():
        if matches(check, words):
            groups.setdefault(topic(check), []).append(check)
    return list(groups.items())
