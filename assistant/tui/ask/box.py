"""Where the question is typed or pasted."""

import re

from textual import events
from textual.content import Content
from textual.widgets import Input

from assistant.plain import printable
from assistant.tui.ask.clicks import Do, word
from assistant.tui.words import Words

__all__ = ["QuestionBox"]

#: Stands for a line break of pasted text, which has only one line to be shown in.
BREAK = " ⏎ "
#: Longest text that is taken; longer logs belong to the area Logs.
LONGEST = 20_000
_COLOURS = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")


class QuestionBox(Input):
    """One line; pasted lines of a log keep their breaks. Its lower edge has words to click."""

    DEFAULT_CSS = """
    QuestionBox { border-subtitle-align: right; border-subtitle-color: $text-muted; link-style: none;
                  link-style-hover: bold underline; link-background-hover: $panel; link-color-hover: $text; }
    """

    def relabel(self, say: Words) -> None:
        """Set the placeholder and the words on the edge."""
        self.placeholder = say("placeholder")
        signs = {"back": "‹", "forward": "›", "ask": "⏎", "clear": "×"}
        words = [word(f"{sign} {say(f'box_{action}')}", action) for action, sign in signs.items()]
        self.border_subtitle = Content(" · ").join(words).markup

    def action_do(self, action: str) -> None:
        """Tell that a word was clicked."""
        self.post_message(Do(action))

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
