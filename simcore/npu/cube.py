"""Conv, ConvTranspose, MatMul and Gemm on integer codes, as a matrix unit computes them.

    q_x = quantize(x), q_w = quantize(w)            ranges calibrated or measured; weights symmetric
    acc = product(q_x - zero_point, q_w) + q_bias   exact integers, then the overflow rule
    y   = acc * (step_x * step_w)                   in float64, rounded once to fp16 or float32

Source of the scheme: AMCT guide, quantization principle, and its deployed graph AscendQuant - operator - AscendDequant;
bias as `round(bias / (step_x * step_w))` in int32 (AMCT guide, conversion of QAT models), refused where it leaves int32
(AMCT error "Quantized bias of layer ... exceed int32 range"). C of Gemm is such a bias if it has one number per column
and alpha is 1; any other C is added after the accumulator, before the one rounding.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simcore.conv import conv
from simcore.conv_transpose import conv_transpose
from simcore.errors import BadArgument
from simcore.fp16 import round_fp16
from simcore.graph import Node, Tensor
from simcore.matmul import matmul, operand
from simcore.npu.calibrated import Ranges, quantization
from simcore.precision import Half, Quantized
from simcore.quantize import params_from_range, quantize, step, tensor_range
from simcore.rounding import narrow_int32

__all__ = ["quantized_product"]

Call = Callable[..., Any]
Real = NDArray[np.float64]

_INT32_END: Final = 2.0**31


@dataclass(frozen=True, slots=True, eq=False)
class _Codes:
    """An operand as integers."""

    codes: NDArray[np.integer]
    """In the operand's shape."""
    zero_point: int
    """Code of real 0."""
    step: Real
    """[] or [output channels]."""


def quantized_product(call: Call, node: Node, rule: Quantized, ranges: Ranges, constants: Mapping[str, Tensor]) -> Call:
    """Return the function of one of the four operators under a rule; constant weights are quantized here, once.

    Args:
        call: the float32 operator with its attributes; used for empty tensors and for integers.
        node: Conv, ConvTranspose, MatMul or Gemm.
        rule: types, conventions, bias and overflow.
        ranges: calibrated ranges by tensor name.
        constants: values known before the run.

    Raises:
        BadArgument: a weight, or in the run a tensor, holds NaN or infinity; in the run, a bias leaves int32.
    """
    product = _PRODUCTS[node.op_type]
    attributes: dict[str, Any] = dict(node.attributes)
    fixed = [constants.get(name) for name in node.inputs[:2]]
    prepared = [
        _weight(value, node, side, rule) if value is not None and value.size and value.dtype.kind == "f" else None
        for side, value in enumerate(fixed)
    ]
    has_weight = any(codes is not None for codes in prepared)
    types = (rule.activation, rule.activation) if has_weight else rule.pair
    convention = rule.convention if has_weight else rule.weight_convention

    def operand_of(side: int, values: Tensor) -> _Codes:
        ready = prepared[side]
        if ready is not None:
            return ready
        how = quantization(node.inputs[side], values, types[side], convention, ranges)
        return _Codes(quantize(_wide(values), how), int(how.zero_point), step(how))

    def quantized(first: Tensor, second: Tensor, extra: Tensor | None = None) -> Tensor:
        is_float = first.dtype.kind == "f" and second.dtype.kind == "f"
        y: Tensor
        if is_float and first.size and second.size:
            y = product(operand_of(0, first), operand_of(1, second), extra, rule, attributes)
        else:
            y = call(first, second, extra) if extra is not None else call(first, second)
            if not is_float:
                return y
        if isinstance(rule.output, Half):
            return round_fp16(y, rule.output.mode).astype(first.dtype)
        with np.errstate(over="ignore"):
            return y.astype(first.dtype)

    return quantized


def _weight(values: Tensor, node: Node, side: int, rule: Quantized) -> _Codes:
    """Return a constant operand as codes: per output channel where the rule says so and the operand has that axis."""
    wide = _wide(values)
    if not rule.is_per_channel or side == 0 or values.ndim < 2 or (node.op_type == "MatMul" and values.ndim > 2):
        how = params_from_range(*tensor_range(wide), rule.weight_convention, rule.weight)
        return _Codes(quantize(wide, how), 0, step(how))
    # Channels to the front, quantize along them, and back.
    if node.op_type == "ConvTranspose":
        group = int(node.attributes.get("group", 1))  # type: ignore[arg-type]
        split = wide.reshape(group, wide.shape[0] // group, *wide.shape[1:])
        rows = split.swapaxes(1, 2).reshape(group * wide.shape[1], -1)
        codes, steps = _along_rows(rows, rule)
        back = codes.reshape(group, wide.shape[1], split.shape[1], *wide.shape[2:]).swapaxes(1, 2)
        return _Codes(back.reshape(wide.shape), 0, steps)
    turned = node.op_type == "MatMul" or (node.op_type == "Gemm" and not node.attributes.get("transB", 0))
    rows = wide.T if turned else wide.reshape(wide.shape[0], -1)
    codes, steps = _along_rows(rows, rule)
    return _Codes(codes.T if turned else codes.reshape(wide.shape), 0, steps)


def _along_rows(rows: NDArray[np.floating], rule: Quantized) -> tuple[NDArray[np.integer], Real]:
    how = params_from_range(*tensor_range(rows, 0), rule.weight_convention, rule.weight, 0)
    return quantize(rows, how), step(how)


def _wide(values: Tensor) -> NDArray[np.floating]:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float32)


def _conv(x: _Codes, w: _Codes, b: Tensor | None, rule: Quantized, attributes: Mapping[str, Any]) -> Real:
    _check_kernel("Conv", w, b, w.codes.shape[:1], attributes)
    unit = x.step * w.step
    acc = conv(
        x.codes, operand(w.codes, w.zero_point), x.zero_point, bias=_bias(b, unit, rule), overflow=rule.overflow,
        **_geometry(attributes, "strides", "pads", "dilations", "group", "auto_pad"),
    )  # fmt: skip
    return _scaled(acc, unit, b, rule)


def _conv_transpose(x: _Codes, w: _Codes, b: Tensor | None, rule: Quantized, attributes: Mapping[str, Any]) -> Real:
    channels = (w.codes.shape[1] * int(attributes.get("group", 1)),) if w.codes.ndim > 1 else ()
    _check_kernel("ConvTranspose", w, b, channels, attributes)
    unit = x.step * w.step
    acc = conv_transpose(
        x.codes, w.codes, x.zero_point, w.zero_point, _bias(b, unit, rule), overflow=rule.overflow,
        **_geometry(
            attributes, "strides", "pads", "dilations", "group", "auto_pad", "output_padding", "output_shape"
        ),
    )  # fmt: skip
    return _scaled(acc, unit, b, rule)


def _geometry(attributes: Mapping[str, Any], *names: str) -> dict[str, Any]:
    found = {name: attributes[name] for name in names if name in attributes}
    if found.get("auto_pad") == "":
        del found["auto_pad"]
    return found


def _check_kernel(
    op: str, w: _Codes, b: Tensor | None, channels: tuple[int, ...], attributes: Mapping[str, Any]
) -> None:
    if b is not None and b.shape != channels:
        raise BadArgument(f"{op}: bias of shape {list(b.shape)}; w {list(w.codes.shape)} needs {list(channels)}")
    kernel = attributes.get("kernel_shape")
    if kernel and tuple(kernel) != w.codes.shape[2:]:
        raise BadArgument(f"{op}: kernel_shape {list(kernel)} does not agree with w {list(w.codes.shape)}")


def _bias(b: Tensor | None, unit: Real, rule: Quantized) -> NDArray[np.int64] | None:
    """Return the bias in units of the accumulator, or None where it is added as a float or missing."""
    if b is None or rule.bias == "float":
        return None
    with np.errstate(over="ignore"):
        codes = np.rint(b.astype(np.float64) / unit)
    fits = np.abs(codes) < _INT32_END
    if not fits.all():
        channel = int(np.argmin(fits))
        raise BadArgument(
            f"bias: {float(b[channel]):g} of channel {channel} leaves int32 in units of "
            f"{float(np.broadcast_to(unit, b.shape)[channel]):g}, as its weights or the input span next to nothing; "
            'set Half for this node (AMCT: skip the layer), or bias="float"'
        )
    return codes.astype(np.int64)


def _scaled(acc: NDArray[np.integer], unit: Real, b: Tensor | None, rule: Quantized) -> Real:
    """Return sums [n, channels, ...] as real numbers."""
    column = (-1, *(1,) * (acc.ndim - 2))
    y: Real = acc * (unit.reshape(column) if unit.ndim else unit)
    if b is not None and rule.bias == "float":
        y += b.astype(np.float64).reshape(column)
    return y


def _matmul(a: _Codes, b: _Codes, _: Tensor | None, rule: Quantized, attributes: Mapping[str, Any]) -> Real:
    try:
        acc = matmul(a.codes, b.codes, a.zero_point, b.zero_point, overflow=rule.overflow)
    except ValueError:
        raise BadArgument(f"MatMul: shapes {list(a.codes.shape)} and {list(b.codes.shape)} do not fit") from None
    return np.asarray(acc * (a.step * b.step))


def _gemm(a: _Codes, b: _Codes, c: Tensor | None, rule: Quantized, attributes: Mapping[str, Any]) -> Real:
    alpha, beta = float(attributes.get("alpha", 1.0)), float(attributes.get("beta", 1.0))
    left = a.codes.T if attributes.get("transA", 0) else a.codes
    right = b.codes.T if attributes.get("transB", 0) else b.codes
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise BadArgument(
            f"Gemm: shapes {list(a.codes.shape)} and {list(b.codes.shape)} do not fit; both must be matrices with a "
            "common inner size"
        )
    shape = (left.shape[0], right.shape[1])
    if c is not None and (c.ndim > 2 or any(n not in (1, m) for n, m in zip(c.shape[::-1], shape[::-1], strict=False))):
        raise BadArgument(f"Gemm: C of shape {list(c.shape)} does not broadcast to {list(shape)}")
    unit = a.step * b.step
    acc: NDArray[np.integer] = matmul(left, right, a.zero_point, b.zero_point, overflow="wide")
    added = None if c is None else c.astype(np.float64) * beta
    # One number per column can wait in the accumulator; a matrix C is added afterwards.
    if added is not None and alpha == 1 and added.size == acc.shape[1] and added.shape[-1:] == acc.shape[1:]:
        codes = _bias(added.reshape(-1), unit, rule)
        if codes is not None:
            acc, added = acc + codes, None
    y: Real = np.asarray(narrow_int32(acc, rule.overflow) * (unit * alpha))
    return y if added is None else np.asarray(y + added)


_PRODUCTS: Final[dict[str, Callable[[_Codes, _Codes, Tensor | None, Quantized, Mapping[str, Any]], Real]]] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Gemm": _gemm,
    "MatMul": _matmul,
}
