"""Integer convolution equals nested loops over Python integers, ONNX Runtime, and the shapes ONNX gives."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore import conv as conv_module
from simcore.conv import conv
from simcore.errors import BadArgument
from simcore.matmul import operand
from simcore.rounding import INT_TYPES
from tests.test_simcore.onnx_runtime_oracle import run_node, safe_weights


def loops(
    x: np.ndarray, w: np.ndarray, x_zero: int, w_zero: list[int], bias: list[int],
    strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...], group: int,
) -> np.ndarray:  # fmt: skip
    """Return the convolution by its definition, in Python integers (dtype object)."""
    rank = len(strides)
    out = [
        (x.shape[2 + d] + pads[d] + pads[rank + d] - dilations[d] * (w.shape[2 + d] - 1) - 1) // strides[d] + 1
        for d in range(rank)
    ]
    y = np.empty((x.shape[0], w.shape[0], *out), object)
    per_group, maps = w.shape[1], w.shape[0] // group
    for n, m in itertools.product(range(x.shape[0]), range(w.shape[0])):
        for at in itertools.product(*map(range, out)):
            total = bias[m]
            for c, tap in itertools.product(range(per_group), itertools.product(*map(range, w.shape[2:]))):
                place = [at[d] * strides[d] + tap[d] * dilations[d] - pads[d] for d in range(rank)]
                if all(0 <= p < x.shape[2 + d] for d, p in enumerate(place)):
                    value = int(x[(n, m // maps * per_group + c, *place)]) - x_zero
                    total += value * (int(w[(m, c, *tap)]) - w_zero[m])
            y[(n, m, *at)] = total
    return y


@st.composite
def cases(draw: st.DrawFn) -> dict[str, object]:
    """Draw a small convolution: 1 to 3 spatial axes, groups, strides, pads, dilations, zero points, bias."""
    rank = draw(st.integers(1, 3))
    axes = lambda low, high: tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))  # noqa: E731
    kernel, strides, dilations = axes(1, 3), axes(1, 3), axes(1, 2)
    begin, end = axes(0, 2), axes(0, 2)
    size = tuple(
        draw(st.integers(max(1, d * (k - 1) + 1 - b - e), 6 if rank < 3 else 5))
        for k, d, b, e in zip(kernel, dilations, begin, end, strict=True)
    )
    group, per_group, maps = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    kinds = draw(st.sampled_from([("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8"), ("int16", "int8"),
                                  ("int8", "int4"), ("int16", "int16")]))  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x_kind, w_kind = (INT_TYPES[kind] for kind in kinds)
    count = maps * group
    return {
        "x": rng.integers(x_kind.low, x_kind.high, (draw(st.integers(1, 2)), group * per_group, *size), endpoint=True).astype(x_kind.dtype),
        "w": rng.integers(w_kind.low, w_kind.high, (count, per_group, *kernel), endpoint=True).astype(w_kind.dtype),
        "x_zero": int(rng.integers(x_kind.low, x_kind.high, endpoint=True)),
        "w_zero": rng.integers(w_kind.low, w_kind.high, count, endpoint=True).tolist(),
        "bias": rng.integers(-(2**31), 2**31, count).tolist(),
        "strides": strides, "pads": begin + end, "dilations": dilations, "group": group,
    }  # fmt: skip


@settings(deadline=None)
@given(case=cases())
def test_convolution_equals_loops_over_python_integers(case: dict) -> None:
    exact = loops(**case)
    geometry = {name: case[name] for name in ("strides", "pads", "dilations", "group")}
    arguments = (case["x"], case["w"], case["x_zero"], np.array(case["w_zero"]), np.array(case["bias"], np.int32))

    assert conv(*arguments, **geometry, overflow="wide").tolist() == exact.tolist()
    assert conv(*arguments, **geometry).tolist() == ((exact + 2**31) % 2**32 - 2**31).tolist()
    saturated = np.clip(exact, -(2**31), 2**31 - 1)
    assert conv(*arguments, **geometry, overflow="saturate").tolist() == saturated.tolist()


@settings(deadline=None, max_examples=30)
@given(case=cases(), budget=st.sampled_from([1, 64, 500, 3000]))
def test_the_size_of_a_tile_never_shows(case: dict, budget: int) -> None:
    geometry = {name: case[name] for name in ("strides", "pads", "dilations", "group")}
    expected = conv(case["x"], case["w"], case["x_zero"], **geometry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conv_module, "_TILE_BYTES", budget)
        tiled = conv(case["x"], case["w"], case["x_zero"], **geometry)

    assert np.array_equal(tiled, expected)


SHAPES = [
    pytest.param((2, 16, 30, 31), (24, 16, 3, 3), {"pads": [1, 1, 1, 1]}, id="3x3"),
    pytest.param((1, 300, 9, 9), (10, 300, 3, 3), {"strides": [2, 2]}, id="k 2700"),
    pytest.param((1, 96, 40, 40), (96, 1, 3, 3), {"pads": [1, 1, 1, 1], "group": 96}, id="depthwise"),
    pytest.param((1, 40, 33, 29), (80, 1, 5, 5), {"pads": [2, 2, 2, 2], "strides": [2, 2], "group": 40}, id="depthwise, 2 maps, strided"),
    pytest.param((1, 32, 20, 20), (64, 8, 3, 3), {"group": 4, "dilations": [2, 2]}, id="grouped dilated"),
    pytest.param((3, 64, 14, 14), (32, 64, 1, 1), {}, id="pointwise"),
    pytest.param((3, 64, 14, 14), (32, 16, 1, 1), {"group": 4}, id="pointwise grouped"),
    pytest.param((1, 8, 1000), (16, 8, 9), {"pads": [4, 4], "strides": [3]}, id="1d"),
    pytest.param((1, 4, 9, 10, 11), (6, 4, 3, 3, 3), {"pads": [1, 1, 1, 1, 1, 1], "strides": [1, 2, 1]}, id="3d"),
    pytest.param((1, 4, 15, 16), (6, 4, 4, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, id="same upper"),
    pytest.param((1, 4, 15, 16), (6, 4, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}, id="same lower"),
]  # fmt: skip


@pytest.mark.parametrize(("x_shape", "w_shape", "attributes"), SHAPES)
@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_convolution_equals_onnx_runtime(
    x_shape: tuple[int, ...], w_shape: tuple[int, ...], attributes: dict, kind: str
) -> None:
    rng = np.random.default_rng(math.prod(x_shape))
    x = rng.integers(0, 255, x_shape, endpoint=True).astype(np.uint8)
    w = safe_weights(rng, kind, w_shape)
    x_zero, w_zero = np.array(117, np.uint8), np.array(0 if kind == "int8" else 128, kind)
    expected = run_node("ConvInteger", {"x": x, "w": w, "x_zp": x_zero, "w_zp": w_zero}, "int32", **attributes)

    assert np.array_equal(conv(x, w, x_zero, w_zero, **attributes), expected)
    assert np.array_equal(conv(x, operand(w, w_zero), x_zero, **attributes), expected)


@pytest.mark.parametrize("channels", [50, 130, 300], ids=["one pass", "three passes", "blocks"])
def test_sums_beyond_2_to_the_24_are_exact(channels: int) -> None:
    """Extremes whose sums a single float32 accumulator could not hold, through each way of the convolution."""
    x = np.full((1, channels, 5, 4), 255, np.uint8)
    w = np.full((2, channels, 3, 3), -128, np.int8)
    x[0, 0, 2, 2], w[1, 0, 0, 0] = 254, -127
    wide_x, wide_w = x.astype(np.int64), w.astype(np.int64)
    expected = [
        [[int((wide_x[0, :, i : i + 3, j : j + 3] * filters).sum()) for j in range(2)] for i in range(3)]
        for filters in wide_w
    ]

    assert conv(x, w).tolist() == [expected]


def test_padding_is_real_zero_not_code_zero() -> None:
    x, w = np.full((1, 1, 1), 100, np.uint8), np.ones((1, 1, 3), np.int8)

    assert conv(x, w, 100, pads=[1, 1]).tolist() == [[[0]]]
    assert conv(x, w, 0, pads=[1, 1]).tolist() == [[[100]]]


@pytest.mark.parametrize("overflow", ["wrap", "saturate", "wide"])
def test_a_bias_counts_before_the_overflow(overflow: str) -> None:
    x, w = np.full((1, 1, 1), -1, np.int8), np.ones((1, 1, 1), np.int8)
    expected = {"wrap": 2**31 - 1, "saturate": -(2**31), "wide": -(2**31) - 1}[overflow]

    assert conv(x, w, bias=np.array([-(2**31)], np.int32), overflow=overflow).tolist() == [[[expected]]]


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "group", "out"),
    [((0, 2, 5), (3, 2, 2), 1, (0, 3, 4)), ((2, 0, 5), (3, 0, 2), 1, (2, 3, 4)), ((2, 2, 5), (0, 2, 2), 1, (2, 0, 4)),
     ((2, 0, 5), (3, 0, 1), 3, (2, 3, 5))],
    ids=["no images", "no channels", "no maps", "no channels, pointwise"],
)  # fmt: skip
def test_empty_axes_give_empty_or_zero_results(x_shape, w_shape, group: int, out: tuple[int, ...]) -> None:
    y = conv(np.ones(x_shape, np.int8), np.ones(w_shape, np.int8), group=group)

    assert y.shape == out
    assert not y.any()


def test_codes_stay_untouched_and_may_be_views() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-128, 128, (2, 9, 8, 4)).astype(np.int8).transpose(0, 3, 1, 2)[:, :, ::2]
    w = rng.integers(-128, 128, (3, 3, 4, 5)).astype(np.int8).transpose(3, 2, 0, 1)
    copies = x.copy(), w.copy()
    y = conv(x, w, 3, 1)

    assert np.array_equal(y, conv(*copies, 3, 1))
    assert np.array_equal(x, copies[0])
    assert np.array_equal(w, copies[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conv(np.zeros((1, 2), np.int8), np.zeros((1, 2), np.int8)), "rank"),
        (lambda: conv(np.zeros((1, 2, 3), np.int8), np.zeros((1, 2, 3, 3), np.int8)), "equal rank"),
        (lambda: conv(np.zeros((1, 3, 3), np.int8), np.zeros((1, 2, 3), np.int8)), "needs 2 channels"),
        (lambda: conv(np.zeros((1, 4, 3), np.int8), np.zeros((3, 2, 3), np.int8), group=2), "divides"),
        (lambda: conv(np.zeros((1, 4, 3), np.int8), np.zeros((3, 2, 3), np.int8), group=0), "group 0"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 4), np.int8)), "does not fit the padded input"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 2), np.int8), strides=[0]), ">= 1"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 2), np.int8), strides=[1, 1]), "do not fit"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 2), np.int8), pads=[1]), "do not fit"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 2), np.int8), pads=[-1, 0]), ">= 0"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 2), np.int8), auto_pad="SAME"), "SAME_UPPER"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((1, 1, 0), np.int8)), ">= 1"),
        (lambda: conv(np.zeros((1, 2, 3), np.int8), np.zeros((1, 2, 2), np.int8), [1, 2]), "per tensor"),
        (lambda: conv(np.zeros((1, 2, 3), np.int8), np.zeros((1, 2, 2), np.int8), 0.5), "per tensor"),
        (lambda: conv(np.zeros((1, 2, 3), np.int8), np.zeros((1, 2, 2), np.int8), 128), "128 is no int8 code"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((2, 1, 2), np.int8), bias=np.zeros(1, np.int32)), r"\[2\]"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((2, 1, 2), np.int8), bias=np.zeros(2)), "integers"),
        (lambda: conv(np.zeros((1, 1, 3), np.float32), np.zeros((2, 1, 2), np.int8)), "float32"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((2, 1, 2), np.int8), 0, [1, 2, 3]), "broadcast"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), operand(np.zeros((2, 1, 2), np.int8)), 0, 1), "prepared"),
        (lambda: conv(np.zeros((1, 1, 3), np.int8), np.zeros((2, 1, 2), np.int8), overflow="clip"), "clip"),
    ],
)  # fmt: skip
def test_wrong_arguments_name_what_is_expected(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
