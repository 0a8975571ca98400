"""Sentences of the user interface in both languages."""

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.types import Lang


@cache
def texts(lang: "Lang") -> dict[str, str]:
    """Return the sentences of a language; names of identifier kinds are under `kind.NAME`."""
    table = tomllib.loads(Path(__file__).with_name(f"{lang}.toml").read_text("utf-8"))
    kinds = table.pop("kinds")
    return {**table, **{f"kind.{name}": text for name, text in kinds.items()}}
