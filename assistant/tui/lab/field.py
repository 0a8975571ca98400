"""One parameter of a check: title, editor, unit, and below what it takes or what is wrong."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static, Switch

from assistant.checks.show import shown_value
from assistant.checks.types import REQUIRED, Parameter
from assistant.checks.values import MAX_TEXT
from assistant.tui.lab.sentence import Sentence
from assistant.tui.lab.wrong import is_needed, limits, wrong
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Field"]

#: Cells of a title that show at every width.
_LABEL = 21
_WIDE_LABEL = 32
_WIDE_EDITOR = 24
_ON = ("true", "yes", "1", "on")


class Field(Vertical):
    """Shows one parameter, and checks what is typed as the command line would."""

    DEFAULT_CSS = """
    Field { height: auto; }
    Field .row { height: 1; }
    Field .label { height: 1; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1 0 0; }
    Field .editor { max-width: 44; height: 1; }
    Field Input.editor { background: $panel; border: none; padding: 0 1; }
    Field Input.editor:focus { background: $primary 30%; }
    Field Input.editor.-wrong { background: $error 25%; }
    Field Select.editor { height: 1; }
    Field Select.editor > SelectCurrent { background: $panel; padding: 0 1; border: none; height: 1; }
    Field Select.editor:focus > SelectCurrent { background: $primary 30%; border: none; }
    Field Switch.editor { width: 10; border: none; padding: 0; background: $panel; }
    Field Switch.editor:focus { border: none; background: $primary 30%; }
    Field .unit { width: auto; min-width: 1; padding: 0 1; color: $text-muted; height: 1; }
    Field .hint { padding: 0 0 0 2; color: $text-muted; display: none; }
    Field .side { width: 1fr; height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    Field.-here .hint { display: block; }
    Field.-here .label { color: $primary; text-style: bold; }
    Field.-wrong .hint { display: block; color: $text-error; }
    """

    @dataclass
    class Changed(Message):
        """The value of a field was changed by the user."""

        field: "Field"

    @dataclass
    class Submitted(Message):
        """Enter was pressed in a field."""

        field: "Field"

    def __init__(self, parameter: Parameter, text: str, say: Words, lang: Lang, *, is_wide: bool) -> None:
        super().__init__(classes="field")
        self.is_wide = is_wide
        self.parameter = parameter
        self.say = say
        self.lang: Lang = lang
        self.text = text
        """The value as the command line would take it; "" leaves it to the default."""
        self.problem = ""
        """What is wrong with it, one sentence."""

    def compose(self) -> ComposeResult:
        """Lay out the row and the line below."""
        with Horizontal(classes="row"):
            yield Static(classes="label")
            yield self._editor()
            yield Static(classes="unit")
            yield Static(classes="side")
        yield Sentence(Content(""), "hint")

    def _editor(self) -> Widget:
        kind = self.parameter.kind
        if kind == "choice":
            options = [(plain(choice), choice) for choice in self.parameter.choices]
            chosen = self.text if self.text in self.parameter.choices else self.parameter.choices[0]
            self.text = chosen
            return Select(options, value=chosen, allow_blank=False, compact=True, classes="editor")
        if kind == "flag":
            return Switch(self.text.lower() in _ON, animate=False, classes="editor")
        return Input(self.text, compact=True, max_length=MAX_TEXT, select_on_focus=False, classes="editor")

    def on_mount(self) -> None:
        """Show labels and state."""
        self.fit(is_wide=self.is_wide)
        self.speak(self.say, self.lang)

    def fit(self, *, is_wide: bool) -> None:
        """Show what the field takes beside it where there is room."""
        # Styles of three widgets; a class would be looked up for all below.
        self.is_wide = is_wide
        self.query_one(".label").styles.width = _WIDE_LABEL if is_wide else _LABEL + 3
        if self.parameter.kind != "flag":
            self.query_one(".editor").styles.width = _WIDE_EDITOR if is_wide else "1fr"
        self.query_one(".side").display = is_wide

    def speak(self, say: Words, lang: Lang) -> None:
        """Set every label in a language, keeping what is typed."""
        self.say, self.lang = say, lang
        parameter = self.parameter
        title = plain(parameter.zh if lang == "zh" else parameter.en)
        label = self.query_one(".label", Static)
        label.update(Content("* ").stylize("$text-warning") + title if is_needed(parameter) else Content("  ") + title)
        label.tooltip = plain(f"{title.plain} ({parameter.name})")
        for box in self.query(Input):
            box.placeholder = self._placeholder()
        self._show()

    def _placeholder(self) -> str:
        default = self.parameter.default
        if default is REQUIRED or default is None:
            return self._example()
        return self.say("default_of", default=shown_value(default, self.lang))

    def _example(self) -> str:
        example = self.parameter.example
        return self.say("example_of", example=example) if example else ""

    def _show(self) -> None:
        self.problem = wrong(self.parameter, self.text, self.say, self.lang)
        self.set_class(bool(self.problem), "-wrong")
        for box in self.query(Input):
            box.set_class(bool(self.problem), "-wrong")
        hint = f"✗ {self.problem}" if self.problem else self.hint()
        self.query_one(".hint", Sentence).show(plain(hint))
        self.query_one(".side", Static).update(plain(self.hint(is_short=True)))
        self.query_one(".unit", Static).update(plain(self._unit()))

    def _unit(self) -> str:
        if self.parameter.kind == "flag":
            return shown_value(self.text.lower() in _ON, self.lang)
        return self.parameter.unit

    def hint(self, *, is_short: bool = False) -> str:
        """Return what the field takes: name, kind, range, default and example; the short one fits beside the field."""
        parameter = self.parameter
        parts = [limits(parameter, self.say)]
        if parameter.default is None:
            parts.append(self.say("may_be_empty"))
        elif parameter.default is not REQUIRED:
            parts.append(self.say("default_of", default=shown_value(parameter.default, self.lang)))
        if parameter.choices:
            parts.append(", ".join(parameter.choices))
        elif parameter.kind != "flag":
            parts.append(self._example())
        if is_short:
            return " · ".join(part for part in parts if part)
        kind = "" if parameter.choices else self.say(f"kind_{parameter.kind}")
        unit = self.say("in_unit", unit=parameter.unit) if parameter.unit else ""
        is_list = parameter.kind in ("numbers", "integers", "shape")
        most = self.say("most_items", most=parameter.most) if is_list else ""
        title = parameter.zh if self.lang == "zh" else parameter.en
        full = title if cell_len(title) > _LABEL else ""
        return " · ".join(part for part in (full, parameter.name, kind, unit, most, *parts) if part)

    def put(self, text: str) -> None:
        """Set the value, as if it had been typed."""
        for box in self.query(Input):
            box.value = text
        for select in self.query(Select):
            if text in self.parameter.choices:
                select.value = text
        for switch in self.query(Switch):
            switch.value = text.lower() in _ON

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show what the field takes while it has the focus."""
        self.add_class("-here")

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Hide it again."""
        self.remove_class("-here")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._take(event.value)

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        event.stop()
        self._take(str(event.value))

    @on(Switch.Changed)
    def _switched(self, event: Switch.Changed) -> None:
        event.stop()
        self._take("true" if event.value else "false")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(self))

    def _take(self, text: str) -> None:
        if text == self.text:
            return
        self.text = text
        self._show()
        self.post_message(self.Changed(self))
