"""The area ask: what keys and clicks do, with the question, its filters and history."""

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from assistant.tui.ask import filters, history
from assistant.tui.ask.asking import Asking
from assistant.tui.ask.bar import Bar
from assistant.tui.ask.bindings import KEYS
from assistant.tui.ask.box import QuestionBox
from assistant.tui.ask.clicks import Do
from assistant.tui.ask.latest import Done
from assistant.tui.ask.results import Results
from assistant.tui.ask.values import Full, Opened, Request, Typed
from assistant.tui.ask.with_answer import WithAnswer
from assistant.tui.safe import plain
from assistant.tui.words import explained

__all__ = ["AskPane"]


class AskPane(WithAnswer):
    """A question, the entries found, and the answer."""

    AREA = "ask"
    DEFAULT_CSS = """
    AskPane #ask-box { height: 3; border: round $primary-muted; background: transparent; padding: 0 1; }
    AskPane #ask-box:focus { border: round $primary; }
    AskPane #ask-bar { height: 1; padding: 0 1; }
    AskPane #ask-error { height: auto; max-height: 8; padding: 0 2; color: $error; display: none; }
    AskPane #ask-error.-told { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def on_mount(self) -> None:
        """Restore the last question; open the corpus once the box is usable."""
        self.asking = Asking(self, self.services, self._request, self.action_ask)
        self.platforms: tuple[str, ...] = ()
        self._kept: dict[Request, Full] = {}
        self._state: tuple[str, dict[str, object]] = ("idle", {})
        self._failed_question = ""
        self._is_building = False
        self.filters = filters.restored(self.restored)
        self.history = history.restored(self.restored.get("history"))
        self.results.reader.shows_why = bool(self.restored.get("why"))
        self.query_one(QuestionBox).relabel(self.say)
        self._show_bar()
        self.set_timer(0.3, self.asking.open_corpus)
        self._opening = self.set_interval(0.3, self._opens)
        question = self.restored.get("question")
        if isinstance(question, str) and question:
            self.query_one(QuestionBox).put(question)
            self.set_timer(0.4, self.action_ask)

    def compose(self) -> ComposeResult:
        """Lay out box, filters, list and answer."""
        yield QuestionBox(id="ask-box")
        yield Bar(id="ask-bar", markup=False)
        yield Static(id="ask-error", markup=False)
        yield Results(self.say, self.lang)

    def first_focus(self) -> Widget | None:
        """The box."""
        return self.query_one(QuestionBox)

    def relabel(self) -> None:
        """Set every label again; what was found stays."""
        self.query_one(QuestionBox).relabel(self.say)
        self._show_bar()
        self.results.relabel(self.say)

    def state(self) -> dict[str, Any]:
        """Question, filters, history."""
        return {
            "question": self.question,
            "platform": self.filters.platform,
            "answer_lang": self.filters.lang,
            "why": self.results.reader.shows_why,
            "history": self.history.saved(),
        }

    # What is typed, and what comes back

    def _request(self) -> Request:
        return Request(self.question, self.filters.lang, self.filters.platform, self.lang)

    @on(Input.Changed, "#ask-box")
    def _changed(self) -> None:
        self.results.is_chosen = False
        if _is_question(self.question):
            self.asking.typed()
            if self._state[0] not in ("by_words", "looking"):
                # What is told is of the question before.
                self._tell("looking")
            return
        self.asking.stop_words()
        self.asking.stop_answers()
        self.results.clear()
        self._tell("idle")

    @on(Input.Submitted, "#ask-box")
    def _submitted(self) -> None:
        self.action_ask()

    @on(Done)
    def _done(self, done: Done) -> None:
        done.stop()
        if not done.job.ended(done):
            return
        if done.error:
            self._failed(done.error)
        elif isinstance(done.result, Typed):
            self._typed(done.result)
        elif isinstance(done.result, Opened):
            self.results.show_opened(done.result)
        elif done.job is self.asking.corpus:
            self.platforms = done.result
            self._opening.stop()
            self._opens()
        elif done.result is not None:
            self._answered(*done.result)

    def _opens(self) -> None:
        """Say it while the index is being built: nothing is found before."""
        if self._is_building != self.asking.is_building:
            self._is_building = self.asking.is_building
            self._show_bar()

    def _typed(self, typed: Typed) -> None:
        if not _is_question(self.question):
            return
        self.results.show_typed(typed)
        # What failed stays told, though the words of the same question were found.
        if not self.asking.answers.is_busy and self._failed_question != self.question:
            self._tell("by_words", count=len(typed.rows), ms=round(typed.seconds * 1000))

    def _answered(self, request: Request, full: Full) -> None:
        # What the words found comes too late now.
        self.asking.stop_words()
        self.history.add(request)
        self._kept = {known: kept for known, kept in self._kept.items() if known in self.history.items}
        self._kept[request] = full
        self._show_full(full)

    def _show_full(self, full: Full) -> None:
        self.results.show_full(full)
        is_answered = full.answer.status == "answered"
        self._tell("complete" if is_answered else "nothing_found", ms=round(full.seconds * 1000))

    def _failed(self, error: str) -> None:
        # An answer to another question must not stand below this one.
        if self.results.full is not None and self.results.full.answer.question != self.question:
            self.results.clear()
        self._failed_question = self.question
        self._tell("failed", error=error)

    def _tell(self, key: str, **values: object) -> None:
        self._state = (key, values)
        self._show_bar()

    def _show_bar(self) -> None:
        chosen = self.filters
        shown = [
            ("platform", self.say("platform"), chosen.platform or self.say("all"), chosen.platform is not None),
            ("answer_language", self.say("lang"), self.say(f"lang_{chosen.lang}"), chosen.lang is not None),
        ]
        key, values = ("building", {}) if self._is_building else self._state
        is_busy = key in ("searching", "building")
        self.query_one(Bar).show(shown, self.say(key, **values), is_bad=key == "failed", is_busy=is_busy)
        error = self.query_one("#ask-error", Static)
        error.set_class(key == "failed", "-told")
        error.update(plain(f"! {explained(str(values['error']), self.say)}") if key == "failed" else "")

    # Asking, choosing, history and filters

    def action_ask(self) -> None:
        """Get the full answer now."""
        request = self._request()
        if _is_question(request.question):
            self._failed_question = ""
            self._tell("searching")
            self.asking.ask(request)
        elif request.question:
            self._tell("empty")

    @on(Do)
    async def _clicked(self, message: Do) -> None:
        message.stop()
        await self.app.run_action(message.action, default_namespace=self)

    @on(OptionList.OptionHighlighted, "#ask-list")
    def _highlighted(self, message: OptionList.OptionHighlighted) -> None:
        if message.option_list.has_focus and message.option_id:
            self._choose(message.option_id)

    @on(OptionList.OptionSelected, "#ask-list, #ask-near")
    def _selected(self, message: OptionList.OptionSelected) -> None:
        key = message.option_id or ""
        if key.startswith(("?", "~")):
            self.query_one(QuestionBox).put(self.say(f"example_{key[1:]}") if key[0] == "?" else key[1:])
            self.query_one(QuestionBox).focus()
            self.results.is_chosen = False
            self.action_ask()
        elif key:
            self._choose(key)
            self.results.reader.focus()

    def _choose(self, key: str) -> None:
        """Show an entry; that of the answer is shown as the answer."""
        if self.results.show_answer(key):
            self.asking.entries.stop()
            return
        self.results.is_chosen = True
        self.asking.choose(key, self.results.lang, self.question, self.results.hit(key))

    def action_list(self) -> None:
        """Go from the box to the entries; elsewhere to whatever comes next."""
        if not self.query_one(QuestionBox).has_focus:
            self.screen.focus_next()
            return
        listing = self.results.choices
        listing.focus()
        if listing.highlighted is None and listing.option_count:
            listing.highlighted = 0

    def action_cancel(self) -> None:
        """End what runs; else back to the box; else empty it."""
        if self.asking.is_busy:
            self.asking.stop_answers()
            self._tell("cancelled")
        elif not self.query_one(QuestionBox).has_focus:
            self.query_one(QuestionBox).focus()
        else:
            self.action_clear()

    def action_clear(self) -> None:
        """Empty the box."""
        self.query_one(QuestionBox).value = ""

    def action_platform(self) -> None:
        """Only entries of the next platform; all after the last."""
        self._filter(self.filters.next_platform(self.platforms))

    def action_answer_language(self) -> None:
        """Answer in the question's language, in Chinese, in English."""
        self._filter(self.filters.next_lang())

    def _filter(self, chosen: filters.Filters) -> None:
        self.filters = chosen
        self.results.is_chosen = False
        self._show_bar()
        self.action_ask()

    def action_back(self) -> None:
        """Show the question before."""
        self._go(self.history.back_from(self.question))

    def action_forward(self) -> None:
        """Show the question after."""
        self._go(self.history.move(1))

    def _go(self, request: Request | None) -> None:
        if request is None:
            self.inform("history_end")
            return
        self.filters = filters.Filters(request.platform, request.lang)
        self.query_one(QuestionBox).put(request.question)
        self.asking.stop_words()
        self.asking.stop_answers()
        self.results.is_chosen = False
        if request in self._kept:
            self._show_full(self._kept[request])
        else:
            self.action_ask()


def _is_question(text: str) -> bool:
    return any(character.isalnum() for character in text)
