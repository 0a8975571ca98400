"""One spelling of a code -> its key.

A number's key is its decimal form. Numbers of 2**31 up to 2**32 - 1 are signed 32-bit ones printed without their sign,
so `0xfffe795f`, `4294867295` and `-100001` are one code; 64-bit numbers likewise. An E-code's key is in capitals.
"""

import re

NUMBER = r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}"
E_CODE = r"ERR[0-9]{5}|[EW][A-Z][0-9]{4}|[EW][0-9]{5}"

_WORD = (
    r"(?i:(?:[a-z]{1,8}[ _])?[a-z]{0,8}?(?:err(?:or)?|ret(?:urn)?|result|code|title)s?"
    r"(?:[ _]?(?:code|no|num|number|value|val))?)"
)
_WRAPPED = re.compile(
    # What people copy along with the number: a code word, an equals sign, brackets.
    rf"(?:{_WORD}(?:\s+|(?=[=:：\[(-])|$)|(?:错误码|返回码|返回值|错误代码|报错码|错误号|报错|返回)\s*)?"
    r"(?:is\s|是|为|->|[=:：])?\s*[\[('\"]?\s*"
    rf"(?P<code>[-+]?(?:{NUMBER})|(?:{E_CODE}))\s*[\])'\"]?\s*[.。:：,，;；]?",
)
_LEADING_E = re.compile(rf"(?:{E_CODE})[\])'\":.]?", re.IGNORECASE | re.ASCII)
_LONGEST = 80


def normalise(spelling: str) -> str | None:
    """Return the key of one spelling of a code, or None if it spells none.

    Accepts decimal, hexadecimal, negative and unsigned numbers, E-codes in any case, and any of them with a code word,
    an equals sign or brackets around it (`ret = [507899]`, `errno 0x7BC80`, `Title(EL0009)`). Refused: thousands
    separators, decimals, leading zeros, more than 64 bits, several codes.
    """
    text = spelling.strip()
    if not text or len(text) > _LONGEST:
        return None
    if _LEADING_E.fullmatch(text):
        return text.rstrip("])'\":.").upper()
    match = _WRAPPED.fullmatch(text)
    return key(match["code"]) if match else None


def key(token: str) -> str | None:
    """Return the key of a bare number or E-code; None for leading zeros and for more than 64 bits."""
    if token[:1] in "EeWw":
        return token.upper()
    negative = token.startswith("-")
    digits = token.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
    elif len(digits) > 1 and digits.startswith("0"):
        return None
    else:
        value = int(digits)
    if value >= 1 << 64:
        return None
    if negative:
        return str(-value)
    for bits in (32, 64):
        if 1 << (bits - 1) <= value < 1 << bits:
            return str(value - (1 << bits))
    return str(value)
