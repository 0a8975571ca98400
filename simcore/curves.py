"""Activation curves in float64 by name: what a table or an approximation of them is measured against."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from simcore.fp16 import Real

__all__ = ["CURVES"]

_erf = np.frompyfunc(math.erf, 1, 1)


def _sigmoid(x: Real) -> Real:
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _erf64(x: Real) -> Real:
    return np.asarray(_erf(x), np.float64)


def _gelu(x: Real) -> Real:
    return np.asarray(0.5 * x * (1.0 + _erf64(x / math.sqrt(2.0))))


def _silu(x: Real) -> Real:
    return np.asarray(x * _sigmoid(x))


def _softplus(x: Real) -> Real:
    return np.asarray(np.logaddexp(0.0, x))


#: Curves by name, float64 to float64 of the same shape, as ONNX defines the operators Sigmoid, Tanh, Exp, Erf, Gelu
#: (exact form) and Softplus; silu is `x * sigmoid(x)` (Swish, operator Swish with alpha 1).
CURVES: Final[dict[str, Callable[[Real], Real]]] = {
    "sigmoid": _sigmoid,
    "tanh": lambda x: np.asarray(np.tanh(x)),
    "exp": lambda x: np.asarray(np.exp(x)),
    "gelu": _gelu,
    "silu": _silu,
    "erf": _erf64,
    "softplus": _softplus,
}
