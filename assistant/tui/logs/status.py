"""How far a reading is, and what it came to, in one line."""

from textual.content import Content

from assistant.tui.logs.reading import Reading
from assistant.tui.safe import plain
from assistant.tui.words import Words, explained

__all__ = ["amount", "status"]

_SIGNS = {"cause": ("●", "bold $error"), "undecided": ("?", "bold $warning"), "clean": ("✓", "bold $success")}
_BAR = 10


def amount(count: float) -> str:
    """Return bytes in the unit that fits."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def status(reading: Reading | None, note: str, say: Words) -> Content:
    """Return the line: a note first if there is one."""
    if reading is None:
        return plain(say("title"), "bold")
    parts = [plain(note, "$accent")] if note else []
    return Content("  ").join([*parts, *_parts(reading, say)])


def _parts(reading: Reading, say: Words) -> list[Content]:
    lines, size = sum(rows.lines for rows in reading.logs), sum(rows.size for rows in reading.logs)
    told = say("amount", lines=f"{lines:,}", size=amount(size))
    parts: list[Content] = []
    if reading.phase == "failed":
        return [plain(f"✗ {explained(reading.problem, say)}", "bold $error")]
    if reading.phase in ("opening", "indexing", "diagnosing"):
        parts.append(plain(f"{_bar(reading)} {say(reading.phase)}", "$accent"))
        if reading.done and reading.seconds > 0:
            parts.append(plain(f" {amount(reading.done / reading.seconds)}/s"))
        parts.append(plain(f" · {say('esc_stops')}", "$text-muted"))
    elif reading.phase == "following":
        parts.append(plain(f"◉ {say('following')}", "bold $success"))
        parts.append(plain(f" · {say('esc_stops')}", "$text-muted"))
    elif reading.phase == "stopped":
        parts.append(plain(f"■ {say('stopped')}", "bold $warning"))
    if reading.diagnosis is not None and reading.phase in ("done", "stopped", "following"):
        sign, style = _SIGNS[reading.diagnosis.verdict]
        parts.append(plain(f"{sign} {say(f'verdict_{reading.diagnosis.verdict}')}", style))
    parts.append(plain(told, "$text-muted"))
    if reading.skipped:
        parts.append(plain(say("skipped", count=len(reading.skipped)), "$text-muted"))
    if reading.damaged:
        parts.append(plain(say("damaged", names=", ".join(reading.damaged)), "$warning"))
    event, why = reading.note
    if event and reading.phase == "following":
        parts.append(plain(say(f"event_{event}", why=explained(why, say)), "$warning"))
    return parts


def _bar(reading: Reading) -> str:
    """Return a bar, and how much of all is done."""
    if not reading.total:
        return "…"
    share = min(reading.done / reading.total, 1.0)
    filled = round(share * _BAR)
    return f"{'━' * filled}{'╌' * (_BAR - filled)} {share:4.0%}"
