"""The ONNX element types by number and name, and the numpy dtypes that hold them.

Types numpy lacks (bfloat16, float8, int4 ...) are dtypes of ml_dtypes, which comes with onnx; it is imported when
such a type is first met.
"""

import importlib
from typing import Any, Final

import numpy as np

from simcore.errors import UnsupportedOp

__all__ = ["ELEMENT_TYPES", "dtype_of", "name_of", "number_of"]

#: TensorProto.DataType number -> name of the dtype, as numpy or ml_dtypes spells it. Source: onnx.proto.
ELEMENT_TYPES: Final[dict[int, str]] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "object",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
    27: "float6_e2m3fn",
    28: "float6_e3m2fn",
}

_NUMPY: Final[dict[int, np.dtype[Any]]] = {n: np.dtype(t) for n, t in ELEMENT_TYPES.items() if n < 16}
_NUMBERS: Final[dict[str, int]] = {name: number for number, name in ELEMENT_TYPES.items()}


def dtype_of(number: int) -> np.dtype[Any]:
    """Return the dtype of ONNX element type `number`; strings are Python objects.

    Raises:
        UnsupportedOp: the number is unknown, or names a type of ml_dtypes and that library is missing or too old.
    """
    known = _NUMPY.get(number)
    if known is not None:
        return known
    name = ELEMENT_TYPES.get(number)
    if name is None:
        raise UnsupportedOp(
            f"element type number {number} is not one of ONNX's {min(ELEMENT_TYPES)}..{max(ELEMENT_TYPES)}"
        )
    try:
        found: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except (ImportError, AttributeError) as error:
        raise UnsupportedOp(
            f"element type {name} needs a newer ml_dtypes; install it with: pip install -U ml_dtypes"
        ) from error
    return found


def number_of(dtype: np.dtype[Any]) -> int:
    """Return the ONNX element type number of a dtype; any string dtype counts as string.

    Raises:
        UnsupportedOp: ONNX has no such element type.
    """
    name = "object" if dtype.kind in "OUST" else dtype.name
    if name not in _NUMBERS:
        raise UnsupportedOp(f"ONNX has no element type {name}; it has {', '.join(_NUMBERS)}")
    return _NUMBERS[name]


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name people know a dtype by: "string" for objects, else numpy's."""
    return "string" if dtype.kind in "OUST" else dtype.name
