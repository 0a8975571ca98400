"""Rates and times of inference: throughput, pipelines of stages, several instances, cycles of a device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simcore.errors import BadArgument

__all__ = ["Pipeline", "amdahl", "cycles", "instances_rate", "pipeline", "throughput"]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What a chain of stages gives; times in ms."""

    total_ms: float
    """Time of one batch through all stages."""
    period_ms: float
    """Time from one finished batch to the next."""
    fps: float
    """Items per second."""
    bottleneck: int
    """Place of the stage that limits the rate, from 0."""


def throughput(batch: int, launches: int, seconds: float) -> float:
    """Return items per second: `batch * launches / seconds`.

    Source: Cambricon MagicMind course, Throughput(qps) = Batchsize per launch * Launch times / Walltime.

    Raises:
        BadArgument: An argument that is not positive.
    """
    if batch < 1 or launches < 1 or not seconds > 0 or math.isinf(seconds):
        raise BadArgument(f"throughput: batch {batch}, launches {launches}, seconds {seconds:g}; all must be above 0.")
    return batch * launches / seconds


def pipeline(
    times_ms: Sequence[float], batch: int = 1, overlapped: bool = False, workers: Sequence[int] | None = None
) -> Pipeline:
    """Return times and rate of stages that every batch passes in order.

    Formula: one after the other, `period = sum(times)`; overlapped, `period = max(times / workers)`, an upper bound of
    the rate since nothing is lost between stages. `fps = batch * 1000 / period`.

    Args:
        times_ms: time of each stage for one batch, at least one above 0.
        batch: items of a batch.
        overlapped: whether different batches are in different stages at the same time.
        workers: how many batches each stage handles at a time (cores, instances, threads); None is one each. Several
            workers need overlapping.

    Raises:
        BadArgument: No stage, a negative or infinite time, only zeros, a count below 1, or counts that differ.
    """
    counts = [1] * len(times_ms) if workers is None else list(workers)
    if not times_ms or any(not math.isfinite(t) or t < 0 for t in times_ms) or sum(times_ms) <= 0:
        raise BadArgument("pipeline: give the time of each stage in ms, none negative and at least one above 0.")
    if len(counts) != len(times_ms) or min(counts) < 1 or batch < 1:
        raise BadArgument(f"pipeline: {len(times_ms)} stages, {len(counts)} workers, batch {batch}; give one worker "
                          f"count of at least 1 for each stage.")  # fmt: skip
    if not overlapped and max(counts) > 1:
        raise BadArgument("pipeline: several workers help only if batches overlap; say so or leave workers out.")
    loads = [t / w for t, w in zip(times_ms, counts, strict=True)]
    total = math.fsum(times_ms)
    period = max(loads) if overlapped else total
    return Pipeline(total, period, batch * 1000 / period, loads.index(max(loads)))


def instances_rate(latency_ms: float, count: int, batch: int = 1, serial: float = 0.0) -> float:
    """Return the upper bound of items per second of `count` instances that run at the same time.

    Formula: `min(count, 1 / serial) * batch * 1000 / latency`: instances add up until the part of each run that all
    must do on one shared thing (bus, CPU, preprocessing), a fraction `serial` of the latency, is busy all the time.

    Raises:
        BadArgument: latency not above 0, count or batch below 1, or serial outside 0..1.
    """
    if not latency_ms > 0 or math.isinf(latency_ms) or count < 1 or batch < 1 or not 0 <= serial <= 1:
        raise BadArgument(
            f"instances_rate: latency {latency_ms:g} ms, count {count}, batch {batch}, serial {serial:g} do not fit."
        )
    return (min(count, 1 / serial) if serial > 0 else count) * batch * 1000 / latency_ms


def amdahl(count: int, serial: float) -> float:
    """Return the most that one task gains on `count` cores: `1 / (serial + (1 - serial) / count)`.

    Source: G. Amdahl, Validity of the single processor approach, 1967.

    Raises:
        BadArgument: count below 1 or serial outside 0..1.
    """
    if count < 1 or not 0 <= serial <= 1:
        raise BadArgument(f"amdahl: count {count}, serial {serial:g}; expected count >= 1 and serial in 0..1.")
    return 1 / (serial + (1 - serial) / count)


def cycles(work: int, per_cycle: float, clock_mhz: float) -> tuple[int, float]:
    """Return `(cycles, ms)` that the work needs at least: `ceil(work / per_cycle)`, and that over the clock.

    Args:
        work: multiply-adds or operations.
        per_cycle: how many of them a cycle can do.
        clock_mhz: 10**6 cycles per second.

    Raises:
        BadArgument: Negative work, or a rate or clock that is not above 0.
    """
    if work < 0 or not per_cycle > 0 or not clock_mhz > 0 or math.isinf(per_cycle) or math.isinf(clock_mhz):
        raise BadArgument(f"cycles: work {work}, {per_cycle:g} per cycle, {clock_mhz:g} MHz; all must be positive.")
    # Exact where per_cycle is a whole number, as a float quotient would round above 2**53.
    exact = float(per_cycle).is_integer()
    count = -(-work // int(per_cycle)) if exact else math.ceil(work / per_cycle)
    return count, count / (clock_mhz * 1000)
