"""The keys of the area, and how it is laid out."""

from typing import Final

from textual.binding import Binding

__all__ = ["CSS", "KEYS", "WITH_LOG"]

CSS: Final = """
    LogsPane #logs-status { height: 1; padding: 0 1; background: $surface; text-overflow: ellipsis; text-wrap: nowrap; }
    LogsPane #logs-start { height: 1fr; border: none; padding: 1 2; background: $background; display: none; }
    LogsPane #logs-body { height: 1fr; }
    LogsPane #logs-list { width: 34%; min-width: 26; max-width: 52; height: 1fr; padding: 0; background: $background; }
    LogsPane #logs-right { width: 1fr; height: 1fr; }
    LogsPane #logs-view { height: 2fr; }
    LogsPane #logs-detail-box { height: 1fr; min-height: 5; background: $background; scrollbar-size-vertical: 1; }
    LogsPane #logs-detail { padding: 0 1; height: auto; }
    LogsPane #logs-code { height: 1; padding: 0 1; background: $surface; text-overflow: ellipsis; text-wrap: nowrap; }
    LogsPane #logs-find { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    LogsPane #logs-find.shown { display: block; }
    LogsPane #logs-list, LogsPane #logs-view, LogsPane #logs-detail-box {
        border: none; border-top: solid $panel; border-title-color: $text-muted; border-title-align: left;
        border-subtitle-color: $text-muted; }
    LogsPane #logs-list:focus, LogsPane #logs-view:focus, LogsPane #logs-detail-box:focus {
        border-top: solid $primary; border-title-color: $primary; border-title-style: bold; }
    LogsPane #logs-list { border-right: solid $panel; scrollbar-size-vertical: 1; }
    LogsPane OptionList > .option-list--option-highlighted {
        background: $panel; color: $foreground; text-style: none; }
    LogsPane OptionList:focus { background-tint: $foreground 0%; }
    LogsPane OptionList:focus > .option-list--option-highlighted {
        background: $primary 35%; color: $foreground; text-style: none; }
    LogsPane OptionList > .option-list--option-disabled { color: $text-muted; }
    LogsPane.empty #logs-body { display: none; }
    LogsPane.empty #logs-start { display: block; }
    LogsPane.plain #logs-detail-box { display: none; }
"""


def _key(keys: str, action: str, *, name: str = "", show: bool = False) -> Binding:
    return Binding(keys, action, action, show=show, id=f"logs.{name or action}")


#: Actions that need a log.
WITH_LOG: Final = frozenset({"step", "find", "export", "ask", "codes", "edge", "line", "log", "entry", "details"})

#: The footer has room for few; help and palette tell all.
KEYS: Final = (
    _key("o", "open", show=True),
    _key("p,ctrl+v", "paste", show=True),
    _key("f", "follow"),
    _key("n", "step(1)", name="next", show=True),
    _key("N", "step(-1)", name="previous"),
    _key("slash", "find", show=True),
    _key("x", "export", show=True),
    _key("a", "ask", show=True),
    _key("c,enter", "codes"),
    _key("g", "edge(-1)", name="top"),
    _key("G", "edge(1)", name="bottom"),
    _key("colon,ctrl+g", "line"),
    _key("left_square_bracket", "log(-1)", name="log_before"),
    _key("right_square_bracket", "log(1)", name="log_after"),
    _key("d", "details"),
    _key("e", "entry"),
    _key("r", "redact"),
    _key("escape", "stop"),
)
