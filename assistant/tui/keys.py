"""The keys of all actions: defaults in the code, by id; `keys.toml` in the user's directory changes them.

[keys]
"ask.copy" = "ctrl+y"
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from assistant import paths

__all__ = ["keymap", "keys_file"]

_WINDOW = "window"
"""Area of the ids whose keys work everywhere."""


def keys_file() -> Path:
    """Return where the user's keys are, if there are any."""
    return paths.home() / "keys.toml"


def keymap(known: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the user's keys by the id of their action, and what is wrong with the file, a sentence each.

    Args:
        known: id of an action -> its keys, with commas between them.
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
    wrong = [name for name, key in keys.items() if name in known and not (isinstance(key, str) and key.strip())]
    problems += [f'{path}: {name}: expected the name of a key, such as "ctrl+y"' for name in wrong]
    chosen = {name: ",".join(_keys(key)) for name, key in keys.items() if name in known and name not in wrong}
    problems += [f"{path}: {key} is the key of both {a} and {b}" for key, a, b in _twice(known, chosen)]
    return chosen, problems


def _keys(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]


def _twice(known: Mapping[str, str], chosen: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each chosen key that also means something else in the same area, and both meanings."""
    names = list(known)
    for place, name in enumerate(names):
        for other in names[place + 1 :]:
            areas = {name.partition(".")[0], other.partition(".")[0]}
            if (name in chosen or other in chosen) and (len(areas) == 1 or _WINDOW in areas):
                keys = _keys(chosen.get(other, known[other]))
                yield from ((key, name, other) for key in _keys(chosen.get(name, known[name])) if key in keys)
