"""Markdown of an answer as lines, laid out in a thread; what is shown stays until the next is ready."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from assistant.plain import printable
from assistant.tui.ask.latest import Done, Latest
from assistant.tui.cells import styled

if TYPE_CHECKING:
    from assistant.tui.painted import Painted

__all__ = ["Prose"]


class Prose(Widget):
    """One text; it can be selected with the mouse."""

    DEFAULT_CSS = "Prose { height: auto; }"

    class Grown(Message):
        """The text has another number of lines now."""

        def __init__(self, by: int, bottom: int) -> None:
            super().__init__()
            self.by = by
            self.bottom = bottom
            """First line below the text, before."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="empty")
        self.text = ""
        """The Markdown that is shown or on its way."""
        self._lines: tuple[Strip, ...] = ()
        self._texts: tuple[str, ...] = ()
        self._laid_out: tuple[str, int, str] = ("", 0, "")
        self._job = Latest(self, "prose")

    def on_mount(self) -> None:
        """Take the colours of every theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._lay_out())

    def show(self, text: str) -> None:
        """Show Markdown; '' takes no line."""
        self.text = printable(text)
        if not self.text:
            self._job.stop()
            self._laid_out = ("", 0, "")
            self._take((), ())
        self.set_class(not self.text, "empty")
        self._lay_out()

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self._lay_out()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        """Return one line, what is selected in it marked."""
        strip = self._lines[y] if y < len(self._lines) else Strip.blank(0)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            strip = _marked(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return (
            strip.apply_style(self.rich_style).adjust_cell_length(self.size.width, self.rich_style).apply_offsets(0, y)
        )

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected."""
        return selection.extract("\n".join(self._texts)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Show what is selected."""
        self.refresh()

    def _lay_out(self) -> None:
        width = self.size.width
        wanted = (self.text, width, self.app.theme)
        if not self.text or not width or wanted == self._laid_out:
            return
        self._laid_out = wanted
        self._job.start(_painting(self.text, width, dict(self.app.theme_variables)))

    @on(Done)
    def _done(self, done: Done) -> None:
        done.stop()
        if self._job.ended(done):
            page: Painted | None = done.result
            texts = page.texts if page is not None else tuple(self.text.splitlines())
            self._take(page.strips if page is not None else tuple(Strip([Segment(text)]) for text in texts), texts)

    def _take(self, lines: tuple[Strip, ...], texts: tuple[str, ...]) -> None:
        grown, bottom = len(lines) - len(self._lines), self.virtual_region.bottom
        self._lines, self._texts = lines, texts
        self.refresh(layout=bool(grown))
        if grown:
            self.post_message(self.Grown(grown, bottom))


def _painting(text: str, width: int, colours: dict[str, str]) -> Callable[[], "Painted"]:
    def run() -> "Painted":
        from assistant.tui.markdown import paint
        from assistant.tui.painted import Section

        return paint([Section("", text)], width, colours)

    return run


def _marked(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """Return a line with the characters of a span in a style."""
    start, end = (cell_len(strip.text[:offset]) if offset >= 0 else strip.cell_length for offset in span)
    return styled(strip, start, end, style)
