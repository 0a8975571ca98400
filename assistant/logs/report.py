"""A diagnosis as text for a terminal and as the JSON object of `diagnose --json`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.logs.types import Diagnosis, Evidence, Finding
from assistant.plain import printable
from assistant.texts import texts
from kb.types import Lang

__all__ = ["Named", "as_json", "as_text", "cause_of"]

#: In the short form, so many lines of evidence, consequences and forms of unknown lines.
SHORT = 4
_CUT = 160


@dataclass(frozen=True, slots=True)
class Named:
    """A line of a log as the user finds it."""

    file: str
    line: int
    start: int
    end: int


Place = Callable[[Evidence], Named]
"""Where the user finds a line."""
Clean = Callable[[str], str]
"""Takes out what is private."""
EntryLine = Callable[[str], str]
"""Id of an entry -> its title and how its calculations came out."""


def cause_of(finding: Finding, lang: Lang) -> str:
    """Return the cause in a language."""
    return finding.cause_zh if lang == "zh" else finding.cause_en


def as_text(
    diagnosis: Diagnosis,
    lang: Lang,
    *,
    place: Place,
    clean: Clean,
    entry: EntryLine,
    verbose: bool,
    nearest: Sequence[str] = (),
) -> str:
    """Return a diagnosis for a reader: the answers first, details only if asked for.

    Args:
        diagnosis: what the logs show.
        lang: of the text.
        place: where the user finds a line.
        clean: takes out what is private.
        entry: tells about a corpus entry.
        verbose: also offsets, sources, codes, all consequences and forms.
        nearest: lines about entries that may help with unknown lines.
    """
    say = texts(lang)
    answers = [finding for finding in diagnosis.findings if finding.primary]
    parts: list[str] = []
    if len(answers) > 1:
        parts.append(say["log_answers"].format(count=len(answers)))
    for finding in answers:
        parts.append(_answer(finding, lang, place, clean, entry, verbose))
    if not answers:
        verdict = diagnosis.verdict if diagnosis.bytes else "empty"
        parts.append(say[f"log_{verdict}"].format(lines=diagnosis.lines))
    symptoms = [f for f in diagnosis.findings if f.role == "symptom" and not f.explained_by]
    if symptoms and diagnosis.verdict == "undecided":
        parts.append("\n".join([f"{say['log_seen']}:", *(_short(f, lang, place, clean) for f in symptoms)]))
    if diagnosis.needed:
        needs = [need.zh if lang == "zh" else need.en for need in diagnosis.needed]
        parts.append("\n".join([f"{say['log_needed']}:", *(f"  - {need}" for need in needs)]))
    others = [f for f in diagnosis.findings if f.role == "cause" and not f.primary and not f.explained_by]
    later = [f for f in diagnosis.findings if f.explained_by]
    for title, rows in (("log_others", others), ("log_later", later)):
        if rows:
            shown = rows if verbose else rows[:SHORT]
            lines = [_short(f, lang, place, clean) for f in shown]
            more = [f"  {say['log_more'].format(count=len(rows) - len(shown))}"] if len(shown) < len(rows) else []
            parts.append("\n".join([f"{say[title]}:", *lines, *more]))
    if diagnosis.verdict == "undecided" or verbose:
        parts += _unknown(diagnosis, lang, place, clean, verbose, nearest)
    if verbose:
        parts += _details(diagnosis, lang, place, clean)
    return "\n\n".join(parts)


def _answer(finding: Finding, lang: Lang, place: Place, clean: Clean, entry: EntryLine, verbose: bool) -> str:
    say = texts(lang)
    head = f"{say['log_cause']}: {printable(clean(cause_of(finding, lang)))}"
    told = f"{finding.platform}, {say[f'log_{finding.certainty}']}, {finding.confidence:.0%}"
    stream = f", {printable(clean(finding.stream))}" if finding.stream else ""
    lines = [head, f"  ({told}{stream})", f"{say['log_evidence']}:"]
    lines += [_line(one, place, clean, verbose) for one in finding.evidence]
    if finding.count > 1:
        lines.append(f"  {say['log_count'].format(count=finding.count)}")
    steps = finding.steps_zh if lang == "zh" else finding.steps_en
    if steps:
        lines.append(f"{say['log_steps']}:")
        lines += [f"  {i}. {printable(clean(step))}" for i, step in enumerate(steps, start=1)]
    if finding.entry:
        lines.append(f"{say['log_entry']}: {entry(finding.entry)}")
    if verbose:
        lines.append(f"{say['source']}: {finding.source}  [{finding.rule}]")
    return "\n".join(lines)


def _line(one: Evidence, place: Place, clean: Clean, verbose: bool) -> str:
    named = place(one)
    text = printable(clean(one.text))
    text = text if len(text) <= _CUT or verbose else text[:_CUT] + "…"
    where = _where(named, clean)
    offsets = f" [{named.start}-{named.end}]" if verbose else ""
    return f"  {where}{offsets}  {text}"


def _where(named: Named, clean: Clean) -> str:
    return f"{printable(clean(named.file))}:{named.line}" if named.file else f"#{named.line}"


def _short(finding: Finding, lang: Lang, place: Place, clean: Clean) -> str:
    named = place(finding.evidence[0])
    return f"  - {printable(clean(cause_of(finding, lang)))} ({_where(named, clean)})"


def _unknown(
    diagnosis: Diagnosis, lang: Lang, place: Place, clean: Clean, verbose: bool, nearest: Sequence[str]
) -> list[str]:
    say = texts(lang)
    if not diagnosis.unknown:
        return []
    shown = diagnosis.unknown if verbose else diagnosis.unknown[:SHORT]
    lines = [f"{say['log_unknown']}:"]
    for one in shown:
        count = f"≥{one.count}" if one.at_least else str(one.count)
        named = place(one.first)
        lines.append(
            f"  {count}× {printable(clean(one.template))[:_CUT]} ({printable(clean(named.file))}:{named.line})"
        )
    if len(shown) < len(diagnosis.unknown):
        lines.append(f"  {say['log_more'].format(count=len(diagnosis.unknown) - len(shown))}")
    lines += [f"  → {line}" for line in nearest]
    return ["\n".join(lines)]


def _details(diagnosis: Diagnosis, lang: Lang, place: Place, clean: Clean) -> list[str]:
    say = texts(lang)
    parts = []
    benign = [finding for finding in diagnosis.findings if finding.role == "benign"]
    if benign:
        parts.append("\n".join([f"{say['log_benign']}:", *(_short(f, lang, place, clean) for f in benign)]))
    if diagnosis.codes:
        lines = [f"{say['log_codes']}:"]
        for one in diagnosis.codes:
            several = f" {say['code_several']}" if len(one.meanings) > 1 else ""
            lines.append(f"  {one.code} ({one.count}×, {place(one.first).line}){several}")
            for meaning in one.meanings:
                told = meaning.meaning_zh if lang == "zh" else meaning.meaning_en
                lines.append(f"    {meaning.platform} {meaning.name}: {told}")
        parts.append("\n".join(lines))
    parts.append(say["log_read"].format(lines=diagnosis.lines, bytes=diagnosis.bytes, matched=diagnosis.matched_lines))
    return parts


def as_json(diagnosis: Diagnosis, lang: Lang, *, place: Place, clean: Clean) -> dict[str, Any]:
    """Return a diagnosis as the JSON object of `diagnose --json`, without the schema number."""

    def line(one: Evidence) -> dict[str, Any]:
        named = place(one)
        return {
            "file": clean(named.file),
            "line": named.line,
            "start": named.start,
            "end": named.end,
            "text": clean(one.text),
            "time": one.time,
        }

    return {
        "verdict": diagnosis.verdict,
        "lang": lang,
        "findings": [
            {
                "rule": one.rule,
                "platform": one.platform,
                "role": one.role,
                "cause": clean(cause_of(one, lang)),
                "confidence": one.confidence,
                "certainty": one.certainty,
                "primary": one.primary,
                "task": clean(one.stream),
                "evidence": [line(evidence) for evidence in one.evidence],
                "count": one.count,
                "steps": [clean(step) for step in (one.steps_zh if lang == "zh" else one.steps_en)],
                "entry": one.entry,
                "source": one.source,
                "explains": list(one.explains),
                "explained_by": list(one.explained_by),
            }
            for one in diagnosis.findings
        ],
        "codes": [
            {
                "code": one.code,
                "platform": meaning.platform,
                "name": meaning.name,
                "meaning": meaning.meaning_zh if lang == "zh" else meaning.meaning_en,
                "ambiguous": len(one.meanings) > 1,
                "count": one.count,
                "file": clean(place(one.first).file),
                "line": place(one.first).line,
            }
            for one in diagnosis.codes
            for meaning in one.meanings
        ],
        "unknown": [
            {
                "template": clean(one.template),
                "count": one.count,
                "at_least": one.at_least,
                "file": clean(place(one.first).file),
                "line": place(one.first).line,
                "text": clean(one.first.text),
            }
            for one in diagnosis.unknown
        ],
        "needed": [need.zh if lang == "zh" else need.en for need in diagnosis.needed],
        "lines": diagnosis.lines,
        "bytes": diagnosis.bytes,
        "matched_lines": diagnosis.matched_lines,
    }
