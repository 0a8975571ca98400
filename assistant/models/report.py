"""Estimates as one Markdown or HTML file, with charts in the HTML one; written whole or not at all."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from assistant.errors import BadInput
from assistant.models import charts, tables
from assistant.models.loading import Estimated
from assistant.texts import texts
from kb.types import Lang

__all__ = ["write_report"]

_LAYERS: Final = 40
"""Layers in the charts of bytes and cycles: the largest ones."""

_PAGE: Final = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}
pre{{overflow-x:auto;background:#8881;padding:1rem;border-radius:6px}}
svg{{max-width:100%;height:auto;margin:1rem 0}}
</style>
</head><body>
{body}
</body></html>
"""


def write_report(path: str, all_of: Sequence[Estimated], lang: Lang) -> None:
    """Write a report of estimates: Markdown for .md, HTML for .html.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".md", ".html", ".htm"):
        raise BadInput(f"--report {path}: give a file name that ends in .md or .html")
    text = _markdown(all_of, lang) if suffix == ".md" else _html(all_of, lang)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or Path(), prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(f"--report {path}: cannot be written: {error.strerror}") from None


def _markdown(all_of: Sequence[Estimated], lang: Lang) -> str:
    parts = [f"# {texts(lang)['report']}"]
    if len(all_of) > 1:
        parts.append(_fence(tables.together(all_of, lang)))
    for one in all_of:
        parts += [f"## {_name(one)}", _fence(tables.summary(one, lang)), _fence(tables.layer_table(one, lang))]
    return "\n\n".join(parts) + "\n"


def _fence(text: str) -> str:
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}text\n{text}\n{ticks}"


def _html(all_of: Sequence[Estimated], lang: Lang) -> str:
    say = texts(lang)
    parts = [f"<h1>{charts.escape(say['report'])}</h1>"]
    if len(all_of) > 1:
        parts.append(f"<pre>{charts.escape(tables.together(all_of, lang))}</pre>")
    for one in all_of:
        found = one.estimate
        parts += [f"<h2>{charts.escape(_name(one))}</h2>", f"<pre>{charts.escape(tables.summary(one, lang))}</pre>"]
        timeline = [(name, float(size)) for name, size in found.memory_over_time]
        parts.append(charts.steps(timeline, say["chart_memory"], "B", float(found.peak.lower_bound_bytes)))
        sized = [(layer.name, float(layer.weight_bytes + (layer.output_bytes or 0))) for layer in found.layers]
        items = sorted(sized, key=lambda item: -item[1])[:_LAYERS]
        parts.append(charts.bars(items, say["chart_bytes"], "B"))
        timed = [(layer.name, float(layer.cycles_estimate or 0)) for layer in found.layers]
        items = sorted(timed, key=lambda item: -item[1])[:_LAYERS]
        parts.append(charts.bars(items, say["chart_cycles"], ""))
        parts.append(f"<pre>{charts.escape(tables.layer_table(one, lang))}</pre>")
    return _PAGE.format(lang=lang, title=charts.escape(say["report"]), body="\n".join(parts))


def _name(one: Estimated) -> str:
    return Path(one.path).name
