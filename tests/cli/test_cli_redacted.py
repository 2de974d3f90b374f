"""Every event says how many of which kind were masked in it, and the sum is what it always said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho

SECRET = "gh" + "p_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI"
AGENT = """
import sys, tachograph

@tachograph.tool(effect="read")
def look(path):
    return "token: " + sys.argv[1] + " password=wE_xe%Eg30B0di"

look("x")
print("done")
"""


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    made = Tacho(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    done = made("record", "--", sys.executable, str(tmp_path / "agent.py"), SECRET, cwd=tmp_path)
    assert done.returncode == 0
    return made


def test_the_kinds_of_an_event_add_up_to_its_redactions(tacho: Tacho) -> None:
    lines = tacho("cat", "@last").lines()
    assert all(sum(line.get("redacted_kinds", {}).values()) == line["redactions"] for line in lines)
    (tool,) = [line for line in lines if line["type"] == "tool_call"]
    assert set(tool["redacted_kinds"]) == {"github-token", "password"}
    assert lines[0]["redacted_kinds"]["github-token"] >= 1  # in its arguments


def test_show_and_postmortem_say_which_and_where_also_after_shredding(tacho: Tacho) -> None:
    before = tacho("show", "@last", "--json").json()["redacted"]
    kinds = {one["kind"]: one for one in before["kinds"]}
    assert kinds["github-token"]["secrets"] == 1
    assert kinds["github-token"]["first"] == 1
    assert "password" in tacho("show", "@last").stdout
    assert tacho("shred", "@last", "--reason", "x", "--yes").returncode == 0
    after = tacho("show", "@last", "--json").json()["redacted"]
    assert [(one["kind"], one["count"], one["events"]) for one in after["kinds"]] == [
        (one["kind"], one["count"], one["events"]) for one in before["kinds"]
    ]
    assert all(one["secrets"] == 0 for one in after["kinds"])
    assert "github-token" in tacho("postmortem", "@last").stdout
