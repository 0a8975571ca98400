"""The answer pane: it shows an answer, an entry, an abstention, an error or the welcome, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from assistant.tui.ask import told
from assistant.tui.ask.listing import Listing
from assistant.tui.ask.prose import Prose
from assistant.tui.ask.values import Full, Opened, Row
from assistant.tui.safe import plain
from assistant.tui.words import Words, language_of

if TYPE_CHECKING:
    from assistant.tui.ask.cards import Card
    from assistant.types import Answer, AnswerEntry, Computed, EntryCheck
    from kb.types import Lang

__all__ = ["AnswerReader"]


class AnswerReader(VerticalScroll):
    """Parts that are empty take no line. What is read stays in its place when more comes in above it."""

    DEFAULT_CSS = """
    AnswerReader { padding: 0 0 0 2; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    AnswerReader > * { height: auto; margin: 0 1 1 0; }
    AnswerReader > #ask-near-title { margin: 0; }
    AnswerReader > .empty { display: none; }
    AnswerReader > Prose.empty { display: block; margin: 0 1 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__(id="ask-reader", can_focus=True)
        self.entry: AnswerEntry | None = None
        self.is_whole = False
        self.shows_why = False
        self._lang: Lang = "en"
        """Language of the window."""
        self._further: Sequence[AnswerEntry] = ()
        self._checks: list[EntryCheck] | None = None
        self._computed: Computed | None = None

    def compose(self) -> ComposeResult:
        """Lay out the parts, all empty."""
        yield Static(id="ask-notes", classes="empty", markup=False)
        yield Static(id="ask-brought", classes="empty", markup=False)
        yield Vertical(id="ask-computed-card", classes="empty")
        yield Prose(id="ask-computed")
        yield Prose(id="ask-text")
        yield Vertical(id="ask-checks", classes="empty")
        yield Static(id="ask-why", classes="empty", markup=False)
        yield Static(id="ask-near-title", classes="empty", markup=False)
        yield Listing(id="ask-near", classes="empty")
        yield Static(id="ask-send", classes="empty", markup=False)

    def show_preview(self, entry: "AnswerEntry") -> None:
        """Show an entry that is not judged yet."""
        self._begin(entry)
        self._clear("ask-notes", "ask-brought", "ask-computed", "ask-why", "ask-near-title", "ask-near", "ask-send")
        self._show_cards([], None, entry.lang, None)

    def show_opened(self, opened: Opened, say: Words) -> None:
        """Show one entry that was chosen."""
        self._lang = language_of(say)
        self._begin(opened.entry)
        self._clear("ask-notes", "ask-brought", "ask-computed", "ask-near-title", "ask-near", "ask-send")
        self._show_cards(list(opened.checks), None, opened.entry.lang, say)
        self._show_why(None)

    def show_full(self, full: Full, say: Words) -> None:
        """Show an answer or an abstention."""
        answer = full.answer
        before = self.query_one("#ask-text").virtual_region.y
        self._static("ask-brought", told.brought(answer))
        self.query_one("#ask-computed", Prose).show(_computed(answer))
        self._lang = language_of(say)
        is_new = self._begin(answer.entries[0] if answer.entries else None, answer.entries[1:])
        self._show_cards(list(answer.checks), answer.computed, answer.lang, say)
        platforms = {row.id: row.platform for row in full.rows}
        notes = told.notes(answer, {entry.id: entry.title for entry in answer.entries}, say)
        if answer.status == "abstained":
            parts = [told.abstained(answer, full.entries, self._lang), notes]
            self._static("ask-notes", Content("\n\n").join(part for part in parts if part.plain))
            self._near(say("nearest"), answer.nearest, platforms, instead(answer, say))
            self._static("ask-send", told.to_send(answer, say))
        else:
            self._static("ask-notes", notes)
            self._near(say("related"), answer.related, platforms)
            self._clear("ask-send")
        self._show_why(answer)
        if self.scroll_offset.y and not is_new:
            self.call_after_refresh(self._stay, before)

    def show_text(self, text: Content, title: str = "", rows: Sequence[Row] = ()) -> None:
        """Show a sentence or the welcome, with entries or questions to choose."""
        self._begin(None)
        self._clear("ask-brought", "ask-computed", "ask-why", "ask-send")
        self._show_cards([], None, self._lang, None)
        self._static("ask-notes", text)
        self._static("ask-near-title", plain(title, "bold $primary"))
        self._list(rows)

    def show_entry_whole(self) -> None:
        """Change between the parts that matter and the whole entry."""
        self.is_whole = not self.is_whole
        self._show_entries()

    def show_why(self, answer: "Answer | None") -> None:
        """Show or hide the ranks and scores."""
        self.shows_why = not self.shows_why
        self._show_why(answer)
        if self.shows_why:
            self.call_after_refresh(lambda: self.query_one("#ask-why").scroll_visible(animate=False))

    def relabel(self, say: Words) -> None:
        """Put the titles of the checks into another language; what was typed in them stays."""
        for title in self.query(".checks-title").results(Static):
            title.update(plain(say("checks_title"), "bold $primary"))
        for card in self.cards():
            card.relabel(say)

    def cards(self) -> list["Card"]:
        """Return the checks that are shown."""
        from assistant.tui.ask.cards import Card

        return list(self.query(Card))

    def _begin(self, entry: "AnswerEntry | None", further: "Sequence[AnswerEntry]" = ()) -> bool:
        """Show the text of an entry, another one from its top; return whether it is another one."""
        is_new = entry is None or self.entry is None or (entry.id, entry.lang) != (self.entry.id, self.entry.lang)
        self.entry, self._further = entry, further
        if is_new:
            self.is_whole = False
            self.scroll_home(animate=False, immediate=True)
        self._show_entries()
        return is_new

    def _show_entries(self) -> None:
        text = ""
        if self.entry is not None:
            # Imported here: the first paint shows no entry.
            from assistant import render

            first = replace(self.entry, focus=()) if self.is_whole else self.entry
            text = "\n\n".join(render.entry_markdown(entry) for entry in [first, *self._further])
        self.query_one("#ask-text", Prose).show(text)

    @on(Prose.Grown)
    def _grown(self, message: Prose.Grown) -> None:
        message.stop()
        if 0 < self.scroll_offset.y >= message.bottom:
            self.call_after_refresh(self._move, message.by)

    def _stay(self, before: int) -> None:
        """Move with the text by what came in above it."""
        self._move(self.query_one("#ask-text").virtual_region.y - before)

    def _move(self, by: int) -> None:
        if by:
            self.scroll_to(y=self.scroll_offset.y + by, animate=False, immediate=True)

    def _show_why(self, answer: "Answer | None") -> None:
        shown = told.why(self.entry, answer, self._lang) if self.shows_why else Content("")
        self._static("ask-why", shown)

    def _near(
        self, title: str, items: Sequence[tuple[str, str]], platforms: dict[str, str], first: Sequence[Row] = ()
    ) -> None:
        self._static("ask-near-title", plain(title, "bold $primary") if items or first else Content(""))
        self._list([*first, *(Row(key, name, platforms.get(key, ""), "related") for key, name in items)])

    def _list(self, rows: Sequence[Row]) -> None:
        listing = self.query_one("#ask-near", Listing)
        listing.show(rows)
        listing.set_class(not rows, "empty")

    def _static(self, name: str, content: Content) -> None:
        part = self.query_one(f"#{name}", Static)
        part.update(content)
        part.set_class(not content.plain, "empty")

    def _clear(self, *names: str) -> None:
        for name in names:
            part = self.query_one(f"#{name}")
            if isinstance(part, Prose):
                part.show("")
            else:
                part.add_class("empty")

    def _show_cards(
        self, checks: "list[EntryCheck]", computed: "Computed | None", lang: "Lang", say: Words | None
    ) -> None:
        """Show the checks; those that are shown already stay as they are, with what was typed in them."""
        if checks == self._checks and computed == self._computed:
            return
        self._checks, self._computed = checks, computed
        for name in ("ask-checks", "ask-computed-card"):
            part = self.query_one(f"#{name}")
            part.remove_children()
            part.add_class("empty")
        if say is None or not (checks or computed):
            return
        from assistant.tui.ask.cards import card_of, cards_of

        card = card_of(computed, lang, say) if computed is not None else None
        for name, cards in (("ask-checks", cards_of(checks, lang, say)), ("ask-computed-card", [card] if card else [])):
            if cards:
                title = Static(plain(say("checks_title"), "bold $primary"), classes="checks-title", markup=False)
                self.query_one(f"#{name}").mount(title, *cards)
                self.query_one(f"#{name}").remove_class("empty")


def instead(answer: "Answer", say: Words) -> list[Row]:
    """Return the question with known names in the place of unknown ones, as rows whose id is `~` and the question."""
    rows = []
    for unknown in answer.unknown:
        for known in unknown.nearest:
            if unknown.text in answer.question:
                question = answer.question.replace(unknown.text, known)
                rows.append(Row(f"~{question}", say("instead", question=question), "", "ask"))
    return list(dict.fromkeys(rows))


def _computed(answer: "Answer") -> str:
    if answer.computed is None:
        return ""
    from assistant.checks import text

    return text.computed(answer.computed, answer.lang, with_sentence=False)
