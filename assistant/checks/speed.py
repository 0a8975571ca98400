"""Checks of rates and times: throughput, pipelines, instances, cycles, the nearest published model."""

from collections.abc import Mapping
from typing import Any, cast

from simcore import timing
from simcore.device import figure, load_device, number
from simcore.errors import BadArgument
from simcore.typical import load_table, nearest

__all__ = ["cycles_time", "instances", "pipeline", "throughput", "typical_model"]


def throughput(batch: int, launches: int, seconds: float) -> Mapping[str, Any]:
    """Return items and launches per second, and the mean time of a launch and an item."""
    rate = timing.throughput(batch, launches, seconds)
    return {
        "qps": rate,
        "launches_per_s": launches / seconds,
        "ms_per_launch": 1000 * seconds / launches,
        "ms_per_item": 1000 / rate,
    }


def pipeline(
    times: tuple[float, ...] | None,
    h2d: float | None,
    compute: float | None,
    d2h: float | None,
    after: tuple[float, ...] | None,
    batch: int,
    overlapped: bool,
    workers: tuple[int, ...] | None,
) -> Mapping[str, Any]:
    """Return total, rate and bottleneck of stages, and the gain of a second list of times."""
    named = {name: t for name, t in (("h2d", h2d), ("compute", compute), ("d2h", d2h)) if t is not None}
    if (times is None) == (not named):
        raise BadArgument("times: give either the list times or h2d, compute and d2h, in ms.")
    stages = tuple(named.values()) if times is None else times
    names = list(named) if times is None else [f"stage{i + 1}" for i in range(len(stages))]
    before = timing.pipeline(stages, batch, overlapped, workers)
    if len(stages) < 2 and after is None:
        raise BadArgument(
            "times: one stage has nothing to compare; give two or more, or the time after the change too."
        )
    result: dict[str, Any] = {
        "total_ms": before.total_ms,
        "period_ms": before.period_ms,
        "fps": before.fps,
        "bottleneck": names[before.bottleneck],
        "bottleneck_ms": stages[before.bottleneck],
        "share": stages[before.bottleneck] / before.total_ms,
        "after_total_ms": None,
        "after_fps": None,
        "speedup": None,
        "time_ratio": None,
    }
    if after is not None:
        then = timing.pipeline(after, batch, overlapped, workers)
        result |= {
            "after_total_ms": then.total_ms,
            "after_fps": then.fps,
            "speedup": before.period_ms / then.period_ms,
            "time_ratio": then.period_ms / before.period_ms,
        }
    return result


def instances(latency: float, count: int, batch: int, serial: float) -> Mapping[str, Any]:
    """Return the rate of one instance, the upper bound of several, and what splitting one model could gain."""
    gain = timing.amdahl(count, serial)
    return {
        "fps_one": timing.instances_rate(latency, 1, batch),
        "fps_upper": timing.instances_rate(latency, count, batch, serial),
        "split_speedup_upper": gain,
        "split_latency_ms": latency / gain,
    }


def cycles_time(
    macs: int | None, ops: int | None, device: str, per_cycle: float | None, clock: float | None
) -> Mapping[str, Any]:
    """Return the cycles and the time that multiply-adds or operations need at least."""
    if (macs is None) == (ops is None):
        raise BadArgument("macs: give either macs or ops.")
    name = "int8_macs_per_cycle" if ops is None else "int8_ops_per_cycle"
    basis = "given"
    if per_cycle is None:
        if device == "none":
            raise BadArgument("per_cycle: give what a cycle can do, or a device whose figure is known.")
        known = figure(load_device(device), name)
        per_cycle = number(load_device(device), name, known.unit)
        basis = "assumed" if known.assumed else "derived"
    if clock is None:
        if device == "none":
            raise BadArgument("clock: give the clock in MHz, or a device.")
        clock = number(load_device(device), "reference_clock", "MHz")
    work = cast(int, ops if macs is None else macs)
    count, ms = timing.cycles(work, per_cycle, clock)
    return {
        "cycles": count,
        "ms": ms,
        "rate": per_cycle,
        "clock_mhz": clock,
        "fps_upper": 1000 / ms if ms > 0 else None,
        "basis": basis,
    }


def typical_model(size: float | None, time: float | None, part: str, clock: float, count: int) -> Mapping[str, Any]:
    """Return the rows of the vendor's table of typical models on Nano that are nearest to a size or a time."""
    table = load_table("nano")
    scale = table.clock_mhz / clock
    rows = nearest(table, size, None if time is None else time / scale, "" if part == "any" else part, count)
    return {
        "models": [row.code for row in rows],
        "parts": ["+".join(row.parts) for row in rows],
        "sizes_mb": [row.size_mb for row in rows],
        "below": [row.below for row in rows],
        "times_ms": [row.time_ms for row in rows],
        "scaled_ms": [row.time_ms * scale for row in rows],
        "fastest_ms": min(row.time_ms for row in rows) * scale,
        "slowest_ms": max(row.time_ms for row in rows) * scale,
    }
