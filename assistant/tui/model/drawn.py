"""Text that is made for the width it gets."""

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

__all__ = ["Drawn"]


class Drawn(Widget):
    """Is as high as what it draws at the width it gets.

    What is as high as what it drew at the width it had, has lines too many, or too few, after its width changed.
    """

    DEFAULT_CSS = "Drawn { height: auto; }"

    def drawn(self, width: int) -> Content:
        """Return the lines for a width."""
        raise NotImplementedError

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines there are at a width."""
        return self.drawn(width).get_height(self.styles.get_rules(), width) if width else 0

    def render(self) -> Content:
        """Draw for the width there is."""
        return self.drawn(self.size.width)
