"""A node and its rule -> the function that a plan calls instead of the float32 one.

    Float32     the operator itself
    Half        inputs rounded to fp16; the steps of `vector`, or one computation rounded once
    Quantized   the products of `cube` and `recurrent`; other operators read their inputs through codes

Integer tensors pass untouched, and so do operators that quantize or are integer themselves (`OWN_TYPES`): the model
says how they compute.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

import numpy as np

from simcore.fp16 import round_fp16
from simcore.graph import Node, Tensor
from simcore.npu import cube, recurrent
from simcore.npu.calibrated import Ranges, quantization
from simcore.npu.vector import MOVING, STEPWISE
from simcore.ops.table import Operator
from simcore.precision import PRODUCTS, RECURRENT, Float32, Half, Precision, Quantized, rule_of
from simcore.quantize import fake_quantize

__all__ = ["OWN_TYPES", "with_precision"]

Call = Callable[..., Any]

#: Operators whose number types the model states.
OWN_TYPES: Final = frozenset({
    "QuantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul",
    "DynamicQuantizeLSTM", "Shape", "Size", "Constant",
})  # fmt: skip
#: Inputs that say how to compute and are no data: they keep their values.
_PARAMETERS: Final[dict[str, frozenset[int]]] = {
    "BatchNormalization": frozenset({1, 2, 3, 4}),
    "DequantizeLinear": frozenset({1, 2}),
    "Dropout": frozenset({1, 2}),
    "OneHot": frozenset({0, 1}),
    "Resize": frozenset({1, 2, 3}),
    "Upsample": frozenset({1}),
}
#: Operators that accumulate products: in fp16 networks they read fp16 and accumulate in float32.
_ACCUMULATING: Final = PRODUCTS | RECURRENT | {"Einsum", "RNN"}


def with_precision(
    call: Call, function: Operator, node: Node, precision: Precision, constants: Mapping[str, Tensor]
) -> Call:
    """Return the function of a node under a precision.

    Args:
        call: the operator in float32, attributes filled in.
        function: the operator as ops.table lists it.
        node: the node; its subgraphs are not looked at.
        precision: the rules.
        constants: values known before the run; weights of PRODUCTS among them become codes here, once.

    Raises:
        BadArgument: the rule cannot be used for this node.
    """
    if node.op_type in OWN_TYPES:
        return call
    rule = rule_of(precision, node)
    if isinstance(rule, Float32):
        return call
    if isinstance(rule, Half):
        return _half(call, function, node, rule)
    if node.op_type in PRODUCTS and not node.domain:
        return cube.quantized_product(call, node, rule, precision.ranges, constants)
    if node.op_type in RECURRENT and not node.domain:
        return recurrent.quantized_layer(call, node, rule, precision.ranges)
    if node.op_type in MOVING:
        return _output(call, function, node, rule)
    return _through_codes(_output(call, function, node, rule), node, rule, precision.ranges, constants)


def _output(call: Call, function: Operator, node: Node, rule: Quantized) -> Call:
    return _half(call, function, node, rule.output) if isinstance(rule.output, Half) else call


def _half(call: Call, function: Operator, node: Node, how: Half) -> Call:
    """Return the function that rounds its float inputs to fp16 and every result too, kept in the model's types."""
    parameters = _PARAMETERS.get(node.op_type, frozenset())
    stepwise = STEPWISE.get(function)
    compute = np.float32 if node.op_type in _ACCUMULATING else np.float64
    attributes = dict(getattr(call, "keywords", {}))

    def half(*inputs: Tensor | None) -> Any:  # noqa: ANN401 - an array or a tuple of outputs
        data = {i: x for i, x in enumerate(inputs) if _is_float(x) and i not in parameters}
        rounded = {i: round_fp16(x, how.mode) for i, x in data.items()}
        if data and stepwise is not None:
            result = stepwise(how, *(rounded.get(i, x) for i, x in enumerate(inputs)), **attributes)
        elif node.op_type in MOVING:
            result = call(*(rounded[i].astype(data[i].dtype) if i in data else x for i, x in enumerate(inputs)))
        else:
            result = call(*(rounded[i].astype(compute) if i in data else x for i, x in enumerate(inputs)))
        # What computes keeps the type of its first float input; what moves, and what has no float input, its own.
        kept = None if node.op_type in MOVING or not data else next(iter(data.values())).dtype
        if isinstance(result, tuple):
            return tuple(_stored(y, how, _type_of(i, node, inputs, kept)) for i, y in enumerate(result))
        return _stored(result, how, kept)

    return half


def _is_float(x: Tensor | None) -> TypeGuard[Tensor]:
    return isinstance(x, np.ndarray | np.generic) and x.dtype in (np.float16, np.float32, np.float64)


def _type_of(
    output: int, node: Node, inputs: tuple[Tensor | None, ...], kept: "np.dtype[Any] | None"
) -> "np.dtype[Any] | None":
    """Return the type of one of several outputs: `kept`, but the statistics of normalizations have their own."""
    if output and node.op_type == "LayerNormalization" and kept is not None:
        return np.promote_types(kept, np.float32)
    running = inputs[output + 2] if output and node.op_type == "BatchNormalization" else None
    return kept if running is None else running.dtype


def _stored(y: Tensor, how: Half, kept: "np.dtype[Any] | None") -> Tensor:
    """Return a result rounded to fp16, in the type `kept` or its own; other values as they are."""
    if not _is_float(y):
        return y
    return round_fp16(y, how.mode).astype(kept or y.dtype)


def _through_codes(call: Call, node: Node, rule: Quantized, ranges: Ranges, constants: Mapping[str, Tensor]) -> Call:
    """Return the function that reads every computed float input as its codes stand for it, per tensor."""
    parameters = {i for i, name in enumerate(node.inputs) if name in constants}
    parameters.update(_PARAMETERS.get(node.op_type, ()))

    def coded(*inputs: Tensor | None) -> Any:  # noqa: ANN401 - an array or a tuple of outputs
        read = list(inputs)
        for i, x in enumerate(inputs):
            if _is_float(x) and x.size and i not in parameters:
                how = quantization(node.inputs[i], x, rule.activation, rule.convention, ranges)
                read[i] = fake_quantize(x, how).astype(x.dtype)
        return call(*read)

    return coded
