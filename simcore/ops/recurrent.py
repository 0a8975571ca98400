"""RNN, GRU and LSTM over time, with every attribute of the specification.

Operators by (name, first opset version served):

    gru GRU 7 · lstm LSTM 7 · rnn RNN 7

Flow, for every direction: project all inputs at once, `x @ W^T + bias`; then step by step `h @ R^T`, gates, new state
(`scan`). One step is a plain function of the projected input and the state, so `dynamic_quantize_lstm` reuses all of it
but the products.

Axes: T time, B batch, I inputs, H hidden, D directions. Accumulators have the type of x (float16: float32).
Source: ONNX operator specification.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.recurrent_activation import Activation, activation_functions
from simcore.ops.widen import Array, float32_inside

__all__ = ["Direction", "State", "Step", "gru", "lstm", "lstm_step", "over_directions", "rnn"]

Direction = Literal["forward", "reverse", "bidirectional"]
#: Arrays [B, H]: (h,) or (h, c).
State = tuple[Array, ...]
#: Projected input of one moment [B, gates * H] and the state -> the next state.
Step = Callable[[Array, State], State]


@float32_inside
def rnn(
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    sequence_lens: Array | None = None,
    initial_h: Array | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
) -> tuple[Array, Array]:
    """Return (y, y_h) of a simple recurrent layer.

    Formula: `h = f(x W^T + Wb + h R^T + Rb)`, clipped to +-clip before f. Arguments and results as for `lstm`, with
    w [D, H, I], r [D, H, H], b [D, 2H]; default activation Tanh.
    """
    functions = activation_functions(
        activations or ["Tanh"] * w.shape[0], activation_alpha, activation_beta, 1, direction
    )

    def step_of(d: int) -> tuple[Array, Step]:
        (f,), recurrence = functions[d], r[d].T

        def step(projected: Array, state: State) -> State:
            return (f(_clipped(projected + np.matmul(state[0], recurrence), clip)),)

        return _project(_time_first(x, layout), w[d], None if b is None else np.add(*np.split(b[d], 2))), step

    y, y_h = over_directions("RNN", step_of, (initial_h,), sequence_lens, direction, r, x, layout)
    return y, y_h


@float32_inside
def gru(
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    sequence_lens: Array | None = None,
    initial_h: Array | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Array, Array]:
    """Return (y, y_h) of a gated recurrent layer.

    Formulas (gates in the order z, r, h):
        z = f(x Wz^T + h Rz^T + Wbz + Rbz),  r = f(x Wr^T + h Rr^T + Wbr + Rbr)
        n = g(x Wh^T + (r * h) Rh^T + Wbh + Rbh)          linear_before_reset = 0
        n = g(x Wh^T + r * (h Rh^T + Rbh) + Wbh)          linear_before_reset = 1 (PyTorch, Keras with reset_after)
        h = (1 - z) * n + z * h

    Arguments of f and g are clipped to +-clip. Arguments and results as for `lstm`, with w [D, 3H, I], r [D, 3H, H],
    b [D, 6H]; default activations Sigmoid, Tanh.
    """
    names = activations or ["Sigmoid", "Tanh"] * w.shape[0]
    functions = activation_functions(names, activation_alpha, activation_beta, 2, direction)
    size = r.shape[-1]

    def step_of(d: int) -> tuple[Array, Step]:
        (f, g), recurrence = functions[d], r[d].T
        gates, candidate = recurrence[:, : 2 * size], recurrence[:, 2 * size :]
        input_bias, state_bias = np.zeros((2, 3 * size), x.dtype) if b is None else np.split(b[d], 2)
        inner = state_bias[2 * size :]
        merged = input_bias + state_bias
        if linear_before_reset:
            merged[2 * size :] = input_bias[2 * size :]

        def step(projected: Array, state: State) -> State:
            (h,) = state
            if linear_before_reset:
                product = np.matmul(h, recurrence)
                zr = f(_clipped(projected[:, : 2 * size] + product[:, : 2 * size], clip))
                n = projected[:, 2 * size :] + zr[:, size:] * (product[:, 2 * size :] + inner)
            else:
                zr = f(_clipped(projected[:, : 2 * size] + np.matmul(h, gates), clip))
                n = projected[:, 2 * size :] + np.matmul(zr[:, size:] * h, candidate)
            z, n = zr[:, :size], g(_clipped(n, clip))
            return (n + z * (h - n),)

        return _project(_time_first(x, layout), w[d], merged), step

    y, y_h = over_directions("GRU", step_of, (initial_h,), sequence_lens, direction, r, x, layout)
    return y, y_h


@float32_inside
def lstm(
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    sequence_lens: Array | None = None,
    initial_h: Array | None = None,
    initial_c: Array | None = None,
    p: Array | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> tuple[Array, Array, Array]:
    """Return (y, y_h, y_c) of a long short-term memory layer.

    Formulas (gates in the order i, o, f, c; P the peepholes in the order i, o, f):
        i = f(x Wi^T + h Ri^T + Pi * c + Wbi + Rbi),  f likewise (or 1 - i with input_forget)
        n = g(x Wc^T + h Rc^T + Wbc + Rbc),           c = f * c + i * n
        o = f(x Wo^T + h Ro^T + Po * c + Wbo + Rbo),  h = o * h_activation(c)

    Arguments of f and g are clipped to +-clip.

    Args:
        x: [T, B, I], with layout 1 [B, T, I].
        w: [D, 4H, I].
        r: [D, 4H, H].
        b: [D, 8H], input biases then recurrence biases; None for 0.
        sequence_lens: int32 [B], valid moments of every sequence; None for all T. Outputs beyond are 0, the reverse
            direction starts at each sequence's own end, and the last state of an empty sequence is 0.
        initial_h: [D, B, H], with layout 1 [B, D, H]; None for 0.
        initial_c: as initial_h.
        p: [D, 3H] or None.
        activation_alpha: values for the activations that take one, in order.
        activation_beta: likewise.
        activations: three names per direction; Sigmoid, Tanh, Tanh if None.
        clip: bound of the arguments of gates; None for no bound.
        direction: forward, reverse or bidirectional.
        hidden_size: H; follows from r.
        input_forget: 1 couples the gates.
        layout: 1 for batch first.

    Returns:
        y [T, D, B, H] (layout 1: [B, T, D, H]), the last h and the last c [D, B, H] (layout 1: [B, D, H]).

    Raises:
        BadArgument: shapes, direction or activations do not fit.
    """
    names = activations or ["Sigmoid", "Tanh", "Tanh"] * w.shape[0]
    functions = activation_functions(names, activation_alpha, activation_beta, 3, direction)

    def step_of(d: int) -> tuple[Array, Step]:
        recurrence = r[d].T

        def product(projected: Array, h: Array) -> Array:
            return np.asarray(projected + np.matmul(h, recurrence))

        step = lstm_step(product, functions[d], None if p is None else p[d], clip, input_forget)
        return _project(_time_first(x, layout), w[d], None if b is None else np.add(*np.split(b[d], 2))), step

    y, y_h, y_c = over_directions("LSTM", step_of, (initial_h, initial_c), sequence_lens, direction, r, x, layout)
    return y, y_h, y_c


def lstm_step(
    product: Callable[[Array, Array], Array],
    functions: Sequence[Activation],
    peepholes: Array | None,
    clip: float | None,
    input_forget: int,
) -> Step:
    """Return the step function of an LSTM whose gate arguments are `product(projected, h)`, [B, 4H]."""
    f, g, output = functions

    def step(projected: Array, state: State) -> State:
        h, c = state
        gates, size = product(projected, h), h.shape[1]
        if peepholes is None:
            opened = f(_clipped(gates[:, : 3 * size], clip))
            i, o, forget = opened[:, :size], opened[:, size : 2 * size], opened[:, 2 * size :]
        else:
            i = f(_clipped(gates[:, :size] + peepholes[:size] * c, clip))
            forget = f(_clipped(gates[:, 2 * size : 3 * size] + peepholes[2 * size :] * c, clip))
        if input_forget:
            forget = 1 - i
        c = forget * c + i * g(_clipped(gates[:, 3 * size :], clip))
        if peepholes is not None:
            o = f(_clipped(gates[:, size : 2 * size] + peepholes[size : 2 * size] * c, clip))
        return o * output(c), c

    return step


def over_directions(
    op: str,
    step_of: Callable[[int], tuple[Array, Step]],
    initial: Sequence[Array | None],
    sequence_lens: Array | None,
    direction: Direction,
    r: Array,
    x: Array,
    layout: int,
) -> tuple[Array, ...]:
    """Return y and the last states of all directions, laid out as the node asks.

    Args:
        op: Operator name for messages.
        step_of: direction number -> (projected inputs [T, B, gates * H], step).
        initial: initial states, None for 0.
        sequence_lens: int32 [B] or None.
        direction: forward, reverse or bidirectional.
        r: recurrence weights, first axis D.
        x: the input, for its batch and type.
        layout: 1 for batch first.

    Raises:
        BadArgument: the number of directions or an initial state does not fit.
    """
    orders = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
    if direction not in orders or len(orders[direction]) != r.shape[0]:
        raise BadArgument(
            f"{op}: direction {direction!r} with weights for {r.shape[0]} directions; "
            "use forward or reverse with 1, bidirectional with 2"
        )
    batch, size = x.shape[0 if layout else 1], r.shape[1] if op == "DynamicQuantizeLSTM" else r.shape[2]
    shape = (batch, r.shape[0], size) if layout else (r.shape[0], batch, size)
    starts = [np.zeros(shape, x.dtype) if start is None else start for start in initial]
    if any(start.shape != shape for start in starts):
        raise BadArgument(f"{op}: initial states {[list(s.shape) for s in starts]} must have shape {list(shape)}")
    outputs, finals = [], []
    for d, backward in enumerate(orders[direction]):
        projected, step = step_of(d)
        state = tuple(start[:, d] if layout else start[d] for start in starts)
        y, final = _scan(step, projected, state, sequence_lens, backward)
        outputs.append(y)
        finals.append(final)
    axis = 1 if layout else 0
    y = np.stack(outputs, axis=1)
    last = (np.stack(states, axis=axis) for states in zip(*finals, strict=True))
    return (y.transpose(2, 0, 1, 3) if layout else y), *last


def _scan(
    step: Step, projected: Array, state: State, sequence_lens: Array | None, backward: bool
) -> tuple[Array, State]:
    """Return every h [T, B, H] and the last state of every sequence; outputs after the end of a sequence are 0.

    Backward, each sequence is turned round within its own length, so that all of them start with the first step.
    """
    time, batch = projected.shape[:2]
    y = np.zeros((time, batch, state[0].shape[1]), state[0].dtype)
    if sequence_lens is None or np.all(sequence_lens >= time):
        for t in reversed(range(time)) if backward else range(time):
            state = step(projected[t], state)
            y[t] = state[0]
        return y, state
    moments, every = np.arange(time)[:, None], np.arange(batch)
    runs = moments < sequence_lens
    order = np.where(runs, sequence_lens - 1 - moments, moments) if backward else moments
    ordered = projected[order, every]
    last = tuple(np.zeros_like(each) for each in state)
    for t in range(int(np.max(sequence_lens, initial=0))):
        # A sequence that has ended goes on with state 0, which does not widen the range a quantizing step measures.
        state = tuple(np.where(runs[t][:, None], each, each.dtype.type(0)) for each in step(ordered[t], state))
        ends = (sequence_lens == t + 1)[:, None]
        last = tuple(np.where(ends, new, kept) for new, kept in zip(state, last, strict=True))
        y[t] = state[0]
    return (y[order, every] if backward else y), last


def _project(x: Array, w: Array, bias: Array | None) -> Array:
    """Return `x @ w^T + bias` for all moments at once, [T, B, gates * H]."""
    time, batch, size = x.shape
    y = np.matmul(x.reshape(time * batch, size), w.T)
    if bias is not None:
        y += bias
    return np.asarray(y.reshape(time, batch, w.shape[0]))


def _time_first(x: Array, layout: int) -> Array:
    return x.swapaxes(0, 1) if layout else x


def _clipped(x: Array, clip: float | None) -> Array:
    return x if clip is None else np.asarray(np.clip(x, x.dtype.type(-clip), x.dtype.type(clip)))
