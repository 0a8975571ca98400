"""Checks of limits that decide whether and how a model converts."""

import math
from collections.abc import Mapping
from typing import Any, Final

from simcore.errors import BadArgument
from simcore.opset import RANGES

__all__ = ["BPU_CHW", "SOFTMAX_CUT", "chw_limit", "fast_softmax", "opset_check"]

BPU_CHW: Final = 8192
"""Elements C * H * W of one tensor above which some operators of hb_mapper (X3, X5) run on the CPU."""
SOFTMAX_CUT: Final = 9.010911
"""Distance from the maximum above which --softmax_optimize_enable drops a value; ln 2**13 to seven digits."""


def opset_check(opset: int, toolchain: str) -> Mapping[str, Any]:
    """Return whether a toolchain takes an opset, and the nearest one it takes."""
    known = RANGES[toolchain]
    use = min(max(opset, known.low), known.high)
    return {"supported": known.low <= opset <= known.high, "low": known.low, "high": known.high, "use": use}


def chw_limit(shape: tuple[int, ...], limit: int) -> Mapping[str, Any]:
    """Return C * H * W of a feature map, and whether it is above the limit."""
    if len(shape) not in (3, 4):
        raise BadArgument(f"shape: found {len(shape)} sizes; give C,H,W or N,C,H,W.")
    product = math.prod(shape[-3:])
    return {"product": product, "over": product > limit, "ratio": product / limit}


def fast_softmax(values: tuple[float, ...], cut: float) -> Mapping[str, Any]:
    """Return softmax exactly and with everything farther than `cut` below the maximum dropped."""
    if any(not math.isfinite(value) for value in values):
        raise BadArgument("values: one is NaN or inf; give finite numbers.")
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    kept = [0.0 if top - value > cut else power for value, power in zip(values, powers, strict=True)]
    whole, rest = math.fsum(powers), math.fsum(kept)
    exact, fast = [power / whole for power in powers], [power / rest for power in kept]
    return {
        "exact": exact,
        "fast": fast,
        "dropped": sum(top - value > cut for value in values),
        "smallest_kept": math.exp(-cut),
        "max_error": max(abs(a - b) for a, b in zip(exact, fast, strict=True)),
    }
