"""Rates and times: against exact fractions and a simulated pipeline."""

from fractions import Fraction

import pytest

from simcore import timing
from simcore.errors import BadArgument


def simulated(times: list[int], workers: list[int], batches: int) -> Fraction:
    """Time between batches far into a run: each stage has workers that take one batch at a time, in order."""
    free = [[0] * w for w in workers]
    done = []
    for _ in range(batches):
        now = 0
        for stage, time in enumerate(times):
            free[stage].sort()
            now = max(now, free[stage][0]) + time
            free[stage][0] = now
        done.append(now)
    half = batches // 2
    return Fraction(done[-1] - done[half - 1], batches - half)


@pytest.mark.parametrize(
    ("times", "workers"), [([2, 10, 1], [1, 1, 1]), ([5, 5], [1, 1]), ([2, 12, 3], [1, 3, 1]), ([4, 30], [1, 4])]
)
def test_overlapped_period_is_that_of_a_simulated_run(times: list[int], workers: list[int]) -> None:
    found = timing.pipeline(times, 2, True, workers)
    assert found.period_ms == pytest.approx(float(simulated(times, workers, 1200)), rel=1e-9)
    assert found.fps == pytest.approx(2000 / found.period_ms)


def test_stages_in_sequence_add_up() -> None:
    found = timing.pipeline([103.489, 33.591, 4.332])
    assert found.total_ms == found.period_ms == pytest.approx(141.412)
    assert (found.bottleneck, round(found.fps, 2)) == (0, 7.07)


def test_throughput_is_the_vendor_formula() -> None:
    assert timing.throughput(4, 407, 2.80192) == pytest.approx(float(Fraction(4 * 407 * 100000, 280192)))


def test_instances_stop_where_the_shared_part_is_busy() -> None:
    assert timing.instances_rate(10, 3) == 300
    assert timing.instances_rate(10, 8, 1, 0.5) == 200
    assert timing.instances_rate(10, 8, 4, 0.01) == 3200


@pytest.mark.parametrize(("n", "serial", "expected"), [(1, 0.3, 1.0), (8, 0.0, 8.0), (8, 1.0, 1.0), (4, 0.25, 16 / 7)])
def test_amdahl(n: int, serial: float, expected: float) -> None:
    assert timing.amdahl(n, serial) == pytest.approx(expected)


def test_cycles_round_up_and_stay_exact_beyond_float() -> None:
    work = (1 << 60) + 1
    assert timing.cycles(work, 128, 64)[0] == -(-work // 128)
    assert timing.cycles(1_000_000, 128, 64) == (7813, 7813 / 64000)
    assert timing.cycles(0, 128, 64) == (0, 0.0)
    assert timing.cycles(10, 2.5, 1)[0] == 4


@pytest.mark.parametrize(
    "call",
    [
        lambda: timing.throughput(0, 1, 1.0),
        lambda: timing.throughput(1, 1, 0.0),
        lambda: timing.pipeline([]),
        lambda: timing.pipeline([0.0, 0.0]),
        lambda: timing.pipeline([1.0, float("nan")]),
        lambda: timing.pipeline([1.0], 1, True, [1, 2]),
        lambda: timing.pipeline([1.0, 2.0], 1, False, [1, 2]),
        lambda: timing.instances_rate(0, 1),
        lambda: timing.amdahl(0, 0.5),
        lambda: timing.amdahl(2, 1.5),
        lambda: timing.cycles(1, 0, 64),
    ],
)
def test_impossible_arguments_are_refused(call) -> None:
    with pytest.raises(BadArgument):
        call()
