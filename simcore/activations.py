"""softmax, tanh, sigmoid and exp in the forms users meet, each step a correctly rounded fp16 operation.

The same function in another form is another function in fp16: without the subtraction of the maximum softmax
saturates from x = 11.09, the exponential form of tanh loses every digit of small x, and with saturation its large x
still come out as 1 while IEEE arithmetic gives inf / inf = NaN. Which form a chip uses is rarely documented, so each
function takes it as an argument.
"""

from typing import Literal, get_args

import numpy as np

from simcore import fp16
from simcore.errors import BadArgument
from simcore.fp16 import SATURATE, Fp16, Fp16Like, Mode, Real
from simcore.fp16_sum import Accumulator, Order, reduce_sum

__all__ = ["ExpForm", "Normalize", "Shift", "SigmoidForm", "TanhForm", "exp", "sigmoid", "softmax", "tanh"]

Shift = Literal["max", "none"]
Normalize = Literal["divide", "reciprocal"]
ExpForm = Literal["direct", "base2"]
TanhForm = Literal["direct", "exponential", "exp_2x", "exp_minus_2x", "sigmoid"]
SigmoidForm = Literal["direct", "exponential", "exp_positive", "tanh"]

_ONE = np.float16(1.0)
_TWO = np.float16(2.0)
_HALF = np.float16(0.5)


def softmax(
    x: Fp16Like,
    axis: int = -1,
    *,
    shift: Shift = "max",
    normalize: Normalize = "divide",
    accumulator: Accumulator = "fp16",
    order: Order = "sequential",
    mode: Mode = SATURATE,
) -> Fp16:
    """Return the softmax along one axis in fp16 steps.

    Formula: `d = x - max(x)` (or x itself), `e = exp(d)`, `s = sum(e)`, `y = e / s` or `e * (1 / s)`.

    Args:
        x: float16 [..., n, ...].
        axis: The axis whose results add up to about 1 (Softmax of opset 13; older ones flatten first).
        shift: `max` subtracts the maximum, so exp never overflows; `none` does not: with saturation two inputs from
            11.0938 up both become 65504, the sum saturates too, and both probabilities come out as 1.
        normalize: `divide` rounds once; `reciprocal` rounds 1/s and then the product.
        accumulator: Type of the running sum, see `reduce_sum`.
        order: Order of the sum.
        mode: Overflow and NaN rule at each step. A NaN input makes the maximum NaN for its whole row.

    Returns:
        float16 of x's shape; an empty axis gives an empty result.

    Raises:
        BadArgument: x is not float16, the axis does not exist, or an unknown choice.
    """
    _choice("softmax shift", shift, get_args(Shift))
    _choice("softmax normalize", normalize, get_args(Normalize))
    values = np.asarray(x)
    if values.dtype != np.float16:
        raise BadArgument(f"softmax: dtype {values.dtype}; expected float16, round it with round_fp16 first.")
    if not -values.ndim <= axis < values.ndim:
        raise BadArgument(f"softmax: axis {axis} does not exist in shape {values.shape}.")
    if shift == "max":
        # initial makes an empty axis legal; -inf is the neutral element of max.
        values = fp16.sub(values, np.max(values, axis=axis, keepdims=True, initial=-np.inf), mode)
    powers = fp16.exp(values, mode)
    total = np.expand_dims(reduce_sum(powers, axis, accumulator=accumulator, order=order, mode=mode), axis)
    if normalize == "divide":
        return fp16.div(powers, total, mode)
    return fp16.mul(powers, fp16.reciprocal(total, mode), mode)


def exp(x: Fp16Like, form: ExpForm = "direct", mode: Mode = SATURATE) -> Fp16:
    """Return `e ** x` in one of two forms, float16 of x's shape.

    Formulas: direct, correctly rounded; base2 `2 ** (x * log2(e))` with the product rounded to fp16, whose error grows
    with |x| (the product's half ulp is an absolute error of the exponent).

    Raises:
        BadArgument: x is not float16, or an unknown form.
    """
    _choice("exp form", form, get_args(ExpForm))
    if form == "direct":
        return fp16.exp(x, mode)
    return fp16.apply(np.exp2, fp16.mul(x, fp16.round_fp16(np.log2(np.e)), mode), mode=mode)


def tanh(x: Fp16Like, form: TanhForm = "direct", mode: Mode = SATURATE) -> Fp16:
    """Return the hyperbolic tangent in one of five forms, float16 of x's shape.

    Formulas, each operation rounded to fp16:
        direct        tanh(x), correctly rounded for every fp16 x
        exponential   (e^x - e^-x) / (e^x + e^-x)
        exp_2x        (e^2x - 1) / (e^2x + 1)
        exp_minus_2x  (1 - e^-2x) / (1 + e^-2x)
        sigmoid       2 * sigmoid(2 * x) - 1, with the exponential sigmoid

    Args:
        x: float16 of any shape; doubling it counts as an operation and can saturate.
        form: See the formulas.
        mode: Overflow and NaN rule at each step. Where e^x overflows: saturated forms give +-1 exactly, IEEE gives
            NaN (inf / inf) in the forms that have the overflowing power above and below the fraction bar.

    Raises:
        BadArgument: x is not float16, or an unknown form.
    """
    _choice("tanh form", form, get_args(TanhForm))
    if form == "direct":
        return fp16.apply(np.tanh, x, mode=mode)
    if form == "exponential":
        up, down = fp16.exp(x, mode), fp16.exp(np.negative(x), mode)
        return fp16.div(fp16.sub(up, down, mode), fp16.add(up, down, mode), mode)
    doubled = fp16.mul(x, _TWO, mode)
    if form == "exp_2x":
        power = fp16.exp(doubled, mode)
        return fp16.div(fp16.sub(power, _ONE, mode), fp16.add(power, _ONE, mode), mode)
    if form == "exp_minus_2x":
        power = fp16.exp(np.negative(doubled), mode)
        return fp16.div(fp16.sub(_ONE, power, mode), fp16.add(_ONE, power, mode), mode)
    return fp16.sub(fp16.mul(_TWO, sigmoid(doubled, "exponential", mode), mode), _ONE, mode)


def sigmoid(x: Fp16Like, form: SigmoidForm = "direct", mode: Mode = SATURATE) -> Fp16:
    """Return `1 / (1 + e^-x)` in one of four forms, float16 of x's shape.

    Formulas, each operation rounded to fp16:
        direct        correctly rounded for every fp16 x
        exponential   1 / (1 + e^-x)
        exp_positive  e^x / (1 + e^x)
        tanh          0.5 * tanh(0.5 * x) + 0.5, with the direct tanh

    Args:
        x: float16 of any shape.
        form: See the formulas. `tanh` cannot give less than 2**-12 except 0, `direct` goes down to 2**-24.
        mode: Overflow and NaN rule at each step; IEEE gives NaN for large x in `exp_positive`.

    Raises:
        BadArgument: x is not float16, or an unknown form.
    """
    _choice("sigmoid form", form, get_args(SigmoidForm))
    if form == "direct":
        return fp16.apply(_sigmoid64, x, mode=mode)
    if form == "exponential":
        return fp16.div(_ONE, fp16.add(_ONE, fp16.exp(np.negative(x), mode), mode), mode)
    if form == "exp_positive":
        power = fp16.exp(x, mode)
        return fp16.div(power, fp16.add(_ONE, power, mode), mode)
    half = fp16.mul(_HALF, tanh(fp16.mul(_HALF, x, mode), "direct", mode), mode)
    return fp16.add(half, _HALF, mode)


def _sigmoid64(x: Real) -> Real:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadArgument(f"{name}: {value!r} is unknown; choose one of {', '.join(allowed)}.")
