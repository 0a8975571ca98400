"""A code in any spelling -> what it means on every platform; a text -> the codes that stand in it.

A number in a text is a code only if something says so: a code word before it (`ret = [507899]`, 错误码 507018), a
bracket behind `result` or `return`, a hexadecimal number that a table has, or a list that continues a code. Weak words
such as `error` or 返回 need a number of at least five digits that a table has. E-codes and symbols count if a table has
them.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from assistant.logs.spelling import E_CODE, NUMBER, key, normalise
from assistant.logs.table import Table, table
from assistant.logs.types import Found, Meaning

_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9_.])(?:(?P<number>(?:(?<![0-9A-Za-z_)\]])-(?=[0-9]))?(?:{NUMBER}))(?![A-Za-z0-9_])"
    rf"|(?P<coded>{E_CODE})(?![A-Za-z0-9_])"
    r"|(?P<symbol>[A-Za-z][A-Za-z0-9_]{5,79})(?![A-Za-z0-9_]))",
    re.ASCII,
)
# How far before a number its code word is looked for; bounds the work at each number.
_REACH = 56
_LINK = r"(?:\s{0,3}(?:\bis\b|\bwas\b|\bare\b|\bof\b|\bas\b|是|为|即|等于|->|=>|[=:：＝\[(（'\"`#“「]))*\s{0,3}"
_JOINED = r"\s{0,3}(?:\bis\b|\bwas\b|是|为|->|=>|[=:：＝\[(（])" + _LINK
_STRONG = re.compile(
    r"(?:(?i:err(?:or)?[ _-]?(?:codes?|no|num(?:ber)?)|ret(?:urn)?[ _-]?(?:codes?|val(?:ue)?)|inner[ _]?code"
    r"|\b(?:runtime|ge|acl|drv|hal|hccl|rt)[ _](?:result|ret))"
    r"|错误码|返回码|返回值|错误代码|错误号|报错码|故障码|错误编号|返回代码)"
    r"(?i:_str\b)?['\"`]?" + _LINK + r"$"
)
_RET = re.compile(r"(?:(?<![A-Za-z])(?:[Rr]et|RET|rc)|[a-z_](?:Ret|RET)|_ret)['\"]?" + _JOINED + r"$")
_BRACKET = re.compile(r"(?i:\b(?:result|return|code|errno|status|失败|错误))\s{0,3}[=:]?\s{0,3}[\[(]\s{0,3}$")
_WEAK = re.compile(
    r"(?:(?i:(?<![A-Za-z])(?:errors?|codes?|ret|errs?|failed(?: with)?|failure|returns?|returned|returning|"
    r"throws?|raises?|reports?|reported))"
    r"|报错?|返回|错误|失败|报了|代码|码)(?:了|的)?" + _LINK + r"$"
)
# What every code word contains one of: looked for once in a text, before the others at each number.
_HINT = re.compile(r"(?i:ret|err|rc|code|fail|throw|raise|report|result)|[码误错返值号败报]")
# Codes of something else.
_FOREIGN = re.compile(
    r"(?i:https?|sql|sqlite|zip|post(?:al)?|area|country|product|bar|source|morse|colou?r|unicode|exit|status|discount|"
    r"promo|security|invite|verification|dress|build|stock|part|order|lines? of|round(?:ing|-?off)?|relative|absolute|"
    r"mean|max|squared?|quanti[sz]ation|windows)[ _-]{0,2}"
    r"(?i:error[ _-]?|return[ _-]?)?(?i:codes?|errors?|number|status)?" + _LINK + r"$"
    r"|(?:邮政?编?码|邮编|验证码|条码|条形码|编码|区号|区码|密码|号码|页码|源码|误差)" + _LINK + r"$"
)
_ADDRESS = re.compile(
    r"(?i:addr(?:ess)?|\bpc|param|workspace|ioa|weight|tiling|ctrl|ptr|pointer|offset|size|len(?:gth)?|base|start|end|"
    r"地址|偏移|大小)['\"]?\s{0,3}[:=\[(]?\s{0,3}$"
)
# What makes the number a quantity, a decimal, a date, a version or an address.
_QUANTITY = re.compile(
    r"[.,:/-][0-9]|%|℃|°|\s?(?:%|[kKMG]i?B\b|[KMG]B?/s|GHz|MHz|Hz\b)"
    r"|[^\S\n]?(?i:rows?|lines?|times?|items?|bytes?|bits?|steps?|samples?|images?|tokens?|records?|files?|elements?|pixels?|entries|"
    r"results?|warnings?|errors?|hits?|epochs?|iterations?|people|users?|values?|points?|classes|layers?|frames?|boxes|"
    r"ms|us|ns|s|sec(?:onds?)?|min(?:utes?)?|hours?|days?|cycles|fps|mm|cm|km|px|mb|kb|gb)\b"
    r"|[^\S\n]?[个次行条张元人字步轮帧毫秒倍块件名位年月日天点度遍层]"
)
_LISTED = re.compile(r"\s{0,3}(?:,|，|、|/|;|；|and\b|or\b|和|或者?|与|及|,\s?and\b|,\s?or\b)\s{0,3}")
_LINKS = " \t=:：＝[(（'\"`#“「->"
_ASSIGNED = re.compile(
    r"\s*(?:(?:const|static|let|var|auto|int|long|unsigned|uint32_t|int32_t)\s+)*[A-Za-z_]\w*\s*=\s*"
)
_SEMICOLON = re.compile(r"\s{0,3};")
_LEAST_DIGITS = 5
_FIVE_DIGITS = 10 ** (_LEAST_DIGITS - 1)
_LONGEST_E_CODE = 8
_HEX_DIGITS = 5


def lookup(text_or_code: str, platform: str | None = None) -> tuple[Meaning, ...]:
    """Return what a code means, one meaning for each platform that has it, in the order of `platforms.toml`.

    Args:
        text_or_code: a code in any spelling, a symbol, or a text with codes in it (all their meanings, in text order).
        platform: a table (`ascend-rt`), or a platform that takes codes from several (`nano`, `ascend`, `horizon`); the
            meanings of others are left out.

    Returns:
        Empty if no table has the code; more than one if it is ambiguous.
    """
    known = table()
    wanted = None if platform is None else frozenset([platform.casefold()])
    meanings: dict[tuple[str, str], Meaning] = {}
    for meaning in _meanings(text_or_code, known):
        if wanted is None or known.belongs(meaning, wanted):
            meanings.setdefault((meaning.platform, meaning.code), meaning)
    return tuple(meanings.values())


def find_codes(text: str) -> tuple[Found, ...]:
    """Return the codes in a text, in order and without overlap; success (0) is none. Time is linear in the length."""
    return tuple(_found(text, table()))


def _meanings(text: str, known: Table) -> Iterator[Meaning]:
    code = normalise(text)
    if code is not None:
        yield from known.of(code)
        return
    named = known.names.get(text.strip().upper())
    if named:
        yield from named
        return
    for found in find_codes(text):
        if found.spelling in known.symbols:
            yield from known.names[found.spelling.upper()]
        else:
            yield from known.of(found.code)


def _found(text: str, known: Table) -> Iterator[Found]:
    last = -1
    hints = [hint.start() for hint in _HINT.finditer(text)]
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match["number"] is None:
            code = _named(text, match, known)
        else:
            listed = last >= 0 and _LISTED.fullmatch(text, last, start) is not None
            place = bisect_left(hints, start)
            is_hinted = place > 0 and hints[place - 1] >= start - _REACH
            # Without a code word only a number of five digits or more can be a code.
            code = None
            if is_hinted or end - start >= _LEAST_DIGITS:
                code = _number(text, start, end, listed, is_hinted, known)
        if code is not None:
            yield Found(code, text[start:end], start, end)
            last = end


def _named(text: str, match: re.Match[str], known: Table) -> str | None:
    """Return the key of an E-code or a symbol, if a table has it or the text says that it is a code."""
    coded, symbol = match["coded"], match["symbol"]
    if coded is not None:
        return coded if coded in known.meanings or _is_message(text, match) else None
    if symbol in known.symbols:
        return known.names[symbol.upper()][0].code
    # People type E-codes in small letters too.
    upper = symbol.upper()
    return upper if len(upper) <= _LONGEST_E_CODE and upper in known.meanings else None


def _is_message(text: str, match: re.Match[str]) -> bool:
    """Return whether an E-code that no table has stands as `Title(EL0099):`, behind a code word, or heads its line."""
    start, end = match.span()
    before = text[max(0, start - _REACH) : start].rpartition("\n")[2]
    if text[end : end + 1] == ":" and not before.strip():
        return start <= _REACH or "\n" in text[start - _REACH : start]
    if text[end : end + 2] == "):" and before.endswith("("):
        return True
    return _STRONG.search(before) is not None and _FOREIGN.search(before) is None


def _number(text: str, start: int, end: int, listed: bool, is_hinted: bool, known: Table) -> str | None:
    """Return the key of the number at start:end if it is a code there; a code word may be near only if hinted."""
    code = key(text[start:end])
    if code is None or code == "0" or _QUANTITY.match(text, end):
        return None
    is_long = abs(int(code)) >= _FIVE_DIGITS and bool(known.of(code))
    if listed and is_long:
        return code
    before = text[max(0, start - _REACH) : start].rpartition("\n")[2]
    word = before.rstrip(_LINKS)[-1:]
    is_worded = is_hinted and (word.isalpha() or word == "_")
    if is_worded and (_STRONG.search(before) or _RET.search(before)):
        is_code = is_long or not _is_assignment(text, before, end)
        return code if is_code and not _FOREIGN.search(before) else None
    if not is_long:
        return None
    if text[start : start + 2] in ("0x", "0X"):
        return code if end - start - 2 >= _HEX_DIGITS and not _ADDRESS.search(before) else None
    if _BRACKET.search(before) or (code.startswith("-") and before.endswith(("[", "(", "（"))):
        return code
    is_round = int(code) % 1000 == 0 and not before.rstrip().endswith((":", "：", "[", "("))
    is_said = is_worded and not is_round and _WEAK.search(before) and not _FOREIGN.search(before)
    return code if is_said else None


def _is_assignment(text: str, before: str, end: int) -> bool:
    """Return whether the number is assigned in a line of source code rather than printed in a log."""
    if before.lstrip().startswith("#define"):
        return True
    if not before.rstrip().endswith("="):
        return False
    return _SEMICOLON.match(text, end) is not None or _ASSIGNED.fullmatch(before) is not None
