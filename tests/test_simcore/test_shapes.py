"""Shapes without a run: equal to those of a run, and unknown only where data decides."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from simcore.errors import BadArgument, ModelError
from simcore.execute import run
from simcore.graph import Graph
from simcore.shapes import infer
from tests.test_simcore.graphs import graph

node = helper.make_node
RNG = np.random.default_rng(2)


def _random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


HEAVY = {
    "conv": (
        [node("Conv", ["x", "w"], ["y"], strides=[2, 1], pads=[1, 0, 1, 1], group=2)],
        (2, 4, 9, 8),
        _random(6, 2, 3, 3),
    ),
    "conv same": ([node("Conv", ["x", "w"], ["y"], auto_pad="SAME_LOWER", strides=[2])], (1, 3, 9), _random(5, 3, 4)),
    "transposed": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 3], output_padding=[1, 0], group=2)],
        (1, 4, 5, 6),
        _random(4, 3, 3, 2),
    ),
    "matmul": ([node("MatMul", ["x", "w"], ["y"])], (3, 1, 5, 4), _random(2, 4, 6)),
    "matmul vector": ([node("MatMul", ["x", "w"], ["y"])], (4,), _random(2, 4, 6)),
    "gemm": ([node("Gemm", ["x", "w"], ["y"], transA=1, transB=1)], (4, 3), _random(5, 4)),
}


@pytest.mark.parametrize("name", HEAVY)
def test_formulas_of_heavy_operators_agree_with_a_run(name: str) -> None:
    nodes, shape, w = HEAVY[name]
    g = graph(nodes, {"x": shape}, ["y"], {"w": w})

    got = infer(g).tensors["y"]

    want = run(g, {"x": _random(*shape)})["y"]
    assert (got.shape, got.dtype) == (want.shape, want.dtype)


@pytest.mark.parametrize("op_type", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("layout", [0, 1], ids=["time first", "batch first"])
def test_recurrent_formulas_agree_with_a_run(op_type: str, layout: int) -> None:
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op_type]
    outputs = ["y", "h", "c"][: 3 if op_type == "LSTM" else 2]
    weights = {"w": _random(2, gates * 5, 3), "r": _random(2, gates * 5, 5)}
    nodes = [node(op_type, ["x", "w", "r"], outputs, hidden_size=5, direction="bidirectional", layout=layout)]
    g = graph(nodes, {"x": (4, 2, 3)}, outputs, weights)

    got = infer(g).tensors

    assert {name: got[name].shape for name in outputs} == {
        name: value.shape for name, value in run(g, {"x": _random(4, 2, 3)}).items()
    }


def _flattening() -> Graph:
    """Return y = reshape(x, [batch, -1]) the way exporters write it."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Unsqueeze", ["n", "axis"], ["n1"]),
        node("Concat", ["n1", "rest"], ["to"], axis=0),
        node("Reshape", ["x", "to"], ["y"]),
    ]
    constants = {"zero": np.int64(0), "axis": np.int64([0]), "rest": np.int64([-1])}
    return graph(nodes, {"x": ["n", 3, 4]}, ["y"], constants)


def test_sizes_computed_by_the_model_come_out_as_numbers() -> None:
    found = infer(_flattening(), {"x": (5, 3, 4)})

    assert found.tensors["y"].shape == (5, 12)
    assert found.values["to"].tolist() == [5, -1]


def test_an_open_size_needs_a_shape() -> None:
    with pytest.raises(BadArgument, match=r"input 'x' is declared .* give it a complete shape"):
        infer(_flattening())
    with pytest.raises(BadArgument, match="no input 'z'; the inputs are x"):
        infer(_flattening(), {"z": (1,)})


def test_a_shape_that_depends_on_data_is_unknown_until_the_data_is_given() -> None:
    nodes = [node("NonZero", ["x"], ["at"]), node("Transpose", ["at"], ["y"]), node("Neg", ["x"], ["z"])]
    g = graph(nodes, {"x": [4]}, ["y", "z"])

    unknown = infer(g).tensors
    known = infer(g, {"x": np.float32([0, 1, 1, 0])}).tensors

    assert (unknown["at"].shape, unknown["y"].shape, unknown["z"].shape) == (None, None, (4,))
    assert known["y"].shape == (2, 1)


@pytest.mark.parametrize(("other", "want"), [([2, 6], (2, 6)), ([3, 4], None)], ids=["alike", "different"])
def test_branches_count_where_they_agree(other: list[int], want: tuple[int, ...] | None) -> None:
    def branch(name: str, shape: str) -> helper.GraphProto:
        out = helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None)
        return helper.make_graph([node("Reshape", ["x", shape], [f"{name}_out"])], name, [], [out])

    nodes = [node("If", ["c"], ["y"], then_branch=branch("a", "s"), else_branch=branch("b", "t"))]
    constants = {"s": np.int64([2, 6]), "t": np.int64(other)}
    g = graph(nodes, {"x": [12], "c": ("b", [])}, ["y"], constants)

    assert infer(g).tensors["y"].shape == want
    assert infer(g, {"c": np.array(False)}).tensors["y"].shape == tuple(other)


def test_a_loop_over_known_values_is_run() -> None:
    i, b, f = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Identity", ["c"], ["c_out"]), node("Concat", ["v", "w"], ["v_out"], axis=0)],
        "body",
        [info("i", i, []), info("c", b, []), info("v", f, None)],
        [info("c_out", b, []), info("v_out", f, None)],
    )
    g = graph([node("Loop", ["m", "", "w"], ["y"], body=body)], {}, ["y"], {"m": np.int64(3), "w": np.float32([1, 2])})

    assert infer(g).tensors["y"].shape == (8,)


def test_huge_inputs_take_no_memory() -> None:
    g = graph(
        [node("Conv", ["x", "w"], ["y"]), node("MatMul", ["y", "v"], ["z"])],
        {"x": [1, 1, 1 << 20]},
        ["z"],
        {"w": _random(1 << 12, 1, 1), "v": _random(1 << 20, 1)},
    )

    assert infer(g).tensors["y"].shape == (1, 1 << 12, 1 << 20)
    assert infer(g).tensors["z"].shape == (1, 1 << 12, 1)


def test_inputs_that_do_not_fit_name_the_node() -> None:
    g = graph([node("Conv", ["x", "w"], ["y"], name="c1")], {"x": [1, 3, 8]}, ["y"], {"w": _random(4, 2, 3)})

    with pytest.raises(ModelError, match="node 'c1' "):
        infer(g)


def _sized_branch(name: str, rows: int) -> helper.GraphProto:
    data = [helper.make_tensor(f"w_{name}", 1, (rows, 2), [1.0] * 2 * rows)]
    out = [helper.make_tensor_value_info(f"y_{name}", 1, None)]
    return helper.make_graph([node("MatMul", ["x", f"w_{name}"], [f"y_{name}"])], name, [], out, data)


@pytest.mark.parametrize("rows", [(3, 5), (5, 3)])
def test_an_if_of_unknown_condition_takes_the_branch_that_fits(rows: tuple[int, int]) -> None:
    branches = {"then_branch": _sized_branch("a", rows[0]), "else_branch": _sized_branch("b", rows[1])}
    g = graph([node("If", ["c"], ["y"], name="choice", **branches)], {"c": ("b", ()), "x": (4, 3)}, ["y"])

    found = infer(g)

    fitting = "y_a" if rows[0] == 3 else "y_b"
    assert found.tensors["y"].shape == found.tensors[fitting].shape == (4, 2)
    assert len(found.notes) == 1 and "'choice'" in found.notes[0]
    with pytest.raises(ModelError):
        infer(g, {"c": np.array(fitting == "y_b")})


def test_an_if_of_which_no_branch_fits_is_an_error() -> None:
    branches = {"then_branch": _sized_branch("a", 5), "else_branch": _sized_branch("b", 6)}
    g = graph([node("If", ["c"], ["y"], **branches)], {"c": ("b", ()), "x": (4, 3)}, ["y"])

    with pytest.raises(ModelError, match="shapes"):
        infer(g)
