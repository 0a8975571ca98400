"""A graph as one list of calls: what stands in subgraphs is put in its place, tensors named in the whole model.

    If          the condition, then the branch that runs or the larger one, then its results under the outer names
    Loop, Scan  copies of what the body takes, the body once, then its results; what every iteration needs is held
    constants   nodes whose outputs follow from constants and shapes alone are left out

Names of tensors and nodes inside subgraphs get a path in front: "if_1/then_branch/conv_2".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from simcore.bodies import InnerGraph, inner_graphs
from simcore.graph import Graph, Node, Tensor, ValueInfo, captures
from simcore.shapes import Inferred

__all__ = ["Call", "Flat", "bytes_in", "flatten"]


@dataclass(frozen=True, slots=True)
class Call:
    """A node with its tensors by their names in the whole model."""

    name: str
    node: Node
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    #: How often it runs: 1, inside a loop the trip count; None if only a run can tell.
    runs: int | None = 1
    #: Made here, no node of the file: hands out the results of an If, or fills and empties the body of a loop.
    is_copy: bool = False


@dataclass(slots=True)
class Flat:
    """A graph with its subgraphs in line, while it is gone through."""

    bytes_of: Callable[[ValueInfo], int]
    #: Bytes a subgraph needs at its fullest step; decides which branch is the larger.
    peak_of: Callable[[InnerGraph], int]
    #: Leave out what follows from constants and shapes.
    folding: bool
    calls: list[Call] = field(default_factory=list)
    #: What is known of each tensor.
    infos: dict[str, ValueInfo] = field(default_factory=dict)
    values: dict[str, Tensor] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    #: Tensors that must live from and to a step at least: those carried around a loop, or read in it again.
    spans: list[tuple[str, int, int]] = field(default_factory=list)
    assumptions: dict[str, None] = field(default_factory=dict)
    #: How often what is being added runs.
    runs: int | None = 1


def bytes_in(flat: Flat, name: str) -> int | None:
    """Return the bytes of a tensor; None if its shape or type is not known."""
    info = flat.infos.get(name)
    if info is None or info.dtype is None or info.shape is None:
        return None
    return flat.bytes_of(info) if all(isinstance(size, int) for size in info.shape) else None


def flatten(graph: Graph, inferred: Inferred, path: str, names: dict[str, str], flat: Flat) -> None:
    """Add the nodes of a graph to `flat.calls`; `names` maps names inside to names in the whole model."""
    for name in (*graph.initializers, *graph.missing):
        names[name] = path + name
        flat.constants.add(path + name)
    _note(names, names, inferred, flat)
    for node in graph.nodes:
        inputs = tuple(names[name] if name else "" for name in node.inputs)
        outputs = tuple(path + name if name else "" for name in node.outputs)
        for name in filter(None, node.outputs):
            names[name] = path + name
        _note(node.outputs, names, inferred, flat)
        call = Call(path + node.name, node, inputs, outputs, flat.runs)
        if node.subgraphs:
            _inline(call, graph, inferred, names, flat)
        elif _is_constant(call, inferred, flat):
            flat.constants.update(filter(None, outputs))
        else:
            flat.calls.append(call)


def _note(inside: Iterable[str], names: Mapping[str, str], inferred: Inferred, flat: Flat) -> None:
    """Note what is known of some tensors."""
    for name in inside:
        if name in inferred.tensors:
            flat.infos.setdefault(names[name], inferred.tensors[name])
        if name in inferred.values:
            flat.values.setdefault(names[name], inferred.values[name])


def _is_constant(call: Call, inferred: Inferred, flat: Flat) -> bool:
    """Tell whether a node's outputs follow from constants and shapes alone."""
    node = call.node
    # A ConstantOfShape of a constant is how a file stores a tensor of equal elements; see parameters.
    if node.op_type == "Constant" or (node.op_type == "ConstantOfShape" and call.inputs[0] in flat.constants):
        return True
    if not flat.folding or node.op_type.startswith("Random") or node.op_type in ("Bernoulli", "Multinomial"):
        return False
    if node.op_type in ("Shape", "Size"):
        info = inferred.tensors.get(node.inputs[0])
        return info is not None and info.shape is not None
    return all(name in flat.constants for name in call.inputs if name)


def _inline(call: Call, graph: Graph, inferred: Inferred, names: Mapping[str, str], flat: Flat) -> None:
    """Put the subgraph of a control-flow node in its place: the larger branch, or the body once."""
    bodies = inner_graphs(call.node, graph.opset, inferred.tensors, inferred.values)
    known = [body for body in bodies if body.inferred is not None]
    if len(known) < len(bodies):
        flat.assumptions[f"a subgraph of {call.name!r} has unknown shapes and takes no memory here"] = None
    plain = replace(call.node, subgraphs={})
    if not known or call.node.op_type not in ("If", "Loop", "Scan"):
        read = (names[name] for inner in call.node.subgraphs.values() for name in captures(inner))
        flat.calls.append(Call(call.name, plain, (*call.inputs, *read), call.outputs, call.runs))
        return
    if len(known) > 1:
        flat.assumptions["an If whose condition is not known takes the memory of its larger branch"] = None
    body = max(known, key=flat.peak_of) if len(known) > 1 else known[0]
    flat.assumptions.update(dict.fromkeys(body.assumptions))
    assert body.inferred is not None, "chosen among those known"
    path = f"{call.name}/{body.attribute}/"
    inside = dict(names)
    start = len(flat.calls)
    if call.node.op_type == "If":
        flat.calls.append(Call(call.name, plain, call.inputs, (), call.runs))
        flatten(body.graph, body.inferred, path, inside, flat)
        _hand_out_branch(call, [inside[info.name] for info in body.graph.outputs], flat)
        return
    for info, sources in zip(body.graph.inputs, _body_sources(call, graph), strict=True):
        # A body's inputs are copies: the iteration, the condition, carried tensors, slices of what is scanned.
        inside[info.name] = path + info.name
        flat.calls.append(Call(call.name, plain, sources, (path + info.name,), call.runs, True))
    flat.runs = None if body.count is None or call.runs is None else call.runs * body.count
    flatten(body.graph, body.inferred, path, inside, flat)
    flat.runs = call.runs
    results = tuple(inside[info.name] for info in body.graph.outputs)
    flat.calls.append(Call(call.name, plain, results, call.outputs, call.runs))
    _hold(call, start, {path + info.name for info in body.graph.inputs}, path, flat)


def _body_sources(call: Call, graph: Graph) -> list[tuple[str, ...]]:
    """Return what each input of a loop's body is made from."""
    if call.node.op_type == "Loop":
        return [call.inputs[:1], call.inputs[1:2], *((name,) for name in call.inputs[2:])]
    return [(name,) for name in (call.inputs if graph.opset.get("", 9) >= 9 else call.inputs[1:])]


def _hand_out_branch(call: Call, results: Sequence[str], flat: Flat) -> None:
    """Give the results of a branch the names of the node's outputs."""
    identity = Node(call.name, "Identity", "", (), ())
    for result, output in zip(results, call.outputs, strict=True):
        if output:
            known = flat.infos.get(output)
            if (known is None or known.shape is None) and result in flat.infos:
                flat.infos[output] = replace(flat.infos[result], name=output)
            flat.calls.append(Call(call.name, identity, (result,), (output,), call.runs, True))


def _hold(call: Call, start: int, carried: set[str], path: str, flat: Flat) -> None:
    """Keep alive during a whole loop what every iteration needs or adds to."""
    outside = {name for inner in flat.calls[start:] for name in inner.inputs if name and not name.startswith(path)}
    held = outside | carried | set(filter(None, call.outputs))
    flat.spans += [(name, start, len(flat.calls) - 1) for name in held]
