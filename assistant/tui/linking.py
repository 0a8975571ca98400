"""Links in Markdown: which tokens lead somewhere, and which cells they take after layout.

A target is an address of the web, `#` with the id of an entry or a heading, the name of a document, or what the words
of a section lead to. Other schemes (`javascript:`, `file:`) are text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from markdown_it.token import Token
from rich.segment import Segment

from assistant.tui.painted import Link

__all__ = ["WEB", "collect", "mark"]

WEB = re.compile(r"https?://[!#-&(-;=?-_a-z|~]*[#-&*+/-9=@-Z\\_a-z|~-]")
"""An address in running text: letters of ASCII; quotes, and a mark that ends the sentence, are no part of it."""
_FILE = re.compile(r"(?:[^:#]*/)?[\w.-]+\.md(?P<place>#.+)?")


def mark(tokens: Sequence[Token], words: Mapping[str, str]) -> None:
    """Turn addresses, and words where they are first used, into links; make a link that leads nowhere text.

    Args:
        tokens: of a document; those of headings stay.
        words: word -> target; of the words for one target the first used one is a link.
    """
    pattern = _pattern(words)
    targets = {word.casefold(): target for word, target in words.items()}
    used: set[str] = set()
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.children and not (before is not None and before.type == "heading_open"):
            token.children = [*_marked(token.children, pattern, targets, used)]


def _marked(
    tokens: Iterable[Token], pattern: re.Pattern[str], words: Mapping[str, str], used: set[str]
) -> Iterator[Token]:
    href = text = ""
    for token in tokens:
        if token.type == "link_open":
            href, text = str(token.attrs.get("href", "")), ""
            if (target := _target(href)) is not None:
                yield _open(target)
        elif token.type == "link_close":
            if (target := _target(href)) is not None:
                yield _CLOSE
            # Whoever follows knows where it leads; what cannot be followed can be read.
            if text != href and (target is None or WEB.fullmatch(href)):
                yield _text(f" ({href})")
            href = ""
        elif href:
            text += token.content
            yield token
        elif token.type == "text":
            yield from _split(token.content, pattern, words, used)
        elif token.type == "code_inline" and (target := _once(token.content, words, used)):
            yield from (_open(target), token, _CLOSE)
        else:
            yield token


def _split(text: str, pattern: re.Pattern[str], words: Mapping[str, str], used: set[str]) -> Iterator[Token]:
    start = 0
    for match in pattern.finditer(text):
        if target := _once(match[0], words, used):
            yield from (_text(text[start : match.start()]), _open(target), _text(match[0]), _CLOSE)
            start = match.end()
    yield _text(text[start:])


def _once(text: str, words: Mapping[str, str], used: set[str]) -> str:
    """Return what a text leads to, "" if nothing does or an earlier one led there."""
    if WEB.fullmatch(text):
        return text
    target = words.get(text.casefold(), "")
    if not target or target in used:
        return ""
    used.add(target)
    return target


def _target(href: str) -> str | None:
    if WEB.fullmatch(href) or href.startswith("#"):
        return href
    file = _FILE.fullmatch(href)
    return (file["place"] or href) if file else None


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return what finds addresses and words; a word of letters stands alone."""
    ends = (r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])")
    found = [
        (ends[0] if word[0].isascii() else "") + re.escape(word) + (ends[1] if word[-1].isascii() else "")
        for word in sorted(words, key=len, reverse=True)
    ]
    return re.compile("|".join([WEB.pattern, *found]), re.IGNORECASE)


def _open(target: str) -> Token:
    return Token("link_open", "a", 1, attrs={"href": target})


_CLOSE = Token("link_close", "a", -1)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def collect(lines: Sequence[Sequence[Segment]], first: int) -> list[Link]:
    """Return the links of painted lines in reading order; `first` is the number of the first line."""
    found: dict[str, tuple[str, list[tuple[int, int, int]]]] = {}
    for number, line in enumerate(lines, start=first):
        x = 0
        for segment in line:
            width = segment.cell_length
            style = segment.style
            if style is not None and style.link and segment.text.strip():
                parts = found.setdefault(style.link_id, (style.link, []))[1]
                if parts and parts[-1][0] == number and parts[-1][2] == x:
                    parts[-1] = (number, parts[-1][1], x + width)
                else:
                    parts.append((number, x, x + width))
            x += width
    return [Link(target, tuple(parts)) for target, parts in found.values()]
