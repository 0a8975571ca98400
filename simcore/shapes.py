"""Shape and element type of every tensor, from the shapes of the inputs: no weights and hardly any arithmetic needed.

    inputs, weights -> stand-ins: one element spread over the shape, which takes no memory
    node by node    -> known small inputs: computed; the heavy operators: a formula; all others: run on the stand-ins

Sizes that a model computes (Shape, Gather, Concat, Reshape ...) thereby come out as numbers. Where a shape depends on
data that is not given, it is unknown (ValueInfo.shape None), and so is what follows from it. Of an If whose condition
is not known, both branches are tried; one that the shapes do not fit cannot run, so the other one does: see `notes`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument, SimError
from simcore.execute import run
from simcore.graph import Graph, Node, Tensor, ValueInfo, captures, check_feed, described
from simcore.ops.conv_transpose import conv_transpose
from simcore.ops.windows import window
from simcore.plan import FAILURES, as_tuple, bound, explained

__all__ = ["MAX_KNOWN_ELEMENTS", "Inferred", "infer"]

#: Values of tensors up to this size are followed; larger ones (weights, images) only by shape.
MAX_KNOWN_ELEMENTS: Final = 1 << 16

#: Inputs whose values, not only shapes, decide the shape of the outputs.
_DECIDING: Final[dict[str, tuple[int, ...]]] = {
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "If": (0,),
    "Loop": (0, 1),
    "NonZero": (0,),
    "OneHot": (1,),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **{
        f"Reduce{kind}": (1,)
        for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    },
}


@dataclass(frozen=True, slots=True)
class Inferred:
    """What is known of a graph's tensors without running it."""

    #: Every tensor outside subgraphs, and those of the branches that certainly run: element type and sizes.
    tensors: Mapping[str, ValueInfo]
    #: Values of the small tensors that follow from constants and shapes alone.
    values: Mapping[str, Tensor]
    #: What was concluded and may surprise, as sentences: a branch that does not fit the inputs.
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """What has been found so far."""

    tensors: dict[str, "_Known"] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Known:
    """A tensor on its way: real values, or a stand-in of the right shape; no array where the shape is unknown."""

    array: Tensor | None
    is_value: bool


_UNKNOWN: Final = _Known(None, False)


def infer(graph: Graph, inputs: Mapping[str, Tensor | tuple[int, ...]] | None = None) -> Inferred:
    """Return shapes and element types of all tensors.

    Args:
        graph: the model; its weights may be missing.
        inputs: for inputs with open sizes a shape, or an array where the model's course depends on its values; inputs
            left out have the declared shape.

    Raises:
        BadArgument: an input without a complete shape or type; one that the model does not have.
        UnsupportedOp: an operator that is not computed here.
        ModelError: a node whose inputs do not fit it.
    """
    given = dict(inputs or {})
    unknown = given.keys() - {info.name for info in graph.inputs}
    if unknown:
        raise BadArgument(
            f"no input {sorted(unknown)[0]!r}; the inputs are {', '.join(i.name for i in graph.inputs) or 'none'}"
        )
    sizes: dict[str, int] = {}
    start = {info.name: _input(info, given.get(info.name), sizes) for info in graph.inputs}
    found = _Found()
    with np.errstate(all="ignore"):
        _walk(graph, start, found)
    tensors = {
        name: ValueInfo(name) if known.array is None else ValueInfo(name, known.array.dtype, known.array.shape)
        for name, known in found.tensors.items()
    }
    values = {name: known.array for name, known in found.tensors.items() if known.is_value and known.array is not None}
    return Inferred(tensors, values, tuple(found.notes))


def _input(info: ValueInfo, given: Tensor | tuple[int, ...] | None, sizes: dict[str, int]) -> _Known:
    if isinstance(given, np.ndarray):
        check_feed(info, given.dtype, given.shape, sizes)
        return _Known(given, True)
    shape = info.shape if given is None else given
    dtype = info.dtype
    if shape is None or dtype is None or not all(isinstance(size, int) for size in shape):
        raise BadArgument(f"input {info.name!r} is declared {list(shape or ())}; give it a complete shape")
    whole = tuple(size for size in shape if isinstance(size, int))
    check_feed(info, dtype, whole, sizes)
    return _Known(_stand_in(dtype, whole), False)


def _stand_in(dtype: np.dtype[Any], shape: Sequence[int]) -> Tensor:
    """Return an array of the shape that takes one element of memory: 1 for floats (a scale must not be 0), else 0."""
    one = (
        np.ones((), dtype)
        if dtype.kind == "f"
        else np.full((), "", object)
        if dtype.kind == "O"
        else np.zeros((), dtype)
    )
    try:
        return np.broadcast_to(one, tuple(shape))
    except ValueError as error:
        raise BadArgument(f"shape {list(shape)} is too large") from error


def _walk(graph: Graph, around: Mapping[str, _Known], found: _Found) -> list[_Known]:
    """Infer a graph's tensors into `found`; return its outputs. `around`: its inputs and the tensors outside."""
    known: dict[str, _Known] = dict(around)
    for name, value in graph.initializers.items():
        known[name] = _kept(value, True)
    for name, info in graph.missing.items():
        assert info.dtype is not None and info.shape is not None, "a weight declares both"
        known[name] = _Known(_stand_in(info.dtype, [size for size in info.shape if isinstance(size, int)]), False)
    inside = dict.fromkeys((*graph.initializers, *graph.missing, *(info.name for info in graph.inputs)))
    for node in graph.nodes:
        arguments = [known[name] if name else None for name in node.inputs]
        try:
            outputs = _outputs(node, graph, arguments, known, found)
        except FAILURES as error:
            raise explained(error, node, [a.array if a else None for a in arguments]) from error
        for name, output in zip(node.outputs, outputs, strict=False):
            if name:
                known[name] = output
                inside[name] = None
    found.tensors.update((name, known[name]) for name in inside)
    return [known[info.name] for info in graph.outputs]


def _kept(value: Tensor, is_value: bool) -> _Known:
    if is_value and value.size <= MAX_KNOWN_ELEMENTS:
        return _Known(value, True)
    return _Known(_stand_in(value.dtype, value.shape), False)


def _outputs(
    node: Node, graph: Graph, arguments: Sequence[_Known | None], known: Mapping[str, _Known], found: _Found
) -> Sequence[_Known]:
    """Return what is known of a node's outputs."""
    if any(one is not None and one.array is None for one in arguments):
        return [_UNKNOWN] * len(node.outputs)
    arrays: list[Any] = [None if one is None else one.array for one in arguments]
    deciding = (arguments[i] for i in _DECIDING.get(node.op_type, ()) if i < len(arguments))
    is_decided = all(one is None or one.is_value for one in deciding)
    if node.subgraphs:
        return _controlled(node, graph, arrays, is_decided, known, found)
    if not is_decided:
        return [_UNKNOWN] * len(node.outputs)
    has_values = all(one is None or one.is_value for one in arguments)
    formula = None if has_values else _FORMULAS.get(node.op_type)
    if formula is not None:
        return [_Known(_stand_in(dtype, shape), False) for dtype, shape in formula(node, arrays)]
    results = as_tuple(bound(node, graph.opset)(*arrays), node)
    # The shape of a stand-in is a fact.
    return [_kept(value, has_values or node.op_type in ("Shape", "Size")) for value in results]


def _controlled(
    node: Node,
    graph: Graph,
    arrays: Sequence[Any],
    is_decided: bool,
    known: Mapping[str, _Known],
    found: _Found,
) -> Sequence[_Known]:
    """Return what is known of the outputs of If (the branch that runs, or both) and of loops over known values."""
    if node.op_type == "If":
        branches = [node.subgraphs["then_branch"], node.subgraphs["else_branch"]]
        if is_decided:
            return _walk(branches[0] if arrays[0].item() else branches[1], known, found)
        return _either(node, branches, known, found)
    names = dict.fromkeys(
        (*filter(None, node.inputs), *(n for inner in node.subgraphs.values() for n in captures(inner)))
    )
    if not all(known[name].is_value for name in names):
        return [_UNKNOWN] * len(node.outputs)
    alone = Graph(
        node.name,
        (node,),
        tuple(map(ValueInfo, names)),
        tuple(ValueInfo(name) for name in node.outputs if name),
        opset=graph.opset,
    )
    results = run(alone, {name: known[name].array for name in names})  # type: ignore[misc]
    return [_kept(results[name], True) if name else _UNKNOWN for name in node.outputs]


def _either(node: Node, branches: Sequence[Graph], known: Mapping[str, _Known], found: _Found) -> Sequence[_Known]:
    """Return what is known of the outputs of an If whose condition is not: of one branch where the other cannot run.

    Raises:
        ModelError: neither branch fits.
    """
    fitting: list[tuple[Sequence[_Known], _Found]] = []
    failures: list[SimError] = []
    for branch in branches:
        inside = _Found()
        try:
            fitting.append((_walk(branch, known, inside), inside))
        except SimError as error:
            failures.append(error)
    if not fitting:
        raise failures[0]
    for outputs, inside in fitting:
        found.notes.update(inside.notes)
        if failures:
            found.tensors.update(inside.tensors)
            found.notes[
                f"{described(node)} takes the branch that fits the inputs; the other one fails: {failures[0]}"
            ] = None
            return outputs
    return [_common(*both) for both in zip(*(outputs for outputs, _ in fitting), strict=True)]


def _common(one: _Known, other: _Known) -> _Known:
    """Return what holds whichever branch runs."""
    if (
        one.array is None
        or other.array is None
        or (one.array.dtype, one.array.shape) != (other.array.dtype, other.array.shape)
    ):
        return _UNKNOWN
    return _Known(_stand_in(one.array.dtype, one.array.shape), False)


Outputs = list[tuple[np.dtype[Any], tuple[int, ...]]]


def _conv(node: Node, inputs: Sequence[Any]) -> Outputs:
    """Return [n, m, *out] for a convolution of float, integer or quantized operands."""
    x, w = inputs[0], inputs[3 if node.op_type == "QLinearConv" else 1]
    group = node.attributes.get("group", 1)
    if x.ndim < 3 or w.ndim != x.ndim or x.shape[1] != w.shape[1] * group:
        raise BadArgument(f"x {list(x.shape)} and w {list(w.shape)} do not fit with group {group}")
    names = ("auto_pad", "pads", "strides", "dilations")
    geometry: dict[str, Any] = {name: node.attributes[name] for name in names if name in node.attributes}
    out = window(node.op_type, x.shape[2:], w.shape[2:], **geometry).out
    return [(_result_type(node, inputs), (x.shape[0], w.shape[0], *out))]


def _conv_transpose(node: Node, inputs: Sequence[Any]) -> Outputs:
    """Return [n, m, *out]: the spatial sizes are those of one channel."""
    x, w = inputs[:2]
    attributes: dict[str, Any] = {**node.attributes, "group": 1}
    one = conv_transpose(x[:1, :1], w[:1, :1], None, **attributes)
    return [(x.dtype, (x.shape[0], w.shape[1] * node.attributes.get("group", 1), *one.shape[2:]))]


def _matmul(node: Node, inputs: Sequence[Any]) -> Outputs:
    """Return the shape of a matrix product as numpy.matmul defines it."""
    a, b = inputs[0].shape, inputs[3 if node.op_type == "QLinearMatMul" else 1].shape
    if not a or not b or a[-1] != b[-2 if len(b) > 1 else 0]:
        raise BadArgument(f"shapes {list(a)} and {list(b)} do not fit for a matrix product")
    rows, columns = a[-2:-1], b[-1:] if len(b) > 1 else ()
    return [(_result_type(node, inputs), (*np.broadcast_shapes(a[:-2], b[:-2]), *rows, *columns))]


def _gemm(node: Node, inputs: Sequence[Any]) -> Outputs:
    """Return [m, n]."""
    a, b = inputs[0].shape, inputs[1].shape
    m, k = a[::-1] if node.attributes.get("transA") else a
    other, n = b[::-1] if node.attributes.get("transB") else b
    if k != other:
        raise BadArgument(f"shapes {list(a)} and {list(b)} do not fit for a matrix product")
    return [(inputs[0].dtype, (m, n))]


def _recurrent(node: Node, inputs: Sequence[Any]) -> Outputs:
    """Return Y [t, d, b, h], then the last states [d, b, h]; with layout 1 the batch stands first."""
    x, r = inputs[0], inputs[2]
    hidden = r.shape[1] if node.op_type == "DynamicQuantizeLSTM" else r.shape[2]
    first, second, directions = x.shape[0], x.shape[1], r.shape[0]
    if node.attributes.get("layout"):
        every, last = (first, second, directions, hidden), (first, directions, hidden)
    else:
        every, last = (first, directions, second, hidden), (directions, second, hidden)
    return [(x.dtype, every), (x.dtype, last), (x.dtype, last)][: max(len(node.outputs), 1)]


def _result_type(node: Node, inputs: Sequence[Any]) -> np.dtype[Any]:
    if node.op_type.endswith("Integer"):
        return np.dtype(np.int32)
    dtype: np.dtype[Any] = inputs[7 if node.op_type.startswith("QLinear") else 0].dtype
    return dtype


#: Operators whose arithmetic is too long to be done for a shape.
_FORMULAS: Final[dict[str, Callable[[Node, Sequence[Any]], Outputs]]] = {
    "Conv": _conv,
    "ConvInteger": _conv,
    "ConvTranspose": _conv_transpose,
    "DynamicQuantizeLSTM": _recurrent,
    "GRU": _recurrent,
    "Gemm": _gemm,
    "LSTM": _recurrent,
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "RNN": _recurrent,
}
