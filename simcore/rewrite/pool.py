"""Pooling by convolution, and Resize by repetition, constant matrices or transposed convolution."""

import math
from typing import Any, Final

import numpy as np

from simcore.graph import Tensor
from simcore.ops.convolution import conv
from simcore.ops.pool import average_pool
from simcore.ops.resize import resize
from simcore.ops.windows import Window, window
from simcore.rewrite.rule import EXACT, ROUNDING, Declined, Inapplicable, Rule, Site

__all__ = ["RULES"]

_GEOMETRY: Final = ("auto_pad", "pads", "strides", "dilations", "ceil_mode", "count_include_pad")


def _geometry(site: Site) -> dict[str, Any]:
    return {name: site.node.attributes[name] for name in _GEOMETRY if name in site.node.attributes}


def _window(site: Site, spatial: tuple[int, ...]) -> Window:
    geometry = _geometry(site)
    geometry.pop("count_include_pad", None)
    return window(site.node.op_type, spatial, site.attribute("kernel_shape", ()), **geometry)


def _is_plain(site: Site) -> bool:
    """Return whether every window lies wholly inside the input whatever its sizes."""
    return (
        not any(site.attribute("pads", ()))
        and not site.attribute("ceil_mode", 0)
        and site.attribute("auto_pad", "NOTSET") in ("NOTSET", "VALID")
    )


def _pool_whole(site: Site) -> str:
    x = site.input(0)
    kernel = tuple(site.attribute("kernel_shape", ()))
    if not _is_plain(site) or site.shape(x)[2:] != kernel or any(d != 1 for d in site.attribute("dilations", ())):
        raise Inapplicable("the window is not the whole input")
    if site.node.op_type == "AveragePool" and "GlobalAveragePool" not in site.operators:
        return site.reduce("ReduceMean", x, tuple(range(2, site.rank(x))))
    return site.op(f"Global{site.node.op_type}", x)


def _pool_conv(site: Site) -> str:
    """Return the sum over windows as a depthwise convolution, times one over the count.

    Where every window counts the same, that factor is in the weights; else it is a constant map over positions.
    """
    x = site.input(0)
    dtype, rank, channels = site.floating(x), site.rank(x), site.size(x, 1)
    kernel = tuple(int(size) for size in site.attribute("kernel_shape", ()))
    if rank != len(kernel) + 2:
        raise Declined(f"a kernel of {len(kernel)} axes does not fit an input of {rank}")
    strides = tuple(site.attribute("strides", (1,) * len(kernel)))
    dilations = tuple(site.attribute("dilations", (1,) * len(kernel)))
    factor: Tensor = np.asarray(1 / math.prod(kernel))
    pads = (0,) * 2 * len(kernel)
    if not _is_plain(site):
        spatial = site.shape(x)[2:]
        win = _window(site, spatial)
        pads = _exact_pads(win, spatial)
        ones, taps = np.ones((1, 1, *spatial)), np.ones((1, 1, *kernel))
        inside = np.asarray(conv(ones, taps, None, strides=strides, dilations=dilations, pads=pads))
        mean = average_pool(ones, kernel_shape=kernel, **_geometry(site))
        factor = np.divide(mean, inside, out=np.zeros_like(mean), where=inside > 0)
    is_uniform = bool(np.all(factor == factor.flat[0]) if factor.ndim else True)
    weight = np.full((channels, 1, *kernel), factor.flat[0] if is_uniform else 1.0)
    y = site.op(
        "Conv",
        x,
        site.const(weight, dtype, "window"),
        group=channels,
        kernel_shape=kernel,
        strides=strides,
        dilations=dilations,
        pads=pads,
    )
    return y if is_uniform else site.mul(y, site.const(factor, dtype, "one_over_count"))


def _lp_pool(site: Site) -> str:
    """Return the p-th root of the sum of |x|^p over windows, the sum a depthwise convolution with ones."""
    x, p = site.input(0), site.attribute("p", 2)
    dtype, channels = site.floating(x), site.size(x, 1)
    kernel = tuple(int(size) for size in site.attribute("kernel_shape", ()))
    spatial = None if _is_plain(site) else site.shape(x)[2:]
    pads = (0,) * 2 * len(kernel) if spatial is None else _exact_pads(_window(site, spatial), spatial)
    powers = site.mul(x, x) if p == 2 else site.op("Abs", x) if p == 1 else site.pow(site.op("Abs", x), p)
    total = site.op(
        "Conv",
        powers,
        site.const(np.ones((channels, 1, *kernel)), dtype, "window"),
        group=channels,
        kernel_shape=kernel,
        strides=tuple(site.attribute("strides", (1,) * len(kernel))),
        dilations=tuple(site.attribute("dilations", (1,) * len(kernel))),
        pads=pads,
    )
    return total if p == 1 else site.pow(total, 1 / p)


def _exact_pads(win: Window, spatial: tuple[int, ...]) -> tuple[int, ...]:
    """Return pads with which a convolution has just the windows of the pooling, ceil_mode included."""
    ends = []
    for i, size in enumerate(spatial):
        reach = (win.out[i] - 1) * win.strides[i] + (win.kernel[i] - 1) * win.dilations[i] + 1
        ends.append(max(0, reach - size - win.begin[i]))
    return (*win.begin, *ends)


def _global_average(site: Site) -> str:
    x = site.input(0)
    return site.reduce("ReduceMean", x, tuple(range(2, site.rank(x))))


def _global_max(site: Site) -> str:
    x = site.input(0)
    return site.reduce("ReduceMax", x, tuple(range(2, site.rank(x))))


def _global_lp(site: Site) -> str:
    x, p = site.input(0), site.attribute("p", 2)
    site.floating(x)
    axes = tuple(range(2, site.rank(x)))
    if p == 2:
        return site.reduce("ReduceL2", x, axes)
    powers = site.op("Abs", x) if p == 1 else site.pow(site.op("Abs", x), p)
    total = site.reduce("ReduceSum", powers, axes)
    return total if p == 1 else site.pow(total, 1 / p)


# Resize. Each axis is on its own: the operator is linear, so what it does to one axis is a constant matrix.


def _scales(site: Site) -> tuple[float | None, ...]:
    """Return the scale by axis; None where only the output size tells it."""
    x = site.input(0)
    rank = site.rank(x)
    if site.attribute("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        raise Declined("tf_crop_and_resize reads a region; cut it out before the model")
    if site.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise Declined("keep_aspect_ratio_policy other than stretch; write the sizes out")
    axes = [axis % rank for axis in site.attribute("axes", tuple(range(rank)))]
    scales: list[float | None] = [1.0] * rank
    given = site.constant(site.input(2), "scales") if site.input(2) else np.empty(0)
    for i, axis in enumerate(axes):
        if given.size:
            scales[axis] = float(given.reshape(-1)[i])
        else:
            sizes = site.constant(site.input(3), "sizes").reshape(-1)
            scales[axis] = None if sizes[i] != site.size(x, axis) else 1.0
    return tuple(scales)


def _along(site: Site, data: Tensor, axis: int, scale: float | None) -> Tensor:
    """Return `data` resized along its first axis as the node resizes `axis`."""
    names = ("mode", "coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", "antialias")
    how: dict[str, Any] = {name: site.node.attributes[name] for name in names if name in site.node.attributes}
    rest = data.ndim - 1
    if scale is not None:
        return np.asarray(resize(data, None, np.array([scale] + [1] * rest, np.float32), **how))
    axes = [a % site.rank(site.input(0)) for a in site.attribute("axes", range(site.rank(site.input(0))))]
    size = int(site.constant(site.input(3), "sizes").reshape(-1)[axes.index(axis)])
    return np.asarray(resize(data, None, None, np.array([size, *data.shape[1:]], np.int64), **how))


def _check_mode(site: Site, *modes: str) -> None:
    mode = site.attribute("mode", "nearest")
    if mode not in modes:
        raise Inapplicable(f"mode {mode} is not {' or '.join(modes)}")


def _factor(site: Site, axis: int, scale: float | None) -> int:
    """Return by how much nearest repeats each element of an axis; it has to do just that."""
    size = site.sizes(site.input(0))[axis]
    sample = np.arange(size or 7, dtype=np.float64)
    places = _along(site, sample, axis, scale)
    factor = len(places) // len(sample) if len(sample) else 0
    # Without sizes the pattern of one axis stands for all: with a whole factor it repeats.
    if not factor or (size is None and scale != factor) or not np.array_equal(places, np.repeat(sample, factor)):
        raise Declined(f"axis {axis} is not repeated a whole number of times")
    return factor


def _resize_tile(site: Site) -> str:
    """Return the input with each axis repeated, from the last: as [rest, 1, inner], tiled along the middle."""
    x = site.input(0)
    _check_mode(site, "nearest")
    sizes = list(site.sizes(x))
    y, inner = x, 1
    scales = _scales(site)
    for axis in reversed(range(len(sizes))):
        factor = 1 if scales[axis] == 1 else _factor(site, axis, scales[axis])
        size = sizes[axis]
        if factor > 1:
            rows = site.reshape(y, -1, 1, inner)
            y = site.op("Tile", rows, site.ints(1, factor, 1))
            sizes[axis] = None if size is None else size * factor
        if size is None and any(scale != 1 for scale in scales[:axis]):
            raise Declined("sizes behind a repeated axis are open; give the shapes of the inputs")
        inner *= (size or 1) * factor
    if sum(size is None for size in sizes) > 1:
        raise Declined("more than one size is open; give the shapes of the inputs")
    return site.reshape(y, *(-1 if size is None else size for size in sizes)) if y != x else y


def _spatial_scales(site: Site) -> list[float]:
    scales = _scales(site)
    if len(scales) < 3 or scales[0] != 1 or scales[1] != 1 or None in scales:
        raise Declined("needs scales, and those of batch and channels to be 1")
    return [float(scale or 1) for scale in scales[2:]]


def _resize_conv(site: Site) -> str:
    """Return nearest by a transposed convolution with ones, kernel and stride the factor; any spatial sizes."""
    x = site.input(0)
    _check_mode(site, "nearest")
    dtype, channels = site.floating(x), site.size(x, 1)
    factors = tuple(_factor(site, i + 2, scale) for i, scale in enumerate(_spatial_scales(site)))
    weight = site.const(np.ones((channels, 1, *factors)), dtype, "ones")
    return site.op("ConvTranspose", x, weight, group=channels, kernel_shape=factors, strides=factors)


def _resize_gather(site: Site) -> str:
    x = site.input(0)
    _check_mode(site, "nearest")
    for axis, scale in enumerate(_scales(site)):
        size = site.size(site.input(0), axis) if scale != 1 else 0
        if size:
            places = _along(site, np.arange(size, dtype=np.float64), axis, scale).astype(np.int64)
            if not np.array_equal(places, np.arange(size)):
                x = site.op("Gather", x, site.const(places, hint="places"), axis=axis)
    return x


def _resize_matmul(site: Site) -> str:
    """Return linear or cubic resizing: a product with a constant matrix for each axis, that axis brought last."""
    x = site.input(0)
    _check_mode(site, "linear", "cubic")
    dtype, rank = site.floating(x), site.rank(x)
    for axis, scale in enumerate(_scales(site)):
        if scale == 1:
            continue
        matrix = _along(site, np.eye(site.size(site.input(0), axis)), axis, scale).T
        swapped = [*range(rank)]
        swapped[axis], swapped[-1] = swapped[-1], swapped[axis]
        product = site.op("MatMul", site.transpose(x, *swapped), site.const(matrix, dtype, "weights"))
        x = site.transpose(product, *swapped)
    return x


def _resize_linear_conv(site: Site) -> str:
    """Return linear growth by whole factors: edges repeated once, then a transposed convolution with triangles.

    half_pixel of factor s: kernel 2 s - s % 2; asymmetric: kernel 2 s - 1, the tip on the sample itself.
    """
    x = site.input(0)
    _check_mode(site, "linear")
    dtype, rank, channels = site.floating(x), site.rank(x), site.size(x, 1)
    mode = site.attribute("coordinate_transformation_mode", "half_pixel")
    if mode not in ("half_pixel", "pytorch_half_pixel", "asymmetric") or site.attribute("antialias", 0):
        raise Declined(f"the pattern of {mode} depends on the sizes; give the shapes of the inputs")
    factors = [int(scale) for scale in _spatial_scales(site)]
    if any(factor < 1 or factor != scale for factor, scale in zip(factors, _spatial_scales(site), strict=True)):
        raise Declined("the factors are not whole")
    if mode == "pytorch_half_pixel" and any(size == 1 for size in site.sizes(x)[2:]):
        raise Declined("pytorch_half_pixel of a size of 1")
    weight, begins, ends = np.ones((1,)), [], []
    for factor in factors:
        odd = 2 * factor - 1 if mode == "asymmetric" else 2 * factor - factor % 2
        triangle = 1 - np.abs(np.arange(odd) - (odd - 1) / 2) / factor
        weight = np.multiply.outer(weight, triangle)
        begins.append(2 * factor - 1 if mode == "asymmetric" else factor + (odd - factor) // 2)
        ends.append(factor if mode == "asymmetric" else factor + (odd - factor) // 2)
    edges = site.ints(0, 0, *(1,) * (rank - 2), 0, 0, *(1,) * (rank - 2))
    taps = site.const(np.repeat(weight[None], channels, 0), dtype, "triangles")
    return site.op(
        "ConvTranspose",
        site.op("Pad", x, edges, mode="edge"),
        taps,
        group=channels,
        kernel_shape=weight.shape[1:],
        strides=tuple(factors),
        pads=(*begins, *ends),
    )


RULES: Final = (
    Rule(
        ("AveragePool", "MaxPool"),
        "whole",
        "GlobalAveragePool, GlobalMaxPool or ReduceMean",
        "the window is the whole input, no padding",
        ROUNDING,
        "definition",
        _pool_whole,
    ),
    Rule(
        ("AveragePool",),
        "conv",
        "depthwise Conv with constant weights 1/count; times a constant map where counts differ",
        "floats; known channels; with padding or ceil_mode known sizes",
        ROUNDING,
        "a mean is a sum with equal weights",
        _pool_conv,
    ),
    Rule(
        ("LpPool",),
        "conv",
        "Pow(Conv(|x|^p, ones), 1/p), depthwise",
        "floats; known channels; with padding or ceil_mode known sizes",
        ROUNDING,
        "definition",
        _lp_pool,
    ),
    Rule(("GlobalAveragePool",), "mean", "ReduceMean", "known rank", ROUNDING, "definition", _global_average),
    Rule(("GlobalMaxPool",), "max", "ReduceMax", "known rank", EXACT, "definition", _global_max),
    Rule(("GlobalLpPool",), "power", "ReduceL2, or sums of powers", "known rank", ROUNDING, "definition", _global_lp),
    Rule(
        ("Resize",),
        "tile",
        "nearest: Reshape [rest, 1, inner], Tile the middle, for each axis; Reshape",
        "nearest with whole factors; sizes behind the first repeated axis known",
        EXACT,
        "each element is repeated",
        _resize_tile,
    ),
    Rule(
        ("Resize",),
        "conv",
        "nearest: depthwise ConvTranspose with ones, kernel = stride = factor",
        "nearest with whole factors of spatial axes; floats; known channels",
        f"{EXACT} in float32; on codes as exact as the quantization of its input",
        "each output has one product, x * 1",
        _resize_conv,
    ),
    Rule(
        ("Resize",),
        "gather",
        "nearest: Gather with constant places for each axis",
        "nearest; known sizes",
        EXACT,
        "each output is one input element",
        _resize_gather,
    ),
    Rule(
        ("Resize",),
        "matmul",
        "linear, cubic: MatMul with a constant matrix for each axis",
        "linear or cubic; floats; known sizes",
        ROUNDING,
        "each axis is a linear map",
        _resize_matmul,
    ),
    Rule(
        ("Resize",),
        "linear conv",
        "Pad by the edge, depthwise ConvTranspose with triangles",
        "linear, whole factors, half_pixel or asymmetric; floats; known channels",
        ROUNDING,
        "linear interpolation is a sum of shifted triangles",
        _resize_linear_conv,
    ),
)
