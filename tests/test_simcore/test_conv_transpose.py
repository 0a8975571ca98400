"""Integer transposed convolution equals nested loops over Python integers and the shapes of ONNX Runtime."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.conv_transpose import conv_transpose
from simcore.errors import BadArgument
from simcore.rounding import INT_TYPES
from tests.test_simcore.onnx_runtime_oracle import run_node


def loops(x, w, x_zero, w_zero, bias, strides, pads, dilations, output_padding, group) -> np.ndarray:
    """Return the transposed convolution by its definition, in Python integers (dtype object)."""
    rank, maps, kernel = len(strides), w.shape[1], w.shape[2:]
    out = [
        (x.shape[2 + d] - 1) * strides[d] + dilations[d] * (kernel[d] - 1) + 1 + output_padding[d] - pads[d] - pads[rank + d]
        for d in range(rank)
    ]  # fmt: skip
    y = np.empty((x.shape[0], maps * group, *out), object)
    for m in range(maps * group):
        y[:, m] = bias[m]
    per_group = x.shape[1] // group
    for n, c, m in itertools.product(range(x.shape[0]), range(x.shape[1]), range(maps)):
        for at, tap in itertools.product(
            itertools.product(*map(range, x.shape[2:])), itertools.product(*map(range, kernel))
        ):
            place = [at[d] * strides[d] + tap[d] * dilations[d] - pads[d] for d in range(rank)]
            if all(0 <= p < o for p, o in zip(place, out, strict=True)):
                product = (int(x[(n, c, *at)]) - x_zero) * (int(w[(c, m, *tap)]) - w_zero)
                y[(n, c // per_group * maps + m, *place)] += product
    return y


@st.composite
def cases(draw: st.DrawFn) -> dict[str, object]:
    rank = draw(st.integers(1, 3))
    axes = lambda low, high: tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))  # noqa: E731
    size, kernel, strides, dilations = axes(1, 4), axes(1, 3), axes(1, 3), axes(1, 2)
    output_padding = axes(0, 2)
    reach = [
        (n - 1) * s + d * (k - 1) + 1 + e
        for n, s, d, k, e in zip(size, strides, dilations, kernel, output_padding, strict=True)
    ]
    begin = tuple(draw(st.integers(0, (r - 1) // 2)) for r in reach)
    end = tuple(draw(st.integers(0, (r - 1) // 2)) for r in reach)
    group = draw(st.integers(1, 2))
    x_kind, w_kind = (
        INT_TYPES[kind] for kind in draw(st.sampled_from([("int8", "int8"), ("uint8", "int8"), ("int16", "int16")]))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    maps = draw(st.integers(1, 2))
    return {
        "x": rng.integers(x_kind.low, x_kind.high, (draw(st.integers(1, 2)), group * 2, *size), endpoint=True).astype(x_kind.dtype),
        "w": rng.integers(w_kind.low, w_kind.high, (group * 2, maps, *kernel), endpoint=True).astype(w_kind.dtype),
        "x_zero": int(rng.integers(x_kind.low, x_kind.high, endpoint=True)),
        "w_zero": int(rng.integers(w_kind.low, w_kind.high, endpoint=True)),
        "bias": rng.integers(-(2**31), 2**31, group * maps).tolist(),
        "strides": strides, "pads": begin + end, "dilations": dilations, "output_padding": output_padding, "group": group,
    }  # fmt: skip


@settings(deadline=None)
@given(case=cases())
def test_transposed_convolution_equals_loops_over_python_integers(case: dict) -> None:
    exact = loops(**case)
    geometry = {name: case[name] for name in ("strides", "pads", "dilations", "output_padding", "group")}
    arguments = (case["x"], case["w"], case["x_zero"], case["w_zero"], np.array(case["bias"], np.int32))

    assert conv_transpose(*arguments, **geometry, overflow="wide").tolist() == exact.tolist()
    assert conv_transpose(*arguments, **geometry).tolist() == ((exact + 2**31) % 2**32 - 2**31).tolist()
    saturated = np.clip(exact, -(2**31), 2**31 - 1)
    assert conv_transpose(*arguments, **geometry, overflow="saturate").tolist() == saturated.tolist()


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "attributes"),
    [
        pytest.param((1, 4, 6, 7), (4, 3, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}, id="upsampling"),
        pytest.param((2, 6, 5), (6, 2, 4), {"strides": [3], "group": 3}, id="grouped 1d"),
        pytest.param((1, 2, 5, 5), (2, 3, 3, 2), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}, id="same upper"),
        pytest.param((1, 2, 5, 5), (2, 3, 3, 2), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}, id="same lower"),
        pytest.param((1, 2, 5, 5), (2, 3, 3, 3), {"strides": [2, 2], "output_shape": [10, 9]}, id="output shape"),
        pytest.param((1, 2, 5, 5), (2, 3, 3, 3), {"strides": [2, 2], "auto_pad": "VALID"}, id="valid"),
        pytest.param((1, 2, 4, 5), (2, 3, 3, 2), {"dilations": [2, 3]}, id="dilated"),
        pytest.param((1, 2, 3, 4, 5), (2, 2, 2, 3, 2), {"strides": [1, 2, 2]}, id="3d"),
    ],
)  # fmt: skip
def test_transposed_convolution_equals_onnx_runtime_in_float(x_shape, w_shape, attributes: dict) -> None:
    # Small integers are exact in float32, whatever order the kernel adds them in.
    rng = np.random.default_rng(1)
    x, w = rng.integers(-9, 9, x_shape).astype(np.int8), rng.integers(-9, 9, w_shape).astype(np.int8)
    expected = run_node(
        "ConvTranspose", {"x": x.astype(np.float32), "w": w.astype(np.float32)}, "float32", **attributes
    )
    got = conv_transpose(x, w, **attributes)

    assert got.shape == expected.shape
    assert np.array_equal(got, expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conv_transpose(np.zeros((1, 2), np.int8), np.zeros((2, 1), np.int8)), "ranks"),
        (lambda: conv_transpose(np.zeros((1, 2, 3), np.int8), np.zeros((3, 1, 2), np.int8)), "2 channels"),
        (lambda: conv_transpose(np.zeros((1, 2, 3), np.int8), np.zeros((2, 1, 2), np.int8), strides=[0]), ">= 1"),
        (lambda: conv_transpose(np.zeros((1, 2, 1), np.int8), np.zeros((2, 1, 2), np.int8), pads=[2, 2]), "negative"),
        (lambda: conv_transpose(np.zeros((1, 2, 1), np.int8), np.zeros((2, 1, 2), np.int8), pads=[1]), "do not fit"),
        (lambda: conv_transpose(np.zeros((1, 2, 1), np.int8), np.zeros((2, 1, 2), np.int8), output_padding=[-1]), ">= 0"),
        (lambda: conv_transpose(np.zeros((1, 2, 1), np.int8), np.zeros((2, 1, 2), np.int8), auto_pad="SAME"), "SAME_UPPER"),
        (lambda: conv_transpose(np.zeros((1, 2, 1), np.int8), np.zeros((2, 1, 2), np.int8), bias=np.zeros(2, np.int32)), r"\[1\]"),
    ],
)  # fmt: skip
def test_wrong_arguments_name_what_is_expected(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
