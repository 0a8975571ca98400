"""The activations that a recurrent layer can name, with their alpha and beta bound."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from simcore.errors import BadArgument
from simcore.ops import activation
from simcore.ops.widen import Array

__all__ = ["Activation", "activation_functions"]

Activation = Callable[[Array], Array]


def _sigmoid(x: Array) -> Array:
    y = np.empty(x.shape, x.dtype)
    activation.sigmoid_into(x, y)
    return y


def _tanh(x: Array) -> Array:
    return np.tanh(x)


#: Lower-case name -> function of (x, alpha, beta). Source: ONNX operator specification, RNN.
_FUNCTIONS: Final[dict[str, Callable[[Array, float, float], Array]]] = {
    "affine": lambda x, alpha, beta: np.asarray(x.dtype.type(alpha) * x + x.dtype.type(beta)),
    "elu": lambda x, alpha, beta: activation.elu(x, alpha=alpha),
    "hardsigmoid": lambda x, alpha, beta: activation.hard_sigmoid(x, alpha=alpha, beta=beta),
    "leakyrelu": lambda x, alpha, beta: activation.leaky_relu(x, alpha=alpha),
    "relu": lambda x, alpha, beta: activation.relu(x),
    "scaledtanh": lambda x, alpha, beta: np.asarray(x.dtype.type(alpha) * np.tanh(x.dtype.type(beta) * x)),
    "sigmoid": lambda x, alpha, beta: _sigmoid(x),
    "softplus": lambda x, alpha, beta: activation.softplus(x),
    "softsign": lambda x, alpha, beta: activation.softsign(x),
    "tanh": lambda x, alpha, beta: _tanh(x),
    "thresholdedrelu": lambda x, alpha, beta: activation.thresholded_relu(x, alpha=alpha),
}
#: Functions that take an alpha from the list, with the default of the operator of that name.
_ALPHA: Final = {
    "affine": 1.0, "elu": 1.0, "hardsigmoid": 0.2, "leakyrelu": 0.01, "scaledtanh": 1.0, "thresholdedrelu": 1.0,
}  # fmt: skip
#: Likewise for beta.
_BETA: Final = {"affine": 0.0, "hardsigmoid": 0.5, "scaledtanh": 1.0}


def activation_functions(
    names: Sequence[str],
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    per_direction: int,
    direction: str,
) -> list[list[Activation]]:
    """Return the functions of every direction, `[direction][position]`.

    alpha and beta values are handed out in order to the functions that take one; where the list is used up, the default
    of the ONNX operator of that name applies. Names are compared without case.

    Raises:
        BadArgument: an unknown name, or a number of names that is not per_direction for every direction.
    """
    return _functions(tuple(names), tuple(alphas or ()), tuple(betas or ()), per_direction, direction)


@lru_cache(maxsize=256)
def _functions(
    names: tuple[str, ...], alphas: tuple[float, ...], betas: tuple[float, ...], per_direction: int, direction: str
) -> list[list[Activation]]:
    directions = 2 if direction == "bidirectional" else 1
    if len(names) != per_direction * directions:
        raise BadArgument(
            f"activations: {len(names)} names {list(names)}, expected {per_direction * directions} for {direction}"
        )
    alpha_left, beta_left = list(alphas), list(betas)
    functions: list[Activation] = []
    for name in names:
        key = name.lower()
        if key not in _FUNCTIONS:
            raise BadArgument(f"activations: {name!r} is not known; use one of {', '.join(_FUNCTIONS)}")
        alpha = alpha_left.pop(0) if key in _ALPHA and alpha_left else _ALPHA.get(key, 0.0)
        beta = beta_left.pop(0) if key in _BETA and beta_left else _BETA.get(key, 0.0)
        functions.append(_bound(key, alpha, beta))
    return [functions[i * per_direction : (i + 1) * per_direction] for i in range(directions)]


def _bound(key: str, alpha: float, beta: float) -> Activation:
    if key == "sigmoid":
        return _sigmoid
    if key == "tanh":
        return _tanh
    function = _FUNCTIONS[key]
    return lambda x: function(x, alpha, beta)
