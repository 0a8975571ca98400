"""RNN, GRU, LSTM and DynamicQuantizeLSTM against ONNX Runtime, and against scalar loops written from the formulas."""

import math

import numpy as np
import pytest

from simcore.errors import BadArgument
from simcore.ops.dynamic_quantize_lstm import dynamic_quantize_lstm
from simcore.ops.recurrent import gru, lstm, rnn
from tests.test_simcore.onnx_runtime_oracle import safe_weights
from tests.test_simcore.operators import assert_near, node_of, onnxruntime_run

T, B, N, H = 6, 3, 4, 5
OPS = {"RNN": (rnn, 1, 1), "GRU": (gru, 3, 2), "LSTM": (lstm, 4, 3)}


def _inputs(op, directions=1, lens=False, initial=False, peepholes=False, bias=True, layout=0, seed=5):
    _, gates, _ = OPS[op]
    generator = np.random.default_rng(seed)
    normal = lambda *shape: (generator.standard_normal(shape) * 0.7).astype(np.float32)  # noqa: E731
    state = (B, directions, H) if layout else (directions, B, H)
    inputs = [
        normal(*((B, T, N) if layout else (T, B, N))),
        normal(directions, gates * H, N),
        normal(directions, gates * H, H),
        normal(directions, 2 * gates * H) if bias else None,
        np.array([6, 2, 4], np.int32) if lens else None,
        normal(*state) if initial else None,
    ]
    if op == "LSTM":
        inputs += [normal(*state) if initial else None, normal(directions, 3 * H) if peepholes else None]
    return inputs


def _attributes(op, **given):
    _, _, activations = OPS[op]
    directions = 2 if given.get("direction") == "bidirectional" else 1
    if "activations" in given:
        given["activations"] = (given["activations"] * 3)[:activations] * directions
    return {"hidden_size": H, **given}


CASES = {
    "plain": ({}, {}),
    "no bias": ({"bias": False}, {}),
    "reverse": ({}, {"direction": "reverse"}),
    "bidirectional": ({"directions": 2, "initial": True}, {"direction": "bidirectional"}),
    "lengths": ({"lens": True, "initial": True}, {}),
    "lengths reverse": ({"lens": True, "initial": True}, {"direction": "reverse"}),
    "lengths both": ({"directions": 2, "lens": True}, {"direction": "bidirectional"}),
    "clip": ({"initial": True}, {"clip": 0.3}),
    "relu": ({}, {"activations": ["Relu"], "clip": 5.0}),
    "softsign": ({}, {"activations": ["Softsign", "Tanh", "Softplus"]}),
    "elu": ({}, {"activations": ["Elu", "Sigmoid", "Tanh"], "activation_alpha": [0.7]}),
    "leaky relu": ({}, {"activations": ["LeakyRelu", "Sigmoid", "Tanh"], "activation_alpha": [0.2]}),
    "hard sigmoid": (
        {},
        {"activations": ["HardSigmoid", "Tanh", "Tanh"], "activation_alpha": [0.3], "activation_beta": [0.4]},
    ),
    "thresholded relu": ({}, {"activations": ["ThresholdedRelu", "Tanh", "Tanh"], "activation_alpha": [0.2]}),
    "scaled tanh": (
        {},
        {"activations": ["ScaledTanh", "Tanh", "Tanh"], "activation_alpha": [0.8], "activation_beta": [0.6]},
    ),
    "affine": ({}, {"activations": ["Affine", "Tanh", "Tanh"], "activation_alpha": [0.4], "activation_beta": [0.1]}),
}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(("inputs", "attributes"), CASES.values(), ids=CASES)
def test_recurrent_layer_equals_onnx_runtime(op, inputs, attributes):
    function, _, _ = OPS[op]
    arguments, attributes = _inputs(op, **inputs), _attributes(op, **attributes)
    node = node_of(op, arguments, outputs=3 if op == "LSTM" else 2, **attributes)
    expected = onnxruntime_run(node, 14, arguments, constant=(1, 2))

    for got, wanted in zip(function(*arguments, **attributes), expected, strict=True):
        assert_near(got, wanted, rtol=2e-5)


@pytest.mark.parametrize("attributes", [{}, {"clip": 0.3}, {"input_forget": 1}], ids=str)
@pytest.mark.parametrize("peepholes", [False, True])
def test_lstm_peepholes_and_coupled_gates_equal_onnx_runtime(attributes, peepholes):
    arguments = _inputs("LSTM", peepholes=peepholes, initial=True)
    attributes = _attributes("LSTM", **attributes)
    expected = onnxruntime_run(node_of("LSTM", arguments, outputs=3, **attributes), 14, arguments, constant=(1, 2))

    for got, wanted in zip(lstm(*arguments, **attributes), expected, strict=True):
        assert_near(got, wanted, rtol=2e-5)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("clip", [None, 0.4])
def test_gru_linear_before_reset_equals_onnx_runtime(direction, clip):
    arguments = _inputs("GRU", directions=1 + (direction == "bidirectional"), initial=True, lens=True)
    attributes = _attributes("GRU", linear_before_reset=1, direction=direction, **({"clip": clip} if clip else {}))
    expected = onnxruntime_run(node_of("GRU", arguments, outputs=2, **attributes), 14, arguments, constant=(1, 2))

    for got, wanted in zip(gru(*arguments, **attributes), expected, strict=True):
        assert_near(got, wanted, rtol=2e-5)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_batch_first_layout_is_a_transposition(op, direction):
    function, _, _ = OPS[op]
    first = _inputs(op, directions=1 + (direction == "bidirectional"), initial=True, lens=True, layout=1)
    swapped = [x if x is None or i in (1, 2, 3, 4, 7) else x.swapaxes(0, 1) for i, x in enumerate(first)]

    y, *states = function(*first, direction=direction, layout=1)
    expected_y, *expected_states = function(*swapped, direction=direction)

    assert_near(y, expected_y.transpose(2, 0, 1, 3))
    for got, wanted in zip(states, expected_states, strict=True):
        assert_near(got, wanted.swapaxes(0, 1))


@pytest.mark.parametrize("op", OPS)
def test_an_empty_sequence_ends_as_in_onnx_runtime(op):
    function, _, _ = OPS[op]
    arguments = _inputs(op, lens=True)
    arguments[4] = np.array([6, 0, 3], np.int32)
    node = node_of(op, arguments, outputs=3 if op == "LSTM" else 2, hidden_size=H)
    expected = onnxruntime_run(node, 14, arguments, constant=(1, 2))

    for got, wanted in zip(function(*arguments), expected, strict=True):
        assert_near(got, wanted, rtol=2e-5)


def _sigmoid(v):
    return 1 / (1 + math.exp(-v))


def test_lstm_equals_a_scalar_loop():
    x, w, r, b, _, h0, c0, p = _inputs("LSTM", initial=True, peepholes=True)
    y, y_h, y_c = lstm(x, w, r, b, None, h0, c0, p)

    for batch in range(B):
        h, c = [float(v) for v in h0[0, batch]], [float(v) for v in c0[0, batch]]
        for t in range(T):
            total = [
                sum(float(w[0, k, i]) * float(x[t, batch, i]) for i in range(N))
                + sum(float(r[0, k, j]) * h[j] for j in range(H))
                + float(b[0, k])
                + float(b[0, 4 * H + k])
                for k in range(4 * H)
            ]
            after_h, after_c = [], []
            for j in range(H):
                i_gate = _sigmoid(total[j] + float(p[0, j]) * c[j])
                forget = _sigmoid(total[2 * H + j] + float(p[0, 2 * H + j]) * c[j])
                cell = forget * c[j] + i_gate * math.tanh(total[3 * H + j])
                output = _sigmoid(total[H + j] + float(p[0, H + j]) * cell)
                after_c.append(cell)
                after_h.append(output * math.tanh(cell))
            h, c = after_h, after_c
            np.testing.assert_allclose(y[t, 0, batch], h, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(y_h[0, batch], h, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(y_c[0, batch], c, rtol=1e-4, atol=1e-6)


def _quantized_inputs(
    directions, per_channel, weight_type, lens=False, initial=False, peepholes=False, hidden=32, size=24
):
    generator = np.random.default_rng(11)
    normal = lambda *shape: generator.standard_normal(shape).astype(np.float32)  # noqa: E731
    codes = lambda *shape: safe_weights(generator, np.dtype(weight_type).name, shape)  # noqa: E731
    scales = (directions, 4 * hidden) if per_channel else (directions,)
    scale = lambda: (generator.random(scales) * 0.002 + 0.001).astype(np.float32)  # noqa: E731
    # ONNX Runtime takes zero points other than 0 only for unsigned weights.
    point = lambda: np.full(scales, 0 if weight_type == np.int8 else 128, weight_type)  # noqa: E731
    return [
        normal(9, 2, size),
        codes(directions, size, 4 * hidden),
        codes(directions, hidden, 4 * hidden),
        normal(directions, 8 * hidden) * np.float32(0.1),
        np.array([9, 5], np.int32) if lens else None,
        normal(directions, 2, hidden) if initial else None,
        normal(directions, 2, hidden) if initial else None,
        normal(directions, 3 * hidden) * np.float32(0.1) if peepholes else None,
        scale(),
        point(),
        scale(),
        point(),
    ]


@pytest.mark.parametrize("weight_type", [np.int8, np.uint8])
@pytest.mark.parametrize("per_channel", [False, True], ids=["per tensor", "per channel"])
@pytest.mark.parametrize(
    ("direction", "extras"),
    [
        ("forward", {}),
        ("reverse", {"initial": True}),
        ("bidirectional", {"initial": True}),
        ("bidirectional", {"lens": True}),
        ("forward", {"peepholes": True, "initial": True}),
        ("bidirectional", {"size": 700}),
    ],
    ids=["forward", "reverse", "both", "both with lengths", "peepholes", "many inputs"],
)
def test_dynamic_quantize_lstm_equals_onnx_runtime(weight_type, per_channel, direction, extras):
    arguments = _quantized_inputs(1 + (direction == "bidirectional"), per_channel, weight_type, **extras)
    node = node_of(
        "DynamicQuantizeLSTM", arguments, outputs=3, domain="com.microsoft", direction=direction, hidden_size=32
    )
    weights = (1, 2, 3, 7, 8, 9, 10, 11)
    expected = onnxruntime_run(node, 14, arguments, domains=(("com.microsoft", 1),), constant=weights)

    for got, wanted in zip(dynamic_quantize_lstm(*arguments, direction=direction), expected, strict=True):
        assert_near(got, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({"direction": "backward"}, "direction"),
        ({"direction": "bidirectional"}, "activations|direction"),
        ({"activations": ["Sigmoid", "Tanh"]}, "activations"),
        ({"activations": ["Sigmoid", "Tanh", "Gelu"]}, "Gelu"),
    ],
)
def test_what_does_not_fit_is_named(attributes, says):
    with pytest.raises(BadArgument, match=says):
        lstm(*_inputs("LSTM"), **attributes)
