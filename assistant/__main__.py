"""Entry point of the command `asknpu`."""

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # One thread each: a question is one small vector, and idle BLAS and OpenMP threads spin against each other.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    from assistant.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
