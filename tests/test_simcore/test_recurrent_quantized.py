"""Quantized LSTM and GRU equal a scalar oracle bit for bit; drift follows from bits, state and tables as it should."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from simcore.drift import drift
from simcore.errors import BadArgument
from simcore.fp16 import IEEE
from simcore.lut import build_table, evaluate
from simcore.quantize import params
from simcore.recurrent import run_gru, run_lstm, weights
from simcore.recurrent_quantized import (
    Quantization,
    calibrate,
    quantize_weights,
    quantized_gru_step,
    quantized_lstm_step,
    run_quantized_gru,
    run_quantized_lstm,
)
from tests.test_simcore import scalar_fp16 as scalar

LIMITS = {"int4": (-8, 7), "int8": (-128, 127), "int16": (-32768, 32767)}
TABLES = {
    "sigmoid": build_table(lambda x: 1 / (1 + np.exp(-x)), 257, -8, 8, output="int16", scale=1 / 32768),
    "tanh": build_table(np.tanh, 128, -4, 4, interpolation="nearest"),
}


def layer(kind: str, inputs: int, hidden: int, seed: int):
    random = np.random.default_rng(seed)
    rows = {"LSTM": 4, "GRU": 3}[kind] * hidden
    arrays = (
        random.normal(0, 0.6, shape).astype(np.float32) for shape in ((rows, inputs), (rows, hidden), (2 * rows,))
    )
    return weights(kind, *arrays)


def frames(seq: int, batch: int, inputs: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed + 1000).normal(0, 1, (seq, batch, inputs)).astype(np.float32)


class Scalar:
    """One batch row at a time with Python numbers; quantization in float32 quotients, as the library says."""

    def __init__(self, net, how: Quantization, reset_after: int) -> None:
        self.net, self.how, self.size, self.reset_after = net, how, net.hidden, reset_after

    def code(self, value: float, how) -> int:
        low, high = LIMITS[how.to]
        scale = float(how.scale)
        quotient = np.float32(value) / np.float32(scale) if how.form == "step" else None
        if how.form == "inverted_step":
            quotient = np.float32(value) * (np.float32(1) / np.float32(scale))
        return min(max(round(float(quotient)) + int(how.zero_point), low), high)

    def stored(self, value: float, how) -> float:
        if how is None:
            return value
        return scalar.settle(
            scalar.to_fp16(
                Fraction((self.code(value, how) - int(how.zero_point)) * float(how.scale)), negative_zero=False
            ),
            "saturate",
            "zero",
        )

    def part(self, row: int, values: list[float], how, matrix: np.ndarray, matrix_how, bias: np.ndarray) -> float:
        unit = float(how.scale) * float(matrix_how.scale)
        total = sum(
            (self.code(v, how) - int(how.zero_point)) * (self.code(float(m), matrix_how) - int(matrix_how.zero_point))
            for v, m in zip(values, matrix[row], strict=True)
        )
        total += round(float(bias[row]) / unit)
        total = min(max(total, -(2**31)), 2**31 - 1)
        return scalar.settle(scalar.to_fp16(Fraction(total * unit)), "saturate", "zero")

    def gate(self, row: int, x: list[float], h: list[float]) -> tuple[float, float]:
        net, how = self.net, self.how
        return (
            self.part(row, x, how.x, net.w, how.w, net.wb),
            self.part(row, h, how.h, net.r, how.r, net.rb),
        )

    def squash(self, x: float, name: str) -> float:
        form = getattr(self.how, name)
        if form == "direct":
            return getattr(scalar, name)(x)
        return scalar.to_fp16(Fraction(float(evaluate(form, x))))

    def lstm(self, x: list[float], h: list[float], c: list[float]) -> tuple[list[float], list[float]]:
        new_h, new_c = [], []
        for j in range(self.size):
            i, o, f, g = (scalar.add(*self.gate(k * self.size + j, x, h)) for k in range(4))
            kept = scalar.mul(self.squash(f, "sigmoid"), c[j])
            cell = scalar.add(kept, scalar.mul(self.squash(i, "sigmoid"), self.squash(g, "tanh")))
            state = scalar.mul(self.squash(o, "sigmoid"), self.squash(cell, "tanh"))
            new_h.append(self.stored(state, self.how.h if self.how.hidden == "codes" else None))
            new_c.append(self.stored(cell, self.how.cell))
        return new_h, new_c

    def gru(self, x: list[float], h: list[float]) -> list[float]:
        size = self.size
        z = [self.squash(scalar.add(*self.gate(j, x, h)), "sigmoid") for j in range(size)]
        reset = [self.squash(scalar.add(*self.gate(size + j, x, h)), "sigmoid") for j in range(size)]
        new_h = []
        for j in range(size):
            part, part_r = self.gate(2 * size + j, x, h)
            if self.reset_after:
                inner = scalar.mul(reset[j], part_r)
            else:
                inner = self.gate(2 * size + j, x, [scalar.mul(reset[k], h[k]) for k in range(size)])[1]
            candidate = self.squash(scalar.add(part, inner), "tanh")
            state = scalar.add(scalar.mul(scalar.sub(1.0, z[j]), candidate), scalar.mul(z[j], h[j]))
            new_h.append(self.stored(state, self.how.h if self.how.hidden == "codes" else None))
        return new_h


settings = st.fixed_dictionaries(
    {
        "activation": st.sampled_from(["int8", "int16"]),
        "weight": st.sampled_from(["int4", "int8"]),
        "convention": st.sampled_from(["amct_symmetric", "amct_asymmetric", "horizon"]),
        "weight_convention": st.sampled_from(["amct_symmetric", "horizon"]),
    }
)
variants = st.fixed_dictionaries(
    {
        "hidden": st.sampled_from(["fp16", "codes"]),
        "sigmoid": st.sampled_from(["direct", TABLES["sigmoid"]]),
        "tanh": st.sampled_from(["direct", TABLES["tanh"]]),
    }
)
dims = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 2), st.integers(1, 5), st.integers(0, 99))


def computed(function, *arguments, **settings):
    """Return the result, or drop the example: two fine int16 scales can leave a bias no int32 code, which is refused."""
    try:
        return function(*arguments, **settings)
    except BadArgument as error:
        assert "leaves int32" in str(error)
        reject()


@given(dims, settings, variants, st.sampled_from([None, params(4 / 32768, to="int16"), params(1 / 32)]))
def test_quantized_lstm_equals_the_scalar_oracle(sizes, setting, variant, cell) -> None:
    inputs, hidden, batch, seq, seed = sizes
    net, x = layer("LSTM", inputs, hidden, seed), frames(seq, batch, inputs, seed)
    how = replace(calibrate(net, x, run_lstm(x, net)[0], **setting), cell=cell, **variant)

    y, h, c = computed(run_quantized_lstm, x, net, how)

    for b in range(batch):
        oracle, state, store = Scalar(net, how, 0), [0.0] * hidden, [0.0] * hidden
        for t in range(seq):
            state, store = oracle.lstm([float(v) for v in x[t, b]], state, store)
            assert [float(v) for v in y[t, b]] == state
        assert [float(v) for v in h[b]] == state
        assert [float(v) for v in c[b]] == store


@given(dims, settings, variants, st.sampled_from([0, 1]))
def test_quantized_gru_equals_the_scalar_oracle(sizes, setting, variant, linear_before_reset: int) -> None:
    inputs, hidden, batch, seq, seed = sizes
    net, x = layer("GRU", inputs, hidden, seed), frames(seq, batch, inputs, seed)
    reference = run_gru(x, net, linear_before_reset=linear_before_reset)[0]
    how = replace(calibrate(net, x, reference, **setting), **variant)

    y, h = computed(run_quantized_gru, x, net, how, linear_before_reset=linear_before_reset)

    for b in range(batch):
        oracle, state = Scalar(net, how, linear_before_reset), [0.0] * hidden
        for t in range(seq):
            state = oracle.gru([float(v) for v in x[t, b]], state)
            assert [float(v) for v in y[t, b]] == state
        assert [float(v) for v in h[b]] == state


def run(kind: str, seq: int = 60, **setting):
    net, x = layer(kind, 8, 16, 5), frames(seq, 2, 8, 5)
    float_run, quantized = (run_lstm, run_quantized_lstm) if kind == "LSTM" else (run_gru, run_quantized_gru)
    arguments = {} if kind == "LSTM" else {"linear_before_reset": 1}
    want = float_run(x, net, **arguments)[0]
    fields = {name: setting.pop(name) for name in ("hidden", "sigmoid", "tanh") if name in setting}
    how = replace(calibrate(net, x, want, **setting), **fields)
    return drift(quantized(x, net, how, **arguments)[0], want)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_more_bits_drift_less(kind: str) -> None:
    narrow = run(kind, weight="int4").root_mean_square.mean()
    normal = run(kind).root_mean_square.mean()
    wide = run(kind, activation="int16", weight="int16").root_mean_square.mean()

    assert wide < normal < narrow
    assert wide < 2e-3
    assert normal < 2e-2


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_state_kept_as_int8_codes_drifts_more_than_fp16_state(kind: str) -> None:
    wide = {"activation": "int8", "weight": "int16"}

    assert run(kind, hidden="codes", **wide).root_mean_square.mean() > run(kind, **wide).root_mean_square.mean()


def test_a_coarse_table_drifts_more_than_fp16_functions() -> None:
    coarse = build_table(np.tanh, 9, -2, 2, interpolation="nearest")
    wide = {"activation": "int16", "weight": "int16"}

    assert run("GRU", tanh=coarse, **wide).max_absolute.max() > 5 * run("GRU", **wide).max_absolute.max()


def test_the_error_of_an_undamped_state_grows_from_frame_to_frame() -> None:
    """With the update gate shut at 1 - 2^-9 the fp16 state loses what float keeps."""
    net = weights("GRU", np.zeros((3, 1)), np.zeros((3, 1)), np.array([7.0, 0, 20.0, 0, 0, 0]))
    x = np.zeros((200, 1, 1))
    want = run_gru(x, net, linear_before_reset=1)[0]
    how = Quantization(x=params(0.01), h=params(1 / 127), w=params(0.01), r=params(0.01), hidden="codes")

    report = drift(run_quantized_gru(x, net, how)[0], want)

    assert report.max_absolute[9] < report.max_absolute[99] < report.max_absolute[199]
    assert report.max_absolute[199] > 0.1


def test_initial_states_are_stored_before_the_first_frame() -> None:
    net, x = layer("LSTM", 2, 3, 1), frames(1, 1, 2, 1)
    h0, c0 = np.full((1, 3), 0.3, np.float32), np.full((1, 3), 0.7, np.float32)
    how = replace(calibrate(net, x, h0[None]), hidden="codes", cell=params(0.25))
    prepared = quantize_weights(net, how)
    h_stored = np.full((1, 3), scalar.to_fp16(Fraction(127 * float(how.h.scale))), np.float16)
    c_stored = np.full((1, 3), 0.75, np.float16)

    y, h, c = run_quantized_lstm(x, net, how, h0, c0)
    want_h, want_c = quantized_lstm_step(x[0], h_stored, c_stored, prepared, how)

    assert np.array_equal(y[0], want_h)
    assert np.array_equal(h, want_h)
    assert np.array_equal(c, want_c)


def test_channel_scales_along_the_gate_rows_equal_a_layer_per_row_scale() -> None:
    net, x = layer("GRU", 3, 2, 2), frames(4, 1, 3, 2)
    one = calibrate(net, x, run_gru(x, net, linear_before_reset=1)[0])
    same = replace(
        one,
        w=params(np.full(6, one.w.scale), axis=0, form="inverted_step"),
        r=params(np.full(6, one.r.scale), axis=0, form="inverted_step"),
    )

    assert np.array_equal(run_quantized_gru(x, net, same)[0], run_quantized_gru(x, net, one)[0])


def test_no_frames_give_no_output_and_the_initial_state() -> None:
    net, x = layer("GRU", 3, 2, 2), frames(4, 1, 3, 2)
    how = calibrate(net, x, run_gru(x, net)[0])

    y, h = run_quantized_gru(x[:0], net, how)

    assert y.shape == (0, 1, 2)
    assert np.array_equal(h, np.zeros((1, 2)))


def test_overflow_of_the_fp16_parts_follows_the_mode() -> None:
    net = weights("GRU", np.full((3, 1), 1e4), np.zeros((3, 1)))
    how = Quantization(x=params(1.0), h=params(1 / 127), w=params(100.0), r=params(1.0))
    h = np.zeros((1, 1), np.float16)

    saturated = quantized_gru_step(np.full((1, 1), 100.0), h, quantize_weights(net, how), how)
    ieee = replace(how, mode=IEEE, tanh="exponential")

    assert float(saturated[0, 0]) == 0.0
    assert math.isnan(float(quantized_gru_step(np.full((1, 1), 100.0), h, quantize_weights(net, ieee), ieee)[0, 0]))


@pytest.mark.parametrize(
    ("overflow", "total"),
    [("wide", 4 * 32767 * 32767), ("saturate", 2**31 - 1), ("wrap", 4 * 32767 * 32767 - 2**32)],
)
def test_the_accumulator_overflows_as_asked(overflow: str, total: int) -> None:
    """The tanh of the candidate shows the accumulator: 4 * 32767**2 needs 33 bits."""
    net = weights("GRU", np.repeat([0.0, 0.0, 32767.0], 4).reshape(3, 4), np.zeros((3, 1)))
    unit = 2.0**-16
    how = Quantization(
        x=params(unit, to="int16"),
        h=params(1.0),
        w=params(1.0, to="int16"),
        r=params(1.0),
        overflow=overflow,
        tanh=build_table(lambda x: x, 2, -65504, 65504),
    )

    got = quantized_gru_step(np.ones((1, 4)), np.zeros((1, 1), np.float16), quantize_weights(net, how), how)

    want = scalar.settle(scalar.to_fp16(Fraction(total * unit)), "saturate", "zero")
    assert float(got[0, 0]) == scalar.mul(0.5, want)


# drift


def test_drift_equals_a_loop_over_frames() -> None:
    random = np.random.default_rng(4)
    got, want = random.normal(size=(2, 5, 3, 2))

    report = drift(got, want)

    for t in range(5):
        pairs = list(zip(got[t].ravel(), want[t].ravel(), strict=True))
        error = math.sqrt(math.fsum((g - w) ** 2 for g, w in pairs))
        sizes = math.sqrt(math.fsum(g * g for g, _ in pairs)), math.sqrt(math.fsum(w * w for _, w in pairs))
        assert report.max_absolute[t] == max(abs(g - w) for g, w in pairs)
        assert report.root_mean_square[t] == pytest.approx(error / math.sqrt(6))
        assert report.relative[t] == pytest.approx(error / sizes[1])
        assert report.cosine[t] == pytest.approx(math.fsum(g * w for g, w in pairs) / (sizes[0] * sizes[1]))


def test_drift_of_zero_frames_is_defined() -> None:
    report = drift(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))

    assert list(report.relative) == [0.0, math.inf, 1.0]
    assert list(report.cosine) == [1.0, 0.0, 0.0]
    assert drift(np.zeros((0, 2)), np.zeros((0, 2))).max_absolute.shape == (0,)


NET = layer("GRU", 3, 2, 2)
HOW = Quantization(x=params(0.1), h=params(0.1), w=params(0.1), r=params(0.1))
H = np.zeros((1, 2), np.float16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda: quantize_weights(NET, replace(HOW, hidden="int8")), "hidden 'int8' is unknown", id="hidden"
        ),
        pytest.param(
            lambda: quantize_weights(NET, replace(HOW, x=params([0.1], axis=0))), "x is quantized along", id="x axis"
        ),
        pytest.param(
            lambda: quantize_weights(NET, replace(HOW, w=params([0.1] * 3, axis=1))), "along axis 1", id="w axis"
        ),
        pytest.param(
            lambda: quantize_weights(NET, replace(HOW, x=params(1e-9), w=params(1e-9))), "leaves int32", id="b"
        ),
        pytest.param(
            lambda: quantized_lstm_step(np.zeros((1, 3)), H, H, quantize_weights(NET, HOW), HOW), "of a GRU", id="kind"
        ),
        pytest.param(
            lambda: quantized_gru_step(np.zeros((1, 4)), H, quantize_weights(NET, HOW), HOW), "batch, 3", id="frame"
        ),
        pytest.param(
            lambda: quantized_gru_step(np.zeros((2, 3)), H, quantize_weights(NET, HOW), HOW), r"\(2, 2\)", id="state"
        ),
        pytest.param(lambda: drift(np.zeros(3), np.zeros(4)), "give two equal", id="drift shapes"),
        pytest.param(lambda: drift(np.zeros((3, 0)), np.zeros((3, 0))), "not empty", id="drift empty"),
        pytest.param(lambda: drift(np.array([math.nan]), np.zeros(1)), "NaN or inf", id="drift NaN"),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call()
