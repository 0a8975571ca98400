"""fp16 (IEEE 754 binary16) vector arithmetic as an NPU does it, every result rounded once and every overflow explicit.

One operation = widen to float64, compute, round to nearest even once, then apply the `Mode`:

    saturate  inf -> +-65504, and NaN -> 0 or kept       what Nano and the older Ascend products do
    infinity  from 65520 up -> inf, NaN kept             IEEE 754, the Inf/NaN mode of newer products

Never go through float32 from a float64 value: 1 + 2**-11 + 2**-25 must become 1 + 2**-10, but float32 drops the last
term, leaves an exact tie, and the tie goes to 1. Sums, products, quotients and square roots of fp16 values are safe
because float64 has more than twice the digits of fp16 plus two (Figueroa, "When is double rounding innocuous?", 1995).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument

__all__ = [
    "IEEE",
    "MAX",
    "SATURATE",
    "SMALLEST_NORMAL",
    "SMALLEST_SUBNORMAL",
    "Fp16",
    "Fp16Like",
    "Mode",
    "NanRule",
    "OverflowRule",
    "Real",
    "add",
    "apply",
    "div",
    "exp",
    "log",
    "mul",
    "neighbours",
    "next_down",
    "next_up",
    "power",
    "reciprocal",
    "round_fp16",
    "sqrt",
    "sub",
    "ulp",
    "ulp_distance",
    "values_between",
]

Fp16 = NDArray[np.float16]
Fp16Like = Fp16 | np.float16
"""An operand: an array or one numpy scalar."""
Real = NDArray[np.float64]
OverflowRule = Literal["saturate", "infinity"]
NanRule = Literal["zero", "keep"]

MAX = 65504.0
"""Largest finite fp16 value, (2 - 2**-10) * 2**15."""
SMALLEST_NORMAL = 2.0**-14
SMALLEST_SUBNORMAL = 2.0**-24


@dataclass(frozen=True, slots=True)
class Mode:
    """What becomes of a result that is infinite or not a number; operands are never changed.

    Source: the saturation mode turns an infinite result into the largest value and a NaN result into 0; the Inf/NaN
    mode follows IEEE 754 (CANN runtime API, aclrtFloatOverflowMode). For Nano only the saturation to 65504 is
    documented (guide for AI applications, accuracy advice); its NaN rule is not, so `nan` is an argument of its own.
    """

    overflow: OverflowRule
    """`saturate`: +-inf becomes +-65504. `infinity`: results of magnitude >= 65520 become +-inf."""
    nan: NanRule
    """`zero`: a NaN result becomes +0. `keep`: it stays NaN."""

    def __post_init__(self) -> None:
        for name, value, rule in (("overflow", self.overflow, OverflowRule), ("nan", self.nan, NanRule)):
            if value not in get_args(rule):
                raise BadArgument(f"{name}: {value!r} is unknown; choose one of {', '.join(get_args(rule))}.")


SATURATE = Mode(overflow="saturate", nan="zero")
"""Saturation mode of aclrtFloatOverflowMode; for Nano its NaN half is an assumption."""
IEEE = Mode(overflow="infinity", nan="keep")
"""IEEE 754 results, the Inf/NaN mode."""


def round_fp16(x: ArrayLike, mode: Mode = SATURATE) -> Fp16:
    """Return x rounded to fp16, to nearest and ties to even, in a single rounding.

    Formula: `y = nearest_even(x)`, then the mode. Magnitudes below 2**-25 (and the tie itself) become a signed zero;
    subnormals are kept, not flushed.

    Args:
        x: bool, integer, float16, float32 or float64 of any shape.
        mode: Overflow and NaN rule. Values in [65504, 65520) round to 65504 in both modes.

    Returns:
        float16 of the same shape.

    Raises:
        BadArgument: x is complex, longdouble (float64 would round it a second time) or not numeric.
    """
    values = np.asarray(x)
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise BadArgument(f"round_fp16: dtype {values.dtype} cannot be rounded once to fp16; give float64 or narrower.")
    # float32 and float16 are rounded as they are: the cast itself is the single rounding.
    wide = values if values.dtype.kind == "f" else values.astype(np.float64)
    if mode.overflow == "saturate":
        # Clipping first equals rounding first: everything from 65504 up rounds to 65504 or to infinity.
        wide = np.clip(wide, -MAX, MAX)
    if mode.nan == "zero" and (missing := np.isnan(wide)).any():
        wide = np.where(missing, 0.0, wide)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(wide.astype(np.float16))


def apply(function: Callable[..., Real], *operands: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `round_fp16(function(operands))` with the operands widened exactly to float64.

    The result is correctly rounded if `function` errs less than the distance of its exact value from the nearest fp16
    tie. For exp, log, tanh and sigmoid that distance is above 40,000 units in the last place of float64 for every fp16
    input that is not exact (measured with 40 digits), so every math library gives the same bits.

    Floating-point warnings of `function` are silenced: the mode decides what becomes of inf and NaN.

    Args:
        function: Vectorised, float64 arrays to a float64 array.
        operands: float16 arrays that broadcast together.
        mode: Overflow and NaN rule of the result.

    Raises:
        BadArgument: An operand is not float16 (round it with `round_fp16` first), or the shapes do not broadcast.
    """
    wide = [_fp16(operand).astype(np.float64) for operand in operands]
    try:
        np.broadcast_shapes(*(w.shape for w in wide))
    except ValueError:
        shapes = ", ".join(str(w.shape) for w in wide)
        raise BadArgument(f"fp16: shapes {shapes} do not broadcast; make each axis equal or 1.") from None
    with np.errstate(all="ignore"):
        return round_fp16(function(*wide), mode)


def add(a: Fp16Like, b: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `a + b`, correctly rounded; inf - inf is NaN before the mode applies."""
    return apply(np.add, a, b, mode=mode)


def sub(a: Fp16Like, b: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `a - b`, correctly rounded; inf - inf is NaN before the mode applies."""
    return apply(np.subtract, a, b, mode=mode)


def mul(a: Fp16Like, b: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `a * b`, correctly rounded; 0 * inf is NaN before the mode applies."""
    return apply(np.multiply, a, b, mode=mode)


def div(a: Fp16Like, b: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `a / b`, correctly rounded; x / 0 is inf with the sign of both, 0 / 0 is NaN before the mode applies."""
    return apply(np.divide, a, b, mode=mode)


def reciprocal(x: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `1 / x`, correctly rounded; overflows for |x| < 2**-16 (about 1.526e-5), which are subnormal."""
    return apply(lambda v: 1.0 / v, x, mode=mode)


def sqrt(x: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return the square root, correctly rounded.

    The root of -0 is -0; below zero it is NaN before the mode applies.
    """
    return apply(np.sqrt, x, mode=mode)


def exp(x: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `e ** x`, correctly rounded for every fp16 x; overflows from x = 11.0938 up."""
    return apply(np.exp, x, mode=mode)


def log(x: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return the natural logarithm, correctly rounded for every fp16 x.

    log(0) is -inf, below zero NaN, before the mode applies.
    """
    return apply(np.log, x, mode=mode)


def power(a: Fp16Like, b: Fp16Like, mode: Mode = SATURATE) -> Fp16:
    """Return `a ** b` rounded once from float64.

    The pairs are too many to check each: a result whose exact value lies within the error of float64 `pow` (about one
    unit in 2**53) of an fp16 tie could be off by one ulp. A negative base with a fractional exponent is NaN before the
    mode applies; 0 ** 0 is 1.
    """
    return apply(np.power, a, b, mode=mode)


def ulp(x: Fp16Like) -> Real:
    """Return the spacing of fp16 values at |x|: from |x| to the next larger value if there were no largest one.

    Formula: `max(2 ** (floor(log2 |x|) - 10), 2 ** -24)`; 2**-24 at zero, 32 at 65504. float64 of x's shape; NaN for
    inf and NaN.
    """
    values = _fp16(x).astype(np.float64)
    _, exponent = np.frexp(values)
    # frexp gives zero the exponent 0, as if it were near 1/2.
    spacing = np.where(values == 0.0, SMALLEST_SUBNORMAL, np.maximum(np.ldexp(1.0, exponent - 11), SMALLEST_SUBNORMAL))
    return np.asarray(np.where(np.isfinite(values), spacing, np.nan))


def next_up(x: Fp16Like) -> Fp16:
    """Return the least fp16 value above x: 65504 gives inf, -0 and +0 give 2**-24, -inf gives -65504.

    inf and NaN give themselves.
    """
    with np.errstate(all="ignore"):
        return np.asarray(np.nextafter(_fp16(x), np.float16(np.inf)))


def next_down(x: Fp16Like) -> Fp16:
    """Return the greatest fp16 value below x, `-next_up(-x)`."""
    return np.asarray(-next_up(-_fp16(x)))


def neighbours(x: ArrayLike) -> tuple[Fp16, Fp16]:
    """Return the fp16 values that enclose real numbers: `below <= x <= above`, equal where x is representable.

    Args:
        x: Anything `round_fp16` takes, of any shape. Above 65504 the pair is (65504, inf), below -65504 (-inf, -65504);
            NaN gives NaN twice.

    Returns:
        `(below, above)`, float16 of x's shape.
    """
    nearest = round_fp16(x, IEEE)
    real = np.asarray(x).astype(np.float64)
    wide = nearest.astype(np.float64)
    below = np.where(wide > real, next_down(nearest), nearest)
    above = np.where(wide < real, next_up(nearest), nearest)
    return below.astype(np.float16), above.astype(np.float16)


def ulp_distance(a: Fp16Like, b: Fp16Like) -> NDArray[np.int32]:
    """Return how many fp16 values lie between a and b, counting b: 0 if equal (-0 equals +0), 1 for neighbours.

    inf counts as the value after 65504.

    Raises:
        BadArgument: a or b holds NaN, or is not float16.
    """
    if np.isnan(_fp16(a)).any() or np.isnan(_fp16(b)).any():
        raise BadArgument("ulp_distance: NaN is at no distance from anything; replace or mask NaN first.")
    return np.asarray(np.abs(_ordinal(a) - _ordinal(b)))


def values_between(low: float, high: float) -> Fp16:
    """Return every finite fp16 value in [low, high], ascending, zero once (as +0).

    Raises:
        BadArgument: low or high is NaN, or low > high.
    """
    if not low <= high:
        raise BadArgument(f"values_between: low {low} and high {high} span no range; give low <= high.")
    positive = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    every = np.concatenate([-positive[:0:-1], positive])
    real = every.astype(np.float64)
    return every[(real >= low) & (real <= high)]


def _ordinal(x: Fp16Like) -> NDArray[np.int32]:
    """Return integers in the order of the values, one step per representable value, both zeros at 0."""
    bits = np.ascontiguousarray(_fp16(x)).view(np.uint16).astype(np.int32).reshape(np.shape(x))
    return np.asarray(np.where(bits & 0x8000, -(bits & 0x7FFF), bits))


def _fp16(x: Fp16Like) -> Fp16:
    """Return x as an array, refusing any dtype but float16: a silent cast would round without a mode."""
    values = np.asarray(x)
    if values.dtype != np.float16:
        raise BadArgument(f"fp16: operand of dtype {values.dtype}; expected float16, round it with round_fp16 first.")
    return values
