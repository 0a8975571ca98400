"""The small texts around tree and reader: where the shown text stands, what helps now, names of keys."""

from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.content import Content

from assistant.tui.library.bindings import BINDINGS
from assistant.tui.library.bottom import clickable
from assistant.tui.library.place import MARKS
from assistant.tui.library.tree import named
from assistant.tui.painted import TERM
from assistant.tui.safe import plain
from assistant.tui.words import explained

if TYPE_CHECKING:
    from assistant.tui.library.pane import LibraryPane

__all__ = ["hint", "key", "leads_to", "where"]

_IN_HINTS = (
    "back", "forward", "previous", "next", "whole", "twin", "bookmark", "copy", "edit",
    "reveal", "knew", "not_yet", "find_next", "find_previous", "cancel", "link", "follow",
)  # fmt: skip


def key(pane: "LibraryPane", name: str) -> str:
    """Return the key of an action as the user has it."""
    for binding in BINDINGS:
        if isinstance(binding, Binding) and binding.id == f"{pane.AREA}.{name}":
            chosen = pane.app._keymap.get(binding.id, binding.key).split(",")[0]
            return pane.app.get_key_display(binding.with_key(chosen))
    return ""


def where(pane: "LibraryPane") -> Content:
    """Return what is shown and where it stands."""
    shelf, place, say = pane.desk.shelf, pane.desk.place, pane.say
    if pane.problem:
        return plain(say("broken", error=explained(pane.problem, say)), "$error")
    if shelf is None:
        return plain(say("reading"), "$text-muted")
    if place is None:
        return plain(say("area_library"), "bold")
    entry = pane.desk.entry()
    home = shelf.documents[place.key if place.kind == "document" else shelf.home[place.key]]
    platform = named(say, f"platform_{home.platform}", home.platform)
    order = home.ids
    if place.path:
        order = next((path.ids for path in shelf.paths if path.platform == place.path), ())
        name = next((path.titles[pane.lang] for path in shelf.paths if path.platform == place.path), "")
    else:
        name = home.titles.get(pane.lang) or next(iter(home.titles.values()))
        name = name.removeprefix(f"{platform}：").removeprefix(f"{platform}: ")
    number = f"{order.index(entry.id) + 1}/{len(order)}" if entry and entry.id in order else ""
    star = "★ " if pane.notes.has_bookmark(place) else ""
    mark = f"{MARKS[pane.notes.marks.get(place.key, '')]} " if place.kind == "card" else ""
    twin = f" [{place.lang}]" if place.lang != pane.lang else ""
    return plain(f"{mark}{star}{number}{twin} ", "bold $primary") + plain(f"{platform} › {name}")


def hint(pane: "LibraryPane") -> Content:
    """Return what helps now: matches, what to do with a card, the full title under the cursor, or keys for reading."""
    say, reader, pointed = pane.say, pane.desk.reader, pane.side.pointed()
    if reader.wanted and not reader.matches:
        return plain(say("no_match"), "$warning")
    if not reader.wanted and pointed is not None:
        return plain(pointed.title)
    if not reader.wanted and pane.desk.place is None:
        return plain("")
    to = leads_to(pane)
    if reader.wanted:
        sentence = "match"
    elif to:
        sentence = "hint_link"
    elif pane.desk.is_card:
        sentence = "hint_open" if pane.desk.is_open else "hint_card"
    else:
        sentence = "hint_reader"
    keys = {name: key(pane, name) for name in _IN_HINTS}
    number, count = (
        (reader.link, len(reader.page.links)) if sentence == "hint_link" else (reader.current, len(reader.matches))
    )
    return clickable(say(sentence), keys, number=number + 1, all=count, to=to)


def leads_to(pane: "LibraryPane") -> str:
    """Return where the chosen link leads, in words; "" if none is chosen."""
    desk, links = pane.desk, pane.desk.reader.page.links
    if not 0 <= desk.reader.link < len(links) or desk.shelf is None or desk.place is None:
        return ""
    target = links[desk.reader.link].target
    kind, _, key = pane.way.choice(target).partition(":")
    if target.startswith(TERM):
        return pane.say("link_term", word=target.removeprefix(TERM))
    if kind == "entry":
        return desk.shelf.title(key, desk.place.lang)
    if kind == "document":
        titles = desk.shelf.documents[key].titles
        return titles.get(desk.place.lang) or next(iter(titles.values()))
    return target
