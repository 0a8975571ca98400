"""Int32 sums to codes of the next layer: by a float scale, or by an integer multiplier and a shift.

float rule    q = saturate(round(float32(acc) * ((x_scale * w_scale) / y_scale)) + y_zero_point)
fixed point   q = saturate(round(acc * multiplier / 2**shift) + y_zero_point)
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument
from simcore.quantize import Scalar, broadcast_to_axis
from simcore.rounding import Rounding, int_type, round_saturate, round_shift, saturate

__all__ = ["fixed_point", "requantize", "requantize_fixed", "requantize_scale"]

_INT32 = np.iinfo(np.int32)


def requantize_scale(x_scale: ArrayLike, w_scale: ArrayLike, y_scale: ArrayLike) -> NDArray[np.float32]:
    """Return `(x_scale * w_scale) / y_scale`, every operation rounded to float32, broadcast ([] or [channels]).

    Raises:
        BadArgument: a scale is not finite and positive, or the result is 0 or infinite.

    Source: ONNX Runtime, QLinearConv and QLinearMatMul (their order of operations; another differs in the last bit).
    """
    x, w, y = (np.asarray(scale, np.float32) for scale in (x_scale, w_scale, y_scale))
    for name, scale in (("x_scale", x), ("w_scale", w), ("y_scale", y)):
        if not np.all((scale > 0) & (scale < np.inf)):
            raise BadArgument(f"{name}: expected finite steps > 0, got {scale.tolist()!s:.60}")
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        result = np.asarray((x * w) / y, np.float32)
    if not np.all((result > 0) & (result < np.inf)):
        raise BadArgument(f"scales: (x_scale * w_scale) / y_scale leaves float32: {result.tolist()!s:.60}")
    return result


def requantize(
    acc: NDArray[np.integer],
    scale: ArrayLike,
    zero_point: ArrayLike = 0,
    to: str = "int8",
    axis: int | None = None,
    rounding: Rounding = "half_even",
) -> NDArray[np.integer]:
    """Return `saturate(round(float32(acc) * scale) + zero_point)`; with half_even bit-equal to ONNX Runtime.

    `acc` is rounded to float32 first (24 bits), the product once more: the rule, not an approximation of it.

    Args:
        acc: exact sums, int32 (int64 for wide accumulators), any shape.
        scale: float32 from `requantize_scale`, number or [channels].
        zero_point: code of real 0 of the output, in the range of `to`.
        to: integer type of the output.
        axis: axis of the channels of a vector scale.
        rounding: see rounding.Rounding.

    Raises:
        BadArgument: acc is not integer; a vector scale without axis or of the wrong length; unknown type or mode.

    Source: ONNX operators QLinearConv and QLinearMatMul; rule measured against ONNX Runtime.
    """
    acc, factor = _sums(acc), _along(np.asarray(scale, np.float32), acc, axis, "scale")
    with np.errstate(over="ignore", under="ignore"):
        product = acc.astype(np.float32) * factor
    return round_saturate(product, to, rounding, zero_point)


def fixed_point(scale: ArrayLike, bits: int = 31) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (multiplier, shift) with `multiplier / 2**shift` nearest to `scale` (ties away from zero).

    The multiplier is normalised, 2^(bits-1) <= multiplier < 2^bits, so the relative error is at most 2^-bits. Below
    2^-(62-bits) or so, where shift would pass 62, the multiplier loses bits instead, down to 0.

    Args:
        scale: numbers > 0, any shape; below 2^bits.
        bits: width of the multiplier without sign, 1..31 (31: Q31 of gemmlowp; 15: a 16-bit multiplier).

    Returns:
        int64 arrays of scale's shape; shift lies in 0..62.

    Raises:
        BadArgument: a scale that is not finite, not > 0, or 2^bits and above; bits outside 1..31.

    Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
    Inference", 2.2, with the normalisation kept free of a left shift.
    """
    if not 1 <= bits <= 31:
        raise BadArgument(f"bits: expected 1..31, got {bits}")
    scales = np.asarray(scale, np.float64)
    if not np.all((scales > 0) & (scales < 2.0**bits)):
        raise BadArgument(f"scale: expected numbers > 0 and below 2^{bits}, got {scales.tolist()!s:.60}")
    _, exponent = np.frexp(scales)
    shift = np.minimum(bits - exponent.astype(np.int64), 62)
    # ldexp by a positive power of two is exact: scale has 53 bits and the product stays below 2^31.
    product = np.ldexp(scales, shift)
    multiplier = np.floor(product).astype(np.int64)
    multiplier += product - np.floor(product) >= 0.5
    carried = multiplier == np.int64(1) << bits
    if np.any(carried & (shift == 0)):
        raise BadArgument(f"scale: {scales.max()} rounds up to 2^{bits}, which no multiplier of {bits} bits holds")
    return np.where(carried, multiplier >> 1, multiplier), np.asarray(np.where(carried, shift - 1, shift))


def requantize_fixed(
    acc: NDArray[np.integer],
    multiplier: ArrayLike,
    shift: ArrayLike,
    zero_point: ArrayLike = 0,
    to: str = "int8",
    axis: int | None = None,
    rounding: Rounding = "half_away",
    stages: Literal["single", "gemmlowp"] = "single",
) -> NDArray[np.integer]:
    """Return `saturate(round(acc * multiplier / 2**shift) + zero_point)`, exact in 64 bits.

    stages "single" rounds once. "gemmlowp" rounds twice, as its two instructions do: first to
    `(acc * multiplier) / 2**31`, ties toward plus infinity; then by the remaining `shift - 31`, ties away from zero;
    `rounding` is not used. A shift below 31 first shifts acc left by `31 - shift`, saturating to int32.

    Args:
        acc: int32 values, any shape.
        multiplier: integer or [channels], 0..2^31-1.
        shift: integer or [channels], 0..62.
        zero_point: code of real 0 of the output, one integer in the range of `to`.
        to: integer type of the output.
        axis: axis of the channels of vector multipliers and shifts.
        rounding: of the single stage.
        stages: how often is rounded.

    Raises:
        BadArgument: acc outside int32 (narrow it first), multiplier, shift or zero point outside their range, vectors
            without axis, unknown modes.

    Source: gemmlowp, SaturatingRoundingDoublingHighMul and RoundingDivideByPOT.
    """
    acc, kind = _sums(acc), int_type(to)
    if acc.size and not (int(acc.min()) >= _INT32.min and int(acc.max()) <= _INT32.max):
        raise BadArgument("acc: values outside int32; narrow them first (narrow_int32) or requantize by float scale")
    factor = _along(_bounded(multiplier, 0, _INT32.max, "multiplier"), acc, axis, "multiplier")
    shifts = _along(_bounded(shift, 0, 62, "shift"), acc, axis, "shift")
    point = _bounded(zero_point, kind.low, kind.high, "zero_point")
    wide = acc.astype(np.int64)
    if stages == "single":
        # |acc * multiplier| <= 2^31 (2^31 - 1) < 2^62.
        scaled = round_shift(wide * factor, shifts, rounding)
    elif stages == "gemmlowp":
        lifted = saturate(wide << np.maximum(31 - shifts, 0), "int32").astype(np.int64)
        # Only multiplier = acc = -2^31 could leave int32 here, and multipliers are not negative.
        high = round_shift(lifted * factor, 31, "half_up")
        scaled = round_shift(high, np.maximum(shifts - 31, 0), "half_away")
    else:
        raise BadArgument(f"stages {stages!r} is not known; use single or gemmlowp")
    return saturate(scaled + point, to)


def _sums(acc: NDArray[np.integer]) -> NDArray[np.integer]:
    acc = np.asarray(acc)
    if acc.dtype.kind not in "iu" or acc.dtype == np.uint64:
        raise BadArgument(f"acc: expected integer sums, got {acc.dtype}")
    return acc


def _bounded(value: ArrayLike, low: int, high: int, name: str) -> NDArray[np.int64]:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or np.any((array < low) | (array > high)):
        raise BadArgument(f"{name}: expected integers {low}..{high}, got {array.tolist()!s:.60}")
    return array.astype(np.int64)


def _along(values: NDArray[Scalar], acc: NDArray[np.integer], axis: int | None, name: str) -> NDArray[Scalar]:
    """Return a scalar or [channels] shaped to broadcast along `axis` of `acc`."""
    if values.ndim == 0:
        return values
    if axis is None or values.ndim != 1:
        raise BadArgument(
            f"{name}: shape {list(values.shape)} with axis {axis}; give a number, or [channels] and an axis"
        )
    shaped = broadcast_to_axis(values, acc.ndim, axis)
    if acc.shape[axis] != values.size:
        raise BadArgument(f"{name}: {values.size} values for {acc.shape[axis]} channels on axis {axis}")
    return shaped
