"""Files that an answer leaves are written in the workspace and nowhere beside it, whatever the recording says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tachograph.client import workspace


def apply(root: Path, *changes: dict[str, object]) -> None:
    workspace.apply(json.dumps({"root": str(root), "changes": list(changes)}).encode())


def test_files_are_written_changed_linked_and_removed(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    apply(
        tmp_path, {"path": "a/b.txt", "action": "added", "text": "é", "mode": 0o600}, {"path": "old", "action": "deleted"},
        {"path": "old", "action": "deleted"}, {"path": "link", "action": "added", "link": "a/b.txt"},
    )  # fmt: skip
    assert (tmp_path / "link").read_text() == "é"
    assert (tmp_path / "a/b.txt").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "old").exists()


@pytest.mark.parametrize("path", ["../beside/x", "../workspace2/x", "{outside}/x", "in/../../workspace2/x", "door/x"])
@pytest.mark.parametrize("action", ["added", "deleted"])
def test_nothing_beside_the_workspace_is_touched(tmp_path: Path, path: str, action: str) -> None:
    root = tmp_path / "workspace"
    for folder in ("workspace/in", "workspace2", "beside"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("workspace2", "beside"):
        (tmp_path / folder / "x").write_text("theirs")
    (root / "door").symlink_to(tmp_path / "workspace2")
    apply(root, {"path": path.format(outside=tmp_path / "beside"), "action": action, "text": "ours"})
    assert (tmp_path / "workspace2/x").read_text() == (tmp_path / "beside/x").read_text() == "theirs"


def test_a_link_in_place_of_the_file_is_replaced_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "theirs").write_text("theirs")
    (root / "x").symlink_to(tmp_path / "theirs")
    apply(root, {"path": "x", "action": "changed", "text": "ours"})
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert (root / "x").read_text() == "ours"
