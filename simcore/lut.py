"""Lookup tables for sigmoid, tanh and other functions: built, read and measured as a table unit would.

    build_table(function, ...) -> Table      n nodes over [low, high], entries stored as fp16, fp32 or integer codes
    lookup(table, x)           -> codes      nearest or linear between entries, clamped outside the range
    evaluate(table, x)         -> float64    the same as real numbers
    table_error(table, ...)    -> ErrorReport over every fp16 input of a range

How a given chip lays out its tables is rarely published, so everything here is an argument. Two effects are general:
the absolute error is bounded by the node spacing, but near a zero of the function the relative error is not, and
outside [low, high] the function is cut off flat.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.errors import BadArgument
from simcore.fp16 import IEEE, SATURATE, Mode, NanRule, Real, round_fp16, values_between
from simcore.rounding import round_saturate

__all__ = [
    "ErrorReport",
    "Interpolation",
    "Output",
    "Table",
    "build_table",
    "error_report",
    "evaluate",
    "lookup",
    "nodes",
    "table_error",
]

Interpolation = Literal["nearest", "linear"]
Output = Literal["fp16", "fp32", "int8", "int16"]
Entries = NDArray[np.float16] | NDArray[np.float32] | NDArray[np.integer]


_FLOATS = ("fp16", "fp32")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of n entries at equal distances."""

    entries: Entries
    """Shape [n], ascending in x: float16 or float32, or integer codes worth `code * scale`. Read-only."""
    low: float
    """x of the first entry; smaller x read it."""
    high: float
    """x of the last entry; larger x read it."""
    interpolation: Interpolation
    output: Output
    scale: float
    """Step of the integer codes; 1.0 for fp16 and fp32."""


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """How far `got` is from `want` over a set of inputs."""

    points: int
    """Number of inputs compared."""
    max_absolute: float
    """Largest `|got - want|`."""
    max_absolute_at: float
    """The first x that has it."""
    max_relative: float
    """Largest `|got - want| / |want|` where want is not 0; inf where want underflows to a smaller quotient."""
    max_relative_at: float
    """The first x that has it; NaN if want is 0 everywhere."""
    mean_absolute: float
    """Mean of `|got - want|`."""
    root_mean_square: float
    """Square root of the mean of `(got - want) ** 2`."""


def nodes(n: int, low: float, high: float) -> Real:
    """Return the x of each entry, float64 [n].

    Formula: `x[i] = low + (high - low) * i / (n - 1)`, evaluated in this order in float64.

    Raises:
        BadArgument: n < 2, or low and high are not finite with low < high.
    """
    if n < 2:
        raise BadArgument(f"table: {n} entries cannot span a range; give n >= 2.")
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise BadArgument(f"table: range [{low}, {high}] must be finite with low < high.")
    return np.asarray(low + (high - low) * np.arange(n, dtype=np.float64) / (n - 1))


def build_table(
    function: Callable[[Real], Real],
    n: int,
    low: float,
    high: float,
    *,
    interpolation: Interpolation = "linear",
    output: Output = "fp16",
    scale: float | None = None,
    mode: Mode = SATURATE,
) -> Table:
    """Return a table whose entry i is the function at node i, rounded once to the output type.

    Formulas: fp16 `round_fp16(f(x[i]))`, fp32 `float32(f(x[i]))`; int8, int16
    `clip(rint(f(x[i]) / scale), -2**(b-1), 2**(b-1) - 1)` with ties to even.

    Args:
        function: Vectorised, float64 to float64.
        n: Number of entries, at least 2.
        low: x of the first entry.
        high: x of the last entry.
        interpolation: How `lookup` reads between entries.
        output: Type of the entries and of the result.
        scale: Step of the codes, needed for int8 and int16 (1/128 spans [-1, 127/128] in int8), refused for floats.
        mode: Overflow and NaN rule of fp16 entries. Integer entries saturate.

    Raises:
        BadArgument: n, the range, the scale or a choice is not usable; the function returns another shape; or at a
            node it is NaN for an integer table, or not finite after the mode for linear interpolation.
    """
    if interpolation not in get_args(Interpolation):
        raise BadArgument(f"interpolation: {interpolation!r} is unknown; choose nearest or linear.")
    with np.errstate(all="ignore"):
        x = nodes(n, low, high)
        values = np.asarray(function(x), np.float64)
    if values.shape != x.shape:
        raise BadArgument(f"table: the function gave shape {values.shape} for {x.shape}; it must keep the shape.")
    if output in ("fp16", "fp32"):
        if scale is not None:
            raise BadArgument(f"table: scale {scale} has no meaning for {output} entries; leave it out.")
        with np.errstate(over="ignore", under="ignore"):
            floats = round_fp16(values, mode) if output == "fp16" else values.astype(np.float32)
        if interpolation == "linear" and not np.isfinite(floats).all():
            at = x[~np.isfinite(floats)][0]
            raise BadArgument(f"table: no line leads to the entry at x = {at}, which is not finite; saturate it.")
        return _table(floats, low, high, interpolation, output, 1.0)
    if output in get_args(Output):
        if scale is None or not (np.isfinite(scale) and scale > 0):
            raise BadArgument(f"table: {output} entries need a finite scale above 0, found {scale}.")
        if np.isnan(values).any():
            raise BadArgument(f"table: the function is NaN at x = {x[np.isnan(values)][0]}, which has no integer code.")
        with np.errstate(over="ignore", under="ignore"):
            codes = values / scale
        return _table(round_saturate(codes, output), low, high, interpolation, output, float(scale))
    raise BadArgument(f"output: {output!r} is unknown; choose one of {', '.join(get_args(Output))}.")


def lookup(table: Table, x: ArrayLike, nan: NanRule = "zero") -> Entries:
    """Return the table's answer for each x, in the table's output type and x's shape.

    Formula: `t = clip((x - low) * (n - 1) / (high - low), 0, n - 1)` in float64, then
    nearest `entries[rint(t)]`, a tie between two nodes to the even one; or
    linear `i = min(floor(t), n - 2)`, `entries[i] + (entries[i+1] - entries[i]) * (t - i)` in float64, rounded once to
    the output type, ties to even.

    Args:
        table: From `build_table`.
        x: Real numbers of any shape, usually float16. +-inf reads the last or the first entry.
        nan: What a NaN input gives: `zero` the value (and code) 0, `keep` NaN, which only tables of floats have.

    Raises:
        BadArgument: x is not real, or `nan="keep"` with an integer table and a NaN in x.
    """
    values = np.asarray(x)
    if values.dtype.kind not in "biuf":
        raise BadArgument(f"lookup: dtype {values.dtype} is not a real number type.")
    missing = np.isnan(values)
    if nan == "keep" and table.output not in _FLOATS and missing.any():
        raise BadArgument(f"lookup: NaN has no {table.output} code; use nan='zero'.")
    n = table.entries.size
    with np.errstate(all="ignore"):
        t = (values.astype(np.float64) - table.low) * (n - 1) / (table.high - table.low)
    t = np.clip(np.where(missing, 0.0, t), 0.0, n - 1)
    if table.interpolation == "nearest":
        found = np.asarray(table.entries[np.rint(t).astype(np.intp)])
    else:
        i = np.minimum(np.floor(t).astype(np.intp), n - 2)
        wide = table.entries.astype(np.float64)
        left, right = wide[i], wide[i + 1]
        found = _narrow(left + (right - left) * (t - i), table.output)
    filler = np.nan if nan == "keep" and table.output in _FLOATS else 0
    return np.asarray(np.where(missing, table.entries.dtype.type(filler), found))


def evaluate(table: Table, x: ArrayLike, nan: NanRule = "zero") -> Real:
    """Return `lookup(table, x) * scale` as float64 real numbers of x's shape; raises as `lookup`."""
    return np.asarray(lookup(table, x, nan).astype(np.float64) * table.scale)


def table_error(table: Table, function: Callable[[Real], Real], low: float, high: float) -> ErrorReport:
    """Return the table's errors against the function over every finite fp16 input in [low, high].

    Ask for a wider range than the table's to see what clamping costs, for a narrower one to see the relative error of
    small inputs.

    Raises:
        BadArgument: low > high, no fp16 value lies between them, or the function is not finite somewhere.
    """
    x = values_between(low, high).astype(np.float64)
    if x.size == 0:
        raise BadArgument(f"table_error: no fp16 value lies in [{low}, {high}]; widen the range.")
    with np.errstate(all="ignore"):
        want = np.asarray(function(x), np.float64)
    return error_report(x, evaluate(table, x), want)


def error_report(x: ArrayLike, got: ArrayLike, want: ArrayLike) -> ErrorReport:
    """Return absolute and relative errors of got against want at the inputs x, computed in float64.

    Raises:
        BadArgument: The three differ in shape, are empty, or hold NaN or inf.
    """
    points, have, reference = (np.asarray(v, np.float64) for v in (x, got, want))
    if not points.shape == have.shape == reference.shape or points.size == 0:
        shapes = f"{points.shape}, {have.shape}, {reference.shape}"
        raise BadArgument(f"error_report: shapes {shapes} must be equal and not empty.")
    for name, values in (("x", points), ("got", have), ("want", reference)):
        if not np.isfinite(values).all():
            raise BadArgument(f"error_report: {name} holds NaN or inf; leave those inputs out.")
    points, absolute = points.ravel(), np.abs(have - reference).ravel()
    with np.errstate(all="ignore"):
        relative = np.where(reference.ravel() == 0.0, -1.0, absolute / np.abs(reference.ravel()))
    worst, worst_relative = int(np.argmax(absolute)), int(np.argmax(relative))
    defined = relative[worst_relative] >= 0.0
    return ErrorReport(
        points=points.size,
        max_absolute=float(absolute[worst]),
        max_absolute_at=float(points[worst]),
        max_relative=float(relative[worst_relative]) if defined else 0.0,
        max_relative_at=float(points[worst_relative]) if defined else float("nan"),
        mean_absolute=float(np.mean(absolute)),
        root_mean_square=float(np.sqrt(np.mean(absolute**2))),
    )


def _table(
    entries: Entries, low: float, high: float, interpolation: Interpolation, output: Output, scale: float
) -> Table:
    entries.setflags(write=False)
    return Table(entries, float(low), float(high), interpolation, output, scale)


def _narrow(values: Real, output: Output) -> Entries:
    if output == "fp32":
        return values.astype(np.float32)
    return round_fp16(values, IEEE) if output == "fp16" else round_saturate(values, output)
