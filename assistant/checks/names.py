"""How people name the parameters and choices of a check: where a text does, and how near a quantity stands to it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assistant.checks.tokens import Token
from assistant.checks.types import Parameter

__all__ = ["Place", "blocks", "choices_in", "gap_cost", "names", "places", "stated_flag"]

#: Words too common to name anything by themselves, whatever a table says.
_NOT_NAMES: Final = frozenset(("of", "at", "to", "from", "in", "with", "for", "by", "the", "a", "an", "is", "的", "是"))

#: Words that follow their number: 100 次, 100 times.
_COUNTERS: Final = frozenset("个次项路层帧张条核头组块行列级步维倍遍份轮颗台件种批位") | {"times"}

_CONNECTORS: Final = re.compile(
    r"(?:[\s(\"'`\[*|-]|是|为|等于|取|设为|设成|设置为|设置成|设|用|约|大约|大概|的|有|只有|共|一共|总共|每|大小|数量|数目|个数|数|值|"
    r"\b(?:is|are|was|were|be|of|size|count|value|values|equals?|equal|at|about|around|only|the|an?|to|over|per|has|"
    r"have|with|set|by|each)\b)*+"
)
#: What may stand between a number and the word behind it: 0.02 的 scale, 257-entry.
_BACK_CONNECTORS: Final = re.compile(r"(?:[\s\"'`)\]*-]|的|\b(?:of|as|per)\b)*+")
_EXPLICIT: Final = re.compile(r"[ \"'`]{0,2}(?:==?|:|：|是|为|等于|取|设为|设成|设置为|is|are|equals)[ (\"'`\[]{0,3}")
_SPACED: Final = re.compile(r"[ \"'`]{0,2}")
_CLAUSE: Final = re.compile(r"[,;!?，；、。！？\n\0()]|\.(?:\s|$)|[=:]|还是|但|而|\b(?:and|or|but|while)\b")
_BACKWARD: Final = re.compile(
    r"[,;!?，；、。！？\n\0=:]|\.(?:\s|$)|是|为|等于|还是|但|而|用|以|按|取|"
    r"\b(?:and|or|but|while|is|are|with|at|in|over|using|use|by|to|set|for)\b"
)
_GAP_MOST: Final = 24
_GAP_BACK_MOST: Final = 12

#: Words that mean the same as a choice of a table; a choice is a member of its group or stands for itself.
_SYNONYMS: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(group.split("|"))
    for group in (
        "symmetric|symmetrical|sym|对称",
        "asymmetric|asymmetrical|asym|affine|非对称|不对称",
        "saturate|saturating|saturated|saturates|saturation|sat|clip|clamp|饱和|钳位",
        "infinity|inf|ieee|becomes inf|变 inf|变inf|变成 inf|变成inf|无穷|无穷大|溢出成inf",
        "wrap|wraps|wrapping|wraparound|wrap around|回绕|环绕",
        "sequential|sequentially|one by one|顺序|逐个|依次|串行",
        "pairwise|tree|两两|成对|树形|树状",
        "reciprocal|inverse|1/step|倒数",
        "step|步长",
        "per_tensor|per-tensor|per tensor|逐张量|整层",
        "per_channel|per-channel|per channel|逐通道|按通道|分通道",
        "linear|interpolated|interpolation|linear interpolation|线性|线性插值|插值",
        "nearest|nearest entry|最近|就近|最近邻",
        "truncate|truncation|trunc|toward zero|towards zero|截断|向零取整",
        "floor|round down|向下取整",
        "half_even|ties to even|rint|银行家舍入|四舍六入五成双",
        "half_away|ties away|四舍五入",
        "naive|direct|直接",
        "stable|safe|安全|稳定",
    )
)
_NEGATED: Final = re.compile(
    r"(?:(?<![会要能是])不|非|没有做?|没做?|没有经过|未经|无|未做?|别|关闭|关掉|去掉"
    r"|(?<![a-z])(?:no|not|non|without|disable|un))[ -]?$"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a text that names a parameter."""

    parameter: Parameter
    word: str
    start: int
    end: int


def names(parameters: Iterable[Parameter]) -> dict[str, list[Parameter]]:
    """Return the words, lower case, that name each parameter: its name, its words, and a choice's title."""
    named: dict[str, list[Parameter]] = {}
    for parameter in parameters:
        words = [parameter.name, parameter.name.replace("_", " "), parameter.name.replace("_", "-"), *parameter.words]
        if parameter.kind == "choice":
            words += [parameter.en, parameter.zh, parameter.zh.removesuffix("器"), parameter.zh.removesuffix("类型")]
        for word in dict.fromkeys(word.strip().lower() for word in words):
            if word and word not in _NOT_NAMES:
                named.setdefault(word, []).append(parameter)
    return named


def places(low: str, named: Mapping[str, list[Parameter]], tokens: Sequence[Token]) -> list[Place]:
    """Return where a text names parameters, in order: the longest of overlapping words, outside of quantities."""
    spots: list[Place] = []
    for word, parameters in named.items():
        if word not in low:
            continue
        for match in _word_pattern(word).finditer(low):
            spots += [Place(parameter, word, *match.span()) for parameter in parameters]
    spots.sort(key=lambda spot: (spot.start, -spot.end))
    atoms = sorted((atom.start, atom.end) for token in tokens for atom in token.items or (token,))
    starts = [start for start, _ in atoms]
    kept: list[Place] = []
    reach = (0, 0)
    for spot in spots:
        if spot.end <= reach[1] and (spot.start, spot.end) != reach:
            continue
        at = bisect_right(starts, spot.start) - 1
        if at >= 0 and atoms[at][1] >= spot.end and spot.start >= atoms[at][0]:
            continue
        kept.append(spot)
        if spot.end > reach[1]:
            reach = (spot.start, spot.end)
    return kept


@lru_cache(4096)
def _word_pattern(word: str) -> re.Pattern[str]:
    pattern = re.escape(word)
    if word[0].isascii() and word[0].isalnum():
        # After a digit a word may stand glued (100launches), but a single letter may not (5k).
        pattern = (r"(?<![a-z_])" if len(word) > 1 else r"(?<![a-z0-9_])") + pattern
    if word[-1].isascii() and word[-1].isalnum():
        pattern += "(?:e?s)?" if len(word) > 2 else ""
        pattern += r"(?![a-z_])(?!-[a-z])" if len(word) > 1 else "(?![a-z0-9_])"
    return re.compile(pattern)


def gap_cost(gap: str, spot: Place, *, forward: bool) -> float | None:
    """Return how far a quantity stands from a word, given the text between: None if it does not belong to it.

    0 is said outright (scale = 0.02, 步长是 0.02); 1 is beside it; more has other words between.
    """
    counter = spot.word in _COUNTERS
    if forward:
        if counter:
            return None
        if _EXPLICIT.fullmatch(gap):
            return 0.0
        base = 1.2 if _is_plural(spot) else 1.0
        most, clause = _GAP_MOST, _CLAUSE
    else:
        if counter:
            return 0.4 if _SPACED.fullmatch(gap) else None
        base = 0.6 if _is_plural(spot) else 1.15
        most, clause = _GAP_BACK_MOST, _BACKWARD
    rest = (_CONNECTORS if forward else _BACK_CONNECTORS).sub("", gap)
    if not rest:
        return base if not forward or len(gap) <= most else None
    if len(spot.word) == 1 or clause.search(gap):
        return None
    weight = sum(1 if character.isascii() else 2 for character in rest)
    return None if weight > most else base + 0.5 + weight / 12


def _is_plural(spot: Place) -> bool:
    return (spot.word.endswith("s") and len(spot.word) > 3) or spot.end - spot.start > len(spot.word)


def blocks(low: str, start: int) -> bool:
    """Tell whether the word that starts here is negated: 不饱和, without saturation."""
    return bool(_NEGATED.search(low, max(0, start - 10), start))


def choices_in(parameter: Parameter, low: str, masked: Iterable[tuple[int, int]] = ()) -> dict[str, tuple[int, int]]:
    """Return the choices of a parameter that a lower-case text names, each with its first place."""
    spoken: dict[str, str] = {}
    for choice in parameter.choices:
        code = choice.lower()
        group = next((group for group in _SYNONYMS if code in group), frozenset())
        own = parameter.spoken.get(choice, ())
        for word in {code, code.replace("_", " "), code.replace("_", "-"), *group, *own}:
            spoken.setdefault(word, choice)
    for group in _SYNONYMS:  # 非对称 is no 对称, even where the check has no choice for it
        for word in group:
            spoken.setdefault(word, "")
    hits = []
    for word, choice in spoken.items():
        if word not in low or (len(word) == 1 and word not in {c.lower() for c in parameter.choices}):
            continue
        edge = (r"(?<![a-z0-9_])", r"(?![a-z0-9_])") if word.isascii() else ("", "")
        hits += [(*m.span(), choice) for m in re.finditer(edge[0] + re.escape(word) + edge[1], low)]
    spans = sorted(masked)
    starts = [start for start, _ in spans]
    found: dict[str, tuple[int, int]] = {}
    reach = 0
    for start, end, choice in sorted(hits, key=lambda hit: (hit[0], -hit[1])):
        at = bisect_right(starts, start) - 1
        if end <= reach or (at >= 0 and spans[at][1] >= end):
            continue
        reach = end
        if choice and not blocks(low, start):
            found.setdefault(choice, (start, end))
    return found


def stated_flag(raw: str) -> bool | None:
    """Return what a word after "key=" says, None if it is neither yes nor no."""
    if raw in ("true", "yes", "1", "on", "是", "开", "打开", "真"):
        return True
    return False if raw in ("false", "no", "0", "off", "否", "关", "关闭", "假") else None
