"""Run a check within a time limit, in a thread of its own, so that neither a screen nor a caller can hang on it."""

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from assistant.checks.types import Check, Outcome, Value
from assistant.checks.values import arguments
from assistant.errors import BadInput

__all__ = ["LIMIT_SECONDS", "run_check"]

#: Time after which a check is given up. Sizes are limited by the ranges of the parameters, so that none comes near it.
LIMIT_SECONDS: Final = 5.0


def run_check(
    check: Check, given: Mapping[str, object], *, base: Path | None = None, limit: float = LIMIT_SECONDS
) -> Outcome:
    """Return what a check gives for arguments as text or TOML values; status "done", or "skip" if over the limit.

    Args:
        check: the check.
        given: arguments by name.
        base: directory that file arguments must lie in; None allows any path that is named.
        limit: seconds.

    Raises:
        BadInput: arguments that do not fit, or that the function refuses.
    """
    typed = arguments(check, given, base)
    box: list[Mapping[str, Value] | BaseException] = []

    def work() -> None:
        try:
            box.append(check.function(**typed))
        except BaseException as error:  # carried over to the caller, which raises it
            box.append(error)

    started = time.perf_counter()
    thread = threading.Thread(target=work, name=f"check {check.name}", daemon=True)
    thread.start()
    thread.join(limit)
    seconds = time.perf_counter() - started
    if not box:
        return Outcome(check.name, typed, "skip", {}, {}, seconds, f"took longer than {limit:g} s and was given up")
    found = box[0]
    if isinstance(found, BaseException):
        raise _as_input(check, found) from found
    return Outcome(check.name, typed, "done", found, {}, seconds)


def _as_input(check: Check, error: BaseException) -> BaseException:
    """Return what numbers can do to a calculation as an error of the input; a defect of the check stays itself."""
    from simcore.errors import SimError

    if isinstance(error, SimError):
        return BadInput(f"{check.name}: {error}")
    if isinstance(error, MemoryError):
        return BadInput(f"{check.name}: not enough memory for these sizes; give smaller ones")
    if isinstance(error, ArithmeticError | ValueError):
        return BadInput(f"{check.name}: cannot be computed with these numbers: {error}")
    return error
