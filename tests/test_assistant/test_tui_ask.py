"""The area Ask: its journey, its keys and clicks, its texts, and what it restores; over the shipped corpus.

One window is opened for all tests; each gets an area of its own in it.
"""

import asyncio
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.binding import Binding
from textual.events import Paste
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import ContentSwitcher, Input, Static

from assistant import render
from assistant.errors import BadInput
from assistant.session import Session
from assistant.texts import texts
from assistant.tui.app import Window
from assistant.tui.ask.bar import Bar
from assistant.tui.ask.box import QuestionBox
from assistant.tui.ask.cards import Card, Head
from assistant.tui.ask.heading import Heading
from assistant.tui.ask.history import History, restored
from assistant.tui.ask.listing import Listing
from assistant.tui.ask.pane import AskPane
from assistant.tui.ask.prose import Prose
from assistant.tui.ask.values import Request
from assistant.tui.services import Services
from assistant.tui.words import words
from kb import confidence
from kb.search import WEIGHTS, Searcher
from tests.test_assistant.window import NARROW, WIDE, click, screen_lines, until

ASYMMETRIC = {
    "zh": "非对称量化的 scale 和 zero point 怎么算？",
    "en": "How are scale and zero point of asymmetric quantization computed?",
}
RANGE = "int8 量化范围"


class Remembering(Services):
    """The real services; what was asked once is not computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = cache(super().answer)  # type: ignore[method-assign]
        self.search = cache(super().search)  # type: ignore[method-assign]


class Changed(Services):
    """The opened services with other methods."""

    def __init__(self, opened: Services, **methods: Any) -> None:
        self.__dict__.update({**opened.__dict__, **methods})


class Stage:
    """One window for many tests."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.runner = asyncio.Runner()
        self.app = Window("en", services=services)
        self.app.animation_level = "none"
        self._running = self.app.run_test(size=NARROW, notifications=True)
        self.pilot: Pilot[Any] = self.runner.run(self._running.__aenter__())

    def close(self) -> None:
        self.runner.run(self._running.__aexit__(None, None, None))
        self.runner.close()

    def play(
        self,
        act: "Act",
        *,
        lang: Any = "zh",
        size: tuple[int, int] = NARROW,
        services: Services | None = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        """Act on a new area Ask."""

        async def run() -> None:
            app, pilot = self.app, self.pilot
            app.clear_notifications()
            app.services, app.saved = services or self.services, {"areas": {"ask": state or {}}}
            if (pane := app.pane("ask")) is not None:
                app.query_one(ContentSwitcher).current = None
                await pane.remove()
            if app.lang != lang:
                app.action_language()
            if app.size != size:
                await pilot.resize_terminal(*size)
            await app.action_enter("ask")
            pane = app.pane("ask")
            assert isinstance(pane, AskPane)
            await until(pilot, lambda: pane.query_one("#ask-near").region.height, "the welcome is on the screen")
            await until(pilot, lambda: pane.query_one(QuestionBox).has_focus, "the box has the focus")
            await act(pilot, pane)

        self.runner.run(run())


Act = Callable[[Pilot[Any], AskPane], Awaitable[None]]


@pytest.fixture(scope="module")
def stage(shipped_home: Path) -> Iterator[Stage]:
    """The window over the real services, opened once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKNPU_HOME", str(shipped_home))
        services = Remembering()
        services.answer("int8", lang=None, platform=None)
        services.search("int8", lang=None, platform=None, with_meaning=False)
        on = Stage(services)
        yield on
        on.close()


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home for each test, with the indexes that are built already."""
    monkeypatch.setenv("ASKNPU_HOME", str(home))
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    return home


async def ask(pilot: Pilot[Any], pane: AskPane, question: str) -> None:
    pane.query_one(QuestionBox).put(question)
    pane.action_ask()
    await settled(pilot, pane)


async def settled(pilot: Pilot[Any], pane: AskPane) -> None:
    """Wait until the answer stands there, laid out."""
    await until(pilot, lambda: pane.results.full is not None and not pane.asking.is_busy, "an answer")
    await laid_out(pilot, pane)


async def laid_out(pilot: Pilot[Any], pane: AskPane) -> None:
    await until(pilot, lambda: not any(prose._job.is_busy for prose in pane.query(Prose)), "laid out")
    await pilot.pause()


def seen(pane: AskPane) -> str:
    """Return everything that the pane shows, as text."""
    parts = [str(part.render()) for part in pane.query(Static) if part.display and part.region.height]
    parts += ["\n".join(part._texts) for part in pane.query(Prose)]
    for listing in pane.query(Listing):
        if listing.display:
            parts += [str(option.prompt) for option in listing.options]
    return "\n".join(parts)


def told(pane: AskPane) -> list[str]:
    return [note.message for note in pane.app._notifications]


@pytest.mark.parametrize(("lang", "size"), [("zh", NARROW), ("en", NARROW), ("zh", WIDE)], ids=str)
def test_a_question_is_typed_found_answered_checked_and_cited(stage: Stage, lang: str, size: tuple[int, int]) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        say = words("ask", pane.lang)
        box = pane.query_one(QuestionBox)
        assert say("welcome") in seen(pane)
        box.value = ASYMMETRIC[lang]
        await until(pilot, lambda: not pane.results.is_empty, "a preview")
        assert pane.query_one("#ask-list", Listing).option_count
        await settled(pilot, pane)
        assert box.has_focus and box.cursor_position == len(box.value)
        text = seen(pane)
        assert say("answer") in text and "quantization" in text
        assert "2/2" in text and [card.status for card in pane.query(Card)] == ["pass", "pass"]
        assert say("related") in text
        entry = pane.results.entry
        assert entry is not None and f":{entry.line} ({entry.source.start}-{entry.source.end})" in text
        await pilot.press("ctrl+y")
        assert f"corpus/{entry.source.file}:{entry.line}" in pilot.app.clipboard
        assert pane.results.has_class("-wide") == (size == WIDE)
        # The line of the source is on the screen however narrow it is.
        assert any(f"quantization.{lang}.md:{entry.line} " in line for line in screen_lines(pilot.app))
        assert {cell_len(line) for line in screen_lines(pilot.app)} == {size[0]}

    stage.play(act, lang=lang, size=size)


def test_a_check_computes_again_with_changed_parameters_and_tells_what_does_not_fit(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.checks import run

    let, real = threading.Event(), run.run_check

    def held(*arguments: Any) -> Any:
        assert let.wait(20)
        return real(*arguments)

    monkeypatch.setattr(run, "run_check", held)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "quantize 1.7 to int8 with scale 0.02 and zero point 3")
        card = pane.query(Card).first()
        head = card.query_one(Head)
        assert card.status == "done" and "88" in str(head.render())
        await pilot.press("f9")
        field = card.query_one("#p-values", Input)
        await until(pilot, lambda: field.has_focus and field.value == "1.7", "the first field")
        field.value = "1.9"
        await until(pilot, lambda: card.status == "running", "it runs")
        assert "…" in str(head.render())
        let.set()
        await until(pilot, lambda: "98" in str(head.render()), "the check runs again")
        assert card.status == "done"
        field.value = "[red]x"
        await until(pilot, lambda: "[red]x" in str(head.render()), "the check refuses")
        assert card.status == "error"
        field.value = "1.7"
        await until(pilot, lambda: "88" in str(head.render()), "the first outcome again")
        # The answer itself never changed.
        assert pane.results.full is not None
        assert pane.results.full.answer.computed.outcomes[0].arguments["scale"] == 0.02
        head.focus()
        await pilot.press("enter")
        assert not card.has_class("-open")
        await pilot.click(Head)
        await until(pilot, lambda: card.has_class("-open"), "open again by a click")

    stage.play(act, lang="en")


def test_a_failed_check_is_told_by_sign_and_words(stage: Stage) -> None:
    def wrong(question: str, **filters: Any) -> Any:
        found = stage.services.answer(question, **filters)
        checks = tuple(
            replace(one, outcome=replace(one.outcome, status="fail", reason="scale is 0.02, expected 0.03"))
            for one in found.checks
        )
        return replace(found, checks=checks)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["en"])
        assert all(str(card.query_one(Head).render()).startswith("✗ fail") for card in pane.query(Card))
        assert "✗ 0/2" in seen(pane) and "expected 0.03" in seen(pane)

    stage.play(act, lang="en", services=Changed(stage.services, answer=wrong))


@pytest.mark.parametrize(
    ("question", "kind", "note"),
    [
        ("fp16 累加 60000 和 40000 会不会溢出", "computed", "下面的内容自成答案"),
        ("507899 507898 EE1001", "explained", "下面的内容自成答案"),
        ("aclrtMallocFoo 返回 999999", "abstained", "不作答"),
    ],
)
def test_the_heading_is_sure_of_nothing_but_entries(stage: Stage, question: str, kind: str, note: str) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, question)
        assert pane.results.full.answer.entries == () and pane.results.full.answer.lang == "zh"
        heading = str(pane.query_one(Heading).render())
        assert heading.startswith(pane.say(kind)) and "%" not in heading
        assert note in str(pane.query_one("#ask-notes").render())

    stage.play(act)


def test_a_refused_calculation_is_said_to_be_refused(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "把 300 量化成 int8，scale 取 -0.5")
        card = pane.query_one(Card)
        assert card.status == "error" and str(card.query_one(Head).render()).startswith("! 不能算")
        text = seen(pane)
        assert text.count("scale=-0.5：太小；应为 scale（数，1e-38 到 1e+38）") == 1 and "原话" not in text
        assert "按你的问题算不了" in render.answer_markdown(pane.results.full.answer, 1)
        await pilot.press("f9")
        field = card.query_one("#p-scale", Input)
        await until(pilot, lambda: field.value == "-0.5", "the parameters")
        field.value = "2.5"
        await until(pilot, lambda: card.status == "done", "it is computed")

    stage.play(act)


def test_the_window_speaks_its_language_about_a_question_in_another(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "what is the weather in Beijing")
        assert pane.results.full.answer.lang == "en"
        text = seen(pane)
        assert texts("zh")["not_known"] in text and texts("zh")["help_hint"] in text
        assert texts("en")["not_known"] not in text
        await pilot.press("ctrl+l")
        await until(pilot, lambda: texts("en")["not_known"] in seen(pane), "in English")
        await pilot.press("ctrl+l")

    stage.play(act)


def test_the_bar_never_tells_of_the_question_before(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["zh"])
        box, bar = pane.query_one(QuestionBox), pane.query_one(Bar)
        done = pane.say("complete", ms="").strip(" ·ms")
        assert done in str(bar.render())
        box.value += " x"
        await pilot.pause(0)
        assert done not in str(bar.render())
        await until(pilot, lambda: done in str(bar.render()), "the full answer again")

    stage.play(act)


def test_an_abstention_starts_at_its_top(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        reader = pane.results.reader
        await until(pilot, lambda: pane.platforms, "the platforms")
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await pilot.press("ctrl+r")
        await until(pilot, lambda: reader.scroll_offset.y, "it is scrolled to the reasons")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: pane.results.full.answer.status == "abstained", "nothing for this platform")
        await laid_out(pilot, pane)
        await pilot.pause(0.1)
        assert reader.scroll_offset.y == 0
        assert pane.say("abstained") in str(pane.query_one(Heading).render())

    stage.play(act)


def test_marks_alone_are_no_question(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        pane.query_one(QuestionBox).value = "？！ ..."
        await pilot.press("enter")
        await until(pilot, lambda: pane.say("empty") in str(pane.query_one(Bar).render()), "it is told")

    stage.play(act)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_check_for_which_there_was_no_time_is_not_said_to_fail(
    stage: Stage, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.checks import proof

    monkeypatch.setattr(proof, "ALL", 0.0)
    asked = Changed(stage.services)
    asked.answer = lambda question, **filters: Services.answer(stage.services, question, **filters)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC[lang])
        say = {"zh": "– 未运行 0 秒的时限用完了", "en": "– not run the limit of 0 s was used up"}
        shown = [str(part.render()) for part in pane.query("#ask-checks > Static").results(Static)]
        assert shown[1:] == [say[lang]] * 2
        assert not pane.query("#ask-head").first().render().plain.count("✗")

    stage.play(act, lang=lang, services=asked)


def test_an_abstention_helps(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "ATC 的 --soc_versoin_x 选项是什么意思")
        text = seen(pane)
        assert pane.results.full is not None and pane.results.full.answer.status == "abstained"
        assert pane.say("abstained") in text and pane.say("send_title") in text and pane.say("nearest") in text
        assert str(pane.results.full.entries) in text and "--soc_versoin_x" in text
        await pilot.press("down")
        near = pane.query_one("#ask-near", Listing)
        assert near.has_focus and near.region.height == near.option_count
        near.highlighted = next(i for i, option in enumerate(near.options) if not option.id.startswith("~"))
        await pilot.press("enter")
        chosen = near.chosen
        await until(pilot, lambda: pane.results.entry is not None, "a nearest entry opens")
        assert pane.results.entry.id == chosen

    stage.play(act)


def test_a_known_name_is_offered_for_an_unknown_one(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "ATC 的 --soc_versionx 选项是什么意思")
        near = pane.query_one("#ask-near", Listing)
        offered = next(option.id for option in near.options if (option.id or "").startswith("~"))
        assert "--soc_versionx" not in offered
        await pilot.press("down")
        near.highlighted = near.get_option_index(offered)
        await pilot.press("enter")
        await until(pilot, lambda: pane.query_one(QuestionBox).question == offered[1:], "asked instead")

    stage.play(act)


def test_codes_and_pasted_logs_are_explained_as_text(stage: Stage) -> None:
    log = (
        "[ERROR] RUNTIME(1,a):2024-01-01-00:00:00.000.001 [x.cc:1]1 DeviceMalloc: [NDRV] out of memory \x1b[31mred\n"
        "[ERROR] GE(1,a):2024-01-01-00:00:00.000.002 [y.cc:2]1 Load: ErrorNo: 507899\n"
    )

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box = pane.query_one(QuestionBox)
        box.post_message(Paste(log))
        await until(pilot, lambda: "⏎" in box.value, "the log is pasted")
        assert box.question.splitlines()[1].startswith("[ERROR] GE")
        await pilot.press("enter")
        await settled(pilot, pane)
        text = seen(pane)
        assert "507899" in text and "\x1b" not in text
        assert "\x1b" not in "".join(screen_lines(pilot.app))
        # Lines of a log have no language: they are explained in that of the window.
        assert pane.results.full.answer.lang == "zh" and texts("zh")["log_excerpt"] in text

    stage.play(act)


@pytest.mark.parametrize(
    "question", ["[red]int8[/red] 量化 [/ \x1b[31m \u202e scale [link=x]", "[NDRV] 😀 日志 " + "长" * 300]
)
def test_hostile_questions_are_shown_as_they_are(stage: Stage, question: str) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        pane.query_one(QuestionBox).post_message(Paste(question))
        await until(pilot, lambda: pane.question, "it is pasted")
        await pilot.press("enter")
        await settled(pilot, pane)
        lines = screen_lines(pilot.app)
        assert "\x1b" not in "".join(lines)
        assert {cell_len(line) for line in lines} == {80}

    stage.play(act)


def test_what_is_read_stays_when_the_answer_arrives(stage: Stage) -> None:
    let = threading.Event()

    def later(question: str, **filters: Any) -> Any:
        assert let.wait(20)
        return stage.services.answer(question, **filters)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box, listing, reader = pane.query_one(QuestionBox), pane.query_one("#ask-list", Listing), pane.results.reader
        box.value = ASYMMETRIC["zh"]
        await until(pilot, lambda: listing.option_count > 3, "a preview")
        await pilot.press("down", "down", "down")
        chosen = listing.chosen
        await until(pilot, lambda: reader.entry is not None and reader.entry.id == chosen, "it opens")
        await laid_out(pilot, pane)
        await pilot.press("pagedown")
        place = reader.scroll_offset
        assert place.y
        pane.action_ask()
        let.set()
        await settled(pilot, pane)
        assert (listing.chosen, reader.entry.id, reader.scroll_offset) == (chosen, chosen, place)
        assert listing.has_focus

    stage.play(act, services=Changed(stage.services, answer=later))


@pytest.mark.parametrize(
    ("question", "lang"), [("ATC 转换报错 E10001 怎么办", "zh"), ("how are AveragePool and pooling run on Nano", "en")]
)
def test_a_row_shows_its_platform_and_as_much_of_its_title_as_fits(stage: Stage, question: str, lang: str) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box, listing = pane.query_one(QuestionBox), pane.query_one("#ask-list", Listing)
        box.value = question
        await until(pilot, lambda: listing.option_count > 3, "entries")
        await settled(pilot, pane)
        for size in (NARROW, (64, 24), NARROW):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            top = listing.region.y
            lines = [line.rstrip() for line in screen_lines(pilot.app)[top : top + listing.region.height]]
            rows = {row.id: row for row in pane.results.full.rows}
            shown = [rows[option.id] for option in listing.options][: len(lines)]
            assert len(lines) > 3
            for line, row in zip(lines, shown, strict=True):
                title, _, platform = line.rstrip("▁▂▃▄▅▆▇█ ").rpartition("  ")
                assert platform == row.platform, line
                begun = title.strip()[2:]
                assert row.title.startswith(begun.removesuffix("…")), line
                assert begun == row.title or (begun.endswith("…") and cell_len(line) > size[0] - 6), line
            assert size == NARROW or any("…" in line for line in lines)

    stage.play(act, lang=lang)


def test_history_goes_back_and_forward_with_filters(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box = pane.query_one(QuestionBox)
        await until(pilot, lambda: pane.platforms, "the platforms")
        await ask(pilot, pane, RANGE)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: len(pane.history.items) == 2, "asked again for a platform")
        await ask(pilot, pane, ASYMMETRIC["en"])
        await pilot.press("alt+left")
        assert box.value == RANGE and pane.filters.platform == pane.platforms[0]
        await pilot.press("alt+left")
        assert pane.filters.platform is None
        await click(pilot, pane.say("box_forward"))
        await pilot.press("alt+right")
        assert box.value == ASYMMETRIC["en"] and pane.results.full.answer.question == ASYMMETRIC["en"]
        await pilot.press("alt+right")
        assert box.value == ASYMMETRIC["en"] and pane.say("history_end") in told(pane)
        await click(pilot, pane.say("box_back"))
        assert box.value == RANGE

    stage.play(act)


def test_filters_change_by_key_and_click_and_restrict(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await until(pilot, lambda: pane.platforms, "the platforms")
        await ask(pilot, pane, RANGE)
        await pilot.press("ctrl+n", "ctrl+n")
        assert pane.filters.lang == "en"
        await until(pilot, lambda: pane.results.full.answer.lang == "en", "an answer in English")
        await pilot.click(Bar, offset=(3, 0))
        assert pane.filters.platform == pane.platforms[0] == "ascend"
        await until(pilot, lambda: {row.platform for row in pane.results.full.rows} == {"ascend"}, "only ascend")
        await click(pilot, pane.say("lang_en"))
        assert pane.filters.lang is None
        pane.query_one(QuestionBox).put("")
        for _ in pane.platforms:
            await pilot.press("ctrl+g")
        assert pane.filters.platform is None

    stage.play(act, lang="en")


def test_pages_turn_and_why_and_whole_are_shown_and_hidden(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["en"])
        assert "coverage" not in seen(pane)
        await pilot.press("pagedown")
        assert pane.results.reader.scroll_offset.y > 0
        await pilot.press("pageup")
        assert pane.results.reader.scroll_offset.y == 0
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert all(word in seen(pane) for word in ("words of a passage", "meaning", "rank 1", "coverage"))
        await pilot.press("ctrl+r")
        text = pane.query_one("#ask-text", Prose)
        short = len(text._texts)
        await pilot.press("ctrl+b")
        await until(pilot, lambda: len(text._texts) > short, "the whole entry")
        await pilot.press("ctrl+b")
        await until(pilot, lambda: len(text._texts) == short, "the parts again")

    stage.play(act, lang="en")


def test_an_answer_is_selected_with_the_mouse_and_laid_out_for_every_theme(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["en"])
        text = pane.query_one("#ask-text", Prose)
        title = text._texts[0]
        assert text.get_selection(Selection(Offset(0, 0), Offset(5, 0))) == (title[:5], "\n")
        pilot.app.screen.selections = {text: Selection(Offset(0, 0), Offset(5, 0))}
        await pilot.pause()
        marked = [segment for segment in text.render_line(0) if segment.text == title[:5]]
        assert marked and marked[0].style.bgcolor != text.rich_style.bgcolor
        pilot.app.screen.clear_selection()
        dark, theme = [segment.style.color for segment in text._lines[0]], pilot.app.theme
        pilot.app.theme = "asknpu-light"
        await until(pilot, lambda: [segment.style.color for segment in text._lines[0]] != dark, "other colours")
        pilot.app.theme = theme

    stage.play(act, lang="en")


def test_verdicts_by_key_and_click_go_to_a_file(stage: Stage, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await pilot.press("f7")
        assert not (home / "feedback.jsonl").exists() and told(pane) == [pane.say("nothing")]
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await pilot.press("f7")
        assert "[👍]" in str(pane.query_one(Heading).render())
        await click(pilot, "👎")
        assert "[👎]" in str(pane.query_one(Heading).render()) and "[👍]" not in str(pane.query_one(Heading).render())
        await pilot.press("f7", "f8")

    stage.play(act)
    rows = [json.loads(line) for line in (home / "feedback.jsonl").read_text("utf-8").splitlines()]
    assert [row["verdict"] for row in rows] == ["up", "down", "up", "down"]
    assert rows[0]["question"] == ASYMMETRIC["zh"] and rows[0]["entry"] == "nano-quant-asymmetric" and rows[0]["time"]


def test_the_source_opens_at_its_line_or_it_says_why_not(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await pilot.press("ctrl+o")
        assert told(pane) == [pane.say("nothing")]
        await ask(pilot, pane, ASYMMETRIC["zh"])
        entry = pane.results.entry
        await pilot.press("ctrl+o")
        assert "EDITOR" in told(pane)[-1] and "quantization.zh.md" in told(pane)[-1]
        ran: list[list[str]] = []

        def run(command: list[str], **_: Any) -> SimpleNamespace:
            ran.append(command)
            return SimpleNamespace(returncode=0)

        monkeypatch.setenv("EDITOR", "vi")
        monkeypatch.setattr(pilot.app, "suspend", nullcontext)
        monkeypatch.setattr("assistant.tui.editor.subprocess", SimpleNamespace(run=run))
        await pilot.press("ctrl+o")
        await click(pilot, f"quantization.zh.md:{entry.line}")
        assert ran[0] == ran[1] and ran[0][:2] == ["vi", f"+{entry.line}"] and ran[0][2].endswith(entry.source.file)

    stage.play(act)


def test_escape_and_clicks_cancel_return_and_empty(stage: Stage) -> None:
    let = threading.Event()

    def slow(question: str, **filters: Any) -> Any:
        assert let.wait(20)
        return stage.services.answer(question, **filters)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box, answers = pane.query_one(QuestionBox), pane.asking.answers
        box.value = ASYMMETRIC["zh"]
        await click(pilot, f"⏎ {pane.say('box_ask')}")
        assert answers.is_busy
        await until(pilot, lambda: not pane.results.is_empty, "words are found while the answer takes long")
        assert pane.results.full is None and answers.is_busy
        await pilot.press("escape")
        assert not answers.is_busy and box.value
        pane.action_ask()
        await pilot.pause()
        await click(pilot, pane.say("searching"))
        assert not answers.is_busy and pane.say("cancelled") in str(pane.query_one(Bar).render())
        let.set()
        await until(pilot, lambda: not answers._is_running, "the thread ends")
        assert pane.results.full is None, "a late answer is dropped"
        pane.results.reader.focus()
        await pilot.press("escape")
        assert box.has_focus and box.value
        await pilot.press("escape")
        assert box.value == "" and pane.results.is_empty
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await click(pilot, pane.say("box_clear"))
        assert box.value == "" and pane.results.is_empty

    stage.play(act, services=Changed(stage.services, answer=slow))


@pytest.mark.parametrize(("kind", "lang"), [(BadInput, "zh"), (RuntimeError, "en")])
def test_a_failure_is_one_whole_sentence_and_the_window_lives(stage: Stage, kind: type[Exception], lang: str) -> None:
    sentence = (
        "索引读不了 the index [red]cannot[/red] be read \x1b[0m " + "because the disk is on fire, " * 5 + "so repair it"
    )

    def broken(*_: Any, **__: Any) -> Any:
        raise kind(sentence)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        pane.query_one(QuestionBox).put("int8")
        await pilot.press("enter")
        await until(pilot, lambda: pane.say("failed") in str(pane.query_one(Bar).render()), "told")
        await pilot.pause()
        shown = "\n".join(screen_lines(pilot.app))
        assert "\x1b" not in shown and "[red]cannot[/red]" in " ".join(shown.split())
        assert "so repair it" in " ".join(shown.split())
        pane.query_one(QuestionBox).value = ""
        await until(pilot, lambda: "so repair it" not in "\n".join(screen_lines(pilot.app)), "gone with the question")

    stage.play(act, lang=lang, services=Changed(stage.services, answer=broken, search=broken))


def test_an_old_answer_does_not_stand_below_a_question_that_failed(stage: Stage) -> None:
    def once(question: str, **filters: Any) -> Any:
        if question == RANGE:
            return stage.services.answer(question, **filters)
        raise BadInput("broken")

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, RANGE)
        pane.query_one(QuestionBox).put("another question")
        pane.action_ask()
        await until(pilot, lambda: not pane.asking.is_busy, "it fails")
        assert pane.results.is_empty and pane.results.entry is None

    stage.play(act, services=Changed(stage.services, answer=once))


def test_the_language_changes_and_what_is_shown_stays(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["zh"])
        before = pane.results.entry
        await pilot.press("ctrl+l")
        await pilot.pause()
        assert pane.results.entry == before and pane.question == ASYMMETRIC["zh"]
        assert all("pass" in str(card.query_one(Head).render()) for card in pane.query(Card))
        assert "★ Answer" in seen(pane) and "Platform" in str(pane.query_one(Bar).render())
        assert any("back" in line and "clear" in line for line in screen_lines(pilot.app))
        shown = {active.binding.description for active in pilot.app.active_bindings.values()}
        assert {"Source", "Copy", "Why"} <= shown
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: pane.results.has_class("-wide"), "wide")
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: not pane.results.has_class("-wide"), "narrow")

    stage.play(act)


def test_the_next_start_has_question_filters_and_history(stage: Stage) -> None:
    states: list[Any] = []

    async def first(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, RANGE)
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await pilot.press("ctrl+n", "ctrl+r")
        await settled(pilot, pane)
        states.append(json.loads(json.dumps(pane.state())))

    async def second(pilot: Pilot[Any], pane: AskPane) -> None:
        assert pane.question == ASYMMETRIC["zh"] and pane.filters.lang == "zh"
        await settled(pilot, pane)
        assert pane.results.reader.shows_why and "词的覆盖" in seen(pane)
        await pilot.press("alt+left")
        assert pane.question == ASYMMETRIC["zh"] and pane.filters.lang is None

    stage.play(first)
    stage.play(second, state=states[0])


def test_it_says_that_the_index_is_being_built(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, opened = threading.Event(), stage.services.session

    def slowly(narrate: Callable[[str], None]) -> Any:
        narrate("building")
        assert may_end.wait(20)
        return opened

    monkeypatch.setattr("assistant.session.open_session", slowly)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await until(pilot, lambda: "正在建立语料的索引" in "\n".join(screen_lines(pilot.app)))
        pane.query_one(QuestionBox).put("int8")
        await pilot.pause(0.4)
        assert "正在建立语料的索引" in "\n".join(screen_lines(pilot.app))
        may_end.set()
        await until(pilot, lambda: "正在建立" not in "\n".join(screen_lines(pilot.app)))
        await until(pilot, lambda: pane.platforms, "the corpus is open")

    stage.play(act, services=Services())


def test_the_index_of_the_calculations_is_opened_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, services = [], Services()
    services.__dict__.update(session=stage.services.session, searcher=stage.services.searcher)
    really = Session.check_searcher

    def counted(session: Session) -> Searcher:
        opened.append(session)
        return really(session)

    monkeypatch.setattr(Session, "check_searcher", counted)

    asked = [services.answer(f"quantize {value} to int8, scale 0.02", lang="en", platform=None) for value in (1.7, 2.3)]

    assert all(answer.computed is not None for answer in asked) and len(opened) == 1


def test_examples_of_the_welcome_are_asked_by_key_and_by_click(stage: Stage) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await pilot.press("down", "enter")
        await settled(pilot, pane)
        assert pane.question == pane.say("example_1")
        await pilot.press("escape")
        await until(pilot, lambda: pane.results.is_empty, "the welcome")
        await pilot.pause()
        await click(pilot, "507899")
        await settled(pilot, pane)
        assert pane.question == pane.say("example_2")

    stage.play(act)


@pytest.mark.parametrize(
    ("question", "lang", "expected"),
    [
        ("what is 507899", None, None),
        ("507899 0x1F?", None, "zh"),
        ("什么", None, None),
        ("[ERROR] a\n[ERROR] b", None, "zh"),
        ("7", "en", "en"),
        ("aclrtMallocFoo 返回 999999", None, "zh"),
        ("RKNN_ERR_FAIL -1", None, "zh"),
        ("AveragePool", None, "zh"),
        ("dcmi module initialize failed. ret is -8005", None, "zh"),
        ("initialize failed: what is -8005", None, None),
        ("is error -8005 fatal", None, None),
        ("quantize 1.7 to int8 with scale 0.02", None, None),
        ("第一行\n第二行", None, None),
        ("does Nano run AveragePool", None, None),
    ],
)
def test_what_has_no_language_is_answered_in_that_of_the_window(question: str, lang: Any, expected: str | None) -> None:
    assert Request(question, lang, None, "zh").answer_lang == expected


def test_saved_rubbish_is_left_out() -> None:
    assert restored([1, {"question": 3}, {"question": "q", "lang": "fr", "platform": 1}]).items == [
        Request("q", None, None)
    ]
    assert restored(None) == History()


def test_every_key_has_an_id_of_its_own() -> None:
    ids = [binding.id for binding in AskPane.BINDINGS if isinstance(binding, Binding)]
    assert len(ids) == len(set(ids)) == len(AskPane.BINDINGS)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_why_names_channels_and_features_in_words(stage: Stage, lang: str) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC[lang])
        await pilot.press("ctrl+r")
        await until(pilot, lambda: pane.query_one("#ask-why").display, "why")
        answer = pane.results.full.answer
        names = [name for name, _ in answer.features]
        assert {*confidence.FEATURES["hybrid"], *confidence.FEATURES["use"]} <= set(names)
        for shown in (str(pane.query_one("#ask-why").render()), render.answer_markdown(answer, 1, explain=True)):
            assert not re.search(r"\w_\w", shown.rpartition(texts(lang)["features"])[2])
            assert all(texts(lang)[f"by.{name}"] in shown for name in WEIGHTS)
            assert all(texts(lang)[f"feature.{name}"] in shown for name in names)
        assert set(render.answer_json(answer, explain=True)["features"]) == set(names)

    stage.play(act, lang=lang)
