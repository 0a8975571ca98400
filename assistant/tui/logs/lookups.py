"""What the corpus says about the items of a diagnosis: looked up in a thread, one at a time, and kept."""

from dataclasses import dataclass

from textual.widget import Widget

from assistant.logs.types import Finding, UnknownLines
from assistant.tui.ask.latest import Done, Latest
from assistant.tui.logs.items import Item
from assistant.tui.logs.nearest import Near
from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["Lookups", "Told"]

_Key = tuple[str, Lang]


@dataclass(frozen=True, slots=True)
class Told:
    """What is known about an item by now."""

    entry: str = ""
    """Title and checks of the entry that a finding names."""
    near: Near | None = None
    """Entries that are nearest to unknown lines."""
    problem: str = ""


class Lookups:
    """Asks the corpus; `Done` comes to the owner, who gives it to `take`."""

    def __init__(self, owner: Widget, services: Services) -> None:
        self._services = services
        self._job = Latest(owner, "logs-lookup")
        self._known: dict[_Key, Told] = {}
        self._asked: tuple[_Key, bool] | None = None

    def told(self, item: Item | None, lang: Lang) -> Told:
        """Return what is known about an item."""
        return self._known.get((_subject(item), lang), Told())

    def ask(self, item: Item | None, lang: Lang) -> None:
        """Look an item up, unless that was done: by words first, which is fast, then by meaning."""
        key = (_subject(item), lang)
        if not key[0] or key in self._known or (self._asked is not None and self._asked[0] == key):
            return
        self._begin(key, is_finding=item is not None and isinstance(item.value, Finding))

    def take(self, done: Done) -> bool:
        """Keep what was found; return whether anything new is known."""
        if done.job is not self._job or not done.job.ended(done) or self._asked is None:
            return False
        key, by_meaning = self._asked
        self._asked = None
        told = Told(problem=done.error) if done.error else done.result
        if isinstance(told, Near):
            told = Told(near=told)
            if not by_meaning:
                self._begin(key, is_finding=False, by_meaning=True)
        elif done.error and by_meaning and key in self._known:
            return False
        self._known[key] = told
        return True

    def _begin(self, key: _Key, *, is_finding: bool, by_meaning: bool = False) -> None:
        subject, lang = key
        self._asked = (key, by_meaning)

        def look() -> Told | Near:
            from assistant.tui.logs.entry import entry_line
            from assistant.tui.logs.nearest import nearest

            if is_finding:
                return Told(entry=entry_line(self._services, subject, lang))
            return nearest(self._services, subject, lang, with_meaning=by_meaning)

        self._job.start(look)


def _subject(item: Item | None) -> str:
    """Return what is looked up about an item: the id of an entry, or a line; empty if nothing is."""
    if item is not None and isinstance(item.value, Finding):
        return item.value.entry
    if item is not None and isinstance(item.value, UnknownLines):
        return item.value.first.text
    return ""
