"""What is known of a graph's tensors without running it, even where sizes of its inputs are open.

Open sizes are tried with several numbers: what comes out the same in all tries counts as known. This is an assumption
(a size that only differs at other numbers is missed); the proof of a rewrite is its check.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from simcore.element_types import ELEMENT_TYPES, dtype_of
from simcore.errors import SimError
from simcore.graph import Graph, Node, Tensor, ValueInfo, captures
from simcore.plan import unsupported
from simcore.rewrite.rule import Known
from simcore.shapes import infer

__all__ = ["View", "attempts", "inside", "learned", "views_of"]

#: What stands for open sizes, first axes apart; models want sizes that their strides divide.
_SIZES: Final = ((64, 96, 160), (320, 448, 576), (576, 640, 704), (16, 24, 40))
#: What stands for open first axes: the batch.
_BATCHES: Final = (1, 2, 3)
#: Most elements of an input in a try.
_MOST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class View:
    """What one try shows."""

    tensors: Mapping[str, ValueInfo]
    values: Mapping[str, Tensor]


def attempts(graph: Graph) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    """Return shapes of the inputs to learn from: several sets where sizes are open, none where nothing goes through.

    One set for a graph with open sizes tells types and ranks only, which `learned` is told.
    """
    is_open = [info for info in graph.inputs if info.shape is None or not all(isinstance(s, int) for s in info.shape)]
    if not is_open:
        return ({},)
    if any(info.shape is None for info in is_open):
        return ()
    best: tuple[Mapping[str, tuple[int, ...]], ...] = ()
    for sizes in _SIZES:
        sets = [_filled(graph, batch, size) for batch, size in zip(_BATCHES, sizes, strict=True)]
        if any(math.prod(shape) > _MOST for one in sets for shape in one.values()):
            continue
        working = tuple(itertools.takewhile(lambda one: _view(graph, one) is not None, sets))
        if len(working) == len(sizes):
            return working
        best = max(best, working, key=len)
    return best[:1]


def views_of(graph: Graph, sets: Sequence[Mapping[str, tuple[int, ...]]]) -> tuple[View, ...]:
    """Return what the graph shows with each of these shapes; none where one of them fails."""
    views = [_view(graph, one) for one in sets]
    return tuple(view for view in views if view is not None) if None not in views else ()


def _filled(graph: Graph, batch: int, size: int) -> dict[str, tuple[int, ...]]:
    """Return complete shapes of the inputs; a named size is one number wherever it stands."""
    named: dict[str, int] = {}
    shapes = {}
    for info in graph.inputs:
        shape = []
        for axis, declared in enumerate(info.shape or ()):
            number = batch if axis == 0 and len(info.shape or ()) > 1 else size
            if isinstance(declared, str):
                number = named.setdefault(declared, number)
            shape.append(declared if isinstance(declared, int) else number)
        shapes[info.name] = tuple(shape)
    return shapes


def _view(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> View | None:
    try:
        found = infer(_computed(graph), shapes)
    except SimError:
        return None
    return View(found.tensors, found.values)


def _computed(graph: Graph) -> Graph:
    """Return the graph without the nodes that are not computed here, and without what follows from them."""
    outside = {id(node) for node, _ in unsupported(graph)}
    if not outside:
        return graph
    lost: set[str] = set()
    nodes = []
    for node in graph.nodes:
        read = {*node.inputs, *itertools.chain.from_iterable(map(captures, node.subgraphs.values()))}
        inner = {id(one) for body in node.subgraphs.values() for one, _ in unsupported(body)}
        if id(node) in outside or inner or read & lost:
            lost.update(filter(None, node.outputs))
        else:
            nodes.append(node)
    return replace(graph, nodes=tuple(nodes), outputs=tuple(i for i in graph.outputs if i.name not in lost))


def inside(body: Graph, views: Sequence[View], constants: Mapping[str, Tensor]) -> tuple[View, ...]:
    """Return what the views of a graph show of a subgraph in it; nothing where what it reads is not known."""
    if body.inputs and not all(info.shape is not None and None not in info.shape for info in body.inputs):
        return ()
    found = []
    for view in views:
        fixed, infos = {}, list(body.inputs)
        for name in captures(body):
            value = constants.get(name, view.values.get(name))
            info = view.tensors.get(name)
            if value is not None:
                fixed[name] = value
            elif info is not None and info.shape is not None:
                infos.append(info)
            else:
                return ()
        alone = replace(body, inputs=tuple(infos), initializers={**fixed, **body.initializers})
        inner = _view(alone, {})
        if inner is None:
            return ()
        found.append(View({**view.tensors, **inner.tensors}, {**view.values, **inner.values}))
    return tuple(found)


def learned(graph: Graph, views: Sequence[View], constants: Mapping[str, Tensor], has_open_sizes: bool) -> Known:
    """Return what holds in all views, and where they tell nothing what the file declares.

    Args:
        graph: the graph.
        views: of `views_of` or `inside`.
        constants: of the graph and of those around it.
        has_open_sizes: whether the sizes of the model's inputs are open, so that a single view is one case of many.
    """
    tensors = dict(graph.value_info)
    tensors.update((info.name, info) for info in (*graph.inputs, *graph.outputs))
    is_sure = len(views) > 1 or not has_open_sizes
    names = set(views[0].tensors) if views else set()
    for name in names:
        infos = [view.tensors[name] for view in views if name in view.tensors]
        if len(infos) == len(views):
            tensors[name] = _common(infos, tensors.get(name), is_sure)
    for name, value in constants.items():
        tensors[name] = ValueInfo(name, value.dtype, value.shape)
    _follow_types(graph, tensors)
    values: dict[str, Tensor] = {}
    if views and is_sure:
        first, *others = views
        values = {
            name: value
            for name, value in first.values.items()
            if all(name in view.values and np.array_equal(value, view.values[name]) for view in others)
        }
    producer = {name: node for node in graph.nodes for name in node.outputs if name}
    return Known(tensors, {**values, **constants}, producer)


def _follow_types(graph: Graph, tensors: dict[str, ValueInfo]) -> None:
    """Add element types, as far as they follow from those of the inputs, where shapes depend on data."""
    for node in graph.nodes:
        if node.domain or node.subgraphs or node.op_type.startswith(_NO_TENSORS):
            continue
        for i, name in enumerate(node.outputs):
            known = tensors.get(name)
            if name and (known is None or known.dtype is None):
                dtype = _type_of(node, i, tensors)
                if dtype is not None:
                    tensors[name] = ValueInfo(name, dtype, None if known is None else known.shape)


#: Starts of operators whose results are no plain tensors of their input's type.
_NO_TENSORS: Final = ("Sequence", "Split", "Optional", "Dequantize", "Quantize", "Dynamic", "QLinear", "Random")
_BOOLEAN: Final = frozenset(
    {"And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor"}
)
_INT64: Final = frozenset({"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "Shape", "Size"})


def _type_of(node: Node, i: int, tensors: Mapping[str, ValueInfo]) -> "np.dtype[Any] | None":
    """Return the element type of output `i`; None where it does not follow."""
    if node.op_type in _BOOLEAN:
        return np.dtype(bool)
    if node.op_type in _INT64 or (node.op_type == "TopK" and i == 1):
        return np.dtype(np.int64)
    if node.op_type == "Cast":
        to = node.attributes.get("to")
        return dtype_of(to) if isinstance(to, int) and to in ELEMENT_TYPES else None
    if node.op_type == "ConstantOfShape":
        value = node.attributes.get("value")
        return value.dtype if isinstance(value, np.ndarray) else np.dtype(np.float32)
    if node.op_type.endswith("Integer"):
        return np.dtype(np.int32)
    source = {"Where": 1, "OneHot": 2, "CastLike": 1}.get(node.op_type, 0)
    if i or source >= len(node.inputs):
        return None
    info = tensors.get(node.inputs[source])
    return None if info is None else info.dtype


def _common(infos: Sequence[ValueInfo], declared: ValueInfo | None, is_sure: bool) -> ValueInfo:
    """Return the sizes that are the same in all; where one case stands for many, those that the file declares."""
    name, dtype, shapes = infos[0].name, infos[0].dtype, [info.shape for info in infos]
    first = shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return declared if declared is not None else ValueInfo(name, dtype)
    if is_sure:
        sizes = zip(*(shape for shape in shapes if shape is not None), strict=True)
        return ValueInfo(name, dtype, tuple(one[0] if len(set(one)) == 1 else None for one in sizes))
    known = declared.shape if declared is not None and declared.shape is not None else (None,) * len(first)
    return ValueInfo(name, dtype, tuple(size if isinstance(size, int) else None for size in known))
