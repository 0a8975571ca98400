"""Choosing a model file: a field that completes paths, and a tree of the ONNX files below a directory."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import DirectoryTree, Input, Static

from assistant.tui.model.names import one_line
from assistant.tui.words import Words

__all__ = ["PathField", "PickScreen", "completed"]

_MOST = 2000
"""Entries of a directory that are looked at for a completion."""


def completed(typed: str) -> str | None:
    """Return a path completed by the first directory or .onnx file that begins so; None if there is none."""
    head, slash, start = typed.rpartition("/")
    directory = Path(head or "/").expanduser() if slash else Path()
    try:
        names = []
        for i, entry in enumerate(directory.iterdir()):
            if i >= _MOST:
                break
            is_hidden = entry.name.startswith(".") and not start.startswith(".")
            if not entry.name.startswith(start) or is_hidden or not _is_plain(entry.name):
                continue
            if entry.is_dir():
                names.append(entry.name + "/")
            elif entry.suffix.lower() == ".onnx":
                names.append(entry.name)
    except OSError:
        return None
    names = [name for name in names if name != start]
    return f"{head}{slash}{min(names)}" if names else None


def _is_plain(name: str) -> bool:
    return one_line(name) == name


class _Paths(Suggester):
    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(completed, value) if value else None


class PathField(Input):
    """A field for a path; one with control characters is shown with these made visible, and still found."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+e,end", "take", show=False)]

    def __init__(self, id: str) -> None:
        super().__init__(id=id, suggester=_Paths(), compact=True)
        self._hidden: dict[str, str] = {}

    @property
    def path(self) -> str:
        """The path meant; "" if none."""
        shown = self.value.strip()
        found = self._hidden.get(shown, shown)
        if len(found) > 1 and found[0] == found[-1] and found[0] in "'\"":
            found = found[1:-1]
        return str(Path(found).expanduser()) if found.startswith("~") else found

    def choose(self, path: str) -> None:
        """Set the path."""
        self.value = path
        self.cursor_position = len(self.value)

    def validate_value(self, value: str) -> str:
        """Keep control characters out of the terminal, wherever the text comes from."""
        shown = one_line(value)
        if shown != value:
            self._hidden[shown] = value
        return shown

    def action_take(self) -> None:
        """Take the completion, as the right arrow does; at the end of the text."""
        if self.cursor_position >= len(self.value) and self._suggestion:
            self.value = self._suggestion
        self.cursor_position = len(self.value)


class _Tree(DirectoryTree):
    """Directories and ONNX files; names are never read as markup."""

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out hidden files and everything that is no ONNX file."""
        return [
            path
            for path in paths
            if not path.name.startswith(".") and (path.suffix.lower() == ".onnx" or _is_directory(path))
        ]

    def process_label(self, label: str | Text) -> Text:
        """Return a name as text."""
        return Text(one_line(label)) if isinstance(label, str) else label


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


class PickScreen(ModalScreen[str | None]):
    """Shows the tree; Enter chooses a file, Backspace goes to the directory above, Escape gives up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("backspace", "up", show=False),
    ]
    DEFAULT_CSS = """
    PickScreen { align: center middle; }
    PickScreen > Vertical { width: 90%; max-width: 100; height: 80%; background: $surface; border: round $primary;
        padding: 0 1; }
    PickScreen Static { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    PickScreen #pick-root { color: $primary; text-style: bold; }
    PickScreen DirectoryTree { height: 1fr; background: $surface; }
    """

    def __init__(self, root: Path, say: Words) -> None:
        super().__init__()
        self.root = root
        self.say = say

    def compose(self) -> ComposeResult:
        """Lay out the tree between its directory and a hint."""
        with Vertical():
            yield Static(one_line(str(self.root)), id="pick-root", markup=False)
            yield _Tree(self.root, id="pick-tree")
            yield Static(self.say("pick_hint"), markup=False)

    def on_mount(self) -> None:
        """Focus the tree."""
        self.query_one(_Tree).focus()

    def action_up(self) -> None:
        """Show the directory above."""
        tree = self.query_one(_Tree)
        self.root = self.root.parent
        tree.path = self.root
        self.query_one("#pick-root", Static).update(one_line(str(self.root)))

    @on(DirectoryTree.FileSelected)
    def _chosen(self, event: DirectoryTree.FileSelected) -> None:
        event.stop()
        self.dismiss(str(event.path))
