"""Measure simcore beside ONNX Runtime, onnx.reference and numpy: ratios of one interleaved run, one thread each.

Run: python tests/benchmarks/simcore.py [--models FOLDER] [--only TEXT] [--skip-reference] [--json]

    golden      whole models in float32 against ONNX Runtime with its default optimizations, and onnx.reference
    int8        integer matrix products against ONNX Runtime's int8 x int8 MatMulInteger, and numpy in int32
    depthwise   depthwise convolutions against ONNX Runtime

Every pair is timed in turns, ours then the peer's; the figure is the quotient of the two shortest processor times. With
one thread each these are the times on a free machine: on a busy one, wall time would count against the longer run, which
is interrupted more often.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before numpy is imported: one thread, and the matrix kernel that fits this machine.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
for _forced in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_forced, None)
ROOT = Path(__file__).resolve().parent.parent.parent
# In place of this file's folder, where it would itself be found as simcore.
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime as ort  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from simcore import execute  # noqa: E402
from simcore.graph import Graph, ValueInfo, walk  # noqa: E402
from simcore.load_onnx import load_onnx  # noqa: E402
from simcore.matmul import matmul, operand  # noqa: E402
from simcore.ops.convolution import conv  # noqa: E402

Feeds = dict[str, np.ndarray]
Row = dict[str, Any]

#: Turns of a fast pair and of one with a slow peer, at least; most turns.
TURNS = 7
SLOW_TURNS = 3
MOST_TURNS = 200
#: Seconds after which no turn is added, and after which even wanted ones are left out.
BUDGET_S = 1.5
LIMIT_S = 20
#: Largest error, relative to the largest output, at which onnx.reference still counts as right.
TOLERANCE = 1e-3

#: Operators whose products run on integer codes.
INTEGER_OPERATORS = frozenset(("ConvInteger", "DynamicQuantizeLSTM", "MatMulInteger", "QLinearConv", "QLinearMatMul"))

#: Part of a model's path -> sizes of its open dimensions, by input ("" any); the first that fits counts.
SIZES: tuple[tuple[str, dict[str, tuple[int, ...]]], ...] = (
    ("basic_pitch", {"": (1, 43844, 1)}),
    ("ddddocr/common_det", {"": (1, 3, 416, 416)}),
    ("ddddocr/common", {"": (1, 1, 64, 160)}),
    ("_rec_", {"": (1, 3, 48, 320)}),
    ("_det_", {"": (1, 3, 320, 320)}),
    ("_cls_", {"": (1, 3, 48, 192)}),
    ("silero_vad_16k_sequence", {"input": (16, 576)}),
    ("silero_vad", {"input": (1, 576), "state": (2, 1, 128)}),
    ("text2tashkeel", {"": (1, 64)}),
)

#: m, k, n: a square, a deep layer, a convolution as a product, one row, a convolution of few outputs.
PRODUCTS = ((512, 512, 512), (1024, 4096, 1024), (3136, 576, 64), (1, 4096, 4096), (256, 1152, 256))

#: channels, height, width, kernel, stride: layers of mobile networks.
DEPTHWISE = (
    (32, 112, 112, 3, 1),
    (96, 112, 112, 3, 2),
    (144, 56, 56, 3, 1),
    (192, 28, 28, 5, 1),
    (384, 14, 14, 3, 1),
    (960, 7, 7, 5, 1),
    (120, 12, 160, 5, 1),
)


def seconds(*runs: Callable[[], object], turns: int = TURNS) -> list[float]:
    """Return the shortest processor time of each function, called in turns."""
    best = [math.inf for _ in runs]
    started = time.perf_counter()
    for turn in range(MOST_TURNS):
        for i, run in enumerate(runs):
            before = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - before)
        taken = time.perf_counter() - started
        if taken > LIMIT_S or (turn + 1 >= turns and taken > BUDGET_S):
            break
    return best


def session(model: bytes) -> ort.InferenceSession:
    """Return the model in ONNX Runtime, one thread, default optimizations."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds_of(graph: Graph, path: str) -> Feeds:
    """Return random feeds of the sizes in `SIZES`."""
    sizes = next((sizes for part, sizes in SIZES if part in path), {})
    rng = np.random.default_rng(0)
    feeds: Feeds = {}
    for info in graph.inputs:
        shape = _shape(info, sizes.get(info.name, sizes.get("", ())))
        if info.name == "sr":
            feeds[info.name] = np.asarray(16000, info.dtype)
        elif "length" in info.name:
            feeds[info.name] = np.full(shape, 16, info.dtype)
        elif info.dtype is not None and info.dtype.kind == "f":
            feeds[info.name] = rng.standard_normal(shape).astype(info.dtype)
        else:
            feeds[info.name] = rng.integers(1, 10, shape).astype(info.dtype)
    return feeds


def _shape(info: ValueInfo, wanted: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        size if isinstance(size, int) and size > 0 else (wanted[i] if i < len(wanted) else 1)
        for i, size in enumerate(info.shape or ())
    )


def golden(path: Path, name: str, with_reference: bool) -> Row:
    """Return the times of one model: ours, ONNX Runtime's and, where it runs, onnx.reference's."""
    graph = load_onnx(path)
    feeds = feeds_of(graph, path.as_posix())
    peer = session(path.read_bytes())
    ours, theirs = seconds(lambda: execute.run(graph, feeds), lambda: peer.run(None, feeds))
    sizes = ", ".join("x".join(map(str, value.shape)) or "scalar" for value in feeds.values())
    row: Row = {"name": name, "sizes": sizes, "ours_s": ours, "ort_s": theirs, "ort": ours / theirs}
    row["is_int8"] = any(node.op_type in INTEGER_OPERATORS for _, node in walk(graph))
    if with_reference:
        row.update(_reference(path, graph, feeds, peer.run(None, feeds)))
    return row


def _reference(path: Path, graph: Graph, feeds: Feeds, expected: list[np.ndarray]) -> Row:
    """Return how many times longer onnx.reference takes, with a note if its result is wrong, or why it fails."""
    try:
        evaluator = ReferenceEvaluator(onnx.load(path))
        got = evaluator.run(None, feeds)
    except Exception as error:  # whatever it raises is its note
        return {"note": f"onnx.reference: {type(error).__name__}"}
    is_right = all(_near(a, b) for a, b in zip(got, expected, strict=True))
    note = {} if is_right else {"note": "onnx.reference: wrong result"}
    ours, theirs = seconds(lambda: execute.run(graph, feeds), lambda: evaluator.run(None, feeds), turns=SLOW_TURNS)
    return {"reference_s": theirs, "reference": theirs / ours, "is_right": is_right, **note}


def _near(got: Any, want: np.ndarray) -> bool:
    got = np.asarray(got)
    if got.shape != want.shape:
        return False
    largest = float(np.max(np.abs(want), initial=0)) or 1.0
    return bool(np.max(np.abs(got.astype(np.float64) - want), initial=0) <= TOLERANCE * largest)


def light_models() -> Iterator[Path]:
    """Yield the whole networks that the onnx package ships, with constant weights."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    yield from sorted(folder.glob("*.onnx"))


def product_row(m: int, k: int, n: int) -> Row:
    """Return the times of an int8 product: ours with the weight prepared, ONNX Runtime's, and numpy's in int32."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    peer = session(_one_node("MatMulInteger", {"a": a}, {"b": b}, onnx.TensorProto.INT32))
    weight, wide_a, wide_b = operand(b), a.astype(np.int32), b.astype(np.int32)
    expected = peer.run(None, {"a": a})[0]
    ours, theirs = seconds(lambda: matmul(a, weight), lambda: peer.run(None, {"a": a}))
    row: Row = {"name": f"{m} x {k} x {n}", "ours_s": ours, "ort_s": theirs, "ort": theirs / ours}
    right = np.empty((m, n), np.int32)
    ours, plain = seconds(lambda: matmul(a, weight), lambda: np.matmul(wide_a, wide_b, out=right), turns=SLOW_TURNS)
    row.update(numpy_s=plain, numpy=plain / ours, is_exact=bool(np.array_equal(matmul(a, weight), right)))
    if not np.array_equal(expected, right):
        row["note"] = "ONNX Runtime is not exact here"
    return row


def depthwise_row(channels: int, height: int, width: int, kernel: int, stride: int) -> Row:
    """Return the times of a depthwise convolution, ours and ONNX Runtime's."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, channels, height, width)).astype(np.float32)
    w = rng.standard_normal((channels, 1, kernel, kernel)).astype(np.float32)
    b = rng.standard_normal(channels).astype(np.float32)
    how = {"group": channels, "pads": [kernel // 2] * 4, "strides": [stride] * 2}
    peer = session(_one_node("Conv", {"x": x}, {"w": w, "b": b}, onnx.TensorProto.FLOAT, **how))
    ours, theirs = seconds(lambda: conv(x, w, b, **how), lambda: peer.run(None, {"x": x}))
    name = f"{channels} x {height} x {width}, {kernel} x {kernel}, stride {stride}"
    return {"name": name, "ours_s": ours, "ort_s": theirs, "ort": ours / theirs}


def _one_node(op_type: str, inputs: Feeds, constants: Feeds, result: int, **attributes: Any) -> bytes:
    """Return a model of one node."""
    helper = onnx.helper
    node = helper.make_node(op_type, [*inputs, *constants], ["y"], **attributes)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph([node], op_type, values, [helper.make_tensor_value_info("y", result, None)], weights)
    opsets = [helper.make_opsetid("", 13)]
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())


def geometric_mean(ratios: list[float]) -> float:
    """Return the geometric mean; NaN of nothing."""
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def _say(row: Row, peers: tuple[str, ...]) -> None:
    times = "  ".join(f"{peer} {row[f'{peer}_s'] * 1e3:9.2f} ms {row[peer]:7.2f} x" for peer in peers if peer in row)
    print(f"  {row['name']:52} ours {row['ours_s'] * 1e3:9.3f} ms  {times}  {row.get('note', '')}", flush=True)
    if "sizes" in row:
        print(f"      {row['sizes']}")


def _bar(what: str, value: float, bar: float, at_most: bool) -> Row:
    """Print a figure beside its bar; return both."""
    is_met = value <= bar if at_most else value >= bar
    sign = "<=" if at_most else ">="
    print(f"  => {what}: {value:.2f} x; bar {sign} {bar:g} x: {'met' if is_met else 'NOT met'}", flush=True)
    return {"name": what, "value": value, "bar": bar, "is_met": is_met}


def _beside_onnx_runtime(rows: list[Row]) -> list[Row]:
    """Print how much longer ours takes than ONNX Runtime: all models, and those with and without integer products."""
    kinds = {
        "all": rows,
        "in float32": [row for row in rows if not row["is_int8"]],
        "with int8 products": [row for row in rows if row["is_int8"]],
    }
    return [
        _bar(
            f"real models {kind}, time over ONNX Runtime, geometric mean of {len(some)}",
            geometric_mean([row["ort"] for row in some]),
            2.5,
            at_most=True,
        )
        for kind, some in kinds.items()
        if some
    ]


def _beside_reference(what: str, rows: list[Row]) -> list[Row]:
    """Print how much longer onnx.reference takes; a wrong result still tells its time, so both means are given."""
    runs = [row for row in rows if "reference" in row]
    found = []
    for which, some in (("it gets right", [row for row in runs if row["is_right"]]), ("it runs", runs)):
        if some:
            mean = geometric_mean([row["reference"] for row in some])
            name = f"{what}, onnx.reference over ours, geometric mean of the {len(some)} {which}"
            found.append(_bar(name, mean, 15, at_most=False))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=ROOT / "tests" / "models", help="folder of .onnx files")
    parser.add_argument("--only", default="", help="only models whose path holds this text, and nothing else")
    parser.add_argument("--skip-reference", action="store_true", help="leave onnx.reference out, which takes minutes")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # onnx.reference divides by zero
    with_reference = not options.skip_reference
    found: dict[str, list[Row]] = {"bars": []}

    def models(title: str, paths: list[Path], base: Path) -> list[Row]:
        print(f"{title}: {len(paths)} (ours / ONNX Runtime; onnx.reference / ours)", flush=True)
        rows = []
        for path in paths:
            rows.append(golden(path, path.relative_to(base).as_posix()[-52:], with_reference))
            _say(rows[-1], ("ort", "reference"))
        found[title] = rows
        return rows

    paths = [path for path in sorted(options.models.rglob("*.onnx")) if options.only in path.as_posix()]
    if not paths:
        print(f"no models below {options.models}")
    real = models("real models", paths, options.models)
    found["bars"].extend(_beside_onnx_runtime(real))
    found["bars"].extend(_beside_reference("real models", real))
    if not options.only:
        light = list(light_models())
        rows = models("light models", light, light[0].parent) if light else []
        print(f"  => light models, time over ONNX Runtime: {geometric_mean([row['ort'] for row in rows]):.2f} x")
        found["bars"].extend(_beside_reference("light models", rows))
        found["bars"].extend(_beside_reference("real and light models", real + rows))
        print("int8 products, m x k x n (peer / ours)")
        found["products"] = [product_row(*shape) for shape in PRODUCTS]
        for row in found["products"]:
            _say(row, ("ort", "numpy"))
        mean = geometric_mean([row["ort"] for row in found["products"]])
        found["bars"].append(
            _bar("int8 products, ONNX Runtime s8s8 over ours, geometric mean", mean, 1.8, at_most=False)
        )
        mean = geometric_mean([row["numpy"] for row in found["products"]])
        found["bars"].append(_bar("int8 products, numpy int32 over ours, geometric mean", mean, 20, at_most=False))
        print("depthwise convolutions, channels x height x width (ours / ONNX Runtime)")
        found["depthwise"] = [depthwise_row(*layer) for layer in DEPTHWISE]
        for row in found["depthwise"]:
            _say(row, ("ort",))
        mean = geometric_mean([row["ort"] for row in found["depthwise"]])
        print(f"  => depthwise convolutions, time over ONNX Runtime: {mean:.2f} x")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main()
