"""Float LSTM and GRU agree with scalar loops, the onnx node tests and ONNX Runtime."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

from simcore.errors import BadArgument
from simcore.recurrent import gru_step, lstm_step, run_gru, run_lstm, weights

GATES = {"LSTM": 4, "GRU": 3}


def layer(kind: str, inputs: int, hidden: int, seed: int, dtype: type = np.float64):
    random = np.random.default_rng(seed)
    rows = GATES[kind] * hidden
    arrays = (random.normal(0, 0.6, shape) for shape in ((rows, inputs), (rows, hidden), (2 * rows,)))
    return weights(kind, *(a.astype(dtype) for a in arrays))


def frames(seq: int, batch: int, inputs: int, seed: int, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(seed + 1000).normal(0, 1, (seq, batch, inputs)).astype(dtype)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def scalar_step(kind: str, x: list[float], h: list[float], c: list[float], net, p: list[float], reset_after: int):
    """One frame of one batch row, written out per element."""
    size = len(h)

    def dot(row: int, values: list[float], matrix: np.ndarray) -> float:
        return math.fsum(float(matrix[row, k]) * v for k, v in enumerate(values))

    def gate(index: int, j: int) -> float:
        row = index * size + j
        return dot(row, x, net.w) + dot(row, h, net.r) + float(net.wb[row] + net.rb[row])

    if kind == "LSTM":
        new_c, new_h = [], []
        for j in range(size):
            i, f = sigmoid(gate(0, j) + p[j] * c[j]), sigmoid(gate(2, j) + p[2 * size + j] * c[j])
            new_c.append(f * c[j] + i * math.tanh(gate(3, j)))
            new_h.append(sigmoid(gate(1, j) + p[size + j] * new_c[j]) * math.tanh(new_c[j]))
        return new_h, new_c
    z = [sigmoid(gate(0, j)) for j in range(size)]
    reset = [sigmoid(gate(1, j)) for j in range(size)]
    new_h = []
    for j in range(size):
        row = 2 * size + j
        if reset_after:
            inner = reset[j] * (dot(row, h, net.r) + float(net.rb[row]))
        else:
            inner = dot(row, [reset[k] * h[k] for k in range(size)], net.r) + float(net.rb[row])
        new_h.append((1 - z[j]) * math.tanh(dot(row, x, net.w) + float(net.wb[row]) + inner) + z[j] * h[j])
    return new_h, c


dims = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3), st.integers(0, 4), st.integers(0, 99))


@given(dims, st.booleans())
def test_lstm_equals_the_scalar_loop(sizes: tuple[int, ...], peephole: bool) -> None:
    inputs, hidden, batch, seq, seed = sizes
    net, x = layer("LSTM", inputs, hidden, seed), frames(seq, batch, inputs, seed)
    p = np.random.default_rng(seed).normal(0, 1, 3 * hidden) if peephole else None

    y, h, c = run_lstm(x, net, p=p)

    for b in range(batch):
        state, cell = [0.0] * hidden, [0.0] * hidden
        for t in range(seq):
            weights_p = [0.0] * (3 * hidden) if p is None else list(p)
            state, cell = scalar_step("LSTM", list(x[t, b]), state, cell, net, weights_p, 0)
            assert y[t, b] == pytest.approx(state, rel=1e-12, abs=1e-12)
        assert h[b] == pytest.approx(state, rel=1e-12, abs=1e-12)
        assert c[b] == pytest.approx(cell, rel=1e-12, abs=1e-12)


@given(dims, st.sampled_from([0, 1]))
def test_gru_equals_the_scalar_loop(sizes: tuple[int, ...], linear_before_reset: int) -> None:
    inputs, hidden, batch, seq, seed = sizes
    net, x = layer("GRU", inputs, hidden, seed), frames(seq, batch, inputs, seed)

    y, h = run_gru(x, net, linear_before_reset=linear_before_reset)

    for b in range(batch):
        state = [0.0] * hidden
        for t in range(seq):
            state, _ = scalar_step("GRU", list(x[t, b]), state, [], net, [], linear_before_reset)
            assert y[t, b] == pytest.approx(state, rel=1e-12, abs=1e-12)
        assert h[b] == pytest.approx(state, rel=1e-12, abs=1e-12)


def test_the_two_gru_conventions_are_different_networks() -> None:
    net, x = layer("GRU", 3, 4, 1), frames(6, 2, 3, 1)

    before, after = run_gru(x, net, linear_before_reset=0)[0], run_gru(x, net, linear_before_reset=1)[0]

    assert np.max(np.abs(before - after)) > 0.05


def node_cases(op_type: str):
    with warnings.catch_warnings():
        # Building the cases of other operators overflows on purpose.
        warnings.simplefilter("ignore")
        cases = [c for c in load_model_tests(kind="node") if c.model and c.model.graph.node[0].op_type == op_type]
    for case in cases:
        node = case.model.graph.node[0]
        attributes = {a.name: a.i if a.type == 2 else a.s.decode() for a in node.attribute}
        for given_inputs, outputs in case.data_sets:
            arrays = [numpy_helper.to_array(v) if hasattr(v, "dims") else np.asarray(v) for v in given_inputs]
            wanted = [numpy_helper.to_array(v) if hasattr(v, "dims") else np.asarray(v) for v in outputs]
            names = iter(arrays)
            inputs = [next(names) if name else None for name in node.input]
            results = iter(wanted)
            yield case.name, attributes, inputs, [next(results) if name else None for name in node.output]


@pytest.mark.parametrize("op_type", ["LSTM", "GRU"])
def test_the_onnx_node_cases_pass_direction_by_direction(op_type: str) -> None:
    seen = []
    for name, attributes, inputs, outputs in node_cases(op_type):
        x, w, r, b, lengths, initial_h, initial_c, p = inputs + [None] * (8 - len(inputs))
        first_batch = attributes.get("layout", 0) == 1
        x = np.swapaxes(x, 0, 1) if first_batch else x
        assert lengths is None or set(lengths) == {len(x)}
        batch_axis = 0 if first_batch else 1
        y_want, h_want = (None if v is None else np.moveaxis(v, -2, 0) if first_batch else v for v in outputs[:2])
        for d in range(len(w)):
            order = slice(None, None, -1 if d or attributes.get("direction") == "reverse" else 1)
            starts = [None if s is None else s.take(d, axis=1 - batch_axis) for s in (initial_h, initial_c)]
            net = weights(op_type, w[d], r[d], None if b is None else b[d])
            if op_type == "LSTM":
                y, h, _ = run_lstm(x[order], net, *starts, p=None if p is None else p[d])
            else:
                y, h = run_gru(x[order], net, starts[0], attributes.get("linear_before_reset", 0))
            np.testing.assert_allclose(h, h_want[d], rtol=1e-5, atol=1e-6, err_msg=name)
            if y_want is not None:
                want = np.swapaxes(y_want[d], 0, 1) if first_batch else y_want[:, d]
                np.testing.assert_allclose(y[order], want, rtol=1e-5, atol=1e-6, err_msg=name)
        seen.append(name)

    assert len(seen) >= 4, seen


@pytest.mark.parametrize("linear_before_reset", [0, 1])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_onnx_runtime_agrees_over_many_frames(kind: str, linear_before_reset: int) -> None:
    runtime = pytest.importorskip("onnxruntime")

    seq, batch, inputs, hidden = 40, 2, 5, 7
    net, x = layer(kind, inputs, hidden, 3, np.float32), frames(seq, batch, inputs, 3, np.float32)
    h0, c0 = np.random.default_rng(9).normal(0, 0.5, (2, batch, hidden)).astype(np.float32)
    names = ["x", "w", "r", "b", "", "h0"] + (["c0"] if kind == "LSTM" else [])
    attributes = {} if kind == "LSTM" else {"linear_before_reset": linear_before_reset}
    node = helper.make_node(kind, names, ["y", "h"], hidden_size=hidden, **attributes)
    feeds = {"x": x, "w": net.w[None], "r": net.r[None], "b": np.concatenate([net.wb, net.rb])[None], "h0": h0[None]}
    if kind == "LSTM":
        feeds["c0"] = c0[None]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in feeds.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "h")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    y_want, h_want = session.run(None, feeds)
    y, h = run_lstm(x, net, h0, c0)[:2] if kind == "LSTM" else run_gru(x, net, h0, linear_before_reset)

    np.testing.assert_allclose(y, y_want[:, 0], rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(h, h_want[0], rtol=1e-4, atol=2e-6)


def test_large_inputs_saturate_without_a_warning() -> None:
    net = layer("LSTM", 2, 3, 4, np.float32)

    h, c = lstm_step(np.full((1, 2), 1e30, np.float32), np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32), net)

    assert np.isfinite(h).all()
    assert np.isfinite(c).all()


def test_the_dtype_of_the_weights_is_the_dtype_of_the_states() -> None:
    for dtype in (np.float32, np.float64):
        y, h, c = run_lstm(frames(2, 1, 2, 0, dtype), layer("LSTM", 2, 3, 0, dtype))
        assert (y.dtype, h.dtype, c.dtype) == (dtype, dtype, dtype)


ZERO = np.zeros((1, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: weights("RNN", ZERO, ZERO), "kind 'RNN' is unknown", id="kind"),
        pytest.param(lambda: weights("GRU", np.zeros((8, 2)), np.zeros((9, 3))), r"w \(8, 2\)", id="w"),
        pytest.param(lambda: weights("GRU", np.zeros((9, 2)), np.zeros((9, 3)), np.zeros(9)), "do not fit", id="b"),
        pytest.param(lambda: weights("GRU", np.zeros((0, 2)), np.zeros((0, 0))), "do not fit", id="no hidden unit"),
        pytest.param(
            lambda: weights("GRU", np.zeros((9, 2), np.float32), np.zeros((9, 3))), "float32, float64", id="mixed"
        ),
        pytest.param(lambda: weights("GRU", np.zeros((9, 2), int), np.zeros((9, 3), int)), "int64", id="integers"),
        pytest.param(lambda: gru_step(np.zeros((1, 2)), ZERO, layer("LSTM", 2, 3, 0)), "weights of a LSTM", id="other"),
        pytest.param(lambda: gru_step(np.zeros((1, 4)), ZERO, layer("GRU", 2, 3, 0)), r"expected \[batch, 2\]", id="x"),
        pytest.param(lambda: gru_step(np.zeros((2, 2)), ZERO, layer("GRU", 2, 3, 0)), r"expected \(2, 3\)", id="h"),
        pytest.param(
            lambda: lstm_step(np.zeros((1, 2)), ZERO, ZERO, layer("LSTM", 2, 3, 0), np.zeros(3)), "peepholes", id="p"
        ),
        pytest.param(lambda: run_gru(np.zeros((1, 2)), layer("GRU", 2, 3, 0)), "seq, batch, input", id="frames"),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
