"""Whole models rewritten: folds, operator sets, open sizes, subgraphs, what is left; and the node cases of onnx."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

from simcore.device import load_device, parse_device
from simcore.errors import BadArgument, ModelError, SimError
from simcore.execute import run
from simcore.graph import Graph, Node, ValueInfo, walk
from simcore.load_onnx import load_onnx, load_onnx_bytes, misfits
from simcore.rewrite.prove import prove
from simcore.rewrite.run import Options, Rewritten, needs_rewrite, rewrite
from simcore.rewrite.table import RULES, WAYS_OUT
from simcore.save_onnx import save_onnx, to_model
from tests import real_models
from tests.test_simcore.rewriting import NANO, by_runtime, check, loaded, model, operators

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(2, 3, 6, 5)).astype(np.float32)


def weights(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


def rules(result: Rewritten) -> set[tuple[str, str]]:
    return {(change.op_type, change.rule) for change in result.changes}


NORM = {name: np.abs(weights(4)) + np.float32(0.1) for name in ("scale", "b", "mean", "var")}


@pytest.mark.parametrize(
    ("product", "shape", "attributes", "has_bias"),
    [
        ("Conv", (4, 3, 3, 3), {}, True),
        ("Conv", (4, 3, 2, 1), {"strides": [2, 1]}, False),
        ("Conv", (4, 1, 3, 3), {"group": 2}, True),
        ("ConvTranspose", (3, 4, 2, 2), {}, True),
        ("ConvTranspose", (4, 2, 2, 2), {"group": 2}, False),
    ],
)
@pytest.mark.parametrize("opset", [11, 15])
def test_batch_normalization_goes_into_the_convolution_before_it(
    product: str, shape: tuple[int, ...], attributes: dict[str, Any], has_bias: bool, opset: int, tmp_path: Path
) -> None:
    channels = shape[0] if product == "ConvTranspose" else shape[1] * attributes.get("group", 1)
    names = ["x", "w", "bias"] if has_bias else ["x", "w"]
    nodes = [
        helper.make_node(product, names, ["t"], **attributes),
        helper.make_node("BatchNormalization", ["t", *NORM], ["y"], epsilon=1e-3),
    ]
    constants = {"w": weights(*shape), **NORM} | ({"bias": weights(4)} if has_bias else {})
    proto = model(nodes, {"x": weights(2, channels, 6, 5)}, ["y"], constants, opset)

    result = check(proto, {"x": weights(2, channels, 6, 5)}, tmp_path, tolerance=1e-6)

    assert operators(result.graph) == {product}
    kept = rewrite(loaded(proto), NANO, Options(fold_batch_norm=False))
    assert [node.op_type for node in kept.graph.nodes] == [product, "BatchNormalization"]


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("bias", [None, (4,), (1, 4), (1,)], ids=str)
def test_batch_normalization_goes_into_the_gemm_before_it(
    rows: int, bias: tuple[int, ...] | None, tmp_path: Path
) -> None:
    nodes = [
        helper.make_node("Gemm", ["x", "w"] + (["c"] if bias else []), ["t"], transB=rows, alpha=0.5),
        helper.make_node("BatchNormalization", ["t", *NORM], ["y"]),
    ]
    constants = {"w": weights(4, 3) if rows else weights(3, 4), **NORM} | ({"c": weights(*bias)} if bias else {})

    result = check(model(nodes, {"x": weights(2, 3)}, ["y"], constants, 13), {"x": weights(2, 3)}, tmp_path)

    assert operators(result.graph) == {"Gemm"}


def test_batch_normalization_stays_where_the_product_is_read_elsewhere(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["t"]),
        helper.make_node("BatchNormalization", ["t", *NORM], ["y"]),
        helper.make_node("Relu", ["t"], ["z"]),
    ]
    proto = model(nodes, {"x": X}, ["y", "z"], {"w": weights(4, 3, 1, 1), **NORM}, 13)

    assert operators(check(proto, {"x": X}, tmp_path).graph) == {"Conv", "BatchNormalization", "Relu"}


def test_dropout_constants_and_identities_go(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Constant", [], ["two"], value=numpy_helper.from_array(np.float32(2))),
        helper.make_node("Identity", ["two"], ["same"]),
        helper.make_node("Dropout", ["x"], ["d"]),
        helper.make_node("Cast", ["d"], ["f"], to=1),
        helper.make_node("Mul", ["f", "same"], ["m"]),
        helper.make_node("Relu", ["m"], ["unused"]),
        helper.make_node("Identity", ["m"], ["y"]),
    ]

    result = check(model(nodes, {"x": X}, ["y"], {}, 13), {"x": X}, tmp_path)

    assert [(node.op_type, node.outputs) for node in result.graph.nodes] == [("Mul", ("y",))]
    assert {("Constant", "constant"), ("Dropout", "identity"), ("Relu", "unused")} <= rules(result)


def test_an_input_that_is_an_output_stays_linked(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Dropout", ["x"], ["z"])]

    check(model(nodes, {"x": X}, ["y", "z"], {}, 13), {"x": X}, tmp_path)


def test_one_tensor_under_two_output_names_stays(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["t"]),
        helper.make_node("Identity", ["t"], ["y"]),
        helper.make_node("Identity", ["t"], ["z"]),
        helper.make_node("Neg", ["t"], ["n"]),
    ]

    check(model(nodes, {"x": X}, ["y", "z", "n"], {}, 13), {"x": X}, tmp_path)


def test_an_output_that_is_constant_has_a_node_that_makes_it(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["a", "a"], ["y"]), helper.make_node("Relu", ["x"], ["z"])]

    check(model(nodes, {"x": X}, ["y", "z"], {"a": weights(3)}, 13), {"x": X}, tmp_path)


def test_quantized_weights_are_not_folded_to_floats() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["codes", "s"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    constants = {"codes": np.ones((5, 2), np.int8), "s": np.float32(0.5)}

    result = rewrite(loaded(model(nodes, {"x": X}, ["y"], constants, 13)), NANO)

    assert operators(result.graph) == {"DequantizeLinear", "MatMul"}


def branches(condition: str) -> onnx.NodeProto:
    """Return an If whose branches have names of their own, read from outside, and hold an unsupported operator."""

    def body(op_type: str) -> onnx.GraphProto:
        nodes = [helper.make_node(op_type, ["x"], ["t"]), helper.make_node("Add", ["t", "k"], ["out"])]
        k = numpy_helper.from_array(np.float32(3), "k")
        return helper.make_graph(nodes, op_type, [], [helper.make_tensor_value_info("out", 1, None)], [k])

    return helper.make_node("If", [condition], ["y"], then_branch=body("Softplus"), else_branch=body("Neg"))


@pytest.mark.parametrize("taken", [True, False])
def test_an_if_of_known_condition_becomes_its_branch(taken: bool, tmp_path: Path) -> None:
    proto = model([branches("c")], {"x": X}, ["y"], {"c": np.array(taken)}, 13)

    result = check(proto, {"x": X}, tmp_path)

    assert ("If", "branch") in rules(result)


@pytest.mark.parametrize("taken", [True, False])
def test_an_input_that_is_given_a_value_decides_the_branch(taken: bool, tmp_path: Path) -> None:
    feeds = {"c": np.array(taken), "x": X}
    proto = model([branches("c")], feeds, ["y"], {}, 13)

    result = check(proto, feeds, tmp_path, Options(values={"c": np.array(taken)}))

    assert [info.name for info in result.graph.inputs] == ["x"]


@pytest.mark.parametrize("taken", [True, False])
def test_an_if_of_unknown_condition_is_left_and_its_branches_are_rewritten(taken: bool) -> None:
    feeds = {"c": np.array(taken), "x": X}
    original = loaded(model([branches("c")], feeds, ["y"], {}, 13))

    result = rewrite(original, NANO)

    assert [(left.op_type, left.way_out) for left in result.left] == [("If", WAYS_OUT["If"])]
    assert "Softplus" not in {node.op_type for _, node in walk(result.graph)}
    assert prove(original, result, [feeds], seeds=()).ok


def test_sizes_computed_from_shapes_become_constants(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "axis"], ["n"]),
        helper.make_node("Div", ["n", "two"], ["half"]),
        helper.make_node("Concat", ["half", "minus"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    constants = {"axis": np.array([2]), "two": np.array([2]), "minus": np.array([-1])}

    result = check(model(nodes, {"x": X}, ["y"], constants, 13), {"x": X}, tmp_path)

    assert operators(result.graph) == {"Reshape"}


def lowering() -> dict[str, tuple[list[onnx.NodeProto], dict[str, np.ndarray], int]]:
    node = helper.make_node
    axes = {"a": np.array([1, -1])}
    return {
        "ReduceMean": ([node("ReduceMean", ["x", "a"], ["y"])], axes, 18),
        "ReduceMean_of_nothing": ([node("ReduceMean", ["x"], ["y"], noop_with_empty_axes=1)], {}, 18),
        "ReduceSum": ([node("ReduceSum", ["x", "a"], ["y"], keepdims=0)], axes, 13),
        "Unsqueeze": ([node("Unsqueeze", ["x", "a"], ["y"])], axes, 13),
        "Squeeze": ([node("Unsqueeze", ["x", "a"], ["t"]), node("Squeeze", ["t", "a"], ["y"])], axes, 13),
        "Squeeze_all": ([node("ReduceMax", ["x"], ["t"]), node("Squeeze", ["t"], ["y"])], {}, 13),
        "Split": ([node("Split", ["x", "s"], ["y", "z"], axis=2)], {"s": np.array([2, 4])}, 13),
        "Split_number": ([node("Split", ["x"], ["y", "z"], axis=-1, num_outputs=2)], {}, 18),
        "Pad": ([node("Pad", ["x", "p", "", "a"], ["y"])], {**axes, "p": np.array([1, 0, 0, 2])}, 18),
        "Pad_value": ([node("Pad", ["x", "p", "v"], ["y"])], {"p": np.array([0, 0, 1, 0, 0, 0, 0, 2]), "v": np.float32(7)}, 13),
        "Softmax": ([node("Softmax", ["x"], ["y"], axis=1)], {}, 13),
        "Softmax_last": ([node("Softmax", ["x"], ["y"])], {}, 13),
        "Shape": ([node("Shape", ["x"], ["y"], start=1, end=-1)], {}, 15),
        "Shape_of_result": ([node("NonZero", ["x"], ["t"]), node("Shape", ["t"], ["y"], start=0, end=1)], {}, 15),
        "Reshape": ([node("Reshape", ["x", "to"], ["y"], allowzero=0)], {"to": np.array([0, -1])}, 14),
        "Clip": ([node("Clip", ["x", "low", "high"], ["y"])], {"low": np.float32(-0.5), "high": np.float32(0.5)}, 13),
        "ArgMax": ([node("ArgMax", ["x"], ["y"], axis=2, select_last_index=0)], {}, 13),
        "Slice": ([node("Slice", ["x", "s", "e"], ["y"])], {"s": np.array([0, 1]), "e": np.array([2, 3])}, 13),
        "BatchNormalization": ([node("BatchNormalization", ["x", "k", "k", "k", "k"], ["y"], training_mode=0)], {"k": np.array([1, 2, 3], np.float32)}, 15),
        "Resize": ([node("Resize", ["x", "", "s"], ["y"], axes=[2, 3])], {"s": np.array([2, 3], np.float32)}, 18),
        "Resize_sizes": ([node("Resize", ["x", "", "", "s"], ["y"], axes=[3, 2], mode="linear")], {"s": np.array([7, 4])}, 18),
        "QuantizeLinear": ([node("QuantizeLinear", ["x", "s", "z"], ["q"], saturate=1), node("DequantizeLinear", ["q", "s", "z"], ["y"])], {"s": np.float32(0.1), "z": np.uint8(9)}, 19),
        "QuantizeLinear_type": ([node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=3), node("DequantizeLinear", ["q", "s"], ["y"])], {"s": np.float32(0.1)}, 21),
        "Dropout": ([node("Dropout", ["x", "r"], ["y"])], {"r": np.float32(0.5)}, 13),
        "LayerNormalization": ([node("LayerNormalization", ["x", "k"], ["y"])], {"k": weights(5)}, 17),
    }  # fmt: skip


LOWERING = lowering()


@pytest.mark.parametrize("target", [11, 12, 13, 15])
@pytest.mark.parametrize("name", LOWERING)
def test_a_node_takes_the_form_of_an_older_operator_set(name: str, target: int, tmp_path: Path) -> None:
    nodes, constants, opset = LOWERING[name]
    proto = model(nodes, {"x": X}, ["y"], constants, opset)
    original = loaded(proto)

    result = rewrite(original, NANO, Options(opset=target))

    assert result.graph.opset[""] == target
    (saved,) = save_onnx(result.graph, tmp_path / "m.onnx")
    load_onnx(saved)
    assert onnx.load(saved).opset_import[0].version == target
    want = run(original, {"x": X})["y"]
    for got in (run(load_onnx(saved), {"x": X})["y"], by_runtime(str(saved), {"x": X})[0]):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)


def test_a_node_that_the_device_s_operator_sets_do_not_have_keeps_the_model_s() -> None:
    nodes = [helper.make_node("GridSample", ["x", "g"], ["t"]), helper.make_node("ReduceMean", ["t", "a"], ["y"])]
    feeds = {"x": X, "g": weights(2, 4, 4, 2)}
    original = loaded(model(nodes, feeds, ["y"], {"a": np.array([2])}, 18))

    result = rewrite(original, NANO)

    assert result.graph.opset[""] == 18
    assert [left.op_type for left in result.left] == ["GridSample"]
    assert result.graph.nodes[1].inputs == ("t", "a")


@pytest.mark.parametrize("opset", [8, 9, 10])
def test_an_old_model_is_raised(opset: int, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Clip", ["x"], ["c"], min=-1.0, max=1.0),
        helper.make_node("Dropout", ["c"], ["d"], ratio=0.5),
        helper.make_node("Div", ["d", "k"], ["y"]),
    ]
    original = loaded(model(nodes, {"x": X}, ["y"], {"k": np.float32(3)}, opset))

    result = rewrite(original, NANO)

    assert result.graph.opset[""] == 11 and operators(result.graph) == {"Clip", "Mul"}
    assert prove(original, result).ok
    save_onnx(result.graph, tmp_path / "m.onnx")


OPEN = {"x": ["batch", 3, "height", "width"]}


@pytest.mark.parametrize(
    ("nodes", "constants", "into"),
    [
        ([("Flatten", ["x"], {})], {}, {"Reshape"}),
        ([("AveragePool", ["x"], {"kernel_shape": [2, 2], "strides": [2, 2]})], {}, {"Conv"}),
        ([("Resize", ["x", "", "s"], {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"})], {"s": [1, 1, 2, 2]}, {"ConvTranspose"}),
        ([("Resize", ["x", "", "s"], {"mode": "linear"})], {"s": [1, 1, 2, 3]}, {"Pad", "ConvTranspose"}),
        ([("Softsign", ["x"], {})], {}, {"Abs", "Add", "Pow", "Mul"}),
        ([("Size", ["x"], {})], {}, {"Shape", "Slice", "Mul", "Squeeze"}),
        ([("DepthToSpace", ["t"], {"blocksize": 2})], {}, {"ConvTranspose", "Concat"}),
    ],
    ids=["Flatten", "AveragePool", "Resize", "Resize_linear", "Softsign", "Size", "DepthToSpace"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(1, 3, 8, 12), (3, 3, 20, 10)], ids=str)
def test_open_sizes_stay_open_where_a_rule_needs_none(
    nodes: list[tuple[str, list[str], dict[str, Any]]],
    constants: dict[str, list[float]],
    into: set[str],
    shape: tuple[int, ...],
    tmp_path: Path,
) -> None:
    made = [helper.make_node(op_type, inputs, ["y"], **attributes) for op_type, inputs, attributes in nodes]
    if nodes[0][1][0] == "t":
        made.insert(0, helper.make_node("Concat", ["x", "x", "x", "x"], ["t"], axis=1))
    arrays = {name: np.array(value, np.float32) for name, value in constants.items()}
    x = weights(*shape)
    proto = model(made, {"x": x}, ["y"], arrays, 13, OPEN)

    result = check(proto, {"x": x}, tmp_path)

    assert result.graph.inputs[0].shape == ("batch", 3, "height", "width")
    assert operators(result.graph) == into


def test_given_shapes_are_those_of_the_result(tmp_path: Path) -> None:
    node = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    proto = model([node], {"x": X}, ["y"], {}, 13, OPEN)

    (left,) = rewrite(loaded(proto), NANO).left
    result = check(proto, {"x": X}, tmp_path, Options(shapes={"x": X.shape}))

    assert "open sizes" in left.reason
    assert result.graph.inputs[0].shape == X.shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(shapes={"z": (1,)}), "no input 'z'"),
        (Options(values={"z": X}), "no input 'z'"),
        (Options(shapes={"x": (1, 2)}), "reshape"),
        (Options(values={"x": X.astype(np.float64)}), "float64"),
        (Options(choices={"Erf": "magic"}), "tanh, tanh-3, rational"),
        (Options(choices={"Nope": "magic"}), "none"),
    ],
    ids=["unknown_shape", "unknown_value", "rank", "type", "rule", "operator"],
)
def test_options_that_do_not_fit_are_named(options: Options, message: str) -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], {"x": X}, ["y"], {}, 13)

    with pytest.raises(BadArgument, match=message):
        rewrite(loaded(proto), NANO, options)


def test_a_device_without_a_list_of_operators_is_an_error() -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], {"x": X}, ["y"], {}, 13)

    with pytest.raises(BadArgument, match="operators"):
        rewrite(loaded(proto), load_device("j6"))


def test_the_list_of_operators_is_the_device_s_own(tmp_path: Path) -> None:
    text = """
name = "little"
title = "a device for the test"
[figures.operators]
value = ["Mul", "Add", "Exp", "Sub", "ReduceSum", "ReduceMax", "Log", "Pow", "Abs", "Neg", "Relu", "Clip", "PRelu"]
unit = "name"
source = "test"
[figures.min_opset]
value = 13
unit = "1"
source = "test"
[figures.max_opset]
value = 13
unit = "1"
source = "test"
"""
    device = parse_device(text, "test")
    nodes = [
        helper.make_node("Elu", ["x"], ["a"]),
        helper.make_node("LeakyRelu", ["a"], ["b"]),
        helper.make_node("LogSoftmax", ["b"], ["c"]),
        helper.make_node("ReduceL2", ["c"], ["d"], axes=[1]),
        helper.make_node("Tanh", ["d"], ["y"]),
    ]
    original = loaded(model(nodes, {"x": X}, ["y"], {}, 13))

    result = rewrite(original, device)

    assert [left.op_type for left in result.left] == ["Tanh"]
    assert needs_rewrite(result.graph, device) == {"Tanh": 1}
    assert prove(original, result, [{"x": X}]).ok


def test_missing_weights_stay_missing(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "w"], ["t"]), helper.make_node("Div", ["t", "w"], ["y"])]
    proto = model(nodes, {"x": weights(20, 3, 6, 5)}, ["y"], {"w": weights(20, 3, 6, 5)}, 13)
    saved = save_onnx(loaded(proto), tmp_path / "m.onnx", external_over=0)
    saved[1].unlink()

    result = rewrite(load_onnx(saved[0]), NANO)

    assert list(result.graph.missing) == ["w"] and operators(result.graph) == {"Add", "Pow", "Mul"}
    with pytest.raises(ModelError, match="'w'"):
        save_onnx(result.graph, tmp_path / "n.onnx")


@pytest.mark.parametrize("op_type", ["TopK", "NonMaxSuppression", "Loop", "GridSample", "DynamicQuantizeLinear"])
def test_operators_without_a_rule_have_a_way_out(op_type: str) -> None:
    assert WAYS_OUT[op_type]
    assert not any(op_type in rule.op_types for rule in RULES)


# Models of others.


def _node_cases() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model_tests(kind="node")


@pytest.mark.parametrize(("target", "has_constants"), [(None, True), (11, False)], ids=["constant_inputs", "opset_11"])
def test_every_node_case_of_onnx_is_the_same_after_rewriting(target: int | None, has_constants: bool) -> None:
    done, changed, wrong = 0, 0, []
    for case in _node_cases():
        try:
            original = load_onnx_bytes(case.model.SerializeToString())
            arrays = (numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x for x in case.data_sets[0][0])
            feeds = dict(zip((info.name for info in original.inputs), arrays, strict=False))
            with np.errstate(all="ignore"):
                want = run(original, feeds)
        except (SimError, AttributeError, TypeError):
            continue
        if not all(isinstance(value, np.ndarray) for value in (*feeds.values(), *want.values())):
            continue
        if any(node.op_type == "Scan" for node in original.nodes) and original.opset[""] < 9:
            continue
        values = dict(list(feeds.items())[1:]) if has_constants else {}
        result = rewrite(original, NANO, Options(opset=target, values=values))
        load_onnx_bytes(to_model(result.graph).SerializeToString())
        if not prove(original, result, [feeds], seeds=()).ok:
            wrong.append(case.name)
        done += 1
        changed += bool(result.changes)
    assert wrong == []
    assert done > 1000 and changed > 500


LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_a_light_model_of_onnx_is_rewritten(path: Path, tmp_path: Path) -> None:
    original = load_onnx(path)

    result = rewrite(original, NANO)

    assert result.left == () and needs_rewrite(result.graph, NANO) == {}
    assert NANO.figures["min_opset"].value <= result.graph.opset[""] <= NANO.figures["max_opset"].value
    save_onnx(result.graph, tmp_path / "m.onnx")


INTEGER = {"ddddocr/common_old", *(m.name for m in real_models.MODELS if m.wheel == "text2tashkeel")}
#: Operators that no rule rewrites, in models that a runtime quantized as they run.
QUANTIZED = {"DynamicQuantizeLinear", "com.microsoft::DynamicQuantizeLSTM"}


def options_of(feeds: Mapping[str, np.ndarray]) -> Options:
    """Return the shapes of the feeds, and the sample rate as a value: it decides which branches run."""
    shapes = {name: value.shape for name, value in feeds.items() if name != "sr"}
    return Options(shapes=shapes, values={name: value for name, value in feeds.items() if name == "sr"})


@pytest.mark.parametrize("one", real_models.MODELS, ids=lambda one: one.name)
def test_a_real_model_is_rewritten(one: real_models.Model, tmp_path: Path) -> None:
    path, feeds = real_models.required(one), real_models.feeds(one)
    original, options = load_onnx(path), options_of(feeds)

    result = rewrite(original, NANO, options)

    assert set(needs_rewrite(result.graph, NANO)) == (QUANTIZED if one.name in INTEGER else set())
    assert {left.op_type for left in result.left} == {
        name.rpartition(":")[2] for name in needs_rewrite(result.graph, NANO)
    }
    assert all(left.reason and left.way_out for left in result.left)
    assert 11 <= result.graph.opset[""] <= 15
    assert prove(original, result, [feeds], seeds=()).ok
    (saved,) = save_onnx(result.graph, tmp_path / "m.onnx")
    kept = {name: value for name, value in feeds.items() if name not in options.values}
    for got, want in zip(by_runtime(str(saved), kept), by_runtime(str(path), feeds), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=0, atol=1.4e-4 * np.abs(want).max())


# Bad cases.

BAD = {
    "DepthToSpace": ("DepthToSpace", [], {"blocksize": 0}),
    "AveragePool": ("AveragePool", [], {"kernel_shape": (2,)}),
    "Flatten": ("Flatten", [], {"axis": 99}),
    "Resize": ("Resize", ["", "k"], {"mode": "odd"}),
    "Einsum": ("Einsum", [], {"equation": "abc->a"}),
    "LSTM": ("LSTM", ["k", "k"], {"direction": "sideways"}),
    "Div": ("Div", [], {}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_node_that_does_not_fit_its_operator_is_left_with_a_reason(name: str) -> None:
    op_type, more, attributes = BAD[name]
    node = Node("bad", op_type, "", ("x", *more), ("y",), attributes)
    info = ValueInfo("x", X.dtype, X.shape)
    graph = Graph("g", (node,), (info,), (ValueInfo("y", X.dtype),), {"k": np.float32([1, 2, 3])}, {"": 13})

    (left,) = rewrite(graph, NANO).left

    assert (left.node, left.op_type) == ("bad", op_type)
    assert left.reason and "\n" not in left.reason


def test_a_model_that_does_not_run_is_not_proved() -> None:
    node = Node("bad", "ReduceL1", "", ("x",), ("y",), {"axes": (9,)})
    graph = Graph("g", (node,), (ValueInfo("x", X.dtype, X.shape),), (ValueInfo("y", X.dtype),), {}, {"": 13})

    proof = prove(graph, rewrite(graph, NANO))

    assert not proof.ok and proof.runs == () and all("axes" in reason for reason in proof.skipped)


def test_misfits_name_the_nodes_that_an_operator_set_does_not_have() -> None:
    body = Graph("b", (Node("inner", "Gelu", "", ("x",), ("t",)),), (), (ValueInfo("t"),), {}, {"": 13})
    nodes = (
        Node("good", "Relu", "", ("x",), ("a",)),
        Node("type", "And", "", ("a", "a"), ("b",)),
        Node("form", "ReduceMean", "", ("a", "k"), ("c",)),
        Node("foreign", "Any", "my.domain", ("a",), ("d",)),
        Node("branch", "If", "", ("k",), ("y",), {}, {"then_branch": body, "else_branch": body}),
    )
    info = ValueInfo("x", X.dtype, X.shape)
    graph = Graph("g", nodes, (info,), (ValueInfo("y"),), {"k": np.array(True)}, {"": 13, "my.domain": 1})

    found = misfits(graph)

    assert found.keys() == {"type", "form", "inner"}
    assert "float32" in found["type"] and "no such operator" in found["inner"]


def test_scan_of_version_8_is_not_raised() -> None:
    node = Node("scan", "Scan", "", ("x",), ("y",))
    graph = Graph("g", (node,), (ValueInfo("x", X.dtype, X.shape),), (ValueInfo("y"),), {}, {"": 8})

    with pytest.raises(ModelError, match="Scan"):
        rewrite(graph, NANO)
