"""Model files to estimates; what is wrong with a file is one sentence that names it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from assistant.errors import BadInput
from simcore.device import load_device
from simcore.errors import SimError
from simcore.estimate import Estimate, estimate
from simcore.graph import Graph, Tensor
from simcore.load_onnx import load_onnx
from simcore.typical import Model, load_table, nearest

__all__ = ["Estimated", "constants", "estimated", "loaded", "typical_models"]


#: Family of devices with a published table of typical models.
_TYPICAL: Final = "nano"


@dataclass(frozen=True, slots=True)
class Estimated:
    """A file and what it needs."""

    path: str
    estimate: Estimate


def typical_models(found: Estimate) -> tuple[Model, ...]:
    """Return published models whose weights are about as large, of the same family of devices; empty if none are."""
    rules = load_device(found.device).figures.get("support_rules")
    families = rules.value if rules is not None and isinstance(rules.value, tuple) else ()
    if _TYPICAL not in families or not found.weight_bytes:
        return ()
    return nearest(load_table(_TYPICAL), size_mb=found.weight_bytes / 1e6)


def loaded(path: str) -> Graph:
    """Return the graph of a model file.

    Raises:
        BadInput: there is no such file, or it is no usable ONNX model.
    """
    if not Path(path).is_file():
        raise BadInput(f"{path}: no such file; give an .onnx model")
    try:
        return load_onnx(Path(path))
    except SimError as error:
        raise BadInput(f"{path}: {error}") from None


def constants(graph: Graph, given: Mapping[str, float]) -> dict[str, Tensor]:
    """Return the numbers that inputs have as arrays of their type and shape; names of other models are left out.

    Raises:
        BadInput: an input is not declared well enough to hold one number.
    """
    found: dict[str, Tensor] = {}
    for info in graph.inputs:
        if info.name not in given:
            continue
        shape = info.shape or ()
        if info.dtype is None or any(size != 1 for size in shape):
            raise BadInput(f"--value {info.name}: the input is no single number, it is declared {list(shape)}")
        found[info.name] = np.full(tuple(1 for _ in shape), given[info.name], info.dtype)
    return found


def estimated(
    path: str,
    *,
    device: str,
    inputs: Mapping[str, tuple[int, ...]],
    values: Mapping[str, float],
    clock_mhz: float | None,
    activation: Literal["int8", "int16"],
    view: Literal["script", "fused"],
) -> Estimated:
    """Return what the model in a file needs on a device.

    Raises:
        BadInput: the file cannot be used, or an input has no complete shape.
    """
    graph = loaded(path)
    names = {info.name for info in graph.inputs}
    own: dict[str, tuple[int, ...] | Tensor] = {name: shape for name, shape in inputs.items() if name in names}
    own.update(constants(graph, values))
    try:
        found = estimate(
            graph, device=load_device(device), inputs=own, clock_mhz=clock_mhz, activation=activation, view=view
        )
    except SimError as error:
        raise BadInput(f"{path}: {error}") from None
    return Estimated(path, found)
