"""An app with the themes of the window: they come in slices, and their styles are parsed while nobody uses it."""

from typing import Any

from textual import work
from textual.app import App
from textual.dom import DOMNode

from assistant.tui.styles import Styles, restyle, seen
from assistant.tui.themes import THEMES, variables

__all__ = ["Themed"]


class Themed(App[int]):
    """Shows one of THEMES."""

    def __init__(self, theme: object) -> None:
        super().__init__()
        for one in THEMES:
            self.register_theme(one)
        self.theme = theme if isinstance(theme, str) and theme in {one.name for one in THEMES} else THEMES[0].name
        self.stylesheet: Styles = Styles(self.get_css_variables())
        self.is_whole = False
        """Whether all has been made that the start shows; until then a theme comes at once."""

    def action_next_theme(self) -> None:
        """Change to the next theme: dark, light, high contrast."""
        names = [theme.name for theme in THEMES]
        place = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(place + 1) % len(names)]

    def refresh_css(self, animate: bool = True) -> Any:  # noqa: ANN401 (Textual gives it to `invoke`, which awaits it)
        """Put on a theme, in slices."""
        if not self.is_whole:
            return super().refresh_css(animate)
        self.stylesheet.set_variables(self.get_css_variables())
        self.stylesheet.reparse()
        return self._restyle()

    async def _restyle(self) -> None:
        """Style what is seen, and let a worker style the rest: areas that are hidden, screens below this one."""
        first: list[DOMNode] = [self, *seen(self.screen)]
        with self.batch_update():
            await restyle(self.stylesheet, first)
        # Textual lays out the screen again; here a widget asks for it if a rule of its layout has changed.
        self.screen.refresh()
        done = {*first}
        rest = [one for screen in self.screen_stack for one in screen.walk_children(with_self=True) if one not in done]
        self.run_worker(restyle(self.stylesheet, rest), group="window.theme", exclusive=True)

    def learn_themes(self) -> None:
        """Parse in a thread what is not yet parsed of the styles of all themes."""
        known = self.get_theme_variable_defaults()
        ahead = [self.stylesheet.ahead(variables(theme, known)) for theme in THEMES]
        if new := [one for one in ahead if one is not None]:
            self._learn(new)

    @work(thread=True, exclusive=True, group="window.styles")
    def _learn(self, ahead: list[Styles]) -> None:
        for one in ahead:
            one.parse()
            self.call_from_thread(self.stylesheet.take, one)
