"""The searchable list of checks, grouped by topic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assistant.checks.types import Check
from assistant.tui.lab.topics import grouped
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Chooser"]


class Chooser(Vertical):
    """Filter box and list; the arrow keys of the box move in the list, Enter opens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move('cursor_down')", show=False),
        Binding("up", "move('cursor_up')", show=False),
        Binding("pagedown", "move('page_down')", show=False),
        Binding("pageup", "move('page_up')", show=False),
    ]
    DEFAULT_CSS = """
    Chooser { width: 30; height: 1fr; border-right: solid $panel; }
    Chooser #lab-filter { height: 1; border: none; background: $panel; padding: 0 1; }
    Chooser #lab-filter:focus { background: $primary 30%; }
    Chooser OptionList { height: 1fr; border: none; padding: 0; background: transparent; text-wrap: nowrap;
        text-overflow: ellipsis; scrollbar-size-vertical: 1; }
    Chooser OptionList:focus { border: none; }
    Chooser .count { height: 1; color: $text-muted; padding: 0 1; }
    """

    @dataclass
    class Opened(Message):
        """A check was chosen."""

        name: str

    def __init__(self, say: Words, lang: Lang) -> None:
        super().__init__(id="lab-chooser")
        self.say = say
        self.lang: Lang = lang
        self.checks: Mapping[str, Check] = {}
        self.opened = ""

    def compose(self) -> ComposeResult:
        """Lay out box, list and count."""
        yield Input(id="lab-filter", compact=True, select_on_focus=False)
        yield OptionList(id="lab-list", markup=False)
        yield Static(classes="count", markup=False)

    def on_mount(self) -> None:
        """Show the labels."""
        self.speak(self.say, self.lang)

    def speak(self, say: Words, lang: Lang) -> None:
        """Set every label in a language, keeping the filter and the place."""
        self.say, self.lang = say, lang
        self.query_one(Input).placeholder = say("filter")
        self._fill()

    def show(self, checks: Mapping[str, Check], opened: str) -> None:
        """Show the checks of the table."""
        self.checks, self.opened = checks, opened
        self._fill()
        shown = self.query_one(OptionList)
        if opened in {option.id for option in shown.options}:
            shown.highlighted = shown.get_option_index(opened)

    @property
    def filtered(self) -> str:
        """What is typed into the filter."""
        return self.query_one(Input).value

    def _fill(self, is_new: bool = False) -> None:
        shown = self.query_one(OptionList)
        groups = grouped(self.checks, self.filtered)
        current = shown.highlighted_option.id if shown.highlighted_option is not None else None
        options: list[Option] = []
        for topic, checks in groups:
            options.append(Option(plain(self.say(f"topic_{topic}"), "bold $secondary"), disabled=True))
            options += [Option(self._line(check), id=check.name) for check in checks]
        shown.clear_options()
        shown.add_options(options)
        ids = [option.id for option in options if option.id]
        wanted = () if is_new and self.filtered.strip() else (current, self.opened)
        target = next((name for name in wanted if name in ids), ids[0] if ids else None)
        if target is not None:
            shown.highlighted = shown.get_option_index(target)
        key = "count" if ids else "none_match"
        told = self.say(key, count=len(ids), all=len(self.checks)) if self.checks else self.say("opening")
        self.query_one(".count", Static).update(told)

    def _line(self, check: Check) -> Content:
        title = check.zh if self.lang == "zh" else check.en
        return plain(f"{'▸' if check.name == self.opened else ' '} {title}")

    def action_move(self, action: str) -> None:
        """Move in the list from the filter box."""
        getattr(self.query_one(OptionList), f"action_{action}")()

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(is_new=True)

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        event.stop()
        option = self.query_one(OptionList).highlighted_option
        if option is not None and option.id:
            self.post_message(self.Opened(option.id))

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option.id:
            self.post_message(self.Opened(event.option.id))
