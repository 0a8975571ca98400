"""Numbers written in words: Chinese numerals and the simple English ones."""

from typing import Final

__all__ = ["CHINESE", "ENGLISH", "chinese", "english"]

_DIGITS: Final = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {"〇": 0, "两": 2, "兩": 2}
_SMALL: Final = {"十": 10, "百": 100, "千": 1000}
_LARGE: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

#: Characters of a Chinese numeral.
CHINESE: Final = "".join((*_DIGITS, *_SMALL, *_LARGE))
_LONGEST: Final = 20

ENGLISH: Final[dict[str, int]] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
}  # fmt: skip


def chinese(run: str) -> int | None:
    """Return the value of a Chinese numeral; None for what is none (万一, 三四) and for longer than 20 characters.

    三千二 is 3200 as it is spoken; 百万 needs no digit before it; digits read one by one (二零二四) need a 零.
    """
    if not run or len(run) > _LONGEST:
        return None
    if all(character in _DIGITS for character in run):
        spelled = len(run) == 1 or "零" in run or "〇" in run
        return int("".join(str(_DIGITS[character]) for character in run)) if spelled else None
    return None if run in ("百", "千") else _by_units(run)


def _by_units(run: str) -> int | None:
    total = section = 0
    digit: int | None = None
    step = 10**9  # the small unit before, within a section
    last = 1  # the unit just before, for 三千二
    for place, character in enumerate(run):
        if character in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[character]
            last = 1 if digit == 0 else last
        elif character in _SMALL:
            unit = _SMALL[character]
            if unit >= step or (digit is None and not (unit == 10 or place == 0)):
                return None
            section += (1 if digit is None else digit) * unit
            digit, step, last = None, unit, unit
        else:
            unit = _LARGE[character]
            section += digit or 0
            if section == 0 and not (total and unit > 10**4):
                return None
            total = (total + section) * unit if total < unit else total + section * unit
            section, digit, step, last = 0, None, 10**9, unit
    if digit and last > 10:
        digit *= last // 10
    return total + section + (digit or 0)


def english(words: list[str]) -> int | None:
    """Return the value of English number words ("four thousand", "twenty five"), None for what is none."""
    total = section = 0
    before = ""
    for word in words:
        value = ENGLISH[word]
        if value == 100:
            section = (section or 1) * 100
        elif value >= 1000:
            total += (section or 1) * value
            section = 0
        elif before and ENGLISH[before] < 100 and not (ENGLISH[before] >= 20 and value < 10):
            return None
        else:
            section += value
        before = word
    return total + section
