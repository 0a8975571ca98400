"""What is known inside the subgraphs of a node: their tensors, and how often they run.

If          the branch that runs if the condition is known, else both; not one that the shapes around it do not fit
Loop, Scan  the body once, with its trip count; carried tensors are taken to keep the shape they start with
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from simcore.errors import SimError
from simcore.graph import Graph, Node, Tensor, ValueInfo, captures
from simcore.ops.control_flow import MAX_ITERATIONS
from simcore.shapes import Inferred, infer

__all__ = ["InnerGraph", "inner_graphs"]


@dataclass(frozen=True, slots=True)
class InnerGraph:
    """A subgraph of a node, with what is known of its tensors."""

    #: Attribute it is the value of, such as then_branch.
    attribute: str
    graph: Graph
    #: Its tensors and those it reads from outside; None where not enough is known outside.
    inferred: Inferred | None
    #: How often it runs: 1 for a branch, the iterations of a loop; None if only a run can tell.
    count: int | None
    #: Whether it runs for certain; False for the two branches of an If whose condition is not known.
    is_certain: bool
    #: What was assumed, as sentences; empty if nothing was.
    assumptions: tuple[str, ...]


def inner_graphs(
    node: Node, opset: Mapping[str, int], tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]
) -> tuple[InnerGraph, ...]:
    """Return the subgraphs of a node that may run, with their tensors; empty for a node without subgraphs.

    Args:
        node: the node.
        opset: operator set version by domain; a Scan below 9 has a batch axis.
        tensors: what is known of the tensors around it, by name.
        values: known values around it, by name.
    """
    if node.op_type == "If":
        return _branches(node, tensors, values)
    if node.op_type in ("Loop", "Scan"):
        return (_body(node, opset, tensors, values),)
    return tuple(
        InnerGraph(attribute, graph, _inferred(graph, {}, tensors, values), None, False, ())
        for attribute, graph in node.subgraphs.items()
    )


def _branches(node: Node, tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]) -> tuple[InnerGraph, ...]:
    condition = values.get(node.inputs[0])
    is_known = condition is not None and condition.size == 1
    chosen = [name for name in ("then_branch", "else_branch") if name in node.subgraphs]
    if is_known and condition is not None:
        chosen = ["then_branch" if condition.item() else "else_branch"]
    found = tuple(
        InnerGraph(name, node.subgraphs[name], _inferred(node.subgraphs[name], {}, tensors, values), 1, is_known, ())
        for name in chosen
    )
    fitting = [body for body in found if body.inferred is not None]
    failing = [body for body in found if body.inferred is None and _infos(body.graph, {}, tensors) is not None]
    if len(fitting) == len(failing) == 1:
        note = "an If whose condition is not known takes the branch that fits its inputs"
        return (replace(fitting[0], is_certain=True, assumptions=(note,)),)
    return found


def _body(
    node: Node, opset: Mapping[str, int], tensors: Mapping[str, ValueInfo], values: Mapping[str, Tensor]
) -> InnerGraph:
    graph = node.subgraphs["body"]
    assumptions: tuple[str, ...] = ()
    if node.op_type == "Loop":
        carried = tuple(map(tensors.get, node.inputs[2:]))
        start = (ValueInfo("", np.dtype(np.int64), ()), ValueInfo("", np.dtype(bool), ()), *carried)
        count = _trip_count(node, values)
        assumptions = ("a loop is taken to run its full trip count; its condition may end it sooner",)
    else:
        start, count = _scanned(node, tensors, 1 if opset.get("", 9) < 9 else 0)
        carried = start[: len(start) - _int(node, "num_scan_inputs")]
    if carried:
        assumptions += ("the carried tensors of a loop are taken to keep the shape they start with",)
    declared = {info.name: known for info, known in zip(graph.inputs, start, strict=False) if known is not None}
    return InnerGraph("body", graph, _inferred(graph, declared, tensors, values), count, count is not None, assumptions)


def _trip_count(node: Node, values: Mapping[str, Tensor]) -> int | None:
    """Return the most iterations of a Loop; None if not known, or so many that only the condition can be meant."""
    condition = values.get(node.inputs[1]) if len(node.inputs) > 1 else None
    if condition is not None and not condition.item():
        return 0
    trips = values.get(node.inputs[0])
    if trips is None or trips.item() > MAX_ITERATIONS:
        return None
    return max(int(trips.item()), 0)


def _scanned(
    node: Node, tensors: Mapping[str, ValueInfo], batch_axes: int
) -> tuple[tuple[ValueInfo | None, ...], int | None]:
    """Return what a Scan body gets at its inputs, and how often it runs: once per entry and batch."""
    names = node.inputs[batch_axes:]  # version 8 has sequence_lens in front, and a batch axis
    scanned = _int(node, "num_scan_inputs")
    given = node.attributes.get("scan_input_axes") or (0,) * scanned
    assert isinstance(given, tuple), "the loader has checked attributes"
    axes = (*(None,) * (len(names) - scanned), *(int(axis) for axis in given))
    start: list[ValueInfo | None] = []
    count: int | None = None
    for name, axis in zip(names, axes, strict=True):
        info = tensors.get(name)
        if info is None or info.shape is None:
            start.append(None)
            continue
        shape = list(info.shape)
        runs = shape[:batch_axes]
        del shape[:batch_axes]
        if axis is not None:
            runs.append(shape.pop(axis))
            count = prod(size for size in runs if isinstance(size, int))
        start.append(replace(info, shape=tuple(shape)))
    return tuple(start), count


def _int(node: Node, name: str) -> int:
    value = node.attributes[name]
    assert isinstance(value, int), "the loader has checked attributes"
    return value


def _inferred(
    graph: Graph,
    declared: Mapping[str, ValueInfo],
    tensors: Mapping[str, ValueInfo],
    values: Mapping[str, Tensor],
) -> Inferred | None:
    """Return what is known inside a subgraph given its inputs and what it reads from outside; None if it fails."""
    infos = _infos(graph, declared, tensors)
    if infos is None:
        return None
    alone = replace(graph, inputs=tuple(infos))
    given = {info.name: values[info.name] for info in infos if info.name in values and info.name not in declared}
    try:
        return infer(alone, given)
    except SimError:
        return None


def _infos(graph: Graph, declared: Mapping[str, ValueInfo], tensors: Mapping[str, ValueInfo]) -> list[ValueInfo] | None:
    """Return what a subgraph starts from: its inputs, and what it reads from outside; None if any is not known."""
    infos: list[ValueInfo] = []
    for name in (*(info.name for info in graph.inputs), *captures(graph)):
        known = declared.get(name) or tensors.get(name)
        if known is None or known.dtype is None or known.shape is None:
            return None
        infos.append(replace(known, name=name))
    return infos
