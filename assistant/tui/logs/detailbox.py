"""The part below the log: the chosen item in full, with what the corpus says about it."""

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from assistant.tui.ask.latest import Done
from assistant.tui.logs.details import Details, details
from assistant.tui.logs.items import Item
from assistant.tui.logs.lookups import Lookups, Told
from assistant.tui.logs.reading import Reading
from assistant.tui.safe import plain
from assistant.tui.services import Services
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["DetailBox"]


class DetailBox(VerticalScroll, can_focus=True):
    """Shows an item it is given; what the corpus says about it is added when it comes."""

    def __init__(self, services: Services, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lookups = Lookups(self, services)
        self._shown: tuple[Item, Reading, Lang, Words] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        yield Details("", id="logs-detail", markup=False)

    @property
    def told(self) -> Told:
        """What the corpus says about the item by now."""
        return self._lookups.told(self._shown[0], self._shown[2]) if self._shown else Told()

    def show(self, item: Item | None, reading: Reading, lang: Lang, say: Words) -> None:
        """Show an item, or how to choose one."""
        is_other = self._shown is None or item is None or item.key != self._shown[0].key
        self._shown = None if item is None else (item, reading, lang, say)
        if is_other:
            self.scroll_home(animate=False)
        if item is None:
            self.query_one(Details).update(plain(say("details_hint"), "$text-muted"))
            return
        self._update()
        self._lookups.ask(item, lang)

    @on(Done)
    def _looked_up(self, event: Done) -> None:
        event.stop()
        if self._lookups.take(event):
            self._update()

    def _update(self) -> None:
        if self._shown is not None:
            item, reading, lang, say = self._shown
            self.query_one(Details).update(details(item, reading, lang, self.told, say))
