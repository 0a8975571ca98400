"""A check with its badge and numbers, and its parameters to change in place."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from assistant.reasons import shown
from assistant.tui.ask.latest import Done, Latest
from assistant.tui.safe import plain
from assistant.tui.words import Words
from assistant.types import Computed, EntryCheck
from kb.types import Lang

if TYPE_CHECKING:
    from assistant.checks.types import Check, Outcome, Parameter

__all__ = ["Card", "card_of", "cards_of", "written"]

#: Seconds after a key before a check runs with the changed parameters.
PAUSE = 0.25
_SIGNS = {
    "pass": ("✓", "bold $success"), "fail": ("✗", "bold $error"), "done": ("◆", "bold $primary"),
    "skip": ("–", "$text-muted"), "running": ("…", "bold $warning"), "error": ("!", "bold $error"),
}  # fmt: skip


class Head(Static, can_focus=True):
    """The line of a check: Enter, Space or a click opens its parameters."""

    DEFAULT_CSS = "Head { height: auto; padding: 0 1; } Head:focus { background: $panel; text-style: bold; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", "open", show=False)]

    class Opened(Message):
        """The parameters are to be shown or hidden."""

    def action_open(self) -> None:
        """Tell that the line was chosen."""
        self.post_message(self.Opened())

    def on_click(self) -> None:
        """Like Enter."""
        self.action_open()


class Card(Vertical):
    """One check. The corpus stays as it is, whatever is typed here."""

    DEFAULT_CSS = """
    Card { height: auto; }
    Card > #fields { height: auto; display: none; padding: 0 1 0 3; border-left: thick $primary; margin-left: 1; }
    Card.-open > #fields { display: block; }
    Card .field { height: 1; }
    Card .name { width: 34; }
    Card Input { width: 1fr; max-width: 44; height: 1; background: $panel; }
    Card Input:focus { background: $primary-muted; }
    Card .unit { width: 12; padding-left: 1; color: $text-muted; }
    Card .note { height: auto; color: $text-muted; }
    """

    def __init__(
        self, check: "Check", given: Mapping[str, Any], outcome: "Outcome | None", lang: Lang, say: Words
    ) -> None:
        super().__init__()
        self.check = check
        self.given = given
        self.first = outcome
        self.outcome = outcome
        self.lang = lang
        self.say = say
        self.status: str = outcome.status if outcome is not None else "skip"
        self.error = ""
        self._job = Latest(self, "check")
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the line; the fields come when they are wanted, for there are many."""
        yield Head(id="head", markup=False)
        yield Vertical(id="fields")

    def on_mount(self) -> None:
        """Show the outcome."""
        self._show()

    def relabel(self, say: Words) -> None:
        """Put the badge and the note into another language."""
        self.say = say
        for note in self.query(".note").results(Static):
            note.update(say("check_note"))
        self._show()

    async def open(self) -> None:
        """Show the parameters, with the focus on the first."""
        fields = self.query_one("#fields", Vertical)
        if not fields.children:
            note = Static(self.say("check_note"), classes="note", markup=False)
            await fields.mount(*(self._field(parameter) for parameter in self.check.parameters), note)
        self.add_class("-open")
        self._show()
        first = self.query(Input).first()
        first.focus(scroll_visible=False)
        self.call_after_refresh(first.scroll_visible, animate=False)

    def _field(self, parameter: "Parameter") -> Horizontal:
        label = parameter.zh if self.lang == "zh" else parameter.en
        value = written(self.given.get(parameter.name))
        return Horizontal(
            Label(plain(f"{parameter.name} · {label}"), classes="name", markup=False),
            Input(value, placeholder=parameter.example, id=f"p-{parameter.name}", compact=True, select_on_focus=False),
            Label(parameter.unit, classes="unit", markup=False),
            classes="field",
        )

    @on(Head.Opened)
    async def _opened(self, message: Head.Opened) -> None:
        message.stop()
        if self.has_class("-open"):
            self.remove_class("-open")
            self._show()
        else:
            await self.open()

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        message.stop()
        if self._timer is not None:
            self._timer.stop()
        if self.values() == {name: written(v) for name, v in self.given.items() if written(v)} and self.first:
            self._job.stop()
            self.outcome, self.status, self.error = self.first, self.first.status, ""
            self._show()
            return
        self.status = "running"
        self._show()
        self._timer = self.set_timer(PAUSE, self._run)

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self._run()

    def values(self) -> dict[str, str]:
        """Return what the fields hold, empty ones left out."""
        found = {field.id.removeprefix("p-"): field.value.strip() for field in self.query(Input) if field.id}
        return {name: value for name, value in found.items() if value}

    def _run(self) -> None:
        values = self.values()
        if self._timer is not None:
            self._timer.stop()
        self.status = "running"
        self._show()
        self._job.start(_running(self.check, values))

    @on(Done)
    def _done(self, done: Done) -> None:
        done.stop()
        if not self._job.ended(done):
            return
        self.error = done.error
        if done.error:
            self.status = "error"
        else:
            self.outcome = done.result
            self.status = done.result.status
        self._show()

    def _show(self) -> None:
        from assistant.checks import show

        sign, style = _SIGNS[self.status]
        title = self.check.zh if self.lang == "zh" else self.check.en
        arrow = "▾" if self.has_class("-open") else "▸"
        parts = [plain(f"{sign} {self.say(f'badge_{self.status}')}", style), plain(f" {arrow} ", "$accent")]
        if self.status == "error":
            parts.append(plain(f"{title}: {shown(self.error, self.lang)}"))
        elif self.status == "running" or self.outcome is None:
            parts.append(plain(title))
        else:
            parts.append(plain(show.sentence(self.check, self.outcome, self.lang)))
            if self.outcome.reason and self.outcome.result:
                parts.append(plain(f"  {shown(self.outcome.reason, self.lang)}", "$error"))
            parts.append(plain(f"  {self.outcome.seconds * 1000:.1f} ms", "$text-muted"))
        self.query_one("#head", Head).update(Content("").join(parts))


def cards_of(checks: Sequence[EntryCheck], lang: Lang, say: Words) -> list[Widget]:
    """Return the checks of entries as cards; one that cannot be run as the sentence that says why."""
    from assistant.checks.table import CHECKS

    cards: list[Widget] = []
    for outcome in (check.outcome for check in checks):
        if outcome.check in CHECKS and outcome.arguments:
            cards.append(Card(CHECKS[outcome.check], outcome.arguments, outcome, lang, say))
        else:
            sign, style = _SIGNS[outcome.status]
            name = f" {outcome.check}:" if outcome.check in CHECKS else ""
            told = f"{sign} {say(f'badge_{outcome.status}')}{name} {shown(outcome.reason, lang)}"
            cards.append(Static(plain(told, style), markup=False))
    return cards


def card_of(computed: Computed, lang: Lang, say: Words) -> Card | None:
    """Return what was computed from the question as a card; None if there is no such check any more."""
    from assistant.checks.table import CHECKS

    if computed.check not in CHECKS:
        return None
    done = next((outcome for outcome in computed.outcomes if outcome.result), None)
    given = done.arguments if done is not None else computed.given
    card = Card(CHECKS[computed.check], given, done, lang, say)
    if done is None and computed.outcomes:
        card.status, card.error = "error", computed.outcomes[0].reason
    return card


def _running(check: "Check", values: Mapping[str, str]) -> Callable[[], "Outcome"]:
    def run() -> "Outcome":
        from assistant.checks.run import run_check

        return run_check(check, values)

    return run


def written(value: Any) -> str:  # noqa: ANN401 (an argument of any check)
    """Return an argument as a field takes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(written(item) for item in value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
