"""The lab: every check as a form, driven by keys, in both languages and sizes."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Select, Static, Switch

from assistant.checks import show
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.tui.app import Window
from assistant.tui.help import HelpScreen
from assistant.tui.lab.field import Field
from assistant.tui.lab.form import start_values
from assistant.tui.lab.history import MOST_RUNS, HistoryScreen, Run, added
from assistant.tui.lab.jobs import Job
from assistant.tui.lab.pane import LabPane
from assistant.tui.lab.plot import Plot
from assistant.tui.lab.result import ResultView
from assistant.tui.lab.strip import Strip
from assistant.tui.lab.wrong import wrong
from assistant.tui.words import words
from kb.types import Lang
from tests.test_simcore.graphs import model

pytestmark = pytest.mark.window

SIZES = ((80, 24), (140, 45))


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the state of the window in a directory of the test; the lab needs no corpus."""
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "home"))


async def until(pilot: Pilot[Any], is_so: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it does not within a few seconds."""
    for _ in range(400):
        if is_so():
            return
        await pilot.pause(0.02)
    raise AssertionError("never came true")


def lab(lang: Lang, test: Callable[[Pilot[Any], LabPane], Coroutine[Any, Any, None]], size: tuple[int, int]) -> None:
    """Run a test in a window whose lab is open and has shown its first result."""

    async def run() -> None:
        app = Window(lang)
        app.animation_level = "none"
        app.saved["area"] = "lab"
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.pane("lab") is not None)
            pane = app.pane("lab")
            assert isinstance(pane, LabPane)
            await until(pilot, lambda: bool(pane.checks) and pane.form() is not None and pane.current is None)
            await test(pilot, pane)

    asyncio.run(run())


async def opened(pilot: Pilot[Any], pane: LabPane, name: str, values: dict[str, str] | None = None) -> None:
    """Open a check and wait for what comes out."""
    await pane.open(name, values)
    await settled(pilot, pane)


async def settled(pilot: Pilot[Any], pane: LabPane) -> None:
    """Wait until what is typed was run or refused, and is shown."""
    await until(pilot, lambda: pane.current is None and not pane.query_one(ResultView).has_class("-old"))
    await pilot.pause()


def field(pane: LabPane, name: str) -> Field:
    """Return a field of the open form."""
    return next(found for found in pane.query(Field) if found.parameter.name == name)


def shown(pane: LabPane) -> str:
    """Return all text of the result."""
    return "\n".join(str(part.render()) for part in pane.query_one(ResultView).query(Static))


def hint(found: Field) -> str:
    """Return the line below a field."""
    return str(found.query_one(".hint", Static).render())


@pytest.mark.parametrize(("lang", "first"), [("zh", 0), ("en", 1)])
def test_every_check_opens_with_its_example_and_gives_what_the_command_gives(
    lang: Lang, first: int, tmp_path: Path
) -> None:
    path = tmp_path / "模型 [red].onnx"
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="c")
    onnx.save(model([node], {"x": [1, 3, 8, 8]}, ["y"], {"w": np.ones((4, 3, 3, 3), np.float32)}, opset=13), path)

    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        for name, check in list(CHECKS.items())[first::2]:
            given = {"model": str(path)} if name == "estimate_model" else None
            await opened(pilot, pane, name, given)
            want = run_check(check, given or show.example(check))

            form = pane.form()
            assert form is not None
            assert [f.parameter for f in form.fields()] == list(check.parameters), name
            assert form.values() == (given or {}) | ({} if given else start_values(check)) | form.values()
            assert pane.done is not None, (name, shown(pane))
            got = pane.done[0]
            assert (got.arguments, str(got.result)) == (want.arguments, str(want.result)), name
            assert show.sentence(check, want, lang) in shown(pane), name
            assert check.source in shown(pane)
            assert f"asknpu run {name}" in shown(pane)
            assert all(str(f.query_one(".label", Static).render()).strip("* ") for f in form.fields())

    lab(lang, test, (80, 24))


#: Check, field, text, what is said in zh and en.
INVALID = (
    ("quant_range", "scale", "abc", "不是数", "no number"),
    ("quant_range", "scale", "", "必填", "needed"),
    ("quant_range", "scale", "0", "太小", "too small"),
    ("quant_range", "scale", "1e40", "太大", "too large"),
    ("quant_range", "zero_point", "1.5", "不是整数", "no whole number"),
    ("softmax_fp16", "values", "1, x", "不是数", "no number"),
    ("softmax_fp16", "values", ",", "有 0 个", "has 0 items"),
    ("softmax_fp16", "values", "1 " * 1001, "有 1001 个", "has 1001 items"),
    ("dequantize_values", "codes", "1, 2.5", "不是整数", "no whole number"),
    ("tensor_bytes", "shape", "1x0x3", "太小", "too small"),
    ("tensor_bytes", "shape", "1x1x1x1x1x1x1x1x1", "允许 1 到 8", "allowed are 1 to 8"),
    ("estimate_model", "model", "/no/such/[red].onnx", "没有文件 [red].onnx", "no file [red].onnx"),
    ("estimate_model", "model", "x" * 5000, "不能用", "cannot be used"),
)


def test_invalid_input_of_each_kind_gives_a_sentence_and_no_run() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        for check, name, text, zh, en in INVALID:
            await opened(pilot, pane, check, start_values(CHECKS[check]))
            before = pane.shown_jobs[-1:]
            field(pane, name).put(text)
            await until(pilot, lambda name=name, text=text: field(pane, name).text == text)

            assert zh in hint(field(pane, name)), (check, text)
            await settled(pilot, pane)
            assert pane.done is None
            assert pane.shown_jobs[-1:] == before
            assert zh in shown(pane)
            assert en in wrong(field(pane, name).parameter, text, words("lab", "en")), (check, text)

    lab("zh", test, (80, 24))


def test_what_the_function_refuses_is_told_and_not_shown_as_a_result() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "dequantize_values", {"codes": "200", "scale": "0.1", "dtype": "int8"})

        assert pane.done is None
        assert "lies outside int8" in shown(pane)
        assert str(pane.query_one(Strip).render()).startswith("✗")

    lab("en", test, (80, 24))


@pytest.mark.parametrize("size", SIZES)
def test_the_journey_from_search_to_copied_command(size: tuple[int, int]) -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        assert pilot.app.focused is pane.query_one("#lab-filter")
        await pilot.press(*"softmax_fp16")
        await pilot.press("enter")
        await until(pilot, lambda: pane.opened == "softmax_fp16")
        await settled(pilot, pane)
        assert pilot.app.focused is field(pane, "values").query_one(Input)
        await pilot.press("ctrl+u", *"1,2,3")
        await settled(pilot, pane)

        want = run_check(CHECKS["softmax_fp16"], start_values(CHECKS["softmax_fp16"]) | {"values": "1,2,3"})
        assert pane.done is not None
        assert pane.done[0].result == want.result
        await pilot.press("ctrl+y")
        assert pilot.app.clipboard == "asknpu run softmax_fp16 values=1,2,3"
        assert pane.query(Plot)
        assert all(len(line) <= size[0] for line in shown(pane).splitlines() if "│" in line)

    lab("en", test, size)


def test_search_finds_names_titles_and_questions_of_both_languages() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        box, found = pane.query_one("#lab-filter", Input), pane.query_one("#lab-list", OptionList)

        def names() -> set[str]:
            return {option.id for option in found.options if option.id}

        for text in ("rnn_drift", "误差随帧", "DRIFTS over"):
            box.value = text
            await until(pilot, lambda: names() == {"rnn_drift"})
        question = CHECKS["byte_units"].asks_zh[0]
        box.value = question
        await until(pilot, lambda: "byte_units" in names() and len(names()) < 5)
        box.value = "[red] no such thing"
        await until(pilot, lambda: not names())
        assert "Esc" in str(pane.query_one(".count", Static).render())
        await pilot.press("escape")
        await until(pilot, lambda: len(names()) == len(CHECKS))

    lab("zh", test, (80, 24))


def test_the_arrow_keys_of_the_box_move_in_the_list_and_a_click_opens() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await pilot.press("down", "down", "up", "enter")
        await until(pilot, lambda: pane.opened == "quant_params")
        await pilot.press("ctrl+f")
        assert pilot.app.focused is pane.query_one("#lab-filter")
        before = pane.opened
        await pilot.press("pagedown", "enter")
        await until(pilot, lambda: pane.opened != before)
        await pilot.press("ctrl+f", "pageup", "enter")
        await pilot.click("#lab-list", offset=(4, 3))
        await until(pilot, lambda: pilot.app.focused is not None and pane.opened in CHECKS)

    lab("zh", test, (80, 24))


def test_every_key() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        names = list(CHECKS)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: pane.opened == names[1])
        await pilot.press("ctrl+b")
        await until(pilot, lambda: pane.opened == names[0])
        await settled(pilot, pane)

        field(pane, "scale").put("0.5")
        await settled(pilot, pane)
        await pilot.press("ctrl+g")
        await settled(pilot, pane)
        assert field(pane, "scale").text == CHECKS["quant_range"].parameters[0].example

        view = pane.query_one(ResultView)
        field(pane, "scale").query_one(Input).focus()
        await pilot.press("pagedown")
        await until(pilot, lambda: view.scroll_y > 0)
        await pilot.press("pageup")
        await until(pilot, lambda: view.scroll_y == 0)

        await pilot.press("ctrl+r")
        await until(pilot, lambda: pane.runs[0].is_kept)
        field(pane, "scale").put("x")
        pane.query_one("#lab-filter").focus()
        await pilot.press("ctrl+r")
        assert pilot.app.focused is field(pane, "scale").query_one(Input)
        await pilot.press("ctrl+y")

        await pilot.press("ctrl+o")
        assert isinstance(pilot.app.screen, HistoryScreen)
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, HistoryScreen)
        await pilot.press("f1")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("escape")

    lab("en", test, (80, 24))


def test_the_language_changes_and_keeps_what_is_typed_and_shown() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "quant_params")
        field(pane, "low").put("-3.5")
        await settled(pilot, pane)
        zh = shown(pane)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: shown(pane) != zh and bool(pane.query(Plot)))

        outcome = run_check(CHECKS["quant_params"], start_values(CHECKS["quant_params"]) | {"low": "-3.5"})
        assert field(pane, "low").text == "-3.5"
        assert show.sentence(CHECKS["quant_params"], outcome, "en") in shown(pane)
        assert CHECKS["quant_params"].en in str(pane.query_one(".name", Static).render())
        assert pilot.app.screen.active_bindings["ctrl+r"].binding.description == "Run"
        await pilot.press("ctrl+l")
        await until(pilot, lambda: CHECKS["quant_params"].zh in str(pane.query_one(".name", Static).render()))
        assert pilot.app.screen.active_bindings["ctrl+r"].binding.description == "计算"

    lab("zh", test, (140, 45))


def test_choices_and_switches_change_by_keys() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "quant_range")
        chooser = field(pane, "dtype").query_one(Select)
        chooser.focus()
        await pilot.press("enter", "down", "enter")
        await until(pilot, lambda: field(pane, "dtype").text == "uint8")
        await settled(pilot, pane)
        assert pane.done is not None
        assert pane.done[0].arguments["dtype"] == "uint8"

        await opened(pilot, pane, "layer_verdict")
        switch = field(pane, "aligned").query_one(Switch)
        switch.focus()
        await pilot.press("enter")
        await settled(pilot, pane)
        assert pane.done is not None
        assert pane.done[0].arguments["aligned"] is True
        assert "yes" in str(field(pane, "aligned").query_one(".unit", Static).render())

    lab("en", test, (80, 24))


def test_the_curves_are_those_of_the_check() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "rnn_drift", {"frames": "40", "hidden": "8", "inputs": "4", "kind": "GRU"})
        assert pane.done is not None
        outcome, drawn = pane.done
        assert drawn is not None
        places = outcome.result["frames_shown"]
        assert [drawn.lines[0].ys[frame - 1] for frame in places] == outcome.result["relative"]

        await opened(pilot, pane, "quant_range", {"scale": "0.5", "dtype": "int8", "form": "step"})
        assert pane.done is not None
        assert pane.done[1] is not None
        steps = sorted(set(pane.done[1].lines[0].ys))
        assert steps == [step / 2 for step in range(round(steps[0] * 2), round(steps[-1] * 2) + 1)]

        await opened(pilot, pane, "table_error")
        assert pane.done is not None
        assert pane.done[1] is not None
        largest = max(abs(error) for error in pane.done[1].lines[0].ys)
        assert 0 < largest <= pane.done[0].result["max_error"] * (1 + 1e-6)

    lab("zh", test, (80, 24))


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


def test_hostile_text_is_shown_as_text() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        bad = "[red]\x1b[31m😀漢字[/red] [@click=app.quit]x[/]"
        await opened(pilot, pane, "activation_peak", {"shapes": bad})
        assert "shapes" in shown(pane)
        assert "\x1b" not in shown(pane)
        pane.query_one("#lab-filter", Input).value = bad
        await pilot.pause()
        await opened(pilot, pane, "fp16_value", {"values": "9" * 3000})
        await pilot.pause()

    lab("zh", test, (80, 24))


def test_a_resize_draws_the_plots_to_the_new_width() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "table_error")
        widths = []
        for size in ((80, 24), (140, 45), (60, 20), (100, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            plot = pane.query(Plot).first()
            await until(pilot, lambda plot=plot: plot.size.width > 0)
            lines = str(plot.render()).splitlines()
            assert max(map(len, lines)) <= plot.size.width
            widths.append(max(map(len, lines)))
        assert widths[1] > widths[3] > widths[2]

    lab("en", test, (80, 24))


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


def test_every_action_has_its_words_in_both_languages() -> None:
    for lang in ("zh", "en"):
        say = words("lab", lang)  # type: ignore[arg-type]
        for binding in LabPane.BINDINGS:
            key = binding.id.replace(".", "_")  # type: ignore[union-attr]
            assert say(key)
            assert say(f"about_{key}")


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
