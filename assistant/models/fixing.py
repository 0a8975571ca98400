"""Rewrite a model for a device, prove it, write it; the outcome as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.errors import BadInput
from assistant.models.loading import constants, loaded
from assistant.plain import printable
from assistant.reasons import shown
from assistant.render import table
from assistant.texts import texts
from kb.types import Lang
from simcore.device import load_device
from simcore.errors import SimError
from simcore.rewrite.prove import Proof, prove
from simcore.rewrite.run import Options, Rewritten, rewrite
from simcore.save_onnx import read_metadata, save_onnx

__all__ = ["Fixed", "exit_is_clean", "fix", "fix_json", "fix_text"]

#: Seeds of the random inputs; each gives one input of every distribution.
SEEDS: Final = (0, 1)
_SHOWN: Final = 30


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of a model."""

    path: str
    out: str
    """Where the result was written; "" if it was refused."""
    device: str
    rewritten: Rewritten
    proof: Proof


def fix(
    path: str, out: str, *, device: str, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, float],
    opset: int | None, state_inputs: bool,
    tolerance: float, overwrite: bool,
) -> Fixed:  # fmt: skip
    """Return the rewritten model, written to `out` if every output is within the tolerance.

    Raises:
        BadInput: the file cannot be used or written, or an input has no complete shape.
    """
    target = Path(out)
    if target.suffix.lower() != ".onnx":
        raise BadInput(f"-o {out}: the name of the result must end in .onnx")
    if target.exists() and (target.samefile(path) or not overwrite):
        raise BadInput(
            f"-o {out}: exists already; give another name" + ("" if target.samefile(path) else " or --force")
        )
    graph = loaded(path)
    names = {info.name for info in graph.inputs}
    own = {name: shape for name, shape in shapes.items() if name in names}
    try:
        options = Options(shapes=own, values=constants(graph, values), opset=opset, state_inputs=state_inputs)
        rewritten = rewrite(graph, load_device(device), options)
        proof = prove(graph, rewritten, seeds=SEEDS, shapes=own, tolerance=tolerance)
        if proof.ok:
            save_onnx(rewritten.graph, target, read_metadata(path))
    except SimError as error:
        raise BadInput(f"{path}: {error}") from None
    except OSError as error:
        raise BadInput(f"-o {out}: cannot be written: {error.strerror}") from None
    return Fixed(path, out if proof.ok else "", device, rewritten, proof)


def fix_text(one: Fixed, lang: Lang) -> str:
    """Return what was rewritten, how far the outputs are apart, and what is left."""
    say, found = texts(lang), one.rewritten
    lines = [f"{printable(one.path)} · {one.device}", ""]
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for change in found.changes:
        key = (change.op_type, change.rule, shown(change.exactness, lang), " ".join(change.into))
        groups.setdefault(key, []).append(change.node)
    rows = [
        (str(len(nodes)), op_type, rule, exactness, into, printable(nodes[0]))
        for (op_type, rule, exactness, into), nodes in groups.items()
    ]
    header = ("", say["col_op"], say["fix_rule"], say["fix_exact"], say["fix_into"], say["fix_node"])
    lines.append(table(rows[:_SHOWN], header) if rows else say["fix_nothing"])
    if len(rows) > _SHOWN:
        lines.append(f"… {len(rows) - _SHOWN}")
    lines += ["", say["fix_proof"].format(runs=len(one.proof.runs))]
    outputs = [
        (
            "ok" if o.ok else "FAIL", printable(o.output), f"{o.max_absolute:.3g}", f"{o.max_relative:.3g}",
            f"{o.tolerance:.3g}", shown(o.problem, lang) if o.problem else "",
        )
        for o in one.proof.outputs
    ]  # fmt: skip
    lines.append(
        table(outputs, ("", say["fix_output"], say["fix_absolute"], say["fix_relative"], say["fix_allowed"], ""))
    )
    lines += [printable(shown(reason, lang)) for reason in one.proof.skipped[:3]]
    if found.states:
        lines += ["", say["fix_states"].format(names=", ".join(map(printable, found.states)))]
    if found.left:
        lines += ["", say["fix_left"]]
        for left in found.left[:_SHOWN]:
            reason = printable(shown(left.reason, lang))
            lines += [f"✗ {printable(left.op_type)} [{printable(left.node)}]: {reason}"]
            lines += [f"    {printable(shown(left.way_out, lang))}"]
    refused = say["fix_refused" if one.proof.runs else "fix_unproved"]
    lines += ["", say["fix_written"].format(out=printable(one.out)) if one.out else refused]
    return "\n".join(lines)


def fix_json(one: Fixed) -> dict[str, Any]:
    """Return the outcome as an object of strict JSON."""
    found = one.rewritten
    return {
        "model": one.path,
        "device": one.device,
        "written": one.out,
        "changes": [
            {
                "node": c.node, "op_type": c.op_type, "rule": c.rule, "exactness": c.exactness, "error": c.error,
                "into": list(c.into),
            }
            for c in found.changes
        ],
        "left": [
            {"node": x.node, "op_type": x.op_type, "reason": x.reason, "way_out": x.way_out} for x in found.left
        ],
        "proof": {
            "ok": one.proof.ok,
            "runs": list(one.proof.runs),
            "skipped": list(one.proof.skipped),
            "outputs": [
                {
                    "output": o.output,
                    "max_absolute": _finite(o.max_absolute), "max_relative": _finite(o.max_relative),
                    "tolerance": o.tolerance, "ok": o.ok, "problem": o.problem,
                }
                for o in one.proof.outputs
            ],
        },
        "state_inputs": {name: list(value.shape) for name, value in found.states.items()},
    }  # fmt: skip


def _finite(value: float) -> float | str:
    return value if value - value == 0 else "inf"


def exit_is_clean(one: Fixed) -> bool:
    """Return whether the result was written and nothing is left that the device does not take."""
    return bool(one.out) and not one.rewritten.left
