"""What the device does not run, and what to do about it."""

from typing import Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from assistant.models.numbers import count
from assistant.tui.model import figures
from assistant.tui.model.names import cut
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Unsupported"]


class Unsupported(Vertical):
    """What the device does not run, or limits: a table, and below it what to do about the one at the cursor."""

    DEFAULT_CSS = """
    Unsupported DataTable { height: auto; max-height: 50%; }
    Unsupported VerticalScroll { height: 1fr; border-top: solid $panel; }
    Unsupported .-empty { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[figures.Group] = []
        self.say: Words | None = None

    def compose(self) -> ComposeResult:
        """Lay out table and details."""
        yield DataTable(cursor_type="row", zebra_stripes=True, id="unsupported")
        with VerticalScroll():
            yield Static(id="unsupported-detail", markup=False)

    def show(self, one: dict[str, Any], lang: Lang, say: Words) -> None:
        """Show the findings of an estimate."""
        self.groups, self.say = figures.groups(one, lang), say
        table = self.query_one("#unsupported", DataTable)
        table.clear(columns=True)
        for name in ("mark", "op", "nodes", "rule", "first"):
            table.add_column(Text("" if name == "mark" else say(f"unsupported_{name}")), key=name)
        for i, group in enumerate(self.groups[:500]):
            mark = Text("! ", style="bold") if group.is_limit else Text("✗ ", style="bold")
            table.add_row(
                mark, Text(cut(group.op_type or "-", 24)), Text(count(len(group.nodes)), justify="right"),
                Text(cut(group.rule, 24)), Text(cut(group.nodes[0], 30)), key=str(i),
            )  # fmt: skip
        table.set_class(not self.groups, "-empty")
        if not self.groups:
            self.query_one("#unsupported-detail", Static).update(
                plain("✓ " + say("all_supported", device=one["device"]), "$success")
            )

    @on(DataTable.RowHighlighted)
    def _detail(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        key, say = event.row_key.value, self.say
        if key is None or say is None or int(key) >= len(self.groups):
            return
        group = self.groups[int(key)]
        mark, style = ("!", "$warning bold") if group.is_limit else ("✗", "$error bold")
        parts = [plain(f"{mark} {group.op_type}: {group.found}" if group.op_type else f"{mark} {group.found}", style)]
        if group.fix:
            parts.append(plain(f"→ {say('to_do')}: ", "$success bold") + plain(group.fix))
        nodes = ", ".join(cut(node, 60) for node in group.nodes[:40] if node)
        more = f" … ({len(group.nodes)})" if len(group.nodes) > 40 else ""
        if nodes:
            parts.append(plain(f"{say('unsupported_nodes')}: ", "$text-muted") + plain(nodes + more))
        parts.append(plain(f"{say('source')}: {group.source} · {group.rule}", "$text-muted"))
        self.query_one("#unsupported-detail", Static).update(Content("\n").join(parts))
