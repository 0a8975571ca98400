"""The themes of the window."""

from collections.abc import Mapping
from functools import cache

from textual.theme import Theme

__all__ = ["THEMES", "variables"]

# Surfaces and panels are almost grey: in 256 colours they stay grey, and do not turn blue.
_DARK = Theme(
    name="asknpu-dark", dark=True, primary="#4fa3ff", secondary="#7dd3c0", accent="#ffb454", warning="#ffb454",
    error="#ff6b6b", success="#5fd38d", foreground="#e6e9ef", background="#11151c", surface="#1a1d22", panel="#24282f",
)  # fmt: skip
_LIGHT = Theme(
    name="asknpu-light", dark=False, primary="#0b62c4", secondary="#0f766e", accent="#b45309", warning="#b45309",
    error="#b42318", success="#15803d", foreground="#1a1f2b", background="#fbfcfe", surface="#f2f3f5", panel="#e6e8ec",
)  # fmt: skip
_CONTRAST = Theme(
    name="asknpu-contrast", dark=True, primary="#ffff00", secondary="#00ffff", accent="#ffff00", warning="#ffff00",
    error="#ff8080", success="#00ff00", foreground="#ffffff", background="#000000", surface="#000000", panel="#1a1a1a",
)  # fmt: skip
THEMES = (_DARK, _LIGHT, _CONTRAST)


def variables(theme: Theme, defaults: Mapping[str, str]) -> dict[str, str]:
    """Return what `App.get_css_variables` gives when a theme is chosen."""
    return {**defaults, **_colours(theme.name), **theme.variables}


@cache
def _colours(name: str) -> dict[str, str]:
    return next(theme for theme in THEMES if theme.name == name).to_color_system().generate()
