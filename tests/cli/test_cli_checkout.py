"""``tacho checkout``: the recorded tree at a step, and nothing else touched."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho

AGENT = """
import os, tachograph

@tachograph.tool
def write(name, text):
    with open(name, "w") as file:
        file.write(text)

@tachograph.tool
def clean():
    os.unlink("old.txt")
    os.symlink("a.txt", "link")

for number in range(3):
    write("a.txt", "version %d" % number)
clean()
"""


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(folder), *settings, *arguments], check=True, capture_output=True, text=True).stdout


def state(folder: Path) -> dict[str, str]:
    """Every file of a repository, its own ones included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "old.txt").write_text("old")
    (folder / "sub").mkdir()
    (folder / "sub" / "kept.sh").write_text("#!/bin/sh\n")
    (folder / "sub" / "kept.sh").chmod(0o755)
    return folder


def steps_of(tacho: Tacho, name: str) -> list[str]:
    return [str(line["seq"]) for line in tacho("cat", "@last").lines() if line["type"] == "tool_call" and line["name"] == name]


def record(tacho: Tacho, workspace: Path) -> None:
    done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("versioned", [False, True], ids=["no-git", "git"])
def test_the_tree_at_any_line(tacho: Tacho, workspace: Path, tmp_path: Path, versioned: bool) -> None:
    if versioned:
        git(workspace, "init", "-q")
        git(workspace, "add", ".")
        git(workspace, "commit", "-qm", "first")
        (workspace / "dirty.txt").write_text("not committed")
        (workspace / "old.txt").write_text("changed before")
    record(tacho, workspace)
    writes = steps_of(tacho, "write")
    for number, seq in enumerate(writes):
        out = tmp_path / f"out-{number}"
        done = tacho("checkout", "@last", "--event", seq, str(out))
        assert done.returncode == 0, done.stderr
        assert (out / "a.txt").read_text() == f"version {number}"
        assert (out / "old.txt").read_text() == ("changed before" if versioned else "old")
        assert (out / "sub" / "kept.sh").stat().st_mode & 0o777 == 0o755
        assert (out / "agent.py").read_text() == AGENT
        assert (out / "dirty.txt").exists() == versioned
    end = tmp_path / "end"
    found = tacho("checkout", "@last", "--json", str(end)).json()
    assert found["missing"] == []
    assert not (end / "old.txt").exists()
    assert os.readlink(end / "link") == "a.txt"
    start = tmp_path / "start"
    assert tacho("checkout", "@last", "--step", "0", str(start)).returncode == 0
    assert not (start / "a.txt").exists()


def test_the_repository_is_as_it_was(tacho: Tacho, workspace: Path, tmp_path: Path) -> None:
    git(workspace, "init", "-q")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")
    record(tacho, workspace)
    (workspace / "staged.txt").write_text("staged")
    git(workspace, "add", "staged.txt")
    (workspace / "a.txt").write_text("to be stashed")
    before = state(workspace)
    assert tacho("checkout", "@last", str(tmp_path / "out")).returncode == 0
    assert state(workspace) == before


def test_a_clone_serves_where_the_place_is_gone(tacho: Tacho, workspace: Path, tmp_path: Path) -> None:
    git(workspace, "init", "-q")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")
    record(tacho, workspace)
    workspace.rename(tmp_path / "moved")
    out = tmp_path / "out"
    refused = tacho("checkout", "@last", str(out), cwd=tmp_path)
    assert refused.returncode == 2
    assert "--repo" in refused.stderr
    assert not out.exists()
    assert tacho("checkout", "@last", "--repo", str(tmp_path / "moved"), str(out), cwd=tmp_path).returncode == 0
    assert (out / "sub" / "kept.sh").exists()
    bare = tmp_path / "bare"
    subprocess.run(["git", "clone", "-q", "--bare", str(tmp_path / "moved"), str(bare)], check=True)
    assert tacho("checkout", "@last", "--repo", str(bare), str(tmp_path / "out2"), cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--step", "9"], "no step 9"), (["--event", "999999"], "no line 999999"), (["--event", "evt_x"], "no event evt_x"),
        (["--after"], "--after without --step"), (["--step", "1", "--event", "2"], "both --step and --event"),
    ],
)  # fmt: skip
def test_wrong_places_write_nothing(tacho: Tacho, workspace: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    record(tacho, workspace)
    done = tacho("checkout", "@last", *arguments, str(tmp_path / "out"))
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_refused(tacho: Tacho, workspace: Path) -> None:
    record(tacho, workspace)
    before = state(workspace)
    done = tacho("checkout", "@last", str(workspace))
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert state(workspace) == before


def test_a_secret_that_was_masked_is_named(tacho: Tacho, workspace: Path, tmp_path: Path) -> None:
    (workspace / "key.txt").write_text("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    record(tacho, workspace)
    found = tacho("checkout", "@last", "--json", str(tmp_path / "out")).json()
    assert found["masked"] == ["key.txt"]
