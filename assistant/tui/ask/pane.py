"""The area ask: keys, filters and history; which part shows what."""

from typing import Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from assistant import paths, render
from assistant.tui.ask import feedback, history, jobs, told
from assistant.tui.ask.bar import Bar
from assistant.tui.ask.box import QuestionBox
from assistant.tui.ask.latest import Done, Latest
from assistant.tui.ask.layout import CSS, KEYS, WIDE
from assistant.tui.ask.listing import Listing
from assistant.tui.ask.reader import Reader
from assistant.tui.ask.values import Full, Opened, Request, Row, Typed
from assistant.tui.editor import edit
from assistant.tui.pane import Pane
from assistant.tui.safe import plain
from kb.types import Lang

__all__ = ["AskPane"]

#: Seconds from the first unsearched key to a search by words, and from the last key to the full answer.
TYPING = 0.12
PAUSE = 0.7
#: Seconds without another result until the best entry is shown: laying it out takes longer than a list does.
REST = 0.2
_EXAMPLES = 4


class AskPane(Pane):
    """A question, the entries found, and the answer."""

    AREA = "ask"
    DEFAULT_CSS = CSS
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def on_mount(self) -> None:
        """Restore the last question; open the corpus once the box is usable."""
        self._words, self._answers = Latest(self, "words"), Latest(self, "answer")
        self._entries, self._start = Latest(self, "entry"), Latest(self, "start")
        self._typing: Timer | None = None
        self._pause: Timer | None = None
        self._rest: Timer | None = None
        self.platforms: tuple[str, ...] = ()
        self.full: Full | None = None
        self.is_chosen = False
        """Whether the reader chose the entry that is shown, so that an answer that arrives must not replace it."""
        self.typed_lang: Lang = self.lang
        self._kept: dict[Request, Full] = {}
        self._state: tuple[str, dict[str, object]] = ("idle", {})
        self.typed: Typed | None = None
        self.opened: Opened | None = None
        saved = self.restored
        self.history = history.restored(saved.get("history"))
        self.platform = saved.get("platform") if isinstance(saved.get("platform"), str) else None
        self.answer_lang = (
            cast(Lang | None, saved.get("answer_lang")) if saved.get("answer_lang") in ("zh", "en") else None
        )
        question = saved.get("question")
        self.query_one(Reader).shows_why = bool(saved.get("why"))
        self.add_class("-empty")
        self.relabel()
        self.set_timer(0.3, self._open)
        if isinstance(question, str) and question:
            self.query_one(QuestionBox).put(question)
            self.set_timer(0.4, self.action_ask)
        self._welcome()

    def compose(self) -> ComposeResult:
        """Lay out box, filters, list and answer."""
        yield QuestionBox(id="ask-box", placeholder=self.say("placeholder"))
        yield Bar(id="ask-bar", markup=False)
        with Container(id="ask-body"):
            yield Listing(id="ask-list")
            with Vertical(id="ask-main"):
                yield Static(id="ask-head", markup=False)
                yield Reader()

    def first_focus(self) -> Widget | None:
        """The box."""
        return self.query_one(QuestionBox)

    def on_resize(self, event: events.Resize) -> None:
        """Put the list beside the answer where there is room."""
        self.set_class(event.size.width >= WIDE, "-wide")

    def relabel(self) -> None:
        """Set every label again; what was found stays."""
        self.query_one(QuestionBox).placeholder = self.say("placeholder")
        self._show_bar()
        if self.has_class("-empty"):
            self._welcome()
        elif self.is_chosen and self.opened is not None:
            self._show_opened(self.opened)
        elif self.full is not None:
            self._show_full(self.full)
        elif self.typed is not None:
            self._show_typed(self.typed)
        self.query_one(Reader).relabel(self.say)

    def state(self) -> dict[str, Any]:
        """Question, filters, history."""
        return {
            "question": self.query_one(QuestionBox).question,
            "platform": self.platform,
            "answer_lang": self.answer_lang,
            "why": self.query_one(Reader).shows_why,
            "history": self.history.saved(),
        }

    # What is typed

    @on(Input.Changed, "#ask-box")
    def _changed(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._answers.stop()
        if not any(character.isalnum() for character in self._question):
            self._empty()
            return
        self.is_chosen = False
        if self._typing is None:
            self._typing = self.set_timer(TYPING, self._search)
        self._pause = self.set_timer(PAUSE, self.action_ask)

    @on(Input.Submitted, "#ask-box")
    def _submitted(self) -> None:
        self.action_ask()

    @property
    def _question(self) -> str:
        return self.query_one(QuestionBox).question

    def _request(self) -> Request:
        return Request(self._question, self.answer_lang, self.platform)

    def _open(self) -> None:
        self._start.start(lambda: jobs.platforms(self.services))

    def _search(self) -> None:
        self._typing = None
        request = self._request()
        self._words.start(lambda: jobs.typed(self.services, request))

    def _stop_words(self) -> None:
        self._words.stop()
        if self._typing is not None:
            self._typing.stop()
            self._typing = None

    def action_ask(self) -> None:
        """Get the full answer now."""
        request = self._request()
        if self._pause is not None:
            self._pause.stop()
        if not any(character.isalnum() for character in request.question):
            return
        self._tell("searching")
        self._answers.start(lambda: (request, jobs.full(self.services, request)))

    # What comes back

    @on(Done)
    def _done(self, done: Done) -> None:
        done.stop()
        if not done.job.ended(done):
            return
        if done.error:
            self._failed(done.error)
        elif isinstance(done.result, Typed):
            self._show_typed(done.result)
        elif isinstance(done.result, Opened):
            self._show_opened(done.result)
        elif done.job is self._start:
            self.platforms = done.result
            self._show_bar()
        elif done.result is not None:
            request, full = done.result
            # What the words found comes too late now.
            self._stop_words()
            self._kept[request] = full
            self.history.add(request)
            self._show_full(full)

    def _failed(self, error: str) -> None:
        self._tell("failed", error=error)
        if self.has_class("-empty"):
            self.query_one(Reader).show_text(plain(f"! {error}", "$error"))

    def _show_typed(self, typed: Typed) -> None:
        if not any(character.isalnum() for character in self._question):
            return
        self.full = None
        self.typed, self.typed_lang = typed, typed.lang
        was_shown = not self.has_class("-empty")
        self.remove_class("-empty", "-abstained")
        self.query_one("#ask-list", Listing).show(typed.rows)
        if not self._answers.is_busy:
            self._tell("by_words", count=len(typed.rows), ms=round(typed.seconds * 1000))
        if typed.best is None:
            self.query_one(Reader).show_text(plain(self.say("no_words")))
            self._head(plain(self.say("preview"), "$text-muted"))
        elif not self.is_chosen:
            self._head(told.head(self.say, "preview", typed.best, ()))
            if self._rest is not None:
                self._rest.stop()
            self._rest = self.set_timer(REST if was_shown else 0.001, self._preview)

    def _preview(self) -> None:
        """Show the best entry by words, unless something better came meanwhile."""
        if self.full is not None or self.is_chosen or self.has_class("-empty"):
            return
        if self.typed is not None and self.typed.best is not None:
            self.query_one(Reader).show_preview(self.typed.best)

    def _show_full(self, full: Full) -> None:
        self.full = full
        self.typed_lang = full.answer.lang
        self.remove_class("-empty")
        self.set_class(full.answer.status == "abstained", "-abstained")
        self.query_one("#ask-list", Listing).show(full.rows)
        is_answered = full.answer.status == "answered"
        self._tell("complete" if is_answered else "nothing_found", ms=round(full.seconds * 1000))
        if self.is_chosen:
            return
        answer = full.answer
        self.query_one(Reader).show_full(full, self.say)
        kind = "answer" if is_answered else "abstained"
        confidence = self.say("confidence", confidence=f"{answer.confidence:.0%}")
        entry = answer.entries[0] if answer.entries else None
        self._head(told.head(self.say, kind, entry, answer.checks, confidence))

    def _show_opened(self, opened: Opened) -> None:
        self.opened = opened
        self.query_one(Reader).show_opened(opened, self.say)
        self._head(told.head(self.say, "entry", opened.entry, opened.checks))

    def _head(self, content: Content) -> None:
        self.query_one("#ask-head", Static).update(content)

    def _empty(self) -> None:
        self._stop_words()
        self._answers.stop()
        self._entries.stop()
        self.full = None
        self.add_class("-empty")
        self._tell("idle")
        self._welcome()

    def _welcome(self) -> None:
        rows = [Row(f"?{i}", self.say(f"example_{i}"), "", "ask") for i in range(1, _EXAMPLES + 1)]
        welcome = [plain(self.say("welcome"), "bold $primary"), plain(self.say("welcome_how"), "$text-muted")]
        self.query_one(Reader).show_text(Content("\n").join(welcome), self.say("examples"), rows)

    def _tell(self, key: str, **values: object) -> None:
        self._state = (key, values)
        self._show_bar()

    def _show_bar(self) -> None:
        filters = [
            ("platform", self.say("platform"), self.platform or self.say("all"), self.platform is not None),
            ("lang", self.say("lang"), self.say(f"lang_{self.answer_lang}"), self.answer_lang is not None),
        ]
        key, values = self._state
        self.query_one(Bar).show(filters, self.say(key, **values), is_bad=key == "failed")

    # Choosing

    @on(OptionList.OptionHighlighted, "#ask-list")
    def _highlighted(self, message: OptionList.OptionHighlighted) -> None:
        if message.option_list.has_focus and message.option_id:
            self._choose(message.option_id)

    @on(OptionList.OptionSelected, "#ask-list")
    def _selected(self, message: OptionList.OptionSelected) -> None:
        if message.option_id:
            self._choose(message.option_id)
            self.query_one(Reader).focus()

    @on(OptionList.OptionSelected, "#ask-near")
    def _near(self, message: OptionList.OptionSelected) -> None:
        key = message.option_id or ""
        if key.startswith(("?", "~")):
            self.query_one(QuestionBox).put(self.say(f"example_{key[1:]}") if key[0] == "?" else key[1:])
            self.query_one(QuestionBox).focus()
            self.action_ask()
        elif key:
            self._choose(key)
            self.query_one(Reader).focus()

    def _choose(self, key: str) -> None:
        """Show an entry; that of the answer is shown as the answer."""
        answer = self.full.answer if self.full is not None else None
        if self.full is not None and answer is not None and answer.entries and answer.entries[0].id == key:
            self._entries.stop()
            self.is_chosen = False
            self._show_full(self.full)
            return
        self.is_chosen = True
        question, lang = self._question, self.typed_lang
        hit = next((hit for hit in self.full.hits if hit.id == key), None) if self.full is not None else None
        self._entries.start(lambda: jobs.opened(self.services, key, lang, question, hit))

    def action_list(self) -> None:
        """Go from the box to the entries; elsewhere to whatever comes next."""
        if not self.query_one(QuestionBox).has_focus:
            self.screen.focus_next()
            return
        listing = self.query_one("#ask-list", Listing)
        if not listing.display or not listing.option_count:
            listing = self.query_one("#ask-near", Listing)
        listing.focus()
        if listing.highlighted is None and listing.option_count:
            listing.highlighted = 0

    def action_page_up(self) -> None:
        """Scroll the answer."""
        self.query_one(Reader).scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll the answer."""
        self.query_one(Reader).scroll_page_down(animate=False)

    def action_cancel(self) -> None:
        """End what runs; else back to the box; else empty it."""
        box = self.query_one(QuestionBox)
        if self._answers.is_busy or self._entries.is_busy:
            self._answers.stop()
            self._entries.stop()
            self._tell("cancelled")
        elif not box.has_focus:
            box.focus()
        else:
            box.value = ""

    # What can be done with an answer

    def action_why(self) -> None:
        """Show or hide ranks and scores."""
        answer = self.full.answer if self.full is not None and not self.is_chosen else None
        self.query_one(Reader).show_why(answer)

    def action_whole(self) -> None:
        """Show the whole entry, or the parts that matter."""
        self.query_one(Reader).show_entry_whole()

    def action_edit(self) -> None:
        """Open the parameters of the first check."""
        cards = self.query_one(Reader).cards()
        if cards:
            cards[0].open()
        else:
            self._notify("no_checks")

    def action_copy(self) -> None:
        """Copy the answer with its citation."""
        entry = self.query_one(Reader).entry
        if self.full is not None and not self.is_chosen:
            text = render.answer_markdown(self.full.answer, self.full.entries)
        elif entry is not None:
            text = render.entry_markdown(entry)
        else:
            self._notify("nothing")
            return
        self.app.copy_to_clipboard(text)
        self._notify("copied", count=len(text))

    def action_source(self) -> None:
        """Open the source at its line."""
        entry = self.query_one(Reader).entry
        if entry is None:
            self._notify("nothing")
            return
        problem = edit(self.app, paths.corpus_root() / entry.source.file, entry.line, self.say)
        if problem:
            self.app.notify(plain(problem).plain, severity="warning", markup=False)

    def action_good(self) -> None:
        """Thumb up."""
        self._vote("up")

    def action_bad(self) -> None:
        """Thumb down."""
        self._vote("down")

    def _vote(self, verdict: feedback.Verdict) -> None:
        entry = self.query_one(Reader).entry
        if self.has_class("-empty"):
            self._notify("nothing")
            return
        try:
            path = feedback.record(self._question, entry.id if entry is not None else "", verdict)
        except OSError as error:
            self._notify("vote_failed", path=str(feedback.file()), error=error.strerror or str(error))
            return
        self._notify(f"vote_{verdict}", path=str(path))

    def _notify(self, key: str, **values: object) -> None:
        self.app.notify(plain(self.say(key, **values)).plain, markup=False)

    # Filters and history

    @on(Bar.Cycle)
    def _cycle(self, message: Bar.Cycle) -> None:
        message.stop()
        self.action_platform() if message.name == "platform" else self.action_answer_language()

    def action_platform(self) -> None:
        """Only entries of the next platform; all after the last."""
        choices: list[str | None] = [None, *self.platforms]
        place = choices.index(self.platform) if self.platform in choices else 0
        self.platform = choices[(place + 1) % len(choices)]
        self._filtered()

    def action_answer_language(self) -> None:
        """Answer in the question's language, in Chinese, in English."""
        choices: list[Lang | None] = [None, "zh", "en"]
        self.answer_lang = choices[(choices.index(self.answer_lang) + 1) % len(choices)]
        self._filtered()

    def _filtered(self) -> None:
        self.is_chosen = False
        self._show_bar()
        self.action_ask()

    def action_back(self) -> None:
        """Show the question before."""
        self._go(self.history.back_from(self._question))

    def action_forward(self) -> None:
        """Show the question after."""
        self._go(self.history.move(1))

    def _go(self, request: Request | None) -> None:
        if request is None:
            self._notify("history_end")
            return
        self.platform, self.answer_lang = request.platform, request.lang
        self.query_one(QuestionBox).put(request.question)
        self._stop_words()
        self._answers.stop()
        if self._pause is not None:
            self._pause.stop()
        self.is_chosen = False
        if request in self._kept:
            self._show_full(self._kept[request])
        else:
            self.action_ask()
