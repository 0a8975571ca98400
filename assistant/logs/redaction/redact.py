"""Log text without what is private in it: each item becomes a placeholder that stays the same.

Key blocks are hidden first. Then every line is rewritten by the table of rules until nothing changes, so that a second
redaction finds nothing. Nothing is sent or written; what a placeholder stands for stays in memory.
"""

import ipaddress
import re

from assistant.logs.redaction.labelled import KINDS, PLACEHOLDER
from assistant.logs.redaction.places import kept_from
from assistant.logs.redaction.private import KEY_BLOCK, RULES, Rule

__all__ = ["Redactor"]

# A line, or a text, that still changes after so many rewritings was made to do so.
_ROUNDS = 6
_WORD = re.compile(
    rf"{PLACEHOLDER.pattern}|(?<![A-Za-z0-9_.@-])(?P<name>[A-Za-z][A-Za-z0-9]*+(?:[._-][A-Za-z0-9]++)*+)(?![A-Za-z0-9_@/(-])"
)
# Names so unlike words that they are private wherever they stand.
_NAME = re.compile(r"(?=[a-z._-]*[0-9])(?=[a-z0-9]*[._-]|[a-z]{1,3}[0-9]{6})[a-z][a-z0-9._-]{4,}")


class Redactor:
    """Replaces private items by placeholders such as `<ip-1>`; the same item always gets the same one.

    It holds the originals, so keep one for all lines of a log and drop it with them.
    """

    def __init__(self) -> None:
        self._originals: dict[str, str] = {}
        self._placeholders: dict[tuple[str, str], str] = {}
        self._counts = dict.fromkeys(KINDS, 0)
        self._foreign: set[str] = set()
        self._names: dict[str, str] = {}

    @property
    def mapping(self) -> dict[str, str]:
        """The original of each placeholder, in the spelling that came first, for the user's own reading back."""
        return dict(self._originals)

    def text(self, text: str) -> str:
        """Return the text without private items; everything else stays as it is.

        Doing it twice changes nothing more. A placeholder that is in the text already is left alone, and none of ours
        gets its number. The extension of a path stays behind its placeholder, so that files that differ in nothing else
        share one. Time is linear in the length. A line that does not settle is hidden as a whole.
        """
        self._foreign.update(found for found in PLACEHOLDER.findall(text) if found not in self._originals)
        text = KEY_BLOCK.sub(self._replace, text)
        known = len(self._names)
        lines = [self._settled(line) for line in text.split("\n")]
        for _ in range(_ROUNDS):
            if len(self._names) == known:
                return "\n".join(lines)
            known = len(self._names)
            lines = [line if self._named(line) == line else self._settled(line) for line in lines]
        # Each round taught another name. What is learned from here on is forgotten, so that no line depends on another.
        names = dict(self._names)
        for i, line in enumerate(lines):
            if self._rewritten(line) != line:
                lines[i] = self._placeholder("text", line)
        self._names = names
        return "\n".join(lines)

    def _settled(self, line: str) -> str:
        for _ in range(_ROUNDS):
            before, line = line, self._rewritten(line)
            if line == before:
                return line
        return self._placeholder("text", line)

    def _rewritten(self, line: str) -> str:
        low = line.lower()
        for rule in RULES:
            for need in rule.needs:
                if need in low:
                    line = self._ruled(rule, line)
                    break
        return self._named(line)

    def _named(self, line: str) -> str:
        return _WORD.sub(self._known, line) if self._names else line

    def _ruled(self, rule: Rule, line: str) -> str:
        return rule.pattern.sub(lambda match: self._replace(match) if rule.accepts(match) else match[0], line)

    def _replace(self, match: re.Match[str]) -> str:
        """Return the match with its private groups hidden."""
        parts, last = [], match.start()
        for kind, item in match.groupdict().items():
            if kind in KINDS and item:
                start = match.start(kind)
                kept = start + kept_from(kind, item)
                parts += [match.string[last:start], self._placeholder(kind, match.string[start:kept])]
                last = kept
        return "".join([*parts, match.string[last : match.end()]])

    def _known(self, match: re.Match[str]) -> str:
        return self._names.get((match["name"] or "").casefold(), match[0])

    def _placeholder(self, kind: str, item: str) -> str:
        key = kind, _key(kind, item)
        found = self._placeholders.get(key)
        if found is None:
            found = self._placeholders[key] = self._next(kind)
            self._originals[found] = item
        if kind in ("host", "user") and _NAME.fullmatch(key[1].casefold()):
            self._names.setdefault(key[1].casefold(), found)
        return found

    def _next(self, kind: str) -> str:
        while True:
            self._counts[kind] += 1
            name = f"<{kind}-{self._counts[kind]}>"
            if name not in self._foreign:
                return name


def _key(kind: str, item: str) -> str:
    """Return what all spellings of one item have in common."""
    if kind == "mac":
        return re.sub("[^0-9a-f]", "", item.casefold())
    if kind in ("host", "email", "uuid", "card"):
        return item.casefold()
    if kind == "phone":
        return re.sub(r"^\+86|[^0-9]", "", item)
    if kind == "ip" and ":" in item:
        bare, _, zone = item.partition("%")
        return f"{ipaddress.IPv6Address(bare)}%{zone}"
    if kind == "path" and "\\" in item:
        return re.sub(r"\\+", r"\\", item).casefold().rstrip("\\")
    return item.rstrip("/") if kind == "path" else item
