"""com.microsoft DynamicQuantizeLSTM: an LSTM whose products run on codes quantized anew at every call.

    dynamic_quantize_lstm com.microsoft DynamicQuantizeLSTM 1

The input is quantized once for the whole call (all moments and sequences together), the hidden state at every step
(all sequences together); gates, biases and states stay float32. Source: ONNX Runtime, contrib operator specification.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simcore.graph import Node
from simcore.matmul import FLOAT32_EXACT, Operand, exact_product, operand
from simcore.ops.recurrent import Direction, Step, by_moment, lstm_step, over_directions, summed_biases
from simcore.ops.recurrent_activation import activation_functions
from simcore.ops.widen import Array, float32_inside

__all__ = ["dynamic_quantize_lstm", "prepared_weights"]

#: Positions of w, r and their zero points among the inputs.
_WEIGHTS: Final = ((1, 9), (2, 11))
#: Stands for a scale of 0, by which nothing can be divided.
_LEAST: Final = np.full((), np.finfo(np.float32).tiny)
#: Largest code.
_TOP: Final = np.full((), 255, np.float32)


@float32_inside
def dynamic_quantize_lstm(
    x: Array,
    w: Array | Operand,
    r: Array | Operand,
    b: Array | None,
    sequence_lens: Array | None,
    initial_h: Array | None,
    initial_c: Array | None,
    p: Array | None,
    w_scale: Array,
    w_zero_point: Array | None,
    r_scale: Array,
    r_zero_point: Array | None,
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
        w: int8 or uint8 [D, I, 4H] (transposed against LSTM), gates in the order i, o, f, c; or prepared (with its
            zero point, which is then None), as r.
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
    inputs, states = _operand(w, w_zero_point), _operand(r, r_zero_point)
    directions, hidden = states.values.shape[:2]
    names = activations or ["Sigmoid", "Tanh", "Tanh"] * directions
    functions = activation_functions(names, activation_alpha, activation_beta, 3, direction)
    time, batch, size = x.shape

    def step_of(ds: slice) -> tuple[Array, Step]:
        recurrence, scale = Operand(states.values[ds], states.limit), _by_direction(r_scale[ds])

        def product(h: Array) -> Array:
            return _quantized_product(h, recurrence, scale)

        projected = _quantized_product(
            x.reshape(1, time * batch, size), Operand(inputs.values[ds], inputs.limit), _by_direction(w_scale[ds])
        )
        step = lstm_step(product, functions[ds.start], None if p is None else p[ds], clip, input_forget)
        return by_moment(projected, None if b is None else summed_biases(b[ds]), time, batch), step

    initial, sizes = (initial_h, initial_c), (directions, batch, hidden)
    y, y_h, y_c = over_directions(
        "DynamicQuantizeLSTM", step_of, functions, initial, sequence_lens, direction, sizes, x.dtype, 0
    )
    return y, y_h, y_c


def prepared_weights(constants: Sequence[Any], node: Node) -> dict[int, Any]:
    """Return the constant weights of a node in the form of the product, by position of the input they replace."""
    prepared: dict[int, Any] = {}
    for weight, zero_point in _WEIGHTS:
        codes, points = constants[weight], constants[zero_point]
        if codes is not None and points is not None:
            prepared |= {weight: _operand(codes, points), zero_point: None}
    return prepared


def _operand(codes: Array | Operand, zero_point: Array | None) -> Operand:
    """Return weights of all directions ready for the product; the zero point is [D] or [D, 4H]."""
    if isinstance(codes, Operand):
        return codes
    return operand(codes, 0 if zero_point is None else _by_direction(zero_point))


def _by_direction(x: Array) -> Array:
    """Return a scale or zero point, [D] or [D, 4H], so that it broadcasts to [D, rows, 4H]."""
    return x[:, None, None] if x.ndim == 1 else x[:, None]


def _quantized_product(a: Array, weights: Operand, scale: Array) -> Array:
    """Return the product of a, quantized to uint8 by its own range, with weights already quantized; float32.

    Args:
        a: float32 [D, rows, k], or [1, rows, k] for all directions; each entry of the first axis has its own range.
        weights: [D, k, columns].
        scale: broadcasts to [D, rows, columns].
    """
    low = np.minimum.reduce(a, axis=(1, 2), keepdims=True, initial=0)
    high = np.maximum.reduce(a, axis=(1, 2), keepdims=True, initial=0)
    # With a range of 0 all codes and sums are 0, whatever the scale.
    step = np.maximum((high - low) / _TOP, _LEAST)
    zero = np.rint(low / step)
    codes: NDArray[np.float32] = np.divide(a, step)
    np.rint(codes, out=codes)
    # At least 0 - the zero point without clipping, as low <= 0 and rint is symmetric; above, both may round up.
    np.minimum(codes, zero + _TOP, out=codes)
    if codes.shape[-1] * 255 * weights.limit <= FLOAT32_EXACT:
        # The bound of simcore.matmul holds for the whole row, so the float sum is the integer sum.
        product: Array = np.matmul(codes, weights.values)
    else:
        product = exact_product(Operand(codes, 255), weights).astype(np.float32)
    product *= step * scale
    return product
