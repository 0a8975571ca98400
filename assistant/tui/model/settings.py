"""What an estimate is asked for: device, clock, precision, view, and the shapes and values of open inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Input, Select, Static

from assistant.tui.model.names import cut
from assistant.tui.words import Words

__all__ = ["InputForm", "Settings", "WrongField", "clock_of", "shape_of", "value_of"]

_LARGEST = 1 << 32
_AXES = 16


class WrongField(ValueError):
    """What stands in a field cannot be used: key of the sentence, and what it names."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


def shape_of(name: str, text: str) -> tuple[int, ...]:
    """Return the sizes of `1,3,224,224`, `1x3x224x224` or `1 3 224 224`.

    Raises:
        WrongField: it is something else.
    """
    cleaned = text.strip().strip("[]()")
    for mark in "xX×，*":
        cleaned = cleaned.replace(mark, ",")
    parts = cleaned.replace(",", " ").split()
    if not all(part.isascii() and part.isdigit() for part in parts) or not parts:
        raise WrongField("wrong_shape", name=name, text=text)
    sizes = tuple(int(part) for part in parts)
    if len(sizes) > _AXES or any(not 0 < size <= _LARGEST for size in sizes):
        raise WrongField("wrong_shape", name=name, text=text)
    return sizes


def value_of(name: str, text: str) -> float:
    """Return a number.

    Raises:
        WrongField: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:
        raise WrongField("wrong_value", name=name, text=text)
    return value


def clock_of(text: str) -> float | None:
    """Return the clock in MHz; None for the device's own.

    Raises:
        WrongField: it is no positive number.
    """
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 100_000:
        raise WrongField("wrong_clock", text=text)
    return value


class Settings(Horizontal):
    """One row of fields."""

    DEFAULT_CSS = """
    Settings { height: 1; }
    Settings Static { width: auto; margin-right: 1; color: $text-muted; }
    Settings Select, Settings Input { margin-right: 1; }
    Settings #set-device { width: 17; }
    Settings #set-clock { width: 6; }
    Settings #set-activation { width: 9; }
    Settings #set-view { width: 10; }
    Settings Button { min-width: 8; }
    """

    def __init__(self, say: Words, saved: dict[str, Any]) -> None:
        super().__init__()
        self.say = say
        self.saved = saved

    def compose(self) -> ComposeResult:
        """Lay out the row."""
        from simcore.device import device_names

        names = device_names()
        device = self.saved.get("device")
        chosen = device if device in names else "nano-035a"
        yield Static(id="say-device", markup=False)
        yield Select([(name, name) for name in names], value=chosen, allow_blank=False, compact=True, id="set-device")
        yield Static(id="say-clock", markup=False)
        yield Input(str(self.saved.get("clock", "")), compact=True, id="set-clock", max_length=8)
        for field, options in (("activation", ("int8", "int16")), ("view", ("fused", "script"))):
            kept = self.saved.get(field)
            yield Static(id=f"say-{field}", markup=False)
            yield Select(
                [(name, name) for name in options], value=kept if kept in options else options[0],
                allow_blank=False, compact=True, id=f"set-{field}",
            )  # fmt: skip
        yield Button(id="run", compact=True, variant="primary")

    def on_mount(self) -> None:
        """Show the labels."""
        self.relabel(self.say)
        self.show_clock()

    def relabel(self, say: Words) -> None:
        """Set every label."""
        self.say = say
        for field in ("device", "clock", "activation", "view"):
            self.query_one(f"#say-{field}", Static).update(say(f"field_{field}"))
        self.query_one("#set-view", Select).tooltip = say("about_view")
        self.query_one("#set-activation", Select).tooltip = say("about_activation")
        self.query_one("#run", Button).label = say("button_run")

    def show_clock(self) -> None:
        """Show the device's own clock where none is typed."""
        from simcore.device import load_device

        figure = load_device(self.device).figures.get("reference_clock")
        self.query_one("#set-clock", Input).placeholder = "?" if figure is None else f"{figure.value:g}"

    @property
    def device(self) -> str:
        """The chosen device."""
        return str(self.query_one("#set-device", Select).value)

    def asked(self) -> dict[str, Any]:
        """Return device, clock_mhz, activation and view of a job.

        Raises:
            WrongField: the clock is no clock.
        """
        return {
            "device": self.device,
            "clock_mhz": clock_of(self.query_one("#set-clock", Input).value),
            "activation": str(self.query_one("#set-activation", Select).value),
            "view": str(self.query_one("#set-view", Select).value),
        }

    def state(self) -> dict[str, Any]:
        """Return what to restore."""
        return {
            "device": self.device,
            "clock": self.query_one("#set-clock", Input).value,
            "activation": str(self.query_one("#set-activation", Select).value),
            "view": str(self.query_one("#set-view", Select).value),
        }


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    is_number: bool


class InputForm(VerticalScroll):
    """A field for every input whose sizes are open or that is a single number; hidden where there is none."""

    DEFAULT_CSS = """
    InputForm { height: auto; max-height: 4; display: none; }
    InputForm.-some { display: block; }
    InputForm Horizontal { height: 1; }
    InputForm Static { width: 2fr; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    InputForm Input { width: 1fr; }
    """

    can_focus = False

    def __init__(self, say: Words, saved: object) -> None:
        super().__init__(id="model-inputs")
        self.say = say
        self.typed = {str(name): str(text) for name, text in saved.items()} if isinstance(saved, dict) else {}
        """What was typed for an input, by its name; kept from model to model."""
        self._rows: list[_Row] = []
        self._inputs: list[dict[str, Any]] = []

    async def show(self, inputs: Sequence[dict[str, Any]]) -> None:
        """Show the fields of a model's inputs (see assistant.tui.model.job); the same inputs again change nothing."""
        wanted = [one for one in inputs if one["open"] or one["number"]]
        if wanted == self._inputs:
            return
        self._inputs = wanted
        self._rows = [_Row(one["name"], one["number"] and not one["open"]) for one in wanted]
        await self.remove_children()
        rows = []
        for i, one in enumerate(wanted):
            field = Input(self.typed.get(one["name"], ""), compact=True, id=f"input-{i}", max_length=120)
            rows.append(Horizontal(Static(id=f"input-say-{i}", markup=False), field))
        await self.mount_all(rows)
        self.relabel(self.say)
        self.set_class(bool(wanted), "-some")

    def relabel(self, say: Words) -> None:
        """Set every label."""
        self.say = say
        for i, (row, one) in enumerate(zip(self._rows, self._inputs, strict=True)):
            sizes = "?" if one["sizes"] is None else ",".join(one["sizes"])
            told = say("input_number" if row.is_number else "input_shape", name=cut(row.name, 40), sizes=cut(sizes, 40))
            self.query_one(f"#input-say-{i}", Static).update(Text(f"{told} {one['type']}"))
            example = "16000" if row.is_number else ",".join(s if s.isdigit() else "…" for s in one["sizes"] or ["…"])
            self.query_one(f"#input-{i}", Input).placeholder = example

    def asked(self) -> tuple[dict[str, tuple[int, ...]], dict[str, float]]:
        """Return the shapes and the values typed, by input name.

        Raises:
            WrongField: something typed is no shape or number.
        """
        shapes: dict[str, tuple[int, ...]] = {}
        values: dict[str, float] = {}
        for i, row in enumerate(self._rows):
            text = self.query_one(f"#input-{i}", Input).value.strip()
            self.typed[row.name] = text
            if text and row.is_number:
                values[row.name] = value_of(row.name, text)
            elif text:
                shapes[row.name] = shape_of(row.name, text)
        return shapes, values

    def open_names(self) -> list[str]:
        """Return the inputs whose shape is needed and not typed."""
        return [
            cut(row.name, 30)
            for i, row in enumerate(self._rows)
            if not row.is_number and not self.query_one(f"#input-{i}", Input).value.strip()
        ]

    def first_open(self) -> Input | None:
        """Return the first field that is needed and empty."""
        for i, row in enumerate(self._rows):
            field = self.query_one(f"#input-{i}", Input)
            if not row.is_number and not field.value.strip():
                return field
        return None
