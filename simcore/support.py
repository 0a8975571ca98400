"""What a device supports of a model: every node under every rule of support_rules/*.toml.

    rules_of(device)  -> the rules that hold there
    the model         -> opset, inputs, names
    node by node      -> all rules; where the node folds (constants, fixed shapes, branches that never run) only the
                         operator list, as a note; bodies of If, Loop and Scan before the node that holds them

The official script counts operator types of the file as it is and knows no conditions: `unsupported_types`.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from simcore.bodies import inner_graphs
from simcore.device import Device
from simcore.graph import Graph, Node, Tensor, ValueInfo, captures
from simcore.shapes import MAX_KNOWN_ELEMENTS, Inferred
from simcore.support_checks import MODEL_CHECKS, NODE_CHECKS, UNKNOWN, Found, Site, weight_users
from simcore.support_table import Rule, Severity, Text, load_texts, rules_of

__all__ = ["OPERATOR_RULES", "Finding", "findings", "knows_operators", "unsupported_types"]

#: Rules that say an operator as such is not there; the others say how it may be used.
OPERATOR_RULES: Final = ("operator-list", "domain")

#: Operators without inputs that matter whose result is not the same each time.
_RANDOM: Final = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a model that the device does not support, or only under conditions."""

    #: Name of the node, or of the input or output; "" for the model as a whole.
    node: str
    #: Operator, "domain::Name" outside ai.onnx; "" where no node is meant.
    op_type: str
    #: Id of the rule in support_rules/*.toml, or not-checked, operators-unknown.
    rule: str
    #: What was found.
    zh: str
    en: str
    #: What to do.
    fix_zh: str
    fix_en: str
    #: Document and chapter.
    source: str
    #: unsupported: will not run as it is; limit: outside what the documents promise; note: good to know.
    severity: Severity


@dataclass(slots=True, eq=False)
class _Work:
    """What is gathered while the nodes are gone through."""

    device: Device
    rules: tuple[Rule, ...]
    users: Mapping[int, Mapping[str, tuple[str, ...]]]
    found: list[Finding] = field(default_factory=list)
    #: Of rules with one finding for all nodes: the first node, what was found there, and how many there are.
    once: dict[str, tuple[Rule, Node, Found, int]] = field(default_factory=dict)
    #: How often a rule could not be checked.
    unchecked: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """What is known around the nodes of a graph."""

    tensors: Mapping[str, ValueInfo]
    values: Mapping[str, Tensor]
    static: Set[str]
    producer: Mapping[str, Node]
    #: False in a branch that never runs.
    is_live: bool = True


def knows_operators(device: Device) -> bool:
    """Return whether an operator list of the device is public; without it support is not known."""
    return "operators" in device.figures


def findings(
    graph: Graph, inferred: Inferred | None, device: Device, asked: Set[str] = frozenset()
) -> tuple[Finding, ...]:
    """Return what the device does not support of the model, in the order of its nodes; the model itself first.

    A node is static if its results follow from constants, fixed shapes and given inputs of one element (a switch, a
    sampling rate): folded, it does not reach the device. The same holds for an If whose condition is static, and for
    its other branch. Of such nodes the operator list gives a note; other rules pass over them, but for those on Q/DQ
    nodes of constants, which AMCT reads from the file.

    Args:
        graph: the model.
        inferred: shapes of its tensors; None where they cannot be had, such as with operators outside ai.onnx. Rules
            that need them are then named in a note.
        device: the device.
        asked: what the user plans, for rules that hold only then: "qat", "dual-int16".

    Raises:
        BadArgument: the device names a rule file that is not there.
    """
    rules = tuple(rule for rule in rules_of(device) if not rule.when or rule.when in asked)
    work = _Work(device, rules, weight_users(graph, _weight_inputs(rules)))
    if not knows_operators(device):
        text = load_texts().plain["unknown_device"]
        work.found.append(_finding("operators-unknown", "note", text, {"device": device.name}))
    known = graph if inferred is None else replace(graph, inputs=tuple(_known(graph, inferred)))
    for rule in rules:
        for name, found in MODEL_CHECKS[rule.check](rule, known, device) if rule.check in MODEL_CHECKS else ():
            work.found.append(_of_rule(rule, device, name, "", found))
    _walk(work, graph, _start(graph, inferred))
    for rule, node, found, count in work.once.values():
        work.found.append(_of_rule(rule, device, node.name, _op(node), {**found, "count": str(count)}))
    if work.unchecked:
        text = load_texts().plain["not_checked"]
        filled = {"count": str(sum(work.unchecked.values())), "rules": ", ".join(sorted(work.unchecked))}
        work.found.append(_finding("not-checked", "note", text, filled))
    return tuple(work.found)


def unsupported_types(found: Iterable[Finding], view: Literal["script", "fused"] = "script") -> tuple[str, ...]:
    """Return the operator types that the device does not have, sorted: NOT_SUPPORT_OP_TYPE.

    Args:
        found: from `findings`.
        view: script counts every node of the file; fused leaves out what constant folding removes.
    """
    return tuple(
        sorted(
            {
                finding.op_type
                for finding in found
                if finding.rule in OPERATOR_RULES and (view == "script" or finding.severity == "unsupported")
            }
        )
    )


def _known(graph: Graph, inferred: Inferred) -> Iterator[ValueInfo]:
    """Yield the inputs with the sizes they were given."""
    for info in graph.inputs:
        found = inferred.tensors.get(info.name)
        yield info if found is None or found.shape is None else found


def _start(graph: Graph, inferred: Inferred | None) -> _Scope:
    values = {name: value for name, value in graph.initializers.items() if value.size <= MAX_KNOWN_ELEMENTS}
    weights = {name: ValueInfo(name, value.dtype, value.shape) for name, value in graph.initializers.items()}
    if inferred is None:
        inputs = {info.name: info for info in graph.inputs}
        return _Scope({**inputs, **weights, **graph.missing}, values, frozenset(), {})
    switches = (info.name for info in graph.inputs if info.name in inferred.values)
    fixed = {name for name in switches if inferred.values[name].size == 1}
    return _Scope({**weights, **graph.missing, **inferred.tensors}, {**values, **inferred.values}, fixed, {})


def _walk(work: _Work, graph: Graph, around: _Scope) -> Set[str]:
    """Add the findings of a graph's nodes; return the names in it that are static."""
    static = {*around.static, *graph.initializers, *graph.missing}
    producer = dict(around.producer)
    scope = replace(around, static=static, producer=producer)
    site = Site(graph.nodes[0], graph, work.device, scope.tensors, scope.values, static, producer, {})
    site = replace(site, users=work.users.get(id(graph), {})) if graph.nodes else site
    for node in graph.nodes:
        if node.subgraphs:
            outcome, aside = _controlled(work, graph, node, scope)
        else:
            is_static = _is_static(node, scope)
            outcome, aside = set(node.outputs) if is_static else set(), "static" if is_static else ""
        _check(work, replace(site, node=node), aside if scope.is_live else "not_taken")
        static.update(filter(None, outcome))
        producer.update((name, node) for name in node.outputs if name)
    return static


def _is_static(node: Node, scope: _Scope) -> bool:
    if node.op_type in _RANDOM:
        return False
    if node.op_type in ("Shape", "Size") and not node.domain:
        info = scope.tensors.get(node.inputs[0])
        if info is not None and info.shape is not None and all(isinstance(size, int) for size in info.shape):
            return True
    return all(name in scope.static for name in node.inputs if name)


def _controlled(work: _Work, graph: Graph, node: Node, scope: _Scope) -> tuple[set[str], str]:
    """Add the findings of a node's subgraphs; return its static outputs, and why it does not reach the device."""
    is_if = node.op_type == "If" and not node.domain
    values = {name: scope.values[name] for name in scope.static if name in scope.values}
    inners = () if node.domain else inner_graphs(node, graph.opset, scope.tensors, values)
    inside = {inner.attribute: inner for inner in inners}
    is_chosen = is_if and node.inputs[0] in values and len(inside) == 1
    read = {name for body in node.subgraphs.values() for name in captures(body)}
    is_all_static = scope.static >= (read | set(filter(None, node.inputs)))
    outcome: set[str] = set(node.outputs) if is_all_static else set()
    for attribute, body in node.subgraphs.items():
        inner = inside.get(attribute)
        shapes = inner.inferred if inner is not None else None
        own = _start(body, shapes)
        is_live = scope.is_live and not (is_chosen and inner is None) and not is_all_static
        static = _walk(
            work,
            body,
            _Scope(
                {**scope.tensors, **own.tensors},
                {**scope.values, **own.values},
                scope.static,
                scope.producer,
                is_live,
            ),
        )
        if is_chosen and inner is not None:
            results = zip(node.outputs, body.outputs, strict=False)
            outcome |= {name for name, info in results if info.name in static}
    return outcome, "static" if is_all_static else "chosen" if is_chosen else ""


def _check(work: _Work, site: Site, aside: str) -> None:
    """Add the findings of one node; `aside` is why it does not reach the device: static, chosen, not_taken or ""."""
    node = site.node
    for rule in work.rules:
        if rule.check not in NODE_CHECKS or node.op_type in rule.excepted:
            continue
        is_operator = rule.id in OPERATOR_RULES
        if (rule.op_types and (node.domain or node.op_type not in rule.op_types)) or (node.domain and not is_operator):
            continue
        if aside and not is_operator and not (rule.folded and aside == "static"):
            continue
        found = NODE_CHECKS[rule.check](rule, site)
        if found is None:
            continue
        if found is UNKNOWN:
            work.unchecked[rule.id] = work.unchecked.get(rule.id, 0) + 1
        elif is_operator:
            work.found.append(_of_operator(rule, work.device, node, found, aside))
        elif rule.once:
            first = work.once.get(rule.id, (rule, node, found, 0))
            work.once[rule.id] = (*first[:3], first[3] + 1)
        else:
            work.found.append(_of_rule(rule, work.device, node.name, _op(node), found))


def _op(node: Node) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


def _weight_inputs(rules: Iterable[Rule]) -> dict[str, tuple[int, ...]]:
    """Return by operator the inputs that the rules on shared weights look at."""
    return {op: tuple(rule.arguments["inputs"]) for rule in rules if rule.check == "shared" for op in rule.op_types}


def _of_operator(rule: Rule, device: Device, node: Node, found: Found, aside: str) -> Finding:
    """Return that an operator is not there, with the way out; a note if the node does not reach the device."""
    texts, op, text, severity = load_texts(), _op(node), rule.text, rule.severity
    if aside:
        way, severity = texts.plain[aside], "note"
        text = replace(text, zh=text.zh + way.zh, en=f"{text.en} {way.en}")
    else:
        usual = texts.plain["foreign" if node.domain else "other"]
        way = texts.ways.get(op) or (texts.plain["rewritable"] if op in texts.rewritable else usual)
    text = replace(text, fix_zh=way.fix_zh, fix_en=way.fix_en)
    return _of_rule(replace(rule, text=text, severity=severity), device, node.name, op, found)


def _of_rule(rule: Rule, device: Device, node: str, op_type: str, found: Found) -> Finding:
    source = rule.text.source or device.figures[rule.figure].source
    text = replace(rule.text, source=source)
    return _finding(rule.id, rule.severity, text, {"op": op_type, "device": device.name, **found}, node, op_type)


def _finding(rule: str, severity: Severity, text: Text, found: Found, node: str = "", op_type: str = "") -> Finding:
    zh, en = text.zh.format_map(found), text.en.format_map(found)
    return Finding(node, op_type, rule, zh, en, text.fix_zh, text.fix_en, text.source, severity)
