"""The keys of the area, and how it is laid out."""

from typing import Final

from textual.binding import Binding

__all__ = ["CSS", "KEYS", "WIDE"]

#: Columns from which the list stands at the left of the answer.
WIDE: Final = 110

CSS: Final = """
    AskPane #ask-box { height: 3; border: round $primary-muted; background: transparent; padding: 0 1; }
    AskPane #ask-box:focus { border: round $primary; }
    AskPane #ask-bar { height: 1; padding: 0 1; }
    AskPane #ask-body { height: 1fr; layout: vertical; }
    AskPane #ask-list { max-height: 5; margin: 0 1; padding: 0 1; }
    AskPane #ask-main { height: 1fr; }
    AskPane #ask-head { height: 1; padding: 0 2; background: $panel; text-wrap: nowrap; text-overflow: ellipsis; }
    AskPane #ask-reader { height: 1fr; }
    AskPane #ask-reader:focus { background: $surface; }
    AskPane.-wide #ask-body { layout: horizontal; }
    AskPane.-wide #ask-list { width: 44; height: 1fr; max-height: 100%; margin: 0 0 0 1; }
    AskPane.-wide #ask-list { text-wrap: wrap; }
    AskPane.-abstained #ask-list { display: none; }
    AskPane.-empty #ask-list, AskPane.-empty #ask-head { display: none; }
    AskPane.-empty #ask-reader { padding: 1 2; }
"""


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
