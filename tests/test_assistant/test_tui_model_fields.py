"""The fields of the area Model: open sizes, wrong values, files that cannot be used, where a result may be written."""

from pathlib import Path

import onnx
import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.tui.model.pane import ModelPane
from assistant.tui.pathfield import PathField
from kb.types import Lang
from tests.test_assistant.model_area import (
    choose,
    play,
    said,
    settle,
    write_conv,
)
from tests.test_assistant.window import screen, until

pytestmark = pytest.mark.usefixtures("model_window")


def test_open_sizes_are_asked_for_and_wrong_fields_are_said(tmp_path: Path) -> None:
    path = write_conv(tmp_path / "open.onnx", size="n", tail="Relu")

    async def shapes(pilot: Pilot[int], pane: ModelPane) -> None:
        choose(pane, path)
        await pilot.press("enter")
        await until(pilot, lambda: "give the shape of: x" in said(pilot))
        field = pane.query_one("#input-0", Input)
        await until(pilot, lambda: pilot.app.focused is field)
        await settle(pilot, "shape of x [1,3,n,n]")
        field.value = "1,3,q"
        await pilot.press("enter")
        assert said(pilot) == "Shape of x: 1,3,q is no list of sizes such as 1,3,224,224."
        field.value = "1,3x8x8"
        await pilot.press("enter")
        await until(pilot, lambda: pane.models and not pane.running.doing)
        assert pane.models[0]["macs"] == 8 * 8 * 8 * 27
        assert pane.state()["typed"] == {"x": "1,3x8x8"}
        # Results of another file than the one filled in are shown as such.
        tabs = pane.query_one("#model-tabs")
        assert tabs.styles.opacity == 1
        choose(pane, "elsewhere.onnx")
        await until(pilot, lambda: tabs.styles.opacity < 1)
        choose(pane, path)
        await until(pilot, lambda: tabs.styles.opacity == 1)
        pane.query_one("#set-clock", Input).value = "fast"
        await pilot.press("ctrl+r")
        assert said(pilot) == "Clock: fast is no frequency in MHz between 0.001 and 100000."

    play(shapes)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_errors_are_one_sentence_in_the_language(tmp_path: Path, lang: Lang) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x01garbage")
    (tmp_path / "a.txt").write_text("x")
    weights = write_conv(tmp_path / "outside.onnx")
    onnx.save(onnx.load(weights), weights, save_as_external_data=True, location="outside.data", size_threshold=0)
    (tmp_path / "outside.data").unlink()
    cases = [
        ("", "请给出 .onnx 模型的路径", "Give the path of an .onnx model."),
        ("missing.onnx", "没有文件", "There is no file "),
        ("a.txt", "不是 .onnx 文件", "is no .onnx file; export the model to ONNX first."),
        (".", "是目录", "is a directory; give an .onnx file"),
        ("bad.onnx", "不是 ONNX 模型，或文件不完整", "not an ONNX model, or cut off"),
        ("[red]\x1b.onnx", "没有文件", "There is no file "),
    ]

    async def errors(pilot: Pilot[int], pane: ModelPane) -> None:
        for name, zh, en in cases:
            choose(pane, tmp_path / name if name else "")
            pane.query_one("#model-path").focus()
            await pilot.press("enter")
            want = zh if lang == "zh" else en
            await until(pilot, lambda want=want: not pane.running.doing and want in said(pilot))
            assert "\n" not in said(pilot) and "\x1b" not in screen(pilot.app) and not pane.models
        # The rewrite reads the weights; the estimate needs only their shapes.
        choose(pane, tmp_path / "outside.onnx")
        out = pane.query_one("#fix-out", PathField)
        out.choose(str(tmp_path / "out.onnx"))
        await pilot.press("f7")
        await until(pilot, lambda: pilot.app.focused is out)
        await pilot.press("enter")
        want = "1 个权重没有数据，第一个是 'w'" if lang == "zh" else "1 weights have no data, the first is 'w'"
        await until(pilot, lambda: not pane.running.doing and want in said(pilot))
        await settle(pilot, "无从证明" if lang == "zh" else "nothing is proved")
        assert not (tmp_path / "out.onnx").exists()
        await pilot.press("ctrl+l")
        assert ("no data" in said(pilot)) == (lang == "zh")

    play(errors, lang=lang)


def test_the_result_is_never_written_where_it_must_not(conv: Path) -> None:
    async def targets(pilot: Pilot[int], pane: ModelPane) -> None:
        choose(pane, conv)
        out = pane.query_one("#fix-out", PathField)
        await pilot.press("f7")
        await until(pilot, lambda: pilot.app.focused is out)
        taken = conv.with_name("taken.onnx")
        taken.write_bytes(b"mine")
        for path, sentence in (
            (conv, "is the model itself"), (conv.with_suffix(".txt"), "must be named .onnx"),
            (conv.parent / "no" / "a.onnx", "does not exist"), (taken, "press Enter again to overwrite"),
        ):  # fmt: skip
            out.choose(str(path))
            await pilot.press("enter")
            assert sentence in said(pilot) and not pane.running.doing
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
