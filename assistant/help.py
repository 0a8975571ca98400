"""What `--help` says, in the language of the user. The texts stand in the commands, in English."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["form", "paragraph", "second_column", "section", "usage"]

_SUFFIX = re.compile(r"(?P<text>.*?)(?P<rest>(?:\s\s\[[^\]]*\])?)", re.DOTALL)


def usage() -> str:
    """Return the word before the form of a command."""
    return str(_table()["usage"])


def section(name: str) -> str:
    """Return the title of a section."""
    return str(_table()["sections"].get(name, name))


def form(text: str) -> str:
    """Return the form of a command or of an option."""
    for english, chinese in _table()["words"].items():
        text = text.replace(english, chinese)
    return text


def paragraph(text: str) -> str:
    """Return what a command does."""
    return str(_table()["texts"].get(" ".join(text.split()), text)).strip()


def second_column(text: str) -> str:
    """Return what an option or, cut off, a command does, with the default and the range behind it."""
    table = _table()
    match = _SUFFIX.fullmatch(text)
    told, rest = (match["text"], match["rest"]) if match else (text, "")
    known = table["options"].get(told)
    if known is None:
        begun = told.removesuffix("...")
        known = next((zh.strip().partition("\n")[0] for en, zh in table["texts"].items() if en.startswith(begun)), told)
    rest = rest.replace("default:", f"{table['default']}").replace("required", table["required"])
    return f"{known}{rest}"


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("texts").joinpath("help.zh.toml").read_text("utf-8"))
