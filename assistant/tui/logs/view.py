"""The rows of a log: only those on the screen are decoded; evidence has a mark in front, codes are underlined."""

from collections.abc import Mapping
from typing import ClassVar

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from assistant.logs.codes import find_codes
from assistant.logs.decode import Line
from assistant.tui.logs.find import found_in, shown
from assistant.tui.logs.rows import Rows

__all__ = ["MARKS", "LogView"]

#: What a row speaks for -> the mark in front of it; a mark is told by its form, not only by its colour.
MARKS: Mapping[str, str] = {"answer": "●", "cause": "○", "later": "↳", "symptom": "▲", "benign": "✓", "unknown": "?"}
#: Codes are looked for in so many characters of a row.
_CODED = 2000


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
        Binding("enter", "explain", show=False),
    ]

    row: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor is on another row, or was put on a place of one."""

        def __init__(self, row: int, column: int | None) -> None:
            super().__init__()
            self.row = row
            self.column = column
            """Character of the shown text that was clicked."""

    class Explain(Message):
        """The codes in the row of the cursor are to be explained."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Rows | None = None
        self.marks: Mapping[int, str] = {}
        self.query_text = ""
        self.with_codes = False
        self.sticks = False
        """Whether the view stays at the end while the log grows."""
        self._widest = 0

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
        self.grow()
        self.scroll_to(0, 0, animate=False, immediate=True)
        self.go(row)
        self.refresh()

    def mark(self, marks: Mapping[int, str], query: str) -> None:
        """Set the marks and the text that is shown as found."""
        if marks != self.marks or query != self.query_text:
            self.marks, self.query_text = marks, query
            self.refresh()

    def grow(self) -> None:
        """Take in the rows that have come."""
        count = self.rows.count if self.rows else 0
        width = self._gutter + self._widest + 1
        if (width, count) != (self.virtual_size.width, self.virtual_size.height):
            self.virtual_size = Size(width, count)
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

    def action_explain(self) -> None:
        """Ask for what the codes of the row mean."""
        self.post_message(self.Explain())

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
        line = self.rows.row(row)
        cells = round(self.scroll_offset.x) + place.x - self._gutter
        if line is not None and cells >= 0:
            text = _prefix(line) + shown(line.text)
            self.post_message(self.Moved(row, _index(text, cells)[0] - len(_prefix(line))))

    @property
    def _gutter(self) -> int:
        """Cells in front of the text: mark, number, bar."""
        return 2 + max(len(str(self.rows.lines)) if self.rows else 1, 3) + 3

    def render_line(self, y: int) -> Strip:
        """Return a row of the screen."""
        width = self.size.width
        base = self.rich_style
        row = round(self.scroll_offset.y) + y
        line = self.rows.row(row) if self.rows else None
        if line is None:
            return Strip.blank(width, base)
        if row == self.row:
            base += self.get_component_rich_style("log--cursor", partial=True)
        kind = "" if line.piece else self.marks.get(line.start, "")
        mark = self.get_component_rich_style(f"log--{kind}", partial=True) if kind else Style.null()
        number = "+" if line.piece else str(line.number)
        room = self._gutter - 5
        segments = [
            Segment(f"{MARKS.get(kind, ' ')} ", base + mark),
            Segment(f"{number:>{room}} ", base + self.get_component_rich_style("log--number", partial=True)),
            Segment("│ ", base + mark + self.get_component_rich_style("log--number", partial=True)),
            *self._text(line, base, mark, width - self._gutter),
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _text(self, line: Line, base: Style, mark: Style, width: int) -> list[Segment]:
        """Return the visible part of a row."""
        prefix, body = _prefix(line), shown(line.text)
        text = prefix + body
        self._see(text)
        left = round(self.scroll_offset.x)
        begin, inside = _index(text, left)
        end, _ = _index(text[begin:], width + inside)
        end += begin + 1
        plain = base + (mark if mark.bold else Style.null())
        styles = [base + self.get_component_rich_style("log--prefix", partial=True)] * len(prefix[begin:end])
        styles += [plain] * (len(text[begin:end]) - len(styles))

        def paint(start: int, stop: int, name: str) -> None:
            style = self.get_component_rich_style(f"log--{name}", partial=True)
            for i in range(max(start - begin, 0), min(stop - begin, len(styles))):
                styles[i] += style

        if self.with_codes and begin < _CODED:
            for code in find_codes(body[:_CODED]):
                paint(code.start + len(prefix), code.end + len(prefix), "code")
        if self.query_text:
            for start, stop in found_in(body, self.query_text):
                paint(start + len(prefix), stop + len(prefix), "found")
        shown_text = text[begin:end]
        segments, at = [], 0
        for i in range(1, len(styles) + 1):
            if i == len(styles) or styles[i] != styles[at]:
                segments.append(Segment(shown_text[at:i], styles[at]))
                at = i
        # A wide character that is cut at the left edge leaves a blank.
        if inside and segments:
            strip = Strip(segments)
            segments = list(strip.crop(inside, strip.cell_length))
        return segments

    def _see(self, text: str) -> None:
        """Make the view as wide as the widest row that was seen."""
        width = len(text) if text.isascii() else cell_len(text)
        if width > self._widest:
            self._widest = width
            self.call_later(self.grow)


def _prefix(line: Line) -> str:
    """Return time and stream that the carriers of the log wrote in front of the row."""
    told = " ".join(part for part in (line.time, line.stream) if part)
    return shown(told) + " " if told and not line.piece else ""


def _index(text: str, cells: int) -> tuple[int, int]:
    """Return the character at a cell, and how many of its cells are to the left; the end if the text is shorter."""
    if text.isascii():
        return min(max(cells, 0), len(text)), 0
    at = 0
    for i, char in enumerate(text):
        size = get_character_cell_size(char)
        if at + size > cells:
            return i, cells - at
        at += size
    return len(text), 0
