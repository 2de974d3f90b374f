"""Real Claude Code sessions, from file to report. The samples are other people's: used where present, never part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_helpers import Tacho

ROOT = Path(__file__).parent.parent.parent
SAMPLES = ROOT.parent / "shared" / "samples" / "claude-code-jsonl"
FIXTURES = ROOT / "tests" / "exchange" / "fixtures"


@pytest.mark.parametrize("folder", [FIXTURES, SAMPLES], ids=["fixtures", "samples"])
def test_every_file_imports_verifies_and_explains(tmp_path: Path, folder: Path) -> None:
    if not folder.exists():
        pytest.skip("no samples here")
    tacho = Tacho(tmp_path)
    done = tacho("import", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    rows = done.json()
    assert {Path(row["file"]).name for row in rows} == {path.name for path in folder.rglob("*.jsonl")}
    assert all("error" not in row and row["events"] for row in rows)
    again = tacho("import", str(folder), "--json").json()
    assert all(row["already_there"] for row in again)
    assert tacho("verify", "--all").returncode == 0
    for row in rows:
        shown = tacho("show", row["session_id"])
        assert shown.returncode == 0, shown.stderr
        assert tacho("postmortem", row["session_id"], "-o", str(tmp_path / "report.html")).returncode == 0
        lines = tacho("cat", row["session_id"]).lines()
        assert (lines[0]["type"], lines[0]["source"], lines[-1]["status"]) == ("session_start", "import", "imported")


def test_a_subagent_knows_its_parent(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    rows = {row["source_id"]: row["session_id"] for row in tacho("import", str(FIXTURES), "--json").json()}
    parents = {}
    for session in rows.values():
        start = tacho("cat", session).lines()[0]
        parents[session] = start.get("parent_session_id")
    known = [parent for parent in parents.values() if parent is not None]
    assert known
    assert set(known) <= set(rows.values())
