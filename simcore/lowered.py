"""The NPU graph of a model as plain values, and what it is good for: memory plans, cycles, runs.

lower.lower(...) -> Lowered     layers in order, tensors in every form they are held in, constants
flat_of_layers                  the layers as calls, for liveness.buffers_of
Layer.work                      for cost.layer_cost
executable                      graph and precision, for execute.run
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simcore.assumption_texts import Text
from simcore.cost import Activation
from simcore.errors import BadArgument
from simcore.fuse import Operation, folded
from simcore.graph import Graph, Node, Tensor, ValueInfo
from simcore.held import Constant, Held
from simcore.inline import Call, Flat
from simcore.macs import NodeWork
from simcore.precision import Precision

__all__ = ["Layer", "Lowered", "executable", "flat_of_layers"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One operator of the NPU graph."""

    #: Unique: that of the node, "AscendQuant: x (int8)" of an inserted one.
    name: str
    #: ONNX operator, or TransData, AscendQuant, AscendDequant.
    op_type: str
    #: The node, tensors renamed to those of `Lowered.tensors`; constants keep their names.
    node: Node
    #: Tensors it reads and writes, by name in `Lowered.tensors`.
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    #: Constants it reads, by name in `Lowered.constants`.
    constants: tuple[str, ...]
    #: Not in the file.
    is_inserted: bool
    #: Nodes of the file, and inserted operators, that run as part of it: "BatchNormalization: bn1", "AscendDequant".
    merged: tuple[str, ...]
    #: Multiply-adds, element operations and moves of one run.
    work: NodeWork
    #: How often it runs: trip count inside a loop; None if only a run can tell.
    runs: int | None
    #: Number of the call in `Lowered.flat` it was made from or for.
    call: int


@dataclass(frozen=True, slots=True)
class Lowered:
    """The NPU graph of a model."""

    #: The model it was made from.
    graph: Graph
    #: The device's name.
    device: str
    #: Whether formats and inserted operators are those of Ascend; else nothing is inserted.
    has_blocks: bool
    #: Whether constants are folded and operators fused.
    is_fused: bool
    #: Element type of quantized activations.
    activation: Activation
    #: In order of execution.
    layers: tuple[Layer, ...]
    #: By name.
    tensors: Mapping[str, Held]
    constants: Mapping[str, Constant]
    #: The graph with its subgraphs in line, before anything was inserted.
    flat: Flat
    #: New names of the tensors in it that are gone.
    renamed: Mapping[str, str]
    #: Operations the layers were made from.
    operations: tuple[Operation, ...]
    #: What was assumed, each once.
    assumptions: tuple[Text, ...]


def flat_of_layers(lowered: Lowered, bytes_of: Callable[[Held], int] | None = None) -> Flat:
    """Return the layers as calls, for liveness.buffers_of; what a loop holds all the time stays held.

    Args:
        lowered: the NPU graph.
        bytes_of: bytes a tensor of known size takes, such as with an alignment; default: `Held.bytes`.
    """
    tensors = lowered.tensors

    def size(info: ValueInfo) -> int:
        found = tensors[info.name]
        assert found.bytes is not None, "only known tensors are asked for"
        return found.bytes if bytes_of is None else bytes_of(found)

    flat = Flat(size, lambda body: 0, lowered.is_fused)
    flat.calls = [
        Call(layer.name, layer.node, layer.node.inputs, layer.node.outputs, layer.runs) for layer in lowered.layers
    ]
    for name, one in tensors.items():
        flat.infos[name] = ValueInfo(name, np.dtype(one.dtype) if one.bytes is not None else None, one.stored)
    flat.infos |= {
        name: info
        for name, info in lowered.flat.infos.items()
        if name not in flat.infos and name in lowered.flat.constants
    }
    flat.values, flat.constants, flat.assumptions = (
        lowered.flat.values,
        lowered.flat.constants,
        lowered.flat.assumptions,
    )
    flat.spans = _spans(lowered)
    return flat


def _spans(lowered: Lowered) -> list[tuple[str, int, int]]:
    """Return what must be held during loops, by steps of the layers."""
    if not lowered.flat.spans:
        return []
    calls = [layer.call for layer in lowered.layers]
    forms: dict[str, list[str]] = {}
    for name, one in lowered.tensors.items():
        forms.setdefault(one.tensor, []).append(name)
    spans: list[tuple[str, int, int]] = []
    for tensor, start, end in lowered.flat.spans:
        steps = [step for step, call in enumerate(calls) if start <= call <= end]
        if steps:
            kept = lowered.renamed.get(tensor, tensor)
            spans += [(name, steps[0], steps[-1]) for name in forms.get(kept, ())]
    return spans


def executable(lowered: Lowered, ranges: Mapping[str, tuple[float, float]] | None = None) -> tuple[Graph, Precision]:
    """Return what runs the NPU graph: `execute.run(graph, feeds, precision=precision)`.

    The operators that `lower` inserts are rules there: a Quantized rule reads and writes codes where AscendQuant and
    AscendDequant stand, formats change no value, the vector unit computes in fp16. In the fused view the graph has
    BatchNormalization of the main graph inside the weights before it (those are read now); Relu and Clip follow the
    same result either way.

    Args:
        lowered: the NPU graph.
        ranges: calibrated ranges by tensor name; missing ones are measured in each run.

    Raises:
        BadArgument: the device's arithmetic is not that of Nano.
    """
    if not lowered.has_blocks:
        raise BadArgument(f"{lowered.device}: how it computes is chosen by a mode; see simcore.presets")
    from simcore.presets import nano  # half a second of tables, needed for a run only

    graph = lowered.graph
    if lowered.is_fused:
        graph = folded(graph, lowered.operations, lambda name: _value(lowered, name))
    return graph, nano(lowered.activation, ranges=ranges)


def _value(lowered: Lowered, name: str) -> Tensor:
    found: Any = lowered.graph.initializers.get(name)
    if found is None:
        found = lowered.flat.values.get(name)
    if found is None:
        raise BadArgument(f"weight {name!r} has no data in the file, or is computed from weights; fold constants first")
    return np.asarray(found)
