"""Snapshots of the area Library: reading and learning."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.tui_small_corpus import BURN, FIRST, WRONG
from tests.test_assistant.tui_stage import Stage, play


@pytest.mark.usefixtures("small_shown")
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_reading_and_learning(lang: Lang, place: Path) -> None:
    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.rest()
        yield "library-empty"
        await stage.went("entry", BURN)
        yield "library-result"
        await stage.went("entry", WRONG)
        yield "library-failed"
        await stage.press("p")
        yield "learn-empty"
        await stage.went("card", FIRST)
        yield "learn-card"
        await stage.press("space")
        yield "learn-result"

    play(walk, "library", lang, place, Services(), "library-result learn-card")
