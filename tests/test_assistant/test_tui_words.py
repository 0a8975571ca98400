"""The sentences of the window: every one in both languages, every one that the code asks for, none that it does not."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from textual.binding import Binding

from assistant.tui.app import AREAS, Window
from tests.conftest import ROOT

TUI = ROOT / "assistant" / "tui"
TABLES = ("window", *AREAS)


@cache
def table(area: str, lang: str) -> dict[str, str]:
    return tomllib.loads((TUI / "texts" / f"{area}.{lang}.toml").read_text("utf-8"))


def sources(area: str) -> list[Path]:
    """Return the files that say sentences of a table; those of the window are said everywhere."""
    return [*TUI.glob("*.py"), *(TUI if area == "window" else TUI / area).rglob("*.py")]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def pattern(text: ast.expr | None) -> str:
    """Return what a literal or an f-string may be, as a regular expression; "" for anything else."""
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return re.escape(text.value)
    if isinstance(text, ast.JoinedStr):
        return "".join(pattern(part) or "[a-zA-Z0-9_]+" for part in text.values)
    return ""


def said(path: Path) -> set[str]:
    """Return the patterns of the keys that a file passes to `say`."""
    found = set[str]()
    for call in ast.walk(tree(path)):
        if isinstance(call, ast.Call) and call.args:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            branches: list[Any] = [call.args[0]] if name == "say" else []
            while branches:
                one = branches.pop()
                branches += [one.body, one.orelse] if isinstance(one, ast.IfExp) else []
                found.add(pattern(one))
    return found - {"", "[a-zA-Z0-9_]+"}


def written(path: Path) -> set[str]:
    """Return the patterns of everything in a file that may be a key; f-strings with a fixed beginning or end."""
    texts = [one for one in ast.walk(tree(path)) if isinstance(one, ast.Constant | ast.JoinedStr)]
    # A beginning that every action or every area shares says nothing.
    return {found for one in texts if re.search("[a-z_]{3}", found := pattern(one))} - {"about_[a-zA-Z0-9_]+"}


def actions(area: str) -> set[str]:
    """Return the names of the actions of an area, as their sentences are called."""
    kind = Window if area == "window" else next(one for one in Window._panes() if area == one.AREA)
    ids = [one.id or "" for one in kind.BINDINGS if isinstance(one, Binding)]
    return {one.removeprefix("window.").replace(".", "_") for one in ids if one}


@pytest.mark.parametrize("area", TABLES)
def test_every_sentence_is_in_both_languages_with_the_same_blanks(area: str) -> None:
    def blanks(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    en, zh = table(area, "en"), table(area, "zh")

    assert list(en) == list(zh)
    assert {key: blanks(text) for key, text in en.items()} == {key: blanks(text) for key, text in zh.items()}
    assert [key for key in en if not en[key].strip()] == [key for key in zh if not zh[key].strip()]


@pytest.mark.parametrize("area", TABLES)
def test_every_action_has_a_name_and_says_what_it_does(area: str) -> None:
    named = actions(area)

    assert named
    assert not [key for name in named for key in (name, f"about_{name}") if not table(area, "en").get(key)]


@pytest.mark.parametrize("area", TABLES)
def test_no_sentence_is_left_that_the_code_does_not_say(area: str) -> None:
    patterns = {one for path in sources(area) for one in written(path)}
    whole = re.compile("|".join(sorted(patterns)))
    named = actions(area)

    assert not [
        key for key in table(area, "en") if key.removeprefix("about_") not in named and not whole.fullmatch(key)
    ]


@pytest.mark.parametrize("area", TABLES)
def test_every_sentence_that_the_code_says_is_there(area: str) -> None:
    own = TUI.glob("*.py") if area == "window" else (TUI / area).rglob("*.py")
    # What the window says for a pane is in the tables of the areas.
    keys = {key for one in ({area, "window"} if area != "window" else TABLES) for key in table(one, "en")}

    assert not [
        (path.name, one) for path in own for one in said(path) if not any(re.fullmatch(one, key) for key in keys)
    ]
