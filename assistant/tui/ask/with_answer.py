"""What can be done with the answer that is shown: read on, see why, copy, open, judge, compute again."""

from assistant import paths
from assistant.tui.ask import feedback
from assistant.tui.ask.box import QuestionBox
from assistant.tui.ask.heading import Heading
from assistant.tui.ask.results import Results
from assistant.tui.editor import edit
from assistant.tui.pane import Pane
from assistant.tui.safe import plain
from assistant.tui.words import explained

__all__ = ["WithAnswer"]


class WithAnswer(Pane):
    """The actions on an answer."""

    @property
    def question(self) -> str:
        """What stands in the box."""
        return self.query_one(QuestionBox).question

    @property
    def results(self) -> Results:
        """What was found."""
        return self.query_one(Results)

    def action_page_up(self) -> None:
        """Scroll the answer."""
        self.results.reader.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll the answer."""
        self.results.reader.scroll_page_down(animate=False)

    def action_why(self) -> None:
        """Show or hide ranks and scores."""
        full = self.results.full
        self.results.reader.show_why(full.answer if full is not None and not self.results.is_chosen else None)

    def action_whole(self) -> None:
        """Show the whole entry, or the parts that matter."""
        self.results.reader.show_entry_whole()

    async def action_edit(self) -> None:
        """Open the parameters of the first check."""
        cards = self.results.reader.cards()
        if cards:
            await cards[0].open()
        else:
            self.inform("no_checks")

    def action_copy(self) -> None:
        """Copy the answer with its citation."""
        from assistant import render

        full, entry = self.results.full, self.results.entry
        if full is not None and not self.results.is_chosen:
            text = render.answer_markdown(full.answer, full.entries)
        elif entry is not None:
            text = render.entry_markdown(entry)
        else:
            self.inform("nothing")
            return
        self.app.copy_to_clipboard(text)
        self.inform("copied", count=len(text))

    def action_source(self) -> None:
        """Open the source at its line."""
        entry = self.results.entry
        if entry is None:
            self.inform("nothing")
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
        if self.results.is_empty:
            self.inform("nothing")
            return
        entry = self.results.entry
        try:
            path = feedback.record(self.question, entry.id if entry is not None else "", verdict)
        except OSError as error:
            self.inform(
                "vote_failed", path=str(feedback.file()), error=explained(error.strerror or str(error), self.say)
            )
            return
        self.query_one(Heading).mark(verdict)
        self.inform(f"vote_{verdict}", path=str(path))

    def inform(self, key: str, **values: object) -> None:
        """Tell a sentence of the area for a moment."""
        self.app.notify(plain(self.say(key, **values)).plain, markup=False)
