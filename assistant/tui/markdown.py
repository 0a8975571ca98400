"""Markdown as lines of cells: parsed by markdown-it-py, laid out by Rich, with our own line breaks; for workers."""

import io
from collections.abc import Iterable, Mapping, Sequence
from operator import lt
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderResult
from rich.containers import Lines
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme
from textual.strip import Strip

from assistant.tui.linking import WEB, collect, mark
from assistant.tui.painted import TERM, Link, Painted, Section
from assistant.tui.wrapping import breaks, least_width

__all__ = ["column_widths", "paint"]

WIDEST = 110
"""Lines longer than this are hard to read."""


class _Text(Text):
    """Text that breaks between Chinese characters."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Return the lines of the text, none wider than `width`."""
        found = Lines()
        for line in self.split(allow_blank=True):
            if "\t" in line.plain:
                line.expand_tabs(tab_size)
            found.extend(line.divide(breaks(line.plain, max(1, width))))
        for line in found:
            line.rstrip_end(width)
        return found

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        lines = self.plain.splitlines() or [""]
        widest = max(Text(line).cell_len for line in lines)
        return Measurement(min(widest, least_width(self.plain)), max(1, widest))


class _Paragraph(rich_markdown.Paragraph):
    def on_enter(self, context: rich_markdown.MarkdownContext) -> None:
        super().on_enter(context)
        self.text = _Text(justify="left")


class _Heading(rich_markdown.Heading):
    MARKS: ClassVar[dict[str, str]] = {"h1": "", "h2": "", "h3": "▸ "}

    def on_enter(self, context: rich_markdown.MarkdownContext) -> None:
        super().on_enter(context)
        self.text = _Text(self.MARKS.get(self.tag, ""), style=f"markdown.{self.tag}")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # A heading's level rides on its style, so that its line is known after layout.
        self.text.stylize(Style(meta={"heading": int(self.tag[1])}))
        yield self.text


class _Code(rich_markdown.CodeBlock):
    """A fence: as it is, behind a bar, long lines folded."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bar = Segment("│ ", console.get_style("markdown.hr"))
        code = _Text(str(self.text).rstrip("\n"), style="markdown.code_block")
        for address in WEB.finditer(code.plain):
            code.stylize(Style(link=address[0]), *address.span())
        inner = options.update(width=max(1, options.max_width - 2))
        for line in console.render_lines(code, inner, pad=False):
            yield bar
            yield from line
            yield Segment.line()


class _Quote(rich_markdown.BlockQuote):
    """A block quote, here mostly badges of checks."""


class _Cell(rich_markdown.TableDataElement):
    def __init__(self, justify: JustifyMethod) -> None:
        super().__init__(justify)
        self.content = _Text("", justify=justify)


class _Table(rich_markdown.TableElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, style="markdown.hr", show_edge=False, padding=(0, 1))
        header = self.header.row.cells if self.header is not None and self.header.row is not None else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body is not None else []
        names = [cell.content for cell in header]
        # A border stands between two columns, with a space on each side.
        room = options.max_width - 3 * max(0, len(names) - 1)
        for name, width in zip(names, column_widths([names, *rows], room), strict=True):
            name.stylize("markdown.h4")
            table.add_column(name, width=width)
        for row in rows:
            table.add_row(*row)
        yield table


def column_widths(rows: Sequence[Sequence[Text]], room: int) -> list[int | None]:
    """Return the widths of columns that make the rows low: a cell goes to the column that makes most rows high.

    Args:
        rows: cells; a row may be short.
        room: cells for all columns.

    Returns:
        A width for each column; None where there is no room even for half words, and Rich cuts.
    """
    columns = [[row[i] for row in rows if i < len(row)] for i in range(len(rows[0]))]
    most = [max(cell.cell_len for cell in column) for column in columns]
    # Whole words if they have room, else long ones are cut.
    tries = (
        [max(least_width(cell.plain, cap) for cell in column) for column in columns] for cap in (room, 24, 16, 12, 9)
    )
    widths = next((one for one in tries if sum(one) <= room), None)
    if widths is None:
        return [None] * len(columns)
    lengths = [[cell.cell_len for cell in row] for row in rows]
    while (spare := room - sum(widths)) > 0 and any(map(lt, widths, most)):
        votes = [0.0] * len(widths)
        for row in lengths:
            lines, tallest = max((length / widths[i], i) for i, length in enumerate(row)) if row else (0.0, 0)
            # A row that fits needs nothing, one that is nearly full breaks between words.
            votes[tallest] += max(0.0, lines - 0.7)
        chosen = max(
            range(len(widths)), key=lambda i: (votes[i], most[i] - widths[i]) if widths[i] < most[i] else (-1.0, 0)
        )
        widths[chosen] += min(max(1, spare // 16), most[chosen] - widths[chosen])
    return list(widths)


class _Markdown(rich_markdown.Markdown):
    elements: ClassVar[dict[str, type[rich_markdown.MarkdownElement]]] = {
        **rich_markdown.Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "blockquote_open": _Quote,
        "table_open": _Table,
        "td_open": _Cell,
        "th_open": _Cell,
    }

    def __init__(self, section: Section) -> None:
        super().__init__("", hyperlinks=section.links is not None)
        self.markup = section.markdown
        # HTML and references stay text: nothing that an entry says may vanish.
        parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["reference", "image"])
        self.parsed: list[Token] = parser.parse(section.markdown)
        if section.links is not None:
            mark(self.parsed, section.links)


def paint(sections: Sequence[Section], width: int, colours: Mapping[str, str]) -> Painted:
    """Return a page laid out for a width.

    Args:
        sections: Markdown without control characters.
        width: cells.
        colours: the theme's variables: primary, accent, foreground ...
    """
    width = max(8, min(width, WIDEST))
    console = Console(
        width=width,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        theme=_theme(colours),
        legacy_windows=False,
        _environ={},
    )
    strips: list[Strip] = []
    anchors: dict[str, int] = {}
    headings: list[tuple[str, int, int]] = []
    links: list[Link] = []
    for section in sections:
        if strips:
            strips += [Strip.blank(0)] * 2
        anchors[section.key] = len(strips)
        lines = console.render_lines(_Markdown(section), console.options, pad=False)
        while lines and not "".join(one.text for one in lines[0]).strip():
            lines.pop(0)
        headings += _headings(lines, len(strips))
        if section.links is not None:
            links += collect(lines, len(strips))
        strips += [Strip(_without_meta(line, console)) for line in lines]
    return Painted(tuple(strips), tuple(strip.text for strip in strips), anchors, tuple(headings), tuple(links))


def _headings(lines: Sequence[Sequence[Segment]], first: int) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    continues = False
    for number, line in enumerate(lines, start=first):
        level = next((one.style.meta["heading"] for one in line if one.style and "heading" in one.style.meta), 0)
        text = "".join(one.text for one in line).strip().removeprefix("▸ ")
        if level and continues and found:
            found[-1] = (found[-1][0] + text, found[-1][1], found[-1][2])
        elif level:
            found.append((text, int(level), number))
        continues = bool(level)
    return found


def _without_meta(line: Iterable[Segment], console: Console) -> list[Segment]:
    """Return a line that leads nowhere by itself; where a link was is underlined."""
    found = []
    for text, style, _ in line:
        shown = style.clear_meta_and_links() if style else None
        if style and style.link and text.strip():
            shown = Style.chain(shown or Style(), console.get_style(_link_style(style.link)))
        found.append(Segment(text, shown))
    return found


def _link_style(target: str) -> str:
    return "markdown.link" if target.startswith(TERM) else "markdown.link_away"


def _theme(colours: Mapping[str, str]) -> Theme:
    primary, accent, second = (_colour(colours, name) for name in ("primary", "accent", "secondary"))
    return Theme(
        {
            "markdown.paragraph": Style(),
            "markdown.h1": Style(bold=True, color=primary, underline=True),
            "markdown.h2": Style(bold=True, color=primary),
            "markdown.h3": Style(bold=True, color=second),
            "markdown.h4": Style(bold=True, color=second),
            "markdown.h5": Style(bold=True),
            "markdown.h6": Style(italic=True),
            "markdown.strong": Style(bold=True),
            "markdown.em": Style(italic=True),
            "markdown.code": Style(color=accent),
            "markdown.code_block": Style(color=second),
            "markdown.block_quote": Style(color=second),
            "markdown.item": Style(),
            "markdown.item.bullet": Style(color=accent),
            "markdown.item.number": Style(color=accent),
            "markdown.hr": Style(dim=True),
            "markdown.link": Style(underline=True),
            "markdown.link_url": Style(underline=True),
            "markdown.link_away": Style(underline=True, color=primary),
        }
    )


def _colour(colours: Mapping[str, str], name: str) -> str | None:
    value = colours.get(name, "")
    return value if value.startswith("#") and len(value) == 7 else None
