"""Vectors: exact search, bytes round trip, centring. Fusion and confidence: their formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb import center, compact, confidence, fuse
from kb.errors import CorpusError, IndexUnavailable
from kb.vectors import VectorIndex

RANDOM = np.random.default_rng(7)


def _units(count: int, dim: int = 16) -> np.ndarray:
    return center.unit(RANDOM.normal(size=(count, dim)).astype(np.float32))


def test_search_equals_float64_sorting() -> None:
    vectors, query = _units(500), _units(1)[0]
    expected = vectors.astype(np.float64) @ query.astype(np.float64)

    rows, scores = VectorIndex.from_bytes(VectorIndex(vectors).to_bytes()).search(query, 20)

    np.testing.assert_allclose(scores, np.sort(expected)[::-1][:20], atol=1e-3)
    np.testing.assert_allclose(expected[rows], scores, atol=1e-3)
    assert len(set(rows.tolist())) == 20


def test_search_among_allowed_rows_and_beyond_the_size() -> None:
    vectors = _units(10)

    assert set(VectorIndex(vectors).search(vectors[0], 5, allowed=[3, 4])[0].tolist()) == {3, 4}
    assert len(VectorIndex(vectors).search(vectors[0], 100)[0]) == 10


def test_damaged_bytes_are_refused() -> None:
    with pytest.raises(IndexUnavailable, match="damaged"):
        VectorIndex.from_bytes(b"not an index at all")


def test_centring_removes_what_a_language_shares() -> None:
    topics = _units(200)
    langs = np.array(["zh", "en"] * 100)
    shared = {"zh": np.eye(16, dtype=np.float32)[0] * 5, "en": np.eye(16, dtype=np.float32)[1] * 5}
    raw = center.unit(topics + np.stack([shared[lang] for lang in langs]))

    centred = center.fit(raw, langs, {}).passages(raw, langs)

    within, across = (langs[:, None] == langs[None, :]), ~(langs[:, None] == langs[None, :])
    similarity = centred @ centred.T
    assert (raw @ raw.T)[within].mean() - (raw @ raw.T)[across].mean() > 0.5
    assert abs(similarity[within].mean() - similarity[across].mean()) < 0.02


def test_centring_constants_survive_bytes() -> None:
    raw, langs = _units(150), np.array(["zh", "en", "en"] * 50)
    fitted = center.fit(raw, langs, {})

    again = center.Centring.from_bytes(fitted.to_bytes())

    np.testing.assert_array_equal(again.passages(raw, langs), fitted.passages(raw, langs))
    np.testing.assert_array_equal(again.queries(raw, "zh"), fitted.queries(raw, "zh"))


@given(st.dictionaries(st.text(min_size=1), st.floats(-10, 10), min_size=1, max_size=20))
def test_min_max_is_in_range_and_keeps_the_order(scores: dict[str, float]) -> None:
    scaled = fuse.min_max(scores)

    assert max(scaled.values()) == 1.0
    assert all(0 <= value <= 1 for value in scaled.values())
    ordered = sorted(scores, key=lambda key: scores[key])
    assert all(scaled[a] <= scaled[b] for a, b in zip(ordered, ordered[1:], strict=False))


def test_pool_is_the_mean_of_the_best_three() -> None:
    owners, scores = np.array([0, 1, 0, 0, 0]), np.array([4.0, 6.0, 2.0, 3.0, 1.0])

    pooled = fuse.pool(owners, scores, ["a", "b", "c"])

    assert list(pooled.items()) == [("a", 3.0), ("b", pytest.approx((6.0 + 1.0 + 1.0) / 3))]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-50, 50)), max_size=30))
def test_pool_equals_a_plain_loop(found: list[tuple[int, int]]) -> None:
    by_owner: dict[int, list[int]] = {}
    for owner, score in found:
        by_owner.setdefault(owner, []).append(score)
    worst = min((score for _, score in found), default=0)
    expected = {
        "abcde"[owner]: sum([*sorted(values, reverse=True), *[worst] * 3][:3]) / 3
        if len(values) < 3
        else sum(sorted(values)[-3:]) / 3
        for owner, values in by_owner.items()
    }

    pooled = fuse.pool(np.array([o for o, _ in found], int), np.array([s for _, s in found], float), list("abcde"))

    assert pooled == pytest.approx(expected)
    assert list(pooled.values()) == sorted(pooled.values(), reverse=True)


def test_fuse_is_a_weighted_sum_over_the_channels_that_found_something() -> None:
    fused = fuse.fuse({"x": {"a": 2.0, "b": 1.0}, "y": {"b": 9.0}, "z": {}}, {"x": 0.3, "y": 0.1, "z": 0.6})

    assert dict(fused) == {"a": pytest.approx(0.75), "b": pytest.approx(0.25)}


def test_confidence_separates_and_survives_toml() -> None:
    rows = [dict.fromkeys(confidence.FEATURES["lexical"], float(i % 2)) | {"length": i / 100} for i in range(100)]
    model = confidence.fit("lexical", rows, [i % 2 == 1 for i in range(100)], dense="e", keep=0.95)

    again = confidence.load("c.toml", confidence.to_toml({"lexical": model}, "two\nlines").encode())["lexical"]

    assert again.probability(rows[99]) >= again.threshold > again.probability(rows[0])
    assert again.probability(rows[1]) == pytest.approx(model.probability(rows[1]), abs=1e-4)
    z = model.bias + sum(
        w * (rows[3][n] - m) / s
        for n, m, s, w in zip(model.features, model.mean, model.scale, model.weights, strict=True)
    )
    assert model.probability(rows[3]) == pytest.approx(1 / (1 + math.exp(-z)))


@pytest.mark.parametrize("text", ["models = 3", "[models.x]\nbias = 1", "[models.x", "models = ["])
def test_broken_confidence_files_are_refused(text: str) -> None:
    with pytest.raises(CorpusError, match=r"^c\.toml:1: "):
        confidence.load("c.toml", text.encode())


def test_a_model_for_another_encoder_is_not_used() -> None:
    rows = [dict.fromkeys(confidence.FEATURES["hybrid"], float(i % 2)) for i in range(20)]
    models = {
        name: confidence.fit(name, rows, [i % 2 == 1 for i in range(20)], dense="mine", keep=0.9)
        for name in confidence.FEATURES
    }

    assert confidence.choose(models, rows[0], "mine") is models["hybrid"]
    assert confidence.choose(models, rows[0], "other") is models["use"]
    assert confidence.choose(models, {"coverage": 1.0}, "mine") is None


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_packed_vectors_keep_their_direction(count: int, seed: int) -> None:
    vectors = center.unit(np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32))

    again = compact.unpack(compact.pack(vectors))

    step = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(again - vectors) <= step * 0.5001).all()
    assert ((center.unit(again) * vectors).sum(axis=1) > 0.9998).all()


def test_a_zero_vector_packs_to_zero() -> None:
    assert not compact.unpack(compact.pack(np.zeros((2, 8), np.float32))).any()
