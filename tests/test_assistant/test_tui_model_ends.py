"""How the area Model ends: a job that is stopped, a process that dies, a window that is closed and opened again."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.tui.model.pane import ModelPane
from assistant.tui.pathfield import PathField
from tests.test_assistant.model_area import choose, estimate, play, said, tab
from tests.test_assistant.window import until

ROOT = Path(__file__).resolve().parents[2]


pytestmark = pytest.mark.usefixtures("model_home")


def test_escape_stops_and_nothing_late_arrives(conv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A process that never answers: only its end can stop the job.
    monkeypatch.setattr("assistant.tui.model.engine._CODE", "import time; time.sleep(600)")

    async def stop(pilot: Pilot[int], pane: ModelPane) -> None:
        engine = pane.running.engine
        choose(pane, conv)
        await pilot.press("enter")
        await until(pilot, lambda: engine._process is not None)
        process = engine._process
        assert process is not None and pane.running.doing == "estimate"
        await pilot.press("escape")
        assert said(pilot) == "Stopped. Nothing was written."
        await until(pilot, lambda: process.poll() is not None)
        await pilot.press("f7")
        await until(pilot, lambda: pilot.app.focused is pane.query_one("#fix-out"))
        await pilot.press("enter")
        await until(pilot, lambda: engine._process is not None and list(conv.parent.glob(".asknpu-fix*")))
        await pilot.press("escape")
        await until(pilot, lambda: not list(conv.parent.glob(".asknpu-fix*")))
        assert not pane.models and pane.proof is None and not pane.running.doing
        assert [p.name for p in conv.parent.iterdir()] == [conv.name]

    play(stop)


def test_a_process_that_dies_is_said_and_the_next_one_works(conv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def die(pilot: Pilot[int], pane: ModelPane) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("assistant.tui.model.engine._CODE", "import sys; sys.exit(9)")
            choose(pane, conv)
            await pilot.press("enter")
            await until(pilot, lambda: "计算意外结束" in said(pilot))
        await estimate(pilot, pane, conv)

    play(die, lang="zh")


def test_state_is_restored_without_numpy_or_onnx_in_the_window(conv: Path, tmp_path: Path) -> None:
    async def first(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        pane.query_one("#set-clock", Input).value = "200"
        await pilot.press("4", "ctrl+q")

    play(first)
    saved = json.loads((tmp_path / "home" / "window.json").read_text())
    assert saved["areas"]["model"]["path"] == str(conv)

    # A process of its own: the tests themselves have loaded both.
    code = f"""
import asyncio, sys
from assistant.tui.app import Window
from assistant.tui.pathfield import PathField
async def run():
    app = Window("zh")
    async with app.run_test():
        while app.pane("model") is None or not app.pane("model").models:
            await asyncio.sleep(0.01)
        pane = app.pane("model")
        assert pane.query_one("#model-path", PathField).path == {str(conv)!r}
        assert pane.models[0]["clock_mhz"] == 200
        print(pane.state()["tab"], sorted(set(sys.modules) & {{"numpy", "onnx", "faiss"}}))
asyncio.run(asyncio.wait_for(run(), 100))
"""
    environment: dict[str, Any] = {
        "ASKNPU_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(ROOT),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "charts []"


def test_a_path_that_is_changed_stops_the_estimate_of_the_old_one(conv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.tui.model.engine._CODE", "import time; time.sleep(600)")

    async def change(pilot: Pilot[int], pane: ModelPane) -> None:
        choose(pane, conv)
        await pilot.press("enter")
        await until(pilot, lambda: pane.running.doing == "estimate")
        await pilot.press("x")
        await until(pilot, lambda: not pane.running.doing)
        assert pane.query_one("#model-path", PathField).path == f"{conv}x"
        assert tab(pane) == "totals" and not pane.models

    play(change)
