"""Directories and files for what asks for one: listed, completed, refused with a reason. Every function may block."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from assistant.tui.safe import one_line

__all__ = ["completed", "latest", "names", "parted", "why_not"]

#: Entries of a directory that are looked at.
_MOST = 20_000
_LATEST = 8


def parted(typed: str) -> tuple[str, str]:
    """Return the directory of a path that is being typed, with its slash, and how the wanted name begins."""
    start = typed.rpartition("/")[2]
    return typed[: len(typed) - len(start)], start


def names(typed: str, suffixes: Sequence[str] = ()) -> list[str]:
    """Return the names that go on as a path begins: directories with a slash, then files.

    Args:
        typed: its last part is how the names begin; hidden ones are left out unless it begins with a dot.
        suffixes: how the name of a file must end, in lower case; empty for every file.

    Raises:
        OSError: the directory cannot be read.
        ValueError: it has no name that a directory can have.
    """
    folder, start = parted(typed)
    directories, files = [], []
    with os.scandir(_expanded(folder) or ".") as entries:
        for entry, _ in zip(entries, range(_MOST), strict=False):
            name = entry.name
            if not name.startswith(start) or (name.startswith(".") and not start):
                continue
            if _is_directory(entry):
                directories.append(f"{name}/")
            elif not suffixes or name.lower().endswith(tuple(suffixes)):
                files.append(name)
    return [*sorted(directories, key=str.lower), *sorted(files, key=str.lower)]


def completed(typed: str, suffixes: Sequence[str] = ()) -> str | None:
    """Return a path with the first name that goes on as it begins; None if there is none that a terminal can show."""
    try:
        found = names(typed, suffixes)
    except (OSError, ValueError):
        return None
    folder, start = parted(typed)
    return next((folder + name for name in found if name != start and one_line(name) == name), None)


def why_not(path: str, suffixes: Sequence[str] = (), *, may_be_folder: bool = False, may_miss: bool = False) -> str:
    """Return the key of the sentence that says why a path is no file to read; "" if it may be one.

    Args:
        path: without `~`.
        suffixes: as in `names`.
        may_be_folder: whether a directory will do.
        may_miss: whether a file will do that does not exist yet.
    """
    if not path:
        return "no_path"
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "" if may_miss and "\0" not in path else "no_file"
    except OSError:
        return "unreadable"
    if stat.S_ISDIR(mode):
        return "is_folder" if not may_be_folder else "" if os.access(path, os.R_OK | os.X_OK) else "unreadable"
    if suffixes and not path.lower().endswith(tuple(suffixes)):
        return "wrong_suffix"
    return "" if os.access(path, os.R_OK) else "unreadable"


def latest(paths: object, *first: str) -> list[str]:
    """Return the paths that were used last, each once.

    Args:
        paths: those of before, a list; anything else, as a file that anyone may write can give it, counts as none.
        first: those used now.
    """
    before = [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []
    return list(dict.fromkeys([*first, *before]))[:_LATEST]


def _expanded(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 (a user that does not exist stays as it is)


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
