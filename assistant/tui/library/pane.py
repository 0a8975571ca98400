"""The area library: a tree of all there is to read, the reader, and question cards."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Input, Static, Tree
from textual.worker import get_current_worker

from assistant.plain import printable
from assistant.tui.editor import edit
from assistant.tui.library import labels, leaving, messages
from assistant.tui.library.finding import Match, find
from assistant.tui.library.page import Section, entries_of, has_checks, sections
from assistant.tui.library.place import (
    TOP,
    History,
    Mark,
    Place,
    Spot,
    exists,
    neighbour,
    read_marks,
    read_place,
    read_places,
)
from assistant.tui.library.popups import Choice
from assistant.tui.library.reader import Reader
from assistant.tui.library.shelf import Shelf
from assistant.tui.library.tree import Branch, Mode, ShelfTree, branches
from assistant.tui.pane import Pane
from assistant.tui.safe import plain
from kb.types import Entry

if TYPE_CHECKING:
    from assistant.checks.types import Outcome

__all__ = ["LibraryPane"]


def _key(key: str, name: str, *, show: bool = False) -> Binding:
    return Binding(key, name, name, show=show, id=f"library.{name}")


class LibraryPane(Pane):
    """Reads and learns. Painting, checks, glossary and the corpus itself come from workers as messages."""

    AREA = "library"
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("slash", "find", show=True),
        _key("n", "find_next"),
        _key("N", "find_previous"),
        _key("t", "contents", show=True),
        _key("g", "glossary", show=True),
        _key("z", "twin"),
        _key("p", "learn", show=True),
        _key("space", "reveal", show=True),
        _key("space", "page"),
        _key("1", "knew", show=True),
        _key("2", "not_yet", show=True),
        _key("left_square_bracket,alt+left", "back"),
        _key("right_square_bracket,alt+right", "forward"),
        _key("comma", "previous"),
        _key("full_stop", "next"),
        _key("d", "whole"),
        _key("m", "bookmark"),
        _key("M", "bookmarks"),
        _key("c", "copy"),
        _key("e", "edit"),
        _key("s", "side"),
        _key("j", "down"),
        _key("k", "up"),
        _key("escape", "cancel"),
    ]
    DEFAULT_CSS = """
    #library-body { height: 1fr; }
    #library-side { width: 38%; min-width: 28; max-width: 54; }
    #library-side.hidden { display: none; }
    #library-modes, #library-where, #library-hint { height: 1; width: 1fr; padding: 0 1;
                                                   text-wrap: nowrap; text-overflow: ellipsis; }
    #library-modes, #library-where { background: $surface; }
    #library-hint { color: $text-muted; background: $surface; }
    #library-find { height: 1; border: none; padding: 0 1; background: $panel; width: 36; display: none; }
    #library-find.open { display: block; }
    #library-bottom { height: 1; }
    """

    shelf: Shelf | None = None
    place: Place | None = None
    is_open = False
    """Whether the card shows its answer."""
    matches: tuple[Match, ...] = ()

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 (those of Pane)
        super().__init__(*arguments)
        self.restored = saved = self.restored if isinstance(self.restored, dict) else {}
        self.mode: Mode = "learn" if saved.get("mode") == "learn" else "read"
        self.marks: dict[str, Mark] = read_marks(saved.get("marks"))
        self.bookmarks: list[Place] = read_places(saved.get("bookmarks"))
        self.history = History()
        self.outcomes: dict[tuple[str, str], Any] = {}
        self.wanted = ""
        self.current = -1
        self.problem = ""
        self._turn = 0
        self._spot: Spot = TOP

    # ---- frame

    def compose(self) -> ComposeResult:
        """Lay out tree and reader, a line above and a line below them."""
        with Horizontal(id="library-body"):
            with Vertical(id="library-side"):
                yield labels.Modes(id="library-modes", markup=False)
                yield ShelfTree(id="library-tree")
            with Vertical(id="library-main"):
                yield Static(id="library-where", markup=False)
                yield Reader(id="library-reader")
        with Horizontal(id="library-bottom"):
            yield Input(id="library-find", compact=True, select_on_focus=True)
            yield Static(id="library-hint", markup=False)

    @property
    def shelf_tree(self) -> ShelfTree:
        """The tree of entries."""
        return self.query_one(ShelfTree)

    @property
    def reader(self) -> Reader:
        """The reader."""
        return self.query_one(Reader)

    def on_mount(self) -> None:
        """Ask for the corpus."""
        if self.restored.get("side") is False:
            self.query_one("#library-side").add_class("hidden")
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._paint(self._here()))
        self.relabel()
        self._read_shelf()

    def relabel(self) -> None:
        """Say everything in the language of the window, at the same place."""
        here = self._here()
        self.query_one("#library-find", Input).placeholder = self.say("find_placeholder")
        if self.place is not None:
            self.place = replace(self.place, lang=self.lang)
        if self.shelf is not None:
            self.shelf_tree.fill(branches(self.shelf, self.mode, self.lang, self.say))
        self._tell()
        self._paint(here)
        self._check()

    def state(self) -> dict[str, Any]:
        """Return place, progress and bookmarks."""
        shown = self.place if self.shelf is not None else read_place(self.restored.get("place"))
        spot = self._here() if self.shelf is not None else self.restored.get("spot", TOP)
        return {
            "mode": self.mode,
            "place": labels.as_json(shown) if shown else None,
            "spot": list(spot),
            "is_open": self.is_open,
            "marks": dict(self.marks),
            "bookmarks": [labels.as_json(one) for one in self.bookmarks],
            "side": not self.query_one("#library-side").has_class("hidden"),
        }

    def first_focus(self) -> Widget | None:
        """Return the tree, or the reader where the tree is hidden."""
        return self.reader if self.query_one("#library-side").has_class("hidden") else self.shelf_tree

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys of cards where there is no card."""
        is_card = self.place is not None and self.place.kind == "card"
        if action in ("knew", "not_yet"):
            return is_card and self.is_open
        if action == "reveal":
            return is_card and not self.is_open
        if action in ("glossary", "twin") and is_card:
            return self.is_open
        return True

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
        self._tell()

    @on(messages.Opened)
    def _opened(self, event: messages.Opened) -> None:
        self.shelf = event.shelf
        if event.shelf.problem:
            self.notify(printable(event.shelf.problem), severity="warning", markup=False)
        self.shelf_tree.fill(branches(event.shelf, self.mode, self.lang, self.say))
        self.shelf_tree.remark(self.marks)
        place = read_place(self.restored.get("place"))
        if place is not None and exists(event.shelf, place):
            self.is_open = bool(self.restored.get("is_open"))
            self._show(place, labels.read_spot(self.restored.get("spot")))
        else:
            self._open_first()
            self._paint(TOP)
        self._tell()

    def _open_first(self) -> None:
        for node in self.shelf_tree.root.children[:1] if self.mode == "read" else self.shelf_tree.root.children:
            node.expand()
        self.shelf_tree.move_cursor_to_line(0)

    # ---- showing places

    def go(self, place: Place, spot: Spot = TOP) -> None:
        """Show another place; Back leads to this one."""
        if self.place is not None and place != self.place:
            self.history.leave(self.place, self._here())
        self.is_open = False
        self._show(place, spot)

    def _show(self, place: Place, spot: Spot) -> None:
        self.place = place
        if self.shelf is not None:
            for entry in entries_of(self.shelf, place):
                self.outcomes.pop((entry.id, entry.lang), None)
            wanted: Mode = "learn" if place.kind == "card" else "read"
            if wanted != self.mode:
                self._change_mode(wanted)
            keys, node = labels.node_keys(self.shelf, place), self.shelf_tree.cursor_node
            if node is None or node.data is None or node.data.key not in keys:
                self.shelf_tree.reveal(*keys)
        self._close_find()
        self._paint(spot)
        self._check()
        self._tell()

    def _here(self) -> Spot:
        """Return the spot at the top of the reader, also while another layout is on its way."""
        return self._spot if self._painting else self.reader.page.spot(self.reader.line)

    _painting = False
    _offered = (False, False)
    """Whether there is a card, and whether it is open, as the footer shows it."""

    def _paint(self, spot: Spot) -> None:
        if self.shelf is None:
            return
        self._turn += 1
        self._spot, self._painting = spot, True
        self._paint_page(self._turn, self.shelf, self.place, self.is_open, self.reader.text_width)

    @work(thread=True, exclusive=True, group="library.paint")
    def _paint_page(self, turn: int, shelf: Shelf, place: Place | None, is_open: bool, width: int) -> None:
        from assistant.tui.library.paint import paint

        if place is None:
            page = [Section("", self.say("welcome", entries=len(shelf.home), documents=len(shelf.documents)))]
        else:
            page = sections(shelf, place, dict(self.outcomes), self.say, is_open=is_open)
        self.post_message(messages.Ready(turn, paint(page, width, self.app.theme_variables)))

    @on(messages.Ready)
    def _ready(self, event: messages.Ready) -> None:
        if event.turn != self._turn:
            return
        self._painting = False
        self.reader.show(event.page, event.page.line(self._spot))
        if self.wanted:
            self._find(self.wanted, self.current)
        self._tell()

    @on(Reader.Resized)
    def _resized(self) -> None:
        self._paint(self._here())

    # ---- checks

    def _check(self) -> None:
        if self.shelf is None or self.place is None or (self.place.kind == "card" and not self.is_open):
            return
        waiting = tuple(
            entry
            for entry in entries_of(self.shelf, self.place)
            if has_checks(entry) and (entry.id, entry.lang) not in self.outcomes
        )
        if waiting:
            self._run_checks(self._turn, waiting)

    @work(thread=True, exclusive=True, group="library.checks")
    def _run_checks(self, turn: int, entries: tuple[Entry, ...]) -> None:
        from assistant.checks.proof import outcomes

        worker = get_current_worker()
        found: dict[tuple[str, str], tuple[Outcome, ...]] = {}
        for entry in entries:
            if worker.is_cancelled:
                return
            found[entry.id, entry.lang] = tuple(outcome for _, outcome in outcomes([entry]))
        if not worker.is_cancelled:
            self.post_message(messages.Checked(found))

    @on(messages.Checked)
    def _checked(self, event: messages.Checked) -> None:
        self.outcomes |= event.outcomes
        if (
            self.shelf
            and self.place
            and any((entry.id, entry.lang) in event.outcomes for entry in entries_of(self.shelf, self.place))
        ):
            self._paint(self._here())

    # ---- tree

    @on(Tree.NodeSelected)
    def _selected(self, event: Tree.NodeSelected[Branch]) -> None:
        event.stop()
        branch = event.node.data
        if branch is None:
            return
        if branch.below:
            event.node.toggle()
        if branch.place is not None and (not branch.below or event.node.is_expanded):
            self.go(replace(branch.place, lang=self.lang))
            if not branch.below:
                self.reader.focus()

    @on(Tree.NodeHighlighted)
    def _highlighted(self, event: Tree.NodeHighlighted[Branch]) -> None:
        event.stop()
        self._tell()

    def on_descendant_focus(self) -> None:
        """Show the hints of what has the focus."""
        self._tell()

    @on(labels.Modes.Changed)
    def _mode_clicked(self) -> None:
        self.action_learn()

    def action_learn(self) -> None:
        """Change between reading and learning."""
        self._change_mode("read" if self.mode == "learn" else "learn")
        if self.place is not None and self.shelf is not None:
            self.shelf_tree.reveal(*labels.node_keys(self.shelf, self.place))
        self.shelf_tree.focus()
        self._tell()

    def _change_mode(self, mode: Mode) -> None:
        self.mode = mode
        if self.shelf is not None:
            self.shelf_tree.fill(branches(self.shelf, mode, self.lang, self.say))
            self._open_first()

    def action_side(self) -> None:
        """Hide or show the tree."""
        side = self.query_one("#library-side")
        side.toggle_class("hidden")
        (self.reader if side.has_class("hidden") else self.shelf_tree).focus()

    # ---- finding

    def action_find(self) -> None:
        """Open the box for finding in what is shown."""
        box = self.query_one("#library-find", Input)
        box.add_class("open")
        box.focus()

    @on(Input.Changed, "#library-find")
    def _wanted(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.has_class("open"):
            self._find(event.value, None)

    @on(Input.Submitted, "#library-find")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._find(event.value, None)
        event.input.remove_class("open")
        self.reader.focus()

    def _find(self, wanted: str, current: int | None) -> None:
        """Mark the matches; the current one is given, or the first that is not above the top."""
        self.wanted = wanted
        self.matches = tuple(find(self.reader.page.texts, wanted))
        if current is None:
            top = self.reader.line
            current = next((i for i, one in enumerate(self.matches) if one.line >= top), 0)
        self.current = min(current, len(self.matches) - 1)
        self.reader.mark(self.matches, self.current)
        self._tell()

    def _step(self, step: int) -> None:
        if self.matches:
            self.current = (self.current + step) % len(self.matches)
            self.reader.mark(self.matches, self.current)
            self._tell()

    def action_find_next(self) -> None:
        """Go to the next match."""
        self._step(1)

    def action_find_previous(self) -> None:
        """Go to the match before."""
        self._step(-1)

    def _close_find(self) -> None:
        box = self.query_one("#library-find", Input)
        if box.has_focus:
            self.reader.focus()
        box.remove_class("open")
        self.wanted, self.matches, self.current = "", (), -1
        box.value = ""
        self.reader.mark([], -1)

    def action_cancel(self) -> None:
        """End finding, or stop the calculations, or go to the tree."""
        if self.wanted or self.query_one("#library-find").has_class("open"):
            self._close_find()
            self._tell()
        elif self._cancel_checks():
            self._paint(self._here())
        elif not self.query_one("#library-side").has_class("hidden"):
            self.shelf_tree.focus()

    def _cancel_checks(self) -> bool:
        if self.shelf is None or self.place is None:
            return False
        running = [one for one in self.workers if one.group == "library.checks" and one.is_running]
        for one in running:
            one.cancel()
        if running:
            for entry in entries_of(self.shelf, self.place):
                self.outcomes.setdefault((entry.id, entry.lang), ())
        return bool(running)

    # ---- moving

    def _move(self, step: int) -> None:
        if self.shelf is None or self.place is None:
            return
        place = neighbour(self.shelf, self.place, step)
        if place is None:
            self.notify(self.say("at_end" if step > 0 else "at_start"), markup=False)
        else:
            self.go(replace(place, lang=self.lang))

    def action_next(self) -> None:
        """Go to the next entry in reading order."""
        self._move(1)

    def action_previous(self) -> None:
        """Go to the entry before."""
        self._move(-1)

    def action_back(self) -> None:
        """Go back to what was shown before."""
        self._return(self.history.back(self.place, self._here()))

    def action_forward(self) -> None:
        """Undo going back."""
        self._return(self.history.forward(self.place, self._here()))

    def _return(self, found: tuple[Place, Spot] | None) -> None:
        if found is not None:
            self.is_open = False
            self._show(*found)

    def action_whole(self) -> None:
        """Change between one entry and its whole document, at the same entry."""
        entry = self.shown_entry()
        if self.shelf is None or self.place is None or entry is None:
            return
        if self.place.kind == "document":
            self.go(Place("entry", entry.id, self.place.lang))
        else:
            self.go(Place("document", self.shelf.home[entry.id], self.place.lang), (entry.id, 0.0))

    def action_twin(self) -> None:
        """Show the same in the other language; the window stays in its own."""
        if self.place is not None and not (self.place.kind == "card" and not self.is_open):
            here = self._here()
            self.place = replace(self.place, lang="en" if self.place.lang == "zh" else "zh")
            self._paint(here)
            self._check()

    def action_down(self) -> None:
        """Scroll one line down."""
        self.reader.scroll_relative(y=1, animate=False)

    def action_up(self) -> None:
        """Scroll one line up."""
        self.reader.scroll_relative(y=-1, animate=False)

    def action_page(self) -> None:
        """Scroll one page down."""
        self.reader.action_page_down()

    def shown_entry(self) -> Entry | None:
        """Return the entry that is shown; of a document, the one at the top."""
        if self.shelf is None or self.place is None:
            return None
        found = entries_of(self.shelf, self.place)
        key = self._here()[0]
        return next((entry for entry in found if entry.id == key), found[0] if found else None)

    # ---- learning

    def action_reveal(self) -> None:
        """Show the answer of a card."""
        if self.place is None or self.place.kind != "card" or self.is_open:
            return
        self.is_open = True
        self._paint(TOP)
        self._check()
        self.refresh_bindings()

    def action_knew(self) -> None:
        """Mark a card as known, and go on."""
        self._mark("known")

    def action_not_yet(self) -> None:
        """Mark a card as not known yet, and go on."""
        self._mark("learning")

    def _mark(self, mark: Mark) -> None:
        if self.place is None or self.place.kind != "card" or not self.is_open:
            return
        self.marks[self.place.key] = mark
        self.shelf_tree.remark(self.marks)
        self._move(1)
        self._tell()
        # What was learnt survives even a crash.
        if (save := getattr(self.app, "save_state", None)) is not None:
            save()

    # ---- lists, and what leaves the window

    def action_contents(self) -> None:
        """List the entries of the document, and the sections of what is shown."""
        entry = self.shown_entry()
        if self.shelf is None or self.place is None or entry is None:
            return
        lines = labels.contents(self.shelf, self.place, self.reader.page, self.marks, entry)
        title = self.shelf.documents[self.shelf.home[entry.id]].titles.get(self.place.lang, "")
        self.app.push_screen(Choice(title, self.say("choose"), lines, f"entry:{entry.id}"), self._chosen)

    def action_bookmarks(self) -> None:
        """List the bookmarks."""
        if self.shelf is None:
            return
        there = [one for one in self.bookmarks if exists(self.shelf, one)]
        lines = [(f"{one.kind}:{one.key}", plain(f"★ {labels.title(self.shelf, one, self.lang)}")) for one in there]
        hint = self.say("choose") if lines else self.say("no_bookmarks", key=labels.key(self, "bookmark"))
        self.app.push_screen(Choice(self.say("library_bookmarks"), hint, lines), self._chosen)

    def action_bookmark(self) -> None:
        """Set or remove the bookmark of what is shown."""
        if self.place is None:
            return
        mark = replace(self.place, kind="document" if self.place.kind == "document" else "entry", path="")
        same = [one for one in self.bookmarks if (one.kind, one.key) == (mark.kind, mark.key)]
        self.bookmarks = [one for one in self.bookmarks if one not in same] if same else [*self.bookmarks, mark]
        self._tell()

    def action_glossary(self) -> None:
        """List the terms of the shown entry in both languages."""
        entry = self.shown_entry()
        if self.shelf is not None and entry is not None and self.check_action("glossary", ()):
            self._read_glossary(self.shelf, entry)

    @work(thread=True, exclusive=True, group="library.glossary")
    def _read_glossary(self, shelf: Shelf, entry: Entry) -> None:
        from assistant.tui.library.glossed import glosses

        self.post_message(messages.Glossed(entry, glosses(shelf, entry)))

    @on(messages.Glossed)
    def _glossed(self, event: messages.Glossed) -> None:
        if self.shelf is None or self.app.screen is not self.screen or self.shown_entry() != event.entry:
            return
        lines = labels.glossary(self.shelf, event.glosses, event.entry.lang)
        hint = self.say("choose") if lines else self.say("no_terms")
        self.app.push_screen(Choice(self.say("terms_of", title=event.entry.title), hint, lines), self._chosen)

    def _chosen(self, choice: str | None) -> None:
        """Go to what was chosen in a list: `entry:ID`, `document:KEY` or `line:NUMBER`."""
        kind, _, key = (choice or "").partition(":")
        if kind == "line":
            self.reader.go(int(key))
        elif kind == "entry" and self.place is not None and key in self.reader.page.anchors:
            self.reader.go(self.reader.page.anchors[key])
        elif kind in ("entry", "document"):
            lang = self.place.lang if self.place else self.lang
            self.go(Place("document" if kind == "document" else "entry", key, lang))
        if choice:
            self.reader.focus()

    def action_copy(self) -> None:
        """Copy the entry with its source."""
        entry = self.shown_entry()
        if entry is not None:
            self.app.copy_to_clipboard(leaving.citation(entry, self.say))
            self.notify(self.say("copied", place=leaving.place(entry)), markup=False)

    def action_edit(self) -> None:
        """Open the source at its line in the user's editor."""
        entry = self.shown_entry()
        if self.shelf is None or entry is None:
            return
        problem = edit(self.app, self.shelf.root / entry.span.file, entry.line, self.say)
        if problem:
            self.notify(printable(problem), severity="warning", markup=False)

    # ---- the lines above and below

    def _tell(self) -> None:
        """Show mode, place and hint."""
        try:
            self.query_one(labels.Modes).show(self.say, self.mode)
            self.query_one("#library-where", Static).update(labels.where(self))
            self.query_one("#library-hint", Static).update(labels.hint(self))
        except NoMatches:
            return
        offered = (self.place is not None and self.place.kind == "card", self.is_open)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()
