"""The area Model of the window: pick, estimate, sort, see what is unsupported, rewrite, compare, stop."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from textual.pilot import Pilot
from textual.widgets import Button, DataTable, Input, Select, TabbedContent

from assistant.tui.app import Window
from assistant.tui.model.files import PathField, PickScreen
from assistant.tui.model.pane import TABS, ModelPane
from assistant.tui.model.progress import Progress
from assistant.tui.model.results import Layers
from tests.test_simcore.graphs import model

pytestmark = pytest.mark.window

W = np.random.default_rng(0).normal(size=(8, 3, 3, 3)).astype(np.float32)
NODE = "[red]卷积\x1b[31m/conv"

Script = Callable[[Pilot[int], ModelPane], Awaitable[None]]


def _conv(path: Path, *, size: object = 16, tail: str = "HardSigmoid", name: str = NODE) -> Path:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name=name, pads=[1, 1, 1, 1]),
        helper.make_node(tail, ["c"], ["h"], name="激活 tail"),
        helper.make_node("Relu", ["h"], ["y"], name="relu"),
    ]
    onnx.save(model(nodes, {"x": [1, 3, size, size]}, ["y"], {"w": W}, opset=13), path)
    return path


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("ASKNPU_HOME", str(home))


@pytest.fixture
def conv(tmp_path: Path) -> Path:
    return _conv(tmp_path / "模型 [red] 1.onnx")


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    for _ in range(300):
        if is_so():
            return
        await pilot.pause(0.02)
    raise AssertionError(f"never: {said(pilot)!r}")


def said(pilot: Pilot[int]) -> str:
    return pilot.app.query_one(Progress).shown


def play(script: Script, *, lang: str = "en", size: tuple[int, int] = (80, 24)) -> None:
    async def run() -> None:
        app = Window(lang)  # type: ignore[arg-type]
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            await pilot.press("f4")
            await until(pilot, lambda: app.pane("model") is not None and app.query(Progress))
            pane = app.pane("model")
            assert isinstance(pane, ModelPane)
            await script(pilot, pane)

    asyncio.run(run())


def choose(pane: ModelPane, path: object, field: str = "path") -> None:
    pane.query_one(f"#model-{field}", PathField).choose(str(path))


async def estimate(pilot: Pilot[int], pane: ModelPane, path: Path) -> None:
    choose(pane, path)
    pane.query_one("#model-path").focus()
    await pilot.press("enter")
    await until(pilot, lambda: pane.models and not pane._busy)
    await pilot.pause()


def screen(pilot: Pilot[int]) -> str:
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


async def settle(pilot: Pilot[int], text: str) -> None:
    await until(pilot, lambda: text in screen(pilot))


@pytest.mark.parametrize(("lang", "size"), [("zh", (80, 24)), ("en", (140, 45))], ids=["zh-80", "en-140"])
def test_the_journey(conv: Path, lang: str, size: tuple[int, int]) -> None:
    async def journey(pilot: Pilot[int], pane: ModelPane) -> None:
        app = pilot.app
        assert app.focused is pane.query_one("#model-path")

        # Pick in the tree.
        choose(pane, conv.parent)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, PickScreen) and "[red]" in screen(pilot))
        await pilot.press("end", "enter")
        await until(pilot, lambda: pane.models and not pane._busy)
        assert pane.query_one("#model-path", PathField).path == str(conv)
        assert "64 MHz" in said(pilot) and "✗ 1" in said(pilot)

        # Totals, then layers sorted by multiply-adds.
        await pilot.press("1")
        await settle(pilot, "TOTAL_MEM_SIZE")
        assert "✗ HardSigmoid" in screen(pilot)
        await pilot.press("2")
        await settle(pilot, "55,296")
        layers = pane.query_one(Layers)
        assert layers.order == sorted(layers.order) and len(layers.order) > 3
        await pilot.press("s")
        await until(
            pilot, lambda: layers.by == 2 and pane.query_one("#layers", DataTable).row_count == len(layers.rows)
        )
        assert layers.rows[layers.order[0]][2] == 55296
        assert "[red]卷积" in screen(pilot) and "\x1b" not in screen(pilot)
        await pilot.press("r")
        assert layers.rows[layers.order[-1]][2] == 55296

        # What is unsupported, with rule and way out.
        await pilot.press("3")
        await settle(pilot, "operator-list")
        await settle(pilot, "asknpu fix")
        assert "HardSigmoid" in screen(pilot)

        # Charts.
        await pilot.press("4")
        await settle(pilot, "▲")
        assert "KiB" in screen(pilot) and "█" in screen(pilot)

        # Rewrite to the path that was confirmed.
        await pilot.press("f7")
        out = pane.query_one("#fix-out", PathField)
        await until(pilot, lambda: app.focused is out)
        assert out.path == str(conv.with_name("模型 [red] 1-fixed.onnx")) and not Path(out.path).exists()
        await pilot.press("enter")
        await until(pilot, lambda: pane.proof is not None and not pane._busy)
        await settle(pilot, "Mul Add Clip")
        assert pane.proof is not None and pane.proof["clean"] and pane.proof["proof"]["ok"]
        onnx.checker.check_model(out.path)
        assert not list(conv.parent.glob(".asknpu*"))

        # Side by side with the result: the unsupported operator is gone.
        pane.query_one("#fix-beside", Button).press()
        await until(pilot, lambda: len(pane.models) == 2 and not pane._busy)
        await settle(pilot, "NOT_SUPPORT_OP_TYPE")
        assert "B - A" in screen(pilot) and "≠" in screen(pilot)
        assert pane.models[0]["unsupported"] and not pane.models[1]["unsupported"]

        # The other language keeps what is shown.
        before = pane.models
        await pilot.press("ctrl+l")
        assert pane.models is before and pane._tab() == "compare"
        await settle(pilot, "Side by side" if lang == "zh" else "并排")

    play(journey, lang=lang, size=size)


def test_every_key_does_its_action(conv: Path) -> None:
    async def keys(pilot: Pilot[int], pane: ModelPane) -> None:
        app = pilot.app
        await estimate(pilot, pane, conv)
        for number, tab in enumerate(TABS, start=1):
            pane.query_one("#model-tabs Tabs").focus()
            await pilot.press(str(number))
            assert pane._tab() == tab
        await pilot.press("f8")
        assert app.focused is pane.query_one("#model-other")
        await pilot.press("escape")
        assert app.focused is pane.query_one("#model-path")
        await pilot.press("f7")
        await until(pilot, lambda: app.focused is pane.query_one("#fix-out"))
        before = pane.models
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pane.models is not before)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, PickScreen))
        await pilot.press("backspace")
        assert isinstance(app.screen, PickScreen) and app.screen.root == conv.parent.parent
        await pilot.press("escape")
        assert not isinstance(app.screen, PickScreen)
        layers = pane.query_one(Layers)
        pane.query_one("#model-tabs Tabs").focus()
        seen = []
        for _ in range(len(Layers.COLUMNS) + 1):
            await pilot.press("s")
            seen.append(layers.by)
        assert seen == [2, 3, 4, 5, 6, 7, 0, 1, 8, None]
        await pilot.press("r")
        assert layers.order == list(reversed(range(len(layers.rows))))

    play(keys)


def test_a_click_on_a_header_sorts_and_again_turns_round(conv: Path) -> None:
    async def clicks(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        await pilot.press("2")
        await settle(pilot, "55,296")
        layers, table = pane.query_one(Layers), pane.query_one("#layers", DataTable)
        for is_reversed in (False, True):
            await pilot.click("#layers", offset=(3, 0))
            await until(pilot, lambda want=is_reversed: layers.by == 0 and layers.is_reversed == want)
            await until(pilot, lambda: table.row_count == len(layers.rows))
        names = [layers.rows[i][0] for i in layers.order]
        assert names == sorted(names, reverse=True)

    play(clicks, size=(140, 45))


def test_open_sizes_are_asked_for_and_then_estimated(tmp_path: Path) -> None:
    path = _conv(tmp_path / "open.onnx", size="n", tail="Relu")

    async def shapes(pilot: Pilot[int], pane: ModelPane) -> None:
        choose(pane, path)
        await pilot.press("enter")
        await until(pilot, lambda: "give the shape of: x" in said(pilot))
        field = pane.query_one("#input-0", Input)
        await until(pilot, lambda: pilot.app.focused is field)
        await settle(pilot, "shape of x [1,3,n,n]")
        await pilot.press(*"1,3,q", "enter")
        assert said(pilot) == "Shape of x: 1,3,q is no list of sizes such as 1,3,224,224."
        await pilot.press("backspace", "backspace", "backspace", *"3x8x8", "enter")
        await until(pilot, lambda: pane.models and not pane._busy)
        assert pane.models[0]["macs"] == 8 * 8 * 8 * 27
        assert pane.state()["typed"] == {"x": "1,3x8x8"}

    play(shapes)


def test_settings_estimate_again(conv: Path) -> None:
    async def settings(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        slow, before = pane.models[0]["latency"]["lower_bound_ms"], pane.models
        pane.query_one("#set-clock", Input).value = "128"
        pane.query_one("#set-view", Select).value = "script"
        await until(pilot, lambda: pane.models is not before and not pane._busy)
        assert pane.models[0]["view"] == "script" and pane.models[0]["clock_mhz"] == 128
        assert pane.models[0]["latency"]["lower_bound_ms"] == pytest.approx(slow / 2)
        pane.query_one("#set-clock", Input).value = "fast"
        await pilot.press("ctrl+r")
        assert said(pilot) == "Clock: fast is no frequency in MHz between 0.001 and 100000."

    play(settings)


def _broken(tmp_path: Path) -> list[tuple[str, str]]:
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x01garbage")
    (tmp_path / "a.txt").write_text("x")
    weights = _conv(tmp_path / "outside.onnx")
    onnx.save(onnx.load(weights), weights, save_as_external_data=True, location="outside.data", size_threshold=0)
    (tmp_path / "outside.data").unlink()
    return [
        ("", "Give the path of an .onnx model."),
        ("missing.onnx", "There is no file "),
        ("", "Give the path"),
        ("a.txt", "is no .onnx file; export the model to ONNX first."),
        (".", "is a directory; give an .onnx file"),
        ("bad.onnx", "bad.onnx: "),
        ("[red]\x1b.onnx", "There is no file "),
    ]


def test_errors_are_one_sentence(tmp_path: Path) -> None:
    cases = _broken(tmp_path)

    async def errors(pilot: Pilot[int], pane: ModelPane) -> None:
        for name, sentence in cases:
            choose(pane, tmp_path / name if name else "")
            pane.query_one("#model-path").focus()
            await pilot.press("enter")
            await until(pilot, lambda want=sentence: not pane._busy and want in said(pilot))
            assert "\n" not in said(pilot) and "\x1b" not in screen(pilot) and not pane.models
        # The rewrite reads the weights; the estimate needs only their shapes.
        choose(pane, tmp_path / "outside.onnx")
        await pilot.press("f7")
        await until(pilot, lambda: pilot.app.focused is pane.query_one("#fix-out"))
        pane.query_one("#fix-out", PathField).choose(str(tmp_path / "out.onnx"))
        await pilot.press("enter")
        await until(pilot, lambda: not pane._busy and "outside.data" in said(pilot))
        assert not (tmp_path / "out.onnx").exists()

    play(errors)


def test_the_result_is_never_written_where_it_must_not(conv: Path) -> None:
    async def targets(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        await pilot.press("f7")
        out = pane.query_one("#fix-out", PathField)
        await until(pilot, lambda: pilot.app.focused is out)
        taken = conv.with_name("taken.onnx")
        taken.write_bytes(b"mine")
        for path, sentence in (
            (conv, "is the model itself"), (conv.with_suffix(".txt"), "must be named .onnx"),
            (conv.parent / "no" / "a.onnx", "does not exist"), (taken, "press Enter again to overwrite"),
        ):  # fmt: skip
            out.choose(str(path))
            await pilot.pause()
            await pilot.press("enter")
            assert sentence in said(pilot) and not pane._busy
        assert taken.read_bytes() == b"mine"
        await pilot.press("enter")
        await until(pilot, lambda: pane.proof is not None)
        onnx.checker.check_model(str(taken))
        pane.query_one("#fix-tolerance", Input).value = "7"
        out.choose(str(conv.with_name("new.onnx")))
        out.focus()
        await pilot.press("enter")
        assert said(pilot) == "Tolerance: 7 is no number from 0 to 1."

    play(targets)


def test_escape_stops_and_nothing_late_arrives(conv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A process that never answers: only its end can stop the job.
    monkeypatch.setattr("assistant.tui.model.engine._CODE", "import time; time.sleep(600)")

    async def stop(pilot: Pilot[int], pane: ModelPane) -> None:
        choose(pane, conv)
        await pilot.press("enter")
        await until(pilot, lambda: pane.engine._process is not None)
        process = pane.engine._process
        assert process is not None and pane._busy == "estimate"
        await pilot.press("escape")
        assert said(pilot) == "Stopped. Nothing was written."
        await until(pilot, lambda: process.poll() is not None)
        await pilot.press("f7")
        await until(pilot, lambda: pilot.app.focused is pane.query_one("#fix-out"))
        await pilot.press("enter")
        await until(pilot, lambda: pane.engine._process is not None and list(conv.parent.glob(".asknpu-fix*")))
        await pilot.press("escape")
        await until(pilot, lambda: not list(conv.parent.glob(".asknpu-fix*")))
        assert not pane.models and pane.proof is None and not pane._busy
        assert sorted(p.name for p in conv.parent.iterdir()) == ["home", conv.name]

    play(stop)


def test_a_process_that_dies_is_said_and_the_next_one_works(conv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def die(pilot: Pilot[int], pane: ModelPane) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("assistant.tui.model.engine._CODE", "import sys; sys.exit(9)")
            choose(pane, conv)
            await pilot.press("enter")
            await until(pilot, lambda: "ended unexpectedly" in said(pilot))
        await estimate(pilot, pane, conv)

    play(die)


def test_state_is_restored(conv: Path, tmp_path: Path) -> None:
    async def first(pilot: Pilot[int], pane: ModelPane) -> None:
        await estimate(pilot, pane, conv)
        pane.query_one("#set-clock", Input).value = "200"
        await pilot.press("4", "ctrl+q")

    async def second(pilot: Pilot[int], pane: ModelPane) -> None:
        assert pane.query_one("#model-path", PathField).path == str(conv)
        await until(pilot, lambda: pane.models)
        assert pane.models[0]["clock_mhz"] == 200 and pane._tab() == "charts"

    play(first)
    saved = json.loads((tmp_path / "home" / "window.json").read_text())
    assert saved["areas"]["model"]["path"] == str(conv)
    play(second, lang="zh")


def test_a_resize_lays_the_results_out_again(conv: Path) -> None:
    async def resize(pilot: Pilot[int], pane: ModelPane) -> None:
        choose(pane, conv, "other")
        await estimate(pilot, pane, conv)
        for size in ((140, 45), (80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            for number in "12346":
                pane.query_one("#model-tabs", TabbedContent).query_one("Tabs").focus()
                await pilot.press(number)
            shown = screen(pilot).split("\n")
            assert len(shown) == size[1] and all(_cells(line) == size[0] for line in shown)

    play(resize)


def _cells(line: str) -> int:
    from rich.cells import cell_len

    return cell_len(line)


def test_the_window_loads_neither_numpy_nor_onnx_for_an_estimate(conv: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    code = f"""
import asyncio, sys
from assistant.tui.app import Window
from assistant.tui.model.files import PathField
async def run():
    app = Window("en")
    async with app.run_test() as pilot:
        await pilot.press("f4")
        pane = app.pane("model")
        pane.query_one("#model-path", PathField).choose({str(conv)!r})
        await pilot.press("enter")
        for _ in range(1000):
            if pane.models:
                break
            await pilot.pause(0.02)
        assert pane.models
asyncio.run(run())
print(sorted(set(sys.modules) & {{"numpy", "onnx", "faiss"}}))
"""
    root = str(Path(__file__).resolve().parents[2])
    environment: dict[str, Any] = {"ASKNPU_HOME": str(tmp_path / "home"), "PYTHONPATH": root, "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
