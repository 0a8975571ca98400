"""Checks of integer sums and products, over simcore.accumulator and matmul."""

from collections.abc import Mapping
from typing import Any, Literal, cast

import numpy as np

from simcore.accumulator import Narrowing, bits_needed, dot, int_range, width
from simcore.errors import BadArgument
from simcore.matmul import matmul_high_low, split_high_low

__all__ = ["accumulator_width", "dot_product", "split_product"]


def accumulator_width(
    k: int, a: str, b: str, accumulator: str, a_max: int | None, b_max: int | None
) -> Mapping[str, Any]:
    """Return the worst sum of k products, the bits it needs, and how many products fit."""
    found = width(_limited(a, a_max, "a_max"), _limited(b, b_max, "b_max"), k, accumulator)
    low, high = int_range(accumulator)
    return {
        "overflows": found.overflows,
        "low": found.low,
        "high": found.high,
        "worst": max(-found.low, found.high),
        "bits": found.bits,
        "largest_k": found.largest_k or 0,
        "accumulator_low": low,
        "accumulator_high": high,
    }


def dot_product(
    a: tuple[int, ...], b: tuple[int, ...], product: str, accumulator: str, overflow: str
) -> Mapping[str, Any]:
    """Return a dot product as registers of two widths hold it, against the exact one."""
    found = dot(a, b, product, accumulator, cast(Narrowing, overflow))
    return {
        "total": found.total,
        "exact": found.exact,
        "error": found.total - found.exact,
        "products": list(found.products),
        "overflows": found.overflow_at >= 0,
        "overflow_at": found.overflow_at,
        "bits": bits_needed(min(found.exact, 0), max(found.exact, 0)),
    }


def split_product(a: int, b: int, low: str) -> Mapping[str, Any]:
    """Return a product of int16 values as four products of bytes, with and without the one of the low bytes."""
    left, right = (np.asarray([[value]], np.int16) for value in (a, b))
    signed: Literal["signed", "unsigned"] = "signed" if low == "signed" else "unsigned"
    a_high, a_low = (int(part[0, 0]) for part in split_high_low(left, signed))
    b_high, b_low = (int(part[0, 0]) for part in split_high_low(right, signed))
    exact = int(matmul_high_low(left, right, "8x8", low=signed)[0, 0])
    short = int(matmul_high_low(left, right, "8x8_without_low_low", low=signed)[0, 0])
    return {
        "exact": exact,
        "without_low": short,
        "lost": exact - short,
        "lost_relative": (exact - short) / abs(exact) if exact else 0.0,
        "a_parts": [a_high, a_low],
        "b_parts": [b_high, b_low],
        "products": [a_high * b_high, a_high * b_low, a_low * b_high, a_low * b_low],
        "shifts": [16, 8, 8, 0],
    }


def _limited(name: str, largest: int | None, parameter: str) -> tuple[int, int]:
    low, high = int_range(name)
    if largest is None:
        return low, high
    if largest > max(high, -low):
        raise BadArgument(f"{parameter}: {largest} does not fit {name}, [{low}, {high}]")
    return max(low, -largest), min(high, largest)
