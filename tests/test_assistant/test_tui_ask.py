"""The area Ask: its journey, its keys, its texts, and what it restores; over the shipped corpus."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Input, Markdown, Static

from assistant.errors import BadInput
from assistant.tui.app import Window
from assistant.tui.ask.bar import Bar
from assistant.tui.ask.box import QuestionBox
from assistant.tui.ask.cards import Card, Head
from assistant.tui.ask.history import History, restored
from assistant.tui.ask.listing import Listing
from assistant.tui.ask.pane import AskPane
from assistant.tui.ask.reader import Reader
from assistant.tui.ask.values import Request
from assistant.tui.services import Services
from assistant.tui.words import words

pytestmark = pytest.mark.window

ASYMMETRIC = {
    "zh": "非对称量化的 scale 和 zero point 怎么算？",
    "en": "How are scale and zero point of asymmetric quantization computed?",
}
SIZES = [(80, 24), (140, 45)]


class Remembering(Services):
    """The real services; what was asked once is not computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = cache(super().answer)  # type: ignore[method-assign]
        self.search = cache(super().search)  # type: ignore[method-assign]


@pytest.fixture(scope="module")
def opened(shipped_home: Path) -> Iterator[Services]:
    """The real services, opened once for all tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASKNPU_HOME", str(shipped_home))
        services = Remembering()
        services.answer("int8", lang=None, platform=None)
        services.search("int8", lang=None, platform=None, with_meaning=False)
        yield services


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home: the index is open already."""
    monkeypatch.setenv("ASKNPU_HOME", str(tmp_path))
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


Act = Callable[[Pilot[Any], AskPane], Awaitable[None]]


def play(services: Services, act: Act, *, lang: Any = "zh", size: tuple[int, int] = (80, 24)) -> None:
    """Run a window, act on its area Ask, and end it as a user does."""

    async def run() -> None:
        app = Window(lang, services=services)
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            pane = app.pane("ask")
            assert isinstance(pane, AskPane)
            await act(pilot, pane)
            await pilot.press("ctrl+q")

    asyncio.run(run())


async def until(pilot: Pilot[Any], condition: Callable[[], object], what: str = "") -> None:
    for _ in range(400):
        if condition():
            return
        await pilot.pause(0.025)
    raise AssertionError(f"never happened: {what or condition}")


async def ask(pilot: Pilot[Any], pane: AskPane, question: str) -> None:
    pane.query_one(QuestionBox).value = question
    pane.query_one(QuestionBox).focus()
    await pilot.press("enter")
    await until(pilot, lambda: pane.full is not None and not pane._answers.is_busy, question)
    await pilot.pause()


def seen(pane: AskPane) -> str:
    """Return everything that the pane shows, as text."""
    parts = [str(part.render()) for part in pane.query(Static) if part.display and part.region.height]
    parts += [part.source or "" for part in pane.query(Markdown) if part.region.height]
    for listing in pane.query(Listing):
        if listing.display:
            parts += [str(option.prompt) for option in listing.options]
    return "\n".join(parts)


def screen(pilot: Pilot[Any]) -> list[str]:
    """Return the lines of the screen as characters."""
    width, height = pilot.app.size
    del width
    return ["".join(segment.text for segment in strip) for strip in pilot.app.screen._compositor.render_strips()][
        :height
    ]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_question_is_typed_found_answered_checked_and_cited(
    opened: Services, home: Path, lang: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        copied: list[str] = []
        monkeypatch.setattr(pilot.app, "copy_to_clipboard", copied.append)
        say = words("ask", pane.lang)
        box = pane.query_one(QuestionBox)
        assert box.has_focus and say("welcome") in seen(pane)
        box.value = ASYMMETRIC[lang]
        await until(pilot, lambda: not pane.has_class("-empty"), "a preview")
        assert pane.query_one("#ask-list", Listing).option_count
        await until(pilot, lambda: pane.full is not None, "the answer after a pause")
        await pilot.pause()
        assert box.has_focus and box.cursor_position == len(box.value)
        text = seen(pane)
        assert say("answer") in text and "corpus/nano/quantization" in text
        assert "2/2" in text and [card.status for card in pane.query(Card)] == ["pass", "pass"]
        assert say("related") in text
        await pilot.press("ctrl+y")
        assert "corpus/nano/quantization" in copied[0]
        entry = pane.query_one(Reader).entry
        assert entry is not None and f":{entry.line} ({entry.source.start}-{entry.source.end})" in text
        assert pane.has_class("-wide") == (size[0] >= 110)

    play(opened, act, lang=lang, size=size)


def test_a_check_computes_again_with_changed_parameters_and_tells_what_does_not_fit(
    opened: Services, home: Path, monkeypatch: pytest.MonkeyPatch
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
        assert card.status == "done" and "88" in str(card.query_one(Head).render())
        await pilot.press("f9")
        await pilot.pause()
        field = card.query_one("#p-values", Input)
        assert field.has_focus and field.value == "1.7"
        head = card.query_one(Head)
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
        assert pane.full is not None and pane.full.answer.computed.outcomes[0].arguments["scale"] == 0.02

    play(opened, act, lang="en")


def test_a_failed_check_is_told_by_sign_and_words(opened: Services, home: Path) -> None:
    from dataclasses import replace

    class Wrong(Services):
        def answer(self, question: str, **filters: Any) -> Any:
            found = opened.answer(question, **filters)
            checks = tuple(
                replace(one, outcome=replace(one.outcome, status="fail", reason="scale is 0.02, expected 0.03"))
                for one in found.checks
            )
            return replace(found, checks=checks)

    services = Wrong()
    services.__dict__.update(session=opened.session, searcher=opened.searcher, word_searcher=opened.word_searcher)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["en"])
        assert all(str(card.query_one(Head).render()).startswith("✗ fail") for card in pane.query(Card))
        assert "✗ 0/2" in seen(pane) and "expected 0.03" in seen(pane)

    play(services, act, lang="en")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_an_abstention_helps(opened: Services, home: Path, size: tuple[int, int]) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "ATC 的 --soc_versoin_x 选项是什么意思")
        text = seen(pane)
        assert pane.full is not None and pane.full.answer.status == "abstained"
        assert pane.say("abstained") in text and pane.say("send_title") in text and pane.say("nearest") in text
        assert str(pane.full.entries) in text and "--soc_versoin_x" in text
        await pilot.press("down")
        near = pane.query_one("#ask-near", Listing)
        assert near.has_focus
        keys = [option.id for option in near.options]
        near.highlighted = next(i for i, key in enumerate(keys) if not key.startswith("~"))
        await pilot.press("enter")
        chosen = near.chosen
        await until(pilot, lambda: pane.query_one(Reader).entry is not None, "a nearest entry opens")
        assert pane.query_one(Reader).entry.id == chosen

    play(opened, act, size=size)


def test_a_known_name_is_offered_for_an_unknown_one(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "ATC 的 --soc_versionx 选项是什么意思")
        near = pane.query_one("#ask-near", Listing)
        offered = next(option.id for option in near.options if (option.id or "").startswith("~"))
        assert "--soc_versionx" not in offered
        await pilot.press("down")
        near.highlighted = near.get_option_index(offered)
        await pilot.press("enter")
        await until(pilot, lambda: pane.full is not None and pane.full.answer.question != "", "asked instead")
        assert pane.query_one(QuestionBox).question == offered[1:]

    play(opened, act)


def test_codes_and_pasted_logs_are_explained_as_text(opened: Services, home: Path) -> None:
    log = (
        "[ERROR] RUNTIME(1,a):2024-01-01-00:00:00.000.001 [x.cc:1]1 DeviceMalloc: [NDRV] out of memory \x1b[31mred\n"
        "[ERROR] GE(1,a):2024-01-01-00:00:00.000.002 [y.cc:2]1 Load: ErrorNo: 507899\n"
    )

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        from textual.events import Paste

        box = pane.query_one(QuestionBox)
        box.post_message(Paste(log))
        await until(pilot, lambda: "⏎" in box.value, "the log is pasted")
        assert box.question.splitlines()[1].startswith("[ERROR] GE")
        await pilot.press("enter")
        await until(pilot, lambda: pane.full is not None, "the answer")
        await pilot.pause()
        text = seen(pane)
        assert "507899" in text and "\x1b" not in text
        assert "\x1b" not in "".join(screen(pilot))

    play(opened, act)


@pytest.mark.parametrize(
    "question", ["[red]int8[/red] 量化", "[NDRV] 😀 日志 " + "长" * 300, "\x1b[31mint8 \u202e scale"]
)
def test_hostile_questions_are_shown_as_they_are(opened: Services, home: Path, question: str) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        from textual.events import Paste

        pane.query_one(QuestionBox).post_message(Paste(question))
        await until(pilot, lambda: pane._question, "it is pasted")
        await pilot.press("enter")
        await until(pilot, lambda: pane.full is not None, question)
        await pilot.pause()
        lines = screen(pilot)
        assert "\x1b" not in "".join(lines)
        from rich.cells import cell_len

        assert {cell_len(line) for line in lines} == {80}

    play(opened, act)


def test_what_is_read_stays_when_the_answer_arrives(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box, listing, reader = pane.query_one(QuestionBox), pane.query_one("#ask-list", Listing), pane.query_one(Reader)
        box.value = ASYMMETRIC["zh"]
        await until(pilot, lambda: listing.option_count > 3, "a preview")
        await pilot.press("down", "down", "down")
        chosen = listing.chosen
        assert chosen
        await until(pilot, lambda: reader.entry is not None and reader.entry.id == chosen, "it opens")
        await pilot.press("pagedown")
        place = reader.scroll_offset
        await until(pilot, lambda: pane.full is not None, "the answer")
        await pilot.pause()
        assert (listing.chosen, reader.entry.id, reader.scroll_offset) == (chosen, chosen, place)
        assert listing.has_focus

    play(opened, act)


def test_history_goes_back_and_forward_with_filters(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box = pane.query_one(QuestionBox)
        await until(pilot, lambda: pane.platforms, "the platforms")
        await ask(pilot, pane, "int8 量化范围")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: len(pane.history.items) == 2, "asked again for a platform")
        await ask(pilot, pane, ASYMMETRIC["en"])
        await pilot.press("alt+left")
        assert box.value == "int8 量化范围" and pane.platform == pane.platforms[0]
        await pilot.press("alt+left")
        assert pane.platform is None
        await pilot.press("alt+right", "alt+right")
        assert box.value == ASYMMETRIC["en"] and pane.full.answer.question == ASYMMETRIC["en"]
        await pilot.press("alt+right")
        assert box.value == ASYMMETRIC["en"]

    play(opened, act)


def test_filters_change_by_key_and_click_and_restrict(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await until(pilot, lambda: pane.platforms, "the platforms")
        await ask(pilot, pane, "quantization int8")
        await pilot.press("ctrl+n")
        assert pane.answer_lang == "zh"
        await until(pilot, lambda: pane.full.answer.lang == "zh", "an answer in Chinese")
        await pilot.click(Bar, offset=(3, 0))
        assert pane.platform == pane.platforms[0] == "ascend"
        await until(pilot, lambda: {row.platform for row in pane.full.rows} == {"ascend"}, "only ascend")
        for _ in pane.platforms:
            await pilot.press("ctrl+g")
        assert pane.platform is None

    play(opened, act, lang="en")


def test_why_and_whole_are_shown_and_hidden(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["en"])
        assert "coverage" not in seen(pane)
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert "words" in seen(pane) and "dense" in seen(pane) and "coverage" in seen(pane)
        await pilot.press("ctrl+r")
        text = pane.query_one("#ask-text Markdown", Markdown)
        short = text.source
        await pilot.press("ctrl+b")
        await until(pilot, lambda: len(text.source or "") > len(short), "the whole entry")
        await pilot.press("ctrl+b")
        await until(pilot, lambda: text.source == short, "the parts again")

    play(opened, act, size=(140, 45))


def test_verdicts_go_to_a_file(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await pilot.press("f7")
        assert not (home / "feedback.jsonl").exists()
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await pilot.press("f7", "f8")

    play(opened, act)
    rows = [json.loads(line) for line in (home / "feedback.jsonl").read_text("utf-8").splitlines()]
    assert [row["verdict"] for row in rows] == ["up", "down"]
    assert rows[0]["question"] == ASYMMETRIC["zh"] and rows[0]["entry"] == "nano-quant-asymmetric" and rows[0]["time"]


def test_the_source_opens_at_its_line_or_it_says_why_not(
    opened: Services, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        told: list[str] = []
        monkeypatch.setattr(pilot.app, "notify", lambda text, **_: told.append(text))
        await pilot.press("ctrl+o")
        assert told == [pane.say("nothing")]
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await pilot.press("ctrl+o")
        assert "EDITOR" in told[-1] and "quantization.zh.md" in told[-1]
        monkeypatch.setenv("EDITOR", "vi")
        await pilot.press("ctrl+o")
        # A test has no terminal to give away.
        assert told[-1].startswith(pane.say("no_suspend", file="", line="")[:8])
        from contextlib import nullcontext

        ran: list[list[str]] = []

        def run(command: list[str], **_: Any) -> SimpleNamespace:
            ran.append(command)
            return SimpleNamespace(returncode=0)

        monkeypatch.setattr(pilot.app, "suspend", nullcontext)
        monkeypatch.setattr("assistant.tui.editor.subprocess", SimpleNamespace(run=run))
        await pilot.press("ctrl+o")
        entry = pane.query_one(Reader).entry
        assert ran[0][:2] == ["vi", f"+{entry.line}"] and ran[0][2].endswith(entry.source.file)

    play(opened, act)


def test_escape_cancels_then_returns_then_empties(opened: Services, home: Path) -> None:
    let = threading.Event()

    class Slow(Services):
        def answer(self, question: str, **filters: Any) -> Any:
            assert let.wait(20)
            return opened.answer(question, **filters)

    services = Slow()
    services.__dict__.update(session=opened.session, searcher=opened.searcher, word_searcher=opened.word_searcher)

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        box = pane.query_one(QuestionBox)
        box.value = ASYMMETRIC["zh"]
        await pilot.press("enter")
        await until(pilot, lambda: not pane.has_class("-empty"), "words are found while the answer takes long")
        assert pane.full is None and pane._answers.is_busy
        await pilot.press("escape")
        assert not pane._answers.is_busy and box.value
        let.set()
        await until(pilot, lambda: not pane._answers._is_running, "the thread ends")
        assert pane.full is None, "a late answer is dropped"
        await pilot.press("down", "escape")
        assert box.has_focus or pane._entries.is_busy
        await until(pilot, lambda: not pane._entries._is_running)
        await pilot.press("escape")
        if box.value:
            await pilot.press("escape")
        assert box.value == "" and pane.has_class("-empty")

    play(services, act)


@pytest.mark.parametrize("error", [BadInput("unknown platform [red]"), RuntimeError("broken \x1b[0m")])
def test_a_failure_is_one_sentence_and_the_window_lives(home: Path, error: Exception) -> None:
    class Broken(Services):
        def search(self, *_: Any, **__: Any) -> Any:
            raise error

        answer = search

        @property
        def word_searcher(self) -> Any:
            raise error

    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        pane.query_one(QuestionBox).value = "int8"
        await pilot.press("enter")
        await until(pilot, lambda: str(error)[:6] in str(pane.query_one(Bar).render()), "told")
        assert "\x1b" not in "".join(screen(pilot))

    play(Broken(), act)


def test_the_language_changes_and_what_is_shown_stays(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, ASYMMETRIC["zh"])
        before = pane.query_one(Reader).entry
        await pilot.press("ctrl+l")
        await pilot.pause()
        assert pane.query_one(Reader).entry == before and pane.query_one(QuestionBox).value == ASYMMETRIC["zh"]
        assert all("pass" in str(card.query_one(Head).render()) for card in pane.query(Card))
        assert "★ Answer" in seen(pane) and "Platform" in str(pane.query_one(Bar).render())
        shown = {active.binding.description for active in pilot.app.active_bindings.values()}
        assert {"Source", "Copy", "Why"} <= shown
        await pilot.resize_terminal(140, 45)
        await until(pilot, lambda: pane.has_class("-wide"), "wide")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not pane.has_class("-wide"), "narrow")

    play(opened, act)


def test_the_next_start_has_question_filters_and_history(opened: Services, home: Path) -> None:
    async def first(pilot: Pilot[Any], pane: AskPane) -> None:
        await ask(pilot, pane, "int8 量化范围")
        await ask(pilot, pane, ASYMMETRIC["zh"])
        await pilot.press("ctrl+n", "ctrl+r")
        await until(pilot, lambda: not pane._answers.is_busy)

    async def second(pilot: Pilot[Any], pane: AskPane) -> None:
        assert pane.query_one(QuestionBox).value == ASYMMETRIC["zh"] and pane.answer_lang == "zh"
        await until(pilot, lambda: pane.full is not None, "the answer again")
        assert pane.query_one(Reader).shows_why
        await pilot.press("alt+left")
        assert pane.query_one(QuestionBox).value == ASYMMETRIC["zh"] and pane.answer_lang is None

    play(opened, first)
    play(opened, second)


def test_saved_rubbish_is_left_out() -> None:
    assert restored([1, {"question": 3}, {"question": "q", "lang": "fr", "platform": 1}]).items == [
        Request("q", None, None)
    ]
    assert restored(None) == History()


def test_every_key_has_a_name_and_a_sentence_in_both_languages() -> None:
    ids = [binding.id for binding in AskPane.BINDINGS if isinstance(binding, Binding)]
    assert len(ids) == len(set(ids)) == len(AskPane.BINDINGS)
    for lang in ("zh", "en"):
        say = words("ask", lang)
        for name in ids:
            assert say(name.replace(".", "_")) and say(f"about_{name.replace('.', '_')}")


def test_examples_of_the_welcome_are_asked_by_key(opened: Services, home: Path) -> None:
    async def act(pilot: Pilot[Any], pane: AskPane) -> None:
        await pilot.press("down", "enter")
        await until(pilot, lambda: pane.full is not None, "the example is answered")
        assert pane.query_one(QuestionBox).value == pane.say("example_1")

    play(opened, act)
