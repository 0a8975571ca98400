"""Curves equal scalar formulas of the math module."""

import math

import numpy as np
import pytest

from simcore.curves import CURVES

SCALAR = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "exp": math.exp,
    "gelu": lambda x: x / 2 * math.erfc(-x / math.sqrt(2)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "erf": math.erf,
    "softplus": lambda x: math.log1p(math.exp(x)),
}


@pytest.mark.parametrize("name", sorted(CURVES))
def test_curve_equals_the_scalar_formula(name: str) -> None:
    x = np.linspace(-9, 9, 181)

    assert np.allclose(CURVES[name](x), [SCALAR[name](float(v)) for v in x], rtol=1e-12, atol=1e-15)
