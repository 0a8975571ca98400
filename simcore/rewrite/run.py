"""Rewrite a model for a device: what it lacks in terms of what it has, in the operator set it takes.

raise the opset where it is too old -> nodes in the form of the target opset -> folds and rules, round after round,
until nothing changes -> what is left, named with the usual way out
"""

from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from simcore.device import Device, figure, number
from simcore.errors import BadArgument
from simcore.graph import Graph, Node, Tensor, ValueInfo, check_feed, walk
from simcore.plan import FAILURES, explained
from simcore.rewrite.fold import fold
from simcore.rewrite.learn import View, attempts, inside, learned, views_of
from simcore.rewrite.linear import gemm_misfit
from simcore.rewrite.opset import FIRST, lowered
from simcore.rewrite.recurrent import misfit
from simcore.rewrite.rule import Declined, Inapplicable, Known, Names, Site, replacement
from simcore.rewrite.table import FOLDS, REASONS, RULES, rules_of, way_out

__all__ = ["Change", "Left", "Options", "Rewritten", "needs_rewrite", "rewrite"]

#: Most rounds of folds and rules; rules that feed each other end far earlier.
_ROUNDS: Final = 20

#: The version that gave Softmax, Squeeze, Split and ReduceSum their present form.
_NEW_FORMS: Final = 13

_RECURRENT: Final = frozenset({"LSTM", "GRU"})


@dataclass(frozen=True, slots=True)
class Options:
    """What the user decides."""

    #: Complete shapes of inputs with open sizes; the result takes just these.
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    #: Inputs that become constants, with their value.
    values: Mapping[str, Tensor] = field(default_factory=dict)
    #: Operator -> name of the rule to take first.
    choices: Mapping[str, str] = field(default_factory=dict)
    #: Whether start states of LSTM and GRU become inputs of the model, as AMCT wants them.
    state_inputs: bool = False
    #: Whether BatchNormalization is folded into the product before it.
    fold_batch_norm: bool = True
    #: Version of ai.onnx to write; None: the model's own, brought into the device's range.
    opset: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One node that was rewritten or folded."""

    #: Name of the node; of a node that an earlier rule made, that starts with the original's.
    node: str
    op_type: str
    #: Name of the rule, or of the fold (table.FOLDS).
    rule: str
    #: EXACT, ROUNDING or the stated error.
    exactness: str
    #: Largest stated error, relative to the largest magnitude; 0 for exact and rounding.
    error: float
    #: Operators it became, in order.
    into: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """A node that the device does not take and that could not be rewritten."""

    node: str
    op_type: str
    reason: str
    way_out: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten model."""

    graph: Graph
    changes: tuple[Change, ...]
    left: tuple[Left, ...]
    #: Inputs that the rewrite added, each with the value under which the outputs are the original's.
    states: Mapping[str, Tensor]
    #: Inputs that became constants.
    fixed: Mapping[str, Tensor]


@dataclass(slots=True)
class _Work:
    """What one rewrite knows and gathers on its way."""

    options: Options
    operators: frozenset[str]
    names: Names
    #: Version in whose form nodes are written.
    form: int
    #: Version of the result.
    target: int
    has_open_sizes: bool
    max_rank: int | None
    #: Whether Gemm has to be plain, see linear.
    is_gemm_plain: bool
    #: Moments and directions of one recurrent node; None: no figure.
    recurrent: tuple[int, int] | None
    changes: list[Change] = field(default_factory=list)
    states: dict[str, Tensor] = field(default_factory=dict)
    #: Nodes that cannot take the form of the target, with the reason.
    too_new: dict[str, str] = field(default_factory=dict)

    def site(self, node: Node, known: Known, opset: int) -> Site:
        return Site(node, known, opset, self.operators, self.names, self.max_rank, self.options.state_inputs)


def rewrite(graph: Graph, device: Device, options: Options | None = None) -> Rewritten:
    """Return a model that does the same with the operators of a device, as far as rules go.

    Args:
        graph: the model; its weights have to be there.
        device: has the figures operators, min_opset and max_opset.
        options: what the user decides.

    Raises:
        BadArgument: the device has no such figures; an option names an unknown input or rule, or does not fit.
        ModelError: the opset is too old and cannot be raised.
    """
    options = options or Options()
    _check_choices(options)
    found = figure(device, "operators").value
    operators = frozenset(map(str, found)) if isinstance(found, tuple) else frozenset([str(found)])
    lowest, highest = int(number(device, "min_opset", "1")), int(number(device, "max_opset", "1"))
    version = graph.opset.get("", highest)
    target = min(max(version, lowest), highest) if options.opset is None else options.opset
    start = _with_inputs(graph, options)
    if version < target:
        from simcore.save_onnx import at_opset

        start = at_opset(start, target)
    rewritten, too_new = _rewritten(start, device, operators, target, options)
    if too_new and target < version:
        # Forms of two versions cannot stand in one model; all stays in the model's own.
        rewritten, _ = _rewritten(start, device, operators, version, options)
        known = {left.node for left in rewritten.left}
        added = tuple(
            Left(node.name, node.op_type, f"{too_new[node.name]}; the model stays at opset {version}", _lower(target))
            for _, node in walk(rewritten.graph)
            if node.name in too_new and node.name not in known
        )
        rewritten = replace(rewritten, left=(*rewritten.left, *added))
    return rewritten


def _lower(target: int) -> str:
    return f"export it at opset {target}, or replace the node"


def _check_choices(options: Options) -> None:
    for op_type, name in options.choices.items():
        known = [rule.name for rule in RULES if op_type in rule.op_types]
        if name not in known:
            listed = ", ".join(known) or "none"
            raise BadArgument(f"no rule {name!r} for {op_type}; the rules for it are: {listed}")


def _with_inputs(graph: Graph, options: Options) -> Graph:
    """Return the graph with the inputs as the options want them: with these shapes, or as constants."""
    known = {info.name: info for info in graph.inputs}
    for name in (*options.shapes, *options.values):
        if name not in known:
            raise BadArgument(f"no input {name!r}; the inputs are {', '.join(known) or 'none'}")
    sizes: dict[str, int] = {}
    inputs: list[ValueInfo] = []
    constants = dict(graph.initializers)
    for name, info in known.items():
        if name in options.values:
            value = np.array(options.values[name])
            check_feed(info, value.dtype, value.shape, sizes)
            value.setflags(write=False)
            constants[name] = value
            continue
        shape = options.shapes.get(name)
        if shape is not None:
            check_feed(replace(info, dtype=None), np.dtype(np.float32), shape, sizes)
            info = replace(info, shape=tuple(shape))
        inputs.append(info)
    # A named size that one input fixes holds for all.
    inputs = [
        info
        if info.shape is None
        else replace(info, shape=tuple(sizes.get(s, s) if isinstance(s, str) else s for s in info.shape))
        for info in inputs
    ]
    return replace(graph, inputs=tuple(inputs), initializers=constants)


def _rewritten(
    graph: Graph, device: Device, operators: frozenset[str], target: int, options: Options
) -> tuple[Rewritten, dict[str, str]]:
    version = graph.opset.get("", target)
    form = max(target, min(version, _NEW_FORMS))
    is_open = any(i.shape is None or not all(isinstance(s, int) for s in i.shape) for i in graph.inputs)
    work = _Work(
        options,
        operators,
        Names(_used(graph)),
        form,
        target,
        is_open,
        _rank(device),
        _is_gemm_plain(device),
        _recurrent(device),
    )
    sets = attempts(graph)
    graph = _lowered(graph, views_of(graph, sets), {}, work, version, form)
    for _ in range(_ROUNDS):
        before = len(work.changes)
        graph = _with_states(_round(graph, views_of(graph, sets), {}, work), work.states)
        if len(work.changes) == before:
            break
    views = views_of(graph, sets)
    if target < form:
        graph = _lowered(graph, views, {}, work, form, target)
    left, too_new = _left(graph, views, {}, work)
    known = _known(graph, views, {}, work).tensors
    outputs = tuple(info if info.dtype is not None else known.get(info.name, info) for info in graph.outputs)
    graph = replace(graph, outputs=outputs)
    graph = _final(graph, {**{d: v for d, v in graph.opset.items() if d in _domains(graph)}, "": target})
    if target < version:
        from simcore.load_onnx import misfits

        too_new = misfits(graph) | too_new
    return Rewritten(graph, tuple(work.changes), tuple(left), work.states, dict(options.values)), too_new


def _with_states(graph: Graph, states: Mapping[str, Tensor]) -> Graph:
    """Return the graph with the inputs that rules made for start states."""
    known = {info.name for info in graph.inputs}
    added = [ValueInfo(n, v.dtype, v.shape) for n, v in states.items() if n not in known]
    return replace(graph, inputs=(*graph.inputs, *added)) if added else graph


def _domains(graph: Graph) -> set[str]:
    return {node.domain for _, node in walk(graph)}


def _final(graph: Graph, opset: Mapping[str, int]) -> Graph:
    """Return the graph, subgraphs included, with its opset and without what was declared of tensors that are gone."""
    nodes = tuple(
        replace(node, subgraphs={key: _final(body, opset) for key, body in node.subgraphs.items()})
        if node.subgraphs
        else node
        for node in graph.nodes
    )
    made = {name for node in nodes for name in node.outputs}
    infos = {name: info for name, info in graph.value_info.items() if name in made}
    return replace(graph, nodes=nodes, opset=dict(opset), value_info=infos)


def _used(graph: Graph) -> set[str]:
    used: set[str] = set()
    for inside_, node in walk(graph):
        used.update((node.name, *node.inputs, *node.outputs, *inside_.initializers, *inside_.missing))
        for body in node.subgraphs.values():
            used.update((*body.initializers, *body.missing, *(info.name for info in body.inputs)))
    used.update(info.name for info in (*graph.inputs, *graph.outputs))
    return used | graph.initializers.keys() | graph.missing.keys()


def _rank(device: Device) -> int | None:
    return int(number(device, "max_input_rank", "1")) if "max_input_rank" in device.figures else None


def _is_gemm_plain(device: Device) -> bool:
    return "gemm_plain" in device.figures and bool(figure(device, "gemm_plain").value)


def _recurrent(device: Device) -> tuple[int, int] | None:
    names = ("recurrent_sequence_length", "recurrent_directions")
    if not all(name in device.figures for name in names):
        return None
    return int(number(device, names[0], "1")), int(number(device, names[1], "1"))


def _known(graph: Graph, views: Sequence[View], outside: Mapping[str, Tensor], work: _Work) -> Known:
    return learned(graph, views, ChainMap(dict(graph.initializers), dict(outside)), work.has_open_sizes)


def _each_body(
    node: Node,
    graph: Graph,
    views: Sequence[View],
    outside: Mapping[str, Tensor],
    step: Any,  # noqa: ANN401
) -> Node:
    """Return the node with `step(body, views, outside)` done to each of its subgraphs."""
    if not node.subgraphs:
        return node
    around = {**outside, **graph.initializers}
    return replace(
        node, subgraphs={key: step(body, inside(body, views, around), around) for key, body in node.subgraphs.items()}
    )


def _lowered(
    graph: Graph, views: Sequence[View], outside: Mapping[str, Tensor], work: _Work, version: int, target: int
) -> Graph:
    """Return the graph with its nodes in the form of an older version."""
    if version <= target:
        return graph
    known = _known(graph, views, outside, work)
    nodes: list[Node] = []
    constants = dict(graph.initializers)
    for node in graph.nodes:
        node = _each_body(node, graph, views, outside, lambda b, v, o: _lowered(b, v, o, work, version, target))
        if node.domain:
            nodes.append(node)
            continue
        site = work.site(node, known, target)
        try:
            results = lowered(site, version, target)
        except Declined as error:
            work.too_new[node.name] = str(error)
            results = None
        except FAILURES as error:
            work.too_new[node.name] = explained(error, node, ()).reason
            results = None
        if results is None:
            nodes.append(node)
            continue
        made = replacement(site, results)
        if len(made) == 1 and made[0].op_type == node.op_type:
            made = (replace(made[0], name=node.name),)
        nodes += made
        constants.update(site.constants)
        work.changes.append(
            Change(node.name, node.op_type, "opset", FOLDS["opset"][1], 0.0, tuple(one.op_type for one in made))
        )
    return replace(graph, nodes=tuple(nodes), initializers=constants)


def _round(graph: Graph, views: Sequence[View], outside: Mapping[str, Tensor], work: _Work) -> Graph:
    """Return the graph after one round of folds and rules."""
    known = _known(graph, views, outside, work)
    has_norm = work.options.fold_batch_norm
    graph, folded = fold(graph, known, work.names, outside, has_norm)
    for one in folded:
        work.changes.append(Change(one.node.name, one.node.op_type, one.how, FOLDS[one.how][1], 0.0, one.into))
    known = _known(graph, views, outside, work)
    nodes: list[Node] = []
    constants = dict(graph.initializers)
    for node in graph.nodes:
        node = _each_body(node, graph, views, outside, lambda b, v, o: _round(b, v, o, work))
        found = None if _misfit(node, known, work) is None else _applied(node, known, work)
        if isinstance(found, tuple):
            made, site = found
            nodes += made
            constants.update(site.constants)
            work.states.update(site.states)
        else:
            nodes.append(node)
    return replace(graph, nodes=tuple(nodes), initializers=constants)


def _misfit(node: Node, known: Known, work: _Work) -> str | None:
    """Return why the device does not take a node, None if it does."""
    if node.domain:
        return f"operators of {node.domain} are no ONNX operators"
    if node.op_type not in work.operators:
        return "the device has no such operator"
    if FIRST.get(node.op_type, 0) > work.target:
        return f"exists from opset {FIRST[node.op_type]} on"
    if node.op_type == "Gemm" and work.is_gemm_plain:
        return gemm_misfit(work.site(node, known, work.form))
    if node.op_type in _RECURRENT and work.recurrent is not None:
        try:
            return misfit(work.site(node, known, work.form), *work.recurrent)
        except FAILURES as error:
            return explained(error, node, ()).reason
    return None


def _applied(node: Node, known: Known, work: _Work) -> tuple[tuple[Node, ...], Site] | str:
    """Return what replaces a node, and the site it was made at; or why no rule applies."""
    if node.domain:
        return f"operators of {node.domain} are no ONNX operators"
    reasons: list[str] = []
    others: list[str] = []
    for rule in rules_of(node.op_type, work.options.choices.get(node.op_type)):
        site = work.site(node, known, work.form)
        try:
            with np.errstate(all="ignore"):
                results = rule.function(site)
        except Declined as error:
            kept = others if isinstance(error, Inapplicable) else reasons
            if str(error) not in kept:
                kept.append(str(error))
            continue
        except FAILURES as error:
            reasons.append(explained(error, node, ()).reason)
            continue
        made = replacement(site, results)
        kinds = tuple(one.op_type for one in made)
        work.changes.append(Change(node.name, node.op_type, rule.name, rule.exactness, rule.error, kinds))
        return made, site
    return "; ".join(reasons or others) or REASONS.get(
        node.op_type, "the device has no such operator and no rule knows it"
    )


def _left(
    graph: Graph, views: Sequence[View], outside: Mapping[str, Tensor], work: _Work
) -> tuple[list[Left], dict[str, str]]:
    """Return the nodes the device does not take, and those that are newer than the target, with the reason."""
    known = _known(graph, views, outside, work)
    left: list[Left] = []
    too_new: dict[str, str] = {}
    around = {**outside, **graph.initializers}
    for node in graph.nodes:
        why = _misfit(node, known, work)
        if why is not None:
            changes = len(work.changes)
            found = _applied(node, known, work)
            del work.changes[changes:]
            reason = found if isinstance(found, str) else why
            left.append(Left(node.name, node.op_type, reason, way_out(node.op_type, node.domain)))
        if not node.domain and FIRST.get(node.op_type, 0) > work.target:
            too_new[node.name] = f"exists from opset {FIRST[node.op_type]} on"
        if node.name in work.too_new:
            too_new[node.name] = work.too_new[node.name]
        for body in node.subgraphs.values():
            inner, newer = _left(body, inside(body, views, around), around, work)
            left += inner
            too_new.update(newer)
    return left, too_new


def needs_rewrite(graph: Graph, device: Device) -> Counter[str]:
    """Return the operators of a graph that a device does not list, with their number; domains in front of foreign ones.

    Raises:
        BadArgument: the device has no figure operators.
    """
    found = figure(device, "operators").value
    operators = set(map(str, found)) if isinstance(found, tuple) else {str(found)}
    return Counter(
        f"{node.domain}::{node.op_type}" if node.domain else node.op_type
        for _, node in walk(graph)
        if node.domain or node.op_type not in operators
    )
