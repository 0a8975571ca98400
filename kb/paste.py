"""Reduce text that was pasted from a document editor or a web page to its words.

Browsers, Word and Feishu/Lark put markup around what was copied. Lark also hides the whole document as JSON in an
attribute, and only there are the code blocks complete; so where such a record is found, its blocks are the text and the
visible lines only add what the record lacks.
"""

import html.parser
import json
import re
from collections.abc import Iterable, Iterator

# "a < b" and "<dump_file>" are no markup: a tag here starts with a known element name or is a closing tag or comment.
_ELEMENTS = (
    "a|abbr|article|aside|b|blockquote|body|br|button|caption|cite|code|col|colgroup|dd|del|details|div|dl|dt|em|figure|"
    "figcaption|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|"
    "o:p|object|ol|option|p|picture|pre|q|s|samp|script|section|select|small|source|span|strike|strong|style|sub|summary|"
    "sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|var|video"
)
_MARKUP = re.compile(rf"<(?:!--|/?(?:{_ELEMENTS})(?=[\s/>]))", re.IGNORECASE)
_BLOCKS = frozenset(
    ("article", "br", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
     "section", "table", "td", "th", "tr", "ul")
)  # fmt: skip
_SILENT = frozenset(("script", "style", "head", "title", "svg", "iframe", "object"))
_RECORD = "data-lark-record-data"
# What is left of an inline image when an editor cut a data URL at a quote.
_URL_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2}[^%\s]{0,80}){5,}")


class _Text(html.parser.HTMLParser):
    """Collects text content and Lark records; unknown tags such as `<path>` stay text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.records: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not _MARKUP.match(f"<{tag}>"):
            self.handle_data(self.get_starttag_text() or "")
            return
        if tag in _SILENT:
            self._silent += 1
        if tag in _BLOCKS:
            self.parts.append("\n")
        self.records += [value for name, value in attrs if name == _RECORD and value]

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


def words(text: str) -> str:
    """Return the text without editor markup; text without markup comes back as it is.

    An unclosed tag at the end (a paste cut in the middle) is dropped with its attributes.
    """
    if not _MARKUP.search(text):
        return text
    # Lark writes the record's quotes unescaped; without this the attribute would end at the first of them.
    text, raw_records = _take_out_raw_records(text)
    parser = _Text()
    parser.feed(text)
    lines = [line.strip() for line in "".join(parser.parts).splitlines()]
    visible = [line for line in lines if line and not _URL_ESCAPES.search(line)]
    blocks = list(_record_blocks([*raw_records, *parser.records]))
    return "\n".join([*blocks, *(line for line in visible if not _is_made_of(line, blocks))])


def _is_made_of(line: str, blocks: Iterable[str]) -> bool:
    """Return whether a line says nothing but what the blocks say, perhaps several of them run together."""
    rest = _squash(line)
    parts = {_squash(part) for block in blocks for part in (block, *block.splitlines())}
    for part in sorted(parts, key=len, reverse=True):
        rest = rest.replace(part, "")
    return not rest


def _take_out_raw_records(text: str) -> tuple[str, list[str]]:
    """Cut out attribute values that are unescaped JSON; return the rest and the values."""
    records: list[str] = []
    marker = f'{_RECORD}="{{'
    position = 0
    kept: list[str] = []
    while (start := text.find(marker, position)) >= 0:
        value = start + len(marker) - 1
        try:
            _, end = json.JSONDecoder().raw_decode(text, value)
        except json.JSONDecodeError:
            kept.append(text[position:value])
            position = value
            continue
        records.append(text[value:end])
        kept.append(text[position : start + len(_RECORD) + 2])
        position = end
    return "".join([*kept, text[position:]]), records


def _record_blocks(records: Iterable[str]) -> Iterator[str]:
    """Yield the text of each block of the records in document order, each block once."""
    seen: set[str] = set()
    for record in records:
        try:
            data = json.loads(record)
            order, blocks = data["recordIds"], data["recordMap"]
            for key in order:
                if key in seen or key not in blocks:
                    continue
                seen.add(key)
                text = _block_text(blocks[key]["snapshot"])
                if text.strip():
                    yield text.strip()
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
            continue


def _block_text(snapshot: dict[str, object]) -> str:
    text = snapshot.get("text")
    if not isinstance(text, dict):
        return "[image]" if snapshot.get("type") == "image" else ""
    parts = text["initialAttributedTexts"]["text"]
    return "".join(str(parts[key]) for key in sorted(parts, key=int))


def _squash(line: str) -> str:
    return re.sub(r"\s+", "", line)
