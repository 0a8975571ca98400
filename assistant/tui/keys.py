"""The keys of all actions: defaults in the code, by id; `keys.toml` in the user's directory changes them.

[keys]
"ask.copy" = "ctrl+y"
"""

import tomllib
from pathlib import Path

from assistant import paths

__all__ = ["keymap", "keys_file"]


def keys_file() -> Path:
    """Return where the user's keys are, if there are any."""
    return paths.home() / "keys.toml"


def keymap(known: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """Return the user's keys by the id of their action, and what is wrong with the file, a sentence each.

    Args:
        known: the ids that exist.
    """
    path = keys_file()
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError:
        return {}, []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return {}, [f"{path}: {error}"]
    keys = data.get("keys", {})
    if not isinstance(keys, dict):
        return {}, [f"{path}: expected a table [keys]"]
    problems = [f"{path}: no action {name!r}" for name in keys if name not in known]
    chosen = {name: key for name, key in keys.items() if name in known and isinstance(key, str) and key}
    seen: dict[str, str] = {}
    for name, key in chosen.items():
        for one in key.split(","):
            if one in seen:
                problems.append(f"{path}: {one} is given to both {seen[one]} and {name}")
            seen[one] = name
    return chosen, problems
