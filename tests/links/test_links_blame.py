"""``tacho blame``: what it says of a line, and what the neighbours got wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_helpers import CLEAN, Agent, Repository

from cli_helpers import Tacho
from tachograph.testing.model_server import ModelServer, Script, Turn

ONE = "def area_of(width, height):\n    return width * height  # of a rectangle\n"
TWO = "def volume_of(width, height, depth):\n    return area_of(width, height) * depth\n"


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, tacho: Tacho) -> Repository:
    found = Repository(tmp_path / "shop")
    found.write("README.md", "A shop of shapes, written by hand.\n")
    found("add", "-A")
    found("commit", "-q", "-m", "first", GIT_COMMITTER_DATE="2026-01-05T10:00:00Z")
    assert tacho("install-hooks", cwd=found.folder).returncode == 0
    return found


def rows(tacho: Tacho, repository: Repository, what: str, *options: str) -> list[dict]:
    done = tacho("blame", what, "--json", *options, cwd=repository.folder)
    assert done.returncode in (0, 1), done.stderr
    return done.json()


AGENT = """
import subprocess
import anthropic, tachograph

@tachograph.tool(effect="write")
def write(path, text):
    open(path, "w").write(text)
    return "written"

client = anthropic.Anthropic(api_key="k", max_retries=0)
asked = [{"role": "user", "content": "Have a function for the area"}]
answer = client.messages.create(model="claude-x", max_tokens=100, messages=asked, tools=[{"name": "write", "input_schema": {"type": "object"}}])
for block in answer.content:
    if block.type == "tool_use":
        tachograph.approval("allow", approver="dana")
        write(**block.input)
subprocess.run(["git", "add", "-A"], check=True)
subprocess.run(["git", "commit", "-q", "-m", "area"], check=True)
"""


def test_a_line_leads_to_step_tool_call_prompt_model_approver_and_pr(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT)
    turn = Turn("I write it.", tool_calls=[{"name": "write", "input": {"path": "area.py", "text": ONE}}])
    with ModelServer(Script(turns=[turn])) as server:
        env = {**os.environ, **CLEAN, "ANTHROPIC_BASE_URL": server.url}
        done = tacho("record", "--link", "pr=#7", "--", sys.executable, str(script), cwd=repository.folder, env=env)
        assert done.returncode == 0, done.stderr
    session_id = tacho("ls", "--json").json()[-1]["session_id"]
    assert tacho("link", session_id, "deploy=prod-3").returncode == 0
    for row in rows(tacho, repository, "area.py"):
        assert (row["who"], row["session_id"], row["confidence"], row["how"]) == ("session", session_id, "high", ["trailer", "line"])
        assert (row["step"], row["tool"], row["prompt"]) == (1, "write", "Have a function for the area")
        assert (row["pr"], row["deploy"], row["commit"]) == (["github.com/acme/shop#7"], ["prod-3"], repository("rev-parse", "HEAD"))
        assert row["model"].startswith("claude-x")
        assert row["approver"] == "dana"
    (row,) = rows(tacho, repository, "area.py:2")
    assert row["text"] == "    return width * height  # of a rectangle"
    shown = tacho("blame", "area.py:1-2", cwd=repository.folder).stdout
    assert f"{session_id}  step 1, write, #" in shown
    assert "approved by: dana" in shown
    assert "2 lines: 2 of recorded sessions, 0 of people, 0 unknown" in shown
    reads = [line["detail"] for line in tacho("cat", "ledger").lines() if line.get("action") == "read"]
    assert {"verb": "blame"} in reads


def test_a_persons_lines_are_a_persons(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
    (row,) = rows(tacho, repository, "README.md")
    assert (row["who"], row["confidence"], row["session_id"]) == ("human", "high", None)
    repository.commit("mine", own_py="def perimeter_by_hand(width, height):\n    return 2 * (width + height)\n")
    assert {row["who"] for row in rows(tacho, repository, "own.py")} == {"unknown"}
    assert tacho("blame", "own.py", cwd=repository.folder).returncode == 1


def test_what_a_person_left_uncommitted_is_not_the_agents_who_commits_it(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    repository.write("own.py", "def perimeter_by_hand(width, height):\n    return 2 * (width + height)\n")
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "all that is there")
    found = rows(tacho, repository, "own.py")
    assert [row["who"] for row in found] == ["human", "human"]
    assert {row["confidence"] for row in rows(tacho, repository, "area.py")} == {"high"}


def test_lines_that_are_not_committed_yet(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        session_id = agent.session_id
    repository("add", "area.py")
    found = rows(tacho, repository, "area.py")
    assert [(row["session_id"], row["commit"], row["how"]) for row in found] == [(session_id, None, ["line"])] * 2


# -- what the neighbours got wrong --------------------------------------------------------------------------------------------


def test_only_the_first_trailer_read(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    """Entire#321, #451, PR 612: of a squash of several sessions one trailer was read. Here each line is given to its own of all."""
    repository("checkout", "-q", "-b", "work")
    ids = []
    for name, text in (("area.py", ONE), ("volume.py", TWO)):
        with Agent(tacho, repository, tmp_path) as agent:
            agent("write", name, text)
            agent("git", "add", "-A")
            agent("git", "commit", "-q", "-m", name)
            ids.append(agent.session_id)
    repository("checkout", "-q", "main")
    repository("merge", "-q", "--squash", "work")
    repository("-c", "core.hooksPath=/nonexistent", "commit", "-q", "--no-edit")  # as a server does
    assert "    Agent-Session: " in repository.message()
    for name, session_id in zip(("area.py", "volume.py"), ids, strict=True):
        assert {(row["session_id"], row["confidence"], row["how"][0]) for row in rows(tacho, repository, name)} == {
            (session_id, "high", "trailer")
        }


def test_wrong_commit(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    """git-ai#1599: after an amend the attribution hung at the commit that was no more. The record's commit is found by its patch."""
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
        session_id = agent.session_id
    old = repository("rev-parse", "HEAD")
    repository("-c", "core.hooksPath=/nonexistent", "commit", "-q", "--amend", "-m", "said better")
    assert repository("rev-parse", "HEAD") != old
    assert {(row["session_id"], tuple(row["how"])) for row in rows(tacho, repository, "area.py")} == {(session_id, ("tree", "line"))}
    repository("checkout", "-q", "-b", "other", "HEAD^")
    repository.commit("meanwhile", other_md="Something else.\n")
    repository("-c", "core.hooksPath=/nonexistent", "cherry-pick", "main")
    assert {(row["session_id"], tuple(row["how"])) for row in rows(tacho, repository, "area.py")} == {(session_id, ("patch", "line"))}


def test_formatter_drift(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    """Agent Trace#25: a formatter's commit took all lines. Here the lines stay whose they were, split or joined."""
    long = "def surface(width, height, depth):\n    return {'front': width * height, 'side': height * depth, 'top': depth * width, 'kind': 'surface'}\n"
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", long)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
        session_id = agent.session_id
    subprocess.run(
        [sys.executable, "-m", "ruff", "format", "-q", "--isolated", "--line-length", "60", "area.py"], cwd=repository.folder, check=True
    )
    repository("commit", "-q", "-am", "formatted")
    found = rows(tacho, repository, "area.py")
    assert len(found) > 5
    assert {row["session_id"] for row in found} == {session_id}


def test_notes_lead_to_the_session_where_messages_were_left_alone(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    assert tacho("install-hooks", "--notes", "--no-trailers", cwd=repository.folder).returncode == 0
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
        session_id = agent.session_id
    assert {(row["session_id"], row["how"][0]) for row in rows(tacho, repository, "area.py")} == {(session_id, "note")}


def test_a_session_that_is_not_in_this_store_is_named_all_the_same(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
        session_id = agent.session_id
    other = Tacho(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    assert other("record", "--", "true").returncode == 0
    found = rows(other, repository, "area.py")
    assert {(row["session_id"], row["confidence"], row["how"][0]) for row in found} == {(session_id, "medium", "trailer")}


@pytest.mark.parametrize(
    ("what", "says"),
    [("nowhere.py", "cannot blame nowhere.py"), ("README.md:9", "has 1 lines, and no line 9"), ("README.md:3-1", "end before they begin")],
)
def test_what_is_not_there_is_said_in_a_line(tacho: Tacho, repository: Repository, what: str, says: str) -> None:
    assert tacho("record", "--", "true").returncode == 0
    done = tacho("blame", what, cwd=repository.folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_outside_of_a_repository(tacho: Tacho, tmp_path: Path) -> None:
    assert tacho("record", "--", "true").returncode == 0
    assert "no git repository" in tacho("blame", "x.py", cwd=tmp_path).stderr


def test_a_forged_trailer_makes_nothing_sure(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    with Agent(tacho, repository, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
        session_id = agent.session_id
    forged = f"mine\n\nAgent-Session: {session_id}\nAgent-Seal: {session_id} 9:{'0' * 64}\n"
    repository.write("own.py", "def perimeter_by_hand(width, height):\n    return 2 * (width + height)\n")
    repository("add", "-A")
    repository("commit", "-q", "-m", forged)
    found = rows(tacho, repository, "own.py")
    assert {row["confidence"] for row in found} == {"low"}
    assert all("does not have the line" in row["why"] for row in found)
