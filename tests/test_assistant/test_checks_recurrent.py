"""Checks of LSTM and GRU: conventions by scalar formulas, drift by its bounds and repeatability."""

import math

import pytest

from assistant.errors import BadInput
from tests.test_assistant.checking import both, results


def scalar_gru(form: int, x, h, w, r, wb, rb, reset, update) -> tuple[float, float]:
    inside = w * x + wb + (reset * h * r + rb if form == 0 else reset * (h * r + rb))
    candidate = math.tanh(inside)
    return candidate, (1 - update) * candidate + update * h


@pytest.mark.parametrize(
    "given",
    [
        {"x": 1, "h": 0.5, "w": 1, "r": 1, "wb": 0, "rb": 1, "reset": 0.5, "update": 0.5},
        {"x": -0.3, "h": 0.9, "w": 0.7, "r": -1.2, "wb": 0.1, "rb": 0.4, "reset": 0.2, "update": 0.9},
        {"x": 2, "h": -0.5, "w": 0.1, "r": 3, "wb": 0, "rb": -1, "reset": 0, "update": 1},
        {"x": 2, "h": -0.5, "w": 0.1, "r": 3, "wb": 0, "rb": -1, "reset": 1, "update": 0},
    ],
)
def test_gru_conventions_equal_the_scalar_formulas(given) -> None:
    got = results("gru_convention", **given)
    candidates = [scalar_gru(form, **given) for form in (0, 1)]
    flipped = scalar_gru(0, **{**given, "update": 1 - given["update"]})[1]

    assert [got["candidate_0"], got["candidate_1"]] == pytest.approx([c[0] for c in candidates], abs=1e-12)
    assert [got["state_0"], got["state_1"]] == pytest.approx([c[1] for c in candidates], abs=1e-12)
    assert got["state_0_flipped"] == pytest.approx(flipped, abs=1e-12)
    assert got["difference"] == abs(got["state_0"] - got["state_1"])


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_drift_is_repeatable_and_smaller_for_int16(kind) -> None:
    coarse = results("rnn_drift", kind=kind, hidden=16, inputs=8, frames=12)
    fine = results("rnn_drift", kind=kind, hidden=16, inputs=8, frames=12, activation="int16")

    assert coarse == results("rnn_drift", kind=kind, hidden=16, inputs=8, frames=12)
    assert coarse != results("rnn_drift", kind=kind, hidden=16, inputs=8, frames=12, seed=1)
    assert coarse["frames_shown"] == [1, 6, 10, 12] and len(coarse["relative"]) == 4
    assert 0 < fine["largest"] < coarse["largest"] and coarse["largest"] < 0.1
    assert coarse["lowest_cosine"] > 0.99 and coarse["last"] == coarse["relative"][-1]
    # A relative error e in Euclidean norm leaves a cosine of at least sqrt(1 - e^2).
    assert all(c >= math.sqrt(1 - e**2) - 1e-9 for e, c in zip(coarse["relative"], coarse["cosine"], strict=True))


def test_drift_refuses_what_would_run_too_long() -> None:
    with pytest.raises(BadInput, match="multiplications"):
        results("rnn_drift", hidden=256, inputs=256, frames=200)
    with pytest.raises(BadInput, match="frames"):
        results("rnn_drift", frames=201)
    assert results("rnn_drift", hidden=1, inputs=1, frames=1)["frames_shown"] == [1]


def test_gru_outcome_reads_as_a_sentence() -> None:
    zh, en = both("gru_convention")

    assert zh == "新状态 0.7390131（linear_before_reset=0）对 0.7206878（=1），候选值 0.9780261 对 0.9413755"
    assert en == (
        "new state 0.7390131 (linear_before_reset=0) against 0.7206878 (1); candidates 0.9780261 against 0.9413755"
    )


def test_drift_outcome_reads_as_a_sentence() -> None:
    got = results("rnn_drift", hidden=4, inputs=2, frames=2)
    first, last = (f"{value:.7g}" for value in got["relative"])
    zh, en = both("rnn_drift", hidden=4, inputs=2, frames=2)

    assert zh == (
        f"第 [1, 2] 帧的相对误差 [{first}, {last}]，最大 {got['largest']:.7g}，后一半平均 {got['settled']:.7g}"
        "（LSTM，激活 int8，权重 int8，随机权重）"
    )
    assert en == (
        f"relative errors [{first}, {last}] at frames [1, 2], at most {got['largest']:.7g}, {got['settled']:.7g} on "
        "average over the second half (LSTM, int8 activations, int8 weights, random weights)"
    )
