"""fp16 operations give the bits of an exact scalar oracle in every mode."""

import math
import struct
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore import fp16
from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE, Mode
from tests.test_simcore import scalar_fp16 as scalar

MODES = [Mode(overflow, nan) for overflow in ("saturate", "infinity") for nan in ("zero", "keep")]
MODE_IDS = [f"{mode.overflow}-{mode.nan}" for mode in MODES]
FINITE = fp16.values_between(-np.inf, np.inf)
EVERY = np.arange(0x10000, dtype=np.uint16).view(np.float16)

halves = st.integers(0, 0xFFFF).map(lambda bits: np.uint16(bits).view(np.float16))
modes = st.sampled_from(MODES)


def bits(x: np.ndarray) -> np.ndarray:
    """The bits, with one pattern for all NaN."""
    x = np.asarray(x, np.float16)
    return np.where(np.isnan(x), 0x7E00, x.view(np.uint16) if x.ndim else x.reshape(1).view(np.uint16)[0])


def assert_same(got: np.ndarray, want: list[float]) -> None:
    wanted = np.array(want, np.float64).astype(np.float16).reshape(np.shape(got))

    assert np.array_equal(bits(got), bits(wanted))


# rounding


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_float64_equals_the_fraction_oracle(x: float) -> None:
    want = scalar.to_fp16(Fraction(x), negative_zero=math.copysign(1, x) < 0)

    assert scalar.same(float(fp16.round_fp16(x, IEEE)), want)
    assert scalar.same(float(fp16.round_fp16(x, SATURATE)), scalar.settle(want, "saturate", "zero"))


@given(st.floats(-65519.9, 65519.9))
def test_rounding_equals_the_struct_module(x: float) -> None:
    assert scalar.same(float(fp16.round_fp16(x)), struct.unpack("<e", struct.pack("<e", x))[0])


@given(st.sampled_from(FINITE[FINITE >= 0][:-1]), st.integers(-3, 3))
def test_rounding_near_ties_is_to_even_and_single(x: np.float16, steps: int) -> None:
    tie = (float(x) + float(fp16.next_up(x))) / 2
    near = tie
    for _ in range(abs(steps)):
        near = math.nextafter(near, math.inf if steps > 0 else -math.inf)

    assert float(fp16.round_fp16(near)) == scalar.to_fp16(Fraction(near))


def test_rounding_does_not_pass_through_float32() -> None:
    x = 1 + 2.0**-11 + 2.0**-25

    assert float(fp16.round_fp16(x)) == 1 + 2.0**-10
    assert float(np.float16(np.float32(x))) == 1.0


@pytest.mark.parametrize(
    ("x", "saturated", "ieee"),
    [
        pytest.param(65519.999, 65504.0, 65504.0, id="below the last tie"),
        pytest.param(65520.0, 65504.0, math.inf, id="last tie"),
        pytest.param(-65520.0, -65504.0, -math.inf, id="negative tie"),
        pytest.param(100000.0, 65504.0, math.inf, id="beyond"),
        pytest.param(-math.inf, -65504.0, -math.inf, id="infinity"),
        pytest.param(1e300, 65504.0, math.inf, id="huge"),
        pytest.param(math.nan, 0.0, math.nan, id="nan"),
        pytest.param(2.0**-25, 0.0, 0.0, id="half of the smallest is a tie to zero"),
        pytest.param(math.nextafter(2.0**-25, 1), 2.0**-24, 2.0**-24, id="just above it"),
        pytest.param(-1e-9, -0.0, -0.0, id="negative underflow keeps its sign"),
    ],
)
def test_rounding_at_the_ends_of_the_range(x: float, saturated: float, ieee: float) -> None:
    assert scalar.same(float(fp16.round_fp16(x, SATURATE)), saturated)
    assert scalar.same(float(fp16.round_fp16(x, IEEE)), ieee)


@pytest.mark.parametrize("mode", MODES, ids=MODE_IDS)
def test_each_half_of_the_mode_acts_alone(mode: Mode) -> None:
    got = fp16.round_fp16([math.inf, -math.inf, math.nan], mode)

    assert_same(got, [scalar.settle(v, mode.overflow, mode.nan) for v in (math.inf, -math.inf, math.nan)])


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64])
def test_rounding_takes_every_real_dtype_and_keeps_the_shape(dtype: type) -> None:
    got = fp16.round_fp16(np.ones((2, 0, 3), dtype))

    assert got.shape == (2, 0, 3)
    assert got.dtype == np.float16
    assert float(fp16.round_fp16(np.ones((), dtype))) == 1.0


@pytest.mark.parametrize("values", [np.ones(2, np.complex128), np.ones(2, np.longdouble), np.array(["1"])])
def test_rounding_refuses_what_it_would_round_twice(values: np.ndarray) -> None:
    if values.dtype == np.float64:
        pytest.skip("longdouble is float64 on this platform")

    with pytest.raises(BadArgument, match="cannot be rounded once"):
        fp16.round_fp16(values)


def test_arguments_are_not_changed() -> None:
    x = np.array([np.nan, np.inf, 1.0])
    fp16.round_fp16(x)

    assert np.array_equal(x, [np.nan, np.inf, 1.0], equal_nan=True)


# operations


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@given(a=halves, b=halves, mode=modes)
def test_binary_operations_equal_the_fraction_oracle(name: str, a: np.float16, b: np.float16, mode: Mode) -> None:
    got = getattr(fp16, name)(a, b, mode)

    assert scalar.same(float(got), getattr(scalar, name)(float(a), float(b), mode.overflow, mode.nan))


@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_binary_operations_broadcast_and_equal_the_oracle_in_bulk(name: str) -> None:
    random = np.random.default_rng(1)
    a = random.integers(0, 0x10000, (40, 1), np.uint16).view(np.float16)
    b = random.integers(0, 0x10000, (50,), np.uint16).view(np.float16)

    got = getattr(fp16, name)(a, b)

    assert_same(got, [getattr(scalar, name)(float(x), float(y)) for x in a[:, 0] for y in b])


def test_sqrt_and_reciprocal_are_correctly_rounded_for_every_fp16_value() -> None:
    assert_same(fp16.sqrt(EVERY, IEEE), [scalar.sqrt(float(x), "infinity", "keep") for x in EVERY])
    assert_same(fp16.reciprocal(EVERY, IEEE), [scalar.div(1.0, float(x), "infinity", "keep") for x in EVERY])


def test_exp_is_correctly_rounded_for_every_fp16_value() -> None:
    assert_same(fp16.exp(EVERY, IEEE), [scalar.exp(float(x), "infinity", "keep") for x in EVERY])


def test_log_is_correctly_rounded_for_every_positive_fp16_value() -> None:
    x = FINITE[FINITE > 0]
    with localcontext() as context:
        context.prec = 30
        want = [scalar.decimal_fp16(Decimal(float(v)).ln()) for v in x]

    assert_same(fp16.log(x), want)
    assert_same(
        fp16.log(np.array([0, -1, np.inf, np.nan], np.float16), IEEE), [-math.inf, math.nan, math.inf, math.nan]
    )
    assert_same(fp16.log(np.array([0, -1, np.inf, np.nan], np.float16)), [-65504.0, 0.0, 65504.0, 0.0])


@given(st.sampled_from(FINITE[FINITE > 0]), st.sampled_from(FINITE[np.abs(FINITE) < 8]))
def test_power_equals_a_forty_digit_power(a: np.float16, b: np.float16) -> None:
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(float(a)) ** Decimal(float(b))
    want = math.inf if exact >= 65520 else 0.0 if exact < Decimal(2) ** -26 else scalar.decimal_fp16(exact)

    assert scalar.same(float(fp16.power(a, b, IEEE)), want)


@pytest.mark.parametrize(
    ("call", "saturated", "ieee"),
    [
        pytest.param(lambda m: fp16.div(np.float16(1), np.float16(0), m), 65504, math.inf, id="1/0"),
        pytest.param(lambda m: fp16.div(np.float16(0), np.float16(0), m), 0, math.nan, id="0/0"),
        pytest.param(lambda m: fp16.reciprocal(np.float16(-0.0), m), -65504, -math.inf, id="1/-0"),
        pytest.param(lambda m: fp16.sqrt(np.float16(-1), m), 0, math.nan, id="sqrt(-1)"),
        pytest.param(lambda m: fp16.exp(np.float16(11.0859375), m), 65248, 65248, id="exp below its limit"),
        pytest.param(lambda m: fp16.exp(np.float16(11.09375), m), 65504, math.inf, id="exp at its limit"),
        pytest.param(lambda m: fp16.mul(np.float16(256), np.float16(256), m), 65504, math.inf, id="256*256"),
        pytest.param(lambda m: fp16.power(np.float16(-2), np.float16(0.5), m), 0, math.nan, id="root of a negative"),
    ],
)
def test_results_out_of_range_follow_the_mode(call, saturated: float, ieee: float) -> None:
    assert float(call(SATURATE)) == saturated
    assert scalar.same(float(call(IEEE)), ieee)


def test_operands_must_be_fp16() -> None:
    with pytest.raises(BadArgument, match="float32; expected float16"):
        fp16.add(np.float32(1), np.float16(1))


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(BadArgument, match=r"\(2,\), \(3,\) do not broadcast"):
        fp16.add(np.zeros(2, np.float16), np.zeros(3, np.float16))


@pytest.mark.parametrize(("overflow", "nan"), [("clip", "zero"), ("saturate", "drop")])
def test_unknown_modes_are_refused(overflow: str, nan: str) -> None:
    with pytest.raises(BadArgument, match="is unknown; choose one of"):
        Mode(overflow, nan)


# neighbours


def test_next_up_walks_through_every_value_in_order() -> None:
    assert np.array_equal(fp16.next_up(FINITE[:-1]), FINITE[1:])
    assert np.array_equal(fp16.next_down(FINITE[1:]), FINITE[:-1])
    assert float(fp16.next_up(np.float16(65504))) == math.inf
    assert float(fp16.next_down(np.float16(-65504))) == -math.inf


def test_values_between_lists_every_finite_value_once() -> None:
    assert FINITE.size == 2 * 0x7C00 - 1
    assert np.all(np.diff(FINITE.astype(np.float64)) > 0)
    assert fp16.values_between(1.0001, 1.0005).size == 0
    assert list(fp16.values_between(-(2.0**-24), 0)) == [-(2.0**-24), 0]


def test_ulp_is_the_gap_to_the_next_larger_value() -> None:
    positive = FINITE[FINITE >= 0].astype(np.float64)

    assert np.array_equal(fp16.ulp(FINITE[FINITE >= 0])[:-1], np.diff(positive))
    assert np.array_equal(fp16.ulp(-FINITE), fp16.ulp(FINITE))
    assert float(fp16.ulp(np.float16(65504))) == 32.0
    assert np.isnan(fp16.ulp(np.array([np.inf, np.nan], np.float16))).all()


@given(st.floats(allow_nan=False))
def test_neighbours_enclose_and_are_adjacent(x: float) -> None:
    below, above = (float(v) for v in fp16.neighbours(x))

    assert below <= x <= above
    assert below == above == x or float(fp16.next_up(np.float16(below))) == above or below == -math.inf


@pytest.mark.parametrize(
    ("x", "below", "above"),
    [
        (0.1, 0.0999755859375, 0.10003662109375),
        (1.0, 1.0, 1.0),
        (70000.0, 65504.0, math.inf),
        (-1e9, -math.inf, -65504.0),
        (1e-12, 0.0, 2.0**-24),
        (math.nan, math.nan, math.nan),
    ],
)
def test_neighbours_of_known_numbers(x: float, below: float, above: float) -> None:
    got = fp16.neighbours(x)

    assert scalar.same(float(got[0]), below)
    assert scalar.same(float(got[1]), above)


@given(st.integers(0, FINITE.size - 1), st.integers(0, FINITE.size - 1))
def test_ulp_distance_counts_values(i: int, j: int) -> None:
    assert int(fp16.ulp_distance(FINITE[i], FINITE[j])) == abs(i - j)


def test_ulp_distance_knows_signed_zero_and_infinity_and_refuses_nan() -> None:
    assert int(fp16.ulp_distance(np.float16(-0.0), np.float16(0.0))) == 0
    assert int(fp16.ulp_distance(np.float16(np.inf), np.float16(65504))) == 1
    with pytest.raises(BadArgument, match="NaN"):
        fp16.ulp_distance(np.float16(np.nan), np.float16(0))


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(BadArgument, match="low <= high"):
        fp16.values_between(1.0, 0.0)
