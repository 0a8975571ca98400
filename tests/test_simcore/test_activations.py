"""softmax, tanh, sigmoid and exp equal step-by-step scalar oracles in every form and mode."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore import activations, fp16
from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE, Mode
from tests.test_simcore import scalar_fp16 as scalar

EVERY = np.arange(0x10000, dtype=np.uint16).view(np.float16)
SAMPLE = EVERY[::17]
modes = st.builds(Mode, st.sampled_from(["saturate", "infinity"]), st.sampled_from(["zero", "keep"]))
rows = st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=9).map(lambda b: np.array(b, np.uint16).view(np.float16))
moderate = st.lists(st.floats(-20, 20, width=16), min_size=1, max_size=9).map(lambda v: np.array(v, np.float16))


def scalar_tanh(x: float, form: str, rule: tuple[str, str]) -> float:
    if form == "direct":
        return scalar.tanh(x, *rule)
    if form == "exponential":
        up, down = scalar.exp(x, *rule), scalar.exp(-x, *rule)
        return scalar.div(scalar.sub(up, down, *rule), scalar.add(up, down, *rule), *rule)
    doubled = scalar.mul(x, 2.0, *rule)
    if form == "exp_2x":
        power = scalar.exp(doubled, *rule)
        return scalar.div(scalar.sub(power, 1.0, *rule), scalar.add(power, 1.0, *rule), *rule)
    if form == "exp_minus_2x":
        power = scalar.exp(-doubled, *rule)
        return scalar.div(scalar.sub(1.0, power, *rule), scalar.add(1.0, power, *rule), *rule)
    return scalar.sub(scalar.mul(2.0, scalar_sigmoid(doubled, "exponential", rule), *rule), 1.0, *rule)


def scalar_sigmoid(x: float, form: str, rule: tuple[str, str]) -> float:
    if form == "direct":
        return scalar.sigmoid(x, *rule)
    if form == "exponential":
        return scalar.div(1.0, scalar.add(1.0, scalar.exp(-x, *rule), *rule), *rule)
    if form == "exp_positive":
        power = scalar.exp(x, *rule)
        return scalar.div(power, scalar.add(1.0, power, *rule), *rule)
    half = scalar.mul(0.5, scalar.tanh(scalar.mul(0.5, x, *rule), *rule), *rule)
    return scalar.add(half, 0.5, *rule)


def scalar_softmax(row: list[float], shift: str, normalize: str, order: str, rule: tuple[str, str]) -> list[float]:
    if shift == "max":
        top = math.nan if any(math.isnan(v) for v in row) else max(row)
        row = [scalar.sub(v, top, *rule) for v in row]
    powers = [scalar.exp(v, *rule) for v in row]
    total = (scalar.sequential if order == "sequential" else scalar.pairwise)(powers, *rule)
    if normalize == "divide":
        return [scalar.div(p, total, *rule) for p in powers]
    inverse = scalar.div(1.0, total, *rule)
    return [scalar.mul(p, inverse, *rule) for p in powers]


def assert_all_same(got: np.ndarray, want: list[float]) -> None:
    different = [
        (i, float(g), w) for i, (g, w) in enumerate(zip(got, want, strict=True)) if not scalar.same(float(g), w)
    ]

    assert different == []


@pytest.mark.parametrize("mode", [SATURATE, IEEE], ids=["saturate", "ieee"])
@pytest.mark.parametrize("form", ["direct", "exponential", "exp_2x", "exp_minus_2x", "sigmoid"])
def test_tanh_equals_the_scalar_steps(form: str, mode: Mode) -> None:
    want = [scalar_tanh(float(x), form, (mode.overflow, mode.nan)) for x in SAMPLE]

    assert_all_same(activations.tanh(SAMPLE, form, mode), want)


@pytest.mark.parametrize("mode", [SATURATE, IEEE], ids=["saturate", "ieee"])
@pytest.mark.parametrize("form", ["direct", "exponential", "exp_positive", "tanh"])
def test_sigmoid_equals_the_scalar_steps(form: str, mode: Mode) -> None:
    want = [scalar_sigmoid(float(x), form, (mode.overflow, mode.nan)) for x in SAMPLE]

    assert_all_same(activations.sigmoid(SAMPLE, form, mode), want)


def test_direct_tanh_and_sigmoid_are_correctly_rounded_for_every_fp16_value() -> None:
    assert_all_same(activations.tanh(EVERY, "direct", IEEE), [scalar.tanh(float(x), "infinity", "keep") for x in EVERY])
    assert_all_same(
        activations.sigmoid(EVERY, "direct", IEEE), [scalar.sigmoid(float(x), "infinity", "keep") for x in EVERY]
    )


@given(
    st.one_of(rows, moderate),
    st.sampled_from(["max", "none"]),
    st.sampled_from(["divide", "reciprocal"]),
    st.sampled_from(["sequential", "pairwise"]),
    modes,
)
def test_softmax_equals_the_scalar_steps(x: np.ndarray, shift: str, normalize: str, order: str, mode: Mode) -> None:
    got = activations.softmax(x, shift=shift, normalize=normalize, order=order, mode=mode)

    assert_all_same(got, scalar_softmax([float(v) for v in x], shift, normalize, order, (mode.overflow, mode.nan)))


def test_softmax_works_along_any_axis() -> None:
    x = np.random.default_rng(5).normal(0, 3, (2, 7, 3)).astype(np.float16)

    got = activations.softmax(x, 1)

    assert np.array_equal(got[1, :, 2], activations.softmax(x[1, :, 2]))
    assert np.array_equal(got, np.moveaxis(activations.softmax(np.moveaxis(x, 1, -1)), -1, 1))


@pytest.mark.parametrize("shift", ["max", "none"])
def test_softmax_of_nothing_is_nothing(shift: str) -> None:
    assert activations.softmax(np.zeros((2, 0), np.float16), shift=shift).shape == (2, 0)
    assert activations.softmax(np.zeros((0, 2), np.float16), shift=shift).shape == (0, 2)


def test_softmax_without_the_maximum_saturates_to_two_certainties() -> None:
    x = np.array([12.0, 13.0], np.float16)

    assert list(activations.softmax(x, shift="none")) == [1.0, 1.0]
    assert np.isnan(activations.softmax(x, shift="none", mode=IEEE)).all()
    assert list(activations.softmax(x)) == [np.float16(0.2688), np.float16(0.731)]


def test_softmax_subtracts_the_maximum_of_negative_rows_too() -> None:
    x = np.array([-30.0, -31.0], np.float16)

    assert list(activations.softmax(x)) == [np.float16(0.731), np.float16(0.2688)]
    assert list(activations.softmax(x, shift="none")) == [0.0, 0.0]


def test_the_exponential_tanh_loses_small_values_and_survives_large_ones_only_with_saturation() -> None:
    assert float(activations.tanh(np.float16(2.0**-12), "exponential")) == 0.0
    assert float(activations.tanh(np.float16(2.0**-12))) == 2.0**-12
    assert float(activations.tanh(np.float16(12), "exponential")) == 1.0
    assert math.isnan(float(activations.tanh(np.float16(12), "exponential", IEEE)))


def test_exp_in_base_two_drifts_with_the_size_of_x() -> None:
    x = fp16.values_between(-10, 11)
    log2_e = scalar.to_fp16(Fraction(math.log2(math.e)))
    products = [scalar.mul(float(v), log2_e) for v in x]

    got = activations.exp(x, "base2")

    assert_all_same(got, [scalar.to_fp16(Fraction(2.0**p)) for p in products])
    assert int(fp16.ulp_distance(got, activations.exp(x)).max()) > 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda x: activations.tanh(x, "fast"), "tanh form: 'fast' is unknown", id="tanh"),
        pytest.param(lambda x: activations.sigmoid(x, "fast"), "sigmoid form: 'fast' is unknown", id="sigmoid"),
        pytest.param(lambda x: activations.exp(x, "fast"), "exp form: 'fast' is unknown", id="exp"),
        pytest.param(lambda x: activations.softmax(x, shift="mean"), "softmax shift: 'mean'", id="shift"),
        pytest.param(lambda x: activations.softmax(x, normalize="log"), "softmax normalize: 'log'", id="normalize"),
        pytest.param(lambda x: activations.softmax(x, 1), "axis 1 does not exist", id="axis"),
        pytest.param(lambda x: activations.softmax(x.astype(float)), "expected float16", id="dtype"),
        pytest.param(lambda x: activations.tanh(x.astype(float)), "expected float16", id="tanh dtype"),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call(np.zeros(3, np.float16))
