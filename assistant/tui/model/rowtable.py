"""A table of any number of rows: only those on the screen are drawn, so that ten thousand are as quick as ten."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from assistant.tui.model.names import padded

__all__ = ["Column", "RowTable"]

Column = tuple[str, int, bool]
"""Title, cells, and whether it holds numbers, which stand at its right."""
_SIDEWAYS = 8


class RowTable(ScrollView, can_focus=True):
    """Shows cells it is given; the head and the first column stay in view, the cursor is a row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--head", "rows--cursor", "rows--odd", "rows--first"}
    DEFAULT_CSS = """
    RowTable { background: $surface; color: $foreground; scrollbar-size-horizontal: 1; }
    RowTable > .rows--head { background: $panel; text-style: bold; }
    RowTable > .rows--odd { background: $surface-lighten-1 50%; }
    RowTable > .rows--first { text-style: bold; }
    RowTable > .rows--cursor { background: $block-cursor-blurred-background; text-style: bold; }
    RowTable:focus > .rows--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home,ctrl+home,g", "edge(-1)", show=False),
        Binding("end,ctrl+end,G", "edge(1)", show=False),
        Binding("left", "sideways(-1)", show=False),
        Binding("right", "sideways(1)", show=False),
    ]

    row: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor is on a row."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    class HeadClicked(Message):
        """The title of a column was clicked."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns: Sequence[Column] = ()
        self.row_count = 0
        self._cells: Callable[[int], Sequence[str]] = lambda _: ()

    def show(self, columns: Sequence[Column], count: int, cells: Callable[[int], Sequence[str]], *, row: int) -> None:
        """Show other rows.

        Args:
            columns: of the table.
            count: of rows.
            cells: returns the cells of a row.
            row: where the cursor is.
        """
        self.columns, self.row_count, self._cells = columns, count, cells
        self.virtual_size = Size(sum(width + 2 for _, width, _ in columns), count + 1)
        self.set_reactive(RowTable.row, -1)
        self.go(row)
        self.refresh()

    def go(self, row: int) -> None:
        """Put the cursor on a row and bring it into view."""
        self.row = max(0, min(row, self.row_count - 1))
        height = max(self.scrollable_content_region.height - 1, 1)
        top = round(self.scroll_offset.y)
        top = min(max(top, self.row - height + 1), self.row)
        self.scroll_to(y=top, animate=False, immediate=True)

    def watch_row(self, old: int, new: int) -> None:
        """Draw the cursor anew and tell about it."""
        top = round(self.scroll_offset.y) - 1
        for row in (old, new):
            self.refresh(Region(0, row - top, self.size.width, 1))
        if self.row_count:
            self.post_message(self.Moved(new))

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.go(self.row)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.go(self.row + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        self.go(self.row + by * max(self.scrollable_content_region.height - 2, 1))

    def action_edge(self, by: int) -> None:
        """Go to the first row or the last."""
        self.go(self.row_count if by > 0 else 0)

    def action_sideways(self, by: int) -> None:
        """Scroll left or right."""
        self.scroll_to(x=max(self.scroll_offset.x + by * _SIDEWAYS, 0), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is, or tell whose title is there."""
        place = event.get_content_offset(self)
        if place is None or place.y >= self.scrollable_content_region.height:
            return
        if place.y:
            row = round(self.scroll_offset.y) + place.y - 1
            if row < self.row_count:
                self.go(row)
            return
        column = self._column_at(place.x)
        if column is not None:
            self.post_message(self.HeadClicked(column))

    def _column_at(self, x: int) -> int | None:
        """Return the column at a cell of the widget."""
        first = self.columns[0][1] + 2 if self.columns else 0
        at = x if x < first else x + round(self.scroll_offset.x)
        for i, (_, width, _) in enumerate(self.columns):
            at -= width + 2
            if at < 0:
                return i
        return None

    def render_line(self, y: int) -> Strip:
        """Return a line of the screen: the head, or a row."""
        width, row = self.scrollable_content_region.width, round(self.scroll_offset.y) + y - 1
        base = self.rich_style
        if not self.columns or (y and row >= self.row_count):
            return Strip.blank(self.size.width, base)
        if y == 0:
            cells: Sequence[str] = [title for title, _, _ in self.columns]
            base += self._style("head")
        else:
            cells = self._cells(row)
            base += self._style("odd") if row % 2 else Style.null()
        first = base + self._style("first") if y else base
        if y and row == self.row:
            base += self._style("cursor")
            first = base
        shown = [_cell(cell, column) for cell, column in zip(cells, self.columns, strict=True)]
        fixed = min(self.columns[0][1] + 2, width)
        left = round(self.scroll_offset.x)
        rest = Strip([Segment("".join(shown[1:]), base)])
        parts = [
            Strip([Segment(shown[0], first)]).crop_extend(0, fixed, base),
            rest.crop_extend(left, left + max(width - fixed, 0), base),
        ]
        return Strip.join(parts).extend_cell_length(self.size.width, base)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"rows--{name}", partial=True)


def _cell(text: str, column: Column) -> str:
    """Return the text of a cell with a space at each side."""
    _, width, is_number = column
    return f" {text:>{width}} " if is_number and text.isascii() else f" {padded(text, width)} "
