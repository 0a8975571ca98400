"""Values of log diagnosis: what a code means, where one stands in a text, what a log shows."""

from dataclasses import dataclass
from typing import Literal

Certainty = Literal["documented", "header", "inferred"]
CERTAINTIES: tuple[Certainty, ...] = ("documented", "header", "inferred")


@dataclass(frozen=True, slots=True)
class Meaning:
    """One code of one platform."""

    platform: str
    """Name of the table it stands in, as in `corpus/codes/platforms.toml`."""
    code: str
    """The key: a decimal number, negative where the platform counts downwards, or an E-code in capitals."""
    name: str
    """The symbol in the vendor's header; empty where there is none."""
    module: str
    """Part of the vendor's software that issues it."""
    meaning_zh: str
    meaning_en: str
    cause_hint_zh: str
    """Where to look first; a hint and no finding. Empty in both languages where there is none."""
    cause_hint_en: str
    source: str
    """Public header or document the number is taken from."""
    certainty: Certainty
    """documented: the vendor says what it means; header: worded from the symbol and where it stands; inferred: from the
    words of the symbol only."""
    entry: str
    """Id of the corpus entry about it, or empty."""


@dataclass(frozen=True, slots=True)
class Found:
    """A code that stands in a text."""

    code: str
    """The key, as in `Meaning.code`; it may be one that no table has."""
    spelling: str
    """How the text spells it."""
    start: int
    """Offset of the first character of the spelling."""
    end: int
    """Offset behind its last character."""


Role = Literal["cause", "symptom", "benign"]
Verdict = Literal["cause", "undecided", "clean"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of a log that speaks for a finding."""

    log: int
    """Which of the logs, from 0."""
    line: int
    """From 1."""
    start: int
    """Offset of its first byte in the log (of gzip: in the unpacked bytes), prefixes included."""
    end: int
    """Offset behind its last byte, without the line end."""
    text: str
    """Without prefixes, colours and control characters of the log's carriers; long ones are cut."""
    time: str
    """As the log writes it; empty if it does not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found."""

    rule: str
    """Its id."""
    platform: str
    role: Role
    cause_zh: str
    cause_en: str
    steps_zh: tuple[str, ...]
    steps_en: tuple[str, ...]
    confidence: float
    """0 to 1: how sure the rule's source is, less for ties and for evidence that several logs share."""
    certainty: str
    """documented, confirmed or inferred."""
    primary: bool
    """Whether it is an answer: the earliest cause of its task that nothing explains. Several are candidates."""
    stream: str
    """Container, rank or process; empty if the log does not say."""
    evidence: tuple[Evidence, ...]
    count: int
    """How often its first evidence line was seen; of very frequent lines at least so often."""
    entry: str
    source: str
    explains: tuple[str, ...]
    """Rules of other findings that are consequences of this one."""
    explained_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnknownLines:
    """Lines that look bad and that no rule knows, of one form."""

    template: str
    """Their text with `N`, `<hex>`, `<path>` for what differs."""
    count: int
    at_least: bool
    """Whether there were more than were counted."""
    first: Evidence


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A code in a log, with its meanings for the platform in evidence, or all candidates."""

    code: str
    meanings: tuple[Meaning, ...]
    first: Evidence
    count: int


@dataclass(frozen=True, slots=True)
class Need:
    """What would decide."""

    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the logs of one incident say."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    """Best first: answers, then other causes, symptoms, benign lines."""
    codes: tuple[CodeLine, ...]
    unknown: tuple[UnknownLines, ...]
    """Most frequent first."""
    needed: tuple[Need, ...]
    """Which lines or logs would decide; empty unless undecided."""
    lines: int
    """Lines read."""
    bytes: int
    """Bytes read, unpacked."""
    matched_lines: int
    """Lines with at least one of the texts that are looked for."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A code in a question."""

    code: str
    meanings: tuple[Meaning, ...]
    """Several if it is ambiguous."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What a question brings along."""

    codes: tuple[Explained, ...]
    """Codes that some table knows, in the order of the text."""
    diagnosis: Diagnosis | None
    """What the pasted lines of a log show; None if there are none or nothing is wrong in them."""
