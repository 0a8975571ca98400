"""Text from outside as content: shown as it is, never read as markup, control characters made visible."""

from textual.content import Content

from assistant.plain import printable

__all__ = ["plain"]


def plain(text: str, style: str = "") -> Content:
    """Return text that a widget shows character by character."""
    return Content.styled(printable(text), style) if style else Content(printable(text))
