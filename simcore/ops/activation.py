"""Activation functions element by element, and Erf.

Operators by (name, first opset version served):

    celu Celu 12 · elu Elu 6 · erf Erf 9 · gelu Gelu 20 · hard_sigmoid HardSigmoid 6 · hard_swish HardSwish 14
    leaky_relu LeakyRelu 6 · mish Mish 18 · prelu PRelu 7 · relu Relu 6 · selu Selu 6 · shrink Shrink 9
    sigmoid Sigmoid 6 · softplus Softplus 1 · softsign Softsign 1 · swish Swish 24 · tanh Tanh 6
    thresholded_relu ThresholdedRelu 10

The result has the type and shape of x; NaN stays NaN. Formulas with several steps run block by block, so that the
intermediate values stay in the processor's cache. Source of all formulas: ONNX operator specification.
"""

import math
from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.widen import Array, float32_inside

#: Elements per block: small enough that its few intermediates stay in cache, large enough to hide numpy's calls.
_BLOCK: Final = 32768

# erf(x) ~ x * P(x^2) / Q(x^2) on |x| <= 3.95, relative error 2.1e-8 before rounding; fitted with weighted least
# squares (Lawson's iteration) to values from a 53-bit erf. Highest power first.
_ERF_END: Final = 3.95
_ERF_P: Final = (2.025898222e-06, 2.846881612e-04, 3.808194876e-03, 5.287555143e-02, 1.915511316e-01, 1.128379144e00)
_ERF_Q: Final = (3.783172060e-05, 1.170733170e-03, 1.505515795e-02, 1.145599594e-01, 5.030904460e-01, 1.0)
#: Beyond this erf is 1 in float64.
_ERF_END64: Final = 6.0


def _in_blocks(step: Callable[[Array, Array], None], x: Array) -> Array:
    """Return the array that `step(x, y)` fills, called on flat blocks of x and the result."""
    y = np.empty(x.shape, x.dtype)
    if x.size <= _BLOCK:
        step(x, y)
        return y
    source, target = np.ascontiguousarray(x).reshape(-1), y.reshape(-1)
    for start in range(0, source.size, _BLOCK):
        step(source[start : start + _BLOCK], target[start : start + _BLOCK])
    return y


@float32_inside
def celu(x: Array, *, alpha: float = 1.0) -> Array:
    """Return `max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`."""
    scale = x.dtype.type(alpha)

    def step(x: Array, y: Array) -> None:
        np.divide(x, scale, out=y)
        np.expm1(y, out=y)
        y *= scale
        np.minimum(y, 0, out=y)
        y += np.maximum(x, 0)

    return _in_blocks(step, x)


@float32_inside
def elu(x: Array, *, alpha: float = 1.0) -> Array:
    """Return `x` where x >= 0, else `alpha * (e^x - 1)`."""
    return _scaled_elu(x, alpha, 1.0)


@float32_inside
def selu(x: Array, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Array:
    """Return `gamma * x` where x > 0, else `gamma * alpha * (e^x - 1)`."""
    return _scaled_elu(x, alpha, gamma)


def _scaled_elu(x: Array, alpha: float, gamma: float) -> Array:
    below, above = x.dtype.type(alpha), x.dtype.type(gamma)

    def step(x: Array, y: Array) -> None:
        np.minimum(x, 0, out=y)
        np.expm1(y, out=y)
        y *= below
        y += np.maximum(x, 0)
        if above != 1:
            y *= above

    return _in_blocks(step, x)


@float32_inside
def erf(x: Array) -> Array:
    """Return the error function `2 / sqrt(pi) * integral of e^(-t^2) from 0 to x`.

    float32: `x * P(x^2) / Q(x^2)`, within 4e-7 relative (6 units in the last place), exactly +-1 beyond 3.95 or
    rounded there; float64: the series `e^(-x^2) * 2x/sqrt(pi) * sum (2x^2)^n / (2n+1)!!`, all terms of one sign,
    within 1e-14. Source of the series: Abramowitz and Stegun 7.1.6.
    """
    if x.dtype == np.float64:
        return _erf64(x)
    if x.dtype.kind != "f":
        return np.rint(_erf64(x.astype(np.float64))).astype(x.dtype)
    return _in_blocks(_erf_step, x)


def _erf_step(x: Array, y: Array) -> None:
    clipped = np.clip(x, np.float32(-_ERF_END), np.float32(_ERF_END))
    t = np.square(clipped)
    np.multiply(t, np.float32(_ERF_P[0]), out=y)
    y += np.float32(_ERF_P[1])
    below = t * np.float32(_ERF_Q[0])
    below += np.float32(_ERF_Q[1])
    for p, q in zip(_ERF_P[2:], _ERF_Q[2:], strict=True):
        y *= t
        y += np.float32(p)
        below *= t
        below += np.float32(q)
    y *= clipped
    y /= below
    np.clip(y, np.float32(-1), np.float32(1), out=y)


def _erf64(x: Array) -> Array:
    clipped = np.clip(x, -_ERF_END64, _ERF_END64)
    doubled = 2.0 * np.square(clipped)
    term = np.ones_like(clipped)
    total = np.ones_like(clipped)
    # The terms grow up to n = x^2 and then fall at least geometrically; 36 + 120 more leave less than 1e-17.
    for n in range(1, 160):
        term = term * doubled / (2 * n + 1)
        total = total + term
    return np.asarray(np.clip(total * np.exp(-np.square(clipped)) * clipped * (2.0 / math.sqrt(math.pi)), -1.0, 1.0))


@float32_inside
def gelu(x: Array, *, approximate: Literal["none", "tanh"] = "none") -> Array:
    """Return `x/2 * (1 + erf(x / sqrt 2))`, or with `tanh` `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.

    Raises:
        BadArgument: another approximation.
    """
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    if approximate == "tanh":
        inner, cubic = x.dtype.type(math.sqrt(2 / math.pi)), x.dtype.type(0.044715)

        def step(x: Array, y: Array) -> None:
            np.square(x, out=y)
            y *= cubic
            y += one
            y *= x
            y *= inner
            np.tanh(y, out=y)
            y += one
            y *= x
            y *= half
    elif approximate == "none":
        root = x.dtype.type(math.sqrt(0.5))

        def step(x: Array, y: Array) -> None:
            if x.dtype == np.float64:
                y[...] = _erf64(x * root)
            else:
                _erf_step(x * root, y)
            y += one
            y *= x
            y *= half
    else:
        raise BadArgument(f"Gelu: approximate {approximate!r} is not known; use none or tanh")
    return _in_blocks(step, x)


@float32_inside
def hard_sigmoid(x: Array, *, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """Return `max(0, min(1, alpha * x + beta))`."""
    slope, offset, zero, one = np.array([alpha, beta, 0, 1], x.dtype)

    def step(x: Array, y: Array) -> None:
        np.multiply(x, slope, out=y)
        np.add(y, offset, out=y)
        np.maximum(y, zero, out=y)
        np.minimum(y, one, out=y)

    return _in_blocks(step, x)


@float32_inside
def hard_swish(x: Array) -> Array:
    """Return `x * max(0, min(1, x / 6 + 1/2))`; NaN at -inf, where 0 meets infinity."""
    sixth, half, zero, one = np.array([1 / 6, 0.5, 0, 1], x.dtype)

    def step(x: Array, y: Array) -> None:
        np.multiply(x, sixth, out=y)
        y += half
        np.maximum(y, zero, out=y)
        np.minimum(y, one, out=y)
        y *= x

    return _in_blocks(step, x)


@float32_inside
def leaky_relu(x: Array, *, alpha: float = 0.01) -> Array:
    """Return `x` where x >= 0, else `alpha * x`."""
    slope = x.dtype.type(alpha)
    if not 0 < alpha <= 1:
        return np.where(x < 0, x * slope, x)
    # For slopes in (0, 1] the larger of the two branches is the right one.
    y = np.multiply(x, slope)
    return np.maximum(x, y, out=y) if isinstance(y, np.ndarray) else np.maximum(x, y)


@float32_inside
def mish(x: Array) -> Array:
    """Return `x * tanh(ln(1 + e^x))`."""

    def step(x: Array, y: Array) -> None:
        _softplus_step(x, y)
        np.tanh(y, out=y)
        y *= x

    return _in_blocks(step, x)


@float32_inside
def prelu(x: Array, slope: Array) -> Array:
    """Return `x` where x >= 0, else `slope * x`; the slope broadcasts to x."""
    return np.where(x < 0, x * slope, x)


@float32_inside
def relu(x: Array) -> Array:
    """Return `max(x, 0)`."""
    return np.maximum(x, 0)


@float32_inside
def shrink(x: Array, *, bias: float = 0.0, lambd: float = 0.5) -> Array:
    """Return `x + bias` below -lambd, `x - bias` above lambd, else 0."""
    shifted = np.where(x < -lambd, x + x.dtype.type(bias), x - x.dtype.type(bias))
    return np.asarray(np.where(np.abs(x) <= lambd, x.dtype.type(0), shifted))


@float32_inside
def sigmoid(x: Array) -> Array:
    """Return `1 / (1 + e^-x)`.

    Stable in this form: where e^-x overflows (x < -88.7 in float32) the quotient is 0, 1e-39 from the true value.
    """
    return _in_blocks(sigmoid_into, x)


def sigmoid_into(x: Array, y: Array) -> None:
    """Fill y, perhaps x itself, with `1 / (1 + e^-x)`."""
    np.negative(x, out=y)
    np.exp(y, out=y)
    y += 1
    np.reciprocal(y, out=y)


@float32_inside
def softplus(x: Array) -> Array:
    """Return `ln(1 + e^x)`, computed as `max(x, 0) + ln(1 + e^-|x|)`, which never overflows."""
    return _in_blocks(_softplus_step, x)


def _softplus_step(x: Array, y: Array) -> None:
    np.abs(x, out=y)
    np.negative(y, out=y)
    np.exp(y, out=y)
    np.log1p(y, out=y)
    y += np.maximum(x, 0)


@float32_inside
def softsign(x: Array) -> Array:
    """Return `x / (1 + |x|)`; NaN at infinities."""
    return np.asarray(np.divide(x, np.abs(x) + x.dtype.type(1)))


@float32_inside
def swish(x: Array, *, alpha: float = 1.0) -> Array:
    """Return `x * sigmoid(alpha * x)`; NaN at -inf."""
    slope = x.dtype.type(alpha)

    def step(x: Array, y: Array) -> None:
        sigmoid_into(x * slope, y)
        y *= x

    return _in_blocks(step, x)


@float32_inside
def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent."""
    return np.tanh(x)


@float32_inside
def thresholded_relu(x: Array, *, alpha: float = 1.0) -> Array:
    """Return `x` where x > alpha, else 0; NaN becomes 0, as the comparison is false."""
    return np.where(x > x.dtype.type(alpha), x, x.dtype.type(0))
