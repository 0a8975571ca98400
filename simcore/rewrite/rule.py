"""What a rule is, and the site at which it works: one node, what is known around it, and the nodes that replace it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from simcore.errors import SimError
from simcore.graph import Attribute, Node, Tensor, ValueInfo

__all__ = ["EXACT", "ROUNDING", "Declined", "Inapplicable", "Known", "Names", "Rule", "Site", "replacement"]

#: Same bits for finite values; what differs (NaN, infinities, the sign of zero) stands in the rule.
EXACT: Final = "exact"
#: Equal as real numbers; float32 rounds at other places, a few units in the last place.
ROUNDING: Final = "equal up to rounding"


class Declined(SimError):
    """A rule does not apply at this node; the message is the reason, one sentence with the cure."""


class Inapplicable(Declined):
    """The rule is for another form of the operator; other rules have the better reason."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known around a node before anything runs."""

    #: Element type and sizes by tensor; a size is None where it is open.
    tensors: Mapping[str, ValueInfo]
    #: Values of constants, and of small tensors that follow from constants and shapes.
    values: Mapping[str, Tensor]
    #: The node that makes a tensor, by tensor, of the same graph.
    producer: Mapping[str, Node]


@dataclass(slots=True)
class Names:
    """Names in use in a model, graphs inside nodes included; gives new ones."""

    used: set[str]
    _last: dict[str, int] = field(default_factory=dict)

    def new(self, stem: str) -> str:
        """Return a name nobody has: the stem, or the stem and a number."""
        name = stem
        while name in self.used:
            self._last[stem] = self._last.get(stem, 0) + 1
            name = f"{stem}_{self._last[stem]}"
        self.used.add(name)
        return name


@dataclass(slots=True)
class Site:
    """One node to replace, and the nodes and constants put in its place so far; values are tensor names."""

    node: Node
    known: Known
    #: Version of ai.onnx in whose form new nodes are written.
    opset: int
    #: Operators the device has.
    operators: frozenset[str]
    names: Names
    #: Largest rank the device takes; None: not known.
    max_rank: int | None = None
    #: Whether recurrent start states become inputs of the model.
    state_inputs: bool = False
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, Tensor] = field(default_factory=dict)
    #: New inputs of the model, each with the value that gives the original's outputs.
    states: dict[str, Tensor] = field(default_factory=dict)

    # What is there.

    def input(self, i: int) -> str:
        """Return the name of input `i`; "" where it is left out."""
        return self.node.inputs[i] if i < len(self.node.inputs) else ""

    def attribute(self, name: str, default: Any) -> Any:  # noqa: ANN401
        """Return an attribute, or the default of the specification."""
        return self.node.attributes.get(name, default)

    def dtype(self, tensor: str) -> "np.dtype[Any]":
        """Return the element type of a tensor."""
        value = self.value(tensor)
        info = self.known.tensors.get(tensor)
        if value is not None:
            return value.dtype
        if info is None or info.dtype is None:
            raise Declined(f"the element type of {tensor!r} is not known; give the shapes of the inputs")
        return info.dtype

    def sizes(self, tensor: str) -> tuple[int | None, ...]:
        """Return the sizes of a tensor of known rank; open ones are None."""
        value = self.value(tensor)
        if value is not None:
            return value.shape
        info = self.known.tensors.get(tensor)
        if info is None or info.shape is None:
            raise Declined(f"the rank of {tensor!r} is not known; give the shapes of the inputs")
        return tuple(size if isinstance(size, int) else None for size in info.shape)

    def rank(self, tensor: str) -> int:
        """Return the number of axes of a tensor."""
        return len(self.sizes(tensor))

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Return the sizes of a tensor, all of them known."""
        sizes = self.sizes(tensor)
        if None in sizes:
            shown = ", ".join("?" if size is None else str(size) for size in sizes)
            raise Declined(f"{tensor!r} has open sizes [{shown}]; give the shapes of the inputs")
        return tuple(size for size in sizes if size is not None)

    def size(self, tensor: str, axis: int) -> int:
        """Return one size of a tensor, which is known."""
        size = self.sizes(tensor)[axis]
        if size is None:
            raise Declined(f"axis {axis} of {tensor!r} has an open size; give the shapes of the inputs")
        return size

    def value(self, tensor: str) -> Tensor | None:
        """Return the value of a tensor that is constant, else None."""
        return self.constants.get(tensor, self.known.values.get(tensor))

    def constant(self, tensor: str, what: str) -> Tensor:
        """Return the value of a tensor that has to be constant."""
        value = self.value(tensor)
        if value is None:
            raise Declined(f"{what} {tensor!r} is not constant; give the shapes of the inputs, or make it a constant")
        return value

    def floating(self, tensor: str) -> "np.dtype[Any]":
        """Return the element type of a tensor that has to be a floating-point one."""
        dtype = self.dtype(tensor)
        if dtype.kind != "f":
            raise Declined(f"{tensor!r} is {dtype.name}; the rule holds for floating-point data only")
        return dtype

    # What is put in its place.

    def const(self, value: Any, dtype: Any = None, hint: str = "const") -> str:  # noqa: ANN401
        """Return the name of a new constant; equal ones of this site share one."""
        array = np.asarray(value, dtype)
        for name, other in self.constants.items():
            if other is value or (
                (other.dtype, other.shape) == (array.dtype, array.shape)
                and (array.size <= 64 and other.tobytes() == array.tobytes())
            ):
                return name
        name = self.names.new(f"{self.node.name}/{hint}")
        self.constants[name] = array
        return name

    def ints(self, *values: int) -> str:
        """Return the name of a new int64 vector."""
        return self.const(values, np.int64, "sizes")

    def op(self, op_type: str, *inputs: str, **attributes: Attribute) -> str:
        """Return the only output of a new node."""
        return self.ops(op_type, inputs, 1, **attributes)[0]

    def ops(self, op_type: str, inputs: Sequence[str], count: int, **attributes: Attribute) -> tuple[str, ...]:
        """Return the outputs of a new node."""
        name = self.names.new(f"{self.node.name}/{op_type}")
        outputs = (name, *(self.names.new(f"{name}_out{i}") for i in range(1, count)))
        kept = list(inputs)
        while kept and not kept[-1]:
            kept.pop()
        self.nodes.append(Node(name, op_type, "", tuple(kept), outputs, attributes))
        return outputs

    def number(self, value: float, like: str | None = None) -> str:
        """Return the name of a new scalar in the element type of `like` (the node's first input)."""
        return self.const(value, self.dtype(self.input(0) if like is None else like))

    def add(self, a: str, b: str) -> str:
        """Return a + b."""
        return self.op("Add", a, b)

    def sub(self, a: str, b: str) -> str:
        """Return a - b."""
        return self.op("Sub", a, b)

    def mul(self, a: str, b: str) -> str:
        """Return a * b."""
        return self.op("Mul", a, b)

    def scaled(self, a: str, factor: float) -> str:
        """Return a * factor for floats of the node's own type; nothing is done where the factor is 1."""
        return a if factor == 1 else self.mul(a, self.number(factor))

    def shifted(self, a: str, summand: float) -> str:
        """Return a + summand; nothing is done where the summand is 0."""
        return a if summand == 0 else self.add(a, self.number(summand))

    def pow(self, a: str, exponent: float) -> str:
        """Return a to a constant power."""
        return self.op("Pow", a, self.number(exponent))

    def reshape(self, a: str, *sizes: int) -> str:
        """Return a in another shape; 0 keeps the size at that place, -1 is what is left."""
        return self.op("Reshape", a, self.ints(*sizes))

    def transpose(self, a: str, *perm: int) -> str:
        """Return a with its axes in another order; nothing is done where it is the same."""
        return a if perm == tuple(range(len(perm))) else self.op("Transpose", a, perm=perm)

    def reduce(self, op_type: str, a: str, axes: Sequence[int] | None, keepdims: int = 1) -> str:
        """Return a reduced; ReduceSum has its axes as an input from version 13 on, the others from 18 on."""
        if axes is None:
            return self.op(op_type, a, keepdims=keepdims)
        if self.opset >= (13 if op_type == "ReduceSum" else 18):
            return self.op(op_type, a, self.ints(*axes), keepdims=keepdims)
        return self.op(op_type, a, axes=tuple(axes), keepdims=keepdims)

    def squeeze(self, a: str, *axes: int) -> str:
        """Return a without axes of size 1."""
        return self._with_axes("Squeeze", a, axes)

    def unsqueeze(self, a: str, *axes: int) -> str:
        """Return a with axes of size 1 put in."""
        return self._with_axes("Unsqueeze", a, axes)

    def _with_axes(self, op_type: str, a: str, axes: tuple[int, ...]) -> str:
        return self.op(op_type, a, self.ints(*axes)) if self.opset >= 13 else self.op(op_type, a, axes=axes)

    def split(self, a: str, axis: int, sizes: Sequence[int]) -> tuple[str, ...]:
        """Return the parts of a along an axis."""
        if len(sizes) == 1:
            return (a,)
        if self.opset >= 13:
            return self.ops("Split", [a, self.ints(*sizes)], len(sizes), axis=axis)
        return self.ops("Split", [a], len(sizes), axis=axis, split=tuple(sizes))

    def slice(self, a: str, axis: int, start: int, end: int, step: int = 1) -> str:
        """Return a[start:end:step] along an axis."""
        return self.op("Slice", a, self.ints(start), self.ints(end), self.ints(axis), self.ints(step))

    def clip(self, a: str, low: float | None, high: float | None) -> str:
        """Return a between two bounds."""
        bounds = ["" if bound is None else self.number(bound) for bound in (low, high)]
        return self.op("Clip", a, *bounds)

    def cast(self, a: str, number: int) -> str:
        """Return a in the element type of that ONNX number."""
        return self.op("Cast", a, to=number)


@dataclass(frozen=True, slots=True)
class Rule:
    """How an operator is said in others."""

    #: Operators it rewrites.
    op_types: tuple[str, ...]
    #: Unique per operator; what a user chooses it by.
    name: str
    #: The formula.
    formula: str
    #: When it applies.
    condition: str
    #: EXACT, ROUNDING, or the error with what it refers to.
    exactness: str
    #: Why it holds, or where it stands.
    source: str
    function: Callable[[Site], str | tuple[str, ...]]
    #: Largest stated difference, relative to the largest magnitude of the output; 0 for EXACT and ROUNDING.
    error: float = 0.0


def replacement(site: Site, results: str | tuple[str, ...]) -> tuple[Node, ...]:
    """Return the site's nodes with the results under the names the node's outputs had."""
    wanted = site.node.outputs
    given = (results,) if isinstance(results, str) else results
    made = {name for node in site.nodes for name in node.outputs}
    renamed: dict[str, str] = {}
    copies: list[Node] = []
    for result, output in zip(given, wanted, strict=False):
        if output and result in made and result not in renamed:
            renamed[result] = output
        elif output:
            source = renamed.get(result, result)
            copies.append(Node(site.names.new(f"{site.node.name}/Identity"), "Identity", "", (source,), (output,)))
    nodes = [
        replace(
            node,
            inputs=tuple(renamed.get(name, name) for name in node.inputs),
            outputs=tuple(renamed.get(name, name) for name in node.outputs),
        )
        for node in site.nodes
    ]
    return (*nodes, *copies)
