"""The small texts around tree and reader: names of keys, place, hints, lines of lists."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.tui.library.place import MARKS, TOP, Mark, Place, Spot
from assistant.tui.library.shelf import Shelf
from assistant.tui.library.tree import Mode, named
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Entry, Lang

if TYPE_CHECKING:
    from assistant.tui.library.glossed import Gloss
    from assistant.tui.library.painted import Painted
    from assistant.tui.library.pane import LibraryPane

__all__ = [
    "Modes", "as_json", "contents", "glossary", "hint", "key", "node_keys", "read_spot", "title", "where",
]  # fmt: skip


class Modes(Static):
    """Reading and learning; a click changes."""

    class Changed(Message):
        """The other one is wanted."""

    def show(self, say: Words, mode: Mode) -> None:
        """Show which of both it is."""
        styles = {True: "reverse bold", False: "$text-muted"}
        self.update(Content(" ").join(plain(f" {say(one)} ", styles[one == mode]) for one in ("read", "learn")))

    def on_click(self) -> None:
        """Ask for the other one."""
        self.post_message(self.Changed())


def key(pane: "LibraryPane", name: str) -> str:
    """Return the key of an action as the user has it."""
    for binding in pane.BINDINGS:
        if isinstance(binding, Binding) and binding.id == f"{pane.AREA}.{name}":
            chosen = pane.app._keymap.get(binding.id, binding.key).split(",")[0]
            return pane.app.get_key_display(binding.with_key(chosen))
    return ""


def where(pane: "LibraryPane") -> Content:
    """Return what is shown and where it stands."""
    shelf, place, say = pane.shelf, pane.place, pane.say
    if pane.problem:
        return plain(say("broken", error=pane.problem), "$error")
    if shelf is None:
        return plain(say("reading"), "$text-muted")
    if place is None:
        return plain(say("area_library"), "bold")
    entry = pane.shown_entry()
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
    kind = "document" if place.kind == "document" else "entry"
    star = "★ " if any((one.kind, one.key) == (kind, place.key) for one in pane.bookmarks) else ""
    mark = f"{MARKS[pane.marks.get(place.key, '')]} " if place.kind == "card" else ""
    twin = f" [{place.lang}]" if place.lang != pane.lang else ""
    return plain(f"{mark}{star}{number}{twin} ", "bold $primary") + plain(f"{platform} › {name}")


def hint(pane: "LibraryPane") -> Content:
    """Return what helps now: matches, what to do with a card, the full title under the cursor, or keys for reading."""

    def keys(*names: str) -> dict[str, str]:
        return {name: key(pane, name) for name in names}

    say = pane.say
    if pane.wanted:
        if not pane.matches:
            return plain(say("no_match"), "$warning")
        told = say("match", number=pane.current + 1, all=len(pane.matches), **keys("find_next", "find_previous"))
        return plain(told, "bold")
    if (
        pane.shelf_tree.has_focus
        and pane.shelf_tree.cursor_node is not None
        and pane.shelf_tree.cursor_node.data is not None
    ):
        return plain(pane.shelf_tree.cursor_node.data.title)
    if pane.place is None:
        return plain("")
    if pane.place.kind == "card":
        if not pane.is_open:
            return plain(say("hint_card", **keys("reveal", "next")), "bold")
        return plain(say("hint_open", **keys("knew", "not_yet", "next")), "bold")
    names = ("back", "forward", "previous", "next", "whole", "twin", "bookmark", "copy", "edit")
    return plain(say("hint_reader", **keys(*names)))


def node_keys(shelf: Shelf, place: Place) -> tuple[str, ...]:
    """Return the keys of the tree's nodes that may stand for a place."""
    entry = shelf.entry(place.key, place.lang) if place.kind != "document" else None
    if entry is None:
        return tuple(f"d:{shelf.entry(one, place.lang).kind}:{place.key}" for one in _ids(shelf, place))  # type: ignore[union-attr]
    if place.path:
        return (f"s:{place.key}", f"q:{place.key}")
    return (f"e:{entry.kind}:{place.key}", f"q:{place.key}", f"s:{place.key}")


def _ids(shelf: Shelf, place: Place) -> tuple[str, ...]:
    return shelf.documents[place.key].ids if place.key in shelf.documents else ()


def title(shelf: Shelf, place: Place, lang: Lang) -> str:
    """Return the title of a place."""
    if place.kind != "document":
        return shelf.title(place.key, lang)
    titles = shelf.documents[place.key].titles
    return titles.get(lang) or next(iter(titles.values()))


def contents(
    shelf: Shelf, place: Place, page: "Painted", marks: Mapping[str, Mark], entry: Entry
) -> list[tuple[str, Content]]:
    """Return the entries of the shown document, and below those on the page their sections."""
    lines: list[tuple[str, Content]] = []
    for one in shelf.documents[shelf.home[entry.id]].ids:
        style = "bold" if one == entry.id else ""
        mark = MARKS[marks.get(one, "")]
        lines.append((f"entry:{one}", plain(f"{mark} {shelf.title(one, place.lang)}", style)))
        lines += [
            (f"line:{line}", plain(f"    ▸ {text}"))
            for text, level, line in page.headings
            if level > 2 and one in page.anchors and page.spot(line)[0] == one
        ]
    return lines


def glossary(shelf: Shelf, found: "tuple[Gloss, ...]", lang: Lang) -> list[tuple[str, Content]]:
    """Return two lines for each term, both languages, and a line for each entry that explains it."""
    lines: list[tuple[str, Content]] = []
    for gloss in found:
        first = f"entry:{gloss.entries[0]}" if gloss.entries else ""
        words = plain("\n  中 ", "$text-muted") + plain("、".join(gloss.term.zh))
        words += plain("\n  EN ", "$text-muted") + plain(", ".join(gloss.term.en))
        lines.append((first, plain(gloss.used, "bold $primary") + words))
        lines += [(f"entry:{one}", plain(f"  → {shelf.title(one, lang)}")) for one in gloss.entries]
    return lines


def as_json(place: Place) -> dict[str, str]:
    """Return a place as a JSON value."""
    return {"kind": place.kind, "key": place.key, "lang": place.lang, "path": place.path}


def read_spot(data: Any) -> Spot:  # noqa: ANN401 (whatever the saved state holds)
    """Return a spot from its JSON value; the top if it is none."""
    if isinstance(data, list | tuple) and len(data) == 2 and isinstance(data[0], str):
        try:
            return data[0], min(1.0, max(0.0, float(data[1])))
        except (TypeError, ValueError):
            return TOP
    return TOP
