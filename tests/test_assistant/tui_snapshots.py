"""What a screen of the window looks like as text: its characters, and the style of every cell by name.

A snapshot `tests/data/snapshots/NAME.txt` holds the lines of the screen and, for each theme, which style each cell has:

    --- cells                       runs of letters per line
    1-3: a80                        lines 1 to 3: 80 cells of style a
    --- dark                        what the letters stand for in one theme; `plain` is without colour
    a $foreground on $background

Colours are named as the theme names them, so that another shade changes one line of the theme and no snapshot.
`ASKNPU_SNAPSHOTS=update pytest tests/test_assistant/test_tui_snapshots.py` writes them anew; look at the difference.
`NAME.svg.gz` is a picture of the same screen. On failure the pictures are written to a temporary folder that is named.
"""

import difflib
import gzip
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from rich.style import Style
from textual.filter import Monochrome
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input, TextArea

from assistant.tui.app import THEMES, Window

__all__ = ["check_picture", "check_screen", "looks"]

FOLDER = Path(__file__).resolve().parent.parent / "data" / "snapshots"
UPDATE = os.environ.get("ASKNPU_SNAPSHOTS") == "update"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξοπρστυφχψω"
_NAMES = (
    "foreground", "background", "surface", "panel", "primary", "secondary", "accent", "warning", "error", "success",
)  # fmt: skip
Mask = tuple[str, str]


def _colour_names(app: Window) -> dict[str, str]:
    variables = app.theme_variables
    order = [*_NAMES, *sorted(name for name in variables if name not in _NAMES)]
    names: dict[str, str] = {}
    for name in order:
        value = variables.get(name, "").lower()
        if re.fullmatch(r"#[0-9a-f]{6}", value):
            names.setdefault(value, f"${name}")
    return names


def _told(style: Style | None, names: dict[str, str]) -> str:
    if style is None:
        return "default"
    flags = [name for name in ("bold", "dim", "italic", "underline", "strike", "reverse") if getattr(style, name)]
    colours = []
    for colour in (style.color, style.bgcolor):
        triplet = colour.triplet if colour is not None else None
        value = triplet.hex.lower() if triplet is not None else (colour.name if colour is not None else "default")
        colours.append(names.get(value, value))
    return " ".join([*flags, colours[0], "on", colours[1]])


def _spread(strips: Sequence[Strip], names: dict[str, str]) -> list[list[str]]:
    """Return the style of each cell of each line."""
    return [[told for part in strip for told in [_told(part.style, names)] * part.cell_length] for strip in strips]


def _cells(themes: Mapping[str, list[list[str]]]) -> list[str]:
    """Return runs of letters per line, and for each theme what the letters stand for."""
    letters: dict[tuple[str, ...], str] = {}
    lines = []
    for row in zip(*themes.values(), strict=True):
        runs = []
        for told, group in groupby(zip(*row, strict=True)):
            number = len(letters)
            letter = letters.setdefault(told, LETTERS[number] if number < len(LETTERS) else f"<{number}>")
            runs.append(f"{letter}{len(list(group))}")
        lines.append(" ".join(runs))
    parts, first = ["--- cells"], 1
    for line, same in groupby(lines):
        last = first + len(list(same)) - 1
        parts.append(f"{first}: {line}" if first == last else f"{first}-{last}: {line}")
        first = last + 1
    for place, theme in enumerate(themes):
        parts += [f"--- {theme}", *(f"{letter} {told[place]}" for told, letter in letters.items())]
    return parts


def _mask(text: str, masks: Sequence[Mask]) -> str:
    """Replace what differs between runs, keeping the width."""
    for pattern, by in masks:
        text = re.sub(pattern, lambda found, by=by: by.ljust(len(found.group()))[: len(found.group())], text)
    return text


def _still(app: Window) -> None:
    for widget in app.screen.query("*"):
        if isinstance(widget, Input | TextArea):
            widget.cursor_blink = False


async def looks(pilot: Pilot[int], masks: Sequence[Mask] = ()) -> str:
    """Return the screen as text, in all themes and without colour."""
    app = pilot.app
    assert isinstance(app, Window)
    _still(app)
    chosen = app.theme
    characters: list[str] = []
    styles: dict[str, list[list[str]]] = {}
    for name in (*(theme.name for theme in THEMES), "plain"):
        if name == "plain":
            app.theme = THEMES[0].name
            app._filters.append(Monochrome())  # what NO_COLOR does at the start
        else:
            app.theme = name
        await pilot.pause()
        app.refresh_css(animate=False)
        app.screen.refresh(layout=True)
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        lines = [_mask(strip.text, masks).rstrip() for strip in strips]
        characters = characters or lines
        assert lines == characters, f"the theme {name} changes characters"
        styles[name.removeprefix("asknpu-")] = _spread(strips, _colour_names(app))
    app._filters.pop()
    app.theme = chosen
    await pilot.pause()
    return "\n".join([*characters, *_cells(styles)]) + "\n"


def _picture(app: Window, masks: Sequence[Mask]) -> str:
    svg = re.sub(r"terminal-\d+", "terminal", app.export_screenshot(title="asknpu", simplify=True))
    return _mask(svg, masks)


def check_screen(app: Window, name: str, now: str) -> None:
    """Compare a screen with its snapshot.

    Args:
        app: the running window, for its picture.
        name: of the snapshot.
        now: what `looks` gave.
    """
    path = FOLDER / f"{name}.txt"
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(now, "utf-8")
        return
    then = path.read_text("utf-8") if path.exists() else ""
    if now == then:
        return
    folder = Path(tempfile.mkdtemp(prefix="asknpu-snapshot-"))
    (folder / f"{name}.txt").write_text(now, "utf-8")
    (folder / f"{name}.svg").write_text(app.export_screenshot(), "utf-8")
    difference = "\n".join(difflib.unified_diff(then.splitlines(), now.splitlines(), "then", "now", lineterm="", n=1))
    raise AssertionError(f"{name} looks different; text and picture: {folder}\n{difference[:6000]}")


async def check_picture(pilot: Pilot[int], name: str, masks: Sequence[Mask] = ()) -> None:
    """Compare the picture of a screen with the one that is kept packed."""
    app = pilot.app
    assert isinstance(app, Window)
    _still(app)
    await pilot.pause()
    now = _picture(app, masks)
    path = FOLDER / f"{name}.svg.gz"
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(now.encode(), mtime=0))
        return
    then = gzip.decompress(path.read_bytes()).decode() if path.exists() else ""
    if now != then:
        folder = Path(tempfile.mkdtemp(prefix="asknpu-snapshot-"))
        (folder / "then.svg").write_text(then, "utf-8")
        (folder / "now.svg").write_text(now, "utf-8")
        raise AssertionError(f"the picture {name} is different; both: {folder}")
