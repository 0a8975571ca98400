"""One job at a time in a thread, always the newest request next; what came too late is dropped."""

from collections.abc import Callable
from typing import Any

from textual.message import Message
from textual.widget import Widget

from assistant.errors import AssistantError
from kb.errors import KbError

__all__ = ["Done", "Latest"]


class Done(Message):
    """A job has ended."""

    def __init__(self, job: "Latest", number: int, result: Any, error: str) -> None:  # noqa: ANN401 (of any job)
        super().__init__()
        self.job = job
        self.number = number
        self.result = result
        self.error = error
        """One sentence, or '' if it went well."""


class Latest:
    """A kind of job. `start` replaces a request that has not begun; `stop` drops what runs.

    A thread cannot be ended from outside, so that a job that runs is let run and its result dropped; no second one
    begins beside it, and threads never pile up however fast somebody types.
    """

    def __init__(self, owner: Widget, name: str) -> None:
        self.owner = owner
        self.name = name
        self._number = 0
        self._wanted: Callable[[], Any] | None = None
        self._is_running = False

    @property
    def is_busy(self) -> bool:
        """Whether somebody still waits for a result."""
        return self._wanted is not None

    def start(self, work: Callable[[], Any]) -> None:
        """Do this as soon as the job before has ended, instead of whatever waits."""
        self._number += 1
        self._wanted = work
        if not self._is_running:
            self._begin()

    def stop(self) -> None:
        """Want nothing any more."""
        self._number += 1
        self._wanted = None

    def ended(self, done: Done) -> bool:
        """Take notice that a job has ended; return whether its result is still wanted."""
        self._is_running = False
        if self._wanted is None:
            return False
        if done.number == self._number:
            self._wanted = None
            return True
        self._begin()
        return False

    def _begin(self) -> None:
        number, work = self._number, self._wanted
        if work is None:
            return
        self._is_running = True

        def run() -> None:
            result, error = None, ""
            try:
                result = work()
            except (AssistantError, KbError) as problem:
                error = str(problem)
            except Exception as problem:  # a defect is told in the pane; the window and what it shows stay
                error = f"{type(problem).__name__}: {problem}"
            self.owner.post_message(Done(self, number, result, error))

        self.owner.run_worker(run, thread=True, group=self.name, name=self.name)
