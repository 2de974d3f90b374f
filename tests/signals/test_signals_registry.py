"""Sources by name, those of others among them; one that fails stops nothing."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from signals_server import NOON, Hands
from tachograph.core.errors import SignalError, UsageError
from tachograph.core.signals import Budget, Missing, Signal, Signals, Window
from tachograph.signals import registry

HOUR = Window(NOON, NOON + 3_600_000)


class Own:
    """A reader of somebody else: ``own:SPEC`` says SPEC, outside of the window too, or fails."""

    def __init__(self, spec: str, environment: Mapping[str, str]) -> None:
        if spec == "broken":
            raise RuntimeError("token=hunter2")
        self.spec = spec
        self.name = environment.get("OWN_NAME", "none")

    def read(self, window: Window, budget: Budget) -> tuple[list[Signal], list[Missing]]:
        if self.spec == "fails":
            raise RuntimeError("token=hunter2")
        if self.spec == "gone":
            raise SignalError("own.example cannot be reached; check it")
        found = [Signal(at=at, source="own", kind="alarm", name=self.name) for at in (window.end, window.start, window.end + 1)]
        return found, [Missing("own", f"{budget.left:.0f} s were left")]


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("own", f"{__name__}:Own", registry.GROUP)
    monkeypatch.setattr(point.__class__, "load", lambda self: Own)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: (point,) if group == registry.GROUP else ())


def gather(*named: str, **environment: str) -> Signals:
    hands = Hands()
    return registry.gather(named, HOUR, environment=environment, clock=hands, pause=hands.pause)


def test_a_reader_of_somebody_else_is_found_and_held_to_the_window(own: None) -> None:
    found = gather("own:x", OWN_NAME="theirs")
    assert [(one.at, one.name) for one in found.found] == [(HOUR.start, "theirs"), (HOUR.end, "theirs")]
    assert [one.to_json() for one in found.missing] == [{"source": "own", "why": "60 s were left"}]
    assert found.asked == ("own",)


def test_one_that_fails_is_missing_and_the_others_are_told(own: None, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps([{"at": "2026-11-30T12:10:00Z", "name": "a"}]))
    found = gather("own:fails", f"file:{path}", "own:gone")
    assert [one.name for one in found.found] == ["a"]
    assert [one.why for one in found.missing] == [
        "its reader failed (RuntimeError); please report it with what you asked for", "own.example cannot be reached; check it",
    ]  # fmt: skip


@pytest.mark.parametrize("named", ["own:broken", "nagios:x", "cloudwatch", "", ":"])
def test_what_cannot_be_opened_is_said_in_one_line(own: None, named: str) -> None:
    with pytest.raises(UsageError) as error:
        gather(named)
    assert "hunter2" not in str(error.value)
    if named != "own:broken":
        assert "begins with one of cloudwatch:, file:, own:, pagerduty:, prometheus:" in str(error.value)


def test_more_than_a_report_takes_is_said(own: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MOST", 1)
    found = gather("own:x")
    assert len(found.found) == 1
    assert "2 signals, of which a report takes the first 1" in found.missing[-1].why


def test_every_reader_that_is_ours_opens_or_says_what_it_needs() -> None:
    for kind in registry.READERS:
        try:
            source: Any = registry.open_source(f"{kind}:", {})
        except UsageError as error:
            assert "--signals" in str(error)  # noqa: PT017
        else:
            assert callable(source.read)
