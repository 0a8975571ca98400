"""Estimates: hand-derived figures, parts that sum to their totals, views, and models that are not all there."""

import dataclasses
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from simcore.device import load_device
from simcore.errors import BadArgument, ModelError, SimError
from simcore.estimate import HEADER_BYTES, KERNEL_BYTES, TASK_BYTES, TENSOR_BYTES, Estimate, estimate
from simcore.graph import Graph
from simcore.load_onnx import load_onnx, load_onnx_bytes
from simcore.macs import graph_macs
from simcore.parameters import parameters
from simcore.shapes import infer
from tests import real_models
from tests.real_models import MODELS, Model
from tests.test_simcore.control_flow_graphs import if_graph, loop_graph
from tests.test_simcore.graphs import graph, model

NANO = load_device("nano-035a")
LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))
VIEWS: Any = ("script", "fused")
node = helper.make_node


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _chain() -> Graph:
    """Return conv -> relu -> conv of one format on [1, 16, 8, 8]."""
    nodes = [
        node("Conv", ["x", "w", "b"], ["h"], name="first"),
        node("Relu", ["h"], ["r"], name="relu"),
        node("Conv", ["r", "v"], ["y"], name="second"),
    ]
    return graph(
        nodes, {"x": (1, 16, 8, 8)}, ["y"], {"w": _ones(16, 16, 1, 1), "b": _ones(16), "v": _ones(16, 16, 1, 1)}
    )


def _slot(size: int) -> int:
    """Return what a buffer takes: 32 bytes more than rounded up to 32, up to the next multiple of 64."""
    return -(-(-(-size // 32) * 32 + 32) // 64) * 64


def test_every_figure_of_a_small_model_is_derived_by_hand() -> None:
    found = estimate(_chain(), device=NANO)

    weights = {
        "weight": 2 * 16 * 32,  # 16 of 32 channels used
        "bias": 16 * 4,
        "scale": 2 * (8 + 16 * 4),
        "vector": 0,
        "integer": 0,
    }
    assert {part.name: part.bytes for part in found.weight_parts} == weights
    assert found.weight_bytes == sum(weights.values())
    layers = ["AscendQuant", "TransData", "Conv", "AscendQuant", "Conv", "TransData"]
    assert [row.op_type for row in found.layers] == layers
    code = 3 * KERNEL_BYTES + 6 * TASK_BYTES
    x, int8, aligned = _slot(16 * 64 * 2), _slot(16 * 64), _slot(64 * 32)
    assert {part.name: part.bytes for part in found.memory_parts} == {
        "weights": found.weight_bytes,
        "instructions": code,
        "inputs": x,
        "outputs": x,
        "intermediates": found.peak.bytes,
    }
    half = _slot(64 * 16 * 2)
    assert found.memory_over_time == (
        ("AscendQuant: x (int8)", int8),
        ("TransData: x (int8 NC1HWC0)", int8 + aligned),
        ("first", aligned + half),
        ("AscendQuant: r (int8 NC1HWC0)", half + aligned),
        ("second", aligned + half),
        ("TransData: y", half),
    )
    assert found.peak.bytes == found.peak.lower_bound_bytes == aligned + half
    assert (found.peak.layer, dict(found.peak.tensors)) == (
        "first",
        {"x (int8 NC1HWC0)": aligned, "r (NC1HWC0)": half},
    )
    assert found.exeom_bytes == found.weight_bytes + code + HEADER_BYTES + 2 * TENSOR_BYTES
    assert found.macs == 2 * 64 * 16 * 16
    assert found.parameters == 2 * 256 + 16
    assert found.op_types == ("Conv",)
    # 250 published operations are 125 multiply-adds a cycle; at 64 MHz.
    assert found.latency_lower_bound_ms == pytest.approx(2 * -(-64 * 256 // 125) / 64000)
    # Padded to 32 channels, 128 a cycle; the vector unit takes 16 elements a cycle.
    cube = 2 * 64 * 32 * 16 // 128
    vector = [1024, 2048, 1024 * 3, 2048, 1024, 1024]  # bias, dequantization and Relu are three
    assert found.latency_estimate_ms == pytest.approx((cube + sum(vector) // 16) / 64000)


def test_the_script_view_counts_more_layers_and_more_memory() -> None:
    script, fused = (estimate(_chain(), device=NANO, view=view) for view in VIEWS)

    assert script.op_types == ("Conv", "Relu")
    assert [row.op_type for row in script.layers if not row.is_inserted] == ["Conv", "Relu", "Conv"]
    assert [row.op_type for row in script.layers].count("AscendDequant") == 2
    assert script.weight_bytes == fused.weight_bytes
    assert script.memory_bytes > fused.memory_bytes
    assert script.macs == fused.macs
    assert script.parameters == fused.parameters


#: Nodes from x to y, shape of x, constants; multiply-adds, parameters, bytes of weights (fused view).
KINDS: dict[str, tuple[Any, Any, dict[str, np.ndarray], int, int, int]] = {
    "Conv": (
        node("Conv", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1]),
        (2, 3, 9, 9),
        {"w": _ones(20, 3, 3, 3)},
        2 * 25 * 27 * 20,
        540,
        9 * 32 * 32 + 8 + 80,
    ),
    "grouped Conv": (
        node("Conv", ["x", "w"], ["y"], group=2),
        (1, 64, 3, 3),
        {"w": _ones(32, 32, 3, 3)},
        9 * 32 * 32,
        9 * 32 * 32,
        2 * 9 * 16 * 32 + 8 + 128,
    ),
    "ConvTranspose": (
        node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2]),
        (1, 32, 3, 3),
        {"w": _ones(32, 16, 2, 2)},
        9 * 32 * 16 * 4,
        32 * 16 * 4,
        4 * 16 * 32 + 8 + 64,
    ),
    "MatMul": (
        node("MatMul", ["x", "w"], ["y"]),
        (2, 5, 32),
        {"w": _ones(32, 16)},
        10 * 32 * 16,
        512,
        512 + 8 + 4,
    ),
    "MatMul of a vector": (
        node("MatMul", ["x", "w"], ["y"]),
        (32,),
        {"w": _ones(32, 16)},
        512,
        512,
        512 + 8 + 4,
    ),
    "MatMul of two vectors": (node("MatMul", ["x", "w"], ["y"]), (32,), {"w": _ones(32)}, 32, 32, 512 + 8 + 4),
    "Gemm": (
        node("Gemm", ["x", "w", "b"], ["y"], transB=1),
        (5, 32),
        {"w": _ones(16, 32), "b": _ones(16)},
        5 * 512,
        528,
        512 + 64 + 8 + 4,
    ),
    "GRU": (
        node("GRU", ["x", "w", "r", "b"], ["y"], hidden_size=16, linear_before_reset=1),
        (1, 1, 32),
        {"w": _ones(1, 48, 32), "r": _ones(1, 48, 16), "b": _ones(1, 96)},
        48 * 32 + 48 * 16,
        48 * 48 + 96,
        3 * 16 * 32 * 2 + 96 * 4 + 8 + 8,
    ),
    "MatMulInteger": (
        node("MatMulInteger", ["x", "w"], ["y"]),
        ("u", (5, 32)),
        {"w": np.ones((32, 16), np.int8)},
        5 * 512,
        512,
        512,
    ),
    "ConvInteger": (
        node("ConvInteger", ["x", "w", "z"], ["y"]),
        ("u", (1, 32, 3, 3)),
        {"w": np.ones((16, 32, 3, 3), np.int8), "z": np.uint8(128)},
        9 * 32 * 16,
        9 * 32 * 16,
        9 * 32 * 16 + 4,
    ),
    "Add": (node("Add", ["x", "c"], ["y"]), (2, 8), {"c": _ones(8)}, 0, 8, 16),
    "a number of a formula": (node("Mul", ["x", "c"], ["y"]), (2, 8), {"c": _ones()}, 0, 0, 2),
    "PRelu": (node("PRelu", ["x", "c"], ["y"]), (2, 8), {"c": _ones(1)}, 0, 1, 2),
    "BatchNormalization": (
        node("BatchNormalization", ["x", "c", "c", "c", "d"], ["y"]),
        (2, 8, 4),
        {"c": _ones(8), "d": _ones(8)},
        0,
        16,
        32,
    ),
    "Gather from a table": (
        node("Gather", ["c", "x"], ["y"]),
        ("i", (5,)),
        {"c": _ones(100, 8)},
        0,
        800,
        1600,
    ),
    "Gather by constants": (node("Gather", ["x", "c"], ["y"]), (5, 8), {"c": np.array([1, 2])}, 0, 0, 16),
    "Clip": (node("Clip", ["x", "c", "d"], ["y"]), (5, 8), {"c": _ones(), "d": _ones()}, 0, 0, 0),
    "Reshape": (node("Reshape", ["x", "c"], ["y"]), (5, 8), {"c": np.array([40])}, 0, 0, 0),
    "Where": (node("Where", ["c", "x", "x"], ["y"]), (5, 8), {"c": np.ones((5, 8), bool)}, 0, 0, 40),
    "Softmax": (node("Softmax", ["x"], ["y"]), (5, 8), {}, 0, 0, 0),
}


@pytest.mark.parametrize("name", KINDS)
def test_macs_parameters_and_bytes_of_each_kind_of_operator(name: str) -> None:
    one, shape, constants, macs, count, size = KINDS[name]

    found = estimate(graph([one], {"x": shape}, ["y"], constants), device=NANO)

    assert (found.macs, found.parameters, found.weight_bytes) == (macs, count, size)
    _check_sums(found)


def _check_sums(found: Estimate) -> None:
    """Check that parts and rows sum to the figures."""
    for total, parts in (
        (found.weight_bytes, found.weight_parts),
        (found.memory_bytes, found.memory_parts),
        (found.exeom_bytes, found.exeom_parts),
    ):
        assert sum(part.bytes for part in parts) == total
        assert all(part.bytes >= 0 and part.zh and part.en for part in parts)
    assert sum(row.weight_bytes for row in found.layers) == found.weight_bytes
    assert sum(row.macs or 0 for row in found.layers) == found.macs
    assert sum(size for _, size in found.peak.tensors) == found.peak.lower_bound_bytes
    assert max((size for _, size in found.memory_over_time), default=0) == found.peak.lower_bound_bytes
    assert len(found.memory_over_time) == len(found.layers)
    if found.latency_lower_bound_ms is not None and found.clock_mhz is not None:
        cycles = sum(row.cycles_lower_bound or 0 for row in found.layers)
        assert found.latency_lower_bound_ms == pytest.approx(cycles / found.clock_mhz / 1000)
        cycles = sum(row.cycles_estimate or 0 for row in found.layers)
        assert found.latency_estimate_ms == pytest.approx(cycles / found.clock_mhz / 1000)
    assert found.assumptions
    assert len(set(found.assumptions)) == len(found.assumptions)
    for zh, en in found.assumptions:
        assert re.search(r"[\u4e00-\u9fff]", zh), f"no Chinese: {zh}"
        assert en and not re.search(r"[\u4e00-\u9fff]", en)


def _check_model(g: Graph, inputs: Any, states: Any, has_two_branches: bool) -> None:
    script, fused = (estimate(g, device=NANO, inputs=inputs, states=states, view=view) for view in VIEWS)

    for found in (script, fused):
        _check_sums(found)
        assert found.unknown == ()
        assert found.peak.bytes == found.peak.lower_bound_bytes
        assert found.parameters == parameters(g)
        assert found.latency_lower_bound_ms is not None
        assert found.latency_estimate_ms is not None
        assert 0 < found.latency_lower_bound_ms < found.latency_estimate_ms
    assert script.macs == fused.macs == graph_macs(g, infer(g, inputs))
    if not has_two_branches:
        assert sum(row.parameters for row in script.layers) == script.parameters
    assert script.peak.bytes >= fused.peak.bytes
    assert len(script.layers) >= len(fused.layers)


@pytest.mark.parametrize("one", MODELS, ids=lambda one: one.name)
def test_a_real_model_is_estimated_whole(one: Model) -> None:
    g = load_onnx(real_models.required(one))
    feeds = real_models.feeds(one)
    inputs = {name: value if value.shape == () else value.shape for name, value in feeds.items()}

    _check_model(g, inputs, one.state, any(inner.op_type == "If" for inner in g.nodes))


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_a_light_model_is_estimated_whole(path: Path) -> None:
    _check_model(load_onnx(path), None, None, False)


def test_an_if_takes_the_branch_that_fits_the_inputs() -> None:
    one = next(one for one in MODELS if one.name == "silero-vad/silero_vad")
    g = load_onnx(real_models.required(one))

    guessed = estimate(g, device=NANO, inputs={"input": (1, 576), "state": (2, 1, 128)})
    told = estimate(g, device=NANO, inputs={"input": (1, 576), "state": (2, 1, 128), "sr": np.array(16000)})

    assert (guessed.macs, guessed.weight_bytes) == (told.macs, told.weight_bytes)
    assert guessed.macs == graph_macs(g, infer(g, {"input": (1, 576), "state": (2, 1, 128)}))
    _check_sums(guessed)
    assert any("takes the branch that fits" in en for _, en in guessed.assumptions)
    assert not any("takes the branch that fits" in en for _, en in told.assumptions)


def _open() -> Graph:
    nodes = [node("Conv", ["x", "w"], ["h"]), node("Relu", ["h"], ["y"]), node("Relu", ["z"], ["v"])]
    return graph(nodes, {"x": ("f", ("n", 3, "h", "w")), "z": ("f", ("n", 5))}, ["y", "v"], {"w": _ones(4, 3, 1, 1)})


def test_an_input_with_open_sizes_is_named_with_what_to_give() -> None:
    with pytest.raises(BadArgument) as caught:
        estimate(_open(), device=NANO)

    text = str(caught.value)
    assert "'x' is declared [n, 3, h, w] float32, for example x:1,3,224,224" in text
    assert "'z' is declared [n, 5] float32, for example z:1,5" in text


def test_named_sizes_that_one_input_gives_hold_for_the_others() -> None:
    found = estimate(_open(), device=NANO, inputs={"x": (2, 3, 8, 8)})

    assert found.macs == 2 * 64 * 3 * 4
    assert next(row for row in found.layers if row.inputs == ((2, 5),)).outputs == ((2, 5),)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"inputs": {"q": (1,)}}, "no input 'q'; the inputs are x"),
        ({"inputs": {"x": (1, 16, 8)}}, "declares"),
        ({"view": "both"}, "view 'both' is unknown"),
        ({"activation": "int4"}, "activation 'int4' is unknown"),
        ({"clock_mhz": 0}, "clock_mhz is 0"),
        ({"states": {"x": "q"}}, "state 'x'"),
    ],
    ids=["input", "rank", "view", "activation", "clock", "state"],
)
def test_what_cannot_be_is_said_in_one_sentence(options: dict[str, Any], text: str) -> None:
    with pytest.raises(BadArgument, match=text):
        estimate(_chain(), device=NANO, **options)


def test_a_model_whose_nodes_do_not_fit_is_an_error_that_names_the_node() -> None:
    g = graph([node("Conv", ["x", "w"], ["y"], name="bad")], {"x": (1, 4, 8, 8)}, ["y"], {"w": _ones(4, 3, 1, 1)})

    with pytest.raises(ModelError, match="node 'bad'"):
        estimate(g, device=NANO)


def test_latency_follows_the_clock_and_cycles_do_not() -> None:
    slow, fast = (estimate(_chain(), device=NANO, clock_mhz=clock) for clock in (64, 200))

    assert [row.cycles_estimate for row in slow.layers] == [row.cycles_estimate for row in fast.layers]
    assert slow.latency_estimate_ms == pytest.approx((fast.latency_estimate_ms or 0) * 200 / 64)
    assert estimate(_chain(), device=NANO).clock_mhz == 64


def test_int16_activations_take_more_memory_and_more_time_and_no_more_weights() -> None:
    narrow, wide = (estimate(_chain(), device=NANO, activation=kind) for kind in ("int8", "int16"))

    assert narrow.weight_bytes == wide.weight_bytes
    assert [row.outputs[0][-1] for row in wide.layers if "int16 NC1HWC0" in row.name] == [16, 16]
    assert any("half the int8 rate" in en for _, en in wide.assumptions)


@pytest.mark.parametrize("name", ["j6", "magicmind"])
def test_a_device_without_rates_has_no_latency_and_says_so(name: str) -> None:
    found = estimate(_chain(), device=load_device(name))

    assert (found.latency_lower_bound_ms, found.latency_estimate_ms, found.clock_mhz) == (None, None, None)
    assert found.unknown == ("latency",)
    assert any("latency is unknown" in en for _, en in found.assumptions)
    assert [row.cycles_estimate for row in found.layers] == [None, None]
    assert found.macs == 2 * 64 * 256
    _check_sums(found)


def test_a_device_without_a_clock_has_cycles_and_no_latency_until_one_is_given() -> None:
    figures = {name: one for name, one in NANO.figures.items() if name != "reference_clock"}
    device = dataclasses.replace(NANO, name="other", figures=figures)

    without, given = (estimate(_chain(), device=device, clock_mhz=clock) for clock in (None, 64))

    assert (without.latency_estimate_ms, without.unknown) == (None, ("latency",))
    assert given.latency_estimate_ms == estimate(_chain(), device=NANO).latency_estimate_ms


def test_a_state_has_one_buffer_that_is_kept() -> None:
    nodes = [node("Add", ["x", "s"], ["t"]), node("Relu", ["t"], ["y"])]
    g = graph(nodes, {"x": (4, 100), "s": (4, 100)}, ["y", "t"])

    plain, kept = (estimate(g, device=NANO, states=states) for states in (None, {"s": "t"}))

    slot = _slot(800)
    assert {part.name: part.bytes for part in kept.memory_parts if part.name in ("inputs", "outputs", "states")} == {
        "inputs": slot,
        "outputs": slot,
        "states": slot,
    }
    assert plain.memory_bytes - kept.memory_bytes == slot


def test_layers_of_a_loop_count_once_per_iteration_and_an_unknown_count_is_unknown() -> None:
    known = estimate(loop_graph(np.array(7)), device=NANO)
    unknown = estimate(loop_graph(None), device=NANO)

    assert known.macs == 7 * 2 * 3 * 3
    assert any("once per iteration" in en for _, en in known.assumptions)
    assert unknown.macs == 0
    assert any("MatMul" in name for name in unknown.unknown)
    _check_sums(known)
    _check_sums(unknown)


def test_of_an_if_one_branch_counts_and_both_are_parameters() -> None:
    found = estimate(if_graph(), device=NANO, view="script")

    assert found.parameters == 3 * 4 + 3 * 7
    assert found.macs == 2 * 3 * 7
    assert any("of an If one branch counts" in en for _, en in found.assumptions)
    _check_sums(found)


def test_sizes_that_depend_on_data_are_named_and_left_out() -> None:
    nodes = [node("NonZero", ["x"], ["i"]), node("Cast", ["i"], ["j"], to=1), node("Relu", ["j"], ["y"])]

    found = estimate(graph(nodes, {"x": (3, 4)}, ["y"]), device=NANO)

    assert {"i", "j", "y"} <= set(found.unknown)
    _check_sums(found)


def test_a_weight_that_two_nodes_share_is_stored_once() -> None:
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("MatMul", ["h", "w"], ["y"])]

    found = estimate(graph(nodes, {"x": (16, 32)}, ["y"], {"w": _ones(32, 32)}), device=NANO)

    assert {part.name: part.bytes for part in found.weight_parts}["weight"] == 32 * 32
    assert found.parameters == 32 * 32


def _external(count: int, n: int) -> bytes:
    """Return a chain of products with external weights of `count` times n * n float32 in one file."""
    nodes = [node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(count)]
    proto = model(nodes, {"x0": (1, n)}, [f"x{count}"])
    for i in range(count):
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[n, n], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "w.bin"), ("offset", i * n * n * 4), ("length", n * n * 4)):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
        proto.graph.initializer.append(tensor)
    return proto.SerializeToString()


def test_a_constant_that_is_an_output_is_copied_there() -> None:
    found = estimate(graph([node("Shape", ["x"], ["y"])], {"x": (3, 4)}, ["y"]), device=NANO)

    assert {part.name: part.bytes for part in found.memory_parts}["outputs"] == _slot(16)
    _check_sums(found)


def test_missing_weights_count_by_their_declared_shapes() -> None:
    found = estimate(load_onnx_bytes(_external(2, 64)), device=NANO)

    assert found.parameters == 2 * 64 * 64
    assert {part.name: part.bytes for part in found.weight_parts}["weight"] == 2 * 64 * 64
    assert any("2 weights have no data" in en for _, en in found.assumptions)
    _check_sums(found)


_CHILD = """
import re, sys
from pathlib import Path
from simcore.device import load_device
from simcore.estimate import estimate
from simcore.load_onnx import load_onnx
found = estimate(load_onnx(sys.argv[1]), device=load_device("nano-035a"))
# Not ru_maxrss, which begins with the memory of the process that started this one.
print(found.parameters, re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_gigabyte_of_external_weights_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(_external(4, 8192))
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(4 * 8192 * 8192 * 4)  # sparse: takes no room on the disk

    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(tmp_path / "m.onnx")],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )

    count, kibibytes = map(int, done.stdout.split())
    assert count == 4 * 8192 * 8192
    assert kibibytes < 100 * 1024


def _node_models() -> dict[str, Any]:
    """Return the first node case of the onnx package for each set of operators: feeds by name, and the model."""
    loader = pytest.importorskip("onnx.backend.test.loader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = loader.load_model_tests(kind="node")
    found: dict[str, Any] = {}
    for case in cases:
        found.setdefault(" ".join(sorted({one.op_type for one in case.model.graph.node})), case)
    return found


def test_parts_sum_to_the_figures_for_every_operator_of_the_onnx_package() -> None:
    estimated: set[str] = set()
    for case in _node_models().values():
        try:
            g = load_onnx_bytes(case.model.SerializeToString())
            feeds = zip(case.model.graph.input, case.data_sets[0][0], strict=False)
            inputs = {info.name: value for info, value in feeds if isinstance(value, np.ndarray)}
            infer(g, inputs)
        except SimError:
            continue  # not computed here
        for view in VIEWS:
            found = estimate(g, device=NANO, inputs=inputs, view=view)
            _check_sums(found)
            assert found.peak.bytes == found.peak.lower_bound_bytes
        estimated.update(one.op_type for one in g.nodes)

    assert len(estimated) > 150
