"""Make the pictures of the README: the window itself, led by keys, as small SVG files beside this script.

Run: python docs/pictures.py [NAME ...]
"""

import asyncio
import html
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from assistant.tui.app import Window
from assistant.tui.pathfield import PathField
from kb.types import Lang

FOLDER = Path(__file__).resolve().parent
WIDTH = 104
LARGEST = 60_000
"""Bytes of a picture."""

LOG = """\
[INFO][main.c:88]board Hi3322V100 up, mem 512K
[INFO][main.c:91]mount littlefs on /user
[NFS]region not init
[NFS]file open fail
[ERROR][model_segment_load.c:24]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] [open][file] failed, file gesture.exeom
[ERROR][ge_executor.c:107]7:ErrorNo:545000(GE_ERRORNO_STR)[GE][MODULE] Load file[gesture.exeom] failed, ret = [145002]
[ERROR][model.cpp:61]1:ErrorNo:545000(GE_ERRORNO_STR)[ASCENDCL][MODULE]load model from file failed, ge result[545000]
[INFO][main.c:120]retry in 500 ms
"""
ASKED: dict[Lang, str] = {
    "zh": "非对称量化的 scale 和 zero point 怎么算？",
    "en": "How are scale and zero point of asymmetric quantization computed?",
}


def write_model(path: Path) -> None:
    """Write a small image network."""
    rng = np.random.default_rng(0)
    nodes, weights, name, channels = [], [], "image", 3
    for i, (wide, stride) in enumerate([(16, 2), (32, 1), (32, 2), (64, 1), (64, 2), (96, 1)]):
        kernel = rng.normal(size=(wide, channels, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"w{i}"))
        nodes.append(
            helper.make_node("Conv", [name, f"w{i}"], [f"c{i}"], f"conv{i}", pads=[1] * 4, strides=[stride] * 2)
        )
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}"))
        name, channels = f"r{i}", wide
    nodes.append(helper.make_node("GlobalAveragePool", [name], ["pooled"], "pool"))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["scores"], "flatten"))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 64, 64])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, channels])
    graph = helper.make_graph(nodes, "gesture", [image], [scores], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def _widen(found: re.Match[str]) -> str:
    """Give a text the width of its cells: the export counts characters, and would press Chinese into half its width."""
    text = html.unescape(found[3])
    width = float(found[1]) / max(len(text), 1) * cell_len(text)
    return f'textLength="{width:.1f}"{found[2]}>{found[3]}<'


def small(svg: str) -> str:
    """Return a picture without what a README does not need: fonts of the network, clipping, long names."""
    svg = re.sub(r'textLength="([\d.]+)"([^>]*)>([^<]*)<', _widen, svg)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+-", "", svg)
    svg = re.sub(r' clip-path="url\(#line-\d+\)"', "", svg)
    svg = re.sub(r'<clipPath id="line-\d+">.*?</clipPath>', "", svg, flags=re.DOTALL)
    # Places are rounded; what stands between the tags is text.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r"font-family: Fira Code, monospace", "font-family: monospace", svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    return re.sub(r">\s+<", "><", re.sub(r"\n\s*", "\n", svg))


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    """Wait until something holds, and all is painted."""
    async with asyncio.timeout(60):
        while not is_so():
            await pilot.pause(0.05)
    before = ""
    while (now := screen(pilot)) != before:
        before = now
        await pilot.pause(0.5)


def screen(pilot: Pilot[int]) -> str:
    """Return the characters of the window."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def ask(pilot: Pilot[int], lang: Lang) -> None:
    """Ask a question whose answer carries calculations."""
    box = pilot.app.focused
    assert isinstance(box, Input)
    for question in ("fp16", ASKED[lang]):  # the first one also builds the index and loads the models
        box.value = question
        await pilot.press("enter")
        await until(pilot, lambda: "★" in screen(pilot) or "○" in screen(pilot))
    await until(pilot, lambda: "%" in screen(pilot) and "✓" in screen(pilot))


async def logs(pilot: Pilot[int], lang: Lang) -> None:
    """Paste a log, and go to the evidence."""
    await pilot.press("p")
    await until(pilot, lambda: isinstance(pilot.app.focused, TextArea))
    box = pilot.app.focused
    assert isinstance(box, TextArea)
    box.text = LOG
    await pilot.press("ctrl+s")
    await until(pilot, lambda: "[NFS]" in screen(pilot) and not isinstance(pilot.app.focused, TextArea))
    await pilot.press("n")
    await until(pilot, lambda: True)


async def model(pilot: Pilot[int], lang: Lang) -> None:
    """Estimate a model, and show its memory over time."""
    write_model(Path("gesture.onnx"))
    box = pilot.app.query_one("#model-path", PathField)
    box.choose("gesture.onnx")
    box.focus()
    await pilot.press("enter")
    await until(pilot, lambda: "✓ gesture.onnx" in screen(pilot))
    await pilot.press("4")
    await until(pilot, lambda: "└" in screen(pilot))


#: Name of the file -> area, lines, language, who leads there.
PICTURES: dict[str, tuple[str, int, Lang, Callable[[Pilot[int], Lang], Awaitable[None]]]] = {
    "window-ask.en": ("ask", 42, "en", ask),
    "window-ask.zh": ("ask", 42, "zh", ask),
    "window-logs.zh": ("logs", 32, "zh", logs),
    "window-logs.en": ("logs", 32, "en", logs),
    "window-model.en": ("model", 32, "en", model),
}


async def take(name: str) -> str:
    """Return a picture."""
    area, height, lang, lead = PICTURES[name]
    window = Window(lang)
    window.animation_level = "none"
    window.saved["area"] = area
    async with window.run_test(size=(WIDTH, height)) as pilot:
        await pilot.pause(0.5)
        await lead(pilot, lang)
        return small(window.export_screenshot(title="asknpu", simplify=True))


def main() -> None:
    """Write the pictures that are named, or all."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASKNPU_HOME"] = folder
        os.chdir(folder)
        for name in sys.argv[1:] or PICTURES:
            picture = asyncio.run(take(name))
            assert len(picture.encode()) < LARGEST, f"{name} has {len(picture.encode())} bytes"
            (FOLDER / f"{name}.svg").write_text(picture, "utf-8")
            (Path(folder) / "window.json").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
