"""A window that is started with NO_COLOR looks as the snapshots say that it does without colour."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.widgets import Input

from assistant.tui.app import Window
from kb.types import Lang
from tests.test_assistant.tui_small_corpus import ASKED, BURN
from tests.test_assistant.tui_snapshots import kept_without_colour, without_colour
from tests.test_assistant.tui_stage import FAULT, SIZES, Stage, Walk

pytestmark = pytest.mark.parametrize(("lang", "size"), [("zh", SIZES[0]), ("en", SIZES[1])], ids=["zh-80", "en-140"])


@pytest.fixture(autouse=True)
def _no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.usefixtures("small_shown")
def test_all_areas_but_logs(lang: Lang, size: tuple[int, int], place: Path) -> None:
    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.rest()
        yield "ask-empty"
        await stage.asked(ASKED[lang])
        await stage.rest()
        yield "ask-result"
        await stage.press("f4")
        yield "model-empty"
        await stage.press("f5")
        (await stage.focused(Input)).value = "softmax_fp16"
        await stage.press("enter")
        yield "lab-result"
        await stage.press("f6")
        yield "library-empty"
        await stage.went("entry", BURN)
        yield "library-result"

    _play(walk, "ask", lang, size, place)


def test_logs(lang: Lang, size: tuple[int, int], place: Path) -> None:
    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.rest()
        await stage.pasted(FAULT)
        yield "logs-result"

    _play(walk, "logs", lang, size, place)


def _play(walk: Walk, area: str, lang: Lang, size: tuple[int, int], place: Path) -> None:
    async def run() -> None:
        app = Window(lang)
        app.animation_level = "none"
        app.saved["area"] = area
        async with app.run_test(size=size) as pilot:
            stage = Stage(pilot, app, lang, place)
            async for state in walk(stage):
                await stage.still()
                lines, cells = without_colour(app)
                kept_lines, kept_cells = kept_without_colour(f"{state}.{lang}.{size[0]}x{size[1]}")
                assert lines == kept_lines, state
                assert cells == kept_cells, state

    asyncio.run(run())
