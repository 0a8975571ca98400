"""The texts that are looked for in logs: those of rules and codes, which anchor a line, and words of alarm."""

from collections.abc import Iterable, Sequence

from assistant.logs.engine import Find, Occurrence, engine

__all__ = ["Keywords"]


class Keywords:
    """The texts that are looked for, as bytes for the engines."""

    def __init__(self, anchors: Sequence[str], alarms: Sequence[str]) -> None:
        """Prepare the texts; an engine is built when it is first asked.

        Args:
            anchors: texts whose lines are kept; the number of a text is its place here.
            alarms: words whose lines are counted by their form.
        """
        self.alarm_from = len(anchors)
        """Numbers from here are alarms."""
        self.patterns: list[bytes] = []
        self.numbers: list[int] = []
        """Per pattern the number of its text."""
        self.places: list[slice] = []
        """Per text its patterns."""
        for number, text in enumerate([*anchors, *alarms]):
            forms = dict.fromkeys([text.encode(), text.encode("gb18030")])
            self.places.append(slice(len(self.patterns), len(self.patterns) + len(forms)))
            self.patterns += forms
            self.numbers += [number] * len(forms)
        self.alarm_patterns = slice(self.numbers.index(self.alarm_from) if alarms else len(self.numbers), None)
        self.longest = max(map(len, self.patterns), default=1)
        self._find: Find | None = None
        self._find_anchors: Find | None = None

    @property
    def anchors(self) -> list[bytes]:
        """The patterns that are no alarms; a line counts as matched if it has one of them."""
        return self.patterns[: self.alarm_patterns.start]

    def find(self, data: bytes) -> Sequence[Occurrence]:
        """Return every occurrence, by end."""
        if self._find is None:
            self._find = engine(self.patterns)
        return self._find(data)

    def find_anchors(self, data: bytes) -> Sequence[Occurrence]:
        """Return every occurrence of a text that is no alarm, by end."""
        if self._find_anchors is None:
            self._find_anchors = engine(self.anchors)
        return self._find_anchors(data)

    def are_anchors(self, occurrences: Iterable[Occurrence]) -> bool:
        """Return whether one of the occurrences is no alarm."""
        return any(pattern < self.alarm_patterns.start for pattern, _, _ in occurrences)
