"""What the assistant reports as an error, and the exit codes of the command line.

AssistantError      base; the message is one sentence for the user
├── BadInput        exit code 2
└── NothingFound    exit code 1

KbError of kb ends with exit code 3, but CorpusError with 2.

Exit codes: 0 answered, 1 honest negative (abstained, nothing found, finding in `doctor`), 2 usage or bad input,
3 index, model or optional part unavailable, 130 interrupted.
"""

EXIT_OK = 0
EXIT_NEGATIVE = 1
EXIT_BAD_INPUT = 2
EXIT_UNAVAILABLE = 3
EXIT_INTERRUPTED = 130


class AssistantError(Exception):
    """Base of all errors that the assistant raises on purpose."""

    exit_code = EXIT_BAD_INPUT


class BadInput(AssistantError):
    """The input cannot be used; the message says what and where, and what to do."""


class NothingFound(AssistantError):
    """What was asked for by name does not exist."""

    exit_code = EXIT_NEGATIVE
