"""The proof of a rewrite: original and result run in float32 on the same inputs, their largest difference by output."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from simcore.errors import BadArgument, ModelError
from simcore.execute import run
from simcore.graph import Graph, Tensor, ValueInfo
from simcore.rewrite.run import Rewritten

__all__ = ["DISTRIBUTIONS", "TOLERANCE", "Difference", "Proof", "feeds_for", "prove"]

#: Largest difference allowed where all rules are exact up to rounding, relative to the output's largest magnitude.
TOLERANCE: Final = 1e-4

#: How random feeds are made, in turn.
DISTRIBUTIONS: Final = ("normal", "uniform", "zeros", "large")

#: Magnitude of the large feeds.
_LARGE: Final = 100.0
#: Integers are drawn below this: indices, tokens and counts are small.
_INTEGERS: Final = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one output of the result is from the original, over all runs."""

    output: str
    max_absolute: float
    #: Relative to the largest magnitude of the original in the same run.
    max_relative: float
    tolerance: float
    ok: bool
    #: What is wrong besides the numbers: another type, shape, or places of NaN and infinities; "" if nothing.
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a rewritten model does what the original does."""

    outputs: tuple[Difference, ...]
    #: Runs that were compared, by the kind of their feeds.
    runs: tuple[str, ...]
    #: Feeds that the original itself refuses, with its reason.
    skipped: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there was a run and every output is within its tolerance."""
        return bool(self.runs) and all(one.ok for one in self.outputs)


def prove(
    original: Graph,
    rewritten: Rewritten,
    feeds: Sequence[Mapping[str, Tensor]] = (),
    seeds: Sequence[int] = (0,),
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    tolerance: float = TOLERANCE,
) -> Proof:
    """Return how far the rewritten model is from the original.

    Both run in float32 on the given feeds and, per seed, on one feed of each of DISTRIBUTIONS. Inputs that the rewrite
    added get the value that stands for what the original has inside; inputs it fixed keep their value. Where rules
    state an error, the tolerance is `tolerance` plus the sum of these errors: an approximation in each of n layers may
    add up. Integers and booleans have to be equal unless such a rule or rounding stands before them, so they are held
    to the same tolerance.

    Args:
        original: the model before.
        rewritten: the result of `rewrite`.
        feeds: an array per input of the original.
        seeds: of the random feeds; () for none.
        shapes: sizes of random feeds for inputs with open ones; where the result fixed them, its own are taken.
        tolerance: largest difference relative to the largest magnitude of an output.

    Raises:
        BadArgument: no feed can be made, as a shape is open.
        ModelError: the result fails where the original does not.
    """
    allowed = tolerance + sum(change.error for change in rewritten.changes)
    names = [info.name for info in original.outputs]
    if names != [info.name for info in rewritten.graph.outputs]:
        got = [info.name for info in rewritten.graph.outputs]
        raise BadArgument(f"outputs are {got}, the original has {names}")
    worst = {name: Difference(name, 0.0, 0.0, allowed, True) for name in names}
    runs, skipped = [], []
    for kind, feed in _all_feeds(original, rewritten, feeds, seeds, shapes or {}):
        whole = {**feed, **rewritten.fixed}
        try:
            want = run(original, whole)
        except ModelError as error:
            skipped.append(f"{kind}: {error}")
            continue
        kept = {name: value for name, value in whole.items() if name not in rewritten.fixed}
        got_outputs = run(rewritten.graph, {**kept, **rewritten.states})
        for name in names:
            worst[name] = _worse(worst[name], _difference(name, want[name], got_outputs[name], allowed))
        runs.append(kind)
    return Proof(tuple(worst.values()), tuple(runs), tuple(skipped))


def _worse(one: Difference, other: Difference) -> Difference:
    return Difference(
        one.output,
        max(one.max_absolute, other.max_absolute),
        max(one.max_relative, other.max_relative),
        one.tolerance,
        one.ok and other.ok,
        one.problem or other.problem,
    )


def _difference(name: str, want: Any, got: Any, allowed: float) -> Difference:  # noqa: ANN401
    """Return the difference of two outputs; NaN and infinities have to stand at the same places."""
    if not isinstance(want, np.ndarray) or not isinstance(got, np.ndarray):
        is_same = type(want) is type(got)
        return Difference(name, 0.0, 0.0, allowed, is_same, "" if is_same else "another kind of value")
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        problem = f"{got.dtype.name} {list(got.shape)} instead of {want.dtype.name} {list(want.shape)}"
        return Difference(name, np.inf, np.inf, allowed, False, problem)
    if want.dtype.kind not in "iufbc":
        is_same = bool(np.all(want == got)) if want.dtype.kind == "O" else want.tobytes() == got.tobytes()
        return Difference(name, 0.0, 0.0, allowed, is_same, "" if is_same else "other values")
    a, b = (value.astype(np.complex128 if value.dtype.kind == "c" else np.float64) for value in (want, got))
    finite = np.isfinite(a)
    with np.errstate(invalid="ignore"):
        same_rest = np.array_equal(a[~finite], b[~finite], equal_nan=True) and bool(np.all(np.isfinite(b[finite])))
    if not same_rest:
        return Difference(name, np.inf, np.inf, allowed, False, "NaN or infinities at other places")
    absolute = float(np.max(np.abs(a[finite] - b[finite]), initial=0.0))
    largest = float(np.max(np.abs(a[finite]), initial=0.0))
    relative = absolute / largest if largest else absolute
    return Difference(name, absolute, relative, allowed, relative <= allowed)


def _all_feeds(
    original: Graph,
    rewritten: Rewritten,
    feeds: Sequence[Mapping[str, Tensor]],
    seeds: Sequence[int],
    shapes: Mapping[str, tuple[int, ...]],
) -> Iterator[tuple[str, dict[str, Tensor]]]:
    for i, feed in enumerate(feeds):
        yield f"given {i}", dict(feed)
    fixed = {info.name: info for info in rewritten.graph.inputs}
    infos = [fixed.get(info.name, info) for info in original.inputs if info.name not in rewritten.fixed]
    for seed in seeds:
        for kind in DISTRIBUTIONS:
            yield f"{kind}, seed {seed}", feeds_for(infos, kind, seed, shapes)


def feeds_for(
    inputs: Sequence[ValueInfo], kind: str, seed: int, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Tensor]:
    """Return a random array per input.

    Args:
        inputs: the inputs.
        kind: of DISTRIBUTIONS: normal (deviation 1), uniform (0 to 1), zeros, large (normal, deviation 100); integers
            are 0 to 7, 0, or 0 to 7 again.
        seed: same seed, same bits.
        shapes: complete shapes of those with open sizes.

    Raises:
        BadArgument: an input without complete shape or type, or an unknown kind.
    """
    random = np.random.default_rng(seed)
    feeds: dict[str, Tensor] = {}
    named: dict[str, int] = {}
    for info in inputs:
        shape = shapes.get(info.name, info.shape)
        whole = [named.get(size, size) if isinstance(size, str) else size for size in shape or ()]
        if shape is None or info.dtype is None or not all(isinstance(size, int) for size in whole):
            raise BadArgument(f"input {info.name!r} is declared {list(shape or ())}; give it a complete shape")
        for declared, size in zip(info.shape or (), whole, strict=False):
            if isinstance(declared, str) and isinstance(size, int):
                named[declared] = size
        feeds[info.name] = _random(random, info.dtype, tuple(size for size in whole if isinstance(size, int)), kind)
    return feeds


def _random(random: np.random.Generator, dtype: "np.dtype[Any]", shape: tuple[int, ...], kind: str) -> Tensor:
    if kind not in DISTRIBUTIONS:
        raise BadArgument(f"no distribution {kind!r}; there are {', '.join(DISTRIBUTIONS)}")
    if dtype.kind == "O":
        return np.full(shape, "", object)
    if kind == "zeros":
        return np.zeros(shape, dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, _INTEGERS, shape).astype(dtype)
    values = random.random(shape) if kind == "uniform" else random.normal(0, _LARGE if kind == "large" else 1.0, shape)
    return np.asarray(values).astype(dtype)
