"""What an operator accepts, and the check of a node against it: counts, attributes and element types.

Element types are followed through the graph as far as signatures tell them, so a wrong type is found before anything
runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simcore.element_types import dtype_of, name_of
from simcore.errors import ModelError, UnsupportedOp
from simcore.graph import Attribute, Node, described

__all__ = ["Formal", "Signature", "check_node"]


@dataclass(frozen=True, slots=True)
class Formal:
    """One formal input or output of an operator."""

    #: Name in the ONNX specification.
    name: str
    #: Type variable such as "T": all formals with it have one element type; "" for a fixed type.
    variable: str
    #: dtype names it may have; empty: not told (sequences and the like are among them).
    types: frozenset[str]
    #: variadic: this and all further ones.
    option: Literal["single", "optional", "variadic"]
    #: Whether the variadic ones share one type.
    is_homogeneous: bool = True


@dataclass(frozen=True, slots=True)
class Signature:
    """What an operator version accepts."""

    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    #: Attribute name -> kind: int, float, string, tensor, ints, floats, strings, graph, or "" for others.
    attributes: Mapping[str, str]
    #: Attributes without which the node means nothing.
    required: frozenset[str]


_KINDS: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float,),
    "string": (str,),
    "tensor": (np.ndarray,),
    "ints": (tuple,),
    "floats": (tuple,),
    "strings": (tuple,),
}
_ELEMENTS: Mapping[str, type] = {"ints": int, "floats": float, "strings": str}


def check_node(node: Node, signature: Signature, types: Mapping[str, np.dtype[Any]]) -> dict[str, np.dtype[Any]]:
    """Return the element types of a node's outputs as far as they can be told, after checking the node.

    Args:
        node: the node.
        signature: of its operator in the model's version.
        types: element types of the tensors known so far, by name.

    Raises:
        ModelError: too few or too many inputs or outputs; a missing, unknown or wrongly typed attribute; an element
            type the operator does not take, or two that should be one.
    """
    where = described(node)
    _check_count(len(node.inputs), signature.inputs, "inputs", where)
    _check_count(len(node.outputs), signature.outputs, "outputs", where)
    for i, formal in enumerate(signature.inputs):
        if formal.option == "single" and (i >= len(node.inputs) or not node.inputs[i]):
            raise ModelError(f"input {formal.name} (number {i}) is missing", where)
    for name, value in node.attributes.items():
        _check_attribute(name, value, signature, where)
    for name in node.subgraphs:
        if signature.attributes.get(name) != "graph":
            raise ModelError(f"has no subgraph attribute {name!r}", where)
    absent = signature.required - node.attributes.keys() - node.subgraphs.keys()
    if absent:
        raise ModelError(f"attribute {', '.join(sorted(absent))} is required and missing", where)
    return _output_types(node, signature, _bound_types(node, signature, types))


def _bound_types(node: Node, signature: Signature, types: Mapping[str, np.dtype[Any]]) -> dict[str, np.dtype[Any]]:
    """Return the element type of each type variable, after checking the inputs' types."""
    where = described(node)
    bound: dict[str, tuple[str, np.dtype[Any]]] = {}
    for i, name in enumerate(node.inputs):
        formal = signature.inputs[min(i, len(signature.inputs) - 1)]
        dtype = types.get(name)
        if not name or dtype is None:
            continue
        if formal.types and name_of(dtype) not in formal.types:
            known = ", ".join(sorted(formal.types))
            raise ModelError(f"input {name!r} is {name_of(dtype)}; {formal.name} takes {known}", where)
        if formal.variable and formal.is_homogeneous:
            first, other = bound.setdefault(formal.variable, (name, dtype))
            if other != dtype:
                both = f"{first!r} ({name_of(other)}) and {name!r} ({name_of(dtype)})"
                raise ModelError(f"inputs {both} must have one element type; insert a Cast", where)
    return {variable: dtype for variable, (_, dtype) in bound.items()}


def _check_count(count: int, formals: tuple[Formal, ...], what: str, where: str) -> None:
    most = None if formals and formals[-1].option == "variadic" else len(formals)
    if most is not None and count > most:
        raise ModelError(f"has {count} {what}; the operator takes at most {most}", where)


def _check_attribute(name: str, value: Attribute, signature: Signature, where: str) -> None:
    kind = signature.attributes.get(name)
    if kind is None:
        raise ModelError(
            f"has no attribute {name!r}; known: {', '.join(sorted(signature.attributes)) or 'none'}", where
        )
    accepted = _KINDS.get(kind)
    if accepted is None:
        return
    # An empty list is stored without a type of its own, so any kind of list will do.
    element = _ELEMENTS.get(kind)
    if not isinstance(value, accepted) or (element and not all(isinstance(item, element) for item in value)):  # type: ignore[union-attr]
        raise ModelError(f"attribute {name!r} must be of kind {kind}", where)


def _output_types(node: Node, signature: Signature, bound: Mapping[str, np.dtype[Any]]) -> dict[str, np.dtype[Any]]:
    found: dict[str, np.dtype[Any]] = {}
    for i, name in enumerate(node.outputs):
        formal = signature.outputs[min(i, len(signature.outputs) - 1)]
        if not name or not formal.is_homogeneous:
            continue
        if formal.variable in bound:
            found[name] = bound[formal.variable]
        elif len(formal.types) == 1:
            (only,) = formal.types
            found[name] = np.dtype(object) if only == "string" else np.dtype(only)
    target = node.attributes.get("to") if node.op_type == "Cast" else None
    if isinstance(target, int) and node.outputs:
        try:
            found[node.outputs[0]] = dtype_of(target)
        except UnsupportedOp as error:
            raise type(error)(error.reason, described(node)) from error
    return found
