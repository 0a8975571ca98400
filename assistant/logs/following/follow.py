"""A log that is being written -> its bytes as they come: of a file through its rotations, a pipe, a serial device."""

import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from assistant.errors import BadInput
from assistant.logs.following.device import Device
from assistant.logs.following.events import Data, Event, Idle, Lost, Restarted, Waiting
from assistant.logs.following.growing import Growing

__all__ = ["Data", "Event", "Idle", "Lost", "Restarted", "Waiting", "follow"]


def follow(
    path: Path, *, poll_s: float = 0.05, stop: Callable[[], bool], start: Literal["begin", "end"] = "begin"
) -> Iterator[Event]:
    """Return what happens to a log until `stop()`: its bytes, each once and in order, and what is in their way.

    Rotation by renaming (also with packing), by copying and truncating, and truncation alone are followed; bytes that
    lie in a rotated file by then are read from there. `Lost` says where bytes may be missing. A file, pipe or device
    that is missing is waited for. Bytes that are written to a file of which nothing was read yet, and removed with
    every copy of them between two looks, leave no trace.

    Args:
        path: of the file, pipe or device. A file that it is renamed to is read to its end, too.
        poll_s: pause after a look that found nothing.
        stop: is asked before each event.
        start: from the beginning of a file that is there, or from its end.

    Raises:
        BadInput: The path is a directory, a socket or a disk.
    """
    path = Path(path)
    log: Growing | Device | None = None
    reason = ""
    is_first = True
    try:
        while not stop():
            is_idle = True
            if log is None:
                try:
                    log = _log(path, from_end=start == "end" and is_first)
                except OSError as error:
                    if reason != (reason := error.strerror or str(error)):
                        yield Waiting(f"{path}: {reason}")
                is_first = False
            for event in log.look() if log else ():
                is_idle = False
                yield event
                if stop():
                    return
            if is_idle:
                yield Idle()
                time.sleep(poll_s)
    finally:
        if log:
            log.close()


def _log(path: Path, from_end: bool) -> Growing | Device:
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        return Growing(path, from_end)
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return Device(path)
    what = "a directory" if stat.S_ISDIR(mode) else "no file, pipe or serial device"
    raise BadInput(f"{path}: is {what} and cannot be followed; give the file that is being written")
