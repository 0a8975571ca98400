"""Text from outside made harmless for a terminal."""

import re

__all__ = ["printable"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def printable(text: str) -> str:
    """Return text from outside with its control characters made visible, so that it cannot drive a terminal."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
