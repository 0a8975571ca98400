"""Reads a pipe or a serial device: never seeks, never waits, and comes back when the device does."""

import errno
import os
import stat
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

from assistant.logs.following.events import Data, Event, Lost, Restarted, Waiting
from assistant.logs.following.siblings import key_of

__all__ = ["Device"]

_READ = 1 << 16


class Device:
    """Owns the descriptor of a followed pipe or device."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None
        self._reason = ""
        self._was_open = False

    def close(self) -> None:
        """Close the descriptor."""
        if self._fd is not None:
            os.close(self._fd)
        self._fd = None

    def look(self) -> Iterator[Event]:
        """Return what came since the last look; nothing if nothing did."""
        try:
            if self._fd is not None:
                yield from self._read(self._fd)
            # Not open yet, or replaced while it was.
            if self._fd is None:
                self._fd = fd = _opened(self._path)
                self._reason = ""
                if self._was_open:
                    yield Restarted(f"{self._path}: is back")
                self._was_open = True
                yield from self._read(fd)
        except OSError as error:
            self.close()
            reason = "disconnected" if error.errno in (errno.EIO, errno.ENXIO, errno.ENODEV) else error.strerror
            if reason != self._reason:
                self._reason = reason or str(error)
                yield Waiting(f"{self._path}: {self._reason}")

    def _read(self, fd: int) -> Iterator[Event]:
        is_pipe = stat.S_ISFIFO(os.fstat(fd).st_mode)
        while True:
            try:
                data = os.read(fd, _READ)
            except BlockingIOError:
                if is_pipe:
                    # It has a writer, even if it was removed or replaced.
                    return
                break
            except BrokenPipeError:
                # The kernel's log says so.
                yield Lost(f"{self._path}: entries were overwritten before they were read")
                continue
            if not data:
                if os.isatty(fd):
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                break
            yield Data(data)
        if key_of(os.fstat(fd)) != key_of(self._path.stat()):
            self.close()


def _opened(path: Path) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if os.isatty(fd) and not _is_ours(fd):
        # Otherwise what the board says is echoed back to it, and could stop it in its boot loader.
        tty.setraw(fd, termios.TCSANOW)
    return fd


def _is_ours(fd: int) -> bool:
    """Return whether a terminal is the one that the user sits at."""
    try:
        os.tcgetpgrp(fd)
    except OSError:
        return False
    return True
