"""Arithmetic, comparison, logic, rounding and trigonometry element by element, with numpy broadcasting.

Activations (Relu, Sigmoid, Erf, Gelu ...) are in `activation`. Operators by (name, first opset version served):

    abs_ Abs 6 · acos Acos 7 · acosh Acosh 9 · add Add 7 · and_ And 7 · asin Asin 7 · asinh Asinh 9 · atan Atan 7
    atanh Atanh 9 · bit_shift BitShift 11 · bitwise_and BitwiseAnd 18 · bitwise_not BitwiseNot 18
    bitwise_or BitwiseOr 18 · bitwise_xor BitwiseXor 18 · ceil Ceil 6 · clip_attributes Clip 6 · clip Clip 11
    cos Cos 7 · cosh Cosh 9 · div Div 7 · equal Equal 7 · exp Exp 6 · floor Floor 6 · greater Greater 7
    greater_or_equal GreaterOrEqual 12 · isinf IsInf 10 · isnan IsNaN 9 · less Less 7 · less_or_equal LessOrEqual 12
    log Log 6 · max_ Max 6 · mean Mean 6 · min_ Min 6 · mod Mod 10 · mul Mul 7 · neg Neg 6 · not_ Not 1 · or_ Or 7
    pow_ Pow 7 · reciprocal Reciprocal 6 · round_ Round 11 · sign Sign 9 · sin Sin 7 · sinh Sinh 9 · sqrt Sqrt 6
    sub Sub 7 · sum_ Sum 6 · tan Tan 7 · xor Xor 7

Inputs have one element type and broadcast; the result has that type (comparisons and logic: bool). Integer overflow
wraps, as in numpy and C. Source of all formulas: ONNX operator specification.
"""

from functools import reduce
from typing import Literal

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.widen import Array, float32_inside, guarded

LOWEST_FLOAT32 = -3.4028234663852886e38
LARGEST_FLOAT32 = 3.4028234663852886e38


@float32_inside
def abs_(x: Array) -> Array:
    """Return `|x|`; the most negative integer stays itself."""
    return np.abs(x)


@float32_inside
def acos(x: Array) -> Array:
    """Return the angle in [0, pi] whose cosine is x; NaN outside [-1, 1]."""
    return np.arccos(x)


@float32_inside
def acosh(x: Array) -> Array:
    """Return the non-negative inverse of cosh; NaN below 1."""
    return np.arccosh(x)


@float32_inside
def add(a: Array, b: Array) -> Array:
    """Return `a + b`."""
    return np.add(a, b)


@float32_inside
def and_(a: Array, b: Array) -> Array:
    """Return `a and b` of booleans."""
    return np.logical_and(a, b)


@float32_inside
def asin(x: Array) -> Array:
    """Return the angle in [-pi/2, pi/2] whose sine is x; NaN outside [-1, 1]."""
    return np.arcsin(x)


@float32_inside
def asinh(x: Array) -> Array:
    """Return the inverse of sinh."""
    return np.arcsinh(x)


@float32_inside
def atan(x: Array) -> Array:
    """Return the angle in [-pi/2, pi/2] whose tangent is x."""
    return np.arctan(x)


@float32_inside
def atanh(x: Array) -> Array:
    """Return the inverse of tanh; +-inf at +-1, NaN beyond."""
    return np.arctanh(x)


def bit_shift(x: Array, y: Array, *, direction: Literal["LEFT", "RIGHT"]) -> Array:
    """Return unsigned `x << y` or `x >> y`; bits shifted out are lost, y >= the width gives 0.

    Raises:
        BadArgument: another direction.
    """
    if direction == "LEFT":
        return np.asarray(np.left_shift(x, y))
    if direction == "RIGHT":
        return np.asarray(np.right_shift(x, y))
    raise BadArgument(f"BitShift: direction {direction!r} is not known; use LEFT or RIGHT")


def bitwise_and(a: Array, b: Array) -> Array:
    """Return `a & b` of integers."""
    return np.asarray(np.bitwise_and(a, b))


def bitwise_not(x: Array) -> Array:
    """Return `~x` of integers."""
    return np.asarray(np.bitwise_not(x))


def bitwise_or(a: Array, b: Array) -> Array:
    """Return `a | b` of integers."""
    return np.asarray(np.bitwise_or(a, b))


def bitwise_xor(a: Array, b: Array) -> Array:
    """Return `a ^ b` of integers."""
    return np.asarray(np.bitwise_xor(a, b))


@float32_inside
def ceil(x: Array) -> Array:
    """Return the smallest whole number not below x."""
    return np.ceil(x)


def clip_attributes(x: Array, *, min: float = LOWEST_FLOAT32, max: float = LARGEST_FLOAT32) -> Array:
    """Return `min(max(x, min), max)` with constant bounds (Clip before opset 11); infinities become the bounds."""
    return clip(x, np.asarray(min, np.float64), np.asarray(max, np.float64))


@guarded
def clip(x: Array, low: Array | None = None, high: Array | None = None) -> Array:
    """Return `min(max(x, low), high)`; where low > high everything becomes high. NaN stays NaN.

    Args:
        x: float or integer of any shape.
        low: scalar (rank 0, or one element); None for no bound.
        high: likewise.
    """
    lower, upper = (None if bound is None else bound.reshape(()).astype(x.dtype, copy=False) for bound in (low, high))
    if lower is not None and upper is not None:
        return np.asarray(np.clip(x, lower, upper))
    if lower is not None:
        return np.asarray(np.maximum(x, lower))
    return x if upper is None else np.asarray(np.minimum(x, upper))


@float32_inside
def cos(x: Array) -> Array:
    """Return the cosine of x in radians; NaN for infinities."""
    return np.cos(x)


@float32_inside
def cosh(x: Array) -> Array:
    """Return `(e^x + e^-x) / 2`."""
    return np.cosh(x)


@float32_inside
def div(a: Array, b: Array) -> Array:
    """Return `a / b`; integers are divided exactly and cut toward zero, as in C. An integer divided by 0 gives 0.

    Formula for integers: `(a - fmod(a, b)) / b`, which leaves no remainder. The most negative integer divided by -1
    wraps to itself. Floats follow IEEE 754: x / 0 = +-inf, 0 / 0 = NaN.
    """
    if a.dtype.kind == "u":
        return np.floor_divide(a, b)
    if a.dtype.kind == "i":
        return np.asarray(np.floor_divide(a - np.fmod(a, b), b))
    return np.divide(a, b)


@float32_inside
def equal(a: Array, b: Array) -> Array:
    """Return `a == b` as bool; NaN equals nothing."""
    return np.equal(a, b)


@float32_inside
def exp(x: Array) -> Array:
    """Return `e ** x`; inf above 88.7 in float32."""
    return np.exp(x)


@float32_inside
def floor(x: Array) -> Array:
    """Return the largest whole number not above x."""
    return np.floor(x)


@float32_inside
def greater(a: Array, b: Array) -> Array:
    """Return `a > b` as bool; False where either is NaN."""
    return np.greater(a, b)


@float32_inside
def greater_or_equal(a: Array, b: Array) -> Array:
    """Return `a >= b` as bool; False where either is NaN."""
    return np.greater_equal(a, b)


@float32_inside
def isinf(x: Array, *, detect_negative: int = 1, detect_positive: int = 1) -> Array:
    """Return where x is infinite, bool; each sign counts only if asked for."""
    found = np.isinf(x)
    if not detect_negative:
        found &= x > 0
    if not detect_positive:
        found &= x < 0
    return found


@float32_inside
def isnan(x: Array) -> Array:
    """Return where x is NaN, bool."""
    return np.isnan(x)


@float32_inside
def less(a: Array, b: Array) -> Array:
    """Return `a < b` as bool; False where either is NaN."""
    return np.less(a, b)


@float32_inside
def less_or_equal(a: Array, b: Array) -> Array:
    """Return `a <= b` as bool; False where either is NaN."""
    return np.less_equal(a, b)


@float32_inside
def log(x: Array) -> Array:
    """Return the natural logarithm; -inf at 0, NaN below."""
    return np.log(x)


@float32_inside
def max_(*x: Array) -> Array:
    """Return the elementwise maximum of one or more inputs; NaN if any is NaN."""
    return reduce(np.maximum, x)


@float32_inside
def mean(*x: Array) -> Array:
    """Return `(x0 + x1 + ...) / n`, added in order."""
    return np.asarray(np.divide(reduce(np.add, x), x[0].dtype.type(len(x))))


@float32_inside
def min_(*x: Array) -> Array:
    """Return the elementwise minimum of one or more inputs; NaN if any is NaN."""
    return reduce(np.minimum, x)


@float32_inside
def mod(a: Array, b: Array, *, fmod: int = 0) -> Array:
    """Return the remainder of `a / b`: the sign of b (fmod=0: floored quotient) or of a (fmod=1: cut quotient).

    Integer b = 0 gives 0; float b = 0 gives NaN.
    """
    return np.fmod(a, b) if fmod else np.mod(a, b)


@float32_inside
def mul(a: Array, b: Array) -> Array:
    """Return `a * b`."""
    return np.multiply(a, b)


@float32_inside
def neg(x: Array) -> Array:
    """Return `-x`; the most negative integer stays itself."""
    return np.negative(x)


@float32_inside
def not_(x: Array) -> Array:
    """Return the negation of booleans."""
    return np.logical_not(x)


@float32_inside
def or_(a: Array, b: Array) -> Array:
    """Return `a or b` of booleans."""
    return np.logical_or(a, b)


@float32_inside
def pow_(x: Array, y: Array) -> Array:
    """Return `x ** y` in the type of x; the types may differ.

    Float bases compute in their own type (float64 exponents in float64). Integer bases with non-negative integer
    exponents are exact up to wrapping; with negative or float exponents the power is taken in float64 and cut toward
    zero, out of range values saturate and NaN becomes 0. A negative float base with a fractional exponent gives NaN.
    """
    if y.size == 1 and y.ndim <= x.ndim and y.reshape(())[()] in (2, 3) and x.dtype.kind == "f":
        square = np.multiply(x, x)
        return square if y.reshape(())[()] == 2 else np.multiply(square, x)
    if x.dtype.kind == "f":
        exponent = y if y.dtype == np.float64 else y.astype(x.dtype)
        return np.power(x, exponent).astype(x.dtype, copy=False)
    if y.dtype.kind in "iu" and (y.dtype.kind == "u" or not np.any(y < 0)):
        return np.asarray(np.power(x, y.astype(x.dtype)))
    return _cut_to_integer(np.power(x.astype(np.float64), y.astype(np.float64)), x.dtype)


@float32_inside
def reciprocal(x: Array) -> Array:
    """Return `1 / x`; +-inf at +-0."""
    return np.asarray(np.divide(x.dtype.type(1), x))


@float32_inside
def round_(x: Array) -> Array:
    """Return the nearest whole number, ties to even."""
    return np.rint(x)


@float32_inside
def sign(x: Array) -> Array:
    """Return -1, 0 or 1; NaN for NaN."""
    return np.sign(x)


@float32_inside
def sin(x: Array) -> Array:
    """Return the sine of x in radians; NaN for infinities."""
    return np.sin(x)


@float32_inside
def sinh(x: Array) -> Array:
    """Return `(e^x - e^-x) / 2`."""
    return np.sinh(x)


@float32_inside
def sqrt(x: Array) -> Array:
    """Return the square root; NaN below 0."""
    return np.sqrt(x)


@float32_inside
def sub(a: Array, b: Array) -> Array:
    """Return `a - b`."""
    return np.subtract(a, b)


@float32_inside
def sum_(*x: Array) -> Array:
    """Return `x0 + x1 + ...`, added in order."""
    return reduce(np.add, x)


@float32_inside
def tan(x: Array) -> Array:
    """Return the tangent of x in radians; NaN for infinities."""
    return np.tan(x)


@float32_inside
def xor(a: Array, b: Array) -> Array:
    """Return where exactly one of two booleans is true."""
    return np.logical_xor(a, b)


def _cut_to_integer(x: Array, dtype: "np.dtype[np.integer]") -> Array:
    """Return float64 x cut toward zero in an integer type; out of range saturates, NaN becomes 0."""
    limits = np.iinfo(dtype)
    inside = (x > limits.min) & (x < limits.max)
    cut = np.where(inside, x, 0).astype(dtype)
    cut = np.where(x >= limits.max, dtype.type(limits.max), cut)
    return np.where(x <= limits.min, dtype.type(limits.min), cut)
