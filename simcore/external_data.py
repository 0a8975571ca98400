"""Weights kept beside the model file: mapped into memory, read-only, and only from inside the model's folder."""

import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simcore.errors import ModelError

__all__ = ["map_bytes"]


def map_bytes(folder: Path | None, location: str, offset: int, size_bytes: int, where: str) -> NDArray[np.uint8] | None:
    """Return the bytes of an external tensor, uint8 [size_bytes], mapped read-only; None where the file is missing.

    Links are followed before the folder is compared, so neither `..` nor a link leads outside.

    Args:
        folder: the model's folder; None: the model has none, every file counts as missing.
        location: file name relative to `folder`, as the model writes it.
        offset: first byte.
        size_bytes: bytes the tensor takes.
        where: what messages name.

    Raises:
        ModelError: the file is outside the folder, shorter than needed or not readable.
    """
    file_name = f"external data {location!r}"
    if not location or "\0" in location:
        raise ModelError("external data without a file name", where)
    if Path(location).is_absolute() or ".." in Path(location).parts:
        raise ModelError(f"{file_name} lies outside the model's folder; only files inside it are read", where)
    if folder is None:
        return None
    try:
        root = folder.resolve()
        file = (root / location).resolve()
        if not file.is_relative_to(root):
            raise ModelError(f"{file_name} leads outside the model's folder; only files inside it are read", where)
        if not file.exists():
            return None
        if not file.is_file():
            raise ModelError(f"{file_name} is not a file", where)
        held = file.stat().st_size
        if offset + size_bytes > held:
            raise ModelError(
                f"{file_name} has {held} bytes, the tensor needs {offset + size_bytes}; it is cut off", where
            )
        if not size_bytes:
            return np.empty(0, np.uint8)
        start = offset - offset % mmap.ALLOCATIONGRANULARITY
        with file.open("rb") as handle:
            mapped = mmap.mmap(handle.fileno(), offset + size_bytes - start, access=mmap.ACCESS_READ, offset=start)
    except (OSError, ValueError, OverflowError, RuntimeError) as error:
        raise ModelError(f"{file_name} cannot be read: {error}", where) from error
    return np.frombuffer(mapped, np.uint8, size_bytes, offset - start)
