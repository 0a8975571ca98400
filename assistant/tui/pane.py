"""What every area of the window is."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical
from textual.widget import Widget

from assistant.tui.breaking import break_chinese
from assistant.tui.words import Words, words

if TYPE_CHECKING:
    from assistant.tui.services import Services
    from kb.types import Lang

__all__ = ["Pane"]


class Pane(Vertical):
    """An area: it shows values, and asks `services` in workers for everything that takes time.

    Subclasses compose their widgets from `self.say`, and implement the methods below.
    """

    AREA: ClassVar[str] = ""
    """Its name: of its texts, its state, and the prefix of its action ids."""

    def __init__(self, services: "Services", lang: "Lang", saved: dict[str, Any]) -> None:
        break_chinese()
        super().__init__(id=self.AREA)
        self.services = services
        self.lang: Lang = lang
        self.say: Words = words(self.AREA, lang)
        self.restored = saved
        """What `state` gave at the last end; the pane restores from it when it is mounted."""

    def speak(self, lang: "Lang") -> None:
        """Change the language of everything on the pane, keeping what it shows."""
        self.lang = lang
        self.say = words(self.AREA, lang)
        self.label_keys()
        self.relabel()

    def label_keys(self) -> None:
        """Name the keys of the area in the language; the texts have a label for every action id."""
        keys = self._bindings.key_to_bindings
        for key, bound in list(keys.items()):
            keys[key] = [
                replace(one, description=self.say(one.id.replace(".", "_"))) if one.id else one for one in bound
            ]
        self.refresh_bindings()

    def relabel(self) -> None:
        """Set every label, title and placeholder from `self.say` again."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return what to restore at the next start, as JSON values."""
        return {}

    def first_focus(self) -> Widget | None:
        """Return the widget that has the focus when the area is entered."""
        return None

    def help(self) -> str:
        """Return Markdown about the area, for the help screen."""
        return self.say("help")
