"""A model as plain frozen values: nodes, graphs, what is known of their tensors; and the checks that need no library.

Built by load_onnx (or by hand in a test), read by execute and shapes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.element_types import name_of
from simcore.errors import BadArgument, ModelError

__all__ = [
    "Attribute",
    "Graph",
    "Node",
    "Tensor",
    "ValueInfo",
    "captures",
    "check_feed",
    "described",
    "sorted_nodes",
    "walk",
]

#: Any tensor; strings are object arrays.
Tensor = NDArray[Any]

#: Value of a node attribute that is not a subgraph.
Attribute = int | float | str | Tensor | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """What a model declares of a tensor."""

    #: Name of the tensor.
    name: str
    #: Element type; None where the model does not say (or says sequence, map, optional).
    dtype: np.dtype[Any] | None = None
    #: Sizes; a str is a named size that a feed fixes, None an unknown one; None instead of the tuple: unknown rank.
    shape: tuple[int | str | None, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operator call."""

    #: Unique within the model; load_onnx makes one ("Conv_3") where the file has none.
    name: str
    #: ONNX operator name, such as "Conv".
    op_type: str
    #: "" for ai.onnx.
    domain: str
    #: Tensor names; "" is an optional input left out.
    inputs: tuple[str, ...]
    #: Tensor names; "" is an output nobody reads.
    outputs: tuple[str, ...]
    #: Attributes by ONNX name, subgraphs excluded.
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    #: Subgraph attributes (then_branch, else_branch, body) by ONNX name.
    subgraphs: Mapping[str, "Graph"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Graph:
    """A model, or the body of a control-flow node."""

    #: Name in the file.
    name: str
    #: In an order in which every input is produced before it is read.
    nodes: tuple[Node, ...]
    #: Inputs without the initializers.
    inputs: tuple[ValueInfo, ...]
    #: Outputs in order.
    outputs: tuple[ValueInfo, ...]
    #: Constant tensors by name, read-only; large ones may be memory maps of a file.
    initializers: Mapping[str, Tensor] = field(default_factory=dict)
    #: Operator set version by domain.
    opset: Mapping[str, int] = field(default_factory=dict)
    #: Initializers whose data is not there (external file missing), by name: fine for shapes, not for a run.
    missing: Mapping[str, ValueInfo] = field(default_factory=dict)
    #: What the file says about tensors inside, by name; hints, not used to compute.
    value_info: Mapping[str, ValueInfo] = field(default_factory=dict)


def described(node: Node) -> str:
    """Return how messages name a node: `node 'conv1' (Conv)`, the domain in front of operators outside ai.onnx."""
    return f"node {node.name!r} ({node.domain + '::' if node.domain else ''}{node.op_type})"


def walk(graph: Graph) -> Iterator[tuple[Graph, Node]]:
    """Yield every node with the graph it stands in, subgraphs after the node that holds them."""
    for node in graph.nodes:
        yield graph, node
        for inner in node.subgraphs.values():
            yield from walk(inner)


def captures(graph: Graph) -> tuple[str, ...]:
    """Return the names a subgraph reads from outside, each once, in order of first use."""
    return tuple(_captured(graph.nodes, graph.inputs, graph.outputs, (graph.initializers, graph.missing)))


def _captured(
    nodes: Iterable[Node],
    inputs: Iterable[ValueInfo],
    outputs: Iterable[ValueInfo],
    constants: Iterable[Iterable[str]],
) -> dict[str, None]:
    own = {value.name for value in inputs}.union(*constants)
    found: dict[str, None] = {}
    for node in nodes:
        for name in _reads(node):
            if name and name not in own:
                found[name] = None
        own.update(node.outputs)
    found.update((value.name, None) for value in outputs if value.name not in own)
    return found


def _reads(node: Node) -> Iterator[str]:
    """Yield the names a node needs: its inputs, and what its subgraphs read from around it."""
    yield from node.inputs
    for inner in node.subgraphs.values():
        yield from captures(inner)


def sorted_nodes(nodes: Sequence[Node], known: Iterable[str]) -> tuple[Node, ...]:
    """Return nodes so that each stands after the producers of what it reads; the given order where it already does.

    Args:
        nodes: nodes in any order.
        known: names available from the start: inputs, initializers and the tensors of graphs around.

    Raises:
        ModelError: a name is produced twice, read but produced nowhere, or produced only from itself (a cycle).
    """
    ready = set(known)
    producer = _producers(nodes, ready)
    before: list[list[int]] = []
    for node in nodes:
        names = [name for name in dict.fromkeys(_reads(node)) if name and name not in ready]
        absent = [name for name in names if name not in producer]
        if absent:
            reason = f"input {absent[0]!r} is produced by no node and is neither an input nor an initializer"
            raise ModelError(reason, described(node))
        before.append([producer[name] for name in names])
    if all(i < j for j, earlier in enumerate(before) for i in earlier):
        return tuple(nodes)
    try:
        return tuple(nodes[i] for i in TopologicalSorter(dict(enumerate(before))).static_order())
    except CycleError as error:
        circle = [nodes[i] for i in error.args[1]]
        way = " -> ".join(repr(node.name) for node in circle[:8]) + (" ..." if len(circle) > 8 else "")
        raise ModelError(f"the graph is cyclic: {way}", described(circle[0])) from error


def _producers(nodes: Sequence[Node], ready: set[str]) -> dict[str, int]:
    """Return by name which node produces it."""
    producer: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in filter(None, node.outputs):
            if name in producer or name in ready:
                first = described(nodes[producer[name]]) if name in producer else "an input or initializer"
                raise ModelError(f"output {name!r} is already produced by {first}; rename one of them", described(node))
            producer[name] = i
    return producer


def check_feed(info: ValueInfo, dtype: np.dtype[Any], shape: tuple[int, ...], sizes: dict[str, int]) -> None:
    """Check a feed against the declared input, and note in `sizes` what its named dimensions are.

    Raises:
        BadArgument: element type, rank or a size differs, or a named size has two values.
    """
    where = f"input {info.name!r}"
    if info.dtype is not None and info.dtype != dtype and not (info.dtype.kind == "O" and dtype.kind in "UOT"):
        raise BadArgument(f"{where}: got {name_of(dtype)}, the model declares {name_of(info.dtype)}; convert the feed")
    if info.shape is None:
        return
    fits = len(shape) == len(info.shape)
    for want, got in zip(info.shape, shape, strict=False):
        fits = fits and (want is None or got == (sizes.setdefault(want, got) if isinstance(want, str) else want))
    if not fits:
        raise BadArgument(f"{where}: got shape {list(shape)}, the model declares {list(info.shape)}; reshape the feed")
