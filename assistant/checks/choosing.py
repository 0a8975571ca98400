"""Parameters that hold words: choices by their synonyms and types, flags, and key=value of both and of texts."""

import re
from itertools import pairwise
from typing import Final

from assistant.checks.names import Place, blocks, choices_in, stated_flag
from assistant.checks.reading import Candidate, State, in_order, named_by_order, settle, values_for
from assistant.checks.tokens import Token
from assistant.checks.types import REQUIRED, Check, Parameter, Value
from assistant.checks.units import dtype_of

__all__ = ["settle_choices", "settle_keyed"]

_KEY_VALUE: Final = (
    r"(?<![a-z0-9_.])(?:{})[ ]?(?:==?|:)[ ]?(\"[^\"\n]{{0,200}}\"|'[^'\n]{{0,200}}'|[^\s,;，；、。()\[\]]{{1,200}})"
)


def settle_keyed(state: State, check: Check, low: str) -> None:
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


_PRODUCT: Final = re.compile(r" ?(?:[x×*]|乘以?|by|times) ?")


def settle_choices(state: State, check: Check, low: str, spots: list[Place], tokens: tuple[Token, ...]) -> None:
    """Read choices from types and from words that mean one, and flags from their words."""
    types = [t for t in tokens if (t.kind == "dtype" or t.unit == "bit") and state.free(t)]
    by_type = [p for p in check.parameters if p.kind == "choice" and any(dtype_of(c.lower()) for c in p.choices)]
    _by_type(state, [p for p in by_type if state.open(p)], types)
    # What a required choice says is not said a second time by another one.
    for parameter in sorted(check.parameters, key=lambda p: p.default is not REQUIRED):
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
                if parameter.default is REQUIRED:
                    state.spoken.append(spans[0][1])
            elif candidates:
                state.ambiguous[parameter.name] = candidates
        elif parameter.kind == "flag":
            _flag(state, parameter, low, spots)


def _flag(state: State, parameter: Parameter, low: str, spots: list[Place]) -> None:
    seen: dict[bool, Candidate] = {}
    for spot in spots:
        if spot.parameter is parameter:
            value = not blocks(low, spot.start)
            seen.setdefault(value, Candidate(value, state.text[spot.start : spot.end], spot.start, spot.end))
    if len(seen) == 1:
        state.found[parameter.name] = next(iter(seen.values()))
    elif seen:
        state.ambiguous[parameter.name] = tuple(seen.values())


def _by_type(state: State, parameters: list[Parameter], types: list[Token]) -> None:
    """Give types to the parameters that can have them.

    A product (s16*s8) goes to two parameters that are named by order (a, b). Then a type that only parameters
    with equal choices can have goes to those; then, of what is left, required parameters come first. One type for
    several parameters with equal choices holds for all of them (int8 matmul).
    """
    for one, two in pairwise(types):
        needed = [p for p in parameters if state.open(p) and p.default is REQUIRED]
        alike = [p for p in needed if values_for(p, one) and values_for(p, two)]
        if len(alike) == 2 and named_by_order(alike) and _PRODUCT.fullmatch(state.text[one.end : two.start][:12]):
            for p, token in zip(in_order(alike), (one, two), strict=True):
                settle(state, p, token)
    for only_needed in (False, True):
        while _by_set(state, parameters, types, only_needed):
            pass
    for p in parameters:
        fit = [t for t in types if state.free(t) and values_for(p, t)]
        if fit and state.open(p):
            state.doubt(p, fit)
    for name in state.ambiguous:
        state.taken |= {c.start for c in state.ambiguous[name]}


def _by_set(state: State, parameters: list[Parameter], types: list[Token], only_needed: bool) -> bool:
    """Settle one set of parameters with equal choices by types that no other set can have; tell whether one was."""
    sets: dict[frozenset[str], list[Parameter]] = {}
    for p in parameters:
        if state.open(p) and (p.default is REQUIRED or not only_needed):
            sets.setdefault(_typeset(p), []).append(p)
    free = [t for t in types if state.free(t)]
    own = {key: {str(t.value) for t in free if values_for(alike[0], t)} for key, alike in sets.items()}
    for key, alike in sets.items():
        others = {kind for other, kinds in own.items() if other != key for kind in kinds}
        mine = [t for t in free if str(t.value) in own[key] - others]
        if mine:
            _share_types(state, [p for p in alike if p.default is REQUIRED] or alike, mine)
            return True
    return False


def _share_types(state: State, parameters: list[Parameter], tokens: list[Token]) -> None:
    if len(parameters) == len(tokens) > 1 and named_by_order(parameters):
        for p, token in zip(in_order(parameters), tokens, strict=True):
            settle(state, p, token)
        return
    for p in parameters:
        if len({str(t.value) for t in tokens}) == 1:
            settle(state, p, tokens[0])
        else:
            state.doubt(p, tokens)
    state.taken |= {t.start for t in tokens}


def _typeset(parameter: Parameter) -> frozenset[str]:
    return frozenset(dtype_of(choice.lower()) for choice in parameter.choices)
