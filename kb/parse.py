"""Turn one corpus Markdown file into entries with byte-exact spans, and an entry's answer into citable blocks.

markdown-it-py gives the block structure with source lines; lines become byte offsets here, so that every span can be
cut out of the file again.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kb.errors import CorpusError
from kb.types import LANGS, Block, Entry, Lang, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

KINDS = ("faq", "course", "case", "reference", "guide")
MIN_ASKS = 4

_HEADING = re.compile(r"(?P<title>.+?)\s*\{#(?P<id>[a-z0-9]+(?:-[a-z0-9]+)*)\}$")

CHECK_FENCE = re.compile(r"^```toml check[ \t]*\n(.*?)^```[ \t]*$\n?", re.MULTILINE | re.DOTALL)
"""A `toml check` fence; its group is the text between the fence lines, which is opaque here."""


def parse_file(path: str, data: bytes) -> tuple[Entry, ...]:
    """Return the entries of one corpus file in their order.

    Args:
        path: name relative to the corpus root; ends in `.zh.md` or `.en.md`.
        data: the file's bytes, UTF-8 with LF line ends.

    Raises:
        CorpusError: the file breaks the format of `corpus/README.md`; the message starts with `path:line`.
    """
    lang = _language(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CorpusError(f"{path}:{line}: not valid UTF-8; save the file as UTF-8") from None
    if "\r" in text:
        raise CorpusError(f"{path}:1: has carriage returns; save the file with LF line ends")
    header, first_line = _header(path, text)
    offsets = _line_offsets(data)
    tokens = _markdown().parse("\n" * first_line + text.split("\n+++\n", 1)[1])
    headings = [i for i, t in enumerate(tokens) if t.type == "heading_open" and t.tag == "h2" and t.level == 0]
    entries = []
    for position, index in enumerate(headings):
        next_line = _map(tokens[headings[position + 1]])[0] if position + 1 < len(headings) else len(offsets) - 1
        entries.append(_entry(path, data, offsets, tokens[index:], next_line, header, lang))
    if not entries:
        raise CorpusError(f"{path}:{first_line + 1}: no entry; each entry starts with '## question {{#id}}'")
    seen: dict[str, int] = {}
    for entry in entries:
        if entry.id in seen:
            raise CorpusError(f"{path}:{entry.line}: id {entry.id!r} is used before, on line {seen[entry.id]}")
        seen[entry.id] = entry.line
    return tuple(entries)


def blocks(entry: Entry) -> tuple[Block, ...]:
    """Return the citable pieces of an entry's answer, in order; `toml check` fences are left out."""
    data = entry.text.encode()
    offsets = _line_offsets(data)
    found: list[Block] = []
    for token, header in _leaf_tokens(_markdown().parse(entry.text)):
        first, last = _map(token)
        start, end = offsets[first], _strip_end(data, offsets[first], offsets[last])
        raw = data[start:end].decode()
        if header is None:
            found.append(Block(raw, _plain(raw), False, entry.span.start + start, entry.span.start + end))
            continue
        cells = [_plain(cell) for cell in split_row(raw)]
        pairs = "; ".join(f"{name}: {cell}" for name, cell in zip(header, cells, strict=False) if cell)
        separator = "|" + "---|" * len(header)
        text = f"| {' | '.join(header)} |\n{separator}\n{raw}"
        found.append(Block(text, pairs, True, entry.span.start + start, entry.span.start + end))
    return tuple(found)


def without_checks(markdown: str) -> str:
    """Return an answer without its `toml check` fences."""
    return CHECK_FENCE.sub("", markdown).strip()


def split_row(row: str) -> list[str]:
    """Return the cells of one Markdown table row; a bar after a backslash is literal."""
    cells = re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


@cache
def _markdown() -> "MarkdownIt":
    """Return the parser; a search that shows no entry never loads it."""
    from markdown_it import MarkdownIt

    # Block structure is all that is needed; cells and headings keep their raw text.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _language(path: str) -> Lang:
    for lang in LANGS:
        if path.endswith(f".{lang}.md"):
            return lang
    raise CorpusError(f"{path}:1: the name must end in .zh.md or .en.md")


def _header(path: str, text: str) -> tuple[dict[str, Any], int]:
    """Return the parsed `+++` header and the number of lines it takes."""
    if not text.startswith("+++\n") or "\n+++\n" not in text:
        raise CorpusError(f"{path}:1: no +++ TOML header at the top")
    source = text[4:].split("\n+++\n", 1)[0]
    lines = source.count("\n") + 3
    try:
        header = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise CorpusError(f"{path}:{_toml_line(error, source, 1)}: header is not valid TOML: {error}") from None
    for key in ("title", "platform", "kind", "sources"):
        if key not in header:
            raise CorpusError(f"{path}:1: the header has no {key!r}")
    if not isinstance(header["sources"], dict):
        raise CorpusError(f"{path}:1: 'sources' must be a table of key = \"full name\"")
    return header, lines


def _toml_line(error: Exception, source: str, before: int) -> int:
    """Return the file's line of a TOML error; `before` lines come before the TOML text."""
    match = re.search(r"line (\d+)", str(error))
    return before + (int(match[1]) if match else source.count("\n") + 1)


def _entry(
    path: str,
    data: bytes,
    offsets: Sequence[int],
    tokens: "Sequence[Token]",
    next_line: int,
    header: dict[str, Any],
    lang: Lang,
) -> Entry:
    line = _map(tokens[0])[0] + 1
    heading = _HEADING.fullmatch(tokens[1].content.strip())
    if heading is None:
        raise CorpusError(
            f"{path}:{line}: heading {tokens[1].content!r} must end in an id such as {{#nano-faq-memory}}"
        )
    fence = tokens[3] if len(tokens) > 3 else None
    if fence is None or fence.type != "fence" or fence.info.strip() != "toml entry":
        raise CorpusError(f"{path}:{line + 1}: after the heading comes a fence ```toml entry with source and ask")
    meta = _meta(path, _map(fence)[0] + 1, fence.content, header)
    start = offsets[_map(fence)[1]]
    end = offsets[next_line]
    body = data[start:end]
    start += len(body) - len(body.lstrip(b"\n"))
    end = _strip_end(data, start, end)
    answer = data[start:end]
    if not answer.strip():
        raise CorpusError(f"{path}:{line}: entry {heading['id']!r} has no answer")
    span = Span(path, start, end, hashlib.sha256(answer).hexdigest())
    return Entry(
        id=heading["id"],
        lang=lang,
        title=heading["title"],
        text=answer.decode(),
        platform=str(header["platform"]),
        kind=meta["kind"],
        sources=tuple(meta["source"]),
        asks=tuple(meta["ask"]),
        complete=meta["complete"],
        span=span,
        line=line,
    )


def _meta(path: str, line: int, source: str, header: dict[str, Any]) -> dict[str, Any]:
    """Return the checked contents of an entry fence, with source keys replaced by their full names."""
    try:
        meta = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise CorpusError(f"{path}:{_toml_line(error, source, line)}: entry fence is not valid TOML: {error}") from None
    unknown = set(meta) - {"source", "ask", "kind", "complete"}
    if unknown:
        raise CorpusError(f"{path}:{line}: unknown key {min(unknown)!r}; known: source, ask, kind, complete")
    for key in ("source", "ask"):
        items = meta.get(key)
        if not isinstance(items, list) or not items or not all(isinstance(i, str) and i.strip() for i in items):
            raise CorpusError(f"{path}:{line}: {key!r} must be a list of non-empty strings")
    if len(set(meta["ask"])) < MIN_ASKS:
        raise CorpusError(f"{path}:{line}: 'ask' needs at least {MIN_ASKS} different phrasings")
    kind = meta.setdefault("kind", header["kind"])
    if kind not in KINDS:
        raise CorpusError(f"{path}:{line}: unknown kind {kind!r}; known: {', '.join(KINDS)}")
    meta.setdefault("complete", "")
    names = header["sources"]
    resolved = []
    for item in meta["source"]:
        key, _, place = item.partition(":")
        if key not in names:
            raise CorpusError(f"{path}:{line}: source key {key!r} is not in the header; known: {', '.join(names)}")
        resolved.append(f"{names[key]} · {place.strip()}" if place.strip() else str(names[key]))
    meta["source"] = resolved
    return meta


def _leaf_tokens(tokens: "Sequence[Token]") -> "Iterator[tuple[Token, list[str] | None]]":  # noqa: C901 - one flat state machine
    """Yield (token, header) for each citable block; header holds the column names for a table row, else None."""
    header: list[str] | None = None
    in_head = False
    inside_item = 0
    for index, token in enumerate(tokens):
        if token.type == "thead_open":
            header, in_head = [], True
        elif token.type == "thead_close":
            in_head = False
        elif token.type == "table_close":
            header = None
        elif in_head and header is not None and token.type == "inline":
            header.append(_plain(token.content))
        elif token.type == "tr_open" and header is not None and not in_head:
            yield token, header
        elif token.type == "list_item_open":
            inside_item += 1
            if inside_item == 1:
                yield token, None
        elif token.type == "list_item_close":
            inside_item -= 1
        elif inside_item or header is not None:
            continue
        elif token.type in ("paragraph_open", "heading_open", "blockquote_open", "code_block"):
            parent_quote = token.type == "paragraph_open" and _inside_quote(tokens, index)
            if not parent_quote:
                yield token, None
        elif token.type == "fence" and token.info.strip() != "toml check":
            yield token, None


def _inside_quote(tokens: "Sequence[Token]", index: int) -> bool:
    opened = sum(t.type == "blockquote_open" for t in tokens[:index])
    return opened > sum(t.type == "blockquote_close" for t in tokens[:index])


def _plain(markdown: str) -> str:
    """Return inline Markdown without its marks, for indexing."""
    without_fences = re.sub(r"^\s*(```|~~~).*$", "", markdown, flags=re.MULTILINE)
    unmarked = re.sub(r"\*\*|`|^\s*(?:[-*+]|\d+\.)\s+|^#+\s+|^>\s?", "", without_fences, flags=re.MULTILINE)
    linked = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1", unmarked)
    return re.sub(r"\s+", " ", re.sub(r"\\([|*_<>])", r"\1", linked)).strip()


def _map(token: "Token") -> tuple[int, int]:
    assert token.map is not None, token.type
    return token.map[0], token.map[1]


def _line_offsets(data: bytes) -> list[int]:
    """Return the byte offset of each line start, and the length of the data as a last item."""
    offsets = [0]
    for line in data.split(b"\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    offsets[-1] = len(data)
    return offsets


def _strip_end(data: bytes, start: int, end: int) -> int:
    """Return `end` moved before trailing white space."""
    return start + len(data[start:end].rstrip())
