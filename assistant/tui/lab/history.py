"""The last runs: what was computed with which values, kept for the next start."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["MOST_RUNS", "HistoryScreen", "Run", "added", "load", "save"]

#: Runs that are kept.
MOST_RUNS: Final = 20


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a check."""

    check: str
    values: Mapping[str, str]
    """What was typed, by parameter."""
    zh: str
    """The outcome as a sentence."""
    en: str
    at: float
    """Seconds since 1970."""
    is_kept: bool = False
    """Whether it was asked for by key; a run while typing gives way to the next one of its check."""


def added(runs: list[Run], run: Run) -> list[Run]:
    """Return the runs with one more, the newest first, without doubles."""
    rest = [old for old in runs if (old.check, old.values) != (run.check, run.values)]
    if rest and rest[0] is runs[0] and rest[0].check == run.check and not rest[0].is_kept:
        rest = rest[1:]
    return [run, *rest][:MOST_RUNS]


def save(runs: list[Run]) -> list[dict[str, Any]]:
    """Return the runs as JSON values."""
    return [asdict(run) for run in runs]


def load(data: object) -> list[Run]:
    """Return saved runs; what is not one is left out."""
    found = []
    for item in data if isinstance(data, list) else []:
        try:
            values = {str(name): str(text) for name, text in item["values"].items()}
            texts = (str(item["check"]), values, str(item["zh"]), str(item["en"]))
            found.append(Run(*texts, at=float(item["at"]), is_kept=bool(item.get("is_kept"))))
        except (TypeError, KeyError, ValueError, AttributeError):
            continue
    return found[:MOST_RUNS]


class HistoryScreen(ModalScreen[Run | None]):
    """The last runs above the lab; Enter or a click brings one back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss_none", show=False)]
    DEFAULT_CSS = """
    HistoryScreen { align: center middle; }
    HistoryScreen Vertical { width: 90%; max-width: 110; height: auto; max-height: 80%; background: $surface;
        border: round $primary; padding: 0 1; }
    HistoryScreen .title { color: $primary; text-style: bold; }
    HistoryScreen OptionList { height: auto; max-height: 16; border: none; background: transparent; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis; }
    HistoryScreen OptionList:focus { border: none; }
    HistoryScreen .empty { color: $text-muted; }
    """

    def __init__(self, runs: list[Run], say: Words, lang: Lang) -> None:
        super().__init__()
        self.runs = runs
        self.say = say
        self.lang: Lang = lang

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical():
            yield Static(plain(self.say("history_title", count=len(self.runs))), classes="title")
            if not self.runs:
                yield Static(plain(self.say("history_empty")), classes="empty")
            lines = []
            for run in self.runs:
                when = time.strftime("%m-%d %H:%M", time.localtime(run.at))
                told = run.zh if self.lang == "zh" else run.en
                mark = "★" if run.is_kept else " "
                lines.append(Option(plain(f"{mark} {when}  ", "$foreground 60%") + plain(f"{run.check}  {told}")))
            yield OptionList(*lines, markup=False)

    def on_mount(self) -> None:
        """Give the list the focus."""
        shown = self.query_one(OptionList)
        shown.focus()
        if self.runs:
            shown.highlighted = 0

    def action_dismiss_none(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.runs[event.option_index])
