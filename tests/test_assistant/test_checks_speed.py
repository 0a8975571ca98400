"""Checks of speed: numbers of known cases, exact fractions, what is refused, one sentence each."""

from fractions import Fraction

import pytest

from assistant.checks.table import CHECKS
from assistant.errors import BadInput
from simcore.typical import load_table
from tests.test_assistant.spoken import run, spoken


@pytest.mark.parametrize(
    ("check", "given", "expected"),
    [
        ("throughput", {"batch": 8, "launches": 100, "seconds": 2},
         {"qps": 400, "launches_per_s": 50, "ms_per_launch": 20, "ms_per_item": 2.5}),
        ("throughput", {"batch": 4, "launches": 407, "seconds": 2.80192}, {"qps": 581.0301507}),
        ("pipeline", {"times": "103.489,33.591,4.332", "after": "6.201,39.762,4.088"},
         {"total_ms": 141.412, "fps": 7.0715357, "bottleneck": "stage1", "after_total_ms": 50.051,
          "after_fps": 19.9796208}),
        ("pipeline", {"times": 30.7, "after": 14.3}, {"speedup": 2.1468531}),
        ("pipeline", {"times": 27, "after": 40}, {"fps": 37.037037, "after_fps": 25, "time_ratio": 1.4814815}),
        ("pipeline", {"h2d": 2, "compute": 10, "d2h": 1, "overlapped": "true", "batch": 4},
         {"total_ms": 13, "period_ms": 10, "fps": 400, "bottleneck": "compute", "after_fps": None}),
        ("pipeline", {"times": "2 10 1", "overlapped": True, "workers": "1 4 1"},
         {"period_ms": 2.5, "fps": 400, "bottleneck": "stage2"}),
        ("instances", {"latency": 27.52, "count": 3}, {"fps_one": 36.3372093, "fps_upper": 109.0116279}),
        ("instances", {"latency": 10, "count": 8, "serial": 0.2},
         {"fps_upper": 500, "split_speedup_upper": float(1 / (Fraction(1, 5) + Fraction(4, 40)))}),
        ("cycles_time", {"macs": 1000000}, {"cycles": 7813, "ms": 0.122078125, "basis": "assumed"}),
        ("cycles_time", {"ops": 2000000, "clock": 200}, {"cycles": 8000, "ms": 0.04, "basis": "derived"}),
        ("cycles_time", {"macs": 0, "device": "none", "per_cycle": 1, "clock": 1}, {"ms": 0, "fps_upper": None}),
        ("typical_model", {"size": 0.6, "count": 2, "clock": 128},
         {"models": ["heart_rate", "tts"], "times_ms": [2.2, 107], "scaled_ms": [1.1, 53.5], "slowest_ms": 53.5}),
        ("typical_model", {"time": 53.5, "count": 1, "clock": 128}, {"models": ["tts"]}),
    ],
)  # fmt: skip
def test_known_cases(check: str, given: dict, expected: dict) -> None:
    result = run(check, given).result
    for name, value in expected.items():
        assert result[name] == (pytest.approx(value) if isinstance(value, int | float) else value), name


@pytest.mark.parametrize(
    ("check", "given", "says"),
    [
        ("throughput", {"launches": 1, "seconds": 0}, "seconds"),
        ("throughput", {"batch": 0, "launches": 1, "seconds": 1}, "batch"),
        ("pipeline", {}, "times"),
        ("pipeline", {"times": 1, "h2d": 1}, "times"),
        ("pipeline", {"times": "0,0"}, "above 0"),
        ("pipeline", {"times": "nan"}, "none negative"),
        ("pipeline", {"times": [1.0] * 65}, "1 to 64"),
        ("pipeline", {"times": "1,2", "workers": "1,2"}, "overlap"),
        ("pipeline", {"times": "1,2", "overlapped": True, "workers": "1"}, "one worker"),
        ("instances", {"latency": 0, "count": 1}, "latency"),
        ("cycles_time", {}, "macs or ops"),
        ("cycles_time", {"macs": 1, "device": "none"}, "per_cycle"),
        ("cycles_time", {"macs": 1, "device": "none", "per_cycle": 2}, "clock"),
        ("typical_model", {}, "size in MB or the time"),
    ],
)
def test_what_does_not_fit_is_named(check: str, given: dict, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        run(check, given)


def test_labels_of_typical_models_are_those_of_the_table() -> None:
    labels = next(result.labels for result in CHECKS["typical_model"].results if result.name == "models")
    assert labels == {model.code: (model.zh, model.en) for model in load_table("nano").models}


@pytest.mark.parametrize(
    ("check", "given", "zh", "en"),
    [
        ("throughput", {"batch": 8, "launches": 100, "seconds": 2},
         "吞吐率 400 qps：每次 launch 平均 20 ms，每个样本平均 2.5 ms",
         "throughput 400 qps: 20 ms per launch, 2.5 ms per item on average"),
        ("pipeline", {"times": "103.489,33.591,4.332"}, "7.07154 fps，总时间 141.412 ms；瓶颈是第 1 段（103.489 ms）",
         "7.07154 fps, 141.412 ms in all; the bottleneck is stage 1 (103.489 ms)"),
        ("instances", {"latency": 27.52, "count": 3},
         "3 个实例最多 109.012 fps（一个是 36.3372 fps）；实际受带宽等共享资源限制会更低",
         "3 instances reach at most 109.012 fps (one: 36.3372 fps); shared bandwidth makes it less"),
        ("cycles_time", {"macs": 1000000}, "至少 0.122078 ms（7813 周期，64 MHz，每周期 128，假设值）",
         "at least 0.122078 ms (7813 cycles at 64 MHz, 128 per cycle, assumed)"),
        ("typical_model", {"size": 0.6, "count": 2},
         "最接近的是 [心率, TTS]：64 MHz 下 [2.2, 107] ms（大小 [0.6, 0.6] MB）",
         "nearest are [heart rate, TTS]: [2.2, 107] ms at 64 MHz (sizes [0.6, 0.6] MB)"),
    ],
)  # fmt: skip
def test_outcomes_as_sentences(check: str, given: dict, zh: str, en: str) -> None:
    assert spoken(check, given) == (zh, en)
