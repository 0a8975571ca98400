"""The box that asks for a file: a path typed with completion, or a file from a list that follows it."""

import asyncio
import os
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Button, Input, OptionList
from textual.widgets.option_list import Option

from assistant.tui.box import Box
from assistant.tui.folders import names, parted, why_not
from assistant.tui.pathfield import PathField
from assistant.tui.safe import one_line, plain
from assistant.tui.words import Words

__all__ = ["FileBox"]

#: So many names are listed; typing on shows others.
_LISTED = 500


class FileBox(Box[str]):
    """Answers with a path.

    The list shows what was used lately and the names in the directory of the path; typing narrows it. Enter in the list
    takes a file or enters a directory; Enter in the path, or the button, takes what stands there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "list", show=False),
        Binding("backspace", "up", show=False),
    ]
    DEFAULT_CSS = """
    FileBox PathField { background: $panel; }
    FileBox #files, FileBox #files:focus { border: none; padding: 0; }
    FileBox #files > .option-list--option-disabled { color: $text-muted; }
    """

    def __init__(
        self,
        say: Words,
        name: str,
        *,
        path: str = "",
        recent: Sequence[str] = (),
        suffixes: Sequence[str] = (),
        may_be_folder: bool = False,
        may_miss: bool = False,
    ) -> None:
        """Make a box.

        Args:
            say: the sentences of the area.
            name: of what is asked for, as in `Box`.
            path: to begin with.
            recent: paths that were used lately, the last one first.
            suffixes: how the names of files end, in lower case; empty for every file.
            may_be_folder: whether a directory will do.
            may_miss: whether a file will do that does not exist yet.
        """
        super().__init__(say, name)
        self.hint = f"{self.hint}\n{say('file_keys')}"
        self.add_class("tall")
        self.path = path
        self.recent = recent
        self.suffixes = suffixes
        self.may_be_folder, self.may_miss = may_be_folder, may_miss
        self._paths: list[str] = []
        """Path of each line of the list; "" if it is none."""

    def body(self) -> ComposeResult:
        """Lay out path, list and buttons."""
        yield PathField("path", suffixes=self.suffixes, hint=self.say("path"), select_on_focus=False)
        yield OptionList(id="files", markup=False)
        with Horizontal(id="buttons"):
            yield Button(self.say("take"), id="take", variant="primary", compact=True)
            yield Button(self.say("leave"), id="leave", compact=True)

    def on_mount(self) -> None:
        """Begin in the path."""
        self.field.choose(self.path)
        self.field.focus()
        self._list()

    @property
    def field(self) -> PathField:
        """Where the path is typed."""
        return self.query_one("#path", PathField)

    @property
    def list(self) -> OptionList:
        """What can be chosen."""
        return self.query_one("#files", OptionList)

    @work(exclusive=True, group="files")
    async def _list(self) -> None:
        """List what goes on as the path begins."""
        path = self.field.path
        try:
            found, problem = await asyncio.to_thread(names, path, self.suffixes), ""
        except FileNotFoundError:
            found, problem = [], "no_folder"
        except (OSError, ValueError):
            found, problem = [], "unreadable"
        head, _ = parted(path)
        folder = os.path.abspath(head)  # noqa: PTH100 (a link stays a link)
        above = f"{folder.rpartition('/')[0]}/"
        lines = [("", self.say("recent")), *((one, f"  ↺ {one}") for one in self.recent)]
        lines = lines if self.recent and path == self.path else []
        lines.append(("", folder))
        if folder != "/":
            lines.append((above, "  ↑ .."))
        lines += [(head + name, f"  {'▸' if name.endswith('/') else ' '} {name}") for name in found[:_LISTED]]
        if not found:
            lines.append(("", "  " + self.say(problem or "nothing_fits", path=folder)))
        elif len(found) > _LISTED:
            lines.append(("", "  " + self.say("more_names", count=len(found) - _LISTED)))
        self._paths = [path for path, _ in lines]
        self.list.clear_options()
        self.list.add_options(Option(plain(one_line(line)), disabled=not path) for path, line in lines)
        can = [place for place, path in enumerate(self._paths) if path]
        self.list.highlighted = next((place for place in can if self._paths[place] != above), next(iter(can), None))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.complain("")
        self._list()

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        await self._take(self.field.path)

    @on(OptionList.OptionSelected)
    async def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        path = self._paths[event.option_index]
        if path.endswith("/"):
            self.field.choose(path)
        else:
            await self._take(path)

    @on(Button.Pressed)
    async def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "take":
            await self._take(self.field.path)
        else:
            self.action_leave()

    async def _take(self, path: str) -> None:
        """Answer with a path, enter a directory, or say what is wrong."""
        why = await asyncio.to_thread(
            why_not, path, self.suffixes, may_be_folder=self.may_be_folder, may_miss=self.may_miss
        )
        if not why:
            self.dismiss(path)
        elif why == "is_folder":
            self.field.choose(f"{path.rstrip('/')}/")
            self.list.focus()
        else:
            self.complain(self.say(why, path=one_line(path)))
            if why == "no_path":
                self.list.focus()

    def action_list(self) -> None:
        """Go to the list."""
        self.list.focus()

    def action_up(self) -> None:
        """List the directory above."""
        folder = os.path.abspath(parted(self.field.path)[0])  # noqa: PTH100 (a link stays a link)
        self.field.choose(f"{folder.rpartition('/')[0]}/")
