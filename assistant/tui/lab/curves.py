"""Curves computed beside an outcome, for the checks whose point is a curve: staircase, table error, drift.

Everything here is computed by simcore; no textual, and called in the thread of the job.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from assistant.checks.types import Outcome, Value
from kb.types import Lang

__all__ = ["Both", "Line", "Picture", "picture"]

Both = tuple[str, str]
"""The same words in zh and en."""

#: Inputs of a staircase or of an error curve: more than a wide screen has dots.
POINTS: Final = 600
#: Steps that a staircase shows at most, so that one can see them.
STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of a picture."""

    name: Both
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    is_dotted: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot in both languages."""

    title: Both
    x: Both
    y: Both
    lines: tuple[Line, ...]

    def told(self, words: Both, lang: Lang) -> str:
        """Return words in a language."""
        return words[0 if lang == "zh" else 1]


def picture(outcome: Outcome) -> Picture | None:
    """Return the curve that belongs to a check with its arguments; None if it has none, or cannot be drawn."""
    make = _PICTURES.get(outcome.check)
    if make is None or not outcome.result:
        return None
    from simcore.errors import SimError

    try:
        return make(outcome.arguments)
    except (SimError, ArithmeticError, ValueError):
        # A picture is beside the outcome: one that cannot be drawn is left out.
        return None


def _staircase(scale: float, zero_point: int, dtype: str, form: str, rounding: str = "half_even") -> Picture:
    import numpy as np

    from assistant.checks.quantization import quant_range, quantize_values

    span = quant_range(scale, zero_point, dtype, form)
    middle = min(max(0.0, span["low"]), span["high"])
    half = span["step"] * STEPS / 2
    low, high = max(span["low"] - span["step"] * 2, middle - half), min(span["high"] + span["step"] * 2, middle + half)
    xs = tuple(float(x) for x in np.linspace(low, high, POINTS))
    back = quantize_values(xs, scale, zero_point, dtype, form, rounding)["back"]
    return Picture(
        ("量化阶梯（0 附近）", "quantization staircase (around 0)"),
        ("输入 x", "input x"),
        ("量化再反量化", "quantized and back"),
        (Line(("量化后", "quantized"), xs, tuple(back)), Line(("x 本身", "x itself"), xs, xs, is_dotted=True)),
    )


def _range_stairs(arguments: Mapping[str, Value]) -> Picture:
    return _staircase(arguments["scale"], arguments["zero_point"], arguments["dtype"], arguments["form"])


def _value_stairs(arguments: Mapping[str, Value]) -> Picture:
    return _staircase(*(arguments[name] for name in ("scale", "zero_point", "dtype", "form", "rounding")))


def _param_stairs(arguments: Mapping[str, Value]) -> Picture:
    from assistant.checks.quantization import FORMS, quant_params
    from simcore.quantize import CONVENTIONS

    found = quant_params(**arguments)
    form = CONVENTIONS[arguments["convention"]].form
    name = next(name for name, known in FORMS.items() if known == form)
    return _staircase(found["scale"], found["zero_point"], arguments["dtype"], name)


def _table_error(arguments: Mapping[str, Value]) -> Picture:
    import numpy as np

    from simcore.curves import CURVES
    from simcore.lut import Interpolation, Output, build_table, evaluate

    function, output, scale = CURVES[arguments["function"]], arguments["output"], arguments["scale"]
    if output.startswith("int") and scale is None:
        scale = 2.0 ** (1 - int(output[3:]))
    low, high = arguments["low"], arguments["high"]
    how = cast(Interpolation, arguments["interpolation"])
    table = build_table(
        function, arguments["entries"], low, high, interpolation=how, output=cast(Output, output), scale=scale
    )
    start = low if arguments["from_x"] is None else arguments["from_x"]
    end = high if arguments["to_x"] is None else arguments["to_x"]
    xs = np.linspace(start, end, POINTS)
    with np.errstate(all="ignore"):
        errors = np.asarray(evaluate(table, xs), np.float64) - np.asarray(function(xs), np.float64)
    return Picture(
        ("查表误差曲线", "error of the lookup table"),
        ("输入 x", "input x"),
        ("误差（查表减准确值）", "error (table minus exact)"),
        (Line(("误差", "error"), tuple(map(float, xs)), tuple(map(float, errors))),),
    )


def _drift(arguments: Mapping[str, Value]) -> Picture:
    import math

    import numpy as np

    from simcore.drift import drift
    from simcore.recurrent import GATES, Kind, run_gru, run_lstm, weights
    from simcore.recurrent_quantized import calibrate, run_quantized_gru, run_quantized_lstm

    # The layer and the input of the check `rnn_drift`, which gives a few frames only; a test compares the two.
    cell: Kind = "GRU" if arguments["kind"] == "GRU" else "LSTM"
    hidden, inputs, frames = arguments["hidden"], arguments["inputs"], arguments["frames"]
    rows = len(GATES[cell]) * hidden
    rng = np.random.default_rng(arguments["seed"])
    bound = arguments["gain"] / math.sqrt(hidden)
    w, r, b = (
        rng.uniform(-bound, bound, shape).astype(np.float32) for shape in ((rows, inputs), (rows, hidden), (2 * rows,))
    )
    layer = weights(cell, w, r, b)
    x = rng.standard_normal((frames, 1, inputs)).astype(np.float32)
    y = run_gru(x, layer, linear_before_reset=1)[0] if cell == "GRU" else run_lstm(x, layer)[0]
    tables = calibrate(layer, x, y, activation=arguments["activation"], weight=arguments["weight"])
    got = run_quantized_gru(x, layer, tables)[0] if cell == "GRU" else run_quantized_lstm(x, layer, tables)[0]
    relative = drift(got, y).relative
    return Picture(
        ("误差随帧的变化", "drift over the frames"),
        ("帧", "frame"),
        ("相对误差", "relative error"),
        (
            Line(
                ("相对误差", "relative error"),
                tuple(float(t) for t in range(1, frames + 1)),
                tuple(float(value) for value in relative),
            ),
        ),
    )


_PICTURES: Final[Mapping[str, Callable[[Mapping[str, Value]], Picture]]] = {
    "quant_range": _range_stairs,
    "quant_params": _param_stairs,
    "quantize_values": _value_stairs,
    "table_error": _table_error,
    "rnn_drift": _drift,
}
