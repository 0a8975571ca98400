"""The table of checks as corpus documents, so that the search of the corpus finds checks too; nothing is written."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from assistant.checks.table import CHECKS
from assistant.checks.types import Check
from kb.corpus import Corpus
from kb.types import LANGS, Lang

__all__ = ["as_corpus", "check_of"]

PLATFORM: Final = "checks"


def as_corpus(resources: Mapping[str, bytes], checks: Iterable[Check] = tuple(CHECKS.values())) -> Corpus:
    """Return the checks as entries of a corpus: title, ways of asking, help and parameters of each.

    Args:
        resources: glossary and other resources of the corpus beside it; calibration is left out.
        checks: the rows.
    """
    rows = tuple(checks)
    documents = {f"checks/checks.{lang}.md": _document(rows, lang).encode() for lang in sorted(LANGS)}
    kept = {name: data for name, data in resources.items() if name != "confidence.toml"}
    return Corpus(Path(__file__).parent, documents, kept)


def check_of(entry_id: str) -> Check:
    """Return the check that an entry of `as_corpus` stands for."""
    return CHECKS[entry_id.replace("-", "_")]


def _document(checks: Iterable[Check], lang: Lang) -> str:
    header = f'+++\ntitle = "checks"\nplatform = "{PLATFORM}"\nkind = "reference"\n\n[sources]\ntable = "asknpu"\n+++\n'
    return "\n".join((header, *(_entry(check, lang) for check in checks)))


def _entry(check: Check, lang: Lang) -> str:
    title, told, asks = (
        (check.zh, check.help_zh, check.asks_zh) if lang == "zh" else (check.en, check.help_en, check.asks_en)
    )
    named = "; ".join(
        f"{parameter.name}: {parameter.zh if lang == 'zh' else parameter.en}" for parameter in check.parameters
    )
    # A JSON string is a TOML string, too.
    ways = ", ".join(json.dumps(ask, ensure_ascii=False) for ask in asks)
    entry_id = check.name.replace("_", "-")
    return (
        f'## {title} {{#{entry_id}}}\n\n```toml entry\nsource = ["table"]\nask = [{ways}]\n```\n\n{told}\n\n{named}\n'
    )
