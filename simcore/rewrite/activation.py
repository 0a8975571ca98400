"""Activation functions by Exp, Log, Tanh, Sigmoid, Clip and arithmetic; erf in several forms, each with its error.

The stated errors of the approximations are maxima over the real line, found on a grid of 60000 points in float64
against math.erf, and rounded up.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from simcore.ops.reduce import reduced_axes
from simcore.rewrite.rule import EXACT, ROUNDING, Declined, Rule, Site

__all__ = ["RULES"]

#: erf(x) = tanh(x * p(x^2)), p from the constant on; fitted for the least maximal error.
_TANH_OF_NINE: Final = (1.1283581680833872, 0.10293292975349813, -0.0004968223915783644, -0.0004151387790008454)
_TANH_OF_NINE_LAST: Final = 3.2244177910020766e-05
_TANH_OF_THREE: Final = (1.129675821105921, 0.09979270865401185)
#: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
_P: Final = 0.3275911
_A: Final = (0.0, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def _polynomial(site: Site, x: str, coefficients: Sequence[float]) -> str:
    """Return c0 + x (c1 + x (c2 + ...)), by Horner's rule."""
    *rest, last = coefficients
    value = site.scaled(x, last)
    for c in reversed(rest[1:]):
        value = site.mul(site.shifted(value, c), x)
    return site.shifted(value, rest[0])


def _erf_tanh(site: Site, coefficients: Sequence[float]) -> str:
    x = site.input(0)
    site.floating(x)
    return site.op("Tanh", site.mul(x, _polynomial(site, site.mul(x, x), coefficients)))


def _erf_tanh9(site: Site) -> str:
    return _erf_tanh(site, (*_TANH_OF_NINE, _TANH_OF_NINE_LAST))


def _erf_tanh3(site: Site) -> str:
    return _erf_tanh(site, _TANH_OF_THREE)


def _erf_rational(site: Site) -> str:
    """Return sign(x) (1 - t (a1 + t (a2 + ...)) exp(-x^2)) with t = 1 / (1 + p |x|)."""
    x = site.input(0)
    site.floating(x)
    magnitude = site.op("Abs", x)
    t = site.pow(site.shifted(site.scaled(magnitude, _P), 1), -1)
    tail = site.mul(_polynomial(site, t, _A), site.op("Exp", site.op("Neg", site.mul(x, x))))
    value = site.sub(site.number(1), tail)
    return site.op("Where", site.op("Greater", site.number(0), x), site.op("Neg", value), value)


def _gelu(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    if site.attribute("approximate", "none") == "tanh":
        return _gelu_tanh(site)
    inside = site.op("Erf", site.scaled(x, math.sqrt(0.5)))
    return site.scaled(site.mul(x, site.shifted(inside, 1)), 0.5)


def _gelu_tanh(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    first = math.sqrt(2 / math.pi)
    inside = site.mul(x, site.shifted(site.scaled(site.mul(x, x), 0.044715 * first), first))
    return site.scaled(site.mul(x, site.shifted(site.op("Tanh", inside), 1)), 0.5)


def _gelu_sigmoid(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    return site.mul(x, site.op("Sigmoid", site.scaled(x, 1.702)))


def _hard_sigmoid(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    line = site.shifted(site.scaled(x, site.attribute("alpha", 0.2)), site.attribute("beta", 0.5))
    return site.clip(line, 0, 1)


def _hard_swish(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    return site.mul(x, site.clip(site.shifted(site.scaled(x, 1 / 6), 0.5), 0, 1))


def _log_of_one_plus_exp(site: Site, x: str) -> str:
    """Return max(x, 0) + log(1 + exp(-|x|)), which neither overflows nor loses large x."""
    tail = site.op("Exp", site.op("Neg", site.op("Abs", x)))
    return site.add(site.op("Relu", x), site.op("Log", site.shifted(tail, 1)))


def _softplus(site: Site) -> str:
    site.floating(site.input(0))
    return _log_of_one_plus_exp(site, site.input(0))


def _softsign(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    return site.mul(x, site.pow(site.shifted(site.op("Abs", x), 1), -1))


def _mish(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    return site.mul(x, site.op("Tanh", _log_of_one_plus_exp(site, x)))


def _celu(site: Site) -> str:
    alpha = site.attribute("alpha", 1.0)
    if alpha == 0:
        raise Declined("alpha is 0, the function has no value below 0")
    site.floating(site.input(0))
    return site.scaled(site.op("Elu", site.scaled(site.input(0), 1 / alpha), alpha=1.0), alpha)


def _selu(site: Site) -> str:
    site.floating(site.input(0))
    alpha = site.attribute("alpha", 1.67326319217681884765625)
    return site.scaled(site.op("Elu", site.input(0), alpha=alpha), site.attribute("gamma", 1.05070102214813232421875))


def _swish(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    return site.mul(x, site.op("Sigmoid", site.scaled(x, site.attribute("alpha", 1.0))))


def _elu(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    below = site.shifted(site.op("Exp", site.clip(x, None, 0)), -1)
    return site.add(site.op("Relu", x), site.scaled(below, site.attribute("alpha", 1.0)))


def _leaky_relu(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    return site.op("PRelu", x, site.number(site.attribute("alpha", 0.01)))


def _thresholded_relu(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    above = site.op("Greater", x, site.number(site.attribute("alpha", 1.0)))
    return site.op("Where", above, x, site.number(0))


def _shrink(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    bias, limit = site.attribute("bias", 0.0), site.attribute("lambd", 0.5)
    above, below = site.op("Greater", x, site.number(limit)), site.op("Greater", site.number(-limit), x)
    rest = site.op("Where", below, site.shifted(x, bias), site.number(0))
    return site.op("Where", above, site.shifted(x, -bias), rest)


def _log_softmax(site: Site) -> str:
    """Return x - m - log(sum(exp(x - m))); before version 13 over all axes from `axis` on."""
    x = site.input(0)
    site.floating(x)
    axis = site.attribute("axis", -1 if site.opset >= 13 else 1)
    axes: tuple[int, ...] = (axis,)
    if site.opset < 13:
        rank = site.rank(x)
        axes = tuple(range(axis % rank, rank)) if axis < rank else ()
        if not axes:
            raise Declined("no axis is left to normalize over")
    centred = site.sub(x, site.reduce("ReduceMax", x, axes))
    return site.sub(centred, site.op("Log", site.reduce("ReduceSum", site.op("Exp", centred), axes)))


def _hardmax(site: Site) -> str:
    """Return 1 at the first largest element along the axis: positions compared with ArgMax."""
    x = site.input(0)
    axis = site.attribute("axis", -1 if site.opset >= 13 else 1)
    rank = site.rank(x)
    (axis,) = reduced_axes(np.array(axis), rank, 0)
    if site.opset < 13 and axis != rank - 1:
        raise Declined("before version 13 it runs over all axes from `axis` on; bring the model to 13 first")
    size = site.size(x, axis)
    places = site.const(np.arange(size).reshape(size, *(1,) * (rank - 1 - axis)), np.int64, "places")
    found = site.op("Equal", site.op("ArgMax", x, axis=axis, keepdims=1), places)
    return site.op("Where", found, site.number(1), site.number(0))


RULES: Final = (
    Rule(
        ("Erf",),
        "tanh",
        "Tanh(x * p(x^2)), p of degree 4",
        "floats",
        "absolute error up to 3.1e-6",
        "atanh(erf(x)) is odd and smooth; p fitted for the least maximal error",
        _erf_tanh9,
        3.1e-6,
    ),
    Rule(
        ("Erf",),
        "tanh-3",
        "Tanh(1.12968 x + 0.09979 x^3)",
        "floats; chosen by name",
        "absolute error up to 2.9e-4",
        "as tanh, with two coefficients: the fewest operators",
        _erf_tanh3,
        2.9e-4,
    ),
    Rule(
        ("Erf",),
        "rational",
        "sign(x) (1 - t (a1 + ... + a5 t^4) exp(-x^2)), t = 1 / (1 + p |x|)",
        "floats; chosen by name",
        "absolute error up to 6e-7 in float32",
        "Abramowitz and Stegun 7.1.26, 1.5e-7 in exact arithmetic",
        _erf_rational,
        6e-7,
    ),
    Rule(
        ("Gelu",),
        "erf",
        "0.5 x (1 + Erf(x / sqrt(2))), Erf by its own rule; approximate=tanh: that formula",
        "floats",
        f"{ROUNDING}; and that of the rule for Erf",
        "definition in the specification",
        _gelu,
    ),
    Rule(
        ("Gelu",),
        "tanh",
        "0.5 x (1 + Tanh(0.79788 (x + 0.044715 x^3)))",
        "floats; chosen by name",
        "absolute error up to 4.8e-4",
        "the approximate form of the specification",
        _gelu_tanh,
        4.8e-4,
    ),
    Rule(
        ("Gelu",),
        "sigmoid",
        "x * Sigmoid(1.702 x)",
        "floats; chosen by name",
        "absolute error up to 2.04e-2",
        "Hendrycks and Gimpel, Gaussian Error Linear Units",
        _gelu_sigmoid,
        2.04e-2,
    ),
    Rule(("HardSigmoid",), "clip", "Clip(alpha x + beta, 0, 1)", "floats", ROUNDING, "definition", _hard_sigmoid),
    Rule(("HardSwish",), "clip", "x * Clip(x / 6 + 0.5, 0, 1)", "floats", ROUNDING, "definition", _hard_swish),
    Rule(
        ("Softplus",),
        "log",
        "Relu(x) + Log(1 + Exp(-|x|))",
        "floats",
        "absolute error up to 1.2e-7, so results below that become 0",
        "log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)",
        _softplus,
    ),
    Rule(("Softsign",), "power", "x * Pow(1 + |x|, -1)", "floats", ROUNDING, "definition", _softsign),
    Rule(("Mish",), "tanh", "x * Tanh(softplus(x))", "floats", "absolute error up to 1e-6", "definition", _mish),
    Rule(("Celu",), "elu", "alpha * Elu(x / alpha)", "floats; alpha not 0", ROUNDING, "definition", _celu),
    Rule(("Selu",), "elu", "gamma * Elu(x, alpha)", "floats", ROUNDING, "definition", _selu),
    Rule(("Swish",), "sigmoid", "x * Sigmoid(alpha x)", "floats", ROUNDING, "definition", _swish),
    Rule(("Elu",), "exp", "Relu(x) + alpha (Exp(min(x, 0)) - 1)", "floats", ROUNDING, "definition", _elu),
    Rule(("LeakyRelu",), "prelu", "PRelu(x, alpha)", "floats", EXACT, "definition", _leaky_relu),
    Rule(("ThresholdedRelu",), "where", "Where(x > alpha, x, 0)", "floats", EXACT, "definition", _thresholded_relu),
    Rule(("Shrink",), "where", "two Where", "floats", EXACT, "definition", _shrink),
    Rule(
        ("LogSoftmax",),
        "log",
        "x - m - Log(ReduceSum(Exp(x - m)))",
        "floats; before version 13 known rank",
        ROUNDING,
        "log of the softmax, which itself would be 0 for far elements",
        _log_softmax,
    ),
    Rule(
        ("Hardmax",),
        "argmax",
        "Where(ArgMax(x) = position, 1, 0)",
        "known size of the axis; before version 13 the last axis only",
        EXACT,
        "definition",
        _hardmax,
    ),
)
