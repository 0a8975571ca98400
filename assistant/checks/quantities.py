"""Quantities in a text: numbers with units, Chinese numerals, shapes, lists, ranges, types and file names.

text -> plain (full width and dashes made ASCII, same length) -> one scan from left to right -> tokens
     -> neighbours joined to lists and ranges

Every step is linear: patterns of bounded length look at a position, or it belongs to one run that is skipped whole.
Versions, labels and identifiers (1.2.3, opset 11, resnet50, E19010, 035A) are no quantities.
"""

import re
from collections.abc import Iterator
from typing import Final

from assistant.checks.scanner import Scanner
from assistant.checks.tokens import Token, lowered, plain
from assistant.checks.units import convert, dimension

__all__ = ["Token", "read", "scan"]

_EXTENSIONS: Final = (
    "npy|npz|bin|raw|dat|txt|csv|json|toml|yaml|yml|onnx|pb|pt|pth|om|exeom|tflite|log|prototxt|caffemodel|rknn|h5"
)
_FILE: Final = re.compile(
    r'"[^"\n]{1,200}?\.(?:' + _EXTENSIONS + r')"|`[^`\n]{1,200}?\.(?:' + _EXTENSIONS + r")`"
    r"|(?<![a-z0-9_.~/\\+-])(?:[a-z]:(?=[\\/]))?+[a-z0-9_.~/\\+-]++"
)
_FILE_END: Final = re.compile(rf".*[^./\\]\.(?:{_EXTENSIONS})", re.DOTALL)
_NO_QUANTITY: Final = re.compile(
    r"https?://[^\s，。；）]++"
    r"|(?<![a-z0-9_.])v?[0-9]++(?:\.[0-9]++){2,}+[a-z0-9_.-]*+"
    r"|(?<![a-z0-9_.])v[0-9]++(?:\.[0-9]++)?+[a-z0-9_]*+"
    r"|(?<![a-z0-9_.])[0-9]++\.x(?![a-z0-9_])|(?<![0-9:.])[0-9]++:[0-9]++(?![0-9:])"
    r"|(?<![a-z0-9_.])[0-9]++(?:\.[0-9]++)?+ ?(?:(?:kg|km|cm|mm)(?![a-z])|公斤|公里|厘米|毫米|块钱|岁)"
    r"|(?<![0-9])[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![0-9])|(?<![0-9:])[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?![0-9])"
)
_RANGE: Final = re.compile(r" {0,3}(?:到|至|~|\.{2,3}|…{1,2}) {0,3}|-| {1,3}(?:-|to) {1,3}")
_BETWEEN: Final = re.compile(r"(?:between|在|介于) {0,2}[\[(]?$")
_BETWEEN_JOIN: Final = re.compile(r" {0,2}(?:和|与|and) {0,2}")
_SEPARATOR: Final = re.compile(
    r" {0,3}[,，、;] {0,3}(?:(?:and|or|和|或) {0,2})?| {1,4}"
    r"| {0,2}(?:和|与|跟|及|以及|\band\b|&|或|或者|还是|\bor\b) {0,2}"
    r"| {0,2}(?:改成|改为|变成|变为|换成|掉到|降到|升到|\binstead of\b|\bvs\b\.?|\bversus\b) {0,2}"
)
_OR: Final = re.compile(r"或|还是|or|[成为到]|of|vs|versus")
_OPEN, _CLOSE = "[({", "])}"


def read(text: str) -> tuple[Token, ...]:
    """Return the quantities of a text, in order; spans are characters of the text as given."""
    return scan(text, frozenset())


def scan(text: str, names: frozenset[str]) -> tuple[Token, ...]:
    """Return the quantities of a text, where lower-case `names` may stand glued to a number: batch8, 100launches."""
    shown = plain(text)
    low = lowered(shown)
    files, low = _files(text, low)
    found = sorted([*files, *Scanner(text, shown, low, names).tokens()], key=lambda token: token.start)
    return tuple(_joined(text, low, found))


def _files(text: str, low: str) -> tuple[list[Token], str]:
    """Return the file names of a text, and the text with them and all versions, dates and addresses blanked."""
    files = []
    pieces: list[str] = []
    done = 0
    for match in _FILE.finditer(low):
        start, end = match.span()
        if low[start] in '"`':
            start, end = start + 1, end - 1
        while end > start and low[end - 1] in ".-+":
            end -= 1
        if end - start <= 300 and _FILE_END.fullmatch(low, start, end) and not low.startswith("::", end):
            name = text[start:end]
            files.append(Token("file", name, start, end, name))
            pieces += [low[done:start], "\0" * (end - start)]
            done = end
    masked = "".join((*pieces, low[done:]))
    return files, _NO_QUANTITY.sub(lambda match: "\0" * len(match[0]), masked)


def _joined(text: str, low: str, found: list[Token]) -> Iterator[Token]:
    """Yield the tokens with neighbouring numbers joined to ranges and lists."""
    at = 0
    while at < len(found):
        end = at + 1
        if found[at].kind == "number":
            if pair := _range(text, low, found, at):
                yield pair
                at += 2
                continue
            seen = ""
            unit = found[at].unit
            while end < len(found) and found[end].kind == "number" and _follows(unit, found[end].unit):
                gap = low[found[end - 1].end : found[end].start]
                if (
                    len(gap) > 16
                    or (found[end].weak and gap.isspace())
                    or not _SEPARATOR.fullmatch(gap)
                    or _range(text, low, found, end)
                ):
                    break
                is_or = bool(_OR.search(gap))
                if seen == "or" and not is_or:
                    break  # 4 or 8, 100
                seen = "or" if is_or else seen
                unit = found[end].unit
                end += 1
            yield _list(text, low, found[at:end], bool(seen))
        else:
            yield found[at]
        at = end


def _follows(unit: str, after: str) -> bool:
    """Tell whether a number in `after` may stand in a list behind one in `unit`; a unit holds for those before it."""
    return not unit or dimension(unit) == dimension(after)


def _same(one: Token, two: Token) -> bool:
    return not one.unit or not two.unit or dimension(one.unit) == dimension(two.unit)


def _in_one_unit(items: tuple[Token, ...]) -> tuple[tuple[float, ...], str]:
    """Return the values in the unit of the last; members without unit are in that too."""
    unit = items[-1].unit
    values = []
    for item in items:
        assert not isinstance(item.value, str | tuple)
        value = convert(item.value, item.unit, unit) if unit else item.value
        values.append(item.value if value is None else value)
    return tuple(values), unit


def _range(text: str, low: str, found: list[Token], at: int) -> Token | None:
    if at + 1 >= len(found) or found[at + 1].kind != "number" or not _same(found[at], found[at + 1]):
        return None
    one, two = found[at], found[at + 1]
    gap = low[one.end : two.start]
    if len(gap) > 8:
        return None
    if not _RANGE.fullmatch(gap):
        before = _BETWEEN.search(low, max(0, one.start - 12), one.start)
        after = low.startswith("之间", two.end + low.startswith(" ", two.end))
        if not _BETWEEN_JOIN.fullmatch(gap) or not (before or after):
            return None
    values, unit = _in_one_unit((one, two))
    return Token("range", text[one.start : two.end], one.start, two.end, values, unit, (one, two))


def _list(text: str, low: str, items: list[Token], either: bool) -> Token:
    start, end = items[0].start, items[-1].end
    first = start - 1 - low.endswith(" ", max(0, start - 1), start)
    last = end + low.startswith(" ", end)
    opener, closer = low[max(first, 0) : first + 1], low[last : last + 1]
    if opener and opener in _OPEN and closer and closer in _CLOSE and (len(items) > 1 or opener == "["):
        values, unit = _in_one_unit(tuple(items))
        return Token("list", text[first : last + 1], first, last + 1, values, unit, tuple(items))
    if len(items) == 1:
        return items[0]
    values, unit = _in_one_unit(tuple(items))
    return Token("list", text[start:end], start, end, values, unit, tuple(items), loose=True, either=either)
