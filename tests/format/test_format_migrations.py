"""Old versions of lines are read by steps, one version at a time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import FormatError, NewerFormatError, UsageError
from tachograph.crypto import keys
from tachograph.format import layout, migrations
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore
from tachograph.wiring import SystemClock

SESSION = "ses_01K0000000000000000000000A"


def of_version(folder: Path, version: int) -> OpenStore:
    """A session whose lines were written by a version that called the status of a session ``result``."""
    store, key = LocalStore(str(folder)), keys.generate(lambda size: b"k" * size)
    opening.create(store, key, lambda size: b"e" * size)
    opened = opening.open_store(store, key)
    writer = SessionWriter(
        opened, SESSION, opened.new_data_key(SESSION, lambda size: b"d" * size), clock=SystemClock(), entropy=lambda size: b"w" * size
    )
    writer.append(Draft(event=events.SessionStart(name="old"), contents={"facts_uri": {"argv": ["a"]}}))
    writer.append(Draft(event=events.SessionEnd(status="killed")))
    writer.commit()
    writer.close()
    path = folder / layout.events(SESSION, 1)
    previous, lines = hashlib.sha256(b"tachograph/v1 session " + SESSION.encode()).hexdigest(), []
    for raw in path.read_bytes().splitlines():
        fields = {**json.loads(raw), "v": version}
        del fields["hash"]
        if fields["type"] == "session_end":
            fields["result"] = fields.pop("status")
        body = json.dumps(fields, separators=(",", ":")).encode()[:-1]
        previous = hashlib.sha256(previous.encode() + body).hexdigest()
        lines.append(body + b',"hash":"' + previous.encode() + b'"}\n')
    path.write_bytes(b"".join(lines))
    return opened


def test_a_line_of_an_older_version_takes_its_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = of_version(tmp_path / "store", 0)
    stored = (tmp_path / "store" / layout.events(SESSION, 1)).read_bytes()
    with pytest.raises(FormatError, match="not as a line must be"):
        Recording(opened, SESSION)

    def renamed(fields: dict[str, Any]) -> dict[str, Any]:
        return {("status" if name == "result" else name): value for name, value in fields.items()}

    monkeypatch.setitem(migrations.STEPS, 0, renamed)
    recording = Recording(opened, SESSION)
    start, end = (entry.event for entry in recording.entries)
    assert isinstance(end, events.SessionEnd)
    assert (end.status, end.extra) == ("killed", {})
    assert [entry.line["v"] for entry in recording.entries] == [layout.VERSION] * 2
    assert recording.content(start.facts_uri) == {"argv": ["a"]}  # type: ignore[attr-defined]
    assert (tmp_path / "store" / layout.events(SESSION, 1)).read_bytes() == stored


def test_two_versions_back_is_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    def step(number: int) -> Any:
        def taken(fields: dict[str, Any]) -> dict[str, Any]:
            seen.append((number, fields["v"]))
            return {**fields, "steps": [*fields.get("steps", []), number]}

        return taken

    for number in (-1, 0):
        monkeypatch.setitem(migrations.STEPS, number, step(number))
    assert migrations.current({"v": -1, "seq": 1}) == {"v": layout.VERSION, "seq": 1, "steps": [-1, 0]}
    assert seen == [(-1, -1), (0, 0)]
    monkeypatch.delitem(migrations.STEPS, 0)
    with pytest.raises(KeyError):
        migrations.current({"v": -1})


@pytest.mark.parametrize("version", [layout.VERSION + 1, -7, "1", None, True, 1.0])
def test_a_version_without_a_step_is_not_read(version: object) -> None:
    with pytest.raises(KeyError):
        migrations.current({"v": version, "seq": 1})


def test_a_newer_version_says_so(tmp_path: Path) -> None:
    opened = of_version(tmp_path / "store", layout.VERSION + 1)
    with pytest.raises(NewerFormatError, match="update tachograph"):
        Recording(opened, SESSION)
    with pytest.raises(UsageError):
        opening.describe(LocalStore(str(tmp_path / "nowhere")))
    (tmp_path / "store" / "store.json").write_text(json.dumps({"format": "tachograph-store", "v": layout.VERSION + 1}))
    with pytest.raises(NewerFormatError, match="update tachograph"):
        opening.describe(opened.store)


def test_every_version_up_to_this_one_has_a_step() -> None:
    assert sorted(migrations.STEPS) == list(range(1, layout.VERSION + 1))
