"""Operators that move data: by Reshape, Transpose, Tile, Slice; running sums by a triangular matrix."""

import math
from typing import Final

import numpy as np

from simcore.element_types import number_of
from simcore.rewrite.rule import EXACT, ROUNDING, Declined, Inapplicable, Rule, Site

__all__ = ["RULES"]


def _flatten(site: Site) -> str:
    x, axis = site.input(0), site.attribute("axis", 1)
    if axis == 1:
        return site.reshape(x, 0, -1)
    if axis == 0:
        return site.reshape(x, 1, -1)
    sizes = site.sizes(x)
    if not -len(sizes) <= axis <= len(sizes):
        raise Declined(f"axis {axis} is outside an input of {len(sizes)} axes")
    axis += len(sizes) if axis < 0 else 0
    outer, inner = sizes[:axis], sizes[axis:]
    if None not in outer:
        return site.reshape(x, _times(*outer), -1)
    if None not in inner:
        return site.reshape(x, -1, _times(*inner))
    raise Declined("sizes on both sides of the axis are open; give the shapes of the inputs")


def _expand_tile(site: Site) -> str:
    x = site.input(0)
    target = tuple(int(size) for size in site.constant(site.input(1), "shape").reshape(-1))
    shape = site.shape(x)
    rank = max(len(shape), len(target))
    shape, target = (1,) * (rank - len(shape)) + shape, (1,) * (rank - len(target)) + target
    if rank > site.rank(x):
        x = site.reshape(x, *shape)
    repeats = [want if have == 1 else 1 for have, want in zip(shape, target, strict=True)]
    return x if all(count == 1 for count in repeats) else site.op("Tile", x, site.ints(*repeats))


def _expand_multiply(site: Site) -> str:
    """Return x * 1 over the shape (for booleans x and True), whatever the sizes."""
    x, shape = site.node.inputs
    dtype = site.dtype(x)
    if dtype.kind not in "iufb":
        raise Declined(f"elements of {dtype.name} cannot be multiplied")
    ones = site.op("ConstantOfShape", shape, value=np.ones(1, dtype))
    return site.op("And" if dtype.kind == "b" else "Mul", x, ones)


def _blocks(site: Site) -> tuple[int, int, int | None, int | None]:
    """Return block size, channels and both spatial sizes, of which one at most is open."""
    x, block = site.input(0), int(site.attribute("blocksize", 1))
    sizes = site.sizes(x)
    if len(sizes) != 4 or sizes[1] is None or sizes[2:] == (None, None):
        raise Declined("more than one of channels and spatial sizes is open; give the shapes of the inputs")
    _check_block(block)
    return block, sizes[1], sizes[2], sizes[3]


def _check_block(block: int) -> None:
    if block < 1:
        raise Declined(f"blocksize is {block}; it has to be positive")


def _times(*sizes: int | None) -> int:
    """Return the product of sizes for a Reshape, -1 where one is open."""
    return -1 if None in sizes else math.prod(size or 0 for size in sizes)


def _is_dcr(site: Site) -> bool:
    return bool(site.attribute("mode", "DCR") == "DCR")


def _depth_to_space(site: Site) -> str:
    if site.max_rank is not None and site.max_rank < 6:
        raise Inapplicable(f"six axes are needed, the device takes {site.max_rank}")
    x, (b, channels, height, width) = site.input(0), _blocks(site)
    rest = channels // (b * b)
    order = (0, 3, 4, 1, 5, 2) if _is_dcr(site) else (0, 1, 4, 2, 5, 3)
    parts = (b, b, rest) if _is_dcr(site) else (rest, b, b)
    y = site.transpose(site.reshape(x, 0, *parts, _times(height), _times(width)), *order)
    return site.reshape(y, 0, rest, _times(height, b), _times(width, b))


def _depth_to_space_4(site: Site) -> str:
    """Return the same in two steps of four axes at most: one block axis behind the width, then one behind the height.

    DCR: [N, b1, b2, C, H, W] -> [N, b1, C, H, W, b2] -> [N, C, H, b1, W, b2]; CRD has C before the blocks.
    """
    x, (b, channels, height, width) = site.input(0), _blocks(site)
    batch = site.sizes(x)[0]
    if height is None or width is None:
        raise Declined("a spatial size is open; give the shapes of the inputs")
    rest = channels // (b * b)
    behind = (rest if _is_dcr(site) else 1) * height
    before = None if batch is None else batch * (1 if _is_dcr(site) else rest)
    y = site.transpose(site.reshape(x, -1, b, behind * width), 0, 2, 1)
    first = -1 if before is None else before
    y = site.transpose(site.reshape(y, first, b, behind, width * b), 0, 2, 1, 3)
    return site.reshape(y, -1 if batch is None else batch, rest, height * b, width * b)


def _depth_to_space_conv(site: Site) -> str:
    """Return the same by a transposed convolution whose weights are 1 where a channel goes, 0 elsewhere."""
    x, b = site.input(0), int(site.attribute("blocksize", 1))
    _check_block(b)
    dtype, channels = site.floating(x), site.size(x, 1)
    rest = channels // (b * b)
    c = np.arange(channels)
    block, out = (c // rest, c % rest) if _is_dcr(site) else (c % (b * b), c // (b * b))
    weight = np.zeros((channels, rest, b, b))
    weight[c, out, block // b, block % b] = 1
    return site.op("ConvTranspose", x, site.const(weight, dtype, "places"), kernel_shape=(b, b), strides=(b, b))


def _space_to_depth(site: Site) -> str:
    x, (b, channels, height, width) = site.input(0), _blocks(site)
    high, wide = (None if size is None else size // b for size in (height, width))
    y = site.reshape(x, 0, channels, _times(high), b, _times(wide), b)
    return site.reshape(site.transpose(y, 0, 3, 5, 1, 2, 4), 0, channels * b * b, _times(high), _times(wide))


def _cumsum(site: Site) -> str:
    """Return x times a triangle of ones, the axis brought last."""
    x = site.input(0)
    dtype, rank = site.floating(x), site.rank(x)
    axis = int(site.constant(site.input(1), "axis").reshape(-1)[0]) % rank
    size = site.size(x, axis)
    i = np.arange(size)
    earlier, later = (i[None], i[:, None]) if site.attribute("reverse", 0) else (i[:, None], i[None])
    triangle = earlier < later if site.attribute("exclusive", 0) else earlier <= later
    order = [*range(rank)]
    order[axis], order[-1] = order[-1], order[axis]
    product = site.op("MatMul", site.transpose(x, *order), site.const(triangle, dtype, "triangle"))
    return site.transpose(product, *order)


def _size(site: Site) -> str:
    return site.op("ReduceProd", site.op("Shape", site.input(0)), keepdims=0)


def _trilu(site: Site) -> str:
    x = site.input(0)
    rows, columns = site.size(x, -2), site.size(x, -1)
    k = int(site.constant(site.input(1), "k").reshape(-1)[0]) if site.input(1) else 0
    ones = np.ones((rows, columns), bool)
    kept = np.triu(ones, k) if site.attribute("upper", 1) else np.tril(ones, k)
    return site.op("Where", site.const(kept, hint="triangle"), x, site.number(0))


def _one_hot(site: Site) -> str:
    """Return values[1] where the index, counted from either end, is the position, else values[0]."""
    indices, depth, values = site.node.inputs
    dtype = site.dtype(indices)
    count = int(site.constant(depth, "depth").reshape(-1)[0])
    rank = site.rank(indices) + 1
    axis = site.attribute("axis", -1) % rank
    shape = (count, *(1,) * (rank - 1 - axis))
    places = np.arange(count, dtype=np.int64).reshape(shape)
    if dtype.kind == "f":
        raise Declined("indices are floats; make them int64")
    index = site.unsqueeze(site.cast(indices, number_of(np.dtype(np.int64))), axis)
    found = site.op(
        "Or",
        site.op("Equal", index, site.const(places, hint="places")),
        site.op("Equal", index, site.const(places - count, hint="places")),
    )
    off, on = (site.op("Gather", values, site.const(i, np.int64, "index"), axis=0) for i in (0, 1))
    return site.op("Where", found, on, off)


RULES: Final = (
    Rule(("Flatten",), "reshape", "Reshape", "axis 0 or 1, or sizes on one side known", EXACT, "same order", _flatten),
    Rule(
        ("Expand",),
        "tile",
        "Reshape to the rank, Tile",
        "known shape and sizes",
        EXACT,
        "axes of size 1 are repeated",
        _expand_tile,
    ),
    Rule(
        ("Expand",),
        "multiply",
        "x * ConstantOfShape(shape, 1); And for booleans",
        "numbers or booleans",
        EXACT,
        "x * 1 = x, broadcast",
        _expand_multiply,
    ),
    Rule(
        ("DepthToSpace",),
        "reshape",
        "Reshape, Transpose, Reshape with six axes",
        "the device takes six axes; known channels, one spatial size open at most",
        EXACT,
        "definition in the specification",
        _depth_to_space,
    ),
    Rule(
        ("DepthToSpace",),
        "two steps",
        "Reshape and Transpose twice, four axes at most",
        "known channels and spatial sizes",
        EXACT,
        "one block axis at a time",
        _depth_to_space_4,
    ),
    Rule(
        ("DepthToSpace",),
        "conv",
        "ConvTranspose with weights 0 and 1, kernel = stride = block",
        "floats; known channels",
        f"{EXACT} in float32; on codes as exact as the quantization of its input",
        "each output has one product, x * 1",
        _depth_to_space_conv,
    ),
    Rule(
        ("SpaceToDepth",),
        "reshape",
        "Reshape, Transpose, Reshape with six axes",
        "known channels, one spatial size open at most",
        EXACT,
        "definition in the specification",
        _space_to_depth,
    ),
    Rule(
        ("CumSum",),
        "matmul",
        "MatMul with a triangle of ones, the axis last",
        "floats; known size of the axis",
        ROUNDING,
        "a running sum is a linear map",
        _cumsum,
    ),
    Rule(("Size",), "product", "ReduceProd(Shape(x))", "any", EXACT, "definition", _size),
    Rule(("Trilu",), "where", "Where(constant mask, x, 0)", "known last two sizes", EXACT, "definition", _trilu),
    Rule(
        ("OneHot",),
        "equal",
        "Where(index = position, on, off)",
        "constant depth, integer indices, known rank",
        EXACT,
        "definition",
        _one_hot,
    ),
)
