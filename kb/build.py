"""Bring an index up to date with a corpus: nothing to do, or one transaction that embeds only new passages.

Steps: compare fingerprints -> parse -> take vectors from the cache, the corpus's shipped vectors, the encoders (in this
order) -> centre -> write everything in one transaction.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kb import center, compact, corpus, encode, glossary, identifiers, terms
from kb.confidence import load as load_confidence
from kb.encode import Source, Vectors
from kb.manifest import fingerprint_of, is_current, missing_channels
from kb.parse import blocks, split_row, without_checks
from kb.passages import passages_of
from kb.store import Store, passage_hash
from kb.types import LANGS, Entry, Lang, Passage
from kb.vectors import VectorIndex

MONOLINGUAL_SHARE = 0.95
"""From this share of one language on, its questions search uncentred vectors."""
LOCK_WAIT_S = 120.0

_BATCH = 32
_QUERY_SAMPLE = 200
_E5_QUERY_MEANS = Path(__file__).with_name("e5_query_means.npz")


@dataclass(frozen=True, slots=True)
class Report:
    """What an update did."""

    changed: bool
    entries: int
    passages: int
    embedded: Mapping[str, int]
    """Encoder key -> passages embedded now."""
    missing: tuple[str, ...]
    """Channels that were left out because their vectors are missing."""


def update(
    source: corpus.Corpus,
    store: Store,
    encoders: Sequence[Source],
    *,
    may_embed: bool,
    progress: Callable[[str, int, int], None] = lambda key, done, total: None,
) -> Report:
    """Bring `store` up to date with `source`.

    Args:
        source: the corpus.
        store: a writable index.
        encoders: the dense and the second channel's encoder.
        may_embed: False uses only vectors that are cached or shipped, and leaves a channel out if some are missing.
        progress: called with (encoder key, passages done, passages to do).

    Raises:
        CorpusError: a corpus file is broken; the index stays as it was.
        EncoderUnavailable: an encoder is needed and missing.
        IndexUnavailable: the index cannot be written, or another update does not end.
    """
    with store.update_lock(LOCK_WAIT_S):
        fingerprint = fingerprint_of(source, {encoder.channel: encoder.key for encoder in encoders})
        if is_current(store, fingerprint, need_channels=may_embed):
            counts = store.counts()
            return Report(False, counts["entries"], counts["passages"], {}, missing_channels(store))
        entries = corpus.entries(source)
        passages = [passage for entry in entries for passage in passages_of(entry)]
        hashes = [passage_hash(passage.text) for passage in passages]
        embedded: dict[str, int] = {}
        ready: list[Source] = []
        for encoder in encoders:
            done = _ensure_vectors(source, store, encoder, passages, hashes, may_embed, progress)
            embedded[encoder.key] = done or 0
            if done is not None:
                ready.append(encoder)
        with store.writing():
            _write(source, store, entries, passages)
            for encoder in ready:
                _write_channel(store, encoder, passages, hashes)
            missing = tuple(encoder.channel for encoder in encoders if encoder not in ready)
            store.drop_unused_vectors([encoder.key for encoder in encoders], set(hashes))
            store.set_meta("fingerprint", fingerprint)
            store.set_meta("missing", json.dumps(missing))
            store.set_meta("generation", str(int(store.meta("generation", "0")) + 1))
        return Report(True, len({entry.id for entry in entries}), len(passages), embedded, missing)


def ship(source: corpus.Corpus, store: Store, encoders: Sequence[Source]) -> tuple[Path, ...]:
    """Write the cached vectors of the corpus's passages into its `vectors/` directory, one file per encoder."""
    folder = source.root / corpus.VECTORS
    folder.mkdir(exist_ok=True)
    texts = {p.text for entry in corpus.entries(source) for p in passages_of(entry)}
    hashes = sorted(passage_hash(text) for text in texts if encode.embeddable(text))
    written = []
    for encoder in encoders:
        path = _shipped_path(source, encoder.key)
        packed = store.cached_vectors(encoder.key, hashes)
        with path.open("wb") as file:
            np.savez(file, hashes=np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, 16), packed=packed)
        written.append(path)
    return tuple(written)


def _shipped_path(source: corpus.Corpus, key: str) -> Path:
    return source.root / corpus.VECTORS / f"{key}.npz"


def _ensure_vectors(
    source: corpus.Corpus,
    store: Store,
    encoder: Source,
    passages: Sequence[Passage],
    hashes: Sequence[bytes],
    may_embed: bool,
    progress: Callable[[str, int, int], None],
) -> int | None:
    """Have a vector for each passage in the cache; return how many were embedded, or None if some are missing."""
    texts = {key: encode.embeddable(passage.text) for key, passage in zip(hashes, passages, strict=True)}
    wanted = {key: text for key, text in texts.items() if text}
    known = store.cached_hashes(encoder.key)
    todo = {key: text for key, text in wanted.items() if key not in known}
    if todo and _shipped_path(source, encoder.key).is_file():
        _import_shipped(store, _shipped_path(source, encoder.key), encoder.key, set(todo))
        known = store.cached_hashes(encoder.key)
        todo = {key: text for key, text in todo.items() if key not in known}
    if not todo:
        return 0
    if not may_embed:
        return None
    model = encoder.open()
    keys = list(todo)
    for start in range(0, len(keys), _BATCH):
        progress(encoder.key, start, len(keys))
        batch = keys[start : start + _BATCH]
        vectors = model.passages([todo[key] for key in batch])
        with store.writing():
            store.cache_vectors(encoder.key, batch, compact.pack(vectors))
    progress(encoder.key, len(keys), len(keys))
    return len(keys)


def _import_shipped(store: Store, path: Path, key: str, wanted: set[bytes]) -> None:
    with np.load(path, allow_pickle=False) as arrays:
        hashes = [row.tobytes() for row in arrays["hashes"]]
        packed = arrays["packed"]
    rows = [i for i, digest in enumerate(hashes) if digest in wanted]
    with store.writing():
        store.cache_vectors(key, [hashes[i] for i in rows], packed[rows])


def _write(source: corpus.Corpus, store: Store, entries: Sequence[Entry], passages: Sequence[Passage]) -> None:
    platforms = {entry.id: entry.platform for entry in entries}
    passage_tokens = [terms.tokens(passage.text) for passage in passages]
    by_entry: dict[str, list[str]] = {}
    stated: set[str] = set()
    for passage, found in zip(passages, passage_tokens, strict=True):
        by_entry.setdefault(passage.entry_id, []).extend(found)
        if passage.kind != "question":
            stated.update(found)
    for entry in entries:
        found = terms.tokens(f"{entry.platform} {' '.join(entry.sources)}")
        by_entry[entry.id].extend(found)
        stated.update(found, terms.tokens(entry.title))
    store.clear()
    store.add_entries(entries)
    store.add_passages(
        passages, [" ".join(found) for found in passage_tokens], [platforms[p.entry_id] for p in passages]
    )
    words = {word for passage in passages for word in terms.words(passage.text)}
    store.add_terms([(key, platforms[key], found) for key, found in by_entry.items()], stated, words)
    for name, data in source.resources.items():
        store.set_resource(name, data)
    _write_identifiers(source, store, entries)


def _write_identifiers(source: corpus.Corpus, store: Store, entries: Sequence[Entry]) -> None:
    """Store the identifiers that the corpus knows and the contents of its complete lists; check the resources first."""
    kinds = identifiers.load_kinds(corpus.IDENTIFIERS, source.resources.get(corpus.IDENTIFIERS, b"kind = []"))
    # Tokenized once here, so that a search need not.
    synonyms = glossary.load(corpus.GLOSSARY, source.resources.get(corpus.GLOSSARY, b""))
    store.set_resource("synonyms", synonyms.to_json())
    named = glossary.load_platforms(corpus.PLATFORMS, source.resources.get(corpus.PLATFORMS, b""))
    store.set_resource("platforms", named.to_json())
    load_confidence(corpus.CONFIDENCE, source.resources.get(corpus.CONFIDENCE, b""))
    # What people may ask is not known for that; a bar keeps patterns from matching across parts.
    known = identifiers.collect([" | ".join((e.title, *e.sources, without_checks(e.text))) for e in entries], kinds)
    data = {"keys": sorted(known.keys), "texts": known.texts, "ranges": known.ranges}
    store.set_resource("known", json.dumps(data, ensure_ascii=False).encode())
    lists = []
    for name in corpus.VOCABULARIES:
        if name not in source.resources:
            continue
        vocabulary = identifiers.load_vocabulary(name, source.resources[name])
        lists += [
            {"vocabulary": name, "entry": entry.id, "names": sorted(_listed(entry, vocabulary))}
            for entry in entries
            if entry.complete == vocabulary.name
        ]
    store.set_resource("complete", json.dumps(lists).encode())


def _listed(entry: Entry, vocabulary: identifiers.Vocabulary) -> set[str]:
    """Return the vocabulary's names that stand alone in a cell of the entry's tables."""
    cells = (cell for block in blocks(entry) if block.is_row for cell in split_row(block.text.rsplit("\n", 1)[1]))
    return {name for cell in cells if (name := vocabulary.canonical(cell.strip("`* ")))}


def _write_channel(store: Store, encoder: Source, passages: Sequence[Passage], hashes: Sequence[bytes]) -> None:
    """Write the vector index (or indexes) of one channel from cached vectors."""
    usable = [i for i, passage in enumerate(passages) if encode.embeddable(passage.text)]
    rows = np.array(usable, np.int32)
    vectors = center.unit(compact.unpack(store.cached_vectors(encoder.key, [hashes[i] for i in usable])))
    if encoder.channel != "dense":
        store.set_channel(encoder.channel, encoder.key, rows, VectorIndex(vectors).to_bytes(), None)
        return
    langs = np.array([passages[i].lang for i in usable])
    centring = center.fit(vectors, langs, _query_means(encoder, passages))
    centred = VectorIndex(centring.passages(vectors, langs)).to_bytes()
    store.set_channel("dense", encoder.key, rows, centred, centring.to_bytes())
    shares = {lang: float((langs == lang).mean()) for lang in LANGS}
    main = max(LANGS, key=lambda lang: shares[lang])
    if shares[main] >= MONOLINGUAL_SHARE:
        store.set_channel("dense_raw", encoder.key, rows, VectorIndex(vectors).to_bytes(), None)
        store.set_meta("monolingual", main)
    else:
        store.set_meta("monolingual", "")


def _query_means(encoder: Source, passages: Sequence[Passage]) -> dict[Lang, Vectors]:
    """Return the mean question vector per language: shipped constants for e5, else from the corpus's own questions."""
    if encoder.key == encode.e5_key():
        with np.load(_E5_QUERY_MEANS, allow_pickle=False) as arrays:
            return {lang: arrays[f"q_{lang}"] for lang in LANGS}
    model = encoder.open()
    means: dict[Lang, Vectors] = {}
    for lang in LANGS:
        own = [p.text for p in passages if p.kind == "question" and p.lang == lang][
            :: 1 + len(passages) // (8 * _QUERY_SAMPLE)
        ]
        texts = [text for text in map(encode.embeddable, own[:_QUERY_SAMPLE]) if text]
        if texts:
            means[lang] = model.queries(texts).mean(axis=0, dtype=np.float64).astype(np.float32)
    return means
