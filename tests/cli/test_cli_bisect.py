"""``tacho bisect``: real replays of an agent whose code changes from commit to commit."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_helpers import Tacho

AGENT = """
import tachograph
from pathlib import Path

HERE = Path(__file__).parent

@tachograph.tool
def look(what):
    return "seen " + what

look((HERE / "prompt.txt").read_text())
print(Path("notes.txt").read_text())
"""


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
    return subprocess.run(["git", "-C", str(folder), *settings, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, what: str, **files: str) -> str:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", what)
    return git(folder, "rev-parse", "HEAD")


def state(folder: Path) -> dict[str, str]:
    """Every file of a repository, its own ones included: index, HEAD, refs, stash, working tree."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all temporary folders of the search are."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "the agent", agent_py=AGENT, prompt_txt="be kind", notes_txt="as committed")
    return folder


def record(tacho: Tacho, cwd: Path, script: str = "agent.py") -> None:
    done = tacho("record", "--", sys.executable, script, cwd=cwd)
    assert done.returncode == 0, done.stderr


def test_64_commits_of_which_one_changed_a_prompt(tacho: Tacho, repository: Path, temporary: Path) -> None:
    record(tacho, repository)
    good = git(repository, "rev-parse", "HEAD")
    shas = []
    for number in range(64):
        more = {"prompt_txt": "be quick"} if number == 22 else {}
        shas.append(commit(repository, f"change {number}", other_py=f"x = {number}\n", **more))
    (repository / "staged.txt").write_text("staged")
    git(repository, "add", "staged.txt")
    (repository / "prompt.txt").write_text("to be stashed")
    git(repository, "stash", "push", "-q", "prompt.txt")
    (repository / "agent.py").write_text("not even Python")
    before = state(repository)
    done = tacho("bisect", "@last", "--good", good, "--bad", "HEAD", "--json", cwd=repository, timeout=300)
    assert done.returncode == 0, done.stderr
    found = done.json()
    assert found["culprit"]["sha"] == shas[22]
    assert found["culprit"]["subject"] == "change 22"
    assert found["replays"] <= 7
    assert (found["divergence"]["expected"], found["divergence"]["actual"]) == ("be kind", "be quick")
    assert state(repository) == before
    assert list(temporary.iterdir()) == []


def test_commits_that_do_not_start_and_the_words_for_people(tacho: Tacho, repository: Path) -> None:
    record(tacho, repository)
    good = git(repository, "rev-parse", "HEAD")
    commit(repository, "broken", agent_py="import no_such_module\n" + AGENT)
    commit(repository, "gone", agent_py=AGENT)
    git(repository, "rm", "-q", "agent.py")
    commit(repository, "removed")
    culprit = commit(repository, "back, and otherwise", agent_py=AGENT.replace('"seen " + what', "what").replace("look((", 'look("x" + ('))
    commit(repository, "later", notes_txt="changed")
    done = tacho("bisect", "@last", "--good", good, "--bad", "HEAD", cwd=repository, timeout=300)
    assert done.returncode == 1, done.stderr  # nobody can say whether it was "removed" already
    assert culprit in done.stdout
    assert "cannot tell, the agent ended with exit code" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_that_were_not_committed_and_data_stay_as_recorded(tacho: Tacho, repository: Path) -> None:
    (repository / "notes.txt").write_text("as edited")
    record(tacho, repository)
    git(repository, "checkout", "-q", "notes.txt")
    good = git(repository, "rev-parse", "HEAD")
    commit(repository, "other notes", notes_txt="other")
    commit(repository, "a prompt", prompt_txt="be quick")
    bad = commit(repository, "new code", agent_py=AGENT + "look('more')\n")
    done = tacho("bisect", "@last", "--good", good, "--bad", bad, "--data", "prompt.txt", "--json", cwd=repository, timeout=300)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.json()["culprit"]["sha"] == bad


def test_a_module_that_is_new_in_a_commit_is_there(tacho: Tacho, repository: Path) -> None:
    record(tacho, repository)
    good = git(repository, "rev-parse", "HEAD")
    commit(repository, "split", agent_py=AGENT.replace("import tachograph", "import tachograph, helper", 1), helper_py="x = 1\n")
    bad = commit(repository, "more", agent_py=AGENT + "look('more')\n")
    git(repository, "rm", "-q", "helper.py")
    commit(repository, "no helper")
    done = tacho("bisect", "@last", "--good", good, "--bad", "HEAD", "--json", cwd=repository, timeout=300)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.json()["culprit"]["sha"] == bad
    assert {each["result"] for each in done.json()["log"]} == {"replays", "differs"}


@pytest.mark.parametrize("layout", ["elsewhere", "inside"])
def test_code_in_another_repository_than_the_workspace(tacho: Tacho, repository: Path, tmp_path: Path, layout: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    if layout == "inside":
        repository = repository.rename(work / "agent")
    (work / "notes.txt").write_text("as recorded")
    record(tacho, work, str(repository / "agent.py"))
    (work / "notes.txt").write_text("changed since")
    good = git(repository, "rev-parse", "HEAD")
    commit(repository, "nothing", other_py="x = 1")
    bad = commit(repository, "a prompt", prompt_txt="be quick")
    commit(repository, "more", other_py="x = 2")
    before = state(work) | state(repository)
    done = tacho("bisect", "@last", "--good", good, "--bad", "HEAD", "--json", cwd=tmp_path, timeout=300)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.json()["culprit"]["sha"] == bad
    assert state(work) | state(repository) == before


def test_where_it_starts_replaying(tacho: Tacho, repository: Path) -> None:
    old = git(repository, "rev-parse", "HEAD")
    commit(repository, "a prompt", prompt_txt="be quick")
    new = commit(repository, "nothing", other_py="x = 1")
    record(tacho, repository)
    done = tacho("bisect", "@last", "--good", new, "--bad", old, cwd=repository, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "replays again from this commit on" in done.stdout
    assert "a prompt" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_search_leaves_everything_as_it_was(
    tacho: Tacho, repository: Path, tmp_path: Path, temporary: Path, number: int
) -> None:
    record(tacho, repository)
    good = git(repository, "rev-parse", "HEAD")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    commit(repository, "waits", agent_py=AGENT + f"open({str(pipe)!r}).read()\nimport time; time.sleep(60)\n")
    commit(repository, "end")
    (repository / "staged.txt").write_text("staged")
    git(repository, "add", "staged.txt")
    before = state(repository)
    search = subprocess.Popen(
        [sys.executable, "-m", "tachograph.cli.app", "bisect", "@last", "--good", good, "--bad", "HEAD"], cwd=repository,
        env={**os.environ, **tacho.settings}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    with open(pipe, "w"):  # until the agent has come that far
        pass
    (os.killpg if number == signal.SIGINT else os.kill)(search.pid, number)  # the keyboard's goes to all of them
    _, said = search.communicate(timeout=60)
    assert search.returncode in (130, 143), said
    assert b"does not replay" not in said
    assert state(repository) == before
    until = time.monotonic() + 30
    while list(temporary.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)  # the pool of the killed agent's host goes a moment later
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--good", "HEAD", "--bad", "HEAD"], "same commit"), (["--good", "nothing", "--bad", "HEAD"], "no commit nothing"),
        (["--good", "HEAD", "--bad", "HEAD", "--repo", "/"], "no git repository"),
        (["--good", "HEAD", "--bad", "HEAD", "--data", "../x"], "is not in"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said_in_a_line(tacho: Tacho, repository: Path, arguments: list[str], said: str) -> None:
    record(tacho, repository)
    done = tacho("bisect", "@last", *arguments, cwd=repository)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.dumps(done.stdout) == '""'


def test_a_plain_replay_finds_a_module_that_was_split_off_since(tacho: Tacho, repository: Path) -> None:
    record(tacho, repository)
    commit(repository, "split", agent_py=AGENT.replace("import tachograph", "import tachograph, helper", 1), helper_py="x = 1\n")
    done = tacho("replay", "@last", cwd=repository)
    assert done.returncode == 0, done.stderr
