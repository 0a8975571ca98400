"""Checks of fp16 values, sums and norms, over simcore.fp16 and fp16_sum."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simcore.fp16 import IEEE, SATURATE, round_fp16
from simcore.fp16_sum import reduce_sum

__all__ = ["sum_repeat"]


def sum_repeat(value: float, count: int, accumulator: str, order: str, overflow: str) -> Mapping[str, Any]:
    """Return total, exact, error and overflows of `count` additions of `value`."""
    mode = SATURATE if overflow == "saturate" else IEEE
    x = round_fp16(value, mode)
    total = float(
        reduce_sum(
            np.broadcast_to(x, (count,)),
            accumulator="fp16" if accumulator == "fp16" else "fp32",
            order="pairwise" if order == "pairwise" else "sequential",
            mode=mode,
        )
    )
    exact = float(x) * count
    error = total - exact
    return {"total": total, "exact": exact, "error": error, "overflows": math.isinf(total) or abs(exact) >= 65520}
