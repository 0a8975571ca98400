"""What came out of a check: sentence, numbers, plots, assumptions, source, and the command that repeats it."""

from collections.abc import Mapping

from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from assistant.checks import show
from assistant.checks.types import Check, Outcome
from assistant.tui.lab.curves import Picture
from assistant.tui.lab.numbers import Numbers
from assistant.tui.lab.plot import Plot
from assistant.tui.lab.plots import plots
from assistant.tui.lab.sentence import Sentence
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Foot", "ResultView"]


class Foot(Static):
    """The lines below the numbers, with a link that copies the command."""

    class Copy(Message):
        """The link was clicked."""

    def action_copy(self) -> None:
        """Ask for the command in the clipboard."""
        self.post_message(self.Copy())


class ResultView(VerticalScroll):
    """Shows an outcome, or why there is none."""

    DEFAULT_CSS = """
    ResultView { height: 1fr; padding: 0 1; border-top: solid $panel; scrollbar-size-vertical: 1; }
    ResultView:focus { border-top: solid $primary; }
    ResultView Static { height: auto; }
    ResultView .numbers { margin: 1 0 0 0; }
    ResultView .foot { margin: 1 0 0 0; color: $text-muted; }
    ResultView.-old .said, ResultView.-old .numbers, ResultView.-old .plot { opacity: 60%; }
    """

    def __init__(self) -> None:
        super().__init__(id="lab-result")
        self.told = ""
        """The sentence that is shown."""

    async def show(
        self, check: Check, outcome: Outcome, picture: Picture | None, command: str, say: Words, lang: Lang
    ) -> None:
        """Show an outcome.

        Args:
            check: the check.
            outcome: what it gave.
            picture: the curve that belongs to it.
            command: the command line that repeats it.
            say: the sentences of the area.
            lang: language.
        """
        self.told = show.sentence(check, outcome, lang)
        done = outcome.status == "done"
        badge = plain("✓ ", "bold $text-success") if done else plain("– ", "bold $text-warning")
        parts: list[Widget] = [Sentence(badge + plain(self.told, "bold"), "said")]
        drawn = [Plot(title, plot) for title, plot in plots(check, outcome, picture, say("item"), lang)]
        # The curve of a check is its point: it stands above the numbers.
        first = drawn[:1] if picture is not None else []
        rows = show.rows(check, outcome, lang)
        parts += [*first, *([Numbers(rows)] if rows else []), *drawn[len(first) :]]
        parts.append(Foot(_foot(check, outcome, command, say, lang), classes="foot"))
        await self._put(parts)

    async def tell(self, symbol: str, told: str, style: str) -> None:
        """Show one sentence instead of an outcome."""
        self.told = told
        await self._put([Sentence(plain(f"{symbol} ", f"bold {style}") + plain(told), "said")])

    async def _put(self, parts: list[Widget]) -> None:
        with self.app.batch_update():
            await self.remove_children()
            await self.mount(*parts)
        self.remove_class("-old")

    def outdated(self) -> None:
        """Show that what is shown belongs to other values than those typed."""
        self.add_class("-old")


def _foot(check: Check, outcome: Outcome, command: str, say: Words, lang: Lang) -> Content:
    pairs: Mapping[str, list[str]] = {
        "assumption": [zh if lang == "zh" else en for zh, en in check.assumptions],
        "source": [check.source],
        "seconds": [f"{outcome.seconds * 1000:.1f} ms"],
    }
    lines = [plain(f"{say(key)} {text}") for key, texts in pairs.items() for text in texts]
    copy = Content.styled(f" {say('copy_here')} ", "reverse").stylize("@click=copy")
    lines.insert(0, plain(f"{say('command')} ") + plain(command, "$text-accent") + Content("  ") + copy)
    return Content("\n").join(lines)
