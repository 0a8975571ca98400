"""Division, roots, sums, comparisons, logic and rounding by the few arithmetic operators a vector unit has."""

from collections.abc import Callable
from typing import Final

import numpy as np

from simcore.element_types import number_of
from simcore.ops.reduce import reduced_axes
from simcore.rewrite.rule import EXACT, ROUNDING, Declined, Rule, Site

__all__ = ["RULES"]


def _div_constant(site: Site) -> str:
    """Return x * (1/c) for a constant c; 1/c is formed in float64 and rounded once."""
    x, y = site.node.inputs
    dtype = site.floating(x)
    divisor = site.constant(y, "divisor")
    if np.any(divisor == 0):
        raise Declined(f"divisor {y!r} has zeros")
    with np.errstate(over="ignore", under="ignore"):
        inverse = (1 / divisor.astype(np.float64)).astype(dtype)
    if not np.all(np.isfinite(inverse)) or np.any(np.abs(inverse) < np.finfo(dtype).tiny):
        raise Declined(f"the reciprocal of divisor {y!r} is out of range")
    return site.mul(x, site.const(inverse, hint="reciprocal"))


def _div_power(site: Site) -> str:
    """Return x * y^-1; where y is itself a power with a constant exponent, both are one."""
    x, y = site.node.inputs
    site.floating(y)
    base, exponent = _as_power(site, y)
    inverse = site.pow(base, -exponent)
    value = site.value(x)
    is_one = value is not None and value.size == 1 and value.reshape(-1)[0] == 1
    return inverse if is_one and site.rank(x) <= site.rank(y) else site.mul(x, inverse)


def _as_power(site: Site, y: str) -> tuple[str, float]:
    """Return base and exponent whose power y is: of the square root 0.5, else y itself and 1."""
    node = site.known.producer.get(y)
    if node is not None and not node.domain:
        if node.op_type == "Sqrt":
            return node.inputs[0], 0.5
        exponent = site.value(node.inputs[1]) if node.op_type == "Pow" else None
        # Other exponents: (x^2)^-1 is not x^-2 once x^2 overflows, and (x^2)^0.5 is |x|.
        if exponent is not None and exponent.ndim == 0 and float(exponent) == 0.5:
            return node.inputs[0], 0.5
    return y, 1.0


def _div_integers(site: Site) -> str:
    """Return the integer quotient, cut towards zero, of values a float32 holds exactly.

    The quotient of magnitudes |x| < 2^22 and |y| >= 1 is at least 1/|y| away from the next integer unless it is one,
    so `floor(|x| / |y| + 0.5 / |y|)` is right although the reciprocal is rounded. Rounding down is said by Round.
    """
    x, y = site.node.inputs
    divisor = site.constant(y, "divisor of an integer division")
    dtype = site.dtype(x)
    if dtype.kind not in "iu" or np.any(divisor <= 0) or np.any(divisor > 1 << 10):
        raise Declined("integers are divided by constants from 1 to 1024 only; divide before the model, or in float")
    number = number_of(np.dtype(np.float32))
    inverse = site.const((1 / divisor.astype(np.float64)).astype(np.float32), hint="reciprocal")
    half = site.const((0.5 / divisor.astype(np.float64)).astype(np.float32), hint="half")
    real = site.cast(x, number)
    sign = site.op("Where", site.op("Greater", site.const(0.0, np.float32), real), *map(_float(site), (-1.0, 1.0)))
    near = site.add(site.mul(site.mul(real, sign), inverse), half)
    rounded = site.op("Round", near)
    too_large = site.cast(site.op("Greater", rounded, near), number)
    return site.cast(site.mul(site.sub(rounded, too_large), sign), number_of(dtype))


def _float(site: Site) -> Callable[[float], str]:
    return lambda value: site.const(value, np.float32)


def _sqrt(site: Site) -> str:
    site.floating(site.input(0))
    return site.pow(site.input(0), 0.5)


def _reciprocal(site: Site) -> str:
    base, exponent = _as_power(site, site.input(0))
    site.floating(site.input(0))
    return site.pow(base, -exponent)


def _sum(site: Site) -> str:
    total = site.input(0)
    for other in site.node.inputs[1:]:
        total = site.add(total, other)
    return total


def _mean(site: Site) -> str:
    return site.scaled(_sum(site), 1 / len(site.node.inputs))


def _less(site: Site) -> str:
    a, b = site.node.inputs
    return site.op("Greater", b, a)


def _less_or_equal(site: Site) -> str:
    a, b = site.node.inputs
    if site.node.op_type == "GreaterOrEqual":
        a, b = b, a
    return site.op("Or", site.op("Greater", b, a), site.op("Equal", a, b))


def _not(site: Site) -> str:
    return site.op("Equal", site.input(0), site.const(False))


def _xor(site: Site) -> str:
    return site.op("Equal", site.op("Equal", *site.node.inputs), site.const(False))


def _floor(site: Site) -> str:
    """Return Round(x) less one where that is above x: exact, ties and integers included."""
    x = site.input(0)
    number = number_of(site.floating(x))
    rounded = site.op("Round", x)
    if site.node.op_type == "Floor":
        return site.sub(rounded, site.cast(site.op("Greater", rounded, x), number))
    return site.add(rounded, site.cast(site.op("Greater", x, rounded), number))


def _sign(site: Site) -> str:
    x, zero = site.input(0), site.number(0)
    number = number_of(site.dtype(x))
    above = site.cast(site.op("Greater", x, zero), number)
    return site.sub(above, site.cast(site.op("Greater", zero, x), number))


def _is_nan(site: Site) -> str:
    x = site.input(0)
    return site.op("Equal", site.op("Equal", x, x), site.const(False))


def _arg_min(site: Site) -> str:
    x = site.input(0)
    if site.dtype(x).kind == "u":
        raise Declined(f"{x!r} is unsigned, its negative is not")
    return site.op("ArgMax", site.op("Neg", x), **site.node.attributes)


def _mod(site: Site) -> str:
    """Return x - floor(x / y) * y for floats and a constant y that is a power of two (exact quotients)."""
    x, y = site.node.inputs
    divisor = site.constant(y, "divisor of Mod")
    site.floating(x)
    if not site.attribute("fmod", 0) or not np.all(np.frexp(divisor)[0] == 0.5):
        raise Declined("Mod is rewritten for floats and positive powers of two only")
    quotient = site.mul(x, site.const((1 / divisor).astype(divisor.dtype), hint="reciprocal"))
    rounded = site.op("Round", site.op("Abs", quotient))
    number = number_of(divisor.dtype)
    whole = site.sub(rounded, site.cast(site.op("Greater", rounded, site.op("Abs", quotient)), number))
    signed = site.op("Where", site.op("Greater", site.number(0), x), site.op("Neg", whole), whole)
    return site.sub(x, site.mul(signed, y))


def _axes(site: Site) -> tuple[int, ...] | None:
    """Return the axes of a reduction; None for all. They are an attribute, from version 13 or 18 on an input."""
    axes = site.attribute("axes", None)
    if site.input(1):
        axes = tuple(site.constant(site.input(1), "axes").reshape(-1).tolist())
    if axes is None or not len(axes):
        if site.attribute("noop_with_empty_axes", 0):
            raise Declined("no axes and noop_with_empty_axes: nothing is reduced; remove the node")
        return None
    return tuple(int(axis) for axis in axes)


def _reduced_after(op_type: str) -> Callable[[Site], str]:
    """Return the rule that reduces f(x) with ReduceSum."""

    def rule(site: Site) -> str:
        x, axes, keepdims = site.input(0), _axes(site), site.attribute("keepdims", 1)
        inside = {"Square": lambda: site.mul(x, x), "Abs": lambda: site.op("Abs", x), "Same": lambda: x}[op_type]()
        return site.reduce("ReduceSum", inside, axes, keepdims)

    return rule


def _reduce_log_sum(site: Site) -> str:
    return site.op("Log", site.reduce("ReduceSum", site.input(0), _axes(site), site.attribute("keepdims", 1)))


def _reduce_log_sum_exp(site: Site) -> str:
    x, axes, keepdims = site.input(0), _axes(site), site.attribute("keepdims", 1)
    site.floating(x)
    peak = site.reduce("ReduceMax", x, axes)
    total = site.reduce("ReduceSum", site.op("Exp", site.sub(x, peak)), axes)
    result = site.add(site.op("Log", total), peak)
    if keepdims:
        return result
    every = reduced_axes(None if axes is None else np.array(axes), site.rank(x), 0)
    return site.squeeze(result, *every)


def _reduce_l2(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    squares = site.mul(x, x)
    return site.pow(site.reduce("ReduceSum", squares, _axes(site), site.attribute("keepdims", 1)), 0.5)


def _reduce_prod(site: Site) -> str:
    """Return the product over the axes, each halved until one is left: log2(size) multiplications."""
    x, axes = site.input(0), _axes(site)
    every = reduced_axes(None if axes is None else np.array(axes), site.rank(x), 0)
    for axis in every:
        size = site.size(site.input(0), axis)
        if not size:
            raise Declined("the product over no element is 1; make the node a constant")
        while size > 1:
            half = size // 2
            product = site.mul(site.slice(x, axis, 0, half), site.slice(x, axis, half, 2 * half))
            rest = [site.slice(x, axis, 2 * half, size)] if size % 2 else []
            x = site.op("Concat", product, *rest, axis=axis) if rest else product
            size = half + size % 2
    return x if site.attribute("keepdims", 1) or not every else site.squeeze(x, *every)


def _lp_normalization(site: Site) -> str:
    """Return x * norm^-1; the norm is at least the smallest normal number, so that zeros stay zeros."""
    x, axis = site.input(0), site.attribute("axis", -1)
    smallest = float(np.finfo(site.floating(x)).tiny)
    is_euclidean = site.attribute("p", 2) == 2
    norm = site.reduce("ReduceL2", x, [axis]) if is_euclidean else site.reduce("ReduceSum", site.op("Abs", x), [axis])
    return site.mul(x, site.pow(site.clip(norm, smallest, None), -1.0))


def _hyperbolic(site: Site) -> str:
    x = site.input(0)
    site.floating(x)
    up, down = site.op("Exp", x), site.op("Exp", site.op("Neg", x))
    return site.scaled(site.op("Sub" if site.node.op_type == "Sinh" else "Add", up, down), 0.5)


_SAME: Final = "same definition"

RULES: Final = (
    Rule(
        ("Div",),
        "constant",
        "x / c = x * (1/c)",
        "floats; c constant, not 0, its reciprocal a normal number",
        "relative error up to 1.2e-7 (two roundings for one); exact where c is a power of two",
        "1/c rounded once from float64",
        _div_constant,
    ),
    Rule(
        ("Div",),
        "power",
        "x / y = x * Pow(y, -1); x / Sqrt(v) = x * Pow(v, -0.5)",
        "floats",
        "relative error up to 1.2e-7; where y is denormal, Pow overflows earlier than the quotient",
        "definition of the power",
        _div_power,
    ),
    Rule(
        ("Div",),
        "integers",
        "sign(x) * floor(|x| / c + 0.5 / c)",
        "integers below 2^22 in magnitude, c constant from 1 to 1024",
        EXACT,
        "a quotient of integers is an integer or at least 1/c away from one",
        _div_integers,
    ),
    Rule(("Sqrt",), "power", "Pow(x, 0.5)", "floats", f"{ROUNDING}; Pow(-0, 0.5) is +0", "definition", _sqrt),
    Rule(
        ("Reciprocal",),
        "power",
        "Pow(x, -1); of Sqrt(v): Pow(v, -0.5)",
        "floats",
        ROUNDING,
        "definition of the power",
        _reciprocal,
    ),
    Rule(("Sum",), "add", "a + b + ...", "any", EXACT, "the order of the inputs", _sum),
    Rule(("Mean",), "add", "(a + b + ...) * (1/n)", "any", ROUNDING, "definition", _mean),
    Rule(("Less",), "greater", "a < b = b > a", "any", EXACT, "NaN gives False in both", _less),
    Rule(
        ("LessOrEqual", "GreaterOrEqual"),
        "greater or equal",
        "Or(Greater, Equal)",
        "any",
        EXACT,
        "NaN gives False in both",
        _less_or_equal,
    ),
    Rule(("Not",), "equal", "Equal(x, False)", "any", EXACT, "truth table", _not),
    Rule(("Xor",), "equal", "Equal(Equal(a, b), False)", "any", EXACT, "truth table", _xor),
    Rule(
        ("Floor", "Ceil"),
        "round",
        "r = Round(x); Floor = r - (r > x), Ceil = r + (x > r)",
        "floats",
        f"{EXACT}; the sign of a zero may differ",
        "Round gives one of the two integers around x",
        _floor,
    ),
    Rule(("Sign",), "greater", "(x > 0) - (0 > x)", "any", f"{EXACT}; NaN gives 0", "definition", _sign),
    Rule(("IsNaN",), "equal", "Not(x == x)", "any", EXACT, "only NaN differs from itself", _is_nan),
    Rule(("ArgMin",), "argmax", "ArgMax(-x)", "signed data", EXACT, "first of equals in both", _arg_min),
    Rule(
        ("Mod",),
        "power of two",
        "x - cut(x / y) * y",
        "fmod=1, floats, y a constant power of two",
        EXACT,
        "quotients by powers of two are exact",
        _mod,
    ),
    Rule(("ReduceSumSquare",), "sum", "ReduceSum(x * x)", "any", ROUNDING, _SAME, _reduced_after("Square")),
    Rule(("ReduceL1",), "sum", "ReduceSum(Abs(x))", "any", ROUNDING, _SAME, _reduced_after("Abs")),
    Rule(("ReduceL2",), "sum", "Pow(ReduceSum(x * x), 0.5)", "floats", ROUNDING, _SAME, _reduce_l2),
    Rule(("ReduceLogSum",), "log", "Log(ReduceSum(x))", "any", ROUNDING, _SAME, _reduce_log_sum),
    Rule(
        ("ReduceLogSumExp",),
        "log",
        "m = ReduceMax(x); Log(ReduceSum(Exp(x - m))) + m",
        "floats; without keepdims: known rank; not all of -inf",
        ROUNDING,
        "log sum exp(x) = m + log sum exp(x - m)",
        _reduce_log_sum_exp,
    ),
    Rule(
        ("ReduceProd",),
        "halves",
        "halves multiplied until one element is left",
        "known sizes of the axes",
        ROUNDING,
        "associativity",
        _reduce_prod,
    ),
    Rule(
        ("LpNormalization",),
        "power",
        "x * Pow(max(norm, smallest), -1)",
        "floats",
        ROUNDING,
        "definition",
        _lp_normalization,
    ),
    Rule(
        ("Sinh", "Cosh"),
        "exp",
        "(Exp(x) -+ Exp(-x)) / 2",
        "floats",
        "absolute error up to 6e-8 near 0; overflows above |x| = 88.7, the function itself at 89.4",
        "definition",
        _hyperbolic,
    ),
)
