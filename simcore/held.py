"""How a tensor lies in the memory of an NPU: element type and format, stored shape, bytes.

    ND            as in the model
    NC1HWC0       feature maps of a convolution (1-D ones with H = 1); NDC1HWC0 with a depth
    FRACTAL_NZ    operands and results of a matrix product
    FRACTAL_Z     constant operands of either

C0 and N0 are 32 for int8 and 16 for int16, float16 and the int32 results of the cube; rows go in 16. Sources: ATC
guide, data formats; `simcore.layout`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, Literal

import numpy as np

from simcore.graph import Node
from simcore.layout import c0_of, fractal_nz_shape, fractal_z_shape, size_bytes

__all__ = [
    "Constant",
    "Format",
    "Held",
    "Kind",
    "constant_bytes",
    "held",
    "held_dtype",
    "held_name",
    "stored_shape",
    "weight_bytes",
]

Format = Literal["ND", "NC1HWC0", "NDC1HWC0", "FRACTAL_NZ", "FRACTAL_Z"]
Shape = tuple[int, ...]

#: What a constant is: an operand of a product, its bias, scales and offsets, float data or integer data of the rest.
Kind = Literal["weight", "bias", "scale", "vector", "integer"]


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor in one form; a tensor of the model may be held in several."""

    #: Unique: the name in the model for the plain form, else with type and format: "y (int8 NC1HWC0)".
    name: str
    #: Name in the model; inside subgraphs "if_1/then_branch/y".
    tensor: str
    #: Name of the numpy dtype; empty if not known.
    dtype: str
    format: Format
    #: As in the model; None if not known.
    shape: Shape | None
    #: As it lies in memory; None if not known.
    stored: Shape | None
    #: Bytes, before any alignment of addresses; None if not known.
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant as it is stored with the model."""

    #: Unique: the name in the model, of a second form with the form; what has no name is called after what it serves.
    name: str
    kind: Kind
    #: Name of the numpy dtype; empty for scales.
    dtype: str
    format: Format
    #: As in the model.
    shape: Shape
    bytes: int
    #: Elements that count as parameters, see simcore.parameters; 0 if it is no weight of the model.
    parameters: int


def held_dtype(dtype: np.dtype[Any]) -> str:
    """Return the element type a tensor has on the vector unit: float16 for every float, others as they are."""
    return "float16" if dtype.kind == "f" or dtype.name.startswith(("bfloat", "float")) else dtype.name


def held_name(tensor: str, dtype: str, form: Format, base: str) -> str:
    """Return the name of a tensor in a form; `base` is the element type of its plain form."""
    marks = " ".join(mark for mark in (dtype if dtype != base else "", form if form != "ND" else "") if mark)
    return f"{tensor} ({marks})" if marks else tensor


def held(tensor: str, dtype: str, form: Format, base: str, shape: Shape | None) -> Held:
    """Return a tensor in a form."""
    stored = None if shape is None or not dtype else stored_shape(shape, dtype, form)
    size = None if stored is None else size_bytes(stored, dtype)
    return Held(held_name(tensor, dtype, form, base), tensor, dtype, form, shape, stored, size)


def stored_shape(shape: Shape, dtype: str, form: Format) -> Shape:
    """Return the shape in memory.

    NC1HWC0 of [n, c, *spatial] is (n, C1, *spatial, C0), with H = 1 in front of one spatial size; FRACTAL_NZ of
    [..., m, n] is (..., N1, M1, 16, N0), of a vector that of one row. FRACTAL_Z, here of a computed operand, is that of
    one group.
    """
    if form == "ND":
        return shape
    c0 = c0_of(dtype, "cube")
    if form == "FRACTAL_NZ":
        return fractal_nz_shape((*(1,) * (2 - len(shape)), *shape), c0)
    if form == "FRACTAL_Z":
        return fractal_z_shape(_kernel(shape), c0) if prod(shape) else shape
    n, c, *spatial = shape
    ones = (1,) * (2 - len(spatial))
    return (n, -(-c // c0), *ones, *spatial, c0)


def weight_bytes(node: Node, shape: Shape, dtype: str) -> int:
    """Return the bytes of a constant operand of a product in FRACTAL_Z, the groups of a convolution included.

    The operand of a matrix product [..., k, n] is stored like the weights [n, k, 1, 1] of a convolution, once per
    batch; W [d, columns, size] of a recurrent layer likewise, once per direction.
    """
    if not prod(shape):
        return 0
    c0 = c0_of(dtype, "cube")
    group = node.attributes.get("group", 1)
    assert isinstance(group, int), "the loader has checked attributes"
    count, kernel = 1, shape
    if node.op_type == "ConvTranspose":
        kernel = (shape[1] * group, shape[0] // group, prod(shape[2:]), 1)
    elif node.op_type in _CONVOLUTIONS:
        kernel = _kernel(shape)
    else:
        group = 1
        matrix = shape if len(shape) > 1 else (*shape, 1)
        count, kernel = prod(matrix[:-2]), (matrix[-1], matrix[-2], 1, 1)
        if node.op_type in ("LSTM", "GRU", "RNN") or (node.op_type == "Gemm" and node.attributes.get("transB")):
            kernel = (matrix[-2], matrix[-1], 1, 1)
    return count * size_bytes(fractal_z_shape(kernel, c0, group), dtype)


_CONVOLUTIONS: Final = frozenset({"Conv", "ConvInteger", "QLinearConv"})


def _kernel(shape: Sequence[int]) -> Shape:
    """Return [m, c, *kernel] with two kernel sizes."""
    return (shape[0], shape[1] if len(shape) > 1 else 1, prod(shape[2:]), 1)


def constant_bytes(shape: Shape, dtype: str) -> int:
    """Return the bytes of a constant as it is; strings take the bytes of a pointer each."""
    return prod(shape) * np.dtype(dtype).itemsize if dtype != "object" else prod(shape) * 8
