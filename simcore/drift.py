"""How far a run strays from its reference, frame by frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.errors import BadArgument

__all__ = ["Drift", "drift"]


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """Errors of each frame against a reference; every field is float64 [seq]."""

    max_absolute: NDArray[np.float64]
    root_mean_square: NDArray[np.float64]
    relative: NDArray[np.float64]
    """`|got - want| / |want|` in Euclidean norms; 0 / 0 counts as 0."""
    cosine: NDArray[np.float64]
    """Cosine similarity; 1 if both are zero, 0 if one is."""


def drift(got: NDArray[np.floating], want: NDArray[np.floating]) -> Drift:
    """Return the errors of each frame of got [seq, ...] against want, computed in float64 over all other axes.

    Raises:
        BadArgument: The shapes differ, a frame is empty, or a value is NaN or inf.
    """
    if got.shape != want.shape or got.ndim == 0 or 0 in got.shape[1:]:
        raise BadArgument(f"drift: shapes {got.shape} and {want.shape}; give two equal [seq, ...] that are not empty.")
    if not (np.isfinite(got).all() and np.isfinite(want).all()):
        raise BadArgument("drift: a value is NaN or inf, so its frame has no error; look at that frame first.")
    frames = len(got)
    size = got.size // frames if frames else 1
    have, reference = (np.asarray(v, np.float64).reshape(frames, size) for v in (got, want))
    error = have - reference
    lengths = np.linalg.norm(have, axis=1), np.linalg.norm(reference, axis=1), np.linalg.norm(error, axis=1)
    product = lengths[0] * lengths[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(lengths[2] == 0, 0.0, lengths[2] / lengths[1])
        cosine = np.where(product == 0, 0.0, np.sum(have * reference, axis=1) / product)
    return Drift(
        max_absolute=np.max(np.abs(error), axis=1),
        root_mean_square=np.sqrt(np.mean(error**2, axis=1)),
        relative=relative,
        cosine=np.where((lengths[0] == 0) & (lengths[1] == 0), 1.0, cosine),
    )
