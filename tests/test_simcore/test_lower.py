"""Lowering: what is inserted where, the bytes of every form, folding and fusion, and that the result runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from simcore.device import load_device
from simcore.element_ops import VIEWS
from simcore.errors import BadArgument
from simcore.execute import run
from simcore.graph import Graph
from simcore.liveness import Liveness, Sharing, buffers_of
from simcore.load_onnx import load_onnx
from simcore.lower import lower
from simcore.lowered import Lowered, executable, flat_of_layers
from simcore.shapes import infer
from tests import real_models
from tests.real_models import MODELS, Model
from tests.test_simcore.control_flow_graphs import if_graph, loop_graph
from tests.test_simcore.graphs import graph

NANO = load_device("nano-035a")
LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))
node = helper.make_node
RNG = np.random.default_rng(5)


def _f(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def _lowered(g: Graph, folding: bool = True, **options: Any) -> Lowered:
    return lower(g, infer(g), NANO, folding=folding, **options)


def _ops(lowered: Lowered) -> list[str]:
    return [layer.op_type for layer in lowered.layers]


def _sizes(lowered: Lowered) -> dict[str, int | None]:
    return {name: tensor.bytes for name, tensor in lowered.tensors.items()}


def _weights(lowered: Lowered) -> dict[str, tuple[str, int]]:
    return {name: (one.kind, one.bytes) for name, one in lowered.constants.items()}


def _conv(**options: Any) -> Graph:
    return graph(
        [node("Conv", ["x", "w", "b"], ["y"], name="conv", pads=[1, 1, 1, 1])],
        {"x": (1, 3, 8, 8)},
        ["y"],
        {"w": _f(16, 3, 3, 3), "b": _f(16)},
    )


def test_a_convolution_is_quantized_converted_and_converted_back() -> None:
    lowered = _lowered(_conv())

    assert _ops(lowered) == ["AscendQuant", "TransData", "Conv", "TransData"]
    assert [layer.is_inserted for layer in lowered.layers] == [True, True, False, True]
    assert lowered.layers[2].merged == ("AscendDequant",)
    assert _sizes(lowered) == {
        "x": 3 * 64 * 2,
        "x (int8)": 3 * 64,
        "x (int8 NC1HWC0)": 64 * 32,
        "y (NC1HWC0)": 64 * 16 * 2,
        "y": 16 * 64 * 2,
    }
    assert lowered.tensors["x (int8 NC1HWC0)"].stored == (1, 1, 8, 8, 32)
    assert _weights(lowered) == {
        "scale and offset of x (int8)": ("scale", 8),
        "w": ("weight", 9 * 16 * 32),
        "b": ("bias", 64),
        "scales of conv": ("scale", 64),
    }


def test_the_script_view_writes_int32_results_and_dequantizes_them() -> None:
    lowered = _lowered(_conv(), folding=False)

    assert _ops(lowered) == ["AscendQuant", "TransData", "Conv", "AscendDequant", "TransData"]
    assert lowered.tensors["y (int32 NC1HWC0)"].bytes == 64 * 16 * 4
    assert lowered.tensors["y (NC1HWC0)"].bytes == 64 * 16 * 2
    assert [layer.merged for layer in lowered.layers] == [()] * 5
    assert lowered.layers[3].constants == ("scales of conv",)


@pytest.mark.parametrize("folding", [False, True])
def test_neighbours_of_one_format_have_no_conversion_between_them(folding: bool) -> None:
    nodes = [node("Conv", ["x", "w"], ["h"]), node("Conv", ["h", "v"], ["y"])]
    g = graph(nodes, {"x": (1, 32, 4, 4)}, ["y"], {"w": _f(16, 32, 1, 1), "v": _f(16, 16, 1, 1)})

    lowered = _lowered(g, folding)

    between = [layer for layer in lowered.layers if any(name.startswith("h") for name in layer.inputs)]
    assert [layer.op_type for layer in between if layer.is_inserted and layer.op_type != "AscendDequant"] == [
        "AscendQuant"
    ]
    assert lowered.tensors["h (int8 NC1HWC0)"].bytes == 16 * 32
    assert "h" not in lowered.tensors


def test_a_tensor_that_two_products_read_is_converted_once() -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Add", ["a", "b"], ["y"])]
    g = graph(nodes, {"x": (1, 8, 4, 4)}, ["y"], {"w": _f(8, 8, 1, 1), "v": _f(8, 8, 1, 1)})

    ops = _ops(_lowered(g))

    assert ops == ["AscendQuant", "TransData", "Conv", "Conv", "TransData", "TransData", "Add"]


def test_different_formats_are_converted_through_nd() -> None:
    nodes = [node("Conv", ["x", "w"], ["h"]), node("MatMul", ["h", "v"], ["y"])]
    g = graph(nodes, {"x": (1, 8, 4, 4)}, ["y"], {"w": _f(8, 8, 1, 1), "v": _f(4, 4)})

    lowered = _lowered(g)

    assert _ops(lowered)[3:6] == ["AscendQuant", "TransData", "TransData"]
    assert [lowered.tensors[layer.outputs[0]].format for layer in lowered.layers[3:6]] == [
        "NC1HWC0",
        "ND",
        "FRACTAL_NZ",
    ]


#: Node, shape of x, constants; bytes of the operand, of the weights, of all else, of the result in the fused view.
PRODUCTS: dict[str, tuple[Any, tuple[int, ...], dict[str, np.ndarray], int, int, int, int]] = {
    "MatMul with a constant": (
        node("MatMul", ["x", "w"], ["y"]),
        (5, 40),
        {"w": _f(40, 10)},
        2 * 16 * 32,  # N1 = 2, one block of rows
        2 * 16 * 32,  # K1 = 2, N1 = 1
        8 + 4,
        16 * 16 * 2,
    ),
    "MatMul with a batch of constants": (
        node("MatMul", ["x", "w"], ["y"]),
        (3, 5, 40),
        {"w": _f(3, 40, 10)},
        3 * 2 * 16 * 32,
        3 * 2 * 16 * 32,
        8 + 4,
        3 * 16 * 16 * 2,
    ),
    "Gemm": (
        node("Gemm", ["x", "w", "b"], ["y"]),
        (5, 40),
        {"w": _f(40, 10), "b": _f(10)},
        2 * 16 * 32,
        2 * 16 * 32,
        8 + 4 + 40,
        16 * 16 * 2,
    ),
    "Gemm with transB": (
        node("Gemm", ["x", "w", "b"], ["y"], transB=1),
        (5, 40),
        {"w": _f(10, 40), "b": _f(10)},
        2 * 16 * 32,
        2 * 16 * 32,
        8 + 4 + 40,
        16 * 16 * 2,
    ),
    "Conv of one axis": (
        node("Conv", ["x", "w"], ["y"]),
        (2, 3, 9),
        {"w": _f(20, 3, 5)},
        2 * 9 * 32,
        5 * 32 * 32,  # C1 H W = 5, N1 = 2
        8 + 80,
        2 * 2 * 5 * 16 * 2,
    ),
    "Conv of three axes": (
        node("Conv", ["x", "w"], ["y"]),
        (1, 3, 2, 3, 4),
        {"w": _f(16, 3, 1, 2, 2)},
        24 * 32,
        4 * 16 * 32,
        8 + 64,
        2 * 2 * 3 * 16 * 2,
    ),
    "depthwise Conv": (
        node("Conv", ["x", "w"], ["y"], group=64),
        (1, 64, 4, 4),
        {"w": _f(64, 1, 3, 3)},
        2 * 16 * 32,
        2 * 9 * 32 * 32,  # 32 groups in a block
        8 + 256,
        4 * 4 * 16 * 2,
    ),
    "ConvTranspose": (
        node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 2]),
        (1, 40, 3, 3),
        {"w": _f(40, 20, 2, 2), "b": _f(20)},
        2 * 9 * 32,
        2 * 4 * 32 * 32,  # C1 = 2 of 40, N1 = 2 of 20
        8 + 80 + 80,
        2 * 36 * 16 * 2,
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_bytes_of_a_product_are_those_of_its_formats(name: str) -> None:
    one, shape, constants, operand, weights, others, result = PRODUCTS[name]

    lowered = _lowered(graph([one], {"x": shape}, ["y"], constants))

    assert _ops(lowered) == ["AscendQuant", "TransData", one.op_type, "TransData"]
    assert lowered.tensors[lowered.layers[2].inputs[0]].bytes == operand
    assert lowered.tensors[lowered.layers[2].outputs[0]].bytes == result
    kinds = {kind: sum(size for k, size in _weights(lowered).values() if k == kind) for kind in ("weight", "vector")}
    assert kinds == {"weight": weights, "vector": 0}
    assert sum(size for _, size in _weights(lowered).values()) == weights + others


def test_both_operands_of_a_computed_product_are_int8_even_with_int16_activations() -> None:
    nodes = [node("MatMul", ["x", "z"], ["h"]), node("MatMul", ["h", "w"], ["y"])]
    g = graph(nodes, {"x": (20, 40), "z": (40, 10)}, ["y"], {"w": _f(10, 7)})

    lowered = _lowered(g, activation="int16")

    first, second = (layer for layer in lowered.layers if layer.op_type == "MatMul")
    assert [lowered.tensors[name].dtype for name in first.inputs] == ["int8", "int8"]
    assert [lowered.tensors[name].bytes for name in first.inputs] == [2 * 2 * 16 * 32, 3 * 16 * 32]
    assert [lowered.tensors[name].dtype for name in second.inputs] == ["int16"]
    assert lowered.constants["w"].dtype == "int8"


def test_a_recurrent_layer_quantizes_its_input_only() -> None:
    h, i = 20, 40
    g = graph(
        [node("LSTM", ["x", "w", "r", "b", "", "h0", "c0"], ["y", "hn", "cn"], name="lstm", hidden_size=h)],
        {"x": (1, 1, i), "h0": (1, 1, h), "c0": (1, 1, h)},
        ["y", "hn", "cn"],
        {"w": _f(1, 4 * h, i), "r": _f(1, 4 * h, h), "b": _f(1, 8 * h)},
    )

    lowered = _lowered(g)

    assert _ops(lowered) == ["AscendQuant", "TransData", "LSTM"]
    assert lowered.layers[2].inputs == ("x (int8 FRACTAL_NZ)", "h0", "c0")
    assert lowered.tensors["x (int8 FRACTAL_NZ)"].bytes == 2 * 16 * 32
    assert [lowered.tensors[name].bytes for name in ("y", "hn", "cn")] == [40, 40, 40]
    assert _weights(lowered) == {
        "scale and offset of x (int8)": ("scale", 8),
        "w": ("weight", 2 * 5 * 16 * 32),
        "r": ("weight", 1 * 5 * 16 * 32),
        "b": ("bias", 4 * 8 * h),
        "scales of lstm": ("scale", 8),
    }


def test_integer_products_are_converted_and_not_quantized() -> None:
    nodes = [node("MatMulInteger", ["x", "w", "", "z"], ["y"])]
    g = graph(nodes, {"x": ("u", (5, 40))}, ["y"], {"w": np.ones((40, 10), np.uint8), "z": np.uint8(3)})

    lowered = _lowered(g)

    assert _ops(lowered) == ["TransData", "MatMulInteger", "TransData"]
    assert lowered.tensors["x (FRACTAL_NZ)"].bytes == 2 * 16 * 32
    assert (lowered.tensors["y (FRACTAL_NZ)"].dtype, lowered.tensors["y"].bytes) == ("int32", 5 * 10 * 4)
    assert _weights(lowered) == {"w": ("weight", 2 * 16 * 32), "z": ("scale", 4)}


def test_a_quantized_convolution_of_the_file_is_converted_and_not_quantized() -> None:
    one = node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"])
    scales = {"xs": np.float32(0.1), "ws": _f(16) ** 2, "ys": np.float32(0.2)}
    zeros = {"xz": np.uint8(0), "wz": np.int8(0), "yz": np.uint8(0)}
    weights = {"w": np.ones((16, 3, 3, 3), np.int8), "b": np.ones(16, np.int32)}

    lowered = _lowered(graph([one], {"x": ("u", (1, 3, 8, 8))}, ["y"], weights | scales | zeros))

    assert _ops(lowered) == ["TransData", "QLinearConv", "TransData"]
    assert lowered.tensors["y (NC1HWC0)"].bytes == 36 * 32
    found = _weights(lowered)
    assert (found["w"], found["b"], found["ws"], found["xz"]) == (
        ("weight", 9 * 16 * 32),
        ("bias", 64),
        ("scale", 64),
        ("scale", 4),
    )


def _with_codes() -> Graph:
    """Return quantize -> dequantize -> product, the weights dequantized from int8, too."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("DequantizeLinear", ["v", "s"], ["w"]),
        node("MatMul", ["d", "w"], ["y"]),
    ]
    constants = {"s": np.float32(0.1), "z": np.int8(0), "v": np.ones((40, 10), np.int8)}
    return graph(nodes, {"x": (5, 40)}, ["y"], constants)


def test_codes_in_the_file_are_not_quantized_again_in_the_fused_view() -> None:
    fused, script = _lowered(_with_codes()), _lowered(_with_codes(), folding=False)

    assert _ops(fused) == ["QuantizeLinear", "TransData", "MatMul", "TransData"]
    assert fused.layers[1].inputs == ("q",)
    assert _weights(fused)["w"] == ("weight", 2 * 16 * 32)
    assert _ops(script).count("AscendQuant") == 2


def test_other_operators_work_in_fp16_and_constants_are_what_they_are() -> None:
    nodes = [
        node("Mul", ["x", "c"], ["a"]),
        node("Gather", ["a", "i"], ["b"], axis=1),
        node("Reshape", ["b", "s"], ["y"]),
    ]
    constants = {"c": _f(1, 6), "i": np.array([0, 2]), "s": np.array([-1])}

    lowered = _lowered(graph(nodes, {"x": (3, 6)}, ["y"], constants))

    assert _ops(lowered) == ["Mul", "Gather", "Reshape"]
    assert _sizes(lowered) == {"x": 36, "a": 36, "b": 12, "y": 12}
    assert _weights(lowered) == {"c": ("vector", 12), "i": ("integer", 16)}


def _folding_graph() -> Graph:
    nodes = [
        node("Identity", ["x"], ["i"]),
        node("Dropout", ["i"], ["d"]),
        node("Transpose", ["w"], ["t"]),
        node("MatMul", ["d", "t"], ["m"]),
        node("Relu", ["m"], ["r"]),
        node("Shape", ["r"], ["s"]),
        node("Reshape", ["r", "s"], ["y"]),
    ]
    return graph(nodes, {"x": (5, 40)}, ["y"], {"w": _f(10, 40)})


def test_the_fused_view_folds_constants_and_drops_identities_and_takes_in_relu() -> None:
    lowered = _lowered(_folding_graph())

    assert _ops(lowered) == ["AscendQuant", "TransData", "MatMul", "TransData", "Reshape"]
    assert lowered.layers[2].merged[0].startswith("Relu: ") and lowered.layers[2].merged[1:] == ("AscendDequant",)
    assert lowered.layers[2].outputs == ("r (FRACTAL_NZ)",)
    assert _weights(lowered)["t"] == ("weight", 2 * 16 * 32)


def test_the_script_view_keeps_every_node() -> None:
    g = _folding_graph()
    lowered = _lowered(g, folding=False)

    assert [layer.op_type for layer in lowered.layers if not layer.is_inserted] == [one.op_type for one in g.nodes]
    # The transposed weights are a computed tensor there, quantized like any other.
    assert lowered.tensors["t"].bytes == 800
    assert _weights(lowered)["w"] == ("vector", 800)


def test_what_someone_else_reads_is_not_fused_away() -> None:
    nodes = [node("Conv", ["x", "w"], ["h"]), node("Relu", ["h"], ["r"]), node("Add", ["h", "r"], ["y"])]
    g = graph(nodes, {"x": (1, 8, 4, 4)}, ["y"], {"w": _f(8, 8, 1, 1)})

    assert _ops(_lowered(g)) == ["AscendQuant", "TransData", "Conv", "TransData", "Relu", "Add"]


def _norm(channels: int) -> dict[str, np.ndarray]:
    return {"s": _f(channels), "t": _f(channels), "m": _f(channels), "v": np.abs(_f(channels)) + 0.5}


def _with_norm(one: Any) -> list[Any]:
    return [one, node("BatchNormalization", ["h", "s", "t", "m", "v"], ["n"], name="bn"), node("Relu", ["n"], ["y"])]


NORMS: dict[str, tuple[Any, tuple[int, ...], dict[str, np.ndarray], int]] = {
    "Conv": (node("Conv", ["x", "w"], ["h"], name="p"), (2, 4, 5, 5), {"w": _f(6, 4, 3, 3)}, 6),
    "Conv with bias": (
        node("Conv", ["x", "w", "b"], ["h"], name="p"),
        (2, 4, 5, 5),
        {"w": _f(6, 4, 3, 3), "b": _f(6)},
        6,
    ),
    "grouped Conv": (node("Conv", ["x", "w"], ["h"], name="p", group=2), (2, 4, 5, 5), {"w": _f(6, 2, 3, 3)}, 6),
    "ConvTranspose": (
        node("ConvTranspose", ["x", "w", "b"], ["h"], name="p", group=2, strides=[2, 2]),
        (2, 4, 5, 5),
        {"w": _f(4, 3, 3, 3), "b": _f(6)},
        6,
    ),
    "Gemm": (
        node("Gemm", ["x", "w", "b"], ["h"], name="p", alpha=0.5, beta=2.0),
        (3, 4),
        {"w": _f(4, 6), "b": _f(6)},
        6,
    ),
    "Gemm with transB": (node("Gemm", ["x", "w"], ["h"], name="p", transB=1), (3, 4), {"w": _f(6, 4)}, 6),
}


@pytest.mark.parametrize("name", NORMS)
def test_a_batch_normalization_goes_into_the_product_and_the_result_stays(name: str) -> None:
    one, shape, constants, channels = NORMS[name]
    g = graph(_with_norm(one), {"x": shape}, ["y"], constants | _norm(channels))
    lowered = _lowered(g)
    feeds = {"x": _f(*shape)}

    folded, precision = executable(lowered)

    assert [layer.merged for layer in lowered.layers if layer.merged] == [
        ("BatchNormalization: bn", f"Relu: {g.nodes[2].name}", "AscendDequant")
    ]
    assert sum(one.bytes for one in lowered.constants.values() if one.kind == "bias") == 4 * channels
    assert [inner.op_type for inner in folded.nodes] == [one.op_type, "Relu"]
    want = run(g, feeds)["y"]
    np.testing.assert_allclose(run(folded, feeds)["y"], want, rtol=1e-4, atol=1e-5)
    quantized = run(folded, feeds, precision=precision)["y"]
    assert np.abs(quantized - want).max() < 0.05 * np.abs(want).max()


def test_a_batch_normalization_stays_where_its_product_cannot_take_it() -> None:
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("BatchNormalization", ["h", "s", "t", "m", "v"], ["y"])]
    g = graph(nodes, {"x": (3, 4)}, ["y"], {"w": _f(4, 6)} | _norm(6))

    assert "BatchNormalization" in _ops(_lowered(g))


def test_a_device_without_block_sizes_gets_no_inserted_operator() -> None:
    g = _conv()

    lowered = lower(g, infer(g), load_device("j6"), folding=True)

    assert _ops(lowered) == ["Conv"]
    assert _weights(lowered) == {"w": ("weight", 16 * 27), "b": ("bias", 64)}
    assert any("j6" in en for _, en in lowered.assumptions)
    with pytest.raises(BadArgument, match="j6"):
        executable(lowered)


def test_branches_and_bodies_stand_in_line_and_layers_of_a_body_know_how_often_they_run() -> None:
    branch = _lowered(if_graph(c=np.array(True)))
    loop = _lowered(loop_graph(np.array(7)))

    assert "choice/then_branch/product_0" in [layer.name for layer in branch.layers]
    assert {layer.runs for layer in branch.layers} == {1}
    products = [layer for layer in loop.layers if layer.op_type == "MatMul"]
    assert [layer.runs for layer in products] == [7]
    assert len({layer.name for layer in loop.layers}) == len(loop.layers)


@pytest.mark.parametrize("folding", [False, True])
def test_what_a_loop_reads_in_every_iteration_is_held_to_its_end(folding: bool) -> None:
    """The fused view has no Identity, and reads its input instead."""
    body = helper.make_graph(
        [node("MatMul", ["state", "i"], ["next"]), node("Identity", ["go"], ["on"]), node("Relu", ["next"], ["seen"])],
        "body",
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in (("t", 7, ()), ("go", 9, ()))]
        + [helper.make_tensor_value_info("state", 1, None)],
        [helper.make_tensor_value_info("on", 9, ()), helper.make_tensor_value_info("next", 1, None)],
    )
    nodes = [
        node("Relu", ["x"], ["h"]),
        node("Identity", ["h"], ["i"]),
        node("Relu", ["z"], ["s"]),
        node("Loop", ["n", "", "s"], ["y"], name="loop", body=body),
    ]
    g = graph(nodes, {"x": (3, 3), "z": (2, 3)}, ["y"], {"n": np.array(5)})
    lowered = _lowered(g, folding)

    live = buffers_of(g, flat_of_layers(lowered), sharing=Sharing() if folding else Sharing(False, False, False, False))

    assert _stale(lowered, live) == []
    name = "h" if folding else "i"
    held = next(one for one in live.activations if one.name == live.places[name].buffer)
    steps = [step for step, layer in enumerate(lowered.layers) if layer.name.startswith("loop/body")]
    assert held.first < steps[0]
    assert held.last >= steps[-1]


def test_what_depends_on_data_has_no_size() -> None:
    nodes = [node("NonZero", ["x"], ["i"]), node("Cast", ["i"], ["y"], to=1)]

    lowered = _lowered(graph(nodes, {"x": (3, 4)}, ["y"]))

    assert _sizes(lowered) == {"x": 24, "i": None, "y": None}


def _stale(lowered: Lowered, live: Liveness) -> list[str]:
    """Return the reads that would not find their tensor: dead by then, or overwritten by another one."""
    spans = {b.name: b for b in (*live.activations, *live.inputs, *live.outputs, *live.states)}
    held: dict[str, set[str]] = {}
    for name in (info.name for info in lowered.graph.inputs):
        held[live.places[name].buffer] = {name}
    wrong = []
    for step, layer in enumerate(lowered.layers):
        for name in layer.inputs:
            if name in live.places:
                buffer = live.places[name].buffer
                is_alive = spans[buffer].first <= step <= spans[buffer].last
                if not is_alive or name not in held.get(buffer, ()):
                    wrong.append(f"{layer.name} reads {name}")
        for name in layer.outputs:
            if name in live.places:
                buffer = live.places[name].buffer
                is_view = layer.op_type in VIEWS and any(
                    live.places[one].buffer == buffer for one in layer.inputs if one in live.places
                )
                held[buffer] = (held[buffer] if is_view else set()) | {name}
    return wrong


def _check(g: Graph, inputs: Any) -> None:
    inferred = infer(g, inputs)
    for folding in (False, True):
        lowered = lower(g, inferred, NANO, folding=folding)
        sharing = Sharing() if folding else Sharing(False, False, False, False)
        live = buffers_of(g, flat_of_layers(lowered), sharing=sharing)

        names = [layer.name for layer in lowered.layers]
        assert len(set(names)) == len(names)
        assert _stale(lowered, live) == []
        assert _unmet(lowered) == []
        written = [name for layer in lowered.layers for name in layer.outputs]
        assert len(set(written)) == len(written)


def _unmet(lowered: Lowered) -> list[str]:
    """Return the operands of products that are not in a format of the cube."""
    bad = []
    for layer in lowered.layers:
        if layer.op_type in ("Conv", "ConvTranspose", "MatMul", "Gemm") and not layer.node.domain:
            operands = [lowered.tensors[name] for name in layer.inputs]
            bad += [one.name for one in operands if one.shape and (one.format == "ND" or one.dtype == "float16")]
    return bad


def _shapes(feeds: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: value if value.shape == () else value.shape for name, value in feeds.items()}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_layers_of_a_real_model_find_what_they_read(model: Model) -> None:
    _check(load_onnx(real_models.required(model)), _shapes(real_models.feeds(model)))


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_layers_of_a_light_model_find_what_they_read(path: Path) -> None:
    _check(load_onnx(path), None)


@pytest.mark.parametrize(
    "model", [one for one in MODELS if "cls" in one.name or "half" in one.name], ids=lambda model: model.name
)
def test_the_fused_graph_of_a_real_model_computes_the_same(model: Model) -> None:
    g, feeds = load_onnx(real_models.required(model)), real_models.feeds(model)
    lowered = lower(g, infer(g, _shapes(feeds)), NANO, folding=True)

    folded, precision = executable(lowered)

    _near(run(folded, feeds), run(g, feeds), 1e-4)
    assert _finite(run(folded, feeds, precision=precision).values())


def _near(got: dict[str, np.ndarray], want: dict[str, np.ndarray], bar: float) -> None:
    for name, value in want.items():
        assert np.abs(got[name] - value).max() <= bar * max(np.abs(value).max(), 1e-30)


def _finite(values: Sequence[np.ndarray] | Any) -> bool:
    return all(np.isfinite(value).all() for value in values)
