"""Arithmetic, comparison, logic and activations against float64 numpy, Python integers and ONNX Runtime."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simcore.errors import BadArgument
from simcore.ops import activation, elementwise
from simcore.ops.elementwise import bit_shift, clip, clip_attributes, div, isinf, max_, mean, mod, pow_, sum_
from tests.test_simcore.operators import assert_near, function_of, node_of, onnxruntime_run

X = np.concatenate([np.linspace(-6, 6, 500), [0.0, -0.0, 1e-8, -1e-8, 30, -30, 88, -88, 1e4, -1e4]]).astype(np.float32)
INSIDE = np.linspace(-0.999, 0.999, 400).astype(np.float32)
ABOVE = np.linspace(1.001, 50, 400).astype(np.float32)


def _softplus(x):
    return np.logaddexp(0, x)


def _sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


_erf = np.vectorize(math.erf, otypes=[np.float64])

#: name -> (function of float32, its formula in float64, inputs).
UNARY = {
    "abs": (elementwise.abs_, np.abs, X),
    "acos": (elementwise.acos, np.arccos, INSIDE),
    "acosh": (elementwise.acosh, np.arccosh, ABOVE),
    "asin": (elementwise.asin, np.arcsin, INSIDE),
    "asinh": (elementwise.asinh, np.arcsinh, X),
    "atan": (elementwise.atan, np.arctan, X),
    "atanh": (elementwise.atanh, np.arctanh, INSIDE),
    "ceil": (elementwise.ceil, np.ceil, X),
    "cos": (elementwise.cos, np.cos, X),
    "cosh": (elementwise.cosh, np.cosh, X[:500]),
    "exp": (elementwise.exp, np.exp, X[:508]),
    "floor": (elementwise.floor, np.floor, X),
    "log": (elementwise.log, np.log, ABOVE),
    "neg": (elementwise.neg, np.negative, X),
    "reciprocal": (elementwise.reciprocal, lambda x: 1 / x, ABOVE),
    "round": (elementwise.round_, np.rint, np.arange(-6, 6, 0.25, dtype=np.float32)),
    "sign": (elementwise.sign, np.sign, X),
    "sin": (elementwise.sin, np.sin, X),
    "sinh": (elementwise.sinh, np.sinh, X[:500]),
    "sqrt": (elementwise.sqrt, np.sqrt, ABOVE),
    "tan": (elementwise.tan, np.tan, INSIDE),
    "celu": (
        lambda x: activation.celu(x, alpha=0.7),
        lambda x: np.maximum(0, x) + 0.7 * np.expm1(np.minimum(0, x) / 0.7),
        X,
    ),
    "elu": (lambda x: activation.elu(x, alpha=1.3), lambda x: np.where(x < 0, 1.3 * np.expm1(np.minimum(x, 0)), x), X),
    "erf": (activation.erf, _erf, X),
    "gelu": (activation.gelu, lambda x: x / 2 * (1 + _erf(x / math.sqrt(2))), X),
    "gelu tanh": (
        lambda x: activation.gelu(x, approximate="tanh"),
        lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        X,
    ),
    "hard sigmoid": (activation.hard_sigmoid, lambda x: np.clip(0.2 * x + 0.5, 0, 1), X),
    "hard swish": (activation.hard_swish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1), X),
    "leaky relu": (activation.leaky_relu, lambda x: np.where(x < 0, 0.01 * x, x), X),
    "leaky relu steep": (lambda x: activation.leaky_relu(x, alpha=-2.0), lambda x: np.where(x < 0, -2 * x, x), X),
    "mish": (activation.mish, lambda x: x * np.tanh(_softplus(x)), X),
    "relu": (activation.relu, lambda x: np.maximum(x, 0), X),
    "selu": (
        activation.selu,
        lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(np.minimum(x, 0)), x),
        X,
    ),
    "shrink": (
        lambda x: activation.shrink(x, bias=0.5, lambd=1.5),
        lambda x: np.where(x < -1.5, x + 0.5, np.where(x > 1.5, x - 0.5, 0)),
        X,
    ),
    "sigmoid": (activation.sigmoid, _sigmoid, X),
    "softplus": (activation.softplus, _softplus, X),
    "softsign": (activation.softsign, lambda x: x / (1 + np.abs(x)), X),
    "swish": (lambda x: activation.swish(x, alpha=1.7), lambda x: x * _sigmoid(1.7 * x), X),
    "tanh": (activation.tanh, np.tanh, X),
    "thresholded relu": (lambda x: activation.thresholded_relu(x, alpha=2.0), lambda x: np.where(x > 2, x, 0), X),
}


@pytest.mark.parametrize(("function", "formula", "x"), UNARY.values(), ids=UNARY)
def test_function_follows_its_formula(function, formula, x):
    expected = formula(x.astype(np.float64))

    got = function(x)

    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=7e-7)
    np.testing.assert_allclose(function(x.astype(np.float64)), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("function", "formula", "x"), UNARY.values(), ids=UNARY)
def test_float16_is_rounded_once(function, formula, x):
    half = x[np.abs(x) < 1000].astype(np.float16)

    got = function(half)

    assert got.dtype == np.float16
    with np.errstate(over="ignore"):
        assert np.array_equal(got, function(half.astype(np.float32)).astype(np.float16), equal_nan=True)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (7, 1), (2, 3, 20011)], ids=str)
@pytest.mark.parametrize("name", ["erf", "sigmoid", "gelu", "relu", "leaky relu", "abs", "elu", "mish", "round"])
def test_any_shape_is_kept_and_the_argument_is_not_changed(name, shape):
    function, formula, _ = UNARY[name]
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    view = x.T
    before = view.copy()

    got = function(view)

    assert isinstance(got, np.ndarray)
    assert got.shape == view.shape
    assert np.array_equal(view, before)
    np.testing.assert_allclose(got, formula(before.astype(np.float64)), rtol=2e-6, atol=7e-7)


@pytest.mark.parametrize("name", sorted(set(UNARY) - {"thresholded relu"}))
def test_nan_stays_nan(name):
    assert np.isnan(UNARY[name][0](np.array([np.nan], np.float32)))[0]


def test_erf_is_within_six_units_in_the_last_place():
    x = np.linspace(-5, 5, 100_001).astype(np.float32)
    x = x[x != 0]
    exact = _erf(x.astype(np.float64))

    units = np.abs(activation.erf(x) - exact) / np.spacing(np.abs(exact).astype(np.float32))

    assert units.max() <= 6.5
    assert np.array_equal(activation.erf(np.array([4, 9, np.inf, -np.inf, 0], np.float32)), [1, 1, 1, -1, 0])


def test_erf_of_float64_is_exact_to_1e_14():
    x = np.linspace(-7, 7, 2001)

    np.testing.assert_allclose(activation.erf(x), _erf(x), rtol=1e-14, atol=1e-300)


SIGNED = [np.int8, np.int16, np.int32, np.int64]


@pytest.mark.parametrize("dtype", [*SIGNED, np.uint8, np.uint32], ids=lambda d: d.__name__)
def test_integer_division_and_remainders_equal_python(dtype):
    limits = np.iinfo(dtype)
    values = sorted({limits.min, limits.min + 1, -100, -7, -3, -1, 0, 1, 2, 3, 7, 100, limits.max - 1, limits.max})
    values = [v for v in values if limits.min <= v <= limits.max]
    pairs = [(a, b) for a in values for b in values if b and not (a == limits.min and b == -1 and limits.min)]
    a, b = (np.array(v, dtype) for v in zip(*pairs, strict=True))

    quotients = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]

    assert div(a, b).tolist() == quotients
    assert mod(a, b).tolist() == [x % y for x, y in pairs]
    assert mod(a, b, fmod=1).tolist() == [x - q * y for (x, y), q in zip(pairs, quotients, strict=True)]
    assert div(a, b).dtype == mod(a, b).dtype == dtype


def test_integer_division_by_zero_gives_zero():
    assert div(np.array([5, -5], np.int32), np.array(0, np.int32)).tolist() == [0, 0]


@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4),
    st.sampled_from(["Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "GreaterOrEqual", "Equal", "Pow"]),
)
def test_operands_broadcast(shapes, op):
    generator = np.random.default_rng(0)
    a, b = (generator.random(s).astype(np.float32) + 0.5 for s in shapes.input_shapes)
    wide = {
        "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum, "Min": np.minimum,
        "Less": np.less, "GreaterOrEqual": np.greater_equal, "Equal": np.equal, "Pow": np.power,
    }[op](a.astype(np.float64), b.astype(np.float64))  # fmt: skip

    got = function_of(op, 18)(a, b)

    assert got.shape == shapes.result_shape
    np.testing.assert_allclose(got, wide, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.array([1.5, -2, 3], np.float32), np.array(2, np.float32)),
        (np.array([1.5, -2, 3], np.float32), np.array([2, 3, -1], np.float32)),
        (np.array([1.5, -2, 3], np.float32), np.array(3, np.int64)),
        (np.array([1.5, 2, 3], np.float32), np.array(0.5, np.float32)),
        (np.array([2, -3, 4], np.int32), np.array([2, 3, 0], np.int32)),
        (np.array([2, 3, 4], np.int64), np.array([0.5, 2.5, 1], np.float32)),
        (np.array([2, 3, 4], np.int32), np.array([2, 3, 1], np.int64)),
    ],
    ids=["square", "floats", "cube by int64", "root", "int32", "int64 by float", "int32 by int64"],
)
def test_power_equals_onnx_runtime(x, y):
    (expected,) = onnxruntime_run(node_of("Pow", [x, y]), 15, [x, y])

    assert_near(pow_(x, y), expected)


def test_power_of_integers_with_negative_exponents_is_cut_toward_zero():
    got = pow_(np.array([2, 1, -1, -1, 0, 7], np.int32), np.array([-1, -5, -3, -2, -1, 40], np.int32))

    assert got[:5].tolist() == [0, 1, -1, 1, np.iinfo(np.int32).max]


def test_clip_bounds_may_be_absent_or_cross():
    x = np.array([-2, 0, 5, np.nan], np.float32)
    low, high = np.array(-1, np.float32), np.array([3], np.float32)

    assert np.array_equal(clip(x, low, high), [-1, 0, 3, np.nan], equal_nan=True)
    assert np.array_equal(clip(x, low), [-1, 0, 5, np.nan], equal_nan=True)
    assert np.array_equal(clip(x, None, high), [-2, 0, 3, np.nan], equal_nan=True)
    assert np.array_equal(clip(x), x, equal_nan=True)
    assert np.array_equal(clip(x[:3], high, low), [-1, -1, -1])
    assert clip(np.array(9, np.int8), np.array(0, np.int8), np.array(6, np.int8)).tolist() == 6


def test_clip_with_attributes_bounds_infinities():
    x = np.array([-np.inf, -9, 9, np.inf], np.float32)

    assert np.array_equal(clip_attributes(x, min=0.0, max=6.0), [0, 0, 6, 6])
    assert np.isfinite(clip_attributes(x)).all()


def test_variadic_operators_take_one_or_many():
    a, b, c = (np.array(v, np.float32) for v in ([1, 5], [4, 2], [[3], [9]]))

    assert max_(a).tolist() == [1, 5]
    assert max_(a, b, c).tolist() == [[4, 5], [9, 9]]
    assert sum_(a, b, c).tolist() == [[8, 10], [14, 16]]
    np.testing.assert_allclose(mean(a, b, c), np.array([[8, 10], [14, 16]]) / 3, rtol=1e-6)


def test_a_float16_sum_does_not_round_between_its_terms():
    big, small = np.array([2048], np.float16), np.array([0.75], np.float16)

    assert sum_(big, small, small).tolist() == [2050]


def test_bfloat16_is_computed_in_float32_and_rounded_once():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    big, small = (np.array([v], ml_dtypes.bfloat16) for v in (256, 0.75))

    got = sum_(big, small, small)

    assert got.dtype == ml_dtypes.bfloat16
    assert float(got[0]) == 258


def test_infinities_are_told_apart():
    x = np.array([np.inf, -np.inf, 1, np.nan], np.float32)

    assert isinf(x).tolist() == [True, True, False, False]
    assert isinf(x, detect_negative=0).tolist() == [True, False, False, False]
    assert isinf(x, detect_positive=0).tolist() == [False, True, False, False]


def test_ieee_specials_pass_silently():
    zero, one = np.zeros(1, np.float32), np.ones(1, np.float32)

    assert div(one, zero)[0] == np.inf
    assert np.isnan(div(zero, zero)[0])
    assert elementwise.exp(np.array([200], np.float16))[0] == np.inf


def test_bits_shifted_out_are_lost():
    x = np.array([255, 1, 16], np.uint8)

    assert bit_shift(x, np.array([1, 8, 2], np.uint8), direction="LEFT").tolist() == [254, 0, 64]
    assert bit_shift(x, np.array([1, 1, 2], np.uint8), direction="RIGHT").tolist() == [127, 0, 4]
    with pytest.raises(BadArgument, match="direction"):
        bit_shift(x, x, direction="UP")


def test_an_unknown_approximation_is_named():
    with pytest.raises(BadArgument, match="approximate"):
        activation.gelu(X, approximate="exact")


@pytest.mark.parametrize("slope_shape", [(1,), (3, 1, 1), (4, 5)], ids=str)
def test_prelu_slope_broadcasts_as_in_onnx_runtime(slope_shape):
    generator = np.random.default_rng(2)
    x, slope = (generator.standard_normal(s).astype(np.float32) for s in ((2, 3, 4, 5), slope_shape))
    (expected,) = onnxruntime_run(node_of("PRelu", [x, slope]), 16, [x, slope])

    assert_near(activation.prelu(x, slope), expected)
