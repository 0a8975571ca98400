"""Run `fix` so that a stopped or refused one leaves no file behind, and an existing file is never half replaced."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assistant.tui.model.engine import Engine
from assistant.tui.model.job import Tell

__all__ = ["proposed", "rewritten", "why_not"]


def proposed(path: str) -> str:
    """Return a path for the result that does not exist yet, beside the model."""
    model = Path(path)
    for number in range(1, 1000):
        tail = "-fixed" if number == 1 else f"-fixed-{number}"
        target = model.with_name(f"{model.stem}{tail}.onnx")
        if not target.exists():
            break
    return str(target)


def why_not(path: str, out: str, *, overwrite: bool) -> str:
    """Return the key of the sentence that says why a result cannot be written there; "" if it can."""
    target = Path(out)
    if target.suffix.lower() != ".onnx":
        return "out_suffix"
    if not target.parent.is_dir():
        return "out_folder"
    if target.exists():
        if target.samefile(path):
            return "out_same"
        if not overwrite:
            return "out_exists"
    return ""


def rewritten(
    engine: Engine, job: dict[str, Any], out: str, tell: Tell, is_stopped: Callable[[], bool]
) -> tuple[str, Any]:
    """Return what `Engine.run` returns, the result moved to `out` if it was proved.

    Raises:
        Stopped: it was stopped; nothing was written.
    """
    target = Path(out)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".asknpu-fix-") as room:
            word, value = engine.run({**job, "out": str(Path(room) / target.name)}, tell, is_stopped)
            if word == "failed":
                return word, str(value).replace(f"{room}/", "")
            # The model last: with its weights in a file beside it, it is whole once it is there.
            for file in sorted(Path(room).iterdir(), key=lambda file: file.name == target.name):
                file.replace(target.parent / file.name)
            return word, {**value, "written": out if value["written"] else ""}
    except OSError as error:
        return "failed", f"{out}: cannot be written: {error.strerror}"
