"""What has been read of a question so far, and which values a quantity may have for a parameter."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from assistant.checks.tokens import Token
from assistant.checks.types import Parameter, Value
from assistant.checks.units import convert, dtype_of

__all__ = [
    "LISTS",
    "SCALARS",
    "Candidate",
    "Reading",
    "State",
    "atoms_of",
    "fits",
    "free_groups",
    "in_order",
    "members",
    "named_by_order",
    "scalar",
    "settle",
    "suits",
    "values_for",
]

_DECIMAL: Final = re.compile(r"[+-]?[0-9]+\.[0-9]+")
LISTS: Final = ("numbers", "integers", "shape")

SCALARS: Final = ("number", "integer")
#: Bare numbers from here on are whole hertz or bytes where a parameter has MHz or MB: 64M, 64000000.
_MILLION: Final = 1e6
#: Values that are kept of an ambiguous parameter.
CANDIDATES_MOST: Final = 50


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
    left_over: frozenset[str]
    """Arguments that nothing but being the only quantity left speaks for."""


@dataclass(slots=True)
class State:
    """What has been read so far."""

    text: str
    taken: set[int] = field(default_factory=set)
    """Starts of the numbers, types and files that are used."""
    spoken: list[tuple[int, int]] = field(default_factory=list)
    """Stretches that name types and files or follow a key: no word in them is a choice of another parameter."""
    found: dict[str, Candidate] = field(default_factory=dict)
    ambiguous: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    left_over: frozenset[str] = frozenset()

    def open(self, parameter: Parameter) -> bool:
        """Tell whether nothing is known of a parameter yet."""
        return parameter.name not in self.found and parameter.name not in self.ambiguous

    def free(self, token: Token) -> bool:
        """Tell whether no number of a quantity is used."""
        return self.taken.isdisjoint(atoms_of(token))

    def take(self, parameter: Parameter, value: Value, token: Token) -> None:
        """Note a value and where it was read; its numbers are used now."""
        self.found[parameter.name] = Candidate(value, token.text, token.start, token.end)
        self.taken |= atoms_of(token)

    def doubt(self, parameter: Parameter, tokens: Iterable[Token]) -> None:
        """Note several values for one parameter; equal values are no doubt."""
        candidates: dict[str, Candidate] = {}
        for token in tokens:
            if len(candidates) >= CANDIDATES_MOST:
                break
            for value in values_for(parameter, token):
                candidates.setdefault(repr(value), Candidate(value, token.text, token.start, token.end))
        self.ambiguous[parameter.name] = tuple(candidates.values())


def atoms_of(token: Token) -> set[int]:
    """Return where the numbers of a quantity start: what tells them from all others."""
    return {item.start for item in token.items} if token.items else {token.start}


def values_for(parameter: Parameter, token: Token) -> list[Value]:
    """Return the values that a token may have for a parameter, none where kind or unit contradict."""
    kind, value = parameter.kind, token.value
    if kind == "file":
        return [value] if token.kind == "file" else []
    if kind == "choice":
        return [c for c in parameter.choices if _is_type(c, token)] or [
            c for c in parameter.choices if token.kind == "number" and c.lower() == token.text.lower()
        ]
    if kind in SCALARS and token.kind == "list" and not token.loose and len(token.items) == 1:
        return values_for(parameter, token.items[0])
    if kind == "integer" and _DECIMAL.fullmatch(token.text):
        return []  # 6.0 is a version or a measured value, no count
    if kind in SCALARS and token.kind == "number" and not isinstance(value, str | tuple):
        return [number for number in [scalar(parameter, value, token.unit)] if number is not None]
    if kind in LISTS and token.kind in ("number", "list", "range", "shape"):
        if kind == "numbers" and token.kind == "shape":
            return []
        readings = [value] if isinstance(value, tuple) else [(value,), *([token.other] if token.other else [])]
        lists = [tuple(scalar(parameter, x, token.unit) for x in reading) for reading in readings]  # type: ignore[arg-type]
        return [items for items in lists if None not in items and parameter.read_least <= len(items) <= parameter.most]
    return []


def _is_type(choice: str, token: Token) -> bool:
    if token.kind == "dtype":
        return dtype_of(choice.lower()) == token.value
    return token.kind == "number" and token.unit == "bit" and re.sub("[a-z_]+", "", choice.lower()) == str(token.value)


def scalar(parameter: Parameter, value: float, unit: str) -> float | None:
    """Return a number in the unit and type of a parameter, None where they contradict."""
    number = convert(value, unit, parameter.unit)
    if number is None:
        return None
    if parameter.unit in ("MHz", "MB") and not unit and value >= _MILLION:
        number = value / 1e6
    if parameter.kind in ("integer", "integers", "shape"):
        return int(number) if number - number == 0 and number == int(number) else None
    try:
        return float(number)
    except OverflowError:
        return None


def fits(parameter: Parameter, value: Value) -> bool:
    """Tell whether a value lies in the range of its parameter."""
    numbers = value if isinstance(value, tuple) else (value,)
    return all(
        isinstance(x, str | bool)
        or ((parameter.low is None or x >= parameter.low) and (parameter.high is None or x <= parameter.high))
        for x in numbers
    )


def suits(parameter: Parameter, token: Token) -> bool:
    """Tell whether a quantity has a value for a parameter, within its range."""
    return any(fits(parameter, value) for value in values_for(parameter, token))


def settle(state: State, parameter: Parameter, token: Token) -> None:
    """Take a token for a parameter, or doubt it if the token itself has two readings there."""
    values = values_for(parameter, token)
    if len(values) == 1:
        state.take(parameter, values[0], token)
    elif parameter.kind == "choice" and parameter.default in values:
        state.take(parameter, parameter.default, token)
    else:
        state.doubt(parameter, [token])
        state.taken |= atoms_of(token)


def members(token: Token) -> tuple[Token, ...]:
    """Return the members of a range, each in the unit of the whole."""
    assert isinstance(token.value, tuple)
    return tuple(
        Token("number", item.text, item.start, item.end, value, token.unit)
        for item, value in zip(token.items, token.value, strict=True)
    )


def free_groups(state: State, tokens: Iterable[Token]) -> list[Token]:
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


def _run(state: State, token: Token, run: list[Token]) -> Token:
    if len(run) == 1:
        return run[0]
    assert isinstance(token.value, tuple)
    value = {item.start: number for item, number in zip(token.items, token.value, strict=True)}
    start, end = run[0].start, run[-1].end
    unit = token.unit if run[-1].unit else ""
    values = tuple(value[item.start] for item in run)
    return Token("list", state.text[start:end], start, end, values, unit, tuple(run), loose=True, either=token.either)


def named_by_order(parameters: list[Parameter]) -> bool:
    """Tell whether the order in the text decides: the table says so, or the names do (a and b, x1 and x2)."""
    if all(p.in_order for p in parameters):
        return True
    ordered = sorted(p.name for p in parameters)
    marks = [re.fullmatch(r"([a-z]?)(?:_?(?:d?type|values|shape|scale|file))?([0-9]?)", name) for name in ordered]
    return all(marks) and len({mark[1] + mark[2] for mark in marks if mark}) == len(ordered)


def in_order(parameters: list[Parameter]) -> list[Parameter]:
    """Return parameters in the order in which a text gives them: that of the table, or of names that are an order."""
    return parameters if all(p.in_order for p in parameters) else sorted(parameters, key=lambda p: p.name)
