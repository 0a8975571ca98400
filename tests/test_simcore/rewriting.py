"""Models of one or a few nodes for the tests of simcore.rewrite, and their check against ONNX Runtime."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from simcore.device import load_device
from simcore.execute import run
from simcore.graph import Graph
from simcore.load_onnx import load_onnx, load_onnx_bytes
from simcore.rewrite.prove import TOLERANCE, prove
from simcore.rewrite.run import Options, Rewritten, needs_rewrite, rewrite
from simcore.save_onnx import save_onnx

NANO = load_device("nano-035a")


@dataclass(frozen=True)
class Case:
    """One operator with its inputs; those in `constants` are initializers."""

    name: str
    op_type: str
    inputs: Mapping[str, Any]
    constants: frozenset[str] = frozenset()
    count: int = 1
    opset: int = 13
    attributes: Mapping[str, Any] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    #: Operators the result has; None: whatever the device has.
    into: set[str] | None = None
    tolerance: float = TOLERANCE
    domain: str = ""


def case(
    name: str,
    op_type: str,
    *inputs: Any,
    constant: Sequence[int] = (),
    count: int = 1,
    opset: int = 13,
    options: Options | None = None,
    into: set[str] | None = None,
    tolerance: float = TOLERANCE,
    **attributes: Any,
) -> Case:
    """Return a case whose inputs are called x0, x1, ...; None leaves one out."""
    named = {f"x{i}": None if value is None else np.asarray(value) for i, value in enumerate(inputs)}
    fixed = frozenset(f"x{i}" for i in constant)
    return Case(name, op_type, named, fixed, count, opset, attributes, options or Options(), into, tolerance)


def model_of(one: Case) -> ModelProto:
    """Return the case as a model; its output types are left to the reader."""
    names = [name if value is not None else "" for name, value in one.inputs.items()]
    outputs = [f"y{i}" for i in range(one.count)]
    node = helper.make_node(one.op_type, names, outputs, name="node", **one.attributes)
    return model(
        [node],
        {n: v for n, v in one.inputs.items() if v is not None and n not in one.constants},
        outputs,
        {n: one.inputs[n] for n in one.constants},
        one.opset,
    )


def model(
    nodes: Sequence[NodeProto],
    feeds: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    constants: Mapping[str, np.ndarray],
    opset: int,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
) -> ModelProto:
    """Return a model whose inputs have the types and (unless told otherwise) the shapes of the feeds."""
    declared = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), (shapes or {}).get(name, value.shape)
        )
        for name, value in feeds.items()
    ]
    results = [ValueInfoProto(name=name) for name in outputs]
    data = [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(list(nodes), "test", declared, results, data)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def feeds_of(one: Case) -> dict[str, np.ndarray]:
    """Return the arrays of the inputs that are no constants."""
    return {name: value for name, value in one.inputs.items() if value is not None and name not in one.constants}


def loaded(proto: ModelProto) -> Graph:
    """Return the model as a graph."""
    return load_onnx_bytes(proto.SerializeToString())


def by_runtime(path_or_bytes: Any, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return the outputs of ONNX Runtime."""
    ort = pytest.importorskip("onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(path_or_bytes, options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


def typed(proto: ModelProto, values: Mapping[str, np.ndarray]) -> ModelProto:
    """Return the model with the types of its outputs, which ONNX Runtime asks for."""
    for output in proto.graph.output:
        value = values[output.name]
        output.CopyFrom(helper.make_tensor_value_info(output.name, helper.np_dtype_to_tensor_dtype(value.dtype), None))
    return proto


def operators(graph: Graph) -> set[str]:
    """Return the operators of a graph."""
    return {node.op_type for node in graph.nodes}


def check(
    proto: ModelProto,
    feeds: Mapping[str, np.ndarray],
    folder: Path,
    options: Options | None = None,
    tolerance: float = TOLERANCE,
) -> Rewritten:
    """Return the rewritten model, after checking it against the original in both executors.

    Nothing may be left; the saved result passes the checker, loads again to the same bits, and gives in ONNX Runtime
    what the original gives.
    """
    graph = loaded(proto)
    result = rewrite(graph, NANO, options)
    assert result.left == ()
    assert needs_rewrite(result.graph, NANO) == {}
    want = run(graph, feeds)
    kept = {name: value for name, value in feeds.items() if name not in result.fixed} | dict(result.states)
    got = run(result.graph, kept)
    assert list(got) == list(want)
    for name in want:
        close(got[name], want[name], tolerance)
    proof = prove(graph, result, [feeds], seeds=())
    assert proof.ok and proof.runs == ("given 0",)
    (saved,) = save_onnx(result.graph, folder / "saved.onnx")
    again = run(load_onnx(saved), kept)
    assert all(again[name].tobytes() == got[name].tobytes() for name in got)
    for mine, theirs in zip(
        by_runtime(str(saved), kept), by_runtime(typed(proto, want).SerializeToString(), feeds), strict=True
    ):
        close(mine, theirs, tolerance)
    return result


def close(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    """Assert type, shape, and values within a tolerance relative to the largest magnitude."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.kind in "iub":
        assert np.array_equal(got, want)
        return
    largest = np.max(np.abs(want[np.isfinite(want)]), initial=0.0).astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(float(largest), 1e-30))


__all__ = [
    "NANO",
    "Case",
    "TensorProto",
    "by_runtime",
    "case",
    "check",
    "close",
    "feeds_of",
    "loaded",
    "model",
    "model_of",
    "operators",
    "typed",
]
