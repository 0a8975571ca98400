"""A bound on what an operator may create from a few numbers."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument

__all__ = ["MAX_BYTES", "checked_shape"]

#: Largest tensor an operator creates from sizes in the model, in bytes (2 GiB, also the limit of an ONNX file).
MAX_BYTES: Final = 1 << 31


def checked_shape(sizes: Iterable[int], dtype: "np.dtype[Any]") -> tuple[int, ...]:
    """Return sizes as a tuple if a tensor of that shape may be created.

    Raises:
        BadArgument: a negative size, or more than MAX_BYTES bytes.
    """
    shape = tuple(int(size) for size in sizes)
    total = dtype.itemsize
    for size in shape:
        total *= size
    if any(size < 0 for size in shape) or total > MAX_BYTES:
        raise BadArgument(f"shape {list(shape)} of {dtype.name} is negative or takes more than {MAX_BYTES >> 20} MiB")
    return shape
