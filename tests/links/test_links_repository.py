"""What git says, and what is said where there is no git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tachograph.links.repository import here


def test_a_repository(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert here(str(tmp_path)).commit("HEAD") is None
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "https://example.org/a/b"], check=True)
    place = here(str(tmp_path))
    sha = place.commit("HEAD")
    assert sha is not None
    assert len(sha) == 40
    assert (place.commit(sha[:8]), place.commit("none"), place.commit("--help"), place.remote) == (
        sha,
        None,
        None,
        "https://example.org/a/b",
    )


def test_no_repository_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert (here(str(tmp_path)).commit("HEAD"), here(str(tmp_path)).remote) == (None, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (here(str(tmp_path)).commit("HEAD"), here(str(tmp_path / "gone")).remote) == (None, None)
