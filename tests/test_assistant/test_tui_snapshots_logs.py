"""Snapshots of the area Logs, diagnosed by the shipped rules."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.widgets import Input

from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.tui_stage import FAULT, Stage, play

UNDECIDED = "[ERROR] something failed, ret = [1]\n"


@pytest.fixture(scope="module")
def services() -> Services:
    """What both windows share: the rules are read once."""
    return Services()


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_logs(lang: Lang, place: Path, services: Services) -> None:
    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.rest()
        yield "logs-empty"
        await stage.pasted(FAULT)
        yield "logs-result"
        await stage.pasted(UNDECIDED)
        yield "logs-abstained"
        (stage.place / "broken.zip").write_bytes(b"PK\x03\x04no archive")
        await stage.pilot.press("o")
        await _named(stage, "broken.zip")
        await stage.rest()
        yield "logs-error"
        await stage.press("escape")
        (stage.place / "live.log").write_text(FAULT, "utf-8")
        await stage.pilot.press("f")
        await _named(stage, "live.log")
        await stage.seen("145002")
        yield "logs-running"

    play(walk, "logs", lang, place, services, "logs-empty logs-result")


async def _named(stage: Stage, name: str) -> None:
    (await stage.focused(Input)).value = name
    await stage.pilot.press("enter")
