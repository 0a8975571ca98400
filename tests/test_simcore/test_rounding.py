"""Rounding and narrowing agree with exact arithmetic on fractions and Python integers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simcore.errors import BadArgument
from simcore.rounding import (
    INT_TYPES,
    int_type,
    narrow_int32,
    round_float,
    round_saturate,
    round_shift,
    saturate,
    wrap,
)

MODES = ("half_even", "half_away", "half_up", "toward_zero", "floor")


def exact_round(value: Fraction, mode: str) -> int:
    """Return the integer the mode takes, by comparing fractions."""
    below = math.floor(value)
    rest = value - below
    if mode == "floor" or rest == 0:
        return below
    if mode == "toward_zero":
        return below if value > 0 else below + 1
    if rest != Fraction(1, 2):
        return below if rest < Fraction(1, 2) else below + 1
    return {
        "half_even": below if below % 2 == 0 else below + 1,
        "half_away": below + 1 if value > 0 else below,
        "half_up": below + 1,
    }[mode]


def clamp(value: int, kind: str) -> int:
    return max(INT_TYPES[kind].low, min(INT_TYPES[kind].high, value))


TIES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("half_even", [-2, -2, 0, 0, 2, 2]),
        ("half_away", [-3, -2, -1, 1, 2, 3]),
        ("half_up", [-2, -1, 0, 1, 2, 3]),
        ("toward_zero", [-2, -1, 0, 0, 1, 2]),
        ("floor", [-3, -2, -1, 0, 1, 2]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ties_go_where_the_mode_says(mode: str, expected: list[int], dtype: type) -> None:
    rounded = round_float(np.array(TIES, dtype), mode)

    assert rounded.tolist() == expected
    assert rounded.dtype == dtype


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("value", [0.49999997, -0.49999997, 8388609.0, -8388609.0, 16777215.0, 1e-45, -1e-45, 3e38])
def test_values_that_break_adding_a_half_are_right(mode: str, value: float) -> None:
    x = np.float32(value)

    assert round_float(np.array([x]), mode)[0] == exact_round(Fraction(float(x)), mode)


@pytest.mark.parametrize("mode", MODES)
@given(x=hnp.arrays(np.float32, 20, elements=st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_round_float_equals_fractions(mode: str, x: np.ndarray) -> None:
    assert [int(v) for v in round_float(x, mode)] == [exact_round(Fraction(float(v)), mode) for v in x]


@pytest.mark.parametrize("mode", MODES)
@given(x=hnp.arrays(np.float16, 20, elements=st.floats(width=16, allow_nan=False, allow_infinity=False)))
def test_round_float_equals_fractions_in_half_precision(mode: str, x: np.ndarray) -> None:
    assert [int(v) for v in round_float(x, mode)] == [exact_round(Fraction(float(v)), mode) for v in x]


@pytest.mark.parametrize("mode", MODES)
def test_infinities_and_nan_stay(mode: str) -> None:
    rounded = round_float(np.array([np.inf, -np.inf, np.nan], np.float32), mode)

    assert rounded[0] == np.inf
    assert rounded[1] == -np.inf
    assert np.isnan(rounded[2])


@pytest.mark.parametrize("mode", MODES)
@given(
    x=hnp.arrays(np.int64, 10, elements=st.integers(-(2**63), 2**63 - 1)),
    shift=st.integers(0, 62),
)
def test_round_shift_equals_fractions(mode: str, x: np.ndarray, shift: int) -> None:
    expected = [exact_round(Fraction(int(v), 2**shift), mode) for v in x]

    assert round_shift(x, shift, mode).tolist() == expected


@pytest.mark.parametrize("mode", MODES)
def test_round_shift_is_right_at_every_tie(mode: str) -> None:
    x = np.arange(-64, 65, dtype=np.int16)
    shift = np.arange(5)[:, None]

    expected = [[exact_round(Fraction(int(v), 2 ** int(s)), mode) for v in x] for s in shift[:, 0]]

    assert round_shift(x, shift, mode).tolist() == expected


@pytest.mark.parametrize("kind", INT_TYPES)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64])
def test_saturate_and_wrap_equal_python_integers(kind: str, dtype: type) -> None:
    info, target = np.iinfo(dtype), INT_TYPES[kind]
    edges = {target.low + d for d in (-1, 0, 1)} | {target.high + d for d in (-1, 0, 1)} | {0, info.min, info.max}
    x = np.array([v for v in sorted(edges) if info.min <= v <= info.max], dtype)
    modulus = 2**target.bits

    assert saturate(x, kind).tolist() == [clamp(int(v), kind) for v in x]
    assert wrap(x, kind).tolist() == [(int(v) - target.low) % modulus + target.low for v in x]
    assert saturate(x, kind).dtype == wrap(x, kind).dtype == target.dtype


@pytest.mark.parametrize("kind", INT_TYPES)
@given(x=hnp.arrays(np.int64, 8, elements=st.integers(-(2**63), 2**63 - 1)))
def test_wrap_equals_python_modulo(kind: str, x: np.ndarray) -> None:
    target = INT_TYPES[kind]

    assert wrap(x, kind).tolist() == [(int(v) - target.low) % 2**target.bits + target.low for v in x]


def test_narrow_int32_shows_the_sum_as_the_accumulator_does() -> None:
    sums = np.array([2**31, -(2**31) - 1, 5], np.int64)

    assert narrow_int32(sums, "wrap").tolist() == [-(2**31), 2**31 - 1, 5]
    assert narrow_int32(sums, "saturate").tolist() == [2**31 - 1, -(2**31), 5]
    assert narrow_int32(sums, "wide").tolist() == sums.tolist()
    assert [narrow_int32(sums, mode).dtype.name for mode in ("wrap", "saturate", "wide")] == ["int32", "int32", "int64"]


@pytest.mark.parametrize("kind", INT_TYPES)
@pytest.mark.parametrize("mode", MODES)
@given(x=hnp.arrays(np.float32, 12, elements=st.floats(width=32, allow_nan=False)), data=st.data())
def test_round_saturate_equals_fractions(kind: str, mode: str, x: np.ndarray, data: st.DataObject) -> None:
    target = INT_TYPES[kind]
    offset = data.draw(st.integers(target.low, target.high))

    def one(value: float) -> int:
        if math.isinf(value):
            return target.high if value > 0 else target.low
        return clamp(exact_round(Fraction(value), mode) + offset, kind)

    assert round_saturate(x, kind, mode, offset).tolist() == [one(float(v)) for v in x]


def test_nan_counts_as_zero_and_gets_the_offset() -> None:
    assert round_saturate(np.array([np.nan, 1.0], np.float32), "uint8", offset=7).tolist() == [7, 8]


def test_a_vector_of_offsets_broadcasts_also_when_all_are_zero() -> None:
    assert round_saturate(np.float32([[1.4]]), "int8", offset=np.array([1, 2])).tolist() == [[2, 3]]
    assert round_saturate(np.float32([[1.4]]), "int8", offset=np.array([0, 0])).tolist() == [[1, 1]]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_empty_and_scalar_shapes_are_kept(shape: tuple[int, ...]) -> None:
    for mode in MODES:
        assert round_float(np.zeros(shape, np.float32), mode).shape == shape
        assert round_shift(np.zeros(shape, np.int32), 3, mode).shape == shape
    assert round_saturate(np.zeros(shape, np.float32), "int8").shape == shape
    assert saturate(np.zeros(shape, np.int32), "int8").shape == wrap(np.zeros(shape, np.int32), "int8").shape == shape


def test_arguments_stay_untouched() -> None:
    x, n = np.array([300.7, np.nan], np.float32), np.array([300], np.int32)
    round_saturate(x, "int8", offset=3)
    saturate(n, "int8")

    assert n.tolist() == [300]
    assert x[0] == np.float32(300.7)
    assert np.isnan(x[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: int_type("int7"), "int7.*int4"),
        (lambda: round_float(np.array([1]), "floor"), "int64"),
        (lambda: round_float(np.float32([1]), "up"), "up.*half_even"),
        (lambda: round_shift(np.int32([1]), 1, "up"), "up.*half_even"),
        (lambda: round_shift(np.int32([1]), 63), "0..62"),
        (lambda: round_shift(np.int32([1]), -1), "0..62"),
        (lambda: round_shift(np.float32([1]), 1), "float32"),
        (lambda: saturate(np.float32([1]), "int8"), "round_saturate"),
        (lambda: wrap(np.float32([1]), "int8"), "round_saturate"),
        (lambda: round_saturate(np.float32([1]), "int8", offset=128), "-128..127"),
        (lambda: round_saturate(np.float32([1]), "int8", offset=0.5), "integers"),
        (lambda: narrow_int32(np.int64([1]), "clip"), "clip.*saturate"),
        (lambda: narrow_int32(np.int32([1]), "clip"), "clip.*saturate"),
    ],
)  # fmt: skip
def test_wrong_arguments_name_what_is_expected(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
