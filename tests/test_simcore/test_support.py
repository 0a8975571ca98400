"""Each rule of operator support on a model that breaks it and on one that does not; whole models; other devices."""

import string
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from simcore.device import Device, device_names, load_device, parse_device
from simcore.errors import BadArgument
from simcore.graph import Graph, ValueInfo
from simcore.load_onnx import load_onnx
from simcore.shapes import infer
from simcore.support import Finding, findings, knows_operators, unsupported_types
from simcore.support_checks import MODEL_CHECKS, NODE_CHECKS
from simcore.support_table import Rule, load_rules, load_texts, rules_of
from tests import real_models
from tests.real_models import MODELS
from tests.test_simcore import graphs
from tests.test_simcore.control_flow_graphs import if_graph, loop_graph

node = helper.make_node
NANO = load_device("nano-035a")
J6 = load_device("j6")
MAGICMIND = load_device("magicmind")


def _ones(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.ones(shape, dtype)


def _graph(
    nodes: Any, inputs: Any, constants: Any = None, opset: int = 15, outputs: Any = ("y",), **domains: int
) -> Graph:
    return graphs.graph(nodes, inputs, outputs, constants, opset=opset, **domains)


def _found(g: Graph, device: Device = NANO, asked: Iterable[str] = (), inputs: Any = None) -> tuple[Finding, ...]:
    return findings(g, infer(g, inputs), device, frozenset(asked))


def _rules(found: Iterable[Finding]) -> set[str]:
    return {finding.rule for finding in found}


# --- Small models that break no rule; a case changes one thing ---


def relu(opset: int = 15, shape: Any = (1, 8), name: str = "x", kind: str = "f") -> Graph:
    return _graph([node("Relu" if kind == "f" else "Identity", [name], ["y"])], {name: (kind, shape)}, opset=opset)


def typed(dtype: Any, op_type: str = "Add") -> Graph:
    """Return y = x + x, x [2, 3] of a type."""
    g = _graph([node(op_type, ["x", "x"], ["y"])], {"x": (2, 3)})
    return replace(g, inputs=(ValueInfo("x", np.dtype(dtype), (2, 3)),))


def conv(
    op_type: str = "Conv",
    spatial: int = 2,
    is_constant: bool = True,
    channels: int = 32,
    group: int = 1,
    outputs: int = 4,
) -> Graph:
    w = _ones(channels if op_type == "ConvTranspose" else outputs, channels // group, *(1,) * spatial)
    inputs: dict[str, Any] = {"x": (1, channels, *(4,) * spatial)}
    layers = [node(op_type, ["x", "w"], ["c"], group=group), node("Relu", ["c"], ["y"])]
    return _graph(layers, inputs | ({} if is_constant else {"w": w.shape}), {"w": w} if is_constant else None)


def shared(op_type: str, is_one: bool, via: str = "") -> Graph:
    """Return two layers with one weight, or with two; `via` makes the second name of it."""
    w = _ones(3, 3, 1, 1) if op_type == "Conv" else _ones(3, 3)
    x = (1, 3, 4, 4) if op_type == "Conv" else (2, 3)
    between = [node(via, ["w"], ["v"])] if via else []
    layers = [
        node(op_type, ["x", "w"], ["h"], name="one"),
        node(op_type, ["h", "v" if via or not is_one else "w"], ["y"], name="two"),
    ]
    return _graph([*between, *layers], {"x": x}, {"w": w} | ({} if via or is_one else {"v": w.copy()}))


def gemm(is_constant: bool = True, bias: bool = True, **attributes: Any) -> Graph:
    names = ["x", "w", "b"] if bias else ["x", "w"]
    constants = {"w": _ones(3, 3), "b": _ones(3)}
    inputs: dict[str, Any] = {"x": (3, 3)} | ({} if is_constant else {"w": (3, 3)})
    kept = {name: constants[name] for name in names[1:] if name == "b" or is_constant}
    return _graph([node("Gemm", names, ["y"], **attributes)], inputs, kept)


def matmul(a: Any, b: Any) -> Graph:
    """Return y = a b; an array is a constant, a tuple the shape of an input."""
    both = {"a": a, "b": b}
    constants = {name: value for name, value in both.items() if isinstance(value, np.ndarray)}
    inputs = {name: value for name, value in both.items() if name not in constants}
    return _graph([node("MatMul", ["a", "b"], ["y"])], inputs, constants)


def half(g: Graph) -> Graph:
    return replace(g, inputs=tuple(replace(info, dtype=np.dtype(np.float16)) for info in g.inputs))


def recurrent(
    op_type: str = "LSTM",
    steps: int = 1,
    constant: str = "h c w r",
    absent: str = "",
    given: str = "",
    outputs: int | None = None,
    opset: int = 15,
    **attributes: Any,
) -> Graph:
    """Return a layer with 2 inputs and 3 units that breaks no rule; of the names, w and r are constant."""
    gates, states = (4, 2) if op_type == "LSTM" else (3, 1)
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    layout = attributes.get("layout", 0)
    state = (1, directions, 3) if layout else (directions, 1, 3)
    values = {
        "x": _ones(1, steps, 2) if layout else _ones(steps, 1, 2),
        "w": _ones(directions, gates * 3, 2),
        "r": _ones(directions, gates * 3, 3),
        "b": _ones(directions, gates * 6),
        "lens": np.full(1, steps, np.int32),
        "h": _ones(*state),
        "c": _ones(*state),
        "p": _ones(directions, 9),
    }
    order = ["x", "w", "r", "b", "lens", "h", "c", "p"][: 8 if op_type == "LSTM" else 6]
    left_out = ({"lens", "p"} - set(given.split())) | set(absent.split())
    names = ["" if name in left_out else name for name in order]
    while not names[-1]:
        names.pop()
    fixed = {"b", "lens", "p", *constant.split()} & set(names)
    if op_type == "GRU":
        attributes.setdefault("linear_before_reset", 1)
    y = ["y", "y_h", "y_c"][: states + 1 if outputs is None else outputs]
    layer = node(op_type, names, y, hidden_size=3, **attributes)
    inputs = {name: values[name].shape for name in names if name and name not in fixed}
    return _graph([layer], inputs, {name: values[name] for name in fixed}, opset=opset, outputs=[n for n in y if n][:1])


def lstm(constant: str = "w r", **changes: Any) -> Graph:
    return recurrent("LSTM", constant=constant, **changes)


def gru(constant: str = "w r", **changes: Any) -> Graph:
    return recurrent("GRU", constant=constant, **changes)


def quantized(
    scale: Any = 0.1, other: Any = None, dtype: Any = np.int8, other_zero: int = 0, **attributes: Any
) -> Graph:
    """Return x quantized and dequantized, [2, 3]."""
    s, z = np.asarray(scale, np.float32), np.zeros(np.shape(scale), dtype)
    t = s if other is None else np.asarray(other, np.float32)
    pair = [node("QuantizeLinear", ["x", "s", "z"], ["q"], name="q", **attributes)]
    pair.append(node("DequantizeLinear", ["q", "t", "u"], ["y"], name="d", **attributes))
    return _graph(pair, {"x": (2, 3)}, {"s": s, "z": z, "t": t, "u": z + dtype(other_zero)})


def dequantized_weight(op_type: str = "MatMul", scales: int = 1, rank: int = 2, axis: int = 1) -> Graph:
    """Return a product whose weight [..., 3, 3] comes from a DequantizeLinear."""
    codes = _ones(*(1,) * (rank - 2), 3, 3, dtype=np.int8)
    scale = np.full(() if scales == 1 else scales, 0.1, np.float32)
    layers = [node("DequantizeLinear", ["q", "s"], ["w"], axis=axis), node(op_type, ["x", "w"], ["y"])]
    return _graph(layers, {"x": (2, 3)}, {"q": codes, "s": scale})


def data_scales(count: int) -> Graph:
    return quantized(np.full(() if count == 1 else count, 0.1), axis=1)


def dequantized_bias(dtype: Any) -> Graph:
    """Return x + codes * scale, with the codes an input, so that nothing folds."""
    g = _graph([node("DequantizeLinear", ["q", "s"], ["y"])], {"q": ("u", (3,))}, {"s": np.float32(0.1)})
    return replace(g, inputs=(ValueInfo("q", np.dtype(dtype), (3,)),))


def masked(value: float) -> Graph:
    return _graph([node("Add", ["x", "mask"], ["y"])], {"x": (2, 3)}, {"mask": np.array([0, value, 0], np.float32)})


def squeezed(opset: int) -> Graph:
    if opset < 13:
        return _graph([node("Squeeze", ["x"], ["y"], axes=[0])], {"x": (1, 3)}, opset=opset)
    return _graph([node("Squeeze", ["x", "axes"], ["y"])], {"x": (1, 3)}, {"axes": np.array([0])}, opset=opset)


def last(op_type: str) -> Graph:
    return _graph([node(op_type, ["x", "w"], ["y"])], {"x": (1, 3, 4, 4)}, {"w": _ones(3, 3, 1, 1)}, opset=11)


def reshaped(is_known: bool) -> Graph:
    inputs: dict[str, Any] = {"x": (2, 3)} | ({} if is_known else {"s": ("i", (1,))})
    return _graph([node("Reshape", ["x", "s"], ["y"])], inputs, {"s": np.array([-1])} if is_known else None)


def swapped(op_type: str = "Div") -> Graph:
    return _graph([node(op_type, ["x", "c"], ["y"])], {"x": (2, 3)}, {"c": _ones(3)})


def foreign() -> Graph:
    return _graph([node("Fused", ["x"], ["y"], domain="com.vendor")], {"x": (2, 3)}, com_vendor=1)


#: id -> rule, broken, kept, severity where it breaks, device and what is asked for.
CASES: dict[str, tuple[str, Graph, Graph, str, Device, str]] = {
    name: (rule, broken, kept, severity, *(more or (NANO, "")))  # type: ignore[misc]
    for name, rule, broken, kept, severity, *more in (
        ("operator", "operator-list", swapped("Div"), swapped("Mul"), "unsupported"),
        ("opset 10", "opset-range", relu(10), relu(11), "unsupported"),
        ("opset 19", "opset-range", relu(19), relu(18), "unsupported"),
        ("opset 16", "opset-documents", relu(16), relu(15), "limit"),
        ("opset 18", "opset-documents", relu(18), relu(19), "limit"),
        ("five axes", "input-rank", relu(shape=(1, 2, 3, 4, 5)), relu(shape=(1, 2, 3, 4)), "limit"),
        ("int64 input", "input-type", relu(kind="i"), relu(), "note"),
        ("bool input", "input-type", relu(kind="b"), relu(), "note"),
        ("name of 128", "long-name", relu(name="x" * 128), relu(name="x" * 127), "note"),
        ("float64", "element-type", typed(np.float64), typed(np.float16), "limit"),
        ("int64 sum", "integer-data", typed(np.int64), typed(np.float32), "note"),
        ("shape from data", "data-dependent-shape", reshaped(False), reshaped(True), "unsupported"),
        ("mask of -1e9", "beyond-fp16", masked(-1e9), masked(-65504), "note"),
        ("infinite mask", "beyond-fp16", masked(-np.inf), masked(65504), "note"),
        ("shared Conv", "shared-weights", shared("Conv", True), shared("Conv", False), "limit"),
        ("shared MatMul", "shared-weights", shared("MatMul", True), shared("MatMul", False), "limit"),
        ("shared, transposed", "shared-weights", shared("MatMul", True, "Transpose"), shared("Gemm", False), "limit"),
        ("3-D Conv", "conv-rank", conv(spatial=3), conv(spatial=2), "unsupported"),
        ("3-D ConvTranspose", "conv-rank", conv("ConvTranspose", 3), conv("ConvTranspose", 1), "unsupported"),
        ("Conv by input", "conv-weight", conv(is_constant=False), conv(), "unsupported"),
        ("ConvTranspose by input", "conv-weight", conv("ConvTranspose", is_constant=False), conv("ConvTranspose"), "unsupported"),
        ("depthwise", "depthwise-fusion", conv(group=32, outputs=32), conv(group=2), "note"),
        ("Cin 16", "qat-channels", conv(channels=16), conv(channels=17), "note", NANO, "qat"),
        ("Cin 16 in 1-D", "qat-channels", conv(channels=3), conv(channels=3, spatial=1), "note", NANO, "qat"),
        ("QAT in fp16", "qat-float32", half(matmul((2, 3), (3, 4))), matmul((2, 3), (3, 4)), "limit", NANO, "qat"),
        ("Gemm transA", "gemm-transpose", gemm(transA=1), gemm(transB=1), "unsupported"),
        ("Gemm alpha", "gemm-alpha", gemm(alpha=0.5), gemm(alpha=1.0), "unsupported"),
        ("Gemm beta", "gemm-beta", gemm(beta=0.5), gemm(beta=0.5, bias=False), "unsupported"),
        ("Gemm by input", "gemm-weight", gemm(is_constant=False), gemm(), "unsupported"),
        ("MatMul of a vector", "matmul-rank", matmul((3,), _ones(3, 4)), matmul((2, 3), _ones(3, 4)), "unsupported"),
        ("MatMul of 7 axes", "matmul-rank", matmul((1,) * 6 + (3,), _ones(3, 4)), matmul((1,) * 5 + (3,), _ones(3, 4)), "unsupported"),
        ("constant first", "matmul-constant-first", matmul(_ones(2, 3), (3, 4)), matmul((2, 3), _ones(3, 4)), "limit"),
        ("two variables", "matmul-variables", matmul((2, 3), (3, 4)), matmul((2, 3), _ones(3, 4)), "note"),
        ("fp16 variables", "matmul-fp16", half(matmul((2, 3), (3, 4))), matmul((2, 3), (3, 4)), "limit"),
        ("LSTM of 2 steps", "recurrent-seq-len", lstm(steps=2), lstm(), "unsupported"),
        ("GRU of 2 steps", "recurrent-seq-len", gru(steps=2), gru(), "unsupported"),
        ("LSTM of two directions", "recurrent-direction", lstm(direction="bidirectional"), lstm(direction="forward"), "unsupported"),
        ("GRU backwards", "recurrent-direction", gru(direction="reverse"), gru(), "unsupported"),
        ("LSTM with W by input", "recurrent-weights", lstm("r"), lstm(), "unsupported"),
        ("GRU with R by input", "recurrent-weights", gru("w"), gru(), "unsupported"),
        ("LSTM sequence_lens", "recurrent-sequence-lens", lstm(given="lens"), lstm(), "unsupported"),
        ("GRU sequence_lens", "recurrent-sequence-lens", gru(given="lens"), gru(), "unsupported"),
        ("LSTM without initial_h", "recurrent-initial-h", lstm(absent="h"), lstm(), "unsupported"),
        ("GRU without initial_h", "recurrent-initial-h", gru(absent="h"), gru(), "unsupported"),
        ("LSTM constant initial_h", "recurrent-constant-h", lstm("w r h"), lstm(), "unsupported"),
        ("GRU constant initial_h", "recurrent-constant-h", gru("w r h"), gru(), "unsupported"),
        ("LSTM without initial_c", "lstm-initial-c", lstm(absent="c"), lstm(), "unsupported"),
        ("LSTM constant initial_c", "lstm-constant-c", lstm("w r c"), lstm(), "unsupported"),
        ("LSTM peephole", "lstm-peephole", lstm(given="p"), lstm(), "unsupported"),
        ("LSTM activations", "recurrent-activations", lstm(activations=["Sigmoid", "Tanh", "Tanh"]), lstm(), "unsupported"),
        ("GRU activation_alpha", "recurrent-activations", gru(activation_alpha=[1.0]), gru(), "unsupported"),
        ("GRU activation_beta", "recurrent-activations", gru(activation_beta=[1.0]), gru(), "unsupported"),
        ("LSTM clip", "lstm-clip", lstm(clip=3.0), lstm(), "unsupported"),
        ("GRU clip", "gru-clip", gru(clip=3.0), gru(), "note"),
        ("LSTM input_forget", "lstm-input-forget", lstm(input_forget=1), lstm(input_forget=0), "unsupported"),
        ("LSTM layout", "recurrent-layout", lstm(layout=1), lstm(layout=0), "unsupported"),
        ("GRU layout", "recurrent-layout", gru(layout=1), gru(), "unsupported"),
        ("GRU reset first", "gru-linear-before-reset", gru(linear_before_reset=0), gru(linear_before_reset=2), "unsupported"),
        ("LSTM without Y_c", "lstm-outputs", lstm(outputs=2), lstm(), "unsupported"),
        ("GRU without Y_h", "gru-outputs", gru(outputs=1), gru(), "unsupported"),
        ("Q and DQ", "quantize-nodes", quantized(), relu(), "note"),
        ("int32 codes", "quantize-zero-point", dequantized_bias(np.int32), dequantized_bias(np.uint8), "limit"),
        ("scale above 2^23", "quantize-scale", quantized(2.0**23 + 1), quantized(2.0**23), "unsupported"),
        ("scale 0", "quantize-scale", quantized(0.0), quantized(), "unsupported"),
        ("infinite scale", "quantize-scale", quantized(np.inf), quantized(), "unsupported"),
        ("scales of data", "quantize-per-channel", data_scales(3), data_scales(1), "unsupported"),
        ("unequal pair", "quantize-pair", quantized(0.1, 0.2), quantized(0.1, 0.1), "limit"),
        ("unequal zero points", "quantize-pair", quantized(other_zero=1), quantized(), "limit"),
        ("weight by channel", "quantize-weight-granularity", dequantized_weight(scales=3), dequantized_weight(), "limit"),
        ("Gemm by channel", "quantize-weight-granularity", dequantized_weight("Gemm", 3), dequantized_weight("Gemm"), "limit"),
        ("weight of 3 axes", "quantize-matmul-weight", dequantized_weight(rank=3), dequantized_weight(), "limit"),
        ("axes by input", "axes-input", squeezed(13), squeezed(11), "limit", MAGICMIND, ""),
        ("opset of samples", "opset-samples", relu(13), relu(11), "note", MAGICMIND, ""),
        ("Conv at the end", "output-conv", last("Conv"), conv(), "note", J6, ""),
        ("dual-int16", "dual-int16", relu(), last("Conv"), "note", J6, "dual-int16"),
    )
}  # fmt: skip


@pytest.mark.parametrize(("rule", "broken", "kept", "severity", "device", "asked"), CASES.values(), ids=CASES)
def test_a_rule_finds_the_model_that_breaks_it_and_no_other(
    rule: str, broken: Graph, kept: Graph, severity: str, device: Device, asked: str
) -> None:
    hits = [finding for finding in _found(broken, device, filter(None, [asked])) if finding.rule == rule]

    assert {finding.severity for finding in hits} == {severity}
    assert rule not in _rules(_found(kept, device, filter(None, [asked])))


@pytest.mark.parametrize(
    "clean", [relu(), conv(), gemm(), matmul((2, 3), _ones(3, 4)), lstm(), gru()], ids=lambda g: g.nodes[0].op_type
)
def test_a_model_within_all_rules_has_no_finding(clean: Graph) -> None:
    assert _found(clean) == ()


def test_every_rule_of_every_file_has_a_case() -> None:
    rules = {rule.id for name in ("common", "nano", "magicmind", "j6") for rule in load_rules(name)}
    tested_elsewhere = {"domain", "open-sizes", "quantize-axis"}

    assert rules == {rule for rule, *_ in CASES.values()} | tested_elsewhere


@pytest.mark.parametrize("asked", ["", "qat"])
def test_rules_of_plans_hold_only_if_asked_for(asked: str) -> None:
    assert ("qat-channels" in _rules(_found(conv(channels=3), asked=filter(None, [asked])))) == bool(asked)


# --- Rules whose models cannot be inferred, or fold ---


def test_an_operator_outside_ai_onnx_is_found_without_shapes() -> None:
    (hit,) = (f for f in findings(foreign(), None, NANO) if f.rule == "domain")

    assert (hit.op_type, hit.severity) == ("com.vendor::Fused", "unsupported")
    assert unsupported_types([hit]) == unsupported_types([hit], "fused") == ("com.vendor::Fused",)


def test_open_sizes_are_found_unless_shapes_are_given() -> None:
    g = _graph([node("Relu", ["x"], ["y"])], {"x": (None, 3)})

    assert [(f.node, f.rule, f.severity) for f in findings(g, None, NANO)] == [("x", "open-sizes", "limit")]
    assert _found(g, inputs={"x": (1, 3)}) == ()


@pytest.mark.parametrize(("axis", "is_found"), [(0, True), (-2, True), (1, False), (-1, False)])
def test_the_axis_of_a_weight_that_folds_is_looked_at(axis: int, is_found: bool) -> None:
    assert ("quantize-axis" in _rules(_found(dequantized_weight(scales=3, axis=axis)))) == is_found


def test_rules_that_lack_a_shape_are_named_in_one_note() -> None:
    g = _graph(
        [node("Relu", ["x"], ["h"]), node("Conv", ["h", "w"], ["y"])], {"x": (1, 3, 4, 4)}, {"w": _ones(3, 3, 1, 1)}
    )

    (note,) = findings(g, None, NANO)

    assert (note.rule, note.severity) == ("not-checked", "note")
    assert "conv-rank" in note.en
    assert "conv-rank" in note.zh


def test_missing_weights_are_constants() -> None:
    g = conv()
    without = replace(g, initializers={}, missing={"w": ValueInfo("w", np.dtype(np.float32), (4, 32, 1, 1))})

    assert _found(without) == ()


# --- What does not reach the device ---


def test_constants_and_fixed_shapes_fold_but_the_script_counts_them() -> None:
    layers = [
        node("Shape", ["x"], ["s"]),
        node("Div", ["s", "two"], ["half"], name="of a shape"),
        node("Sqrt", ["c"], ["root"], name="of a constant"),
        node("Sum", ["root", "root"], ["double"], name="of that"),
        node("Floor", ["x"], ["f"], name="of data"),
        node("Mul", ["f", "double"], ["y"]),
    ]
    g = _graph(layers, {"x": (3,)}, {"two": np.array([2]), "c": _ones(3)}, outputs=("y", "half"))

    found = _found(g)

    severities = {f.node: f.severity for f in found if f.rule == "operator-list"}
    assert severities == {"of a shape": "note", "of a constant": "note", "of that": "note", "of data": "unsupported"}
    assert unsupported_types(found) == unsupported_types(found, "script") == ("Div", "Floor", "Sqrt", "Sum")
    assert unsupported_types(found, "fused") == ("Floor",)
    assert "integer-data" not in _rules(found)


def test_random_numbers_are_no_constants() -> None:
    g = _graph([node("RandomNormal", [], ["r"], shape=[3]), node("Add", ["x", "r"], ["y"])], {"x": (3,)})

    assert unsupported_types(findings(g, None, NANO), "fused") == ("RandomNormal",)


def _branches(op_types: tuple[str, str], is_known: bool) -> Graph:
    """Return y = f(x) if c else g(x)."""
    value = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    bodies = [helper.make_graph([node(op, ["x"], ["r"], name=op)], op, [], [value]) for op in op_types]
    choice = node("If", ["c"], ["y"], name="choice", then_branch=bodies[0], else_branch=bodies[1])
    inputs: dict[str, Any] = {"x": (3,)} | ({} if is_known else {"c": ("b", ())})
    return _graph([choice], inputs, {"c": np.array(True)} if is_known else None)


def test_a_known_condition_leaves_only_the_branch_that_runs() -> None:
    found = _found(_branches(("Sqrt", "Erf"), is_known=True))

    assert {f.node: f.severity for f in found} == {"Sqrt": "unsupported", "Erf": "note", "choice": "note"}
    assert unsupported_types(found) == ("Erf", "If", "Sqrt")
    assert unsupported_types(found, "fused") == ("Sqrt",)


@pytest.mark.parametrize("given", [None, {"c": np.array(True)}], ids=["open", "given"])
def test_a_condition_counts_as_known_once_its_input_is_given(given: Any) -> None:
    found = _found(_branches(("Sqrt", "Erf"), is_known=False), inputs=given)

    assert unsupported_types(found, "fused") == (("Sqrt",) if given else ("Erf", "If", "Sqrt"))


def test_rules_hold_inside_bodies() -> None:
    value = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    bodies = [
        helper.make_graph([node("Gemm", ["x", "w"], ["r"], name=f"by {alpha}", alpha=alpha)], "body", [], [value])
        for alpha in (0.5, 1.0)
    ]
    choice = node("If", ["c"], ["y"], name="choice", then_branch=bodies[0], else_branch=bodies[1])
    g = _graph([choice], {"x": (3, 3), "c": ("b", ())}, {"w": _ones(3, 3)})

    found = {(f.node, f.rule) for f in _found(g)}

    assert ("by 0.5", "gemm-alpha") in found
    assert ("by 1.0", "gemm-alpha") not in found
    assert "not-checked" not in {rule for _, rule in found}


@pytest.mark.parametrize("g", [if_graph(), loop_graph(None), loop_graph(np.array(3))], ids=["If", "Loop", "Loop of 3"])
def test_control_flow_is_no_operator_of_nano_but_its_body_is_known(g: Graph) -> None:
    found = _found(g)

    assert unsupported_types(found) == (g.nodes[0].op_type,)
    assert not _rules(found) & {"not-checked", "matmul-rank", "matmul-variables"}


def test_a_weight_that_both_branches_use_is_shared() -> None:
    value = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    bodies = [helper.make_graph([node("MatMul", ["x", "w"], ["r"], name=n)], n, [], [value]) for n in ("one", "two")]
    choice = node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])
    g = _graph([choice], {"x": (2, 3), "c": ("b", ())}, {"w": _ones(3, 3)})

    assert {f.node for f in _found(g) if f.rule == "shared-weights"} == {"one", "two"}


def test_a_state_made_of_shapes_is_constant() -> None:
    g = lstm()
    filled = _graph(
        [node("Shape", ["z"], ["s"]), node("ConstantOfShape", ["s"], ["h"]), node("Identity", ["h"], ["y"])],
        {"z": (1, 1, 3)},
    )
    inputs = tuple(info for info in g.inputs if info.name != "h") + filled.inputs
    mixed = replace(g, nodes=(*filled.nodes[:2], *g.nodes), inputs=inputs)

    assert _rules(_found(mixed)) == {"recurrent-constant-h"}


def test_findings_for_all_nodes_at_once_give_their_number() -> None:
    layers = [node("Conv", ["x", "v"], ["h"], group=4), node("Conv", ["h", "w"], ["y"], group=4)]
    weights = {"v": _ones(4, 1, 1, 1), "w": _ones(4, 1, 1, 1)}

    (hit,) = _found(_graph(layers, {"x": (1, 4, 2, 2)}, weights))

    assert hit.node == "Conv_0"
    assert "(2 in the model)" in hit.en
    assert "2 个" in hit.zh


# --- Sentences ---


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_finding_says_what_it_found_what_to_do_and_where_it_stands(case: Any) -> None:
    _, broken, _, _, device, asked = case

    for finding in _found(broken, device, filter(None, [asked])):
        for text in (finding.zh, finding.en, finding.fix_zh, finding.fix_en, finding.source):
            assert text
            assert "{" not in text
        assert finding.zh.endswith("。")
        assert finding.en.endswith(".")
        assert any("一" <= letter <= "鿿" for letter in finding.fix_zh)
        assert not any("一" <= letter <= "鿿" for letter in finding.en + finding.fix_en)


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(
    "rule", [r for n in ("common", "nano", "magicmind", "j6") for r in load_rules(n)], ids=lambda r: r.id
)
def test_rule_files_name_checks_that_exist_and_both_languages_the_same_things(rule: Rule) -> None:
    assert rule.check in NODE_CHECKS or rule.check in MODEL_CHECKS
    assert _places(rule.text.zh) - {"op"} == _places(rule.text.en) - {"op"}
    assert rule.text.source or rule.figure


@pytest.mark.parametrize(
    ("op_type", "words"),
    [("Div", "asknpu fix"), ("TopK", "ArgMax"), ("If", "condition"), ("NoSuch", "CPU")],
    ids=["rewritable", "known way", "own way before", "no way known"],
)
def test_the_way_out_of_an_operator(op_type: str, words: str) -> None:
    g = swapped("Mul")
    other = replace(g, nodes=(replace(g.nodes[0], op_type=op_type),))

    (hit,) = (f for f in findings(other, None, NANO) if f.rule == "operator-list")

    assert words in hit.fix_en


def test_operators_of_the_device_are_not_called_rewritable() -> None:
    operators = NANO.figures["operators"].value
    assert isinstance(operators, tuple)

    assert not load_texts().rewritable & set(operators)
    assert not load_texts().ways.keys() & load_texts().rewritable


# --- Whole models ---

_CLS = ("Div", "HardSigmoid")
_QUANTIZED = ("DynamicQuantizeLinear", "com.microsoft::DynamicQuantizeLSTM")

#: Operators outside the Nano list: as the script counts; those that are gone after folding, inputs fixed.
REAL: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "basic-pitch/nmp": (("Div", "Sqrt"), ()),
    "ddddocr/common": ((), ()),
    "ddddocr/common_det": (("Resize",), ()),
    "ddddocr/common_old": (("Div", "DynamicQuantizeLinear", "Floor", "com.microsoft::DynamicQuantizeLSTM"), ()),
    "magika/model": (("Div", "Expand", "Reciprocal", "Sqrt"), ()),
    "rapidocr/PP-OCRv6_det_small": (("Div", "Erf", "HardSigmoid", "Resize"), ()),
    "rapidocr/PP-OCRv6_rec_small": (("AveragePool", "Div", "Erf", "HardSigmoid", "Sqrt"), ()),
    "rapidocr/ch_ppocr_mobile_v2.0_cls_mobile": (_CLS, ()),
    "rapidocr-onnxruntime/ch_PP-OCRv4_det_infer": (("Div", "HardSigmoid", "Resize"), ()),
    "rapidocr-onnxruntime/ch_PP-OCRv4_rec_infer": (("AveragePool", "Div", "HardSigmoid", "Sqrt"), ()),
    "rapidocr-onnxruntime/ch_ppocr_mobile_v2.0_cls_infer": (_CLS, ()),
    "silero-vad/silero_vad": (("If", "Not", "Size", "Sqrt"), ("If", "Not", "Size")),
    "silero-vad/silero_vad_16k_op15": (("If", "Not", "Size", "Sqrt"), ("If", "Not", "Size")),
    "silero-vad/silero_vad_16k_sequence": (("Sqrt",), ()),
    "silero-vad/silero_vad_half": (("If", "Not", "Size", "Sqrt"), ("If", "Not", "Size")),
    "silero-vad/silero_vad_op18_ifless": (("If", "Sqrt"), ("If",)),
    "silero-vad/silero_vad_openvino_16k": (("Sqrt",), ()),
    **{f"text2tashkeel/{name}.int8": (_QUANTIZED, ()) for name in ("bilstm", "rawi", "rawi_ensemble", "rawi_v2", "rawi_v3")},
}  # fmt: skip


def _real(name: str) -> tuple[Finding, ...]:
    model = next(model for model in MODELS if model.name == name)
    path, feeds = real_models.required(model), real_models.feeds(model)
    # Only the sampling rate is given as a value: it decides which branch runs.
    given = {name: value if value.ndim == 0 else value.shape for name, value in feeds.items()}
    return _found(load_onnx(path), inputs=given)


def test_every_real_model_has_an_expectation() -> None:
    assert {model.name for model in MODELS} == set(REAL)


@pytest.mark.parametrize("name", REAL)
def test_unsupported_operators_of_real_models(name: str) -> None:
    found = _real(name)
    script, folded = REAL[name]

    assert unsupported_types(found, "script") == script
    assert set(unsupported_types(found, "fused")) == set(script) - set(folded)
    assert "not-checked" not in _rules(found)


def test_conditions_on_recurrent_layers_of_a_real_model() -> None:
    assert {f.rule for f in _real("ddddocr/common")} == {
        "recurrent-seq-len",
        "recurrent-direction",
        "recurrent-constant-h",
        "lstm-constant-c",
    }


# --- Devices ---


@pytest.mark.parametrize("name", device_names())
def test_a_device_without_an_operator_list_says_that_support_is_not_known(name: str) -> None:
    device = load_device(name)

    found = _found(swapped("Erf") if name == "" else swapped("Div"), device)

    assert knows_operators(device) == name.startswith("nano")
    assert ("operators-unknown" in _rules(found)) != knows_operators(device)
    assert bool(unsupported_types(found)) == knows_operators(device)


def test_a_device_of_ones_own_has_the_rules_of_its_figures() -> None:
    text = 'name = "own"\ntitle = "Own"\n[figures.operators]\nvalue = ["Relu"]\nunit = "name"\nsource = "manual"\n'
    own = parse_device(text, "own.toml")

    (hit,) = _found(swapped("Mul"), own)

    assert (hit.rule, hit.op_type, hit.source) == ("operator-list", "Mul", "manual")
    assert [rule.id for rule in rules_of(own)] == ["operator-list", "domain"]


def test_both_nano_devices_have_the_same_rules() -> None:
    assert rules_of(NANO) == rules_of(load_device("nano-035b"))


def test_a_device_that_names_a_file_that_is_not_there_is_refused() -> None:
    text = 'name = "own"\ntitle = "Own"\n[figures.support_rules]\nvalue = ["none"]\nunit = "name"\nsource = "manual"\n'

    with pytest.raises(BadArgument, match="no file 'none'"):
        _found(relu(), parse_device(text, "own.toml"))
