"""Conv and ConvTranspose against ONNX Runtime over random shapes and attributes, and against float64 loops."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from simcore.errors import BadArgument
from simcore.ops.conv_transpose import conv_transpose
from simcore.ops.convolution import conv
from tests.test_simcore.operators import assert_near, node_of, onnxruntime_run

#: name -> (x shape, w shape, attributes): every way through the code, and shapes of real models.
CONVS = {
    "1x1": ((2, 8, 5, 7), (6, 8, 1, 1), {}),
    "1x1 stride 2": ((2, 8, 9, 7), (6, 8, 1, 1), {"strides": [2, 2]}),
    "1x1 in groups": ((2, 8, 5, 7), (6, 4, 1, 1), {"group": 2}),
    "1x1 padded": ((1, 3, 4, 4), (2, 3, 1, 1), {"pads": [1, 0, 2, 1]}),
    "1x1 many columns": ((1, 40, 64, 65), (300, 40, 1, 1), {}),
    "3x3": ((2, 16, 12, 13), (16, 16, 3, 3), {"pads": [1, 1, 1, 1]}),
    "3x3 in several row blocks": ((1, 64, 70, 60), (8, 64, 3, 3), {"pads": [1, 1, 1, 1]}),
    "3x3 dilated": ((1, 16, 30, 31), (8, 16, 3, 3), {"pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    "3x3 uneven pads": ((1, 16, 30, 31), (8, 16, 3, 3), {"pads": [0, 2, 1, 0]}),
    "3x3 wide pads": ((1, 16, 3, 3), (8, 16, 3, 3), {"pads": [4, 4, 5, 5]}),
    "3x3 stride across": ((1, 16, 30, 31), (8, 16, 3, 3), {"pads": [1, 1, 1, 1], "strides": [1, 2]}),
    "3x3 stride down": ((1, 16, 30, 31), (8, 16, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 1]}),
    "7x7 stem": ((1, 3, 65, 61), (16, 3, 7, 7), {"pads": [3, 3, 3, 3], "strides": [2, 2]}),
    "in groups": ((2, 12, 9, 9), (8, 3, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
    "same upper": ((1, 4, 9, 10), (4, 4, 4, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 3]}),
    "same lower": ((1, 4, 9, 10), (4, 4, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 3]}),
    "valid": ((1, 4, 9, 10), (4, 4, 4, 3), {"auto_pad": "VALID"}),
    "depthwise small map": ((2, 20, 7, 7), (20, 1, 3, 3), {"group": 20, "pads": [1, 1, 1, 1]}),
    "depthwise many channels": ((2, 200, 7, 9), (200, 1, 5, 5), {"group": 200, "pads": [2, 2, 2, 2]}),
    "depthwise many channels stride": (
        (1, 200, 13, 14),
        (400, 1, 3, 2),
        {"group": 200, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]},
    ),
    "depthwise large map": ((2, 20, 40, 37), (20, 1, 3, 3), {"group": 20, "pads": [1, 1, 1, 1]}),
    "depthwise stride 2": ((1, 20, 40, 37), (20, 1, 5, 5), {"group": 20, "pads": [2, 2, 2, 2], "strides": [2, 2]}),
    "depthwise 5x5 low map": ((1, 30, 3, 40), (30, 1, 5, 5), {"group": 30, "pads": [2, 2, 2, 2]}),
    "depthwise dilated": ((1, 6, 30, 30), (6, 1, 3, 3), {"group": 6, "pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    "depthwise multiplied": ((1, 6, 30, 30), (18, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
    "depthwise uneven": ((1, 6, 30, 30), (6, 1, 3, 2), {"group": 6, "pads": [0, 1, 3, 0], "strides": [3, 1]}),
    "depthwise unused rows": ((1, 6, 30, 30), (6, 1, 2, 2), {"group": 6, "strides": [4, 4]}),
    "1-d": ((2, 6, 50), (8, 6, 5), {"pads": [2, 2]}),
    "1-d causal": ((1, 6, 50), (8, 6, 3), {"pads": [8, 0], "dilations": [4]}),
    "1-d depthwise": ((1, 6, 500), (6, 1, 7), {"group": 6, "pads": [3, 3]}),
    "1-d stride": ((1, 6, 51), (8, 6, 5), {"strides": [4]}),
    "3-d": ((1, 3, 7, 8, 9), (4, 3, 3, 2, 3), {"pads": [1, 0, 1, 1, 1, 0], "strides": [2, 1, 2]}),
    "3-d in groups": ((1, 4, 7, 8, 9), (4, 2, 3, 3, 3), {"group": 2, "dilations": [1, 2, 1]}),
    "3-d depthwise": ((1, 4, 7, 8, 9), (4, 1, 3, 3, 3), {"group": 4, "pads": [1, 1, 1, 1, 1, 1]}),
}

TRANSPOSED = {
    "2x2 stride 2": ((1, 8, 10, 12), (8, 4, 2, 2), {"strides": [2, 2]}),
    "3x3": ((2, 4, 5, 6), (4, 3, 3, 3), {}),
    "padded": ((1, 4, 5, 6), (4, 3, 3, 3), {"pads": [1, 2, 0, 1], "strides": [2, 1]}),
    "output padding": ((1, 4, 5, 6), (4, 3, 3, 3), {"strides": [3, 2], "output_padding": [1, 1], "pads": [1, 1, 1, 1]}),
    "output shape": ((1, 4, 5, 6), (4, 3, 3, 3), {"strides": [3, 2], "output_shape": [14, 12]}),
    "same upper": ((1, 4, 5, 6), (4, 3, 4, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "same lower": ((1, 4, 5, 6), (4, 3, 4, 3), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    "valid": ((1, 4, 5, 6), (4, 3, 4, 3), {"strides": [2, 2], "auto_pad": "VALID"}),
    "dilated": ((1, 4, 5, 6), (4, 3, 3, 3), {"dilations": [2, 3], "pads": [1, 1, 1, 1]}),
    "in groups": ((2, 6, 5, 6), (6, 2, 3, 3), {"group": 3, "strides": [2, 2]}),
    "depthwise": ((1, 6, 5, 6), (6, 1, 4, 4), {"group": 6, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "1-d": ((1, 6, 20), (6, 3, 8), {"strides": [4], "pads": [2, 2]}),
    "3-d": ((1, 3, 3, 4, 5), (3, 2, 3, 2, 3), {"strides": [2, 1, 2], "pads": [1, 0, 1, 0, 1, 1]}),
}


def _random(*shapes):
    generator = np.random.default_rng(7)
    return [generator.standard_normal(s).astype(np.float32) for s in shapes]


@pytest.mark.parametrize("with_bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize(("x_shape", "w_shape", "attributes"), CONVS.values(), ids=CONVS)
def test_conv_equals_onnx_runtime(x_shape, w_shape, attributes, with_bias):
    x, w, b = _random(x_shape, w_shape, w_shape[:1])
    inputs = [x, w, b] if with_bias else [x, w]
    (expected,) = onnxruntime_run(node_of("Conv", inputs, **attributes), 11, inputs)

    assert_near(conv(*inputs, **attributes), expected)


@pytest.mark.parametrize("with_bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize(("x_shape", "w_shape", "attributes"), TRANSPOSED.values(), ids=TRANSPOSED)
def test_conv_transpose_equals_onnx_runtime(x_shape, w_shape, attributes, with_bias):
    x, w, b = _random(x_shape, w_shape, (w_shape[1] * attributes.get("group", 1),))
    inputs = [x, w, b] if with_bias else [x, w]
    (expected,) = onnxruntime_run(node_of("ConvTranspose", inputs, **attributes), 11, inputs)

    assert_near(conv_transpose(*inputs, **attributes), expected)


def _slow_conv(x, w, b, group, strides, dilations, pads):
    """Return the sum of the definition in float64, a Python loop over every output element and tap."""
    rank = x.ndim - 2
    wide = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((pads[i], pads[rank + i]) for i in range(rank))])
    out = [(wide.shape[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(rank)]
    y = np.empty((x.shape[0], w.shape[0], *out))
    c, each = w.shape[1], w.shape[0] // group
    for m, place in product(range(w.shape[0]), product(*map(range, out))):
        first = m // each * c
        total = np.zeros(x.shape[0])
        for tap in product(*map(range, w.shape[2:])):
            at = tuple(place[i] * strides[i] + tap[i] * dilations[i] for i in range(rank))
            total += wide[(slice(None), slice(first, first + c), *at)] @ w[(m, slice(None), *tap)].astype(np.float64)
        y[(slice(None), m, *place)] = total + b[m]
    return y


@st.composite
def convolutions(draw):
    """Return random (x shape, w shape, attributes) that fit together."""
    rank = draw(st.sampled_from([1, 2, 2, 2, 3]))
    many = lambda low, high: draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))  # noqa: E731
    group = draw(st.integers(1, 3))
    c, m = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel, strides, dilations = many(1, 4), many(1, 3), many(1, 3)
    pads = many(0, 3) + many(0, 3)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    sizes = [max(1, r - pads[i] - pads[rank + i] + draw(st.integers(0, 7))) for i, r in enumerate(reach)]
    x_shape = (draw(st.integers(1, 2)), c * group, *sizes)
    attributes = {"group": group, "strides": strides, "dilations": dilations, "pads": pads}
    return x_shape, (m * group, c, *kernel), attributes


@settings(max_examples=120, deadline=None)
@given(convolutions())
def test_conv_equals_its_definition(case):
    x_shape, w_shape, attributes = case
    x, w, b = _random(x_shape, w_shape, w_shape[:1])

    got = conv(x, w, b, **attributes)

    assert_near(got, _slow_conv(x, w, b, **attributes).astype(np.float32))


@settings(max_examples=60, deadline=None)
@given(convolutions())
def test_conv_transpose_is_the_adjoint_of_conv(case):
    """For all x and y: <conv(x), y> = <x, conv_transpose(y)> with the same weights."""
    x_shape, w_shape, attributes = case
    x, w = (v.astype(np.float64) for v in _random(x_shape, w_shape))
    forward = conv(x, w, **attributes)
    (y,) = (v.astype(np.float64) for v in _random(forward.shape))
    rank = x.ndim - 2

    # Without cropping at the end, as a stride can leave the last elements of x unread.
    try:
        back = conv_transpose(y, w, **{**attributes, "pads": attributes["pads"][:rank] + [0] * rank})
    except BadArgument:
        reject()
    grown = np.zeros(x.shape)
    shared = tuple(slice(0, min(a, b)) for a, b in zip(x.shape, back.shape, strict=True))
    grown[shared] = back[shared]

    assert np.isclose(np.vdot(forward, y), np.vdot(x, grown))


def test_float16_is_computed_in_float32_and_rounded_once():
    x, w = (v.astype(np.float16) for v in _random((1, 16, 9, 9), (4, 16, 3, 3)))

    got = conv(x, w)

    assert got.dtype == np.float16
    assert np.array_equal(got, conv(x.astype(np.float32), w.astype(np.float32)).astype(np.float16))


@pytest.mark.parametrize("name", ["3x3", "7x7 stem", "depthwise large map", "depthwise many channels", "1x1", "3-d"])
def test_float64_stays_float64(name):
    x_shape, w_shape, attributes = CONVS[name]
    x, w = (v.astype(np.float64) for v in _random(x_shape, w_shape))

    got = conv(x, w, **attributes)

    assert got.dtype == np.float64
    assert_near(got.astype(np.float32), conv(x.astype(np.float32), w.astype(np.float32), **attributes))


def test_arguments_are_not_changed_and_views_are_accepted():
    x, w, b = _random((1, 9, 8, 16), (4, 16, 3, 3), (4,))
    view = x.transpose(0, 3, 1, 2)
    before = view.copy()

    got = conv(view, w, b)

    assert np.array_equal(view, before)
    assert_near(got, conv(before, w, b))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x, w: conv(x, w[:, :2]), "channels"),
        (lambda x, w: conv(x[0, 0], w), "rank"),
        (lambda x, w: conv(x, w, group=3), "group"),
        (lambda x, w: conv(x, w, kernel_shape=[2, 2]), "kernel_shape"),
        (lambda x, w: conv(x, w, pads=[1, 1]), "pads"),
        (lambda x, w: conv(x, w, auto_pad="SAME"), "auto_pad"),
        (lambda x, w: conv(x[:, :, :2], w), "window"),
        (lambda x, w: conv(x, w, strides=[0, 1]), "strides"),
        (lambda x, w: conv_transpose(x[:, :2], w), "channels"),
        (lambda x, w: conv_transpose(x, w, auto_pad="SAME"), "auto_pad"),
        (lambda x, w: conv_transpose(x, w, pads=[9, 9, 9, 9]), "negative"),
        (lambda x, w: conv_transpose(x, w, output_shape=[3]), "output_shape"),
    ],
)
def test_what_does_not_fit_is_named(call, says):
    x, w = _random((1, 4, 6, 6), (4, 4, 3, 3))

    with pytest.raises(BadArgument, match=says):
        call(x, w)
