"""How many parameters a model has: the elements of the constants that are weights."""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Final

import numpy as np

from simcore.element_ops import ELEMENTWISE
from simcore.graph import Graph, Node

__all__ = ["data_inputs", "is_weight", "parameters"]

#: Inputs that are not weights even if constant: sizes, axes, indices, bounds, scales and zero points, first states.
_NOT_WEIGHTS: Final[dict[str, tuple[int, ...]]] = {
    "Clip": (1, 2),
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "ConvInteger": (2, 3),
    "CumSum": (1,),
    "DequantizeLinear": (1, 2),
    "Dropout": (1, 2),
    "DynamicQuantizeLSTM": (4, 5, 6, 8, 9, 10, 11),
    "Expand": (1,),
    "GRU": (4, 5),
    "Gather": (1,),
    "GatherElements": (1,),
    "GatherND": (1,),
    "If": (0,),
    "LSTM": (4, 5, 6),
    "Loop": (0, 1),
    "MatMulInteger": (2, 3),
    "OneHot": (0, 1, 2),
    "Pad": (1, 2, 3),
    "QLinearConv": (1, 2, 4, 5, 6, 7),
    "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "QuantizeLinear": (1, 2),
    "RNN": (4, 5),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "ScatterElements": (1,),
    "ScatterND": (1,),
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

#: Operators in which a single constant is a number of a formula. PRelu is not among them: its slope is learnt.
_FORMULA: Final = (ELEMENTWISE - {"PRelu"}) | {"Max", "Mean", "Min", "Sum"}

#: Element types of sizes, indices, masks and text; int32 stays: biases of integer products.
_NOT_WEIGHT_TYPES: Final = frozenset({"int64", "bool", "object"})


def parameters(graph: Graph) -> int:
    """Return the number of elements of the constants used as weights, both branches of an If, each shared one once.

    Constants are initializers, those whose data is missing, outputs of Constant nodes and of ConstantOfShape nodes
    with a constant shape (a file stores a weight in any of these forms). A constant is a weight if a node reads it as
    data: not as a size, axis, index, bound, scale, zero point or first state, and not of type int64, bool or string.
    One element in an elementwise operator, as in x * 0.5, is a number of the formula and no weight.
    """
    return sum(_weights(graph, {}).values())


def _weights(graph: Graph, around: Mapping[str, tuple[int, str, int]]) -> dict[int, int]:
    """Return the elements of each weight read in a graph, by the identity of the constant.

    `around`: constants of the graphs outside by name, as (identity, element type, elements).
    """
    constants = {
        **around,
        **{name: (id(value), value.dtype.name, value.size) for name, value in graph.initializers.items()},
    }
    for info in graph.missing.values():
        sizes = [size for size in info.shape or () if isinstance(size, int)]
        constants[info.name] = (id(info), "" if info.dtype is None else info.dtype.name, prod(sizes))
    for info in graph.inputs:
        constants.pop(info.name, None)
    found: dict[int, int] = {}
    for node in graph.nodes:
        made = _made(node, graph)
        if made is not None:
            constants[node.outputs[0]] = made
        for name in data_inputs(node):
            identity, dtype, size = constants.get(name, (0, "object", 0))
            if is_weight(node, dtype, size):
                found[identity] = size
        for inner in node.subgraphs.values():
            found.update(_weights(inner, constants))
    return found


def is_weight(node: Node, dtype: str, size: int) -> bool:
    """Tell whether a constant that a node reads as data is a weight; `dtype` is its name, `size` its elements."""
    return dtype not in _NOT_WEIGHT_TYPES and not (size == 1 and node.op_type in _FORMULA)


def data_inputs(node: Node) -> Iterable[str]:
    """Return the inputs of a node that are data: no size, axis, index, bound, scale, zero point or first state."""
    others = _NOT_WEIGHTS.get(node.op_type, ())
    return (name for place, name in enumerate(node.inputs) if name and place not in others)


def _made(node: Node, graph: Graph) -> tuple[int, str, int] | None:
    """Return the constant a node stands for, if it is Constant, or ConstantOfShape of an initializer."""
    if node.op_type == "Constant":
        value = next((np.asarray(one) for one in node.attributes.values()), None)
        # Attributes of kind float, int and their lists hold float32 and int64.
        dtype = "" if value is None else {"float64": "float32"}.get(value.dtype.name, value.dtype.name)
        return None if value is None else (id(node), dtype, value.size)
    if node.op_type == "ConstantOfShape" and node.inputs[0] in graph.initializers:
        fill = node.attributes.get("value")
        dtype = fill.dtype.name if isinstance(fill, np.ndarray) else "float32"
        return id(node), dtype, prod(graph.initializers[node.inputs[0]].tolist())
    return None
