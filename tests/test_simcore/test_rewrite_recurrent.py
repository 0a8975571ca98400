"""LSTM, GRU and RNN written out, against ONNX Runtime and golden mode."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from simcore.execute import run
from simcore.rewrite.prove import prove
from simcore.rewrite.run import Options, rewrite
from tests.test_simcore.rewriting import NANO, check, loaded, model

T, B, C, H = 4, 2, 3, 5
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def layer(
    kind: str,
    directions: int = 1,
    moments: int = T,
    starts: str = "input",
    peepholes: bool = False,
    lengths: list[int] | None = None,
    opset: int = 14,
    bias: bool = True,
    outputs: str = "all",
    **attributes: Any,
) -> tuple[Any, dict[str, np.ndarray]]:
    """Return a model of one recurrent node, and its feeds; `starts`: input, constant or none."""
    random = np.random.default_rng(3)

    def values(*shape: int) -> np.ndarray:
        return random.normal(0, 0.5, shape).astype(np.float32)

    batch_first = attributes.get("layout", 0)
    gates = GATES[kind]
    constants = {"W": values(directions, gates * H, C), "R": values(directions, gates * H, H)}
    if bias:
        constants["B"] = values(directions, 2 * gates * H)
    if peepholes:
        constants["P"] = values(directions, 3 * H)
    if lengths:
        constants["lengths"] = np.array(lengths, np.int32)
    feeds = {"X": values(B, moments, C) if batch_first else values(moments, B, C)}
    states = ["h", "c"][: 2 if kind == "LSTM" else 1]
    shape = (B, directions, H) if batch_first else (directions, B, H)
    if starts != "none":
        (feeds if starts == "input" else constants).update({name: values(*shape) for name in states})
    names = ["X", "W", "R", "B" if bias else "", "lengths" if lengths else ""]
    names += [name if starts != "none" else "" for name in states] + (["P"] if peepholes else [])
    results = ["Y", "Y_h", "Y_c"][: 1 + len(states)]
    if outputs != "all":
        results = [name if name == outputs else "" for name in results]
    node = helper.make_node(kind, names, results, name="cell", hidden_size=H, **attributes)
    return model([node], feeds, [name for name in results if name], constants, opset), feeds


PLAIN: list[tuple[str, str, dict[str, Any]]] = [
    ("forward", "LSTM", {}),
    ("forward", "GRU", {"linear_before_reset": 1}),
    ("reverse", "LSTM", {"direction": "reverse"}),
    ("reverse", "GRU", {"linear_before_reset": 1, "direction": "reverse"}),
    ("both", "LSTM", {"direction": "bidirectional", "directions": 2}),
    ("both", "GRU", {"linear_before_reset": 1, "direction": "bidirectional", "directions": 2}),
    ("both_from_constants", "LSTM", {"direction": "bidirectional", "directions": 2, "starts": "constant"}),
    ("from_zero", "LSTM", {"starts": "none"}),
    ("from_constants", "GRU", {"linear_before_reset": 1, "starts": "constant"}),
    ("without_bias", "LSTM", {"bias": False}),
    ("default_activations_given", "LSTM", {"activations": ["Sigmoid", "Tanh", "Tanh"]}),
    ("full_lengths", "LSTM", {"lengths": [T, T]}),
    ("old_opset", "LSTM", {"opset": 11}),
    ("all_only", "LSTM", {"outputs": "Y"}),
    ("last_only", "LSTM", {"outputs": "Y_h", "direction": "bidirectional", "directions": 2}),
    ("one_moment_backward", "GRU", {"linear_before_reset": 1, "moments": 1, "direction": "reverse"}),
]

WRITTEN_OUT: list[tuple[str, str, dict[str, Any]]] = [
    ("reset_first", "GRU", {}),
    ("reset_first_both", "GRU", {"direction": "bidirectional", "directions": 2}),
    ("reset_first_one_moment", "GRU", {"moments": 1}),
    ("peepholes", "LSTM", {"peepholes": True}),
    ("clipped", "LSTM", {"clip": 0.3}),
    ("clipped_reset_last", "GRU", {"clip": 0.3, "linear_before_reset": 1}),
    ("coupled", "LSTM", {"input_forget": 1, "peepholes": True}),
    ("other_activations", "LSTM", {"activations": ["HardSigmoid", "Softsign", "Relu"], "activation_alpha": [0.3], "activation_beta": [0.4]}),
    ("scaled", "GRU", {"activations": ["Sigmoid", "ScaledTanh"], "activation_alpha": [1.5], "activation_beta": [0.7]}),
    ("affine", "GRU", {"activations": ["Sigmoid", "Affine"], "activation_alpha": [0.5], "activation_beta": [0.1]}),
    ("plain", "RNN", {}),
    ("both", "RNN", {"direction": "bidirectional", "directions": 2}),
    ("relu_old_opset", "RNN", {"activations": ["Relu"], "opset": 11, "starts": "none"}),
]  # fmt: skip


def ids(rows: list[tuple[str, str, dict[str, Any]]]) -> list[str]:
    return [f"{kind}-{name}" for name, kind, _ in rows]


@pytest.mark.parametrize(("name", "kind", "how"), PLAIN, ids=ids(PLAIN))
def test_moments_become_nodes_of_one_moment_with_one_copy_of_the_weights(
    name: str, kind: str, how: dict[str, Any], tmp_path: Path
) -> None:
    proto, feeds = layer(kind, **how)

    result = check(proto, feeds, tmp_path, tolerance=1e-6)

    steps = [node for node in result.graph.nodes if node.op_type == kind]
    directions = how.get("directions", 1)
    assert len(steps) == how.get("moments", T) * directions
    assert len({node.inputs[1:4] for node in steps}) == directions
    assert all(node.attributes.keys() <= {"hidden_size", "linear_before_reset"} for node in steps)
    assert all(len(node.outputs) == (3 if kind == "LSTM" else 2) and all(node.outputs) for node in steps)
    weights = sum(v.nbytes for n, v in loaded(proto).initializers.items() if n in "WRB")
    assert sum(result.graph.initializers[n].nbytes for n in {n for s in steps for n in s.inputs[1:4] if n}) == weights


@pytest.mark.parametrize(("name", "kind", "how"), WRITTEN_OUT, ids=ids(WRITTEN_OUT))
def test_a_cell_that_no_node_of_the_device_fits_is_written_out_gate_by_gate(
    name: str, kind: str, how: dict[str, Any], tmp_path: Path
) -> None:
    proto, feeds = layer(kind, **how)

    result = check(proto, feeds, tmp_path, tolerance=2e-6)

    assert not {"LSTM", "GRU", "RNN"} & {node.op_type for node in result.graph.nodes}
    # One copy of each matrix, however many moments.
    matrices = [value.size for value in result.graph.initializers.values() if value.size >= C * H]
    assert sum(matrices) <= sum(value.size for name, value in loaded(proto).initializers.items() if name in "WRB")


def test_a_node_the_device_takes_stays() -> None:
    proto, _ = layer("LSTM", moments=1)

    result = rewrite(loaded(proto), NANO)

    assert (result.changes, result.left, result.states) == ((), (), {})


@pytest.mark.parametrize("starts", ["none", "constant"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("moments", [1, T])
def test_start_states_become_inputs_on_request(kind: str, moments: int, starts: str, tmp_path: Path) -> None:
    how = {"linear_before_reset": 1} if kind == "GRU" else {}
    proto, feeds = layer(kind, moments=moments, starts=starts, **how)

    result = check(proto, feeds, tmp_path, Options(state_inputs=True), tolerance=1e-6)

    count = 2 if kind == "LSTM" else 1
    assert len(result.states) == count
    assert [info.name for info in result.graph.inputs] == ["X", *result.states]
    first = next(node for node in result.graph.nodes if node.op_type == kind)
    assert set(first.inputs[5:]) == set(result.states)


def test_start_states_that_are_inputs_stay_so() -> None:
    proto, _ = layer("LSTM", starts="input")

    result = rewrite(loaded(proto), NANO, Options(state_inputs=True))

    assert result.states == {}
    assert [info.name for info in result.graph.inputs] == ["X", "h", "c"]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_batch_first_is_turned_round(kind: str, direction: str) -> None:
    # ONNX Runtime does not compute layout 1, so golden mode alone is the judge.
    directions = 2 if direction == "bidirectional" else 1
    how = {"linear_before_reset": 1} if kind == "GRU" else {}
    proto, feeds = layer(kind, directions=directions, direction=direction, layout=1, **how)
    original = loaded(proto)

    result = rewrite(original, NANO)

    assert result.left == ()
    want, got = run(original, feeds), run(result.graph, feeds)
    for name in want:
        np.testing.assert_allclose(got[name], want[name], rtol=0, atol=1e-6)


def test_sequences_of_different_lengths_are_left() -> None:
    proto, feeds = layer("LSTM", lengths=[2, T])
    original = loaded(proto)

    result = rewrite(original, NANO)

    (left,) = result.left
    assert (left.node, left.op_type) == ("cell", "LSTM") and "sequence_lens" in left.reason
    assert prove(original, result, [feeds], seeds=()).ok


def test_an_open_number_of_moments_is_left_until_a_shape_is_given(tmp_path: Path) -> None:
    proto, feeds = layer("LSTM")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "time"

    (left,) = rewrite(loaded(proto), NANO).left

    assert "open" in left.reason and "give the shapes" in left.reason
    assert check(proto, feeds, tmp_path, Options(shapes={"X": (T, B, C)})).left == ()
