"""The workspace's record: names as well as contents."""

from __future__ import annotations

import collections
import json
import sys
from pathlib import Path

from cli_helpers import Tacho
from planted import ALL
from tachograph.host.workspace import Watcher
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy

GITHUB = next(each.secret for each in ALL if each.kind == "github")


def test_a_token_in_the_name_of_a_file_is_masked(tmp_path: Path) -> None:
    (tmp_path / f"old-{GITHUB}.txt").write_text("x")
    (tmp_path / "token=3.txt").write_text("x")
    watcher = Watcher(str(tmp_path), {}, Redactor(Policy.default(), key=b"k"))
    tally: collections.Counter[str] = collections.Counter()
    base = watcher.base()
    assert base is not None
    assert GITHUB not in repr(base)
    assert "token=3.txt" in base["files"]
    (tmp_path / GITHUB).symlink_to(f"old-{GITHUB}.txt")
    (tmp_path / f"old-{GITHUB}.txt").unlink()
    changes = watcher.look(tally)
    assert changes is not None
    assert [change["action"] for change in changes["changes"]] == ["added", "deleted"]
    assert GITHUB not in repr(changes)
    assert tally.total() >= 2


def test_a_link_that_came_is_kept_with_where_it_leads(tmp_path: Path) -> None:
    watcher = Watcher(str(tmp_path), {}, Redactor(Policy.default(), key=b"k"))
    watcher.base()
    (tmp_path / "link").symlink_to("target")
    changes = watcher.look(collections.Counter())
    assert changes is not None
    assert [(change["path"], change.get("link")) for change in changes["changes"]] == [("link", "target")]


def test_key_files_of_ours_that_lie_in_the_workspace_are_no_part_of_it(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "agent.py").write_text("print(open('key.json').read() != '')")
    tacho = Tacho(tmp_path)
    tacho.settings["TACHO_KEY"] = str(work / "key.json")
    for _ in range(2):  # the second time the file is there from the beginning
        assert tacho("record", "--", sys.executable, "agent.py", cwd=work).returncode == 0
        shown = tacho("cat", "@last").stdout
        assert "agent.py" in shown
        assert json.loads((work / "key.json").read_text())["seed"] not in shown
        assert list(tacho("cat", "@last").lines()[0]["workspace"]["files"]) == ["agent.py"]
