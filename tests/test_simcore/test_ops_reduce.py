"""Reductions, ArgMax, running sums and the softmax family against float64 numpy and ONNX Runtime."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.errors import BadArgument
from simcore.ops import reduce, softmax
from simcore.ops.reduce import (
    argmax,
    argmin,
    cumprod,
    cumsum,
    reduce_log_sum_exp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_sum,
)
from tests.test_simcore.operators import assert_near, node_of, onnxruntime_run

#: ONNX name -> (function, formula in float64 of (data, axes, keepdims)).
REDUCTIONS = {
    "ReduceL1": (reduce.reduce_l1, lambda x, a, k: np.sum(np.abs(x), axis=a, keepdims=k)),
    "ReduceL2": (reduce.reduce_l2, lambda x, a, k: np.sqrt(np.sum(x * x, axis=a, keepdims=k))),
    "ReduceLogSum": (reduce.reduce_log_sum, lambda x, a, k: np.log(np.sum(x, axis=a, keepdims=k))),
    "ReduceLogSumExp": (reduce.reduce_log_sum_exp, lambda x, a, k: np.log(np.sum(np.exp(x), axis=a, keepdims=k))),
    "ReduceMax": (reduce.reduce_max, lambda x, a, k: np.max(x, axis=a, keepdims=k)),
    "ReduceMean": (reduce.reduce_mean, lambda x, a, k: np.mean(x, axis=a, keepdims=k)),
    "ReduceMin": (reduce.reduce_min, lambda x, a, k: np.min(x, axis=a, keepdims=k)),
    "ReduceProd": (reduce.reduce_prod, lambda x, a, k: np.prod(x, axis=a, keepdims=k)),
    "ReduceSum": (reduce.reduce_sum, lambda x, a, k: np.sum(x, axis=a, keepdims=k)),
    "ReduceSumSquare": (reduce.reduce_sum_square, lambda x, a, k: np.sum(x * x, axis=a, keepdims=k)),
}
AXES = [None, (0,), (1,), (-1,), (0, 2), (-1, 1), (0, 1, 2)]


def _data(shape=(3, 4, 5)):
    return (np.random.default_rng(0).random(shape) + 0.25).astype(np.float32)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduction_follows_its_formula_with_axes_by_name_or_as_input(op, axes, keepdims):
    function, formula = REDUCTIONS[op]
    data = _data()
    expected = np.asarray(formula(data.astype(np.float64), axes, bool(keepdims))).astype(np.float32)
    as_input = None if axes is None else np.array(axes, np.int64)

    assert_near(function(data, axes=axes, keepdims=keepdims), expected)
    assert_near(function(data, as_input, keepdims=keepdims), expected)


@pytest.mark.parametrize("op", sorted(set(REDUCTIONS) - {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}))
def test_integer_reduction_equals_onnx_runtime(op):
    data = np.random.default_rng(1).integers(-9, 9, (3, 4, 2)).astype(np.int32)
    (expected,) = onnxruntime_run(node_of(op, [data], axes=[1], keepdims=0), 11, [data])

    assert_near(REDUCTIONS[op][0](data, axes=(1,), keepdims=0), expected)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_without_axes_nothing_is_reduced_if_asked_for(op):
    function, formula = REDUCTIONS[op]
    data = _data()

    got = function(data, np.empty(0, np.int64), noop_with_empty_axes=1)

    assert_near(got, np.asarray(formula(data.astype(np.float64)[..., None], (3,), False)).astype(np.float32))
    assert function(data, np.empty(0, np.int64)).shape == (1, 1, 1)


def test_reductions_over_nothing_give_the_neutral_element():
    nothing = np.empty((2, 0), np.float32)

    assert reduce_max(nothing, axes=(1,)).tolist() == [[-np.inf]] * 2
    assert reduce_min(nothing, axes=(1,)).tolist() == [[np.inf]] * 2
    assert reduce_sum(nothing, axes=(1,)).tolist() == [[0]] * 2
    assert reduce_log_sum_exp(nothing, axes=(1,)).tolist() == [[-np.inf]] * 2
    assert reduce_max(nothing.astype(np.int8), axes=(1,)).tolist() == [[-128]] * 2
    assert reduce_min(nothing.astype(bool), axes=(1,)).tolist() == [[True]] * 2


def test_log_sum_exp_neither_overflows_nor_loses_infinities():
    data = np.array([[1000, 1000], [-1000, -1001], [-np.inf, -np.inf], [np.inf, 0], [np.nan, 0]], np.float32)

    got = reduce_log_sum_exp(data, axes=(1,), keepdims=0)

    np.testing.assert_allclose(got, [1000.6931, -999.6867, -np.inf, np.inf, np.nan], rtol=1e-6)


def test_means_of_integers_are_cut_toward_zero():
    assert reduce_mean(np.array([[-1, -2], [1, 2]], np.int32), axes=(1,), keepdims=0).tolist() == [-1, 1]


def test_float16_accumulates_in_float32():
    assert reduce_sum(np.ones(4096, np.float16) * np.float16(0.75)).tolist() == [3072]


def test_an_axis_that_does_not_exist_is_named():
    with pytest.raises(BadArgument, match="rank 3"):
        reduce_sum(_data(), axes=(3,))
    with pytest.raises(BadArgument, match="empty"):
        argmax(np.empty((2, 0), np.float32), axis=1)


@pytest.mark.parametrize(
    ("axis", "keepdims", "last"), list(itertools.product([0, 1, -1], [0, 1], [0, 1])), ids=lambda v: str(v)
)
def test_arg_extremes_equal_a_python_search(axis, keepdims, last):
    data = np.random.default_rng(2).integers(0, 3, (3, 4, 5)).astype(np.float32)
    rows = np.moveaxis(data, axis, -1)
    for function, extreme in ((argmax, max), (argmin, min)):
        expected = np.empty(rows.shape[:-1], np.int64)
        for place in np.ndindex(*expected.shape):
            row = rows[place].tolist()
            expected[place] = len(row) - 1 - row[::-1].index(extreme(row)) if last else row.index(extreme(row))

        got = function(data, axis=axis, keepdims=keepdims, select_last_index=last)

        assert got.dtype == np.int64
        assert np.array_equal(got, np.expand_dims(expected, axis) if keepdims else expected)


@given(st.integers(-2, 1), st.booleans(), st.booleans(), st.booleans())
def test_running_sums_and_products_equal_a_loop(axis, exclusive, reverse, product):
    x = np.random.default_rng(3).integers(1, 4, (3, 4)).astype(np.float32)
    rows = np.moveaxis(x, axis, -1)
    expected = np.empty_like(rows)
    for place in np.ndindex(*rows.shape):
        row, i = rows[place[:-1]], place[-1]
        inside = row[i + exclusive :] if reverse else row[: i + 1 - exclusive]
        expected[place] = np.prod(inside) if product else np.sum(inside)

    got = (cumprod if product else cumsum)(x, np.array(axis), exclusive=int(exclusive), reverse=int(reverse))

    assert np.array_equal(got, np.moveaxis(expected, -1, axis))
    assert got.dtype == np.float32


FAMILY = {
    "Softmax": (softmax.softmax, softmax.softmax_flattened),
    "LogSoftmax": (softmax.log_softmax, softmax.log_softmax_flattened),
    "Hardmax": (softmax.hardmax, softmax.hardmax_flattened),
}


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2])
@pytest.mark.parametrize("op", FAMILY)
def test_softmax_family_equals_onnx_runtime_before_and_after_opset_13(op, axis, opset):
    x = np.random.default_rng(4).standard_normal((2, 3, 4, 5)).astype(np.float32)
    (expected,) = onnxruntime_run(node_of(op, [x], axis=axis), opset, [x])

    assert_near(FAMILY[op][opset < 13](x, axis=axis), expected)


def test_the_two_softmaxes_differ_inside_a_tensor():
    x = np.zeros((2, 3, 4), np.float32)

    assert np.allclose(softmax.softmax(x, axis=1), 1 / 3)
    assert np.allclose(softmax.softmax_flattened(x, axis=1), 1 / 12)


def test_softmax_is_stable_and_works_row_block_by_row_block():
    x = np.random.default_rng(5).standard_normal((3, 400, 300)).astype(np.float32) * 1000
    wide = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))

    np.testing.assert_allclose(softmax.softmax(x), wide / wide.sum(-1, keepdims=True), rtol=1e-5, atol=1e-7)
    assert softmax.softmax(np.empty((0, 4), np.float32)).shape == (0, 4)
    assert softmax.softmax(np.array(3, np.float32)).tolist() == 1
