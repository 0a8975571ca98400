"""Arrays from the bytes and numbers a model file stores: plain, packed (two or four to a byte) or sparse."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simcore.element_types import name_of
from simcore.errors import ModelError
from simcore.graph import Tensor

__all__ = ["MAX_DENSE_BYTES", "dense", "from_bytes", "from_numbers", "number_field", "stored_bytes"]

#: Largest tensor that is written out from a sparse one.
MAX_DENSE_BYTES: Final = 1 << 31

#: Width in bits of the types that share a byte.
_PACKED: Final[dict[str, int]] = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}

#: TensorProto field that holds the numbers of a type; int32_data for all others.
_FIELDS: Final[dict[str, str]] = {
    "float32": "float_data",
    "complex64": "float_data",
    "float64": "double_data",
    "complex128": "double_data",
    "int64": "int64_data",
    "uint32": "uint64_data",
    "uint64": "uint64_data",
    "object": "string_data",
}


def stored_bytes(dtype: np.dtype[Any], count: int) -> int:
    """Return the bytes `count` elements take in a file."""
    return (count * _PACKED.get(dtype.name, dtype.itemsize * 8) + 7) // 8


def number_field(dtype: np.dtype[Any]) -> str:
    """Return the TensorProto field that holds the elements of a type as numbers. Source: onnx.proto, TensorProto."""
    return _FIELDS.get(dtype.name, "int32_data")


def from_bytes(dtype: np.dtype[Any], shape: tuple[int, ...], data: bytes | NDArray[np.uint8], where: str) -> Tensor:
    """Return the array stored as little-endian bytes; not copied unless the elements are packed. Read-only.

    Raises:
        ModelError: the number of bytes does not fit the shape.
    """
    count = product(shape)
    if len(data) != stored_bytes(dtype, count):
        raise ModelError(
            f"shape {list(shape)} of {name_of(dtype)} takes {stored_bytes(dtype, count)} bytes, "
            f"the file holds {len(data)}; it is cut off or its shape is wrong",
            where,
        )
    codes = np.frombuffer(data, np.uint8)
    if dtype.name in _PACKED:
        return _frozen(_unpacked(codes, dtype, count), shape)
    # ml_dtypes has no byte orders; all of its wider types are two bytes, like uint16.
    little = codes.view(f"<u{dtype.itemsize}") if dtype.itemsize in (2, 4, 8) and dtype.kind != "c" else codes
    return _frozen(little.astype(little.dtype.newbyteorder("="), copy=False).view(dtype), shape)


def from_numbers(
    dtype: np.dtype[Any], shape: tuple[int, ...], numbers: Sequence[float] | Sequence[bytes], where: str
) -> Tensor:
    """Return the array stored as numbers in a typed field. Read-only.

    Small types are stored as their bit patterns, complex ones as pairs, packed ones as bytes.

    Raises:
        ModelError: too many or too few numbers, or text that is not UTF-8.
    """
    count = product(shape)
    per_element = 2 if dtype.kind == "c" else 1
    wanted = stored_bytes(dtype, count) if dtype.name in _PACKED else count * per_element
    if len(numbers) != wanted:
        raise ModelError(
            f"shape {list(shape)} of {name_of(dtype)} takes {wanted} values, the file holds {len(numbers)}", where
        )
    if dtype.kind == "O":
        try:
            text = [data.decode() if isinstance(data, bytes) else str(data) for data in numbers]
        except UnicodeDecodeError as error:
            raise ModelError("holds text that is not UTF-8", where) from error
        return _frozen(np.array(text, object), shape)
    if number_field(dtype) != "int32_data":
        real = np.array(numbers, {"c": f"f{dtype.itemsize // 2}"}.get(dtype.kind, dtype))
        return _frozen(real.view(dtype), shape)
    codes = np.array(numbers, np.int32)
    if dtype.name in _PACKED:
        return _frozen(_unpacked(codes.astype(np.uint8), dtype, count), shape)
    return _frozen(codes.astype(f"u{dtype.itemsize}").view(dtype), shape)


def _unpacked(codes: NDArray[np.uint8], dtype: np.dtype[Any], count: int) -> Tensor:
    """Return `count` elements stored several to a byte, the lowest bits first."""
    bits = _PACKED[dtype.name]
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields = ((codes[:, None] >> shifts) & np.uint8((1 << bits) - 1)).reshape(-1)[:count]
    if dtype.name.startswith("float"):
        return fields.view(dtype)
    sign = 1 << (bits - 1)
    values = fields.astype(np.int8)
    return (values if dtype.name.startswith("u") else (values ^ sign) - sign).astype(dtype)


def dense(values: Tensor, places: Tensor, shape: tuple[int, ...], where: str) -> Tensor:
    """Return a sparse tensor written out, read-only: `values` [n] at `places` int64 [n] (flat) or [n, rank], else 0.

    Raises:
        ModelError: the shape is too large, or places do not fit it.
    """
    count = product(shape)
    if any(size < 0 for size in shape) or count * values.dtype.itemsize > MAX_DENSE_BYTES:
        raise ModelError(f"sparse shape {list(shape)} is too large to write out", where)
    if places.dtype != np.int64 or values.ndim != 1 or places.shape not in ((values.size,), (values.size, len(shape))):
        raise ModelError(f"sparse indices {places.dtype} {list(places.shape)} do not fit {values.size} values", where)
    if np.any(places < 0) or np.any(places >= np.array(shape if places.ndim == 2 else [count], np.int64)):
        raise ModelError(f"sparse indices point outside shape {list(shape)}", where)
    full = np.zeros(count, values.dtype)
    full[np.ravel_multi_index(tuple(places.T), shape) if places.ndim == 2 else places] = values
    return _frozen(full, shape)


def product(shape: Sequence[int]) -> int:
    """Return the number of elements as a Python integer, which cannot overflow."""
    total = 1
    for size in shape:
        total *= size
    return total


def _frozen(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    values = values.reshape(shape)
    values.setflags(write=False)
    return values
