"""Checks of LSTM and GRU, over simcore.recurrent, recurrent_quantized and drift."""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from simcore.drift import drift
from simcore.errors import BadArgument
from simcore.recurrent import GATES, Kind, gru_step, run_gru, run_lstm, weights
from simcore.recurrent_quantized import calibrate, run_quantized_gru, run_quantized_lstm

__all__ = ["gru_convention", "rnn_drift"]

#: Largest gates * hidden * (hidden + input) * frames of a run, so that two runs stay well below a second.
MOST_MACS: Final = 20_000_000


def rnn_drift(
    kind: str, hidden: int, inputs: int, frames: int, activation: str, weight: str, gain: float, seed: int
) -> Mapping[str, Any]:
    """Return how far a layer with quantized products strays from float, at some frames."""
    cell: Kind = "GRU" if kind == "GRU" else "LSTM"
    gates = len(GATES[cell])
    macs = gates * hidden * (hidden + inputs) * frames
    if macs > MOST_MACS:
        raise BadArgument(
            f"frames: {macs:,} multiplications for these sizes, allowed are {MOST_MACS:,}; take fewer frames or units"
        )
    rng = np.random.default_rng(seed)
    bound = gain / math.sqrt(hidden)
    w, r, b = (
        rng.uniform(-bound, bound, shape).astype(np.float32)
        for shape in ((gates * hidden, inputs), (gates * hidden, hidden), (2 * gates * hidden,))
    )
    layer = weights(cell, w, r, b)
    x = rng.standard_normal((frames, 1, inputs)).astype(np.float32)
    if cell == "GRU":
        y, _ = run_gru(x, layer, linear_before_reset=1)
        got, _ = run_quantized_gru(x, layer, calibrate(layer, x, y, activation=activation, weight=weight))
    else:
        y, _, _ = run_lstm(x, layer)
        got, _, _ = run_quantized_lstm(x, layer, calibrate(layer, x, y, activation=activation, weight=weight))
    report = drift(got, y)
    at = sorted({min(frames, 10**power) for power in range(3)} | {max(1, frames // 2), frames})
    settled = report.relative[frames // 2 :]
    return {
        "frames_shown": at,
        "relative": [float(report.relative[t - 1]) for t in at],
        "cosine": [float(report.cosine[t - 1]) for t in at],
        "first": float(report.relative[0]),
        "last": float(report.relative[-1]),
        "largest": float(report.relative.max()),
        "settled": float(np.mean(settled)),
        "max_error": float(report.max_absolute.max()),
        "lowest_cosine": float(report.cosine.min()),
    }


def gru_convention(
    x: float, h: float, w: float, r: float, wb: float, rb: float, reset: float, update: float
) -> Mapping[str, Any]:
    """Return candidate and new state of a GRU with one unit in both conventions of the reset gate."""
    with np.errstate(divide="ignore"):
        # Biases that make the gates exactly what is given: sigmoid(log(g / (1 - g))) = g.
        gate_r, gate_z = (float(np.log(g) - np.log1p(-g)) for g in (reset, update))

    def run(form: int, z: float) -> float:
        bias = np.asarray([z, gate_r, wb, 0.0, 0.0, rb])
        one = weights("GRU", np.asarray([[0.0], [0.0], [w]]), np.asarray([[0.0], [0.0], [r]]), bias)
        return float(gru_step(np.asarray([[x]]), np.asarray([[h]]), one, form)[0, 0])

    # An update gate of 0 passes the candidate through.
    found = {form: (run(form, -math.inf), run(form, gate_z)) for form in (0, 1)}
    flipped = run(0, -gate_z)
    return {
        "candidate_0": found[0][0],
        "candidate_1": found[1][0],
        "state_0": found[0][1],
        "state_1": found[1][1],
        "difference": abs(found[0][1] - found[1][1]),
        "state_0_flipped": flipped,
    }
