"""LSTM and GRU one frame at a time in float32 or float64: the reference that quantized state is compared with.

Weights, gate order and equations are ONNX's (operators LSTM and GRU, one forward direction, default activations):

    LSTM gates i, o, f, c    c' = f * c + i * tanh(..)    h' = o * tanh(c')
    GRU  gates z, r, h       h' = (1 - z) * tanh(..) + z * h

GRU has two conventions for where the reset gate acts, `linear_before_reset`: 0 multiplies the state before the matrix
product (ONNX default, HiSilicon SVP), 1 multiplies the product and its bias (PyTorch exports, the only one on Nano).
The two are different networks: the same weights give different results.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument

__all__ = ["GATES", "Float", "Kind", "Weights", "gru_step", "lstm_step", "run_gru", "run_lstm", "start", "weights"]

Float = NDArray[np.floating]
Kind = Literal["LSTM", "GRU"]

GATES: dict[Kind, str] = {"LSTM": "iofc", "GRU": "zrh"}
"""Order of the gates along the first axis of the weights, as ONNX stores them."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weights of one direction; made and checked by `weights`."""

    kind: Kind
    w: Float
    """Input weights [gates * hidden, input]."""
    r: Float
    """Recurrence weights [gates * hidden, hidden]."""
    wb: Float
    """Input bias [gates * hidden]."""
    rb: Float
    """Recurrence bias [gates * hidden]."""

    @property
    def hidden(self) -> int:
        """The hidden size."""
        return int(self.r.shape[1])


def weights(kind: Kind, w: Float, r: Float, b: Float | None = None) -> Weights:
    """Return checked weights of one direction, in ONNX order.

    Args:
        kind: `LSTM` (4 gates, order i o f c) or `GRU` (3 gates, order z r h).
        w: [gates * hidden, input], float32 or float64: the ONNX input W without its direction axis.
        r: [gates * hidden, hidden], same dtype: R.
        b: [2 * gates * hidden], same dtype: B, the input biases before the recurrence biases. None counts as zeros.

    Raises:
        BadArgument: An unknown kind, shapes that do not fit, or dtypes other than one of float32, float64 for all.
    """
    if kind not in GATES:
        raise BadArgument(f"recurrent: kind {kind!r} is unknown; choose LSTM or GRU.")
    rows = len(GATES[kind]) * (r.shape[-1] if r.ndim else 0)
    bias = np.zeros(2 * rows, w.dtype) if b is None else b
    if w.ndim != 2 or r.ndim != 2 or rows == 0 or w.shape[0] != rows or r.shape[0] != rows or bias.shape != (2 * rows,):
        shapes = f"w {w.shape}, r {r.shape}, b {bias.shape}"
        raise BadArgument(f"{kind}: {shapes} do not fit [{len(GATES[kind])}H, I], [.., H], [{2 * len(GATES[kind])}H].")
    _same_float(w, r, bias)
    return Weights(kind, w, r, bias[:rows], bias[rows:])


def lstm_step(x: Float, h: Float, c: Float, weights: Weights, p: Float | None = None) -> tuple[Float, Float]:
    """Return `(h', c')` after one frame of an LSTM.

    Formula: with a = `x @ w.T + h @ r.T + wb + rb` cut into the gates,
    `i = sigmoid(a_i + p_i * c)`, `f = sigmoid(a_f + p_f * c)`, `c' = f * c + i * tanh(a_c)`,
    `o = sigmoid(a_o + p_o * c')`, `h' = o * tanh(c')`.

    Source: ONNX operator LSTM with default activations, no clip, input_forget = 0.

    Args:
        x: Input [batch, input], the dtype of the weights; products accumulate in it.
        h: Hidden state [batch, hidden].
        c: Cell state [batch, hidden].
        weights: Of kind LSTM.
        p: Peephole weights [3 * hidden] in the order i, o, f; None for none.

    Raises:
        BadArgument: Weights of another kind, shapes that do not fit, or mixed dtypes.
    """
    _check(weights, "LSTM", x, h, c)
    peep = np.zeros(3 * weights.hidden, x.dtype) if p is None else p
    if peep.shape != (3 * weights.hidden,):
        raise BadArgument(f"LSTM: peepholes {peep.shape}; expected [{3 * weights.hidden}].")
    p_i, p_o, p_f = np.split(peep, 3)
    a_i, a_o, a_f, a_c = np.split(x @ weights.w.T + h @ weights.r.T + weights.wb + weights.rb, 4, axis=-1)
    c_new = _sigmoid(a_f + p_f * c) * c + _sigmoid(a_i + p_i * c) * np.tanh(a_c)
    return _sigmoid(a_o + p_o * c_new) * np.tanh(c_new), c_new


def gru_step(x: Float, h: Float, weights: Weights, linear_before_reset: int = 0) -> Float:
    """Return h' after one frame of a GRU.

    Formula: with `a = x @ w.T + wb`, `z = sigmoid(a_z + h @ r_z.T + rb_z)`, r likewise,
    linear_before_reset = 0: `n = tanh(a_h + (r * h) @ r_h.T + rb_h)`,
    otherwise: `n = tanh(a_h + r * (h @ r_h.T + rb_h))`, and `h' = (1 - z) * n + z * h`.

    Source: ONNX operator GRU with default activations, no clip.

    Args:
        x: Input [batch, input], the dtype of the weights; products accumulate in it.
        h: Hidden state [batch, hidden].
        weights: Of kind GRU.
        linear_before_reset: The ONNX attribute, 0 or not 0.

    Raises:
        BadArgument: Weights of another kind, shapes that do not fit, or mixed dtypes.
    """
    _check(weights, "GRU", x, h)
    size = weights.hidden
    a = x @ weights.w.T + weights.wb
    gates = _sigmoid(a[:, : 2 * size] + h @ weights.r[: 2 * size].T + weights.rb[: 2 * size])
    z, reset = gates[:, :size], gates[:, size:]
    r_h, rb_h = weights.r[2 * size :].T, weights.rb[2 * size :]
    recurrent = (reset * h) @ r_h + rb_h if linear_before_reset == 0 else reset * (h @ r_h + rb_h)
    return (1 - z) * np.tanh(a[:, 2 * size :] + recurrent) + z * h


def run_lstm(
    x: Float, weights: Weights, initial_h: Float | None = None, initial_c: Float | None = None, p: Float | None = None
) -> tuple[Float, Float, Float]:
    """Return `(y, h, c)`: the hidden state after each frame and the last states, by `lstm_step`.

    Args:
        x: Frames [seq, batch, input] (ONNX layout 0).
        weights: Of kind LSTM.
        initial_h: [batch, hidden]; None starts at zero.
        initial_c: Likewise.
        p: Peephole weights, see `lstm_step`.

    Returns:
        y [seq, batch, hidden], h and c [batch, hidden], in the dtype of the weights.

    Raises:
        BadArgument: As `lstm_step`, or x has not three axes.
    """
    h, c = start(x, weights, initial_h), start(x, weights, initial_c)
    y = np.empty((len(x), *h.shape), h.dtype)
    for t, frame in enumerate(x):
        h, c = lstm_step(frame, h, c, weights, p)
        y[t] = h
    return y, h, c


def run_gru(
    x: Float, weights: Weights, initial_h: Float | None = None, linear_before_reset: int = 0
) -> tuple[Float, Float]:
    """Return `(y, h)`: the hidden state after each frame and the last one, by `gru_step`; arguments as `run_lstm`."""
    h = start(x, weights, initial_h)
    y = np.empty((len(x), *h.shape), h.dtype)
    for t, frame in enumerate(x):
        h = gru_step(frame, h, weights, linear_before_reset)
        y[t] = h
    return y, h


def start(x: Float, weights: Weights, state: Float | None) -> Float:
    """Return a first state [batch, hidden] in the weights' dtype: the one given, or zeros.

    Raises:
        BadArgument: x has not three axes (seq, batch, input).
    """
    if x.ndim != 3:
        raise BadArgument(f"{weights.kind}: frames of shape {x.shape}; expected [seq, batch, input].")
    return np.zeros((x.shape[1], weights.hidden), weights.w.dtype) if state is None else state


def _check(weights: Weights, kind: Kind, x: Float, *states: Float) -> None:
    if weights.kind != kind:
        raise BadArgument(f"{kind}: got weights of a {weights.kind}; build them with weights({kind!r}, ...).")
    if x.ndim != 2 or x.shape[1] != weights.w.shape[1]:
        raise BadArgument(f"{kind}: frame of shape {x.shape}; expected [batch, {weights.w.shape[1]}].")
    for state in states:
        if state.shape != (x.shape[0], weights.hidden):
            raise BadArgument(f"{kind}: state of shape {state.shape}; expected {(x.shape[0], weights.hidden)}.")
    _same_float(weights.w, x, *states)


def _same_float(*arrays: Float) -> None:
    dtypes = {str(array.dtype) for array in arrays}
    if dtypes not in ({"float32"}, {"float64"}):
        raise BadArgument(f"recurrent: dtypes {', '.join(sorted(dtypes))}; give float32 or float64 for all.")


def _sigmoid(x: Float) -> Float:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))
