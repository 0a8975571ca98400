"""Snapshots of the area Model: estimates, their tabs, and rewrites with their proof."""

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from textual.widgets import Input

from assistant.tui.model.engine import Engine
from assistant.tui.model.job import Tell
from assistant.tui.model.progress import Progress
from assistant.tui.pathfield import PathField
from assistant.tui.services import Services
from kb.types import Lang
from tests.test_assistant.model_area import write_conv
from tests.test_assistant.tui_stage import Stage, play
from tests.test_simcore.graphs import model


class HeldEngine(Engine):
    """Stays where a job has told its first step, as long as it is held."""

    is_held = False

    def run(self, job: dict[str, Any], tell: Tell, is_stopped: Callable[[], bool]) -> tuple[str, Any]:
        """Run a job."""

        def told(word: str, value: Any) -> None:
            tell(word, value)
            while self.is_held and not is_stopped():
                time.sleep(0.01)

        return super().run(job, told, is_stopped)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_estimates_and_proofs(lang: Lang, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = HeldEngine()
    monkeypatch.setattr("assistant.tui.model.running.Engine", lambda: engine)

    async def walk(stage: Stage) -> AsyncIterator[str]:
        await stage.rest()
        yield "model-empty"
        (stage.place / "bad.onnx").write_bytes(b"no model")
        await _estimate(stage, "bad.onnx")
        await stage.rest()
        yield "model-error"
        write_conv(stage.place / "open.onnx", size="n")
        await _estimate(stage, "open.onnx")
        await stage.rest()
        yield "model-abstained"
        write_conv(stage.place / "conv.onnx")
        engine.is_held = True
        await _estimate(stage, "conv.onnx")
        await stage.until(lambda: "conv.onnx" in stage.app.query_one(Progress).shown)
        yield "model-running"
        engine.is_held = False
        await stage.rest()
        yield "model-result"
        for number, name in enumerate(("layers", "unsupported", "memory"), start=2):
            await stage.press(str(number))
            yield f"model-{name}"
        _write_softsign(stage.place / "softsign.onnx")
        await _estimate(stage, "softsign.onnx")
        await stage.rest()
        await stage.press("f7")
        stage.app.query_one("#fix-tolerance", Input).value = "0"
        await stage.press("enter")
        yield "model-refused"
        stage.app.query_one("#fix-tolerance", Input).value = "1e-4"
        await stage.press("f7")
        await stage.press("enter")
        yield "model-fixed"

    play(walk, "model", lang, place, Services(), "model-result model-memory")


async def _estimate(stage: Stage, name: str) -> None:
    box = stage.app.query_one("#model-path", PathField)
    box.choose(name)
    box.focus()
    await stage.pilot.press("enter")


def _write_softsign(path: Path) -> None:
    """Write a model whose rewrite differs by rounding: 5/6 is not five times the sixth, on no machine."""
    nodes = [
        helper.make_node("Mul", ["x", "zero"], ["nothing"], name="mul"),
        helper.make_node("Add", ["nothing", "five"], ["fives"], name="add"),
        helper.make_node("Softsign", ["fives"], ["y"], name="激活 tail"),
    ]
    numbers = {"zero": np.float32([0]), "five": np.float32([5])}
    onnx.save(model(nodes, {"x": [1, 3, 16, 16]}, ["y"], numbers, opset=13), path)
