"""The window: its areas, what holds for all of them, and nothing of what they do."""

import asyncio
import importlib
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.containers import Horizontal
from textual.css.query import NoMatches
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import MountError
from textual.widgets import ContentSwitcher

from assistant.tui import garbage, state
from assistant.tui.frame import Keys, Tabs
from assistant.tui.keys import keymap, keys_file
from assistant.tui.pane import Pane
from assistant.tui.services import Services
from assistant.tui.themed import Themed
from assistant.tui.themes import THEMES
from assistant.tui.words import words

if TYPE_CHECKING:
    from kb.types import Lang

__all__ = ["AREAS", "Window"]

#: Areas in the order of their keys F2 ... F6: name -> (module, class). A module is imported when its area is entered.
AREAS: dict[str, tuple[str, str]] = {
    "ask": ("assistant.tui.ask.pane", "AskPane"),
    "logs": ("assistant.tui.logs.pane", "LogsPane"),
    "model": ("assistant.tui.model.pane", "ModelPane"),
    "lab": ("assistant.tui.lab.pane", "LabPane"),
    "library": ("assistant.tui.library.pane", "LibraryPane"),
}

_LOOK_S = 1.0
"""How often the window looks whether it rests."""
_REST_S = 2.0
"""It rests when nobody has touched it for so long."""


class Window(Themed):
    """The application."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "asknpu"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(f"f{i}", f"enter('{area}')", area, show=False, id=f"window.{area}", priority=True)
            for i, area in enumerate(AREAS, start=2)
        ),
        Binding("f1", "help", "help", id="window.help", priority=True),
        Binding("ctrl+l", "language", "language", id="window.language", show=False),
        Binding("ctrl+t", "next_theme", "theme", id="window.theme", show=False),
        Binding("ctrl+z", "suspend_process", "suspend", id="window.suspend", show=False, priority=True),
        Binding("ctrl+p", "command_palette", "palette", id="window.palette", show=False, priority=True),
        Binding("ctrl+q", "quit", "quit", id="window.quit", priority=True),
        Binding("ctrl+backslash,alt+j", "jump", "jump", id="window.jump", priority=True),
    ]

    area: reactive[str] = reactive("ask", init=False)

    def __init__(self, lang: "Lang | None" = None, services: Services | None = None) -> None:
        saved = state.load()
        super().__init__(saved.get("theme"))
        self.saved = saved
        chosen = lang or self.saved.get("lang")
        if chosen not in ("zh", "en"):
            from assistant.language import default_language

            chosen = default_language()
        self.lang = cast("Lang", chosen)
        self.say = words("window", self.lang)
        self.services = services or Services()
        self._entering = asyncio.Lock()
        self._is_new = True
        """Whether an area was made since the last look."""
        self._used_at = time.monotonic()

    def compose(self) -> ComposeResult:
        """Lay out the frame; areas come when they are entered."""
        with Horizontal(id="top"):
            yield Tabs(id="tabs")
        area = self.saved.get("area")
        self.set_reactive(Window.area, area if isinstance(area, str) and area in AREAS else "ask")
        with ContentSwitcher(id="areas", initial=self.area):
            yield self._made(self.area)
        yield Keys(show_command_palette=True)

    async def on_mount(self) -> None:
        """Enter the area of the last time."""
        garbage.postpone()
        self.set_interval(_LOOK_S, self._rest)
        self._label_keys()
        # After a suspension the terminal shows what the shell left there.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        known, problems = self._user_keys()
        if known:
            self.set_keymap(known)
        for problem in problems:
            self.notify(problem, severity="warning", markup=False)
        await self.action_enter(self.area)
        self.is_whole = True

    def _user_keys(self) -> tuple[dict[str, str], list[str]]:
        if not keys_file().exists():
            return {}, []
        known: dict[str, str] = {}
        for owner in (type(self), *self._panes()):
            for binding in owner.BINDINGS:
                if isinstance(binding, Binding) and binding.id:
                    known[binding.id] = ",".join(filter(None, (known.get(binding.id), binding.key)))
        return keymap(known)

    @staticmethod
    def _panes() -> Iterable[type[Pane]]:
        for module, name in AREAS.values():
            with suppress(ImportError):
                yield getattr(importlib.import_module(module), name)

    def pane(self, area: str) -> Pane | None:
        """Return an area if it has been entered."""
        try:
            return self.query_one(f"#areas > #{area}", Pane)
        except NoMatches:
            return None

    async def action_enter(self, area: str) -> None:
        """Show an area, and make it at the first time."""
        async with self._entering:
            await self._enter(area)

    async def _enter(self, area: str) -> None:
        switcher = self.query_one("#areas", ContentSwitcher)
        pane = self.pane(area)
        if pane is None:
            pane = self._made(area)
            self._is_new = True
            await switcher.add_content(pane, set_current=True)
        switcher.current = area
        self.area = area
        self._show_tabs()
        if (focus := pane.first_focus()) is not None:
            focus.focus()

    def _made(self, area: str) -> Pane:
        module, name = AREAS[area]
        kind: type[Pane] = getattr(importlib.import_module(module), name)
        pane = kind(self.services, self.lang, self._saved_of(area))
        pane.label_keys()
        return pane

    def _saved_of(self, area: str) -> dict[str, Any]:
        areas = self.saved.get("areas")
        found = areas.get(area) if isinstance(areas, dict) else None
        return found if isinstance(found, dict) else {}

    def _show_tabs(self) -> None:
        names = [(area, self._key_of(area), self.say(f"area_{area}")) for area in AREAS]
        self.query_one(Tabs).show(names, self.area, self.TITLE)

    def _key_of(self, area: str) -> str:
        """Return the key of an area as the user has it."""
        name = f"window.{area}"
        binding = next(one for one in self.BINDINGS if isinstance(one, Binding) and one.id == name)
        key = self._keymap.get(name, binding.key).partition(",")[0]
        return self.get_key_display(binding.with_key(key)).capitalize()

    def _label_keys(self) -> None:
        """Name the keys of the footer in the language of the window."""
        keys = self._bindings.key_to_bindings
        for key, bound in keys.items():
            keys[key] = [
                replace(binding, description=self.say(binding.id.removeprefix("window.")))
                if binding.id and binding.id.startswith("window.")
                else binding
                for binding in bound
            ]
        self.refresh_bindings()

    def action_language(self) -> None:
        """Change between Chinese and English: what is seen at once, each hidden area in a turn of its own."""
        self.lang = "en" if self.lang == "zh" else "zh"
        self.say = words("window", self.lang)
        self._label_keys()
        self._show_tabs()
        if (pane := self.pane(self.area)) is not None:
            pane.speak(self.lang)
        self.call_next(self._speak_hidden)

    async def _speak_hidden(self) -> None:
        for pane in self.query(Pane):
            if pane.lang != self.lang:
                await asyncio.sleep(0)
                pane.speak(self.lang)

    async def on_event(self, event: events.Event) -> None:
        """Take note of when the window was used last."""
        if isinstance(event, events.InputEvent):
            self._used_at = time.monotonic()
        await super().on_event(event)

    def _rest(self) -> None:
        """While nobody does anything: collect garbage, and parse the styles of the other themes."""
        idle_s = time.monotonic() - self._used_at
        if idle_s < _REST_S:
            return
        if self._is_new:
            garbage.keep()
            self._is_new = False
        garbage.rest(idle_s)
        self.learn_themes()

    def action_help(self) -> None:
        """Show the keys and the help of the area."""
        from assistant.tui.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            self.push_screen(HelpScreen(self.pane(self.area), self.say, self.active_bindings))

    def action_jump(self) -> None:
        """Show a letter above everything that can have the focus, or leave that."""
        from assistant.tui.jump import jump

        jump(self, self.say)

    def action_command_palette(self) -> None:
        """Show the commands, asked for in the language of the window."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=self.say("which_command")))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yield every action of the window and of the current area for the command palette."""
        for area in AREAS:
            name = self.say(f"area_{area}")
            yield SystemCommand(self.say("go_to", name=name), self.say(f"about_{area}"), lambda a=area: self._go(a))
        yield SystemCommand(self.say("language"), self.say("about_language"), self.action_language)
        yield SystemCommand(self.say("theme"), self.say("about_theme"), self.action_next_theme)
        for theme in THEMES:
            name = self.say(f"theme_{theme.name.removeprefix('asknpu-')}")
            yield SystemCommand(name, self.say("about_theme"), partial(setattr, self, "theme", theme.name))
        yield SystemCommand(self.say("help_title"), self.say("about_help"), self.action_help)
        yield SystemCommand(self.say("jump"), self.say("about_jump"), self.action_jump)
        yield SystemCommand(self.say("suspend"), self.say("about_suspend"), self.action_suspend_process)
        yield SystemCommand(self.say("quit"), self.say("about_quit"), self.action_quit)
        pane = self.pane(self.area)
        if pane is None:
            return
        for binding in pane.BINDINGS:
            if isinstance(binding, Binding) and binding.id:
                key = binding.id.replace(".", "_")
                yield SystemCommand(pane.say(key), pane.say(f"about_{key}"), self._doing(pane, binding.action))

    def _go(self, area: str) -> None:
        self.call_later(self.action_enter, area)

    def _doing(self, pane: Pane, action: str) -> Any:  # noqa: ANN401 (what SystemCommand takes)
        async def run() -> None:
            await self.run_action(action, default_namespace=pane)

        return run

    async def action_quit(self) -> None:
        """End; the state is saved however the window ends."""
        await self.leave(0)

    async def leave(self, code: int) -> None:
        """End with an exit code, after an area that is being entered is whole."""
        async with self._entering:
            self.exit(code)

    def _handle_exception(self, error: Exception) -> None:
        # Once the end has begun nothing is mounted any more; what was being made then misses its parts.
        if not (self._exit and isinstance(error, NoMatches | MountError)):
            super()._handle_exception(error)

    def on_unmount(self) -> None:
        """Leave the collection of garbage as it was."""
        garbage.resume()

    def on_exit_app(self) -> None:
        """Save what the next start restores; also when a signal or the closed browser page ends the window."""
        self.save_state()

    def save_state(self) -> None:
        """Save what the next start restores."""
        areas = {area: self._saved_of(area) for area in AREAS}
        for pane in self.query(Pane):
            with suppress(NoMatches):  # an area that is not whole yet keeps what it had
                areas[pane.AREA] = pane.state()
        state.save({"lang": self.lang, "theme": self.theme, "area": self.area, "areas": areas})
