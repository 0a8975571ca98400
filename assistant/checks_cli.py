"""What the commands of the calculations print: `run` one, `check` those of the corpus."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assistant.errors import EXIT_NEGATIVE, EXIT_OK, EXIT_UNAVAILABLE, BadInput, NothingFound

if TYPE_CHECKING:
    from assistant.checks.fence import Fence
    from assistant.checks.types import Check, Outcome
    from assistant.session import Session
    from kb.types import Lang


def run_one(name: str, given: Sequence[str], *, as_json: bool, lang: "Lang") -> tuple[str, int]:
    """Return the outcome of one check as text, and the exit code."""
    from assistant import render
    from assistant.checks import show, text
    from assistant.checks.run import run_check

    check = _check(name)
    outcome = run_check(check, _pairs(check, given))
    code = EXIT_UNAVAILABLE if outcome.status == "skip" else EXIT_OK
    if as_json:
        return render.json_text(show.to_json(check, outcome)), code
    return render.show(text.outcome_text(outcome, lang)), code


def describe(name: str | None, *, as_json: bool, lang: "Lang") -> str:
    """Return the list of all checks, or what one computes and takes."""
    from assistant import render
    from assistant.checks import show, text
    from assistant.checks.table import CHECKS

    if name is not None:
        check = _check(name)
        if as_json:
            return render.json_text({"schema": render.SCHEMA, **show.description(check)})
        return render.show(text.described(check, lang))
    if as_json:
        every = [show.description(check) for check in CHECKS.values()]
        return render.json_text({"schema": render.SCHEMA, "checks": every})
    rows = [(check.name, check.zh if lang == "zh" else check.en) for check in CHECKS.values()]
    return render.table(rows, ("check", "title"), render.terminal_width())


def _check(name: str) -> "Check":
    from assistant.checks.table import CHECKS

    if name in CHECKS:
        return CHECKS[name]
    from rapidfuzz import process

    nearest = [match[0] for match in process.extract(name, list(CHECKS), limit=3, score_cutoff=50)]
    hint = f"; nearest: {', '.join(nearest)}" if nearest else "; 'asknpu run --list' shows all"
    raise NothingFound(f"no check is called {name!r}{hint}")


def _pairs(check: "Check", given: Sequence[str]) -> dict[str, object]:
    """Return `key=value` arguments as a mapping.

    Raises:
        BadInput: one has no '=', or a name stands twice.
    """
    pairs: dict[str, object] = {}
    for item in given:
        name, sign, value = item.partition("=")
        if not sign:
            names = ", ".join(parameter.name for parameter in check.parameters)
            raise BadInput(f"{item!r} is not of the form name=value; {check.name} takes {names}")
        if name in pairs:
            raise BadInput(f"{name} is given twice")
        pairs[name] = value
    return pairs


def check_corpus(session: "Session", ids: Sequence[str], *, as_json: bool, lang: "Lang | None") -> tuple[str, int]:
    """Run the check blocks of the entries (of all, if none is named); return state of each, and the exit code."""
    from assistant import render
    from assistant.language import default_language
    from assistant.plain import printable
    from assistant.reasons import shown
    from assistant.texts import texts

    rows = list(_run_blocks(session, ids, lang))
    counts = {state: sum(o.status == state for _, _, o in rows) for state in ("pass", "fail", "skip")}
    code = EXIT_NEGATIVE if counts["fail"] else EXIT_OK
    seconds = sum(outcome.seconds for _, _, outcome in rows)
    if as_json:
        blocks = [
            {"entry": fence.entry_id, "lang": tongue, "file": fence.file, **render.check_json(outcome)}
            for fence, tongue, outcome in rows
        ]
        data = {"schema": render.SCHEMA, **counts, "seconds": round(seconds, 3), "checks": blocks}
        return render.json_text(data), code
    here = lang or default_language()
    say = texts(here)
    lines = [
        (
            say[f"check.{o.status}"],
            f"{o.seconds * 1000:.1f} ms",
            f"{fence.entry_id} ({tongue})",
            o.check,
            printable(shown(o.reason, here) if o.reason else ""),
        )
        for fence, tongue, o in rows
        if o.status != "pass" or ids
    ]
    heads = [say[f"check.head_{name}"] for name in ("state", "time", "entry", "check", "reason")]
    table = render.table(lines, heads, render.terminal_width()) if lines else ""
    total = say["check.total"].format(**counts, seconds=seconds)
    return f"{table}\n{total}".lstrip(), code


def _run_blocks(session: "Session", ids: Sequence[str], lang: "Lang | None") -> "Iterator[tuple[Fence, Lang, Outcome]]":
    from assistant.checks.fence import fences, run_fence

    entries = session.store.entries(lang)
    known = {entry.id for entry in entries}
    for entry_id in ids:
        if entry_id not in known:
            raise NothingFound(f"no entry {entry_id!r}; 'asknpu list' shows all")
    for entry in entries:
        if ids and entry.id not in ids:
            continue
        for fence in fences(entry):
            yield fence, entry.lang, run_fence(fence)
