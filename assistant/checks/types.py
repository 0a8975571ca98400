"""What a check is, and what comes out of one. All frozen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Kind = Literal["number", "integer", "flag", "choice", "numbers", "integers", "shape", "text", "file"]

#: Value of every kind as Python holds it: float, int, bool, str (choice, text), tuple of float or int (numbers,
#: integers, shape), Path (file).
Value = Any


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""Default of a parameter that has none."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a check."""

    name: str
    kind: Kind
    zh: str
    """What it is, a few words."""
    en: str
    example: str
    """A value as one would type it, shown in help and in errors."""
    unit: str = ""
    """Unit of the number as the function takes it: MHz, byte, ms, s, 1/s, MAC ...; "" for a plain number."""
    low: float | None = None
    """Smallest allowed number (of each, for lists and shapes)."""
    high: float | None = None
    """Largest allowed number."""
    choices: tuple[str, ...] = ()
    default: Value = REQUIRED
    """REQUIRED, or the value taken when it is not given; None where leaving it out means something else."""
    read_least: int = 1
    """Fewest items of a list that a question must name for it to be read; one number is not a list to sum."""
    most: int = 1000
    """Largest number of items of a list; of axes, for a shape."""
    words: tuple[str, ...] = ()
    """How people name it in a sentence, both languages, lower case; the name itself need not be repeated."""
    spoken: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Of choices: code -> words that mean it, both languages, lower case, beside the usual synonyms."""
    in_order: bool = False
    """Whether unnamed quantities are read by their order in the text, with its neighbours of which this is true too:
    width and height, mine and golden."""


@dataclass(frozen=True, slots=True)
class Result:
    """One value that comes out of a check."""

    name: str
    zh: str
    en: str
    unit: str = ""
    labels: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For a result that is a word: code -> (zh, en)."""


@dataclass(frozen=True, slots=True)
class Check:
    """A calculation: one row of the table."""

    name: str
    zh: str
    """Title."""
    en: str
    help_zh: str
    """What it computes and by which formula, two or three sentences; indexed for search."""
    help_en: str
    asks_zh: tuple[str, ...]
    """Questions it answers, as people put them; indexed for search."""
    asks_en: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    shown_zh: str
    """The outcome as a sentence: a format string over results and parameters, such as "{low} 到 {high}"."""
    shown_en: str
    function: Callable[..., Mapping[str, Value]]
    """Parameters as keywords -> the results by name; raises simcore's BadArgument for what cannot be computed."""
    source: str
    """Where formula and constants come from."""
    example: Mapping[str, str] = field(default_factory=dict)
    """Arguments of an example where the required ones alone are not enough, as text."""
    assumptions: tuple[tuple[str, str], ...] = ()
    """(zh, en) of what no source says; shown with every result."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check gave."""

    check: str
    arguments: Mapping[str, Value]
    """All of them, defaults included."""
    status: Literal["done", "pass", "fail", "skip"]
    """done: computed, nothing was expected. skip: not run, or over its limit; `reason` says why."""
    result: Mapping[str, Value]
    expected: Mapping[str, Value]
    """What a corpus block expects, by result name; empty otherwise."""
    seconds: float
    reason: str = ""
    """Why it failed or was skipped, one sentence."""
