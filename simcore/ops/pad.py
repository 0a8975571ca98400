"""Borders around a tensor."""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument
from simcore.graph import Tensor
from simcore.ops.size import checked_shape

__all__ = ["pad", "pad_2"]

#: Modes that repeat what is there.
_MODES: Final = ("reflect", "edge", "wrap")


def pad(
    data: Tensor,
    pads: Tensor,
    constant_value: Tensor | None = None,
    axes: Tensor | None = None,
    *,
    mode: str = "constant",
) -> Tensor:
    """Return data with `pads` entries added before and after each axis; a negative number cuts entries off.

    Args:
        data: any shape.
        pads: int64 [2 n]: begins of the n axes, then their ends.
        constant_value: one element, the border in mode constant; 0 by default.
        axes: int [n]; all axes by default.
        mode: constant; reflect (mirror without repeating the edge); edge (repeat it); wrap (periodic).

    Raises:
        BadArgument: unknown mode, wrong number of pads, or more to cut than there is.

    Source: ONNX operator Pad, versions 11 to 25.
    """
    fill = None if constant_value is None or not constant_value.size else constant_value.reshape(())
    numbers = pads.tolist()
    if axes is not None:
        chosen, each = axes.tolist(), len(numbers) // 2
        if len(numbers) != 2 * len(chosen) or any(not -data.ndim <= axis < data.ndim for axis in chosen):
            raise BadArgument(f"{len(numbers)} pads for axes {chosen} of a tensor of rank {data.ndim}")
        spread = [0] * (2 * data.ndim)
        for i, axis in enumerate(chosen):
            spread[axis % data.ndim] = numbers[i]
            spread[axis % data.ndim + data.ndim] = numbers[i + each]
        numbers = spread
    return _padded(data, numbers, fill, mode)


def pad_2(data: Tensor, *, pads: tuple[int, ...], mode: str = "constant", value: float = 0.0) -> Tensor:
    """Return `pad` with its arguments as attributes (versions 2 to 10)."""
    return _padded(data, list(pads), np.asarray(value, data.dtype), mode)


def _padded(x: Tensor, pads: list[int], fill: Tensor | None, mode: str) -> Tensor:
    if mode != "constant" and mode not in _MODES:
        raise BadArgument(f"mode {mode!r} is not known; use constant, {', '.join(_MODES)}")
    where, added, inner = _geometry(x.shape, tuple(pads))
    kept = x[where]
    target = checked_shape((n + before + after for n, (before, after) in zip(kept.shape, added, strict=True)), x.dtype)
    if mode != "constant":
        if not kept.size and target != kept.shape:
            raise BadArgument(f"mode {mode} has nothing to repeat in shape {list(kept.shape)}")
        for axis, (before, after) in enumerate(added):
            if before or after:
                kept = kept.take(_sources(kept.shape[axis], before, after, mode), axis)
        return kept
    y = np.zeros(target, x.dtype) if fill is None else np.full(target, fill, x.dtype)
    y[inner] = kept
    return y


@lru_cache(maxsize=256)
def _geometry(
    shape: tuple[int, ...], pads: tuple[int, ...]
) -> tuple[tuple[slice, ...], tuple[tuple[int, int], ...], tuple[slice, ...]]:
    """Return what is kept of a tensor, what is added before and after each axis, and where in the result it lies."""
    rank = len(shape)
    if len(pads) != 2 * rank:
        raise BadArgument(f"{len(pads)} pads for a tensor of rank {rank}; two per axis are needed")
    widths = list(zip(pads[:rank], pads[rank:], strict=True))
    if any(n + min(before, 0) + min(after, 0) < 0 for n, (before, after) in zip(shape, widths, strict=True)):
        raise BadArgument(f"pads {list(pads)} cut more than shape {list(shape)} has")
    kept = tuple(slice(max(-before, 0), n - max(-after, 0)) for n, (before, after) in zip(shape, widths, strict=True))
    added = tuple((max(before, 0), max(after, 0)) for before, after in widths)
    inner = tuple(slice(b, b + k.stop - k.start) for k, (b, _) in zip(kept, added, strict=True))
    return kept, added, inner


@lru_cache(maxsize=256)
def _sources(size: int, before: int, after: int, mode: str) -> NDArray[np.int64]:
    """Return which entry of an axis of `size` stands at each place of the padded axis, read-only."""
    places = np.arange(-before, size + after)
    if mode == "edge":
        sources = np.clip(places, 0, size - 1)
    elif mode == "wrap":
        sources = places % size
    else:
        # There and back again without repeating the ends: a period of 2 (size - 1).
        sources = places % max(2 * (size - 1), 1)
        sources = np.minimum(sources, 2 * (size - 1) - sources)
    sources.setflags(write=False)
    return sources
