"""``tacho install-hooks``: a commit names the sessions that it came from, and never fails or waits because of us."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_helpers import Agent, Repository

from cli_helpers import Tacho
from tachograph.core import trailers
from tachograph.links import commit_hook

ONE = "def area_of(width, height):\n    return width * height  # of a rectangle\n"
TWO = "def volume_of(width, height, depth):\n    return area_of(width, height) * depth\n"


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "shop")
    found.commit("first", README_md="A shop.\n")
    return found


@pytest.fixture
def hooked(repository: Repository, tacho: Tacho) -> Repository:
    done = tacho("install-hooks", cwd=repository.folder)
    assert (done.returncode, done.stderr) == (0, "")
    return repository


@pytest.fixture
def agent(tacho: Tacho, hooked: Repository, tmp_path: Path) -> Iterator[Agent]:
    with Agent(tacho, hooked, tmp_path) as found:
        yield found


def named(repository: Repository, rev: str = "HEAD") -> list[str]:
    return [one.session_id for one in trailers.find(repository.message(rev))]


def parsed(repository: Repository) -> list[str]:
    """The sessions that git itself finds."""
    return repository("log", "-1", f"--format=%(trailers:key={trailers.SESSION},valueonly)").split()


def test_a_commit_of_a_recorded_agent_has_its_session_and_a_seal_that_verifies(tacho: Tacho, hooked: Repository, agent: Agent) -> None:
    agent("write", "area.py", ONE)
    agent("git", "add", "-A")
    agent("git", "commit", "-q", "-m", "area")
    session_id = agent.end()
    (found,) = trailers.find(hooked.message())
    assert (found.session_id, parsed(hooked)) == (session_id, [session_id])
    assert tacho("verify", session_id, "--seal", f"{found.size}:{found.root}").returncode == 0
    assert tacho("verify", session_id, "--seal", f"{found.size}:{'0' * 64}").returncode == 1
    (event,) = [line for line in tacho("cat", session_id).lines() if line["type"] == "git"]
    assert (event["action"], event["sha"], event["cause"]) == ("commit", hooked("rev-parse", "HEAD"), "made")
    assert event["detail"]["tree"] == hooked("rev-parse", "HEAD^{tree}")
    assert (event["detail"]["paths"], event["detail"]["parents"]) == (["area.py"], [hooked("rev-parse", "HEAD^")])
    assert tacho("verify", "--all").returncode == 0
    assert "git commit" in tacho("show", session_id).stdout


def test_nothing_is_said_where_nobody_records(hooked: Repository) -> None:
    hooked.commit("by hand", a_py=ONE)
    assert hooked.message() == "by hand"


def test_a_person_who_commits_while_a_session_is_recorded_is_a_person(hooked: Repository, agent: Agent) -> None:
    agent("write", "area.py", ONE)
    hooked.write("mine.py", "def by_hand(first, second):\n    return first or second\n")
    hooked("add", "mine.py")
    hooked("commit", "-q", "-m", "mine")
    assert hooked.message() == "mine"
    hooked("add", "area.py")
    hooked("commit", "-q", "-m", "the agent's")
    assert named(hooked) == [agent.session_id]


def test_spurious_links_of_concurrent_sessions(tacho: Tacho, hooked: Repository, tmp_path: Path) -> None:
    """Entire and git-ai: with two sessions in one repository each commit was tied to both, or to the one that began last."""
    with Agent(tacho, hooked, tmp_path) as first, Agent(tacho, hooked, tmp_path) as second:
        first("write", "area.py", ONE)
        second("write", "volume.py", TWO)
        first("look", "area.py")  # and so sees what the other one has written
        second("git", "add", "volume.py")
        second("git", "commit", "-q", "-m", "volume")
        assert named(hooked) == [second.session_id]
        first("git", "add", "area.py")
        first("git", "commit", "-q", "-m", "area")
        assert named(hooked) == [first.session_id]
        first("write", "area.py", ONE + "\n\nSQUARE = area_of(width=2, height=2)\n")
        second("write", "volume.py", TWO + "\n\nCUBE = volume_of(width=2, height=2, depth=2)\n")
        hooked("commit", "-q", "-m", "one of them", "area.py")
        assert named(hooked) == [first.session_id]
        hooked("commit", "-q", "-am", "the other")
        assert named(hooked) == [second.session_id]
        first("write", "area.py", ONE)
        second(
            "write", "new.py", "def surface_of(width, height, depth):\n    return 2 * (width * height + height * depth + depth * width)\n"
        )
        first("write", "again.py", "PERIMETER = 2 * (WIDTH + HEIGHT)\nDIAGONAL = hypot(WIDTH, HEIGHT)\n")
        hooked("add", "-A")
        hooked("commit", "-q", "-m", "of both")
        assert sorted(named(hooked)) == sorted(parsed(hooked)) == sorted([first.session_id, second.session_id])
        ids = first.session_id, second.session_id
    for session_id, made in zip(ids, ("area", "volume"), strict=True):
        lines = [line for line in tacho("cat", session_id).lines() if line["type"] == "git" and line.get("cause") == "made"]
        assert [hooked.message(line["sha"]).split("\n")[0] for line in lines] == [made]
    assert tacho("verify", "--all").returncode == 0


def test_an_agent_that_scrubs_its_environment_is_found_by_its_processes(hooked: Repository, agent: Agent) -> None:
    agent("write", "area.py", ONE)
    agent("git", "add", "-A")
    agent("env", "-i", f"PATH={os.environ['PATH']}", "HOME=/nowhere", "git", "commit", "-q", "-m", "area")
    assert named(hooked) == [agent.session_id]


def test_a_linked_worktree_is_the_same_repository(hooked: Repository, agent: Agent, tacho: Tacho) -> None:
    agent("git", "worktree", "add", "-q", "../other", "-b", "side")
    agent("write", "../other/area.py", ONE)
    agent("git", "-C", "../other", "add", "-A")
    agent("git", "-C", "../other", "commit", "-q", "-m", "on the side")
    assert named(hooked, "side") == [agent.session_id]
    session_id = agent.end()
    told = [line for line in tacho("cat", session_id).lines() if line["type"] == "git" and line["action"] == "commit"]
    assert [(line["branch"], line["sha"]) for line in told] == [("side", hooked("rev-parse", "side"))]


def test_commits_checkouts_and_resets_that_a_session_causes_are_in_its_record(tacho: Tacho, hooked: Repository, agent: Agent) -> None:
    agent("git", "checkout", "-q", "-b", "work")
    agent("git", "commit", "-q", "--allow-empty", "-m", "nothing yet")
    agent("git", "reset", "-q", "--hard", "HEAD^")
    agent("git", "checkout", "-q", "main")
    session_id = agent.end()
    told = [(line["action"], line["branch"], line["cause"]) for line in tacho("cat", session_id).lines() if line["type"] == "git"]
    assert told == [("checkout", "work", "call"), ("commit", "work", "made"), ("reset", "work", "call"), ("checkout", "main", "call")]


# -- rewriting ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tacho: Tacho, hooked: Repository, tmp_path: Path) -> list[str]:
    """A branch with two commits of two sessions; nobody records any more."""
    hooked("checkout", "-q", "-b", "work")
    found = []
    for name, text in (("area.py", ONE), ("volume.py", TWO)):
        with Agent(tacho, hooked, tmp_path) as agent:
            agent("write", name, text)
            agent("git", "add", "-A")
            agent("git", "commit", "-q", "-m", name)
            found.append(agent.session_id)
    return found


def test_lost_on_squash(hooked: Repository, written: list[str]) -> None:
    """git-ai#1079, git-ai#1599: a squash lost the attribution. Here both ways of writing its message keep it."""
    hooked("checkout", "-q", "main")
    hooked("merge", "-q", "--squash", "work")
    hooked("commit", "-q", "--no-edit")
    assert parsed(hooked) == written
    hooked("reset", "-q", "--hard", "HEAD^")
    hooked("merge", "-q", "--squash", "work")
    hooked("commit", "-q", "-m", "Shapes, in my own words")
    assert parsed(hooked) == written
    assert hooked.message().startswith("Shapes, in my own words\n\n")


@pytest.mark.parametrize("verb", ["squash", "fixup"])
def test_lost_on_rebase(hooked: Repository, written: list[str], verb: str) -> None:
    """git-ai#1079: the same in an interactive rebase; ``fixup`` drops the message and its trailers."""
    hooked("rebase", "-q", "-i", "HEAD~2", GIT_SEQUENCE_EDITOR=f"sed -i '2s/^pick/{verb}/'")
    assert hooked("rev-list", "--count", "main..") == "1"
    assert sorted(parsed(hooked)) == sorted(written)


def test_an_amended_message_keeps_the_session(hooked: Repository, written: list[str]) -> None:
    hooked("commit", "-q", "--amend", "-m", "said better")
    assert (hooked.message().split("\n")[0], parsed(hooked)) == ("said better", written[1:])
    hooked("commit", "-q", "--amend", "--no-edit")
    assert parsed(hooked) == written[1:]


def test_an_agent_that_rebases_does_not_take_the_commits_of_others(tacho: Tacho, hooked: Repository, tmp_path: Path) -> None:
    hooked("checkout", "-q", "-b", "work")
    hooked.commit("by hand", mine_py="def by_hand(first, second):\n    return first or second\n")
    hooked("checkout", "-q", "main")
    hooked.commit("meanwhile", other_md="Something else altogether.\n")
    hooked("checkout", "-q", "work")
    with Agent(tacho, hooked, tmp_path) as agent:
        agent("git", "rebase", "-q", "main")
        agent("git", "checkout", "-q", "-b", "picked", "main")
        agent("git", "cherry-pick", "work")
    assert hooked("log", "-1", "--format=%s%n%b", "work") == hooked("log", "-1", "--format=%s%n%b", "picked") == "by hand"


# -- never in the way ---------------------------------------------------------------------------------------------------------


def test_the_hook_that_was_there_runs_first_and_may_refuse(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    hook = repository.folder / ".git/hooks/prepare-commit-msg"
    hook.write_text('#!/bin/sh\n[ -e refuse ] && exit 3\nprintf "seen: %s\\n" "$2" >> "$1"\n')
    hook.chmod(0o755)
    before = hook.read_bytes()
    for _ in range(2):  # once more is once
        done = tacho("install-hooks", cwd=repository.folder)
        assert "runs what was there before first" in done.stdout
    with Agent(tacho, repository, tmp_path) as agent:
        agent("git", "commit", "-q", "--allow-empty", "-m", "both")
        session_id = agent.session_id
    assert "seen: message" in repository.message()
    assert named(repository) == [session_id]
    (repository.folder / "refuse").touch()
    assert repository.run("commit", "-q", "--allow-empty", "-m", "no").returncode == 1
    (repository.folder / "refuse").unlink()
    assert tacho("install-hooks", "--remove", cwd=repository.folder).returncode == 0
    assert hook.read_bytes() == before
    assert not (repository.folder / ".git/tachograph").exists()
    assert sorted(path.name for path in hook.parent.iterdir() if not path.name.endswith(".sample")) == ["prepare-commit-msg"]


def test_core_hooks_path_is_honoured(tacho: Tacho, repository: Repository, tmp_path: Path) -> None:
    repository("config", "core.hooksPath", "tools/hooks")
    done = tacho("install-hooks", cwd=repository.folder)
    assert "do not commit these files" in done.stderr
    assert (repository.folder / "tools/hooks/prepare-commit-msg").exists()
    assert not (repository.folder / ".git/hooks/prepare-commit-msg").exists()
    with Agent(tacho, repository, tmp_path) as agent:
        agent("git", "commit", "-q", "--allow-empty", "-m", "found")
        assert named(repository) == [agent.session_id]


def test_what_is_left_of_a_dead_launcher_says_nothing_and_goes(hooked: Repository, tmp_path: Path) -> None:
    mark = hooked.folder / ".git/tachograph/recording/ses_01J00000000000000000000000"
    mark.write_text('{"v":1,"session":"ses_01J00000000000000000000000","socket":"/nowhere","token":"x","pid":1,"started":"0"}')
    hooked.commit("by hand", a_py=ONE)
    assert hooked.message() == "by hand"
    assert not mark.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"v":1}', "\0" * 100])
def test_a_commit_does_not_fail_because_of_nonsense(hooked: Repository, content: str) -> None:
    (hooked.folder / ".git/tachograph/recording/ses_01J00000000000000000000000").write_text(content)
    hooked.commit("by hand", a_py=ONE)
    assert hooked.message() == "by hand"


def test_a_recorder_that_does_not_answer_is_not_waited_for(hooked: Repository, tmp_path: Path) -> None:
    place = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.bind(place)
        end.listen(1)
        session_id = "ses_01J00000000000000000000000"
        hooked.write("a.py", ONE)
        hooked("add", "-A")
        hooked(
            "commit", "-q", "-m", "patient", TACHO_RECORDING=f"{session_id} {place}", TACHO_TOKEN="t", TACHO_MODE="record"
        )  # it is said who made it, without a seal
    assert named(hooked) == [session_id]
    assert trailers.SEAL not in hooked.message()


def test_python_that_is_gone_is_not_missed(tacho: Tacho, hooked: Repository, tmp_path: Path) -> None:
    hook = hooked.folder / ".git/hooks/prepare-commit-msg"
    hook.write_text(re.sub(r"\[ -x \S+ \]", "[ -x /nowhere/python ]", hook.read_text()))
    with Agent(tacho, hooked, tmp_path) as agent:
        agent("git", "commit", "-q", "--allow-empty", "-m", "still")
    assert hooked.message() == "still"


def test_a_message_that_was_left_empty_still_ends_the_commit(hooked: Repository, agent: Agent, tmp_path: Path) -> None:
    agent("write", "area.py", ONE)
    hooked("add", "-A")
    assert hooked.run("commit", "-q", GIT_EDITOR="true").returncode == 1
    hooked("commit", "-q", GIT_EDITOR="sh -c 'echo typed > \"$1\"' -")
    assert hooked.message().split("\n")[0] == "typed"
    assert named(hooked) == [agent.session_id]


def test_pushes_that_stall(hooked: Repository, written: list[str], tmp_path: Path) -> None:
    """git-ai#2099: a push waited for the tool's own. We have no hook that a push runs, and nothing of ours goes along."""
    hooks = {path.name for path in (hooked.folder / ".git/hooks").iterdir() if not path.name.endswith(".sample")}
    assert hooks == {"prepare-commit-msg", "commit-msg"}
    bare = tmp_path / "bare"
    hooked("init", "-q", "--bare", str(bare))
    hooked("push", "-q", str(bare), "work")
    refs = Repository.run(hooked, "--git-dir", str(bare), "for-each-ref", "--format=%(refname)").stdout.split()
    assert refs == ["refs/heads/work"]


def test_transcripts_made_public(hooked: Repository, written: list[str]) -> None:
    """Entire#340: transcripts were pushed with the code. No object of the repository holds anything of a session but its name and seal."""
    objects = [line.split()[0] for line in hooked("rev-list", "--objects", "--all").splitlines()]
    kinds = {hooked("cat-file", "-t", name) for name in objects}
    assert kinds == {"commit", "tree", "blob"}
    names = {line.split(" ", 1)[1] for line in hooked("rev-list", "--objects", "--all").splitlines() if " " in line} - {""}
    assert names == {"README.md", "area.py", "volume.py"}
    assert list((hooked.folder / ".git/tachograph").rglob("ses_*")) == []
    assert "tachograph" not in hooked("status", "--short", "--ignored")


def test_the_mark_is_for_its_user_alone_and_holds_nothing_of_the_session(hooked: Repository, agent: Agent) -> None:
    (mark,) = (hooked.folder / ".git/tachograph/recording").iterdir()
    assert stat.S_IMODE(mark.stat().st_mode) == 0o600
    assert mark.name == agent.session_id
    agent.end()
    assert not mark.exists()


# -- notes --------------------------------------------------------------------------------------------------------------------


def test_notes_follow_what_git_rewrites(tacho: Tacho, hooked: Repository, tmp_path: Path) -> None:
    assert tacho("install-hooks", "--notes", "--no-trailers", cwd=hooked.folder).returncode == 0
    with Agent(tacho, hooked, tmp_path) as agent:
        agent("write", "area.py", ONE)
        agent("git", "add", "-A")
        agent("git", "commit", "-q", "-m", "area")
        session_id = agent.session_id
    assert hooked.message() == "area"

    def noted() -> list[str]:
        return [one.session_id for one in trailers.find(hooked("notes", "--ref=refs/notes/tachograph", "show", "HEAD"))]

    assert noted() == [session_id]
    hooked("commit", "-q", "--amend", "-m", "said better")
    assert noted() == [session_id]
    hooked("checkout", "-q", "-b", "other", "HEAD^")
    hooked.commit("meanwhile", other_md="Something else.\n")
    hooked("checkout", "-q", "main")
    hooked("rebase", "-q", "other")
    assert noted() == [session_id]
    assert "+refs/notes/tachograph:refs/notes/tachograph" in hooked("config", "--get-all", "remote.origin.fetch")


def test_where_there_is_no_repository(tacho: Tacho, tmp_path: Path) -> None:
    done = tacho("install-hooks", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no git repository here, ")
    assert tacho("install-hooks", "--no-trailers", cwd=tmp_path).returncode == 2


def test_what_a_commit_waits_for_is_small() -> None:
    """Most of what the hook takes is what it imports."""
    source = Path(commit_hook.__file__).parents[2]
    start = f"import sys; sys.path.append({str(source)!r}); from tachograph.links import commit_hook; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", start], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "tachograph.links.commit_hook" in loaded
    assert loaded.isdisjoint({"typing", "socket", "selectors", "subprocess", "contextlib", "hashlib", "dataclasses", "pathlib"})
