"""Boxes that ask: which file, the text to paste, where to save, which line. Escape leaves each."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, TypeVar

from rich.text import Text, TextType
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Button, Checkbox, DirectoryTree, Input, Markdown, Static, TextArea

from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["FileBox", "LineBox", "PasteBox", "SaveBox", "TextBox"]

T = TypeVar("T")

#: A paste of so many characters is a log without doubt, and is read at once.
_SURELY = 20_000
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


class Box(ModalScreen[T]):
    """A box with a title and a hint."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]
    DEFAULT_CSS = """
    Box { align: center middle; }
    Box > #box { width: 90%; max-width: 110; height: auto; max-height: 90%; background: $surface;
        border: round $primary; padding: 0 1; }
    Box #title { text-style: bold; color: $primary; }
    Box #hint { color: $text-muted; }
    Box #problem { color: $error; display: none; }
    Box #problem.shown { display: block; }
    Box #files { height: 1fr; min-height: 5; background: $surface; }
    Box #text { height: 1fr; min-height: 5; }
    Box.tall > #box { height: 90%; }
    Box Input, Box TextArea { margin: 0; }
    Box #buttons { height: 1; margin: 0; }
    Box #buttons Button { margin: 0 1 0 0; }
    Box #body { height: auto; max-height: 100%; }
    """

    def __init__(self, say: Words, title: str, hint: str) -> None:
        super().__init__()
        self.say = say
        self.heading = title
        self.hint = hint

    def compose(self) -> ComposeResult:
        """Lay out title, body and hint."""
        with Vertical(id="box"):
            yield Static(self.heading, id="title", markup=False)
            yield from self.body()
            yield Static("", id="problem", markup=False)
            yield Static(self.hint, id="hint", markup=False)

    def body(self) -> ComposeResult:
        """Lay out what the box asks for."""
        raise NotImplementedError

    def complain(self, text: str) -> None:
        """Say what is wrong."""
        problem = self.query_one("#problem", Static)
        problem.update(plain(text))
        problem.set_class(bool(text), "shown")

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)


class FileBox(Box[str]):
    """Asks for a path: typed with completion, or chosen from the tree."""

    def __init__(self, say: Words, title: str, hint: str, path: str) -> None:
        super().__init__(say, title, hint)
        self.add_class("tall")
        self.path = path

    def body(self) -> ComposeResult:
        """Lay out path and tree."""
        yield PathInput(
            self.path, id="path", placeholder=self.say("path"), suggester=PathSuggester(), select_on_focus=False
        )
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


class LogText(TextArea):
    """Takes pasted lines; a long paste is answered at once, before it is laid out."""

    async def _on_paste(self, event: events.Paste) -> None:
        if len(event.text) >= _SURELY and not self.text and isinstance(self.screen, PasteBox):
            event.stop()
            event.prevent_default()
            self.screen.dismiss(event.text)
            return
        await super()._on_paste(event)
        # The handler of the base class would paste once more.
        event.prevent_default()


class PasteBox(Box[str]):
    """Asks for text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter,f9", "read", show=False, priority=True),
    ]

    def __init__(self, say: Words, title: str, hint: str, text: str) -> None:
        super().__init__(say, title, hint)
        self.add_class("tall")
        self.given = text

    def body(self) -> ComposeResult:
        """Lay out the text and its buttons."""
        yield LogText(self.given, id="text", soft_wrap=False, show_line_numbers=True)
        with Horizontal(id="buttons"):
            yield Button(self.say("read"), id="read", variant="primary", compact=True)
            yield Button(self.say("leave"), id="leave", compact=True)

    def on_mount(self) -> None:
        """Begin in the text."""
        self.query_one("#text").focus()

    def action_read(self) -> None:
        """Answer with the text."""
        text = self.query_one("#text", TextArea).text
        if text.strip():
            self.dismiss(text)
        else:
            self.complain(self.say("paste_empty"))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "read":
            self.action_read()
        else:
            self.action_leave()


class SaveBox(Box[bool]):
    """Asks where to save, and whether without what is private. A file that is there is replaced only if asked twice."""

    def __init__(
        self, say: Words, title: str, hint: str, path: str, redact: bool, save: Callable[[Path, bool, bool], None]
    ) -> None:
        super().__init__(say, title, hint)
        self.path = path
        self.redact = redact
        self.save = save
        self._confirmed = ""

    def body(self) -> ComposeResult:
        """Lay out path, switch and buttons."""
        yield PathInput(
            self.path, id="path", placeholder=self.say("path"), suggester=PathSuggester(), select_on_focus=False
        )
        yield Checkbox(Content(self.say("redact_switch")), self.redact, id="redact", compact=True)
        with Horizontal(id="buttons"):
            yield Button(self.say("save"), id="save", variant="primary", compact=True)
            yield Button(self.say("leave"), id="leave", compact=True)

    def on_mount(self) -> None:
        """Begin in the path."""
        self.query_one("#path", Input).focus()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        if event.value != self._confirmed:
            self._confirmed = ""
            self.complain("")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._try()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "save":
            self._try()
        else:
            self.action_leave()

    def _try(self) -> None:
        value = self.query_one("#path", Input).value.strip()
        if not value:
            self.complain(self.say("path_empty"))
            return
        try:
            path = Path(value).expanduser()
        except RuntimeError:
            path = Path(value)
        if path.is_dir():
            self.complain(self.say("is_folder", path=value))
        elif path.exists() and self._confirmed != value:
            self._confirmed = value
            self.complain(self.say("exists", path=value))
        else:
            self.save(path, self.query_one("#redact", Checkbox).value, self._confirmed == value)
            self.dismiss(True)


class LineBox(Box[int]):
    """Asks for the number of a line."""

    def body(self) -> ComposeResult:
        """Lay out the number."""
        yield Input(id="line", type="integer", placeholder=self.say("line"), compact=True)

    def on_mount(self) -> None:
        """Begin in the number."""
        self.query_one("#line", Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.lstrip("+").isdigit():
            self.dismiss(int(event.value))
        else:
            self.complain(self.say("line_wrong"))


class TextBox(Box[bool]):
    """Shows text, or Markdown without links that open."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q", "leave", show=False)]

    def __init__(self, say: Words, title: str, hint: str, content: Content | str) -> None:
        super().__init__(say, title, hint)
        self.content_shown = content

    def body(self) -> ComposeResult:
        """Lay out the text."""
        with VerticalScroll(id="body"):
            if isinstance(self.content_shown, str):
                yield Markdown(self.content_shown, open_links=False)
            else:
                yield Static(self.content_shown)

    def on_mount(self) -> None:
        """Let the keys scroll."""
        self.query_one("#body").focus()
