"""The slow things that areas ask for. Every method may take seconds and is called in a thread worker."""

import threading
from functools import cached_property
from typing import TYPE_CHECKING

from kb.types import Lang

if TYPE_CHECKING:
    from assistant.session import Session
    from assistant.types import Answer
    from kb.search import Searcher
    from kb.types import Search

__all__ = ["Services"]


class Services:
    """Opens the corpus once, and answers from any thread. SQLite connections stay in one thread at a time: `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()

    @cached_property
    def session(self) -> "Session":
        """The opened corpus; the first access opens it. Hold `lock`."""
        from assistant.session import open_session

        return open_session()

    @cached_property
    def searcher(self) -> "Searcher":
        """Search by words and by meaning. Hold `lock`."""
        return self.session.searcher()

    @cached_property
    def word_searcher(self) -> "Searcher":
        """Search by words only, ready at once. Hold `lock`."""
        return self.session.searcher(with_meaning=False)

    def search(self, question: str, *, lang: Lang | None, platform: str | None, with_meaning: bool) -> "Search":
        """Return ranked entries."""
        with self.lock:
            searcher = self.searcher if with_meaning else self.word_searcher
            return searcher.search(question, lang=lang, platform=platform, limit=10)

    def answer(self, question: str, *, lang: Lang | None, platform: str | None) -> "Answer":
        """Return the full answer: entries, checks, calculation, codes and log lines of the question."""
        from assistant.answer import answer
        from assistant.checks.asked import computing
        from assistant.logs.asked import brought

        with self.lock:
            compute = computing(self.session.check_searcher)
            return answer(question, self.searcher, lang=lang, platform=platform, compute=compute, bring=brought)
