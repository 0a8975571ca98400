"""The checks that support rules name: each looks at one condition of a node or of the model.

A check returns what it found, as texts for the rule's sentence (name, found, allowed); None where all is well; UNKNOWN
where a shape or type is missing that it needs. What a rule compares with stands in its file or in the device.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from simcore.device import Device
from simcore.element_types import name_of
from simcore.graph import Graph, Node, Tensor, ValueInfo
from simcore.support_table import Rule

__all__ = ["MODEL_CHECKS", "NODE_CHECKS", "UNKNOWN", "Found", "Site", "weight_users"]

#: Texts for the sentence of a rule.
Found = Mapping[str, str]

#: A check could not decide; tested by identity.
UNKNOWN: Final[Found] = {}

#: Operators that hand on their first input, as far as sharing a weight goes.
_HAND_ON: Final = ("Cast", "DequantizeLinear", "Identity", "QuantizeLinear", "Reshape", "Transpose")


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A node and what is known around it."""

    node: Node
    #: The graph it stands in.
    graph: Graph
    device: Device
    #: Type and shape of tensors, as far as known.
    tensors: Mapping[str, ValueInfo]
    #: Values of small constants.
    values: Mapping[str, Tensor]
    #: Names whose value follows from constants and fixed shapes.
    static: Set[str]
    #: The node that makes a tensor, by tensor, here and around.
    producer: Mapping[str, Node]
    #: Operators that use a constant as their weight or bias, by constant; several names may stand for one constant.
    users: Mapping[str, tuple[str, ...]]

    def input(self, i: int) -> str:
        """Return the name of input `i`; "" where it is left out."""
        return self.node.inputs[i] if i < len(self.node.inputs) else ""

    def shape(self, name: str) -> tuple[int | str | None, ...] | None:
        """Return the sizes of a tensor; None where they are not known."""
        info = self.tensors.get(name)
        return None if info is None else info.shape

    def dtype(self, name: str) -> str:
        """Return the name of an element type; "" where it is not known."""
        info = self.tensors.get(name)
        return "" if info is None or info.dtype is None else name_of(info.dtype)

    def size(self, name: str) -> int | None:
        """Return the number of elements; None where it is not known."""
        shape = self.shape(name)
        if shape is None:
            return None
        count = 1
        for size in shape:
            if not isinstance(size, int):
                return None
            count *= size
        return count


def weight_users(graph: Graph, positions: Mapping[str, Sequence[int]]) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return which nodes use a constant as weight, by id of the graph they stand in and by name there.

    Two names are the same constant where one is handed on to the other by Identity, DequantizeLinear, Transpose ...

    Args:
        graph: the model.
        positions: inputs that are weights or biases, by operator.
    """
    users: dict[tuple[int, str], list[str]] = {}
    readers: list[tuple[tuple[int, str], tuple[int, str]]] = []

    def walk(inner: Graph, around: Mapping[str, tuple[int, str]]) -> None:
        roots = {**around, **{name: (id(inner), name) for name in (*inner.initializers, *inner.missing)}}
        for info in inner.inputs:
            roots.pop(info.name, None)
        for node in inner.nodes:
            if node.op_type == "Constant" and not node.domain:
                roots[node.outputs[0]] = (id(inner), node.outputs[0])
            elif node.op_type in _HAND_ON and node.inputs[0] in roots:
                roots[node.outputs[0]] = roots[node.inputs[0]]
            for i in positions.get(node.op_type, ()) if not node.domain else ():
                if i < len(node.inputs) and node.inputs[i] in roots:
                    root = roots[node.inputs[i]]
                    users.setdefault(root, []).append(node.name)
                    readers.append(((id(inner), node.inputs[i]), root))
            for body in node.subgraphs.values():
                walk(body, roots)

    walk(graph, {})
    found: dict[int, dict[str, tuple[str, ...]]] = {}
    for (place, name), root in readers:
        found.setdefault(place, {})[name] = tuple(dict.fromkeys(users[root]))
    return found


# --- The model ---


def _opset(rule: Rule, graph: Graph, device: Device) -> list[tuple[str, Found]]:
    low = _figure(device, rule.figure)
    high = _figure(device, rule.arguments["high_figure"]) if "high_figure" in rule.arguments else rule.arguments["high"]
    found = graph.opset.get("")
    widest = rule.arguments.get("silent_beyond")
    if found is None or low <= found <= high or (widest and not widest[0] <= found <= widest[1]):
        return []
    return [("", {"found": str(found), "allowed": f"{low}~{high}" if low != high else str(low)})]


def _open_sizes(rule: Rule, graph: Graph, device: Device) -> list[tuple[str, Found]]:
    return [
        (info.name, {"name": info.name, "found": "?" if info.shape is None else _shape(info.shape)})
        for info in graph.inputs
        if info.shape is None or not all(isinstance(size, int) for size in info.shape)
    ]


def _input_rank(rule: Rule, graph: Graph, device: Device) -> list[tuple[str, Found]]:
    most = _figure(device, rule.figure)
    return [
        (info.name, {"name": info.name, "found": str(len(info.shape)), "allowed": str(most)})
        for info in graph.inputs
        if info.shape is not None and len(info.shape) > most
    ]


def _input_type(rule: Rule, graph: Graph, device: Device) -> list[tuple[str, Found]]:
    return [
        (info.name, {"name": info.name, "found": name_of(info.dtype)})
        for info in graph.inputs
        if info.dtype is not None and name_of(info.dtype) in rule.arguments["types"]
    ]


def _long_name(rule: Rule, graph: Graph, device: Device) -> list[tuple[str, Found]]:
    longest = rule.arguments["longest"]
    return [
        (info.name, {"name": info.name, "found": str(len(info.name)), "allowed": str(longest)})
        for info in (*graph.inputs, *graph.outputs)
        if len(info.name) > longest
    ]


ModelCheck = Callable[[Rule, Graph, Device], list[tuple[str, Found]]]

#: (rule, model, device) -> (name of the tensor, what was found) for each violation.
MODEL_CHECKS: Final[Mapping[str, ModelCheck]] = {
    "input_rank": _input_rank,
    "input_type": _input_type,
    "long_name": _long_name,
    "open_sizes": _open_sizes,
    "opset": _opset,
}


# --- A node ---


def _operator(rule: Rule, site: Site) -> Found | None:
    operators = site.device.figures[rule.figure].value
    assert isinstance(operators, tuple), "a list of names"
    return None if site.node.domain or site.node.op_type in operators else {"found": site.node.op_type}


def _domain(rule: Rule, site: Site) -> Found | None:
    return {"found": site.node.domain} if site.node.domain else None


def _always(rule: Rule, site: Site) -> Found | None:
    return {"found": site.node.op_type}


def _not_in_figure(rule: Rule, site: Site) -> Found | None:
    allowed = site.device.figures[rule.figure].value
    assert isinstance(allowed, tuple), "a list of names"
    if site.node.op_type in allowed:
        return None
    return {"found": site.node.op_type, "allowed": ", ".join(map(str, allowed))}


def _output_of_model(rule: Rule, site: Site) -> Found | None:
    outputs = {info.name for info in site.graph.outputs}
    return next(({"name": name} for name in site.node.outputs if name in outputs), None)


def _attribute(rule: Rule, site: Site) -> Found | None:
    wanted = rule.arguments
    if "with_input" in wanted and not site.input(wanted["with_input"]):
        return None
    found = site.node.attributes.get(wanted["attribute"], wanted["default"])
    is_fine = found in wanted["allowed"] if "allowed" in wanted else found not in wanted["refused"]
    return None if is_fine else {"found": str(found), "allowed": ", ".join(map(str, wanted.get("allowed", ())))}


def _attribute_given(rule: Rule, site: Site) -> Found | None:
    given = [name for name in rule.arguments["attributes"] if name in site.node.attributes]
    return {"name": given[0], "found": _listed(site.node.attributes[given[0]])} if given else None


def _input_given(rule: Rule, site: Site) -> Found | None:
    return next(({"name": site.input(i)} for i in rule.arguments["inputs"] if site.input(i)), None)


def _input_absent(rule: Rule, site: Site) -> Found | None:
    pairs = zip(rule.arguments["inputs"], rule.arguments["names"], strict=True)
    return next(({"name": name} for i, name in pairs if not site.input(i)), None)


def _input_constant(rule: Rule, site: Site) -> Found | None:
    return next(({"name": site.input(i)} for i in rule.arguments["inputs"] if site.input(i) in site.static), None)


def _input_variable(rule: Rule, site: Site) -> Found | None:
    names = map(site.input, rule.arguments["inputs"])
    return next(({"name": name} for name in names if name and name not in site.static), None)


def _output_absent(rule: Rule, site: Site) -> Found | None:
    outputs = site.node.outputs
    absent = [name for i, name in enumerate(rule.arguments["names"]) if i >= len(outputs) or not outputs[i]]
    return {"name": ", ".join(absent)} if absent else None


def _rank(rule: Rule, site: Site) -> Found | None:
    low, high = rule.arguments["low"], rule.arguments["high"]
    is_unknown = False
    for name in filter(None, map(site.input, rule.arguments["inputs"])):
        shape = site.shape(name)
        is_unknown = is_unknown or shape is None
        if shape is not None and not low <= len(shape) <= high:
            return {"name": name, "found": str(len(shape)), "allowed": f"{low}~{high}"}
    return UNKNOWN if is_unknown else None


def _dequantized_rank(rule: Rule, site: Site) -> Found | None:
    makers = (site.producer.get(site.input(i)) for i in rule.arguments["inputs"])
    return _rank(rule, site) if any(maker and maker.op_type == "DequantizeLinear" for maker in makers) else None


def _element_type(rule: Rule, site: Site) -> Found | None:
    refused = rule.arguments["types"]
    for name in (*site.node.inputs, *site.node.outputs):
        if name and name not in site.static and (dtype := site.dtype(name)) in refused:
            return {"name": name, "found": dtype}
    return None


def _unknown_output(rule: Rule, site: Site) -> Found | None:
    node = site.node
    if node.subgraphs or any(name in site.graph.missing for name in node.inputs):
        return None
    if any(name and site.shape(name) is None for name in node.inputs):
        return None
    return next(({"name": n} for n in node.outputs if n in site.tensors and site.shape(n) is None), None)


def _beyond(rule: Rule, site: Site) -> Found | None:
    most = _figure(site.device, rule.figure)
    for name in filter(None, site.node.inputs):
        value = site.values.get(name) if name in site.static else None
        if value is None or value.dtype.kind != "f" or not value.size:
            continue
        worst = value.flat[int(np.argmax(np.abs(value)))]
        if abs(worst) > most:
            return {"name": name, "found": f"{float(worst):g}", "allowed": f"{most:g}"}
    return None


def _shared(rule: Rule, site: Site) -> Found | None:
    for name in filter(None, map(site.input, rule.arguments["inputs"])):
        others = [user for user in site.users.get(name, ()) if user != site.node.name]
        if others and name in site.static:
            return {"name": name, "found": ", ".join(others[:3]) + (" ..." if len(others) > 3 else "")}
    return None


def _depthwise(rule: Rule, site: Site) -> Found | None:
    shape, group = site.shape(site.input(1)), site.node.attributes.get("group", 1)
    if shape is None:
        return UNKNOWN if group != 1 else None
    return {"found": str(group)} if group != 1 and group == shape[0] else None


def _channels(rule: Rule, site: Site) -> Found | None:
    shape, most = site.shape(site.input(0)), rule.arguments["most"]
    if shape is None:
        return UNKNOWN
    if len(shape) != 4 or not isinstance(shape[1], int) or shape[1] > most:
        return None
    return {"found": str(shape[1]), "allowed": str(most)}


def _constant_first(rule: Rule, site: Site) -> Found | None:
    first, second = site.input(0), site.input(1)
    return {"name": first} if first in site.static and second not in site.static else None


def _two_variables(rule: Rule, site: Site) -> Found | None:
    names = (site.input(0), site.input(1))
    if any(name in site.static for name in names):
        return None
    if "types" in rule.arguments and not any(site.dtype(name) in rule.arguments["types"] for name in names):
        return None
    return {"name": ", ".join(names)}


def _sequence_length(rule: Rule, site: Site) -> Found | None:
    name, most = site.input(0), _figure(site.device, rule.figure)
    shape = site.shape(name)
    steps = shape[1 if site.node.attributes.get("layout") else 0] if shape else None
    if not isinstance(steps, int):
        return UNKNOWN
    return None if steps == most else {"name": name, "found": str(steps), "allowed": str(most)}


# --- QuantizeLinear and DequantizeLinear ---


def _zero_point_type(rule: Rule, site: Site) -> Found | None:
    held = site.node.inputs[0] if site.node.op_type == "DequantizeLinear" else site.node.outputs[0]
    found = site.dtype(held)
    if not found:
        return UNKNOWN
    allowed = rule.arguments["types"]
    return None if found in allowed else {"found": found, "allowed": ", ".join(allowed)}


def _scale(rule: Rule, site: Site) -> Found | None:
    name, most = site.input(1), _figure(site.device, rule.figure)
    value = site.values.get(name)
    if value is None or not value.size:
        return None
    wrong = value[~((value > 0) & (value <= most))]
    return {"name": name, "found": f"{float(wrong.flat[0]):g}", "allowed": f"{most:g}"} if wrong.size else None


def _scales(site: Site) -> int:
    return site.size(site.input(1)) or 1


def _per_channel_data(rule: Rule, site: Site) -> Found | None:
    count = _scales(site)
    return {"name": site.input(1), "found": str(count)} if count > 1 and site.input(0) not in site.static else None


def _per_channel_axis(rule: Rule, site: Site) -> Found | None:
    shape, axis = site.shape(site.input(0)), site.node.attributes.get("axis", 1)
    if _scales(site) == 1 or site.input(0) not in site.static or not isinstance(axis, int):
        return None
    if axis < 0 and shape is None:
        return UNKNOWN
    axis += len(shape or ()) if axis < 0 else 0
    wanted = rule.arguments["axis"]
    return None if axis == wanted else {"found": str(axis), "allowed": str(wanted)}


def _pair(rule: Rule, site: Site) -> Found | None:
    before = site.producer.get(site.input(0))
    if before is None or before.op_type != "QuantizeLinear":
        return None
    for i, name in ((1, "scale"), (2, "zero_point")):
        ours, theirs = site.input(i), before.inputs[i] if i < len(before.inputs) else ""
        if ours == theirs:
            continue
        a, b = (site.values.get(one) if one else np.zeros(()) for one in (ours, theirs))
        if a is not None and b is not None and not np.array_equal(np.ravel(a), np.ravel(b)):
            return {"name": name, "found": before.name}
    return None


def _per_channel_weight(rule: Rule, site: Site) -> Found | None:
    for name in map(site.input, rule.arguments["inputs"]):
        maker = site.producer.get(name)
        if maker is not None and maker.op_type == "DequantizeLinear":
            count = site.size(maker.inputs[1]) or 1
            if count > 1:
                return {"name": name, "found": str(count)}
    return None


NodeCheck = Callable[[Rule, Site], Found | None]

#: (rule, node and what is around it) -> what was found, None or UNKNOWN.
NODE_CHECKS: Final[Mapping[str, NodeCheck]] = {
    "always": _always,
    "attribute": _attribute,
    "attribute_given": _attribute_given,
    "beyond": _beyond,
    "channels": _channels,
    "constant_first": _constant_first,
    "depthwise": _depthwise,
    "dequantized_rank": _dequantized_rank,
    "domain": _domain,
    "element_type": _element_type,
    "input_absent": _input_absent,
    "input_constant": _input_constant,
    "input_given": _input_given,
    "input_variable": _input_variable,
    "not_in_figure": _not_in_figure,
    "operator": _operator,
    "output_absent": _output_absent,
    "output_of_model": _output_of_model,
    "pair": _pair,
    "per_channel_axis": _per_channel_axis,
    "per_channel_data": _per_channel_data,
    "per_channel_weight": _per_channel_weight,
    "rank": _rank,
    "scale": _scale,
    "sequence_length": _sequence_length,
    "shared": _shared,
    "two_variables": _two_variables,
    "unknown_output": _unknown_output,
    "zero_point_type": _zero_point_type,
}


def _figure(device: Device, name: str) -> Any:  # noqa: ANN401
    """Return a number of the device."""
    return device.figures[name].value


def _shape(sizes: Iterable[int | str | None]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in sizes) + "]"


def _listed(value: Any) -> str:  # noqa: ANN401
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
