"""Rules by node, operator and network; the presets; and what a precision leaves alone."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from simcore import plan as planning
from simcore.errors import BadArgument, ModelError, SimError
from simcore.execute import _PLANS, run
from simcore.fp16 import IEEE, SATURATE
from simcore.graph import Graph, Node
from simcore.load_onnx import load_onnx_bytes
from simcore.lut import Table
from simcore.npu import cube
from simcore.precision import (
    PRODUCTS,
    RECURRENT,
    Float32,
    Half,
    Precision,
    Quantized,
    Setting,
    check,
    override,
    ranges_of,
    rule_of,
)
from simcore.presets import HORIZON_QTYPES, MAGICMIND_MODES, horizon, magicmind, nano
from tests.test_simcore.graphs import graph, one
from tests.test_simcore.test_npu_cube import grid
from tests.test_simcore.test_onnx_node_cases import _array, _cases

F = np.float32
node = helper.make_node


def bare(op_type: str, name: str = "n", domain: str = "") -> Node:
    return Node(name, op_type, domain, ("x",), ("y",))


def setting(rule: Any, name: str = "test") -> Setting:
    return Setting(name, rule, rule, rule)


def on_grid(x: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        return np.array_equal(x.astype(np.float16).astype(x.dtype), x, equal_nan=True)


# --------------------------------------------------------------------------------------------------------- rule order


def test_a_node_is_stronger_than_its_operator_and_that_than_the_network() -> None:
    precision = Precision(setting(Half()), {"Relu": Float32()}, {"special": Quantized()})

    assert rule_of(precision, bare("Relu", "special")) == Quantized()
    assert rule_of(precision, bare("Relu")) == Float32()
    assert rule_of(precision, bare("Add")) == Half()


def test_a_setting_has_one_rule_per_kind_of_operator() -> None:
    kinds = Setting("kinds", Quantized(), Half(), Float32())
    for precision in (Precision(kinds), Precision(setting(Half(IEEE)), nodes={"n": kinds})):
        for op_type in PRODUCTS:
            assert rule_of(precision, bare(op_type)) == Quantized()
        for op_type in RECURRENT:
            assert rule_of(precision, bare(op_type)) == Float32()
        assert rule_of(precision, bare("Relu")) == Half()


def test_operators_of_other_domains_are_no_products() -> None:
    precision = Precision(Setting("kinds", Quantized(), Half(), Float32()), {"Conv": Float32()})

    assert rule_of(precision, bare("Conv", domain="com.example")) == Half()


def test_the_order_holds_in_a_run() -> None:
    x = F([[0.1, 0.2]])
    nodes = [node("Identity", ["x"], [name], name=name) for name in ("network", "named")]
    g = graph([*nodes, node("Neg", ["x"], ["operator"])], {"x": [1, 2]}, ["network", "named", "operator"])
    precision = Precision(setting(Half()), {"Neg": Float32(), "Identity": Half(IEEE)}, {"named": Float32()})

    got = run(g, {"x": x}, precision=precision)

    assert on_grid(got["network"]) and not np.array_equal(got["network"], x)
    assert np.array_equal(got["named"], x) and np.array_equal(got["operator"], -x)


def test_override_puts_new_exceptions_over_old_ones() -> None:
    old = Precision(setting(Half()), {"Add": Half(), "Mul": Half()}, {"a": Half()}, {"x": (0, 1)}, ("assumed",))
    new = override(
        old, nodes={"a": Float32(), "b": Half()}, operators={"Add": Float32()}, ranges={"x": (0, 2), "y": (1, 2)}
    )

    assert new.nodes == {"a": Float32(), "b": Half()}
    assert new.operators == {"Add": Float32(), "Mul": Half()}
    assert new.ranges == {"x": (0, 2), "y": (1, 2)}
    assert new.assumptions == ("assumed",) and new.network is old.network
    assert old.nodes == {"a": Half()} and override(old).operators == old.operators


# ------------------------------------------------------------------------------------------------------------ presets

MIX16 = {"type": Half, "mode": IEEE, "accumulator": "fp32"}
PLAIN = {"type": Float32}
Q8 = {"type": Quantized, "activation": "int8", "weight": "int8", "convention": "onnx_symmetric", "bias": "float", "overflow": "wide", "is_per_channel": False}  # fmt: skip
Q16 = Q8 | {"activation": "int16", "weight": "int16", "pair": ("int16", "int16")}
H8 = {"type": Quantized, "activation": "int8", "weight": "int8", "convention": "horizon", "output": Float32(), "is_per_channel": True}  # fmt: skip
H16 = H8 | {"activation": "int16", "pair": ("int16", "int8")}
NANO = {"type": Quantized, "activation": "int8", "weight": "int8", "convention": "amct_asymmetric", "weight_convention": "amct_symmetric", "pair": ("int8", "int8"), "bias": "int32", "overflow": "saturate"}  # fmt: skip
NANO_VECTOR = {"type": Half, "mode": SATURATE, "accumulator": "fp16", "order": "pairwise"}
PRESETS: dict[str, tuple[Precision, dict[str, dict[str, Any]]]] = {
    "force_float32": (magicmind("force_float32"), {"Conv": PLAIN, "Add": PLAIN, "LSTM": PLAIN}),
    "force_float16": (magicmind("force_float16"), {"Conv": MIX16, "Add": MIX16, "LSTM": MIX16}),
    "qint8_mixed_float32": (magicmind("qint8_mixed_float32"), {"Conv": Q8 | {"output": Float32()}, "Add": PLAIN, "GRU": PLAIN}),
    "qint8_mixed_float16": (magicmind("qint8_mixed_float16"), {"Gemm": Q8, "Add": MIX16, "GRU": MIX16}),
    "qint16_mixed_float32": (magicmind("qint16_mixed_float32"), {"MatMul": Q16 | {"output": Float32()}, "Add": PLAIN}),
    "qint16_mixed_float16": (magicmind("qint16_mixed_float16"), {"ConvTranspose": Q16, "Add": MIX16}),
    "magicmind asymmetric per axis": (
        magicmind("qint8_mixed_float16", is_asymmetric=True, is_per_axis=True),
        {"Conv": {"convention": "onnx_dynamic", "weight_convention": "onnx_symmetric", "is_per_channel": True}},
    ),
    "magicmind with exceptions": (
        magicmind("qint8_mixed_float16", operators={"Conv": "force_float32"}, nodes={"n": "qint16_mixed_float32"}),
        {"Conv": Q16, "Add": PLAIN},
    ),
    "horizon int8": (horizon("int8"), {"Conv": H8, "Add": H8, "LSTM": PLAIN}),
    "horizon int16": (horizon("int16"), {"Conv": H16, "Add": H16, "GRU": PLAIN}),
    "horizon dual-int16": (
        horizon("dual-int16"),
        {"Conv": H16 | {"weight": "int16", "pair": ("int16", "int16")}, "Add": H16, "LSTM": PLAIN},
    ),
    "horizon float16": (horizon("float16"), {"Conv": MIX16, "Add": MIX16, "LSTM": MIX16}),
    "horizon float32": (horizon("float32"), {"Conv": PLAIN, "Add": PLAIN, "LSTM": PLAIN}),
    "horizon with exceptions": (horizon("int8", operators={"Add": "float16"}), {"Add": MIX16, "Conv": H8}),
    "nano int8": (
        nano(),
        {
            "Conv": NANO | {"is_per_channel": True},
            "ConvTranspose": NANO | {"is_per_channel": True},
            "MatMul": NANO | {"is_per_channel": False},
            "Gemm": NANO | {"is_per_channel": False},
            "LSTM": NANO | {"is_per_channel": False},
            "Add": NANO_VECTOR,
        },
    ),
    "nano int16": (nano("int16"), {"Conv": NANO | {"activation": "int16"}, "GRU": {"activation": "int16"}, "Add": NANO_VECTOR}),
    "nano symmetric per tensor": (
        nano(is_asymmetric=False, is_per_channel=False),
        {"Conv": NANO | {"convention": "amct_symmetric", "is_per_channel": False}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_the_rules_of_their_vendors(name: str) -> None:
    precision, expected = PRESETS[name]
    for op_type, fields in expected.items():
        rule = rule_of(precision, bare(op_type))
        found = {"type": type(rule)} | {f.name: getattr(rule, f.name) for f in dataclasses.fields(rule)}

        assert {key: found[key] for key in fields} == fields
    assert precision.assumptions


def test_mixed_modes_round_products_to_their_mixed_type() -> None:
    rule = rule_of(magicmind("qint8_mixed_float16"), bare("Conv"))

    assert isinstance(rule, Quantized) and rule.output == Half(IEEE, "fp32")


def test_nano_reads_sigmoid_and_tanh_from_tables_unless_told_not_to() -> None:
    for name in ("sigmoid", "tanh"):
        table = getattr(rule_of(nano(), bare("Add")), name)
        assert isinstance(table, Table) and table.entries.shape == (2049,) and (table.low, table.high) == (-8, 8)
        assert getattr(rule_of(nano(is_table=False), bare("Add")), name) == "direct"
    assert len(nano(is_table=False).assumptions) == len(nano().assumptions) - 1


def test_every_mode_and_qtype_is_a_preset_of_the_table() -> None:
    assert set(MAGICMIND_MODES) <= PRESETS.keys()
    assert {f"horizon {qtype}" for qtype in HORIZON_QTYPES} <= PRESETS.keys()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: magicmind("int8"), "mode 'int8' is not known; use one of force_float32"),
        (lambda: magicmind(operators={"Conv": "fp16"}), "mode 'fp16'"),
        (lambda: magicmind(nodes={"a": "fp16"}), "mode 'fp16'"),
        (lambda: horizon("int4"), "qtype 'int4' is not computed here; use one of int8"),
        (lambda: horizon(nodes={"a": ""}), "qtype ''"),
    ],
)
def test_unknown_modes_are_refused_with_the_known_ones(make: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        make()


@pytest.mark.parametrize("where", ["operators", "nodes"])
def test_dual_int16_on_another_operator_is_refused_when_the_model_is_prepared(where: str) -> None:
    g = graph([node("Relu", ["x"], ["y"], name="act")], {"x": [1]}, ["y"])
    precision = horizon("int8", **{where: {"Relu" if where == "operators" else "act": "dual-int16"}})

    with pytest.raises(ModelError) as caught:
        planning.prepare(g, precision=precision)

    assert str(caught.value) == (
        "node 'act' (Relu): dual-int16 is for Conv, ConvTranspose, Gemm, MatMul only; choose another for this node"
    )


# ------------------------------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        (Precision(setting(Half()), nodes={"conv7": Half()}), "no node 'conv7' in the model"),
        (Precision(setting(Half()), ranges={"x": (1.0, -1.0)}), "the range of 'x' is 1.0 to -1.0"),
        (Precision(setting(Half()), ranges={"x": (0.0, float("nan"))}), "the range of 'x'"),
        (Precision(setting(Half()), ranges={"x": (float("-inf"), 0.0)}), "the range of 'x'"),
        (Precision(setting(Quantized(activation="uint8"))), "uint8 cannot be an operand"),
        (Precision(setting(Quantized(weight="int32"))), "int32 cannot be an operand"),
        (Precision(setting(Quantized(pair=("int8", "uint4")))), "uint4 cannot be an operand"),
        (Precision(setting(Half()), {"Conv": Quantized(weight="int7")}), "integer type 'int7' is not known"),
        (Precision(setting(Half()), nodes={"a": Quantized(convention="best")}), "convention 'best' is not known"),
        (Precision(setting(Half()), nodes={"a": Quantized(weight_convention="hisilicon")}), "weights are symmetric"),
    ],
)
def test_a_precision_that_does_not_fit_is_refused_at_the_first_run(precision: Precision, message: str) -> None:
    g = graph([node("Relu", ["x"], ["y"], name="a")], {"x": [1]}, ["y"])

    with pytest.raises(BadArgument, match=message):
        run(g, {"x": F([1])}, precision=precision)


def test_nodes_of_subgraphs_may_be_named() -> None:
    g, _ = branches()

    check(Precision(setting(Half()), nodes={"inside": Float32()}), [n for _, n in planning.walk(g)], set())


# -------------------------------------------------------------------------------------------------------- calibration


def test_ranges_are_the_extremes_of_the_finite_values_of_all_runs() -> None:
    runs = [
        {"a": F([1, -2, np.inf]), "b": np.int64([5]), "c": F([np.nan])},
        {"a": F([7]), "c": F([]), "d": np.float16([0.5])},
        {"a": F([-1, -np.inf])},
    ]

    assert ranges_of(runs) == {"a": (-2, 7), "d": (0.5, 0.5)}
    assert ranges_of([]) == {}


def test_calibrated_ranges_serve_instead_of_measured_ones() -> None:
    g = graph([node("MatMul", ["x", "w"], ["y"])], {"x": [1, 2]}, ["y"], {"w": F([[1], [1]])})
    small, large = {"x": F([[0.5, -0.5]])}, {"x": F([[3, 0]])}
    ranges = ranges_of([run(g, small, trace=True) | small])

    assert ranges == {"x": (-0.5, 0.5), "y": (0, 0)}
    assert run(g, large, precision=nano())["y"].item() == pytest.approx(3, rel=0.01)
    assert run(g, large, precision=nano(ranges=ranges))["y"].item() == pytest.approx(0.5, rel=0.01)


def test_calibrated_ranges_serve_other_operators_too() -> None:
    data = load_onnx_bytes(one("Exp", {"x": F([3])}).SerializeToString())

    got = run(data, {"x": F([3])}, precision=horizon("int8", ranges={"x": (-1, 1)}))["y0"]

    assert got.item() == np.exp(F(127 / 128))


# ---------------------------------------------------------------------------------------------- what it leaves alone


def shape_model() -> Any:
    """Return a model that halves a size above 2048 in floats: Shape, Cast, Mul, Cast, Reshape."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Cast", ["shape"], ["real"], to=TensorProto.FLOAT),
        node("Mul", ["real", "half"], ["halved"]),
        node("Cast", ["halved"], ["size"], to=TensorProto.INT64),
        node("Concat", ["size", "two"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    return graph(nodes, {"x": ["n"]}, ["y"], {"half": F([0.5]), "two": np.int64([2])})


@pytest.mark.parametrize("precision", [nano(), magicmind("force_float16"), horizon("int8"), horizon("float16")])
def test_shape_arithmetic_stays_in_float32(precision: Precision) -> None:
    x = np.zeros(4098, F)

    assert run(shape_model(), {"x": x}, precision=precision)["y"].shape == (2049, 2)


def test_shape_arithmetic_inside_a_branch_stays_in_float32() -> None:
    inner = [
        node("Mul", ["real", "half"], ["halved"]),
        node("Cast", ["halved"], ["size"], to=TensorProto.INT64),
        node("Concat", ["size", "two"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["made"]),
    ]
    then = helper.make_graph(inner, "then", [], [ValueInfoProto(name="made")])
    other = helper.make_graph([node("Identity", ["x"], ["kept"])], "else", [], [ValueInfoProto(name="kept")])
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Cast", ["shape"], ["real"], to=TensorProto.FLOAT),
        node("If", ["c"], ["y"], then_branch=then, else_branch=other),
    ]
    g = graph(nodes, {"x": ["n"], "c": ("b", [])}, ["y"], {"half": F([0.5]), "two": np.int64([2])})

    got = run(g, {"x": np.zeros(4098, F), "c": np.array(True)}, precision=nano())["y"]

    assert got.shape == (2049, 2)


def test_scales_of_resize_keep_their_values() -> None:
    # fp16 holds 1.0001 as 1, and 8192 columns times 1.0001 are 8192.8.
    g = graph(
        [node("Resize", ["x", "", "scales"], ["y"], mode="nearest")],
        {"x": [1, 1, 1, 16384], "scales": [4]},
        ["y"],
    )
    feeds = {"x": np.zeros((1, 1, 1, 16384), F), "scales": F([1, 1, 1, 1.0001])}

    assert run(g, feeds, precision=nano())["y"].shape == run(g, feeds)["y"].shape == (1, 1, 1, 16385)


def test_the_variance_of_batch_normalization_is_not_rounded() -> None:
    values = {"x": F([[1]]), "scale": F([1]), "b": F([0]), "mean": F([0]), "var": F([1e-8])}
    data = load_onnx_bytes(one("BatchNormalization", values, epsilon=0.0).SerializeToString())

    assert run(data, values, precision=nano())["y0"].item() == 1e4  # in fp16 the variance is 0, the factor infinite


def test_the_scale_of_quantize_linear_keeps_its_value() -> None:
    values = {"x": F([100, 3]), "s": F(0.7001), "z": np.uint8(3)}
    data = load_onnx_bytes(one("QuantizeLinear", values).SerializeToString())

    assert np.array_equal(run(data, values, precision=nano())["y0"], run(data, values)["y0"])


def test_the_scale_of_dequantize_linear_is_used_as_it_is() -> None:
    values = {"x": np.uint8([250, 3]), "s": F(0.7001), "z": np.uint8(3)}
    data = load_onnx_bytes(one("DequantizeLinear", values).SerializeToString())
    want = run(data, values)["y0"]

    assert np.array_equal(run(data, values, precision=nano())["y0"], want.astype(np.float16).astype(F))


def typed_chain(dtype: type) -> tuple[Any, dict[str, np.ndarray]]:
    """Return a small network in one float type with its feed: Conv, BatchNormalization, Relu, MatMul, Softmax."""
    rng = np.random.default_rng(0)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    weights = {
        "w": rng.normal(0, 1, (4, 3, 3)), "b": rng.normal(0, 1, 4), "s": rng.uniform(0.5, 2, 4), "o": rng.normal(0, 1, 4),
        "m": rng.normal(0, 1, 4), "v": rng.uniform(0.5, 2, 4), "p": rng.normal(0, 1, (6, 5)),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"]),
        node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"]),
        node("Relu", ["n"], ["r"]),
        node("MatMul", ["r", "p"], ["q"]),
        node("Softmax", ["q"], ["y"]),
    ]
    body = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", kind, [2, 3, 8])],
        [ValueInfoProto(name="y")],
        [numpy_helper.from_array(value.astype(dtype), name) for name, value in weights.items()],
    )
    made = helper.make_model(body, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    return load_onnx_bytes(made.SerializeToString()), {"x": rng.normal(0, 1, (2, 3, 8)).astype(dtype)}


ALL = {
    "nano": nano(),
    "nano int16": nano("int16"),
    **{mode: magicmind(mode) for mode in MAGICMIND_MODES},
    **{f"horizon {qtype}": horizon(qtype) for qtype in HORIZON_QTYPES},
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ALL)
def test_models_keep_their_element_types_and_stay_near_golden_mode(name: str, dtype: type) -> None:
    g, feeds = typed_chain(dtype)
    golden = run(g, feeds, trace=True)

    got = run(g, feeds, trace=True, precision=ALL[name])

    assert got.keys() == golden.keys()
    for tensor, want in golden.items():
        assert got[tensor].dtype == want.dtype == dtype and got[tensor].shape == want.shape
    np.testing.assert_allclose(got["y"], golden["y"], atol=0.05)


@pytest.mark.parametrize("name", ALL)
def test_traced_and_untraced_runs_give_the_same_bits(name: str) -> None:
    g, feeds = typed_chain(np.float32)

    traced, plain = run(g, feeds, trace=True, precision=ALL[name]), run(g, feeds, precision=ALL[name])

    assert np.array_equal(traced["y"], plain["y"])


def test_without_a_precision_all_is_golden_bit_for_bit() -> None:
    g, feeds = typed_chain(np.float32)
    fresh, _ = typed_chain(np.float32)
    want = run(fresh, feeds, trace=True)
    run(g, feeds, precision=nano())

    for precision in (None, magicmind("force_float32"), horizon("float32")):
        got = run(g, feeds, trace=True, precision=precision)
        assert all(np.array_equal(got[name], want[name]) for name in want)


def test_integers_pass_untouched() -> None:
    nodes = [node("Add", ["i", "i"], ["a"]), node("ReduceSum", ["a"], ["b"]), node("MatMul", ["i", "i"], ["c"])]
    g = graph(nodes, {"i": ("i", [2, 2])}, ["a", "b", "c"])
    feeds = {"i": np.int64([[100001, 2049], [3, -70001]])}
    want = run(g, feeds)
    for precision in ALL.values():
        got = run(g, feeds, precision=precision)

        assert all(np.array_equal(got[name], want[name]) and got[name].dtype == np.int64 for name in want)


def test_a_moving_operator_under_quantized_reads_no_codes_but_keeps_the_output_type() -> None:
    x = F([0.1, 70000])
    g = graph([node("Identity", ["x"], ["y"])], {"x": [2]}, ["y"])

    assert run(g, {"x": x}, precision=Precision(setting(Quantized())))["y"].tolist() == [float(np.float16(0.1)), 65504]
    assert np.array_equal(run(g, {"x": x}, precision=Precision(setting(Quantized(output=Float32()))))["y"], x)


# ------------------------------------------------------------------------ operators through codes, products in fp16


def coded(x: np.ndarray, to: str, convention: str) -> np.ndarray:
    """Return what the codes of x stand for, by the formulas of test_npu_cube."""
    how = grid([float(v) for v in x.reshape(-1)], convention, to)
    return np.array([F(how.centred(float(v))) * how.scale for v in x.reshape(-1)], F).reshape(x.shape)


@pytest.mark.parametrize("output", [Float32(), Half()], ids=["float32", "half"])
@pytest.mark.parametrize(("to", "convention"), [("int8", "horizon"), ("int16", "horizon"), ("int8", "onnx_dynamic")])
@pytest.mark.parametrize("op_type", ["Add", "Div", "Softmax", "Sigmoid", "AveragePool", "ReduceMean", "Erf"])
def test_other_operators_read_what_the_codes_of_their_inputs_stand_for(
    op_type: str, to: str, convention: str, output: Half | Float32
) -> None:
    rng = np.random.default_rng(3)
    inputs = {"x": rng.normal(0.4, 1, (1, 2, 6)).astype(F)}
    if op_type in ("Add", "Div"):
        inputs["b"] = rng.uniform(0.5, 1, (1, 2, 6)).astype(F)
    attributes = {"kernel_shape": [2]} if op_type == "AveragePool" else {}
    data = load_onnx_bytes(one(op_type, inputs, **attributes).SerializeToString())
    read = {name: coded(x, to, convention) for name, x in inputs.items()}
    base = Precision(setting(output))

    got = run(data, inputs, precision=Precision(setting(Quantized(to, convention=convention, output=output))))["y0"]

    assert np.array_equal(got, run(data, read, precision=base)["y0"])


def test_constants_of_operators_without_weights_stay_floats() -> None:
    x, k = F([[1, -1]]), F([[0.1, 100]])
    constant = graph([node("Mul", ["x", "k"], ["y"])], {"x": [1, 2]}, ["y"], {"k": k})
    computed = graph([node("Mul", ["x", "k"], ["y"])], {"x": [1, 2], "k": [1, 2]}, ["y"])

    np.testing.assert_allclose(run(constant, {"x": x}, precision=horizon("int8"))["y"], k * coded(x, "int8", "horizon"))
    assert (
        run(computed, {"x": x, "k": k}, precision=horizon("int8"))["y"].reshape(-1)[0] == 0
    )  # 0.1 is below half a step


def test_infinite_and_missing_values_saturate_and_vanish_in_codes() -> None:
    x = F([np.inf, -np.inf, np.nan, 1])
    data = load_onnx_bytes(one("Identity", {"x": x}).SerializeToString())
    doubled = load_onnx_bytes(one("Add", {"x": x, "b": x}).SerializeToString())

    assert run(doubled, {"x": x, "b": x}, precision=horizon("int8"))["y0"].tolist() == [127 / 64, -2, 0, 127 / 64]
    assert np.array_equal(run(data, {"x": x}, precision=horizon("int8"))["y0"], x, equal_nan=True)


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum", "RNN"])
def test_products_in_fp16_read_fp16_and_are_rounded_once(op_type: str) -> None:
    rng = np.random.default_rng(4)
    shapes: dict[str, Any] = {
        "Conv": ({"x": (1, 3, 8), "w": (4, 3, 3), "b": (4,)}, {}),
        "ConvTranspose": ({"x": (1, 3, 8), "w": (3, 4, 3), "b": (4,)}, {}),
        "MatMul": ({"x": (4, 9), "w": (9, 5)}, {}),
        "Gemm": ({"x": (4, 9), "w": (9, 5), "c": (5,)}, {"alpha": 0.3, "beta": 0.7}),
        "Einsum": ({"x": (4, 9), "w": (9, 5)}, {"equation": "ij,jk->ik"}),
        "RNN": ({"x": (3, 1, 2), "w": (1, 4, 2), "r": (1, 4, 4)}, {"hidden_size": 4}),
    }
    inputs = {name: rng.normal(0, 30, shape).astype(F) for name, shape in shapes[op_type][0].items()}
    rounded = {name: x.astype(np.float16).astype(F) for name, x in inputs.items()}
    data = load_onnx_bytes(one(op_type, inputs, **shapes[op_type][1]).SerializeToString())

    got = run(data, inputs, precision=magicmind("force_float16"))["y0"]

    assert np.array_equal(got, run(data, rounded)["y0"].astype(np.float16).astype(F))


# ------------------------------------------------------------------------------------------------------- control flow


def branches() -> tuple[Any, dict[str, np.ndarray]]:
    """Return a model with Mul in both branches of an If, with its feeds."""

    def body(name: str, factor: str) -> Any:
        inside = node("Mul", ["x", factor], [f"{name}_y"], name="inside" if name == "then" else "")
        return helper.make_graph([inside], name, [], [ValueInfoProto(name=f"{name}_y")])

    made = node("If", ["c"], ["y"], then_branch=body("then", "x"), else_branch=body("else", "k"))
    g = graph([made], {"x": [2], "c": ("b", [])}, ["y"], {"k": F([0.1])})
    return g, {"x": F([300, 0.1]), "c": np.array(True)}


def test_branches_compute_by_the_precision() -> None:
    g, feeds = branches()
    tenth = np.float16(0.1)

    assert run(g, feeds, precision=nano())["y"].tolist() == [65504, float(tenth * tenth)]
    assert run(g, feeds | {"c": np.array(False)}, precision=nano())["y"].tolist() == [
        float(np.float16(300) * tenth),
        float(tenth * tenth),
    ]
    assert np.array_equal(
        run(g, feeds, precision=override(nano(), nodes={"inside": Float32()}))["y"], run(g, feeds)["y"]
    )


def test_loops_compute_by_the_precision() -> None:
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["s", "step"], ["t"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [1]),
        ],
        [ValueInfoProto(name="on"), ValueInfoProto(name="t")],
    )
    g = graph(
        [node("Loop", ["count", "", "start"], ["y"], body=body)],
        {"start": [1], "step": [1]},
        ["y"],
        {"count": np.array(5, np.int64)},
    )
    feeds = {"start": F([2048]), "step": F([1])}

    assert run(g, feeds)["y"].tolist() == [2053]
    assert run(g, feeds, precision=nano())["y"].tolist() == [2048]  # 2049 is a tie and goes back every time


def test_products_in_a_branch_are_quantized_with_the_constants_around_it() -> None:
    then = helper.make_graph([node("MatMul", ["x", "w"], ["a"])], "then", [], [ValueInfoProto(name="a")])
    other = helper.make_graph([node("Identity", ["x"], ["b"])], "else", [], [ValueInfoProto(name="b")])
    w = np.random.default_rng(0).normal(0, 1, (3, 3)).astype(F)
    g = graph(
        [node("If", ["c"], ["y"], then_branch=then, else_branch=other)], {"x": [2, 3], "c": ("b", [])}, ["y"], {"w": w}
    )
    plain = graph([node("MatMul", ["x", "w"], ["y"])], {"x": [2, 3]}, ["y"], {"w": w})
    x = np.random.default_rng(1).normal(0, 1, (2, 3)).astype(F)

    inside = run(g, {"x": x, "c": np.array(True)}, precision=nano())["y"]

    assert np.array_equal(inside, run(plain, {"x": x}, precision=nano())["y"])


# --------------------------------------------------------------------------------------------------------------- plans


def test_constant_weights_are_quantized_once_per_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    real = cube._weight
    monkeypatch.setattr(cube, "_weight", lambda *arguments: counted.append(arguments[1].op_type) or real(*arguments))
    g, feeds = typed_chain(np.float32)
    precision = nano()

    first = run(g, feeds, precision=precision)["y"]
    second = run(g, feeds, precision=precision)["y"]

    assert np.array_equal(first, second) and counted == ["Conv", "MatMul"]
    assert np.array_equal(run(g, feeds, precision=nano())["y"], first) and len(counted) == 4


def test_at_most_four_plans_are_kept() -> None:
    g, feeds = typed_chain(np.float32)
    used = [nano() for _ in range(6)]
    for precision in used:
        run(g, feeds, precision=precision)

    assert [precision for _, precision in _PLANS[g]] == used[2:]
    assert np.array_equal(run(g, feeds, precision=used[0])["y"], run(g, feeds, precision=used[5])["y"])


def test_feeds_are_not_changed() -> None:
    g, feeds = typed_chain(np.float32)
    before = feeds["x"].copy()
    for precision in ALL.values():
        run(g, feeds, precision=precision)

    assert np.array_equal(feeds["x"], before)


def test_a_weight_fed_by_name_is_quantized_as_a_computed_operand() -> None:
    g = graph([node("MatMul", ["x", "w"], ["y"])], {"x": [1, 2]}, ["y"], {"w": F([[1], [2]])})
    feeds = {"x": F([[1, 0.5]]), "w": F([[3], [5]])}

    assert run(g, feeds, precision=nano())["y"].item() == pytest.approx(5.5, rel=0.02)


# ------------------------------------------------------------------------------------------------- onnx's node cases

SWEPT = {
    "nano": nano(),
    "force_float16": magicmind("force_float16"),
    "qint8_mixed_float16": magicmind("qint8_mixed_float16"),
    "horizon int8": horizon("int8"),
    "horizon dual-int16": horizon("dual-int16"),
}
#: (preset, case) that is refused, and why.
REFUSED = {("nano", "test_lstm_with_peepholes"): "the quantizer takes no LSTM with sequence_lens and peepholes"}
#: Operators with float outputs that are not rounded to fp16: the model or the shapes fix them.
EXACT = {"Constant", "DynamicQuantizeLinear"}


@pytest.mark.parametrize("preset", SWEPT)
def test_node_cases_run_with_the_types_and_shapes_of_golden_mode(preset: str) -> None:
    wrong: dict[str, str] = {}
    refused: set[tuple[str, str]] = set()
    for name, g, feeds, golden in _golden_runs():
        try:
            got = run(g, feeds, precision=SWEPT[preset])
        except SimError:
            refused.add((preset, name))
            continue
        is_half = preset == "nano" and not {n.op_type for _, n in planning.walk(g)} & EXACT
        problem = _problem(golden, got, is_half)
        if problem:
            wrong[name] = problem

    assert wrong == {}
    assert refused == {key for key in REFUSED if key[0] == preset}
    assert len(_golden_runs()) > 1400


@functools.cache
def _golden_runs() -> list[tuple[str, Graph, dict[str, Any], dict[str, Any]]]:
    """Return (case, graph, feeds, golden outputs) for each set of data that golden mode computes."""
    found = []
    for name, case in _cases().items():
        g = load_onnx_bytes(case.model.SerializeToString())
        names = [value.name for value in case.model.graph.input]
        for inputs, _ in case.data_sets:
            feeds = dict(zip(names, map(_array, inputs), strict=True))
            try:
                found.append((name, g, feeds, run(g, feeds)))
            except SimError:
                continue  # test_onnx_node_cases lists it
    return found


def _problem(golden: Mapping[str, Any], got: Mapping[str, Any], is_half: bool) -> str | None:
    """Return how outputs differ from golden ones in kind, or that one is off the fp16 grid."""
    for name, want in golden.items():
        y = got[name]
        if not isinstance(want, np.ndarray):
            continue
        if y.dtype != want.dtype or y.shape != want.shape:
            return f"{name}: {y.dtype} {y.shape}, golden {want.dtype} {want.shape}"
        if is_half and y.dtype in (np.float16, np.float32) and not on_grid(y):
            return f"{name} is off the fp16 grid"
    return None


def test_an_operator_that_does_not_exist_is_refused() -> None:
    g = graph([node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"])
    misspelt = Precision(Setting("float", Float32(), Float32(), Float32()), operators={"Matmul": Float32()})

    with pytest.raises(BadArgument, match="no operator 'Matmul'"):
        run(g, {"x": np.float32([1, 2])}, precision=misspelt)
