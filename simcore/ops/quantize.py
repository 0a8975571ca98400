"""Operators on codes: quantize, dequantize, integer matrix products and convolutions. Sources: the ONNX operators.

The arithmetic is in simcore.rounding, quantize, matmul, conv and requantize; here ONNX's arguments are put into its
form.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simcore import conv as integer_conv
from simcore import matmul as integer_matmul
from simcore.element_types import dtype_of
from simcore.errors import BadArgument
from simcore.graph import Node, Tensor
from simcore.matmul import Operand
from simcore.ops.cast import convert
from simcore.ops.widen import guarded
from simcore.quantize import broadcast_to_axis
from simcore.requantize import requantize, requantize_scale
from simcore.rounding import INT_TYPES, round_saturate

__all__ = [
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "matmul_integer",
    "prepared_weight",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
]

#: Elements that are quantized at a time.
_BLOCK: Final = 16384
#: Least and largest uint8 code.
_LOW: Final = np.float32(0)
_HIGH: Final = np.float32(255)


def quantize_linear(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Tensor:
    """Return `saturate(rint(x / y_scale) + y_zero_point)`; ties to even, NaN gets the code of 0.

    For float8 and float4 the quotient is converted instead of rounded to an integer.

    Args:
        x: float32, float16, bfloat16 or int32, any shape.
        y_scale: one number; [channels] along `axis`; or of x's rank, one per block of `block_size` entries of `axis`.
        y_zero_point: y_scale's shape, in the type of the result; by default 0 of `output_dtype`.
        axis: axis of the channels or blocks.
        block_size: entries that share a scale; 0: per tensor or per axis.
        output_dtype: element type number of the result, for a missing zero point; 0: uint8.
        precision: element type number of the division; 0: the type of y_scale, at least float32.
        saturate: for float8: 1 clamps, 0 overflows to NaN or infinity.

    Raises:
        BadArgument: shapes that do not fit; zero point and output_dtype disagree.

    Source: ONNX operator QuantizeLinear, versions 10 to 25; division in float32 as ONNX Runtime.
    """
    dtype = _code_type(y_zero_point, output_dtype)
    compute = dtype_of(precision) if precision else np.result_type(_plain(y_scale.dtype), np.float32)
    scale = _spread(y_scale, x.shape, axis, block_size).astype(compute)
    with np.errstate(all="ignore"):
        ratio = np.divide(x.astype(compute), scale).astype(np.result_type(_plain(compute), np.float32), copy=False)
    points = None if y_zero_point is None else _spread(y_zero_point, x.shape, axis, block_size)
    if dtype.name in INT_TYPES:
        whole = 0 if points is None else points.astype(np.int32)
        return round_saturate(ratio, dtype.name, "half_even", whole).astype(dtype)
    if dtype.name in ("int2", "uint2"):
        low, high = (-2, 1) if dtype.name == "int2" else (0, 3)
        moved = np.rint(np.nan_to_num(ratio)) + (0 if points is None else points.astype(np.float32))
        codes: Tensor = np.clip(moved, low, high).astype(np.int8).astype(dtype)
        return codes
    return convert(ratio, dtype, saturate != 0)


@guarded
def dequantize_linear(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Tensor:
    """Return `(x - x_zero_point) * x_scale`: the difference exact, the product in float32 (float64 for float64 scales).

    Args:
        x: codes, any shape, integer or float8.
        x_scale: as y_scale of `quantize_linear`; its type is that of the result unless `output_dtype` is given.
        x_zero_point: x_scale's shape, x's type; 0 by default.
        axis: axis of the channels or blocks.
        block_size: entries that share a scale; 0: per tensor or per axis.
        output_dtype: element type number of the result; 0: x_scale's.

    Raises:
        BadArgument: shapes that do not fit.

    Source: ONNX operator DequantizeLinear, versions 10 to 25.
    """
    target = dtype_of(output_dtype) if output_dtype else x_scale.dtype
    if x.dtype.name in ("int8", "uint8") and target == x_scale.dtype == np.float32 and x_scale.size == 1:
        codes: Tensor = x.astype(np.float32)
        if x_zero_point is not None:
            codes -= np.float32(_number(x_zero_point))
        codes *= _number(x_scale)
        return codes
    compute = np.result_type(_plain(x_scale.dtype), np.float32)
    scale = _spread(x_scale, x.shape, axis, block_size).astype(compute)
    if x_zero_point is None:
        real = x.astype(compute)
    elif x.dtype.kind == "V" and x.dtype.name not in ("int4", "uint4", "int2", "uint2"):
        real = x.astype(compute) - _spread(x_zero_point, x.shape, axis, block_size).astype(compute)
    else:
        wide = np.int32 if x.dtype.itemsize <= 2 else np.int64
        real = (x.astype(wide) - _spread(x_zero_point, x.shape, axis, block_size).astype(wide)).astype(compute)
    with np.errstate(over="ignore", under="ignore"):
        return convert(np.multiply(real, scale), target, is_saturating=False)


def _code_type(zero_point: Tensor | None, output_dtype: int) -> "np.dtype[Any]":
    if zero_point is None:
        return dtype_of(output_dtype) if output_dtype else np.dtype(np.uint8)
    if output_dtype and dtype_of(output_dtype) != zero_point.dtype:
        raise BadArgument(
            f"output_dtype {dtype_of(output_dtype).name} differs from y_zero_point's {zero_point.dtype.name}"
        )
    return zero_point.dtype


def _plain(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return dtype if numpy can promote it, else float32, which holds every value of the small float types."""
    return dtype if dtype.kind == "f" else np.dtype(np.float32)


def _spread(values: Tensor, shape: tuple[int, ...], axis: int, block_size: int) -> Tensor:
    """Return scales or zero points so that they broadcast against a tensor of `shape`."""
    if values.size == 1 and not block_size:
        return values.reshape(())
    if not -len(shape) <= axis < len(shape):
        raise BadArgument(f"axis {axis} is outside a tensor of rank {len(shape)}")
    axis %= len(shape)
    if block_size:
        blocks = tuple(-(-n // block_size) if i == axis else n for i, n in enumerate(shape))
        if block_size < 0 or values.shape != blocks:
            raise BadArgument(
                f"blocks of {block_size} on axis {axis} of {list(shape)} need {list(blocks)}, not {list(values.shape)}"
            )
        return np.repeat(values, block_size, axis)[(slice(None),) * axis + (slice(0, shape[axis]),)]
    if values.shape != (shape[axis],):
        raise BadArgument(f"scale or zero point {list(values.shape)} for axis {axis} of shape {list(shape)}")
    return broadcast_to_axis(values, len(shape), axis)


@guarded
def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return x as uint8 codes, their scale (float32 []) and zero point (uint8 []) from x's own range widened to hold 0.

    Formulas: `scale = (max(x, 0) - min(x, 0)) / 255` (1 if that is 0), `zero_point = rint(-min(x, 0) / scale)`,
    `clip(rint(x / scale) + zero_point, 0, 255)`; the convention onnx_dynamic of simcore.quantize.

    Raises:
        BadArgument: x is empty or holds NaN or infinity.
    """
    if not x.size:
        raise BadArgument(f"x: shape {list(x.shape)} holds no value, so it has no range")
    least = np.minimum(np.minimum.reduce(x, axis=None), _LOW)
    width = np.maximum(np.maximum.reduce(x, axis=None), _LOW) - least
    if not np.isfinite(width):
        raise BadArgument("x: holds NaN or infinity, or its range overflows float32")
    scale = width / _HIGH
    if not (scale > 0 and np.isfinite(_HIGH / width)):
        scale = np.float32(1)
    zero_point = np.minimum(np.rint(-least / scale), _HIGH)
    codes = np.empty(x.shape, np.uint8)
    source, target = np.ascontiguousarray(x).reshape(-1), codes.reshape(-1)
    whole = np.empty(min(x.size, _BLOCK), np.float32)
    # Block by block, so that a block stays in cache.
    for start in range(0, source.size, _BLOCK):
        part = source[start : start + _BLOCK]
        block = whole[: part.size]
        np.divide(part, scale, out=block)
        np.rint(block, out=block)
        block += zero_point
        np.maximum(block, _LOW, out=block)
        np.minimum(block, _HIGH, out=block)
        target[start : start + _BLOCK] = block
    return codes, np.asarray(scale), np.asarray(zero_point, np.uint8)


def matmul_integer(
    a: Tensor, b: Tensor | Operand, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> NDArray[np.int32]:
    """Return `(a - a_zero_point) @ (b - b_zero_point)`, int32, wrapping.

    Zero points: one number; one per row of a ([m] or [..., m, 1]); one per column of b ([n] or [..., 1, n]).
    """
    return integer_matmul.matmul(a, b, _per_row(a_zero_point, a.ndim), _number(b_zero_point), "wrap")


def prepared_weight(weight: int, zero_point: int, axis: int) -> Callable[[Sequence[Any], Node], dict[int, Any]]:
    """Return what forms `codes - zero_point` once for a constant weight; see `table.PREPARED`.

    Args:
        weight: position of the weight, integers of rank 2 or more.
        zero_point: position of its zero point: one number, or one per entry of `axis`; 0 where it is left out.
        axis: 0 for a convolution, -1 for a matrix product.
    """

    def prepared(constants: Sequence[Any], node: Node) -> dict[int, Any]:
        has_point = zero_point < len(node.inputs) and node.inputs[zero_point] != ""
        codes, given = constants[weight], constants[zero_point] if has_point else None
        if codes is None or codes.ndim < 2 or (has_point and given is None):
            return {}
        points = _number(given)
        wide = broadcast_to_axis(points, codes.ndim, axis) if points.ndim == 1 else points
        found: dict[int, Any] = {weight: integer_matmul.operand(codes, wide)}
        return {**found, zero_point: None} if has_point else found

    return prepared


def conv_integer(
    x: Tensor,
    w: Tensor | Operand,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> NDArray[np.int32]:
    """Return the convolution of `x - x_zero_point` with `w - w_zero_point`, int32, wrapping; see simcore.conv."""
    _check_kernel(kernel_shape, w)
    return integer_conv.conv(
        x, w, _number(x_zero_point), _number(w_zero_point),
        strides=strides, pads=pads, dilations=dilations, group=group, auto_pad=_auto_pad(auto_pad), overflow="wrap",
    )  # fmt: skip


def qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor | Operand,
    w_scale: Tensor,
    w_zero_point: Tensor | None,
    y_scale: Tensor,
    y_zero_point: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Return `saturate(rint(acc * (x_scale * w_scale / y_scale)) + y_zero_point)`.

    acc is the integer convolution with bias. w_scale is one number or [channels]; bias is int32 [channels] in units of
    x_scale * w_scale.
    """
    _check_kernel(kernel_shape, w)
    acc = integer_conv.conv(
        x, w, _number(x_zero_point), _number(w_zero_point), bias,
        strides=strides, pads=pads, dilations=dilations, group=group, auto_pad=_auto_pad(auto_pad), overflow="wrap",
    )  # fmt: skip
    scale = requantize_scale(_number(x_scale), _number(w_scale), _number(y_scale))
    return requantize(acc, scale, _number(y_zero_point), y_zero_point.dtype.name, 1 if scale.ndim else None)


def qlinear_matmul(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor | Operand,
    b_scale: Tensor,
    b_zero_point: Tensor | None,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    """Return `saturate(rint(acc * (a_scale * b_scale / y_scale)) + y_zero_point)`, acc the integer product.

    Scales and zero points: one number; one per row of a ([m] or [..., m, 1]); one per column of b ([n] or [..., 1, n]).
    """
    acc = matmul_integer(a, b, a_zero_point, b_zero_point)
    scale = requantize_scale(_per_row(a_scale, a.ndim), _number(b_scale), _number(y_scale))
    to, point = y_zero_point.dtype.name, _number(y_zero_point)
    if not scale.ndim:
        return requantize(acc, scale, point, to)
    if point.ndim:
        raise BadArgument("y_zero_point must be one number")
    each = np.broadcast_to(scale, acc.shape).reshape(-1)
    return requantize(acc.reshape(-1), each, point, to, 0).reshape(acc.shape)


def _number(value: Tensor | None) -> Tensor:
    """Return a parameter without needless axes: [] for one number; 0 for none."""
    if value is None:
        return np.zeros((), np.int32)
    return value.reshape(()) if value.size == 1 else value


def _per_row(value: Tensor | None, ndim: int) -> Tensor:
    """Return a parameter of the first operand: [m] stands along its rows."""
    found = _number(value)
    return found[:, None] if found.ndim == 1 and ndim > 1 else found


def _check_kernel(kernel_shape: tuple[int, ...] | None, w: Tensor | Operand) -> None:
    sizes = (w.values if isinstance(w, Operand) else w).shape[2:]
    if kernel_shape is not None and tuple(kernel_shape) != sizes:
        raise BadArgument(f"kernel_shape {list(kernel_shape)} differs from the weight's {list(sizes)}")


def _auto_pad(name: str) -> integer_conv.AutoPad:
    for known in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        if name == known:
            return known
    raise BadArgument(f"auto_pad {name!r} is not known; use NOTSET, VALID, SAME_UPPER or SAME_LOWER")
