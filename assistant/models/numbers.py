"""Bytes, counts and times of estimates in words; light, so that a window can use it."""

__all__ = ["count", "milliseconds", "short_size", "size"]

_KIB = 1024
_MIB = 1024 * 1024


def size(bytes_: int) -> str:
    """Return bytes exactly, and in the unit that people read."""
    return f"{bytes_:,} B" if bytes_ < _KIB else f"{bytes_:,} B ({short_size(bytes_)})"


def short_size(bytes_: float) -> str:
    """Return bytes in the unit that people read: B, KiB or MiB, thousands marked."""
    if abs(bytes_) < _KIB:
        return f"{bytes_:,.0f} B"
    if abs(bytes_) < _MIB:
        return f"{bytes_ / _KIB:,.1f} KiB"
    return f"{bytes_ / _MIB:,.2f} MiB"


def count(number: float | None) -> str:
    """Return a number with thousands marked; "" if it is not known."""
    return "" if number is None else f"{number:,.0f}"


def milliseconds(value: float | None, unknown: str) -> str:
    """Return a time to three digits, a long one to the millisecond.

    Args:
        value: milliseconds; None if they are not known.
        unknown: what is said then.
    """
    if value is None:
        return unknown
    return f"{value:,.3g} ms" if value < 999.5 else f"{value:,.0f} ms"
