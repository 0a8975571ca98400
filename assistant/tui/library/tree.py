"""The shelf as a tree: for reading by platform, kind and document; for learning by platform, first day and course."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from assistant.plain import printable
from assistant.tui.library.place import MARKS, Mark, Place
from assistant.tui.library.shelf import Document, Shelf
from assistant.tui.words import Words
from kb.parse import KINDS
from kb.types import Lang

__all__ = ["Branch", "Mode", "ShelfTree", "branches"]

Mode = Literal["read", "learn"]


@dataclass(frozen=True, slots=True)
class Branch:
    """One node with what is below it."""

    key: str
    """Unique in the tree; stays the same in the other language."""
    title: str
    place: Place | None
    """What it leads to; None for a platform or a kind."""
    below: tuple["Branch", ...] = ()

    def ids(self) -> Iterator[str]:
        """Yield the entries at and below this node."""
        if not self.below and self.place is not None:
            yield self.place.key
        for branch in self.below:
            yield from branch.ids()


def branches(shelf: Shelf, mode: Mode, lang: Lang, say: Words) -> tuple[Branch, ...]:
    """Return the tree of a mode."""
    return _to_learn(shelf, lang, say) if mode == "learn" else _to_read(shelf, lang, say)


def named(say: Words, key: str, otherwise: str) -> str:
    """Return a sentence, or a raw name that has none."""
    try:
        return say(key)
    except KeyError:
        return otherwise


def _to_read(shelf: Shelf, lang: Lang, say: Words) -> tuple[Branch, ...]:
    found = []
    # Platforms that have a first day come first, in its order, as in the other tree.
    platforms = [*(path.platform for path in shelf.paths), *(one.platform for one in shelf.documents.values())]
    for platform in dict.fromkeys(platforms):
        documents = [one for one in shelf.documents.values() if one.platform == platform]
        kinds = []
        for kind in KINDS:
            below = []
            for one in documents:
                ids = [key for key in one.ids if (entry := shelf.entry(key, lang)) and entry.kind == kind]
                if ids:
                    leaves = _leaves(shelf, ids, f"e:{kind}", lang, "entry")
                    place = Place("document", one.key, lang)
                    below.append(Branch(f"d:{kind}:{one.key}", _short(one, platform, lang, say), place, leaves))
            if below:
                kinds.append(Branch(f"k:{platform}:{kind}", named(say, f"kind_{kind}", kind), None, tuple(below)))
        found.append(Branch(f"p:{platform}", named(say, f"platform_{platform}", platform), None, tuple(kinds)))
    return tuple(found)


def _to_learn(shelf: Shelf, lang: Lang, say: Words) -> tuple[Branch, ...]:
    found = []
    for platform in dict.fromkeys([*(path.platform for path in shelf.paths), *(one.platform for one in shelf.courses)]):
        below = [
            Branch(f"path:{platform}", path.titles[lang], None, _leaves(shelf, path.ids, "s", lang, "card", platform))
            for path in shelf.paths
            if path.platform == platform
        ]
        for course in shelf.courses:
            if course.platform == platform:
                document = shelf.documents[course.document]
                title = _short(document, platform, lang, say)
                below.append(Branch(f"c:{document.key}", title, None, _leaves(shelf, document.ids, "q", lang, "card")))
        found.append(Branch(f"p:{platform}", named(say, f"platform_{platform}", platform), None, tuple(below)))
    return tuple(found)


def _leaves(
    shelf: Shelf, ids: Iterable[str], prefix: str, lang: Lang, kind: Literal["entry", "card"], path: str = ""
) -> tuple[Branch, ...]:
    return tuple(Branch(f"{prefix}:{key}", shelf.title(key, lang), Place(kind, key, lang, path)) for key in ids)


def _short(document: Document, platform: str, lang: Lang, say: Words) -> str:
    """Return a document's title without the platform that the node above says already."""
    title = document.titles.get(lang) or next(iter(document.titles.values()))
    name = named(say, f"platform_{platform}", platform)
    for mark in ("：", ": "):
        title = title.removeprefix(f"{name}{mark}")
    return title


class ShelfTree(Tree[Branch]):
    """Shows branches; the marks are given, and drawn in front of entries and as a count behind what holds entries."""

    DEFAULT_CSS = """
    ShelfTree { width: 1fr; height: 1fr; padding: 0; overflow-x: hidden; scrollbar-size-vertical: 1;
                border-left: solid $panel; background: $background;
                background-tint: $foreground 0%; }
    ShelfTree:focus { border-left: heavy $primary; }
    """
    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "

    def __init__(self, id: str) -> None:
        super().__init__("", id=id)
        self.show_root = False
        self.guide_depth = 2
        self.marks: Mapping[str, Mark] = {}
        self.auto_expand = False

    def fill(self, found: Iterable[Branch]) -> None:
        """Show other branches; what was open stays open, and the cursor stays at its node."""
        opened = {node.data.key for node in self._all() if node.is_expanded and node.data}
        cursor = self.cursor_node.data.key if self.cursor_node and self.cursor_node.data else ""
        self.clear()
        self._add(self.root, found, opened)
        if cursor:
            self.reveal(cursor)

    def _add(self, parent: TreeNode[Branch], found: Iterable[Branch], opened: set[str]) -> None:
        for branch in found:
            label = Text(printable(branch.title).replace("\n", " "))
            if branch.below:
                node = parent.add(label, data=branch, expand=branch.key in opened)
                self._add(node, branch.below, opened)
            else:
                parent.add_leaf(label, data=branch)

    def _all(self) -> Iterator[TreeNode[Branch]]:
        waiting = list(self.root.children)
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children)

    def reveal(self, *keys: str) -> None:
        """Open what is above the first of some nodes that is there, and put the cursor on it."""
        nodes = {node.data.key: node for node in self._all() if node.data}
        node = next((nodes[key] for key in keys if key in nodes), None)
        if node is None:
            return
        above = node.parent
        while above is not None:
            above.expand()
            above = above.parent
        self.call_after_refresh(self.move_cursor, node)

    def remark(self, marks: Mapping[str, Mark]) -> None:
        """Show other marks."""
        self.marks = marks
        self._invalidate()
        self.refresh()

    def render_label(self, node: TreeNode[Branch], base_style: Style, style: Style) -> Text:
        """Return a node's line: icon or mark, title, and how many entries below are known."""
        if node.data is None:
            return Text("", style=style)
        ids = tuple(dict.fromkeys(node.data.ids()))
        if node.data.below:
            icon = self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
            known = sum(self.marks.get(key) == "known" for key in ids)
            count = f" {known}/{len(ids)}" if known else f" {len(ids)}"
        else:
            icon, count = f"{MARKS[self.marks.get(ids[0], '')]} ", ""
        title = Text(str(node.label), style)
        # One cell is left for the scroll bar.
        room = self.size.width - self._before(node) - len(icon) - len(count) - 1
        title.truncate(max(8, room), overflow="ellipsis")
        return Text.assemble((icon, base_style), title, (count, Style(dim=True)))

    def _before(self, node: TreeNode[Branch]) -> int:
        """Return the cells of the guides in front of a node."""
        depth, above = 0, node.parent
        while above is not None and above is not self.root:
            depth, above = depth + 1, above.parent
        return depth * self.guide_depth
