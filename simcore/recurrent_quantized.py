"""LSTM and GRU with quantized state, frame by frame, and how far they drift from float.

One frame, as an NPU with an integer cube and an fp16 vector unit computes it:

    qx = quantize(x), qh = quantize(h)                        codes of `activation` width
    acc = qx @ qw.T + qwb,  acc_r = qh @ qr.T + qrb           exact integers, then the chosen overflow
    part = fp16(acc * step_x * step_w), likewise for acc_r    rounded once
    gates = sigmoid or tanh of part + part_r                  fp16 operations, or tables
    h', c'                                                    fp16 operations in the order of the ONNX formulas

The state goes to the next frame as fp16 or as codes. Its error is fed back, so it accumulates; `drift.drift` measures
it. Sources: the cube takes integers only and the vector unit computes in fp16 (Nano AI application guide); LSTM and
GRU are quantized per tensor, biases to int32 with step_x * step_w (AMCT guide). How Nano fuses the steps is not
published: the order above is an assumption.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simcore import fp16, matmul
from simcore.activations import SigmoidForm, TanhForm, sigmoid, tanh
from simcore.errors import BadArgument
from simcore.fp16 import SATURATE, Fp16, Mode, round_fp16
from simcore.lut import Table, evaluate
from simcore.quantize import QuantParams, dequantize, params_from_range, quantize, step, tensor_range
from simcore.recurrent import Float, Kind, Weights, start
from simcore.rounding import Overflow, narrow_int32

__all__ = [
    "Quantization",
    "QuantizedWeights",
    "calibrate",
    "quantize_weights",
    "quantized_gru_step",
    "quantized_lstm_step",
    "run_quantized_gru",
    "run_quantized_lstm",
]

_ONE = np.float16(1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Quantization:
    """How a recurrent layer is computed; `calibrate` makes one, `dataclasses.replace` changes a field."""

    x: QuantParams
    """Input frames, per tensor."""
    h: QuantParams
    """Hidden state where it enters the matrix product, per tensor."""
    w: QuantParams
    """Input weights, per tensor or along axis 0."""
    r: QuantParams
    """Recurrence weights, likewise."""
    hidden: Literal["fp16", "codes"] = "fp16"
    """What becomes of h between frames and at the output: kept in fp16, or only its codes (then back to fp16)."""
    cell: QuantParams | None = None
    """LSTM cell state between frames as codes, per tensor; None keeps it in fp16."""
    sigmoid: Table | SigmoidForm = "direct"
    """A table, or a form of activations.sigmoid."""
    tanh: Table | TanhForm = "direct"
    """A table, or a form of activations.tanh."""
    overflow: Overflow = "saturate"
    """Of the int32 accumulator after the bias."""
    mode: Mode = SATURATE
    """Of the fp16 operations."""


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedWeights:
    """Codes of weights and biases, prepared for the products; made by `quantize_weights`."""

    kind: Kind
    hidden: int
    w: matmul.Operand
    """[input, gates * hidden]."""
    r: matmul.Operand
    """[hidden, gates * hidden]."""
    wb: NDArray[np.int64]
    """[gates * hidden], in units of step_x * step_w."""
    rb: NDArray[np.int64]
    """[gates * hidden], in units of step_h * step_r."""


def calibrate(
    weights: Weights,
    x: Float,
    y: Float,
    *,
    activation: str = "int8",
    weight: str = "int8",
    convention: str = "amct_symmetric",
    weight_convention: str = "amct_symmetric",
) -> Quantization:
    """Return a quantization whose ranges are those of a float run, everything per tensor, states in fp16.

    Args:
        weights: Of the float layer.
        x: Frames of the run [seq, batch, input].
        y: Hidden states of the run [seq, batch, hidden], from run_lstm or run_gru; include initial states as frames
            if they reach farther.
        activation: Integer type of x and h, such as int8 or int16.
        weight: Integer type of w and r, such as int4 or int8.
        convention: Rule for x and h, see quantize.CONVENTIONS.
        weight_convention: Rule for w and r.

    Raises:
        BadArgument: As tensor_range and params_from_range: empty or not finite data, unknown names.
    """
    x_low, x_high = tensor_range(x)
    h_low, h_high = tensor_range(y)
    w_low, w_high = tensor_range(weights.w)
    r_low, r_high = tensor_range(weights.r)
    return Quantization(
        x=params_from_range(x_low, x_high, convention, activation),
        h=params_from_range(h_low, h_high, convention, activation),
        w=params_from_range(w_low, w_high, weight_convention, weight),
        r=params_from_range(r_low, r_high, weight_convention, weight),
    )


def quantize_weights(weights: Weights, how: Quantization) -> QuantizedWeights:
    """Return the codes of a layer: `quantize(w)`, `quantize(r)`, biases `rint(b / (step_x * step_w))` for int32.

    Raises:
        BadArgument: An unknown `hidden`; a channel axis other than 0, a channel count that does not fit, x, h or cell
            not per tensor; or a bias whose code leaves int32 (AMCT stops there too: the steps are too small for it).
    """
    if how.hidden not in ("fp16", "codes"):
        raise BadArgument(f"recurrent: hidden {how.hidden!r} is unknown; choose fp16 or codes.")
    for name, params in (("x", how.x), ("h", how.h), ("cell", how.cell)):
        if params is not None and params.axis is not None:
            raise BadArgument(f"recurrent: {name} is quantized along axis {params.axis}; give one scale.")
    return QuantizedWeights(
        kind=weights.kind,
        hidden=weights.hidden,
        w=_operand(weights.w, how.w),
        r=_operand(weights.r, how.r),
        wb=_bias(weights.wb, step(how.x) * step(how.w)),
        rb=_bias(weights.rb, step(how.h) * step(how.r)),
    )


def quantized_lstm_step(x: Float, h: Fp16, c: Fp16, weights: QuantizedWeights, how: Quantization) -> tuple[Fp16, Fp16]:
    """Return `(h', c')` after one frame of a quantized LSTM, by the module's scheme.

    Formula in fp16 operations, a = part + part_r: `i, o, f = sigmoid(a)`, `g = tanh(a_c)`, `c' = f * c + i * g`,
    `h' = o * tanh(c')`, then h' and c' as `how.hidden` and `how.cell` store them; tanh reads c' before it is stored.

    Args:
        x: Input [batch, input], float16, float32 or float64.
        h: Hidden state [batch, hidden].
        c: Cell state [batch, hidden].
        weights: Of kind LSTM.
        how: The quantization the weights were made with.

    Raises:
        BadArgument: Weights of another kind, or shapes or dtypes that do not fit.
    """
    _check(weights, "LSTM", x, h, c)
    mode = how.mode
    gates = fp16.add(_input_part(x, weights, how), _state_part(h, weights, how), mode)
    a_i, a_o, a_f, a_c = np.split(gates, 4, axis=-1)
    kept = fp16.mul(_sigmoid(a_f, how), c, mode)
    c_new = fp16.add(kept, fp16.mul(_sigmoid(a_i, how), _tanh(a_c, how), mode), mode)
    h_new = fp16.mul(_sigmoid(a_o, how), _tanh(c_new, how), mode)
    return _stored(h_new, how.h if how.hidden == "codes" else None, mode), _stored(c_new, how.cell, mode)


def quantized_gru_step(
    x: Float, h: Fp16, weights: QuantizedWeights, how: Quantization, linear_before_reset: int = 1
) -> Fp16:
    """Return h' after one frame of a quantized GRU, by the module's scheme.

    Formula in fp16 operations: `z, r = sigmoid(part + part_r)`, `h' = (1 - z) * n + z * h` with
    linear_before_reset not 0: `n = tanh(part_h + r * part_r_h)`, one product with the state (the only form on Nano);
    0: `n = tanh(part_h + part_r_h(r * h))`, where `r * h` is rounded to fp16 and quantized like h: a second product.

    Args:
        x: Input [batch, input], float16, float32 or float64.
        h: Hidden state [batch, hidden].
        weights: Of kind GRU.
        how: The quantization the weights were made with.
        linear_before_reset: The ONNX attribute, 0 or not 0.

    Raises:
        BadArgument: Weights of another kind, or shapes or dtypes that do not fit.
    """
    _check(weights, "GRU", x, h)
    mode, size = how.mode, weights.hidden
    part, part_r = _input_part(x, weights, how), _state_part(h, weights, how)
    gates = _sigmoid(fp16.add(part[:, : 2 * size], part_r[:, : 2 * size], mode), how)
    z, reset = gates[:, :size], gates[:, size:]
    if linear_before_reset == 0:
        recurrent = _state_part(fp16.mul(reset, h, mode), weights, how)[:, 2 * size :]
    else:
        recurrent = fp16.mul(reset, part_r[:, 2 * size :], mode)
    candidate = _tanh(fp16.add(part[:, 2 * size :], recurrent, mode), how)
    fresh = fp16.mul(fp16.sub(_ONE, z, mode), candidate, mode)
    h_new = fp16.add(fresh, fp16.mul(z, h, mode), mode)
    return _stored(h_new, how.h if how.hidden == "codes" else None, mode)


def run_quantized_lstm(
    x: Float, weights: Weights, how: Quantization, initial_h: Float | None = None, initial_c: Float | None = None
) -> tuple[Fp16, Fp16, Fp16]:
    """Return `(y, h, c)` of a quantized LSTM over frames, by `quantized_lstm_step`.

    Args:
        x: Frames [seq, batch, input].
        weights: Of the float layer, of kind LSTM.
        how: See `Quantization`.
        initial_h: [batch, hidden], put into the stored form first; None starts at zero.
        initial_c: Likewise.

    Returns:
        y float16 [seq, batch, hidden], h and c float16 [batch, hidden].

    Raises:
        BadArgument: As the step and `quantize_weights`.
    """
    prepared = quantize_weights(weights, how)
    h = _stored(round_fp16(start(x, weights, initial_h), how.mode), how.h if how.hidden == "codes" else None, how.mode)
    c = _stored(round_fp16(start(x, weights, initial_c), how.mode), how.cell, how.mode)
    y = np.empty((len(x), *h.shape), np.float16)
    for t, frame in enumerate(x):
        h, c = quantized_lstm_step(frame, h, c, prepared, how)
        y[t] = h
    return y, h, c


def run_quantized_gru(
    x: Float, weights: Weights, how: Quantization, initial_h: Float | None = None, linear_before_reset: int = 1
) -> tuple[Fp16, Fp16]:
    """Return `(y, h)` of a quantized GRU over frames; arguments and errors as `run_quantized_lstm`."""
    prepared = quantize_weights(weights, how)
    h = _stored(round_fp16(start(x, weights, initial_h), how.mode), how.h if how.hidden == "codes" else None, how.mode)
    y = np.empty((len(x), *h.shape), np.float16)
    for t, frame in enumerate(x):
        h = quantized_gru_step(frame, h, prepared, how, linear_before_reset)
        y[t] = h
    return y, h


def _input_part(x: Float, weights: QuantizedWeights, how: Quantization) -> Fp16:
    return _part(x, how.x, weights.w, weights.wb, step(how.x) * step(how.w), how)


def _state_part(h: Fp16, weights: QuantizedWeights, how: Quantization) -> Fp16:
    return _part(h, how.h, weights.r, weights.rb, step(how.h) * step(how.r), how)


def _part(
    values: Float,
    params: QuantParams,
    matrix: matmul.Operand,
    bias: NDArray[np.int64],
    unit: NDArray[np.float64],
    how: Quantization,
) -> Fp16:
    """Return `fp16(overflow(quantize(values) @ matrix + bias) * unit)`."""
    codes = matmul.operand(quantize(values, params), params.zero_point)
    acc = narrow_int32(matmul.exact_product(codes, matrix) + bias, how.overflow)
    return round_fp16(acc * unit, how.mode)


def _operand(values: Float, params: QuantParams) -> matmul.Operand:
    if params.axis not in (None, 0):
        raise BadArgument(
            f"recurrent: weights quantized along axis {params.axis}; only axis 0 (gate rows) or none fit."
        )
    points = params.zero_point if params.axis is None else params.zero_point[:, None]
    prepared = matmul.operand(quantize(values, params), points)
    return matmul.Operand(np.ascontiguousarray(prepared.values.T), prepared.limit)


def _bias(b: Float, unit: NDArray[np.float64]) -> NDArray[np.int64]:
    codes = np.rint(np.asarray(b, np.float64) / unit)
    if not (np.abs(codes) < 2.0**31).all():
        raise BadArgument(f"recurrent: a bias of {np.abs(b).max():g} leaves int32 in units of {np.min(unit):g}.")
    return codes.astype(np.int64)


def _stored(values: Fp16, params: QuantParams | None, mode: Mode) -> Fp16:
    """Return fp16 values as they come back from storage: unchanged, or through their codes."""
    if params is None:
        return values
    return round_fp16(dequantize(quantize(values, params), params, "float64"), mode)


def _sigmoid(x: Fp16, how: Quantization) -> Fp16:
    if isinstance(how.sigmoid, Table):
        return round_fp16(evaluate(how.sigmoid, x, how.mode.nan), how.mode)
    return sigmoid(x, how.sigmoid, how.mode)


def _tanh(x: Fp16, how: Quantization) -> Fp16:
    if isinstance(how.tanh, Table):
        return round_fp16(evaluate(how.tanh, x, how.mode.nan), how.mode)
    return tanh(x, how.tanh, how.mode)


def _check(weights: QuantizedWeights, kind: Kind, x: Float, *states: Fp16) -> None:
    if weights.kind != kind:
        raise BadArgument(f"{kind}: got weights of a {weights.kind}.")
    if x.ndim != 2 or x.shape[1] != weights.w.values.shape[0]:
        raise BadArgument(f"{kind}: frame of shape {x.shape}; expected [batch, {weights.w.values.shape[0]}].")
    for state in states:
        if state.shape != (x.shape[0], weights.hidden):
            raise BadArgument(f"{kind}: state of shape {state.shape}; expected {(x.shape[0], weights.hidden)}.")
