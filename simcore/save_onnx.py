"""Graph values as ONNX files, the way back from load_onnx; the onnx package is used inside the functions only.

    Graph -> ModelProto (opsets, nodes, attributes, subgraphs, values) -> weights inside the file, or in one data file
    beside it -> onnx.checker -> temporary files -> renamed

Nothing is ever half written: both files are complete under temporary names before either gets its own.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simcore.element_types import number_of
from simcore.errors import ModelError
from simcore.graph import Attribute, Graph, Node, Tensor, ValueInfo, described, walk

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

__all__ = ["EXTERNAL_OVER", "at_opset", "read_metadata", "save_onnx", "to_model"]

#: Bytes of weights above which they go to a data file; protobuf ends at 2 GB, the rest of the model needs some of it.
EXTERNAL_OVER: Final = 2_000_000_000
#: Smaller tensors stay in the model file; shape inference and people want to see them.
_ALWAYS_INSIDE: Final = 1024
#: Where a tensor starts in the data file, as onnx.proto recommends for memory maps.
_ALIGNMENT: Final = 4096

#: Elements of a byte, the first in the lowest bits.
_PER_BYTE: Final[dict[str, int]] = {"int4": 2, "uint4": 2, "float4_e2m1fn": 2, "int2": 4, "uint2": 4}


@dataclass(frozen=True, slots=True)
class _DataFile:
    """The data file beside a model while it is put together."""

    name: str
    #: First byte and array of each tensor.
    tensors: list[tuple[int, Tensor]] = field(default_factory=list)

    def add(self, value: Tensor) -> tuple[int, int]:
        """Return first byte and number of bytes of a tensor at the end of the file."""
        end = self.tensors[-1][0] + len(_bytes(self.tensors[-1][1])) if self.tensors else 0
        self.tensors.append((end + -end % _ALIGNMENT, value))
        return self.tensors[-1][0], len(_bytes(value))


def save_onnx(
    graph: Graph,
    path: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    external_over: int = EXTERNAL_OVER,
) -> tuple[Path, ...]:
    """Write a graph to `path` and return the files written: the model, and its data file if the weights are large.

    Args:
        graph: the model.
        path: of the model; the data file is `<name>.data` beside it.
        metadata: texts by key that travel with the model, as `read_metadata` gives them.
        external_over: bytes of weights above which they go to the data file.

    Raises:
        ModelError: weights are missing, the model does not pass onnx.checker, or the files cannot be written.
    """
    import onnx

    file = Path(path)
    total = sum(value.nbytes for inside in _graphs(graph) for value in inside.initializers.values())
    outside = _DataFile(f"{file.name}.data") if total > external_over else None
    model = _model(graph, outside)
    for key, text in (metadata or {}).items():
        model.metadata_props.add(key=key, value=text)
    made: list[tuple[Path, Path]] = []
    try:
        # The checker looks for the data file beside the model, under the name that the model gives it.
        with tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
            if outside is not None and outside.tensors:
                made.append((Path(folder, outside.name), file.with_name(outside.name)))
                with made[0][0].open("wb") as stream:
                    for start, value in outside.tensors:
                        stream.write(b"\0" * (start - stream.tell()))
                        stream.write(_bytes(value))
            made.append((Path(folder, file.name), file))
            made[-1][0].write_bytes(model.SerializeToString())
            onnx.checker.check_model(str(_checkable(model, made[-1][0])))
            for temporary, final in made:
                temporary.replace(final)
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror or error}", str(file)) from error
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError(f"onnx.checker refuses the model: {' '.join(str(error).split())}", str(file)) from error
    return tuple(final for _, final in reversed(made))


def _checkable(model: "ModelProto", file: Path) -> Path:
    """Return the file to check: the model's, or a copy in which outputs of unknown rank have one.

    The checker wants a shape of every output; a model without is still a model, and runs.
    """
    if all(output.type.tensor_type.HasField("shape") for output in model.graph.output if output.HasField("type")):
        return file
    copy = type(model)()
    copy.CopyFrom(model)
    for output in copy.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.shape.SetInParent()
    checked = file.with_name(f"{file.name}.checked")
    checked.write_bytes(copy.SerializeToString())
    return checked


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the texts that travel with a model file (class names, alphabets ...), by key; a Graph does not hold them.

    Raises:
        ModelError: the file is not readable or no ONNX model.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror or error}", str(path)) from error
    except DecodeError as error:
        raise ModelError("not an ONNX model, or cut off; export or copy it again", str(path)) from error
    return {entry.key: entry.value for entry in model.metadata_props}


def at_opset(graph: Graph, version: int) -> Graph:
    """Return the graph converted to a version of the ai.onnx operator set by onnx.version_converter.

    Raises:
        ModelError: the converter does not know an operator, or the model is too large for it.
    """
    import onnx
    from onnx import shape_inference, version_converter

    from simcore.load_onnx import load_onnx_bytes

    scans = [node for _, node in walk(graph) if node.op_type == "Scan"]
    if scans and graph.opset.get("", version) < 9:
        # The converter takes the batch of Scan 8 for a sequence.
        raise ModelError("Scan of version 8 is not converted right; export the model again", described(scans[0]))
    try:
        converted = version_converter.convert_version(to_model(graph), version)
        raised = load_onnx_bytes(converted.SerializeToString())
    except (RuntimeError, ValueError, onnx.checker.ValidationError, shape_inference.InferenceError) as error:
        reason = f"onnx.version_converter cannot bring it to opset {version}: {' '.join(str(error).split())}"
        raise ModelError(reason, f"graph {graph.name!r}") from error
    return raised


def to_model(graph: Graph) -> "ModelProto":
    """Return the graph as a ModelProto with all weights inside.

    Raises:
        ModelError: weights are missing.
    """
    return _model(graph, None)


def _graphs(graph: Graph) -> Iterable[Graph]:
    yield graph
    for _, node in walk(graph):
        yield from node.subgraphs.values()


def _model(graph: Graph, outside: _DataFile | None) -> "ModelProto":
    from onnx import helper

    missing = [name for inside in _graphs(graph) for name in inside.missing]
    if missing:
        reason = f"{len(missing)} weights have no data, the first is {missing[0]!r}; put the data file beside the model"
        raise ModelError(reason, f"graph {graph.name!r}")
    used = {node.domain for _, node in walk(graph)} | {""}
    opsets = [helper.make_opsetid(d, v) for d, v in graph.opset.items() if d in used] or [helper.make_opsetid("", 1)]
    # Since version 4 initializers need not be inputs, too.
    version = max(4, helper.find_min_ir_version_for(opsets, ignore_unknown=True))
    model = helper.make_model(_graph(graph, outside), producer_name="asknpu", opset_imports=opsets, ir_version=version)
    if any(info.dtype is None for info in graph.outputs):
        _declare_outputs(model)
    return model


def _declare_outputs(model: "ModelProto") -> None:
    """Give outputs without a type the one that follows from the operators; the checker wants one."""
    from onnx import shape_inference

    try:
        inferred = {value.name: value.type for value in shape_inference.infer_shapes(model).graph.output}
    except (RuntimeError, ValueError, shape_inference.InferenceError):
        return  # the checker will say what is wrong
    for output in model.graph.output:
        if not output.HasField("type") and inferred[output.name].WhichOneof("value"):
            output.type.CopyFrom(inferred[output.name])


def _graph(graph: Graph, outside: _DataFile | None) -> "GraphProto":
    from onnx import GraphProto

    proto = GraphProto(name=graph.name or "graph")
    proto.node.extend(_node(node, graph.opset, outside) for node in graph.nodes)
    proto.input.extend(map(_value_info, graph.inputs))
    proto.output.extend(map(_value_info, graph.outputs))
    kept = {name for node in graph.nodes for name in node.outputs} - {info.name for info in graph.outputs}
    proto.value_info.extend(_value_info(info) for name, info in graph.value_info.items() if name in kept)
    for name, value in graph.initializers.items():
        if outside is not None and value.nbytes > _ALWAYS_INSIDE and value.dtype.kind != "O":
            tensor = proto.initializer.add(
                name=name, data_type=number_of(value.dtype), dims=value.shape, data_location=1
            )
            start, length = outside.add(value)
            for key, text in (("location", outside.name), ("offset", start), ("length", length)):
                tensor.external_data.add(key=key, value=str(text))
        else:
            proto.initializer.append(_tensor(name, value))
    return proto


def _node(node: Node, opset: Mapping[str, int], outside: _DataFile | None) -> "NodeProto":
    from onnx import AttributeProto, NodeProto

    proto = NodeProto(name=node.name, op_type=node.op_type, domain=node.domain, input=node.inputs, output=node.outputs)
    for name, value in node.attributes.items():
        proto.attribute.append(_attribute(name, value, node, opset))
    for name, inner in node.subgraphs.items():
        proto.attribute.append(AttributeProto(name=name, type=AttributeProto.GRAPH, g=_graph(inner, outside)))
    return proto


def _attribute(name: str, value: Attribute, node: Node, opset: Mapping[str, int]) -> "AttributeProto":
    from onnx import AttributeProto

    if isinstance(value, np.ndarray):
        return AttributeProto(name=name, type=AttributeProto.TENSOR, t=_tensor("", value))
    if isinstance(value, str):
        return AttributeProto(name=name, type=AttributeProto.STRING, s=value.encode())
    if isinstance(value, float):
        return AttributeProto(name=name, type=AttributeProto.FLOAT, f=value)
    if isinstance(value, int):
        return AttributeProto(name=name, type=AttributeProto.INT, i=value)
    if not value:
        return AttributeProto(name=name, type=_kind_of_empty(name, node, opset))
    if all(isinstance(one, str) for one in value):
        return AttributeProto(name=name, type=AttributeProto.STRINGS, strings=[str(one).encode() for one in value])
    if all(isinstance(one, int) for one in value):
        return AttributeProto(name=name, type=AttributeProto.INTS, ints=[int(one) for one in value])
    if all(isinstance(one, int | float) for one in value):
        return AttributeProto(name=name, type=AttributeProto.FLOATS, floats=[float(one) for one in value])
    raise ModelError(f"attribute {name!r} mixes texts and numbers", described(node))


def _kind_of_empty(name: str, node: Node, opset: Mapping[str, int]) -> Any:  # noqa: ANN401
    """Return the attribute type of an empty list; integers where no schema tells."""
    from onnx import AttributeProto, defs

    with suppress(defs.SchemaError, KeyError):
        kind = defs.get_schema(node.op_type, opset.get(node.domain, 1), node.domain).attributes[name].type
        return AttributeProto.AttributeType.Value(str(kind).rpartition(".")[2])
    return AttributeProto.INTS


def _tensor(name: str, value: Tensor) -> "TensorProto":
    from onnx import TensorProto

    proto = TensorProto(name=name, data_type=number_of(value.dtype), dims=value.shape)
    if value.dtype.kind in "OUST":
        proto.string_data.extend(str(one).encode() for one in value.reshape(-1).tolist())
    else:
        proto.raw_data = bytes(_bytes(value))
    return proto


def _bytes(value: Tensor) -> bytes | memoryview:
    """Return the elements as a file holds them: little-endian, small ones packed, the first in the lowest bits."""
    flat = np.ascontiguousarray(value).reshape(-1)
    per_byte = _PER_BYTE.get(value.dtype.name)
    if per_byte is None:
        if value.dtype.kind in "iufc" and value.dtype.isbuiltin == 1:
            flat = flat.astype(value.dtype.newbyteorder("<"), copy=False)
        plain: memoryview = flat.view(np.uint8).data
        return plain
    bits = 8 // per_byte
    codes = flat.view(np.uint8) if value.dtype.name.startswith("float") else flat.astype(np.int8).view(np.uint8)
    codes = np.append(codes & np.uint8((1 << bits) - 1), np.zeros(-codes.size % per_byte, np.uint8))
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return bytes(np.bitwise_or.reduce(codes.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8))


def _value_info(info: ValueInfo) -> "ValueInfoProto":
    from onnx import ValueInfoProto

    proto = ValueInfoProto(name=info.name)
    if info.dtype is None:
        return proto
    proto.type.tensor_type.elem_type = number_of(info.dtype)
    if info.shape is None:
        return proto
    proto.type.tensor_type.shape.SetInParent()
    for size in info.shape:
        dim = proto.type.tensor_type.shape.dim.add()
        if isinstance(size, str):
            dim.dim_param = size
        elif size is not None:
            dim.dim_value = size
    return proto
