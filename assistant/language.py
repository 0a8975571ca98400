"""The language of the user, before anybody says another one."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.types import Lang

__all__ = ["default_language"]


def default_language() -> "Lang":
    """Return the language of the user's locale: Chinese or else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
