"""The entry that a finding names: its title with how its checks come out, and its text."""

from assistant.texts import texts
from assistant.tui.services import Services
from kb.types import Lang

__all__ = ["entry_line", "entry_text"]


def entry_line(services: Services, key: str, lang: Lang) -> str:
    """Return title and checks of an entry, run now; takes up to seconds."""
    from assistant.checks.proof import outcomes

    with services.lock:
        entry = services.session.store.entry(key, lang)
    if entry is None:
        return key
    ran = [outcome for _, outcome in outcomes([entry])]
    passed = sum(outcome.status == "pass" for outcome in ran)
    sign = "✓" if passed == len(ran) else "✗"
    checks = f"  {sign} {texts(lang)['log_checks'].format(passed=passed, all=len(ran))}" if ran else ""
    return f"{entry.title}{checks}"


def entry_text(services: Services, key: str, lang: Lang) -> str:
    """Return an entry as Markdown, with its checks run now; why there is none otherwise."""
    from assistant.checks.proof import outcomes
    from assistant.errors import AssistantError
    from kb.parse import without_checks

    try:
        with services.lock:
            entry = services.session.store.entry(key, lang)
    except AssistantError as error:
        return f"{key}: {error}"
    if entry is None:
        return key
    say = texts(lang)
    ran = [outcome for _, outcome in outcomes([entry])]
    parts = [f"## {entry.title}", without_checks(entry.text)]
    parts += [f"- {'✓' if one.status == 'pass' else '✗'} {one.check}" for one in ran]
    return "\n\n".join([*parts, f"{say['source']}: {'; '.join(entry.sources)}"])
