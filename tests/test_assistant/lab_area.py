"""The area Lab under a pilot: a window whose first result is shown, and what tests ask of it."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, Static

from assistant.checks.values import arguments
from assistant.tui.lab.field import Field
from assistant.tui.lab.pane import LabPane
from assistant.tui.lab.result import ResultView
from assistant.tui.lab.sentence import Sentence
from kb.types import Lang
from tests.test_assistant.window import play, until


def lab(lang: Lang, test: Callable[[Pilot[Any], LabPane], Coroutine[Any, Any, None]], size: tuple[int, int]) -> None:
    """Run a test in a window whose lab is open and has shown its first result."""
    play(
        test,
        LabPane,
        lang=lang,
        size=size,
        is_ready=lambda pane: pane.checks and pane.form() is not None and pane.current is None,
    )


async def opened(pilot: Pilot[Any], pane: LabPane, name: str, values: dict[str, str] | None = None) -> None:
    """Open a check and wait for what comes out."""
    await pane.open(name, values)
    await _shown(pilot, pane)


async def settled(pilot: Pilot[Any], pane: LabPane) -> None:
    """Wait until what is shown is the outcome of what is typed."""
    await until(pilot, lambda: _is_done(pane))
    await _shown(pilot, pane)


def _is_done(pane: LabPane) -> bool:
    form = pane.form()
    if form is None or pane.done is None or form.problems():
        return False
    is_taken = all(box.value == one.text for one in form.fields() for box in one.query(Input))
    return is_taken and pane.done[0].arguments == arguments(form.check, form.values())


async def _shown(pilot: Pilot[Any], pane: LabPane) -> None:
    view = pane.query_one(ResultView)
    await until(pilot, lambda: pane.current is None and not view.has_class("-old") and bool(view.told))


def field(pane: LabPane, name: str) -> Field:
    """Return a field of the open form."""
    return next(found for found in pane.query(Field) if found.parameter.name == name)


def shown(pane: LabPane) -> str:
    """Return all text of the result."""
    return "\n".join(_text(part) for part in pane.query_one(ResultView).query(Static))


def _text(part: Static) -> str:
    return part.text.plain if isinstance(part, Sentence) else str(part.render())


def hint(found: Field) -> str:
    """Return the line below a field."""
    return _text(found.query_one(".hint", Sentence))
