"""Any sentence-transformers model as the dense encoder; the only file that imports sentence_transformers.

Needs the extra `models`. Nothing imports this file unless the user chose such an encoder.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kb.encode import MISSING, Vectors, package_version
from kb.errors import EncoderUnavailable

CURE = "install it with: pip install 'asknpu[models]'"
BATCH_SIZE = 32


def key(name: str) -> str:
    """Return the encoder key of a model: name, package version and, for a directory, a digest of its files' state.

    Raises:
        EncoderUnavailable: sentence-transformers is not installed, or the directory does not exist.
    """
    version = package_version("sentence-transformers")
    if version == MISSING:
        raise EncoderUnavailable(f"the encoder sentence-transformers:{name} needs an optional package; {CURE}")
    folder = Path(name)
    if folder.is_dir():
        digest = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            state = path.stat()
            digest.update(f"{path.relative_to(folder)}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
        name = f"{folder.resolve()}@{digest.hexdigest()[:16]}"
    elif folder.is_absolute() or name.startswith("."):
        raise EncoderUnavailable(f"no model directory {name}")
    return f"sentence-transformers-{version}:{name}"


class SentenceEncoder:
    """A sentence-transformers model with its own prompts for questions and passages; vectors are normalised.

    Args:
        name: model name or directory.
        device: `cpu`, `cuda`, ...; None lets the library choose.

    Raises:
        EncoderUnavailable: the package is missing or the model cannot be loaded.
    """

    def __init__(self, name: str, device: str | None = None) -> None:
        self.key = key(name)
        try:
            from sentence_transformers import SentenceTransformer

            self._model = SentenceTransformer(name, device=device)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise EncoderUnavailable(f"model {name} cannot be loaded: {first_line}; {CURE}") from None
        self.dim = int(self._encode(["dimension"], ()).shape[1])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, dim] unit vectors of questions, with the model's `query` prompt if it has one."""
        return self._encode(texts, ("query",))

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return float32 [n, dim] unit vectors of passages, with the model's `document` or `passage` prompt."""
        return self._encode(texts, ("document", "passage"))

    def _encode(self, texts: Sequence[str], prompts: Sequence[str]) -> Vectors:
        prompt = next((self._model.prompts[name] for name in prompts if self._model.prompts.get(name)), None)
        vectors = self._model.encode(
            list(texts),
            prompt=prompt,
            batch_size=BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, np.float32)
