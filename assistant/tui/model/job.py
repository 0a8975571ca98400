"""What the second process does: read, estimate, rewrite. It loads numpy and onnx, so that the window never has to.

A job and its result are JSON values; everything the process tells is (word, value):

    ("stage", name)     what it is doing now: read, estimate, rewrite
    ("inputs", {...})   path and inputs of a model, as soon as it is read
    ("done", result)    the last word, or
    ("failed", sentence)
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from assistant.errors import AssistantError

__all__ = ["Tell", "do", "serve"]

Tell = Callable[[str, Any], None]


def serve() -> None:
    """Do jobs, a line of JSON each, until the input ends; nothing else is ever printed."""
    told = os.fdopen(os.dup(1), "w", encoding="ascii")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)

    def tell(word: str, value: Any) -> None:  # noqa: ANN401 (any JSON value)
        told.write(json.dumps((word, value)) + "\n")
        told.flush()

    for line in sys.stdin.buffer:
        try:
            tell("done", do(json.loads(line), tell))
        except AssistantError as error:
            tell("failed", str(error))
        except MemoryError:
            tell("failed", "not enough memory on this computer for this model")
        except BrokenPipeError:
            return
        except Exception as error:  # the border of a process: whatever it was is shown
            tell("failed", f"internal error: {type(error).__name__}: {error}")


def do(job: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Return the result of one job.

    Raises:
        BadInput: a file cannot be used.
    """
    job = {**job, "shapes": {name: tuple(sizes) for name, sizes in job["shapes"].items()}}
    return _fix(job, tell) if job["do"] == "fix" else _estimate(job, tell)


def _estimate(job: dict[str, Any], tell: Tell) -> dict[str, Any]:
    from assistant.models.as_json import estimate_json
    from assistant.models.loading import estimated, loaded

    models = []
    for path in job["paths"]:
        tell("stage", "read")
        inputs = _inputs(loaded(path))
        tell("inputs", {"path": path, "inputs": inputs})
        tell("stage", "estimate")
        one = estimated(
            path, device=job["device"], inputs=job["shapes"], values=job["values"], clock_mhz=job["clock_mhz"],
            activation=job["activation"], view=job["view"],
        )  # fmt: skip
        models.append(estimate_json(one))
    return {"models": models}


def _inputs(graph: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (simcore.graph.Graph, which is not imported here)
    """Return the inputs: name, declared sizes (None: unknown rank), element type, whether a number or shape fits."""
    found = []
    for info in graph.inputs:
        sizes = None if info.shape is None else [str(size) if size is not None else "?" for size in info.shape]
        is_open = info.shape is None or not all(isinstance(size, int) for size in info.shape)
        is_number = info.shape is not None and all(size == 1 for size in info.shape)
        kind = "" if info.dtype is None else str(info.dtype)
        found.append({"name": info.name, "sizes": sizes, "type": kind, "open": is_open, "number": is_number})
    return found


def _fix(job: dict[str, Any], tell: Tell) -> dict[str, Any]:
    from assistant.models import fixing

    tell("stage", "rewrite")
    one = fixing.fix(
        job["path"], job["out"], device=job["device"], shapes=job["shapes"], values=job["values"],
        opset=None, state_inputs=job["state_inputs"], tolerance=job["tolerance"], overwrite=False,
    )  # fmt: skip
    return {**fixing.fix_json(one), "clean": fixing.exit_is_clean(one)}
