"""A field for a path that completes it."""

import asyncio
import os
import re
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widgets import Input

from assistant.tui.folders import completed
from assistant.tui.safe import one_line

__all__ = ["PathField"]


class _Paths(Suggester):
    """Completes a path off the event loop."""

    def __init__(self, suffixes: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.suffixes = suffixes

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(completed, value, self.suffixes) if value else None


class PathField(Input):
    """A path; Tab takes the completion, and goes on if there is none.

    One with control characters is shown with these made visible, and still found. Quotes and backslashes, which
    terminals put around a file that is dropped on them, are taken off.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", show=False),
        Binding("ctrl+e,end", "take", show=False),
    ]

    def __init__(
        self, id: str, *, path: str = "", suffixes: Sequence[str] = (), hint: str = "", select_on_focus: bool = True
    ) -> None:
        """Make a field.

        Args:
            id: of the widget.
            path: to begin with.
            suffixes: how the names of the files that are completed end, in lower case; empty for every file.
            hint: shown while the field is empty.
            select_on_focus: whether what is typed first replaces the path.
        """
        self._hidden: dict[str, str] = {}
        super().__init__(
            path, id=id, placeholder=hint, suggester=_Paths(suffixes), compact=True, select_on_focus=select_on_focus
        )

    @property
    def path(self) -> str:
        """The path meant; "" if none."""
        shown = self.value.strip()
        found = self._hidden.get(shown, shown)
        if len(found) > 1 and found[0] == found[-1] and found[0] in "'\"":
            found = found[1:-1]
        elif "\\" in found and not os.path.lexists(found):
            plain = re.sub(r"\\(.)", r"\1", found)
            found = plain if os.path.lexists(plain) else found
        return os.path.expanduser(found)  # noqa: PTH111 (a user that does not exist stays as it is)

    def choose(self, path: str) -> None:
        """Set the path."""
        self.value = path
        self.cursor_position = len(self.value)

    def validate_value(self, value: str) -> str:
        """Keep control characters out of the terminal, wherever the text comes from."""
        shown = one_line(value)
        if shown != value:
            self._hidden[shown] = value
        return shown

    def action_take(self) -> None:
        """Take the completion, as the right arrow does; at the end of the text."""
        if self.cursor_position >= len(self.value) and self._suggestion:
            self.value = self._suggestion
        self.cursor_position = len(self.value)

    def action_complete(self) -> None:
        """Take the completion, or go to the next widget."""
        if self._suggestion and self._suggestion != self.value and self.cursor_position == len(self.value):
            self.action_take()
        else:
            self.screen.focus_next()
