"""Element operations of the operators that are no matrix product, and of what surrounds one (bias, gates).

One operation is one addition, multiplication, comparison or function value (exp, tanh, any elementwise operator) on
one element. The counts follow the formula in the ONNX specification of each operator, written without shortcuts;
constants that can be folded (scale and shift of BatchNormalization) are. Copies are no operations: `moved_elements`.
"""

from collections.abc import Callable, Mapping
from math import ceil, log2, prod
from typing import Final

from simcore.graph import Node, ValueInfo

__all__ = ["ELEMENTWISE", "MOVES", "VIEWS", "element_ops", "moved_elements"]

Shape = tuple[int, ...]
#: Node, shapes of its inputs and outputs (an input left out is None), rows of a recurrent layer -> operations.
Formula = Callable[[Node, list[Shape | None], list[Shape], int], int]

# fmt: off
#: Operators of one function value per output element, whatever the function.
ELEMENTWISE: Final = frozenset({
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "BitwiseAnd", "BitwiseNot",
    "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Elu", "Equal",
    "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "IsInf", "IsNaN",
    "LeakyRelu", "Less", "LessOrEqual", "Log", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal",
    "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub",
    "Swish", "Tan", "Tanh", "ThresholdedRelu", "Where", "Xor",
})

# fmt: on
#: Operators whose output has the elements of the input in the same order: nothing is done, or one copy.
VIEWS: Final = frozenset({"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})

# fmt: off
#: Operators that copy elements to other places or repeat them.
MOVES: Final = frozenset({
    "CenterCropPad", "Compress", "Concat", "DepthToSpace", "Expand", "Gather", "GatherElements", "GatherND", "Pad",
    "ReverseSequence", "Scatter", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split", "Tile",
    "Transpose", "Trilu",
})

# fmt: on
#: Operators that make constants, sizes or control flow: no work that depends on data.
_NOTHING: Final = frozenset({"Constant", "ConstantOfShape", "EyeLike", "If", "Loop", "Range", "Scan", "Shape", "Size"})


def element_ops(node: Node, tensors: Mapping[str, ValueInfo], rows: int = 0) -> int | None:
    """Return the element operations of a node; None if a shape is not known.

    An operator without a formula here counts one operation per output element.

    Args:
        node: the node.
        tensors: shapes of its inputs and outputs by name.
        rows: rows of the node's matrix products, summed: of a recurrent layer 2 * directions * steps * batch.
    """
    if node.op_type in VIEWS | MOVES | _NOTHING:
        return 0
    inputs = [_shape(tensors, name) for name in node.inputs]
    outputs = [_shape(tensors, name) for name in node.outputs]
    if any(name and shape is None for name, shape in zip(node.inputs, inputs, strict=True)):
        return None
    if any(name and shape is None for name, shape in zip(node.outputs, outputs, strict=True)):
        return None
    formula = _FORMULAS.get(node.op_type, _per_output(1))
    return formula(node, inputs, [shape or () for shape in outputs], rows)


def moved_elements(node: Node, tensors: Mapping[str, ValueInfo]) -> int | None:
    """Return the elements a node copies unchanged: those of its outputs, 0 for views and for operators that compute."""
    if node.op_type not in MOVES and not _is_nearest(node):
        return 0
    shapes = [_shape(tensors, name) for name in node.outputs if name]
    return None if any(shape is None for shape in shapes) else sum(prod(shape or ()) for shape in shapes)


def _shape(tensors: Mapping[str, ValueInfo], name: str) -> Shape | None:
    info = tensors.get(name)
    if info is None or info.shape is None:
        return None
    sizes = tuple(size for size in info.shape if isinstance(size, int))
    return sizes if len(sizes) == len(info.shape) else None


def _is_nearest(node: Node) -> bool:
    return node.op_type in ("Resize", "Upsample") and node.attributes.get("mode", "nearest") == "nearest"


def _per_output(operations: int) -> Formula:
    def counted(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
        return operations * prod(outputs[0])

    return counted


def _per_input(operations: int, per_output: int = 0) -> Formula:
    def counted(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
        return operations * prod(inputs[0] or ()) + per_output * prod(outputs[0])

    return counted


def _variadic(more: int) -> Formula:
    """Return the count of n - 1 combinations per element, and `more` at the end."""

    def counted(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
        return (len(inputs) - 1 + more) * prod(outputs[0])

    return counted


def _with_input(place: int, base: int, more: int) -> Formula:
    """Return the count of `base` operations per output element, and `more` if the optional input is there."""

    def counted(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
        is_there = len(inputs) > place and inputs[place] is not None
        return (base + more * is_there) * prod(outputs[0])

    return counted


def _gemm(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    has_c = len(inputs) > 2 and inputs[2] is not None
    scaled = (node.attributes.get("alpha", 1.0) != 1.0) + (has_c and node.attributes.get("beta", 1.0) != 1.0)
    return (has_c + scaled) * prod(outputs[0])


def _pool(operations: int, more: int) -> Formula:
    """Return the count of `operations` per tap, and `more` per output."""

    def counted(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
        kernel = node.attributes["kernel_shape"]
        assert isinstance(kernel, tuple), "the loader has checked attributes"
        return (operations * prod(int(size) for size in kernel) + more) * prod(outputs[0])

    return counted


def _lrn(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    """Return the count of x / (bias + alpha / size * sum of `size` squares) ** beta."""
    size = node.attributes["size"]
    assert isinstance(size, int), "the loader has checked attributes"
    return (1 + size + 4) * prod(outputs[0])


def _resize(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    """Return one product and one sum per tap: 2 taps (linear) or 4 (cubic) along each axis that changes size."""
    taps = {"nearest": 0, "cubic": 4}.get(str(node.attributes.get("mode", "nearest")), 2)
    axes = sum(old != new for old, new in zip(inputs[0] or (), outputs[0], strict=True))
    return 2 * taps**axes * prod(outputs[0]) if taps and axes else 0


def _einsum(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    """Return 0 for a matrix product; else one product or sum per element of the largest tensor and operand."""
    largest = max(prod(shape or ()) for shape in (*inputs, *outputs))
    return 0 if rows else max(len(inputs) - 1, 1) * largest


def _topk(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    """Return the comparisons of a heap of k elements: log2(k) + 1 per input element."""
    axis = node.attributes.get("axis", -1)
    assert isinstance(axis, int), "the loader has checked attributes"
    return prod(inputs[0] or ()) * (1 + ceil(log2(max(outputs[0][axis], 1))))


def _lstm(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    """Return per hidden element: 4 sums, 5 functions, 3 products, 1 sum; bias 4 sums; peepholes 3 products, 3 sums."""
    has_bias, has_peepholes = (len(inputs) > place and inputs[place] is not None for place in (3, 7))
    return rows // 2 * _hidden(node, inputs) * (13 + 4 * has_bias + 6 * has_peepholes)


def _gru(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    """Return per hidden element: 3 sums, 3 functions, r * h, (1 - z) * n + z * h; bias 3 sums, 4 if before reset."""
    has_bias = len(inputs) > 3 and inputs[3] is not None
    sums = 4 if node.attributes.get("linear_before_reset") else 3
    return rows // 2 * _hidden(node, inputs) * (11 + sums * has_bias)


def _rnn(node: Node, inputs: list[Shape | None], outputs: list[Shape], rows: int) -> int:
    has_bias = len(inputs) > 3 and inputs[3] is not None
    return rows // 2 * _hidden(node, inputs) * (2 + has_bias)


def _hidden(node: Node, inputs: list[Shape | None]) -> int:
    r = inputs[2] or ()
    return r[1] if node.op_type == "DynamicQuantizeLSTM" else r[2]


_FORMULAS: Final[dict[str, Formula]] = {
    "ArgMax": _per_input(1),
    "ArgMin": _per_input(1),
    "Attention": _per_output(5),
    "AveragePool": _pool(1, 1),
    "BatchNormalization": _per_output(2),
    "Conv": _with_input(2, 0, 1),
    "ConvInteger": _per_output(0),
    "ConvTranspose": _with_input(2, 0, 1),
    "CumSum": _per_output(1),
    # Difference to the zero point, product with the scale.
    "DequantizeLinear": _with_input(2, 1, 1),
    # Minimum, maximum; then as QuantizeLinear.
    "DynamicQuantizeLinear": _per_output(5),
    "DynamicQuantizeLSTM": _lstm,
    "Einsum": _einsum,
    "GRU": _gru,
    "Gemm": _gemm,
    "GlobalAveragePool": _per_input(1, 1),
    "GlobalLpPool": _per_input(2, 1),
    "GlobalMaxPool": _per_input(1),
    # Mean, difference, square, mean, product, scale, bias.
    "GroupNormalization": _per_output(7),
    "Hardmax": _per_output(2),
    "InstanceNormalization": _per_output(7),
    "LRN": _lrn,
    "LSTM": _lstm,
    "LayerNormalization": _with_input(2, 6, 1),
    "LogSoftmax": _per_output(5),
    "LpNormalization": _per_output(3),
    "LpPool": _pool(2, 1),
    "MatMul": _per_output(0),
    "MatMulInteger": _per_output(0),
    "Max": _variadic(0),
    "MaxPool": _pool(1, 0),
    "Mean": _variadic(1),
    "MeanVarianceNormalization": _per_output(5),
    "Min": _variadic(0),
    # Bias; product with the multiplier, rounding, zero point with saturation.
    "QLinearConv": _with_input(8, 3, 1),
    "QLinearMatMul": _per_output(3),
    # Division by the scale, rounding, zero point with saturation.
    "QuantizeLinear": _per_output(3),
    "RMSNormalization": _per_output(4),
    "RNN": _rnn,
    "ReduceL1": _per_input(2),
    "ReduceL2": _per_input(2, 1),
    "ReduceLogSum": _per_input(1, 1),
    "ReduceLogSumExp": _per_input(4, 2),
    "ReduceMax": _per_input(1),
    "ReduceMean": _per_input(1, 1),
    "ReduceMin": _per_input(1),
    "ReduceProd": _per_input(1),
    "ReduceSum": _per_input(1),
    "ReduceSumSquare": _per_input(2),
    "Resize": _resize,
    # Maximum, difference, exp, sum, division.
    "Softmax": _per_output(5),
    "Sum": _variadic(0),
    "TopK": _topk,
    "Upsample": _resize,
}
