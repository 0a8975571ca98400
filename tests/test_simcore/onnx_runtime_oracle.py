"""One ONNX node run by ONNX Runtime, the oracle for integer operators."""

from pathlib import Path

import numpy as np
import pytest


def run_node(op_type: str, inputs: dict[str, np.ndarray], output: str, **attributes: object) -> np.ndarray:
    """Return the node's first output; `output` is its numpy type name. Skips where ONNX Runtime is not installed."""
    ort = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    node = helper.make_node(op_type, list(inputs), ["y"], **attributes)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    result = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(output)), None)
    graph = helper.make_graph([node], "one_node", values, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def safe_weights(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return random weights whose products with any 8-bit activation ONNX Runtime adds exactly on this machine.

    Without VNNI its x86 kernels add pairs of u8*s8 products in int16: there only 7 bits are safe (2 * 255 * 64 < 2^15).
    """
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text("utf-8") if cpu.exists() else ""
    reach = (128, 127) if "vnni" in flags or "asimd" in flags else (64, 64)
    middle = 0 if kind == "int8" else 128
    return rng.integers(middle - reach[0], middle + reach[1], shape, endpoint=True).astype(kind)
