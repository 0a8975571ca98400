"""A question's text and a check -> the arguments that the text gives, what is missing, and what could be meant twice.

text -> tokens (quantities) + places where parameters are named
     -> 1 key=value   2 a range for low and high   3 the word beside a number   4 the unit   5 choices and flags
        6 the kind (the only shape, list, file)   7 the only number left for the only parameter left

A later step sees only what the earlier ones left. Two possibilities are never decided: both are reported.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from assistant.checks.names import Place, blocks, choices_in, gap_cost, names, places, stated_flag
from assistant.checks.quantities import Token, lowered, scan
from assistant.checks.types import REQUIRED, Check, Parameter, Value
from assistant.checks.units import convert, dimension, dtype_of

__all__ = ["READ_MOST", "Candidate", "Reading", "arguments"]

_LISTS: Final = ("numbers", "integers", "shape")
_SCALARS: Final = ("number", "integer")
_LOWER: Final = frozenset(
    ("low", "min", "minimum", "lower", "lo", "最小", "最小值", "下限", "rmin", "x_min", "xmin", "range_low")
)  # fmt: skip
_UPPER: Final = frozenset(
    ("high", "max", "maximum", "upper", "hi", "最大", "最大值", "上限", "rmax", "x_max", "xmax", "range_high")
)  # fmt: skip
#: Characters of a question that are read; behind them is no question any more.
READ_MOST: Final = 20_000
#: Edges of one word or number that are looked at, and steps of the search over them: bounds for hostile text.
_EDGES_MOST: Final = 4
_STEPS_MOST: Final = 5000
#: Two assignments whose costs differ by less are the same to a reader.
_TIE: Final = 0.25


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value that a text gives for a parameter, and where."""

    value: Value
    """In the unit of the parameter."""
    text: str
    start: int
    """First character in the question."""
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says about a check."""

    arguments: Mapping[str, Value]
    """Read without doubt, in the units of the parameters; ranges are left to `values.arguments`."""
    missing: tuple[str, ...]
    """Required parameters of which the text says nothing."""
    ambiguous: Mapping[str, tuple[Candidate, ...]]
    """Parameters that the text may give in more than one way; never decided here."""
    unused: tuple[Token, ...]
    """Quantities that no parameter took; those of an ambiguous parameter are not among them."""
    evidence: Mapping[str, Candidate]
    """Of every argument: the words it was read from."""


@dataclass(slots=True)
class _State:
    """What has been read so far."""

    text: str
    taken: set[int] = field(default_factory=set)
    """Starts of the numbers, types and files that are used."""
    spoken: list[tuple[int, int]] = field(default_factory=list)
    """Stretches that name types and files or follow a key: no word in them is a choice of another parameter."""
    found: dict[str, Candidate] = field(default_factory=dict)
    ambiguous: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)

    def open(self, parameter: Parameter) -> bool:
        return parameter.name not in self.found and parameter.name not in self.ambiguous

    def free(self, token: Token) -> bool:
        return self.taken.isdisjoint(_atoms(token))

    def take(self, parameter: Parameter, value: Value, token: Token) -> None:
        self.found[parameter.name] = Candidate(value, token.text, token.start, token.end)
        self.taken |= _atoms(token)

    def doubt(self, parameter: Parameter, tokens: Iterable[Token]) -> None:
        """Note several values for one parameter; equal values are no doubt."""
        candidates: dict[str, Candidate] = {}
        for token in tokens:
            for value in _values(parameter, token):
                candidates.setdefault(repr(value), Candidate(value, token.text, token.start, token.end))
        self.ambiguous[parameter.name] = tuple(candidates.values())


@dataclass(frozen=True, slots=True)
class _Edge:
    parameter: Parameter
    token: Token
    cost: float


def arguments(check: Check, text: str) -> Reading:
    """Return what a text says about the parameters of a check. Any text is fine; it is only ever data."""
    text = text[:READ_MOST]
    low = lowered(text)
    named = names(check.parameters)
    tokens = scan(text, frozenset(word for word in named if word.isascii()))
    spots = places(low, named, tokens)
    state = _State(text)
    state.spoken = [(t.start, t.end) for t in tokens if t.kind in ("file", "dtype")]
    _keyed(state, check, low)
    tokens = tuple(token for token in tokens if state.free(token) or token.items)
    edges = _edges(state, check, low, spots, tokens)
    _pair(state, check, tokens, edges, low)
    _beside(state, edges)
    _units(state, check, tokens)
    _choices(state, check, low, spots, tokens)
    _kinds(state, check, tokens)
    _left_over(state, check, tokens, low)
    _or_lists(state, check, tokens)
    return _reading(state, check, tokens)


def _atoms(token: Token) -> set[int]:
    return {item.start for item in token.items} if token.items else {token.start}


def _values(parameter: Parameter, token: Token) -> list[Value]:
    """Return the values that a token may have for a parameter, none where kind or unit contradict."""
    kind, value = parameter.kind, token.value
    if kind == "file":
        return [value] if token.kind == "file" else []
    if kind == "choice":
        return [c for c in parameter.choices if _is_type(c, token)] or [
            c for c in parameter.choices if token.kind == "number" and c.lower() == token.text.lower()
        ]
    if kind in _SCALARS and token.kind == "list" and not token.loose and len(token.items) == 1:
        return _values(parameter, token.items[0])
    if kind in _SCALARS and token.kind == "number" and not isinstance(value, str | tuple):
        return [number for number in [_scalar(parameter, value, token.unit)] if number is not None]
    if kind in _LISTS and token.kind in ("number", "list", "range", "shape"):
        if kind == "numbers" and token.kind == "shape":
            return []
        readings = [value] if isinstance(value, tuple) else [(value,), *([token.other] if token.other else [])]
        lists = [tuple(_scalar(parameter, x, token.unit) for x in reading) for reading in readings]  # type: ignore[arg-type]
        return [items for items in lists if None not in items and len(items) <= parameter.most]
    return []


def _is_type(choice: str, token: Token) -> bool:
    if token.kind == "dtype":
        return dtype_of(choice.lower()) == token.value
    return token.kind == "number" and token.unit == "bit" and re.sub("[a-z_]+", "", choice.lower()) == str(token.value)


def _scalar(parameter: Parameter, value: float, unit: str) -> float | None:
    number = convert(value, unit, parameter.unit)
    if number is None:
        return None
    if parameter.kind in ("integer", "integers", "shape"):
        return int(number) if number - number == 0 and number == int(number) else None
    try:
        return float(number)
    except OverflowError:
        return None


def _fits(parameter: Parameter, value: Value) -> bool:
    """Tell whether a value lies in the range of its parameter."""
    numbers = value if isinstance(value, tuple) else (value,)
    return all(
        isinstance(x, str | bool)
        or ((parameter.low is None or x >= parameter.low) and (parameter.high is None or x <= parameter.high))
        for x in numbers
    )


def _suits(parameter: Parameter, token: Token) -> bool:
    return any(_fits(parameter, value) for value in _values(parameter, token))


def _settle(state: _State, parameter: Parameter, token: Token) -> None:
    """Take a token for a parameter, or doubt it if the token itself has two readings there."""
    values = _values(parameter, token)
    if len(values) == 1:
        state.take(parameter, values[0], token)
    elif parameter.kind == "choice" and parameter.default in values:
        state.take(parameter, parameter.default, token)
    else:
        state.doubt(parameter, [token])
        state.taken |= _atoms(token)


_KEY_VALUE: Final = (
    r"(?<![a-z0-9_.])(?:{})[ ]?(?:==?|:)[ ]?(\"[^\"\n]{{0,200}}\"|'[^'\n]{{0,200}}'|[^\s,;，；、。()\[\]]{{1,200}})"
)


def _keyed(state: _State, check: Check, low: str) -> None:
    """Read key=value and key: value of parameters that hold words: choices, flags, texts."""
    for parameter in check.parameters:
        if parameter.kind not in ("choice", "flag", "text"):
            continue
        keys = {parameter.name.lower(), *(word.lower() for word in parameter.words)}
        found: dict[str, tuple[Value, int, int]] = {}
        if not any(key in low for key in keys):
            continue
        pattern = "|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True))
        for match in re.finditer(_KEY_VALUE.format(pattern), low):
            start, end = match.span(1)
            raw = low[start:end].strip("\"'").rstrip(".?!")
            start += low[start] in "\"'"
            value = _worded(parameter, raw, state.text[start : start + len(raw)])
            if value is None:
                continue
            found.setdefault(repr(value), (value, match.start(), end))
            state.taken |= set(range(start, end))
            state.spoken.append((start, end))
        candidates = tuple(Candidate(v, state.text[s:e], s, e) for v, s, e in found.values())
        if len(candidates) == 1:
            state.found[parameter.name] = candidates[0]
        elif candidates:
            state.ambiguous[parameter.name] = candidates


def _offers(tokens: Iterable[Token], classes: tuple[str, ...]) -> list[Token]:
    """Return the tokens of some kinds, members of loose lists and ranges among them, by start."""
    offers = []
    for token in tokens:
        if token.kind in classes:
            offers.append(token)
        if "number" in classes and token.items and (token.loose or token.kind == "range" or len(token.items) == 1):
            offers += token.items
    return offers


def _edges(state: _State, check: Check, low: str, spots: list[Place], tokens: tuple[Token, ...]) -> list[_Edge]:
    """Return which tokens stand beside a word of which parameter, at what cost."""
    by_kind = {
        "number": _offers(tokens, ("number",)),
        "list": _offers(tokens, ("number", "list", "range", "shape")),
        "choice": _offers(tokens, ("dtype",)),
        "file": _offers(tokens, ("file",)),
    }
    ordered = {}
    for name, offers in by_kind.items():
        offers.sort(key=lambda token: (token.start, -token.end))
        by_end = sorted(offers, key=lambda token: (token.end, -token.start))
        ordered[name] = (offers, [t.start for t in offers], by_end, [t.end for t in by_end])
    numeric = ordered["list"]
    edges: dict[str, dict[tuple[int, int], _Edge]] = {}
    starts = [spot.start for spot in spots]
    for spot in spots:
        parameter = spot.parameter
        kind = "number" if parameter.kind in _SCALARS else "list" if parameter.kind in _LISTS else parameter.kind
        if kind not in ordered or not state.open(parameter):
            continue
        offers, from_start, by_end, to_end = ordered[kind]
        after = bisect_left(from_start, spot.end)
        before = bisect_left(to_end, spot.start + 1) - 1
        beside: list[_Edge] = []
        if after < len(offers):
            token = offers[after]
            if not _between(spot.end, token.start, starts, numeric[1] if kind != "choice" else []):
                cost = gap_cost(low[spot.end : token.start][:60], spot, forward=True)
                beside += _edge(parameter, token, cost)
        if before >= 0 and not (beside and beside[0].cost == 0):
            token = by_end[before]
            if not _between(token.end, spot.start, starts, []):
                cost = gap_cost(low[token.end : spot.start][-60:], spot, forward=False)
                beside += _edge(parameter, token, cost)
        for edge in beside:
            slot = edges.setdefault(parameter.name, {})
            key = (edge.token.start, edge.token.end)
            if key not in slot or slot[key].cost > edge.cost:
                slot[key] = edge
    return [edge for slot in edges.values() for edge in _best(list(slot.values()))]


def _between(start: int, end: int, marks: list[int], others: list[int]) -> bool:
    """Tell whether a mark lies from `start` on and before `end`."""
    for places_ in (marks, others):
        at = bisect_left(places_, start)
        if at < len(places_) and places_[at] < end:
            return True
    return False


def _edge(parameter: Parameter, token: Token, cost: float | None) -> list[_Edge]:
    if cost is None:
        return []
    values = _values(parameter, token)
    # Only an explicit "scale = 0" may be out of range: its error is told. Beside a word it is another number.
    if not values or (cost >= 1.2 and not any(_fits(parameter, value) for value in values)):
        return []
    return [_Edge(parameter, token, cost)]


def _best(edges: list[_Edge]) -> list[_Edge]:
    explicit = [edge for edge in edges if edge.cost == 0]
    return sorted(explicit or edges, key=lambda edge: edge.cost)[: _EDGES_MOST if not explicit else 50]


def _worded(parameter: Parameter, raw: str, text: str) -> Value:
    """Return the choice, flag or text that stands behind key=, None if it is none."""
    if parameter.kind == "flag":
        return stated_flag(raw)
    if parameter.kind == "text":
        return text
    kind = dtype_of(raw)
    options = [c for c in parameter.choices if c.lower() == raw or (kind and dtype_of(c.lower()) == kind)]
    options = options or list(choices_in(parameter, raw))
    return options[0] if len(options) == 1 else None


_RANGE_WORD: Final = re.compile(r"(?:范围|区间|range|interval|between|over|within|∈|\bin\b)[^,，;；]{0,8}$")


def _pair(state: _State, check: Check, tokens: tuple[Token, ...], edges: list[_Edge], low: str) -> None:
    """Give a range to the parameters of its lower and upper end."""
    pair = _ends(check)
    if not pair or not all(state.open(parameter) for parameter in pair):
        return
    if any(edge.cost == 0 for edge in edges if edge.parameter in pair):
        return
    has_list = any(p.kind in _LISTS and state.open(p) for p in check.parameters)
    ranges = [t for t in tokens if t.kind == "range"]
    if not ranges and not any(edge.parameter in pair for edge in edges):
        two = [t for t in tokens if t.kind == "list" and len(t.items) == 2 and not t.loose]
        ranges = [t for t in two if not has_list or _RANGE_WORD.search(low, max(0, t.start - 20), t.start)]
    ranges = [t for t in ranges if all(_suits(p, item) for p, item in zip(pair, _in_unit(t), strict=True))]
    ranges = [t for t in ranges if isinstance(t.value, tuple) and t.value[0] < t.value[1]]
    if len({t.value for t in ranges}) == 1:
        for parameter, item in zip(pair, _in_unit(ranges[0]), strict=True):
            value = _values(parameter, item)[0]
            state.found[parameter.name] = Candidate(value, ranges[0].text, ranges[0].start, ranges[0].end)
        state.taken |= _atoms(ranges[0])
    elif ranges:
        for index, parameter in enumerate(pair):
            state.doubt(parameter, [_in_unit(t)[index] for t in ranges])


def _in_unit(token: Token) -> tuple[Token, ...]:
    """Return the members of a range, each in the unit of the whole."""
    assert isinstance(token.value, tuple)
    return tuple(
        Token("number", item.text, item.start, item.end, value, token.unit)
        for item, value in zip(token.items, token.value, strict=True)
    )


def _ends(check: Check) -> tuple[Parameter, Parameter] | None:
    def of(words: frozenset[str]) -> list[Parameter]:
        named = [p for p in check.parameters if p.kind in _SCALARS and p.name.lower() in words]
        return named or [p for p in check.parameters if p.kind in _SCALARS and words & {w.lower() for w in p.words}]

    lower, upper = of(_LOWER), of(_UPPER)
    return (lower[0], upper[0]) if len(lower) == len(upper) == 1 and lower[0] != upper[0] else None


def _beside(state: _State, edges: list[_Edge]) -> None:
    """Give every word the number beside it: most words first, then the nearest; equal ways are in doubt."""
    edges = [edge for edge in edges if state.open(edge.parameter) and state.free(edge.token)]
    held = {start for edge in edges if edge.cost == 0 for start in _atoms(edge.token)}
    options: dict[str, list[_Edge]] = {}
    for edge in edges:
        if edge.cost == 0 or held.isdisjoint(_atoms(edge.token)):
            options.setdefault(edge.parameter.name, []).append(edge)
    ways = _ways(sorted(options.values(), key=len))
    for name in options:
        chosen = {(e.token.start, e.token.end): e for way in ways for e in way if e.parameter.name == name}
        certain = all(any(e.parameter.name == name for e in way) for way in ways)
        parameter = options[name][0].parameter
        values = {repr(value) for edge in chosen.values() for value in _values(parameter, edge.token)}
        if chosen and certain and (len(chosen) == 1 or len(values) == 1):
            _settle(state, parameter, next(iter(chosen.values())).token)
            for edge in chosen.values():
                state.taken |= _atoms(edge.token)
        elif chosen:
            state.doubt(parameter, [edge.token for edge in chosen.values()])
            state.taken |= {start for edge in chosen.values() for start in _atoms(edge.token)}


def _ways(options: list[list[_Edge]]) -> list[list[_Edge]]:
    """Return the ways to give most words a number of their own, at the least cost or within a tie of it."""
    best: list[tuple[int, float, list[_Edge]]] = []
    steps = 0

    def extend(index: int, way: list[_Edge], used: set[int], cost: float) -> None:
        nonlocal best, steps
        steps += 1
        most = best[0][0] if best else 0
        if steps > _STEPS_MOST or len(way) + len(options) - index < most:
            return
        if index == len(options):
            if len(way) > most or not best:
                best = [(len(way), cost, list(way))]
            else:
                least = min(cost, min(b[1] for b in best))
                best = [b for b in [*best, (len(way), cost, list(way))] if b[1] < least + _TIE][:20]
            return
        for edge in options[index]:
            atoms = _atoms(edge.token)
            if used.isdisjoint(atoms):
                extend(index + 1, [*way, edge], used | atoms, cost + edge.cost)
        extend(index + 1, way, used, cost)

    extend(0, [], set(), 0.0)
    return [way for _, _, way in best]


def _units(state: _State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Give numbers with a unit to the only parameter of that dimension."""
    dimensions = {dimension(p.unit) for p in check.parameters if p.unit and state.open(p)}
    for measured in dimensions:
        open_ = [p for p in check.parameters if p.unit and dimension(p.unit) == measured and state.open(p)]
        needed = [p for p in open_ if p.default is REQUIRED] or open_
        groups = [t for t in _free_groups(state, tokens) if t.unit and dimension(t.unit) == measured]
        single = [t for t in needed if t.kind in _SCALARS]
        lists = [t for t in needed if t.kind in _LISTS]
        if len(lists) == 1 and not single and groups:
            _one_list(state, lists[0], groups)
            continue
        numbers = [item for t in groups for item in (_in_unit(t) if t.items else (t,))]
        numbers = [t for t in numbers if any(_suits(p, t) for p in single)]
        if not numbers or not single:
            continue
        if len(single) == 1 and len({repr(_values(single[0], t)) for t in numbers}) == 1:
            _settle(state, single[0], numbers[0])
            state.taken |= {t.start for t in numbers}
        else:
            for parameter in single:
                state.doubt(parameter, [t for t in numbers if _suits(parameter, t)])
            state.taken |= {t.start for t in numbers}


def _one_list(state: _State, parameter: Parameter, groups: list[Token]) -> None:
    """Give one list all the numbers with its unit, in the order of the text."""
    items = [item for t in groups for item in (_in_unit(t) if t.items else (t,))]
    values = tuple(_scalar(parameter, t.value, t.unit) for t in items if not isinstance(t.value, str | tuple))
    if None in values or len(values) > parameter.most:
        return
    start, end = items[0].start, items[-1].end
    state.found[parameter.name] = Candidate(values, state.text[start:end], start, end)
    state.taken |= {t.start for t in items}


def _free_groups(state: _State, tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens that are free; of loose lists, the runs of members that are."""
    free: list[Token] = []
    for token in tokens:
        if state.free(token):
            free.append(token)
        elif token.items and token.loose:
            run: list[Token] = []
            for item in (*token.items, None):
                if item is not None and state.free(item):
                    run.append(item)
                elif run:
                    free.append(_run(state, token, run))
                    run = []
        elif token.kind == "range":
            free += [item for item in token.items if state.free(item)]
    return free


def _run(state: _State, token: Token, run: list[Token]) -> Token:
    if len(run) == 1:
        return run[0]
    assert isinstance(token.value, tuple)
    value = {item.start: number for item, number in zip(token.items, token.value, strict=True)}
    start, end = run[0].start, run[-1].end
    unit = token.unit if run[-1].unit else ""
    values = tuple(value[item.start] for item in run)
    return Token("list", state.text[start:end], start, end, values, unit, tuple(run), loose=True, either=token.either)


def _choices(state: _State, check: Check, low: str, spots: list[Place], tokens: tuple[Token, ...]) -> None:
    """Read choices from types and from words that mean one, and flags from their words."""
    types = [t for t in tokens if (t.kind == "dtype" or t.unit == "bit") and state.free(t)]
    by_type = [p for p in check.parameters if p.kind == "choice" and any(dtype_of(c.lower()) for c in p.choices)]
    _by_type(state, [p for p in by_type if state.open(p)], types)
    for parameter in check.parameters:
        if not state.open(parameter):
            continue
        if parameter.kind == "choice" and not (parameter in by_type and parameter.name in state.found):
            # 步长 names the scale here, not the choice "step".
            others = [(s.start, s.end) for s in spots if s.parameter is not parameter and s.parameter.kind != "choice"]
            found = choices_in(parameter, low, [*state.spoken, *others])
            spans = list(found.items())
            candidates = tuple(Candidate(c, state.text[s:e], s, e) for c, (s, e) in spans)
            if len(candidates) == 1:
                state.found[parameter.name] = candidates[0]
            elif candidates:
                state.ambiguous[parameter.name] = candidates
        elif parameter.kind == "flag":
            _flag(state, parameter, low, spots)


def _flag(state: _State, parameter: Parameter, low: str, spots: list[Place]) -> None:
    seen: dict[bool, Candidate] = {}
    for spot in spots:
        if spot.parameter is parameter:
            value = not blocks(low, spot.start)
            seen.setdefault(value, Candidate(value, state.text[spot.start : spot.end], spot.start, spot.end))
    if len(seen) == 1:
        state.found[parameter.name] = next(iter(seen.values()))
    elif seen:
        state.ambiguous[parameter.name] = tuple(seen.values())


def _by_type(state: _State, parameters: list[Parameter], types: list[Token]) -> None:
    """Give types to the parameters that can have them.

    A product (s16*s8) goes to two parameters that are named by order (a, b). Then a type that only parameters
    with equal choices can have goes to those; then, of what is left, required parameters come first. One type for
    several parameters with equal choices holds for all of them (int8 matmul).
    """
    for one, two in pairwise(types):
        needed = [p for p in parameters if state.open(p) and p.default is REQUIRED]
        alike = [p for p in needed if _values(p, one) and _values(p, two)]
        if len(alike) == 2 and _by_order(alike) and _PRODUCT.fullmatch(state.text[one.end : two.start][:12]):
            for p, token in zip(sorted(alike, key=lambda p: p.name), (one, two), strict=True):
                _settle(state, p, token)
    for only_needed in (False, True):
        while _by_set(state, parameters, types, only_needed):
            pass
    for p in parameters:
        fit = [t for t in types if state.free(t) and _values(p, t)]
        if fit and state.open(p):
            state.doubt(p, fit)
    for name in state.ambiguous:
        state.taken |= {c.start for c in state.ambiguous[name]}


def _by_set(state: _State, parameters: list[Parameter], types: list[Token], only_needed: bool) -> bool:
    """Settle one set of parameters with equal choices by types that no other set can have; tell whether one was."""
    sets: dict[frozenset[str], list[Parameter]] = {}
    for p in parameters:
        if state.open(p) and (p.default is REQUIRED or not only_needed):
            sets.setdefault(_typeset(p), []).append(p)
    free = [t for t in types if state.free(t)]
    own = {key: {str(t.value) for t in free if _values(alike[0], t)} for key, alike in sets.items()}
    for key, alike in sets.items():
        others = {kind for other, kinds in own.items() if other != key for kind in kinds}
        mine = [t for t in free if str(t.value) in own[key] - others]
        if mine:
            _share_types(state, [p for p in alike if p.default is REQUIRED] or alike, mine)
            return True
    return False


_PRODUCT: Final = re.compile(r" ?(?:[x×*]|乘以?|by|times) ?")


def _share_types(state: _State, parameters: list[Parameter], tokens: list[Token]) -> None:
    if len(parameters) == len(tokens) > 1 and _by_order(parameters):
        for p, token in zip(sorted(parameters, key=lambda p: p.name), tokens, strict=True):
            _settle(state, p, token)
        return
    for p in parameters:
        if len({str(t.value) for t in tokens}) == 1:
            _settle(state, p, tokens[0])
        else:
            state.doubt(p, tokens)
    state.taken |= {t.start for t in tokens}


def _typeset(parameter: Parameter) -> frozenset[str]:
    return frozenset(dtype_of(choice.lower()) for choice in parameter.choices)


def _by_order(parameters: list[Parameter]) -> bool:
    """Tell whether the names say nothing but an order: a and b, x1 and x2, a_type and b_type."""
    ordered = sorted(p.name for p in parameters)
    marks = [re.fullmatch(r"([a-z]?)(?:_?(?:d?type|values|shape|scale|file))?([0-9]?)", name) for name in ordered]
    return all(marks) and len({mark[1] + mark[2] for mark in marks if mark}) == len(ordered)


def _kinds(state: _State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Give shapes, bracketed lists and files to the only parameter of their kind."""
    for kinds, classes in ((("shape",), ("shape",)), (("file",), ("file",))):
        open_ = [p for p in check.parameters if p.kind in kinds and state.open(p)]
        free = [t for t in _free_groups(state, tokens) if t.kind in classes]
        if kinds == ("file",):
            for parameter in list(open_):
                words = [word for word in (parameter.name, *parameter.words) if len(word) > 2]
                mine = [t for t in free if any(word in t.text.lower() for word in words)]
                if len(mine) == 1:
                    _settle(state, parameter, mine[0])
                    open_.remove(parameter)
                    free.remove(mine[0])
        _share_out(state, open_, free)
    hard = [t for t in _free_groups(state, tokens) if t.kind == "list" and not t.loose]
    open_ = [p for p in check.parameters if p.kind in _LISTS and state.open(p)]
    needed = [p for p in open_ if p.default is REQUIRED] or open_
    _share_out(state, needed, hard)


def _share_out(state: _State, parameters: list[Parameter], tokens: list[Token]) -> None:
    """Give tokens to parameters where only one way is possible, by order where the names say so, else doubt."""
    changed = True
    while changed:
        changed = False
        parameters = [p for p in parameters if state.open(p)]
        tokens = [t for t in tokens if state.free(t)]
        fit = {p.name: [t for t in tokens if _suits(p, t)] for p in parameters}
        for parameter in parameters:
            mine = fit[parameter.name]
            # As many tokens as parameters: the only one that can be this one is it (0.1*4096: the count is whole).
            if len(mine) == 1 and (sum(mine[0] in f for f in fit.values()) == 1 or 1 < len(tokens) == len(parameters)):
                _settle(state, parameter, mine[0])
                changed = True
                break
    parameters = [p for p in parameters if fit[p.name]]
    equal = all(len(fit[p.name]) == len(tokens) for p in parameters)
    if len(parameters) == len(tokens) > 1 and _by_order(parameters) and equal:
        for parameter, token in zip(sorted(parameters, key=lambda p: p.name), tokens, strict=True):
            _settle(state, parameter, token)
        return
    for parameter in parameters:
        if len({repr(_values(parameter, t)) for t in fit[parameter.name]}) == 1 and len(parameters) == 1:
            _settle(state, parameter, fit[parameter.name][0])
        else:
            state.doubt(parameter, fit[parameter.name])
    state.taken |= {start for p in parameters for t in fit[p.name] for start in _atoms(t)}


_UNKNOWN_KEY: Final = re.compile(r"[a-z_][a-z0-9_]{0,40} {0,2}[=:] {0,2}$")


def _left_over(state: _State, check: Check, tokens: tuple[Token, ...], low: str) -> None:
    """Give what is left to the required parameters that are left, if only one way is possible."""
    needed = [p for p in check.parameters if p.default is REQUIRED and state.open(p)]
    free = [
        t
        for t in _free_groups(state, tokens)
        if not t.weak and not _UNKNOWN_KEY.search(low, max(0, t.start - 48), t.start)
    ]
    lists = [p for p in needed if p.kind in _LISTS]
    scalars = [p for p in needed if p.kind in _SCALARS]
    groups = [t for t in free if t.kind in ("list", "range", "shape")]
    if lists:
        _share_out(state, lists, groups)
        lists = [p for p in lists if state.open(p)]
        free = [t for t in free if state.free(t)]
    numbers = [item for t in free for item in (_in_unit(t) if t.loose or t.kind == "range" else (t,))]
    numbers = [t for t in numbers if t.kind == "number" and not t.weak]
    _share_out(state, scalars or lists, numbers)


def _or_lists(state: _State, check: Check, tokens: tuple[Token, ...]) -> None:
    """Doubt a single number that was read from "0.02 or 0.05", or from a list whose rest nothing took."""
    for token in tokens:
        if not token.loose:
            continue
        rest = [item for item in token.items if item.start not in state.taken]
        if not rest:
            continue
        for parameter in check.parameters:
            read = state.found.get(parameter.name)
            if parameter.kind not in _SCALARS or read is None or not token.start <= read.start < token.end:
                continue
            mine = next((item for item in token.items if item.start == read.start), None)
            others = [item for item in rest if _suits(parameter, item)]
            if mine is not None and others:
                del state.found[parameter.name]
                state.doubt(parameter, [mine, *others])
                state.taken |= {item.start for item in others}


def _reading(state: _State, check: Check, tokens: tuple[Token, ...]) -> Reading:
    order = [p.name for p in check.parameters]
    unused = tuple(t for t in _free_groups(state, tokens) if not t.weak)
    return Reading(
        {name: state.found[name].value for name in order if name in state.found},
        tuple(p.name for p in check.parameters if p.default is REQUIRED and state.open(p)),
        {name: state.ambiguous[name] for name in order if name in state.ambiguous},
        unused,
        {name: state.found[name] for name in order if name in state.found},
    )
