"""The desk: one place lies open on it, painted and proved by workers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.worker import get_current_worker

from assistant.tui.library import messages
from assistant.tui.library.page import entries_of, has_checks, sections
from assistant.tui.library.place import Place
from assistant.tui.library.reader import Reader
from assistant.tui.library.shelf import Shelf
from assistant.tui.painted import TOP, Section, Spot
from assistant.tui.words import Words
from kb.types import Entry, Lang

if TYPE_CHECKING:
    from assistant.checks.types import Outcome
    from assistant.tui.library.glossed import Asking, Gloss

__all__ = ["Desk"]


class Desk(Vertical):
    """Shows a place, at the spot it is given; without a place, a welcome."""

    DEFAULT_CSS = "Desk { width: 1fr; height: 1fr; }"

    class Changed(Message):
        """The page is another, or looks different."""

    def __init__(self, say: Words) -> None:
        super().__init__()
        self.say = say
        self.reader = Reader(id="library-reader")
        self.shelf: Shelf | None = None
        self.place: Place | None = None
        self.is_open = False
        """Whether a card shows its answer."""
        self.is_painting = False
        self.glosses: dict[tuple[str, str], tuple[Gloss, ...]] = {}
        """(entry id, language) -> its terms, once they were looked up."""
        self._asking: Asking = {}
        self._words: dict[tuple[str, str], Mapping[str, str]] = {}
        self.outcomes: dict[tuple[str, str], tuple[Outcome, ...]] = {}
        self._turn = 0
        self._spot: Spot = TOP
        self._link = -1

    def compose(self) -> ComposeResult:
        """Lay out the reader."""
        yield self.reader

    def on_mount(self) -> None:
        """Follow the theme: the colours are painted."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.paint(self.here()))

    # ---- what is shown

    @property
    def is_card(self) -> bool:
        """Whether a question card is shown."""
        return self.place is not None and self.place.kind == "card"

    def here(self) -> Spot:
        """Return the spot at the top of the reader, also while another layout is on its way."""
        return self._spot if self.is_painting else self.reader.page.spot(self.reader.line)

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries that are shown."""
        return () if self.shelf is None or self.place is None else entries_of(self.shelf, self.place)

    def entry(self) -> Entry | None:
        """Return the entry that is shown; of a document, the one at the top."""
        found = self.entries()
        key = self.here()[0]
        return next((entry for entry in found if entry.id == key), found[0] if found else None)

    def show(self, place: Place, spot: Spot = TOP, *, is_open: bool = False, link: int = -1) -> None:
        """Show a place, a link of it chosen; its checks are run again."""
        self.place, self.is_open = place, is_open
        for entry in self.entries():
            self.outcomes.pop((entry.id, entry.lang), None)
        self.paint(spot, link)
        self._check()

    def reveal(self) -> None:
        """Show the answer of a card."""
        self.is_open = True
        self.paint(TOP, -1)
        self._check()

    def turn(self, lang: Lang) -> None:
        """Show the same in a language."""
        here = self.here()
        if self.place is not None:
            self.place = replace(self.place, lang=lang)
        self.paint(here, -1)
        self._check()

    @property
    def link(self) -> int:
        """The link that is chosen, also while another layout is on its way; -1 if none is."""
        return self._link if self.is_painting else self.reader.link

    # ---- painting

    def paint(self, spot: Spot, link: int | None = None) -> None:
        """Lay the page out again, from a spot on; the same link is chosen unless another one (-1: none) is given."""
        if self.shelf is None:
            return
        self._turn += 1
        self._link = self.link if link is None else link
        self._spot, self.is_painting = spot, True
        self._paint_page(self._turn, self.shelf, self.place, self.is_open, self.reader.text_width)

    @work(thread=True, exclusive=True, group="library.paint")
    def _paint_page(self, turn: int, shelf: Shelf, place: Place | None, is_open: bool, width: int) -> None:
        from assistant.tui.markdown import paint

        if place is None:
            page = [Section("", self.say("welcome", entries=len(shelf.home), documents=len(shelf.documents)))]
        else:
            page = sections(shelf, place, dict(self.outcomes), self.say, is_open=is_open, links=self._links)
        self.post_message(messages.Painted(turn, paint(page, width, self.app.theme_variables)))

    def _links(self, entry: Entry) -> Mapping[str, str]:
        """Return what the words of an entry lead to; called in a worker."""
        from assistant.tui.library.mentions import links

        if (key := (entry.id, entry.lang)) not in self._words and self.shelf is not None:
            self._words[key] = links(self.shelf, entry, self.terms(self.shelf, entry))
        return self._words.get(key, {})

    @on(messages.Painted)
    def _painted(self, event: messages.Painted) -> None:
        event.stop()
        if event.turn != self._turn:
            return
        self.is_painting = False
        self.reader.show(event.page, event.page.line(self._spot), self._link)
        self.post_message(self.Changed())

    @on(Reader.Resized)
    def _resized(self, event: Reader.Resized) -> None:
        event.stop()
        self.paint(self.here())

    # ---- checks

    def _check(self) -> None:
        if self.is_card and not self.is_open:
            return
        waiting = tuple(
            entry for entry in self.entries() if has_checks(entry) and (entry.id, entry.lang) not in self.outcomes
        )
        if waiting:
            self._run_checks(waiting)

    @work(thread=True, exclusive=True, group="library.checks")
    def _run_checks(self, entries: tuple[Entry, ...]) -> None:
        from assistant.checks.proof import outcomes

        worker = get_current_worker()
        found: dict[tuple[str, str], tuple[Outcome, ...]] = {}
        for entry in entries:
            if worker.is_cancelled:
                return
            found[entry.id, entry.lang] = tuple(outcome for _, outcome in outcomes([entry]))
        if not worker.is_cancelled:
            self.post_message(messages.Checked(found))

    @on(messages.Checked)
    def _checked(self, event: messages.Checked) -> None:
        event.stop()
        self.outcomes |= event.outcomes
        if any((entry.id, entry.lang) in event.outcomes for entry in self.entries()):
            self.paint(self.here())

    def stop_checks(self) -> bool:
        """Stop the calculations; return whether any were running."""
        running = [one for one in self.workers if one.group == "library.checks" and one.is_running]
        for one in running:
            one.cancel()
        if running:
            for entry in self.entries():
                self.outcomes.setdefault((entry.id, entry.lang), ())
            self.paint(self.here())
        return bool(running)

    # ---- terms

    def look_up(self) -> None:
        """Look up the terms of the shown entry; `Glossed` tells them."""
        entry = self.entry()
        if self.shelf is not None and entry is not None:
            self._read_glossary(self.shelf, entry)

    @work(thread=True, exclusive=True, group="library.glossary")
    def _read_glossary(self, shelf: Shelf, entry: Entry) -> None:
        self.post_message(messages.Glossed(shelf, entry, self.terms(shelf, entry)))

    def terms(self, shelf: Shelf, entry: Entry) -> "tuple[Gloss, ...]":
        """Return the terms of an entry; looked up the first time."""
        from assistant.tui.library.glossed import glosses

        if (key := (entry.id, entry.lang)) not in self.glosses:
            self.glosses[key] = glosses(shelf, entry, self._asking)
        return self.glosses[key]
