"""The reader: painted lines in a scroll view, with the matches of a search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from assistant.tui.cells import styled
from assistant.tui.library.finding import Match, find
from assistant.tui.painted import Painted

__all__ = ["Reader"]

_NOTHING = Painted((), (), {}, ())


class Reader(ScrollView, can_focus=True):
    """Shows a page, and marks the matches of a text in it; knows nothing of where the page comes from."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"reader--match", "reader--current", "reader--link"}
    DEFAULT_CSS = """
    Reader { width: 1fr; height: 1fr; padding: 0 1; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
             border-left: solid $panel; }
    Reader:focus { border-left: heavy $primary; }
    Reader > .reader--match { text-style: underline bold; color: $warning; }
    Reader > .reader--current { text-style: reverse bold; color: $warning; }
    Reader > .reader--link { text-style: reverse bold; color: $primary; }
    """

    class Resized(Message):
        """The width for text changed; the page must be painted again."""

    @dataclass
    class Followed(Message):
        """A link is wanted."""

        target: str

    class LinkChosen(Message):
        """Another link is chosen, or none."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.page = _NOTHING
        self.wanted = ""
        """The text whose matches are marked; "" if none is."""
        self.matches: list[Match] = []
        self.current = -1
        self.link = -1
        """The link of the page that is chosen; -1 if none is."""
        self._parts: dict[int, list[tuple[int, int, bool]]] = {}
        self._width = 0

    @property
    def text_width(self) -> int:
        """Cells for text; the scrollbar always has its place."""
        return max(8, self.outer_size.width - self.styles.gutter.width - self.styles.scrollbar_size_vertical)

    @property
    def line(self) -> int:
        """First line that is visible."""
        return self.scroll_offset.y

    def show(self, page: Painted, line: int, link: int = -1) -> None:
        """Show a page from a line on, a link chosen; the text that was wanted in the last one is marked in it."""
        self.page, self.link = page, min(link, len(page.links) - 1)
        self.virtual_size = Size(1, len(page.strips))
        self.go(line)
        self._mark(find(page.texts, self.wanted), max(0, self.current))

    def go(self, line: int) -> None:
        """Put a line at the top."""
        self.scroll_to(y=max(0, line), animate=False, force=True, immediate=True)

    def find(self, wanted: str) -> None:
        """Mark the matches of a text; the current one is the first that is not above the top. "" ends that."""
        self.wanted = wanted
        matches = find(self.page.texts, wanted)
        self._mark(matches, next((i for i, one in enumerate(matches) if one.line >= self.line), 0))

    def step(self, step: int) -> None:
        """Go to a match after or before the current one, around the ends."""
        if self.matches:
            self._mark(self.matches, (self.current + step) % len(self.matches))

    def step_link(self, step: int) -> None:
        """Choose the link after (1) or before (-1) the chosen one, around the ends, or else the first one in sight."""
        links = self.page.links
        if not links:
            return
        top, bottom = self.line, self.line + self.size.height
        if self.link >= 0 and top <= links[self.link].line < bottom:
            chosen = (self.link + step) % len(links)
        elif step > 0:
            chosen = next((i for i, one in enumerate(links) if one.line >= top), 0)
        else:
            chosen = next((i for i in reversed(range(len(links))) if links[i].line < bottom), len(links) - 1)
        self.choose_link(chosen)

    def choose_link(self, link: int) -> None:
        """Choose a link and bring it into view; -1 chooses none."""
        self.link = link
        if link >= 0:
            self._into_view(self.page.links[link].line)
        self.refresh()
        self.post_message(self.LinkChosen())

    def follow(self) -> bool:
        """Ask for what the chosen link leads to; return whether one is chosen."""
        if self.link >= 0:
            self.post_message(self.Followed(self.page.links[self.link].target))
        return self.link >= 0

    def on_click(self, event: Click) -> None:
        """Follow the link that was clicked."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = self.line + offset.y
        for number, link in enumerate(self.page.links):
            if any(at == line and start <= offset.x < end for at, start, end in link.parts):
                self.choose_link(number)
                self.follow()

    def _into_view(self, line: int) -> None:
        if not self.line <= line < self.line + self.size.height - 1:
            self.go(line - self.size.height // 3)

    def _mark(self, matches: Sequence[Match], current: int) -> None:
        """Mark matches, one of them as the current one, and bring that into view."""
        self.matches, self.current = list(matches), min(current, len(matches) - 1)
        self._parts = {}
        for number, match in enumerate(self.matches):
            for line, start, end in match.parts:
                self._parts.setdefault(line, []).append((start, end, number == self.current))
        if self.matches:
            self._into_view(self.matches[self.current].line)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line of the screen."""
        width, number = self.size.width, self.scroll_offset.y + y
        if not 0 <= number < len(self.page.strips):
            return Strip.blank(width, self.rich_style)
        strip = self.page.strips[number]
        for start, end, is_current in self._parts.get(number, ()):
            style = self.get_component_rich_style("reader--current" if is_current else "reader--match", partial=True)
            strip = styled(strip, start, end, style)
        for line, start, end in self.page.links[self.link].parts if self.link >= 0 else ():
            if line == number:
                strip = styled(strip, start, end, self.get_component_rich_style("reader--link", partial=True))
        return strip.apply_style(self.rich_style).adjust_cell_length(width, self.rich_style)

    def on_resize(self) -> None:
        """Ask for a new layout if the width changed."""
        if self.text_width != self._width:
            self._width = self.text_width
            self.post_message(self.Resized())
