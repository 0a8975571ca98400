"""Snapshots of the area Ask, of help and palette; and of Ask and Library while they wait, and with errors."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.tui_small_corpus import ASKED, REFUTED, UNKNOWN
from tests.test_assistant.tui_stage import Stage, Stopped, busy, play, shown

pytestmark = [pytest.mark.usefixtures("small_shown"), pytest.mark.parametrize("lang", ["zh", "en"])]


def test_answers_and_abstentions(lang: Lang, place: Path) -> None:
    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.until(lambda: "word_searcher" in vars(stage.app.services))
        await stage.rest()
        yield "ask-empty"
        await stage.press("f1")
        yield "window-help"
        await stage.press("f1")
        await stage.press("ctrl+p")
        yield "window-palette"
        await stage.press("escape")
        await stage.press("ctrl+backslash")
        yield "window-jump"
        await stage.press("escape")
        for state, question in (("result", ASKED), ("failed", REFUTED), ("abstained", UNKNOWN)):
            await stage.asked(question[stage.lang])
            await stage.rest()
            yield f"ask-{state}"

    play(walk, "ask", lang, place, Services(), "ask-empty ask-result ask-failed ask-abstained")


def test_waiting_and_errors(lang: Lang, place: Path) -> None:
    services = Stopped()

    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.asked(ASKED[stage.lang])
        await stage.until(lambda: len(busy(stage.app)) == 1 and "BurnTool" in "\n".join(shown(stage.app)))
        yield "ask-running"
        await stage.pilot.press("f6")
        await stage.until(lambda: len(busy(stage.app)) == 2)
        yield "library-running"
        services.is_let_go.set()
        await stage.rest()
        yield "library-error"
        await stage.press("f2")
        yield "ask-error"

    play(walk, "ask", lang, place, services, "ask-error")
