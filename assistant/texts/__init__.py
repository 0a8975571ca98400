"""Sentences of the user interface in both languages."""

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.types import Lang


@cache
def texts(lang: "Lang") -> dict[str, str]:
    """Return the sentences of a language; words for identifiers are under `TABLE.NAME`, such as `kind.code`."""
    found: dict[str, str] = {}
    for key, value in tomllib.loads(Path(__file__).with_name(f"{lang}.toml").read_text("utf-8")).items():
        if isinstance(value, dict):
            found.update({f"{key}.{name}": text for name, text in value.items()})
        else:
            found[key] = value
    return found
