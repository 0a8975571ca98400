"""What can go wrong in kb.

KbError                 base; the message is one sentence for the user
├── CorpusError         a corpus file is broken; the message starts with file:line
├── IndexUnavailable    the index cannot be read or written (disk full, locked, damaged)
└── EncoderUnavailable  an encoder's package or model is missing
"""


class KbError(Exception):
    """Base of all errors that kb raises on purpose."""


class CorpusError(KbError):
    """A corpus file is broken; the message starts with `file:line`."""


class IndexUnavailable(KbError):
    """The index cannot be read or written."""


class EncoderUnavailable(KbError):
    """An encoder's package or model is missing; the message names the cure."""
