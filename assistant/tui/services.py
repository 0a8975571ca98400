"""The slow things that areas ask for. Every method may take seconds and is called in a thread worker."""

import threading
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from assistant.session import Session
    from assistant.tui.library.shelf import Shelf
    from assistant.types import Answer, Computed
    from kb.search import Searcher
    from kb.types import Lang, Search

__all__ = ["Services"]


class Services:
    """Opens the corpus once, and answers from any thread. SQLite connections stay in one thread at a time: `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.shelf_lock = threading.RLock()
        self.word_lock = threading.RLock()
        """Of `word_searcher`, which has a connection of its own: typing never waits for models that are loading."""
        self.is_building = False
        """Whether an index is being built, which takes seconds; read from any thread without a lock."""

    @cached_property
    def session(self) -> "Session":
        """The opened corpus; the first access opens it. Hold `lock`."""
        from assistant.session import open_session

        try:
            return open_session(self._narrate)
        finally:
            self.is_building = False

    @cached_property
    def searcher(self) -> "Searcher":
        """Search by words and by meaning. Hold `lock`."""
        return self.session.searcher()

    @cached_property
    def compute(self) -> "Callable[[str, Lang], Computed | None]":
        """The calculation that a question asks for; its index opens at the first need, once. Hold `lock`."""
        from assistant.checks.asked import computing

        return computing(self.session.check_searcher)

    @cached_property
    def word_searcher(self) -> "Searcher":
        """Search by words only, ready at once. Hold `word_lock`."""
        from assistant import paths
        from assistant.session import Session
        from kb.errors import IndexUnavailable
        from kb.store import Store

        with self.lock:
            session = self.session
        try:
            own = Session(session.source, Store(paths.index_directory(), writable=False), session.degraded)
        except IndexUnavailable:
            own = session
        return own.searcher(with_meaning=False)

    def search(self, question: str, *, lang: "Lang | None", platform: str | None, with_meaning: bool) -> "Search":
        """Return ranked entries."""
        with self.lock if with_meaning else self.word_lock:
            searcher = self.searcher if with_meaning else self.word_searcher
            return searcher.search(question, lang=lang, platform=platform, limit=10)

    def answer(self, question: str, *, lang: "Lang | None", platform: str | None) -> "Answer":
        """Return the full answer: entries, checks, calculation, codes and log lines of the question."""
        from assistant.answer import answer
        from assistant.logs.asked import brought

        with self.lock:
            try:
                return answer(
                    question, self.searcher, lang=lang, platform=platform, compute=self.compute, bring=brought
                )
            finally:
                # That of the calculations is built when it is first asked.
                self.is_building = False

    def _narrate(self, _text: str) -> None:
        """Take note that an index is being built: nothing else is narrated."""
        self.is_building = True

    @cached_property
    def _shelf(self) -> "Shelf":
        from assistant import paths
        from assistant.tui.library.shelf import read_shelf

        return read_shelf(paths.corpus_root())

    def shelf(self) -> "Shelf":
        """Return every entry, the glossary and the courses for reading; the corpus is read at the first call."""
        with self.shelf_lock:
            return self._shelf
