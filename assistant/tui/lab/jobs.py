"""Long work as jobs: queued, running in a thread, with progress, and cancelled at any time."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

__all__ = ["Cancelled", "Job", "Jobs", "Progress", "State"]

State = Literal["queued", "running", "done", "failed", "cancelled"]

Progress = Callable[[float, str], None]
"""Share done (0 to 1) and what is being done, a few words."""
Cancelled = Callable[[], bool]
"""Whether the work is no longer wanted; long work asks between its steps and returns."""

#: Jobs that run at the same time; the others are queued.
MOST_RUNNING: Final = 2


@dataclass(eq=False)
class Job:
    """One piece of work. Its fields are changed by `Jobs` alone."""

    title: str
    run: Callable[[Progress, Cancelled], Any]
    """Called in a thread; what it returns is `result`, an exception it raises is `error`."""
    state: State = "queued"
    share: float | None = None
    """Share done; None while the work has not told."""
    doing: str = ""
    result: Any = None
    error: Exception | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in ("done", "failed", "cancelled")


class Jobs:
    """Starts jobs in the order in which they came, a few at a time; safe to call from any thread.

    A cancelled job is over at once: what its thread still gives is dropped, but the thread keeps its place until it
    ends, so that no number of cancelled jobs fills the machine.
    """

    def __init__(self, start: Callable[[Callable[[], None]], object], changed: Callable[[Job], object]) -> None:
        """Make an empty queue.

        Args:
            start: runs a function in a thread.
            changed: told, in any thread, that a job changed.
        """
        self._start = start
        self._changed = changed
        self._lock = threading.Lock()
        self._waiting: list[Job] = []
        self._threads = 0

    def add(self, job: Job) -> Job:
        """Queue a job; it starts as soon as there is room."""
        with self._lock:
            self._waiting.append(job)
        self._changed(job)
        self._fill()
        return job

    def cancel(self, job: Job) -> bool:
        """End a job that is not over; return whether there was anything to end."""
        with self._lock:
            if job.is_over:
                return False
            job.state = "cancelled"
            job.stop.set()
            if job in self._waiting:
                self._waiting.remove(job)
        self._changed(job)
        return True

    def _fill(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self._threads >= MOST_RUNNING:
                    return
                job = self._waiting.pop(0)
                job.state = "running"
                self._threads += 1
            self._changed(job)
            self._start(lambda job=job: self._work(job))  # type: ignore[misc]

    def _work(self, job: Job) -> None:
        def progress(share: float, doing: str) -> None:
            with self._lock:
                if job.is_over:
                    return
                job.share, job.doing = min(max(share, 0.0), 1.0), doing
            self._changed(job)

        result, error = None, None
        try:
            result = job.run(progress, job.stop.is_set)
        except Exception as caught:  # whatever the work raises is shown as its outcome
            error = caught
        with self._lock:
            self._threads -= 1
            was_over = job.is_over
            if not was_over:
                job.state, job.result, job.error = ("failed" if error else "done"), result, error
        if not was_over:
            self._changed(job)
        self._fill()
