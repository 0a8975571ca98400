"""The box that asks for a text in the log, and the thread that looks for it."""

from textual import on, work
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from assistant.tui.logs.find import find
from assistant.tui.logs.rows import Rows

__all__ = ["FindBar"]

#: So often at most it is told how far a search is.
_TELLS = 100
_STEP_LEAST = 64


class FindBar(Input):
    """Shown while it asks. `query_text` is what is looked for, also when the box is closed."""

    class Asked(Message):
        """Something else is looked for, or nothing any more."""

    class Searched(Message):
        """How far a search is; `share` is 1 at its end, `row` what it found."""

        def __init__(self, rows: Rows, query: str, share: float, row: int | None = None) -> None:
            super().__init__()
            self.rows = rows
            self.query = query
            self.share = share
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, compact=True)
        self.query_text = ""

    @property
    def is_open(self) -> bool:
        """Whether it asks."""
        return self.has_class("shown")

    def open(self) -> None:
        """Ask."""
        self.value = self.query_text
        self.add_class("shown")
        self.focus()

    def close(self) -> None:
        """Ask no more."""
        self.remove_class("shown")

    def clear_query(self) -> None:
        """Look for nothing any more."""
        self.workers.cancel_group(self, "find")
        self.query_text = ""

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self.clear_query()
        self.query_text = event.value
        self.post_message(self.Asked())

    @work(thread=True, group="find", exclusive=True)
    def search(self, rows: Rows, row: int, back: bool) -> None:
        """Look for the next row with the text; `Searched` tells of it.

        Args:
            rows: of the log.
            row: where to begin.
            back: upwards.
        """
        worker, query = get_current_worker(), self.query_text
        step = max(rows.blocks // _TELLS, _STEP_LEAST)

        def tell(done: int) -> None:
            if done and done % step == 0:
                self.post_message(self.Searched(rows, query, min(done / max(rows.blocks, 1), 0.99)))

        found = find(rows, query, row, back=back, stop=lambda: worker.is_cancelled, on_block=tell)
        if not worker.is_cancelled:
            self.post_message(self.Searched(rows, query, 1.0, found))
