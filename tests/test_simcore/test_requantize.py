"""Requantizing equals ONNX Runtime's rule bit for bit, gemmlowp's two instructions, and exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simcore.conv import conv
from simcore.errors import BadArgument
from simcore.matmul import matmul
from simcore.requantize import fixed_point, requantize, requantize_fixed, requantize_scale
from simcore.rounding import INT_TYPES
from tests.test_simcore.onnx_runtime_oracle import run_node, safe_weights

INT32 = st.integers(-(2**31), 2**31 - 1)


def clamp(value: int, kind: str) -> int:
    return max(INT_TYPES[kind].low, min(INT_TYPES[kind].high, value))


def gemmlowp(acc: int, multiplier: int, shift: int) -> int:
    """Return the result of the two instructions as the C code spells them, on Python integers."""
    acc = max(-(2**31), min(2**31 - 1, acc << max(31 - shift, 0)))
    product = acc * multiplier
    nudge = (1 << 30) if product >= 0 else 1 - (1 << 30)
    high = abs(product + nudge) // (1 << 31) * (1 if product + nudge >= 0 else -1)
    exponent = max(shift - 31, 0)
    mask = (1 << exponent) - 1
    remainder, threshold = high & mask, (mask >> 1) + (1 if high < 0 else 0)
    return (high >> exponent) + (1 if remainder > threshold else 0)


@given(
    acc=hnp.arrays(np.int32, 30, elements=INT32),
    scale=st.floats(2.0**-30, 1.0, width=32),
    zero_point=st.integers(-128, 127),
)
def test_float_rule_equals_scalar_float32_arithmetic(acc: np.ndarray, scale: float, zero_point: int) -> None:
    expected = [clamp(round(float(np.float32(float(np.float32(int(v))) * scale))) + zero_point, "int8") for v in acc]

    assert requantize(acc, scale, zero_point).tolist() == expected


def test_float_rule_rounds_the_accumulator_to_24_bits_first() -> None:
    acc = np.array([2**24 + 1], np.int32)

    assert requantize(acc, np.float32(2.0**-24), 0, "int16").tolist() == [1]
    assert requantize(acc, np.float32(1.0), 0, "int32").tolist() == [2**24]


@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")], ids="*".join)
def test_qlinear_matmul_equals_onnx_runtime_bit_for_bit(kinds: tuple[str, str]) -> None:
    rng = np.random.default_rng(11)
    for m, k, n in ((30, 64, 128), (7, 300, 1024), (128, 33, 240)):
        a = rng.integers(np.iinfo(kinds[0]).min, np.iinfo(kinds[0]).max, (m, k), endpoint=True).astype(kinds[0])
        b = safe_weights(rng, kinds[1], (k, n))
        scales = rng.uniform(0.001, 0.1, 3).astype(np.float32)
        scales[2] = scales[0] * scales[1] * np.sqrt(k) * 70
        points = [np.array(rng.integers(np.iinfo(kind).min, np.iinfo(kind).max), kind) for kind in (*kinds, kinds[0])]
        inputs = dict(
            zip(
                ("a", "a_scale", "a_zp", "b", "b_scale", "b_zp", "y_scale", "y_zp"),
                (a, np.array(scales[0]), points[0], b, np.array(scales[1]), points[1], np.array(scales[2]), points[2]),
                strict=True,
            )
        )
        expected = run_node("QLinearMatMul", inputs, kinds[0])
        acc = matmul(a, b, points[0], points[1])

        assert np.array_equal(requantize(acc, requantize_scale(*scales), points[2], kinds[0]), expected)


CONVOLUTIONS = [
    pytest.param((1, 16, 32, 32), (32, 16, 3, 3), {"pads": [1, 1, 1, 1]}, id="3x3"),
    pytest.param((2, 24, 20, 20), (48, 24, 1, 1), {}, id="1x1"),
    pytest.param((1, 64, 28, 28), (64, 1, 3, 3), {"pads": [1, 1, 1, 1], "group": 64}, id="depthwise"),
    pytest.param((1, 32, 21, 21), (64, 8, 3, 3), {"strides": [2, 2], "group": 4}, id="grouped strided"),
    pytest.param((1, 8, 40, 17), (16, 8, 5, 3), {"dilations": [2, 3], "pads": [4, 3, 2, 1]}, id="dilated"),
    pytest.param((2, 16, 300), (24, 16, 7), {"strides": [2], "pads": [3, 3]}, id="1d"),
]


@pytest.mark.parametrize(("x_shape", "w_shape", "attributes"), CONVOLUTIONS)
@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("uint8", "uint8")], ids="*".join)
def test_qlinear_conv_equals_onnx_runtime_bit_for_bit(
    x_shape: tuple[int, ...], w_shape: tuple[int, ...], attributes: dict[str, list[int]], kinds: tuple[str, str]
) -> None:
    rng = np.random.default_rng(sum(x_shape) + sum(w_shape))
    maps = w_shape[0]
    x = rng.integers(0, 255, x_shape, endpoint=True).astype(np.uint8)
    w = safe_weights(rng, kinds[1], w_shape)
    x_scale = np.array(rng.uniform(0.01, 0.1), np.float32)
    w_scale = rng.uniform(0.001, 0.01, maps).astype(np.float32)
    y_scale = np.array(x_scale * w_scale.mean() * math.sqrt(math.prod(w_shape[1:])) * 70, np.float32)
    x_point, y_point = np.array(101, np.uint8), np.array(120, np.uint8)
    w_point = np.zeros(maps, np.int8) if kinds[1] == "int8" else np.full(maps, 128, np.uint8)
    bias = rng.integers(-20000, 20000, maps).astype(np.int32)
    inputs = {
        "x": x, "x_scale": x_scale, "x_zp": x_point, "w": w, "w_scale": w_scale, "w_zp": w_point,
        "y_scale": y_scale, "y_zp": y_point, "bias": bias,
    }  # fmt: skip
    expected = run_node("QLinearConv", inputs, "uint8", **attributes)
    acc = conv(x, w, x_point, w_point, bias, **attributes)
    scale = requantize_scale(x_scale, w_scale, y_scale)

    assert np.array_equal(requantize(acc, scale, y_point, "uint8", axis=1), expected)


@given(scale=st.floats(2.0**-60, 1e6), bits=st.integers(8, 31))
def test_fixed_point_is_the_nearest_multiplier(scale: float, bits: int) -> None:
    if scale >= 2**bits - 1:
        return
    multiplier, shift = (int(value) for value in fixed_point(scale, bits))
    error = abs(Fraction(multiplier, 2**shift) - Fraction(scale))

    assert 0 <= multiplier < 2**bits
    assert 0 <= shift <= 62
    assert error <= Fraction(1, 2 ** (shift + 1))
    if shift < 62:
        assert multiplier >= 2 ** (bits - 1)
        assert error <= Fraction(scale) / 2**bits


def test_fixed_point_carries_into_the_next_power_of_two() -> None:
    assert tuple(int(v) for v in fixed_point(1 - 2.0**-40, 15)) == (2**14, 14)


@pytest.mark.parametrize("kind", ["int4", "int8", "uint8", "int16", "int32"])
@given(
    acc=hnp.arrays(np.int32, 20, elements=INT32),
    multiplier=st.integers(0, 2**31 - 1),
    shift=st.integers(0, 62),
    data=st.data(),
)
def test_multiplier_and_shift_equal_fractions(
    kind: str, acc: np.ndarray, multiplier: int, shift: int, data: st.DataObject
) -> None:
    zero_point = data.draw(st.integers(INT_TYPES[kind].low, INT_TYPES[kind].high))
    exact = [Fraction(int(v) * multiplier, 2**shift) for v in acc]
    even = [clamp(round(value) + zero_point, kind) for value in exact]
    away = [
        clamp(
            (math.floor(value + Fraction(1, 2)) if value > 0 else math.ceil(value - Fraction(1, 2))) + zero_point, kind
        )
        for value in exact
    ]

    assert requantize_fixed(acc, multiplier, shift, zero_point, kind, rounding="half_even").tolist() == even
    assert requantize_fixed(acc, multiplier, shift, zero_point, kind, rounding="half_away").tolist() == away


@given(
    acc=hnp.arrays(np.int32, 20, elements=INT32 | st.integers(-5000, 5000)),
    multiplier=st.integers(2**30, 2**31 - 1),
    shift=st.integers(20, 62),
)
def test_gemmlowp_stages_equal_the_c_code(acc: np.ndarray, multiplier: int, shift: int) -> None:
    expected = [clamp(gemmlowp(int(v), multiplier, shift) + 3, "int16") for v in acc]

    assert requantize_fixed(acc, multiplier, shift, 3, "int16", stages="gemmlowp").tolist() == expected


def test_two_roundings_can_differ_from_one() -> None:
    # 1.49999 becomes 1.5 at 2^-31 and then 2: the known one-code difference of gemmlowp.
    acc, multiplier, shift = np.arange(-4000, 4000, dtype=np.int32), 1_200_000_001, 38
    single = requantize_fixed(acc, multiplier, shift, to="int16")
    double = requantize_fixed(acc, multiplier, shift, to="int16", stages="gemmlowp")

    assert np.max(np.abs(single.astype(int) - double)) == 1


def test_per_channel_equals_each_channel_alone() -> None:
    acc = np.random.default_rng(5).integers(-(2**20), 2**20, (2, 3, 4)).astype(np.int32)
    scales = np.float32([1e-4, 3e-4, 5e-4])
    multiplier, shift = fixed_point(scales)
    by_scale = requantize(acc, scales, 5, axis=1)
    by_shift = requantize_fixed(acc, multiplier, shift, 5, axis=1)

    for channel in range(3):
        alone = acc[:, channel]
        assert np.array_equal(by_scale[:, channel], requantize(alone, scales[channel], 5))
        assert np.array_equal(by_shift[:, channel], requantize_fixed(alone, multiplier[channel], shift[channel], 5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: requantize_scale(0.0, 1.0, 1.0), "x_scale"),
        (lambda: requantize_scale(1.0, [1.0, math.inf], 1.0), "w_scale"),
        (lambda: requantize_scale(1e-30, 1e-30, 1.0), "leaves float32"),
        (lambda: requantize(np.float32([1]), 1.0), "integer sums"),
        (lambda: requantize(np.int32([1, 2]), [1.0, 2.0]), "axis"),
        (lambda: requantize(np.int32([1, 2, 3]), [1.0, 2.0], axis=0), "2 values for 3"),
        (lambda: requantize(np.int32([1, 2]), 1.0, 300), "-128..127"),
        (lambda: fixed_point(0.0), "> 0"),
        (lambda: fixed_point(2.0**31), "below"),
        (lambda: fixed_point(2.0**15 - 0.25, 15), "15 bits"),
        (lambda: fixed_point(1.0, 32), "1..31"),
        (lambda: requantize_fixed(np.int64([2**31]), 1, 1), "outside int32"),
        (lambda: requantize_fixed(np.int32([1]), -1, 1), "multiplier"),
        (lambda: requantize_fixed(np.int32([1]), 1, 63), "shift"),
        (lambda: requantize_fixed(np.int32([1]), 1, 1, 200), "zero_point"),
        (lambda: requantize_fixed(np.int32([1]), 1, 1, stages="double"), "double.*gemmlowp"),
        (lambda: requantize_fixed(np.int32([1, 2]), [1, 2], 1), "axis"),
    ],
)  # fmt: skip
def test_wrong_arguments_name_what_is_expected(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
