"""com.microsoft DynamicQuantizeLSTM: an LSTM whose products run on codes quantized anew at every call.

    dynamic_quantize_lstm com.microsoft DynamicQuantizeLSTM 1

The input is quantized once for the whole call (all moments and sequences together), the hidden state at every step
(all sequences together); gates, biases and states stay float32. Source: ONNX Runtime, contrib operator specification.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simcore.matmul import Operand, exact_product, operand
from simcore.ops.recurrent import Direction, Step, lstm_step, over_directions
from simcore.ops.recurrent_activation import activation_functions
from simcore.ops.widen import Array, float32_inside

__all__ = ["dynamic_quantize_lstm"]


@float32_inside
def dynamic_quantize_lstm(
    x: Array,
    w: Array,
    r: Array,
    b: Array | None,
    sequence_lens: Array | None,
    initial_h: Array | None,
    initial_c: Array | None,
    p: Array | None,
    w_scale: Array,
    w_zero_point: Array,
    r_scale: Array,
    r_zero_point: Array,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
) -> tuple[Array, Array, Array]:
    """Return (y, y_h, y_c) as `recurrent.lstm`, products taken as below.

    Formula of a product with weights of scale ws and zero point wz: `a_scale = (max(a, 0) - min(a, 0)) / 255` (1 if
    that is 0), `a_zero = rint(-min(a, 0) / a_scale)`, `q = clip(rint(a / a_scale) + a_zero, 0, 255)`,
    `float32(sum((q - a_zero) * (w - wz))) * (a_scale * ws)`. The integer sum is exact.

    Args:
        x: float32 [T, B, I].
        w: int8 or uint8 [D, I, 4H] (transposed against LSTM), gates in the order i, o, f, c.
        r: int8 or uint8 [D, H, 4H].
        b: float32 [D, 8H] or None.
        sequence_lens: int32 [B] or None.
        initial_h: float32 [D, B, H] or None.
        initial_c: likewise.
        p: float32 [D, 3H] or None.
        w_scale: float32 [D] or, per column, [D, 4H].
        w_zero_point: type of w, shape of w_scale.
        r_scale: as w_scale.
        r_zero_point: as w_zero_point.
        activation_alpha: see `recurrent.lstm`, as the other attributes.
        activation_beta: likewise.
        activations: likewise.
        clip: likewise.
        direction: likewise.
        hidden_size: likewise.
        input_forget: likewise.

    Raises:
        BadArgument: shapes, direction or activations do not fit.
    """
    names = activations or ["Sigmoid", "Tanh", "Tanh"] * w.shape[0]
    functions = activation_functions(names, activation_alpha, activation_beta, 3, direction)
    time, batch, size = x.shape

    def step_of(d: int) -> tuple[Array, Step]:
        inputs, states = operand(w[d], w_zero_point[d]), operand(r[d], r_zero_point[d])
        bias = np.zeros(w.shape[2], x.dtype) if b is None else np.add(*np.split(b[d], 2))

        def product(projected: Array, h: Array) -> Array:
            return np.asarray(projected + _quantized_product(h, states, r_scale[d]) + bias)

        projected = _quantized_product(x.reshape(time * batch, size), inputs, w_scale[d]).reshape(time, batch, -1)
        return projected, lstm_step(product, functions[d], None if p is None else p[d], clip, input_forget)

    initial = (initial_h, initial_c)
    y, y_h, y_c = over_directions("DynamicQuantizeLSTM", step_of, initial, sequence_lens, direction, r, x, 0)
    return y, y_h, y_c


def _quantized_product(a: Array, weights: Operand, scale: Array) -> Array:
    """Return the product of a, quantized to uint8 by its own range, with weights already quantized; float32."""
    low, high = np.float32(min(a.min(), 0)), np.float32(max(a.max(), 0))
    step = (high - low) / np.float32(255) if high > low else np.float32(1)
    # Between 0 and 255 without clipping, as low <= 0 <= high.
    zero = np.rint(-low / step)
    codes: NDArray[np.float32] = np.divide(a, step, dtype=np.float32)
    np.rint(codes, out=codes)
    codes.clip(-zero, np.float32(255) - zero, out=codes)
    return np.asarray(exact_product(Operand(codes, 255), weights).astype(np.float32) * (step * scale))
