"""Multiply-adds against loops that count every product of an operator's definition; parameters against hand counts."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx.backend.test
import pytest
from onnx import TensorProto, helper, numpy_helper

from simcore.errors import ModelError
from simcore.graph import Graph, Node, ValueInfo
from simcore.load_onnx import load_onnx
from simcore.macs import graph_macs, graph_work, node_macs
from simcore.parameters import parameters
from simcore.shapes import Inferred, infer
from tests.test_simcore.control_flow_graphs import if_graph, loop_graph
from tests.test_simcore.graphs import graph

node = helper.make_node
LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"


def _ones(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.ones(shape, dtype)


def _every(*sizes: int) -> Any:
    return itertools.product(*map(range, sizes))


def _macs(g: Graph, inputs: Any = None) -> int:
    return graph_macs(g, infer(g, inputs))


# --- Oracles: the loops of the definitions, one count per product ---


def _conv_loop(x: tuple[int, ...], w: tuple[int, ...], out: tuple[int, ...]) -> int:
    count = 0
    for _output in _every(x[0], w[0], *out):
        for _tap in _every(*w[1:]):
            count += 1
    return count


def _conv_transpose_loop(x: tuple[int, ...], w: tuple[int, ...]) -> int:
    count = 0
    for _input in _every(*x):
        for _weight in _every(*w[1:]):
            count += 1
    return count


def _matmul_loop(batch: tuple[int, ...], m: int, k: int, n: int) -> int:
    return sum(1 for _ in _every(*batch, m, k, n))


def _recurrent_loop(directions: int, lengths: list[int], inputs: int, hidden: int, gates: int) -> int:
    count = 0
    for _direction in range(directions):
        for length in lengths:
            for _step, _gate, _unit in _every(length, gates, hidden):
                for _input in range(inputs):
                    count += 1
                for _state in range(hidden):
                    count += 1
    return count


def _einsum_loop(equation: str, *shapes: tuple[int, ...]) -> int:
    """One count per product of a sum over all labels, operands multiplied from left to right."""
    terms = equation.split("->")[0].split(",")
    sizes = {
        label: size for term, shape in zip(terms, shapes, strict=True) for label, size in zip(term, shape, strict=True)
    }
    return sum(len(terms) - 1 for _ in _every(*sizes.values()))


CONV = {
    "plain": ((1, 3, 8, 7), (4, 3, 3, 2), {}, (6, 6)),
    "stride that does not divide": ((1, 2, 8, 8), (3, 2, 3, 3), {"strides": [3, 2]}, (2, 3)),
    "zeros of padding count": ((2, 3, 5, 5), (2, 3, 3, 3), {"pads": [1, 1, 1, 1]}, (5, 5)),
    "dilated": ((1, 1, 9, 9), (1, 1, 3, 3), {"dilations": [2, 3]}, (5, 3)),
    "grouped": ((1, 4, 6, 6), (6, 2, 3, 3), {"group": 2}, (4, 4)),
    "depthwise": ((1, 5, 6, 6), (5, 1, 3, 3), {"group": 5}, (4, 4)),
    "1-D": ((2, 3, 10), (2, 3, 4), {}, (7,)),
    "3-D": ((1, 2, 4, 5, 3), (3, 2, 2, 2, 2), {}, (3, 4, 2)),
}


@pytest.mark.parametrize("name", CONV)
def test_conv_counts_the_products_of_its_loop(name: str) -> None:
    x, w, attributes, out = CONV[name]

    got = _macs(graph([node("Conv", ["x", "w"], ["y"], **attributes)], {"x": x}, ["y"], {"w": _ones(*w)}))

    assert got == _conv_loop(x, w, out)


@pytest.mark.parametrize("name", ["plain", "grouped"])
def test_integer_convolutions_count_as_conv(name: str) -> None:
    x, w, attributes, out = CONV[name]
    w_codes, point, scale = _ones(*w, dtype=np.uint8), np.uint8(3), np.float32(0.5)
    plain = graph(
        [node("ConvInteger", ["x", "w", "z"], ["y"], **attributes)], {"x": ("u", x)}, ["y"], {"w": w_codes, "z": point}
    )
    names = ["x", "s", "z", "w", "s", "z", "s", "z", "b"]
    constants = {"w": w_codes, "z": point, "s": scale, "b": _ones(w[0], dtype=np.int32)}
    quantized = graph([node("QLinearConv", names, ["y"], **attributes)], {"x": ("u", x)}, ["y"], constants)

    assert _macs(plain) == _macs(quantized) == _conv_loop(x, w, out)


CONV_TRANSPOSE = {
    "plain": ((1, 4, 5, 5), (4, 8, 2, 2), {"strides": [2, 2]}),
    "cut by pads": ((1, 4, 5, 5), (4, 8, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "grouped": ((1, 4, 5, 5), (4, 3, 3, 3), {"group": 2}),
    "1-D": ((2, 3, 6), (3, 2, 4), {"strides": [3]}),
    "3-D": ((1, 2, 3, 2, 3), (2, 3, 2, 2, 2), {}),
}


@pytest.mark.parametrize("name", CONV_TRANSPOSE)
def test_conv_transpose_counts_every_input_times_the_weights_of_its_channel(name: str) -> None:
    x, w, attributes = CONV_TRANSPOSE[name]

    got = _macs(graph([node("ConvTranspose", ["x", "w"], ["y"], **attributes)], {"x": x}, ["y"], {"w": _ones(*w)}))

    assert got == _conv_transpose_loop(x, w)


MATMUL = {
    "matrices": ((4, 5), (5, 6), (), 4, 5, 6),
    "batch": ((2, 3, 4, 5), (2, 3, 5, 6), (2, 3), 4, 5, 6),
    "broadcast batch": ((2, 1, 4, 5), (3, 5, 6), (2, 3), 4, 5, 6),
    "rows of one matrix": ((2, 3, 4, 5), (5, 6), (2, 3), 4, 5, 6),
    "vector times matrix": ((5,), (5, 6), (), 1, 5, 6),
    "matrix times vector": ((2, 4, 5), (5,), (2,), 4, 5, 1),
    "two vectors": ((5,), (5,), (), 1, 5, 1),
}


@pytest.mark.parametrize("name", MATMUL)
def test_matmul_counts_the_products_of_its_loop(name: str) -> None:
    a, b, *sizes = MATMUL[name]
    plain = graph([node("MatMul", ["x", "w"], ["y"])], {"x": a}, ["y"], {"w": _ones(*b)})

    assert _macs(plain) == _matmul_loop(*sizes)


@pytest.mark.parametrize("name", ["matrices", "broadcast batch"])
def test_integer_matrix_products_count_as_matmul(name: str) -> None:
    a, b, *sizes = MATMUL[name]
    codes, point, scale = _ones(*b, dtype=np.uint8), np.uint8(3), np.float32(0.5)
    plain = graph([node("MatMulInteger", ["x", "w", "z"], ["y"])], {"x": ("u", a)}, ["y"], {"w": codes, "z": point})
    names = ["x", "s", "z", "w", "s", "z", "s", "z"]
    quantized = graph(
        [node("QLinearMatMul", names, ["y"])], {"x": ("u", a)}, ["y"], {"w": codes, "z": point, "s": scale}
    )

    assert _macs(plain) == _macs(quantized) == _matmul_loop(*sizes)


@pytest.mark.parametrize(("trans_a", "trans_b"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_gemm_counts_the_products_of_its_loop(trans_a: int, trans_b: int) -> None:
    a, b = ((5, 4) if trans_a else (4, 5)), ((6, 5) if trans_b else (5, 6))
    nodes = [node("Gemm", ["x", "w", "b"], ["y"], transA=trans_a, transB=trans_b, alpha=0.5)]

    got = _macs(graph(nodes, {"x": a}, ["y"], {"w": _ones(*b), "b": _ones(6)}))

    assert got == _matmul_loop((), 4, 5, 6)


EINSUM = {
    "batched product": ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    "heads": ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
    "inner product": ("i,i->", (6,), (6,)),
    "a sum inside one operand": ("ij,jkl->ik", (2, 3), (3, 4, 5)),
    "three operands": ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
}


@pytest.mark.parametrize("name", EINSUM)
def test_einsum_counts_the_products_of_its_loop(name: str) -> None:
    equation, first, *others = EINSUM[name]
    names = [f"w{i}" for i in range(len(others))]
    nodes = [node("Einsum", ["x", *names], ["y"], equation=equation)]
    g = graph(nodes, {"x": first}, ["y"], {n: _ones(*shape) for n, shape in zip(names, others, strict=True)})

    assert _macs(g) == _einsum_loop(equation, first, *others)


def test_einsum_with_an_ellipsis_counts_its_batch() -> None:
    nodes = [node("Einsum", ["x", "w"], ["y"], equation="...ij,...jk->...ik")]

    assert _macs(graph(nodes, {"x": (2, 1, 3, 4)}, ["y"], {"w": _ones(5, 4, 6)})) == 2 * 5 * 3 * 4 * 6


def test_einsum_without_a_summed_index_is_element_operations() -> None:
    g = graph([node("Einsum", ["x", "w"], ["y"], equation="ij,ij->ij")], {"x": (3, 4)}, ["y"], {"w": _ones(3, 4)})

    work = graph_work(g, infer(g))

    assert (work.macs, work.vector_ops) == (0, 12)


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@pytest.mark.parametrize("op_type", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("layout", [0, 1], ids=["time first", "batch first"])
@pytest.mark.parametrize("extras", ["weights only", "bias", "bias and peepholes"])
def test_recurrent_layers_count_the_products_of_their_loop(
    op_type: str, direction: str, layout: int, extras: str
) -> None:
    gates, directions = GATES[op_type], 2 if direction == "bidirectional" else 1
    weights = {"w": _ones(directions, gates * 4, 5), "r": _ones(directions, gates * 4, 4)}
    names = ["x", "w", "r"]
    if extras != "weights only":
        weights["b"] = _ones(directions, 2 * gates * 4)
        names += ["b"]
    if extras == "bias and peepholes" and op_type == "LSTM":
        weights["p"] = _ones(directions, 12)
        names += ["", "", "", "p"]
    nodes = [node(op_type, names, ["y"], hidden_size=4, direction=direction, layout=layout)]

    got = _macs(graph(nodes, {"x": (2, 3, 5) if layout else (3, 2, 5)}, ["y"], weights))

    assert got == _recurrent_loop(directions, [3, 3], 5, 4, gates)


@pytest.mark.parametrize("op_type", GATES)
def test_a_known_sequence_length_ends_the_loop_of_its_sequence(op_type: str) -> None:
    gates = GATES[op_type]
    weights = {"w": _ones(1, gates * 4, 5), "r": _ones(1, gates * 4, 4), "n": np.array([3, 1, 0], np.int32)}
    g = graph([node(op_type, ["x", "w", "r", "", "n"], ["y"], hidden_size=4)], {"x": (3, 3, 5)}, ["y"], weights)

    assert _macs(g) == _recurrent_loop(1, [3, 1, 0], 5, 4, gates)


def test_dynamic_quantize_lstm_counts_as_lstm() -> None:
    codes = {"w": _ones(2, 5, 16, dtype=np.uint8), "r": _ones(2, 4, 16, dtype=np.uint8)}
    scales = {"s": _ones(2), "z": np.zeros(2, np.uint8)}
    names = ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"]
    nodes = [
        node("DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", hidden_size=4, direction="bidirectional")
    ]

    got = _macs(graph(nodes, {"x": (3, 2, 5)}, ["y"], codes | scales, com_microsoft=1))

    assert got == _recurrent_loop(2, [3, 3], 5, 4, 4)


def test_attention_counts_both_products() -> None:
    shapes = {"q": (2, 4, 3, 8), "k": (2, 2, 5, 8), "v": (2, 2, 5, 6), "y": (2, 4, 3, 6)}
    tensors = {name: ValueInfo(name, np.dtype(np.float32), shape) for name, shape in shapes.items()}

    got = node_macs(Node("a", "Attention", "", ("q", "k", "v"), ("y",)), {"": 23}, tensors, {})

    assert got == _matmul_loop((2, 4), 3, 8, 5) + _matmul_loop((2, 4), 3, 5, 6)


def test_an_operator_of_another_domain_has_no_products_here() -> None:
    assert node_macs(Node("a", "Conv", "other", ("x", "w"), ("y",)), {}, {}, {}) == 0


# --- Control flow ---


def test_an_if_of_unknown_condition_counts_its_larger_branch_and_says_so() -> None:
    g = if_graph()

    work = graph_work(g, infer(g))

    assert work.macs == _matmul_loop((), 2, 3, 7)
    assert work.assumptions == ("an If whose condition is not known counts as its larger branch",)
    assert work.nodes[0].inner[0].node == "choice/else_branch/product"


def test_an_if_of_known_condition_counts_the_branch_that_runs() -> None:
    g = if_graph(c=np.array(True))

    work = graph_work(g, infer(g))

    assert (work.macs, work.assumptions) == (_matmul_loop((), 2, 3, 4), ())


def test_a_loop_counts_its_body_times_the_trip_count_and_says_so() -> None:
    g = loop_graph(np.array(5))

    work = graph_work(g, infer(g))

    assert work.macs == 5 * _matmul_loop((), 2, 3, 3)
    assert len(work.assumptions) == 2
    assert (work.nodes[0].runs, work.nodes[0].inner[0].macs) == (5, _matmul_loop((), 2, 3, 3))


def test_a_loop_of_unknown_trip_count_is_unknown_not_zero() -> None:
    g = loop_graph(None)

    assert graph_work(g, infer(g)).unknown == ("loop",)
    with pytest.raises(ModelError, match="only a run can tell"):
        graph_macs(g, infer(g))


def test_a_loop_that_only_its_condition_ends_is_unknown() -> None:
    g = loop_graph(np.array(np.iinfo(np.int64).max))
    tensors = {**infer(loop_graph(np.array(1))).tensors}

    work = graph_work(g, Inferred(tensors, {"n": g.initializers["n"]}))

    assert work.unknown == ("loop",)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_scan_counts_its_body_per_entry(axis: int) -> None:
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("s", "e")]
    results = [helper.make_tensor_value_info("p", TensorProto.FLOAT, None)]
    body = helper.make_graph(
        [node("MatMul", ["e", "w"], ["q"]), node("Add", ["s", "q"], ["p"])], "body", infos, results
    )
    nodes = [node("Scan", ["s0", "x"], ["y"], body=body, num_scan_inputs=1, scan_input_axes=[axis])]
    x = (4, 3) if axis == 0 else (3, 4)
    g = graph(nodes, {"s0": (5,), "x": x}, ["y"], {"w": _ones(3, 5)})

    assert _macs(g) == 4 * _matmul_loop((), 1, 3, 5)


def test_a_scan_of_version_8_counts_its_body_per_entry_and_batch() -> None:
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("s", "e")]
    results = [helper.make_tensor_value_info("p", TensorProto.FLOAT, None)]
    body = helper.make_graph(
        [node("MatMul", ["e", "w"], ["q"]), node("Add", ["s", "q"], ["p"])], "body", infos, results
    )
    nodes = [node("Scan", ["", "s0", "x"], ["y"], body=body, num_scan_inputs=1)]
    g = graph(nodes, {"s0": (2, 5), "x": (2, 4, 3)}, ["y"], {"w": _ones(3, 5)}, opset=8)

    assert _macs(g) == 2 * 4 * _matmul_loop((), 1, 3, 5)


# --- The rest of the work ---

VECTOR = {
    "elementwise": ([node("Tanh", ["x"], ["y"])], (2, 3, 4, 4), 96, 0),
    "sum of three": ([node("Sum", ["x", "x", "x"], ["y"])], (2, 3), 12, 0),
    "softmax: max, difference, exp, sum, division": ([node("Softmax", ["x"], ["y"])], (2, 8), 80, 0),
    "max pool: taps": ([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], (1, 3, 4, 4), 48, 0),
    "average pool: taps and division": ([node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2])], (1, 1, 3, 3), 20, 0),
    "mean: inputs and division": ([node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=0)], (2, 8), 18, 0),
    "nearest resize copies": ([node("Upsample", ["x", "s"], ["y"])], (1, 1, 2, 2), 0, 16),
    "linear resize: 4 taps": ([node("Upsample", ["x", "s"], ["y"], mode="linear")], (1, 1, 2, 2), 8 * 16, 0),
    "transpose copies": ([node("Transpose", ["x"], ["y"])], (2, 3), 0, 6),
    "reshape does nothing": ([node("Flatten", ["x"], ["y"])], (2, 3), 0, 0),
}


@pytest.mark.parametrize("name", VECTOR)
def test_element_operations_follow_the_formula_of_the_operator(name: str) -> None:
    nodes, x, vector_ops, moves = VECTOR[name]
    g = graph(nodes, {"x": x}, ["y"], {"s": np.array([1, 1, 2, 2], np.float32)}, opset=9)

    work = graph_work(g, infer(g))

    assert (work.macs, work.vector_ops, work.moves) == (0, vector_ops, moves)


def test_bias_gates_and_peepholes_are_element_operations() -> None:
    weights = {"w": _ones(1, 16, 5), "r": _ones(1, 16, 4), "b": _ones(1, 32), "p": _ones(1, 12)}
    g = graph(
        [node("LSTM", ["x", "w", "r", "b", "", "", "", "p"], ["y"], hidden_size=4)], {"x": (3, 2, 5)}, ["y"], weights
    )

    # Per hidden element: 4 sums, 5 functions, 3 products and a sum for the cell and output; 4 biases; 3 peepholes.
    assert graph_work(g, infer(g)).vector_ops == 3 * 2 * 4 * (13 + 4 + 6)


# --- Parameters ---


def test_parameters_count_weights_once_and_no_sizes() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("MatMul", ["a", "w"], ["b"]),
        node("Add", ["b", "bias"], ["c"]),
        node("Mul", ["c", "half"], ["d"]),
        node("PRelu", ["d", "slope"], ["e"]),
        node("Reshape", ["e", "size"], ["f"]),
        node("Clip", ["f", "low"], ["y"]),
    ]
    constants = {
        "w": _ones(3, 3), "bias": _ones(3), "half": np.float32(0.5), "slope": _ones(1), "size": np.array([6]),
        "low": np.float32(0), "unused": _ones(100),
    }  # fmt: skip

    assert parameters(graph(nodes, {"x": (2, 3)}, ["y"], constants)) == 9 + 3 + 1


@pytest.mark.parametrize("form", ["initializer", "Constant", "ConstantOfShape", "quantized"])
def test_parameters_do_not_depend_on_how_a_weight_is_stored(form: str) -> None:
    before, constants = [], {}
    if form == "initializer":
        constants["w"] = _ones(3, 4)
    elif form == "Constant":
        before = [node("Constant", [], ["w"], value=numpy_helper.from_array(_ones(3, 4)))]
    elif form == "ConstantOfShape":
        before, constants["s"] = [node("ConstantOfShape", ["s"], ["w"])], np.array([3, 4])
    else:
        before = [node("DequantizeLinear", ["q", "scale", "zero"], ["w"])]
        constants = {"q": _ones(3, 4, dtype=np.int8), "scale": np.float32(0.1), "zero": np.int8(0)}

    assert parameters(graph([*before, node("MatMul", ["x", "w"], ["y"])], {"x": (2, 3)}, ["y"], constants)) == 12


def test_parameters_count_both_branches_of_an_if() -> None:
    assert parameters(if_graph()) == 3 * 4 + 3 * 7


def test_weights_without_data_count_and_have_work() -> None:
    """A model beside which the external weight file is missing."""
    whole = graph([node("MatMul", ["x", "w"], ["y"])], {"x": (2, 3)}, ["y"], {"w": _ones(3, 4)})
    g = replace(whole, initializers={}, missing={"w": ValueInfo("w", np.dtype(np.float32), (3, 4))})

    assert (parameters(g), _macs(g)) == (12, 2 * 3 * 4)


# --- onnx-tool 1.0.1, its numbers for the cases above and for whole models ---

#: Node, shapes of x and w, multiply-adds by onnx-tool. With a bias it counts one more per output element.
RIGHT_IN_ONNX_TOOL = {
    "Conv": (node("Conv", ["x", "w"], ["y"]), (1, 3, 8, 8), (4, 3, 3, 3), 3888),
    "Conv with stride and pads": (
        node("Conv", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1]), (2, 3, 9, 8), (4, 3, 3, 3), 4320,
    ),
    "grouped Conv": (node("Conv", ["x", "w"], ["y"], group=2), (1, 4, 6, 6), (6, 2, 3, 3), 1728),
    "depthwise Conv": (node("Conv", ["x", "w"], ["y"], group=5), (1, 5, 6, 6), (5, 1, 3, 3), 720),
    "1-D Conv": (node("Conv", ["x", "w"], ["y"]), (1, 3, 10), (2, 3, 4), 168),
    "3-D Conv": (node("Conv", ["x", "w"], ["y"]), (1, 2, 4, 4, 4), (3, 2, 2, 2, 2), 1296),
    "MatMul": (node("MatMul", ["x", "w"], ["y"]), (2, 3, 4, 5), (5, 6), 720),
    "Einsum": (node("Einsum", ["x", "w"], ["y"], equation="bij,bjk->bik"), (2, 3, 4), (2, 4, 5), 120),
}  # fmt: skip

#: Likewise, where onnx-tool is wrong: it counts a transposed convolution by its output. It counts bias and gates of an
#: LSTM as multiply-adds, and raises an error for LSTM without bias, GRU, RNN, If and DynamicQuantizeLinear.
WRONG_IN_ONNX_TOOL = {
    "stride": (node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2]), (1, 4, 5, 5), (4, 8, 2, 2), 25600),
    "stride and pads": (
        node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1]), (1, 4, 5, 5), (4, 8, 3, 3), 46656,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT_IN_ONNX_TOOL)
def test_minimal_cases_equal_onnx_tool_where_it_is_right(name: str) -> None:
    one, x, w, theirs = RIGHT_IN_ONNX_TOOL[name]

    assert _macs(graph([one], {"x": x}, ["y"], {"w": _ones(*w)})) == theirs


@pytest.mark.parametrize("name", WRONG_IN_ONNX_TOOL)
def test_onnx_tool_counts_too_much_for_a_transposed_convolution(name: str) -> None:
    one, x, w, theirs = WRONG_IN_ONNX_TOOL[name]

    assert _macs(graph([one], {"x": x}, ["y"], {"w": _ones(*w)})) == _conv_transpose_loop(x, w) < theirs


#: Multiply-adds by onnx-tool of Conv and Gemm, which include one addition per element with a bias.
LIGHT_MODELS = {
    "light_bvlc_alexnet": 655170024,
    "light_densenet121": 2834162664,
    "light_inception_v1": 1434570984,
    "light_inception_v2": 2018852840,
    "light_resnet50": 4089185256,
    "light_shufflenet": 124966584,
    "light_squeezenet": 351741288,
    "light_vgg19": 19646923752,
    "light_zfnet512": 1483254888,
}


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_models_equal_onnx_tool_with_bias_additions(name: str) -> None:
    g = load_onnx(LIGHT / f"{name}.onnx")

    work = graph_work(g, infer(g))

    bias = sum(one.vector_ops or 0 for one in work.nodes if one.macs)
    assert (work.macs + bias, work.unknown) == (LIGHT_MODELS[name], ())


def test_parameters_of_a_known_network() -> None:
    """ResNet-50 of the literature has 25557032 weights; the 53120 means and variances of its norms come on top."""
    assert parameters(load_onnx(LIGHT / "light_resnet50.onnx")) == 25557032 + 53120
