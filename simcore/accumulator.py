"""Integer accumulators of any width: the worst sum of k products, and a dot product step by step, in exact integers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from simcore.errors import BadArgument

__all__ = ["Dot", "Narrowing", "Width", "bits_needed", "dot", "hold", "int_range", "width"]

Narrowing = Literal["wrap", "saturate"]
"""What a register makes of a value that does not fit: keep the low bits (two's complement), or clamp."""

_NAME: Final = re.compile(r"(u?)int([1-9]\d?)")


@dataclass(frozen=True, slots=True)
class Width:
    """What k products need."""

    low: int
    """The most negative sum that can occur."""
    high: int
    """The most positive one."""
    bits: int
    """Width of the narrowest signed type that holds both."""
    overflows: bool
    """Whether a sum can leave the accumulator."""
    largest_k: int | None
    """The largest number of products that cannot leave it; None if no number can (all products are 0)."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot product as registers hold it."""

    total: int
    """What the accumulator shows at the end."""
    exact: int
    """The sum of the exact products."""
    products: tuple[int, ...]
    """Each product as its register holds it."""
    overflow_at: int
    """Index (from 0) of the first product or addition that did not fit; -1 if all did."""


def int_range(name: str) -> tuple[int, int]:
    """Return (low, high) of an integer type written `int24` or `uint8`, 2 to 64 bits.

    Raises:
        BadArgument: The name is not written so.
    """
    match = _NAME.fullmatch(name)
    bits = int(match[2]) if match else 0
    if match is None or not 2 <= bits <= 64:
        raise BadArgument(f"integer type {name!r} is not known; write int8, uint8, int16, int24, int32, int48, int64")
    return (0, (1 << bits) - 1) if match[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def bits_needed(low: int, high: int) -> int:
    """Return the width of the narrowest signed type that holds low..high: 1 for 0..0, 8 for -128..127, 9 for 128."""
    return max((value if value >= 0 else ~value).bit_length() for value in (low, high)) + 1


def width(a: tuple[int, int], b: tuple[int, int], k: int, accumulator: str) -> Width:
    """Return the extreme sums of k products of values in the ranges a and b, and whether they fit.

    Formula: with p the four products of the ends, `low = k * min(p)` and `high = k * max(p)`; the accumulator
    holds k products if both lie in its range.

    Args:
        a: (low, high) of the left values.
        b: (low, high) of the right values.
        k: Number of products, 1 or more.
        accumulator: Name of an integer type.

    Raises:
        BadArgument: k < 1, an empty range, or an unknown type.
    """
    if k < 1 or a[0] > a[1] or b[0] > b[1]:
        raise BadArgument(f"accumulator: k = {k}, ranges {a} and {b}; give k >= 1 and low <= high")
    floor, ceiling = int_range(accumulator)
    ends = [x * y for x in a for y in b]
    least, most = min(ends), max(ends)
    room = [limit // end for limit, end in ((floor, min(least, 0)), (ceiling, max(most, 0))) if end]
    return Width(
        low=k * least,
        high=k * most,
        bits=bits_needed(k * least, k * most),
        overflows=not (floor <= k * least and k * most <= ceiling),
        largest_k=min(room) if room else None,
    )


def hold(value: int, name: str, overflow: Narrowing) -> int:
    """Return a value as a register of type `name` holds it.

    Raises:
        BadArgument: Unknown type or rule.
    """
    low, high = int_range(name)
    if overflow not in get_args(Narrowing):
        raise BadArgument(f"overflow {overflow!r} is not known; use wrap or saturate")
    if low <= value <= high:
        return value
    if overflow == "saturate":
        return low if value < low else high
    return (value - low) % (high - low + 1) + low


def dot(a: Sequence[int], b: Sequence[int], product: str, accumulator: str, overflow: Narrowing) -> Dot:
    """Return the dot product with every product and every partial sum held in a register of its type.

    Formula: `s = hold(s + hold(a[i] * b[i], product), accumulator)`, i from 0 on, s from 0.

    Args:
        a: Integers.
        b: As many.
        product: Type that a product is kept in before it is added.
        accumulator: Type of the running sum.
        overflow: Of both.

    Raises:
        BadArgument: The lengths differ, or unknown names.
    """
    if len(a) != len(b):
        raise BadArgument(f"dot: a has {len(a)} values and b has {len(b)}; give as many of both")
    total, first = 0, -1
    products = []
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        kept = hold(x * y, product, overflow)
        wanted = total + kept
        total = hold(wanted, accumulator, overflow)
        if first < 0 and (kept != x * y or total != wanted):
            first = i
        products.append(kept)
    return Dot(total, sum(x * y for x, y in zip(a, b, strict=True)), tuple(products), first)
