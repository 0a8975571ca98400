"""What happens to a followed log, as values."""

from dataclasses import dataclass

__all__ = ["Data", "Event", "Idle", "Lost", "Restarted", "Waiting"]


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes that follow those before, unless `Restarted` or `Lost` came between."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Idle:
    """A look at the log found nothing new; a line without end may be all there is of it."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """What comes next begins a file: the log was truncated or replaced, or the device came back."""

    why: str


@dataclass(frozen=True, slots=True)
class Lost:
    """Bytes may be missing here: they could not be found, or it cannot be shown that all were."""

    why: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The log cannot be read now; said once for each reason, until it can be again."""

    why: str


Event = Data | Idle | Restarted | Lost | Waiting
