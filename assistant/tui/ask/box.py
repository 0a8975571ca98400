"""Where the question is typed or pasted."""

import re

from textual import events
from textual.widgets import Input

from assistant.plain import printable

__all__ = ["QuestionBox"]

#: Stands for a line break of pasted text, which has only one line to be shown in.
BREAK = " ⏎ "
#: Longest text that is taken; longer logs belong to the area Logs.
LONGEST = 20_000
_COLOURS = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")


class QuestionBox(Input):
    """One line; pasted lines of a log keep their breaks."""

    @property
    def question(self) -> str:
        """What was typed or pasted, with its line breaks."""
        return self.value.replace(BREAK, "\n").strip()

    def put(self, question: str) -> None:
        """Show a question without telling anybody that it changed."""
        with self.prevent(Input.Changed):
            self.value = shown(question)
        self.cursor_position = len(self.value)

    def _on_paste(self, event: events.Paste) -> None:
        # Instead of Input's own, which keeps only the first line.
        event.prevent_default()
        event.stop()
        text = shown(event.text)
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)


def shown(text: str) -> str:
    """Return text on one line, its line breaks visible; colours of a terminal and other control characters go."""
    lines = _COLOURS.sub("", text[:LONGEST]).replace("\t", " ").splitlines()
    return BREAK.join(_seen(line) for line in lines if line.strip())


def _seen(line: str) -> str:
    if printable(line) == line:
        return line
    return "".join(character for character in line if printable(character) == character)
