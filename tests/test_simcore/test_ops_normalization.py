"""Normalization and matrix products against ONNX Runtime and float64 formulas."""

import numpy as np
import pytest

from simcore.errors import BadArgument
from simcore.ops.linear import einsum, gemm, matmul
from simcore.ops.normalization import (
    batch_normalization,
    group_normalization,
    group_normalization_groups,
    instance_normalization,
    layer_normalization,
    lp_normalization,
    lrn,
    mean_variance_normalization,
    rms_normalization,
)
from tests.test_simcore.operators import assert_near, node_of, onnxruntime_run


def _random(*shapes, seed=0):
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(s).astype(np.float32) for s in shapes]


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 7), (2, 5, 6, 7), (1, 5, 200, 201)], ids=str)
def test_batch_normalization_for_inference_equals_onnx_runtime(shape, opset):
    x, scale, b, mean = _random(shape, (5,), (5,), (5,))
    inputs = [x, scale, b, mean, np.abs(mean) + np.float32(0.5)]
    (expected,) = onnxruntime_run(node_of("BatchNormalization", inputs, epsilon=1e-3), opset, inputs)

    (y,) = batch_normalization(*inputs, epsilon=1e-3, num_outputs=5 if opset < 14 else 1)

    assert_near(y, expected)


def test_batch_normalization_per_element():
    x, scale, b, mean = _random((3, 4, 5), (4, 5), (4, 5), (4, 5))
    var = np.abs(mean) + np.float32(0.5)

    (y,) = batch_normalization(x, scale, b, mean, var, spatial=0)

    np.testing.assert_allclose(y, (x - mean) / np.sqrt(var + 1e-5) * scale + b, rtol=1e-4, atol=1e-5)


def test_batch_normalization_in_training_updates_its_statistics():
    x, scale, b, mean = _random((4, 5, 6), (5,), (5,), (5,))
    inputs = [x, scale, b, mean, np.abs(mean)]
    current, variance = x.mean((0, 2)), x.var((0, 2))

    y, running_mean, running_var = batch_normalization(*inputs, training_mode=1, momentum=0.8, num_outputs=3)

    centred = (x - current[:, None]) / np.sqrt(variance[:, None] + 1e-5)
    np.testing.assert_allclose(y, centred * scale[:, None] + b[:, None], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(running_mean, 0.8 * mean + 0.2 * current, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(running_var, 0.8 * np.abs(mean) + 0.2 * variance, rtol=1e-5, atol=1e-6)


def test_batch_normalization_keeps_statistics_in_their_own_type():
    x, scale, b, mean = _random((4, 5, 6), (5,), (5,), (5,))
    half = [v.astype(np.float16) for v in (x, scale, b)]

    y, running_mean, _ = batch_normalization(*half, mean, np.abs(mean), training_mode=1, num_outputs=3)

    assert (y.dtype, running_mean.dtype) == (np.float16, np.float32)


@pytest.mark.parametrize("shape", [(2, 5, 7), (2, 5, 6, 7), (1, 5, 2, 3, 4)], ids=str)
def test_instance_normalization_equals_onnx_runtime(shape):
    inputs = _random(shape, (5,), (5,))
    (expected,) = onnxruntime_run(node_of("InstanceNormalization", inputs), 6, inputs)

    assert_near(instance_normalization(*inputs), expected)


@pytest.mark.parametrize("with_bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("axis", [1, 2, -1])
def test_layer_normalization_equals_onnx_runtime(axis, with_bias):
    x, scale, b = _random((3, 4, 5), (3, 4, 5)[axis:], (3, 4, 5)[axis:])
    inputs = [x, scale, b] if with_bias else [x, scale]
    expected = onnxruntime_run(node_of("LayerNormalization", inputs, outputs=3, axis=axis, epsilon=1e-2), 17, inputs)

    got = layer_normalization(*inputs, axis=axis, epsilon=1e-2, num_outputs=3)

    for mine, wanted in zip(got, expected, strict=True):
        assert_near(mine, wanted)


def test_layer_normalization_of_float16_keeps_statistics_in_float32():
    x, scale = (v.astype(np.float16) for v in _random((3, 64), (64,)))

    y, mean, inverse = layer_normalization(x, scale, num_outputs=3)

    assert (y.dtype, mean.dtype, inverse.dtype) == (np.float16, np.float32, np.float32)
    assert np.array_equal(y, layer_normalization(x.astype(np.float32), scale.astype(np.float32))[0].astype(np.float16))


def test_large_means_do_not_cancel():
    (x,) = _random((2, 1000))
    x = x + np.float32(5000)
    wide = x.astype(np.float64)

    (y,) = layer_normalization(x, np.ones(1000, np.float32))

    np.testing.assert_allclose(
        y, (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True), rtol=1e-3, atol=1e-3
    )


def test_group_normalization_scales_per_channel_or_per_group():
    x, channel, group = _random((2, 6, 3, 4), (6,), (3,))
    wide = x.astype(np.float64).reshape(2, 3, -1)
    centred = ((wide - wide.mean(2, keepdims=True)) / np.sqrt(wide.var(2, keepdims=True) + 1e-5)).reshape(x.shape)
    per_channel, per_group = channel[:, None, None], np.repeat(group, 2)[:, None, None]

    np.testing.assert_allclose(
        group_normalization(x, channel, channel, num_groups=3),
        centred * per_channel + per_channel,
        rtol=1e-4,
        atol=1e-5,
    )
    np.testing.assert_allclose(
        group_normalization_groups(x, group, group, num_groups=3), centred * per_group + per_group, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_rms_normalization_follows_its_formula(axis):
    x, scale = _random((3, 4, 5), (3, 4, 5)[axis:])
    axes = tuple(range(axis % 3, 3))
    wide = x.astype(np.float64)

    got = rms_normalization(x, scale, axis=axis)

    np.testing.assert_allclose(
        got, wide / np.sqrt((wide**2).mean(axes, keepdims=True) + 1e-5) * scale, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("size", [1, 3, 5, 15])
def test_lrn_equals_onnx_runtime(size):
    (x,) = _random((2, 7, 4, 5))
    attributes = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}
    if size % 2:
        (expected,) = onnxruntime_run(node_of("LRN", [x], **attributes), 13, [x])

        assert_near(lrn(x, **attributes), expected)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_lp_normalization_equals_onnx_runtime(axis, p):
    (x,) = _random((3, 4, 5))
    (expected,) = onnxruntime_run(node_of("LpNormalization", [x], axis=axis, p=p), 1, [x])

    assert_near(lp_normalization(x, axis=axis, p=p), expected)
    assert np.array_equal(lp_normalization(np.zeros_like(x), axis=axis, p=p), np.zeros_like(x))


def test_mean_variance_normalization_equals_onnx_runtime():
    (x,) = _random((3, 4, 5, 6))
    (expected,) = onnxruntime_run(node_of("MeanVarianceNormalization", [x]), 13, [x])

    assert_near(mean_variance_normalization(x), expected)


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (6, 4, 5)), ((2, 0, 4), (4, 5))],
    ids=str,
)  # fmt: skip
def test_matmul_broadcasts_as_numpy_in_float64(a, b):
    x, y = _random(a, b)

    assert_near(matmul(x, y), np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(np.float32))


def test_matmul_takes_views_and_integers():
    x, y = _random((2, 4, 3), (5, 4))
    n = np.arange(6, dtype=np.int32).reshape(2, 3)

    assert_near(matmul(x.swapaxes(1, 2), y.T), np.ascontiguousarray(x.swapaxes(1, 2)) @ y.T)
    assert matmul(n, n.T).tolist() == (n @ n.T).tolist()
    assert matmul(x, y[:3, :3].astype(np.float32)).shape == (2, 4, 3)


@pytest.mark.parametrize("transposed_b", [0, 1])
@pytest.mark.parametrize("transposed_a", [0, 1])
@pytest.mark.parametrize("c_shape", [None, (), (5,), (1, 5), (3, 1), (3, 5)], ids=str)
def test_gemm_equals_onnx_runtime(c_shape, transposed_a, transposed_b):
    a, b = _random((4, 3) if transposed_a else (3, 4), (5, 4) if transposed_b else (4, 5))
    inputs = [a, b] if c_shape is None else [a, b, *_random(c_shape)]
    attributes = {"alpha": 0.5, "beta": 1.5, "transA": transposed_a, "transB": transposed_b}
    inputs = [np.asarray(x) for x in inputs]
    (expected,) = onnxruntime_run(node_of("Gemm", inputs, **attributes), 13, inputs)

    assert_near(gemm(*inputs, **attributes), expected)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij, bkj -> bik", [(2, 3, 4), (2, 5, 4)]),
        ("...ii->...i", [(2, 3, 3)]),
        ("ij->j", [(3, 4)]),
        ("i,j,k->ijk", [(2,), (3,), (4,)]),
        ("bhwc,hkc->bhwk", [(2, 3, 4, 5), (3, 6, 5)]),
    ],
)
def test_einsum_equals_onnx_runtime(equation, shapes):
    inputs = _random(*shapes)
    (expected,) = onnxruntime_run(node_of("Einsum", inputs, equation=equation), 12, inputs)

    assert_near(einsum(*inputs, equation=equation), expected)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: matmul(x, x), "MatMul"),
        (lambda x: gemm(x, x), "Gemm"),
        (lambda x: gemm(x, x, x, transB=1), "broadcast"),
        (lambda x: einsum(x, equation="ijk->i"), "Einsum"),
        (lambda x: batch_normalization(x[None], x[0], x[0], x[0], x[0]), "BatchNormalization"),
        (lambda x: group_normalization(x, x[0], x[0], num_groups=3), "num_groups"),
        (lambda x: lp_normalization(x, p=3), "p = 3"),
    ],
)
def test_what_does_not_fit_is_named(call, says):
    with pytest.raises(BadArgument, match=says):
        call(np.ones((3, 4), np.float32))
