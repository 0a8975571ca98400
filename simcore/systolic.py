"""Cycles of a systolic array for matrix products, in closed form: the "Total Cycles" of SCALE-Sim 3.0.0 without stalls.

A product [m, k] by [k, n] is cut into folds of the array's rows and columns, one after the other:

    dataflow   rows hold   columns hold   streamed   cycles = folds * (...) - 1
    os         m           n              k          rows + columns + k - 2
    ws         k           n              m          2 * rows + columns + m - 2
    is         k           m              n          2 * rows + columns + n - 2

with folds = ceil(held / rows) * ceil(held / columns). A stationary operand is loaded row by row first, hence 2 * rows.
Folds do not overlap, memory never stalls (SCALE-Sim's bandwidth mode CALC). Convolutions are products of m output
positions, k = taps * channels, n filters. SCALE-Sim rounds output sizes up where a stride does not divide
(`ceil((size - kernel + stride) / stride)`), ONNX down: `rounding` chooses.

Source: SCALE-Sim 3.0.0, systolic_compute_os, _ws and _is, topology_utils; the sums were fitted to its reports.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from simcore.errors import BadArgument
from simcore.macs import Product

__all__ = ["Array", "ConvLayer", "Dataflow", "Rounding", "array_cycles", "conv_product"]

#: What stays in the array: outputs, weights or inputs.
Dataflow = Literal["os", "ws", "is"]

#: Of output sizes: "floor" as ONNX, "ceil" as SCALE-Sim.
Rounding = Literal["floor", "ceil"]


@dataclass(frozen=True, slots=True)
class Array:
    """A systolic array."""

    rows: int
    columns: int
    dataflow: Dataflow


@dataclass(frozen=True, slots=True)
class ConvLayer:
    """A convolution as SCALE-Sim describes it."""

    #: Input sizes, padding included.
    height: int
    width: int
    kernel_height: int
    kernel_width: int
    channels: int
    filters: int
    stride_height: int = 1
    stride_width: int = 1


def array_cycles(product: Product, array: Array) -> int:
    """Return the cycles of a product, those of a group or batch one after the other; 0 if a size is 0.

    Raises:
        BadArgument: an unknown dataflow, or an array without rows or columns.
    """
    if array.dataflow not in get_args(Dataflow):
        raise BadArgument(f"dataflow {array.dataflow!r} is unknown; choose one of {', '.join(get_args(Dataflow))}")
    if array.rows < 1 or array.columns < 1:
        raise BadArgument(f"the array has {array.rows} rows and {array.columns} columns; both must be 1 or more")
    m, k, n = product.m, product.k, product.n
    if not product.macs:
        return 0
    if array.dataflow == "os":
        by_row, by_column, streamed, load = m, n, k, 0
    elif array.dataflow == "ws":
        by_row, by_column, streamed, load = k, n, m, array.rows
    else:
        by_row, by_column, streamed, load = k, m, n, array.rows
    folds = -(-by_row // array.rows) * -(-by_column // array.columns)
    return product.count * (folds * (load + array.rows + array.columns + streamed - 2) - 1)


def conv_product(layer: ConvLayer, rounding: Rounding = "floor") -> Product:
    """Return the matrix product of a convolution.

    Raises:
        BadArgument: a size or stride below 1, a kernel larger than the input, an unknown rounding.
    """
    if rounding not in get_args(Rounding):
        raise BadArgument(f"rounding {rounding!r} is unknown; choose one of {', '.join(get_args(Rounding))}")
    positions = 1
    for size, kernel, stride in (
        (layer.height, layer.kernel_height, layer.stride_height),
        (layer.width, layer.kernel_width, layer.stride_width),
    ):
        if stride < 1 or not 1 <= kernel <= size or layer.channels < 1 or layer.filters < 1:
            raise BadArgument(f"{layer}: sizes and strides must be 1 or more, the kernel not larger than the input")
        room = size - kernel + stride
        positions *= room // stride if rounding == "floor" else -(-room // stride)
    taps = layer.kernel_height * layer.kernel_width
    return Product(1, positions, taps * layer.channels, layer.filters, taps)
