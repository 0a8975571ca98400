"""LSTM, GRU and RNN over many moments as single steps; and written out gate by gate where a step does not fit.

    X [T, B, I] -> T inputs [1, B, I] -> T nodes, each of one moment and one direction, with one copy of the weights
    -> their outputs put together again

A device figure says how many moments and directions one node may have. Source of the other conditions: AMCT guide,
layers of uniform quantization (attributes of activations, clip, layout and input_forget not given, no sequence_lens,
no P, start states given).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from simcore.graph import Attribute, Tensor
from simcore.ops.recurrent import DIRECTIONS
from simcore.ops.recurrent_activation import activation_functions
from simcore.rewrite.rule import EXACT, ROUNDING, Declined, Rule, Site

__all__ = ["RULES", "misfit"]

_GATES: Final = {"LSTM": 4, "GRU": 3, "RNN": 1}
_DEFAULTS: Final = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}


def misfit(site: Site, moments: int, directions: int) -> str | None:
    """Return why the device does not take a recurrent node as it is, None if it does.

    Args:
        site: the node and what is known around it.
        moments: how many the device takes in one node.
        directions: likewise.
    """
    if site.attribute("direction", "forward") != "forward":
        return f"direction is {site.attribute('direction', 'forward')}, one node of the device goes forward"
    batch_first = site.attribute("layout", 0)
    size = site.sizes(site.input(0))[1 if batch_first else 0]
    if size is None or size > moments:
        return f"{'an open number of' if size is None else size} moments, one node of the device takes {moments}"
    special = _special(site)
    if special:
        return special
    if site.state_inputs and any(_is_made(site, name) for name in _starts(site)):
        return "a start state is constant or left out, and is to be an input"
    return "layout is 1" if batch_first else None


def _special(site: Site) -> str | None:
    """Return what makes a node more than the plain cell, None if nothing does."""
    kind = site.node.op_type
    names = [name.lower() for name in site.attribute("activations", ())]
    per_direction = [name.lower() for name in _DEFAULTS[kind]]
    if names and names != per_direction * (len(names) // len(per_direction)):
        return "its activations are not the default ones"
    for name in ("clip", "input_forget"):
        if site.attribute(name, 0):
            return f"attribute {name} is set"
    if kind == "GRU" and not site.attribute("linear_before_reset", 0):
        return "linear_before_reset is 0, the device has the other form only"
    if site.input(7):
        return "it has peepholes (P)"
    if _lengths_matter(site):
        return "it has sequence_lens"
    return None


def _lengths_matter(site: Site) -> bool:
    value = site.value(site.input(4)) if site.input(4) else None
    if value is None:
        return bool(site.input(4))
    batch_first = site.attribute("layout", 0)
    size = site.sizes(site.input(0))[1 if batch_first else 0]
    return size is None or bool(np.any(value < size))


def _starts(site: Site) -> list[str]:
    """Return the names of the start states, "" where one is left out."""
    return [site.input(5), site.input(6)] if site.node.op_type == "LSTM" else [site.input(5)]


def _is_made(site: Site, name: str) -> bool:
    return not name or site.value(name) is not None


@dataclass(frozen=True, slots=True)
class _Layer:
    """A recurrent node taken apart, everything time first."""

    moments: int
    batch: int
    hidden: int
    #: Whether each direction goes backward.
    backward: tuple[bool, ...]
    #: x, [T, B, I].
    x: str
    #: Per direction its start states, [1, B, H] each.
    states: tuple[tuple[str, ...], ...]


def _layer(site: Site) -> _Layer:
    if _lengths_matter(site):
        raise Declined("sequence_lens ends sequences early; pad them all to one length and leave it out")
    x = site.input(0)
    batch_first = site.attribute("layout", 0)
    first, second = site.size(x, 0), site.size(x, 1)
    moments, batch = (second, first) if batch_first else (first, second)
    backward = DIRECTIONS[site.attribute("direction", "forward")]
    hidden = site.size(site.input(2), 2)
    if not moments:
        raise Declined("no moments")
    if batch_first:
        x = site.transpose(x, 1, 0, 2)
    starts = [_start(site, name, f"initial_{key}", (len(backward), batch, hidden)) for key, name in _named_starts(site)]
    parts = [site.split(start, 0, (1,) * len(backward)) for start in starts]
    return _Layer(moments, batch, hidden, backward, x, tuple(zip(*parts, strict=True)))


def _named_starts(site: Site) -> list[tuple[str, str]]:
    return list(zip("hc", _starts(site), strict=False))


def _start(site: Site, name: str, key: str, shape: tuple[int, ...]) -> str:
    """Return a start state [D, B, H]: as given, zeros, or a new input of the model."""
    dtype = site.dtype(site.input(0))
    batch_first = bool(site.attribute("layout", 0))
    value = np.zeros(shape, dtype) if not name else site.value(name)
    if name and value is not None and batch_first:
        value = value.transpose(1, 0, 2)
    if value is None:
        return site.transpose(name, 1, 0, 2) if batch_first else name
    if not site.state_inputs:
        return name if name and not batch_first else site.const(value, hint=key)
    fresh = site.names.new(f"{site.node.name}/{key}")
    site.states[fresh] = np.ascontiguousarray(value)
    return fresh


def _put_together(site: Site, layer: _Layer, ys: Sequence[Sequence[str]], last: Sequence[Sequence[str]]) -> list[str]:
    """Return the node's outputs from each direction's [1, 1, B, H] by moment, and its last states [1, B, H]."""
    wanted = [*site.node.outputs, "", "", ""]
    results = [""] * (1 + len(last[0]))
    batch_first = bool(site.attribute("layout", 0))
    if wanted[0]:
        y = _joined(site, [_joined(site, one, 0) for one in ys], 1)
        results[0] = site.transpose(y, 2, 0, 1, 3) if batch_first else y
    for i, states in enumerate(zip(*last, strict=True), 1):
        if wanted[i]:
            state = _joined(site, states, 0)
            results[i] = site.transpose(state, 1, 0, 2) if batch_first else state
    return results


def _joined(site: Site, parts: Sequence[str], axis: int) -> str:
    return parts[0] if len(parts) == 1 else site.op("Concat", *parts, axis=axis)


def _weight(site: Site, i: int, direction: int, directions: int) -> str:
    """Return one direction's part of a weight; the weight itself where there is one direction."""
    name = site.input(i)
    if not name or directions == 1:
        return name
    value = site.constant(name, "weight")
    return site.const(value[direction : direction + 1], hint=f"{'XWRB'[i]}_{direction}")


def _steps(site: Site) -> tuple[str, ...]:
    special = _special(site)
    if special:
        raise Declined(special)
    kind, layer = site.node.op_type, _layer(site)
    inputs = site.split(layer.x, 0, (1,) * layer.moments)
    attributes: dict[str, Attribute] = {"hidden_size": layer.hidden}
    if kind == "GRU":
        attributes["linear_before_reset"] = 1
    ys, last = [], []
    for d, backward in enumerate(layer.backward):
        weights = [_weight(site, i, d, len(layer.backward)) for i in (1, 2, 3)]
        states, made = layer.states[d], [""] * layer.moments
        for t in reversed(range(layer.moments)) if backward else range(layer.moments):
            made[t], *rest = site.ops(kind, [inputs[t], *weights, "", *states], 1 + len(states), **attributes)
            states = tuple(rest)
        ys.append(made)
        last.append(states)
    return tuple(_put_together(site, layer, ys, last))


# Gate by gate.

_Function = Callable[[str], str]


def _functions(site: Site, directions: int) -> list[list[_Function]]:
    """Return the activation functions of each direction, [direction][position], alpha and beta handed out in order."""
    defaults = _DEFAULTS[site.node.op_type]
    names = [name.lower() for name in site.attribute("activations", ()) or defaults * directions]
    alphas, betas = list(site.attribute("activation_alpha", ())), list(site.attribute("activation_beta", ()))
    # Raises where a name is unknown or their number is wrong.
    activation_functions(names, alphas, betas, len(defaults), "bidirectional" if directions == 2 else "forward")
    made: list[_Function] = []
    for name in names:
        alpha = alphas.pop(0) if name in _ALPHA and alphas else _ALPHA.get(name, 0.0)
        beta = betas.pop(0) if name in _BETA and betas else _BETA.get(name, 0.0)
        made.append(_function(site, name, alpha, beta))
    return [made[i * len(defaults) : (i + 1) * len(defaults)] for i in range(directions)]


_ALPHA: Final = {
    "affine": 1.0, "elu": 1.0, "hardsigmoid": 0.2, "leakyrelu": 0.01, "scaledtanh": 1.0, "thresholdedrelu": 1.0,
}  # fmt: skip
_BETA: Final = {"affine": 0.0, "hardsigmoid": 0.5, "scaledtanh": 1.0}
_OPERATORS: Final = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softplus": "Softplus", "softsign": "Softsign",
}  # fmt: skip
_WITH_ALPHA: Final = {"elu": "Elu", "leakyrelu": "LeakyRelu", "thresholdedrelu": "ThresholdedRelu"}


def _function(site: Site, name: str, alpha: float, beta: float) -> _Function:
    if name in _OPERATORS:
        return lambda x: site.op(_OPERATORS[name], x)
    if name in _WITH_ALPHA:
        return lambda x: site.op(_WITH_ALPHA[name], x, alpha=float(alpha))
    if name == "hardsigmoid":
        return lambda x: site.op("HardSigmoid", x, alpha=float(alpha), beta=float(beta))
    if name == "affine":
        return lambda x: site.shifted(site.scaled(x, alpha), beta)
    return lambda x: site.scaled(site.op("Tanh", site.scaled(x, beta)), alpha)


@dataclass(frozen=True, slots=True)
class _Cell:
    """One direction of a layer, gate by gate: weights as the products take them."""

    site: Site
    hidden: int
    functions: Sequence[_Function]
    #: Names of the recurrence weights, one copy for all moments: [H, gates * H], or of GRU [H, 2 H] and [H, H].
    r: tuple[str, ...]
    #: [gates * H].
    state_bias: Tensor
    #: [3, H] or None.
    peepholes: Tensor | None

    def bounded(self, x: str) -> str:
        """Return an argument of a gate, clipped where the node says so."""
        bound = self.site.attribute("clip", 0.0)
        return self.site.clip(x, -bound, bound) if bound else x

    def parts(self, x: str, count: int) -> tuple[str, ...]:
        """Return [B, count * H] in parts of H."""
        return self.site.split(x, 1, (self.hidden,) * count)


def _lstm_cell(cell: _Cell, projected: str, states: tuple[str, ...]) -> tuple[str, ...]:
    site, (h, c), (f, g, output) = cell.site, states, cell.functions
    i, o, forget, n = cell.parts(site.add(projected, site.op("MatMul", h, cell.r[0])), 4)

    def peeping(x: str, place: int, state: str) -> str:
        if cell.peepholes is None:
            return x
        return site.add(x, site.mul(state, site.const(cell.peepholes[place], hint="P")))

    i = f(cell.bounded(peeping(i, 0, c)))
    forget = f(cell.bounded(peeping(forget, 2, c)))
    if site.attribute("input_forget", 0):
        forget = site.sub(site.number(1), i)
    c = site.add(site.mul(forget, c), site.mul(i, g(cell.bounded(n))))
    return site.mul(f(cell.bounded(peeping(o, 1, c))), output(c)), c


def _gru_cell(cell: _Cell, projected: str, states: tuple[str, ...]) -> tuple[str, ...]:
    site, (h,), (f, g), size = cell.site, states, cell.functions, cell.hidden
    xz, xr, xn = cell.parts(projected, 3)
    product = site.op("MatMul", h, cell.r[0])
    hz, hr = cell.parts(product, 2)
    z, reset = (f(cell.bounded(site.add(x, r))) for x, r in ((xz, hz), (xr, hr)))
    candidate = cell.r[1]
    if site.attribute("linear_before_reset", 0):
        inner = site.add(site.op("MatMul", h, candidate), site.const(cell.state_bias[2 * size :], hint="Rb_h"))
        inner = site.mul(reset, inner)
    else:
        inner = site.op("MatMul", site.mul(reset, h), candidate)
    n = g(cell.bounded(site.add(xn, inner)))
    return (site.add(n, site.mul(z, site.sub(h, n))),)


def _rnn_cell(cell: _Cell, projected: str, states: tuple[str, ...]) -> tuple[str, ...]:
    site, (h,), (f,) = cell.site, states, cell.functions
    return (f(cell.bounded(site.add(projected, site.op("MatMul", h, cell.r[0])))),)


_CELLS: Final = {"LSTM": _lstm_cell, "GRU": _gru_cell, "RNN": _rnn_cell}


def _gates(site: Site) -> tuple[str, ...]:
    kind, layer = site.node.op_type, _layer(site)
    hidden, directions = layer.hidden, len(layer.backward)
    w, r = (site.constant(site.input(i), "weight") for i in (1, 2))
    b = site.constant(site.input(3), "bias") if site.input(3) else np.zeros((directions, 2 * w.shape[1]), w.dtype)
    p = site.constant(site.input(7), "peephole weight") if site.input(7) else None
    functions = _functions(site, directions)
    ys, last = [], []
    for d, backward in enumerate(layer.backward):
        own, of_state = np.split(b[d], 2)
        columns = (slice(0, 2 * hidden), slice(2 * hidden, None)) if kind == "GRU" else (slice(None),)
        recurrence = tuple(site.const(r[d].T[:, part], hint="R") for part in columns)
        cell = _Cell(site, hidden, functions[d], recurrence, of_state, None if p is None else p[d].reshape(3, hidden))
        merged = own + of_state
        if kind == "GRU" and site.attribute("linear_before_reset", 0):
            merged[2 * hidden :] = own[2 * hidden :]
        product = site.op("MatMul", layer.x, site.const(w[d].T, hint="W"))
        every = site.split(site.add(product, site.const(merged, hint="B")), 0, (1,) * layer.moments)
        states, made = tuple(site.squeeze(state, 0) for state in layer.states[d]), [""] * layer.moments
        for t in reversed(range(layer.moments)) if backward else range(layer.moments):
            states = _CELLS[kind](cell, site.squeeze(every[t], 0), states)
            made[t] = site.unsqueeze(states[0], 0, 1)
        ys.append(made)
        last.append([site.unsqueeze(state, 0) for state in states])
    return tuple(_put_together(site, layer, ys, last))


RULES: Final = (
    Rule(
        ("LSTM", "GRU"),
        "steps",
        "one node per moment and direction, one copy of the weights; Split before, Concat after",
        "known moments and batch; plain cell: default activations, no clip, P, sequence_lens or input_forget; "
        "GRU: linear_before_reset 1; two directions: constant weights",
        EXACT,
        "definition of the recurrence",
        _steps,
    ),
    Rule(
        ("LSTM", "GRU", "RNN"),
        "gates",
        "MatMul, Add, Sigmoid, Tanh, Mul for each moment",
        "known moments and batch; constant weights; no sequence_lens; more data moved than by single steps",
        ROUNDING,
        "formulas of the specification",
        _gates,
    ),
)
