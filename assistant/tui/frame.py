"""The line above all areas, and the line below them."""

from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

__all__ = ["Keys", "Tabs"]

_KEYS_AFTER_S = 0.15
"""From the start until the keys are laid out: they are more widgets than the rest of the first screen."""


class Tabs(Static):
    """The names of the areas with their keys; a click enters one."""

    def show(self, names: list[tuple[str, str, str]], current: str, title: str) -> None:
        """Show the areas.

        Args:
            names: (area, its key, what it is called).
            current: the area that is entered.
            title: shown in front.
        """
        parts = [Content.styled(f" {title} ", "bold $primary")]
        for area, key, name in names:
            style = "reverse bold" if area == current else "$text-muted"
            parts.append(Content.styled(f" {key} {name} ", style).stylize(f"@click=app.enter('{area}')"))
        self.update(Content("").join(parts), layout=False)


class Keys(Footer):
    """The keys that matter; an empty line until `start`, so that they do not delay the first paint."""

    is_started = False

    def compose(self) -> ComposeResult:
        """Show the keys that have room."""
        from assistant.tui.footer import fitting

        return fitting(super().compose(), self.app.size.width)

    def on_resize(self) -> None:
        """Show those that have room now."""
        self.bindings_changed(self.screen)

    def on_mount(self) -> None:
        """Let the rest of the screen come first."""
        self.set_timer(_KEYS_AFTER_S, self.start)

    def start(self) -> None:
        """Show the keys from now on."""
        self.is_started = True
        self.bindings_changed(self.screen)

    def bindings_changed(self, screen: Screen[Any]) -> None:
        """Show the keys that have an effect now."""
        if self.is_started:
            super().bindings_changed(screen)
