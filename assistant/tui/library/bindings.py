"""The keys of the area by the ids of their actions; the footer shows those that matter."""

from textual.binding import Binding, BindingType

__all__ = ["BINDINGS", "action_of"]


def _key(key: str, name: str, action: str = "", *, show: bool = False) -> Binding:
    return Binding(key, action or name, name, show=show, id=f"library.{name}")


BINDINGS: list[BindingType] = [
    # Those of a card come first: where the footer is short the last ones give way.
    _key("space", "reveal", show=True),
    _key("1", "knew", "mark('known')", show=True),
    _key("2", "not_yet", "mark('learning')", show=True),
    _key("space", "page"),
    _key("slash", "find", show=True),
    _key("n", "find_next", "find_step(1)"),
    _key("N", "find_previous", "find_step(-1)"),
    _key("t", "contents", show=True),
    _key("g", "glossary", show=True),
    _key("l", "link", "step_link(1)"),
    _key("L", "link_before", "step_link(-1)"),
    _key("enter", "follow"),
    _key("z", "twin"),
    _key("p", "learn", show=True),
    _key("left_square_bracket,alt+left", "back", "travel(-1)"),
    _key("right_square_bracket,alt+right", "forward", "travel(1)"),
    _key("comma", "previous", "step(-1)"),
    _key("full_stop", "next", "step(1)"),
    _key("d", "whole"),
    _key("m", "bookmark"),
    _key("M", "bookmarks"),
    _key("c", "copy"),
    _key("e", "edit"),
    _key("s", "side"),
    _key("j", "down", "scroll_line(1)"),
    _key("k", "up", "scroll_line(-1)"),
    _key("escape", "cancel"),
]


def action_of(name: str) -> str:
    """Return the action of a key by its name, the part of its id after the dot."""
    return next(one.action for one in BINDINGS if isinstance(one, Binding) and one.id == f"library.{name}")
