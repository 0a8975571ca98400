"""A second process for models: whatever runs there can be stopped at once, and never holds up the window."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from assistant.tui.model.job import Tell

__all__ = ["Engine", "Stopped"]

_POLL_S = 0.05
_ROOT = str(Path(__file__).resolve().parents[3])
_CODE = "from assistant.tui.model.job import serve; serve()"
_GONE = ("gone", None)


class Stopped(Exception):
    """The job was stopped before its end."""


class Engine:
    """Owns the process: it starts with the first job, is kept for the next one, and is ended to stop a job."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._told: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._is_closed = False

    def run(self, job: dict[str, Any], tell: Tell, is_stopped: Callable[[], bool]) -> tuple[str, Any]:
        """Return ("done", result) or ("failed", sentence) of a job; call in a thread.

        Args:
            job: see assistant.tui.model.job.
            tell: gets what the process tells on the way.
            is_stopped: asked all the time; once it is true the process is ended.

        Raises:
            Stopped: it was stopped.
        """

        def is_over() -> bool:
            return self._is_closed or is_stopped()

        while not self._turn.acquire(timeout=_POLL_S):
            if is_over():
                raise Stopped
        try:
            return self._done(job, tell, is_over)
        except BrokenPipeError:
            self._end()
            return "failed", "the calculation ended unexpectedly, perhaps for lack of memory; try again"
        finally:
            self._turn.release()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._is_closed = True
        self._end()

    def _done(self, job: dict[str, Any], tell: Tell, is_over: Callable[[], bool]) -> tuple[str, Any]:
        if is_over():
            raise Stopped
        self._send(job)
        while True:
            try:
                word, value = self._told.get(timeout=_POLL_S)
            except queue.Empty:
                if is_over():
                    self._end()
                    raise Stopped from None
                continue
            if word == "gone":
                raise BrokenPipeError
            if word in ("done", "failed"):
                return word, value
            tell(word, value)

    def _send(self, job: dict[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()

    def _start(self) -> None:
        self._end()
        # Its path is ours, not the current directory: a file numpy.py beside a model must not be run.
        path = [_ROOT, *(entry for entry in sys.path if entry)]
        code = f"import sys; sys.path[:] = {path!r}; {_CODE}"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._told = queue.Queue()
        threading.Thread(target=_read, args=(self._process.stdout, self._told), daemon=True).start()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdin is not None:
                try:
                    process.stdin.close()
                except BrokenPipeError:
                    return


def _read(lines: IO[bytes], told: "queue.Queue[tuple[str, Any]]") -> None:
    """Queue what a process tells until it ends."""
    with lines:
        for line in lines:
            word, value = json.loads(line)
            told.put((word, value))
    told.put(_GONE)
