"""The number beside a word: which quantities stand near which names, and the best way to share them out."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from assistant.checks.names import Place, gap_cost
from assistant.checks.reading import LISTS, SCALARS, State, atoms_of, fits, settle, values_for
from assistant.checks.tokens import Token
from assistant.checks.types import Check, Parameter

__all__ = ["Edge", "edges_of", "settle_beside"]

#: Edges of one word or number that are looked at, and steps of the search over them: bounds for hostile text.
_EDGES_MOST: Final = 4

_STEPS_MOST: Final = 5000

#: Two assignments whose costs differ by less are the same to a reader.
_TIE: Final = 0.25


@dataclass(frozen=True, slots=True)
class Edge:
    """A quantity that stands beside a word of a parameter."""

    parameter: Parameter
    token: Token
    cost: float
    """0 is said outright, 1 is next to it, more is farther off."""


def _offers(tokens: Iterable[Token], classes: tuple[str, ...]) -> list[Token]:
    """Return the tokens of some kinds, members of loose lists and ranges among them, by start."""
    offers = []
    for token in tokens:
        if token.kind in classes:
            offers.append(token)
        if "number" in classes and token.items and (token.loose or token.kind == "range" or len(token.items) == 1):
            offers += token.items
    return offers


def edges_of(state: State, check: Check, low: str, spots: list[Place], tokens: tuple[Token, ...]) -> list[Edge]:
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
    edges: dict[str, dict[tuple[int, int], Edge]] = {}
    starts = [spot.start for spot in spots]
    for spot in spots:
        parameter = spot.parameter
        kind = "number" if parameter.kind in SCALARS else "list" if parameter.kind in LISTS else parameter.kind
        if kind not in ordered or not state.open(parameter):
            continue
        offers, from_start, by_end, to_end = ordered[kind]
        after = bisect_left(from_start, spot.end)
        before = bisect_left(to_end, spot.start + 1) - 1
        beside: list[Edge] = []
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


def _edge(parameter: Parameter, token: Token, cost: float | None) -> list[Edge]:
    if cost is None:
        return []
    values = values_for(parameter, token)
    # Only an explicit "scale = 0" may be out of range: its error is told. Beside a word it is another number.
    if not values or (cost >= 1.2 and not any(fits(parameter, value) for value in values)):
        return []
    return [Edge(parameter, token, cost)]


def _best(edges: list[Edge]) -> list[Edge]:
    explicit = [edge for edge in edges if edge.cost == 0]
    return sorted(explicit or edges, key=lambda edge: edge.cost)[: _EDGES_MOST if not explicit else 50]


def settle_beside(state: State, edges: list[Edge]) -> None:
    """Give every word the number beside it: most words first, then the nearest; equal ways are in doubt."""
    edges = [edge for edge in edges if state.open(edge.parameter) and state.free(edge.token)]
    held = {start for edge in edges if edge.cost == 0 for start in atoms_of(edge.token)}
    options: dict[str, list[Edge]] = {}
    for edge in edges:
        if edge.cost == 0 or held.isdisjoint(atoms_of(edge.token)):
            options.setdefault(edge.parameter.name, []).append(edge)
    for name, mine in options.items():
        # Beside "maxima" a list is meant, not the number of "two branches".
        lists = [edge for edge in mine if edge.token.items]
        if lists and mine[0].parameter.kind in LISTS:
            options[name] = lists
    ways = _ways(sorted(options.values(), key=len))
    for name in options:
        chosen = {(e.token.start, e.token.end): e for way in ways for e in way if e.parameter.name == name}
        certain = all(any(e.parameter.name == name for e in way) for way in ways)
        parameter = options[name][0].parameter
        values = {repr(value) for edge in chosen.values() for value in values_for(parameter, edge.token)}
        if chosen and certain and (len(chosen) == 1 or len(values) == 1):
            settle(state, parameter, next(iter(chosen.values())).token)
            for edge in chosen.values():
                state.taken |= atoms_of(edge.token)
        elif chosen:
            state.doubt(parameter, [edge.token for edge in chosen.values()])
            state.taken |= {start for edge in chosen.values() for start in atoms_of(edge.token)}


def _ways(options: list[list[Edge]]) -> list[list[Edge]]:
    """Return the ways to give most words a number of their own, at the least cost or within a tie of it."""
    best: list[tuple[int, float, list[Edge]]] = []
    steps = 0

    def extend(index: int, way: list[Edge], used: set[int], cost: float) -> None:
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
            atoms = atoms_of(edge.token)
            if used.isdisjoint(atoms):
                extend(index + 1, [*way, edge], used | atoms, cost + edge.cost)
        extend(index + 1, way, used, cost)

    extend(0, [], set(), 0.0)
    return [way for _, _, way in best]
