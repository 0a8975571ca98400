"""Accumulator widths equal a search over all values; dot products equal ctypes registers."""

import ctypes
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.accumulator import bits_needed, dot, hold, int_range, width
from simcore.errors import BadArgument

REGISTERS = {"int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64}
small = st.integers(-4, 4)
ranges = st.tuples(small, small).map(lambda ends: (min(ends), max(ends)))


@given(ranges, ranges, st.integers(1, 3), st.sampled_from(["int4", "int5", "int6", "uint4"]))
def test_width_equals_a_search_over_all_values(a, b, k, accumulator) -> None:
    products = [x * y for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
    sums = [sum(chosen) for chosen in product(set(products), repeat=k)]
    low, high = int_range(accumulator)
    got = width(a, b, k, accumulator)

    assert (got.low, got.high) == (min(sums), max(sums))
    assert got.overflows == any(not low <= s <= high for s in sums)
    assert -(1 << (got.bits - 1)) <= got.low and got.high < 1 << (got.bits - 1)
    if got.largest_k is None:
        assert set(products) == {0}
    else:
        fits = [low <= n * min(products) and n * max(products) <= high for n in range(60)]
        assert got.largest_k == fits.index(False) - 1


@given(
    st.lists(st.tuples(st.integers(-(2**20), 2**20), st.integers(-(2**20), 2**20)), min_size=1, max_size=6),
    st.sampled_from(sorted(REGISTERS)),
    st.sampled_from(sorted(REGISTERS)),
)
def test_wrapping_dot_equals_c_registers(pairs, product_type, accumulator) -> None:
    total, kept = 0, []
    for x, y in pairs:
        kept.append(REGISTERS[product_type](x * y).value)
        total = REGISTERS[accumulator](total + kept[-1]).value
    got = dot([x for x, _ in pairs], [y for _, y in pairs], product_type, accumulator, "wrap")

    assert (got.total, got.products, got.exact) == (total, tuple(kept), sum(x * y for x, y in pairs))


def test_saturation_acts_at_each_step() -> None:
    got = dot([100, 100, -100], [100, 300, 200], "int32", "int16", "saturate")

    assert (got.total, got.exact, got.overflow_at) == (32767 - 20000, 20000, 1)


@pytest.mark.parametrize(("low", "high", "bits"), [(0, 0, 1), (-128, 127, 8), (0, 128, 9), (-129, 0, 9), (-1, 0, 1)])
def test_bits_needed_is_the_narrowest_signed_type(low: int, high: int, bits: int) -> None:
    assert bits_needed(low, high) == bits


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(BadArgument, match="integer type 'int'"):
        int_range("int")
    with pytest.raises(BadArgument, match="k = 0"):
        width((0, 1), (0, 1), 0, "int32")
    with pytest.raises(BadArgument, match="as many"):
        dot([1], [1, 2], "int32", "int32", "wrap")
    with pytest.raises(BadArgument, match="overflow"):
        hold(1, "int8", "clamp")  # type: ignore[arg-type]
