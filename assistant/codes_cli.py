"""What `asknpu code` prints: every meaning of a code, by platform."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assistant.errors import EXIT_NEGATIVE, EXIT_OK, BadInput

if TYPE_CHECKING:
    from assistant.logs.types import Meaning
    from kb.types import Lang

__all__ = ["code_text", "codes", "meaning_json"]


def codes(given: Sequence[str], *, platform: str | None, as_json: bool, lang: "Lang") -> tuple[str, int]:
    """Return the meanings of codes in any spelling, and the exit code: 1 if one is not known.

    Raises:
        BadInput: no code, or an unknown platform.
    """
    from assistant import render
    from assistant.logs.codes import lookup
    from assistant.logs.table import table

    if not given:
        raise BadInput("give a code, for example: asknpu code 507899 0x7BFFB EE1001")
    tables = table().platforms
    names = {*tables, *(group for one in tables.values() for group in one.groups)}
    if platform is not None and platform.casefold() not in names:
        raise BadInput(f"--platform {platform}: unknown; choose one of {', '.join(sorted(names))}")
    found = {spelling: lookup(spelling, platform) for spelling in given}
    code = EXIT_OK if all(found.values()) else EXIT_NEGATIVE
    if as_json:
        rows = [
            {"spelling": spelling, "meanings": [meaning_json(m) for m in meanings]}
            for spelling, meanings in found.items()
        ]
        return render.json_text({"schema": render.SCHEMA, "codes": rows}), code
    return "\n\n".join(code_text(spelling, meanings, lang) for spelling, meanings in found.items()), code


def code_text(spelling: str, meanings: "Sequence[Meaning]", lang: "Lang") -> str:
    """Return what a code means, a paragraph of lines."""
    from assistant.logs.table import table
    from assistant.plain import printable
    from assistant.texts import texts

    say = texts(lang)
    titles = {name: one.title_zh if lang == "zh" else one.title_en for name, one in table().platforms.items()}
    if not meanings:
        return f"{printable(spelling)}: {say['code_unknown']}"
    lines = [f"{printable(spelling)}:" + (f" {say['code_several']}" if len(meanings) > 1 else "")]
    for meaning in meanings:
        told = meaning.meaning_zh if lang == "zh" else meaning.meaning_en
        name = f" {meaning.name}" if meaning.name else ""
        lines.append(f"  {titles[meaning.platform]} · {meaning.code}{name}: {told}")
        hint = meaning.cause_hint_zh if lang == "zh" else meaning.cause_hint_en
        if hint:
            lines.append(f"    {say['code_hint']}: {hint}")
        entry = f" · asknpu show {meaning.entry}" if meaning.entry else ""
        lines.append(f"    {say['source']}: {meaning.source} ({say[f'code_{meaning.certainty}']}){entry}")
    return "\n".join(lines)


def meaning_json(meaning: "Meaning") -> dict[str, Any]:
    """Return one meaning of a code as a JSON object."""
    return {
        "code": meaning.code,
        "platform": meaning.platform,
        "name": meaning.name,
        "module": meaning.module,
        "meaning": {"zh": meaning.meaning_zh, "en": meaning.meaning_en},
        "cause_hint": {"zh": meaning.cause_hint_zh, "en": meaning.cause_hint_en},
        "source": meaning.source,
        "certainty": meaning.certainty,
        "entry": meaning.entry,
    }
