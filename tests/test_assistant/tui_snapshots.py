"""What a screen of the window looks like: its characters, the style of every cell by name, and its picture.

A snapshot `tests/data/snapshots/STATE.LANG.WIDTHxHEIGHT.txt` holds the lines of the screen and which style each cell has:

    --- cells                       runs of letters per line
    1-3: a80                        lines 1 to 3: 80 cells of style a
    --- dark                        what the letters stand for in one theme; `plain` is without colour
    a $foreground on $background

Colours are named as the theme names them, so that another shade changes one line of the theme and no snapshot.
Of some states the SVG picture is kept, too, packed: `STATE.LANG.WIDTHxHEIGHT.svg.gz`.
`ASKNPU_SNAPSHOTS=update pytest tests/test_assistant/test_tui_snapshots.py` writes them anew; look at the difference.
Where a screen differs, text and pictures of it are written to a temporary folder that is named.
"""

import difflib
import gzip
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Set
from itertools import groupby
from pathlib import Path

from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input, TextArea
from textual.worker import Worker

from assistant.tui.app import Window

__all__ = ["SIZES", "busy", "calm", "compare", "shown"]

FOLDER = Path(__file__).resolve().parent.parent / "data" / "snapshots"
SIZES = ((80, 24), (140, 45))
UPDATE = os.environ.get("ASKNPU_SNAPSHOTS") == "update"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξοπρστυφχψω"
_NAMES = (
    "foreground", "background", "surface", "panel", "primary", "secondary", "accent", "warning", "error", "success",
)  # fmt: skip
_DARK, _LIGHT = "asknpu-dark", "asknpu-light"
_LOOKS = ((SIZES[1], _DARK), (SIZES[0], _DARK), (SIZES[0], _LIGHT))
_EDGE = re.compile(r"[▁▂▃▄▅▆▇]+$")
"""Of a scroll bar: it may move by an eighth of a line when a text is laid out again."""


def shown(app: Window) -> list[str]:
    """Return the lines of the screen."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


async def compare(pilot: Pilot[int], state: str, *, with_picture: bool) -> list[str]:
    """Compare the screen with its snapshots: small and dark, small and light, large and dark, all without colour, too.

    Args:
        pilot: of the window.
        state: name of the state, with the language.
        with_picture: whether the picture counts, too; small and dark.

    Returns:
        What is different, empty if nothing is.
    """
    app = pilot.app
    assert isinstance(app, Window)
    wrong, seen = [], {}
    # There and back: each state begins as the one before ended, which saves every second change.
    for size, theme in _LOOKS if app.theme == _LOOKS[0][1] else reversed(_LOOKS):
        still = busy(app)
        if app.size != size:
            await pilot.resize_terminal(*size)
        app.theme = theme
        for widget in app.screen.query("*"):
            if isinstance(widget, Input | TextArea):
                widget.cursor_blink = False
        await calm(pilot, still)
        seen[size, theme] = app.screen._compositor.render_strips(), _colour_names(app)
        if with_picture and (size, theme) == _LOOKS[1]:
            wrong += _judged(f"{state}.{size[0]}x{size[1]}.svg.gz", _picture(app))
    for size in SIZES:
        looks = {theme: seen[size, theme] for at, theme in _LOOKS if at == size}
        wrong += _judged(f"{state}.{size[0]}x{size[1]}.txt", _told_whole(looks))
    return wrong


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


def busy(app: Window) -> set[Worker[object]]:
    """Return the workers that run."""
    return {worker for worker in app.workers if not worker.is_finished}


async def calm(pilot: Pilot[int], still: Set[Worker[object]] = frozenset()) -> None:
    """Wait until no worker runs, except those that may, and the screen stays as it is for some frames."""
    app = pilot.app
    assert isinstance(app, Window)
    before: list[str] = []
    times = 0
    for _ in range(600):
        await pilot.pause(0.03)
        now = shown(app)
        times = times + 1 if now == before and busy(app) <= still else 0
        if times == 3:
            return
        before = now
    raise AssertionError("never calm:\n" + "\n".join(before))


def _told_whole(looks: Mapping[str, tuple[list[Strip], dict[str, str]]]) -> str:
    """Return the characters of a screen, and the styles of its themes."""
    lines: list[str] = []
    styles: dict[str, list[list[str]]] = {}
    for theme, (strips, names) in looks.items():
        now = [strip.text.rstrip() for strip in strips]
        lines = lines or now
        edgeless = [[_EDGE.sub(" ", line) for line in one] for one in (now, lines)]
        assert edgeless[0] == edgeless[1], f"{theme} changes characters:\n" + "\n".join(
            difflib.unified_diff(lines, now, n=0)
        )
        styles[theme.removeprefix("asknpu-")] = _spread(strips, names)
    # What NO_COLOR does to every line.
    strips, _ = looks[_DARK]
    styles["plain"] = _spread([strip.apply_filter(Monochrome(), Color(0, 0, 0)) for strip in strips], {})
    return "\n".join([*lines, *_cells(styles)]) + "\n"


def _picture(app: Window) -> str:
    return re.sub(r"terminal-\d+", "terminal", app.export_screenshot(title="asknpu", simplify=True))


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
    return [[told for part in strip for told in [_told(part.style, names)] * part.cell_length] for strip in strips]


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
