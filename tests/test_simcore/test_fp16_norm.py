"""Norms in fp16 equal scalar loops in exact fractions; the limits are where the steps begin to overflow."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE
from simcore.fp16_norm import norm_fp16, safe_limits
from tests.test_simcore import scalar_fp16 as scalar


def scalar_norm(values: list[float], kind: str, scaling: str, rules: tuple[str, str]) -> tuple[float, list[float]]:
    n = len(values)
    if kind == "layer":
        mean = scalar.div(scalar.sequential(values, *rules), float(n), *rules)
        values = [scalar.sub(v, mean, *rules) for v in values]
    if scaling == "sum_first":
        squares = [scalar.mul(v, v, *rules) for v in values]
        mean_square = scalar.div(scalar.sequential(squares, *rules), float(n), *rules)
    else:
        exact = [Fraction(v) ** 2 / n if math.isfinite(v) else None for v in values]
        squares = [scalar.settle(scalar.to_fp16(e), *rules) if e is not None else math.inf for e in exact]
        mean_square = scalar.sequential(squares, *rules)
    shifted = scalar.add(mean_square, scalar.to_fp16(Fraction(1, 1000)), *rules)
    # 1 / sqrt(v) of an fp16 value is far from a tie of fp16, float64 decides it.
    factor = 0.0 if math.isinf(shifted) else scalar.to_fp16(Fraction(1 / math.sqrt(shifted)))
    return mean_square, [scalar.mul(v, factor, *rules) for v in values]


@pytest.mark.parametrize("mode", [IEEE, SATURATE], ids=["ieee", "saturate"])
@pytest.mark.parametrize("kind", ["rms", "layer"])
@pytest.mark.parametrize("scaling", ["sum_first", "divide_first"])
def test_norm_equals_the_scalar_loop(kind, scaling, mode) -> None:
    rng = random.Random(5)
    for size, spread in ((3, 1.0), (8, 40.0), (16, 300.0), (5, 9000.0)):
        values = [scalar.to_fp16(Fraction(rng.uniform(-spread, spread))) for _ in range(size)]
        mean_square, outputs = scalar_norm(values, kind, scaling, (mode.overflow, mode.nan))
        got = norm_fp16(values, kind, scaling, "fp16", 0.001, mode)

        assert scalar.same(float(got.mean_square), mean_square)
        assert all(scalar.same(float(g), w) for g, w in zip(got.outputs, outputs, strict=True))


@pytest.mark.parametrize("scaling", ["sum_first", "divide_first"])
def test_beyond_the_limits_the_mean_square_is_infinite(scaling) -> None:
    single, uniform = safe_limits(16, scaling)
    outlier = lambda v: norm_fp16([v, *[0.0] * 15], "rms", scaling, "fp16", 1e-5, IEEE).squares.max()  # noqa: E731
    equal = lambda v: norm_fp16([v] * 16, "rms", scaling, "fp16", 1e-5, IEEE).mean_square  # noqa: E731

    assert np.isfinite(outlier(single * 0.997)) and np.isinf(outlier(single * 1.003))
    assert np.isfinite(equal(uniform * 0.99)) and np.isinf(equal(uniform * 1.01))


def test_fp32_accumulation_normalizes_large_values() -> None:
    got = norm_fp16([1000.0, -2000.0, 3000.0], "rms", "sum_first", "fp32", 0.0, IEEE)

    assert np.allclose(got.outputs, np.array([1, -2, 3]) / math.sqrt(14 / 3), rtol=1e-3)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(BadArgument, match="n = 0"):
        safe_limits(0)
    with pytest.raises(BadArgument, match="kind"):
        norm_fp16([1.0], "group", "sum_first", "fp16", 0.0, IEEE)  # type: ignore[arg-type]
