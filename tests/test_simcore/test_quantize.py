"""Codes, real values and parameters agree with scalar float arithmetic, ONNX Runtime and the guides' own examples."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simcore.errors import BadArgument
from simcore.quantize import (
    CONVENTIONS,
    MAX_INVERTED_STEP,
    dequantize,
    fake_quantize,
    params,
    params_from_range,
    quantize,
    representable_range,
    retype,
    step,
    tensor_range,
)
from simcore.rounding import INT_TYPES

FORMS = ("step", "inverted_step", "reciprocal")
FLOATS = st.floats(-1e6, 1e6, width=32)
SCALES = st.floats(2.0**-20, 2.0**20, width=32)


def single(value: float) -> float:
    """Return a double rounded to float32, infinity on overflow."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def code(x: float, scale: float, zero_point: int, kind: str, form: str) -> int:
    """Return one code by scalar arithmetic: doubles rounded to float32 (one operation, so rounded correctly)."""
    ratio = {
        "step": lambda: single(x / scale),
        "inverted_step": lambda: single(x * single(1 / scale)),
        "reciprocal": lambda: single(x * scale),
    }[form]()
    return max(INT_TYPES[kind].low, min(INT_TYPES[kind].high, round(ratio) + zero_point))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["int4", "int8", "uint8", "int16"])
@given(x=hnp.arrays(np.float32, 16, elements=FLOATS), scale=SCALES, data=st.data())
def test_quantize_and_back_equal_scalar_arithmetic(
    form: str, kind: str, x: np.ndarray, scale: float, data: st.DataObject
) -> None:
    zero_point = data.draw(st.integers(INT_TYPES[kind].low, INT_TYPES[kind].high))
    how = params(scale, zero_point, kind, form=form)
    q = quantize(x, how)
    back = [single((int(v) - zero_point) / scale if form == "reciprocal" else (int(v) - zero_point) * scale) for v in q]

    assert q.tolist() == [code(float(v), scale, zero_point, kind, form) for v in x]
    assert q.dtype == INT_TYPES[kind].dtype
    assert dequantize(q, how).tolist() == back
    assert fake_quantize(x, how).tolist() == back


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_per_channel_equals_each_channel_alone(axis: int) -> None:
    x = np.random.default_rng(1).normal(size=(3, 4, 5)).astype(np.float32)
    count = x.shape[axis]
    scales, points = np.linspace(0.01, 0.05, count), np.arange(count) - 2
    how = params(scales, points, axis=axis)
    q = quantize(x, how)

    for channel in range(count):
        alone = params(scales[channel], int(points[channel]))
        picked = quantize(np.take(x, channel, axis), alone)
        assert np.array_equal(np.take(q, channel, axis), picked)
        assert np.array_equal(np.take(dequantize(q, how), channel, axis), dequantize(picked, alone))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16"])
def test_quantize_and_dequantize_equal_onnx_runtime_bit_for_bit(kind: str) -> None:
    ort = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    helper, types = onnx.helper, onnx.TensorProto
    code_type = getattr(types, kind.upper())
    rng = np.random.default_rng(7)
    info = np.iinfo(kind)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", types.FLOAT, [None]),
            helper.make_tensor_value_info("s", types.FLOAT, []),
            helper.make_tensor_value_info("z", code_type, []),
        ],
        [helper.make_tensor_value_info("q", code_type, None), helper.make_tensor_value_info("y", types.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = ort.SessionOptions()
    # The optimizer would fold the pair away.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for scale in np.float32([0.1, 1 / 3, 0.0078125, 37.5]):
        zero_point = int(rng.integers(info.min, info.max, endpoint=True))
        spread = rng.normal(size=20_000) * scale * (info.max - info.min) / 3
        ties = (np.arange(-300, 300) + 0.5) * scale
        x = np.concatenate([spread, ties, [0, 1e30, -1e30, np.inf, -np.inf]]).astype(np.float32)
        q, y = session.run(None, {"x": x, "s": np.array(scale), "z": np.array(zero_point, kind)})
        how = params(scale, zero_point, kind)

        assert np.array_equal(quantize(x, how), q)
        assert np.array_equal(dequantize(q, how), y)


def test_hisilicon_guide_example_spans_minus_4_to_16() -> None:
    how = params(12.75, -77, form="reciprocal")
    made = params_from_range(-4, 16, "hisilicon")

    assert [float(end) for end in representable_range(how)] == [-4.0, 16.0]
    assert (made.scale, made.zero_point, made.form) == (12.75, -77, "reciprocal")


def test_amct_record_spans_scale_times_codes_without_offset() -> None:
    how = params(0.5, -28, form="inverted_step")

    assert [float(end) for end in representable_range(how)] == [-50.0, 77.5]
    assert step(how) == 0.5
    assert step(params(4.0, form="reciprocal")) == 0.25


def test_retype_keeps_the_real_grid() -> None:
    unsigned = params(0.1, 130, "uint8")
    signed = retype(unsigned, "int8")
    x = np.linspace(-20, 20, 999, dtype=np.float32)

    assert signed.zero_point == 2
    assert [float(end) for end in representable_range(signed)] == [float(end) for end in representable_range(unsigned)]
    assert np.array_equal(quantize(x, signed).astype(int) + 128, quantize(x, unsigned))


@pytest.mark.parametrize(
    ("convention", "kind", "low", "high", "scale", "zero_point"),
    [
        ("amct_symmetric", "int8", -1.0, 2.54, 2.54 / 127, 0),
        ("amct_symmetric", "int8", -2.54, 1.0, 2.54 / 127, 0),
        ("amct_min_max", "int8", -1.0, 2.54, 2.54 / 127, 0),
        ("amct_min_max", "int8", -2.56, 1.0, 2.56 / 128, 0),
        ("amct_asymmetric", "int8", -1.0, 4.1, 5.1 / 255, -128 + 50),
        ("amct_asymmetric", "int8", 1.0, 5.1, 5.1 / 255, -128),
        ("amct_asymmetric", "int8", -5.1, -1.0, 5.1 / 255, 127),
        ("amct_asymmetric", "int16", -1.0, 1.0, 2 / 65535, 0),
        ("onnx_dynamic", "uint8", -1.0, 4.1, 5.1 / 255, 50),
        ("onnx_symmetric", "int8", -1.27, 0.3, 0.01, 0),
        ("horizon", "int8", -4.0, 4.0, 4 / 128, 0),
        ("horizon", "int16", -4.0, 4.0, 4 / 32768, 0),
        ("hisilicon", "int12", -5.0, 5.0, 4095 / 10, 0),
        ("hisilicon", "int8", 0.0, 25.5, 10.0, -128),
        ("amct_symmetric", "int4", -0.5, 0.7, 0.1, 0),
    ],
)  # fmt: skip
def test_conventions_give_the_guides_figures(
    convention: str, kind: str, low: float, high: float, scale: float, zero_point: int
) -> None:
    how = params_from_range(low, high, convention, kind)

    assert float(how.scale) == pytest.approx(scale, rel=3e-7)
    assert int(how.zero_point) == zero_point
    assert how.form == CONVENTIONS[convention].form


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(ends=st.tuples(FLOATS, FLOATS))
def test_a_range_covers_its_ends_within_one_step_and_holds_zero(convention: str, ends: tuple[float, float]) -> None:
    low, high = sorted(ends)
    how = params_from_range(low, high, convention)
    reach = representable_range(how)
    slack = float(step(how)) * 1.01

    assert float(reach[0]) - slack <= low
    assert high <= float(reach[1]) + slack
    assert float(dequantize(quantize(np.float32(0), how), how)) == 0.0


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("low_high", [(0.0, 0.0), (0.0, 1e-44)])
def test_a_range_without_width_gets_scale_one(convention: str, low_high: tuple[float, float]) -> None:
    how = params_from_range(*low_high, convention)

    assert how.scale == 1
    assert np.all(np.isfinite(fake_quantize(np.zeros(3, np.float32), how)))


def test_dynamic_quantize_linear_equals_onnx_runtime_bit_for_bit() -> None:
    ort = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    helper, types = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])],
        "g",
        [helper.make_tensor_value_info("x", types.FLOAT, [None])],
        [
            helper.make_tensor_value_info("q", types.UINT8, None),
            helper.make_tensor_value_info("s", types.FLOAT, None),
            helper.make_tensor_value_info("z", types.UINT8, None),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(3)
    for _ in range(300):
        x = (rng.normal(size=37) * 10.0 ** rng.integers(-6, 6) + rng.normal()).astype(np.float32)
        q, scale, zero_point = session.run(None, {"x": x})
        how = params_from_range(*tensor_range(x), "onnx_dynamic", "uint8")

        assert (how.scale, how.zero_point) == (scale, zero_point)
        assert np.array_equal(quantize(x, how), q)


def test_per_channel_range_equals_each_channel_alone() -> None:
    x = np.random.default_rng(2).normal(size=(3, 5, 2)).astype(np.float32)
    low, high = tensor_range(x, axis=-2)
    how = params_from_range(low, high, "amct_asymmetric", axis=1)

    for channel in range(5):
        alone = params_from_range(*tensor_range(x[:, channel]), "amct_asymmetric")
        assert (how.scale[channel], how.zero_point[channel]) == (alone.scale, alone.zero_point)


@pytest.mark.parametrize("compute", ["float16", "float32", "float64"])
def test_undefined_and_infinite_values_have_a_code(compute: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 3e38], np.float32)

    assert quantize(x, params(0.5, 3), compute=compute).tolist() == [3, 127, -128, 127]


def test_the_type_of_the_quotient_can_decide_a_code() -> None:
    x, how = np.array([0.35], np.float32), params(0.1)

    assert quantize(x, how, compute="float32").tolist() == [4]
    assert quantize(x, how, compute="float64").tolist() == [3]


def test_int32_codes_of_a_bias_are_exact() -> None:
    x = np.array([1e9, -1e9, 1e12, -1e12], np.float64)
    how = params(1.0, 0, "int32")

    assert quantize(x, how, compute="float64").tolist() == [10**9, -(10**9), 2**31 - 1, -(2**31)]
    assert dequantize(np.array([-(2**31), 2**31 - 1], np.int32), params(1.0, 5, "int32"), "float64").tolist() == [
        -(2**31) - 5,
        2**31 - 6,
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: params(0.0), "> 0"),
        (lambda: params(-1.0), "> 0"),
        (lambda: params(math.inf), "> 0"),
        (lambda: params(1e-50), "> 0"),
        (lambda: params(1e39), "> 0"),
        (lambda: params(math.nan), "> 0"),
        (lambda: params(MAX_INVERTED_STEP * 1.1, form="inverted_step"), "8388608"),
        (lambda: params(1.0, 128), r"outside int8, \[-128, 127\]"),
        (lambda: params(1.0, 0.5), "one integer"),
        (lambda: params([1.0, 2.0]), "axis"),
        (lambda: params(1.0, axis=0), "axis"),
        (lambda: params([1.0, 2.0], [1, 2, 3], axis=0), r"shape \[2\]"),
        (lambda: params([[1.0]], axis=0), "channels"),
        (lambda: params([], axis=0), "> 0"),
        (lambda: params(1.0, form="inverse"), "inverse.*reciprocal"),
        (lambda: quantize(np.zeros((2, 3), np.float32), params([1.0, 2.0], axis=1)), "2 scales for 3 channels"),
        (lambda: quantize(np.zeros(2, np.float32), params([1.0, 2.0], axis=1)), "rank 1"),
        (lambda: quantize(np.zeros(2, np.int8), params(1.0)), "int8"),
        (lambda: quantize(np.zeros(2, np.float32), params(1.0), compute="bfloat16"), "bfloat16"),
        (lambda: dequantize(np.zeros(2, np.float32), params(1.0)), "float32"),
        (lambda: dequantize(np.zeros(2, np.int8), params(1.0), "float16"), "float16"),
        (lambda: retype(params(1.0), "int16"), "widths differ"),
        (lambda: params_from_range(0, 1, "onnx"), "onnx_dynamic"),
        (lambda: params_from_range(1, 0, "horizon"), "low <= high"),
        (lambda: params_from_range(0, math.nan, "horizon"), "finite"),
        (lambda: params_from_range(0, math.inf, "amct_asymmetric"), "finite"),
        (lambda: params_from_range(-3e38, 3e38, "amct_asymmetric"), "overflows"),
        (lambda: params_from_range(-3e38, 3e38, "amct_symmetric"), "8388608"),
        (lambda: params_from_range(0, 1, "horizon", "uint8"), "signed"),
        (lambda: tensor_range(np.zeros((0, 3), np.float32)), "no value"),
        (lambda: tensor_range(np.float32([1, math.nan])), "NaN"),
        (lambda: tensor_range(np.zeros(3, np.float32), 1), "rank 1"),
    ],
)  # fmt: skip
def test_wrong_arguments_name_what_is_expected(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
