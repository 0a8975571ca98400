"""Sums equal scalar loops bit for bit, whatever the order, accumulator and mode."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE, Mode, round_fp16
from simcore.fp16_sum import cumsum, reduce_sum, repeat_sum
from tests.test_simcore import scalar_fp16 as scalar

LIMIT32 = float(np.finfo(np.float32).max)
modes = st.builds(Mode, st.sampled_from(["saturate", "infinity"]), st.sampled_from(["zero", "keep"]))
columns = arrays.arrays(
    np.uint16,
    arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.one_of(
        st.integers(0, 0xFFFF), st.sampled_from([0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x8000])
    ),
).map(lambda bits: bits.view(np.float16))


def settle32(value: float, mode: Mode) -> float:
    return scalar.settle(value, mode.overflow, mode.nan, LIMIT32)


def sequential32(values: list[float], mode: Mode) -> float:
    total = settle32(values[0], mode)
    for value in values[1:]:
        total = settle32(scalar.float32(total + value), mode)
    return total


def pairwise32(values: list[float], mode: Mode) -> float:
    level = [settle32(value, mode) for value in values]
    while len(level) > 1:
        pairs = [settle32(scalar.float32(level[i] + level[i + 1]), mode) for i in range(0, len(level) - 1, 2)]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0]


def round16(value: float, mode: Mode) -> float:
    return scalar.add(value, -0.0, mode.overflow, mode.nan)


@given(columns, modes)
def test_fp16_accumulators_equal_the_scalar_loop(x: np.ndarray, mode: Mode) -> None:
    for order, oracle in (("sequential", scalar.sequential), ("pairwise", scalar.pairwise)):
        got = reduce_sum(x, 0, order=order, mode=mode)
        want = [oracle([float(v) for v in column], mode.overflow, mode.nan) for column in x.T]

        assert all(scalar.same(float(g), w) for g, w in zip(got, want, strict=True))


@given(columns, modes)
def test_fp32_accumulators_equal_the_scalar_loop(x: np.ndarray, mode: Mode) -> None:
    for order, oracle in (("sequential", sequential32), ("pairwise", pairwise32)):
        got = reduce_sum(x, 0, accumulator="fp32", order=order, mode=mode)
        want = [round16(oracle([float(v) for v in column], mode), mode) for column in x.T]

        assert all(scalar.same(float(g), w) for g, w in zip(got, want, strict=True))


@given(columns, modes)
def test_cumsum_gives_the_sum_of_every_prefix(x: np.ndarray, mode: Mode) -> None:
    got = cumsum(x, 1, mode=mode)

    assert got.shape == x.shape
    for i in range(x.shape[1]):
        want = reduce_sum(x[:, : i + 1], 1, mode=mode)
        assert np.array_equal(got[:, i], want, equal_nan=True)


@pytest.mark.parametrize("order", ["sequential", "pairwise"])
@pytest.mark.parametrize("accumulator", ["fp16", "fp32"])
def test_long_sums_on_any_axis_equal_the_loop(order: str, accumulator: str) -> None:
    x = np.random.default_rng(3).normal(0, 300, (3, 1001, 2)).astype(np.float16)
    oracle = {
        ("fp16", "sequential"): scalar.sequential,
        ("fp16", "pairwise"): scalar.pairwise,
        ("fp32", "sequential"): lambda v: round16(sequential32(v, SATURATE), SATURATE),
        ("fp32", "pairwise"): lambda v: round16(pairwise32(v, SATURATE), SATURATE),
    }[accumulator, order]

    got = reduce_sum(x, 1, accumulator=accumulator, order=order)

    assert got.shape == (3, 2)
    assert [[float(v) for v in row] for row in got] == [
        [oracle([float(v) for v in x[i, :, j]]) for j in range(2)] for i in range(3)
    ]


@pytest.mark.parametrize(
    ("values", "order", "accumulator", "want"),
    [
        pytest.param([60000, 40000], "sequential", "fp16", 65504, id="saturates"),
        pytest.param([60000, 60000, -30000, 100], "pairwise", "fp16", 35584, id="vendor's tree example"),
        pytest.param([60000, 60000, -60000], "sequential", "fp16", 5504, id="saturates midway"),
        pytest.param([60000, 60000, -60000], "sequential", "fp32", 60000, id="fp32 does not saturate midway"),
        pytest.param([2048] + [1] * 100, "sequential", "fp16", 2048, id="stagnates"),
        pytest.param([2048] + [1] * 100, "sequential", "fp32", 2148, id="fp32 does not stagnate"),
        pytest.param([2048] + [1] * 100, "pairwise", "fp16", 2148, id="pairwise does not stagnate"),
    ],
)
def test_order_and_accumulator_decide_the_sum(values: list[float], order: str, accumulator: str, want: float) -> None:
    got = reduce_sum(np.array(values, np.float16), order=order, accumulator=accumulator)

    assert float(got) == want


def test_ieee_sums_reach_infinity_and_then_nan() -> None:
    x = np.array([60000, 60000, -np.inf], np.float16)

    assert float(reduce_sum(x[:2], mode=IEEE)) == math.inf
    assert math.isnan(float(reduce_sum(x, mode=IEEE)))
    assert float(reduce_sum(x, mode=SATURATE)) == -65504.0


@pytest.mark.parametrize("order", ["sequential", "pairwise"])
def test_an_empty_axis_sums_to_zero(order: str) -> None:
    got = reduce_sum(np.zeros((2, 0, 3), np.float16), 1, order=order)

    assert np.array_equal(got, np.zeros((2, 3)))
    assert cumsum(np.zeros((2, 0), np.float16)).shape == (2, 0)


def test_the_input_is_not_changed() -> None:
    x = np.array([np.inf, np.nan, 1], np.float16)
    reduce_sum(x)
    reduce_sum(x, order="pairwise")

    assert np.array_equal(x, [np.inf, np.nan, 1], equal_nan=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: reduce_sum(np.zeros(3)), "expected float16", id="dtype"),
        pytest.param(lambda: reduce_sum(np.zeros(3, np.float16), 1), "axis 1 does not exist", id="axis"),
        pytest.param(lambda: reduce_sum(np.float16(1)), "axis -1 does not exist", id="scalar"),
        pytest.param(lambda: reduce_sum(np.zeros(3, np.float16), order="tree"), "order 'tree' is unknown", id="order"),
        pytest.param(
            lambda: cumsum(np.zeros(3, np.float16), accumulator="fp64"), "'fp64' is unknown", id="accumulator"
        ),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()


@given(
    st.one_of(st.floats(-65504, 65504), st.sampled_from([0.1, 1000.0, -3.7, 2.0**-24, 60000.0, 0.0])),
    st.integers(1, 600),
    modes,
)
def test_repeated_sum_equals_the_sum_of_equal_values(value: float, count: int, mode: Mode) -> None:
    x = round_fp16(value, mode)
    for accumulator in ("fp16", "fp32"):
        for order in ("sequential", "pairwise"):
            got = repeat_sum(float(x), count, accumulator=accumulator, order=order, mode=mode)
            want = reduce_sum(np.broadcast_to(x, (count,)), accumulator=accumulator, order=order, mode=mode)

            assert scalar.same(float(got), float(want))


def test_repeated_sum_of_a_million_equals_the_long_sum() -> None:
    ones = np.ones(1_000_000, np.float16)
    total, term = 0.0, scalar.float32(0.05)
    for _ in range(100_000):
        total = scalar.float32(total + term)

    assert repeat_sum(1.0, 1_000_000) == reduce_sum(ones) == 2048
    assert repeat_sum(0.05, 100_000, accumulator="fp32") == scalar.to_fp16(Fraction(total))
    assert repeat_sum(3.0, 1_000_000, order="pairwise", mode=IEEE) == math.inf
    with pytest.raises(BadArgument, match="0 times"):
        repeat_sum(1.0, 0)
