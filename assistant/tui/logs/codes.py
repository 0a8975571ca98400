"""The codes in a row, explained."""

from textual.content import Content

from assistant.logs.codes import find_codes, lookup
from assistant.logs.types import Diagnosis, Explained
from assistant.texts import texts
from assistant.tui.safe import plain
from assistant.tui.words import words
from kb.types import Lang

__all__ = ["codes_in", "in_full", "in_short"]

_LOOKED_AT = 4000


def codes_in(text: str, diagnosis: Diagnosis | None, column: int | None = None) -> tuple[Explained, ...]:
    """Return the codes in a row that some table knows, each once; the one at a place of it first.

    Args:
        text: of the row.
        diagnosis: says for which platforms codes are told; None: for all.
        column: a place in the text.
    """
    told = {one.code: one.meanings for one in diagnosis.codes} if diagnosis else {}
    found = list(find_codes(text[:_LOOKED_AT]))
    if column is not None:
        found.sort(key=lambda one: not one.start <= column < one.end)
    codes: dict[str, Explained] = {}
    for one in found:
        meanings = told.get(one.code) or lookup(one.code) or lookup(one.spelling)
        if meanings:
            codes.setdefault(one.code, Explained(one.code, meanings))
    return tuple(codes.values())


def in_short(codes: tuple[Explained, ...], lang: Lang, more: str) -> Content:
    """Return the first code in one line, and how many others there are."""
    first = codes[0]
    meaning = first.meanings[0]
    told = meaning.meaning_zh if lang == "zh" else meaning.meaning_en
    parts = [
        plain(first.code, "bold $accent"),
        plain(f" {meaning.name}" if meaning.name else ""),
        plain(f" · {meaning.platform} · ", "$text-muted"),
        plain(told),
    ]
    others = sum(len(one.meanings) for one in codes) - 1
    if others:
        parts.append(plain(f"  (+{others}, {more})", "$text-muted"))
    return Content("").join(parts)


def in_full(codes: tuple[Explained, ...], lang: Lang) -> Content:
    """Return all codes with all their meanings."""
    source, say = texts(lang)["source"], words("logs", lang)
    parts: list[Content] = []
    for one in codes:
        for meaning in one.meanings:
            told, hint = (
                (meaning.meaning_zh, meaning.cause_hint_zh)
                if lang == "zh"
                else (meaning.meaning_en, meaning.cause_hint_en)
            )
            parts += [
                plain(one.code, "bold $accent"),
                plain(f" {meaning.name}", "bold"),
                plain(f"  {meaning.platform} {meaning.module}\n", "$text-muted"),
                plain(f"  {told}\n"),
                *([plain(f"  → {hint}\n")] if hint else []),
                plain(f"  {source}: {meaning.source} ({say(f'certainty_{meaning.certainty}')})\n\n", "$text-muted"),
            ]
    return Content("").join(parts)
