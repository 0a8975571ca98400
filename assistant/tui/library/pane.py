"""The area library: a tree of all there is to read, the reader, and question cards."""

from dataclasses import replace
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Static, Tree

from assistant.plain import printable
from assistant.tui.library import bindings, labels, learning, leaving, lists, messages, opening
from assistant.tui.library.bottom import Bottom, Hint
from assistant.tui.library.desk import Desk
from assistant.tui.library.notes import Notes
from assistant.tui.library.place import Mark
from assistant.tui.library.reader import Reader
from assistant.tui.library.side import Modes, Side
from assistant.tui.library.tree import Branch
from assistant.tui.library.way import Way
from assistant.tui.painted import TOP
from assistant.tui.pane import Pane
from assistant.tui.words import explained

__all__ = ["LibraryPane"]


class LibraryPane(Pane):
    """Reads and learns: tree, desk and the line below, and what each key does with them."""

    AREA = "library"
    BINDINGS: ClassVar[list[BindingType]] = bindings.BINDINGS
    DEFAULT_CSS = """
    #library-body { height: 1fr; }
    #library-where { height: 1; width: 1fr; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis;
                     background: $surface; }
    """

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 (those of Pane)
        super().__init__(*arguments)
        saved = self.restored
        self.side = Side("learn" if saved.get("mode") == "learn" else "read", self.say)
        self.desk, self.bottom = Desk(self.say), Bottom()
        self.way = Way(self.side, self.desk, saved, self._shown)
        self.notes = Notes(saved)
        self.problem = ""
        self._offered = (False, False)
        """Whether there is a card, and whether it is open, as the footer shows it."""

    # ---- frame

    def compose(self) -> ComposeResult:
        """Lay out tree and reader, a line above and a line below them."""
        with Horizontal(id="library-body"):
            yield self.side
            with Vertical(id="library-main"):
                yield Static(id="library-where", markup=False)
                yield self.desk
        yield self.bottom

    def on_mount(self) -> None:
        """Ask for the corpus."""
        self.side.set_class(self.restored.get("side") is False, "hidden")
        self.relabel()
        self._read_shelf()

    def relabel(self) -> None:
        """Say everything in the language of the window, at the same place."""
        self.bottom.box.placeholder = self.say("find_placeholder")
        self.side.say = self.desk.say = self.say
        self.side.fill(self.desk.shelf, self.lang)
        self.desk.turn(self.lang)
        self.tell()

    def state(self) -> dict[str, Any]:
        """Return place, progress and bookmarks."""
        return {"side": not self.side.is_hidden, **self.way.state(), **self.notes.as_json()}

    def first_focus(self) -> Widget | None:
        """Return the tree, or the reader where the tree is hidden."""
        return self.desk.reader if self.side.is_hidden else self.side.tree_of_shelf

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys of cards where there is no card."""
        if action == "mark":
            return self.desk.is_card and self.desk.is_open
        if action == "reveal":
            return self.desk.is_card and not self.desk.is_open
        if action in ("glossary", "twin") and self.desk.is_card:
            return self.desk.is_open
        return True

    @on(Desk.Changed)
    @on(Reader.LinkChosen)
    def tell(self) -> None:
        """Show place and hint."""
        try:
            self.query_one("#library-where", Static).update(labels.where(self), layout=False)
        except NoMatches:
            return
        self.bottom.hint.update(labels.hint(self), layout=False)
        offered = (self.desk.is_card, self.desk.is_open)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def on_descendant_focus(self) -> None:
        """Show the hints of what has the focus."""
        self.tell()

    @on(Hint.Pressed)
    async def _hint_pressed(self, event: Hint.Pressed) -> None:
        await self.run_action(bindings.action_of(event.name))

    # ---- the corpus

    @work(thread=True, exclusive=True, group="library.shelf")
    def _read_shelf(self) -> None:
        from kb.errors import KbError

        try:
            self.post_message(messages.Opened(self.services.shelf()))
        except (KbError, OSError, ValueError) as error:
            self.post_message(messages.Failed(str(error)))

    @on(messages.Failed)
    def _failed(self, event: messages.Failed) -> None:
        self.problem = event.problem
        self.tell()

    @on(messages.Opened)
    def _opened(self, event: messages.Opened) -> None:
        self.desk.shelf = event.shelf
        if event.shelf.problem:
            self.notify(printable(explained(event.shelf.problem, self.say)), severity="warning", markup=False)
        self.side.fill(event.shelf, self.lang)
        self.side.tree_of_shelf.remark(self.notes.marks)
        if not self.way.restore():
            self.side.open_first()
            self.desk.paint(TOP)
        self.tell()

    # ---- going to places

    @on(Tree.NodeSelected)
    def _selected(self, event: Tree.NodeSelected[Branch]) -> None:
        event.stop()
        branch = event.node.data
        if branch is None:
            return
        if branch.below:
            event.node.toggle()
        if branch.place is not None and (not branch.below or event.node.is_expanded):
            self.way.go(replace(branch.place, lang=self.lang))
            if not branch.below:
                self.desk.reader.focus()

    @on(Tree.NodeHighlighted)
    def _highlighted(self, event: Tree.NodeHighlighted[Branch]) -> None:
        event.stop()
        self.tell()

    @on(Modes.Changed)
    def action_learn(self) -> None:
        """Change between reading and learning."""
        self.side.change("read" if self.side.mode == "learn" else "learn")
        self.side.point(self.desk.place)
        self.side.tree_of_shelf.focus()
        self.tell()

    def action_side(self) -> None:
        """Hide or show the tree."""
        self.side.toggle_class("hidden")
        (self.desk.reader if self.side.is_hidden else self.side.tree_of_shelf).focus()

    def action_step(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) entry in reading order."""
        if problem := self.way.step(step, self.lang, self.say):
            self.notify(problem, markup=False)

    def action_travel(self, step: int) -> None:
        """Go back to what was shown before (-1), or undo that (1)."""
        self.way.travel(step)

    def action_whole(self) -> None:
        """Change between one entry and its whole document."""
        self.way.whole()

    def action_twin(self) -> None:
        """Show the same in the other language; the window stays in its own."""
        place = self.desk.place
        if place is not None and self.check_action("twin", ()):
            self.desk.turn("en" if place.lang == "zh" else "zh")

    def action_scroll_line(self, lines: int) -> None:
        """Scroll by lines."""
        self.desk.reader.scroll_relative(y=lines, animate=False)

    def action_page(self) -> None:
        """Scroll one page down."""
        self.desk.reader.action_page_down()

    # ---- finding

    def action_find(self) -> None:
        """Open the box for finding in what is shown."""
        self.bottom.open()

    @on(Bottom.Wanted)
    def _wanted(self, event: Bottom.Wanted) -> None:
        self.desk.reader.find(event.text)
        if event.is_done:
            self.desk.reader.focus()
        self.tell()

    def action_find_step(self, step: int) -> None:
        """Go to the match after (1) or before (-1) the current one."""
        self.desk.reader.step(step)
        self.tell()

    def _shown(self) -> None:
        self._end_finding()
        self.tell()

    def _end_finding(self) -> None:
        if self.bottom.box.has_focus:
            self.desk.reader.focus()
        self.bottom.close()
        self.desk.reader.find("")

    def action_cancel(self) -> None:
        """End finding, leave a link, stop the calculations, or go to the tree."""
        if self.desk.reader.wanted or self.bottom.is_open:
            self._shown()
        elif self.desk.reader.link >= 0:
            self.desk.reader.choose_link(-1)
        elif not self.desk.stop_checks() and not self.side.is_hidden:
            self.side.tree_of_shelf.focus()

    # ---- links

    def action_step_link(self, step: int) -> None:
        """Choose the next (1) or the previous (-1) link."""
        self.desk.reader.focus()
        self.desk.reader.step_link(step)

    def action_follow(self) -> None:
        """Go where the chosen link leads."""
        self.desk.reader.follow()

    @on(Reader.Followed)
    def _followed(self, event: Reader.Followed) -> None:
        event.stop()
        opening.follow(self, event.target)

    # ---- learning

    def action_reveal(self) -> None:
        """Show the answer of a card."""
        learning.reveal(self)

    def action_mark(self, mark: Mark) -> None:
        """Mark an open card, and go on."""
        learning.mark(self, mark)

    def action_bookmark(self) -> None:
        """Set or remove the bookmark of what is shown."""
        if self.desk.place is not None:
            self.notes.turn_bookmark(self.desk.place)
            self.tell()

    # ---- lists, and what leaves the window

    def action_contents(self) -> None:
        """List the entries of the document, and the sections of what is shown."""
        opening.show_contents(self)

    def action_bookmarks(self) -> None:
        """List the bookmarks."""
        opening.show_bookmarks(self)

    def action_glossary(self) -> None:
        """List the terms of the shown entry in both languages."""
        if self.check_action("glossary", ()):
            self.desk.look_up()

    @on(messages.Glossed)
    def _glossed(self, event: messages.Glossed) -> None:
        if self.app.screen is self.screen and self.desk.entry() == event.entry:
            self.app.push_screen(lists.glossary(event.shelf, event.glosses, event.entry, self.say), self.take)

    def take(self, choice: str | None) -> None:
        """Do what was chosen in a list, if anything was."""
        if choice:
            opening.choose(self, choice)

    def action_copy(self) -> None:
        """Copy the entry with its source."""
        leaving.copy(self)

    def action_edit(self) -> None:
        """Open the source at its line in the user's editor."""
        leaving.open_source(self)
