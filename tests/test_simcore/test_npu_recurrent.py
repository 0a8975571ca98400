"""LSTM and GRU nodes on codes: every direction equals simcore.recurrent_quantized, which has its own scalar oracle."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from simcore.activations import sigmoid
from simcore.errors import ModelError, UnsupportedOp
from simcore.execute import run
from simcore.fp16 import IEEE
from simcore.load_onnx import load_onnx_bytes
from simcore.lut import build_table
from simcore.precision import Float32, Half, Precision, Quantized, Setting
from simcore.presets import nano
from simcore.quantize import params_from_range
from simcore.recurrent import Weights
from simcore.recurrent_quantized import Quantization, run_quantized_gru, run_quantized_lstm
from tests.test_simcore.graphs import one

F = np.float32
T, B, SIZE, H = 5, 2, 3, 4
GATES = {"LSTM": 4, "GRU": 3}
DIRECTIONS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}

SIGMOID_TABLE = build_table(lambda x: 1 / (1 + np.exp(-x)), 257, -8, 8, interpolation="linear")
RULES = {
    "nano": nano().network.recurrent,
    "nano int16": nano("int16").network.recurrent,
    "symmetric, direct": Quantized("int8", "int8", "amct_symmetric", is_per_channel=False),
    "int4 weights, IEEE, wrap": Quantized("int8", "int4", "onnx_symmetric", "onnx_symmetric", overflow="wrap", output=Half(IEEE)),
    "forms": Quantized("int16", "int8", "amct_asymmetric", output=Half(sigmoid="exponential", tanh="exp_2x")),
    "one table": Quantized(output=Half(sigmoid=SIGMOID_TABLE)),
}  # fmt: skip


def arrays(kind: str, direction: str, layout: int, has_bias: bool, has_state: bool, seed: int = 0) -> dict[str, Any]:
    """Return the inputs of a node in ONNX's order; None for those left out."""
    rng = np.random.default_rng(seed)
    d, gates = len(DIRECTIONS[direction]), GATES[kind]
    state = (B, d, H) if layout else (d, B, H)

    def values(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.6, shape).astype(F)

    found: dict[str, Any] = {
        "x": values(B, T, SIZE) if layout else values(T, B, SIZE),
        "w": values(d, gates * H, SIZE),
        "r": values(d, gates * H, H),
        "b": values(d, 2 * gates * H) if has_bias else None,
        "lens": None,
        "h0": values(*state) * F(0.5) if has_state else None,
    }
    if kind == "LSTM":
        found["c0"] = values(*state) if has_state else None
    while next(reversed(found.values())) is None:
        found.popitem()
    return found


def run_node(
    kind: str,
    inputs: Mapping[str, Any],
    rule: Any,
    count: int | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    **attributes: Any,
) -> list[np.ndarray]:
    data = one(kind, inputs, count or (3 if kind == "LSTM" else 2), hidden_size=H, **attributes).SerializeToString()
    feeds = {name: value for name, value in inputs.items() if value is not None}
    precision = None if rule is None else Precision(Setting("test", rule, rule, rule), ranges=ranges or {})
    return list(run(load_onnx_bytes(data), feeds, precision=precision).values())


def over(values: np.ndarray, to: str, convention: str) -> Any:
    return params_from_range(values.min(), values.max(), convention, to)


def oracle(
    kind: str, inputs: Mapping[str, Any], rule: Quantized, y: np.ndarray, direction: str, layout: int, reset: int
) -> list[np.ndarray]:
    """Return the outputs direction by direction; `y` is what the hidden state is measured on."""
    half = rule.output
    assert isinstance(half, Half)
    x = inputs["x"].swapaxes(0, 1) if layout else inputs["x"]
    all_y, all_h, all_c = [], [], []
    for d, is_backward in enumerate(DIRECTIONS[direction]):
        rows = GATES[kind] * H
        b = np.zeros(2 * rows, F) if inputs.get("b") is None else inputs["b"][d]
        layer = Weights(kind, inputs["w"][d], inputs["r"][d], b[:rows], b[rows:])  # type: ignore[arg-type]
        how = Quantization(
            x=over(x, rule.activation, rule.convention),
            h=over(y, rule.activation, rule.convention),
            w=over(layer.w, rule.weight, rule.weight_convention),
            r=over(layer.r, rule.weight, rule.weight_convention),
            sigmoid=half.sigmoid,
            tanh=half.tanh,
            overflow=rule.overflow,
            mode=half.mode,
        )
        h0, c0 = (None if s is None else (s[:, d] if layout else s[d]) for s in (inputs.get("h0"), inputs.get("c0")))
        frames = x[::-1] if is_backward else x
        if kind == "LSTM":
            out, h, c = run_quantized_lstm(frames, layer, how, h0, c0)
            all_c.append(c)
        else:
            out, h = run_quantized_gru(frames, layer, how, h0, reset)
        all_y.append(out[::-1] if is_backward else out)
        all_h.append(h)
    stacked = np.stack(all_y, 1)
    states = [np.stack(s, 1 if layout else 0) for s in (all_h, all_c) if s]
    return [np.moveaxis(stacked, 2, 0) if layout else stacked, *states]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("has_bias", "has_state"), [(True, True), (False, False)], ids=["all inputs", "x w r"])
@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("kind", "reset"), [("LSTM", 0), ("GRU", 0), ("GRU", 1)])
def test_a_node_equals_the_quantized_layer_direction_by_direction(
    kind: str, reset: int, direction: str, layout: int, has_bias: bool, has_state: bool, rule: str
) -> None:
    inputs = arrays(kind, direction, layout, has_bias, has_state)
    attributes = {"direction": direction, "layout": layout} | ({"linear_before_reset": 1} if reset else {})
    chosen = RULES[rule]
    assert isinstance(chosen, Quantized)
    golden = run_node(kind, inputs, None, **attributes)

    got = run_node(kind, inputs, chosen, **attributes)
    seen = np.concatenate([golden[0].ravel(), inputs["h0"].ravel()]) if has_state else golden[0]
    want = oracle(kind, inputs, chosen, seen, direction, layout, reset)

    assert len(got) == len(want) == len(golden)
    for one_got, one_want, one_golden in zip(got, want, golden, strict=True):
        assert one_got.shape == one_golden.shape and one_got.dtype == one_golden.dtype
        assert np.array_equal(one_got, one_want.astype(F))
    assert np.abs(got[0] - golden[0]).max() < (0.3 if "int4" in rule else 0.05)


def test_the_two_gru_conventions_differ() -> None:
    inputs = arrays("GRU", "forward", 0, True, True)
    rule = Quantized()

    assert not np.array_equal(run_node("GRU", inputs, rule)[0], run_node("GRU", inputs, rule, linear_before_reset=1)[0])


def test_a_calibrated_range_of_y_serves_the_hidden_state() -> None:
    inputs = arrays("LSTM", "forward", 0, True, False)
    rule = Quantized()
    wide = {"y0": (-4.0, 4.0)}

    got = run_node("LSTM", inputs, rule, ranges=wide)
    want = oracle("LSTM", inputs, rule, np.float32([-4, 4]), "forward", 0, 0)

    assert np.array_equal(got[0], want[0].astype(F))
    assert not np.array_equal(got[0], run_node("LSTM", inputs, rule)[0])


def test_a_calibrated_range_of_x_is_used() -> None:
    inputs = arrays("GRU", "forward", 0, True, False)
    narrow = run_node("GRU", inputs, Quantized(), ranges={"x": (-0.01, 0.01)})[0]
    clipped = dict(inputs, x=np.clip(inputs["x"], -0.01, 0.01).astype(F))

    assert np.abs(narrow - run_node("GRU", clipped, Quantized())[0]).max() < 0.02
    assert np.abs(narrow - run_node("GRU", inputs, Quantized())[0]).max() > 0.02


def test_outputs_left_out_may_be_left_out() -> None:
    inputs = arrays("LSTM", "forward", 0, True, True)

    assert np.array_equal(run_node("LSTM", inputs, Quantized(), count=1)[0], run_node("LSTM", inputs, Quantized())[0])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_element_types_keep_theirs(dtype: type) -> None:
    inputs = {k: v if v is None else v.astype(dtype) for k, v in arrays("LSTM", "bidirectional", 0, True, True).items()}

    assert {y.dtype for y in run_node("LSTM", inputs, Quantized(), direction="bidirectional")} == {np.dtype(dtype)}


def test_no_frames_give_no_outputs() -> None:
    inputs = arrays("GRU", "forward", 0, True, True)
    inputs["x"] = inputs["x"][:0]

    y, h = run_node("GRU", inputs, Quantized())

    assert y.shape == (0, 1, B, H)
    np.testing.assert_allclose(h, inputs["h0"], atol=1e-3)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_default_activations_may_be_named(kind: str) -> None:
    inputs = arrays(kind, "bidirectional", 0, True, False)
    names = ["Sigmoid", "Tanh", "Tanh"][: GATES[kind] - 1] * 2
    named = run_node(kind, inputs, Quantized(), direction="bidirectional", activations=names)

    for got, want in zip(named, run_node(kind, inputs, Quantized(), direction="bidirectional"), strict=True):
        assert np.array_equal(got, want)


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], Any]] = {
    "activations": ("LSTM", {}, {"activations": ["Sigmoid", "Tanh", "Relu"]}, Quantized()),
    "clip": ("GRU", {}, {"clip": 0.5}, Quantized()),
    "input_forget": ("LSTM", {}, {"input_forget": 1}, Quantized()),
    "sequence_lens": ("GRU", {"lens": np.array([T, T - 1], np.int32)}, {}, Quantized()),
    "P": ("LSTM", {"p": np.zeros((1, 3 * H), F)}, {}, Quantized()),
    "output=Half": ("LSTM", {}, {}, Quantized(output=Float32())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_quantized_form_is_named_with_its_node(name: str) -> None:
    kind, extra, attributes, rule = REFUSED[name]
    inputs = arrays(kind, "forward", 0, True, True) | extra

    with pytest.raises(UnsupportedOp, match=f"node 'node' \\({kind}\\): .*{name}") as caught:
        run_node(kind, inputs, rule, **attributes)

    assert str(caught.value).count("node 'node'") == 1


@pytest.mark.parametrize("name", ["sequence_lens", "clip", "P"])
def test_what_has_no_quantized_form_still_runs_in_fp16(name: str) -> None:
    kind, extra, attributes, _ = REFUSED[name]
    inputs = arrays(kind, "forward", 0, True, True) | extra

    got = run_node(kind, inputs, Half(), **attributes)
    golden = run_node(kind, inputs, None, **attributes)

    for one_got, one_want in zip(got, golden, strict=True):
        np.testing.assert_allclose(one_got, one_want, atol=3e-3)
        assert np.array_equal(one_got, one_got.astype(np.float16).astype(F))


def test_fp16_layers_keep_float32_states_and_round_once() -> None:
    inputs = arrays("LSTM", "bidirectional", 0, True, True)
    rounded = {k: v if v is None else v.astype(np.float16).astype(F) for k, v in inputs.items()}

    got = run_node("LSTM", inputs, Half(), direction="bidirectional")
    want = run_node("LSTM", rounded, None, direction="bidirectional")

    for one_got, one_want in zip(got, want, strict=True):
        assert np.array_equal(one_got, one_want.astype(np.float16).astype(F))


def test_a_bias_that_leaves_int32_is_refused_with_the_node() -> None:
    inputs = arrays("LSTM", "forward", 0, True, False)
    inputs = inputs | {"x": inputs["x"] * F(1e-6), "b": inputs["b"] * F(1e6)}

    with pytest.raises(ModelError, match=r"node 'node' \(LSTM\): recurrent: a bias of .* leaves int32"):
        run_node("LSTM", inputs, Quantized())


def test_sums_that_leave_int32_follow_the_overflow_rule() -> None:
    # The sum of three products of 32767^2 leaves int32.
    inputs = arrays("LSTM", "forward", 0, False, False)
    inputs = inputs | {"x": np.ones_like(inputs["x"]), "w": np.ones_like(inputs["w"])}
    rules = {
        o: Quantized("int16", "int16", "onnx_symmetric", "onnx_symmetric", overflow=o)
        for o in ("saturate", "wrap", "wide")
    }
    golden = run_node("LSTM", inputs, None)
    results = {name: run_node("LSTM", inputs, rule)[0] for name, rule in rules.items()}

    for name, rule in rules.items():
        assert np.array_equal(results[name], oracle("LSTM", inputs, rule, golden[0], "forward", 0, 0)[0].astype(F))
    assert np.abs(results["wide"] - golden[0]).max() < 0.01
    assert not np.array_equal(results["saturate"], results["wide"])
    assert not np.array_equal(results["wrap"], results["saturate"])


def test_directions_must_fit_the_weights() -> None:
    inputs = arrays("LSTM", "forward", 0, True, False)

    with pytest.raises(ModelError, match=r"node 'node' \(LSTM\): .*bidirectional"):
        run_node("LSTM", inputs, Quantized(), direction="bidirectional")


def test_the_preset_reads_its_gates_from_tables() -> None:
    rule, plain = nano().network.recurrent, nano(is_table=False).network.recurrent
    assert isinstance(rule, Quantized) and isinstance(rule.output, Half)
    inputs = arrays("GRU", "forward", 0, True, True)

    assert not np.array_equal(run_node("GRU", inputs, rule)[0], run_node("GRU", inputs, plain)[0])
    table = rule.output.sigmoid
    assert np.asarray(sigmoid(np.float16([0.0]))).item() == table.entries[1024] == 0.5  # type: ignore[union-attr]
