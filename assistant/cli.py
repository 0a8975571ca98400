"""The command line. Standard output is the answer, standard error is narration; imports stay inside the commands."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import click

from assistant.errors import (
    EXIT_BAD_INPUT,
    EXIT_INTERRUPTED,
    EXIT_NEGATIVE,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    AssistantError,
    BadInput,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from assistant.session import Session
    from kb.search import Searcher
    from kb.types import Lang

Command = TypeVar("Command", bound="Callable[..., object]")

MAX_STDIN_LINE = 1_000_000
"""Bytes; a longer line on standard input is no question."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become one sentence on standard error."""
    from assistant.language import language_of

    click.Context.formatter_class = _ChineseHelp if language_of(arguments) == "zh" else click.HelpFormatter
    try:
        code = cli.main(list(arguments), prog_name="asknpu", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else EXIT_OK
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        _complain(error.format_message(), arguments, usage=True)
        return EXIT_BAD_INPUT
    except BrokenPipeError:
        # The reader went away; keep Python from complaining again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except AssistantError as error:
        _complain(str(error), arguments)
        return error.exit_code
    except Exception as error:
        from kb.errors import CorpusError, KbError

        if not isinstance(error, KbError):
            raise
        _complain(str(error), arguments)
        return EXIT_BAD_INPUT if isinstance(error, CorpusError) else EXIT_UNAVAILABLE


class _ChineseHelp(click.HelpFormatter):
    """Lays out `--help` in Chinese; lines are short enough to need no second one."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        from assistant import help

        super().write_usage(prog, help.form(args), help.usage())

    def write_heading(self, heading: str) -> None:
        from assistant import help

        self.write(f"{' ' * self.current_indent}{help.section(heading)}：\n")

    def write_text(self, text: str) -> None:
        from assistant import help

        for line in help.paragraph(text).splitlines():
            self.write(f"{' ' * self.current_indent}{line}".rstrip() + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        from assistant import help

        told = [(help.form(first), help.second_column(second)) for first, second in rows]
        super().write_dl(told, col_max, col_spacing)


def _complain(message: str, arguments: Sequence[str], *, usage: bool = False) -> None:
    from assistant.language import language_of
    from assistant.plain import printable
    from assistant.reasons import shown

    lang = language_of(arguments)
    parts = [message.rstrip("."), *(["see 'asknpu --help'"] if usage else [])]
    told = ("；" if lang == "zh" else "; ").join(shown(part, lang) for part in parts)
    click.echo(f"asknpu: {printable(told)}", err=True)


def _narrate(text: str) -> None:
    """Say what takes time, to a person at a terminal only."""
    if sys.stderr.isatty():
        from assistant.language import default_language
        from assistant.reasons import shown

        click.echo(shown(text, default_language()), err=True)


def _texts_here() -> "tuple[dict[str, str], Lang]":
    """Return the sentences in the user's language, and the language."""
    from assistant.language import default_language
    from assistant.texts import texts

    lang = default_language()
    return texts(lang), lang


def _show_now(text: str) -> None:
    click.echo(text)
    sys.stdout.flush()


def _complain_plainly(text: str) -> None:
    click.echo(text, err=True)


def _print_json(data: object, *, indent: int | None = 2) -> None:
    from assistant import render

    click.echo(render.json_text(data, indent=indent))


def _open_session(*, with_meaning: bool = False) -> "Session":
    from assistant.session import open_session, start_encoders

    if with_meaning:
        start_encoders()
    return open_session(_narrate)


_json = click.option("--json", "as_json", is_flag=True, help="Print JSON (schema 1).")
_lang = click.option(
    "--lang", type=click.Choice(["zh", "en"]), help="Language of the answer (default: the question's)."
)
_platform = click.option("--platform", metavar="NAME", help="Only entries of this platform.")
_explain = click.option("--explain", is_flag=True, help="Show ranks, scores and features.")


def _limit(default: int, text: str) -> "Callable[[Command], Command]":
    return click.option("--limit", type=click.IntRange(1, 100), default=default, show_default=True, help=text)


@click.group(
    invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="asknpu", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> int:
    """Answers about NPUs with exact sources, offline, in Chinese and English. Without a command: the window.

    Exit codes: 0 answered, 1 honest negative (not known, nothing found), 2 bad input, 3 index or model unavailable.
    """
    if context.invoked_subcommand is None:
        if _at_terminal():
            from assistant.tui_cli import run_window

            return run_window()
        click.echo(context.get_help())
    return EXIT_OK


def _at_terminal() -> bool:
    """Return whether standard input and output are a terminal that can place characters."""
    able = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return able and sys.stdin.isatty() and sys.stdout.isatty()


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need --token.")
@click.option("--port", type=click.IntRange(1, 65535), default=8742, show_default=True, help="Port to listen on.")
@click.option("--token", metavar="T", envvar="ASKNPU_TOKEN", help="Every request must bring T (or set ASKNPU_TOKEN).")
def serve(host: str, port: int, token: str | None) -> int:
    """Show the window in a browser, on this machine only unless another HOST and a token are given."""
    from assistant.tui_cli import serve as serve_window

    return serve_window(host, port, token)


@cli.command()
@click.argument("question")
@_json
@_lang
@_platform
@_limit(1, "Entries to answer with.")
@_explain
def ask(question: str, as_json: bool, lang: "Lang | None", platform: str | None, limit: int, explain: bool) -> int:
    """Answer QUESTION with its source, or say that the answer is not known.

    QUESTION may be '-': one question per line from standard input, one JSON object per line to standard output.
    """
    from assistant import render
    from assistant.answer import answer, checked_question, is_refuted
    from assistant.checks.asked import computing
    from assistant.logs.asked import brought

    lines: Iterator[str] | None = None
    if question == "-":
        lines = _stdin_lines()
    else:
        checked_question(question)
        lang = lang or _answer_language(question)
    session = _open_session(with_meaning=True)
    searcher = session.searcher()
    compute = computing(session.check_searcher)
    if lines is not None:
        code = EXIT_OK
        for line in lines:
            given = answer(line, searcher, lang=lang, platform=platform, limit=limit, compute=compute, bring=brought)
            _print_json(render.answer_json(given, explain=explain), indent=None)
            sys.stdout.flush()
            code = EXIT_NEGATIVE if given.status == "abstained" or is_refuted(given) else code
        return code
    given = answer(question, searcher, lang=lang, platform=platform, limit=limit, compute=compute, bring=brought)
    if as_json:
        _print_json(render.answer_json(given, explain=explain))
    else:
        markdown = render.answer_markdown(given, searcher.store.counts()["entries"], explain=explain)
        click.echo(render.show(markdown))
    return EXIT_NEGATIVE if given.status == "abstained" or is_refuted(given) else EXIT_OK


def _answer_language(question: str) -> "Lang | None":
    """Return the language to answer a question in; None for its own."""
    from assistant.language import default_language, has_language

    return "zh" if default_language() == "zh" and not has_language(question) else None


def _stdin_lines() -> Iterator[str]:
    """Yield the non-empty lines of standard input.

    Raises:
        BadInput: a line is no UTF-8 text, has NUL bytes or is longer than `MAX_STDIN_LINE`.
    """
    number = 0
    while data := sys.stdin.buffer.readline(MAX_STDIN_LINE + 1):
        number += 1
        if len(data) > MAX_STDIN_LINE:
            raise BadInput(
                f"standard input, line {number}: longer than {MAX_STDIN_LINE:,} bytes; give one question per line"
            )
        try:
            line = data.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            line = "\0"
        if "\0" in line:
            raise BadInput(f"standard input, line {number}: is not UTF-8 text; give one question per line")
        if line.strip():
            yield line


@cli.command()
@click.argument("question")
@_json
@_lang
@_platform
@_limit(10, "Entries to list.")
@_explain
@click.option("--words-only", is_flag=True, help="Search by words only; loads no encoder.")
def search(
    question: str, as_json: bool, lang: "Lang | None", platform: str | None, limit: int, explain: bool, words_only: bool
) -> int:
    """List the entries that fit QUESTION best."""
    from assistant.answer import checked_question
    from assistant.entries_cli import found
    from assistant.plain import printable

    text = checked_question(question)
    lang = lang or _answer_language(question)
    searcher = _open_session(with_meaning=not words_only).searcher(with_meaning=not words_only)
    told, notes, code = found(
        searcher, text, lang=lang, platform=platform, limit=limit, explain=explain, as_json=as_json
    )  # fmt: skip
    for note in notes:
        click.echo(printable(note), err=True)
    if told:
        click.echo(told)
    return code


@cli.command()
@click.argument("entry_id", metavar="ID")
@_json
@_lang
@click.option("--raw", is_flag=True, help="Print only the cited bytes, exactly as they are in the corpus file.")
def show(entry_id: str, as_json: bool, lang: "Lang | None", raw: bool) -> int:
    """Print the entry ID with its source and byte range."""
    from assistant.entries_cli import entry
    from assistant.language import default_language

    told = entry(_open_session(), entry_id, lang=lang or default_language(), as_json=as_json, raw=raw)
    if isinstance(told, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(told)
    else:
        click.echo(told)
    return EXIT_OK


@cli.command("list")
@_json
@_lang
@_platform
def list_entries(as_json: bool, lang: "Lang | None", platform: str | None) -> int:
    """List all entries."""
    from assistant.entries_cli import entries
    from assistant.language import default_language

    click.echo(entries(_open_session(), lang=lang or default_language(), platform=platform, as_json=as_json))
    return EXIT_OK


@cli.command("run")
@click.argument("name", metavar="CHECK", required=False)
@click.argument("arguments", metavar="KEY=VALUE...", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List all checks, or describe CHECK.")
@_json
@_lang
def run_check(name: str | None, arguments: tuple[str, ...], listing: bool, as_json: bool, lang: "Lang | None") -> int:
    """Compute CHECK with the arguments KEY=VALUE, for example: asknpu run quant_range scale=0.02."""
    from assistant import checks_cli
    from assistant.language import default_language

    tongue = lang or default_language()
    if listing or name is None:
        click.echo(checks_cli.describe(name, as_json=as_json, lang=tongue))
        return EXIT_OK
    text, code = checks_cli.run_one(name, arguments, as_json=as_json, lang=tongue)
    click.echo(text)
    return code


@cli.command("check")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="The blocks of all entries.")
@_json
@_lang
def check_corpus(ids: tuple[str, ...], everything: bool, as_json: bool, lang: "Lang | None") -> int:
    """Run the calculations that entries carry and compare them with what the entries say."""
    from assistant import checks_cli

    if everything == bool(ids):
        raise BadInput("name entries, or give --all for those of the whole corpus")
    text, code = checks_cli.check_corpus(_open_session(), ids, as_json=as_json, lang=lang)
    click.echo(text)
    return code


@cli.command()
@click.argument("models", metavar="MODEL...", nargs=-1)
@click.option(
    "-m", "--onnx_model", "more", metavar="MODEL", multiple=True, help="A model, as the vendor script takes it."
)
@click.option("-p", "--print_enable", "with_layers", is_flag=True, help="Also print every layer.")
@click.option("--device", metavar="NAME", default="nano-035a", show_default=True, help="Device to estimate for.")
@click.option("--clock", type=click.FloatRange(0.001, 100_000), metavar="MHZ", help="Clock (default: the device's).")
@click.option("--precision", "activation", type=click.Choice(["int8", "int16"]), default="int8", show_default=True,
              help="Type of quantized activations.")  # fmt: skip
@click.option("--input", "inputs", metavar="NAME:1,3,224,224", multiple=True, help="Shape of an input; repeatable.")
@click.option("--value", "values", metavar="NAME:16000", multiple=True, help="Number that an input always has.")
@click.option("--view", type=click.Choice(["fused", "script"]), default="fused", show_default=True,
              help="After folding and fusion, or as the vendor script counts.")  # fmt: skip
@click.option("--report", metavar="FILE", help="Also write a report: FILE.md or FILE.html.")
@_json
@_lang
def estimate(
    models: tuple[str, ...],
    more: tuple[str, ...],
    with_layers: bool,
    device: str,
    clock: float | None,
    activation: "Literal['int8', 'int16']",
    inputs: tuple[str, ...],
    values: tuple[str, ...],
    view: "Literal['fused', 'script']",
    report: str | None,
    as_json: bool,
    lang: "Lang | None",
) -> int:
    """Estimate weights, memory, flash, operators and latency of ONNX models; several are shown side by side."""
    from assistant import models_cli
    from assistant.language import default_language

    text, code = models_cli.estimate(
        (*more, *models), device=device, clock_mhz=clock, activation=activation, inputs=inputs, values=values,
        view=view, with_layers=with_layers, report=report, as_json=as_json, lang=lang or default_language(),
    )  # fmt: skip
    click.echo(text)
    return code


@cli.command()
@click.argument("model", metavar="MODEL")
@click.option("-o", "--output", "out", metavar="OUT", required=True, help="Where to write the result, .onnx.")
@click.option("--device", metavar="NAME", default="nano-035a", show_default=True, help="Device to rewrite for.")
@click.option("--input", "inputs", metavar="NAME:1,3,224,224", multiple=True, help="Shape of an input; repeatable.")
@click.option("--value", "values", metavar="NAME:16000", multiple=True, help="Number that an input always has.")
@click.option("--opset", type=click.IntRange(7, 30), help="Version to write (default: in the device's range).")
@click.option("--state-inputs", is_flag=True, help="Start states of LSTM and GRU become inputs, as AMCT wants them.")
@click.option("--tolerance", type=click.FloatRange(0, 1), default=1e-4, show_default=True,
              help="Largest relative difference of an output.")  # fmt: skip
@click.option("--force", "overwrite", is_flag=True, help="Replace OUT if it exists.")
@_json
@_lang
def fix(
    model: str,
    out: str,
    device: str,
    inputs: tuple[str, ...],
    values: tuple[str, ...],
    opset: int | None,
    state_inputs: bool,
    tolerance: float,
    overwrite: bool,
    as_json: bool,
    lang: "Lang | None",
) -> int:
    """Rewrite MODEL to operators that the device runs, prove that it computes the same, and write it to OUT."""
    from assistant import models_cli
    from assistant.language import default_language

    text, code = models_cli.fix(
        model, out, device=device, inputs=inputs, values=values, opset=opset,
        state_inputs=state_inputs, tolerance=tolerance, overwrite=overwrite, as_json=as_json,
        lang=lang or default_language(),
    )  # fmt: skip
    click.echo(text)
    return code


@cli.command()
@click.argument("paths", metavar="FILE...", nargs=-1)
@click.option("--follow", "-f", "following", is_flag=True, help="Go on reading a growing file or serial device.")
@click.option("--from-end", is_flag=True, help="With --follow: skip what is there already.")
@click.option(
    "--redact", is_flag=True, help="Replace addresses, paths, users, hosts, serials and tokens in the output."
)
@click.option("--verbose", "-v", is_flag=True, help="Also offsets, sources, codes, consequences, all unknown lines.")
@_json
@_lang
def diagnose(
    paths: tuple[str, ...],
    following: bool,
    from_end: bool,
    redact: bool,
    verbose: bool,
    as_json: bool,
    lang: "Lang | None",
) -> int:
    """Find the root cause in logs: files, packed or not, archives, directories of one incident, '-' for stdin."""
    from assistant import diagnose_cli
    from assistant.language import default_language

    tongue = lang or default_language()
    if following:
        if len(paths) != 1:
            raise BadInput("--follow takes one file, device or '-'")
        return diagnose_cli.follow(
            paths[0], lang=tongue, as_json=as_json, verbose=verbose, redact=redact, from_end=from_end,
            show=_show_now, narrate=_complain_plainly,
        )  # fmt: skip
    text, code = diagnose_cli.diagnose(
        paths, lang=tongue, as_json=as_json, verbose=verbose, redact=redact, open_session=_open_session,
        narrate=_complain_plainly,
    )  # fmt: skip
    click.echo(text)
    return code


@cli.command()
@click.argument("given", metavar="CODE...", nargs=-1)
@click.option("--platform", metavar="NAME", help="Only this table or family: nano, ascend, horizon ...")
@_json
@_lang
def code(given: tuple[str, ...], platform: str | None, as_json: bool, lang: "Lang | None") -> int:
    """Say what error codes mean, in any spelling: decimal, hex, signed, E-codes, names."""
    from assistant import codes_cli
    from assistant.language import default_language

    text, exit_code = codes_cli.codes(given, platform=platform, as_json=as_json, lang=lang or default_language())
    click.echo(text)
    return exit_code


@cli.command()
@_json
@click.option("--encoder", metavar="SPEC", help="Dense encoder: e5, or sentence-transformers:NAME-OR-PATH.")
@click.option("--rebuild", is_flag=True, help="Throw the index away first, vectors included.")
@click.option("--ship", is_flag=True, help="Also write the vectors into the corpus (for maintainers).")
def update(as_json: bool, encoder: str | None, rebuild: bool, ship: bool) -> int:
    """Bring the index up to date; only new passages are embedded."""
    from assistant import maintain, render
    from assistant.reasons import in_words

    report = maintain.update(encoder=encoder, rebuild=rebuild, ship=ship, narrate=_narrate)
    if as_json:
        _print_json({"schema": render.SCHEMA, **report})
    else:
        embedded = sum(report["embedded"].values())
        state = "updated" if report["changed"] else "up to date"
        told = f"{state}: {report['entries']} entries, {report['passages']} passages, {embedded} embedded"
        click.echo(f"{in_words(told, _texts_here()[1])}, {report['seconds']:.2f} s")
    return EXIT_OK


@cli.command()
@_json
def status(as_json: bool) -> int:
    """Show what is indexed, with which encoders, and where."""
    from assistant import maintain, render
    from assistant.reasons import in_words

    facts = maintain.status(_open_session())
    if as_json:
        _print_json({"schema": render.SCHEMA, **facts})
    else:
        say, lang = _texts_here()
        rows = [(say[f"status.{name}"], in_words(str(value), lang)) for name, value in facts.items()]
        click.echo(render.table(rows, (say["status.head_what"], say["status.head_value"])))
    return EXIT_OK


@cli.command()
@_json
def doctor(as_json: bool) -> int:
    """Check the installation, the corpus and the index; every finding names its cure."""
    from assistant import maintain, render
    from assistant.reasons import in_words

    results = maintain.doctor()
    if as_json:
        rows = [{"check": name, "ok": ok, "finding": finding} for name, ok, finding in results]
        _print_json({"schema": render.SCHEMA, "ok": all(ok for _, ok, _ in results), "checks": rows})
    else:
        say, lang = _texts_here()
        lines = [
            (say["doctor.ok" if ok else "doctor.bad"], say[f"doctor.{name}"], in_words(finding, lang))
            for name, ok, finding in results
        ]
        click.echo(render.table(lines, [say[f"doctor.head_{name}"] for name in ("state", "check", "finding")]))
    return EXIT_OK if all(ok for _, ok, _ in results) else EXIT_NEGATIVE


@cli.command("eval")
@_json
@click.option(
    "--calibrate", is_flag=True, help="Fit the confidence weights and write them into the corpus (for maintainers)."
)
@click.option("--failures", is_flag=True, help="List the questions that went wrong.")
def evaluate(as_json: bool, calibrate: bool, failures: bool) -> int:
    """Measure search and abstention on the gold questions."""
    from assistant import evaluate as measure
    from assistant import render

    searcher: Searcher = _open_session(with_meaning=True).searcher()
    result = measure.evaluate(searcher, _narrate)
    if calibrate:
        path = measure.write_confidence(result, searcher)
        click.echo(f"wrote {path}; run 'asknpu eval' again to see its effect", err=True)
    if as_json:
        _print_json({"schema": render.SCHEMA, **measure.to_json(result)})
    else:
        click.echo(measure.to_text(result, failures=failures))
    return EXIT_OK
