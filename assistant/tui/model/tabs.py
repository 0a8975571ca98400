"""The six tabs of results: which is shown, where the focus goes, and what each of them shows."""

from typing import Any, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static, TabbedContent, TabPane

from assistant.tui.model.beside import Beside
from assistant.tui.model.charts import Charts
from assistant.tui.model.fixed import Fix
from assistant.tui.model.layers import Layers
from assistant.tui.model.totals import Totals
from assistant.tui.model.unsupported import Unsupported
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["TABS", "Results"]

TABS: Final = ("totals", "layers", "unsupported", "charts", "fixed", "compare")
_KINDS: Final[dict[str, type[Totals | Layers | Unsupported | Charts]]] = {
    "totals": Totals, "layers": Layers, "unsupported": Unsupported, "charts": Charts,
}  # fmt: skip
_FOCUSED: Final = {
    "totals": "Totals", "layers": "#layers", "unsupported": "#unsupported", "charts": "Charts", "fixed": "#fix-out",
    "compare": "#beside",
}  # fmt: skip


class Results(Vertical):
    """Shows estimates; before the first one, what the area is for.

    A tab that is not seen is laid out when it is entered: what a model has on all of them is more than one turn of the
    loop should draw.
    """

    DEFAULT_CSS = """
    Results { height: 1fr; }
    Results TabbedContent { height: 1fr; }
    Results TabPane { padding: 0; height: 1fr; }
    Results ContentSwitcher { height: 1fr; }
    Results #model-start { height: 1fr; margin: 1 2; }
    """

    def __init__(self, say: Words, lang: Lang) -> None:
        super().__init__()
        self.say = say
        self.lang: Lang = lang
        self.models: list[dict[str, Any]] = []
        """The estimates that are shown: none, one, or two side by side."""
        self._stale: set[str] = set()
        """Tabs that show something else than `models` in `lang`."""

    def compose(self) -> ComposeResult:
        """Lay out the tabs."""
        yield Static(id="model-start", markup=False)
        with TabbedContent(id="model-tabs"):
            for tab, kind in zip(TABS[:4], (Totals, Layers, Unsupported, Charts), strict=True):
                with TabPane(tab, id=f"tab-{tab}"):
                    yield kind()
            with TabPane("fixed", id="tab-fixed"):
                yield Fix(self.say)
            with TabPane("compare", id="tab-compare"):
                yield Beside()

    @property
    def tab(self) -> str:
        """The tab that is shown."""
        return self._tabs.active.removeprefix("tab-")

    @property
    def _tabs(self) -> TabbedContent:
        return self.query_one("#model-tabs", TabbedContent)

    def show(self, models: list[dict[str, Any]], say: Words, lang: Lang) -> None:
        """Show estimates in a language."""
        self.models, self.say, self.lang = models, say, lang
        self.query_one("#model-start", Static).update(plain(say("start")))
        self._welcome()
        counts = {"layers": len(models[0]["layers"]), "unsupported": len(models[0]["unsupported"])} if models else {}
        for number, tab in enumerate(TABS, start=1):
            more = f" {counts[tab]}" if counts.get(tab) else ""
            self._tabs.get_tab(f"tab-{tab}").label = f"{number} {say(f'model_{tab}')}{more}"
        self._stale = set(TABS) - {"fixed"}
        self._draw()

    def _draw(self) -> None:
        """Show on the tab that is seen what it should show."""
        tab = self.tab
        if not self.models or tab not in self._stale:
            return
        self._stale.discard(tab)
        if tab == "compare":
            self.query_one(Beside).show(self.models, self.lang, self.say)
            return
        self.query_one(_KINDS[tab]).show(self.models[0], self.lang, self.say)

    def _welcome(self) -> None:
        is_empty = not self.models and self.tab == TABS[0]
        self.query_one("#model-start").display, self._tabs.display = is_empty, not is_empty

    def outdate(self, is_old: bool) -> None:
        """Show that the results belong to other fields than those filled in, or that they do not."""
        self._tabs.styles.opacity = 0.6 if is_old and self.models else 1.0

    def enter(self, tab: str, *, focus: bool = True) -> None:
        """Show a tab, and focus what is on it."""
        if focus:
            # The focus leaves what is about to be hidden first; otherwise the screen moves it on its own, later.
            self.screen.set_focus(self.query_one("#model-tabs Tabs"))
        self._tabs.active = f"tab-{tab}"
        self._draw()
        if focus:
            self.call_after_refresh(self.focus_tab)

    def focus_tab(self) -> None:
        """Focus what is on the tab."""
        widget = self.query_one(_FOCUSED[self.tab])
        (widget if widget.display and widget.focusable else self.query_one("#model-tabs Tabs")).focus()

    def find(self) -> None:
        """Search the layers."""
        if self.models:
            self.enter("layers", focus=False)
            self.query_one(Layers).open()

    def clear(self) -> bool:
        """Show all layers again, if that is the tab; return whether some were not shown."""
        return self.tab == "layers" and self.query_one(Layers).clear()

    def sort(self) -> None:
        """Sort the layers by the next column."""
        self.enter("layers")
        self.query_one(Layers).sort_next()

    def reverse(self) -> None:
        """Sort the layers the other way round."""
        self.enter("layers")
        layers = self.query_one(Layers)
        layers.sort(layers.by, reverse=not layers.is_reversed)

    @on(TabbedContent.TabActivated)
    def _other_tab(self, event: TabbedContent.TabActivated) -> None:
        event.stop()
        self._welcome()
        self._draw()
