"""The collector rests while much is read, and only then."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from tachograph.log.heap import unswept


@pytest.fixture(autouse=True)
def on() -> Iterator[None]:
    """Whatever ran before in this process: a verb that explains leaves the collector off, since it ends then."""
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


@unswept
def seen(inner: bool = False) -> list[bool]:
    return [gc.isenabled(), *(seen() if inner else [])]


def test_it_rests_within_and_goes_on_behind() -> None:
    assert gc.isenabled()
    assert seen(inner=True) == [False, False]
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    @unswept
    def fails() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        fails()
    assert gc.isenabled()


def test_who_had_switched_it_off_finds_it_so() -> None:
    gc.disable()
    try:
        seen()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_of_two_threads_the_last_one_switches_it_on() -> None:
    inside, leave = threading.Event(), threading.Event()

    @unswept
    def waits() -> None:
        inside.set()
        assert leave.wait(30)

    thread = threading.Thread(target=waits)
    thread.start()
    assert inside.wait(30)
    seen()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
