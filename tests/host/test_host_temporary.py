"""The folder for temporary files, shown at its recorded place where that hides nothing."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done, Tacho
from tachograph.host import temporary
from tachograph.replay import guard

W = "/nowhere"

AGENT = """
import hashlib, os, tempfile
with tempfile.NamedTemporaryFile("w", delete=False) as file:
    file.write("text")
print(hashlib.sha256(file.name.encode()).hexdigest(), len(file.name), open(file.name).read())
with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "f"), "w").write(folder)
    print(len(folder), os.listdir(folder), tempfile.gettempdir())
"""


def now(seconds: float = 0) -> str:
    return datetime.fromtimestamp(datetime.now(UTC).timestamp() + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Case:
    """An agent, recorded with a folder for temporary files of its own."""

    def __init__(self, tmp_path: Path, agent: str) -> None:
        if guard.probe(tmp_path).best == "none":
            pytest.skip("no mounts here")
        self.tmp_path, self.workspace, self.folder = tmp_path, tmp_path / "workspace", tmp_path / "temporary"
        self.workspace.mkdir()
        self.folder.mkdir()
        (self.workspace / "agent.py").write_text(agent)
        self.tacho = Tacho(tmp_path)
        self.environment = {**os.environ, "TMPDIR": str(self.folder)}

    def record(self) -> str:
        done = self.tacho("record", "--", sys.executable, "agent.py", cwd=self.workspace, env=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def replay(self, environment: dict[str, str] | None = None) -> tuple[dict[str, Any], Done]:
        before = self.names()
        report = self.tmp_path / "report.json"
        done = self.tacho("replay", "@last", "--report", str(report), cwd=self.tmp_path, env=environment)
        assert self.names() == before  # nothing of the replay is left there
        found: dict[str, Any] = json.loads(report.read_text())
        assert found["blocked"] == []
        return found, done

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


@pytest.mark.parametrize("same", [False, True])
def test_a_hashed_name_of_a_temporary_file_is_the_recorded_one(tmp_path: Path, same: bool) -> None:
    """``same``: it is the replay's own folder for temporary files, too."""
    case = Case(tmp_path, AGENT)
    recorded = case.record()
    assert len(case.names()) == 1
    found, done = case.replay(case.environment if same else None)
    assert found["verdict"] == "identical", done.stderr
    assert done.stdout == recorded


def test_where_something_would_be_hidden_the_name_is_another_one(tmp_path: Path) -> None:
    case = Case(tmp_path, AGENT + "print(os.path.exists(os.path.join(tempfile.gettempdir(), 'input')))")
    (case.folder / "input").write_text("it was there before")
    case.record()
    found, _ = case.replay()
    assert found["verdict"] == "diverged"


def test_a_file_that_the_agent_found_there_is_there_again(tmp_path: Path) -> None:
    case = Case(tmp_path, AGENT + "print(open(os.path.join(tempfile.gettempdir(), 'input')).read())")
    (case.folder / "input").write_text("it was there before")
    (case.workspace / "tachograph.toml").write_text("[record]\nfile_contents = true\n")
    recorded = case.record()
    (case.folder / "input").unlink()
    found, done = case.replay()
    assert found["verdict"] == "identical", done.stderr
    assert done.stdout == recorded
    assert [(file["path"], file["shown"]) for file in found["files_changed"]] == [(str(case.folder / "input"), True)]


def test_nothing_is_hidden(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    assert temporary.showable(str(folder), now(), [], workspace=W)
    assert not temporary.showable(str(folder), now(), [str(folder / "workspace")], workspace=W)
    assert not temporary.showable(str(folder), now(), [], workspace=str(tmp_path))
    assert temporary.showable(str(folder), now(), [str(tmp_path / "temporary2"), str(tmp_path)], workspace=W)
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("x")
    assert temporary.showable(str(folder), now(-60), [], workspace=W)
    assert not temporary.showable(str(folder), now(60), [], workspace=W)
    link = tmp_path / "link"
    link.symlink_to(folder)
    for path in (str(link), str(tmp_path / "gone"), "/", "relative"):
        assert not temporary.showable(path, now(-60), [], workspace=W)


def test_too_much_to_look_at_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / str(number)).write_text("x")
    monkeypatch.setattr(temporary, "MOST", 3)
    assert not temporary.showable(str(tmp_path), now(-60), [], workspace=W)


RACE = """
import os, tempfile, threading
names, done = {}, [threading.Event(), threading.Event()]
first = int(os.path.exists("../later"))
def work(number):
    if number != first:
        done[first].wait()
    names[number] = [os.path.basename(tempfile.mkdtemp()) for _ in range(3)]
    done[number].set()
threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(names.items()))
"""


def test_which_thread_asks_first_for_a_name_does_not_matter(tmp_path: Path) -> None:
    """Whoever does has ``tempfile`` try which folder will do, with a name that is none of its own."""
    case = Case(tmp_path, RACE)
    recorded = case.record()
    (tmp_path / "later").write_text("the other thread is first")
    found, done = case.replay()
    assert found["verdict"] == "identical", done.stderr
    assert done.stdout == recorded
    assert found["unrecorded"] == []
