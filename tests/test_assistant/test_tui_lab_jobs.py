"""Jobs, history and state of the lab."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.checks.run import run_check
from assistant.tui.app import Window
from assistant.tui.lab.history import MOST_RUNS, Run, added
from assistant.tui.lab.jobs import Job
from assistant.tui.lab.pane import LabPane
from assistant.tui.lab.result import ResultView
from assistant.tui.lab.strip import Strip
from tests.test_assistant.lab_area import field, lab, opened, settled, shown
from tests.test_assistant.window import until

SIZES = ((80, 24), (140, 45))


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the state of the window in a directory of the test; the lab needs no corpus."""
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "home"))


def test_only_the_last_typed_values_are_shown_and_typing_is_one_entry_of_the_history() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "quant_range")
        before = len(pane.runs)
        field(pane, "scale").query_one(Input).focus()
        await pilot.press("end", *"123456")
        await settled(pilot, pane)

        assert pane.done is not None
        assert pane.done[0].arguments["scale"] == float(field(pane, "scale").text)
        assert len(pane.runs) == before

    lab("zh", test, (80, 24))


def test_a_long_job_shows_progress_and_is_cancelled() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        going, ended = threading.Event(), threading.Event()

        def work(progress: Any, cancelled: Any) -> str:
            progress(0.3, "[red]layer 3")
            going.set()
            while not cancelled():
                ended.wait(0.01)
            ended.set()
            return "late"

        job = pane.start(Job("calibrate [NDRV]", work))
        await until(pilot, going.is_set)
        strip = pane.query_one(Strip)
        await until(pilot, lambda: "30% [red]layer 3" in str(strip.render()))
        assert "calibrate [NDRV]" in str(strip.render())
        await pilot.press("escape")

        await until(pilot, lambda: job.state == "cancelled" and ended.is_set())
        await until(pilot, lambda: str(strip.render()).startswith("■"))
        assert job.result is None

    lab("en", test, (80, 24))


def test_a_cancelled_check_says_so_and_can_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    def slow(*args: Any, **kwargs: Any) -> Any:
        free.wait(10)
        return run_check(*args, **kwargs)

    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        monkeypatch.setattr("assistant.checks.run.run_check", slow)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: str(pane.query_one(Strip).render()).startswith("▶"))
        await pilot.press("escape")
        await until(pilot, lambda: "取消" in pane.query_one(ResultView).told)
        free.set()
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pane.done is not None and "✓" in shown(pane))

    lab("zh", test, (80, 24))


def test_state_is_restored_at_the_next_start() -> None:
    async def first(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "byte_units")
        field(pane, "value").put("123456789")
        await settled(pilot, pane)
        for count in range(1, 4):
            field(pane, "value").put(str(count))
            await pilot.pause()
            await pilot.press("ctrl+r")
            await settled(pilot, pane)
        pane.query_one("#lab-filter", Input).value = "byte"
        await pilot.pause()
        assert isinstance(pilot.app, Window)
        pilot.app.save_state()
        json.dumps(pane.state(), allow_nan=False)

    async def second(pilot: Pilot[Any], pane: LabPane) -> None:
        assert pane.opened == "byte_units"
        assert field(pane, "value").text == "3"
        assert pane.query_one("#lab-filter", Input).value == "byte"
        assert [run.values.get("value") for run in pane.runs[:3]] == ["3", "2", "1"]
        await pilot.press("ctrl+o", "down", "enter")
        await until(pilot, lambda: field(pane, "value").text == "2")

    lab("zh", first, (80, 24))
    lab("en", second, (140, 45))


def test_state_that_no_longer_fits_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    saved = {"check": "gone", "typed": {"gone": {"a": "1"}, "quant_range": {"scale": "2", "old": "1"}}, "history": [3]}
    home = tmp_path / "home"
    home.mkdir()
    (home / "window.json").write_text(json.dumps({"version": 1, "areas": {"lab": saved}}))

    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        assert pane.opened == "quant_range"
        assert field(pane, "scale").text == "2"
        assert pane.done is not None
        assert len(pane.runs) == 1

    lab("zh", test, (80, 24))


def test_the_history_keeps_the_last_runs_without_doubles() -> None:
    def run(value: int, *, is_kept: bool = True) -> Run:
        return Run("byte_units", {"value": str(value)}, "", "", 0.0, is_kept)

    runs: list[Run] = []
    for value in range(MOST_RUNS + 5):
        runs = added(runs, run(value))
    assert [r.values["value"] for r in runs] == [str(n) for n in range(MOST_RUNS + 4, 4, -1)]
    again = added(runs, run(10))
    assert len(again) == MOST_RUNS
    assert again[0].values == {"value": "10"}
    typing = added(added(again, run(98, is_kept=False)), run(99, is_kept=False))
    assert [r.values["value"] for r in typing[:2]] == ["99", "10"]
