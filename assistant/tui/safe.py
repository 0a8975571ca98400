"""Text from outside as content: shown as it is, never read as markup, control characters made visible."""

from textual.content import Content

from assistant.plain import printable

__all__ = ["one_line", "plain"]


def plain(text: str, style: str = "") -> Content:
    """Return text that a widget shows character by character."""
    return Content.styled(printable(text), style) if style else Content(printable(text))


def one_line(text: str) -> str:
    """Return a name from outside on one line."""
    return printable(text).replace("\n", "\\u000a").replace("\t", "\\u0009")
