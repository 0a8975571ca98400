"""A graph made ready to run: each node bound to its function, tensors numbered, constants folded, last uses found."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument, ModelError, SimError, UnsupportedOp
from simcore.graph import Graph, Node, Tensor, captures, described, walk
from simcore.ops import table
from simcore.ops.widen import unguarded
from simcore.precision import Precision, check

__all__ = ["FAILURES", "Plan", "Step", "SubPlan", "as_tuple", "bound", "explained", "prepare", "unsupported"]

#: Errors of an operator that mean its node or the data do not fit.
FAILURES: Final = (SimError, ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)

#: Positions in a plan's values that stand for "no tensor": an input left out, an output nobody wants.
_ABSENT: Final = 0
_UNWANTED: Final = 1

#: Bytes of the largest block glibc takes as a hint, mallopt(3): M_MMAP_THRESHOLD, its own bookkeeping left out.
_LARGEST_HINT: Final = (32 << 20) - (8 << 10)


@dataclass(frozen=True, slots=True)
class SubPlan:
    """A subgraph of a control-flow node, made ready."""

    #: Attribute it is the value of, such as then_branch.
    attribute: str
    graph: Graph
    plan: "Plan"
    #: Names it reads from the graphs around it, constants excluded.
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One node, ready to be called."""

    #: Inputs -> an array or a tuple; attributes are filled in, subgraphs are not.
    call: Callable[..., Any]
    #: Positions of its arguments in the values: the node's inputs, then what each subgraph reads from outside.
    inputs: tuple[int, ...]
    #: Positions of its results.
    outputs: tuple[int, ...]
    #: Positions whose last use this is.
    dead: tuple[int, ...]
    #: Subgraphs, for control flow.
    bodies: tuple[SubPlan, ...]
    node: Node


@dataclass(frozen=True, slots=True)
class Plan:
    """A graph ready to run, any number of times; made by `prepare`."""

    steps: tuple[Step, ...]
    #: Values before the first step: constants (and prepared weights) in their places, None elsewhere.
    start: tuple[Any, ...]
    #: Position of each feed and of each tensor from outside, by name.
    feeds: Mapping[str, int]
    #: Name and position of each output, in order.
    outputs: tuple[tuple[str, int], ...]
    #: Position of each tensor a node produces, by name.
    produced: Mapping[str, int]


@dataclass(slots=True)
class _Draft:
    """What becomes a plan, while its nodes are gone through."""

    #: Position by name.
    places: dict[str, int]
    constants: dict[str, Any]
    produced: dict[str, int] = field(default_factory=dict)
    #: How nodes compute; None: in float32.
    precision: Precision | None = None
    #: Tensors that follow from shapes and constants alone.
    from_shapes: set[str] = field(default_factory=set)
    #: Nodes left to run: function, names read, subgraphs, node.
    calls: list[tuple[Callable[..., Any], tuple[str, ...], tuple[SubPlan, ...], Node]] = field(default_factory=list)

    def place(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places) + 1)


def prepare(graph: Graph, replaced: frozenset[str] = frozenset(), precision: Precision | None = None) -> Plan:
    """Return the plan of a graph; `replaced` are the initializers that feeds will replace.

    Raises:
        UnsupportedOp: operators that are not computed here; all of them are named.
        ModelError: an attribute that its operator does not have; weights that are missing; a node that cannot be
            computed as the precision says.
        BadArgument: a precision that does not fit the model.
    """
    missing = [name for inner in _graphs(graph) for name in inner.missing if name not in replaced]
    if missing:
        raise ModelError(
            f"{len(missing)} weights have no data, the first is {missing[0]!r}; "
            "put the external data file beside the model",
            f"graph {graph.name!r}",
        )
    nodes = [node for node, _ in unsupported(graph) if table.versions(node.domain, node.op_type) is None]
    if nodes:
        names = ", ".join(map(described, nodes[:10])) + (" ..." if len(nodes) > 10 else "")
        raise UnsupportedOp(f"{len(nodes)} nodes have operators that are not computed here", names)
    if precision is not None:
        check(precision, (node for _, node in walk(graph)), {op_type for _, op_type in table.OPERATORS})
    _keep_freed_memory()
    return _prepared(graph, replaced, (), {}, precision)


def _keep_freed_memory() -> None:
    """Make the memory allocator reuse what a run frees.

    glibc gives large blocks back to the system and takes the size of a freed one as a hint to keep blocks up to that
    size (twice of it in all) from then on. Without the hint a run may spend a fifth of its time in page faults. The
    block is never touched; other allocators ignore it.
    """
    np.empty(_LARGEST_HINT, np.uint8)


def _graphs(graph: Graph) -> list[Graph]:
    return list({id(inside): inside for inside in (graph, *(inside for inside, _ in walk(graph)))}.values())


def unsupported(graph: Graph) -> list[tuple[Node, str]]:
    """Return the nodes that cannot be run, subgraphs included, each with its reason, in order; empty if all can."""
    found: list[tuple[Node, str]] = []
    for inside, node in walk(graph):
        try:
            _operator(node, inside.opset)
        except ModelError as error:
            found.append((node, error.reason))
    return found


def _prepared(
    graph: Graph,
    replaced: frozenset[str],
    outside: Sequence[str],
    fixed: Mapping[str, Tensor],
    precision: Precision | None,
    from_shapes: Set[str] = frozenset(),
) -> Plan:
    """Return the plan of a graph that reads the names `outside` and the constants `fixed` from around it.

    Of the names outside, `from_shapes` follow from shapes and constants alone.
    """
    own = {name: value for name, value in graph.initializers.items() if name not in replaced}
    draft = _Draft({"": _ABSENT}, {**fixed, **own}, precision=precision, from_shapes=set(from_shapes))
    feeds = {name: draft.place(name) for name in (*(info.name for info in graph.inputs), *replaced, *outside)}
    for node in graph.nodes:
        _add(draft, node, graph.opset)
    for name in draft.constants:
        draft.place(name)
    outputs = tuple((info.name, draft.places[info.name]) for info in graph.outputs)
    start: list[Any] = [None] * (len(draft.places) + 1)
    for name, value in draft.constants.items():
        start[draft.places[name]] = value
    kept = {draft.places[name] for name in draft.constants} | {place for _, place in outputs} | {_ABSENT}
    return Plan(_steps(draft, kept), tuple(start), feeds, outputs, draft.produced)


def _add(draft: _Draft, node: Node, opset: Mapping[str, int]) -> None:
    """Add a node to the draft: as a constant if all it reads is constant, else as a call."""
    call = bound(node, opset)
    bodies: list[SubPlan] = []
    for attribute, graph in node.subgraphs.items():
        read = captures(graph)
        fixed = {name: draft.constants[name] for name in read if name in draft.constants}
        variable = tuple(name for name in read if name not in fixed)
        plan = _prepared(graph, frozenset(), variable, fixed, draft.precision, draft.from_shapes.intersection(read))
        bodies.append(SubPlan(attribute, graph, plan, variable))
    results = None if bodies else _folded(call, node, draft.constants)
    if results is None:
        used = _by_precision(draft, call, node, opset)
        inputs = _with_prepared_constants(draft, node) if used is call else node.inputs
        outside = tuple(name for body in bodies for name in body.outside)
        draft.calls.append((used, (*inputs, *outside), tuple(bodies), node))
    else:
        draft.constants.update(results)
    for name in filter(None, node.outputs):
        draft.produced[name] = draft.place(name)


def _by_precision(draft: _Draft, call: Callable[..., Any], node: Node, opset: Mapping[str, int]) -> Callable[..., Any]:
    """Return how the node computes under the draft's precision; what follows from shapes alone stays in float32."""
    if draft.precision is None or node.subgraphs:
        return call
    if node.op_type in ("Shape", "Size") or all(
        name in draft.constants or name in draft.from_shapes for name in node.inputs if name
    ):
        draft.from_shapes.update(filter(None, node.outputs))
        return call
    from simcore.npu.bind import with_precision  # not needed for shapes and golden runs, and it takes time to import

    try:
        return with_precision(call, _operator(node, opset), node, draft.precision, draft.constants)
    except FAILURES as error:
        raise explained(error, node, ()) from error


def _with_prepared_constants(draft: _Draft, node: Node) -> tuple[str, ...]:
    """Return a node's inputs; constants that its operator wants in another form are replaced by new constants."""
    prepare_constants = table.PREPARED.get((node.domain, node.op_type))
    if prepare_constants is None:
        return node.inputs
    try:
        prepared = prepare_constants([draft.constants.get(name) for name in node.inputs], node)
    except FAILURES:
        return node.inputs  # the run will say what is wrong
    inputs = list(node.inputs)
    for position, value in prepared.items():
        name = "" if value is None else f"input {position} of {node.name}, prepared"
        if name:
            draft.constants[name] = value
        inputs[position] = name
    return tuple(inputs)


def _steps(draft: _Draft, kept: set[int]) -> tuple[Step, ...]:
    """Return the steps; a tensor dies at its last use unless its place is in `kept`."""
    steps: list[Step] = []
    alive = set(kept)
    for call, reads, bodies, node in reversed(draft.calls):
        inputs = tuple(draft.places[name] for name in reads)
        outputs = tuple(draft.places[name] if name else _UNWANTED for name in node.outputs)
        dead = tuple(place for place in dict.fromkeys((*inputs, *outputs)) if place not in alive)
        alive.update(dead)
        steps.append(Step(call, inputs, outputs, dead, bodies, node))
    return tuple(reversed(steps))


def _folded(call: Callable[..., Any], node: Node, constants: Mapping[str, Tensor]) -> dict[str, Tensor] | None:
    """Return a node's outputs if all its inputs are constant; None if not, or if it fails (the run will say so)."""
    if any(name and name not in constants for name in node.inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            results = as_tuple(call(*(constants.get(name) for name in node.inputs)), node)
    except FAILURES:
        return None
    return {name: _frozen(value) for name, value in zip(node.outputs, results, strict=False) if name}


def _frozen(value: Tensor) -> Tensor:
    # One element spread over a shape is cheap to keep but slow to compute with.
    kept = np.ascontiguousarray(value).reshape(value.shape).view()
    kept.setflags(write=False)
    return kept


def bound(node: Node, opset: Mapping[str, int]) -> Callable[..., Any]:
    """Return the function of a node with its attributes filled in; of control flow, the subgraphs are still wanting.

    Raises:
        UnsupportedOp: the operator, or its version, is not computed here.
        ModelError: the node has an attribute the operator does not know, or lacks one it needs.
    """
    function = _operator(node, opset)
    attributes: dict[str, Any] = dict(node.attributes)
    if "num_outputs" in _keywords(function)[0]:
        attributes.setdefault("num_outputs", len(node.outputs))
    # Whoever runs a plan silences floating-point errors around all of it.
    call = unguarded(function)
    return functools.partial(call, **attributes) if attributes else call


def _operator(node: Node, opset: Mapping[str, int]) -> table.Operator:
    versions = table.versions(node.domain, node.op_type)
    if versions is None:
        raise UnsupportedOp("this operator is not computed here", described(node))
    version = opset.get(node.domain, 1)
    function = next((function for since, function in reversed(versions) if since <= version), None)
    if function is None:
        raise UnsupportedOp(f"computed from version {versions[0][0]} on, the model uses {version}", described(node))
    known, required = _keywords(function)
    given = node.attributes.keys() | node.subgraphs.keys()
    for name in sorted(given - known):
        raise ModelError(
            f"attribute {name!r} is not known in version {version}; known: {', '.join(sorted(known)) or 'none'}",
            described(node),
        )
    for name in sorted(required - given - {"num_outputs"}):
        raise ModelError(f"attribute {name!r} is required and missing", described(node))
    return function


@functools.lru_cache(1024)
def _keywords(function: table.Operator) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keyword arguments of an operator, and those without a default."""
    # An optional input that older versions had as an attribute, such as axes, is filled by name, too.
    keywords = {
        p.name: p.default is inspect.Parameter.empty
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty)
    }
    return frozenset(keywords), frozenset(name for name, is_required in keywords.items() if is_required)


def as_tuple(result: Any, node: Node) -> tuple[Any, ...]:  # noqa: ANN401
    """Return an operator's result as a tuple of arrays, one per output of the node or more.

    Raises:
        BadArgument: the node has more outputs than the operator gives.
    """
    several = result if isinstance(result, tuple) else (result,)
    if len(several) < len(node.outputs):
        raise BadArgument(f"the node has {len(node.outputs)} outputs, the operator gives {len(several)}")
    return tuple(np.asarray(one) if isinstance(one, np.generic) else one for one in several)


def explained(error: Exception, node: Node, arguments: Sequence[Any]) -> ModelError:
    """Return an operator's error as one sentence that names the node; one from a subgraph already does."""
    if isinstance(error, ModelError) and error.node:
        return error
    kinds = (
        "none" if x is None else f"{x.dtype.name} {list(x.shape)}" if isinstance(x, np.ndarray) else "prepared"
        for x in arguments
    )
    reason = f"{error or type(error).__name__}" + (f" (inputs: {', '.join(kinds)})" if arguments else "")
    kind = UnsupportedOp if isinstance(error, UnsupportedOp) else ModelError
    return kind(" ".join(reason.split()), described(node))
