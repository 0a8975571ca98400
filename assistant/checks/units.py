"""Units and types as people write them: spelling -> dimension and factor, exact."""

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

__all__ = ["MAGNITUDES", "UNIT", "convert", "dimension", "dtype_of", "exact", "unit_named", "whole_or_float"]

_DIMENSIONS: Final[dict[str, dict[str, Fraction]]] = {
    "time": {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9),
             "minute": Fraction(60), "hour": Fraction(3600)},
    "frequency": {"Hz": Fraction(1), "kHz": Fraction(10**3), "MHz": Fraction(10**6), "GHz": Fraction(10**9)},
    # SI prefixes are decimal and IEC prefixes binary, as IEC 80000-13 has them: 1 KB is 1000 bytes, 1 KiB is 1024.
    "bytes": {"byte": Fraction(1), "KB": Fraction(10**3), "MB": Fraction(10**6), "GB": Fraction(10**9),
              "TB": Fraction(10**12), "KiB": Fraction(2**10), "MiB": Fraction(2**20), "GiB": Fraction(2**30)},
    "bandwidth": {"byte/s": Fraction(1), "KB/s": Fraction(10**3), "MB/s": Fraction(10**6), "GB/s": Fraction(10**9),
                  "TB/s": Fraction(10**12), "MiB/s": Fraction(2**20), "GiB/s": Fraction(2**30)},
    "bits": {"bit": Fraction(1)},
    "bit rate": {"bit/s": Fraction(1), "kbit/s": Fraction(10**3), "Mbit/s": Fraction(10**6), "Gbit/s": Fraction(10**9)},
    "rate": {"1/s": Fraction(1)},
    "operations": {"op/s": Fraction(1), "GOPS": Fraction(10**9), "TOPS": Fraction(10**12), "MOPS": Fraction(10**6)},
    "macs": {"MAC": Fraction(1), "MMAC": Fraction(10**6), "GMAC": Fraction(10**9), "TMAC": Fraction(10**12)},
    "cycles": {"cycle": Fraction(1)},
    "share": {"%": Fraction(1, 100)},
    "level": {"dB": Fraction(1)},
}  # fmt: skip

#: Other spellings, lower case, of the units above.
_SPELLINGS: Final[dict[str, str]] = {
    "秒": "s", "秒钟": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "毫秒": "ms", "msec": "ms",
    "millisecond": "ms", "milliseconds": "ms", "微秒": "us", "µs": "us", "μs": "us", "usec": "us",
    "microsecond": "us", "microseconds": "us", "纳秒": "ns", "分钟": "minute", "minutes": "minute", "小时": "hour",
    "hours": "hour", "赫兹": "Hz", "赫": "Hz", "千赫": "kHz", "兆赫": "MHz", "兆赫兹": "MHz", "吉赫": "GHz",
    "字节": "byte", "bytes": "byte", "千字节": "KB", "兆字节": "MB", "吉字节": "GB", "kbyte": "KB",
    "kbytes": "KB", "mbyte": "MB", "mbytes": "MB", "gbyte": "GB", "gbytes": "GB", "bytes/s": "byte/s", "字节/秒":
    "byte/s", "mb/sec": "MB/s", "gb/sec": "GB/s", "mb/秒": "MB/s", "gb/秒": "GB/s", "mbytes/s": "MB/s", "gbytes/s":
    "GB/s", "bits": "bit", "比特": "bit", "位": "bit", "bps": "bit/s", "kbps": "kbit/s", "mbps": "Mbit/s", "gbps":
    "Gbit/s", "fps": "1/s", "qps": "1/s", "ips": "1/s", "帧/秒": "1/s", "帧/s": "1/s", "帧每秒": "1/s", "次/秒":
    "1/s", "次/s": "1/s", "次每秒": "1/s", "frames/s": "1/s", "inferences/s": "1/s", "ops": "op/s", "flops": "op/s",
    "gflops": "GOPS", "tflops": "TOPS", "mflops": "MOPS", "gop/s": "GOPS", "top/s": "TOPS", "macs": "MAC", "mmacs":
    "MMAC", "gmacs": "GMAC", "tmacs": "TMAC", "cycles": "cycle", "周期": "cycle", "个周期": "cycle", "percent": "%",
    "db": "dB",
}  # fmt: skip

_KNOWN: Final = {unit: (name, factor) for name, units in _DIMENSIONS.items() for unit, factor in units.items()}
_NAMED: Final = {unit.lower(): unit for unit in _KNOWN if unit not in ("1/s", "minute", "hour")} | _SPELLINGS

#: Factors that may stand glued to a number, and those of Chinese.
MAGNITUDES: Final[dict[str, int]] = {
    "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "百": 10**2, "千": 10**3, "万": 10**4, "十万": 10**5,
    "百万": 10**6, "千万": 10**7, "亿": 10**8, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12, "萬": 10**4, "億": 10**8,
}  # fmt: skip


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


#: A unit right after a number (lower-case text); a Latin one before = is the name of what follows.
UNIT: Final = re.compile(
    rf"[ -]?(?:({_alternatives(w for w in _NAMED if w[-1:].isascii() and w[-1:].isalnum())})"
    r"(?![a-z0-9_])(?! ?(?:=|: ?[0-9.+-]))"
    rf"|({_alternatives(w for w in _NAMED if not (w[-1:].isascii() and w[-1:].isalnum()))})(?!字节|赫|置))"
)

_LONG_TYPE: Final = re.compile(r"(u?)(?:s?int)(\d{1,2})(?:_t)?")
_SHORT_TYPE: Final = re.compile(r"([isuq]|ui)(4|8|16|32|64)")
_FLOATS: Final[dict[str, str]] = {
    "fp16": "fp16", "float16": "fp16", "f16": "fp16", "half": "fp16", "binary16": "fp16", "半精度": "fp16",
    "fp32": "fp32", "float32": "fp32", "f32": "fp32", "float": "fp32", "单精度": "fp32", "binary32": "fp32",
    "fp64": "fp64", "float64": "fp64", "f64": "fp64", "double": "fp64", "双精度": "fp64",
    "bf16": "bf16", "bfloat16": "bf16", "fp8": "fp8", "bool": "bool",
}  # fmt: skip


def unit_named(word: str) -> str:
    """Return the unit of a spelling, or "" for none."""
    return _NAMED.get(word.lower(), "1/s" if word == "1/s" else "")


def dimension(unit: str) -> str:
    """Return what a unit measures; a unit that is not listed is a dimension of its own, "" is a plain number."""
    known = unit if unit in _KNOWN else unit_named(unit)
    return _KNOWN[known][0] if known else unit


def exact(number: float) -> Fraction:
    """Return the decimal number that a float was written as; finite only."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def convert(number: float, unit: str, target: str) -> float | None:
    """Return a number in another unit (whole numbers as int), None where they measure different things.

    A number without unit is taken in the target's; a share such as 95 % becomes 0.95 for a plain number, and bits,
    cycles and MACs are plain counts there.
    """
    if not unit or unit == target:
        return number
    name, factor = _KNOWN[unit]
    known = target if target in _KNOWN else unit_named(target)
    if not target and name in ("share", "bits", "cycles", "macs"):
        other = Fraction(1)
    elif known and _KNOWN[known][0] == name:
        other = _KNOWN[known][1]
    else:
        return None
    if not math.isfinite(number):
        return number
    return whole_or_float(exact(number) * factor / other)


def whole_or_float(number: Fraction) -> float | None:
    """Return an int if it is one, else a float; None beyond its range."""
    if number.denominator == 1:
        return int(number)
    try:
        return float(number)
    except OverflowError:
        return None


def dtype_of(word: str) -> str:
    """Return the type that a lower-case word names (int8, uint16, fp16 ...), or ""."""
    if word in _FLOATS:
        return _FLOATS[word]
    if len(word) > 12:
        return ""
    if long := _LONG_TYPE.fullmatch(word):
        return f"{long[1]}int{int(long[2])}" if 1 <= int(long[2]) <= 64 else ""
    if short := _SHORT_TYPE.fullmatch(word):
        return f"{'uint' if short[1][0] == 'u' else 'int'}{short[2]}" if short[1] != "q" else ""
    return ""
