"""Checks of models and of systolic arrays: the numbers of `simcore.estimate` and of a cycle-by-cycle count."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from assistant.checks import show
from assistant.checks.run import run_check
from assistant.checks.table import CHECKS
from assistant.errors import BadInput
from simcore.device import load_device
from simcore.estimate import estimate
from simcore.load_onnx import load_onnx
from tests.test_simcore.graphs import model


def _saved(path: Path, size: object = 8, tail: str = "Relu") -> Path:
    w = np.ones((4, 3, 3, 3), np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="c"), helper.make_node(tail, ["c"], ["y"], name="t")]
    onnx.save(model(nodes, {"x": [1, 3, size, size]}, ["y"], {"w": w}, opset=13), path)
    return path


def test_an_estimate_has_the_figures_of_the_command(tmp_path: Path) -> None:
    path = _saved(tmp_path / "模型.onnx", tail="Sqrt")
    got = run_check(CHECKS["estimate_model"], {"model": str(path)}).result
    want = estimate(load_onnx(path), device=load_device("nano-035a"))

    assert (got["weight_bytes"], got["memory_bytes"]) == (want.weight_bytes, want.memory_bytes)
    assert (got["macs"], got["parameters"], got["unsupported"]) == (6 * 6 * 4 * 27, 108, ["Sqrt"])
    assert got["lower_bound_ms"] == want.latency_lower_bound_ms


def test_an_open_input_takes_the_shape(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a.onnx", size="n")
    got = run_check(CHECKS["estimate_model"], {"model": str(path), "shape": "1x3x10x10"})

    assert got.result["macs"] == 8 * 8 * 4 * 27
    with pytest.raises(BadInput, match="'x' is declared"):
        run_check(CHECKS["estimate_model"], {"model": str(path)})


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(b"not a model")

    with pytest.raises(BadInput, match="estimate_model: "):
        run_check(CHECKS["estimate_model"], {"model": str(path)})


def _cycles(m: int, k: int, n: int, rows: int, columns: int) -> int:
    """Count an output-stationary array cycle by cycle: skewed inputs, then the results shift out; folds in sequence."""
    folds = [(r, c) for r in range(0, m, rows) for c in range(0, n, columns)]
    last = 0
    for _ in folds:
        # The farthest multiplier gets its last operand after k + rows - 1 + columns - 1 cycles.
        last += k + rows - 1 + columns - 1
    return last - 1


@pytest.mark.parametrize(("size", "kernel", "channels", "filters", "stride"), [(10, 3, 4, 8, 1), (11, 3, 2, 40, 2)])
def test_cycles_of_the_output_stationary_array_are_those_counted(
    size: int, kernel: int, channels: int, filters: int, stride: int
) -> None:
    given = {"height": size, "width": size, "kernel": kernel, "channels": channels, "filters": filters,
             "stride": stride, "rows": 16, "columns": 16}  # fmt: skip
    got = run_check(CHECKS["systolic_cycles"], given).result
    out = (size - kernel) // stride + 1

    assert got["cycles"] == _cycles(out * out, kernel * kernel * channels, filters, 16, 16)
    assert got["macs"] == out * out * kernel * kernel * channels * filters


def test_a_kernel_larger_than_the_input_is_refused() -> None:
    with pytest.raises(BadInput, match="kernel: 5 is larger"):
        run_check(CHECKS["systolic_cycles"], {"height": 4, "width": 9, "kernel": 5, "channels": 1, "filters": 1})


def test_sentences(tmp_path: Path) -> None:
    check = CHECKS["systolic_cycles"]
    outcome = run_check(check, {"height": 58, "width": 58, "kernel": 3, "channels": 64, "filters": 64})

    assert show.sentence(check, outcome, "zh") == "125,047 个周期（32x32 阵列，os），利用率 0.9028285"
    assert show.sentence(check, outcome, "en") == "125,047 cycles on a 32x32 array (os), utilisation 0.9028285"
    check = CHECKS["estimate_model"]
    outcome = run_check(check, {"model": str(_saved(tmp_path / "a.onnx"))})
    assert show.sentence(check, outcome, "en").endswith("; not supported: []")
    assert show.sentence(check, outcome, "zh").startswith("权重 ")
