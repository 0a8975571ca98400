"""ONNX files as Graph values; the only file that knows the onnx package.

    bytes -> ModelProto -> opsets checked, functions inlined -> per graph: initializers, values, nodes in order
    -> each node checked against its operator's schema (inputs, attributes, element types)

External weights are memory-mapped and never read from outside the model's folder. A missing weight file is no error
here: the tensor goes to Graph.missing, which is enough to work with shapes.
"""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import onnx
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, inliner

from simcore.element_types import ELEMENT_TYPES, dtype_of, name_of
from simcore.errors import ModelError, UnsupportedOp
from simcore.external_data import map_bytes
from simcore.graph import Attribute, Graph, Node, Tensor, ValueInfo, described, sorted_nodes
from simcore.signature import Formal, Signature, check_node
from simcore.tensor_data import dense, from_bytes, from_numbers, number_field, product, stored_bytes

__all__ = ["NEWEST_OPSET", "OLDEST_OPSET", "load_onnx", "load_onnx_bytes", "misfits"]

#: Versions of the ai.onnx operator set whose meaning the operators know.
OLDEST_OPSET: Final = 7
NEWEST_OPSET: Final = 28

#: Most nodes a model may have once its functions are inlined.
MAX_NODES: Final = 1_000_000

_OPTIONS: Final[dict[str, Literal["single", "optional", "variadic"]]] = {
    "Single": "single",
    "Optional": "optional",
    "Variadic": "variadic",
}

#: Domains that name the standard operators.
_STANDARD: Final = ("", "ai.onnx")


def load_onnx(path: str | os.PathLike[str]) -> Graph:
    """Return the model in `path`.

    Raises:
        ModelError: the file is not readable, not an ONNX model, or the model is wrong; names the node and the reason.
        UnsupportedOp: it needs an operator set version outside 7..newest, or element types unknown here.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror or error}", str(file)) from error
    return load_onnx_bytes(data, file.parent)


def load_onnx_bytes(data: bytes, folder: str | os.PathLike[str] | None = None) -> Graph:
    """Return the model in `data`; external weights are looked for in `folder`, and missing without one.

    Raises:
        ModelError: as `load_onnx`.
    """
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise ModelError("not an ONNX model, or cut off; export or copy it again", "file") from error
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise ModelError("holds no graph: not an ONNX model, or cut off; export or copy it again", "file")
    _check_text(model)
    opset = _opset(model)
    if model.functions:
        model = _inlined(model)
    names = _node_names(model.graph)
    return _graph(model.graph, opset, None if folder is None else Path(folder), frozenset(), names)


def misfits(graph: Graph, around: Mapping[str, np.dtype[Any]] | None = None) -> dict[str, str]:
    """Return by name the nodes that do not fit their operator in the graph's versions, each with the reason.

    Args:
        graph: a graph that no file was loaded into: rewritten, or put together.
        around: element types of the tensors of the graphs around it.
    """
    types = dict(around or {})
    types |= {value.name: value.dtype for value in graph.inputs if value.dtype is not None}
    types |= {name: value.dtype for name, value in graph.initializers.items()}
    found: dict[str, str] = {}
    for node in graph.nodes:
        signature = _signature(node.op_type, graph.opset.get(node.domain, 1), node.domain)
        for body in node.subgraphs.values():
            found |= misfits(body, types)
        if signature is None:
            if not node.domain:
                found[node.name] = f"opset {graph.opset.get('', 1)} has no such operator"
            continue
        try:
            types |= check_node(node, signature, types)
        except ModelError as error:
            found[node.name] = error.reason
    return found


def _check_text(message: Any) -> None:  # noqa: ANN401
    """Check that all text is UTF-8: protobuf hands out other text as bytes."""
    for descriptor, value in message.ListFields():
        if descriptor.type not in (descriptor.TYPE_STRING, descriptor.TYPE_MESSAGE):
            continue
        for one in [value] if isinstance(value, (str, bytes, Message)) else value:
            if isinstance(one, bytes):
                raise ModelError(f"text in field {descriptor.full_name} is not UTF-8; export or copy it again", "file")
            if isinstance(one, Message):
                _check_text(one)


def _all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """Yield every node, those of a node's subgraphs after it: the order in which `_graph` meets them."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _all_nodes(attribute.g)


def _node_names(graph: GraphProto) -> Iterator[str]:
    """Yield a unique name per node in the order of `_all_nodes`.

    The file's own, or `<op_type>_<number>` where it has none; a name that is there twice gets a number, too.
    """
    taken = {node.name for node in _all_nodes(graph)}
    used: set[str] = set()
    numbers: Counter[str] = Counter()
    for node in _all_nodes(graph):
        name = node.name
        while not name or name in used or (name != node.name and name in taken):
            stem = node.name or node.op_type
            name = f"{stem}_{numbers[stem]}"
            numbers[stem] += 1
        used.add(name)
        yield name


def _opset(model: ModelProto) -> Mapping[str, int]:
    """Return the version by domain, the standard domain as ""."""
    found = {("" if entry.domain in _STANDARD else entry.domain): entry.version for entry in model.opset_import}
    if "" not in found:
        used = {node.domain for node in _all_nodes(model.graph)}
        if used & set(_STANDARD) or not found:
            raise ModelError("no opset_import for ai.onnx, so its operators have no version; export it again", "file")
        return found
    newest = min(NEWEST_OPSET, max(OLDEST_OPSET, onnx.defs.onnx_opset_version()))
    if not OLDEST_OPSET <= found[""] <= newest:
        raise UnsupportedOp(
            f"opset {found['']} of ai.onnx is outside {OLDEST_OPSET}..{newest}; convert it with onnx.version_converter",
            "file",
        )
    return found


def _inlined(model: ModelProto) -> ModelProto:
    """Return the model with its functions written out as nodes, after making sure that this ends."""
    functions = {(f.domain, f.name): f for f in model.functions}
    sizes: dict[tuple[str, str], int] = {}

    def size(key: tuple[str, str], path: tuple[tuple[str, str], ...]) -> int:
        if key in path or len(path) > 100:
            raise ModelError(
                "calls itself, directly or through others; a function cannot be recursive", f"function {key[1]!r}"
            )
        if key not in sizes:
            total = 0
            for node in functions[key].node:
                called = (node.domain, node.op_type)
                total += size(called, (*path, key)) if called in functions else 1
            sizes[key] = total
        return sizes[key]

    if (
        sum(
            size((n.domain, n.op_type), ()) if (n.domain, n.op_type) in functions else 1
            for n in _all_nodes(model.graph)
        )
        > MAX_NODES
    ):
        raise ModelError(f"more than {MAX_NODES} nodes once its functions are written out", "file")
    for key in functions:
        size(key, ())
    try:
        return inliner.inline_local_functions(model)
    except (RuntimeError, ValueError, TypeError, DecodeError) as error:
        raise ModelError(f"its functions cannot be inlined: {error}", "file") from error


def _graph(
    proto: GraphProto, opset: Mapping[str, int], folder: Path | None, outside: frozenset[str], names: Iterator[str]
) -> Graph:
    """Return one graph; `outside` are the tensors of the graphs around it, `names` gives each node its name."""
    initializers, missing = _initializers(proto, folder)
    declared = [_value_info(value, "input") for value in proto.input]
    twice = [name for name, count in Counter(value.name for value in declared).items() if count > 1]
    if twice:
        raise ModelError("is there twice; rename one of them", f"input {twice[0]!r}")
    constants = initializers.keys() | missing.keys()
    inputs = tuple(value for value in declared if value.name not in constants)
    outputs = tuple(_value_info(value, "output") for value in proto.output)
    own = constants | {value.name for value in inputs}
    produced = {name for node in proto.node for name in node.output if name}
    inside = frozenset(outside | own | produced)
    nodes = [_node(node, opset, folder, inside, names) for node in proto.node]
    ordered = sorted_nodes(nodes, own | (outside - produced))
    for value in outputs:
        if value.name not in inside:
            raise ModelError("is produced by no node", f"output {value.name!r}")
    # Inputs and data are certain, declarations of tensors inside are claims: only the former start the check of types.
    types = {value.name: value.dtype for value in (*inputs, *missing.values()) if value.dtype is not None}
    types |= {name: value.dtype for name, value in initializers.items()}
    for value in declared:
        _check_declared(value, types, "input")
    for node in ordered:
        signature = _signature(node.op_type, opset[node.domain], node.domain)
        if signature is not None:
            types |= check_node(node, signature, types)
    for value in outputs:
        _check_declared(value, types, "output")
    value_info = {value.name: _value_info(value, "value_info") for value in proto.value_info}
    return Graph(proto.name, ordered, inputs, outputs, initializers, opset, missing, value_info)


def _initializers(proto: GraphProto, folder: Path | None) -> tuple[dict[str, Tensor], dict[str, ValueInfo]]:
    """Return the constant tensors by name, and what is declared of those whose data file is missing."""
    initializers: dict[str, Tensor] = {}
    missing: dict[str, ValueInfo] = {}
    for tensor in (*proto.initializer, *proto.sparse_initializer):
        name = tensor.name if isinstance(tensor, TensorProto) else tensor.values.name
        where = f"initializer {name!r}"
        if not name or name in initializers or name in missing:
            raise ModelError("is there twice; rename one of them" if name else "has no name", where)
        value = (_tensor if isinstance(tensor, TensorProto) else _sparse)(tensor, folder, where)
        if isinstance(value, ValueInfo):
            missing[name] = ValueInfo(name, value.dtype, value.shape)
        else:
            initializers[name] = value
    return initializers, missing


def _check_declared(value: ValueInfo, types: Mapping[str, np.dtype[Any]], kind: str) -> None:
    found = types.get(value.name)
    if value.dtype is not None and found is not None and value.dtype != found:
        raise ModelError(f"declared {name_of(value.dtype)}, but it is {name_of(found)}", f"{kind} {value.name!r}")


@functools.lru_cache(1024)
def _signature(op_type: str, version: int, domain: str) -> Signature | None:
    """Return what an operator of an ONNX domain accepts; None for operators the onnx package does not know."""
    try:
        schema = onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None
    constraints = {c.type_param_str: frozenset(map(_dtype_name, c.allowed_type_strs)) for c in schema.type_constraints}

    def formal(parameter: "onnx.defs.OpSchema.FormalParameter") -> Formal:
        variable = parameter.type_str if parameter.type_str in constraints else ""
        types = constraints[variable] if variable else frozenset([_dtype_name(parameter.type_str)])
        option: Literal["single", "optional", "variadic"] = _OPTIONS[str(parameter.option).rpartition(".")[2]]
        return Formal(parameter.name, variable, frozenset() if "" in types else types, option, parameter.is_homogeneous)

    return Signature(
        tuple(map(formal, schema.inputs)),
        tuple(map(formal, schema.outputs)),
        {name: str(attribute.type).rpartition(".")[2].lower() for name, attribute in schema.attributes.items()},
        frozenset(name for name, attribute in schema.attributes.items() if attribute.required),
    )


def _dtype_name(type_str: str) -> str:
    """Return "float32" for "tensor(float)"; "" for sequences, maps and optionals."""
    found = re.fullmatch(r"tensor\((\w+)\)", type_str)
    number = TensorProto.DataType.DESCRIPTOR.values_by_name.get(found[1].upper()) if found else None
    return ELEMENT_TYPES[number.number].replace("object", "string") if number is not None else ""


def _value_info(proto: onnx.ValueInfoProto, kind: str) -> ValueInfo:
    where = f"{kind} {proto.name!r}"
    if not proto.name and kind != "value_info":
        raise ModelError("has no name", where)
    if not proto.type.HasField("tensor_type"):
        return ValueInfo(proto.name)
    tensor = proto.type.tensor_type
    dtype = dtype_of(tensor.elem_type) if tensor.elem_type in ELEMENT_TYPES else None
    if dtype is None and tensor.elem_type:
        raise ModelError(f"element type number {tensor.elem_type} does not exist", where)
    if not tensor.HasField("shape"):
        return ValueInfo(proto.name, dtype)
    sizes: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            # Exporters write -1, 0 or "?" for "unknown"; a declared size of 0 is not worth telling apart.
            sizes.append(dim.dim_value if dim.dim_value > 0 else None)
        else:
            sizes.append(dim.dim_param if dim.dim_param not in ("", "?") else None)
    return ValueInfo(proto.name, dtype, tuple(sizes))


def _node(
    proto: NodeProto, opset: Mapping[str, int], folder: Path | None, around: frozenset[str], names: Iterator[str]
) -> Node:
    domain = "" if proto.domain in _STANDARD else proto.domain
    name = next(names)
    where = described(Node(name, proto.op_type, domain, (), ()))
    if not proto.op_type:
        raise ModelError("has no op_type", where)
    if domain not in opset:
        raise ModelError(f"its domain {domain!r} has no opset_import in the model", where)
    attributes: dict[str, Attribute] = {}
    subgraphs: dict[str, Graph] = {}
    for attribute in proto.attribute:
        if attribute.name in attributes or attribute.name in subgraphs:
            raise ModelError(f"attribute {attribute.name!r} is there twice", where)
        if attribute.type == AttributeProto.GRAPH:
            subgraphs[attribute.name] = _graph(attribute.g, opset, folder, around, names)
        else:
            attributes[attribute.name] = _attribute(attribute, folder, where)
    return Node(name, proto.op_type, domain, tuple(proto.input), tuple(proto.output), attributes, subgraphs)


def _attribute(proto: AttributeProto, folder: Path | None, where: str) -> Attribute:
    """Return the value of an attribute: numbers and text as Python's, lists as tuples, tensors as arrays."""
    kind, where = proto.type, f"{where}, attribute {proto.name!r}"
    if kind == AttributeProto.INT:
        return int(proto.i)
    if kind == AttributeProto.FLOAT:
        return float(proto.f)
    if kind == AttributeProto.STRING:
        return _text(proto.s, where)
    if kind == AttributeProto.INTS:
        return tuple(proto.ints)
    if kind == AttributeProto.FLOATS:
        return tuple(proto.floats)
    if kind == AttributeProto.STRINGS:
        return tuple(_text(value, where) for value in proto.strings)
    if kind in (AttributeProto.TENSOR, AttributeProto.SPARSE_TENSOR):
        value = (
            _tensor(proto.t, folder, where)
            if kind == AttributeProto.TENSOR
            else _sparse(proto.sparse_tensor, folder, where)
        )
        if isinstance(value, ValueInfo):
            raise ModelError("its external data file is missing", where)
        return value
    kinds = AttributeProto.AttributeType.keys()
    raise UnsupportedOp(
        f"attribute type {kinds[kind] if 0 <= kind < len(kinds) else kind} is not used by any known operator", where
    )


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ModelError("is not UTF-8 text", where) from error


def _tensor(proto: TensorProto, folder: Path | None, where: str) -> Tensor | ValueInfo:
    """Return the array of a tensor, read-only; what is declared of it where its data file is missing."""
    if proto.data_type not in ELEMENT_TYPES:
        raise ModelError(f"element type number {proto.data_type} does not exist", where)
    dtype, shape = dtype_of(proto.data_type), tuple(proto.dims)
    if any(size < 0 for size in shape):
        raise ModelError(f"shape {list(shape)} has a negative size", where)
    if proto.data_location == TensorProto.EXTERNAL and dtype.kind != "O":
        data = _external(proto, folder, stored_bytes(dtype, product(shape)), where)
        return ValueInfo(proto.name, dtype, shape) if data is None else from_bytes(dtype, shape, data, where)
    if proto.HasField("raw_data") and dtype.kind != "O":
        return from_bytes(dtype, shape, proto.raw_data, where)
    return from_numbers(dtype, shape, getattr(proto, number_field(dtype)), where)


def _external(proto: TensorProto, folder: Path | None, stored: int, where: str) -> NDArray[np.uint8] | None:
    """Return the bytes of an external tensor, uint8 [stored]; None where the file is missing."""
    entries = {entry.key: entry.value for entry in proto.external_data}
    try:
        offset, length = int(entries.get("offset") or 0), int(entries.get("length") or stored)
    except ValueError as error:
        raise ModelError("external data offset and length must be integers", where) from error
    if offset < 0 or length != stored:
        raise ModelError(f"external data: {length} bytes at {offset}, but the shape takes {stored}", where)
    return map_bytes(folder, entries.get("location", ""), offset, stored, where)


def _sparse(proto: onnx.SparseTensorProto, folder: Path | None, where: str) -> Tensor | ValueInfo:
    """Return a sparse tensor as a dense array."""
    values, places = _tensor(proto.values, folder, where), _tensor(proto.indices, folder, where)
    if isinstance(values, ValueInfo) or isinstance(places, ValueInfo):
        return ValueInfo(proto.values.name, dtype_of(proto.values.data_type), tuple(proto.dims))
    return dense(values, places, tuple(proto.dims), where)
