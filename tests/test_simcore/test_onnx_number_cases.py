"""The onnx package's own node cases for quantized operators give their literal outputs."""

import warnings

import numpy as np
import pytest

from simcore.conv import conv
from simcore.matmul import matmul
from simcore.quantize import dequantize, params, params_from_range, quantize, tensor_range
from simcore.requantize import requantize, requantize_scale
from simcore.rounding import INT_TYPES

pytest.importorskip("onnx")

OPERATORS = (
    "ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul",
    "QuantizeLinear",
)  # fmt: skip
#: Cases of these operators outside simcore's number types.
OUTSIDE = {
    "e4m3fn": "8-bit floats",
    "e5m2": "8-bit floats",
    "float4": "4-bit floats",
    "int2": "2-bit integers",
    "blocked": "one scale per block of an axis",
}


def _cases() -> list[tuple[str, object, list, list]]:
    """Return (name, node, inputs, outputs) of the cases whose graph is one node of OPERATORS."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        # The package computes its expected values with overflow and division warnings of numpy.
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind="node")
    return [
        (test.name, test.model.graph.node[0], *test.data_sets[0])
        for test in tests
        if test.model is not None and len(test.model.graph.node) == 1 and test.model.graph.node[0].op_type in OPERATORS
    ]


@pytest.fixture(scope="module")
def cases() -> list[tuple[str, object, list, list]]:
    return _cases()


def _array(value: object) -> tuple[np.ndarray, str]:
    """Return plain numpy values and the name of their type; 4-bit types arrive as foreign dtypes or TensorProto."""
    from onnx import TensorProto, numpy_helper

    array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
    name = array.dtype.name
    return (array.astype(INT_TYPES[name].dtype) if name in INT_TYPES else array), name


def _scalar(value: np.ndarray) -> np.ndarray:
    return value.reshape(()) if value.size == 1 else value


def _run(node: object, inputs: list[tuple[np.ndarray, str]]) -> list[np.ndarray]:
    from onnx import helper

    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    values = [array for array, _ in inputs]
    if node.op_type == "MatMulInteger":
        return [matmul(*values[:2], *map(_scalar, values[2:]))]
    if node.op_type == "ConvInteger":
        return [conv(*values[:2], *map(_scalar, values[2:]), **attributes)]
    if node.op_type == "QLinearMatMul":
        a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = map(_scalar, values)
        return [
            requantize(matmul(a, b, a_zero, b_zero), requantize_scale(a_scale, b_scale, y_scale), y_zero, inputs[7][1])
        ]
    if node.op_type == "QLinearConv":
        x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = values[:8]
        acc = conv(x, w, x_zero, _scalar(w_zero), *values[8:9], **attributes)
        return [requantize(acc, requantize_scale(x_scale, w_scale, y_scale), y_zero, inputs[7][1], axis=1)]
    if node.op_type == "DynamicQuantizeLinear":
        how = params_from_range(*tensor_range(values[0]), "onnx_dynamic", "uint8")
        return [quantize(values[0], how), how.scale, how.zero_point]
    scale = _scalar(values[1])
    axis = attributes.get("axis", 1) if scale.ndim else None
    kind = inputs[2][1] if len(inputs) > 2 else inputs[0][1] if node.op_type == "DequantizeLinear" else "uint8"
    how = params(scale, _scalar(values[2]) if len(inputs) > 2 else 0, kind, axis)
    return [quantize(values[0], how) if node.op_type == "QuantizeLinear" else dequantize(values[0], how)]


def test_every_case_within_the_number_types_gives_its_outputs(cases: list) -> None:
    wrong, ran = [], set()
    for name, node, inputs, outputs in cases:
        if any(word in name for word in OUTSIDE):
            continue
        got = _run(node, [_array(value) for value in inputs])
        expected = [_array(value)[0] for value in outputs]
        ran.add(node.op_type)
        if not all(np.array_equal(g, e) and g.shape == e.shape for g, e in zip(got, expected, strict=True)):
            wrong.append(name)

    assert wrong == []
    assert ran == set(OPERATORS)
