"""Linear quantization: real numbers to codes and back, and the parameters from a range in each vendor's convention.

One pair of formulas, three ways to write the scale (`ScaleForm`); everything else is data (`CONVENTIONS`).

    quantize     q = saturate(round(x / scale) + zero_point)
    dequantize   x = (q - zero_point) * scale
"""

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument
from simcore.rounding import Rounding, int_type, round_float, round_saturate

__all__ = [
    "CONVENTIONS",
    "MAX_INVERTED_STEP",
    "Convention",
    "QuantParams",
    "ScaleForm",
    "broadcast_to_axis",
    "dequantize",
    "fake_quantize",
    "params",
    "params_from_range",
    "quantize",
    "representable_range",
    "retype",
    "step",
    "tensor_range",
]

Scalar = TypeVar("Scalar", bound=np.generic)

ScaleForm = Literal["step", "inverted_step", "reciprocal"]
"""What the number called scale is, and which operation quantizing does with it.

step: the width of one code; `x / scale` (ONNX, ONNX Runtime, Horizon).
inverted_step: the width of one code, but the device multiplies: `x * (1 / scale)` (AMCT scale_d, scale_w).
reciprocal: codes per unit, 1/step; `x * scale` (HiSilicon GFPQ records).
The three round differently in the last bit, so values near a tie may get neighbouring codes.
"""

#: Largest step AMCT accepts, 1/FLT_EPSILON: its reciprocal must stay a float32 the device can trust.
MAX_INVERTED_STEP: Final = float(1 / np.finfo(np.float32).eps)


@dataclass(frozen=True, slots=True, eq=False)
class QuantParams:
    """How one tensor is quantized; made and checked by `params`."""

    #: float32 [] (per tensor) or [channels] (per channel), finite and > 0; its meaning is `form`.
    scale: NDArray[np.float32]
    #: int32, same shape: the code of real 0, within `to`; 0 for symmetric. AMCT and HiSilicon call it offset.
    zero_point: NDArray[np.int32]
    #: Name of the integer type of the codes, see rounding.INT_TYPES.
    to: str
    #: Axis of the channels, None per tensor.
    axis: int | None
    #: What `scale` is.
    form: ScaleForm


def params(
    scale: ArrayLike,
    zero_point: ArrayLike = 0,
    to: str = "int8",
    axis: int | None = None,
    form: ScaleForm = "step",
) -> QuantParams:
    """Return checked parameters.

    An AMCT record is `params(scale_d, offset_d, form="inverted_step")`, a HiSilicon GFPQ record
    `params(scale, offset, form="reciprocal")`, an ONNX node `params(y_scale, y_zero_point, to="uint8", axis=axis)`.

    Args:
        scale: number, or one per channel; rounded to float32.
        zero_point: integer, or one per channel; a single one serves all channels.
        to: name of the integer type of the codes.
        axis: axis of the channels; needed exactly when `scale` is a vector.
        form: what `scale` is.

    Raises:
        BadArgument: scale not finite and positive, or above 1/FLT_EPSILON for "inverted_step"; zero point outside the
            type; shapes or axis that do not fit; unknown form or type.
    """
    if form not in get_args(ScaleForm):
        raise BadArgument(f"form {form!r} is not known; use one of {', '.join(get_args(ScaleForm))}")
    kind = int_type(to)
    with np.errstate(over="ignore"):
        scales = np.array(scale, np.float32)
    if scales.ndim > 1 or (scales.ndim == 1) != (axis is not None):
        raise BadArgument(
            f"scale: shape {list(scales.shape)} with axis {axis}; give a number and no axis, or [channels] and an axis"
        )
    if not scales.size or not np.all((scales > 0) & (scales < np.inf)):
        raise BadArgument(f"scale: expected finite numbers > 0 in float32, got {np.asarray(scale).tolist()!s:.60}")
    if form == "inverted_step" and np.any(scales > MAX_INVERTED_STEP):
        raise BadArgument(
            f"scale: {scales.max()} is above 1/FLT_EPSILON = {MAX_INVERTED_STEP:.0f}, too large to invert; "
            "clip the tensor's range"
        )
    points = np.asarray(zero_point)
    if points.dtype.kind not in "iu" or points.shape not in ((), scales.shape):
        raise BadArgument(
            f"zero_point: expected one integer or shape {list(scales.shape)}, got {points.dtype} {list(points.shape)}"
        )
    if np.any((points < kind.low) | (points > kind.high)):
        raise BadArgument(f"zero_point: {points.tolist()!s:.60} lies outside {to}, [{kind.low}, {kind.high}]")
    return QuantParams(scales, np.broadcast_to(points, scales.shape).astype(np.int32), to, axis, form)


def broadcast_to_axis(values: NDArray[Scalar], ndim: int, axis: int | None) -> NDArray[Scalar]:
    """Return a scalar or [channels] reshaped to stand along `axis` of an array of rank `ndim`.

    Raises:
        BadArgument: the axis is outside the rank.
    """
    if axis is None:
        return values
    if not -ndim <= axis < ndim:
        raise BadArgument(f"axis: {axis} does not exist in a tensor of rank {ndim}")
    shape = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)


def quantize(
    x: NDArray[np.floating],
    how: QuantParams,
    rounding: Rounding = "half_even",
    compute: Literal["float16", "float32", "float64"] = "float32",
) -> NDArray[np.integer]:
    """Return codes `saturate(round(x / step) + zero_point)`, the division written as `how.form` says.

    With form "step", half_even and float32 this equals ONNX Runtime's QuantizeLinear bit for bit. NaN gets the code of
    real 0, infinities saturate.

    Args:
        x: floats, any shape; the channel axis must have as many entries as `how.scale`.
        how: the parameters.
        rounding: see rounding.Rounding.
        compute: type in which the quotient or product is formed (one rounding) before it is rounded to an integer.

    Returns:
        Codes of x's shape, in the numpy dtype that holds `how.to`.

    Raises:
        BadArgument: x is not float, its channels do not fit, or a mode is unknown.

    Source: ONNX operator QuantizeLinear; AMCT user guide, appendix on quantization.
    """
    x = np.asarray(x)
    scale, zero_point = _along_axis(x.shape, how)
    if x.dtype.kind != "f" or compute not in ("float16", "float32", "float64"):
        raise BadArgument(
            f"x: quantize takes floats and computes in float16, float32 or float64, not {x.dtype}/{compute}"
        )
    dtype = np.dtype(compute)
    ratio: NDArray[np.floating]
    # Overflow becomes an infinity, which saturates; 0 * inf (an underflowed step) becomes NaN, which counts as 0.
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        x, factor = x.astype(dtype, copy=False), scale.astype(dtype)
        if how.form == "step":
            ratio = x / factor
        elif how.form == "inverted_step":
            ratio = x * (np.ones((), dtype) / factor)
        else:
            ratio = x * factor
    return round_saturate(ratio, how.to, rounding, zero_point)


def dequantize(
    q: NDArray[np.integer], how: QuantParams, compute: Literal["float32", "float64"] = "float32"
) -> NDArray[np.floating]:
    """Return `(q - zero_point) * step`; for form "reciprocal" `(q - zero_point) / scale`.

    The difference is exact; it is rounded to `compute` once (exact up to 24 bits in float32), then one product.
    With form "step" and float32 this equals ONNX Runtime's DequantizeLinear bit for bit.

    Args:
        q: codes, any integer dtype and shape.
        how: the parameters.
        compute: type of the product and of the result.

    Raises:
        BadArgument: q is not integer, or its channels do not fit.

    Source: ONNX operator DequantizeLinear; AMCT user guide, appendix on quantization.
    """
    q = np.asarray(q)
    scale, zero_point = _along_axis(q.shape, how)
    if q.dtype.kind not in "iu" or compute not in ("float32", "float64"):
        raise BadArgument(f"q: dequantize takes integers and computes in float32 or float64, not {q.dtype}/{compute}")
    small = q.dtype.itemsize <= 2 and int_type(how.to).bits <= 16
    difference = q.astype(np.dtype(np.int32 if small else np.int64)) - zero_point
    real = difference.astype(compute)
    with np.errstate(over="ignore", under="ignore"):
        factor = scale.astype(compute)
        return np.asarray(real / factor if how.form == "reciprocal" else real * factor)


def fake_quantize(
    x: NDArray[np.floating],
    how: QuantParams,
    rounding: Rounding = "half_even",
    compute: Literal["float32", "float64"] = "float32",
) -> NDArray[np.floating]:
    """Return `dequantize(quantize(x))`: what is left of `x` after quantization, as floats of type `compute`."""
    return dequantize(quantize(x, how, rounding, compute), how, compute)


def step(how: QuantParams) -> NDArray[np.float64]:
    """Return the width of one code, float64 of scale's shape: `scale`, or `1 / scale` for form "reciprocal"."""
    wide = how.scale.astype(np.float64)
    return np.asarray(1 / wide if how.form == "reciprocal" else wide)


def representable_range(how: QuantParams) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and largest real value a code stands for: `(low - zero_point) * step`, `(high - ...) * step`.

    Values outside saturate. float64 of scale's shape. A HiSilicon record scale 12.75, offset -77 gives [-4, 16].
    """
    kind, points, scale = int_type(how.to), how.zero_point.astype(np.int64), how.scale.astype(np.float64)
    low, high = (kind.low - points).astype(np.float64), (kind.high - points).astype(np.float64)
    if how.form == "reciprocal":
        return np.asarray(low / scale), np.asarray(high / scale)
    return np.asarray(low * scale), np.asarray(high * scale)


def retype(how: QuantParams, to: str) -> QuantParams:
    """Return the same real grid with codes shifted into another type of equal width: uint8 zero point 128 = int8 0.

    Raises:
        BadArgument: the widths differ.
    """
    old, new = int_type(how.to), int_type(to)
    if old.bits != new.bits:
        raise BadArgument(f"to: {how.to} codes cannot move into {to}, the widths differ; quantize again from a range")
    return replace(how, to=to, zero_point=how.zero_point + np.int32(new.low - old.low))


@dataclass(frozen=True, slots=True)
class Convention:
    """How a toolchain turns a range into scale and zero point."""

    #: What the scale it writes is.
    form: ScaleForm
    #: high: max|x| / high; low: max|x| / -low; side: the end that is farther out over its own code (max / high, or
    #: |min| / -low); range: (max - min) / (high - low), range widened to hold 0. All but range: zero point 0.
    divisor: Literal["high", "low", "side", "range"]
    #: Where the rule is written.
    source: str


#: Conventions by name.
CONVENTIONS: Final[dict[str, Convention]] = {
    "onnx_dynamic": Convention("step", "range", "ONNX operator DynamicQuantizeLinear"),
    "onnx_symmetric": Convention("step", "high", "ONNX Runtime static quantization, symmetric int8: max|x| / 127"),
    "amct_symmetric": Convention("inverted_step", "high", "AMCT user guide, quantization principle: max|x| / 127"),
    "amct_min_max": Convention("inverted_step", "side", "AMCT open source, MIN-MAX algorithm, symmetric"),
    "amct_asymmetric": Convention("inverted_step", "range", "AMCT user guide, quantization principle: (max-min) / 255"),
    "hisilicon": Convention(
        "reciprocal", "range", "HiSilicon ATC guide, GFPQ parameter file: q = round(x*scale)+offset"
    ),
    "horizon": Convention("step", "low", "Horizon OpenExplorer, fixed scale: threshold / 128 and threshold / 32768"),
}


def tensor_range(x: NDArray[np.floating], axis: int | None = None) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return min and max as float32: of the whole tensor ([]) or per entry of `axis` ([channels]).

    Raises:
        BadArgument: x is empty or holds NaN or infinity, or the axis does not exist.
    """
    x = np.asarray(x)
    if axis is not None and not -x.ndim <= axis < x.ndim:
        raise BadArgument(f"axis: {axis} does not exist in a tensor of rank {x.ndim}")
    if not x.size:
        raise BadArgument(f"x: shape {list(x.shape)} holds no value, so it has no range; give calibration data")
    others = None if axis is None else tuple(a for a in range(x.ndim) if a != axis % x.ndim)
    low, high = np.min(x, axis=others), np.max(x, axis=others)
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        raise BadArgument("x: holds NaN or infinity; find the layer that makes it before calibrating")
    return np.asarray(low, np.float32), np.asarray(high, np.float32)


def params_from_range(
    low: ArrayLike,
    high: ArrayLike,
    convention: str,
    to: str = "int8",
    axis: int | None = None,
    rounding: Rounding = "half_even",
) -> QuantParams:
    """Return scale and zero point for values in [low, high], as the named convention computes them, in float32.

    Symmetric (see Convention.divisor): `scale = max(|low|, |high|) / d`, zero point 0.
    Range, after `low = min(low, 0)`, `high = max(high, 0)` and with codes a..b:

        onnx_dynamic      scale = (high - low) / (b - a)    zero_point = round(clip(a - low / scale, a, b))
        amct_asymmetric   scale = (high - low) / (b - a)    zero_point = a - round(low / scale)
        hisilicon         scale = (b - a) / (high - low)    zero_point = a - round(low * scale)

    A range of zero width (or a step that underflows) gets scale 1 (ONNX Runtime's choice; assumed elsewhere).

    Args:
        low: smallest value, number or [channels].
        high: largest value, same shape. For a symmetric threshold t give -t and t.
        convention: a name in CONVENTIONS.
        to: integer type of the codes; "onnx_dynamic" is defined for uint8, "hisilicon" with "int12" gives range/4095.
        axis: axis of the channels, for [channels].
        rounding: of the zero point.

    Raises:
        BadArgument: unknown convention; low > high, NaN or infinite; symmetric into an unsigned type; a step that
            overflows, or is above 1/FLT_EPSILON in an AMCT convention.
    """
    if convention not in CONVENTIONS:
        raise BadArgument(f"convention {convention!r} is not known; use one of {', '.join(CONVENTIONS)}")
    rule, kind = CONVENTIONS[convention], int_type(to)
    with np.errstate(over="ignore"):
        lows, highs = np.asarray(low, np.float32), np.asarray(high, np.float32)
    if not (np.all(np.isfinite(lows)) and np.all(np.isfinite(highs)) and np.all(lows <= highs)):
        raise BadArgument(f"range: expected finite low <= high, got low {low!s:.40}, high {high!s:.40}")
    if rule.divisor != "range":
        if kind.low == 0:
            raise BadArgument(f"to: {convention} is symmetric and needs a signed type, not {to}")
        return params(_symmetric_step(lows, highs, rule, kind.low, kind.high), 0, to, axis, rule.form)
    lows, highs = np.minimum(lows, np.float32(0)), np.maximum(highs, np.float32(0))
    levels = np.float32(kind.high - kind.low)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        width = highs - lows
        scale = levels / width if rule.form == "reciprocal" else width / levels
        scale = np.where(((width / levels) > 0) & ((levels / width) < np.inf), scale, np.float32(1))
        if rule.form == "step":
            real = np.clip(np.float32(kind.low) - lows / scale, np.float32(kind.low), np.float32(kind.high))
            points = round_float(real, rounding)
        else:
            ratio = lows * scale if rule.form == "reciprocal" else lows / scale
            points = np.clip(np.float64(kind.low) - round_float(ratio, rounding), kind.low, kind.high)
    if not np.all(np.isfinite(width)):
        raise BadArgument(f"range: high - low overflows float32 for low {low!s:.40}, high {high!s:.40}; clip the range")
    return params(scale, points.astype(np.int64), to, axis, rule.form)


def _symmetric_step(
    lows: NDArray[np.float32], highs: NDArray[np.float32], rule: Convention, low_code: int, high_code: int
) -> NDArray[np.float32]:
    """Return the step of a symmetric convention, float32; 1 where the range has no width."""
    farthest = np.maximum(np.abs(lows), np.abs(highs))
    to_high, to_low = np.float32(high_code), np.float32(-low_code)
    with np.errstate(under="ignore"):
        if rule.divisor == "high":
            steps = farthest / to_high
        elif rule.divisor == "low":
            steps = farthest / to_low
        else:
            steps = np.where(np.abs(highs) > np.abs(lows), farthest / to_high, farthest / to_low)
    return np.asarray(np.where(steps > 0, steps, np.float32(1)), np.float32)


def _along_axis(shape: tuple[int, ...], how: QuantParams) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return scale and zero point shaped to broadcast against `shape`, after checking the channel count."""
    scale = broadcast_to_axis(how.scale, len(shape), how.axis)
    if how.axis is not None and shape[how.axis] != how.scale.size:
        raise BadArgument(
            f"axis: {how.scale.size} scales for {shape[how.axis]} channels on axis {how.axis} of shape {list(shape)}"
        )
    return scale, broadcast_to_axis(how.zero_point, len(shape), how.axis)
