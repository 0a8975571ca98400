"""When what is searched: words while somebody types, the whole answer after a pause or at once, entries when chosen."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.timer import Timer
from textual.widget import Widget

from assistant.tui.ask import jobs
from assistant.tui.ask.latest import Latest
from assistant.tui.ask.values import Request
from assistant.tui.services import Services

if TYPE_CHECKING:
    from kb.types import Hit, Lang

__all__ = ["Asking"]

#: Seconds from the first unsearched key to a search by words, and from the last key to the full answer.
TYPING = 0.12
PAUSE = 0.7


class Asking:
    """The jobs of the area; their results come to the owner as `Done`."""

    def __init__(
        self, owner: Widget, services: Services, request: Callable[[], Request], ask: Callable[[], None]
    ) -> None:
        self._owner = owner
        self._services = services
        self._request = request
        self._ask = ask
        self.words, self.answers = Latest(owner, "words"), Latest(owner, "answer")
        self.entries, self.corpus = Latest(owner, "entry"), Latest(owner, "corpus")
        self._typing: Timer | None = None
        self._pause: Timer | None = None

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer or an entry."""
        return self.answers.is_busy or self.entries.is_busy

    @property
    def is_building(self) -> bool:
        """Whether every search waits for the index."""
        return self._services.is_building

    def open_corpus(self) -> None:
        """Open the corpus; its platforms come back."""
        self.corpus.start(lambda: jobs.platforms(self._services))

    def typed(self) -> None:
        """Search soon: a key was typed."""
        self.answers.stop()
        if self._typing is None:
            self._typing = self._owner.set_timer(TYPING, self._search)
        self._stop_pause()
        self._pause = self._owner.set_timer(PAUSE, self._ask)

    def ask(self, request: Request) -> None:
        """Get the full answer now."""
        self._stop_pause()
        self.answers.start(lambda: (request, jobs.full(self._services, request)))

    def choose(self, key: str, lang: "Lang", question: str, hit: "Hit | None") -> None:
        """Get one entry."""
        self.entries.start(lambda: jobs.opened(self._services, key, lang, question, hit))

    def stop_words(self) -> None:
        """Want nothing by words any more."""
        self.words.stop()
        if self._typing is not None:
            self._typing.stop()
            self._typing = None

    def stop_answers(self) -> None:
        """Want neither the answer nor an entry any more."""
        self._stop_pause()
        self.answers.stop()
        self.entries.stop()

    def _search(self) -> None:
        self._typing = None
        request = self._request()
        self.words.start(lambda: jobs.typed(self._services, request))

    def _stop_pause(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
