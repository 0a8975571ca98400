"""Filters and what is going on, in one line; a click on a filter changes it."""

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from assistant.tui.safe import plain

__all__ = ["Bar"]


class Bar(Static):
    """The line below the question."""

    DEFAULT_CSS = """
    Bar { link-style: none; link-style-hover: bold underline; link-background-hover: $panel; link-color-hover: $text; }
    """

    class Cycle(Message):
        """A filter was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def show(self, filters: list[tuple[str, str, str, bool]], state: str, *, is_bad: bool = False) -> None:
        """Show filters and state.

        Args:
            filters: (name, what it is called, its value, whether it restricts).
            state: a few words.
            is_bad: whether they tell a problem.
        """
        parts = []
        for name, label, value, is_set in filters:
            text = Content.assemble(
                (f" {label} ", "$text-muted"), (f"{value} ▾", "bold $accent" if is_set else "$foreground"), "  "
            )
            parts.append(text.stylize(f"@click=cycle('{name}')"))
        parts.append(plain(state, "$error" if is_bad else "$text-muted"))
        self.update(Content("").join(parts))

    def action_cycle(self, name: str) -> None:
        """Tell that a filter was clicked."""
        self.post_message(self.Cycle(name))
