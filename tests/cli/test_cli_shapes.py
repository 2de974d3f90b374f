"""The JSON that scripts rely on (the contract of the command line)."""

from __future__ import annotations

import sys

import pytest

from cli_helpers import Tacho

AGENT = """
import tachograph

@tachograph.tool(effect="external")
def pay(cents):
    return {"paid": cents}

print(pay(5))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Tacho:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "agent.py").write_text(AGENT)
    tacho = Tacho(folder)
    done = tacho("record", "--name", "payment", "--link", "pr=acme/shop#7", "--", sys.executable, "agent.py", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "{'paid': 5}\n")
    return tacho


def test_cat_is_self_contained(recorded: Tacho) -> None:
    lines = recorded("cat", "@last").lines()
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert all({"id", "ts", "type", "session_id", "hash"} <= line.keys() for line in lines)
    assert not any(key.endswith("_uri") for line in lines for key in line)
    start = lines[0]
    assert start["type"] == "session_start"
    assert (start["name"], start["links"]) == ("payment", ["pr=acme/shop#7"])
    assert start["facts"]["argv"][-1] == "agent.py"
    assert "PATH" in start["facts"]["env"]
    call = next(line for line in lines if line["type"] == "tool_call")
    assert (call["name"], call["input"], call["output"], call["source"], call["effect"]) == (
        "pay",
        {"cents": 5},
        {"paid": 5},
        "declared",
        "external",
    )
    assert call["outcome"] == "ok"
    assert lines[-1]["type"] == "session_end"
    assert (lines[-1]["status"], lines[-1]["exit_code"]) == ("ok", 0)


def test_replay_report(recorded: Tacho) -> None:
    done = recorded("replay", "@last", "--json")
    report = done.json()
    assert done.returncode == 0
    assert done.stderr.endswith("{'paid': 5}\n")
    expected = {
        "session_id", "verdict", "tape", "calls", "matched", "unused", "divergence", "blocked", "output_identical", "exit_code",
        "recorded_exit_code", "seconds",
    }  # fmt: skip
    assert expected <= report.keys()
    assert (report["verdict"], report["tape"], report["matched"]) == ("identical", "verified", 1)
    assert report["calls"] == {"model": 0, "tool": 1, "http": 0, "process": 0}


def test_verify(recorded: Tacho) -> None:
    found = recorded("verify", "@last", "--json").json()
    assert {"session_id", "verdict", "events", "sealed", "unsealed", "problems"} <= found.keys()
    assert (found["verdict"], found["unsealed"], found["problems"]) == ("verified", 0, [])
    everything = recorded("verify", "--all", "--json").json()
    assert everything["verdict"] == "verified"
    assert [one["session_id"] for one in everything["sessions"]] == [found["session_id"]]
    assert recorded("verify", str(recorded.store), "--json").json()["verdict"] == "verified"


def test_ls_show_and_postmortem_are_one_document_each(recorded: Tacho) -> None:
    rows = recorded("ls", "--json").json()
    assert rows[0]["name"] == "payment"
    assert rows[0]["calls"] == {"tool": 1}
    assert recorded("show", "@last", "--json").json()
    report = recorded("postmortem", "@last", "--json").json()
    assert {"session_id", "findings", "answers", "bundle", "evidence"} <= report.keys()
    assert set(report["answers"]) == {str(number) for number in range(1, 22)}


def test_a_session_is_named_by_prefix(recorded: Tacho) -> None:
    session = recorded("ls", "--json").json()[0]["session_id"]
    assert recorded("verify", session[:15]).returncode == 0
    assert recorded("verify", session[4:15].lower()).returncode == 0


def test_the_python_side_mirrors_it(recorded: Tacho, monkeypatch: pytest.MonkeyPatch) -> None:
    import tachograph

    monkeypatch.setenv("TACHO_KEY", recorded.settings["TACHO_KEY"])
    session = tachograph.open(str(recorded.store))["@last"]
    assert [event.TYPE for event in session.events][-1] == "session_end"
    assert session.verify()["verdict"] == "verified"
    assert [one.id for one in tachograph.open(str(recorded.store))] == [session.id]


def test_show_says_how_much_a_filter_leaves_out(recorded: Tacho) -> None:
    whole = recorded("show", "@last", "--json")
    assert (whole.returncode, whole.json()["left_out"]) == (0, 0)
    calls = recorded("show", "@last", "--json", "--tool", "pay")
    assert (calls.returncode, [item["name"] for turn in calls.json()["turns"] for item in turn["items"]]) == (0, ["pay"])
    none = recorded("show", "@last", "--json", "--tool", "refund")
    assert (none.returncode, none.json()["turns"]) == (1, [])
    assert none.json()["left_out"] == calls.json()["left_out"] + 1
