"""Each incident: recorded from a real run, whole, with the event that is to be found, and replayed; then what a postmortem says of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import scene

NAMES = scene.names()
#: Replaying each takes as long as recording it: every sixth is enough where time counts.
REPLAYED = [name if not index % 6 else pytest.param(name, marks=pytest.mark.slow) for index, name in enumerate(NAMES)]


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> scene.Recorded:
    # The folder does not bear the incident's name: paths are on the record, and must not give the cause away.
    return scene.record(request.param, tmp_path_factory.mktemp("scene"))


def each(names: Sequence[Any]) -> pytest.MarkDecorator:
    """The tests of one incident run one after the other, on one recording."""
    return pytest.mark.parametrize("recorded", names, indirect=True, scope="module")


@each(NAMES)
def test_is_recorded_whole_and_has_its_first_event(recorded: scene.Recorded) -> None:
    assert recorded.json("verify", recorded.session_id)["verdict"] == "verified"
    assert any(line["type"] == "model_call" for line in recorded.lines)
    assert not [line for line in recorded.lines if line["type"] == "gap"]
    assert not [line for line in recorded.lines if line["type"] == "model_call" and line.get("status") == 400], (
        "the script has no turn for it"
    )
    if recorded.incident.cause is None:
        assert recorded.incident.first is None
        return
    assert recorded.incident.first is not None
    first = recorded.incident.first(recorded.lines)
    assert [line["id"] for line in recorded.lines].count(first["id"]) == 1


@each(REPLAYED)
def test_replays_identical(recorded: scene.Recorded, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = recorded.tacho("replay", recorded.session_id, "--report", str(report))
    assert report.exists(), done.stderr
    found = json.loads(report.read_text())
    assert found["verdict"] == "identical", (found, done.stderr)
    assert found["unused"] == []


@each(NAMES)
def test_the_postmortem_names_the_cause_and_its_first_event(recorded: scene.Recorded) -> None:
    findings = recorded.json("postmortem", recorded.session_id)["findings"]
    told = [(finding["class"], finding["analysis"], finding["statement"]) for finding in findings]
    if recorded.incident.cause is None:
        assert told == []
        return
    assert told
    assert findings[0]["class"] == recorded.incident.cause, told
    assert recorded.incident.first is not None
    assert findings[0]["first_event"] == recorded.incident.first(recorded.lines)["id"], told


def test_every_class_is_there() -> None:
    causes = Counter(scene.load(name).cause for name in NAMES)
    assert {name: causes[name] for name in scene.CLASSES if causes[name] < 2} == {}
    assert causes[None] >= 6
    assert sum(causes.values()) - causes[None] >= 26
