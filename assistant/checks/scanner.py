"""One pass over a text: numbers, shapes and types where they begin, identifiers and labels skipped."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal

from assistant.checks.numerals import CHINESE, ENGLISH, chinese, english
from assistant.checks.tokens import Token
from assistant.checks.units import MAGNITUDES, UNIT, dimension, dtype_of, unit_named, whole_or_float

__all__ = ["Scanner"]

_DIGITS_MOST: Final = 400
_AXES_MOST: Final = 16
_LABEL: Final = re.compile(
    r"(?:(?<![a-z0-9_])(?:opset(?:[ _]version)?|version|ver|v|cann|sdk|python|cuda|onnx|errno|error|code|issue)"
    r"|版本|版本号|错误码|返回码|算子集|第|#|::)[ ]{0,2}(?:[=:]|is|为|是|版本)?[ ]{0,2}$"
)
_HEX: Final = re.compile(r"0x[0-9a-f]{1,16}(?![0-9a-z_])")
_GROUPED: Final = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3}){1,8}+(?![0-9]|,[0-9])(?:\.[0-9]++)?+")
_NUMBER: Final = re.compile(r"(?:[0-9]++(?:_[0-9]++)*+(?:\.[0-9]++)?+|\.[0-9]++)(?:e[+-]?[0-9]++)?+")
_POINT: Final = re.compile(r"(?<!\.)\.[0-9]")
_FRACTION: Final = re.compile(r"([0-9]{1,12})/([0-9]{1,12})(?![0-9a-z_/]|\.[0-9])")
_POWER: Final = re.compile(r"([0-9]{1,4}) ?(?:\^|\*\*) ?(-?[0-9]{1,2})(?![0-9a-z_.])")
_POWER_ZH: Final = re.compile(r"([0-9]{1,4}) ?的 ?(-?[0-9]{1,2}) ?次[方幂]")
_AXIS: Final = r"(?:-1|[0-9]{1,12}+(?![0-9_]|\.[0-9]|(?!x)[a-z]))"
_SHAPE: Final = re.compile(rf"{_AXIS}(?: {{0,2}}(?:[x×]|\*(?!\*)) {{0,2}}{_AXIS})++")
_ZH_PART: Final = re.compile(r" ?(百)?分之 ?")
_SIGN: Final = re.compile(r"[+-](?=[0-9]|\.[0-9]|inf(?![a-z0-9_]))|±(?= ?[0-9.])")
_WORD: Final = re.compile(r"[a-z_][a-z0-9_]*+")
_RUN: Final = re.compile(r"[a-z0-9_]++")
_HYPHENED: Final = re.compile(r"(?:-(?=[0-9])|\.(?=[0-9]))[a-z0-9_.]*+")
_TYPE_PAIR: Final = re.compile(r"([a-z]+[0-9]{1,2})x([a-z]+[0-9]{1,2})")
_TYPE_SPACED: Final = re.compile(r"(u?int|float|fp|bf) (4|8|16|32|64)(?![0-9a-z_.])(?! ?[x×*] ?[0-9])")
_TYPE_BITS: Final = re.compile(
    r"(unsigned|signed)[ -](4|8|16|32)[ -]?bit|(4|8|16|32) ?(?:位|bit)的?(无符号|有符号)"
    r"|(无符号|有符号) ?(4|8|16|32) ?(?:位|bit)"
)
_TYPE_WORDS: Final = re.compile(r"(half|single|double)[ -]precision|(半|单|双)精度|half(?! +(?:of|the|a|an|as|way)\b)")
_ZH_RUN: Final = re.compile(f"[{CHINESE}]+")
_MAGNITUDE: Final = re.compile(
    r"([kKMGT])(?![A-Za-z0-9_])|[ ]?(百万|千万|十万|百亿|千亿|万亿|[百千万亿萬億])(?![一二三四五六七八九]|字节|赫|分)"
)
_MORE: Final = re.compile(r"([0-9]{1,4})([百千万])")
_DECIMAL: Final = re.compile(rf"([{CHINESE}]{{1,8}})点([零〇一二三四五六七八九]{{1,12}})(?![{CHINESE}])")
_MAGNITUDE_EN: Final = re.compile(r" (thousand|million|billion)(?![a-z0-9_])")
_CLASSIFIER: Final = re.compile(r"[ ]?(?:[个次项路层帧张条核头组块行列级步维倍遍份轮颗台件种批段卡位]|线程|通道|元素)")
_ARTICLE: Final = re.compile(r"[ ]?[个次种样些点步下般直条组块份批台位]")
_BEFORE_NUMERAL: Final = frozenset("第每某这那哪任同唯统逐另几数上好十百千万亿同单初")
_AFTER_NUMERAL: Final = frozenset("几多余来点")
_LABELS: Final = frozenset({"opset", "version"})


class Scanner:
    """One pass over a text; every method takes a position and returns where to go on."""

    def __init__(self, text: str, shown: str, low: str, names: frozenset[str]) -> None:
        self.text, self.shown, self.low, self.names = text, shown, low, names
        self.found: list[Token] = []
        self.inside = 0
        self.last_close = low.rfind("]")

    def tokens(self) -> list[Token]:
        """Return the numbers, shapes and types of the text, in order."""
        at = 0
        low = self.low
        while at < len(low):
            character = low[at]
            if "0" <= character <= "9" or (character == "." and _POINT.match(low, at)):
                at = self.number(at, at)
            elif character in "+-±":
                at = self.sign(at)
            elif "a" <= character <= "z" or character == "_":
                at = self.word(at)
            elif character in CHINESE:
                at = self.numeral(at)
            elif character in "半单双无有" or character == "百":
                at = self.type_word(at) or at + 1
            else:
                if character == "[":
                    self.inside += at < self.last_close
                elif character in "]\n":
                    self.inside = max(self.inside - 1, 0) if character == "]" else 0
                at += 1
        return self.found

    def add(
        self, kind: Literal["number", "shape", "dtype"], start: int, end: int, value: object, **more: object
    ) -> int:
        """Add a token unless a label stands before it, and return its end."""
        label = _LABEL.search(self.low, max(0, start - 24), start)
        # A label that the check itself asks for (opset of a check of opsets) is no label there.
        if label is None or any(name in label[0] for name in self.names if name in _LABELS):
            self.found.append(Token(kind, self.text[start:end], start, end, value, **more))  # type: ignore[arg-type]
        return end

    def sign(self, at: int) -> int:
        """Read a number behind a sign; a dash behind a letter or digit is none."""
        low = self.low
        match = _SIGN.match(low, at)
        before = low[at - 1] if at else " "
        if not match or (before.isascii() and before.isalnum()) or before in ")]_":
            return at + 1
        if low.startswith("inf", at + 1):
            return self.special(at, at + 1)
        if low[at] == "±":
            return self.both_signs(at)
        return self.number(at, at + 1)

    def both_signs(self, at: int) -> int:
        """Read ±3 as the range from -3 to 3."""
        start = at + 1 + self.low.startswith(" ", at + 1)
        count = len(self.found)
        end = self.number(start, start)
        if len(self.found) == count + 1 and self.found[-1].kind == "number":
            one = self.found.pop()
            assert not isinstance(one.value, str | tuple)
            low_end, high_end = replace(one, value=-one.value), one
            self.found.append(
                Token("range", self.text[at:end], at, end, (-one.value, one.value), one.unit, (low_end, high_end))
            )
        return end

    def number(self, start: int, at: int) -> int:
        """Read what begins with a digit at `at`; `start` is its sign's place, or the same."""
        low = self.low
        negative = low[start] == "-"
        if (match := _SHAPE.match(low, start if negative else at)) and (start == at or negative):
            return self.shape(match)
        if match := _POWER.match(low, at) or _POWER_ZH.match(low, at):
            power = Fraction(int(match[1])) ** int(match[2]) if int(match[1]) else Fraction(0)
            return self.finish(start, match.end(), power, negative)
        if match := _FRACTION.match(low, at):
            bottom = int(match[2])
            if bottom and low[at - 1 : at] != "/":
                return self.finish(start, match.end(), Fraction(int(match[1]), bottom), negative)
        if match := _HEX.match(low, at):
            return self.finish(start, match.end(), Fraction(int(match[0], 16)), negative)
        if not self.inside and (match := _GROUPED.match(low, at)) and not self.in_list(at):
            whole, _, rest = match[0].partition(".")
            other = () if rest or start != at else tuple(int(part) for part in whole.split(","))
            return self.finish(start, match.end(), Fraction(match[0].replace(",", "")), negative, other, bool(rest))
        match = _NUMBER.match(low, at)
        assert match
        digits = match[0].replace("_", "")
        if len(digits) > _DIGITS_MOST:
            return match.end()
        is_float = not digits.isdecimal()
        size = float(digits)
        if not math.isfinite(size) or (size == 0 and digits.partition("e")[0].strip("0.")):
            return match.end()
        return self.finish(start, match.end(), Fraction(digits), negative, (), is_float)

    def in_list(self, at: int) -> bool:
        """Tell whether digits and a comma stand before: 1,5,1,000 is no number with thousands."""
        before = self.low[max(0, at - 2) : at]
        return len(before) == 2 and before[1] == "," and before[0].isdecimal()

    def finish(
        self, start: int, end: int, value: Fraction, negative: bool, other: tuple[int, ...] = (), is_float: bool = False
    ) -> int:
        """Add a number with the magnitude and unit that follow it."""
        end, value, is_float = self.magnitude(end, value, is_float)
        end, unit = self.unit(end)
        if self.low.startswith("半", end) and unit and dimension(unit) == "time":
            end, value, is_float = end + 1, value + Fraction(1, 2), True
        if self.is_glued(end):
            run = _RUN.match(self.low, end)
            return run.end() if run else end
        if not unit and (part := _ZH_PART.match(self.low, end)):
            after = _NUMBER.match(self.low, part.end())
            if after and len(after[0]) < 20 and value and not part[1]:
                value, end, is_float = Fraction(after[0].replace("_", "")) / value, after.end(), True
        value = -value if negative else value
        number = float(value) if is_float else whole_or_float(value)
        return end if number is None else self.add("number", start, end, number, unit=unit, other=other)

    def magnitude(self, end: int, value: Fraction, is_float: bool) -> tuple[int, Fraction, bool]:
        """Read k, M, 万, million ... behind a number: end, value and whether it is a float."""
        if match := _MAGNITUDE_EN.match(self.low, end):
            return match.end(), value * ENGLISH[match[1]], False
        if UNIT.match(self.low, end):
            return end, value, is_float
        if not (match := _MAGNITUDE.match(self.shown, end)):
            return end, value, is_float
        if match[1] and self.low[end + 1 : end + 2] in self.names and self.low[end + 1 : end + 2]:
            return end, value, is_float
        value *= MAGNITUDES[match[1] or match[2]]
        end = match.end()
        while match[2] and (more := _MORE.match(self.low, end)):
            value += int(more[1]) * MAGNITUDES[more[2]]
            end = more.end()
        return end, value, False

    def unit(self, end: int) -> tuple[int, str]:
        """Read the unit behind a number, "" for none."""
        if match := UNIT.match(self.low, end):
            return match.end(), unit_named(match[1] or match[2])
        if self.shown.startswith("B", end) and not self.low[end + 1 : end + 2].isalnum():
            return end + 1, "byte"
        return end, ""

    def is_glued(self, end: int) -> bool:
        """Tell whether the letters after a number make it an identifier; x and a digit, or a known name, do not."""
        low = self.low
        after = low[end : end + 1]
        if not ("a" <= after <= "z" or after == "_"):
            return after == "." and low[end + 1 : end + 2].isdecimal()
        if after == "x" and low[end + 1 : end + 2].isdecimal():
            return False
        word = _WORD.match(low, end)
        return not (word and (word[0] in self.names or word[0].rstrip("s") in self.names))

    def shape(self, match: re.Match[str]) -> int:
        """Add the whole numbers that are joined by x, × or *."""
        axes = [int(axis) for axis in re.split(r" *[x×*] *", match[0])]
        end = match.end()
        if len(axes) <= _AXES_MOST:
            self.add("shape", match.start(), end, tuple(axes))
        if self.low.startswith("x", end) and (word := _WORD.match(self.low, end + 1)) and dtype_of(word[0]):
            return end + 1  # 1x64xf32
        return end

    def special(self, start: int, at: int) -> int:
        """Read inf or nan where a value must stand: in a list in brackets, or after an equals sign."""
        before = self.low[max(0, start - 2) : start].rstrip()
        if self.inside or before.endswith("="):
            value = float(self.low[start : at + 3])
            return self.add("number", start, at + 3, value)
        return at + 3

    def word(self, at: int) -> int:
        """Read a type or a number word, or skip an identifier with the digits that belong to it."""
        low = self.low
        match = _WORD.match(low, at)
        assert match
        word, end = match[0], match.end()
        if typed := self.type_word(at):
            return typed
        if word in ("inf", "nan"):
            return self.special(at, at)
        if word in ENGLISH:
            return self.english(at)
        if dtype_of(word) and word != "half":
            return self.add("dtype", at, end, dtype_of(word))
        if (pair := _TYPE_PAIR.fullmatch(word)) and dtype_of(pair[1]) and dtype_of(pair[2]):
            self.add("dtype", at, at + pair.end(1), dtype_of(pair[1]))
            return self.add("dtype", at + pair.start(2), end, dtype_of(pair[2]))
        if word == "x" and low[end : end + 1].isdecimal():
            return end
        name = word.rstrip("0123456789")
        if 1 < len(name) < len(word) and name in self.names:
            return at + len(name)
        if word[0] == "x" and word[1:].isdecimal() and at and low[at - 1].isdecimal():
            return at + 1  # 100x0.5
        if word not in self.names and (tail := _HYPHENED.match(low, end)):
            return tail.end()
        return end

    def type_word(self, at: int) -> int:
        """Add a type named in words at a position and return its end, 0 if none is there."""
        low = self.low
        if match := _TYPE_BITS.match(low, at):
            sign = match[1] or match[4] or match[5]
            bits = match[2] or match[3] or match[6]
            return self.add("dtype", at, match.end(), f"{'int' if sign in ('signed', '有符号') else 'uint'}{bits}")
        if (match := _TYPE_WORDS.match(low, at)) and not low[match.end() : match.end() + 1].isalnum():
            first = match[1] or match[2] or "half"
            kind = {"half": "fp16", "半": "fp16", "single": "fp32", "单": "fp32"}.get(first, "fp64")
            return self.add("dtype", at, match.end(), kind)
        if (match := _TYPE_WORDS.match(low, at)) and match[2]:
            return self.add("dtype", at, match.end(), {"半": "fp16", "单": "fp32"}.get(match[2], "fp64"))
        if match := _TYPE_SPACED.match(low, at):
            return self.add("dtype", at, match.end(), dtype_of(match[1] + match[2]))
        return 0

    def english(self, at: int) -> int:
        """Read a number in English words."""
        words: list[str] = []
        end = at
        while len(words) < 8 and (match := _WORD.match(self.low, end + bool(words))):
            if match[0] not in ENGLISH or (words and self.low[end] not in " -"):
                break
            words.append(match[0])
            end = match.end()
        value = english(words)
        if value is None or words in (["one"], ["zero"], ["hundred"]) or self.low.startswith("'", end):
            return end  # one of them, zero point, two's complement
        end, unit = self.unit(end)
        return self.add("number", at, end, value, unit=unit, weak=len(words) == 1 and value < 100)

    def numeral(self, at: int) -> int:
        """Read a Chinese numeral; single characters count only before a unit or a classifier."""
        low = self.low
        match = _ZH_RUN.match(low, at)
        assert match
        run, end = match[0], match.end()
        before = low[at - 1 : at]
        if run == "零" and low.startswith("点", end) and not self.decimal(at):
            return end
        if decimal := self.decimal(at):
            return self.finish(at, decimal[0], decimal[1], False, (), True)
        if part := _ZH_PART.match(low, end if run != "百" else at):
            return self.part(at, run, part)
        value = chinese(run)
        if value is None or before in _BEFORE_NUMERAL or low[end : end + 1] in _AFTER_NUMERAL:
            return end
        unit = UNIT.match(low, end)
        if run == "千万" and not (unit or _CLASSIFIER.match(low, end)):
            return end
        if len(run) == 1:
            if not (unit or _CLASSIFIER.match(low, end)) or (run == "一" and not unit and _ARTICLE.match(low, end)):
                return end
            if unit:
                return self.finish(at, end, Fraction(value), False)
            return self.add("number", at, end, value, weak=True)
        return self.finish(at, end, Fraction(value), False)

    def decimal(self, at: int) -> tuple[int, Fraction] | None:
        """Read 三点五 and 零点零二; 零点 before a numeral with units is the zero point."""
        match = _DECIMAL.match(self.low, at)
        if not match or (whole := chinese(match[1])) is None:
            return None
        digits = "".join(str(chinese(character)) for character in match[2])
        return match.end(), Fraction(f"{whole}.{digits}")

    def part(self, at: int, run: str, part: re.Match[str]) -> int:
        """Read 百分之五 (5 %) and 二分之一 (1/2)."""
        low = self.low
        bottom = 100 if part[1] else chinese(run)
        if digits := _NUMBER.match(low, part.end()):
            top = Fraction(digits[0].replace("_", "")) if len(digits[0]) < 20 and "e" not in digits[0] else None
            end = digits.end()
        else:
            numeral = _ZH_RUN.match(low, part.end())
            value = chinese(numeral[0]) if numeral else None
            top = None if value is None else Fraction(value)
            end = numeral.end() if numeral else part.end()
        if top is None or not bottom:
            return end
        if part[1]:
            number = whole_or_float(top)
            return self.add("number", at, end, number, unit="%")
        return self.add("number", at, end, float(top / bottom))
