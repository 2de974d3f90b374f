"""kill -9 of the agent, of the host, of everything: what was handed over is there, the rest is declared."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho

AGENT = """
import os, sys, tachograph

@tachograph.tool(effect="read")
def step(number):
    return {"number": number, "text": "x" * 500}

number = 0
while True:
    step(number)
    os.write(1, b"%d\\n" % number)  # said only after the call has returned
    number += 1
"""


def start(tacho: Tacho, folder: Path, code: str, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
    (folder / "agent.py").write_text(code)
    out = folder / "stdout"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "tachograph.cli.app", "record", *options, "--", sys.executable, "agent.py"],
            cwd=folder, stdout=file, stderr=subprocess.PIPE, env={**os.environ, **tacho.settings},
        )  # fmt: skip
    return process, out


def children(pid: int) -> dict[str, int]:
    """Of a running ``tacho record``: its host and its agent."""
    found: dict[str, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)
                if int(fields[1].split()[1]) == pid:
                    found["host" if "(tacho-host" in fields[0] else "agent"] = int(entry.name)
            except (OSError, ValueError):
                continue
    return found


def wait_for(out: Path, lines: int) -> None:
    deadline = time.monotonic() + 30
    while out.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < deadline, "the agent did not get going"
        time.sleep(0.002)


def check(tacho: Tacho, out: Path, process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    said = len(out.read_bytes().splitlines())
    verified = tacho("verify", "@last", "--json")
    assert verified.returncode == 0, verified.stdout
    lines = tacho("cat", "@last").lines()
    numbers = [line["output"]["number"] for line in lines if line["type"] == "tool_call" and line.get("output")]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= said - 1, (len(numbers), said)  # the last line may be half written
    return lines


def kill_agent(tmp_path: Path, after: int, pause: float) -> None:
    tacho = Tacho(tmp_path)
    process, out = start(tacho, tmp_path, AGENT)
    wait_for(out, after)
    time.sleep(pause)
    os.kill(children(process.pid)["agent"], signal.SIGKILL)
    process.wait(60)
    assert process.returncode == -signal.SIGKILL
    said = [line for line in out.read_bytes().split(b"\n") if line]
    lines = check(tacho, out, process)
    numbers = [line["output"]["number"] for line in lines if line["type"] == "tool_call" and line.get("output")]
    assert int(said[-1]) in numbers
    assert lines[-1]["type"] == "session_end"
    assert (lines[-1]["status"], lines[-1]["signal"]) == ("killed", 9)


@pytest.mark.parametrize("seed", range(6))
def test_kill_of_the_agent_loses_nothing_that_had_returned(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    kill_agent(tmp_path, rng.randrange(1, 200), rng.random() * 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_kill_of_the_agent_at_200_random_moments(tmp_path: Path, seed: int) -> None:
    rng = random.Random(1000 + seed)
    kill_agent(tmp_path, rng.randrange(1, 400), rng.random() * 0.1)


def test_kill_of_the_host_with_continue_lets_the_agent_go_on_and_declares_the_loss(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    code = AGENT.replace("while True:", "while number < 30 or not os.path.exists('finish'):")
    process, out = start(tacho, tmp_path, code)
    wait_for(out, 20)
    os.kill(children(process.pid)["host"], signal.SIGKILL)
    before = out.read_bytes().count(b"\n")
    wait_for(out, before + 50)
    (tmp_path / "finish").touch()
    error = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 0
    assert error.count("\n") == 1
    assert error.startswith("error: recording of ses_")
    verified = tacho("verify", "@last", "--json").json()
    assert verified["verdict"] in ("verified", "torn")
    lines = tacho("cat", "@last").lines()
    assert any(line["type"] == "gap" and line["reason"] == "host_lost" for line in lines)
    assert (lines[-1]["type"], lines[-1]["status"]) == ("session_end", "lost")
    assert tacho("verify", "@last").returncode == 0


def test_kill_of_the_host_with_stop_stops_the_agent(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    process, out = start(tacho, tmp_path, AGENT, "--on-host-loss", "stop")
    wait_for(out, 20)
    os.kill(children(process.pid)["host"], signal.SIGKILL)
    error = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 2
    assert "error: recording of ses_" in error
    lines = tacho("cat", "@last").lines()
    assert any(line["type"] == "gap" and line["reason"] == "host_lost" for line in lines)
    assert tacho("verify", "@last").returncode == 0


def test_kill_of_the_launcher_leaves_a_session_that_ends_with_its_agent(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    code = AGENT.replace("while True:", "while not os.path.exists('finish'):")
    process, out = start(tacho, tmp_path, code)
    wait_for(out, 20)
    host = children(process.pid)["host"]
    process.kill()
    process.wait(10)
    (tmp_path / "finish").touch()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{host}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    lines = tacho("cat", "@last").lines()
    assert (lines[-1]["type"], lines[-1]["status"]) == ("session_end", "lost")
    assert tacho("verify", "@last").returncode == 0


def test_kill_of_everything_leaves_an_unsealed_log_that_still_reads(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    process, out = start(tacho, tmp_path, AGENT)
    wait_for(out, 200)
    found = children(process.pid)
    for pid in (process.pid, found["host"], found["agent"]):
        os.kill(pid, signal.SIGKILL)
    process.wait(10)
    verified = tacho("verify", "@last", "--json")
    assert verified.returncode == 1
    assert verified.json()["verdict"] in ("unsealed", "torn")  # perhaps it died between content and the line that refers to it
    assert tacho("cat", "@last").lines()[0]["type"] == "session_start"
    assert tacho("show", "@last").returncode == 0


def test_a_full_disk_is_one_clear_line_and_nothing_written_is_lost(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        tacho = Tacho(tmp_path)
        code = AGENT.replace("while True:", "while number < 3000:").replace('"x" * 500', "os.urandom(400).hex()")
        (tmp_path / "agent.py").write_text(code)
        store = ("--store", str(small / "store"))
        done = tacho("record", *store, "--", sys.executable, "agent.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr  # the agent's own
        assert done.stdout.count("\n") == 3000
        assert done.stderr.count("\n") == 1
        assert "No space left on device" in done.stderr
        assert "free some space" in done.stderr
        lines = tacho("cat", *store, "@last").lines()
        assert len(lines) > 20
        verdict = tacho("verify", *store, "@last", "--json").json()
        assert verdict["verdict"] in ("unsealed", "torn")
        full = tacho("record", *store, "--", sys.executable, "agent.py", cwd=tmp_path)
        assert full.returncode == 2 or "error:" in full.stderr
    finally:
        subprocess.run(["umount", str(small)], check=False)


def test_a_disk_that_is_full_for_a_while_loses_nothing(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        tacho = Tacho(tmp_path)
        tacho.settings["TACHO_STORE"] = str(small / "store")
        code = AGENT.replace("while True:", "while not os.path.exists('finish'):").replace('"x" * 500', "os.urandom(4000).hex()")
        code = code.replace("    step(number)", "    step(number); __import__('time').sleep(0.01)")
        process, out = start(tacho, tmp_path, code)
        deadline = time.monotonic() + 60
        while not list(small.glob("store/sessions/*/00000002.events.jsonl")):
            assert time.monotonic() < deadline, "the disk was never full"
            time.sleep(0.01)
        wait_for(out, out.read_bytes().count(b"\n") + 50)  # the agent goes on meanwhile
        subprocess.run(["mount", "-o", "remount,size=400m", str(small)], check=True)
        time.sleep(1.0)
        (tmp_path / "finish").touch()
        error = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 0, error
        assert "error" not in error
        lines = check(tacho, out, process)
        assert [line["reason"] for line in lines if line["type"] == "gap"] == ["write_failed"]
        assert lines[-1]["type"] == "session_end"
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


@pytest.mark.parametrize("policy", ["continue", "stop"])
def test_a_full_disk_neither_hangs_an_external_tool_nor_lets_stop_go_on(tmp_path: Path, policy: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        tacho = Tacho(tmp_path)
        code = (
            AGENT.replace("while True:", "while number < 2000:")
            .replace('"x" * 500', "os.urandom(400).hex()")
            .replace('"read"', '"external"')
        )
        (tmp_path / "agent.py").write_text(code)
        done = tacho(
            "record", "--store", str(small / "store"), "--on-host-loss", policy, "--", sys.executable, "agent.py", cwd=tmp_path, timeout=60
        )
        assert "No space left on device" in done.stderr
        if policy == "continue":
            assert (done.returncode, done.stdout.count("\n")) == (0, 2000)
        else:
            assert done.returncode == 2
            assert done.stdout.count("\n") < 2000
    finally:
        subprocess.run(["umount", str(small)], check=False)


def test_a_vault_without_room_is_given_up_and_the_recording_goes_on(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    tacho = Tacho(tmp_path)
    tacho.settings["TACHO_VAULT_KEY"] = str(tmp_path / "vault-key.json")
    assert tacho("record", "--", sys.executable, "-c", "pass", cwd=tmp_path).returncode == 0
    made = tacho("vault", "init")
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "store" / "vault"
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        code = AGENT.replace("while True:", "while number < 300:").replace('"x" * 500', 'f"password={os.urandom(9).hex()}"')
        (tmp_path / "agent.py").write_text(code)
        done = tacho("record", "--vault", "--", sys.executable, "agent.py", cwd=tmp_path)
        assert done.returncode == 0
        assert done.stdout.count("\n") == 300
        verified = tacho("verify", "@last", "--json")
        assert verified.returncode == 0, verified.stdout
        lines = tacho("cat", "@last").lines()
        assert [line["reason"] for line in lines if line["type"] == "gap"] == ["write_failed", "vault_lost"]
        assert lines[-1]["type"] == "session_end"
        texts = [line["output"]["text"] for line in lines if line["type"] == "tool_call"]
        assert len(texts) == 300
        assert all("[REDACTED:" in text for text in texts)
        opened = tacho("vault", "open", "@last", "--reason", "a test")
        assert opened.returncode == 0, opened.stderr  # what came before is there
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def test_the_final_line_names_session_and_next_command(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT.replace("while True:", "while number < 3:"))
    done = tacho("record", "--id-file", str(tmp_path / "id"), "--", sys.executable, "agent.py", cwd=tmp_path)
    session = (tmp_path / "id").read_text().strip()
    assert done.stderr == f"tacho: {session} recorded, 3 tool calls; next: tacho show {session}\n"
    assert json.loads(tacho("ls", "--json").stdout)[0]["session_id"] == session
