"""Offsets of buffers in one arena, so that buffers alive at the same time never overlap and the arena is small.

    buffers -> several orders (by size, by crowding ...), each placed first fit: the best of them
            -> hill climbing: what stands under the highest buffer changes its turn, kept if the arena does not grow
            -> stops at the lower bound, or when the effort is used up

The lower bound is the largest sum of bytes alive at one step: no arena can be smaller. Sources: greedy by size and
first fit: TensorFlow Lite Micro, GreedyMemoryPlanner; orders and hill climbing: Arm Vela, hillclimb allocation.
"""

import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument

__all__ = ["EFFORT", "Buffer", "MemoryPlan", "live_bytes", "plan_memory"]

#: Default effort: pairs of buffers looked at, about three seconds where the bound is not reached; mostly far fewer.
EFFORT: Final = 12_000_000

#: From this many neighbours on, gaps are found by numpy: sorting dominates, and numpy's is faster.
_MANY: Final = 200

#: Climbing starts anew from another order after so many tries in a row that did not shrink the arena.
_PATIENCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of memory that is needed for some steps."""

    name: str
    #: Bytes, before alignment.
    bytes: int
    #: First step at which it is alive.
    first: int
    #: Last step at which it is alive, itself included.
    last: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Where each buffer lies, and what decides the size."""

    #: First byte of each buffer by name, a multiple of the alignment; 0 for buffers without bytes.
    offsets: Mapping[str, int]
    #: Bytes of the arena.
    peak_bytes: int
    #: Bytes no arena can do without: aligned sizes of all buffers alive at `peak_step`.
    lower_bound_bytes: int
    #: First step at which the most bytes are alive; -1 without buffers.
    peak_step: int
    #: Buffers alive then, largest first.
    peak_buffers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Problem:
    """Buffers with bytes, by number; sizes in units of the alignment."""

    sizes: list[int]
    first: list[int]
    last: list[int]
    #: Numbers of the buffers alive at a common step with each.
    neighbours: list["array[int]"]
    bound: int


@dataclass(slots=True)
class _Search:
    """The best placing so far, and the effort left."""

    effort: int
    offsets: list[int]
    peak: int


def live_bytes(buffers: Sequence[Buffer], alignment: int = 1) -> tuple[int, ...]:
    """Return the bytes alive at each step from 0 to the last, sizes rounded up to the alignment."""
    _check(buffers, alignment)
    return tuple((_live(buffers, alignment) * alignment).tolist())


def plan_memory(buffers: Sequence[Buffer], alignment: int = 64, effort: int = EFFORT, seed: int = 1) -> MemoryPlan:
    """Return offsets for the buffers; the same arguments give the same plan, never worse than greedy by size.

    Args:
        buffers: in any order; names are unique.
        alignment: bytes; offsets are multiples of it, sizes are rounded up to it.
        effort: pairs of buffers the search may look at; 0 takes the best of the simple orders, whatever they cost.
        seed: of the search.

    Raises:
        BadArgument: two buffers of one name, a negative size or step, a last step before the first, alignment < 1.
    """
    _check(buffers, alignment)
    live = _live(buffers, alignment)
    peak_step = int(live.argmax()) if live.size else -1
    at_peak = [buffer for buffer in buffers if buffer.first <= peak_step <= buffer.last and buffer.bytes]
    bound = int(live.max(initial=0))
    filled = [buffer for buffer in buffers if buffer.bytes]
    found = _placed(_problem(filled, alignment, bound), effort, random.Random(seed))
    offsets = {buffer.name: 0 for buffer in buffers}
    offsets.update((buffer.name, offset * alignment) for buffer, offset in zip(filled, found.offsets, strict=True))
    return MemoryPlan(
        offsets,
        found.peak * alignment,
        bound * alignment,
        peak_step,
        tuple(buffer.name for buffer in sorted(at_peak, key=lambda buffer: -buffer.bytes)),
    )


def _check(buffers: Sequence[Buffer], alignment: int) -> None:
    if alignment < 1:
        raise BadArgument(f"alignment is {alignment}; it must be 1 or more")
    names: set[str] = set()
    for buffer in buffers:
        if buffer.name in names:
            raise BadArgument(f"two buffers are named {buffer.name!r}; names must be unique")
        if buffer.bytes < 0 or not 0 <= buffer.first <= buffer.last:
            raise BadArgument(
                f"buffer {buffer.name!r} has {buffer.bytes} bytes from step {buffer.first} to {buffer.last}; "
                "bytes and steps must be 0 or more, the last step not before the first"
            )
        names.add(buffer.name)


def _live(buffers: Sequence[Buffer], alignment: int) -> NDArray[np.int64]:
    """Return the units alive at each step."""
    change = np.zeros(max((buffer.last for buffer in buffers), default=-1) + 2, np.int64)
    for buffer in buffers:
        units = -(-buffer.bytes // alignment)
        change[buffer.first] += units
        change[buffer.last + 1] -= units
    return change.cumsum()[:-1]


def _problem(buffers: Sequence[Buffer], alignment: int, bound: int) -> _Problem:
    first, last = (np.array([getattr(b, key) for b in buffers], np.int64) for key in ("first", "last"))
    neighbours: list[array[int]] = []
    for number in range(len(buffers)):
        is_near = (first <= last[number]) & (last >= first[number])
        is_near[number] = False
        neighbours.append(array("i", np.flatnonzero(is_near).astype(np.intc).tobytes()))
    sizes = [-(-buffer.bytes // alignment) for buffer in buffers]
    return _Problem(sizes, first.tolist(), last.tolist(), neighbours, bound)


def _placed(problem: _Problem, effort: int, chance: random.Random) -> _Search:
    """Return the best placing found."""
    count = len(problem.sizes)
    search = _Search(effort, [0] * count, sum(problem.sizes) + 1 if count else 0)
    starts: list[tuple[int, list[int]]] = []
    for order in _orders(problem):
        offsets = [-1] * count
        peak = _place(problem, order, 0, offsets, search, search.peak + sum(problem.sizes))
        starts.append((peak, order))
        if peak < search.peak:
            search.peak, search.offsets = peak, offsets
        if search.peak == problem.bound or search.effort <= 0 < effort:
            return search
    starts.sort(key=lambda start: start[0])
    turn = 0
    while search.effort > 0 and count > 1:
        order = list(starts[turn % len(starts)][1])
        for _ in range(turn // len(starts)):  # the same order again would lead to the same places
            one, other = chance.randrange(count), chance.randrange(count)
            order[one], order[other] = order[other], order[one]
        _climb(problem, order, search, chance)
        if search.peak == problem.bound:
            break
        turn += 1
    return search


def _orders(problem: _Problem) -> Iterator[list[int]]:
    """Yield the orders to start from: by size, by crowding while alive, by bytes times steps, by start, by end."""
    sizes, first, last = problem.sizes, problem.first, problem.last
    numbers = range(len(sizes))
    length = [last[i] - first[i] for i in numbers]
    yield sorted(numbers, key=lambda i: (-sizes[i], first[i]))
    live = [0] * (max(last, default=-1) + 2)
    for i in numbers:
        live[first[i]] += sizes[i]
        live[last[i] + 1] -= sizes[i]
    alive = np.array(live, np.int64).cumsum()
    crowding = [int(alive[first[i] : last[i] + 1].max()) for i in numbers]
    yield sorted(numbers, key=lambda i: (-crowding[i], -length[i], -sizes[i]))
    yield sorted(numbers, key=lambda i: (-crowding[i], -sizes[i], -length[i]))
    yield sorted(numbers, key=lambda i: (-length[i], -sizes[i]))
    yield sorted(numbers, key=lambda i: (-sizes[i] * (length[i] + 1), first[i]))
    yield sorted(numbers, key=lambda i: (first[i], -length[i]))
    yield sorted(numbers, key=lambda i: (-last[i], -length[i]))


def _place(problem: _Problem, order: Sequence[int], start: int, offsets: list[int], search: _Search, limit: int) -> int:
    """Place the buffers of order[start:] first fit, in `offsets` (-1: not placed); return the peak of those placed.

    Stops as soon as the peak would exceed the limit, and returns that peak.
    """
    sizes, neighbours = problem.sizes, problem.neighbours
    peak = 0
    is_crowded = any(len(near) >= _MANY for near in neighbours)
    places, lengths = (np.array(values if is_crowded else (), np.int64) for values in (offsets, sizes))
    for i in order[start:]:
        size = sizes[i]
        near = neighbours[i]
        search.effort -= len(near) + 1
        if len(near) >= _MANY:
            numbers = np.frombuffer(near, np.intc)
            place = _first_gap(places[numbers], lengths[numbers], size)
        else:
            place = 0
            for offset, other in sorted([(offsets[j], sizes[j]) for j in near if offsets[j] >= 0]):
                if offset - place >= size:
                    break
                if offset + other > place:
                    place = offset + other
        offsets[i] = place
        if is_crowded:
            places[i] = place
        if place + size > peak:
            peak = place + size
            if peak > limit:
                return peak
    return peak


def _first_gap(offsets: NDArray[np.int64], sizes: NDArray[np.int64], size: int) -> int:
    """Return the lowest place for `size` units between the buffers that are placed (offset >= 0)."""
    is_placed = offsets >= 0
    offsets, sizes = offsets[is_placed], sizes[is_placed]
    order = offsets.argsort(kind="stable")
    # Up to where each gap's lower side is filled; the last gap is open.
    filled = np.maximum.accumulate(np.concatenate(([0], offsets[order] + sizes[order])))
    fits = np.flatnonzero(offsets[order] - filled[:-1] >= size)
    return int(filled[fits[0]] if fits.size else filled[-1])


def _climb(problem: _Problem, order: list[int], search: _Search, chance: random.Random) -> None:
    """Improve an order until the bound, the effort or the patience is reached; note a better placing in `search`."""
    count = len(order)
    offsets = [-1] * count
    peak = _place(problem, order, 0, offsets, search, search.peak + sum(problem.sizes))
    turns = [0] * count
    for turn, i in enumerate(order):
        turns[i] = turn
    idle = 0
    while idle < _PATIENCE and search.effort > 0:
        if peak < search.peak:
            search.peak, search.offsets = peak, list(offsets)
        if search.peak == problem.bound:
            return
        one, other = _swapped(problem, offsets, peak, turns, chance)
        new = list(order)
        new[one], new[other] = new[other], new[one]
        start = min(one, other)
        tried = list(offsets)
        for i in new[start:]:
            tried[i] = -1
        reached = _place(problem, new, start, tried, search, peak)
        if reached <= peak:
            # Buffers placed before the swapped ones keep their places; one of them may hold the peak.
            reached = max(offset + size for offset, size in zip(tried, problem.sizes, strict=True))
            idle = 0 if reached < peak else idle + 1
            order, offsets, peak = new, tried, reached
            turns[order[one]], turns[order[other]] = one, other
        else:
            idle += 1


def _swapped(
    problem: _Problem, offsets: list[int], peak: int, turns: list[int], chance: random.Random
) -> tuple[int, int]:
    """Return two turns to swap: one of the pile under a highest buffer, one of the pile or of its surroundings."""
    sizes, neighbours = problem.sizes, problem.neighbours
    tops = [i for i, size in enumerate(sizes) if offsets[i] + size == peak]
    top = chance.choice(tops)
    pile = {top: None}
    waiting = [top]
    while waiting:
        i = waiting.pop()
        for j in neighbours[i]:
            if j not in pile and offsets[j] + sizes[j] == offsets[i]:
                pile[j] = None
                waiting.append(j)
    piled = list(pile)
    one = chance.choice(piled)
    around: Sequence[int] = piled if len(piled) > 1 and chance.random() < 0.5 else neighbours[one]
    other = chance.choice(around) if len(around) else one
    if other == one:
        other = chance.randrange(len(sizes))
    return turns[one], turns[other]
