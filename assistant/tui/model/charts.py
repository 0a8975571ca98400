"""The charts of a model: memory over time, bytes and cycles of its largest layers."""

from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from assistant.models.numbers import count, short_size
from assistant.texts import texts
from assistant.tui.model import figures
from assistant.tui.model.graphics import Bars, MemoryChart
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Charts"]

_SHOWN = 12


class Charts(VerticalScroll):
    """Memory over time, then bytes and cycles of the largest layers."""

    def compose(self) -> ComposeResult:
        """Lay out the charts."""
        yield MemoryChart("chart-memory")
        yield Bars("chart-bytes")
        yield Bars("chart-cycles")

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show an estimate."""
        layers, texts_of = one["layers"], texts(lang)
        self.query_one("#chart-memory", MemoryChart).show(
            say("chart_memory", count=len(layers)),
            figures.peak_line(one, lang),
            [layer["live_bytes"] for layer in layers],
            [(tensor["name"], tensor["bytes"]) for tensor in one["peak"]["tensors"][:8]],
        )
        sized = [(layer["name"], layer["weight_bytes"] + (layer["output_bytes"] or 0)) for layer in layers]
        timed = [(layer["name"], layer["cycles_estimate"] or 0) for layer in layers]
        for chart, items, words in (("bytes", sized, short_size), ("cycles", timed, count)):
            first = sorted(items, key=lambda item: -item[1])
            rest = say("chart_rest", count=len(first) - _SHOWN, sum=words(sum(v for _, v in first[_SHOWN:])))
            self.query_one(f"#chart-{chart}", Bars).show(
                texts_of[f"chart_{chart}"],
                [(name, value, words(value)) for name, value in first[:_SHOWN]],
                rest if len(first) > _SHOWN else "",
            )
