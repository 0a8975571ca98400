"""Where things are: the corpus that came with the program, and the user's directory."""

import os
from pathlib import Path

_SHIPPED = Path(__file__).resolve().parent.parent / "corpus"


def corpus_root() -> Path:
    """Return the corpus directory: `ASKNPU_CORPUS`, or the one installed beside this package."""
    chosen = os.environ.get("ASKNPU_CORPUS")
    return Path(chosen) if chosen else _SHIPPED


def home() -> Path:
    """Return the directory for everything the program writes: `ASKNPU_HOME`, or the platform's place for user data."""
    chosen = os.environ.get("ASKNPU_HOME")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_data_path("asknpu"))


def index_directory() -> Path:
    """Return the index directory; each corpus has one of its own."""
    root = corpus_root()
    if "ASKNPU_CORPUS" not in os.environ:
        return home() / "index"
    import hashlib

    return home() / f"index-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]}"


def check_index_directory() -> Path:
    """Return the directory of the index of the table of checks."""
    return home() / "checks"
