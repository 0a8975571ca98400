"""The window at a terminal and in a browser: signals, threads and exit codes around it.

`python -m assistant.tui_cli` is what `asknpu serve` starts for each browser page.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from assistant.errors import EXIT_OK, BadInput
from assistant.tui.app import Window

__all__ = ["run_window", "serve"]

_GRACE_S = 0.5
"""How long a thread may go on after the window is closed."""


def run_window() -> int:
    """Show the window until it is left.

    Returns:
        The exit code; 128 + N after signal N.
    """
    if sys.stdout.isatty():
        # Exported by a shell, they would stand for the terminal's size, and stay as they are when it is resized.
        for name in ("COLUMNS", "LINES"):
            os.environ.pop(name, None)
    return asyncio.run(_shown(Window()))


async def _shown(window: Window) -> int:
    loop = asyncio.get_running_loop()
    executor = ThreadPoolExecutor(thread_name_prefix="window")
    loop.set_default_executor(executor)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, window.call_later, window.leave, 128 + number)
    given = await window.run_async()
    code = window.return_code or given or EXIT_OK
    executor.shutdown(wait=False, cancel_futures=True)
    _leave_threads(code)
    return code


def _leave_threads(code: int) -> None:
    """End the process if a worker is still busy, for example loading a model: nobody waits for its result."""
    end = time.monotonic() + _GRACE_S
    while any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        if time.monotonic() > end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        time.sleep(0.01)


def serve(host: str, port: int, token: str | None) -> int:
    """Show the window in browsers until interrupted.

    Args:
        host: address to listen on; one that others can reach needs a token.
        port: TCP port.
        token: what every request must bring.

    Raises:
        BadInput: the address and the token do not go together, or the address cannot be had.
    """
    from assistant.tui.serve import problem_of, run_server

    if (problem := problem_of(host, token)) is not None:
        raise BadInput(problem)
    command = [sys.executable, "-m", "assistant.tui_cli"]
    try:
        run_server(command, host, port, token)
    except OSError as error:
        raise BadInput(
            f"cannot listen on {host}, port {port}: {error.strerror}; give another --port or --host"
        ) from error
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(run_window())
