"""The page before anything is read: what can be done, and what was read lately."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from assistant.tui.safe import plain
from assistant.tui.words import Words

__all__ = ["Start"]

_ACTIONS = (("open", "o"), ("paste", "p"), ("follow", "f"))


class Start(OptionList):
    """Options named `do-ACTION`, and `recent-PLACE` for what was read lately."""

    def show(self, say: Words, recent: Sequence[str]) -> None:
        """Show the page; the same option stays chosen."""
        at = self.highlighted
        options = [Option(plain(f"{say('start')}\n", "$text-muted"), disabled=True)]
        for name, key in _ACTIONS:
            text = [plain(f"  {key}  ", "bold $accent"), plain(say(f"logs_{name}"), "bold")]
            about = plain(f"\n     {say(f'about_logs_{name}')}", "$text-muted")
            options.append(Option(Content("").join([*text, about]), id=f"do-{name}"))
        if recent:
            options.append(Option(plain(f"\n{say('recent')}", "$text-muted"), disabled=True))
            options += [Option(plain(f"  ↺  {path}"), id=f"recent-{i}") for i, path in enumerate(recent)]
        self.clear_options()
        self.add_options(options)
        self.highlighted = 1 if at is None else at
