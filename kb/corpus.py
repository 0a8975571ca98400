"""Read a corpus directory into memory, and check what can only be checked across files."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kb.errors import CorpusError
from kb.types import Entry

GLOSSARY = "glossary.toml"
IDENTIFIERS = "identifiers.toml"
CONFIDENCE = "confidence.toml"
PLATFORMS = "platforms.toml"
VOCABULARIES = ("onnx_operators.toml",)
RESOURCES = (GLOSSARY, IDENTIFIERS, CONFIDENCE, PLATFORMS, *VOCABULARIES)
VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of a corpus as bytes; nothing is parsed yet."""

    root: Path
    documents: Mapping[str, bytes]
    """Entry files by their path relative to the root, with forward slashes, sorted."""
    resources: Mapping[str, bytes]
    """Those of `RESOURCES` that exist."""

    def fingerprint(self) -> str:
        """Return a digest of all names and contents."""
        digest = hashlib.sha256()
        for name, data in (*self.documents.items(), *self.resources.items()):
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
        return digest.hexdigest()


def read(root: Path) -> Corpus:
    """Read all `*.zh.md` and `*.en.md` files below a directory, and the resources in it.

    Raises:
        CorpusError: no such directory, an unreadable file, or no entry file in it.
    """
    if not root.is_dir():
        raise CorpusError(f"{root}:0: no such corpus directory")
    try:
        paths = sorted(path for lang in ("zh", "en") for path in root.rglob(f"*.{lang}.md") if path.is_file())
        documents = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
        resources = {name: (root / name).read_bytes() for name in RESOURCES if (root / name).is_file()}
    except OSError as error:
        raise CorpusError(f"{error.filename}:0: cannot be read: {error.strerror}") from None
    if not documents:
        raise CorpusError(f"{root}:0: no *.zh.md or *.en.md file in this directory")
    return Corpus(root, dict(sorted(documents.items())), resources)


def entries(corpus: Corpus) -> tuple[Entry, ...]:
    """Return all entries, file by file.

    Raises:
        CorpusError: a broken file, or an id that two files of one language use.
    """
    from kb.parse import parse_file

    found: list[Entry] = []
    seen: dict[tuple[str, str], Entry] = {}
    for path, data in corpus.documents.items():
        for entry in parse_file(path, data):
            other = seen.setdefault((entry.id, entry.lang), entry)
            if other is not entry:
                raise CorpusError(
                    f"{path}:{entry.line}: id {entry.id!r} is used before, in {other.span.file}:{other.line}"
                )
            found.append(entry)
    return tuple(found)


def toml(path: str, data: bytes) -> dict[str, object]:
    """Return a TOML resource.

    Raises:
        CorpusError: not UTF-8 or not TOML.
    """
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}:1: not valid TOML: {error}") from None
