"""Answers as styled text, beside their Markdown: notes, codes, log lines, reasons, what helps after an abstention."""

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from assistant.reasons import shown
from assistant.texts import texts
from assistant.tui.safe import plain
from assistant.tui.words import Words, language_of

if TYPE_CHECKING:
    from assistant.types import Answer, AnswerEntry
    from kb.types import Lang

__all__ = ["abstained", "brought", "is_blocked", "notes", "to_send", "why"]


def notes(answer: "Answer", titles: dict[str, str], say: Words) -> Content:
    """Return what the reader must know about the search: corrections, what did not work, unknown names."""
    lang = language_of(say)
    told = texts(lang)
    lines = [plain(f"↺ {told['corrected'].format(to=to, typed=typed)}", "$warning") for typed, to in answer.corrected]
    lines += [plain(f"⚠ {told['degraded']}: {shown(note, lang)}", "$warning") for note in answer.degraded]
    for item in answer.unlisted:
        title = titles.get(item.entry_id, item.entry_id)
        lines.append(plain(f"✗ {told['unlisted'].format(name=item.name, title=title)}", "bold"))
    for unknown in answer.unknown:
        text = told["unknown"].format(kind=told[f"kind.{unknown.kind}"], text=unknown.text)
        if unknown.nearest:
            text += told["unknown_nearest"].format(nearest=", ".join(unknown.nearest))
        lines.append(plain(f"? {text}", "$warning"))
    failed = sum(check.outcome.status == "fail" for check in answer.checks)
    if failed:
        lines.append(plain(f"✗ {told['refuted'].format(failed=failed, all=len(answer.checks))}", "bold $error"))
    if answer.status == "answered" and not answer.entries:
        lines.append(plain(f"– {say('no_entry')}", "$text-muted"))
    return Content("\n").join(lines)


def brought(answer: "Answer") -> Content:
    """Return what the codes and log lines of the question mean."""
    parts = []
    if answer.brought.diagnosis is not None:
        from assistant.logs import report

        told = report.as_text(
            answer.brought.diagnosis, answer.lang, place=lambda one: report.Named("", one.line, one.start, one.end),
            clean=str, entry=lambda key: key, verbose=False,
        )  # fmt: skip
        parts.append(Content("\n").join([plain(texts(answer.lang)["log_excerpt"], "bold $primary"), plain(told)]))
    if answer.brought.codes:
        from assistant.codes_cli import code_text

        parts += [plain(code_text(one.code, one.meanings, answer.lang)) for one in answer.brought.codes]
    return Content("\n\n").join(parts)


def why(entry: "AnswerEntry | None", answer: "Answer | None", lang: "Lang") -> Content:
    """Return the ranks and scores by which an entry was found, and what the confidence was made of."""
    say = texts(lang)
    lines = [plain(say["why"], "bold $primary")]
    if entry is not None and entry.hit is not None:
        names = _aligned([say[f"by.{name}"] for name, _ in entry.hit.channels])
        for name, (_, score) in zip(names, entry.hit.channels, strict=True):
            lines.append(plain(f"  {say['channel'].format(name=name, rank=score.rank, score=score.score)}"))
        lines.append(plain(f"  {say['fused'].format(score=entry.hit.score, coverage=entry.hit.coverage)}"))
    if answer is not None:
        confidence = say["confidence"].format(confidence=answer.confidence, threshold=answer.threshold)
        lines += [plain(f"  {confidence}"), plain(f"  {say['features']}:", "$text-muted")]
        names = _aligned([say[f"feature.{name}"] for name, _ in answer.features])
        for name, (_, value) in zip(names, answer.features, strict=True):
            lines.append(plain(f"    {name} {value:5.2f}", "$text-muted"))
    return Content("\n").join(lines)


def _aligned(names: list[str]) -> list[str]:
    """Return names filled up to one width."""
    widest = max(map(cell_len, names), default=0)
    return [name + " " * (widest - cell_len(name)) for name in names]


def abstained(answer: "Answer", entries: int, lang: "Lang") -> Content:
    """Return that nothing was found that can be trusted, and what was searched."""
    say = texts(lang)
    searched = say["blocked" if is_blocked(answer) else "searched"].format(
        entries=entries, confidence=answer.confidence, threshold=answer.threshold
    )
    return Content("\n").join([plain(f"○ {say['not_known']}", "bold $warning"), plain(searched)])


def is_blocked(answer: "Answer") -> bool:
    """Return whether a name that nobody knows forbids an answer, however sure the search is."""
    return any(unknown.blocking for unknown in answer.unknown)


def to_send(answer: "Answer", say: Words) -> Content:
    """Return what would help to answer: the advice of the command line, and what a diagnosis misses."""
    lang = language_of(say)
    lines = [plain(say("send_title"), "bold $primary"), plain(f"  • {texts(lang)['help_hint']}")]
    lines += [plain(f"  • {line}") for line in say("send").splitlines()]
    if answer.brought.diagnosis is not None:
        needed = answer.brought.diagnosis.needed
        lines += [plain(f"  • {need.zh if lang == 'zh' else need.en}") for need in needed]
    return Content("\n").join(lines)
