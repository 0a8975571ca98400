"""An update embeds what is new, replaces the index at once, and survives being killed or run twice."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb import build, corpus
from kb.errors import CorpusError, IndexUnavailable
from kb.schema import file_name
from kb.search import Searcher
from kb.store import Store
from tests.conftest import ROOT, SMALL, HashEncoder, entry, sources, write_corpus


def _update(root: Path, store: Store, dense: HashEncoder, use: HashEncoder, **options: bool) -> build.Report:
    return build.update(corpus.read(root), store, sources(dense, use), **{"may_embed": True, **options})


@pytest.fixture
def encoders() -> tuple[HashEncoder, HashEncoder]:
    return HashEncoder("dense-1"), HashEncoder("use-1")


def test_no_op_update_embeds_nothing(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "索引") as store:
        first = _update(small_corpus, store, *encoders)
        embedded = len(encoders[0].embedded)
        second = _update(small_corpus, store, *encoders)

    assert (first.changed, first.entries, embedded) == (True, 2, first.passages)
    assert (second.changed, second.embedded, len(encoders[0].embedded)) == (False, {}, embedded)


def test_only_changed_passages_are_embedded(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
        encoders[0].embedded.clear()
        path = small_corpus / "a.en.md"
        path.write_text(path.read_text("utf-8").replace("Weights plus", "Parameters plus"), "utf-8")
        _update(small_corpus, store, *encoders)

    assert encoders[0].embedded == ["How much memory does a model take? Parameters plus instructions plus tensors."]


def test_a_renamed_file_embeds_nothing(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
        encoders[0].embedded.clear()
        (small_corpus / "a.en.md").rename(small_corpus / "b.en.md")
        report = _update(small_corpus, store, *encoders)
        moved = store.entry("nano-burn", "en")

    assert (report.changed, encoders[0].embedded) == (True, [])
    assert moved is not None
    assert moved.span.file == "b.en.md"


def test_another_encoder_version_embeds_everything_and_is_never_mixed(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    newer = HashEncoder("dense-2")
    with Store(tmp_path / "i") as store:
        passages = _update(small_corpus, store, *encoders).passages
        report = _update(small_corpus, store, newer, encoders[1])

        assert report.embedded == {"dense-2": passages, "use-1": 0}
        assert store.encoder_of("dense") == "dense-2"


def test_without_embedding_the_channels_are_left_out_and_said(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        report = _update(small_corpus, store, *encoders, may_embed=False)
        found = Searcher(store, lambda channel, key: encoders[0]).search("how much memory")

    assert report.missing == ("dense", "use")
    assert found.hits[0].id == "nano-memory"
    assert len(found.degraded) == 2
    assert all("asknpu update" in note for note in found.degraded)


def test_shipped_vectors_replace_embedding(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
        build.ship(corpus.read(small_corpus), store, sources(*encoders))
        query = Searcher(store, lambda c, k: encoders[c != "use"]).search("burn image").hits
    for encoder in encoders:
        encoder.embedded.clear()
    with Store(tmp_path / "j") as other:
        report = _update(small_corpus, other, *encoders, may_embed=False)
        again = Searcher(other, lambda c, k: encoders[c != "use"]).search("burn image").hits

    assert (report.missing, encoders[0].embedded) == ((), [])
    assert again == query


def test_a_broken_file_leaves_the_old_index(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
        (small_corpus / "a.zh.md").write_text("+++\nbroken", "utf-8")

        with pytest.raises(CorpusError, match=r"^a\.zh\.md:1: "):
            _update(small_corpus, store, *encoders)

        assert store.entry("nano-burn", "zh") is not None


def test_an_id_in_two_files_is_refused(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    write_corpus(small_corpus, {"z.en.md": [entry("nano-burn", "Again?", "x")]})
    with (
        Store(tmp_path / "i") as store,
        pytest.raises(CorpusError, match=r"z\.en\.md:10: id 'nano-burn' is used before"),
    ):
        _update(small_corpus, store, *encoders)


def test_readers_see_the_old_or_the_new_index(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as writer, Store(tmp_path / "i") as reader:
        _update(small_corpus, writer, *encoders)
        write_corpus(small_corpus, {"b.en.md": [entry("nano-new", "What is new?", "This.")]})
        with reader.reading():
            before = reader.counts()
            _update(small_corpus, writer, *encoders)
            assert reader.counts() == before
            assert reader.entry("nano-new", "en") is None
            assert len(reader.channel("dense")[1]) == before["passages"]  # type: ignore[index]
        assert reader.entry("nano-new", "en") is not None
        assert len(reader.channel("dense")[1]) == reader.counts()["passages"]  # type: ignore[index]


def test_a_flipped_bit_in_a_channel_is_noticed(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
        data = bytearray(store.channel("dense")[2])  # type: ignore[index]
        data[len(data) // 2] ^= 1
        store._db.execute("UPDATE channels SET data = ? WHERE name = 'dense'", (bytes(data),))

        with pytest.raises(IndexUnavailable, match="damaged"):
            store.channel("dense")
        found = Searcher(store, lambda c, k: encoders[c != "use"]).search("burn image")

    assert found.hits[0].id == "nano-burn"
    assert any("damaged" in note for note in found.degraded)


def test_a_full_disk_keeps_the_old_index(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
        answer = "\n\n".join(f"- word{i} " + "x" * 200 for i in range(500))
        write_corpus(small_corpus, {"b.en.md": [entry("nano-big", "Big?", answer)]})
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 4}")

        with pytest.raises(IndexUnavailable, match="full"):
            _update(small_corpus, store, *encoders)

        assert store.entry("nano-big", "en") is None
        assert store.entry("nano-burn", "en") is not None
        assert store.is_intact()


WORKER = """
import sys
from pathlib import Path
from kb import build, corpus
from kb.store import Store
from tests.conftest import HashEncoder, sources
root, index = Path(sys.argv[1]), Path(sys.argv[2])
print("ready", flush=True)
with Store(index) as store:
    report = build.update(corpus.read(root), store, sources(HashEncoder("dense-1"), HashEncoder("use-1")), may_embed=True)
print(report.changed, flush=True)
"""


def _worker(root: Path, index: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(root), str(index)], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_killed_at_any_moment_the_index_is_old_or_new(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "c", SMALL)
    index = tmp_path / "i"
    with Store(index) as store:
        _update(root, store, HashEncoder("dense-1"), HashEncoder("use-1"))
        old = store.counts()["entries"]
    extra = [entry(f"nano-e{i}", f"Question number {i}?", f"Answer {i} " * 40) for i in range(60)]
    write_corpus(root, {"b.en.md": extra})
    seen = set()

    for delay_s in [0.02 * step for step in range(20)]:
        process = _worker(root, index)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with Store(index) as store:
            assert store.is_intact()
            channel = store.channel("dense")
            assert channel is not None
            assert len(channel[1]) == store.counts()["passages"]
            seen.add(store.counts()["entries"])

    assert seen <= {old, old + 60}
    with Store(index) as store:
        _update(root, store, HashEncoder("dense-1"), HashEncoder("use-1"))
        assert store.counts()["entries"] == old + 60


def test_two_updates_at_once_both_end_well(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "c", SMALL)

    processes = [_worker(root, tmp_path / "i") for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(output.split()[1] for output in outputs) == ["False", "True"]


def test_an_update_that_does_not_end_is_reported(tmp_path: Path) -> None:
    store, other = Store(tmp_path / "i"), Store(tmp_path / "i")

    with store.update_lock(1), pytest.raises(IndexUnavailable, match="another update"), other.update_lock(0.1):
        pass

    store.close()
    other.close()


def test_a_file_that_is_no_index_is_reported(tmp_path: Path) -> None:
    (tmp_path / file_name()).write_bytes(b"garbage " * 200)

    with pytest.raises(IndexUnavailable, match="cannot be opened"):
        Store(tmp_path)


def test_reading_needs_no_write(small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]) -> None:
    with Store(tmp_path / "i") as store:
        _update(small_corpus, store, *encoders)
    with Store(tmp_path / "i", writable=False) as store:
        assert store.entry("nano-burn", "en") is not None
        with pytest.raises(IndexUnavailable), store.writing():
            store.set_meta("x", "y")


def test_complete_lists_and_known_identifiers_are_stored(
    tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    table = "All of them:\n\n| operator | kind |\n|---|---|\n| Conv | Cube |\n| BatchNorm | Vector |"
    text = entry("nano-ops", "Which operators?", table).replace("ask =", 'complete = "onnx_operators"\nask =')
    root = write_corpus(tmp_path / "c", {"a.en.md": [text]})
    with Store(tmp_path / "i") as store:
        _update(root, store, *encoders)
        searcher = Searcher(store, lambda c, k: encoders[c != "use"])

        assert json.loads(store.resource("complete"))[0]["names"] == ["BatchNormalization", "Conv"]
        assert [u.name for u in searcher.search("支持 Conv、batchnorm 和 AveragePool 吗").unlisted] == ["AveragePool"]


def test_wal_mode_is_on(tmp_path: Path) -> None:
    Store(tmp_path / "i").close()

    assert sqlite3.connect(tmp_path / "i" / file_name()).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_names_of_the_corpus_are_known_in_any_case(tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]) -> None:
    text = "Call FindNodeByName, then read the DockerFile and the AscendQuants; SessionOption fails."
    root = write_corpus(tmp_path / "c", {"a.en.md": [entry("nano-api", "Which call finds a node?", text)]})
    with Store(tmp_path / "i") as store:
        _update(root, store, *encoders)
        searcher = Searcher(store, lambda c, k: encoders[c != "use"])

        for word in ("FindNodeByName", "DockerFile", "AscendQuant", "SessionOption"):
            assert searcher.search(f"does the {word} operator run on Nano").unknown == (), word
        (unknown,) = searcher.search("does the FindNodeByPath operator run").unknown

    assert (unknown.text, unknown.blocking) == ("FindNodeByPath", True)
    assert "FindNodeByName" in unknown.nearest


def test_an_open_searcher_follows_a_new_generation(
    small_corpus: Path, tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    with Store(tmp_path / "i") as writer, Store(tmp_path / "i") as reader:
        _update(small_corpus, writer, *encoders)
        searcher = Searcher(reader, lambda c, k: encoders[c != "dense"])
        assert searcher.search("What is new?").hits[0].id != "nano-new"
        write_corpus(small_corpus, {"0.en.md": [entry("nano-new", "What is new?", "This.")]})
        _update(small_corpus, writer, *encoders)

        found = searcher.search("What is new?")

    assert found.hits[0].id == "nano-new"
    assert found.degraded == ()
    assert {name for name, _ in found.hits[0].channels} >= {"words", "dense", "use"}


def test_a_phrasing_without_letters_is_never_embedded_nor_shipped(
    tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    root = write_corpus(tmp_path / "c", {"a.en.md": [entry("nano-a", "How?", "So.", asks=["???"])]})
    with Store(tmp_path / "i") as store:
        report = _update(root, store, *encoders)
        build.ship(corpus.read(root), store, sources(*encoders))

    assert "???" not in encoders[0].embedded
    assert len(encoders[0].embedded) == report.passages - 1


def test_a_corpus_of_one_language_searches_uncentred_vectors_in_it(
    tmp_path: Path, encoders: tuple[HashEncoder, HashEncoder]
) -> None:
    root = write_corpus(tmp_path / "c", {"a.zh.md": SMALL["a.zh.md"]})
    with Store(tmp_path / "i") as store:
        _update(root, store, *encoders)
        searcher = Searcher(store, lambda c, k: encoders[c != "dense"])
        zh, en = searcher.search("怎么烧录镜像"), searcher.search("BurnTool")
        stored = store.channel("dense_raw")

    assert stored is not None
    assert stored[3] is None, "uncentred"
    assert zh.hits[0].id == en.hits[0].id == "nano-burn"
