"""Checks of bytes: tensors in each layout, images, recurrent layers, units, chains of tensors, padding."""

from collections.abc import Mapping
from math import prod
from typing import Any, Final, Literal, cast

from simcore import sizes
from simcore.device import load_device, number
from simcore.errors import BadArgument
from simcore.layout import c0_of, element_bits, fractal_nz_shape, fractal_z_shape, nc1hwc0_shape

__all__ = [
    "activation_peak",
    "byte_units",
    "channel_padding",
    "head_padding",
    "image",
    "padded_sequence",
    "recurrent",
    "tensor_bytes",
]

LARGEST: Final = 1 << 60
"""Bytes beyond which a size is refused as a mistake."""
MAX_CHAIN: Final = 1000

_MIB: Final = 1 << 20


def tensor_bytes(
    shape: tuple[int, ...],
    dtype: str,
    layout: str,
    batch: int,
    group: int,
    row_align: int,
    align: int,
    surplus: int,
    allocator: str,
) -> Mapping[str, Any]:
    """Return elements and bytes of a tensor: plain, as the layout stores it, and as the allocator takes it."""
    stored = _stored_shape(shape, dtype, layout, batch, group)
    bits = _bits(dtype)
    elements = prod(shape) * batch
    if row_align > 1 and layout not in ("ND", "NCHW", "NHWC"):
        raise BadArgument(f"row_align: rows of {layout} are blocks already; use it with ND, NCHW or NHWC.")
    row = stored[-2:] if layout == "NHWC" else stored[-1:]
    row_bytes = sizes.align_up((prod(row) * bits + 7) // 8, row_align)
    in_rows = row_bytes * (prod(stored) // prod(row))
    stored_bytes = in_rows if row_align > 1 else (prod(stored) * bits + 7) // 8
    if allocator != "none" and (align > 1 or surplus):
        raise BadArgument("allocator: it sets alignment and surplus itself; leave out align and surplus.")
    if allocator != "none":
        device = load_device("nano-035a")
        align = int(number(device, "size_alignment", "byte"))
        surplus = 0 if allocator == "aclrtMallocAlign32" else int(number(device, "size_surplus", "byte"))
    total = sizes.align_up(stored_bytes, align) + surplus
    if total > LARGEST:
        raise BadArgument(f"shape: {total} bytes are more than {LARGEST}; check the sizes.")
    return {
        "elements": elements,
        "bytes": (elements * bits + 7) // 8,
        "stored_shape": list(stored),
        "stored_elements": prod(stored),
        "row_bytes": row_bytes,
        "stored_bytes": stored_bytes,
        "total_bytes": total,
        "mib": total / _MIB,
    }


def image(width: int, height: int, form: str, row_align: int, device: str, batch: int) -> Mapping[str, Any]:
    """Return stride and bytes of an 8-bit image, unpadded and with padded rows."""
    if device != "none":
        if row_align > 1:
            raise BadArgument("row_align: the device sets it; give one of the two.")
        figure = "nv12_stride_h_p" if device in ("j6h", "j6p") else "nv12_stride_b_e_m"
        row_align = int(number(load_device("j6"), figure, "byte"))
    named = cast(sizes.ImageFormat, form)
    plain = sizes.image_bytes(width, height, named)[1]
    stride, padded = sizes.image_bytes(width, height, named, row_align)
    return {
        "plain_bytes": plain * batch,
        "stride": stride,
        "bytes": padded * batch,
        "missing": (padded - plain) * batch,
        "mib": padded * batch / _MIB,
    }


def recurrent(
    kind: str, input_size: int, hidden: int, layers: int, directions: int, bias: str, dtype: str
) -> Mapping[str, Any]:
    """Return weights, biases, bytes and multiply-adds per frame of recurrent layers."""
    found = sizes.recurrent_size(
        cast(sizes.Cell, kind), input_size, hidden, layers, directions, cast(sizes.BiasForm, bias)
    )
    bits = _bits(dtype)
    weight_bytes = (found.weights * bits + 7) // 8
    total = ((found.weights + found.biases) * bits + 7) // 8
    return {
        "weights": found.weights,
        "biases": found.biases,
        "parameters": found.weights + found.biases,
        "weight_bytes": weight_bytes,
        "weight_mib": weight_bytes / _MIB,
        "bytes": total,
        "mib": total / _MIB,
        "macs_per_frame": found.macs_per_frame,
    }


def byte_units(value: float, limit: float | None) -> Mapping[str, Any]:
    """Return bytes in binary and decimal units, and whether they fit a limit."""
    return {
        "kib": value / 1024,
        "mib": value / _MIB,
        "gib": value / (1 << 30),
        "kb": value / 1e3,
        "mb": value / 1e6,
        "gb": value / 1e9,
        "fits": "no_limit" if limit is None else "yes" if value <= limit else "no",
        "times_limit": None if limit is None else value / limit,
        "limit_times": None if limit is None or value == 0 else limit / value,
    }


def activation_peak(shapes: str, dtype: str, limit: float | None) -> Mapping[str, Any]:
    """Return the size of each tensor of a chain, the largest neighbouring pair and the sum."""
    bits = _bits(dtype)
    each = [(prod(shape) * bits + 7) // 8 for shape in _chain(shapes)]
    if sum(each) > LARGEST:
        raise BadArgument(f"shapes: {sum(each)} bytes are more than {LARGEST}; check the sizes.")
    peak, place = sizes.chain_peak(each)
    return {
        "sizes": each,
        "peak_bytes": peak,
        "peak_at": place + 1,
        "sum_bytes": sum(each),
        "largest_bytes": max(each),
        "fits": "no_limit" if limit is None else "yes" if peak <= limit else "no",
    }


def channel_padding(channels: int, align: int) -> Mapping[str, Any]:
    """Return channels padded to the alignment, and the part of the work that is useful."""
    padded = sizes.align_up(channels, align)
    return {"padded": padded, "wasted": padded - channels, "utilisation": channels / padded}


def head_padding(embed: int, heads: int, align: int) -> Mapping[str, Any]:
    """Return the size of an attention head padded to the alignment, and a number of heads that wastes nothing."""
    if embed % heads:
        raise BadArgument(f"heads: {embed} does not divide into {heads} heads; choose a divisor of embed.")
    size = embed // heads
    padded = sizes.align_up(size, align)
    return {
        "head_dim": size,
        "padded": padded,
        "utilisation": size / padded,
        "full_heads": sizes.full_heads(embed, heads, align),
    }


def padded_sequence(frames: int, width: int, allocated: int, dtype: str) -> Mapping[str, Any]:
    """Return bytes of a sequence input as allocated and as needed."""
    if frames > allocated:
        raise BadArgument(f"frames: {frames} are more than the {allocated} allocated, which gives wrong results.")
    bits = _bits(dtype)
    given, needed = ((t * width * bits + 7) // 8 for t in (allocated, frames))
    return {"allocated_bytes": given, "needed_bytes": needed, "ratio": given / needed, "saved_bytes": given - needed}


def _bits(dtype: str) -> int:
    return element_bits("float16" if dtype == "bfloat16" else dtype)


def _stored_shape(shape: tuple[int, ...], dtype: str, layout: str, batch: int, group: int) -> tuple[int, ...]:
    if group > 1 and layout != "FRACTAL_Z":
        raise BadArgument(f"group: only FRACTAL_Z weights have groups, not {layout}.")
    if layout == "ND":
        return shape if batch == 1 else (batch, *shape)
    if layout == "FRACTAL_NZ":
        nz = fractal_nz_shape(shape, _c0(dtype))
        return nz if batch == 1 else (batch, *nz)
    if layout == "FRACTAL_Z":
        if batch > 1:
            raise BadArgument("batch: weights in FRACTAL_Z have none; leave it out.")
        return fractal_z_shape(_four(shape, layout), _c0(dtype), group)
    n, *rest = _four(shape, layout)
    whole = (n * batch, *rest)
    if layout in ("NCHW", "NHWC"):
        return whole
    c0 = {"NC4HW4": 4, "NC1HWC0_C04": 4}.get(layout) or _c0(dtype)
    return nc1hwc0_shape(whole, c0)


def _c0(dtype: str) -> int:
    named: Literal["int4"] | str = "float16" if dtype == "bfloat16" else dtype
    return c0_of(named)


def _four(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    if len(shape) == 3 and layout != "FRACTAL_Z":
        return (1, *shape)
    if len(shape) != 4:
        raise BadArgument(f"shape: {layout} needs four sizes, such as 1x3x224x224; found {len(shape)}.")
    return shape


def _chain(text: str) -> list[tuple[int, ...]]:
    """Return the shapes of a text such as "1x64x32x32; 1x32x32x32" (separators ; , -> → blanks, x × * within)."""
    flat = text.replace("->", " ").replace("→", " ").replace("×", "x").replace("*", "x").lower()
    for mark in ";,；，、[]()":
        flat = flat.replace(mark, " ")
    words = flat.split()
    if not 1 <= len(words) <= MAX_CHAIN:
        raise BadArgument(f"shapes: found {len(words)} tensors; give 1 to {MAX_CHAIN}, such as 1x64x32x32;1x32x16x16.")
    shapes = []
    for word in words:
        parts = word.split("x")
        if len(parts) > 8 or not all(part.isascii() and part.isdigit() and 1 <= len(part) <= 9 for part in parts):
            raise BadArgument(f"shapes: {word[:40]!r} is no shape; write one as 1x64x32x32.")
        shape = tuple(int(part) for part in parts)
        if 0 in shape:
            raise BadArgument(f"shapes: {word[:40]!r} has a size of 0.")
        shapes.append(shape)
    return shapes
