"""The rows of a log: only those on the screen are decoded; evidence has a mark in front, codes are underlined."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from assistant.logs.decode import Line
from assistant.tui.logs.find import shown
from assistant.tui.logs.painting import MARKS, Frame, character_at, gutter, paint, prefix, width_of
from assistant.tui.logs.rows import Rows

__all__ = ["LogView"]

#: So many painted rows are kept.
_KEPT = 300


class LogView(ScrollView, can_focus=True):
    """Shows rows it is given. The cursor is a row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log--number", "log--cursor", "log--found", "log--code", "log--prefix",
        *(f"log--{kind}" for kind in MARKS),
    }  # fmt: skip
    DEFAULT_CSS = """
    LogView { background: $background; color: $foreground; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    LogView > .log--number { text-style: dim; }
    LogView > .log--prefix { text-style: dim; }
    LogView > .log--cursor { background: $panel; }
    LogView:focus > .log--cursor { background: $primary 35%; }
    LogView > .log--found { background: $warning; color: $background; }
    LogView > .log--code { text-style: underline; }
    LogView > .log--answer { color: $error; text-style: bold; }
    LogView > .log--cause { color: $warning; }
    LogView > .log--later { text-style: dim; }
    LogView > .log--symptom { color: $warning; }
    LogView > .log--benign { color: $success; }
    LogView > .log--unknown { color: $secondary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
        Binding("left", "sideways(-1)", show=False),
        Binding("right", "sideways(1)", show=False),
    ]

    row: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor is on another row, or was put on a place of one."""

        def __init__(self, row: int, column: int | None) -> None:
            super().__init__()
            self.row = row
            self.column = column
            """Character of the shown text that was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Rows | None = None
        self.marks: Mapping[int, str] = {}
        self.query_text = ""
        self.with_codes = False
        self.sticks = False
        """Whether the view stays at the end while the log grows."""
        self._widest = 0
        self._painted: dict[int, tuple[Line, tuple[Any, ...], Strip]] = {}

    @property
    def line(self) -> Line | None:
        """The row of the cursor."""
        return self.rows.row(self.row) if self.rows else None

    def show(self, rows: Rows | None, marks: Mapping[int, str], *, row: int = 0) -> None:
        """Show another log.

        Args:
            rows: of the log.
            marks: offset of a line -> kind of what it speaks for, as in `MARKS`.
            row: where the cursor is.
        """
        if self.rows is not rows and self.rows is not None:
            self.rows.release()
        self.rows, self.marks, self._widest = rows, marks, 0
        self._painted.clear()
        self.grow()
        self.scroll_to(0, 0, animate=False, immediate=True)
        self.go(row)
        self.refresh()

    def mark(self, marks: Mapping[int, str], query: str) -> None:
        """Set the marks and the text that is shown as found."""
        if marks != self.marks or query != self.query_text:
            self.marks, self.query_text = marks, query
            self.refresh()

    def explain_codes(self) -> None:
        """Underline codes from now on; their tables are loaded."""
        if not self.with_codes:
            self.with_codes = True
            self.refresh()

    def grow(self) -> None:
        """Take in the rows that have come."""
        count = self.rows.count if self.rows else 0
        size, before = Size(self._gutter + self._widest + 1, count), self.virtual_size
        if size != before:
            # A log grows ten times a second: the screen is not laid out anew for it.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
            if size.width != before.width or before.height < self.scroll_offset.y + self.size.height:
                self.refresh()
        if self.sticks and count and self.row != count - 1:
            self.go(count - 1)

    def go(self, row: int, *, center: bool = False) -> None:
        """Put the cursor on a row and bring it into view."""
        count = self.rows.count if self.rows else 0
        self.row = max(0, min(row, count - 1))
        height = max(self.scrollable_content_region.height, 1)
        top = round(self.scroll_offset.y)
        if center and not top + 1 <= self.row < top + height - 1:
            top = self.row - height // 3
        elif self.row < top:
            top = self.row
        elif self.row >= top + height:
            top = self.row - height + 1
        self.scroll_to(y=max(top, 0), animate=False, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in view, also when the view gets its size only after it was told where to go."""
        self.go(self.row, center=True)

    def watch_row(self, old: int, new: int) -> None:
        """Draw the cursor anew and tell about it."""
        top = round(self.scroll_offset.y)
        for row in (old, new):
            self.refresh(Region(0, row - top, self.size.width, 1))
        self.post_message(self.Moved(new, None))

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.sticks = False
        self.go(self.row + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        self.action_move(by * max(self.scrollable_content_region.height - 1, 1))

    def action_first(self) -> None:
        """Go to the first row."""
        self.action_move(-self.row)

    def action_last(self) -> None:
        """Go to the last row, and stay there while the log grows."""
        self.action_move(self.virtual_size.height)
        self.sticks = True

    def action_sideways(self, by: int) -> None:
        """Scroll left or right."""
        self.scroll_to(x=max(self.scroll_offset.x + by * 16, 0), animate=False, immediate=True)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Stop staying at the end."""
        self.sticks = False

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is."""
        self.focus()
        place = event.get_content_offset(self)
        if self.rows is None or place is None or place.y >= self.scrollable_content_region.height:
            return
        self.sticks = False
        row = round(self.scroll_offset.y) + place.y
        if row >= self.rows.count:
            return
        self.go(row)
        line = self.line
        cells = round(self.scroll_offset.x) + place.x - self._gutter
        if line is not None and cells >= 0:
            text = prefix(line) + shown(line.text)
            self.post_message(self.Moved(row, character_at(text, cells)[0] - len(prefix(line))))

    def notify_style_update(self) -> None:
        """Paint all rows anew."""
        super().notify_style_update()
        self._painted.clear()

    @property
    def _gutter(self) -> int:
        return gutter(self.rows.lines if self.rows else 1)

    def render_line(self, y: int) -> Strip:
        """Return a row of the screen."""
        width, row = self.size.width, round(self.scroll_offset.y) + y
        line = self.rows.row(row) if self.rows else None
        if line is None:
            return Strip.blank(width, self.rich_style)
        kind = "" if line.piece else self.marks.get(line.start, "")
        frame = Frame(round(self.scroll_offset.x), width, self._gutter, self.query_text, self.with_codes)
        look = (kind, frame, row == self.row)
        kept = self._painted.get(row)
        if kept is not None and kept[0] is line and kept[1] == look:
            return kept[2]
        self._see(line)
        base = self.rich_style
        if row == self.row:
            base += self._style("cursor")
        strip = paint(line, frame, base, kind, self._style)
        if len(self._painted) >= _KEPT:
            self._painted.clear()
        self._painted[row] = (line, look, strip)
        return strip

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"log--{name}", partial=True)

    def _see(self, line: Line) -> None:
        """Make the view as wide as the widest row that was seen."""
        width = width_of(line)
        if width > self._widest:
            self._widest = width
            self.call_later(self.grow)
