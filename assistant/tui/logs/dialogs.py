"""Boxes that ask for text, a place to save, a line, one of several; and one that shows text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Checkbox, Input, Markdown, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from assistant.tui.box import Box
from assistant.tui.pathfield import PathField
from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["ChoiceBox", "LineBox", "PasteBox", "SaveBox", "Target", "TextBox"]

#: A paste of so many characters is a log without doubt, and is read at once.
_SURELY = 20_000


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

    def __init__(self, say: Words) -> None:
        super().__init__(say, "paste")
        self.add_class("tall")

    def body(self) -> ComposeResult:
        """Lay out the text and its buttons."""
        yield LogText(id="text", soft_wrap=False, show_line_numbers=True)
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


@dataclass(frozen=True, slots=True)
class Target:
    """Where to save, and how."""

    path: Path
    redact: bool
    over: bool
    """Whether a file that is there is replaced."""


class SaveBox(Box[Target]):
    """Asks where to save, and whether without what is private. A file that is there is replaced only if asked twice."""

    def __init__(self, say: Words, path: str, redact: bool) -> None:
        super().__init__(say, "export")
        self.path = path
        self.redact = redact
        self._confirmed = ""

    def body(self) -> ComposeResult:
        """Lay out path, switch and buttons."""
        yield PathField("path", path=self.path, hint=self.say("path"), select_on_focus=False)
        yield Checkbox(Content(self.say("redact_switch")), self.redact, id="redact", compact=True)
        with Horizontal(id="buttons"):
            yield Button(self.say("save"), id="save", variant="primary", compact=True)
            yield Button(self.say("leave"), id="leave", compact=True)

    def on_mount(self) -> None:
        """Begin in the path."""
        self.query_one("#path", Input).focus()

    @on(Input.Changed)
    def _changed(self) -> None:
        if self.query_one("#path", PathField).path != self._confirmed:
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
        given = self.query_one("#path", PathField).path
        path = Path(given)
        if not given:
            self.complain(self.say("no_path"))
        elif path.is_dir():
            self.complain(self.say("is_folder", path=given))
        elif path.exists() and self._confirmed != given:
            self._confirmed = given
            self.complain(self.say("exists", path=given))
        else:
            self.dismiss(Target(path, self.query_one("#redact", Checkbox).value, self._confirmed == given))


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

    def __init__(self, say: Words, name: str, content: Content | str) -> None:
        super().__init__(say, name)
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


class ChoiceBox(Box[str]):
    """Asks for one of several."""

    def __init__(self, say: Words, name: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__(say, name)
        self.choices = choices
        """(answer, how it is shown)."""

    def body(self) -> ComposeResult:
        """Lay out the choices."""
        yield OptionList(*(Option(plain(told), id=answer) for answer, told in self.choices), id="choices", compact=True)

    def on_mount(self) -> None:
        """Begin in the choices."""
        self.query_one("#choices").focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_id)
