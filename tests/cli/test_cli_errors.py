"""Bad input gets one clear line and exit code 2; nothing is created, nothing is lost."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from cli_helpers import Done, Tacho

AGENT = "import tachograph\n\n@tachograph.tool(effect='read')\ndef look():\n    return 1\n\nprint(look())\n"


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    (tmp_path / "agent.py").write_text(AGENT)
    return Tacho(tmp_path)


@pytest.fixture
def recorded(tacho: Tacho, tmp_path: Path) -> Tacho:
    assert tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path).returncode == 0
    return tacho


def refused(done: Done, *words: str, code: int = 2) -> None:
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.mark.parametrize("verb", ["show", "cat", "verify", "replay", "postmortem"])
def test_no_such_session(recorded: Tacho, verb: str) -> None:
    refused(recorded(verb, "ses_01NOSUCH"), "ses_01NOSUCH", "tacho ls")


@pytest.mark.parametrize("verb", ["ls", "show", "cat", "verify", "replay", "postmortem"])
def test_no_store(tacho: Tacho, verb: str) -> None:
    refused(tacho(verb, *([] if verb == "ls" else ["@last"])), "no tachograph store", "--store")
    assert not tacho.store.exists()


def test_a_folder_with_other_things_is_not_turned_into_a_store(tacho: Tacho, tmp_path: Path) -> None:
    tacho.store.mkdir()
    (tacho.store / "holiday.jpg").write_bytes(b"x")
    refused(tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path), "other things in it")
    assert sorted(path.name for path in tacho.store.iterdir()) == ["holiday.jpg"]


@pytest.mark.parametrize(
    "left", [["keys/"], ["keys/store.json"], ["keys/store.json.17-0.new"], ["keys/store.json", "store.json.17-3.new"], []]
)
def test_a_store_whose_maker_was_killed_is_made_by_the_next(tacho: Tacho, tmp_path: Path, left: list[str]) -> None:
    """The id in store.json comes from keys/store.json, so whole files are those of a store that was made and then lost its last file."""
    (tmp_path / "agent.py").write_text("print('hello')\n")
    assert tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path).returncode == 0
    whole = (tacho.store / "keys/store.json").read_bytes()
    shutil.rmtree(tacho.store)
    (tacho.store / "keys").mkdir(parents=True)
    for name in left:
        if not name.endswith("/"):
            (tacho.store / name).write_bytes(whole if name.endswith("json") else whole[:40])
    assert tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path).returncode == 0
    assert tacho("verify", "--all").returncode == 0


@pytest.mark.parametrize("other", ["keys/holiday.jpg", "store.json.bak", "keys.txt", "keys/store.json.17-0.new.jpg"])
def test_a_folder_with_one_other_thing_is_not_turned_into_a_store(tacho: Tacho, tmp_path: Path, other: str) -> None:
    (tacho.store / "keys").mkdir(parents=True)
    (tacho.store / other).write_bytes(b"x")
    refused(tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path), "other things in it")


def test_a_store_that_is_a_file(tacho: Tacho) -> None:
    tacho.store.write_text("x")
    refused(tacho("ls"), "not a folder")


def test_a_store_of_another_kind(tacho: Tacho) -> None:
    refused(tacho("ls", "--store", "gs://bucket/prefix"), "gs://bucket/prefix", "s3://BUCKET/PREFIX")
    refused(tacho("ls", "--store", "s3://bucket/prefix?wrong=1"), "unknown parameter 'wrong'", "retention")


@pytest.mark.parametrize("command", [["no-such-program-at-all"], ["./no-such-file"], ["."]])
def test_a_command_that_does_not_exist(tacho: Tacho, tmp_path: Path, command: list[str]) -> None:
    refused(tacho("record", "--", *command, cwd=tmp_path), command[0])
    assert not tacho.store.exists()


def test_a_command_that_is_not_executable(tacho: Tacho, tmp_path: Path) -> None:
    refused(tacho("record", "--", "./agent.py", cwd=tmp_path), "not executable")


def test_no_command(tacho: Tacho) -> None:
    refused(tacho("record"), "after --")


@pytest.mark.parametrize(
    "arguments", [["frobnicate"], ["ls", "--frobnicate"], ["show"], ["record", "--on-host-loss", "perhaps", "--", "true"]]
)
def test_unknown_verbs_and_options(tacho: Tacho, arguments: list[str]) -> None:
    refused(tacho(*arguments), "--help")


def test_a_link_of_no_kind(tacho: Tacho) -> None:
    refused(tacho("record", "--link", "cousin=7", "--", "true"), "cousin")


def test_a_wrong_key(recorded: Tacho, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    other = Tacho(stranger)
    assert other("record", "--", "true", cwd=tmp_path).returncode == 0
    done = recorded.run_plain([sys.executable, "-m", "tachograph.cli.app", "show", "@last"], env={**os.environ}, cwd=tmp_path)
    assert done.returncode == 0
    recorded.settings["TACHO_KEY"] = other.settings["TACHO_KEY"]
    refused(recorded("show", "@last"), "wrapped for another key", "TACHO_KEY")


def test_no_key_and_a_broken_key(recorded: Tacho, tmp_path: Path) -> None:
    recorded.settings["TACHO_KEY"] = str(tmp_path / "gone.json")
    refused(recorded("show", "@last"), "no key file", "TACHO_KEY")
    (tmp_path / "gone.json").write_text("not a key")
    refused(recorded("show", "@last"), "not a tachograph key file")
    # The chain and the frames can be checked all the same, and the answer says what could not be.
    done = recorded("verify", "@last")
    assert done.returncode == 0
    assert "content not checked" in done.stdout


@pytest.mark.parametrize("name", ["00000001.events.jsonl", "00000001.content.pack"])
def test_a_damaged_file(recorded: Tacho, name: str) -> None:
    file = next((recorded.store / "sessions").rglob(name))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    refused(recorded("replay", "@last"), "tampered", name)
    refused(recorded("cat", "@last"), "tacho verify")
    done = recorded("verify", "@last")
    assert done.returncode == 1
    assert name in done.stdout
    assert recorded("ls").returncode == 0


def test_a_newer_store(recorded: Tacho) -> None:
    file = recorded.store / "store.json"
    file.write_text(file.read_text().replace('"v": 1', '"v": 99'))
    refused(recorded("ls"), "update tachograph")


def test_a_report_that_cannot_be_written(recorded: Tacho, tmp_path: Path) -> None:
    refused(recorded("postmortem", "@last", "-o", str(tmp_path / "no" / "where.html")), "cannot write")
    refused(recorded("postmortem", "@last", "-o", str(tmp_path / "report.pdf")), ".html")
    refused(recorded("postmortem", "@last", "--replay-report", str(tmp_path / "none.json")), "none.json")


def test_a_step_that_is_not_there(recorded: Tacho) -> None:
    refused(recorded("show", "@last", "--step", "7"), "no step 7")
    refused(recorded("show", "@last", "--step", "0"), "count from 1")


def test_nothing_to_import(tacho: Tacho, tmp_path: Path) -> None:
    refused(tacho("import", str(tmp_path / "none.jsonl")), "no such file")
    (tmp_path / "note.txt").write_text("hello")
    refused(tacho("import", str(tmp_path / "note.txt")), "nothing that this version can import")


def test_an_imported_session_cannot_be_replayed(tacho: Tacho) -> None:
    fixtures = Path(__file__).parent.parent / "exchange" / "fixtures"
    assert tacho("import", str(fixtures)).returncode == 0
    refused(tacho("replay", "@last"), "imported")


def test_a_command_of_which_nothing_was_captured_cannot_be_replayed(tacho: Tacho, tmp_path: Path) -> None:
    done = tacho("record", "--", sys.executable, "-I", "agent.py", cwd=tmp_path)
    assert "no call that a tap knows" in done.stderr
    refused(tacho("replay", "@last"), "nothing to replay")


def test_a_missing_key_is_not_replaced_for_a_store_that_has_one(recorded: Tacho, tmp_path: Path) -> None:
    recorded.settings["TACHO_KEY"] = str(tmp_path / "other.json")
    refused(recorded("record", "--", "true"), "no key file")
    assert not (tmp_path / "other.json").exists()


def test_unverified_replays_what_comes_before_a_break(recorded: Tacho) -> None:
    file = next((recorded.store / "sessions").rglob("00000001.events.jsonl"))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]) + lines[-1].replace(b'"status":"ok"', b'"status":"no"'))
    refused(recorded("replay", "@last"), "--unverified")
    done = recorded("replay", "@last", "--unverified", "--json")
    assert done.json()["tape"] == "unverified"


def test_an_unreadable_store(recorded: Tacho) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    recorded.store.chmod(0)
    refused(recorded("ls"), "check its owner and mode")
    recorded.store.chmod(0o700)


def test_reading_into_a_closed_pipe_is_no_error(recorded: Tacho, tmp_path: Path) -> None:
    if shutil.which("sh") is None:
        pytest.skip("no shell")
    done = recorded.run_plain(["sh", "-c", f"{sys.executable} -m tachograph.cli.app cat @last | head -c 10"], cwd=tmp_path)
    assert done.stderr == ""


@pytest.mark.parametrize("which", ["keys/store.json", "keys/ses_", "store.json"])
def test_a_damaged_key_file_is_no_verified_store(recorded: Tacho, which: str) -> None:
    file = next(path for path in sorted(recorded.store.rglob("*.json")) if str(path.relative_to(recorded.store)).startswith(which))
    text = file.read_text()
    at = text.index("+" if which == "store.json" else '"wrapped"') + 14
    file.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])
    done = recorded("verify", "@last", "--json")
    assert (done.returncode, done.json()["verdict"]) == (1, "tampered")
    assert any(problem["check"] == "keys" and "json" in problem["file"] for problem in done.json()["problems"])


def test_steps_from_one_to_an_earlier_one_are_none(recorded: Tacho) -> None:
    done = recorded("show", "@last", "--from", "3", "--to", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no step is from 3 on and up to 1; --from is the smaller one\n"
