"""Checks of scales, offsets and codes, over simcore.quantize and requantize."""

from collections.abc import Mapping
from typing import Any

from simcore.quantize import params, representable_range, step

__all__ = ["quant_range"]


def quant_range(scale: float, zero_point: int, dtype: str, form: str) -> Mapping[str, Any]:
    """Return low, high and step of codes of a type."""
    how = params(scale, zero_point, dtype, form="reciprocal" if form == "reciprocal" else "step")
    low, high = representable_range(how)
    return {"low": float(low), "high": float(high), "step": float(step(how))}
