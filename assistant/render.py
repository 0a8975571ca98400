"""Answers and entries as text for a terminal, as Markdown for a pipe, and as JSON with a stable schema."""

import os
import re
from collections.abc import Mapping, Sequence

from assistant.checks.types import Outcome
from assistant.logs.types import Brought
from assistant.plain import printable
from assistant.reasons import shown
from assistant.texts import texts
from assistant.types import Answer, AnswerEntry, Computed, EntryCheck, Piece
from kb.parse import without_checks
from kb.types import Hit, Lang, Span

SCHEMA = 1
#: What Markdown would read as markup in a line of plain text; an underscore inside a word is none.
_MARKUP = re.compile(r"[\\`*\[]|~(?=~)|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\s)#(?=#*$)")


def answer_markdown(answer: Answer, entries_searched: int, *, explain: bool = False) -> str:
    """Return an answer as Markdown."""
    say = texts(answer.lang)
    parts: list[str] = []
    for typed, to in answer.corrected:
        parts.append(f"> {say['corrected'].format(to=printable(to), typed=printable(typed))}")
    for note in answer.degraded:
        parts.append(f"> {say['degraded']}: {printable(shown(note, answer.lang))}")
    parts += _identifier_notes(answer, say)
    if answer.status == "abstained":
        parts.append(f"**{say['not_known']}**")
        is_blocked = any(unknown.blocking for unknown in answer.unknown)
        parts.append(
            say["blocked" if is_blocked else "searched"].format(
                entries=entries_searched, confidence=answer.confidence, threshold=answer.threshold
            )
        )
        if answer.nearest:
            parts.append(f"{say['nearest']}:\n\n{_titles(answer.nearest)}")
        parts.append(say["help_hint"])
    if answer.computed is not None:
        from assistant.checks import text

        parts.append(text.computed(answer.computed, answer.lang))
    parts += _brought(answer)
    if not answer.entries and answer.status == "answered":
        parts.append(say["not_answered"])
    failed = sum(check.outcome.status == "fail" for check in answer.checks)
    if failed:
        parts.append(f"**{say['refuted'].format(failed=failed, all=len(answer.checks))}**")
    parts += [entry_markdown(entry, checks=answer.checks, explain=explain) for entry in answer.entries]
    if answer.related:
        parts.append(f"{say['related']}:\n\n{_titles(answer.related)}")
    if explain:
        parts.append(_explain_answer(answer, say))
    return "\n\n".join(parts)


def entry_markdown(entry: AnswerEntry, *, checks: Sequence[EntryCheck] = (), explain: bool = False) -> str:
    """Return one entry as Markdown: title, answer or the parts that matter, its calculations, sources."""
    return f"## {escaped(entry.title)}\n\n{entry_body_markdown(entry, checks=checks, explain=explain)}"


def entry_body_markdown(entry: AnswerEntry, *, checks: Sequence[EntryCheck] = (), explain: bool = False) -> str:
    """Return one entry as Markdown, without its title."""
    say = texts(entry.lang)
    parts: list[str] = []
    if entry.focus:
        parts += _pieces(entry.focus)
        parts.append(f"*{say['more'].format(id=entry.id)}*")
    else:
        parts.append(without_checks(entry.text))
    own = [check for check in checks if check.entry_id == entry.id]
    if own:
        from assistant.checks import text

        parts.append(text.entry_checks(own, entry.lang))
    parts.append(f"{say['source']}: {'; '.join(map(escaped, entry.names))}\n`{_place(entry)}`")
    if explain and entry.hit is not None:
        parts.append(f"{say['why']}: {ranks(entry.hit, entry.lang)}")
    return "\n\n".join(parts)


def ranks(hit: Hit, lang: Lang) -> str:
    """Return by what an entry was found: rank and score of each channel, and what they come to."""
    say = texts(lang)
    told = [
        say["channel"].format(name=say[f"by.{name}"], rank=score.rank, score=score.score)
        for name, score in hit.channels
    ]
    return "; ".join([*told, say["fused"].format(score=hit.score, coverage=hit.coverage)])


def escaped(text: str) -> str:
    """Return a line of plain text as Markdown that shows it character by character."""
    return _MARKUP.sub(r"\\\g<0>", text)


def show(markdown: str) -> str:
    """Return Markdown laid out for the terminal on standard output, or unchanged for a pipe."""
    width = terminal_width()
    if width is None or os.environ.get("TERM") == "dumb":
        return markdown
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=min(width, 110))
    with console.capture() as capture:
        console.print(Markdown(markdown, hyperlinks=False))
    return capture.get().rstrip("\n")


def answer_json(answer: Answer, *, explain: bool = False) -> dict[str, object]:
    """Return an answer as the JSON object of `ask --json`."""
    data: dict[str, object] = {
        "schema": SCHEMA,
        "question": answer.question,
        "status": answer.status,
        "confidence": round(answer.confidence, 4),
        "lang": answer.lang,
        "entries": [entry_json(entry) for entry in answer.entries],
        "checks": [{**check_json(check.outcome), "entry": check.entry_id} for check in answer.checks],
        "computed": None if answer.computed is None else _computed_json(answer.computed),
        **_brought_json(answer.brought, answer.lang),
        "related": _titles_json(answer.related),
        "unlisted": [{"name": u.name, "list": u.entry_id} for u in answer.unlisted],
        "unknown": [
            {"text": u.text, "kind": u.kind, "nearest": list(u.nearest), "blocking": u.blocking} for u in answer.unknown
        ],
        "nearest": _titles_json(answer.nearest),
        "corrected": [{"typed": typed, "searched": to} for typed, to in answer.corrected],
        "degraded": list(answer.degraded),
    }
    if explain:
        data["threshold"] = round(answer.threshold, 4)
        data["features"] = {name: round(value, 4) for name, value in answer.features}
    return data


def _brought(answer: Answer) -> list[str]:
    """Return what the codes and log lines of the question mean, as Markdown; their text stays text."""
    say = texts(answer.lang)
    parts = []
    if answer.brought.diagnosis is not None:
        from assistant.logs import report

        told = report.as_text(
            answer.brought.diagnosis, answer.lang, place=lambda one: report.Named("", one.line, one.start, one.end),
            clean=str, entry=lambda key: key, verbose=False,
        )  # fmt: skip
        parts.append(f"**{say['log_excerpt']}**\n\n{_fenced(told)}")
    if answer.brought.codes:
        from assistant.codes_cli import code_text

        told = "\n".join(code_text(one.code, one.meanings, answer.lang) for one in answer.brought.codes)
        parts.append(_fenced(told))
    return parts


def _fenced(text: str) -> str:
    """Return text as a code block that it cannot end itself."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _brought_json(brought: Brought, lang: Lang) -> dict[str, object]:
    from assistant.codes_cli import meaning_json

    data: dict[str, object] = {
        "codes": [
            {"code": one.code, "meanings": [meaning_json(meaning) for meaning in one.meanings]} for one in brought.codes
        ],
        "log": None,
    }
    if brought.diagnosis is not None:
        from assistant.logs import report

        data["log"] = report.as_json(
            brought.diagnosis, lang, place=lambda one: report.Named("", one.line, one.start, one.end), clean=str
        )
    return data


def entry_json(entry: AnswerEntry) -> dict[str, object]:
    """Return an entry as a JSON object."""
    return {
        "id": entry.id,
        "title": entry.title,
        "platform": entry.platform,
        "kind": entry.kind,
        "lang": entry.lang,
        "text": entry.text,
        "score": round(entry.score, 4),
        "source": {**_span_json(entry.source), "line": entry.line, "names": list(entry.names)},
        "focus": [{"text": piece.text, "row": piece.is_row, "source": _span_json(piece.span)} for piece in entry.focus],
        "why": hit_json(entry.hit) if entry.hit else {},
    }


def check_json(outcome: Outcome) -> dict[str, object]:
    """Return an outcome as the JSON object of an answer's `checks`; inf and nan are strings."""
    from assistant.checks import show

    return {
        "check": outcome.check,
        "arguments": show.json_value(dict(outcome.arguments)),
        "status": outcome.status,
        "expected": show.json_value(dict(outcome.expected)),
        "got": show.json_value(dict(outcome.result)),
        "reason": outcome.reason,
        "seconds": round(outcome.seconds, 6),
    }


def _computed_json(computed: Computed) -> dict[str, object]:
    return {
        "check": computed.check,
        "outcomes": [check_json(outcome) for outcome in computed.outcomes],
        "read": dict(computed.read),
        "missing": list(computed.missing),
        "ambiguous": {name: list(values) for name, values in computed.ambiguous},
    }


def hit_json(hit: Hit) -> dict[str, object]:
    """Return the ranks and scores by which a hit was found."""
    channels = {name: {"rank": score.rank, "score": round(score.score, 4)} for name, score in hit.channels}
    return {"fused": round(hit.score, 4), "coverage": round(hit.coverage, 4), "channels": channels}


def json_text(data: object, *, indent: int | None = 2) -> str:
    """Return a value as strict JSON; characters that could drive a terminal are escaped, as JSON allows."""
    import json

    # JSON itself escapes those below U+0020; the others can only stand inside strings.
    return printable(json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False))


def table(rows: Sequence[Sequence[str]], header: Sequence[str], width: int | None = None) -> str:
    """Return rows as left-aligned columns; a Chinese character takes two cells.

    Args:
        rows: the cells.
        header: the column names.
        width: cut lines to so many cells, with an ellipsis; None leaves them.
    """
    every = [header, *rows]
    widths = [max(_cells(row[column]) for row in every) for column in range(len(header))]
    lines = [
        "  ".join(cell + " " * (size - _cells(cell)) for cell, size in zip(row, widths, strict=True)) for row in every
    ]
    return "\n".join(_cut(line.rstrip(), width) for line in lines)


def terminal_width() -> int | None:
    """Return the width of the terminal on standard output, or None for a pipe or file."""
    import shutil
    import sys

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _cells(text: str) -> int:
    from wcwidth import wcswidth

    return max(0, wcswidth(text))


def _cut(line: str, width: int | None) -> str:
    if width is None or _cells(line) <= width:
        return line
    while _cells(line) > width - 1:
        line = line[:-1]
    return line + "…"


def _identifier_notes(answer: Answer, say: Mapping[str, str]) -> list[str]:
    notes = []
    titles = {entry.id: entry.title for entry in answer.entries}
    for item in answer.unlisted:
        title = titles.get(item.entry_id, item.entry_id)
        notes.append(f"**{say['unlisted'].format(name=escaped(item.name), title=escaped(title))}**")
    for unknown in answer.unknown:
        text = say["unknown"].format(kind=say[f"kind.{unknown.kind}"], text=f"`{printable(unknown.text)}`")
        if unknown.nearest:
            text += say["unknown_nearest"].format(nearest=", ".join(f"`{printable(n)}`" for n in unknown.nearest))
        notes.append(text)
    return notes


def _pieces(pieces: Sequence[Piece]) -> list[str]:
    """Return pieces as Markdown blocks, with neighbouring rows of one table under one header."""
    parts: list[str] = []
    header = ""
    for piece in pieces:
        head, _, row = piece.text.rpartition("\n") if piece.is_row else ("", "", "")
        if piece.is_row and head == header:
            parts[-1] += f"\n{row}"
        else:
            parts.append(piece.text)
        header = head
    return parts


def _place(entry: AnswerEntry) -> str:
    return f"corpus/{entry.source.file}:{entry.line} ({entry.source.start}-{entry.source.end})"


def _titles(items: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {escaped(title)} (`{key}`)" for key, title in items)


def _titles_json(items: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"id": key, "title": title} for key, title in items]


def _span_json(span: Span) -> dict[str, object]:
    return {"file": f"corpus/{span.file}", "start": span.start, "end": span.end, "sha256": span.sha256}


def _explain_answer(answer: Answer, say: Mapping[str, str]) -> str:
    features = "; ".join(f"{say[f'feature.{name}']} {value:.3f}" for name, value in answer.features)
    confidence = say["confidence"].format(confidence=answer.confidence, threshold=answer.threshold)
    return f"{confidence}; {say['features']}: {features}"
