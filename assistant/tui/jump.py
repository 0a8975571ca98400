"""Jumping: a letter above everything that can have the focus; pressing it, or a click, puts the focus there."""

from itertools import product
from string import ascii_lowercase
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.errors import NoWidget
from textual.events import Click, Key
from textual.geometry import Offset, Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["JumpScreen", "jump", "names"]

_LETTERS = "asdfghjkl" + "".join(one for one in ascii_lowercase if one not in "asdfghjkl")
"""Those under the fingers come first."""


def jump(app: App[Any], say: Words) -> None:
    """Start jumping, or leave it again."""
    if isinstance(app.screen, JumpScreen):
        app.screen.dismiss(None)
    elif not isinstance(app.screen, CommandPalette):
        app.push_screen(JumpScreen(app.screen, say), _focus)


def _focus(target: Widget | None) -> None:
    if target is not None and target.is_attached and target.focusable:
        target.focus()


def names(count: int) -> list[str]:
    """Return short names, none of which begins another."""
    length = 1
    while len(_LETTERS) ** length < count:
        length += 1
    return ["".join(one) for one, _ in zip(product(_LETTERS, repeat=length), range(count), strict=False)]


def targets(screen: Screen[Any]) -> list[tuple[Widget, Offset]]:
    """Return what can have the focus and is in sight, with its first visible cell, in the order of the tab key."""
    found = []
    for widget in screen.focus_chain:
        try:
            region = screen.find_widget(widget).visible_region
        except NoWidget:
            continue
        if region:
            found.append((widget, region.offset))
    return found


class Label(Static):
    """The name of one target."""

    def __init__(self, name: str, target: Widget) -> None:
        super().__init__(plain(f" {name} "), markup=False)
        self.letters, self.target = name, target

    def on_click(self, event: Click) -> None:
        """Take it."""
        event.stop()
        self.screen.dismiss(self.target)


class JumpScreen(ModalScreen[Widget | None]):
    """Names above another screen; gives back the widget that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False, priority=True)]
    DEFAULT_CSS = """
    JumpScreen { background: $background 40%; }
    JumpScreen Label { position: absolute; width: auto; height: 1; background: $accent; color: $background;
                       text-style: bold; }
    JumpScreen .told { dock: bottom; width: 1fr; height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, below: Screen[Any], say: Words) -> None:
        super().__init__()
        self.below, self.say = below, say
        self.typed = ""
        self._size_of_names = Size(0, 0)

    def compose(self) -> ComposeResult:
        """Lay out the names, and what to do with them."""
        self.typed, self._size_of_names = "", self.app.size
        found = targets(self.below)
        taken: set[Offset] = set()
        for name, (widget, place) in zip(names(len(found)), found, strict=True):
            label = Label(name, widget)
            label.styles.offset = _free(place, len(name) + 2, taken, self.app.size.width)
            yield label
        yield Static(plain(self.say("jump_told")), classes="told", markup=False)

    def on_mount(self) -> None:
        """Leave when another area is entered below."""
        self.watch(self.app, "area", self._leave, init=False)

    def _leave(self) -> None:
        self.dismiss(None)

    def on_resize(self) -> None:
        """Name what is in sight now."""
        if self.size != self._size_of_names:
            self.call_after_refresh(self.recompose)

    def on_key(self, event: Key) -> None:
        """Take the target whose name is typed; nothing that is typed reaches the screen below."""
        event.stop()
        event.prevent_default()
        letter = (event.character or "").lower()
        labels = [*self.query(Label)]
        typed = (
            self.typed + letter if letter and any(one.letters.startswith(self.typed + letter) for one in labels) else ""
        )
        for label in labels:
            if typed and label.letters == typed:
                self.dismiss(label.target)
                return
            label.display = label.letters.startswith(typed)
        self.typed = typed

    def on_click(self) -> None:
        """Leave by a click beside the names."""
        self.dismiss(None)


def _free(place: Offset, width: int, taken: set[Offset], room: int) -> Offset:
    """Return a place for a label, right of those that begin in the same cell; remember its cells as taken."""
    x = min(place.x, max(0, room - width))
    while any(Offset(x + i, place.y) in taken for i in range(width)) and x + 1 < room:
        x += 1
    taken.update(Offset(x + i, place.y) for i in range(width))
    return Offset(x, place.y)
