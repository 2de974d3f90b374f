"""Each incident: recorded from a real run, whole, with the event that is to be found, and replayed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import scene

NAMES = scene.names()
#: Replaying each takes as long as recording it: every fourth is enough where time counts.
REPLAYED = [name if not index % 4 else pytest.param(name, marks=pytest.mark.slow) for index, name in enumerate(NAMES)]

Record = Callable[[str], scene.Recorded]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Records an incident, once for all tests. The folder does not bear its name: paths are on the record, and must not give the cause away."""
    done: dict[str, scene.Recorded] = {}

    def recorded(name: str) -> scene.Recorded:
        if name not in done:
            done[name] = scene.record(name, tmp_path_factory.mktemp("scene"))
        return done[name]

    return recorded


@pytest.mark.parametrize("name", NAMES)
def test_is_recorded_whole_and_has_its_first_event(record: Record, name: str) -> None:
    recorded = record(name)
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


@pytest.mark.parametrize("name", REPLAYED)
def test_replays_identical(record: Record, name: str, tmp_path: Path) -> None:
    recorded = record(name)
    report = tmp_path / "report.json"
    done = recorded.tacho("replay", recorded.session_id, "--report", str(report))
    assert report.exists(), done.stderr
    found = json.loads(report.read_text())
    assert found["verdict"] == "identical", (found, done.stderr)
    assert found["unused"] == []


def test_every_class_is_there() -> None:
    causes = Counter(scene.load(name).cause for name in NAMES)
    assert {name: causes[name] for name in scene.CLASSES if causes[name] < 2} == {}
    assert causes[None] >= 6
    assert sum(causes.values()) - causes[None] >= 26
