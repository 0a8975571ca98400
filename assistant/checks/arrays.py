"""Arrays from files that a check was given: .npy, or raw values of a named dtype; nothing is ever unpickled."""

import io
import math
import stat
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument

__all__ = ["MAX_ELEMENTS", "MAX_FILE_BYTES", "RAW_DTYPES", "read_array"]

MAX_FILE_BYTES: Final = 64 << 20
MAX_ELEMENTS: Final = 4_000_000
"""Elements of one array: with it a comparison stays below a second."""
RAW_DTYPES: Final = (
    "float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
)  # fmt: skip

_MAGIC: Final = b"\x93NUMPY"


def read_array(path: Path, dtype: str) -> NDArray[np.number[Any] | np.bool_]:
    """Return the array of a .npy file with its own shape and dtype, or a raw file as a flat little-endian array.

    A file counts as .npy by its first bytes, not by its name.

    Args:
        path: the file.
        dtype: element type of a raw file, one of RAW_DTYPES; not looked at for .npy.

    Raises:
        BadArgument: No regular file, larger than MAX_FILE_BYTES, empty, not whole, of other than plain numbers, or more
            than MAX_ELEMENTS elements.
    """
    # Looked at before opening: opening a pipe or a device would wait or read without end.
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadArgument(f"{path.name}: is no regular file.")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadArgument(f"{path.name}: cannot be read: {error.strerror}.") from None
    if len(data) > MAX_FILE_BYTES:
        raise BadArgument(f"{path.name}: is larger than {MAX_FILE_BYTES >> 20} MiB; compare a part of it.")
    array = _npy(data, path.name) if data.startswith(_MAGIC) else _raw(data, dtype, path)
    if not 1 <= array.size <= MAX_ELEMENTS:
        raise BadArgument(f"{path.name}: has {array.size} elements; 1 to {MAX_ELEMENTS:,} can be compared at a time.")
    return array


def _npy(data: bytes, name: str) -> NDArray[np.number[Any] | np.bool_]:
    """Return the array of a .npy file held in memory; the claimed shape is checked against the bytes that are there."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise BadArgument(f"{name}: its .npy header is damaged: {str(error)[:80]}") from None
    if dtype.hasobject or dtype.kind not in "iufb" or dtype.itemsize == 0:
        raise BadArgument(f"{name}: holds {dtype}; only plain numbers are read, never pickled objects.")
    start, needed = file.tell(), math.prod(shape) * dtype.itemsize
    if any(size < 0 for size in shape) or needed != len(data) - start:
        raise BadArgument(f"{name}: shape {shape} of {dtype} needs {needed} bytes, the file has {len(data) - start}.")
    flat = np.frombuffer(data, dtype, offset=start)
    return flat.reshape(shape, order="F" if fortran else "C")


def _raw(data: bytes, dtype: str, path: Path) -> NDArray[np.number[Any] | np.bool_]:
    if path.suffix.lower() in (".npy", ".npz"):
        raise BadArgument(f"{path.name}: is no .npy file; of an .npz unpack one array first.")
    size = np.dtype(dtype).itemsize
    if len(data) % size:
        raise BadArgument(f"{path.name}: {len(data)} bytes are no whole number of {dtype} elements; check dtype.")
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<"))
