"""Tables are built and read as a scalar oracle does, and their error report is a plain loop's."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, values_between
from simcore.lut import build_table, error_report, evaluate, lookup, nodes, table_error
from tests.test_simcore import scalar_fp16 as scalar


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {"sigmoid": sigmoid, "tanh": np.tanh, "square": np.square}
LIMITS = {"int8": (-128, 127), "int16": (-32768, 32767)}


def scalar_code(value: float, output: str) -> float:
    """Round to the output type; Python's round() is to even."""
    if output == "fp16":
        return scalar.settle(
            scalar.to_fp16(Fraction(value), negative_zero=math.copysign(1, value) < 0), "saturate", "zero"
        )
    low, high = LIMITS[output]
    return min(max(round(value), low), high)


def scalar_lookup(entries: list[float], low: float, high: float, interpolation: str, output: str, x: float) -> float:
    last = len(entries) - 1
    if math.isnan(x):
        return 0
    t = min(max((x - low) * last / (high - low), 0.0), float(last))
    if interpolation == "nearest":
        return entries[round(t)]
    i = min(math.floor(t), last - 1)
    return entries[i] if t == i else scalar_code(entries[i] + (entries[i + 1] - entries[i]) * (t - i), output)


tables = st.tuples(
    st.sampled_from(sorted(FUNCTIONS)),
    st.integers(2, 70),
    st.floats(-9, 0),
    st.floats(0.125, 9),
    st.sampled_from(["nearest", "linear"]),
    st.sampled_from([("fp16", None), ("int8", 1 / 128), ("int16", 1 / 32768), ("int16", 0.0123)]),
)


@given(tables, st.lists(st.floats(-20, 20) | st.sampled_from([math.inf, -math.inf, math.nan]), min_size=1))
def test_lookup_equals_the_scalar_oracle(table, xs: list[float]) -> None:
    name, n, low, high, interpolation, (output, scale) = table
    built = build_table(FUNCTIONS[name], n, low, high, interpolation=interpolation, output=output, scale=scale)
    values = [float(v) for v in FUNCTIONS[name](np.array([low + (high - low) * i / (n - 1) for i in range(n)]))]
    entries = [scalar_code(v / (scale or 1.0), output) for v in values]

    got = lookup(built, xs)

    assert [float(v) for v in built.entries] == entries
    assert got.dtype == {"fp16": np.float16, "int8": np.int8, "int16": np.int16}[output]
    assert [float(v) for v in got] == [scalar_lookup(entries, low, high, interpolation, output, x) for x in xs]
    assert np.array_equal(evaluate(built, xs), got.astype(np.float64) * (scale or 1.0))


@pytest.mark.parametrize("interpolation", ["nearest", "linear"])
def test_nodes_read_their_own_entry_and_outside_reads_the_ends(interpolation: str) -> None:
    table = build_table(np.tanh, 33, -4, 4, interpolation=interpolation)

    assert np.array_equal(lookup(table, nodes(33, -4, 4)), table.entries)
    assert list(lookup(table, [-100.0, -math.inf])) == [table.entries[0]] * 2
    assert list(lookup(table, [100.0, math.inf])) == [table.entries[-1]] * 2


def test_nearest_ties_go_to_the_even_node() -> None:
    table = build_table(lambda x: x, 5, 0, 4, interpolation="nearest")

    assert list(lookup(table, [0.5, 1.5, 2.5, 3.5])) == [0, 2, 2, 4]


def test_integer_entries_saturate_and_round_ties_to_even() -> None:
    table = build_table(lambda x: x, 5, -2, 2, output="int8", scale=1 / 128, interpolation="nearest")

    assert list(table.entries) == [-128, -128, 0, 127, 127]
    halves = build_table(lambda x: x, 5, 0, 2, output="int8", scale=1.0, interpolation="nearest")
    assert list(halves.entries) == [0, 0, 1, 2, 2]


def test_a_full_int8_table_is_exact_at_every_code() -> None:
    step = 8 / 128
    table = build_table(sigmoid, 256, -128 * step, 127 * step, interpolation="nearest", output="int8", scale=1 / 128)
    codes = np.arange(-128, 128)

    want = np.clip(np.rint(sigmoid(codes * step) * 128), -128, 127)

    assert np.array_equal(lookup(table, codes * step), want)


def test_infinite_entries_saturate_or_serve_nearest_reading_only() -> None:
    assert list(build_table(np.log, 3, 0, 2).entries) == [-65504.0, 0.0, np.float16(math.log(2))]
    assert list(build_table(np.log, 3, 0, 2, interpolation="nearest", mode=IEEE).entries)[:2] == [-math.inf, 0.0]
    with pytest.raises(BadArgument, match=r"entry at x = 0.0, which is not finite"):
        build_table(np.log, 3, 0, 2, mode=IEEE)


def test_nan_reads_zero_or_stays() -> None:
    table = build_table(np.tanh, 9, -1, 1)

    assert float(lookup(table, math.nan)) == 0.0
    assert math.isnan(float(lookup(table, math.nan, "keep")))
    coded = build_table(np.tanh, 9, -1, 1, output="int8", scale=1 / 128)
    assert int(lookup(coded, math.nan)) == 0
    with pytest.raises(BadArgument, match="NaN has no int8 code"):
        lookup(coded, math.nan, "keep")


def test_entries_cannot_be_changed() -> None:
    table = build_table(np.tanh, 9, -1, 1)

    with pytest.raises(ValueError, match="read-only"):
        table.entries[0] = 1


def test_the_error_report_equals_a_loop_over_every_fp16_input() -> None:
    table = build_table(np.tanh, 65, -4, 4, output="int16", scale=1 / 32768)
    xs = [float(x) for x in values_between(-5, 5)]
    got = [float(v) / 32768 for v in lookup(table, xs)]
    want = [float(np.tanh(np.float64(x))) for x in xs]
    absolute = [abs(g - w) for g, w in zip(got, want, strict=True)]
    relative = [a / abs(w) for a, w in zip(absolute, want, strict=True) if w]

    report = table_error(table, np.tanh, -5, 5)

    assert report.points == len(xs)
    assert report.max_absolute == max(absolute)
    assert report.max_absolute_at == xs[absolute.index(max(absolute))]
    assert report.max_relative == pytest.approx(max(relative), rel=1e-12)
    assert report.mean_absolute == pytest.approx(math.fsum(absolute) / len(xs), rel=1e-12)
    assert report.root_mean_square == pytest.approx(math.sqrt(math.fsum(a * a for a in absolute) / len(xs)), rel=1e-12)


def test_small_inputs_have_a_small_absolute_and_a_large_relative_error() -> None:
    table = build_table(np.tanh, 256, -8, 8, interpolation="nearest", output="int8", scale=1 / 128)

    wide, small = table_error(table, np.tanh, -8, 8), table_error(table, np.tanh, -(2.0**-9), 2.0**-9)

    assert small.max_absolute <= wide.max_absolute
    assert small.max_relative > 10
    assert wide.max_relative_at == pytest.approx(0, abs=2.0**-9)


def test_clamping_shows_in_a_range_wider_than_the_table() -> None:
    table = build_table(np.square, 33, -2, 2)

    assert table_error(table, np.square, -3, 3).max_absolute == 5.0
    assert abs(table_error(table, np.square, -3, 3).max_absolute_at) == 3.0


def test_a_report_without_a_nonzero_reference_has_no_relative_error() -> None:
    report = error_report([1.0, 2.0], [0.5, 0.0], [0.0, 0.0])

    assert report.max_relative == 0.0
    assert math.isnan(report.max_relative_at)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: build_table(np.tanh, 1, -1, 1), "1 entries cannot span", id="one entry"),
        pytest.param(lambda: build_table(np.tanh, 9, 1, 1), "must be finite with low < high", id="empty range"),
        pytest.param(lambda: build_table(np.tanh, 9, -math.inf, 1), "must be finite", id="infinite range"),
        pytest.param(lambda: build_table(np.tanh, 9, -1, 1, output="int8"), "need a finite scale", id="no scale"),
        pytest.param(lambda: build_table(np.tanh, 9, -1, 1, scale=1.0), "no meaning for fp16", id="scale for fp16"),
        pytest.param(lambda: build_table(np.tanh, 9, -1, 1, output="int4"), "output: 'int4'", id="output"),
        pytest.param(lambda: build_table(np.tanh, 9, -1, 1, interpolation="cubic"), "'cubic'", id="interpolation"),
        pytest.param(lambda: build_table(np.sum, 9, -1, 1), "must keep the shape", id="shape"),
        pytest.param(
            lambda: build_table(np.sqrt, 9, -1, 1, output="int8", scale=0.1), "NaN at x = -1.0", id="NaN entry"
        ),
        pytest.param(lambda: lookup(build_table(np.tanh, 9, -1, 1), ["a"]), "not a real number", id="text"),
        pytest.param(lambda: table_error(build_table(np.tanh, 9, -1, 1), np.tanh, 1, 0), "low <= high", id="range"),
        pytest.param(
            lambda: table_error(build_table(np.tanh, 9, -1, 1), np.tanh, 1.0001, 1.0005), "no fp16 value", id="no input"
        ),
        pytest.param(lambda: error_report([1.0], [1.0, 2.0], [1.0]), "must be equal", id="report shapes"),
        pytest.param(lambda: error_report([1.0], [math.nan], [1.0]), "got holds NaN", id="report NaN"),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()


def test_float32_entries_leave_only_the_error_of_the_lines() -> None:
    report = table_error(build_table(np.tanh, 257, -8, 8, output="fp32"), np.tanh, -8, 8)
    bound = (1 / 16) ** 2 / 8 * 4 / (3 * np.sqrt(3))

    assert bound * 0.99 < report.max_absolute < bound + 1e-7
    assert lookup(build_table(np.tanh, 3, -1, 1, output="fp32"), 0.5).dtype == np.float32
    with pytest.raises(BadArgument, match="no meaning for fp32"):
        build_table(np.tanh, 3, -1, 1, output="fp32", scale=1.0)


def test_integer_entries_saturate_where_the_quotient_overflows() -> None:
    table = build_table(np.exp, 3, 0, 709, output="int8", scale=1e-9)

    assert table.entries.tolist() == [127, 127, 127]
