"""What the workers of the pane report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from assistant.tui.library.shelf import Shelf
from kb.types import Entry

if TYPE_CHECKING:
    from assistant.checks.types import Outcome
    from assistant.tui import painted
    from assistant.tui.library.glossed import Gloss

__all__ = ["Checked", "Failed", "Glossed", "Opened", "Painted"]


@dataclass
class Opened(Message):
    """The corpus was read."""

    shelf: Shelf


@dataclass
class Failed(Message):
    """The corpus could not be read."""

    problem: str


@dataclass
class Painted(Message):
    """A page was painted; it is shown unless a later one was asked for."""

    turn: int
    page: "painted.Painted"


@dataclass
class Checked(Message):
    """Check blocks were run."""

    outcomes: "Mapping[tuple[str, str], tuple[Outcome, ...]]"


@dataclass
class Glossed(Message):
    """The terms of an entry were looked up."""

    shelf: Shelf
    entry: Entry
    glosses: "tuple[Gloss, ...]"
