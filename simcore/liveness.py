"""When each tensor of a graph is alive, and which tensors share memory: the buffers a memory plan places.

    graph -> steps    nodes in order; the larger branch of an If and the body of a loop stand in its place, once
          -> sharing  views, in-place elementwise operators, parts of a split: several tensors in one buffer
          -> buffers  first and last step of each; inputs, outputs and states apart from the rest

A tensor is alive from the step that writes it to the last step that reads it, both included: an operator's inputs and
outputs are there at the same time. Constants, and what follows from constants and shapes alone, are no activations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Final, Literal

from simcore.bodies import InnerGraph
from simcore.element_ops import ELEMENTWISE, VIEWS
from simcore.errors import BadArgument
from simcore.graph import Graph, Node, ValueInfo, captures
from simcore.inline import Call, Flat, bytes_in, flatten
from simcore.memory import Buffer, live_bytes
from simcore.shapes import Inferred

__all__ = ["Interface", "Liveness", "Place", "Sharing", "Step", "buffers", "buffers_of", "flat_of"]

#: How the memory of inputs and outputs is held. "throughout": the application hands it over before the run and reads
#: it after (ACL: data sets of aclmdlExecute), so it is never reused and inputs are never written. "as needed": it is
#: part of the arena, an input may be overwritten after its last use, an output is held from its step to the end
#: (TensorFlow Lite Micro).
Interface = Literal["throughout", "as needed"]

#: Computed element by element, so that the output may take the place of an input.
_IN_PLACE: Final = ELEMENTWISE | {
    "BatchNormalization",
    "DequantizeLinear",
    "Max",
    "Mean",
    "Min",
    "QuantizeLinear",
    "Sum",
}

#: Read their last state to the end before they write it, or keep it themselves.
_STATEFUL: Final = frozenset({"DynamicQuantizeLSTM", "GRU", "LSTM", "RNN"})


@dataclass(frozen=True, slots=True)
class Sharing:
    """What may share memory; each can be switched off."""

    #: Reshape, Squeeze, Unsqueeze, Flatten, Identity and Dropout give a view of their input where the bytes are equal.
    views: bool = True
    #: The output of an elementwise operator takes the place of an input that ends there and has as many bytes.
    in_place: bool = True
    #: Split and Slice along the first axis (of more than one element) give views of parts.
    parts: bool = False
    #: What follows from constants and shapes alone is computed when the model is built; if False only initializers,
    #: Constant nodes and ConstantOfShape nodes with a constant shape are constants, as in tools that do not fold.
    folding: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """One node in the order of execution."""

    #: Name of the node; inside subgraphs "if_1/then_branch/conv_2".
    name: str
    op_type: str
    #: Activations it reads, each once.
    reads: tuple[str, ...]
    #: Activations it writes.
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor lies."""

    #: Name of the buffer.
    buffer: str
    #: First byte inside the buffer.
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Liveness:
    """The buffers of a graph. Every activation lies in exactly one of them, see `places`."""

    #: Everything that is neither of the following.
    activations: tuple[Buffer, ...]
    #: Graph inputs, named after them.
    inputs: tuple[Buffer, ...]
    #: Graph outputs, named after them.
    outputs: tuple[Buffer, ...]
    #: One buffer for each pair of a state input and output, named after the input; alive all the time.
    states: tuple[Buffer, ...]
    #: By tensor name; tensors of subgraphs are named "if_1/then_branch/tensor".
    places: Mapping[str, Place]
    #: What is executed.
    steps: tuple[Step, ...]
    #: Tensors without a known shape; they are in no buffer, so sums are too low by theirs.
    unknown: tuple[str, ...]
    #: What was assumed or could not be shared, as sentences.
    assumptions: tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Tensors that share memory, while groups are formed."""

    #: Offset of each tensor.
    members: dict[str, int]
    bytes: int
    #: Step of the first write (0 for inputs) and of the last read (the last step for outputs), before the interface
    #: or a state makes it longer.
    first: int
    last: int
    role: Literal["input", "output", "state", ""] = ""


def buffers(
    graph: Graph,
    inferred: Inferred,
    bytes_of: Callable[[ValueInfo], int] | None = None,
    *,
    interface: Interface = "throughout",
    sharing: Sharing | None = None,
    states: Mapping[str, str] | None = None,
) -> Liveness:
    """Return the buffers of a graph executed in the order of its nodes.

    Args:
        graph: the graph.
        inferred: what is known of its tensors.
        bytes_of: bytes of a tensor as it is held, of a name, dtype and complete shape; default: elements times size.
        interface: how the memory of inputs and outputs is held.
        sharing: what may share memory; default: `Sharing()`.
        states: input name -> name of the output that is fed to it at the next call. Such a pair has one buffer that is
            kept between calls, if the output is written after the input was last read; else the output has a buffer
            of its own, to be copied after the call (said in `assumptions`).

    Raises:
        BadArgument: a state that is no input or output, or whose two sides have different bytes; an unknown interface.
    """
    sharing = sharing or Sharing()
    flat = flat_of(graph, inferred, bytes_of, folding=sharing.folding)
    return buffers_of(graph, flat, interface=interface, sharing=sharing, states=states)


def flat_of(
    graph: Graph, inferred: Inferred, bytes_of: Callable[[ValueInfo], int] | None = None, *, folding: bool = True
) -> Flat:
    """Return a graph as one list of calls, see simcore.inline; arguments as for `buffers` and in `Sharing`."""
    size_of = bytes_of or _plain_bytes
    flat = Flat(size_of, lambda body: _peak(body, size_of), folding)
    flatten(graph, inferred, "", {info.name: info.name for info in graph.inputs}, flat)
    return flat


def buffers_of(
    graph: Graph,
    flat: Flat,
    *,
    interface: Interface = "throughout",
    sharing: Sharing | None = None,
    states: Mapping[str, str] | None = None,
) -> Liveness:
    """Return the buffers of calls that are executed in order; `graph` gives the inputs and outputs.

    Arguments and errors as `buffers`.
    """
    if interface not in ("throughout", "as needed"):
        raise BadArgument(f"interface {interface!r} is unknown; choose 'throughout' or 'as needed'")
    sharing = sharing or Sharing()
    pairs = dict(states or {})
    _check_states(graph, pairs, flat)
    groups, unknown = _groups(graph, flat, interface, sharing)
    _merge_states(pairs, groups, flat)
    return _result(graph, flat, groups, unknown, interface)


def _plain_bytes(info: ValueInfo) -> int:
    assert info.dtype is not None, "only known tensors are asked for"
    return prod(size for size in info.shape or () if isinstance(size, int)) * info.dtype.itemsize


def _check_states(graph: Graph, states: Mapping[str, str], flat: Flat) -> None:
    inputs, outputs = ({info.name for info in side} for side in (graph.inputs, graph.outputs))
    for source, target in states.items():
        if source not in inputs or target not in outputs:
            known = f"inputs {', '.join(sorted(inputs))}; outputs {', '.join(sorted(outputs))}"
            raise BadArgument(f"state {source!r}: {target!r} is no pair of an input and an output; there are {known}")
        sizes = [bytes_in(flat, name) for name in (source, target)]
        if sizes[0] != sizes[1]:
            raise BadArgument(f"state {source!r} has {sizes[0]} bytes, {target!r} has {sizes[1]}; they must be equal")
    if len(set(states.values())) < len(states):
        raise BadArgument("states: an output is named twice; each state needs an output of its own")


def _peak(body: InnerGraph, bytes_of: Callable[[ValueInfo], int]) -> int:
    """Return the bytes a branch needs at its fullest step, tensors from outside left out."""
    assert body.inferred is not None, "only known branches are compared"
    outside = tuple(map(ValueInfo, captures(body.graph)))
    inner = buffers(replace(body.graph, inputs=outside), body.inferred, bytes_of)
    return max(live_bytes([*inner.activations, *inner.outputs]), default=0)


# --- Sharing ---


def _last_reads(graph: Graph, flat: Flat) -> dict[str, int]:
    """Return the last step at which each tensor is needed."""
    last: dict[str, int] = {}
    for step, call in enumerate(flat.calls):
        last.update((name, step) for name in (*call.outputs, *call.inputs) if name)
    for name, _, end in flat.spans:
        last[name] = max(last.get(name, end), end)
    end = max(len(flat.calls) - 1, 0)
    last.update((info.name, end) for info in graph.outputs)
    return last


def _groups(
    graph: Graph, flat: Flat, interface: Interface, sharing: Sharing
) -> tuple[dict[str, _Group], tuple[str, ...]]:
    """Return the group of each tensor of known size, and the others."""
    last = _last_reads(graph, flat)
    starts = {name: start for name, start, _ in flat.spans}
    outputs = {info.name for info in graph.outputs}
    groups: dict[str, _Group] = {}
    unknown: dict[str, None] = {}
    written: list[tuple[str, int, Call | None]] = [(info.name, 0, None) for info in graph.inputs]
    # A constant that is an output is copied there.
    written += [(name, last[name], None) for name in outputs if name in flat.constants]
    written += [(name, step, call) for step, call in enumerate(flat.calls) for name in call.outputs if name]
    for name, step, call in written:
        size = bytes_in(flat, name)
        if size is None:
            unknown[name] = None
            continue
        is_output = name in outputs
        first = min(step, starts.get(name, step))
        new = _Group({name: 0}, size, first, last.get(name, 0), "output" if is_output else "")
        if call is None and not is_output:
            new.role = "input"
        host = _host(call, new, step, groups, flat, interface, sharing) if call and first == step else None
        groups[name] = new if host is None else _joined(*host, new)
    return groups, tuple(unknown)


def _joined(group: _Group, offset: int, new: _Group) -> _Group:
    """Add the tensor of a new group to a group, at an offset."""
    group.members.update(dict.fromkeys(new.members, offset))
    group.last = max(group.last, new.last)
    group.role = group.role or new.role
    return group


def _host(
    call: Call,
    new: _Group,
    step: int,
    groups: Mapping[str, _Group],
    flat: Flat,
    interface: Interface,
    sharing: Sharing,
) -> tuple[_Group, int] | None:
    """Return the group whose memory an output takes, and the offset in it; None if it gets its own."""
    op_type = call.node.op_type
    (name,) = new.members
    for position, source in enumerate(call.inputs):
        group = groups.get(source)
        # Inputs and outputs are the application's: two of them never share.
        if group is None or (new.role and group.role):
            continue
        part = _part(call, name, flat) if sharing.parts and position == 0 else None
        if part is not None:
            return group, group.members[source] + part
        if name != call.outputs[0] or bytes_in(flat, source) != new.bytes:
            continue
        is_view = sharing.views and op_type in VIEWS and position == 0
        if is_view or (sharing.in_place and _may_overwrite(call, source, name, step, groups, flat, interface)):
            return group, group.members[source]
    return None


def _may_overwrite(
    call: Call,
    source: str,
    name: str,
    step: int,
    groups: Mapping[str, _Group],
    flat: Flat,
    interface: Interface,
) -> bool:
    """Tell whether an elementwise operator may write its output over one of its inputs."""
    group = groups[source]
    is_free = group.role == "" or (group.role == "input" and interface == "as needed")
    is_alone = all(other == source or groups.get(other) is not group for other in call.inputs)
    same_shape = flat.infos[source].shape == flat.infos[name].shape
    return call.node.op_type in _IN_PLACE and group.last == step and is_free and is_alone and same_shape


def _part(call: Call, name: str, flat: Flat) -> int | None:
    """Return the byte at which an output of Split or Slice starts in its input, if it is one piece of it."""
    op_type, source = call.node.op_type, call.inputs[0]
    size, part_size = bytes_in(flat, source), bytes_in(flat, name)
    whole, part = flat.infos[source].shape or (), flat.infos[name].shape or ()
    if op_type not in ("Split", "Slice") or not size or not part_size or len(whole) != len(part):
        return None
    first = next((axis for axis, length in enumerate(whole) if length != 1), 0)
    has_only_first = all(old == new for axis, (old, new) in enumerate(zip(whole, part, strict=True)) if axis != first)
    length, part_length = whole[first], part[first]
    assert isinstance(length, int) and isinstance(part_length, int), "a tensor with bytes has sizes"
    # In a padded layout a row may have no whole number of bytes of its own.
    if not has_only_first or size * part_length != part_size * length:
        return None
    if op_type == "Slice":
        start = _slice_start(call, flat, first, length)
        return None if start is None else start * size // length
    before = [bytes_in(flat, output) for output in call.outputs[: call.outputs.index(name)]]
    return None if None in before else sum(size for size in before if size)


def _slice_start(call: Call, flat: Flat, axis: int, length: int) -> int | None:
    """Return the first index a Slice takes along an axis; None if it is not known or a step is not 1."""
    if len(call.inputs) > 1:
        lists = [flat.values.get(name) for name in call.inputs[1:]]
        if any(name and known is None for name, known in zip(call.inputs[1:], lists, strict=True)):
            return None
        starts, _, axes, steps = ([None if x is None else x.ravel().tolist() for x in lists] + [None, None])[:4]
    else:
        starts, axes, steps = (_ints(call.node, key) for key in ("starts", "axes", "steps"))
    if starts is None or any(step != 1 for step in steps or ()):
        return None
    rank = len(flat.infos[call.inputs[0]].shape or ())
    taken = [int(one) % rank for one in axes] if axes is not None else list(range(len(starts)))
    start = int(starts[taken.index(axis)]) if axis in taken else 0
    return min(start + length if start < 0 else start, length)


def _ints(node: Node, name: str) -> list[int] | None:
    value = node.attributes.get(name)
    return [int(one) for one in value] if isinstance(value, tuple) else None


def _merge_states(pairs: Mapping[str, str], groups: dict[str, _Group], flat: Flat) -> None:
    """Give each state one group, where its output is written after its input was last read."""
    for source, target in pairs.items():
        before, after = groups.get(source), groups.get(target)
        if before is None or after is None:
            continue
        before.role = "state"
        if _may_follow(before, after, source, flat):
            before.members.update(after.members)
            groups.update(dict.fromkeys(after.members, before))
        elif after is not before:
            flat.assumptions[
                f"output {target!r} has its own buffer and is copied to state {source!r} after the call: it is "
                "written before the state was last read"
            ] = None


def _may_follow(before: _Group, after: _Group, source: str, flat: Flat) -> bool:
    """Tell whether the next state may be written over the state."""
    if after.role != "output" or after.bytes != before.bytes:
        return False
    if after.first != before.last:
        return after.first > before.last
    writer = flat.calls[after.first]
    if writer.node.op_type in _STATEFUL:
        return True
    read = [name for name in writer.inputs if name in before.members]
    shapes = {flat.infos[name].shape for name in (*read, writer.outputs[0])}
    return writer.node.op_type in _IN_PLACE and len(set(read)) == len(shapes) == 1


# --- Result ---


def _result(
    graph: Graph, flat: Flat, groups: Mapping[str, _Group], unknown: tuple[str, ...], interface: Interface
) -> Liveness:
    end = max(len(flat.calls) - 1, 0)
    outputs = {info.name for info in graph.outputs}
    found: dict[str, list[Buffer]] = {"": [], "input": [], "output": [], "state": []}
    places: dict[str, Place] = {}
    for group in {id(group): group for group in groups.values()}.values():
        members = list(group.members)
        name = next((one for one in members if group.role == "output" and one in outputs), members[0])
        first, last = group.first, group.last
        if group.role == "state" or (group.role and interface == "throughout"):
            first, last = 0, end
        found[group.role].append(Buffer(name, group.bytes, first, last))
        places.update((one, Place(name, group.members[one], bytes_in(flat, one) or 0)) for one in members)
    steps = tuple(
        Step(
            call.name,
            call.node.op_type,
            tuple(dict.fromkeys(name for name in call.inputs if name and name not in flat.constants)),
            tuple(filter(None, call.outputs)),
        )
        for call in flat.calls
    )
    kinds = [tuple(found[role]) for role in ("", "input", "output", "state")]
    return Liveness(kinds[0], kinds[1], kinds[2], kinds[3], places, steps, unknown, tuple(flat.assumptions))
