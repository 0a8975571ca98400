"""Metrics: every one against a plain loop in exact sums, the rules for zeros, NaN and inf, and blocks."""

import math

import numpy as np
import pytest

from simcore import metrics
from simcore.errors import BadArgument
from simcore.metrics import compare, overflows, verdict

EPS = 2.0**-52


def by_hand(a: list[float], b: list[float]) -> dict[str, float]:
    n = len(a)
    relative = [abs(x - y) / abs(y) if abs(y) > EPS else 0.0 for x, y in zip(a, b, strict=True)]
    errors = [abs(x - y) for x, y in zip(a, b, strict=True)]
    square = math.fsum(e * e for e in errors)
    norm_a, norm_b = (math.sqrt(math.fsum(v * v for v in values)) for values in (a, b))
    cosine = math.fsum(x * y for x, y in zip(a, b, strict=True)) / norm_a / norm_b if norm_a and norm_b else math.nan

    def mapped(values: list[float]) -> list[float]:
        low, high = min(values), max(values)
        unit = [(v - low) / (high - low) if high > low else v for v in values]
        floored = [max(u, 2.0**-23) for u in unit]
        total = math.fsum(floored)
        return [f / total for f in floored]

    divergence = math.fsum(p * math.log(p / q) for p, q in zip(mapped(a), mapped(b), strict=True))
    return {
        "cosine_similarity": cosine,
        "max_absolute_error": max(errors),
        "accumulated_relative_error": math.fsum(relative),
        "relative_euclidean_distance": math.sqrt(square) / norm_b if norm_b else 0.0,
        "kullback_leibler_divergence": divergence,
        "mean_absolute_error": math.fsum(errors) / n,
        "root_mean_square_error": math.sqrt(square / n),
        "max_relative_error": max(relative),
        "mean_relative_error": math.fsum(relative) / n,
        "mean_square_error": square / n,
        "sqnr": 10 * math.log10(norm_b**2 / square) if square else math.inf,
    }


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("n", [2, 3, 100, 20_000])
def test_every_metric_equals_the_plain_loop(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    low = 0 if dtype == "uint8" else -100
    a, b = (rng.uniform(low, 100, n).astype(dtype) for _ in range(2))
    found = compare(a, b)
    expected = by_hand([float(v) for v in a], [float(v) for v in b])
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-10, abs=1e-12), name
    assert found.count == n
    assert found.worst == int(np.argmax(np.abs(a.astype(float) - b.astype(float))))
    assert found.mean == pytest.approx((float(a.astype(float).mean()), float(b.astype(float).mean())))
    assert found.standard_deviation == pytest.approx((float(a.astype(float).std()), float(b.astype(float).std())))


def test_equal_tensors_have_no_error() -> None:
    x = np.random.default_rng(0).normal(size=(3, 40, 50)).astype(np.float32)
    found = compare(x, x)
    assert found.cosine_similarity == pytest.approx(1.0)
    assert found.max_absolute_error == found.relative_euclidean_distance == found.kullback_leibler_divergence == 0
    assert found.sqnr == math.inf
    assert all(verdict(found).values())


@pytest.mark.parametrize(
    ("a", "b", "cosine", "red", "sqnr"),
    [
        ([0.0, 0.0], [0.0, 0.0], 1.0, 0.0, math.inf),
        ([0.0, 0.0], [1.0, 2.0], math.nan, 1.0, 0.0),
        ([1.0, 2.0], [0.0, 0.0], math.nan, 0.0, -math.inf),
        ([1.0, 2.0], [-1.0, -2.0], -1.0, 2.0, -6.020599913279624),
    ],
)
def test_zero_tensors_follow_msaccucmp(a: list[float], b: list[float], cosine: float, red: float, sqnr: float) -> None:
    found = compare(np.array(a), np.array(b))
    assert found.cosine_similarity == pytest.approx(cosine, nan_ok=True)
    assert found.relative_euclidean_distance == pytest.approx(red)
    assert found.sqnr == pytest.approx(sqnr)


def test_golden_zeros_are_left_out_of_relative_errors() -> None:
    found = compare(np.array([5.0, 3.0]), np.array([0.0, 2.0]))
    assert found.accumulated_relative_error == found.max_relative_error == 0.5
    assert found.mean_relative_error == 0.25


def test_divergence_of_a_constant_tensor_is_of_equal_parts() -> None:
    found = compare(np.array([4.0, 4.0]), np.array([1.0, 2.0]))
    q = np.array([2.0**-23, 1.0]) / (1 + 2.0**-23)
    assert found.kullback_leibler_divergence == pytest.approx(float(np.sum(0.5 * np.log(0.5 / q))))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_leaves_no_metric_and_is_counted(bad: float) -> None:
    found = compare(np.array([1.0, bad, bad]), np.array([1.0, 2.0, bad]))
    assert found.non_finite == (2, 1)
    assert math.isnan(found.cosine_similarity) and math.isnan(found.sqnr) and found.worst == -1
    assert not any(verdict(found).values())


def test_values_whose_squares_leave_float64_are_refused() -> None:
    with pytest.raises(BadArgument, match="scale both down"):
        compare(np.array([1e200, 1.0]), np.array([1.0, 1.0]))


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (np.zeros(3), np.zeros(4), "shapes"),
        (np.zeros(0), np.zeros(0), "not empty"),
        (np.zeros(2, complex), np.zeros(2), "mine holds complex"),
        (np.zeros(2), np.array([None, 1]), "golden holds object"),
    ],
)
def test_tensors_that_cannot_be_compared_are_named(a: np.ndarray, b: np.ndarray, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        compare(a, b)


def test_arguments_are_left_as_they_are() -> None:
    a, b = np.arange(5.0), np.arange(5.0) + 1
    compare(a, b)
    assert a.tolist() == [0, 1, 2, 3, 4] and b.tolist() == [1, 2, 3, 4, 5]


def test_limits_are_strict() -> None:
    found = compare(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    assert found.root_mean_square_error == 1.0
    assert verdict(found)["root_mean_square_error"] is False
    assert {limit.metric for limit in metrics.LIMITS} == set(verdict(found))


@pytest.mark.parametrize(
    ("values", "expected"),
    [([65503.0], False), ([65504.0], True), ([-65504.0, 0], True), ([math.inf], True), ([math.nan, 1], False)],
)
def test_overflow_starts_at_the_largest_fp16(values: list[float], expected: bool) -> None:
    assert overflows(np.array(values, np.float32)) is expected
