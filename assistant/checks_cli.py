"""Commands of the calculations: `run` one, `check` those of the corpus."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from assistant.errors import EXIT_NEGATIVE, EXIT_OK, EXIT_UNAVAILABLE, BadInput, NothingFound

if TYPE_CHECKING:
    from assistant.checks.fence import Fence
    from assistant.checks.types import Check, Outcome
    from assistant.session import Session
    from kb.types import Lang


def run_one(name: str, given: Sequence[str], *, as_json: bool, lang: "Lang") -> int:
    """Compute one check and print its outcome."""
    from assistant import render
    from assistant.checks import show, text
    from assistant.checks.run import run_check

    check = _check(name)
    outcome = run_check(check, _pairs(check, given))
    if as_json:
        render.print_json(show.to_json(check, outcome))
    else:
        click.echo(render.show(text.outcome_text(outcome, lang)))
    return EXIT_UNAVAILABLE if outcome.status == "skip" else EXIT_OK


def describe(name: str | None, *, as_json: bool, lang: "Lang") -> int:
    """List all checks, or describe one."""
    from assistant import render
    from assistant.checks import show, text
    from assistant.checks.table import CHECKS

    if name is not None:
        check = _check(name)
        if as_json:
            render.print_json({"schema": render.SCHEMA, **show.description(check)})
        else:
            click.echo(render.show(text.described(check, lang)))
    elif as_json:
        render.print_json({"schema": render.SCHEMA, "checks": [show.description(check) for check in CHECKS.values()]})
    else:
        rows = [(check.name, check.zh if lang == "zh" else check.en) for check in CHECKS.values()]
        click.echo(render.table(rows, ("check", "title"), render.terminal_width()))
    return EXIT_OK


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
    from assistant.checks.values import described

    pairs: dict[str, object] = {}
    for item in given:
        name, sign, value = item.partition("=")
        if not sign:
            takes = "; ".join(described(parameter) for parameter in check.parameters)
            raise BadInput(f"{item!r} is not of the form name=value; {check.name} takes {takes}")
        if name in pairs:
            raise BadInput(f"{name} is given twice")
        pairs[name] = value
    return pairs


def check_corpus(session: "Session", ids: Sequence[str], *, as_json: bool, lang: "Lang | None") -> int:
    """Run the check blocks of the entries (of all, if none is named) and print pass, fail or skip of each."""
    from assistant import render

    rows = list(_run_blocks(session, ids, lang))
    failed = sum(outcome.status == "fail" for _, _, outcome in rows)
    counts = {state: sum(o.status == state for _, _, o in rows) for state in ("pass", "fail", "skip")}
    seconds = sum(outcome.seconds for _, _, outcome in rows)
    if as_json:
        blocks = [
            {"entry": fence.entry_id, "lang": tongue, "file": fence.file, **render.check_json(outcome)}
            for fence, tongue, outcome in rows
        ]
        render.print_json({"schema": render.SCHEMA, **counts, "seconds": round(seconds, 3), "checks": blocks})
    else:
        lines = [
            (
                o.status,
                f"{o.seconds * 1000:.1f} ms",
                f"{fence.entry_id} ({tongue})",
                o.check,
                render.printable(o.reason),
            )
            for fence, tongue, o in rows
            if o.status != "pass" or ids
        ]
        if lines:
            click.echo(render.table(lines, ("state", "time", "entry", "check", "reason"), render.terminal_width()))
        click.echo(f"{counts['pass']} pass, {counts['fail']} fail, {counts['skip']} skip, {seconds:.2f} s")
    return EXIT_NEGATIVE if failed else EXIT_OK


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
