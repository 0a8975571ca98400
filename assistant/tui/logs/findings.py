"""The list at the left: what a reading has come to, by groups."""

from textual.widgets import OptionList
from textual.widgets.option_list import Option

from assistant.tui.logs.items import Item, options
from assistant.tui.logs.reading import Reading
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["FindingList"]


class FindingList(OptionList):
    """Shows items it is given."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.items: tuple[Item, ...] = ()

    @property
    def chosen(self) -> Item | None:
        """The item of the cursor."""
        if self.highlighted is None or self.highlighted >= self.option_count:
            return None
        name = self.get_option_at_index(self.highlighted).id or ""
        return self.items[int(name.removeprefix("item-"))] if name.startswith("item-") else None

    def show(self, reading: Reading, shown: tuple[Item, ...], lang: Lang, say: Words) -> None:
        """Show the items anew, with the same one chosen."""
        chosen = self.chosen
        rows = options(shown, lang, say) or [Option(plain(_nothing(reading, say), "$text-muted"), disabled=True)]
        with self.prevent(OptionList.OptionHighlighted):
            self.items = shown
            self.clear_options()
            self.add_options(rows)
            keys = [item.key for item in self.items]
            index = keys.index(chosen.key) if chosen is not None and chosen.key in keys else 0
            if keys:
                self.highlighted = self.get_option_index(f"item-{index}")


def _nothing(reading: Reading, say: Words) -> str:
    """Return why there is nothing to list."""
    if reading.phase == "failed":
        return say("nothing_failed")
    if reading.is_busy:
        return say("nothing_yet")
    return say(f"nothing_{reading.diagnosis.verdict if reading.diagnosis else 'clean'}")
