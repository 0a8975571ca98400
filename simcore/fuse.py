"""What a compiler merges before an NPU sees a model: nothing is computed here but the weights of `folded`.

    Identity, Dropout     gone; their output is their input
    BatchNormalization    into the constant weights and bias of the Conv, ConvTranspose or Gemm before it
    Relu, Clip            run with the product before them
    DequantizeLinear      gone where only products read it: they take the codes

A node is merged with the one before it only if nobody else reads what lies between. Folding of constants is that of
simcore.inline: by structure, so that no weight is read. Sources: AMCT guide, fusion (Conv and BatchNormalization).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from simcore.graph import Graph, Node, Tensor
from simcore.inline import Call, Flat

__all__ = ["FUSED_ACTIVATIONS", "Operation", "folded", "operations"]

#: Operators that run with the product before them.
FUSED_ACTIVATIONS: Final = ("Relu", "Clip")

#: Operators that take up a BatchNormalization.
_TAKES_BATCH_NORM: Final = ("Conv", "ConvTranspose", "Gemm")

_PRODUCTS: Final = ("Conv", "ConvTranspose", "Gemm", "MatMul")


@dataclass(frozen=True, slots=True)
class Operation:
    """One node, its tensors by their names in the whole model, with what was merged into it."""

    name: str
    #: Inputs and outputs renamed; the output is that of the last merged node.
    node: Node
    #: How often it runs; None if only a run can tell.
    runs: int | None
    #: Made for control flow, no node of the file.
    is_copy: bool
    #: Number of the call it was made from.
    call: int
    #: Merged nodes, in order.
    merged: tuple[Node, ...] = ()

    @property
    def has_batch_norm(self) -> bool:
        """Whether a BatchNormalization was merged."""
        return any(node.op_type == "BatchNormalization" for node in self.merged)


def operations(graph: Graph, flat: Flat, is_fused: bool) -> tuple[list[Operation], dict[str, str]]:
    """Return the calls of a graph as operations, and the new name of each tensor that is gone.

    Without `is_fused` only copies that control flow makes go: the results of an If under their outer names.
    """
    outputs = {info.name for info in graph.outputs}
    gone = {**_constant_copies(graph, outputs), **_codes(flat, outputs)} if is_fused else {}
    found: list[Operation] = []
    for number, call in enumerate(flat.calls):
        inputs = tuple(_last(name, gone) for name in call.inputs)
        if call.outputs and call.outputs[0] in gone:
            continue
        if _is_passed(call, flat, is_fused) and call.outputs[0] not in outputs and inputs[0]:
            gone[call.outputs[0]] = inputs[0]
            continue
        node = replace(call.node, name=call.name, inputs=inputs, outputs=call.outputs)
        found.append(Operation(call.name, node, call.runs, call.is_copy, number))
    renamed = {name: _last(name, gone) for name in gone}
    return (_merged(found, flat.constants, outputs) if is_fused else found), renamed


def _last(name: str, gone: Mapping[str, str]) -> str:
    """Return what a tensor is called in the end."""
    while name in gone:
        name = gone[name]
    return name


def _constant_copies(graph: Graph, outputs: set[str]) -> dict[str, str]:
    """Return Identity nodes of constants: one weight under two names is stored once."""
    gone: dict[str, str] = {}
    constants = graph.initializers.keys() | graph.missing.keys()
    for node in graph.nodes:
        if node.op_type == "Identity" and node.outputs[0] not in outputs:
            source = gone.get(node.inputs[0], node.inputs[0])
            if source in constants:
                gone[node.outputs[0]] = source
    return gone


def _codes(flat: Flat, outputs: set[str]) -> dict[str, str]:
    """Return what DequantizeLinear makes of computed codes where only products read it, with the codes."""
    readers: dict[str, list[bool]] = {}
    for call in flat.calls:
        for place, name in enumerate(call.inputs):
            is_operand = place < 2 and not call.node.domain and call.node.op_type in _PRODUCTS
            readers.setdefault(name, []).append(is_operand)
    found: dict[str, str] = {}
    for call in flat.calls:
        if call.node.op_type == "DequantizeLinear" and call.inputs[0] not in flat.constants:
            info = flat.infos.get(call.inputs[0])
            is_narrow = info is not None and info.dtype is not None and info.dtype.itemsize <= 2
            if is_narrow and call.outputs[0] not in outputs and all(readers.get(call.outputs[0], [False])):
                found[call.outputs[0]] = call.inputs[0]
    return found


def _is_passed(call: Call, flat: Flat, is_fused: bool) -> bool:
    """Tell whether a call hands on its first input."""
    if call.is_copy and call.node.op_type == "Identity":
        return True
    if not is_fused or call.node.domain:
        return False
    if call.node.op_type == "Identity":
        return True
    if call.node.op_type != "Dropout" or len(list(filter(None, call.outputs))) > 1:
        return False
    mode = flat.values.get(call.inputs[2]) if len(call.inputs) > 2 and call.inputs[2] else np.False_
    return mode is not None and not np.any(mode)


def _merged(found: list[Operation], constants: set[str], outputs: set[str]) -> list[Operation]:
    """Return operations with each BatchNormalization, Relu and Clip merged into a product where it can be."""
    readers = Counter(name for operation in found for name in operation.node.inputs if name)
    readers.update(outputs)
    producer: dict[str, int] = {}
    kept: list[Operation] = []
    for operation in found:
        node = operation.node
        before = producer.get(node.inputs[0]) if node.inputs else None
        host = None if before is None else kept[before]
        if (
            host is not None
            and before is not None
            and readers[node.inputs[0]] == 1
            and host.runs == operation.runs
            and _takes(host, node, constants)
        ):
            merged = replace(host.node, outputs=node.outputs[:1])
            kept[before] = replace(host, node=merged, merged=(*host.merged, node))
            producer[node.outputs[0]] = before
            continue
        producer.update((name, len(kept)) for name in node.outputs if name)
        kept.append(operation)
    return kept


def _takes(host: Operation, node: Node, constants: set[str]) -> bool:
    """Tell whether an operation can take up the node behind it."""
    product = host.node
    if product.domain or node.domain or product.op_type not in _PRODUCTS:
        return False
    has_constants = all(name in constants for name in node.inputs[1:] if name)
    if node.op_type in FUSED_ACTIVATIONS:
        return has_constants and all(one.op_type not in FUSED_ACTIVATIONS for one in host.merged)
    return (
        node.op_type == "BatchNormalization"
        and len(list(filter(None, node.outputs))) == 1
        and not node.attributes.get("training_mode")
        and product.op_type in _TAKES_BATCH_NORM
        and has_constants
        and not host.merged
        and all(name in constants for name in product.inputs[1:] if name)
        and (product.op_type != "Gemm" or not product.attributes.get("transA"))
    )


# --- Weights that have taken up a BatchNormalization ---


def folded(graph: Graph, merged: Iterable[Operation], value_of: Callable[[str], Tensor]) -> Graph:
    """Return the graph with each merged BatchNormalization of its own nodes inside the weights before it.

    Formula per output channel: f = scale / sqrt(var + epsilon); w' = w f; b' = (b - mean) f + B; computed in float64,
    rounded once to float32. Of Gemm alpha and beta are taken into w and b first. Subgraphs stay as they are.

    Args:
        graph: the model.
        merged: operations made from it.
        value_of: gives a constant by name.
    """
    nodes = {node.name: node for node in graph.nodes}
    gone: dict[str, Node] = {}
    changed: dict[str, Node] = {}
    weights: dict[str, Tensor] = {}
    for operation in merged:
        if not operation.has_batch_norm or operation.name not in nodes:
            continue
        norm = operation.merged[0]
        product = nodes[operation.name]
        w, b = _with_batch_norm(product, norm, value_of)
        names = (f"{product.name}, weights with {norm.name}", f"{product.name}, bias with {norm.name}")
        weights |= dict(zip(names, (w, b), strict=True))
        attributes = {key: value for key, value in product.attributes.items() if key not in ("alpha", "beta")}
        changed[product.name] = replace(
            product, inputs=(product.inputs[0], *names), outputs=norm.outputs[:1], attributes=attributes
        )
        gone[norm.name] = norm
    kept = tuple(changed.get(node.name, node) for node in graph.nodes if node.name not in gone)
    return replace(graph, nodes=kept, initializers={**graph.initializers, **weights})


def _with_batch_norm(product: Node, norm: Node, value_of: Callable[[str], Tensor]) -> tuple[Tensor, Tensor]:
    scale, shift, mean, variance = (value_of(name).astype(np.float64) for name in norm.inputs[1:5])
    epsilon = norm.attributes.get("epsilon", 1e-5)
    assert isinstance(epsilon, float | int), "the loader has checked attributes"
    factor = scale / np.sqrt(variance + epsilon)
    w = value_of(product.inputs[1]).astype(np.float64) * _number(product.attributes, "alpha")
    has_bias = len(product.inputs) > 2 and product.inputs[2]
    b = value_of(product.inputs[2]).astype(np.float64) * _number(product.attributes, "beta") if has_bias else 0.0
    if product.op_type == "ConvTranspose":
        group = product.attributes.get("group", 1)
        assert isinstance(group, int), "the loader has checked attributes"
        by_group = w.reshape(group, w.shape[0] // group, *w.shape[1:])
        factors = factor.reshape(group, 1, -1, *(1,) * (w.ndim - 2))
        w = (by_group * factors).reshape(w.shape)
    elif product.op_type == "Conv" or product.attributes.get("transB"):
        w = w * factor.reshape(-1, *(1,) * (w.ndim - 1))
    else:
        w = w * factor
    bias = (b - mean) * factor + shift
    return w.astype(np.float32), np.asarray(bias, np.float32)


def _number(attributes: Mapping[str, object], name: str) -> float:
    value = attributes.get(name, 1.0)
    assert isinstance(value, float | int), "the loader has checked attributes"
    return float(value)
