"""Operators on codes against ONNX Runtime: every bit equal."""

from typing import Any

import numpy as np
import pytest

from simcore.errors import BadArgument
from simcore.ops import quantize
from tests.test_simcore.graphs import both
from tests.test_simcore.onnx_runtime_oracle import safe_weights

RNG = np.random.default_rng(5)
FLOATS = (RNG.standard_normal((4, 6, 5)) * 40).astype(np.float32)
FLOATS[0, 0] = [0.5, 1.5, -2.5, 1e30, -np.inf]


def _equal(op_type: str, inputs: dict[str, Any], **options: Any) -> None:
    for ours, theirs in both(op_type, inputs, **options):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("per_axis", [False, True], ids=["tensor", "axis"])
def test_quantize_and_dequantize(kind: str, per_axis: bool) -> None:
    opset = 21 if "16" in kind else 13
    scale = np.float32([0.5, 0.3, 1, 2, 0.1, 7]) if per_axis else np.float32(0.37)
    zero = (np.arange(6) if per_axis else np.array(3)).astype(kind)
    codes = RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max, FLOATS.shape, endpoint=True).astype(kind)

    _equal("QuantizeLinear", {"x": FLOATS, "s": scale, "z": zero}, opset=opset, axis=1)
    _equal("DequantizeLinear", {"x": codes, "s": scale, "z": zero}, opset=opset, axis=-2)


def test_quantize_without_zero_point_gives_uint8() -> None:
    _equal("QuantizeLinear", {"x": FLOATS, "s": np.float32(0.2)}, opset=10)


def test_dequantize_of_int32_without_zero_point() -> None:
    codes = RNG.integers(-(1 << 31), (1 << 31) - 1, (3, 4), endpoint=True).astype(np.int32)

    _equal("DequantizeLinear", {"x": codes, "s": np.float32(0.2)}, opset=10)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_blocks(axis: int) -> None:
    x = FLOATS[1, :6, :4]
    shape = list(x.shape)
    shape[axis] = -(-shape[axis] // 2)
    scale = RNG.uniform(0.1, 1, shape).astype(np.float32)
    zero = RNG.integers(-9, 9, shape).astype(np.int8)

    _equal("QuantizeLinear", {"x": x, "s": scale, "z": zero}, opset=21, axis=axis, block_size=2)
    _equal("DequantizeLinear", {"x": x.astype(np.int8), "s": scale, "z": zero}, opset=21, axis=axis, block_size=2)


@pytest.mark.parametrize(
    "x", [FLOATS[1:], np.float32([0, 0]), np.float32([3, 5]), np.float32([-5, -3]), np.float32([[1e-30, 0]])], ids=str
)
def test_dynamic_quantize(x: np.ndarray) -> None:
    _equal("DynamicQuantizeLinear", {"x": x}, opset=11, count=3)


@pytest.mark.parametrize("a_kind", ["int8", "uint8"])
@pytest.mark.parametrize("b_kind", ["int8", "uint8"])
def test_matmul_integer(a_kind: str, b_kind: str) -> None:
    a = RNG.integers(np.iinfo(a_kind).min, np.iinfo(a_kind).max, (2, 5, 70), endpoint=True).astype(a_kind)
    b = safe_weights(RNG, b_kind, (70, 6))
    zeros = {"az": np.array(7, a_kind), "bz": np.arange(6).astype(b_kind)}

    _equal("MatMulInteger", {"a": a, "b": b, **zeros}, opset=10)


def test_matmul_integer_takes_a_zero_point_per_row() -> None:
    a = RNG.integers(0, 255, (3, 4)).astype(np.uint8)
    b = RNG.integers(0, 255, (4, 2)).astype(np.uint8)
    points = np.uint8([1, 0, 9])
    want = [[sum((int(a[i, k]) - int(points[i])) * int(b[k, j]) for k in range(4)) for j in range(2)] for i in range(3)]

    assert quantize.matmul_integer(a, b, points).tolist() == want
    assert quantize.matmul_integer(a, b, points[:, None]).tolist() == want


@pytest.mark.parametrize("w_kind", ["int8", "uint8"])
@pytest.mark.parametrize("per_channel", [False, True], ids=["tensor", "channel"])
@pytest.mark.parametrize("with_bias", [False, True], ids=["plain", "bias"])
def test_qlinear_conv(w_kind: str, per_channel: bool, with_bias: bool) -> None:
    x = RNG.integers(0, 255, (2, 4, 9, 8)).astype(np.uint8)
    w = safe_weights(RNG, w_kind, (6, 2, 3, 3))
    scales = RNG.uniform(0.01, 0.05, 6).astype(np.float32)
    zero = np.array(0 if w_kind == "int8" else 128, w_kind)
    inputs = {
        "x": x, "xs": np.float32(0.1), "xz": np.uint8(120),
        "w": w, "ws": scales if per_channel else scales[0], "wz": np.full(6, zero) if per_channel else zero,
        "ys": np.float32(0.4), "yz": np.uint8(99),
        "b": RNG.integers(-999, 999, 6).astype(np.int32) if with_bias else None,
    }  # fmt: skip

    _equal("QLinearConv", inputs, opset=10, group=2, pads=[1, 0, 1, 2], strides=[2, 1])


def test_conv_integer() -> None:
    x = RNG.integers(0, 255, (1, 3, 6, 7)).astype(np.uint8)
    w = RNG.integers(0, 255, (4, 3, 3, 2)).astype(np.uint8)

    _equal("ConvInteger", {"x": x, "w": w, "xz": np.uint8(3), "wz": np.uint8(128)}, opset=10, auto_pad="SAME_UPPER")


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("per_column", [False, True], ids=["tensor", "column"])
def test_qlinear_matmul(kind: str, per_column: bool) -> None:
    a = RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max, (2, 5, 40), endpoint=True).astype(kind)
    b = safe_weights(RNG, "int8" if kind == "int8" else "uint8", (40, 6))
    scale = RNG.uniform(0.01, 0.03, 6).astype(np.float32)
    inputs = {
        "a": a, "as": np.float32(0.2), "az": np.array(3, kind),
        "b": b, "bs": scale if per_column else scale[0], "bz": np.zeros(6, kind) if per_column else np.array(5, kind),
        "ys": np.float32(0.7), "yz": np.array(1, kind),
    }  # fmt: skip

    _equal("QLinearMatMul", inputs, opset=10)


@pytest.mark.parametrize(
    "call",
    [
        lambda: quantize.quantize_linear(FLOATS, np.float32([1, 2])),
        lambda: quantize.quantize_linear(FLOATS, np.float32([1] * 6), axis=4),
        lambda: quantize.quantize_linear(FLOATS, np.ones((3, 6, 5), np.float32), axis=0, block_size=3),
        lambda: quantize.quantize_linear(FLOATS, np.float32(1), np.int8(0), output_dtype=2),
        lambda: quantize.dynamic_quantize_linear(np.float32([np.nan])),
        lambda: quantize.conv_integer(np.zeros((1, 1, 4), np.uint8), np.zeros((1, 1, 2), np.uint8), kernel_shape=(3,)),
        lambda: quantize.conv_integer(np.zeros((1, 1, 4), np.uint8), np.zeros((1, 1, 2), np.uint8), auto_pad="SOME"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call: Any) -> None:
    with pytest.raises(BadArgument):
        call()
