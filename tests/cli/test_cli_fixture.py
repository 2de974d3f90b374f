"""``tacho fixture``: what it writes replays on another machine, without the store and its keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done, Tacho

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AGENT = """
import os, sys, tachograph
sys.path.insert(0, "lib")
import helper

@tachograph.tool
def look(what, where, extra):
    return "seen " + what

@tachograph.tool
def write(text):
    with open("out.txt", "w") as file:
        file.write(text)

look(open("prompt.txt").read(), os.getcwd(), os.environ.get("SERVICE_TOKEN", "") + " " + helper.WORD)
write("done")
print(open("out.txt").read(), os.getcwd())
"""


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(folder), *settings, *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "project"
    (folder / "lib").mkdir(parents=True)
    (folder / "agent.py").write_text(AGENT)
    (folder / "lib" / "helper.py").write_text(f"WORD = {SECRET!r}\n")
    (folder / "prompt.txt").write_text("be kind")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def made(tacho: Tacho, repository: Path, **env: str) -> Path:
    recorded = tacho("record", "--name", "an incident", "--", sys.executable, "agent.py", cwd=repository, env={**os.environ, **env})
    assert recorded.returncode == 0, recorded.stderr
    done = tacho("fixture", "@last", "-o", "tests/incidents/inc-7", "--json", cwd=repository)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.json()["replay"] == "identical"
    return repository / "tests" / "incidents" / "inc-7"


def run(folder: Path, **env: str) -> Done:
    """pytest on it, as another user on another machine: no store, no key, no settings of ours."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TACHO_")}
    environment |= {"HOME": str(folder.parents[2]), "PYTHONPATH": str(Path(__file__).parents[2] / "src"), **env}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)], cwd=folder.parents[2], env=environment, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def moved(tmp_path: Path, repository: Path) -> Path:
    """A shallow clone at another place, with nothing of the old one left."""
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "the fixture")
    git(repository, "commit", "-q", "--allow-empty", "-m", "later")
    there = tmp_path / "ci"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository}", str(there)], check=True)
    shutil.rmtree(tmp_path / "home")
    shutil.rmtree(tmp_path / "store")
    (tmp_path / "key.json").unlink()
    return there / "tests" / "incidents" / "inc-7"


def test_it_replays_in_a_shallow_clone_elsewhere_without_store_and_key(tacho: Tacho, repository: Path, tmp_path: Path) -> None:
    (repository / "prompt.txt").write_text("be kind, uncommitted")
    made(tacho, repository, SERVICE_TOKEN="tok" + "en-4f7a9c2e8b1d6053")
    git(repository, "checkout", "-q", "prompt.txt")
    (repository / "prompt.txt").write_text("changed since")
    folder = moved(tmp_path, repository)
    done = run(folder)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "1 passed" in done.stdout
    assert git(folder, "status", "--porcelain", "--", ":!*__pycache__*") == ""


def test_a_failure_says_what_differs_and_nothing_of_our_own_code(tacho: Tacho, repository: Path, tmp_path: Path) -> None:
    made(tacho, repository)
    (repository / "agent.py").write_text(AGENT.replace('open("prompt.txt").read()', "'be quick'"))
    done = run(moved(tmp_path, repository))
    assert done.returncode == 1
    assert "recorded: be kind" in done.stdout
    assert "now:      be quick" in done.stdout
    assert "Traceback" not in done.stdout
    assert "tachograph/testing" not in done.stdout


def test_no_secret_and_no_key_of_the_store_is_in_it(tacho: Tacho, repository: Path) -> None:
    folder = made(tacho, repository, SERVICE_TOKEN=SECRET)
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert SECRET.encode() not in held
    key = json.loads(Path(tacho.settings["TACHO_KEY"]).read_bytes())
    for value in (key["kek"], key["seed"]):
        assert value.encode() not in held
    from tachograph.host.fixture import Fixture

    found = Fixture(str(folder))
    assert SECRET not in json.dumps(list(found.recording().expanded()), default=repr)
    assert SECRET not in json.dumps(found.here({"root": str(repository), "files": {}}).base, default=repr)


def test_it_is_the_recording_and_its_seal_holds(tacho: Tacho, repository: Path) -> None:
    folder = made(tacho, repository)
    about = json.loads((folder / "fixture.json").read_bytes())
    original = tacho("verify", "@last", "--json").json()
    assert about["session_id"] == original["session_id"]
    assert (about["provenance"]["size"], about["provenance"]["root"]) == (original["events"], original["root"])
    for path in (folder / "session").iterdir():
        assert path.read_bytes() == (tacho.store / "sessions" / about["session_id"] / path.name).read_bytes()


@pytest.mark.parametrize("what", ["lines", "content", "seal", "cut", "root"])
def test_a_fixture_that_was_changed_is_refused(tacho: Tacho, repository: Path, what: str) -> None:
    folder = made(tacho, repository)
    if what == "root":
        about = json.loads((folder / "fixture.json").read_bytes())
        about["provenance"]["root"] = "00" * 32
        (folder / "fixture.json").write_text(json.dumps(about))
    else:
        name = {"lines": "events.jsonl", "content": "content.pack", "seal": "seals", "cut": "events.jsonl"}[what]
        path = next((folder / "session").glob(f"*.{name}"))
        data = bytearray(path.read_bytes())
        if what == "cut":
            data = data[: data.rindex(b"\n", 0, -1) + 1]
        else:
            data[len(data) // 2] ^= 1
        path.write_bytes(data)
    done = run(folder)
    assert done.returncode == 1
    assert "is not what was recorded" in done.stdout + done.stderr


def test_in_another_repository_it_brings_the_agents_code(tacho: Tacho, repository: Path, tmp_path: Path) -> None:
    assert tacho("record", "--", sys.executable, "agent.py", cwd=repository).returncode == 0
    folder = tmp_path / "other" / "tests" / "incidents" / "inc-7"
    done = tacho("fixture", "@last", "-o", str(folder), "--json", cwd=repository)
    assert done.json()["replay"] == "identical", done.stderr
    shutil.rmtree(repository)
    assert run(folder).returncode == 0


def test_code_beside_a_workspace_without_git(tacho: Tacho, repository: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "lib").mkdir(parents=True)
    (work / "lib" / "helper.py").write_text("WORD = 'word'\n")
    (work / "prompt.txt").write_text("be kind")
    assert tacho("record", "--", sys.executable, str(repository / "agent.py"), cwd=work).returncode == 0
    done = tacho("fixture", "@last", "-o", "tests/incidents/inc-7", "--json", cwd=repository)
    assert done.json()["replay"] == "identical", done.stderr
    shutil.rmtree(work)
    assert run(moved(tmp_path, repository)).returncode == 0


def test_what_the_rules_of_today_mask_is_not_put_into_a_repository(tacho: Tacho, repository: Path, tmp_path: Path) -> None:
    assert tacho("record", "--", sys.executable, "agent.py", cwd=repository).returncode == 0
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[redact.rules.add]]\nid = "mood"\npositive = ["be kind"]\nnegative = ["be good"]\nkind = "mood"\npattern = "be kind"\n'
    )
    done = tacho("fixture", "@last", "-o", "f", "--policy", str(policy), cwd=repository)
    assert done.returncode == 2
    assert "audit-secrets" in done.stderr
    assert not (repository / "f").exists()


@pytest.mark.parametrize(
    "spoilt", [b"", b"{}", b'{"format":"tachograph-fixture","v":1}', b'{"format":"tachograph-fixture","v":2}', b"[1]", b"\xff"]
)
def test_a_folder_that_is_none_is_said_in_a_line(tmp_path: Path, spoilt: bytes) -> None:
    from tachograph.core.errors import TachographError
    from tachograph.host.fixture import Fixture

    with pytest.raises(TachographError, match="tacho fixture"):
        Fixture(str(tmp_path))
    (tmp_path / "fixture.json").write_bytes(spoilt)
    with pytest.raises(TachographError, match=r"fixture\.json"):
        Fixture(str(tmp_path))


def test_a_folder_that_is_used_is_refused(tacho: Tacho, repository: Path) -> None:
    folder = made(tacho, repository)
    again: Any = tacho("fixture", "@last", "-o", str(folder), cwd=repository)
    assert again.returncode == 2
    assert "not empty" in again.stderr
