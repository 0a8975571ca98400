"""The area Model under a pilot: a window with one small model, and what tests ask of it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from textual.pilot import Pilot

from assistant.tui.model.engine import Engine
from assistant.tui.model.pane import ModelPane
from assistant.tui.model.progress import Progress
from assistant.tui.model.tabs import Results
from assistant.tui.pathfield import PathField
from kb.types import Lang
from tests.test_assistant import window
from tests.test_assistant.window import screen, until
from tests.test_simcore.graphs import model

W = np.random.default_rng(0).normal(size=(8, 3, 3, 3)).astype(np.float32)
NODE = "[red]卷积\x1b[31m/conv"

Script = Callable[[Pilot[int], ModelPane], Awaitable[None]]


class KeptEngine(Engine):
    """Outlives its window, so that a file of tests loads numpy and onnx once in the second process."""

    def close(self) -> None:
        """Stay."""

    def end(self) -> None:
        """End the process."""
        super().close()


def write_conv(path: Path, *, size: object = 16, tail: str = "HardSigmoid") -> Path:
    """Write a model of a Conv, an operator that nano-035a lacks, and a Relu."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name=NODE, pads=[1, 1, 1, 1]),
        helper.make_node(tail, ["c"], ["h"], name="激活 tail"),
        helper.make_node("Relu", ["h"], ["y"], name="relu"),
    ]
    onnx.save(model(nodes, {"x": [1, 3, size, size]}, ["y"], {"w": W}, opset=13), path)
    return path


def play(script: Script, *, lang: Lang = "en", size: tuple[int, int] = (80, 24)) -> None:
    """Run a script in a window that starts in the area."""
    window.play(script, ModelPane, lang=lang, size=size, is_ready=lambda pane: pane.query(Progress))


async def settle(pilot: Pilot[int], text: str) -> None:
    """Wait until a text is on the screen."""
    await until(pilot, lambda: text in screen(pilot.app))


def said(pilot: Pilot[int]) -> str:
    """Return the line of progress."""
    return pilot.app.query_one(Progress).shown


def tab(pane: ModelPane) -> str:
    """Return the tab that is shown."""
    return pane.query_one(Results).tab


def choose(pane: ModelPane, path: object, field: str = "path") -> None:
    """Fill in a path."""
    pane.query_one(f"#model-{field}", PathField).choose(str(path))


async def estimate(pilot: Pilot[int], pane: ModelPane, path: Path) -> None:
    """Estimate a model, and wait for the result."""
    choose(pane, path)
    pane.query_one("#model-path").focus()
    await pilot.press("enter")
    await until(pilot, lambda: pane.models and not pane.running.doing)
