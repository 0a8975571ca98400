"""The rewrite: where to write it, and its proof."""

from typing import Any

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Checkbox, Input, Static

from assistant.models.numbers import count
from assistant.reasons import shown
from assistant.texts import texts
from assistant.tui.model import rewriting
from assistant.tui.model.drawn import Drawn
from assistant.tui.model.names import cut, padded, wrapped
from assistant.tui.model.paths import SUFFIXES
from assistant.tui.model.settings import WrongField
from assistant.tui.pathfield import PathField
from assistant.tui.safe import plain
from assistant.tui.words import Words
from kb.types import Lang

__all__ = ["Fix", "outcome", "proof_lines"]


def outcome(one: dict[str, Any]) -> tuple[str, dict[str, object]]:
    """Return (key, values) of the sentence that says what became of a rewrite.

    Args:
        one: as `fix --json` gives it, with `clean`.
    """
    if not one["proof"]["runs"]:
        return "fix_unproved", {"reason": (one["proof"]["skipped"] or ["-"])[0]}
    key = "fix_refused" if not one["written"] else "fix_clean" if one["clean"] else "fix_some_left"
    return key, {"left": len(one["left"]), "changes": len(one["changes"])}


def proof_lines(one: dict[str, Any], lang: Lang, width: int) -> list[Content]:
    """Return what was rewritten, how far the outputs are apart, and what is left.

    Args:
        one: as `fix --json` gives it, with `clean`.
        lang: the language.
        width: cells of a line.
    """
    say = texts(lang)
    if not one["written"]:
        refused = say["fix_refused" if one["proof"]["runs"] else "fix_unproved"]
        lines = [
            plain(f"{' ' if i else '✗'} {part}", "$error bold") for i, part in enumerate(wrapped(refused, width - 2))
        ]
    else:
        style = "$success bold" if one["clean"] else "$warning bold"
        told = say["fix_written"].format(out=one["written"])
        mark = "✓" if one["clean"] else "!"
        lines = [plain(f"{' ' if i else mark} {part}", style) for i, part in enumerate(wrapped(told, width - 2))]
    lines += [Content(""), *_change_lines(one, lang, width), Content("")]
    lines += _output_lines(one["proof"], lang, width)
    if one["state_inputs"]:
        names = ", ".join(one["state_inputs"])
        lines += [Content(""), *(plain(part) for part in wrapped(say["fix_states"].format(names=names), width))]
    if one["left"]:
        lines += [Content(""), plain(say["fix_left"], "bold")]
        for left in one["left"][:50]:
            head = f"{left['op_type']} [{cut(left['node'], 40)}]: {shown(left['reason'], lang)}"
            lines += [
                plain(("✗ " if i == 0 else "  ") + part, "$error") for i, part in enumerate(wrapped(head, width - 2))
            ]
            lines += [
                plain(("  → " if i == 0 else "    ") + part)
                for i, part in enumerate(wrapped(shown(left["way_out"], lang), width - 4))
            ]
        if len(one["left"]) > 50:
            lines.append(plain(f"… {len(one['left']) - 50}"))
    return lines


def _change_lines(one: dict[str, Any], lang: Lang, width: int) -> list[Content]:
    say = texts(lang)
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for change in one["changes"]:
        key = (change["op_type"], change["rule"], change["exactness"], " ".join(change["into"]))
        grouped.setdefault(key, []).append(change["node"])
    if not grouped:
        return [plain(say["fix_nothing"])]
    lines = []
    for (op_type, rule, exactness, into), nodes in list(grouped.items())[:100]:
        lines.append(
            plain(f"{count(len(nodes)):>4} × ") + plain(op_type, "bold") + plain(f" → {cut(into, max(width - 30, 20))}")
        )
        told = f"{say['fix_rule']} {rule} · {say['fix_exact']} {shown(exactness, lang)} · {cut(nodes[0], 40)}"
        lines += [plain(f"       {part}", "$text-muted") for part in wrapped(told, width - 7)]
    return lines


def _output_lines(proof: dict[str, Any], lang: Lang, width: int) -> list[Content]:
    say = texts(lang)
    lines = [plain(say["fix_proof"].format(runs=len(proof["runs"])), "bold")]
    names = min(max([cell_len(output["output"]) for output in proof["outputs"]] + [8]), max(width - 48, 12))
    heads = [say[f"fix_{name}"] for name in ("absolute", "relative", "allowed")]
    lines.append(
        plain(f"  {padded(say['fix_output'], names)} {''.join(_right(head, 13) for head in heads)}", "$text-muted")
    )
    for output in proof["outputs"]:
        numbers = [output["max_absolute"], output["max_relative"], output["tolerance"]]
        cells = "".join(_right(n if isinstance(n, str) else f"{n:.3g}", 13) for n in numbers)
        mark, style = ("✓", "$success") if output["ok"] else ("✗", "$error")
        line = plain(mark, style) + plain(f" {padded(output['output'], names)} {cells}")
        lines.append(line + plain(f"  {shown(output['problem'], lang)}", "$error") if output["problem"] else line)
    for reason in proof["skipped"][:3]:
        lines += [plain(part, "$text-muted") for part in wrapped(shown(reason, lang), width)]
    return lines


def _right(text: str, width: int) -> str:
    return " " * max(width - cell_len(text), 0) + cut(text, width)


class _Proof(Drawn):
    def __init__(self) -> None:
        super().__init__()
        self.one: dict[str, Any] | None = None
        self.hint = ""
        self.lang: Lang = "en"

    def show(self, one: dict[str, Any] | None, hint: str, lang: Lang) -> None:
        self.one, self.hint, self.lang = one, hint, lang
        self.refresh(layout=True)

    def drawn(self, width: int) -> Content:
        """Return the lines for a width."""
        width = max(width, 30)
        if self.one is None:
            return Content("\n").join(plain(part, "$text-muted") for part in wrapped(self.hint, width))
        return Content("\n").join(proof_lines(self.one, self.lang, width))


class Fix(Vertical):
    """A path that the user confirms with Enter, what the proof may be off, and the result."""

    DEFAULT_CSS = """
    Fix Horizontal { height: 1; }
    Fix Horizontal Static { width: auto; color: $text-muted; margin-right: 1; }
    Fix #fix-out { width: 1fr; margin-right: 1; }
    Fix #fix-tolerance { width: 8; margin-right: 2; }
    Fix Checkbox { width: auto; margin-right: 2; }
    Fix Button { min-width: 8; margin-right: 1; }
    Fix VerticalScroll { margin-top: 1; height: 1fr; }
    Fix .-hidden { display: none; }
    """

    def __init__(self, say: Words) -> None:
        super().__init__()
        self.say = say
        self.one: dict[str, Any] | None = None
        self._confirmed = ""
        """An existing file that the user was asked about."""

    def compose(self) -> ComposeResult:
        """Lay out the fields above the proof."""
        with Horizontal():
            yield Static(id="say-out", markup=False)
            yield PathField("fix-out", suffixes=SUFFIXES)
            yield Button(id="fix-run", compact=True, variant="primary")
        with Horizontal():
            yield Static(id="say-tolerance", markup=False)
            yield Input("1e-4", compact=True, id="fix-tolerance", max_length=8)
            yield Checkbox(compact=True, id="fix-states")
            yield Button(id="fix-beside", compact=True, classes="-hidden")
        with VerticalScroll(id="fix-scroll"):
            yield _Proof()

    def relabel(self, say: Words, lang: Lang) -> None:
        """Set every label, and show the proof in the language."""
        self.say = say
        self.query_one("#say-out", Static).update(say("field_out"))
        self.query_one("#say-tolerance", Static).update(say("field_tolerance"))
        self.query_one("#fix-states", Checkbox).label = say("field_states")
        self.query_one("#fix-run", Button).label = say("button_fix")
        self.query_one("#fix-beside", Button).label = say("button_beside")
        self.query_one(_Proof).show(self.one, say("fix_hint"), lang)

    def show(self, one: dict[str, Any] | None, lang: Lang) -> None:
        """Show a result; None: there is none."""
        self.one = one
        self.query_one("#fix-beside").set_class(one is None or not one["written"], "-hidden")
        self.relabel(self.say, lang)

    def propose(self, path: str) -> None:
        """Fill in a path beside the model."""
        self.query_one("#fix-out", PathField).choose(rewriting.proposed(path) if path else "")

    def asked(self, path: str) -> tuple[dict[str, Any], str]:
        """Return tolerance and state_inputs of a job, and the path of its result.

        Args:
            path: of the model.

        Raises:
            WrongField: the tolerance is none, or the result cannot be written there. An existing file is refused once;
                asked again, it is overwritten.
        """
        out = self.query_one("#fix-out", PathField).path
        key = rewriting.why_not(path, out, overwrite=self._confirmed == out)
        self._confirmed = out if key == "out_exists" else ""
        if key:
            raise WrongField(key, path=cut(out, 200))
        text = self.query_one("#fix-tolerance", Input).value
        try:
            tolerance = float(text)
        except ValueError:
            tolerance = -1.0
        if not 0 <= tolerance <= 1:
            raise WrongField("wrong_tolerance", text=text)
        return {"tolerance": tolerance, "state_inputs": self.query_one("#fix-states", Checkbox).value}, out

    @on(Input.Changed, "#fix-out")
    def _other_out(self) -> None:
        self._confirmed = ""
