"""The line that says what is going on: what runs and for how long, what came of it, or what is wrong."""

from time import monotonic
from typing import Final

from rich.cells import cell_len
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from assistant.tui.cells import bar
from assistant.tui.safe import plain

__all__ = ["Progress"]

_WHEEL: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BAR: Final = 10


class Progress(Static):
    """One line or a few; a wheel, the seconds and a bar of the steps while something runs."""

    DEFAULT_CSS = "Progress { height: auto; max-height: 4; }"

    def __init__(self) -> None:
        super().__init__(id="model-progress", markup=False)
        self.shown = ""
        """The text, for a reader and for tests."""
        self._started = 0.0
        self._step = (0, 1)
        self._timer: Timer | None = None

    def run(self, text: str, done: int, steps: int) -> None:
        """Show that something runs.

        Args:
            text: what.
            done: steps that are behind.
            steps: all steps.
        """
        self.shown, self._step = text, (done, steps)
        if self._timer is None:
            self._started = monotonic()
            self._timer = self.set_interval(0.1, self._tick)
        self._tick()

    def _tick(self) -> None:
        seconds = monotonic() - self._started
        done, steps = self._step
        filled = bar(done / steps * _BAR)
        line = Content.styled(f"{_WHEEL[int(seconds * 10) % len(_WHEEL)]} ", "$primary bold")
        line += Content.styled(filled, "$primary") + Content.styled("░" * (_BAR - cell_len(filled)), "$text-muted")
        self.update(line + plain(f" {done}/{steps} {seconds:4.1f} s  ", "$text-muted") + plain(self.shown))

    def _say(self, mark: str, style: str, text: str) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.shown = text
        self.update(plain(f"{mark} ", f"{style} bold") + plain(text, style if mark == "✗" else ""))

    def good(self, text: str) -> None:
        """Show what came of it."""
        self._say("✓", "$success", text)

    def bad(self, text: str) -> None:
        """Show what is wrong, a sentence."""
        self._say("✗", "$error", text)

    def note(self, text: str) -> None:
        """Show a hint."""
        self._say("·", "$text-muted", text)
