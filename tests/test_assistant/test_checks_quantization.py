"""Checks of scales and codes against scalar arithmetic and ONNX Runtime."""

import math
import struct
from fractions import Fraction

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from assistant.errors import BadInput
from tests.test_assistant.checking import both, results

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int12": (-2048, 2047), "int16": (-32768, 32767)}


def float32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def test_quant_range_is_the_ends_of_the_type_times_the_step() -> None:
    got = results("quant_range", scale=0.02, zero_point=-3)

    assert got["low"] == pytest.approx(-125 * float32(0.02), rel=1e-15)
    assert got["high"] == pytest.approx(130 * float32(0.02), rel=1e-15)
    assert results("quant_range", scale=12.75, zero_point=-77, form="reciprocal")["high"] == 16.0


@pytest.mark.parametrize(
    ("convention", "dtype", "scale", "zero_point"),
    [
        ("amct_symmetric", "int8", 2.5 / 127, 0),
        ("amct_asymmetric", "int8", 4 / 255, -32),
        ("amct_min_max", "int8", 2.5 / 127, 0),
        ("onnx_dynamic", "uint8", 4 / 255, 96),
        ("horizon", "int8", 2.5 / 128, 0),
        ("horizon", "int16", 2.5 / 32768, 0),
        ("hisilicon", "int8", 255 / 4, -32),
        ("hisilicon", "int12", 4095 / 4, -512),
    ],
)
def test_quant_params_follow_the_convention(convention, dtype, scale, zero_point) -> None:
    got = results("quant_params", low=-1.5, high=2.5, convention=convention, dtype=dtype)
    step = 1 / scale if convention == "hisilicon" else scale

    assert (got["scale"], got["step"]) == (pytest.approx(scale, rel=1e-6), pytest.approx(step, rel=1e-6))
    assert got["zero_point"] == zero_point
    assert got["levels"] == LIMITS[dtype][1] - LIMITS[dtype][0] + 1
    assert got["covers_low"] == pytest.approx((LIMITS[dtype][0] - zero_point) * step, rel=1e-6)
    assert got["covers_high"] == pytest.approx((LIMITS[dtype][1] - zero_point) * step, rel=1e-6)
    assert got["zero_below"] == pytest.approx(step / 2, rel=1e-6)


def test_quant_params_of_published_records() -> None:
    norm = results("quant_params", low=-39.191837, high=39.191837, convention="hisilicon", dtype="int12")
    boxes = results("quant_params", low=0, high=640, convention="hisilicon")

    assert (norm["scale"], norm["zero_point"]) == (pytest.approx(52.24302, abs=1e-4), 0)
    assert (boxes["scale"], boxes["step"], boxes["zero_below"]) == (
        0.3984375, pytest.approx(2.509804, abs=1e-6), pytest.approx(1.2549, abs=1e-4),
    )  # fmt: skip


def test_quant_params_of_no_width_and_of_impossible_ranges() -> None:
    assert results("quant_params", low=0, high=0)["scale"] == 1
    with pytest.raises(BadInput, match="low"):
        results("quant_params", low=2, high=1)
    with pytest.raises(BadInput, match="signed"):
        results("quant_params", low=-1, high=1, dtype="uint8")
    with pytest.raises(BadInput, match="FLT_EPSILON"):
        results("quant_params", low=-1e10, high=1e10)


def onnx_codes(values: list[float], scale: float, zero_point: int, dtype: str) -> list[int]:
    kind = {"int8": (TensorProto.INT8, np.int8), "uint8": (TensorProto.UINT8, np.uint8)}[dtype]
    graph = helper.make_graph(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])],
        "q",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [len(values)])],
        [helper.make_tensor_value_info("y", kind[0], [len(values)])],
        [
            helper.make_tensor("s", TensorProto.FLOAT, [], [scale]),
            helper.make_tensor("z", kind[0], [], [zero_point]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.asarray(values, np.float32)})[0].tolist()


@pytest.mark.parametrize(
    ("values", "scale", "zero_point", "dtype"),
    [
        ([-129.0, -128.0, -127.0, -126.0, 126.0, 127.0, 128.0, 129.0], 1.0, 0, "int8"),
        ([0.0, 0.3, 0.49, 0.5, 0.9, 1.5, 2.5], 1.0, -128, "int8"),
        ([-4.0, -0.1, 0.0, 2.0, 4.0], 4 / 255, 0, "uint8"),
        ([1.0, 0.999, -1e30, 1e30], 1 / 256, 0, "uint8"),
    ],
)
def test_quantize_values_equals_onnx_runtime(values, scale, zero_point, dtype) -> None:
    got = results("quantize_values", values=values, scale=scale, zero_point=zero_point, dtype=dtype)
    low, high = LIMITS[dtype]
    exact = [Fraction(float32(v)) / Fraction(float32(scale)) + zero_point for v in values]

    assert got["codes"] == onnx_codes(values, scale, zero_point, dtype)
    assert got["back"] == [(code - zero_point) * float32(scale) for code in got["codes"]]
    assert got["errors"] == pytest.approx([b - v for b, v in zip(got["back"], values, strict=True)])
    assert got["max_error"] == max(abs(e) for e in got["errors"])
    assert got["saturated"] == sum(not low <= round(e) <= high for e in exact)


@pytest.mark.parametrize(
    ("rounding", "codes"),
    [
        ("half_even", [0, 2, -2, 1]),
        ("half_away", [1, 2, -3, 1]),
        ("half_up", [1, 2, -2, 1]),
        ("toward_zero", [0, 1, -2, 1]),
        ("floor", [0, 1, -3, 1]),
    ],
)
def test_quantize_values_rounds_as_asked(rounding, codes) -> None:
    assert results("quantize_values", values=[0.5, 1.5, -2.5, 1.2], scale=1, rounding=rounding)["codes"] == codes


def test_quantize_values_of_nan_and_of_scales_written_as_reciprocals() -> None:
    got = results("quantize_values", values="nan,0.9,1", scale=0.3984375, form="reciprocal", zero_point=-128)

    assert got["codes"] == [-128, -128, -128]
    assert math.isnan(got["errors"][0]) and got["max_error"] == 1
    with pytest.raises(BadInput, match="1 to 1000"):
        results("quantize_values", values=[0.0] * 1001, scale=1)
    with pytest.raises(BadInput, match="FLT_EPSILON"):
        results("quantize_values", values=[0.0], scale=1e7, form="amct")


def test_dequantize_values_is_the_distance_from_the_zero_point() -> None:
    got = results("dequantize_values", codes=[6, 12], scale="1/32768", dtype="int16")

    assert got == {"values": [6 / 32768, 12 / 32768], "step": 1 / 32768}
    assert results("dequantize_values", codes=[72], scale=4, zero_point=70, form="reciprocal")["values"] == [0.5]
    with pytest.raises(BadInput, match="codes: 128"):
        results("dequantize_values", codes=[128], scale=1)


def test_requantize_values_equals_exact_fractions() -> None:
    sums = [12345, -6789, 0, 2**31 - 1, -(2**31)]
    got = results("requantize_values", sums=sums, x_scale=0.02, w_scale=0.005, y_scale=0.05, zero_point=3)
    exact = [Fraction(got["integer_multiplier"], 2 ** got["shift"]) * acc for acc in sums]
    rounded = [math.floor(abs(e) + Fraction(1, 2)) * (1 if e >= 0 else -1) + 3 for e in exact]

    assert got["codes_fixed"] == [min(max(code, -128), 127) for code in rounded]
    assert got["codes"] == got["codes_fixed"] and got["differences"] == 0
    assert got["multiplier"] == pytest.approx(0.002, rel=1e-6)
    assert 2**30 <= got["integer_multiplier"] < 2**31 and got["multiplier_error"] < 2**-30
    with pytest.raises(BadInput, match="y_scale"):
        results("requantize_values", sums=[1], x_scale=1, w_scale=1, y_scale=0)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"scale": 8388608}, "ok"),
        ({"scale": 8388609}, "too_large"),
        ({"scale": "inf"}, "not_finite"),
        ({"scale": 0}, "not_positive"),
        ({"scale": 1, "zero_point": 128}, "offset_outside"),
        ({"scale": 1, "zero_point": 128, "dtype": "int16"}, "ok"),
    ],
)
def test_amct_scale_check_names_what_is_wrong(given, verdict) -> None:
    got = results("amct_scale_check", **given)

    assert (got["verdict"], got["accepted"]) == (verdict, verdict == "ok")
    assert got["limit"] == 2**23


@pytest.mark.parametrize(
    ("name", "given", "zh", "en"),
    [
        (
            "quant_range",
            {"scale": 0.02},
            "int8 可表示 -2.56 到 2.54，步长 0.02；超出就饱和",
            "int8 represents -2.56 to 2.54 in steps of 0.02; values outside saturate",
        ),
        (
            "quant_params",
            {"low": 0, "high": 640, "convention": "hisilicon"},
            "hisilicon 的 int8：scale 0.3984375（步长的倒数），offset -128；能表示 0 到 640，步长 2.509804",
            "hisilicon with int8: scale 0.3984375 (the reciprocal of the step), zero point -128; represents 0 to 640 in "
            "steps of 2.509804",
        ),
        (
            "quantize_values",
            {"values": "0,0.3,0.49,0.9", "scale": 1, "zero_point": -128},
            "码 [-128, -128, -128, -127]，还原为 [0, 0, 0, 1]；最大误差 0.49，饱和 0 个",
            "codes [-128, -128, -128, -127], which stand for [0, 0, 0, 1]; largest error 0.49, 0 saturated",
        ),
        (
            "dequantize_values",
            {"codes": "6,12", "scale": "1/32768", "dtype": "int16"},
            "对应的实数是 [0.0001831055, 0.0003662109]（步长 3.051758e-5）",
            "the codes stand for [0.0001831055, 0.0003662109] (step 3.051758e-5)",
        ),
        (
            "requantize_values",
            {"sums": "12345,-6789", "x_scale": 0.02, "w_scale": 0.005, "y_scale": 0.05},
            "输出码 [25, -14]；浮点乘数 0.002 = 1,099,511,552 / 2^39，整数做法有 0 个不同",
            "output codes [25, -14]; multiplier 0.002 = 1,099,511,552 / 2^39, by which 0 codes differ",
        ),
        (
            "amct_scale_check",
            {"scale": 16777216},
            "不接受：scale 超过 1/FLT_EPSILON；scale 1.677722e7 是上限 8388608 的 2 倍，offset 允许 -128 到 127",
            "refused: the scale is above 1/FLT_EPSILON; scale 1.677722e7 is 2 times the limit 8388608, offsets may be "
            "-128 to 127",
        ),
    ],
)
def test_outcomes_read_as_sentences(name, given, zh, en) -> None:
    assert both(name, **given) == (zh, en)
