"""What runs in threads: estimates and rewrites in the second process, told to the area as messages."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.message import Message

from assistant.tui.model import rewriting
from assistant.tui.model.engine import Engine, Stopped

__all__ = ["Estimated", "Failed", "Inputs", "Rewritten", "Running", "Stage"]


@dataclass
class _Told(Message):
    run: int
    """Which run it belongs to: what an older one still says is dropped."""


@dataclass
class Stage(_Told):
    """A run has come to its next step."""

    stage: str
    """read, estimate, rewrite."""
    name: str
    """Of the model."""
    done: int
    steps: int


@dataclass
class Inputs(_Told):
    """The model was read: its inputs (see assistant.tui.model.job)."""

    inputs: list[dict[str, Any]]


@dataclass
class Estimated(_Told):
    """The estimates of all models, as `estimate --json` gives them."""

    models: list[dict[str, Any]]


@dataclass
class Rewritten(_Told):
    """The outcome of a rewrite, as `fix --json` gives it, with `clean`."""

    outcome: dict[str, Any]


@dataclass
class Failed(_Told):
    """The run ended with a reason, an English sentence."""

    reason: str


class Running:
    """Owns the second process, and the number of the run that counts."""

    def __init__(self, post: Callable[[Message], object]) -> None:
        """Make it; nothing is started.

        Args:
            post: takes messages, from any thread.
        """
        self.engine = Engine()
        self.run = 0
        self.doing = ""
        """estimate, fix, or "" if nothing runs."""
        self._post = post

    def begin(self, doing: str) -> int:
        """Return the number of a new run; what another one still tells no longer counts."""
        self.run += 1
        self.doing = doing
        return self.run

    def is_current(self, told: _Told) -> bool:
        """Return whether a message belongs to the run that counts; its last message ends it."""
        if told.run != self.run or not self.doing:
            return False
        if isinstance(told, Estimated | Rewritten | Failed):
            self.doing = ""
        return True

    def stop(self) -> None:
        """Let nothing count any more."""
        self.doing = ""

    def estimate(self, run: int, job: dict[str, Any], is_stopped: Callable[[], bool]) -> None:
        """Do an estimate; call in a thread.

        Args:
            run: from `begin`.
            job: see assistant.tui.model.job.
            is_stopped: asked all the time.
        """
        names, steps, step = [Path(path).name for path in job["paths"]], 2 * len(job["paths"]), -1

        def tell(word: str, value: Any) -> None:  # noqa: ANN401 (see assistant.tui.model.job)
            nonlocal step
            if word == "stage":
                step += 1
                self._post(Stage(run, str(value), names[step // 2], step, steps))
            elif word == "inputs" and value["path"] == job["paths"][0]:
                self._post(Inputs(run, value["inputs"]))

        try:
            word, value = self.engine.run(job, tell, is_stopped)
        except Stopped:
            return
        self._post(Failed(run, str(value)) if word == "failed" else Estimated(run, value["models"]))

    def rewrite(self, run: int, job: dict[str, Any], out: str, is_stopped: Callable[[], bool]) -> None:
        """Do a rewrite, its result at `out` if it was proved; call in a thread."""
        name = Path(job["path"]).name

        def tell(word: str, value: Any) -> None:  # noqa: ANN401 (see assistant.tui.model.job)
            if word == "stage":
                self._post(Stage(run, str(value), name, 0, 1))

        try:
            word, value = rewriting.rewritten(self.engine, job, out, tell, is_stopped)
        except Stopped:
            return
        self._post(Failed(run, str(value)) if word == "failed" else Rewritten(run, value))
