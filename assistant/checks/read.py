"""A question's text and a check -> the arguments that the text gives, what is missing, and what could be meant twice.

text -> tokens (quantities) + places where parameters are named
     -> 1 key=value   2 a range for low and high   3 the word beside a number   4 the unit   5 choices and flags
        6 the kind (the only shape, list, file)   7 the only number left for the only parameter left

A later step sees only what the earlier ones left. Two possibilities are never decided: both are reported.
"""

import re
from typing import Final

from assistant.checks.beside import Edge, edges_of, settle_beside
from assistant.checks.choosing import settle_choices, settle_keyed
from assistant.checks.names import names, places
from assistant.checks.quantities import scan
from assistant.checks.reading import (
    LISTS,
    SCALARS,
    Candidate,
    Reading,
    State,
    atoms_of,
    free_groups,
    in_order,
    members,
    named_by_order,
    scalar,
    settle,
    suits,
    values_for,
)
from assistant.checks.tokens import Token, lowered
from assistant.checks.types import REQUIRED, Check, Parameter
from assistant.checks.units import dimension

__all__ = ["READ_MOST", "Candidate", "Reading", "arguments"]

_LOWER: Final = frozenset(
    ("low", "min", "minimum", "lower", "lo", "最小", "最小值", "下限", "rmin", "x_min", "xmin", "range_low")
)  # fmt: skip

_UPPER: Final = frozenset(
    ("high", "max", "maximum", "upper", "hi", "最大", "最大值", "上限", "rmax", "x_max", "xmax", "range_high")
)  # fmt: skip

#: Characters of a question that are read; behind them is no question any more.
READ_MOST: Final = 20_000


def arguments(check: Check, text: str, others: frozenset[str] = frozenset()) -> Reading:
    """Return what a text says about the parameters of a check. Any text is fine; it is only ever data.

    Args:
        check: whose parameters are looked for.
        text: the question.
        others: lower-case names of quantities of other checks: a number behind one ("batch 4") is never left over.
    """
    text = text[:READ_MOST]
    low = lowered(text)
    named = names(check.parameters)
    tokens = scan(text, frozenset(word for word in named if word.isascii()))
    spots = places(low, named, tokens)
    state = State(text)
    state.spoken = [(t.start, t.end) for t in tokens if t.kind in ("file", "dtype")]
    settle_keyed(state, check, low)
    tokens = tuple(token for token in tokens if state.free(token) or token.items)
    edges = edges_of(state, check, low, spots, tokens)
    _pair(state, check, tokens, edges, low)
    settle_beside(state, edges)
    _units(state, check, tokens)
    settle_choices(state, check, low, spots, tokens)
    _kinds(state, check, tokens)
    before = set(state.found)
    _left_over(state, check, tokens, low, others - named.keys())
    state.left_over = frozenset(state.found.keys() - before)
    _or_lists(state, check, tokens)
    return _reading(state, check, tokens)


_RANGE_WORD: Final = re.compile(r"(?:范围|区间|range|interval|between|over|within|∈|\bin\b)[^,，;；]{0,8}$")


def _pair(state: State, check: Check, tokens: tuple[Token, ...], edges: list[Edge], low: str) -> None:
    """Give a range to the parameters of its lower and upper end."""
    pair = _ends(check)
    if not pair or not all(state.open(parameter) for parameter in pair):
        return
    if any(edge.cost == 0 for edge in edges if edge.parameter in pair):
        return
    has_list = any(p.kind in LISTS and state.open(p) for p in check.parameters)
    ranges = [t for t in tokens if t.kind == "range"]
    if not ranges and not any(edge.parameter in pair for edge in edges):
        two = [t for t in tokens if t.kind == "list" and len(t.items) == 2 and not t.loose]
        ranges = [t for t in two if not has_list or _RANGE_WORD.search(low, max(0, t.start - 20), t.start)]
    ranges = [t for t in ranges if all(suits(p, item) for p, item in zip(pair, members(t), strict=True))]
    ranges = [t for t in ranges if isinstance(t.value, tuple) and t.value[0] < t.value[1]]
    if len({t.value for t in ranges}) == 1:
        for parameter, item in zip(pair, members(ranges[0]), strict=True):
            value = values_for(parameter, item)[0]
            state.found[parameter.name] = Candidate(value, ranges[0].text, ranges[0].start, ranges[0].end)
        state.taken |= atoms_of(ranges[0])
    elif ranges:
        for index, parameter in enumerate(pair):
            state.doubt(parameter, [members(t)[index] for t in ranges])


def _ends(check: Check) -> tuple[Parameter, Parameter] | None:
    def of(words: frozenset[str]) -> list[Parameter]:
        named = [p for p in check.parameters if p.kind in SCALARS and p.name.lower() in words]
        return named or [p for p in check.parameters if p.kind in SCALARS and words & {w.lower() for w in p.words}]

    lower, upper = of(_LOWER), of(_UPPER)
    return (lower[0], upper[0]) if len(lower) == len(upper) == 1 and lower[0] != upper[0] else None


def _units(state: State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Give numbers with a unit to the only parameter of that dimension."""
    dimensions = {dimension(p.unit) for p in check.parameters if p.unit and state.open(p)}
    for measured in dimensions:
        open_ = [p for p in check.parameters if p.unit and dimension(p.unit) == measured and state.open(p)]
        needed = [p for p in open_ if p.default is REQUIRED] or open_
        groups = [t for t in free_groups(state, tokens) if t.unit and dimension(t.unit) == measured]
        single = [t for t in needed if t.kind in SCALARS]
        lists = [t for t in needed if t.kind in LISTS]
        if len(lists) == 1 and not single and groups:
            _one_list(state, lists[0], groups)
            continue
        numbers = [item for t in groups for item in (members(t) if t.items else (t,))]
        numbers = [t for t in numbers if any(suits(p, t) for p in single)]
        if not numbers or not single:
            continue
        if len(single) == 1 and len({repr(values_for(single[0], t)) for t in numbers}) == 1:
            settle(state, single[0], numbers[0])
            state.taken |= {t.start for t in numbers}
        else:
            for parameter in single:
                state.doubt(parameter, [t for t in numbers if suits(parameter, t)])
            state.taken |= {t.start for t in numbers}


def _one_list(state: State, parameter: Parameter, groups: list[Token]) -> None:
    """Give one list all the numbers with its unit, in the order of the text."""
    items = [item for t in groups for item in (members(t) if t.items else (t,))]
    values = tuple(scalar(parameter, t.value, t.unit) for t in items if not isinstance(t.value, str | tuple))
    if None in values or len(values) > parameter.most:
        return
    start, end = items[0].start, items[-1].end
    state.found[parameter.name] = Candidate(values, state.text[start:end], start, end)
    state.taken |= {t.start for t in items}


def _kinds(state: State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Give shapes, bracketed lists and files to the only parameter of their kind."""
    for kinds, classes in ((("shape",), ("shape",)), (("file",), ("file",))):
        open_ = [p for p in check.parameters if p.kind in kinds and state.open(p)]
        free = [t for t in free_groups(state, tokens) if t.kind in classes]
        if kinds == ("file",):
            for parameter in list(open_):
                words = [word for word in (parameter.name, *parameter.words) if len(word) > 2]
                mine = [t for t in free if any(word in t.text.lower() for word in words)]
                if len(mine) == 1:
                    settle(state, parameter, mine[0])
                    open_.remove(parameter)
                    free.remove(mine[0])
        _share_out(state, open_, free)
    _sides(state, check, tokens)
    hard = [t for t in free_groups(state, tokens) if t.kind == "list" and not t.loose]
    open_ = [p for p in check.parameters if p.kind in LISTS and state.open(p)]
    needed = [p for p in open_ if p.default is REQUIRED] or open_
    _share_out(state, needed, hard)


def _sides(state: State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Give the members of the only shape of that length to parameters that are read in order: 1920x1080."""
    open_ = [p for p in check.parameters if p.in_order and p.kind in SCALARS and state.open(p)]
    shapes = [t for t in free_groups(state, tokens) if t.kind == "shape" and isinstance(t.value, tuple)]
    shapes = [t for t in shapes if isinstance(t.value, tuple) and len(t.value) == len(open_)]
    if not open_ or len({t.value for t in shapes}) != 1 or not isinstance(shapes[0].value, tuple):
        return
    for parameter, side in zip(open_, shapes[0].value, strict=True):
        value = scalar(parameter, side, "")
        if value is not None:
            state.found[parameter.name] = Candidate(value, shapes[0].text, shapes[0].start, shapes[0].end)
    state.taken |= {start for t in shapes for start in atoms_of(t)}


def _share_out(state: State, parameters: list[Parameter], tokens: list[Token]) -> None:
    """Give tokens to parameters where only one way is possible, by order where the names say so, else doubt."""
    changed = True
    while changed:
        changed = False
        parameters = [p for p in parameters if state.open(p)]
        tokens = [t for t in tokens if state.free(t)]
        fit = {p.name: [t for t in tokens if suits(p, t)] for p in parameters}
        for parameter in parameters:
            mine = fit[parameter.name]
            # As many tokens as parameters: the only one that can be this one is it (0.1*4096: the count is whole).
            if len(mine) == 1 and (sum(mine[0] in f for f in fit.values()) == 1 or 1 < len(tokens) == len(parameters)):
                settle(state, parameter, mine[0])
                changed = True
                break
    parameters = [p for p in parameters if fit[p.name]]
    equal = all(len(fit[p.name]) == len(tokens) for p in parameters)
    if len(parameters) == len(tokens) > 1 and named_by_order(parameters) and equal:
        for parameter, token in zip(in_order(parameters), tokens, strict=True):
            settle(state, parameter, token)
        return
    for parameter in parameters:
        if len({repr(values_for(parameter, t)) for t in fit[parameter.name]}) == 1 and len(parameters) == 1:
            settle(state, parameter, fit[parameter.name][0])
        else:
            state.doubt(parameter, fit[parameter.name])
    state.taken |= {start for p in parameters for t in fit[p.name] for start in atoms_of(t)}


_UNKNOWN_KEY: Final = re.compile(r"[a-z_][a-z0-9_]{0,40} {0,2}[=:] {0,2}$")


_NAME_BEFORE: Final = re.compile(r"(?<![a-z0-9_])([a-z_]{2,20})[ =:]{0,2}$")


def _left_over(state: State, check: Check, tokens: tuple[Token, ...], low: str, others: frozenset[str]) -> None:
    """Give what is left to the required parameters that are left, if only one way is possible."""
    needed = [p for p in check.parameters if p.default is REQUIRED and state.open(p)]
    free = [
        t
        for t in free_groups(state, tokens)
        if not t.weak and not _UNKNOWN_KEY.search(low, max(0, t.start - 48), t.start)
    ]
    free = [
        t
        for t in free
        if not (before := _NAME_BEFORE.search(low, max(0, t.start - 24), t.start)) or before[1] not in others
    ]
    lists = [p for p in needed if p.kind in LISTS]
    scalars = [p for p in needed if p.kind in SCALARS]
    groups = [t for t in free if t.kind in ("list", "range", "shape")]
    if lists:
        _share_out(state, lists, groups)
        lists = [p for p in lists if state.open(p)]
        free = [t for t in free if state.free(t)]
    numbers = [item for t in free for item in (members(t) if t.loose or t.kind == "range" else (t,))]
    numbers = [t for t in numbers if t.kind == "number" and not t.weak]
    ordered = [p for p in check.parameters if p.in_order and p.kind in SCALARS and state.open(p)]
    if len(ordered) == len(numbers) and {p.name for p in scalars} <= {p.name for p in ordered}:
        scalars = ordered
    lists = [p for p in lists if p.kind != "shape"]
    if len(lists) == 1 and not scalars and len(numbers) > 1:
        _all_numbers(state, lists[0], numbers)
        return
    _share_out(state, scalars or lists, numbers)


def _all_numbers(state: State, parameter: Parameter, numbers: list[Token]) -> None:
    """Give a list every number that is left, each once, in the order of the text."""
    found = [scalar(parameter, t.value, t.unit) for t in numbers if not isinstance(t.value, str | tuple)]
    values = tuple(dict.fromkeys(value for value in found if value is not None))
    if len(values) != len(set(found)) or len(values) > parameter.most:
        return
    start, end = numbers[0].start, numbers[-1].end
    state.found[parameter.name] = Candidate(values, state.text[start:end], start, end)
    state.taken |= {t.start for t in numbers}


def _or_lists(state: State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Doubt a single number that was read from "0.02 or 0.05", or from a list whose rest nothing took."""
    for token in tokens:
        if not token.loose:
            continue
        rest = [item for item in token.items if item.start not in state.taken]
        if not rest:
            continue
        for parameter in check.parameters:
            read = state.found.get(parameter.name)
            if parameter.kind not in SCALARS or read is None or not token.start <= read.start < token.end:
                continue
            mine = next((item for item in token.items if item.start == read.start), None)
            others = [item for item in rest if suits(parameter, item)]
            if mine is not None and others:
                del state.found[parameter.name]
                state.doubt(parameter, [mine, *others])
                state.taken |= {item.start for item in others}


def _reading(state: State, check: Check, tokens: tuple[Token, ...]) -> Reading:
    order = [p.name for p in check.parameters]
    unused = tuple(t for t in free_groups(state, tokens) if not t.weak)
    return Reading(
        {name: state.found[name].value for name in order if name in state.found},
        tuple(p.name for p in check.parameters if p.default is REQUIRED and state.open(p)),
        {name: state.ambiguous[name] for name in order if name in state.ambiguous},
        unused,
        {name: state.found[name] for name in order if name in state.found},
        state.left_over & state.found.keys(),
    )
