"""The executor: order, folding, freeing, control flow, feeds and errors."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from simcore import plan as planning
from simcore.errors import BadArgument, ModelError, UnsupportedOp
from simcore.execute import run
from simcore.graph import ValueInfo
from simcore.load_onnx import load_onnx_bytes
from simcore.matmul import Operand
from simcore.ops.control_flow import Body, loop
from simcore.ops.table import OPERATORS
from tests.test_simcore.graphs import graph

node = helper.make_node
X = np.array([-1.0, 2.0], np.float32)


def test_outputs_come_by_name_in_order() -> None:
    g = graph([node("Neg", ["x"], ["a"]), node("Abs", ["x"], ["b"])], {"x": [2]}, ["b", "a"])

    got = run(g, {"x": X})

    assert [(name, value.tolist()) for name, value in got.items()] == [("b", [1, 2]), ("a", [1, -2])]


def test_trace_returns_every_tensor_also_the_folded_ones() -> None:
    nodes = [node("Neg", ["w"], ["folded"]), node("Add", ["x", "folded"], ["sum"]), node("Relu", ["sum"], ["y"])]
    g = graph(nodes, {"x": [2]}, ["y"], {"w": np.float32([1, 1])})

    got = run(g, {"x": X}, trace=True)

    assert {name: value.tolist() for name, value in got.items()} == {"folded": [-1, -1], "sum": [-2, 1], "y": [0, 1]}


def test_nodes_in_any_order_run_in_the_order_they_need() -> None:
    g = graph([node("Relu", ["a"], ["y"]), node("Neg", ["x"], ["a"])], {"x": [2]}, ["y"])

    assert run(g, {"x": X})["y"].tolist() == [1, 0]


def test_constants_are_folded_once() -> None:
    nodes = [node("Mul", ["w", "w"], ["a"]), node("Neg", ["a"], ["b"]), node("Add", ["x", "b"], ["y"])]
    g = graph(nodes, {"x": [2]}, ["y"], {"w": np.float32([3, 4])})

    plan = planning.prepare(g)

    assert [step.node.op_type for step in plan.steps] == ["Add"]


def test_folded_constants_cannot_be_written() -> None:
    g = graph([node("Neg", ["w"], ["y"])], {}, ["y"], {"w": np.float32([3, 4])})

    with pytest.raises(ValueError, match="read-only"):
        run(g, {})["y"][0] = 1


def test_a_feed_replaces_an_initializer_and_only_for_that_run() -> None:
    g = graph([node("Neg", ["w"], ["a"]), node("Add", ["x", "a"], ["y"])], {"x": [2]}, ["y"], {"w": np.float32([3, 4])})

    replaced = run(g, {"x": X, "w": np.float32([0, 0])})["y"]
    usual = run(g, {"x": X})["y"]

    assert (replaced.tolist(), usual.tolist()) == ([-1, 2], [-4, -2])


def test_a_tensor_is_freed_after_its_last_use() -> None:
    chain = [node("Neg", [f"t{i}"], [f"t{i + 1}"]) for i in range(4)]
    g = graph([*chain, node("Add", ["t1", "t4"], ["y"])], {"t0": [2]}, ["y"])

    dead = [sorted(step.dead) for step in planning.prepare(g).steps]
    places = planning.prepare(g).produced

    assert dead[1] == [] and dead[2] == [places["t2"]] and dead[4] == sorted([places["t1"], places["t4"]])


def test_the_plan_lives_as_long_as_its_graph() -> None:
    g = graph([node("Neg", ["x"], ["y"])], {"x": [2]}, ["y"])
    run(g, {"x": X})
    gone = weakref.ref(g)

    del g
    gc.collect()

    assert gone() is None


def test_an_output_may_be_an_input_or_a_constant() -> None:
    g = graph([], {"x": [2]}, ["x", "w"], {"w": np.float32([1])})

    assert run(g, {"x": X})["w"].tolist() == [1]


def test_optional_inputs_and_outputs_may_be_left_out() -> None:
    nodes = [node("Clip", ["x", "", "top"], ["a"]), node("TopK", ["a", "k"], ["", "at"])]
    g = graph(nodes, {"x": [3]}, ["at"], {"top": np.float32(1), "k": np.int64([1])})

    assert run(g, {"x": np.float32([0, 9, 1])})["at"].tolist() == [1]


def _branch(name: str, op_type: str, read: str) -> helper.GraphProto:
    out = helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None)
    return helper.make_graph([node(op_type, [read], [f"{name}_out"], name=name)], name, [], [out])


@pytest.mark.parametrize(("cond", "want"), [(True, [-1, -2]), (False, [1, 2])], ids=["then", "else"])
def test_if_runs_one_branch_which_reads_from_outside(cond: bool, want: list[float]) -> None:
    branches = {"then_branch": _branch("then", "Neg", "a"), "else_branch": _branch("other", "Identity", "a")}
    g = graph([node("Abs", ["x"], ["a"]), node("If", ["c"], ["y"], **branches)], {"x": [2], "c": ("b", [])}, ["y"])

    got = run(g, {"x": X, "c": np.array(cond)}, trace=True)

    assert got["y"].tolist() == want
    assert ("then_out" in got) is cond and ("other_out" in got) is not cond


def test_an_outside_tensor_read_only_by_a_branch_is_kept_until_then() -> None:
    inner = node("If", ["c"], ["in_out"], then_branch=_branch("t", "Neg", "a"), else_branch=_branch("e", "Exp", "a"))
    body = helper.make_graph([inner], "body", [], [helper.make_tensor_value_info("in_out", TensorProto.FLOAT, None)])
    nodes = [
        node("Abs", ["x"], ["a"]),
        node("Neg", ["x"], ["b"]),
        node("If", ["c"], ["y"], then_branch=body, else_branch=_branch("o", "Identity", "b")),
    ]
    g = graph(nodes, {"x": [2], "c": ("b", [])}, ["y"])

    assert run(g, {"x": X, "c": np.array(True)})["y"].tolist() == [-1, -2]


def _doubling(cond_op: str = "Identity") -> helper.GraphProto:
    f, b, i = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
    inputs = [("i", i, []), ("c", b, []), ("v", f, [2])]
    outputs = [("c_out", b, []), ("v_out", f, [2]), ("row", f, [2])]
    nodes = [node(cond_op, ["c"], ["c_out"]), node("Add", ["v", "v"], ["v_out"]), node("Add", ["v", "x"], ["row"])]
    return helper.make_graph(
        nodes,
        "body",
        [helper.make_tensor_value_info(*v) for v in inputs],
        [helper.make_tensor_value_info(*v) for v in outputs],
    )


@pytest.mark.parametrize(
    ("trips", "cond_op", "final", "rows"),
    [(3, "Identity", [-8, 16], 3), (3, "Not", [-2, 4], 1), (0, "Identity", [-1, 2], 0)],
    ids=["counted", "condition", "no trip"],
)
def test_loop_carries_values_and_stacks_rows(trips: int, cond_op: str, final: list[float], rows: int) -> None:
    loop = node("Loop", ["m", "", "x"], ["v", "rows"], body=_doubling(cond_op))
    g = graph([loop], {"x": [2], "m": ("i", [])}, ["v", "rows"])

    got = run(g, {"x": X, "m": np.array(trips)})

    assert got["v"].tolist() == final
    assert got["rows"].shape == (rows, 2) and got["rows"].dtype == np.float32


def test_a_loop_without_end_is_an_error() -> None:
    forever = Body(lambda inputs: inputs[1:2], (ValueInfo("cond"),))

    with pytest.raises(BadArgument, match="does not seem to end"):
        loop(None, body=forever)


def test_scan_walks_rows_backwards_if_told() -> None:
    f = TensorProto.FLOAT
    body = helper.make_graph(
        [node("Add", ["s", "r"], ["s_out"]), node("Identity", ["s_out"], ["sum"])],
        "body",
        [helper.make_tensor_value_info("s", f, []), helper.make_tensor_value_info("r", f, [])],
        [helper.make_tensor_value_info("s_out", f, []), helper.make_tensor_value_info("sum", f, [])],
    )
    scan = node("Scan", ["s0", "x"], ["s", "sums"], body=body, num_scan_inputs=1, scan_input_directions=[1])
    g = graph([scan], {"x": [3]}, ["s", "sums"], {"s0": np.float32(0)})

    got = run(g, {"x": np.float32([1, 2, 3])})

    assert (got["s"].tolist(), got["sums"].tolist()) == (6, [3, 5, 6])


def test_an_error_names_the_node_its_operator_the_reason_and_the_inputs() -> None:
    g = graph([node("Add", ["x", "w"], ["y"], name="conv1/add")], {"x": [2]}, ["y"], {"w": np.zeros(3, np.float32)})

    with pytest.raises(ModelError, match=r"node 'conv1/add' \(Add\): .*float32 \[2\], float32 \[3\]") as caught:
        run(g, {"x": X})
    assert caught.value.node == "node 'conv1/add' (Add)"


def test_an_error_inside_a_branch_names_the_inner_node() -> None:
    branches = {"then_branch": _branch("inner", "Transpose", "w"), "else_branch": _branch("other", "Identity", "x")}
    branches["then_branch"].node[0].attribute.append(helper.make_attribute("perm", [0, 1]))
    g = graph([node("If", ["c"], ["y"], **branches)], {"x": [2], "c": ("b", [])}, ["y"], {"w": X})

    with pytest.raises(ModelError, match="node 'inner' "):
        run(g, {"x": X, "c": np.array(True)})
    assert run(g, {"x": X, "c": np.array(False)})["y"].tolist() == X.tolist()


def test_unknown_operators_are_all_named_with_their_nodes() -> None:
    nodes = [
        node("Mystery", ["x"], ["a"], name="first", domain="my.ops"),
        node("NonMaxSuppression", ["x", "x"], ["b"], name="second"),
    ]
    g = graph(nodes, {"x": [1, 1, 4]}, ["a", "b"], my_ops=1)

    with pytest.raises(UnsupportedOp, match=r"'first' \(my.ops::Mystery\).*'second' \(NonMaxSuppression\)"):
        run(g, {"x": np.zeros((1, 1, 4), np.float32)})
    assert [n.name for n, _ in planning.unsupported(g)] == ["first", "second"]


def test_an_operator_older_than_its_function_is_unsupported() -> None:
    g = graph(
        [node("Range", ["a", "b", "c"], ["y"], name="old", domain="")], {"a": [], "b": [], "c": []}, ["y"], opset=11
    )
    older = dataclasses.replace(g, opset={"": 10})

    with pytest.raises(UnsupportedOp, match=r"node 'old' .*from version 11 on, the model uses 10"):
        run(older, dict.fromkeys("abc", np.float32(1)))


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({}, "no feed for x; the inputs are x"),
        ({"x": X, "z": X}, "unknown feed z"),
        ({"x": X.astype(np.float64)}, "input 'x': got float64, the model declares float32"),
        ({"x": X[None]}, r"input 'x': got shape \[1, 2\], the model declares \[2\]"),
        ({"x": X[:1]}, r"input 'x': got shape \[1\]"),
    ],
    ids=["missing", "unknown", "type", "rank", "size"],
)
def test_feeds_are_checked(feeds: dict[str, np.ndarray], message: str) -> None:
    g = graph([node("Neg", ["x"], ["y"])], {"x": [2]}, ["y"])

    with pytest.raises(BadArgument, match=message):
        run(g, feeds)


def test_a_named_size_must_be_the_same_in_all_inputs() -> None:
    g = graph([node("Concat", ["a", "b"], ["y"], axis=0)], {"a": ["n", 2], "b": ["n", 2]}, ["y"])
    two, three = np.zeros((2, 2), np.float32), np.zeros((3, 2), np.float32)

    assert run(g, {"a": two, "b": two})["y"].shape == (4, 2)
    with pytest.raises(BadArgument, match="input 'b'"):
        run(g, {"a": two, "b": three})


@pytest.mark.parametrize(
    ("op_type", "constant", "opset"),
    [
        ("ConstantOfShape", np.int64([1 << 20, 1 << 20]), 18),
        ("Expand", np.int64([1 << 20, 1 << 20]), 18),
        ("Tile", np.int64([1 << 40]), 18),
        ("Pad", np.int64([1 << 40, 0]), 18),
        ("Resize", np.float32([1e12]), 10),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_tensor_of_2_to_the_40_is_refused(op_type: str, constant: np.ndarray, opset: int) -> None:
    inputs = ["w"] if op_type == "ConstantOfShape" else ["x", "w"]
    g = graph([node(op_type, inputs, ["y"], name="big")], {"x": [2]}, ["y"], {"w": constant}, opset=opset)

    with pytest.raises(ModelError, match=r"node 'big' .*MiB"):
        run(g, {"x": X})


def test_the_same_feeds_give_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    w = rng.standard_normal((64, 64)).astype(np.float32)
    g = graph([node("MatMul", ["x", "w"], ["a"]), node("Softmax", ["a"], ["y"])], {"x": [8, 64]}, ["y"], {"w": w})
    x = rng.standard_normal((8, 64)).astype(np.float32)
    kept = x.copy()

    first, second = run(g, {"x": x})["y"], run(g, {"x": x})["y"]

    assert first.tobytes() == second.tobytes() and x.tobytes() == kept.tobytes()


_CODES = np.random.default_rng(4).integers(0, 255, (3, 3), endpoint=True).astype(np.uint8)
_POINTS = np.array([3, 0, 250], np.uint8)
_INTEGER = {
    "matmul": (node("MatMulInteger", ["x", "w", "", "wz"], ["y"]), {"w": _CODES, "wz": _POINTS}),
    "conv": (node("ConvInteger", ["x4", "w4", "", "wz"], ["y"]), {"w4": _CODES.reshape(3, 3, 1, 1), "wz": _POINTS}),
    "conv without point": (node("ConvInteger", ["x4", "w4"], ["y"], kernel_shape=[1, 1]), {"w4": _CODES.reshape(3, 3, 1, 1)}),
    "qlinear matmul": (
        node("QLinearMatMul", ["x", "s", "z", "w", "s", "wz", "s", "z"], ["y"]),
        {"w": _CODES, "wz": _POINTS, "s": np.float32(0.5), "z": np.uint8(9)},
    ),
    "qlinear conv": (
        node("QLinearConv", ["x4", "s", "z", "w4", "s", "wz", "s", "z"], ["y"]),
        {"w4": _CODES.reshape(3, 3, 1, 1), "wz": _POINTS, "s": np.float32(0.5), "z": np.uint8(9)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _INTEGER)
def test_a_constant_integer_weight_is_prepared_once_and_gives_the_same_codes(name: str) -> None:
    call, constants = _INTEGER[name]
    read = next(one for one in call.input if one.startswith("x"))
    g = graph([call], {read: ("u", [3, 3] if read == "x" else [1, 3, 3, 1])}, ["y"], constants)
    feeds = {read: _CODES[::-1].reshape(g.inputs[0].shape)}

    prepared = planning.prepare(g).steps[0]
    usual = planning.bound(g.nodes[0], g.opset)(*({**constants, **feeds}.get(name) for name in g.nodes[0].inputs))

    assert any(isinstance(planning.prepare(g).start[place], Operand) for place in prepared.inputs)
    assert np.array_equal(run(g, feeds)["y"], usual)
    assert np.array_equal(run(g, {**feeds, **constants})["y"], usual)


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


_LSTM_NODE = node(
    "DynamicQuantizeLSTM",
    ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
    ["y", "", ""],
    domain="com.microsoft",
    direction="bidirectional",
    hidden_size=4,
)
_STATISTICS = {"s": _normal(6), "o": _normal(6) + 2, "m": _normal(6) - 1, "v": _normal(6) ** 2}
#: name -> node, shape of x, constants.
_FLOAT = {
    "conv rows": (node("Conv", ["x", "w", "b"], ["y"], pads=[1] * 4), [1, 32, 20, 20], {"w": _normal(6, 32, 3, 3), "b": _normal(6)}),
    "conv in groups": (node("Conv", ["x", "w"], ["y"], group=2), [2, 16, 20, 20], {"w": _normal(4, 8, 3, 3)}),
    "conv small": (node("Conv", ["x", "w"], ["y"], strides=[2, 2]), [3, 4, 9, 9], {"w": _normal(6, 4, 3, 3)}),
    "conv of a line": (node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1]), [2, 4, 9], {"w": _normal(6, 4, 3), "b": _normal(6)}),
    "conv depthwise": (node("Conv", ["x", "w"], ["y"], group=6, pads=[2] * 4), [1, 6, 3, 9], {"w": _normal(6, 1, 5, 5)}),
    "batch normalization": (node("BatchNormalization", ["x", "s", "o", "m", "v"], ["y"], epsilon=0.25), [2, 6, 5], _STATISTICS),
    "lstm on codes": (
        _LSTM_NODE,
        [5, 2, 3],
        {
            "w": _CODES[:1, :1] + np.arange(96, dtype=np.uint8).reshape(2, 3, 16),
            "r": np.arange(128, dtype=np.uint8).reshape(2, 4, 16),
            "b": _normal(2, 32),
            "ws": np.float32([0.01, 0.02]),
            "wz": np.uint8([100, 130]),
            "rs": np.float32([0.02, 0.01]),
            "rz": np.uint8([60, 70]),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _FLOAT)
def test_constants_prepared_once_give_the_same_bits_as_constants_that_are_fed(name: str) -> None:
    call, shape, constants = _FLOAT[name]
    g = graph([call], {"x": shape}, ["y"], constants, com_microsoft=1)
    feeds = {"x": _normal(*shape)}

    prepared = planning.prepare(g)
    got, traced, fed = run(g, feeds)["y"], run(g, feeds, trace=True)["y"], run(g, {**feeds, **constants})["y"]

    assert any(not isinstance(prepared.start[place], np.ndarray | None) for place in prepared.steps[0].inputs)
    assert got.tobytes() == fed.tobytes() == traced.tobytes()


def test_half_precision_weights_are_prepared_in_float32() -> None:
    w = _normal(4, 8, 3, 3).astype(np.float16)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, [1, 8, 20, 20])
    made = helper.make_graph([node("Conv", ["x", "w"], ["y"])], "half", [x], [ValueInfoProto(name="y")])
    made.initializer.append(numpy_helper.from_array(w, "w"))
    half = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    g = load_onnx_bytes(half.SerializeToString())
    feed = _normal(1, 8, 20, 20).astype(np.float16)

    y = run(g, {"x": feed})["y"]

    assert y.dtype == np.float16 and y.tobytes() == run(g, {"x": feed, "w": w})["y"].tobytes()


def test_preparing_fails_silently_and_the_run_says_why() -> None:
    constants = {name: _normal(5 if name == "v" else 6) for name in "somv"}
    g = graph([node("BatchNormalization", ["x", *"somv"], ["y"], name="bn")], {"x": [2, 6, 5]}, ["y"], constants)

    with pytest.raises(ModelError, match=r"node 'bn'.*differ in shape"):
        run(g, {"x": _normal(2, 6, 5)})


def test_every_operator_has_ascending_versions_and_keyword_attributes() -> None:
    for (domain, op_type), versions in OPERATORS.items():
        since = [version for version, _ in versions]
        assert since == sorted(set(since)) and since, (domain, op_type)
        for _, function in versions:
            assert function.__doc__ and function.__doc__.startswith(("Return ", "Run ")), op_type
