"""What the commands for models print: `estimate` and `fix`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from assistant.errors import EXIT_NEGATIVE, EXIT_OK, BadInput

if TYPE_CHECKING:
    from kb.types import Lang

__all__ = ["estimate", "fix"]


def estimate(
    models: Sequence[str],
    *,
    device: str,
    clock_mhz: float | None,
    activation: Literal["int8", "int16"],
    inputs: Sequence[str],
    values: Sequence[str],
    view: Literal["script", "fused"],
    with_layers: bool,
    report: str | None,
    as_json: bool,
    lang: "Lang",
) -> tuple[str, int]:
    """Return what models need on a device, and the exit code; write a report where one is asked for.

    Raises:
        BadInput: no model, an unknown device, an unusable file or input shape.
    """
    from assistant import render
    from assistant.models.arguments import device_name, input_shapes, input_values

    if not models:
        raise BadInput("give an .onnx model, for example: asknpu estimate model.onnx")
    shapes, numbers, name = input_shapes(inputs), input_values(values), device_name(device)
    from assistant.models import tables
    from assistant.models.loading import estimated

    all_of = [
        estimated(
            path, device=name, inputs=shapes, values=numbers, clock_mhz=clock_mhz, activation=activation, view=view
        )
        for path in models
    ]
    if report is not None:
        from assistant.models.report import write_report

        write_report(report, all_of, lang)
    if as_json:
        from assistant.models.as_json import estimate_json

        found = [estimate_json(one) for one in all_of]
        data = {"schema": render.SCHEMA, **found[0]} if len(found) == 1 else {"schema": render.SCHEMA, "models": found}
        return render.json_text(data), EXIT_OK
    parts = [tables.together(all_of, lang)] if len(all_of) > 1 else [tables.summary(all_of[0], lang)]
    if with_layers:
        for one in all_of:
            parts += [f"{one.path}:" if len(all_of) > 1 else "", tables.layer_table(one, lang)]
    return "\n".join(parts), EXIT_OK


def fix(
    model: str,
    out: str,
    *,
    device: str,
    inputs: Sequence[str],
    values: Sequence[str],
    opset: int | None,
    state_inputs: bool,
    tolerance: float,
    overwrite: bool,
    as_json: bool,
    lang: "Lang",
) -> tuple[str, int]:
    """Return what was rewritten with its proof, and the exit code: 1 if refused or if something is left.

    Raises:
        BadInput: an unknown device, an unusable file or input shape, a result that cannot be written.
    """
    from assistant import render
    from assistant.models.arguments import device_name, input_shapes, input_values

    shapes, numbers, name = input_shapes(inputs), input_values(values), device_name(device)
    from assistant.models import fixing

    one = fixing.fix(
        model, out, device=name, shapes=shapes, values=numbers, opset=opset,
        state_inputs=state_inputs, tolerance=tolerance, overwrite=overwrite,
    )  # fmt: skip
    code = EXIT_OK if fixing.exit_is_clean(one) else EXIT_NEGATIVE
    if as_json:
        return render.json_text({"schema": render.SCHEMA, **fixing.fix_json(one)}), code
    return fixing.fix_text(one, lang), code
