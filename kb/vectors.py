"""Nearest vectors by inner product, exhaustively, with FAISS; the only file that imports it.

An index goes to and from bytes, never through FAISS's own file functions: those cannot open non-ASCII paths everywhere.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb.errors import IndexUnavailable


class VectorIndex:
    """Exhaustive inner-product index over rows 0..n-1, held in float16.

    Comparing with every row is right below some 300,000 vectors; half precision moves a score by less than 0.001.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        """Build from float32 [n, dim]."""
        import faiss

        half = faiss.ScalarQuantizer.QT_fp16
        self._index: faiss.Index = faiss.IndexScalarQuantizer(vectors.shape[1], half, faiss.METRIC_INNER_PRODUCT)
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    @classmethod
    def from_bytes(cls, data: bytes) -> "VectorIndex":
        """Read what `to_bytes` wrote.

        Raises:
            IndexUnavailable: the bytes are no FAISS index.
        """
        import faiss

        index = cls.__new__(cls)
        try:
            index._index = faiss.deserialize_index(np.frombuffer(data, np.uint8))
        except RuntimeError:
            raise IndexUnavailable("a vector index is damaged; run 'asknpu update --rebuild'") from None
        return index

    def to_bytes(self) -> bytes:
        """Return the index in FAISS's serialised form."""
        import faiss

        return bytes(faiss.serialize_index(self._index).tobytes())

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(
        self, query: NDArray[np.float32], count: int, allowed: Sequence[int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return up to `count` (rows, inner products), best first.

        Args:
            query: float32 [dim].
            count: how many.
            allowed: rows to look at; None for all.
        """
        import faiss

        parameters = None
        if allowed is not None:
            selector = faiss.IDSelectorBatch(np.asarray(allowed, np.int64))
            parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
        scores, rows = self._index.search(query[None, :], min(count, len(self)), params=parameters)
        is_found = rows[0] >= 0
        return rows[0][is_found], scores[0][is_found]
