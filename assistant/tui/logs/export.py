"""The report of a reading as Markdown: verdict, findings with their lines, what is not known, codes."""

import os
from collections.abc import Callable

from assistant.logs.report import cause_of
from assistant.logs.types import Diagnosis, Evidence, Finding
from assistant.plain import printable
from assistant.texts import texts
from assistant.tui.logs.dialogs import Target
from assistant.tui.logs.items import items
from assistant.tui.logs.reading import Reading
from assistant.tui.words import Words, explained
from kb.types import Lang

__all__ = ["markdown", "save"]

Clean = Callable[[str], str]

_LINES = 20
_FENCE = "~~~~~~"


def markdown(reading: Reading, diagnosis: Diagnosis, lang: Lang, say: Words, *, redact: bool) -> str:
    """Return the report.

    Args:
        reading: what was read.
        diagnosis: what it shows.
        lang: of the text.
        say: the sentences of the area.
        redact: with placeholders for what is private.
    """
    clean: Clean = lambda text: text  # noqa: E731
    if redact:
        from assistant.logs.redaction.redact import Redactor

        clean = Redactor().text
    told = texts(lang)
    rows = [f"# {say('report_title')}", ""]
    rows += [f"- {_inline(clean(one.name))}" for one in reading.logs]
    read = told["log_read"].format(lines=diagnosis.lines, bytes=diagnosis.bytes, matched=diagnosis.matched_lines)
    rows += ["", read, say("report_redacted" if redact else "report_plain"), ""]
    if not any(one.primary for one in diagnosis.findings):
        rows += [f"**{told[f'log_{diagnosis.verdict}'].format(lines=diagnosis.lines)}**", ""]
    group = ""
    for item in items(diagnosis):
        if item.group != group:
            group = item.group
            rows += [f"## {say(f'group_{group}')}", ""]
        if isinstance(item.value, Finding):
            rows += _finding(item.value, lang, clean)
        elif item.group == "needed":
            rows.append(f"- {_inline(item.value.zh if lang == 'zh' else item.value.en)}")  # type: ignore[union-attr]
        elif item.group == "unknown":
            count = f"{'≥' if item.value.at_least else ''}{item.value.count}×"  # type: ignore[union-attr]
            rows.append(f"- {count} {_inline(clean(item.value.template))}")  # type: ignore[union-attr]
        else:
            for meaning in item.value.meanings:  # type: ignore[union-attr]
                about = meaning.meaning_zh if lang == "zh" else meaning.meaning_en
                rows.append(f"- `{meaning.code}` {_inline(meaning.name)} ({meaning.platform}): {_inline(about)}")
        rows += _cited(item.evidence, reading, clean)
    return "\n".join(rows).rstrip() + "\n"


def save(reading: Reading, target: Target, lang: Lang, say: Words) -> str:
    """Write the report, all or nothing, and return a sentence about it; no file is replaced unless asked for."""
    path = target.path
    assert reading.diagnosis is not None
    text = markdown(reading, reading.diagnosis, lang, say, redact=target.redact)
    try:
        if target.over:
            new = path.with_name(f"{path.name}.{os.getpid()}.new")
            new.write_text(text, "utf-8")
            new.replace(path)
        else:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        return say("export_failed", path=path, why=explained(error.strerror or str(error), say))
    return say("exported", path=path)


def _finding(one: Finding, lang: Lang, clean: Clean) -> list[str]:
    told = texts(lang)
    sure = f"{one.platform}, {told[f'log_{one.certainty}']}, {one.confidence:.0%}"
    rows = [f"### {_inline(clean(cause_of(one, lang)))}", "", f"({sure})", ""]
    steps = one.steps_zh if lang == "zh" else one.steps_en
    if steps:
        rows += [f"{told['log_steps']}:", ""]
        rows += [f"{i}. {_inline(clean(step))}" for i, step in enumerate(steps, start=1)]
        rows.append("")
    if one.entry:
        rows += [f"{told['log_entry']}: `asknpu show {one.entry}`", ""]
    return [*rows, f"{told['source']}: {_inline(one.source)} `{one.rule}`", ""]


def _cited(evidence: tuple[Evidence, ...], reading: Reading, clean: Clean) -> list[str]:
    """Return the lines in a fence that none of them can end."""
    if not evidence:
        return [""]
    rows = ["", _FENCE]
    for one in evidence[:_LINES]:
        named = reading.place(one)
        text = printable(clean(one.text).replace("\n", " "))
        rows.append(f"{printable(clean(named.file))}:{named.line}: {text}")
    return [*rows, _FENCE, ""]


def _inline(text: str) -> str:
    """Return text from outside that is no markup in Markdown."""
    flat = printable(text).replace("\n", " ")
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~!" else char for char in flat)
