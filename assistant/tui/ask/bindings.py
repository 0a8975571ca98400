"""The keys of the area."""

from typing import Final

from textual.binding import Binding

__all__ = ["KEYS"]


def _key(keys: str, action: str, *, show: bool = False) -> Binding:
    return Binding(keys, action, action, show=show, id=f"ask.{action}")


#: The footer has room for few; help and palette tell all.
KEYS: Final = (
    _key("enter", "ask"),
    _key("ctrl+o", "source", show=True),
    _key("ctrl+y", "copy", show=True),
    _key("ctrl+r", "why", show=True),
    _key("ctrl+b", "whole", show=True),
    _key("ctrl+g", "platform"),
    _key("ctrl+n", "answer_language"),
    _key("f7", "good"),
    _key("f8", "bad"),
    _key("f9", "edit"),
    _key("alt+left", "back"),
    _key("alt+right", "forward"),
    _key("down", "list"),
    _key("pageup", "page_up"),
    _key("pagedown", "page_down"),
    _key("escape", "cancel"),
)
