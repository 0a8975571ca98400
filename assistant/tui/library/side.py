"""The side: reading or learning, and the tree of either."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.tui.library.place import Place, node_keys
from assistant.tui.library.shelf import Shelf
from assistant.tui.library.tree import Branch, Mode, ShelfTree, branches
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Modes", "Side"]


class Modes(Static):
    """Reading and learning; a click changes."""

    class Changed(Message):
        """The other one is wanted."""

    def show(self, say: Words, mode: Mode) -> None:
        """Show which of both it is."""
        styles = {True: "reverse bold", False: "$text-muted"}
        names = [plain(f" {say(one)} ", styles[one == mode]) for one in ("read", "learn")]
        self.update(Content(" ").join(names), layout=False)

    def on_click(self) -> None:
        """Ask for the other one."""
        self.post_message(self.Changed())


class Side(Vertical):
    """Shows the shelf in one of two orders."""

    DEFAULT_CSS = """
    Side { width: 38%; min-width: 28; max-width: 54; }
    Side.hidden { display: none; }
    Side #library-modes { height: 1; width: 1fr; padding: 0 1; background: $surface; }
    """

    def __init__(self, mode: Mode, say: Words) -> None:
        super().__init__(id="library-side")
        self.mode: Mode = mode
        self.say = say
        self.modes = Modes(id="library-modes", markup=False)
        self.tree_of_shelf = ShelfTree(id="library-tree")
        self._filled: tuple[Shelf, Lang] | None = None

    def compose(self) -> ComposeResult:
        """Lay out both modes above the tree."""
        yield self.modes
        yield self.tree_of_shelf

    @property
    def is_hidden(self) -> bool:
        """Whether only the text is shown."""
        return self.has_class("hidden")

    def fill(self, shelf: Shelf | None, lang: Lang) -> None:
        """Show a shelf in a language; what is open stays open. None: it is not read yet."""
        self.modes.show(self.say, self.mode)
        if shelf is not None:
            self._filled = (shelf, lang)
            self.tree_of_shelf.fill(branches(shelf, self.mode, lang, self.say))

    def change(self, mode: Mode) -> None:
        """Change between reading and learning."""
        self.mode = mode
        self.modes.show(self.say, mode)
        if self._filled is not None:
            self.fill(*self._filled)
            self.open_first()

    def open_first(self) -> None:
        """Open what a reader begins with."""
        nodes = self.tree_of_shelf.root.children
        for node in nodes[:1] if self.mode == "read" else nodes:
            node.expand()
        if nodes:
            self.tree_of_shelf.move_cursor_to_line(0)

    def point(self, place: Place | None) -> None:
        """Put the cursor on a place, unless it stands on it already."""
        if self._filled is None or place is None:
            return
        keys, node = node_keys(self._filled[0], place), self.tree_of_shelf.cursor_node
        if node is None or node.data is None or node.data.key not in keys:
            self.tree_of_shelf.reveal(*keys)

    def pointed(self) -> Branch | None:
        """Return what the cursor is on, while the tree has the focus."""
        node = self.tree_of_shelf.cursor_node
        return node.data if node is not None and self.tree_of_shelf.has_focus else None
