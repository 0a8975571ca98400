"""What needs no device to be simpler: constants, identities, dead nodes, branches that never run, folded scales.

Each function returns a graph and what it changed; constants of a graph around are passed as `outside`.
"""

import math
from collections import ChainMap, Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from simcore.element_types import dtype_of
from simcore.errors import UnsupportedOp
from simcore.graph import Graph, Node, Tensor, ValueInfo, captures
from simcore.plan import FAILURES, as_tuple, bound
from simcore.rewrite.rule import Known, Names

__all__ = ["Folded", "fold"]

#: Nodes whose inputs are constant but which have to stay: they say how the weight is quantized.
_KEPT: Final = frozenset({"DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear"})
_RANDOM: Final = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial")
#: Constants that a fold may make larger than what it reads, bytes.
_GROWTH: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Folded:
    """A node that went."""

    node: Node
    #: What was done: constant, branch, identity, unused, batch_norm.
    how: str
    #: What stands for it.
    into: tuple[str, ...] = ()


def fold(
    graph: Graph, known: Known, names: Names, outside: Mapping[str, Tensor], has_batch_norm: bool = True
) -> tuple[Graph, list[Folded]]:
    """Return the graph after one round of all folds, and the nodes that went.

    Args:
        graph: the graph.
        known: what is known of its tensors.
        names: names in use.
        outside: constants of the graphs around.
        has_batch_norm: whether BatchNormalization is folded into the product before it.
    """
    done: list[Folded] = []
    graph = _constants(graph, known, outside, names, done)
    graph = _branches(graph, outside, names, done)
    graph = _to_identity(graph, known, done)
    if has_batch_norm:
        graph = _batch_norms(graph, names, done)
    return _pruned(_without_identities(graph), done), done


def _constants(graph: Graph, known: Known, outside: Mapping[str, Tensor], names: Names, done: list[Folded]) -> Graph:
    """Return the graph with nodes whose outputs are known as initializers."""
    constants: ChainMap[str, Tensor] = ChainMap(dict(graph.initializers), dict(outside))
    outputs = {info.name for info in graph.outputs}
    nodes = []
    for node in graph.nodes:
        results = _known_results(node, graph, known, constants)
        if results is None:
            nodes.append(node)
            continue
        done.append(Folded(node, "constant"))
        for name, value in results.items():
            if name in outputs:
                # An output has a node that makes it: not every reader takes an initializer for one.
                source = names.new(f"{name}_value")
                constants[source] = value
                nodes.append(Node(names.new(f"{node.name}/Identity"), "Identity", "", (source,), (name,)))
            else:
                constants[name] = value
    return replace(graph, nodes=tuple(nodes), initializers=dict(constants.maps[0]))


def _known_results(node: Node, graph: Graph, known: Known, constants: Mapping[str, Tensor]) -> dict[str, Tensor] | None:
    outputs = [name for name in node.outputs if name]
    if node.op_type in (*_KEPT, *_RANDOM, "Identity") or node.subgraphs or not outputs:
        return None
    if all(name in known.values for name in outputs):
        return {name: np.asarray(known.values[name]) for name in outputs}
    if any(name and name not in constants for name in node.inputs):
        return None
    if any(name in graph.missing for name in node.inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            results = as_tuple(bound(node, graph.opset)(*(constants.get(name) for name in node.inputs)), node)
    except FAILURES:
        return None
    given = sum(constants[name].nbytes for name in node.inputs if name)
    # A constant is cheap to make; one element spread over a large shape is not cheap to keep.
    if node.op_type != "Constant" and sum(math.prod(r.shape) * r.dtype.itemsize for r in results) > given + _GROWTH:
        return None
    return {name: _kept(value) for name, value in zip(node.outputs, results, strict=False) if name}


def _kept(value: Tensor) -> Tensor:
    kept = np.ascontiguousarray(value).reshape(value.shape).view()
    kept.setflags(write=False)
    return kept


def _branches(graph: Graph, outside: Mapping[str, Tensor], names: Names, done: list[Folded]) -> Graph:
    """Return the graph with each If of constant condition replaced by the branch that runs."""
    nodes: list[Node] = []
    constants, infos, missing = dict(graph.initializers), dict(graph.value_info), dict(graph.missing)
    for node in graph.nodes:
        condition = constants.get(node.inputs[0], outside.get(node.inputs[0])) if node.op_type == "If" else None
        if condition is None or node.domain or condition.size != 1:
            nodes.append(node)
            continue
        branch = node.subgraphs["then_branch" if condition.reshape(-1)[0] else "else_branch"]
        body, copies = _renamed(branch, node, names)
        nodes += [*body.nodes, *copies]
        constants.update(body.initializers)
        missing.update(body.missing)
        infos.update(body.value_info)
        done.append(Folded(node, "branch", tuple(inner.op_type for inner in body.nodes)))
    return replace(graph, nodes=tuple(nodes), initializers=constants, value_info=infos, missing=missing)


def _renamed(branch: Graph, node: Node, names: Names) -> tuple[Graph, list[Node]]:
    """Return a branch whose own tensors have names of their own and whose outputs are the node's.

    Outputs that the branch takes from outside, or from a constant, or twice, are copies.
    """
    made = {name for inner in branch.nodes for name in inner.outputs if name}
    own = made | branch.initializers.keys() | branch.missing.keys()
    new: dict[str, str] = {}
    copies: list[Node] = []
    for info, output in zip(branch.outputs, node.outputs, strict=False):
        if not output:
            continue
        if info.name in made and info.name not in new:
            new[info.name] = output
        else:
            copies.append(Node(names.new(f"{node.name}/Identity"), "Identity", "", (info.name,), (output,)))
    for name in sorted(own - new.keys()):
        new[name] = names.new(f"{node.name}/{name}")
    renamed = _with_names(branch, new)
    copies = [replace(copy, inputs=tuple(new.get(name, name) for name in copy.inputs)) for copy in copies]
    return renamed, copies


def _with_names(graph: Graph, new: Mapping[str, str]) -> Graph:
    """Return a graph with tensors renamed, those that its subgraphs read from it included."""

    def name_of(name: str) -> str:
        return new.get(name, name)

    def info_of(info: ValueInfo) -> ValueInfo:
        return replace(info, name=name_of(info.name))

    def node_of(node: Node) -> Node:
        inner = {}
        for attribute, body in node.subgraphs.items():
            hidden = {n for n in (*body.initializers, *body.missing, *(i.name for i in body.inputs))}
            hidden |= {n for one in body.nodes for n in one.outputs}
            inner[attribute] = _with_names(body, {old: name for old, name in new.items() if old not in hidden})
        return replace(
            node,
            inputs=tuple(map(name_of, node.inputs)),
            outputs=tuple(map(name_of, node.outputs)),
            subgraphs=inner,
        )

    return replace(
        graph,
        nodes=tuple(map(node_of, graph.nodes)),
        outputs=tuple(map(info_of, graph.outputs)),
        initializers={name_of(name): value for name, value in graph.initializers.items()},
        missing={name_of(name): info_of(info) for name, info in graph.missing.items()},
        value_info={name_of(name): info_of(info) for name, info in graph.value_info.items()},
    )


def _to_identity(graph: Graph, known: Known, done: list[Folded]) -> Graph:
    """Return the graph with nodes that change nothing as Identity: Dropout, casts to the type that is there ..."""
    nodes = []
    uses = Counter(name for node in graph.nodes for name in _reads(node))
    uses.update(info.name for info in graph.outputs)
    for node in graph.nodes:
        if not node.domain and _changes_nothing(node, graph, known, uses):
            done.append(Folded(node, "identity"))
            node = Node(node.name, "Identity", "", node.inputs[:1], node.outputs[:1])
        nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


def _changes_nothing(node: Node, graph: Graph, known: Known, uses: Mapping[str, int]) -> bool:
    if node.op_type == "Dropout":
        training = graph.initializers.get(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else None
        is_off = len(node.inputs) < 3 or not node.inputs[2] or (training is not None and not training.any())
        return is_off and not any(uses[name] for name in node.outputs[1:])
    info = known.tensors.get(node.inputs[0]) if node.inputs else None
    if node.op_type == "Cast":
        return info is not None and info.dtype is not None and _casts_to(node) == info.dtype
    if node.op_type in ("Sum", "Max", "Min", "Mean", "Concat"):
        return len(node.inputs) == 1
    if node.op_type == "Transpose":
        perm = node.attributes.get("perm")
        return isinstance(perm, tuple) and perm == tuple(range(len(perm)))
    return False


def _casts_to(node: Node) -> "np.dtype[Any] | None":
    to = node.attributes.get("to")
    try:
        return dtype_of(to) if isinstance(to, int) else None
    except UnsupportedOp:
        return None


def _reads(node: Node) -> list[str]:
    return [*node.inputs, *(name for inner in node.subgraphs.values() for name in captures(inner))]


def _without_identities(graph: Graph) -> Graph:
    """Return the graph without Identity nodes, but for those that link an input or constant to an output."""
    made = {name for node in graph.nodes for name in node.outputs if name}
    outputs = {info.name for info in graph.outputs}
    new: dict[str, str] = {}
    nodes = []
    for node in graph.nodes:
        if node.op_type != "Identity" or node.domain:
            nodes.append(node)
            continue
        source, target = new.get(node.inputs[0], node.inputs[0]), node.outputs[0]
        if target not in outputs:
            new[target] = source
        elif source in made and source not in outputs and source not in new.values():
            # The producer takes the output's name; who read the source reads that.
            new = {old: target if name == source else name for old, name in new.items()}
            new[source] = target
            outputs.add(source)
        else:
            nodes.append(replace(node, inputs=(source,)))
    if not new:
        return replace(graph, nodes=tuple(nodes))
    renamed = _with_names(replace(graph, nodes=tuple(nodes), outputs=(), value_info={}), new)
    infos = {name: info for name, info in graph.value_info.items() if name not in new}
    return replace(renamed, outputs=graph.outputs, value_info=infos)


def _pruned(graph: Graph, done: list[Folded]) -> Graph:
    """Return the graph without nodes and constants that no output needs."""
    needed = {info.name for info in graph.outputs}
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        if not any(name in needed for name in node.outputs):
            done.append(Folded(node, "unused"))
            continue
        needed.update(name for name in _reads(node) if name)
        nodes.append(node)
    return replace(
        graph,
        nodes=tuple(reversed(nodes)),
        initializers={name: value for name, value in graph.initializers.items() if name in needed},
        missing={name: info for name, info in graph.missing.items() if name in needed},
    )


def _batch_norms(graph: Graph, names: Names, done: list[Folded]) -> Graph:
    """Return the graph with each BatchNormalization right after a Conv, ConvTranspose or Gemm folded into it."""
    producer = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}
    uses = Counter(name for node in graph.nodes for name in _reads(node))
    uses.update(info.name for info in graph.outputs)
    nodes: list[Node | None] = list(graph.nodes)
    constants = dict(graph.initializers)
    for i, node in enumerate(graph.nodes):
        if node.op_type != "BatchNormalization" or node.domain or node.attributes.get("training_mode"):
            continue
        if any(node.outputs[1:]) or node.attributes.get("spatial", 1) == 0 or uses[node.inputs[0]] != 1:
            continue
        place = producer.get(node.inputs[0])
        product = nodes[place] if place is not None else None
        if product is None or any(name not in constants for name in node.inputs[1:]):
            continue
        folded = _into_product(product, node, constants, names)
        if folded is not None and place is not None:
            nodes[place], added = folded
            constants.update(added)
            nodes[i] = None
            done.append(Folded(node, "batch_norm", (product.op_type,)))
    return replace(graph, nodes=tuple(node for node in nodes if node is not None), initializers=constants)


def _into_product(
    product: Node, norm: Node, constants: Mapping[str, Tensor], names: Names
) -> tuple[Node, dict[str, Tensor]] | None:
    """Return the product with factor and offset of the normalization in its weight and bias; None where not possible.

    factor = scale / sqrt(var + epsilon); weight * factor, (bias - mean) * factor + offset, in float64.
    """
    weight = constants.get(product.inputs[1]) if len(product.inputs) > 1 else None
    bias_name = product.inputs[2] if len(product.inputs) > 2 else ""
    bias = constants.get(bias_name) if bias_name else np.zeros(1)
    if product.domain or weight is None or bias is None or weight.dtype.kind != "f":
        return None
    if len({constants[name].shape for name in norm.inputs[1:5]}) != 1 or len(norm.inputs) != 5:
        return None
    scale, offset, mean, var = (constants[name].astype(np.float64) for name in norm.inputs[1:5])
    epsilon = norm.attributes.get("epsilon", 1e-5)
    assert isinstance(epsilon, float | int)
    factor = scale / np.sqrt(var + epsilon)
    shape = _weight_shape(product, weight, factor.size)
    if shape is None or factor.ndim != 1:
        return None
    beta = product.attributes.get("beta", 1.0) if product.op_type == "Gemm" else 1.0
    if beta != 1.0 or bias.size not in (1, factor.size) or any(size != 1 for size in bias.shape[:-1]):
        return None
    new_weight = (weight.astype(np.float64).reshape(shape[0]) * factor.reshape(shape[1])).reshape(weight.shape)
    new_bias = (bias.astype(np.float64).reshape(-1) - mean) * factor + offset
    stem = product.name
    added = {
        names.new(f"{stem}/folded_weight"): _kept(new_weight.astype(weight.dtype)),
        names.new(f"{stem}/folded_bias"): _kept(new_bias.astype(weight.dtype)),
    }
    inputs = (product.inputs[0], *added)
    return replace(product, inputs=inputs, outputs=norm.outputs[:1]), added


def _weight_shape(product: Node, weight: Tensor, channels: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the shapes of weight and factor under which they multiply channel by channel."""
    rest = weight.shape[2:]
    if product.op_type == "Conv" and weight.shape[0] == channels:
        return weight.shape, (channels, 1, *(1,) * len(rest))
    if product.op_type == "ConvTranspose":
        group = product.attributes.get("group", 1)
        assert isinstance(group, int)
        if weight.shape[1] * group == channels and weight.shape[0] % group == 0:
            grouped = (group, weight.shape[0] // group, weight.shape[1], *rest)
            return grouped, (group, 1, weight.shape[1], *(1,) * len(rest))
    if product.op_type == "Gemm":
        has_rows = product.attributes.get("transB", 0)
        if weight.shape[0 if has_rows else 1] == channels:
            return weight.shape, (channels, 1) if has_rows else (1, channels)
    return None
