"""Small models for the tests: built with onnx, as bytes or as Graph values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from simcore.execute import run
from simcore.graph import Graph
from simcore.load_onnx import load_onnx_bytes

TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL, "u": TensorProto.UINT8}


def model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = 18,
    **domains: int,
) -> ModelProto:
    """Return a model; `inputs` maps a name to its shape (float32) or to (type letter, shape)."""
    declared = []
    for name, shape in inputs.items():
        letter, sizes = shape if isinstance(shape, tuple) and shape and isinstance(shape[0], str) else ("f", shape)
        declared.append(helper.make_tensor_value_info(name, TYPES[letter], sizes))
    results = [ValueInfoProto(name=name) for name in outputs]
    data = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    graph = helper.make_graph(list(nodes), "test", declared, results, data)
    imports = [
        helper.make_opsetid("", opset),
        *(helper.make_opsetid(k.replace("_", "."), v) for k, v in domains.items()),
    ]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def graph(*arguments: Any, **keywords: Any) -> Graph:
    """Return `model(...)` loaded."""
    return load_onnx_bytes(model(*arguments, **keywords).SerializeToString())


def one(
    op_type: str, inputs: Mapping[str, Any], count: int = 1, opset: int = 18, domain: str = "", **attributes: Any
) -> ModelProto:
    """Return a model of one node whose inputs are arrays or None; those arrays are its feeds."""
    names = [name if value is not None else "" for name, value in inputs.items()]
    outputs = [f"y{i}" for i in range(count)]
    node = helper.make_node(op_type, names, outputs, name="node", domain=domain, **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
        if value is not None
    ]
    results = [ValueInfoProto(name=name) for name in outputs]
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(helper.make_graph([node], "test", declared, results), opset_imports=imports, ir_version=8)


def both(op_type: str, inputs: Mapping[str, Any], **options: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each output of one node as (ours, ONNX Runtime's), without its graph optimizations."""
    runtime = pytest.importorskip("onnxruntime")
    inputs = {name: value if value is None else np.asarray(value) for name, value in inputs.items()}
    data = one(op_type, inputs, **options).SerializeToString()
    feeds = {name: value for name, value in inputs.items() if value is not None}
    settings = runtime.SessionOptions()
    settings.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    session = runtime.InferenceSession(data, settings, providers=["CPUExecutionProvider"])
    return list(zip(run(load_onnx_bytes(data), feeds).values(), session.run(None, feeds), strict=True))
