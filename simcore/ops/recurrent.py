"""RNN, GRU and LSTM over time, with every attribute of the specification.

Operators by (name, first opset version served):

    gru GRU 7 · lstm LSTM 7 · rnn RNN 7

Flow: project all inputs at once, `x @ W^T + bias`; turn them round for backward directions; then step by step
`h @ R^T`, gates, new state. Directions with the same activations go through one step together, which halves the number
of small operations. One step is a plain function of the projected input and the state, so `dynamic_quantize_lstm`
reuses all of it but the products.

Axes: T time, B batch, I inputs, H hidden, D directions. Accumulators have the type of x (float16: float32).
Source: ONNX operator specification.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.recurrent_activation import Activation, activation_functions
from simcore.ops.widen import Array, float32_inside

__all__ = [
    "DIRECTIONS",
    "Direction",
    "Step",
    "StepOf",
    "by_moment",
    "gru",
    "lstm",
    "lstm_step",
    "over_directions",
    "rnn",
    "summed_biases",
]

Direction = Literal["forward", "reverse", "bidirectional"]
#: Of every direction attribute: for each direction of the weights whether it runs from the end. Source: ONNX LSTM.
DIRECTIONS: Final[Mapping[str, tuple[bool, ...]]] = {
    "forward": (False,),
    "reverse": (True,),
    "bidirectional": (False, True),
}
#: Arrays [D, B, H]: (h,) or (h, c).
State = tuple[Array, ...]
#: Projected input of one moment [D, B, gates * H] and the state -> the next state.
Step = Callable[[Array, State], State]
#: Some directions -> their projected inputs [T, D, B, gates * H] and their step.
StepOf = Callable[[slice], tuple[Array, Step]]


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

    def step_of(ds: slice) -> tuple[Array, Step]:
        (f,), recurrence = functions[ds.start], r[ds].swapaxes(1, 2)

        def step(projected: Array, state: State) -> State:
            return (f(_clipped(projected + np.matmul(state[0], recurrence), clip)),)

        return _project(_time_first(x, layout), w[ds], None if b is None else summed_biases(b[ds])), step

    sizes = _sizes(r, x, layout)
    y, y_h = over_directions("RNN", step_of, functions, (initial_h,), sequence_lens, direction, sizes, x.dtype, layout)
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

    def step_of(ds: slice) -> tuple[Array, Step]:
        (f, g), recurrence = functions[ds.start], r[ds].swapaxes(1, 2)
        gates, candidate = recurrence[..., : 2 * size], recurrence[..., 2 * size :]
        biases = np.zeros((len(recurrence), 6 * size), x.dtype) if b is None else b[ds]
        inner = biases[:, None, 5 * size :]
        merged = summed_biases(biases)
        if linear_before_reset:
            merged[:, 2 * size :] = biases[:, 2 * size : 3 * size]

        def step(projected: Array, state: State) -> State:
            (h,) = state
            if linear_before_reset:
                product = np.matmul(h, recurrence)
                zr = f(_clipped(projected[..., : 2 * size] + product[..., : 2 * size], clip))
                n = projected[..., 2 * size :] + zr[..., size:] * (product[..., 2 * size :] + inner)
            else:
                zr = f(_clipped(projected[..., : 2 * size] + np.matmul(h, gates), clip))
                n = projected[..., 2 * size :] + np.matmul(zr[..., size:] * h, candidate)
            z, n = zr[..., :size], g(_clipped(n, clip))
            return (n + z * (h - n),)

        return _project(_time_first(x, layout), w[ds], merged), step

    sizes = _sizes(r, x, layout)
    y, y_h = over_directions("GRU", step_of, functions, (initial_h,), sequence_lens, direction, sizes, x.dtype, layout)
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

    def step_of(ds: slice) -> tuple[Array, Step]:
        recurrence = r[ds].swapaxes(1, 2)

        def product(h: Array) -> Array:
            return np.asarray(np.matmul(h, recurrence))

        step = lstm_step(product, functions[ds.start], None if p is None else p[ds], clip, input_forget)
        return _project(_time_first(x, layout), w[ds], None if b is None else summed_biases(b[ds])), step

    initial, sizes = (initial_h, initial_c), _sizes(r, x, layout)
    y, y_h, y_c = over_directions("LSTM", step_of, functions, initial, sequence_lens, direction, sizes, x.dtype, layout)
    return y, y_h, y_c


def lstm_step(
    product: Callable[[Array], Array],
    functions: Sequence[Activation],
    peepholes: Array | None,
    clip: float | None,
    input_forget: int,
) -> Step:
    """Return the step function of an LSTM.

    Args:
        product: h [D, B, H] -> a new array [D, B, 4H], to which the projected input is added.
        functions: activations f, g and h of these directions.
        peepholes: [D, 3H] or None.
        clip: see `lstm`.
        input_forget: see `lstm`.
    """
    f, g, output = functions
    p = None if peepholes is None else peepholes[:, None]

    def step(projected: Array, state: State) -> State:
        h, c = state
        gates, size = product(h), h.shape[-1]
        gates += projected
        if p is None:
            gates = _clipped(gates, clip)
            opened = f(gates[..., : 3 * size])
            i, o, forget = opened[..., :size], opened[..., size : 2 * size], opened[..., 2 * size :]
        else:
            i = f(_clipped(gates[..., :size] + p[..., :size] * c, clip))
            forget = f(_clipped(gates[..., 2 * size : 3 * size] + p[..., 2 * size :] * c, clip))
        if input_forget:
            forget = 1 - i
        new = i * g(_clipped(gates[..., 3 * size :], clip))
        c = forget * c
        c += new
        if p is not None:
            o = f(_clipped(gates[..., size : 2 * size] + p[..., size : 2 * size] * c, clip))
        return o * output(c), c

    return step


def summed_biases(b: Array) -> Array:
    """Return the sum of the biases of input and recurrence, [D, gates * H], from b [D, 2 * gates * H]."""
    half = b.shape[1] // 2
    return np.asarray(b[:, :half] + b[:, half:])


def over_directions(
    op: str,
    step_of: StepOf,
    functions: Sequence[Sequence[Activation]],
    initial: Sequence[Array | None],
    sequence_lens: Array | None,
    direction: Direction,
    sizes: tuple[int, int, int],
    dtype: "np.dtype[Any]",
    layout: int,
) -> tuple[Array, ...]:
    """Return y and the last states of all directions, laid out as the node asks.

    Args:
        op: Operator name for messages.
        step_of: see `StepOf`.
        functions: activations of each direction; directions that share them are computed together.
        initial: initial states, None for 0.
        sequence_lens: int32 [B] or None.
        direction: forward, reverse or bidirectional.
        sizes: D, B, H.
        dtype: type of the states.
        layout: 1 for batch first.

    Raises:
        BadArgument: the number of directions or an initial state does not fit.
    """
    directions, batch, size = sizes
    if direction not in DIRECTIONS or len(DIRECTIONS[direction]) != directions:
        raise BadArgument(
            f"{op}: direction {direction!r} with weights for {directions} directions; "
            "use forward or reverse with 1, bidirectional with 2"
        )
    shape = (batch, directions, size) if layout else sizes
    starts = [np.zeros(shape, dtype) if start is None else start for start in initial]
    if any(start.shape != shape for start in starts):
        raise BadArgument(f"{op}: initial states {[list(s.shape) for s in starts]} must have shape {list(shape)}")
    if layout:
        starts = [start.swapaxes(0, 1) for start in starts]
    together = all(each == functions[0] for each in functions)
    groups = [slice(0, directions)] if together else [slice(d, d + 1) for d in range(directions)]
    outputs, finals = [], []
    for ds in groups:
        projected, step = step_of(ds)
        state = tuple(start[ds] for start in starts)
        y, final = _scan(step, projected, state, sequence_lens, DIRECTIONS[direction][ds])
        outputs.append(y)
        finals.append(final)
    y = _joined(outputs, 1)
    last = tuple(_joined(states, 0) for states in zip(*finals, strict=True))
    if layout:
        return y.transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in last)
    return y, *last


def _joined(parts: Sequence[Array], axis: int) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


def _scan(
    step: Step, projected: Array, state: State, sequence_lens: Array | None, backward: Sequence[bool]
) -> tuple[Array, State]:
    """Return every h [T, D, B, H] and the last state of every sequence; outputs after the end of a sequence are 0.

    In backward directions each sequence is turned round within its own length, so that all of them start with the
    first step.
    """
    time, directions, batch = projected.shape[:3]
    y = np.zeros((time, directions, batch, state[0].shape[-1]), state[0].dtype)
    if sequence_lens is None or np.all(sequence_lens >= time):
        ordered = _turned(projected, None, backward)
        for t in range(time):
            state = step(ordered[t], state)
            y[t] = state[0]
        return _turned(y, None, backward), state
    moments = np.arange(time)[:, None]
    runs = moments < sequence_lens
    order = np.where(runs, sequence_lens - 1 - moments, moments)
    ordered = _turned(projected, order, backward)
    last = tuple(np.zeros_like(each) for each in state)
    for t in range(int(np.max(sequence_lens, initial=0))):
        # A sequence that has ended goes on with state 0, which does not widen the range a quantizing step measures.
        state = tuple(np.where(runs[t][:, None], each, each.dtype.type(0)) for each in step(ordered[t], state))
        ends = (sequence_lens == t + 1)[:, None]
        last = tuple(np.where(ends, new, kept) for new, kept in zip(state, last, strict=True))
        y[t] = state[0]
    return _turned(y, order, backward), last


def _turned(x: Array, order: Array | None, backward: Sequence[bool]) -> Array:
    """Return x [T, D, B, ...] with time in `order` [T, B], by default reversed, in the backward directions."""
    if not any(backward):
        return x
    turned = x.copy()
    for d, is_backward in enumerate(backward):
        if is_backward:
            turned[:, d] = x[::-1, d] if order is None else x[order, d, np.arange(x.shape[2])]
    return turned


def _project(x: Array, w: Array, bias: Array | None) -> Array:
    """Return `x @ w^T + bias` for all moments at once, [T, D, B, gates * H]; x is [T, B, I], bias [D, gates * H]."""
    time, batch, size = x.shape
    y = np.matmul(x.reshape(time * batch, size), w.swapaxes(1, 2))
    return by_moment(y, bias, time, batch)


def by_moment(y: Array, bias: Array | None, time: int, batch: int) -> Array:
    """Return products [D, T * B, gates * H] with their bias [D, gates * H] as [T, D, B, gates * H]; y is changed."""
    if bias is not None:
        y += bias[:, None]
    return np.asarray(y.reshape(y.shape[0], time, batch, y.shape[2]).swapaxes(0, 1))


def _sizes(r: Array, x: Array, layout: int) -> tuple[int, int, int]:
    """Return D, B, H."""
    return r.shape[0], x.shape[0 if layout else 1], r.shape[2]


def _time_first(x: Array, layout: int) -> Array:
    return x.swapaxes(0, 1) if layout else x


def _clipped(x: Array, clip: float | None) -> Array:
    return x if clip is None else np.asarray(np.clip(x, x.dtype.type(-clip), x.dtype.type(clip)))
