"""Garbage is collected in one go only when nobody uses the window."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from assistant.tui import garbage


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Each test leaves the collection as Python has it."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


class Ring:
    """Refers to itself: only a collection frees it."""

    def __init__(self) -> None:
        self.own = self


def _old_ring() -> "weakref.ref[Ring]":
    """Return garbage that only a whole collection finds."""
    ring = Ring()
    gc.collect(1)
    gc.collect(1)
    return weakref.ref(ring)


def _middle_collections(number: int) -> None:
    for _ in range(number):
        gc.collect(1)


def _allocate() -> None:
    """Let Python collect by itself as often as it wants."""
    kept = [[] for _ in range(200_000)]
    assert kept


def test_no_whole_collection_comes_by_itself_until_resumed() -> None:
    gc.collect()
    whole: list[int] = []

    def seen(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            whole.append(info["generation"])

    gc.callbacks.append(seen)
    try:
        garbage.postpone()
        _allocate()
        assert whole == []
        garbage.resume()
        gc.set_threshold(700, 1, 1)
        _allocate()
        assert whole
    finally:
        gc.callbacks.remove(seen)


def test_resume_gives_back_what_python_has() -> None:
    before = gc.get_threshold()
    garbage.postpone()
    assert gc.get_threshold() != before
    garbage.resume()
    assert gc.get_threshold() == before


def test_rest_collects_only_when_enough_has_come_together() -> None:
    gc.collect()
    gc.freeze()
    garbage.postpone()
    ring = _old_ring()
    gc.set_threshold(0)
    assert not garbage.rest(5)
    assert ring() is not None
    _middle_collections(3)
    assert garbage.rest(5)
    assert ring() is None


def test_a_long_collection_waits_a_minute_and_what_is_left_is_not_walked_again() -> None:
    gc.collect()
    gc.freeze()
    many = [[] for _ in range(60_000)]
    ring = _old_ring()
    gc.set_threshold(0)
    _middle_collections(3)
    assert not garbage.rest(59)
    assert ring() is not None
    before = gc.get_freeze_count()
    assert garbage.rest(60)
    assert ring() is None
    assert gc.get_freeze_count() >= before + len(many)


def test_what_is_kept_is_not_walked() -> None:
    kept = [[] for _ in range(1000)]
    before = gc.get_freeze_count()
    garbage.keep()
    assert gc.get_freeze_count() >= before + len(kept)
