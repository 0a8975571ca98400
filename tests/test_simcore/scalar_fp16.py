"""A slow second spelling of fp16 arithmetic: exact fractions and Python loops, one number at a time.

Values are Python floats (every fp16 value is one). Nothing here uses numpy or simcore.
"""

import math
import struct
from decimal import Decimal, localcontext
from fractions import Fraction

MAX = 65504.0


def to_fp16(exact: Fraction, *, negative_zero: bool = False) -> float:
    """Round an exact number to the nearest fp16 value, ties to even, infinity from 65520 up."""
    sign = -1.0 if exact < 0 or (exact == 0 and negative_zero) else 1.0
    top, bottom = abs(exact.numerator), exact.denominator
    exponent = max(top.bit_length() - bottom.bit_length(), -14)
    if exponent > -14 and (top << max(-exponent, 0)) < (bottom << max(exponent, 0)):
        exponent -= 1
    # One unit of the result is 2**(exponent - 10): count units in |exact| as a quotient of integers.
    shift = 10 - exponent
    top, bottom = top << max(shift, 0), bottom << max(-shift, 0)
    units, rest = divmod(top, bottom)
    if 2 * rest > bottom or (2 * rest == bottom and units % 2):
        units += 1
    value = math.ldexp(units, -shift) if exponent < 16 else math.inf
    return sign * (math.inf if value >= 65536 else value)


def settle(value: float, overflow: str, nan: str, limit: float = MAX) -> float:
    if math.isnan(value):
        return 0.0 if nan == "zero" else value
    if math.isinf(value) and overflow == "saturate":
        return math.copysign(limit, value)
    return value


def add(a: float, b: float, overflow: str = "saturate", nan: str = "zero") -> float:
    if math.isfinite(a) and math.isfinite(b):
        both_negative_zero = math.copysign(1, a) < 0 and math.copysign(1, b) < 0
        return settle(to_fp16(Fraction(a) + Fraction(b), negative_zero=both_negative_zero), overflow, nan)
    return settle(a + b, overflow, nan)


def sub(a: float, b: float, overflow: str = "saturate", nan: str = "zero") -> float:
    return add(a, -b, overflow, nan)


def mul(a: float, b: float, overflow: str = "saturate", nan: str = "zero") -> float:
    if math.isfinite(a) and math.isfinite(b):
        negative = math.copysign(1, a) != math.copysign(1, b)
        return settle(to_fp16(Fraction(a) * Fraction(b), negative_zero=negative), overflow, nan)
    return settle(a * b, overflow, nan)


def div(a: float, b: float, overflow: str = "saturate", nan: str = "zero") -> float:
    negative = math.copysign(1, a) != math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return settle(math.nan, overflow, nan)
    if b == 0 or math.isinf(a):
        return settle(-math.inf if negative else math.inf, overflow, nan)
    if math.isinf(b):
        return -0.0 if negative else 0.0
    return settle(to_fp16(Fraction(a) / Fraction(b), negative_zero=negative), overflow, nan)


def sqrt(a: float, overflow: str = "saturate", nan: str = "zero") -> float:
    """The root of an fp16 value has no fp16 tie (a tie squared has 23 bits or more), so 60 exact bits decide."""
    if math.isnan(a) or a < 0:
        return settle(math.nan, overflow, nan)
    if a == 0 or math.isinf(a):
        return settle(a, overflow, nan)
    scaled = Fraction(a) * Fraction(4) ** 80
    assert scaled.denominator == 1
    return settle(to_fp16(Fraction(math.isqrt(scaled.numerator), 2**80)), overflow, nan)


def decimal_fp16(value: Decimal) -> float:
    return to_fp16(Fraction(value))


def exp(a: float, overflow: str = "saturate", nan: str = "zero") -> float:
    if math.isnan(a):
        return settle(a, overflow, nan)
    if a > 20:
        return settle(math.inf, overflow, nan)
    if a < -20:
        return 0.0
    with localcontext() as context:
        context.prec = 30
        return settle(decimal_fp16(Decimal(a).exp()), overflow, nan)


def tanh(a: float, overflow: str = "saturate", nan: str = "zero") -> float:
    if math.isnan(a):
        return settle(a, overflow, nan)
    if a == 0 or abs(a) > 20:
        return a if a == 0 else math.copysign(1.0, a)
    with localcontext() as context:
        context.prec = 30
        power = Decimal(2 * a).exp()
        return decimal_fp16((power - 1) / (power + 1))


def sigmoid(a: float, overflow: str = "saturate", nan: str = "zero") -> float:
    if math.isnan(a):
        return settle(a, overflow, nan)
    if abs(a) > 20:
        return 0.0 if a < 0 else 1.0
    with localcontext() as context:
        context.prec = 30
        return decimal_fp16(1 / (1 + (-Decimal(a)).exp()))


def sequential(values: list[float], overflow: str = "saturate", nan: str = "zero") -> float:
    total = settle(values[0], overflow, nan)
    for value in values[1:]:
        total = add(total, value, overflow, nan)
    return total


def pairwise(values: list[float], overflow: str = "saturate", nan: str = "zero") -> float:
    level = [settle(value, overflow, nan) for value in values]
    while len(level) > 1:
        pairs = [add(level[i], level[i + 1], overflow, nan) for i in range(0, len(level) - 1, 2)]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0]


def float32(value: float) -> float:
    """The float32 value nearest to a float64 that is an exact sum of two."""
    if math.isfinite(value) and abs(value) >= 2.0**128 - 2.0**103:
        return math.copysign(math.inf, value)
    return struct.unpack("<f", struct.pack("<f", value))[0]


def same(a: float, b: float) -> bool:
    """Equal bits, all NaN alike."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
