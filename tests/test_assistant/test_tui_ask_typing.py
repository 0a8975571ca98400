"""Typing while searches run: no key is lost. How fast it is measures `tests/benchmarks/window.py`."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.events import Key

from assistant.tui.app import Window
from assistant.tui.ask.box import QuestionBox
from assistant.tui.services import Services
from kb.types import Lang, Search

QUESTION = "how are scale and zero point of 量化 computed"


class Counting(Services):
    """The real services; tells of every search by words that has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Semaphore(0)

    def search(self, question: str, *, lang: Lang | None, platform: str | None, with_meaning: bool) -> Search:
        """Count, and search."""
        self.begun.release()
        return super().search(question, lang=lang, platform=platform, with_meaning=with_meaning)


@pytest.fixture
def services(shipped_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    """The services over the shipped corpus."""
    monkeypatch.setenv("ASKNPU_HOME", str(shipped_home))
    yield Counting()
    (shipped_home / "window.json").unlink(missing_ok=True)


def test_no_key_is_lost_while_searches_run(services: Counting) -> None:
    async def run() -> None:
        app = Window("en", services=services)
        app.animation_level = "none"
        async with app.run_test(size=(80, 24)) as pilot:
            box = app.query_one(QuestionBox)
            words = QUESTION.split(" ")
            for number, word in enumerate(words):
                for character in f" {word}" if number else word:
                    box.post_message(Key("space" if character == " " else character, character))
                # The next word is typed while the search for those before it runs.
                assert await asyncio.to_thread(services.begun.acquire, timeout=60)
            await pilot.pause()
            assert box.value == QUESTION and box.cursor_position == len(QUESTION)

    asyncio.run(run())
