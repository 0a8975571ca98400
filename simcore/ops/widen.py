"""How every float operator treats narrow floats and floating-point exceptions: one decorator.

float16 (and bfloat16) inputs are widened to float32, the operator computes in float32, and each float32 result is
rounded to the narrow type once. float32 and float64 pass through unchanged, integers and booleans too.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "float32_inside", "guarded", "unguarded", "widen"]

#: A tensor of any element type.
Array = NDArray[Any]

#: Characters of the dtypes that are widened: float16, and bfloat16 as ml_dtypes registers it.
_NARROW: Final = "eE"

P = ParamSpec("P")
Result = TypeVar("Result", bound="Array | tuple[Array, ...]")

#: Guarded operator -> the same without its own guard, see `unguarded`.
_UNGUARDED: Final[dict[Callable[..., Any], Callable[..., Any]]] = {}


def widen(x: Array) -> Array:
    """Return x in float32 if it is float16 or bfloat16, else x itself."""
    return x.astype(np.float32) if x.dtype.char in _NARROW else x


def float32_inside(function: Callable[P, Result]) -> Callable[P, Result]:
    """Return `function` made safe for float16: inputs widened, results rounded once to the first input's type.

    Overflow, division by zero and invalid operations follow IEEE 754 silently (inf and NaN are results), and numpy
    scalars come back as arrays of rank 0. Only float32 results are narrowed, and only if the first input is narrow.

    Args:
        function: positional arguments are arrays or None, keyword arguments attributes.
    """

    @wraps(function)
    def inside(*inputs: P.args, **attributes: P.kwargs) -> Result:
        for x in inputs:
            if isinstance(x, np.ndarray) and x.dtype.char in _NARROW:
                return _narrowed(function, inputs, attributes)
        result = function(*inputs, **attributes)
        return result if type(result) is np.ndarray else cast(Result, _arrays(result, None))

    return guarded(inside)


def guarded(function: Callable[P, Result]) -> Callable[P, Result]:
    """Return `function` with floating-point errors silenced: inf and NaN are results."""

    @wraps(function)
    def call(*inputs: P.args, **attributes: P.kwargs) -> Result:
        with np.errstate(all="ignore"):
            return function(*inputs, **attributes)

    _UNGUARDED[call] = function
    return call


def unguarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operator for callers that silence floating-point errors themselves, once for many calls.

    Entering np.errstate costs more than a small addition.
    """
    return _UNGUARDED.get(function, function)


def _narrowed(function: Callable[..., Result], inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Result:
    """Return the result of inputs of which at least one is narrow."""
    first = inputs[0]
    narrow = first.dtype if isinstance(first, np.ndarray) and first.dtype.char in _NARROW else None
    wide = [widen(x) if isinstance(x, np.ndarray) else x for x in inputs]
    return cast(Result, _arrays(function(*wide, **attributes), narrow))


def _arrays(result: Array | tuple[Array, ...], narrow: np.dtype[Any] | None) -> Array | tuple[Array, ...]:
    if isinstance(result, tuple):
        return tuple(_array(each, narrow) for each in result)
    return _array(result, narrow)


def _array(result: Array, narrow: np.dtype[Any] | None) -> Array:
    if narrow is not None and result.dtype == np.float32:
        return np.asarray(result).astype(narrow)
    return np.asarray(result)
