"""Centring: take out of dense vectors what all texts of one language share, so that languages can be compared.

Multilingual sentence vectors of one language are alike before they say anything: nearly the whole vector is a common
mean. Per language the mean is subtracted (passages: the mean of the indexed passages; questions: a mean of questions),
then the first principal components of the centred passages are projected out and the rest is normalised
("all-but-the-top", Mu and Viswanath 2018).
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.types import LANGS, Lang

COMPONENTS = 3
_FEW = 60
"""With fewer passages than this in a language its mean is too noisy; the mean of all is taken instead."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Centring:
    """The constants of one index; all arrays float32."""

    passage_means: Mapping[Lang, Vectors]
    """Language -> [dim]."""
    query_means: Mapping[Lang, Vectors]
    """Language -> [dim]."""
    components: Vectors
    """[k, dim] orthonormal rows that are projected out."""

    def passages(self, vectors: Vectors, langs: NDArray[np.str_]) -> Vectors:
        """Return centred unit vectors, float32 [n, dim], of raw passage vectors [n, dim] in the given languages [n]."""
        means = np.stack([self.passage_means[lang] for lang in LANGS])
        rows = np.searchsorted(np.array(sorted(LANGS)), langs)
        by_sorted = means[np.argsort(np.array(LANGS))]
        return self._project(np.asarray(vectors - by_sorted[rows], np.float32))

    def queries(self, vectors: Vectors, lang: Lang) -> Vectors:
        """Return centred unit vectors, float32 [n, dim], of raw question vectors [n, dim] in one language."""
        return self._project(np.asarray(vectors - self.query_means[lang], np.float32))

    def _project(self, centred: Vectors) -> Vectors:
        return unit(np.asarray(centred - (centred @ self.components.T) @ self.components, np.float32))

    def to_bytes(self) -> bytes:
        """Return the constants as one npz file."""
        buffer = io.BytesIO()
        arrays = {f"p_{lang}": self.passage_means[lang] for lang in LANGS}
        arrays |= {f"q_{lang}": self.query_means[lang] for lang in LANGS}
        np.savez(buffer, components=self.components, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Centring":
        """Read what `to_bytes` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return cls(
                {lang: arrays[f"p_{lang}"] for lang in LANGS},
                {lang: arrays[f"q_{lang}"] for lang in LANGS},
                arrays["components"],
            )


def fit(vectors: Vectors, langs: NDArray[np.str_], query_means: Mapping[Lang, Vectors]) -> Centring:
    """Return the centring of an index.

    Args:
        vectors: raw passage vectors, float32 [n, dim], n >= 1.
        langs: their languages, [n].
        query_means: mean question vector [dim] per language; a language without one takes its passage mean.
    """
    everything = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    passage_means: dict[Lang, Vectors] = {}
    for lang in LANGS:
        own = vectors[langs == lang]
        passage_means[lang] = own.mean(axis=0, dtype=np.float64).astype(np.float32) if len(own) >= _FEW else everything
    means = {lang: query_means.get(lang, passage_means[lang]) for lang in LANGS}
    without = Centring(passage_means, means, np.zeros((0, vectors.shape[1]), np.float32))
    centred = without.passages(vectors, langs)
    count = min(COMPONENTS, max(0, len(vectors) // _FEW))
    # Eigenvectors of the small [dim, dim] matrix are the right singular vectors of the tall one, in ascending order.
    _, columns = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    return Centring(passage_means, means, np.ascontiguousarray(columns[:, ::-1][:, :count].T, np.float32))


def unit(vectors: Vectors) -> Vectors:
    """Return vectors [n, dim] scaled to length 1; a zero vector stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), np.float32)
