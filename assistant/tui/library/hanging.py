"""Lines of a list: a mark and a text, which goes on below itself where it is too long."""

from collections.abc import Iterator, Sequence

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

__all__ = ["Hanging"]

Row = tuple[Content, Content]
"""Mark and text."""


class Hanging(Visual):
    """Shows rows one below the other."""

    def __init__(self, *rows: Row) -> None:
        self._rows: Sequence[Row] = rows

    def __str__(self) -> str:
        return "\n".join(f"{mark.plain}{text.plain}" for mark, text in self._rows)

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return the lines for a width."""
        return [*self._strips(width, style, options)][:height]

    def _strips(self, width: int, style: Style, options: RenderOptions) -> Iterator[Strip]:
        for mark, text in self._rows:
            before = mark.render_strips(max(1, mark.cell_length), 1, style, options) if mark else []
            for line in text.render_strips(_room(mark, width), None, style, options):
                indent = Strip.blank(mark.cell_length, style.rich_style)
                yield Strip.join([before.pop() if before else indent, line])

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the width that breaks no row."""
        return max((mark.cell_length + text.cell_length for mark, text in self._rows), default=0)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the number of lines for a width."""
        return sum(text.get_height(rules, _room(mark, width)) for mark, text in self._rows)


def _room(mark: Content, width: int) -> int:
    return max(1, width - mark.cell_length)
