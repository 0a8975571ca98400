"""Resize and Upsample: each axis on its own, as a weighted sum of a few taps per output position.

sizes or scales -> output shape and scale per axis -> input coordinate of each output position (float32, as ONNX
Runtime computes it) -> taps and weights -> one gather per tap and axis
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument
from simcore.graph import Tensor
from simcore.ops.size import checked_shape

__all__ = ["resize", "resize_10", "upsample", "upsample_7"]

Mode = Literal["nearest", "linear", "cubic"]
Coordinate = Literal[
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
]
#: simple is the rule before version 11: up when shrinking, down when growing.
Nearest = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"]

_POLICIES: Final = ("stretch", "not_larger", "not_smaller")


@dataclass(frozen=True, slots=True)
class _Axis:
    """How one axis is resized."""

    axis: int
    size: int
    out: int
    scale: np.float32
    #: Region of interest in units of the axis, for tf_crop_and_resize.
    start: float = 0.0
    end: float = 1.0


@dataclass(frozen=True, slots=True)
class _How:
    """The attributes that say how values between the samples are found."""

    mode: Mode
    coordinate: Coordinate
    nearest: Nearest
    cubic_coeff_a: float
    exclude_outside: bool
    antialias: bool


def resize(
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    antialias: int = 0,
    axes: tuple[int, ...] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
) -> Tensor:
    """Return x resampled to `floor(size * scale)` or to `sizes` along `axes` (all by default).

    Coordinates are float32. Linear and cubic compute in float32 (float64 for float64) and are converted back: integers
    by dropping the fraction, clamped to their range. Outside the input the edge repeats; in tf_crop_and_resize
    `extrapolation_value` stands there.

    Args:
        x: any shape, numbers.
        roi: [2 n] starts, then ends, as fractions of the axes; for tf_crop_and_resize.
        scales: float32 [n], output size over input size; exactly one of scales and sizes.
        sizes: int64 [n].
        mode: nearest, linear or cubic.
        coordinate_transformation_mode: how an output position becomes an input coordinate, see `_coordinates`.
        nearest_mode: how nearest rounds a coordinate.
        cubic_coeff_a: the cubic's parameter (-0.75 PyTorch, -0.5 TensorFlow).
        exclude_outside: 1: taps outside the input get weight 0 and the others are scaled up.
        extrapolation_value: value outside the input, for tf_crop_and_resize.
        antialias: 1: when shrinking, the filter is widened by 1 / scale.
        axes: the axes that roi, scales and sizes speak of.
        keep_aspect_ratio_policy: stretch; not_larger, not_smaller: one scale for all axes, so that no output is larger
            (smaller) than `sizes`.

    Raises:
        BadArgument: an unknown mode, numbers that do not fit the axes, scales not positive.

    Source: ONNX operator Resize, versions 11 to 19; as ONNX Runtime where the text leaves a choice.
    """
    how = _how(mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, exclude_outside, antialias)
    chosen = tuple(range(x.ndim)) if axes is None else tuple(axis % x.ndim for axis in axes)
    has_scales, has_sizes = scales is not None and scales.size > 0, sizes is not None and sizes.size > 0
    if has_scales == has_sizes:
        raise BadArgument("exactly one of scales and sizes must be given")
    region = [0.0] * len(chosen) + [1.0] * len(chosen)
    if how.coordinate == "tf_crop_and_resize":
        if roi is None or roi.size != len(region):
            raise BadArgument("tf_crop_and_resize needs roi, a start and an end per axis")
        region = roi.astype(np.float64).tolist()
    inner = [x.shape[axis] for axis in chosen]
    if has_scales:
        factors = np.asarray(scales, np.float32).tolist()
        # With a region, only that part of the input is spread over the output.
        spans = [e - s if how.coordinate == "tf_crop_and_resize" else 1.0 for s, e in _halves(region)]
        _check_count(len(factors), chosen)
        outs = [_floor_size(size, factor, span) for size, factor, span in zip(inner, factors, spans, strict=True)]
    else:
        outs = np.asarray(sizes).tolist()
        _check_count(len(outs), chosen)
        outs, factors = _fitted(inner, outs, keep_aspect_ratio_policy)
    plan = [
        _Axis(axis, size, out, np.float32(factor), start, end)
        for axis, size, out, factor, (start, end) in zip(chosen, inner, outs, factors, _halves(region), strict=True)
    ]
    return _resampled(x, plan, how, extrapolation_value)


def resize_10(x: Tensor, scales: Tensor, *, mode: str = "nearest") -> Tensor:
    """Return x resampled by `scales` [rank] with coordinate `position / scale` (version 10; Upsample 9)."""
    return _scaled(x, scales.astype(np.float32).tolist(), mode)


def upsample(x: Tensor, scales: Tensor, *, mode: str = "nearest") -> Tensor:
    """Return `resize_10` (version 9)."""
    return _scaled(x, scales.astype(np.float32).tolist(), mode)


def upsample_7(x: Tensor, *, scales: tuple[float, ...], mode: str = "nearest") -> Tensor:
    """Return `resize_10` with the scales as an attribute (version 7)."""
    return _scaled(x, list(scales), mode)


def _scaled(x: Tensor, scales: list[float], mode: str) -> Tensor:
    how = _how("linear" if mode == "bilinear" else mode, "asymmetric", "simple", -0.75, 0, 0)
    _check_count(len(scales), tuple(range(x.ndim)))
    plan = [
        _Axis(axis, size, _floor_size(size, scale, 1.0), np.float32(scale))
        for axis, (size, scale) in enumerate(zip(x.shape, scales, strict=True))
    ]
    return _resampled(x, plan, how, 0.0)


def _how(mode: str, coordinate: str, nearest: str, a: float, exclude_outside: int, antialias: int) -> _How:
    for value, known in ((mode, Mode), (coordinate, Coordinate), (nearest, Nearest)):
        if value not in get_args(known):
            raise BadArgument(f"{value!r} is not known; use one of {', '.join(get_args(known))}")
    return _How(mode, coordinate, nearest, a, exclude_outside != 0, antialias != 0)  # type: ignore[arg-type]


def _check_count(count: int, axes: Sequence[int]) -> None:
    if count != len(axes) or len(set(axes)) != len(axes):
        raise BadArgument(f"{count} numbers for axes {list(axes)}")


def _halves(region: list[float]) -> list[tuple[float, float]]:
    half = len(region) // 2
    return list(zip(region[:half], region[half:], strict=True))


def _floor_size(size: int, scale: float, span: float) -> int:
    if not (scale > 0 and math.isfinite(scale)):
        raise BadArgument(f"scale {scale} must be a finite number > 0")
    # In float32, as ONNX Runtime: 10 * 2.3 is 23, although the float32 next to 2.3 lies below it.
    return int(np.floor(np.float32(size) * np.float32(span) * np.float32(scale)))


def _fitted(sizes: list[int], wanted: list[int], policy: str) -> tuple[list[int], list[float]]:
    """Return output sizes and scales for the wanted sizes under the policy; halves round up."""
    if policy not in _POLICIES:
        raise BadArgument(f"keep_aspect_ratio_policy {policy!r} is not known; use one of {', '.join(_POLICIES)}")
    if any(size == 0 and want for size, want in zip(sizes, wanted, strict=True)) or min(wanted, default=0) < 0:
        raise BadArgument(f"sizes {wanted} cannot be made from {sizes}")
    scales = [want / size if size else 1.0 for size, want in zip(sizes, wanted, strict=True)]
    if policy == "stretch":
        return wanted, scales
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [math.floor(scale * size + 0.5) for size in sizes], [scale] * len(sizes)


def _resampled(x: Tensor, plan: list[_Axis], how: _How, extrapolation_value: float) -> Tensor:
    target = list(x.shape)
    for one in plan:
        target[one.axis] = one.out
    checked_shape(target, x.dtype)
    if not math.prod(target):
        return np.zeros(target, x.dtype)
    compute = x.dtype if how.mode == "nearest" else np.dtype(np.float64 if x.dtype == np.float64 else np.float32)
    y = x.astype(compute, copy=False)
    outside: list[tuple[int, NDArray[np.bool_]]] = []
    # From the last axis to the first: gathering along a leading axis moves whole rows, so it gets the larger tensor.
    for one in sorted(plan, key=lambda one: -one.axis):
        places = _coordinates(one, how)
        if how.coordinate == "tf_crop_and_resize":
            outside.append((one.axis, (places < 0) | (places > one.size - 1)))
        if one.out == one.size and np.array_equal(places, np.arange(one.size)):
            continue
        if how.mode == "nearest":
            y = np.take(y, _nearest(places, one, how), one.axis)
        else:
            y = _weighted(y, one.axis, *_taps(places, one, how), compute)
    for axis, is_outside in outside:
        if is_outside.any():
            y = y if y.flags.writeable and y is not x else y.copy()
            y[(slice(None),) * axis + (is_outside,)] = extrapolation_value
    if compute == x.dtype:
        return y
    return _converted(y, x.dtype)


def _converted(y: Tensor, dtype: "np.dtype[Any]") -> Tensor:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        y = np.clip(y, limits.min, limits.max)
    return y.astype(dtype)


def _coordinates(one: _Axis, how: _How) -> NDArray[np.float32]:
    """Return the input coordinate of each output position, float32 [out].

    half_pixel             (i + 0.5) / scale - 0.5
    half_pixel_symmetric   the same, shifted so that both borders lose equally when the size was rounded
    pytorch_half_pixel     half_pixel; 0 for an output of one element
    align_corners          i * (size - 1) / (out - 1)
    asymmetric             i / scale
    tf_half_pixel_for_nn   (i + 0.5) / scale
    tf_crop_and_resize     start * (size - 1) + i * (end - start) * (size - 1) / (out - 1)
    """
    i = np.arange(one.out, dtype=np.float32)
    half, scale, last = np.float32(0.5), one.scale, np.float32(one.size - 1)
    kind = how.coordinate
    if kind == "asymmetric" or (scale == 1 and one.out == one.size and kind != "tf_crop_and_resize"):
        return i / scale if scale != 1 else i
    if kind == "align_corners":
        return i * last / np.float32(one.out - 1) if one.out > 1 else np.zeros(1, np.float32)
    if kind == "tf_half_pixel_for_nn":
        return (i + half) / scale
    if kind == "tf_crop_and_resize":
        start, end = np.float32(one.start), np.float32(one.end)
        if one.out > 1:
            return start * last + i * ((end - start) * last / np.float32(one.out - 1))
        return np.array([half * (start + end) * last], np.float32)
    if kind == "pytorch_half_pixel" and one.out == 1:
        return np.zeros(1, np.float32)
    places = (i + half) / scale - half
    if kind == "half_pixel_symmetric":
        kept = np.float32(one.out) / (scale * np.float32(one.size))
        places += np.float32(one.size) / np.float32(2) * (np.float32(1) - kept)
    return places


def _nearest(places: NDArray[np.float32], one: _Axis, how: _How) -> NDArray[np.int64]:
    """Return the index of the sample nearest to each coordinate, int64, within the axis."""
    rule = how.nearest
    if rule == "simple":
        rule = "ceil" if one.scale < 1 else "floor"
    if rule == "round_prefer_floor":
        found: NDArray[np.float32] = np.ceil(places - np.float32(0.5))
    elif rule == "round_prefer_ceil":
        found = np.floor(places + np.float32(0.5))
    else:
        found = np.floor(places) if rule == "floor" else np.ceil(places)
    inside: NDArray[np.int64] = np.clip(found, 0, one.size - 1).astype(np.int64)
    return inside


def _taps(places: NDArray[np.float32], one: _Axis, how: _How) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each output position the samples it is made of and their weights, both [taps, out].

    Weights are float64 and add up to 1 for each position.
    """
    wide = places.astype(np.float64)
    shrink = min(float(one.scale), 1.0) if how.antialias else 1.0
    reach = (1.0 if how.mode == "linear" else 2.0) / shrink
    first = np.floor(wide - reach).astype(np.int64) + 1
    count = 2 * math.ceil(reach)
    taps = first + np.arange(count)[:, None]
    distance = np.abs(taps - wide) * shrink
    weights = np.maximum(1 - distance, 0) if how.mode == "linear" else _cubic(distance, how.cubic_coeff_a)
    if how.exclude_outside:
        weights = np.where((taps < 0) | (taps >= one.size), 0.0, weights)
    if how.exclude_outside or shrink < 1:
        weights = weights / weights.sum(axis=0)
    return np.clip(taps, 0, one.size - 1), weights


def _cubic(d: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    """Return the cubic convolution kernel at distance d >= 0. Source: R. Keys, 1981."""
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _weighted(
    x: Tensor, axis: int, taps: NDArray[np.int64], weights: NDArray[np.float64], compute: "np.dtype[Any]"
) -> Tensor:
    """Return the sum over taps of `weight * sample` along axis, accumulated in `compute`."""
    along = [-1 if i == axis else 1 for i in range(x.ndim)]
    y: Tensor | None = None
    for places, factors in zip(taps, weights, strict=True):
        if not factors.any():
            continue
        part = np.take(x, places, axis)
        part *= factors.astype(compute).reshape(along)
        y = part if y is None else np.add(y, part, out=y)
    assert y is not None, "weights of a position add up to 1"
    return y
