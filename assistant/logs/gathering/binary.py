"""Whether a file found in a directory is no log: told from its name and its first bytes."""

import re

from assistant.logs.decode import decoding, lines

__all__ = ["HEAD", "not_a_log", "unreadable"]

#: So many bytes are looked at.
HEAD = 4096

_MODEL = re.compile(r".+\.(?:exeom|om|onnx)", re.IGNORECASE)
_LIBRARY = re.compile(r".+\.so(?:\.\d+)*")
_UNREADABLE: tuple[tuple[bytes, str], ...] = (
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"Rar!\x1a\x07", "an archive"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"\x04\x22\x4d\x18", "packed with lz4"),
)
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"PK\x03\x04", "a zip archive"),
    *_UNREADABLE,
    (b"SQLite format 3\0", "a database"),
    (b"%PDF-", "a document"),
    (b"\x93NUMPY", "an array"),
)
_TAR_AT, _TAR = 257, b"ustar"
# Tab, line ends, bell, backspace, form feed and escape do occur in logs.
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\v\f\r\b\a\x1b"))
_CONTROL_MOST = 0.05
_DAMAGED_MOST = 0.3


def not_a_log(name: str, head: bytes) -> str:
    """Return why a file is no log; empty if it may be one.

    Args:
        name: without directory.
        head: its first `HEAD` bytes, unpacked. Zero bytes at the beginning, as a truncated log has, are ignored.
    """
    if _MODEL.fullmatch(name):
        return "a model"
    if _LIBRARY.fullmatch(name):
        return "a library"
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return what
    if head.startswith(_TAR, _TAR_AT):
        return "a tar archive"
    return "binary" if _is_binary(head) else ""


def unreadable(head: bytes) -> str:
    """Return how a file is packed that begins so and that nothing here unpacks; empty if it can be read."""
    return next((what for magic, what in _UNREADABLE if head.startswith(magic)), "")


def _is_binary(head: bytes) -> bool:
    form = decoding(head).name
    if form.startswith("utf-16"):
        # The last character may be cut in half.
        text = head[: len(head) & ~1].decode(form, "replace").lstrip("\0\ufeff")
        wrong = text.count("\ufffd") + sum(text.count(chr(code)) for code in _CONTROL)
        return wrong > _CONTROL_MOST * len(text) + 1
    data = head.lstrip(b"\0")
    if not data:
        return bool(head)
    if len(data) - len(data.translate(None, _CONTROL)) > _CONTROL_MOST * len(data):
        return True
    text = "".join(line.text for line in lines(data))
    return text.count("\ufffd") > _DAMAGED_MOST * len(text)
