"""Pooling against ONNX Runtime over random windows, and against loops over every window."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.errors import BadArgument
from simcore.ops.pool import (
    average_pool,
    global_average_pool,
    global_lp_pool,
    global_max_pool,
    lp_pool,
    max_pool,
)
from tests.test_simcore.operators import assert_near, node_of, onnxruntime_run

WINDOWS = {
    "2x2": ((2, 3, 8, 8), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "3x3 overlapping": ((1, 3, 9, 10), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "3x3 uneven pads": ((1, 3, 9, 10), {"kernel_shape": [3, 3], "pads": [0, 1, 2, 0]}),
    "ceil": ((1, 3, 10, 11), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "ceil padded": ((1, 3, 10, 11), {"kernel_shape": [3, 3], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]}),
    "ceil last in pad": (
        (1, 1, 2, 2),
        {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]},
    ),
    "same upper": ((1, 3, 9, 10), {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "same lower": ((1, 3, 9, 10), {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    "dilated": ((1, 3, 12, 13), {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [1, 1, 1, 1]}),
    "1-d": ((2, 3, 20), {"kernel_shape": [4], "strides": [3]}),
    "3-d": ((1, 2, 6, 7, 8), {"kernel_shape": [2, 3, 2], "strides": [1, 2, 2], "pads": [1, 1, 0, 0, 1, 1]}),
    "large kernel": ((1, 3, 20, 20), {"kernel_shape": [13, 13], "pads": [6, 6, 6, 6]}),
}


def _random(shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "attributes"), WINDOWS.values(), ids=WINDOWS)
def test_max_pool_and_its_indices_equal_onnx_runtime(shape, attributes):
    x = _random(shape)
    y, indices = onnxruntime_run(node_of("MaxPool", [x], outputs=2, **attributes), 12, [x])

    got_y, got_indices = max_pool(x, num_outputs=2, **attributes)

    assert_near(got_y, y)
    assert_near(max_pool(x, **attributes)[0], y)
    inside = y > -1e30
    assert np.array_equal(got_indices[inside], indices[inside])


def test_max_pool_counts_columns_first_in_storage_order_1():
    x = _random((2, 3, 6, 7))
    attributes = {"kernel_shape": [3, 2], "strides": [2, 2], "storage_order": 1}
    _, indices = onnxruntime_run(node_of("MaxPool", [x], outputs=2, **attributes), 12, [x])

    assert_near(max_pool(x, num_outputs=2, **attributes)[1], indices)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_max_pool_takes_bytes(dtype):
    x = np.random.default_rng(0).integers(0, 120, (1, 3, 9, 9)).astype(dtype)
    attributes = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    (expected,) = onnxruntime_run(node_of("MaxPool", [x], **attributes), 12, [x])

    assert_near(max_pool(x, **attributes)[0], expected)


@pytest.mark.parametrize("count_include_pad", [0, 1])
@pytest.mark.parametrize(("shape", "attributes"), WINDOWS.values(), ids=WINDOWS)
def test_average_pool_equals_onnx_runtime(shape, attributes, count_include_pad):
    x = _random(shape)
    attributes = {**attributes, "count_include_pad": count_include_pad}
    (expected,) = onnxruntime_run(node_of("AveragePool", [x], **attributes), 19, [x])

    assert_near(average_pool(x, **attributes), expected)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("shape", "attributes"), WINDOWS.values(), ids=WINDOWS)
def test_lp_pool_equals_onnx_runtime(shape, attributes, p):
    x = _random(shape)
    attributes = {**attributes, "p": p}
    (expected,) = onnxruntime_run(node_of("LpPool", [x], **attributes), 18, [x])

    assert_near(lp_pool(x, **attributes), expected)


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 5, 6), (2, 3, 2, 3, 4), (1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("GlobalAveragePool", global_average_pool),
        ("GlobalMaxPool", global_max_pool),
        ("GlobalLpPool", global_lp_pool),
    ],
)
def test_global_pool_equals_onnx_runtime(op, function, shape):
    x = _random(shape)
    (expected,) = onnxruntime_run(node_of(op, [x]), 11, [x])

    assert_near(function(x), expected)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_pools_equal_a_loop_over_windows(data):
    size = data.draw(st.integers(1, 9))
    kernel, stride, dilation = (data.draw(st.integers(1, 3)) for _ in range(3))
    begin, end = (data.draw(st.integers(0, kernel - 1)) for _ in range(2))
    if size + begin + end < (kernel - 1) * dilation + 1:
        return
    x = _random((1, 1, size, size), seed=size)
    out = (size + begin + end - (kernel - 1) * dilation - 1) // stride + 1
    expected_max, expected_mean = np.full((2, 1, 1, out, out), -np.inf, np.float64)
    for i, j in product(range(out), repeat=2):
        rows = [r for k in range(kernel) if 0 <= (r := i * stride + k * dilation - begin) < size]
        columns = [c for k in range(kernel) if 0 <= (c := j * stride + k * dilation - begin) < size]
        values = [float(x[0, 0, r, c]) for r, c in product(rows, columns)]
        expected_max[0, 0, i, j] = max(values, default=-np.inf)
        expected_mean[0, 0, i, j] = sum(values) / len(values) if values else np.nan
    attributes = {
        "kernel_shape": [kernel] * 2, "strides": [stride] * 2, "dilations": [dilation] * 2, "pads": [begin] * 2 + [end] * 2,
    }  # fmt: skip

    assert_near(max_pool(x, **attributes)[0], expected_max.astype(np.float32))
    assert_near(average_pool(x, **attributes), expected_mean.astype(np.float32))


def test_nan_is_the_maximum():
    x = np.array([[[1, np.nan, 3, 4]]], np.float32)

    assert np.array_equal(max_pool(x, kernel_shape=[2], strides=[2])[0][0, 0], [np.nan, 4], equal_nan=True)


def test_the_argument_is_not_changed_where_the_kernel_does_nothing():
    x = _random((1, 2, 4, 4))
    before = x.copy()

    average_pool(x, kernel_shape=[1, 1])
    max_pool(x, kernel_shape=[1, 2], strides=[1, 2])

    assert np.array_equal(x, before)


def test_a_matrix_has_nothing_to_pool():
    with pytest.raises(BadArgument, match="spatial"):
        max_pool(np.zeros((2, 2), np.float32), kernel_shape=[])
