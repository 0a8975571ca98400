"""The line below the log: what the code under the cursor means."""

from textual.widgets import Static

from assistant.logs.types import Diagnosis, Explained
from assistant.tui.logs.codes import codes_in, in_short
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["CodeBar"]


class CodeBar(Static):
    """Shows the codes of a row in short; how to get about if it has none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.codes: tuple[Explained, ...] = ()

    def show(self, text: str, diagnosis: Diagnosis | None, column: int | None, lang: Lang, say: Words) -> None:
        """Show what the codes of a row mean.

        Args:
            text: of the row.
            diagnosis: says for which platforms codes are told.
            column: character of the text that was clicked; its code comes first.
            lang: of the meanings.
            say: the sentences of the area.
        """
        self.codes = codes_in(text, diagnosis, column) if text else ()
        told = in_short(self.codes, lang, say("codes_more")) if self.codes else plain(say("keys"), "$text-muted")
        self.update(told, layout=False)
