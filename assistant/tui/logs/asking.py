"""From a log to the area Ask: a line becomes the question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from assistant.logs.types import Evidence

if TYPE_CHECKING:
    from assistant.tui.app import Window
    from assistant.tui.ask.pane import AskPane

__all__ = ["ask", "question"]

_LINES = 5
_LONGEST = 500


def question(evidence: Sequence[Evidence]) -> str:
    """Return the lines that speak for an item as a question; each once."""
    return "\n".join(dict.fromkeys(one.text[:_LONGEST] for one in evidence[:_LINES]))


async def ask(app: App[Any], text: str) -> None:
    """Enter the area Ask with a question."""
    from assistant.tui.ask.box import QuestionBox

    window = cast("Window", app)
    await window.action_enter("ask")
    pane = cast("AskPane", window.pane("ask"))
    pane.query_one(QuestionBox).put(text)
    pane.action_ask()
