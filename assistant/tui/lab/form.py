"""The fields of a check."""

import re
from collections.abc import Mapping
from typing import Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from assistant.checks.show import example, json_value
from assistant.checks.types import REQUIRED, Check, Parameter
from assistant.tui.lab.field import Field
from assistant.tui.lab.sentence import Sentence
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Form", "start_values"]

#: Lines of a help text on a screen of few lines; F1 has all of it.
_LINES: Final = 2


def start_values(check: Check) -> dict[str, str]:
    """Return what the fields of a check hold when it is opened: its example; defaults of flags and choices."""
    shown = example(check)
    for parameter in check.parameters:
        if parameter.name not in shown and parameter.kind in ("choice", "flag"):
            shown[parameter.name] = _default(parameter)
    return shown


def _default(parameter: Parameter) -> str:
    if parameter.default is REQUIRED or parameter.default is None:
        return parameter.example if parameter.default is REQUIRED else ""
    value = json_value(parameter.default)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first_sentence(text: str) -> str:
    found = re.match(r".+?(?:。|\.(?=\s|$))", text, re.DOTALL)
    return found[0] if found else text


class Form(VerticalScroll, can_focus=False):
    """Title, what the check computes, and a field for each parameter."""

    DEFAULT_CSS = """
    Form { height: auto; padding: 0 1; scrollbar-size-vertical: 1; }
    Form .name { height: auto; }
    Form .about { color: $text-muted; }
    """

    def __init__(
        self, check: Check, values: Mapping[str, str], say: Words, lang: Lang, *, is_tall: bool, is_wide: bool
    ) -> None:
        super().__init__(classes="form")
        self.check = check
        self.start = dict(values)
        self.say = say
        self.lang: Lang = lang
        self.is_tall = is_tall
        self.is_wide = is_wide
        self._fields = [
            Field(parameter, self.start.get(parameter.name, ""), say, lang, is_wide=is_wide)
            for parameter in check.parameters
        ]

    def compose(self) -> ComposeResult:
        """Lay out the fields."""
        yield Static(classes="name")
        yield Sentence(Content(""), "about")
        yield from self._fields

    def on_mount(self) -> None:
        """Show title and help."""
        self._show_height()
        self._title()

    def _show_height(self) -> None:
        # Set here, for a class would style every field anew, in one turn of the event loop.
        self.styles.max_height = "60%" if self.is_tall else "50%"
        self.query_one(".about", Sentence).styles.margin = (0, 0, 1 if self.is_tall else 0, 0)

    def _title(self) -> None:
        check = self.check
        title, about = (check.zh, check.help_zh) if self.lang == "zh" else (check.en, check.help_en)
        name = plain(title, "bold $primary")
        if self.is_tall:
            name += plain(f"  {check.name}", "$foreground 60%")
        self.query_one(".name", Static).update(name)
        self.query_one(".about", Sentence).show(
            plain(about if self.is_tall else _first_sentence(about)), 0 if self.is_tall else _LINES
        )

    def fit(self, *, is_tall: bool, is_wide: bool) -> None:
        """Show all of the help where there is room, else its first sentence; and ranges beside the fields."""
        if is_wide != self.is_wide:
            self.is_wide = is_wide
            for field in self.fields():
                field.fit(is_wide=is_wide)
        if is_tall != self.is_tall:
            self.is_tall = is_tall
            self._show_height()
            self._title()

    def speak(self, say: Words, lang: Lang) -> None:
        """Set every label in a language, keeping what is typed."""
        self.say, self.lang = say, lang
        self._title()
        for field in self.fields():
            field.speak(say, lang)

    def fields(self) -> list[Field]:
        """Return the fields in the order of the table."""
        return self._fields

    def values(self) -> dict[str, str]:
        """Return what is typed, by name; empty fields are left out."""
        return {field.parameter.name: field.text for field in self.fields() if field.text.strip()}

    def problems(self) -> list[tuple[Field, str]]:
        """Return the fields that cannot be used, each with what is wrong."""
        return [(field, field.problem) for field in self.fields() if field.problem]

    def put(self, values: Mapping[str, str]) -> None:
        """Set all fields; those that are not named get their defaults."""
        start = {p.name: _default(p) for p in self.check.parameters if p.kind in ("choice", "flag")} | dict(values)
        for field in self.fields():
            field.put(start.get(field.parameter.name, ""))
