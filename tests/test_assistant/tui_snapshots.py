"""What a screen of the window looks like: its characters, the style of every cell by name, and its picture.

A snapshot `tests/data/snapshots/STATE.LANG.WIDTHxHEIGHT.txt` holds the lines of the screen and which style each cell has:

    --- cells                       runs of letters per line
    1-3: a80                        lines 1 to 3: 80 cells of style a
    --- dark                        what the letters stand for in one theme; `plain` is without colour
    a $foreground on $background

Colours are named as the theme names them, so that another shade changes one line of the theme and no snapshot.
Of some states the SVG picture is kept, too, packed: `STATE.LANG.WIDTHxHEIGHT.svg.gz`.
`ASKNPU_SNAPSHOTS=update pytest -k tui_snapshots` writes them anew; look at the difference.
Where a screen differs, text and pictures of it are written to a temporary folder that is named.
"""

import difflib
import gzip
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from rich.style import Style
from textual._context import visible_screen_stack
from textual.color import Color
from textual.filter import Monochrome
from textual.strip import Strip

from assistant.tui.app import Window

__all__ = ["Look", "difference", "drawn", "kept_without_colour", "look", "picture_difference", "without_colour"]

FOLDER = Path(__file__).resolve().parent.parent / "data" / "snapshots"
UPDATE = os.environ.get("ASKNPU_SNAPSHOTS") == "update"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξοπρστυφχψω"
_NAMES = (
    "foreground", "background", "surface", "panel", "primary", "secondary", "accent", "warning", "error", "success",
)  # fmt: skip

Look = tuple[list[str], list[list[str]], list[list[str]]]
"""(lines, style of each cell, the same without colour) of a screen in one theme."""


def drawn(app: Window) -> list[Strip]:
    """Return the lines of the screen, with those of the screens that shine through it."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def look(app: Window) -> Look:
    """Return what is on the screen."""
    strips = drawn(app)
    # What NO_COLOR does to every line.
    grey = [strip.apply_filter(Monochrome(), Color(0, 0, 0)) for strip in strips]
    return [strip.text.rstrip() for strip in strips], _spread(strips, _colour_names(app)), _spread(grey, {})


def difference(state: str, looks: Mapping[str, Look]) -> list[str]:
    """Return what is different from the snapshot of a state, empty if nothing is.

    Args:
        state: name of the state, with language and size.
        looks: the screen in each theme.
    """
    return _judged(f"{state}.txt", _told_whole(looks))


def picture_difference(state: str, app: Window) -> list[str]:
    """Return what is different from the picture of a state, empty if nothing is."""
    picture = app.export_screenshot(title="asknpu", simplify=True)
    return _judged(f"{state}.svg.gz", re.sub(r"terminal-\d+", "terminal", picture))


def without_colour(app: Window) -> tuple[list[str], list[list[str]]]:
    """Return the lines of the screen and the style of each cell, of a window that has no colours."""
    strips = drawn(app)
    return [strip.text.rstrip() for strip in strips], _spread(strips, {})


def kept_without_colour(state: str) -> tuple[list[str], list[list[str]]]:
    """Return the lines of a snapshot and the style of each cell without colour.

    Args:
        state: name of the state, with language and size.
    """
    text = (FOLDER / f"{state}.txt").read_text("utf-8")
    lines, _, rest = text.partition("\n--- cells\n")
    runs, _, styles = rest.partition("\n--- ")
    letters = dict(line.split(" ", 1) for line in styles.partition("--- plain\n")[2].splitlines())
    cells: list[list[str]] = []
    for line in runs.splitlines():
        place, told = line.split(": ")
        first, _, last = place.partition("-")
        row = [letters[run[0]] for run in told.split() for _ in range(int(run[1:]))]
        cells += [row] * (int(last or first) - int(first) + 1)
    return lines.split("\n"), cells


def _judged(name: str, now: str) -> list[str]:
    path = FOLDER / name
    is_packed = name.endswith(".gz")
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(now.encode(), mtime=0) if is_packed else now.encode())
        return []
    kept = path.read_bytes() if path.exists() else b""
    then = (gzip.decompress(kept) if is_packed and kept else kept).decode()
    if now == then:
        return []
    folder = Path(tempfile.mkdtemp(prefix="asknpu-snapshot-"))
    (folder / f"now.{name.removesuffix('.gz')}").write_text(now, "utf-8")
    (folder / f"then.{name.removesuffix('.gz')}").write_text(then, "utf-8")
    lines = then.splitlines(), now.splitlines()
    difference = "" if is_packed else "\n".join(difflib.unified_diff(*lines, "then", "now", lineterm="", n=1))[:3000]
    return [f"{name} looks different, see {folder}\n{difference}"]


def _told_whole(looks: Mapping[str, Look]) -> str:
    """Return the characters of a screen, and the styles of its themes."""
    (first, _, plain), *_ = looks.values()
    for theme, (lines, _, _) in looks.items():
        changes = "\n".join(difflib.unified_diff(first, lines, n=0, lineterm=""))
        assert lines == first, f"{theme} changes characters:\n{changes}"
    styles = {theme: cells for theme, (_, cells, _) in looks.items()}
    return "\n".join([*first, *_cells({**styles, "plain": plain})]) + "\n"


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


def _spread(strips: Iterable[Strip], names: dict[str, str]) -> list[list[str]]:
    """Return the style of each cell of each line."""
    known: dict[Style | None, str] = {}
    rows: list[list[str]] = []
    for strip in strips:
        rows.append([])
        for part in strip:
            told = known.get(part.style)
            if told is None:
                told = known[part.style] = _told(part.style, names)
            rows[-1] += [told] * part.cell_length
    return rows


def _cells(looks: dict[str, list[list[str]]]) -> list[str]:
    """Return runs of letters per line, and for each look what the letters stand for."""
    letters: dict[tuple[str, ...], str] = {}
    lines = []
    for row in zip(*looks.values(), strict=True):
        runs = []
        for told, group in groupby(zip(*row, strict=True)):
            number = len(letters)
            letter = letters.setdefault(told, _LETTERS[number] if number < len(_LETTERS) else f"<{number}>")
            runs.append(f"{letter}{len(list(group))}")
        lines.append(" ".join(runs))
    parts, first = ["--- cells"], 1
    for line, same in groupby(lines):
        last = first + len(list(same)) - 1
        parts.append(f"{first}: {line}" if first == last else f"{first}-{last}: {line}")
        first = last + 1
    for place, look in enumerate(looks):
        parts += [f"--- {look}", *(f"{letter} {told[place]}" for told, letter in letters.items())]
    return parts
