"""The box that asks for a file: a path typed with completion, or a file chosen from a tree."""

import asyncio
import os
from pathlib import Path
from typing import ClassVar, Literal

from rich.text import Text, TextType
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widgets import DirectoryTree, Input

from assistant.tui.logs.box import Box
from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["FileBox", "PathInput"]

_ENTRIES_MOST = 20_000


class PathSuggester(Suggester):
    """Completes a path from the directory it is in, off the event loop."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the path with the first name that fits."""
        return await asyncio.to_thread(_completed, value) if value else None


def _completed(value: str) -> str | None:
    folder, _, start = value.rpartition("/")
    place = Path(folder + "/" if value.startswith("/") or folder else ".").expanduser()
    try:
        with os.scandir(place) as entries:
            found = [
                entry.name + ("/" if entry.is_dir() else "")
                for entry, _ in zip(entries, range(_ENTRIES_MOST), strict=False)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except (OSError, ValueError, RuntimeError):
        return None
    return value[: len(value) - len(start)] + min(found) if found else None


class PathInput(Input):
    """A path; Tab takes the completion, and goes on if there is none."""

    DEFAULT_CSS = """
    PathInput { height: 1; border: none; padding: 0; background: $panel; }
    PathInput:focus { border: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "complete", show=False)]

    def __init__(self, path: str, placeholder: str) -> None:
        super().__init__(path, id="path", placeholder=placeholder, suggester=PathSuggester(), select_on_focus=False)

    def action_complete(self) -> None:
        """Take the completion, or go to the next widget."""
        if self._suggestion and self._suggestion != self.value and self.cursor_position == len(self.value):
            self.action_cursor_right()
        else:
            self.screen.focus_next()


class Files(DirectoryTree):
    """The files below a directory; their names are text."""

    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    ICON_FILE = "  "

    def process_label(self, label: TextType) -> Text:
        """Return a name without reading markup in it."""
        return Text(str(plain(label))) if isinstance(label, str) else label


class FileBox(Box[str]):
    """Asks for a path: typed with completion, or chosen from the tree."""

    def __init__(self, say: Words, kind: Literal["open", "follow"], path: str) -> None:
        super().__init__(say, kind)
        self.add_class("tall")
        self.path = path

    def body(self) -> ComposeResult:
        """Lay out path and tree."""
        yield PathInput(self.path, self.say("path"))
        given = Path(self.path).expanduser() if self.path else Path.cwd()
        start = given if given.is_dir() else given.parent
        yield Files(start if start.is_dir() else Path.cwd(), id="files")

    def on_mount(self) -> None:
        """Begin in the path."""
        self.query_one("#path", Input).focus()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        path = event.value.strip()
        if not path:
            self.query_one("#files").focus()
            return
        self.dismiss(str(Path(path).expanduser()) if path.startswith("~") else path)

    @on(DirectoryTree.FileSelected)
    def _chosen(self, event: DirectoryTree.FileSelected) -> None:
        event.stop()
        self.dismiss(str(event.path))

    @on(DirectoryTree.DirectorySelected)
    def _folder(self, event: DirectoryTree.DirectorySelected) -> None:
        event.stop()
        self.query_one("#path", Input).value = f"{event.path}/"
