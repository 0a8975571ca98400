"""What was found: the entries, and one of them, the answer or the welcome beside or below them."""

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer

from assistant.tui.ask import told
from assistant.tui.ask.heading import Heading
from assistant.tui.ask.listing import Listing
from assistant.tui.ask.reader import AnswerReader
from assistant.tui.ask.values import Full, Opened, Row, Typed
from assistant.tui.safe import plain
from assistant.tui.words import Words

if TYPE_CHECKING:
    from assistant.types import Answer, AnswerEntry
    from kb.types import Hit, Lang

__all__ = ["WIDE", "Results"]

#: Columns from which the list stands at the left of the answer.
WIDE: Final = 110
#: Seconds without another result until the best entry is shown, so that the text does not flicker under the list.
REST = 0.2
_EXAMPLES = 4


class Results(Container):
    """Shows one of: nothing yet, a preview by words, the answer, an entry that the reader chose."""

    DEFAULT_CSS: ClassVar[str] = """
    Results { height: 1fr; layout: vertical; }
    Results #ask-list { max-height: 5; padding: 0 1 0 2; }
    Results #ask-main { height: 1fr; }
    Results #ask-head { height: 1; padding: 0 1 0 2; background: $panel; text-wrap: nowrap; text-overflow: ellipsis; }
    Results #ask-reader { height: 1fr; }
    Results #ask-reader:focus { background: $surface; }
    Results.-wide { layout: horizontal; }
    Results.-wide #ask-list { width: 44; height: 1fr; max-height: 100%; text-wrap: wrap; text-overflow: fold; }
    Results.-abstained #ask-list { display: none; }
    Results.-empty #ask-list, Results.-empty #ask-head { display: none; }
    Results.-empty #ask-reader { padding: 1 0 0 2; }
    """

    def __init__(self, say: Words, lang: "Lang") -> None:
        super().__init__(id="ask-results", classes="-empty")
        self.say = say
        self.lang: Lang = lang
        """Language of the entries that were found."""
        self.full: Full | None = None
        self.is_chosen = False
        """Whether the reader chose the entry that is shown, so that an answer that arrives must not replace it."""
        self._typed: Typed | None = None
        self._opened: Opened | None = None
        self._rest: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out list and answer."""
        yield Listing(id="ask-list")
        with Vertical(id="ask-main"):
            yield Heading(id="ask-head")
            yield AnswerReader()

    def on_mount(self) -> None:
        """Start with the welcome."""
        self.clear()

    def on_resize(self, event: events.Resize) -> None:
        """Put the list beside the answer where there is room."""
        self.set_class(event.size.width >= WIDE, "-wide")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was searched yet."""
        return self.has_class("-empty")

    @property
    def reader(self) -> AnswerReader:
        """The answer pane."""
        return self.query_one(AnswerReader)

    @property
    def entry(self) -> "AnswerEntry | None":
        """The entry that is shown; None for an abstention or a calculation."""
        return self.reader.entry

    @property
    def choices(self) -> Listing:
        """The entries to choose from: the list, or where it is hidden, those in the answer pane."""
        listing = self.query_one("#ask-list", Listing)
        return listing if listing.display and listing.option_count else self.query_one("#ask-near", Listing)

    def hit(self, key: str) -> "Hit | None":
        """Return how an entry was found."""
        return next((hit for hit in self.full.hits if hit.id == key), None) if self.full is not None else None

    def relabel(self, say: Words) -> None:
        """Set every label again; what was found stays."""
        self.say = say
        if self.is_empty:
            self.clear()
        elif self.is_chosen and self._opened is not None:
            self.show_opened(self._opened)
        elif self.full is not None:
            self.show_full(self.full)
        elif self._typed is not None:
            self.show_typed(self._typed)
        self.reader.relabel(say)

    def clear(self) -> None:
        """Show the welcome."""
        self.full, self._typed, self.is_chosen = None, None, False
        self.add_class("-empty")
        rows = [Row(f"?{i}", self.say(f"example_{i}"), "", "ask") for i in range(1, _EXAMPLES + 1)]
        welcome = [plain(self.say("welcome"), "bold $primary"), plain(self.say("welcome_how"), "$text-muted")]
        self.reader.show_text(Content("\n").join(welcome), self.say("examples"), rows)

    def show_typed(self, typed: Typed) -> None:
        """Show what words found; the best entry when there was a moment without a key."""
        was_shown = not self.is_empty
        self.full, self._typed, self.lang = None, typed, typed.lang
        self.remove_class("-empty", "-abstained")
        self.query_one("#ask-list", Listing).show(typed.rows)
        if typed.best is None:
            self.reader.show_text(plain(self.say("no_words")))
            self._head("preview", None)
        elif not self.is_chosen:
            # Until the text changes, the line above it tells of the entry that is still there.
            self._head("preview", self.entry if was_shown else typed.best)
            if self._rest is not None:
                self._rest.stop()
            self._rest = self.set_timer(REST if was_shown else 0.001, self._preview)

    def _preview(self) -> None:
        """Show the best entry by words, unless something better came meanwhile."""
        if self.full is not None or self.is_chosen or self._typed is None or self._typed.best is None:
            return
        self._head("preview", self._typed.best)
        self.reader.show_preview(self._typed.best)

    def show_full(self, full: Full) -> None:
        """Show the answer or the abstention; an entry that the reader chose stays."""
        answer = full.answer
        self.full, self.lang = full, answer.lang
        self.remove_class("-empty")
        self.set_class(answer.status == "abstained", "-abstained")
        self.query_one("#ask-list", Listing).show(full.rows)
        if self.is_chosen:
            return
        self.reader.show_full(full, self.say)
        entry = answer.entries[0] if answer.entries else None
        # What was computed or explained is no less sure because no entry fits, and nothing is sure of an unknown name.
        is_judged = entry is not None or (answer.status == "abstained" and not told.is_blocked(answer))
        sure = self.say("confidence", confidence=f"{answer.confidence:.0%}") if is_judged else ""
        self.query_one(Heading).show(self.say, _kind(answer), entry, answer.checks, sure)

    def show_answer(self, key: str) -> bool:
        """Show the answer again if an entry is the one it was made of; return whether it is."""
        if self.full is None or not self.full.answer.entries or self.full.answer.entries[0].id != key:
            return False
        self.is_chosen = False
        self.show_full(self.full)
        return True

    def show_opened(self, opened: Opened) -> None:
        """Show an entry that was chosen."""
        self._opened = opened
        self.reader.show_opened(opened, self.say)
        self.query_one(Heading).show(self.say, "entry", opened.entry, opened.checks)

    def _head(self, kind: str, entry: "AnswerEntry | None") -> None:
        self.query_one(Heading).show(self.say, kind, entry, ())


def _kind(answer: "Answer") -> str:
    """Return what an answer is, as the heading calls it."""
    if answer.status == "abstained":
        return "abstained"
    if answer.entries:
        return "answer"
    return "computed" if answer.computed is not None and answer.computed.outcomes else "explained"
