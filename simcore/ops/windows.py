"""Sliding windows over spatial axes: pads by attribute or auto_pad, output sizes; shared by convolution and pooling.

Spatial axes only, in order. Source of all formulas: ONNX operator specification (Conv, MaxPool, ConvTranspose).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import EllipsisType

from simcore.errors import BadArgument

__all__ = ["Window", "planewise", "window"]


@dataclass(frozen=True, slots=True)
class Window:
    """A window with every attribute resolved, one entry per spatial axis."""

    #: Window size in taps.
    kernel: tuple[int, ...]
    #: Step between neighbouring outputs.
    strides: tuple[int, ...]
    #: Distance between neighbouring taps.
    dilations: tuple[int, ...]
    #: Padding before the first element.
    begin: tuple[int, ...]
    #: Padding after the last element.
    end: tuple[int, ...]
    #: Number of outputs.
    out: tuple[int, ...]

    @property
    def is_padded(self) -> bool:
        """True if any padding is not 0."""
        return any(self.begin) or any(self.end)

    def valid(self, axis: int, tap: int, size: int) -> tuple[slice, slice]:
        """Return (outputs, inputs) of one axis for which tap lies inside the input of `size` elements.

        Output o reads input `o * stride + tap * dilation - begin`; both slices have the same length, perhaps 0.
        """
        stride, shift = self.strides[axis], tap * self.dilations[axis] - self.begin[axis]
        low = max(0, -(shift // stride))
        high = min(self.out[axis], (size - 1 - shift) // stride + 1)
        if high <= low:
            return slice(0, 0), slice(0, 0)
        first = low * stride + shift
        return slice(low, high), slice(first, first + (high - low - 1) * stride + 1, stride)


def planewise(spans: Iterable[slice]) -> tuple[EllipsisType | slice, ...]:
    """Return the index that applies one slice per spatial axis and leaves the axes before them alone."""
    return (..., *spans)


def window(
    op: str,
    sizes: Sequence[int],
    kernel: Sequence[int],
    *,
    auto_pad: str = "NOTSET",
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
) -> Window:
    """Return the resolved window over spatial `sizes`.

    Formulas: `reach = (kernel - 1) * dilation + 1`; NOTSET `out = (size + begin + end - reach) / stride + 1`, rounded
    down, or up with ceil_mode (unless the last window would start in the end padding); VALID the same without pads;
    SAME_UPPER and SAME_LOWER `out = ceil(size / stride)` with `total = max(0, (out - 1) * stride + reach - size)`
    divided in two halves, the odd element at the end (UPPER) or the beginning (LOWER).

    Args:
        op: Operator name for messages.
        sizes: Spatial sizes of the input.
        kernel: Window size per axis.
        auto_pad: NOTSET, VALID, SAME_UPPER or SAME_LOWER.
        pads: All beginnings, then all ends; only for NOTSET.
        strides: 1 for every axis if None.
        dilations: 1 for every axis if None.
        ceil_mode: Round output sizes up.

    Raises:
        BadArgument: wrong number of entries, entries out of range, unknown auto_pad, or a window larger than the input.
    """
    rank = len(sizes)
    return _resolve(
        op,
        tuple(sizes),
        tuple(kernel),
        auto_pad,
        tuple(pads or (0,) * (2 * rank)),
        tuple(strides or (1,) * rank),
        tuple(dilations or (1,) * rank),
        ceil_mode,
    )


@lru_cache(maxsize=4096)
def _resolve(
    op: str,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    auto_pad: str,
    around: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    ceil_mode: int,
) -> Window:
    """Return what `window` returns; a model asks for the same few windows at every run."""
    rank = len(sizes)
    if not len(kernel) == len(strides) == len(dilations) == rank or len(around) != 2 * rank:
        raise BadArgument(
            f"{op}: kernel {kernel}, strides {strides}, dilations {dilations}, pads {around} do not fit "
            f"{rank} spatial axes; give one entry per axis (pads: two)"
        )
    if min((*kernel, *strides, *dilations), default=1) < 1 or min(around, default=0) < 0:
        raise BadArgument(f"{op}: kernel, strides and dilations must be >= 1 and pads >= 0")
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))
    axes = range(rank)
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        out = tuple(-(-sizes[i] // strides[i]) for i in axes)
        total = [max(0, (out[i] - 1) * strides[i] + reach[i] - sizes[i]) for i in axes]
        small, large = tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)
        begin, end = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
        return Window(kernel, strides, dilations, begin, end, out)
    if auto_pad not in ("NOTSET", "VALID", ""):
        raise BadArgument(f"{op}: auto_pad {auto_pad!r} is not known; use NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    if auto_pad == "VALID":
        around = (0,) * (2 * rank)
    begin, end = around[:rank], around[rank:]
    room = tuple(sizes[i] + begin[i] + end[i] - reach[i] for i in axes)
    if min(room, default=0) < 0:
        raise BadArgument(
            f"{op}: window of {reach} elements does not fit the padded input of "
            f"{tuple(sizes[i] + begin[i] + end[i] for i in axes)}; check kernel_shape, dilations and pads"
        )
    out = tuple(_out(room[i], sizes[i] + begin[i], strides[i], ceil_mode) for i in axes)
    return Window(kernel, strides, dilations, begin, end, out)


def _out(room: int, start_of_end_pad: int, stride: int, ceil_mode: int) -> int:
    if not ceil_mode:
        return room // stride + 1
    out = -(-room // stride) + 1
    return out - 1 if (out - 1) * stride >= start_of_end_pad else out
