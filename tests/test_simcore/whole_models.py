"""What the tests of whole models share: ONNX Runtime with every tensor as output, errors of one tensor, wide graphs."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, NodeProto, ValueInfoProto, helper, inliner, numpy_helper

from simcore.graph import Graph, Node, Tensor, ValueInfo
from simcore.plan import as_tuple, bound

__all__ = ["Runtime", "error", "node_by_node", "widened", "with_uint8_weights", "without_branches"]

#: Operators with integer weights: positions of a weight and its zero point.
_INTEGER_WEIGHTS = {"ConvInteger": [(1, 3)], "MatMulInteger": [(1, 3)], "DynamicQuantizeLSTM": [(1, 9), (2, 11)]}


class Runtime:
    """A model in ONNX Runtime: one thread, no graph optimization, every tensor an output but for `left_out`."""

    def __init__(self, model: ModelProto, left_out: frozenset[str] = frozenset()) -> None:
        whole = ModelProto()
        whole.CopyFrom(model)
        self.names = [name for node in model.graph.node for name in node.output if name and name not in left_out]
        self._session = _session(whole, self.names)

    def run(self, feeds: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return every tensor by name."""
        return dict(zip(self.names, self._session.run(self.names, dict(feeds)), strict=True))


def _session(model: ModelProto, outputs: list[str]) -> onnxruntime.InferenceSession:
    """Return a session that gives these tensors; changes the model."""
    del model.graph.output[:]
    model.graph.output.extend(ValueInfoProto(name=name) for name in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def without_branches(model: ModelProto, feeds: Mapping[str, Tensor]) -> ModelProto:
    """Return the model with its functions written out and, for every If, the branch that these feeds take.

    Tensors inside keep their names, so that ONNX Runtime can show them.
    """
    flat = ModelProto()
    flat.CopyFrom(inliner.inline_local_functions(model) if model.functions else model)
    while any(node.op_type == "If" for node in flat.graph.node):
        nodes = [NodeProto.FromString(node.SerializeToString()) for node in flat.graph.node]
        at = next(i for i, node in enumerate(nodes) if node.op_type == "If")
        before = ModelProto()
        before.CopyFrom(flat)
        del before.graph.node[at:]
        (condition,) = _session(before, [nodes[at].input[0]]).run(None, dict(feeds))
        wanted = "then_branch" if condition.item() else "else_branch"
        branch = next(attribute.g for attribute in nodes[at].attribute if attribute.name == wanted)
        ends = [
            helper.make_node("Identity", [inner.name], [outer])
            for inner, outer in zip(branch.output, nodes[at].output, strict=True)
            if outer
        ]
        nodes[at : at + 1] = [*branch.node, *ends]
        flat.graph.initializer.extend(branch.initializer)
        del flat.graph.node[:]
        flat.graph.node.extend(nodes)
    return flat


def with_uint8_weights(model: ModelProto) -> ModelProto:
    """Return the model with int8 weights and their zero points moved by 128 to uint8: the same numbers.

    Without VNNI the u8*s8 kernels of ONNX Runtime add pairs of products in int16 and saturate; its u8*u8 kernels are
    exact everywhere.
    """
    moved = ModelProto()
    moved.CopyFrom(model)
    used = {
        node.input[position]
        for node in moved.graph.node
        for pair in _INTEGER_WEIGHTS.get(node.op_type, ())
        for position in pair
    }
    for tensor in moved.graph.initializer:
        if tensor.name in used and tensor.data_type == onnx.TensorProto.INT8:
            codes = numpy_helper.to_array(tensor).astype(np.int16) + 128
            tensor.CopyFrom(numpy_helper.from_array(codes.astype(np.uint8), tensor.name))
    return moved


def node_by_node(graph: Graph, known: Mapping[str, Tensor]) -> Iterator[tuple[Node, str, Tensor]]:
    """Yield (node, name, value) of every output, each node run on `known` inputs; those of constants on our own."""
    values = {**graph.initializers, **known}
    for node in graph.nodes:
        arguments = [values[name] if name else None for name in node.inputs]
        results = as_tuple(bound(node, graph.opset)(*arguments), node)
        for name, value in zip(node.outputs, results, strict=False):
            if name:
                # As a plan does: one element spread over a shape would keep the product from BLAS.
                values.setdefault(name, np.ascontiguousarray(value).reshape(value.shape))
                yield node, name, value


def error(got: Tensor, want: Tensor) -> float:
    """Return `max|got - want| / max|want|`: the largest difference, relative to the tensor's largest magnitude.

    0 where both are equal, also for empty tensors; infinite for another type or shape, for integers, booleans and
    strings that differ, and for NaN or infinity that is not at the same place in both.
    """
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return np.inf
    if np.array_equal(got, want, equal_nan=want.dtype.kind == "f"):
        return 0.0
    if want.dtype.kind != "f":
        return np.inf
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return np.inf
    exact = want[finite].astype(np.float64)
    largest = np.abs(exact).max()
    return float(np.abs(got[finite] - exact).max() / largest) if largest else np.inf


def widened(graph: Graph) -> Graph:
    """Return the graph with every float32 a float64: what its formulas give when hardly anything is rounded."""

    def value(array: Tensor) -> Tensor:
        return array.astype(np.float64) if array.dtype == np.float32 else array

    def declared(info: ValueInfo) -> ValueInfo:
        return dataclasses.replace(info, dtype=np.dtype(np.float64)) if info.dtype == np.float32 else info

    def node(one: Node) -> Node:
        assert not one.subgraphs
        attributes = {k: value(v) if isinstance(v, np.ndarray) else v for k, v in one.attributes.items()}
        if one.op_type == "Cast" and attributes["to"] == onnx.TensorProto.FLOAT:
            attributes["to"] = onnx.TensorProto.DOUBLE
        return dataclasses.replace(one, attributes=attributes)

    return dataclasses.replace(
        graph,
        nodes=tuple(map(node, graph.nodes)),
        inputs=tuple(map(declared, graph.inputs)),
        outputs=tuple(map(declared, graph.outputs)),
        initializers={name: value(array) for name, array in graph.initializers.items()},
        value_info={},
    )
