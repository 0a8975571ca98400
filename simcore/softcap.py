"""Soft cap of scores, `cap * tanh(s / cap)`, in the forms users write, each step rounded to fp16 or float32.

The form with two powers divides an infinity by an infinity as soon as e^|s/cap| overflows: from |s / cap| = 11.09 in
fp16 and 88.73 in float32. The form with one power below the fraction bar ends at +-cap instead.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, Mode, Real, round_fp16

__all__ = ["Precision", "SoftcapForm", "rounding_to", "softcap"]

Precision = Literal["fp16", "fp32"]
SoftcapForm = Literal["direct", "two_powers", "one_power"]


def rounding_to(precision: Precision, mode: Mode = IEEE) -> Callable[[Real], Real]:
    """Return the function that rounds float64 to a precision and back; fp16 by its mode, fp32 by IEEE 754.

    Raises:
        BadArgument: Unknown precision.
    """
    if precision == "fp16":
        return lambda x: np.asarray(round_fp16(x, mode), np.float64)
    if precision == "fp32":
        return lambda x: np.asarray(np.asarray(x, np.float32), np.float64)
    raise BadArgument(f"precision {precision!r} is not known; use fp16 or fp32")


def softcap(
    x: ArrayLike, cap: float, form: SoftcapForm = "direct", precision: Precision = "fp16", mode: Mode = IEEE
) -> Real:
    """Return the soft cap of x, float64 of its shape, every operation rounded to `precision`.

    Formulas, with `y = x / cap`:
        direct      cap * tanh(y)
        two_powers  cap * (e^y - e^-y) / (e^y + e^-y), from left to right
        one_power   cap * (1 - 2 / (e^2y + 1))

    Args:
        x: Scores of any shape.
        cap: The cap, above 0.
        form: See the formulas.
        precision: Type of every operation.
        mode: Overflow and NaN rule of fp16; float32 follows IEEE 754.

    Raises:
        BadArgument: cap that is not finite, or not above 0 after rounding; unknown form or precision.
    """
    to = rounding_to(precision, mode)
    if form not in get_args(SoftcapForm):
        raise BadArgument(f"form {form!r} is not known; use one of {', '.join(get_args(SoftcapForm))}")
    with np.errstate(all="ignore"):
        top = to(np.asarray(cap, np.float64))
        if not 0 < top < np.inf:
            raise BadArgument(f"cap: expected a number above 0 that {precision} holds, got {cap:g}")
        y = to(to(np.asarray(x, np.float64)) / top)
        if form == "direct":
            return to(top * to(np.tanh(y)))
        if form == "two_powers":
            up, down = to(np.exp(y)), to(np.exp(-y))
            return to(to(top * to(up - down)) / to(up + down))
        power = to(np.exp(to(2.0 * y)))
        return to(top * to(1.0 - to(2.0 / to(power + 1.0))))
