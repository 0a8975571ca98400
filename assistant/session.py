"""Open the index for a command: bring it up to date if that needs no encoder, or fall back to memory and say so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from assistant import paths
from kb import corpus, encode, manifest
from kb.encode import Encoder, Source
from kb.errors import EncoderUnavailable, IndexUnavailable
from kb.search import Searcher
from kb.store import Store

DEFAULT_ENCODER = "e5"


@dataclass(slots=True)
class Session:
    """An opened corpus and index, and what was not as it should be."""

    source: corpus.Corpus
    store: Store
    degraded: list[str] = field(default_factory=list)
    narrate: Callable[[str], None] = lambda text: None

    def searcher(self, *, with_meaning: bool = True) -> Searcher:
        """Return a searcher over the index."""
        found = Searcher(self.store, _encoder_for(self.store), with_meaning=with_meaning)
        found.degraded[:0] = self.degraded
        return found

    def check_searcher(self, *, with_meaning: bool = True) -> Searcher:
        """Return a searcher over the table of checks, with the resources and the encoder of this corpus."""
        from assistant.checks.documents import as_corpus

        source = as_corpus(self.source.resources)
        return _opened(source, paths.check_index_directory(), self.narrate).searcher(with_meaning=with_meaning)


@cache
def _use_encoder() -> Encoder:
    return encode.Remembering(encode.UseEncoder())


@cache
def _e5_encoder(threads: int) -> Encoder:
    return encode.Remembering(encode.E5Encoder(threads))


def start_encoders() -> None:
    """Begin to load what takes longest, in the background; for commands that will search by meaning."""
    _use_encoder()


def open_session(narrate: Callable[[str], None] = lambda text: None) -> Session:
    """Return a session whose index fits the corpus.

    The first call builds the index from the vectors that the corpus ships. Where the index cannot be written, it is
    read as it is or built in memory, and the session says so.

    Raises:
        CorpusError: a corpus file is broken.
    """
    return _opened(corpus.read(paths.corpus_root()), paths.index_directory(), narrate)


def _opened(source: corpus.Corpus, directory: Path, narrate: Callable[[str], None]) -> Session:
    try:
        store = Store(directory)
        try:
            _bring_up_to_date(source, store, narrate)
        except BaseException:
            store.close()
            raise
        return Session(source, store, narrate=narrate)
    except IndexUnavailable as error:
        problem = str(error)
    try:
        store = Store(directory, writable=False)
        if manifest.is_current(store, fingerprint(source, store), need_channels=False):
            return Session(source, store, narrate=narrate)
        store.close()
    except IndexUnavailable:
        pass
    from kb import build

    store = Store(None)
    build.update(source, store, encoders(DEFAULT_ENCODER), may_embed=False)
    return Session(source, store, [f"{problem}; searching a temporary index in memory"], narrate)


def _bring_up_to_date(source: corpus.Corpus, store: Store, narrate: Callable[[str], None]) -> None:
    if manifest.is_current(store, fingerprint(source, store), need_channels=False):
        return
    from kb import build

    narrate("building the index of the corpus (once after each change) ...")
    build.update(source, store, encoders(encoder_spec(store)), may_embed=False)


def encoder_spec(store: Store) -> str:
    """Return how the dense encoder was chosen: `e5`, or `sentence-transformers:NAME-OR-PATH`."""
    return store.meta("encoder", DEFAULT_ENCODER)


def encoders(spec: str, *, threads: int = 1) -> tuple[Source, Source]:
    """Return the dense encoder for a spec and the second channel's encoder, both unopened.

    Raises:
        EncoderUnavailable: the spec is of no known form, or its package is missing.
    """
    if spec == DEFAULT_ENCODER:
        dense = Source("dense", encode.e5_key(), lambda: _e5_encoder(threads))
    elif spec.startswith("sentence-transformers:"):
        from kb import sentence_encoder

        name = spec.partition(":")[2]
        dense = Source("dense", sentence_encoder.key(name), lambda: sentence_encoder.SentenceEncoder(name))
    else:
        raise EncoderUnavailable(f"unknown encoder {spec!r}; known: e5, sentence-transformers:NAME-OR-PATH")
    return dense, Source("use", encode.use_key(), _use_encoder)


def fingerprint(source: corpus.Corpus, store: Store) -> str:
    """Return the fingerprint that an index of this corpus with its chosen encoder has when it is current."""
    try:
        keys = {encoder.channel: encoder.key for encoder in encoders(encoder_spec(store))}
    except EncoderUnavailable:
        # The index stays usable by words while the chosen encoder's package is missing.
        return store.meta("fingerprint")
    return manifest.fingerprint_of(source, keys)


def _encoder_for(store: Store) -> Callable[[str, str], Encoder]:
    """Return a function that opens a channel's encoder, refusing one whose key is not the index's."""

    def open_encoder(channel: str, key: str) -> Encoder:
        found = {encoder.channel: encoder for encoder in encoders(encoder_spec(store))}[channel]
        if found.key != key:
            raise EncoderUnavailable(f"the index was made by {key}, here is {found.key}; run 'asknpu update'")
        return found.open()

    return open_encoder
