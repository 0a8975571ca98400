"""Snapshots of the area Lab."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from assistant.checks.run import run_check
from assistant.tui.lab.pane import LabPane
from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.tui_stage import Stage, play


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_calculations(lang: Lang, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, may_run = threading.Event(), threading.Event()

    def held(*arguments: Any, **options: Any) -> Any:
        runs.set()
        may_run.wait(60)
        return run_check(*arguments, **options)

    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.rest()
        yield "lab-empty"
        (await stage.focused(Input)).value = "softmax_fp16"
        with monkeypatch.context() as patch:
            patch.setattr("assistant.checks.run.run_check", held)
            await stage.pilot.press("enter")
            await stage.until(runs.is_set)
            yield "lab-running"
            may_run.set()
            await stage.rest()
        yield "lab-result"
        await stage.press("ctrl+u", *"1,x")
        yield "lab-error"
        pane = stage.app.pane("lab")
        assert isinstance(pane, LabPane)
        await pane.open("quant_params", {"low": "4", "high": "-4", "convention": "amct_asymmetric"})
        await stage.rest()
        yield "lab-failed"

    try:
        play(walk, "lab", lang, place, Services(), "lab-result")
    finally:
        may_run.set()
