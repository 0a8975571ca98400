"""The forms of the lab: every check with its example, what cannot be used, what a check refuses, its curve."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from textual.pilot import Pilot
from textual.widgets import Static

from assistant.checks import show
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.tui.lab.form import start_values
from assistant.tui.lab.pane import LabPane
from assistant.tui.lab.strip import Strip
from assistant.tui.lab.wrong import limits, refused, wrong
from assistant.tui.words import words
from kb.types import Lang
from tests.test_assistant.lab_area import field, hint, lab, opened, shown
from tests.test_assistant.window import until
from tests.test_simcore.graphs import model

SIZES = ((80, 24), (140, 45))


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the state of the window in a directory of the test; the lab needs no corpus."""
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path / "home"))


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
    ("estimate_model", "model", "x" * 5000, "不能用：文件名太长", "cannot be used: File name too long"),
)


def test_invalid_input_of_each_kind_gives_a_sentence_and_no_run() -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        for check, name, text, zh, en in INVALID:
            await opened(pilot, pane, check, start_values(CHECKS[check]))
            before = pane.shown_jobs[-1:]
            field(pane, name).put(text)
            await until(pilot, lambda zh=zh: pane.done is None and zh in shown(pane))

            assert zh in hint(field(pane, name)), (check, text)
            assert pane.shown_jobs[-1:] == before
            assert en in wrong(field(pane, name).parameter, text, words("lab", "en"), "en"), (check, text)

    lab("zh", test, (80, 24))


@pytest.mark.parametrize(("lang", "sentence"), [("zh", "codes：200 超出 int8 的范围"), ("en", "200 lies outside int8")])
def test_what_a_check_refuses_is_told_in_the_language_and_not_shown_as_a_result(lang: Lang, sentence: str) -> None:
    async def test(pilot: Pilot[Any], pane: LabPane) -> None:
        await opened(pilot, pane, "dequantize_values", {"codes": "200", "scale": "0.1", "dtype": "int8"})

        assert pane.done is None
        assert sentence in shown(pane)
        assert str(pane.query_one(Strip).render()).startswith("✗")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: sentence not in shown(pane) and "int8" in shown(pane))

    lab(lang, test, (80, 24))


def test_a_refusal_without_words_in_a_language_names_parameter_and_range() -> None:
    told = refused(CHECKS["quant_range"], "scale is quite impossible", words("lab", "zh"), "zh")

    assert "(scale)" in told and "(zero_point)" not in told
    assert limits(CHECKS["quant_range"].parameters[0], words("lab", "zh")) in told
    assert told.endswith("程序的原话：scale is quite impossible")


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
