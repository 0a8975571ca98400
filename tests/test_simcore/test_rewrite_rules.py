"""Every rule of simcore.rewrite on minimal graphs, against ONNX Runtime and golden mode."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from simcore.device import Device
from simcore.rewrite.prove import prove
from simcore.rewrite.run import Options, rewrite
from simcore.rewrite.table import RULES
from tests.test_simcore.rewriting import NANO, Case, case, check, feeds_of, loaded, model, model_of, operators

RANDOM = np.random.default_rng(7)


def f(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (RANDOM.normal(size=shape) * scale).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return RANDOM.uniform(0.1, 4, shape).astype(np.float32)


def i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def truth(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 2, shape).astype(bool)


def chosen(op_type: str, rule: str) -> Options:
    return Options(choices={op_type: rule})


HALVES = np.array([-3.5, -2.5, -2.0, -1.5, -0.5, 0.0, 0.3, 0.5, 1.0, 1.5, 2.5, 1e7], np.float32)
WIDE = np.linspace(-12, 12, 481, dtype=np.float32).reshape(13, 37)
X4 = f(2, 3, 6, 5)

ARITHMETIC = [
    case("by_a_scalar", "Div", f(2, 3), np.float32(3), constant=[1], into={"Mul"}),
    case("by_a_vector", "Div", f(2, 3), np.array([2, -7, 0.1], np.float32), constant=[1], into={"Mul"}),
    case("by_zero_is_no_reciprocal", "Div", f(3), np.array([1, 0, 2], np.float32), constant=[1], into={"Mul"}),
    case("by_a_tensor", "Div", f(2, 3), positive(3), into={"Pow", "Mul"}),
    case("by_a_negative_tensor", "Div", f(2, 3), -positive(2, 3), into={"Pow", "Mul"}),
    case("one_by_a_tensor", "Div", np.float32(1), positive(2, 3), constant=[0], into={"Pow"}),
    case("in_float64", "Div", f(2, 3).astype(float), np.float64(3), constant=[1], into={"Mul"}),
    case("integers", "Div", np.arange(-50, 51, dtype=np.int64), i(7), constant=[1]),
    case("integers_by_several", "Div", np.array([[4194303, 4194302, 100]], np.int32), np.array([[1], [3], [1000]], np.int32), constant=[1]),
    case("square_root", "Sqrt", positive(3, 4), into={"Pow"}),
    case("square_root_of_zero", "Sqrt", np.array([0, 1, 1e-20, 1e30], np.float32), into={"Pow"}),
    case("reciprocal", "Reciprocal", positive(3, 4), into={"Pow"}),
    case("sum_of_three", "Sum", f(2, 3), f(3), f(2, 1), into={"Add"}),
    case("sum_of_one", "Sum", f(2, 3), into={"Identity"}),
    case("mean_of_three", "Mean", f(2, 3), f(3), f(2, 1), into={"Add", "Mul"}),
    case("less", "Less", f(4, 3), f(3), into={"Greater"}),
    case("less_of_integers", "Less", i(1, 2, 3), i(3, 2, 1), into={"Greater"}),
    case("less_of_nan", "Less", np.array([np.nan, 1, np.inf], np.float32), np.float32(2), into={"Greater"}),
    case("less_or_equal", "LessOrEqual", np.array([1, 2, 3, np.nan], np.float32), np.float32(2)),
    case("greater_or_equal", "GreaterOrEqual", np.array([1, 2, 3, np.nan], np.float32), np.float32(2), into={"Greater", "Equal", "Or"}),
    case("greater_or_equal_16", "GreaterOrEqual", i(1, 2, 3), i(2), opset=16),
    case("not", "Not", truth(3, 4), into={"Equal"}),
    case("xor", "Xor", truth(3, 4), truth(4), into={"Equal"}),
    case("floor", "Floor", HALVES),
    case("ceil", "Ceil", HALVES),
    case("sign", "Sign", HALVES),
    case("sign_of_integers", "Sign", i(-3, 0, 5)),
    case("is_nan", "IsNaN", np.array([np.nan, 1, np.inf], np.float32), into={"Equal"}),
    case("arg_min", "ArgMin", f(3, 5), axis=1, keepdims=0, into={"Neg", "ArgMax"}),
    case("arg_min_last", "ArgMin", np.array([[1, 0, 0]], np.float32), axis=1, select_last_index=1),
    case("mod_of_floats", "Mod", f(20, scale=9), np.float32(4), constant=[1], fmod=1),
    case("sum_of_squares", "ReduceSumSquare", f(2, 3, 4), axes=[1], into={"Mul", "ReduceSum"}),
    case("sum_of_squares_of_all", "ReduceSumSquare", f(2, 3, 4), keepdims=0),
    case("sum_of_squares_18", "ReduceSumSquare", f(2, 3, 4), i(-1, 0), constant=[1], opset=18),
    case("sum_of_squares_11", "ReduceSumSquare", f(2, 3, 4), opset=11, axes=[-1], keepdims=0),
    case("sum_of_magnitudes", "ReduceL1", f(2, 3, 4), axes=[2], into={"Abs", "ReduceSum"}),
    case("log_of_sum", "ReduceLogSum", positive(2, 3, 4), axes=[0, 1]),
    case("log_of_sum_of_exp", "ReduceLogSumExp", f(2, 3, 4, scale=60), axes=[1]),
    case("log_of_sum_of_exp_of_all", "ReduceLogSumExp", f(2, 3, 4), keepdims=0),
    case("log_of_sum_of_exp_11", "ReduceLogSumExp", f(2, 3, 4), opset=11, axes=[-1], keepdims=0),
    case("product_of_odd", "ReduceProd", f(2, 7), axes=[1]),
    case("product_of_all", "ReduceProd", f(2, 5, 3), keepdims=0),
    case("product_of_even", "ReduceProd", f(2, 8), opset=11, axes=[-1], keepdims=0),
    case("product_of_one", "ReduceProd", f(1, 4), axes=[0]),
    case("norm_of_2", "LpNormalization", f(3, 4), axis=1, p=2),
    case("norm_of_1", "LpNormalization", f(3, 4), axis=0, p=1),
    case("sinh", "Sinh", f(3, 4)),
    case("cosh", "Cosh", f(3, 4)),
]  # fmt: skip

ACTIVATIONS = [
    case("erf", "Erf", WIDE / 3, into={"Mul", "Add", "Tanh"}, tolerance=3.1e-6),
    case("erf_with_three", "Erf", WIDE / 3, options=chosen("Erf", "tanh-3"), tolerance=2.9e-4),
    case("erf_rational", "Erf", WIDE / 3, options=chosen("Erf", "rational"), tolerance=6e-7),
    case("erf_far_out", "Erf", np.array([-1e6, -50, 50, 1e6], np.float32)),
    case("erf_rational_far_out", "Erf", np.array([-1e3, -50, 0, 50, 1e3], np.float32), options=chosen("Erf", "rational")),
    case("gelu", "Gelu", WIDE, opset=20, tolerance=1e-5),
    case("gelu_tanh_attribute", "Gelu", WIDE, opset=20, approximate="tanh"),
    case("gelu_tanh_chosen", "Gelu", WIDE, opset=20, options=chosen("Gelu", "tanh"), tolerance=4.8e-4),
    case("gelu_sigmoid", "Gelu", WIDE, opset=20, options=chosen("Gelu", "sigmoid"), tolerance=2.04e-2),
    case("hard_sigmoid", "HardSigmoid", WIDE, into={"Mul", "Add", "Clip"}),
    case("hard_sigmoid_with", "HardSigmoid", WIDE, alpha=1.0, beta=0.25, into={"Add", "Clip"}),
    case("hard_swish", "HardSwish", WIDE, opset=14, into={"Mul", "Add", "Clip"}),
    case("softplus", "Softplus", WIDE * 20),
    case("softsign", "Softsign", WIDE),
    case("mish", "Mish", WIDE * 3, opset=18),
    case("celu", "Celu", WIDE, opset=12, alpha=2.0, into={"Mul", "Elu"}),
    case("celu_of_one", "Celu", WIDE, opset=12, into={"Elu"}),
    case("selu", "Selu", WIDE, into={"Mul", "Elu"}),
    case("thresholded", "ThresholdedRelu", WIDE, alpha=0.7),
    case("shrink", "Shrink", WIDE, bias=0.2, lambd=0.7),
    case("log_softmax", "LogSoftmax", WIDE * 9, axis=1),
    case("log_softmax_of_first", "LogSoftmax", f(3, 4, 5), axis=0),
    case("log_softmax_11", "LogSoftmax", f(3, 4, 5), axis=1, opset=11),
    case("hardmax", "Hardmax", f(3, 4, 5), axis=1),
    case("hardmax_with_ties", "Hardmax", np.array([[1, 3, 3, 0]], np.float32), axis=-1),
]  # fmt: skip

NORMALIZATIONS = [
    case("layer", "LayerNormalization", f(2, 3, 8), f(8), f(8), opset=17),
    case("layer_without_bias", "LayerNormalization", f(2, 3, 8), f(8), opset=17, epsilon=1e-3),
    case("layer_of_two_axes", "LayerNormalization", f(2, 3, 8), f(3, 8), f(3, 8), opset=17, axis=1, count=3),
    case("group", "GroupNormalization", f(2, 6, 4, 3), f(6), f(6), opset=21, num_groups=3, into={"Reshape", "InstanceNormalization", "Mul", "Add"}),
    case("group_of_constants", "GroupNormalization", f(2, 6, 4), f(6), f(6), constant=[1, 2], opset=21, num_groups=2),
    case("rms", "RMSNormalization", f(2, 3, 8), f(8), opset=23),
    case("mean_variance", "MeanVarianceNormalization", X4),
    case("local_response", "LRN", positive(1, 7, 3, 3), size=3, alpha=0.1, beta=0.6, bias=2.0),
    case("local_response_of_5", "LRN", positive(1, 7, 3, 3), size=5, alpha=0.1),
]  # fmt: skip

AVERAGE = {"kernel_shape": [3, 2]}
POOLS = [
    case("mean", "AveragePool", X4, **AVERAGE, into={"Conv"}),
    case("mean_with_strides", "AveragePool", X4, **AVERAGE, strides=[2, 2], into={"Conv"}),
    case("mean_with_pads", "AveragePool", X4, **AVERAGE, pads=[1, 0, 1, 1], into={"Conv", "Mul"}),
    case("mean_with_counted_pads", "AveragePool", X4, **AVERAGE, pads=[1, 0, 1, 1], count_include_pad=1, into={"Conv"}),
    case("mean_rounded_up", "AveragePool", X4, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    case("mean_rounded_up_counted", "AveragePool", X4, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1),
    case("mean_same_upper", "AveragePool", X4, **AVERAGE, strides=[2, 3], auto_pad="SAME_UPPER"),
    case("mean_same_lower", "AveragePool", X4, **AVERAGE, auto_pad="SAME_LOWER"),
    case("mean_of_one_axis", "AveragePool", f(2, 3, 9), kernel_shape=[4], strides=[3], pads=[1, 1]),
    case("mean_of_three_axes", "AveragePool", f(1, 2, 4, 5, 4), kernel_shape=[2, 3, 2]),
    case("mean_dilated", "AveragePool", f(1, 2, 9), kernel_shape=[3], dilations=[2], opset=19),
    case("mean_of_all", "AveragePool", X4, kernel_shape=[6, 5], into={"GlobalAveragePool"}),
    case("norm_over_windows", "LpPool", X4, **AVERAGE, p=2, strides=[2, 1], into={"Mul", "Conv", "Pow"}),
    case("norm_of_1_over_windows", "LpPool", X4, **AVERAGE, p=1, pads=[1, 0, 1, 1], into={"Abs", "Conv"}),
    case("norm_of_3_over_windows", "LpPool", X4, **AVERAGE, p=3),
    case("global_norm", "GlobalLpPool", X4, p=2, into={"ReduceL2"}),
    case("global_norm_of_3", "GlobalLpPool", X4, p=3),
]  # fmt: skip


def resize(name: str, x: np.ndarray, factors: list[float], **keywords: object) -> Case:
    scales = np.array(factors, np.float32)
    return case(f"resize_{name}", "Resize", x, None, scales, constant=[2], **keywords)  # type: ignore[arg-type]


def resized(name: str, x: np.ndarray, sizes: list[int], **keywords: object) -> Case:
    return case(f"resize_{name}", "Resize", x, None, None, i(*sizes), constant=[3], **keywords)  # type: ignore[arg-type]


NEAREST = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
RESIZES = [
    resize("doubled", X4, [1, 1, 2, 2], **NEAREST, into={"Reshape", "Tile"}),
    resize("by_two_factors", X4, [1, 1, 3, 2], **NEAREST, into={"Reshape", "Tile"}),
    resize("of_height", X4, [1, 1, 3, 1], **NEAREST),
    resize("half_pixel", X4, [1, 1, 2, 2], mode="nearest"),
    resize("doubled_11", X4, [1, 1, 2, 2], **NEAREST, opset=13),
    resize("by_conv", X4, [1, 1, 2, 3], **NEAREST, options=chosen("Resize", "conv"), into={"ConvTranspose"}),
    resize("by_gather", X4, [1, 1, 2, 3], **NEAREST, options=chosen("Resize", "gather"), into={"Gather"}),
    resize("by_parts", X4, [1, 1, 1.5, 0.6], **NEAREST, into={"Gather"}),
    resize("of_integers", np.arange(12).reshape(1, 1, 3, 4).astype(np.int32), [1, 1, 2, 2], **NEAREST),
    resized("to_sizes", X4, [2, 3, 12, 10], **NEAREST, into={"Reshape", "Tile"}),
    resized("to_odd_sizes", X4, [2, 3, 7, 3], mode="nearest", nearest_mode="round_prefer_ceil"),
    resize("linear", X4, [1, 1, 2, 2], mode="linear", into={"MatMul", "Transpose"}),
    resize("linear_shrunk", X4, [1, 1, 0.5, 0.7], mode="linear"),
    resize("linear_corners", X4, [1, 1, 2, 3], mode="linear", coordinate_transformation_mode="align_corners"),
    resize("linear_asymmetric", X4, [1, 1, 2, 3], mode="linear", coordinate_transformation_mode="asymmetric"),
    resize("cubic", X4, [1, 1, 2, 3], mode="cubic"),
    resized("linear_to_sizes", X4, [2, 3, 9, 4], mode="linear"),
    *(
        resize(f"linear_conv_{mode}_{a}{b}", X4, [1, 1, a, b], mode="linear", coordinate_transformation_mode=mode,
               options=chosen("Resize", "linear conv"), into={"Pad", "ConvTranspose"})
        for mode in ("half_pixel", "pytorch_half_pixel", "asymmetric")
        for a, b in ((2, 3), (4, 1), (5, 2))
    ),
    case("resize_of_axes", "Resize", X4, None, np.array([2, 2], np.float32), constant=[2], opset=18, axes=[2, 3], **NEAREST),
]  # fmt: skip

SHAPES = [
    case("flatten", "Flatten", X4, into={"Reshape"}),
    *(case(f"flatten_{axis}", "Flatten", X4, axis=axis, into={"Reshape"}) for axis in (0, 2, 3, -1, 4)),
    case("expand", "Expand", f(3, 1), i(2, 3, 4), constant=[1], into={"Reshape", "Tile"}),
    case("expand_same_rank", "Expand", f(3, 1), i(3, 4), constant=[1], into={"Tile"}),
    case("expand_to_less", "Expand", f(3, 4), i(1), constant=[1]),
    case("expand_of_booleans", "Expand", truth(3, 1), i(2, 3, 2), constant=[1]),
    case("expand_to_a_tensor", "Expand", f(3, 1), i(2, 3, 4), into={"ConstantOfShape", "Mul"}),
    case("expand_of_integers_to_a_tensor", "Expand", i(1, 2), i(3, 2), into={"ConstantOfShape", "Mul"}),
    case("expand_of_booleans_to_a_tensor", "Expand", truth(3, 1), i(3, 2), into={"ConstantOfShape", "And"}),
    *(case(f"depth_to_space_{mode}", "DepthToSpace", f(2, 12, 2, 3), blocksize=2, mode=mode, into={"Reshape", "Transpose"}) for mode in ("DCR", "CRD")),
    *(case(f"depth_to_space_3_{mode}", "DepthToSpace", f(1, 18, 3, 2), blocksize=3, mode=mode) for mode in ("DCR", "CRD")),
    *(case(f"depth_to_space_conv_{mode}", "DepthToSpace", f(2, 12, 2, 3), blocksize=2, mode=mode, options=chosen("DepthToSpace", "conv"), into={"ConvTranspose"}) for mode in ("DCR", "CRD")),
    *(
        case(f"running_sum_{axis}_{exclusive}{reverse}", "CumSum", f(3, 4, 5), i(axis), constant=[1], exclusive=exclusive, reverse=reverse)
        for axis, exclusive, reverse in ((0, 0, 0), (1, 1, 0), (-1, 0, 1), (2, 1, 1))
    ),
    case("size", "Size", f(3, 4, 5)),
    case("upper_triangle", "Trilu", f(2, 3, 4), opset=14, into={"Where"}),
    case("lower_triangle", "Trilu", f(3, 4), i(1), constant=[1], opset=14, upper=0),
    case("one_hot", "OneHot", i(1, -1, 3, 9), i(4), np.array([2, 5], np.float32), constant=[1]),
    case("one_hot_on_axis", "OneHot", i(1, 0, 2).reshape(1, 3), np.array(3), np.array([0, 1], np.int64), constant=[1, 2], axis=1),
    *(
        case(f"gemm_{ta}{tb}_{alpha}_{beta}_{constant}_{bias}", "Gemm", f(*((4, 3) if ta else (3, 4))), f(*((5, 4) if tb else (4, 5))), *([f(*bias)] if bias is not None else []),
             constant=constant, transA=ta, transB=tb, alpha=alpha, beta=beta, into={"Gemm", *(["Transpose"] if ta else []), *(["Mul"] if scaled else [])})
        for ta, tb, alpha, beta, constant, bias, scaled in (
            (1, 0, 1.0, 1.0, [1, 2], (5,), False), (1, 1, 0.5, 2.0, [1, 2], (3, 5), False), (0, 1, 0.5, 0.0, [1, 2], (5,), False),
            (0, 0, 0.5, 1.0, [], (5,), True), (0, 0, 1.0, 3.0, [1], (1, 5), True), (0, 0, 2.0, 3.0, [1], None, False),
        )
    ),
    *(
        case(f"sum_{equation}", "Einsum", *(f(*shape) for shape in shapes), equation=equation, opset=12 + j % 4)
        for j, (equation, shapes) in enumerate({
            "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
            "bhid,bhjd->bhij": [(2, 3, 4, 5), (2, 3, 6, 5)],
            "ij,jk": [(3, 4), (4, 5)],
            "i,j->ij": [(3,), (4,)],
            "i,i->": [(3,), (3,)],
            "bi,bi->bi": [(2, 3), (2, 3)],
            "bi,bi->b": [(2, 3), (2, 3)],
            "ijk,kl->lij": [(2, 3, 4), (4, 5)],
            "ijk,il->jl": [(2, 3, 4), (2, 5)],
            "ij->ji": [(2, 3)],
            "ijk->k": [(2, 3, 4)],
            "ij->": [(2, 3)],
            "b n h d, b m h d -> b h n m": [(2, 3, 4, 5), (2, 6, 4, 5)],
        }.items())
    ),
    case("cast_like", "CastLike", f(3), i(1), opset=15, into={"Cast"}),
]  # fmt: skip

ALL = [*ARITHMETIC, *ACTIVATIONS, *NORMALIZATIONS, *POOLS, *RESIZES, *SHAPES]


@pytest.mark.parametrize("one", ALL, ids=lambda one: f"{one.op_type}-{one.name}")
def test_rewritten_operator_gives_what_the_original_gives(one: Case, tmp_path: Path) -> None:
    result = check(model_of(one), feeds_of(one), tmp_path, one.options, one.tolerance)

    if one.into is not None:
        assert operators(result.graph) == one.into
    assert result.graph.opset[""] == min(one.opset, 15)


def test_every_rule_of_an_operator_has_its_own_name() -> None:
    keys = [(op_type, rule.name) for rule in RULES for op_type in rule.op_types]

    assert len(set(keys)) == len(keys)


def without(*op_types: str) -> Device:
    """Return the device without some of its operators."""
    operators = NANO.figures["operators"]
    assert isinstance(operators.value, tuple)
    kept = replace(operators, value=tuple(name for name in operators.value if name not in op_types))
    return replace(NANO, figures={**NANO.figures, "operators": kept})


LESS = [
    (case("elu", "Elu", WIDE, alpha=0.7), ("Elu",)),
    (case("leaky", "LeakyRelu", WIDE, alpha=0.2), ("LeakyRelu",)),
    (case("norm", "ReduceL2", f(2, 3, 4), axes=[1]), ("ReduceL2",)),
    (case("batch", "BatchNormalization", X4, *(positive(3) for _ in range(4))), ("BatchNormalization",)),
    (case("batch_of_constants", "BatchNormalization", X4, *(positive(3) for _ in range(4)), constant=[1, 2, 3, 4]), ("BatchNormalization",)),
    (case("instance", "InstanceNormalization", X4, f(3), f(3)), ("InstanceNormalization",)),
    (case("group", "GroupNormalization", f(2, 6, 4, 3), f(6), f(6), opset=21, num_groups=3), ("InstanceNormalization",)),
    (case("global_mean", "GlobalAveragePool", X4), ("GlobalAveragePool",)),
    (case("global_max", "GlobalMaxPool", X4), ("GlobalMaxPool",)),
    (case("whole_mean", "AveragePool", X4, kernel_shape=[6, 5]), ("GlobalAveragePool",)),
    (case("whole_max", "MaxPool", X4, kernel_shape=[6, 5]), ("MaxPool",)),
    (case("blocks", "SpaceToDepth", f(2, 3, 4, 6), blocksize=2), ("SpaceToDepth",)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "missing"), LESS, ids=lambda value: getattr(value, "name", ""))
def test_an_operator_of_the_device_is_rewritten_for_one_that_lacks_it(one: Case, missing: tuple[str, ...]) -> None:
    device, original = without(*missing), loaded(model_of(one))

    result = rewrite(original, device)

    if one.name == "batch":
        assert [left.op_type for left in result.left] == ["BatchNormalization"]
    else:
        assert result.left == () and not set(missing) & operators(result.graph)
    assert prove(original, result, [feeds_of(one)], seeds=()).ok


@pytest.mark.parametrize("six", [True, False])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_takes_as_many_axes_as_the_device(mode: str, six: bool) -> None:
    figures = dict(NANO.figures)
    if six:
        del figures["max_input_rank"]
    original = loaded(model_of(case("d", "DepthToSpace", f(2, 12, 2, 3), blocksize=2, mode=mode)))

    result = rewrite(original, replace(NANO, figures=figures))

    ranks = {len(node.attributes["perm"]) for node in result.graph.nodes if node.op_type == "Transpose"}
    assert ranks == ({6} if six else {3, 4})
    assert prove(original, result).ok


@pytest.mark.parametrize("seed", range(20))
def test_random_chains_of_operators_are_rewritten(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    unary = [
        "Softplus",
        "Softsign",
        "HardSigmoid",
        "HardSwish",
        "Celu",
        "Selu",
        "Erf",
        "Floor",
        "Ceil",
        "Sign",
        "Reciprocal",
    ]
    nodes, last = [], "x"
    for i in range(8):
        op_type = str(random.choice([*unary, "Div", "Less", "Sum", "AveragePool", "ReduceL1"]))
        inputs = [last]
        attributes: dict[str, Any] = {}
        if op_type in ("Div", "Less", "Sum"):
            inputs.append("k")
        if op_type == "AveragePool":
            attributes = {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1], "count_include_pad": int(random.integers(2))}
        if op_type == "ReduceL1":
            attributes = {"axes": [int(random.integers(4))]}
        if op_type == "Reciprocal":
            # Away from its pole, where rounding would be magnified.
            nodes += [helper.make_node("Exp", [last], [f"e{i}"]), helper.make_node("Add", [f"e{i}", "k"], [f"a{i}"])]
            inputs = [f"a{i}"]
        if op_type in ("Floor", "Ceil", "Sign"):
            # They step where their input comes from rounding; a tensor of exact numbers does not.
            inputs = ["x"]
        output = f"t{i}"
        nodes.append(helper.make_node(op_type, inputs, [output], **attributes))
        if op_type == "Less":
            nodes.append(helper.make_node("Cast", [output], [f"c{i}"], to=1))
            output = f"c{i}"
            nodes[-2] = helper.make_node("Less", ["x", "k"], [f"t{i}"])
        nodes.append(helper.make_node("Mul", [output, "small"], [f"s{i}"]))
        nodes.append(
            helper.make_node("Add", [f"s{i}", last if op_type not in ("AveragePool", "ReduceL1") else "k"], [f"u{i}"])
        )
        last = f"u{i}"
    nodes.append(helper.make_node("Relu", [last], ["y"]))
    constants = {"k": np.float32(random.uniform(0.5, 2)), "small": np.float32(0.3)}
    x = random.normal(size=(2, 3, 9, 9)).astype(np.float32)

    check(model(nodes, {"x": x}, ["y"], constants, int(random.choice([14, 15, 17]))), {"x": x}, tmp_path)
