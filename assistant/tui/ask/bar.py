"""Filters and what is going on, in one line."""

from textual.content import Content

from assistant.tui.ask.clicks import Clickable, word
from assistant.tui.safe import plain

__all__ = ["Bar"]


class Bar(Clickable):
    """The line below the question; a click on a filter changes it, one on what runs cancels it."""

    def show(
        self, filters: list[tuple[str, str, str, bool]], state: str, *, is_bad: bool = False, is_busy: bool = False
    ) -> None:
        """Show filters and state.

        Args:
            filters: (action that changes it, what it is called, its value, whether it restricts).
            state: a few words.
            is_bad: whether they tell a problem.
            is_busy: whether they tell of something that can be cancelled.
        """
        parts = []
        for action, label, value, is_set in filters:
            parts.append(word(f" {label} ", action, "$text-muted"))
            parts.append(word(f"{value} ▾", action, "bold $accent" if is_set else "$foreground"))
            parts.append(Content("  "))
        style = "$error" if is_bad else "$text-muted"
        parts.append(word(state, "cancel", style) if is_busy else plain(state, style))
        self.update(Content("").join(parts))
