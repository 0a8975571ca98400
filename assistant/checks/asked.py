"""The calculation that a question asks for, found only where the question has quantities: others load none of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.types import Computed
    from kb.search import Searcher
    from kb.types import Lang

__all__ = ["computing"]


def computing(open_searcher: "Callable[[], Searcher]") -> "Callable[[str, Lang], Computed | None]":
    """Return the function (question, language) -> calculation; the index of checks opens at the first need.

    Args:
        open_searcher: opens a searcher over `documents.as_corpus`.
    """
    opened: list[Searcher] = []

    def compute(question: str, lang: "Lang") -> "Computed | None":
        from assistant.checks.quantities import scan
        from assistant.checks.read import READ_MOST

        if not scan(question[:READ_MOST], frozenset()):
            return None
        from assistant.checks.find import computed

        if not opened:
            opened.append(open_searcher())
        return computed(question, opened[0])

    return compute
