"""``tacho host``: a recorder that is another user keeps key, store and memory from the agent's, and outlives who means it harm."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sidecar_helpers as helpers
from sidecar_helpers import KEEPER, NOBODY, SAME, STRANGER, User, World, wait, world
from tachograph.client.frames import pack

AGENT = """
import os, subprocess, tachograph

@tachograph.tool(effect="write")
def note(text):
    with open("note.txt", "a") as file:
        file.write(text)
    return len(text)

print(note("hello"))
subprocess.run(["sh", "-c", "echo more > more.txt"], check=True)
"""

#: Says a number for each call that has returned, until a file tells it to finish.
LOOP = """
import os, sys, time, tachograph

@tachograph.tool(effect="read")
def step(number):
    return {"number": number}

number = 0
while not os.path.exists(sys.argv[1]):
    step(number)
    os.write(1, b"%d\\n" % number)
    number += 1
    time.sleep(0.002)
"""

#: What the agent's user tries against the processes and files of the recorder. Prints what worked.
PROBE = """
import ctypes, os, sys

store, key, pids = sys.argv[1], sys.argv[2], [int(pid) for pid in sys.argv[3].split(",")]

def tries():
    yield "key", lambda: open(key).read()
    yield "store", lambda: os.listdir(store)
    yield "ledger", lambda: os.listdir(os.path.join(store, "ledger"))
    yield "write", lambda: open(os.path.join(store, "x"), "w")
    for pid in pids:
        yield "mem of %d" % pid, lambda: open("/proc/%d/mem" % pid, "rb")
        for name in ("environ", "maps"):
            yield "%s of %d" % (name, pid), lambda: open("/proc/%d/%s" % (pid, name), "rb").read(1)
        yield "descriptors of %d" % pid, lambda: os.listdir("/proc/%d/fd" % pid)
        yield "ptrace of %d" % pid, lambda: attach(pid)

def attach(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")

for name, attempt in tries():
    try:
        attempt()
        print("open:", name)
    except OSError:
        pass
print("tried")
"""


@pytest.fixture
def two() -> Iterator[World]:
    """The recorder as one user, the agent as another."""
    helpers.need_users()
    with world("--allow", str(NOBODY.uid), keeper=KEEPER, agent=NOBODY) as made:
        yield made


@pytest.fixture
def one() -> Iterator[World]:
    """As two users where that is possible, else as one: what is tested does not depend on it."""
    if os.geteuid() == 0:
        helpers.need_users()
        with world("--allow", str(NOBODY.uid), keeper=KEEPER, agent=NOBODY) as made:
            yield made
    else:
        with world() as made:
            yield made


def running(world: World, *options: str, name: str = "finish") -> tuple[Any, Path]:
    """A recording of ``LOOP`` that is under way, and its output."""
    out = world.root / f"{name}.out"
    world.write("loop.py", LOOP)
    with out.open("wb") as file:
        process = world.recording("loop.py", name, options=options, stdout=file)
    wait(lambda: out.read_bytes().count(b"\n") > 10, "the agent did not get going")
    return process, out


def finish(world: World, process: Any, name: str = "finish") -> str:
    world.write(name, "")
    error = process.communicate(timeout=60)[1].decode()
    return str(error)


def lines_of(world: World, session: str = "@last") -> list[dict[str, Any]]:
    verified = world.tacho("verify", session, "--json")
    assert verified.returncode == 0, verified.stdout
    return world.tacho("cat", session).lines()


def test_a_session_of_another_user_is_whole_verified_and_replays_for_the_keeper(two: World) -> None:
    two.write("agent.py", AGENT)
    done = two.record("agent.py", options=["--name", "nightly", "--link", "incident=INC-7", "--id-file", "id"])
    assert (done.returncode, done.stdout) == (0, "5\n")
    session = (two.root / "work" / "id").read_text().strip()
    assert done.stderr == f"tacho: {session} recorded, 1 process call, 1 tool call; next: tacho show {session}\n"
    lines = lines_of(two)
    start = lines[0]
    assert (start["session_id"], start["name"], start["links"]) == (session, "nightly", ["incident=INC-7"])
    assert start["facts"]["caller"] == {"uid": NOBODY.uid}
    assert start["facts"]["cwd"] == str(two.root / "work")
    tool = next(line for line in lines if line["type"] == "tool_call")
    assert [change["path"] for change in tool["workspace"]["changes"]] == ["note.txt"]
    command = next(line for line in lines if line["type"] == "process" and line.get("program"))
    assert [change["path"] for change in command["workspace"]["changes"]] == ["more.txt"]
    assert not [line for line in lines if line["type"] == "gap"]
    assert two.tacho("verify", "--all").returncode == 0
    replayed = two.tacho("replay", session, "--json")
    assert json.loads(replayed.stdout)["verdict"] == "identical", replayed.stderr
    assert list((two.root / "run").iterdir()) == [two.socket]


def test_workspace_files_that_only_the_agents_user_can_read_are_recorded_by_the_launcher(two: World) -> None:
    two.write("private.txt", "only mine").chmod(0o600)
    two.write("agent.py", AGENT)
    assert two.record("agent.py").returncode == 0
    start = lines_of(two)[0]
    assert start["workspace"]["files"]["private.txt"]["data"] == "only mine"


def test_what_lies_in_the_workspace_runs_and_opens_nothing_as_the_host(two: World) -> None:
    """git runs what a repository's configuration names, and links lead where they like."""
    work = two.root / "work"
    two.write("monitor", "#!/bin/sh\nid -u >> ran.txt\n").chmod(0o755)
    two.write("agent.py", AGENT)
    (work / "key.json").symlink_to(two.key)
    (work / "store").symlink_to(two.store)
    setup = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git config core.fsmonitor ./monitor"
    prepared = two.popen("sh", "-c", setup)
    assert prepared.communicate(timeout=60)[1] == b""
    assert two.record("agent.py").returncode == 0
    start = lines_of(two)[0]
    assert start["repo_sha"] is not None
    assert start["workspace"]["files"]["key.json"]["link"] == str(two.key)
    assert "data" not in start["workspace"]["files"]["store"] or start["workspace"]["files"]["store"]["data"] is None
    assert set((work / "ran.txt").read_text().split()) == {str(NOBODY.uid)}


def probe(world: World, pids: list[int]) -> str:
    world.write("probe.py", PROBE)
    process = world.popen(
        helpers.interpreter()[0], "probe.py", str(world.store), str(world.key), ",".join(map(str, pids)), user=world.agent
    )
    return process.communicate(timeout=60)[0].decode()


def test_the_agents_user_reads_neither_key_nor_store_nor_memory(two: World) -> None:
    process, _ = running(two)
    assert two.process is not None
    assert len(two.session_hosts()) == 1
    assert probe(two, [two.process.pid, *two.session_hosts()]) == "tried\n"
    assert finish(two, process).startswith("tacho: ses_")
    for path in (two.store, *two.store.rglob("*"), two.key):
        assert path.stat().st_mode & 0o077 == 0, path


def test_the_probe_finds_what_is_open(two: World) -> None:
    """Else the test above would prove nothing."""
    process, _ = running(two)
    said = probe(two, [process.pid])
    assert f"open: mem of {process.pid}" in said
    assert f"open: ptrace of {process.pid}" in said
    process.kill()


def test_memory_is_closed_to_the_hosts_own_user_too() -> None:
    helpers.need_users()
    with world(keeper=NOBODY, agent=NOBODY) as made:
        process, _ = running(made)
        assert made.process is not None
        said = probe(made, [made.process.pid, *made.session_hosts()])
        assert [line for line in said.splitlines() if " of " in line] == []
        finish(made, process)


def test_who_is_not_allowed_is_refused_in_one_line(two: World) -> None:
    done = two.record("-c", "print('ran')", user=STRANGER)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"user {STRANGER.uid} may not record here" in done.stderr
    assert two.sessions() == []


def test_members_of_an_allowed_group_record_whatever_their_first_group_is() -> None:
    helpers.need_users()
    group = 61999
    with world("--group", str(group), keeper=KEEPER, agent=NOBODY) as made:
        assert made.record("-c", "print(1)", user=NOBODY).returncode == 2
        assert made.record("-c", "print(1)", user=User(STRANGER.uid, (group,))).returncode == 0


def test_another_allowed_user_cannot_join_a_session_with_its_token() -> None:
    helpers.need_users()
    with world("--allow", str(NOBODY.uid), "--allow", str(STRANGER.uid), keeper=KEEPER, agent=NOBODY) as made:
        process, _ = running(made)
        client = Path(f"/proc/{helpers.children(process.pid)[0]}/environ").read_bytes().split(b"\0")
        environment = dict(part.decode().split("=", 1) for part in client if part.startswith(b"TACHO_"))
        code = "import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ['TACHO_SOCKET']); print(s.recv(1))"
        other = made.popen(helpers.interpreter()[0], "-S", "-c", code, user=STRANGER, env={**environment, "PYTHONPATH": ""})
        assert other.communicate(timeout=30)[0] == b"b''\n"
        finish(made, process)


def test_eight_sessions_at_once_each_verify(one: World) -> None:
    one.write("agent.py", LOOP)
    processes = [one.recording("agent.py", "finish", options=["--name", f"n{number}"]) for number in range(8)]
    wait(lambda: len(one.session_hosts()) == 8)
    time.sleep(1)
    one.write("finish", "")
    for process in processes:
        error = process.communicate(timeout=60)[1]
        assert process.returncode == 0, error
        assert error.startswith(b"tacho: ses_"), error
    verified = one.tacho("verify", "--all", "--json").json()
    assert (verified["verdict"], len(verified["sessions"])) == ("verified", 8)
    assert sorted(session["name"] for session in one.sessions()) == [f"n{number}" for number in range(8)]


@pytest.mark.parametrize("policy", ["continue", "stop"])
def test_the_death_of_one_sessions_process_is_declared_and_takes_no_other_with_it(one: World, policy: str) -> None:
    other, _ = running(one, name="other")
    spared = one.session_hosts()
    process, out = running(one, "--on-host-loss", policy)
    (victim,) = set(one.session_hosts()) - set(spared)
    session = newest(one)
    os.kill(victim, signal.SIGKILL)
    if policy == "continue":
        before = out.read_bytes().count(b"\n")
        wait(lambda: out.read_bytes().count(b"\n") > before + 20, "the agent did not go on")
        error = finish(one, process)
    else:
        error = process.communicate(timeout=60)[1].decode()
    assert process.returncode == (0 if policy == "continue" else 2)
    assert f"error: recording of {session} stopped early, the host at " in error
    wait(lambda: "host_lost" in one.tacho("cat", session).stdout)
    lines = lines_of(one, session)
    assert (lines[-1]["type"], lines[-1]["status"]) == ("session_end", "lost")
    assert finish(one, other, "other").startswith("tacho: ses_")
    assert one.tacho("verify", "--all").returncode == 0


def newest(world: World) -> str:
    return max(path.name for path in (world.store / "sessions").iterdir())


def test_the_first_processs_death_ends_no_session(one: World) -> None:
    process, out = running(one)
    assert one.process is not None
    hosts = one.session_hosts()
    one.process.kill()
    one.process.wait(10)
    before = out.read_bytes().count(b"\n")
    wait(lambda: out.read_bytes().count(b"\n") > before + 20)
    assert finish(one, process).startswith("tacho: ses_")
    assert lines_of(one)[-1]["status"] == "ok"
    wait(lambda: not any(Path(f"/proc/{pid}").exists() for pid in hosts))
    one.start()  # its socket is in the way of nobody
    assert one.record("-c", "print(1)").returncode == 0


def test_a_host_that_is_started_again_declares_what_died_with_the_one_before_and_nothing_that_lives(one: World) -> None:
    living, _ = running(one, name="other")
    spared = newest(one)
    process, _ = running(one)
    assert one.process is not None
    victim = max(one.session_hosts())
    session = newest(one)
    for pid in (one.process.pid, victim):
        os.kill(pid, signal.SIGKILL)
    one.process.wait(10)
    finish(one, process)
    assert not [line for line in one.tacho("cat", session).lines() if line["type"] in ("gap", "session_end")]
    one.start()
    wait(lambda: "session_end" in one.tacho("cat", session).stdout)
    lines = lines_of(one, session)
    assert {line["reason"] for line in lines if line["type"] == "gap"} - {"torn_tail"} == {"host_lost"}
    wait(lambda: not (one.root / "run" / session).exists())
    assert finish(one, living, "other").startswith("tacho: ses_")
    assert [line["type"] for line in lines_of(one, spared)].count("gap") == 0


@pytest.mark.parametrize("policy", ["continue", "stop"])
def test_sigterm_seals_every_session_and_says_that_the_host_was_stopped(one: World, policy: str) -> None:
    process, out = running(one, "--on-host-loss", policy)
    assert one.process is not None
    said = int(out.read_bytes().split(b"\n")[-2])
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0
    assert not one.socket.exists()
    lines = lines_of(one)
    assert [line["reason"] for line in lines if line["type"] == "gap"] == ["host_stopped"]
    assert (lines[-1]["type"], lines[-1]["status"]) == ("session_end", "lost")
    assert said in [line["output"]["number"] for line in lines if line["type"] == "tool_call" and line.get("output")]
    error = finish(one, process) if policy == "continue" else process.communicate(timeout=60)[1].decode()
    assert process.returncode == (0 if policy == "continue" else 2)
    told = [line for line in error.splitlines() if line.startswith("error: ")]
    assert len(told) == 1
    assert "was stopped" in told[0]


def test_the_launchers_death_makes_the_host_blind_and_the_log_says_so(one: World) -> None:
    one.write("agent.py", LOOP + "\nimport subprocess\nsubprocess.run(['true'])\n")
    out = one.root / "out"
    with out.open("wb") as file:
        process = one.recording("agent.py", "finish", stdout=file)
    wait(lambda: out.read_bytes().count(b"\n") > 10)
    (host,) = one.session_hosts()
    process.kill()
    process.wait(10)
    one.write("finish", "")
    wait(lambda: not Path(f"/proc/{host}").exists())
    lines = lines_of(one)
    assert [(line["reason"], line["what"]) for line in lines if line["type"] == "gap"] == [("not_captured", "workspace")]
    assert lines[-1]["status"] == "lost"


def connect(path: str | Path) -> socket.socket:
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.settimeout(30)
    end.connect(str(path))
    return end


GARBAGE = {
    "no frames": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1000,
    "a frame that is too long": struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF),
    "a frame that does not end": struct.pack(">II", 1000, 1 << 29) + b"x" * (1 << 20),
    "no JSON": struct.pack(">II", 4, 0) + b"\xff{[x",
    "JSON that is no object": struct.pack(">II", 2, 0) + b"[]",
    "very deep JSON": struct.pack(">II", 200_000, 0) + b"[" * 200_000,
    "a wrong token": pack({"m": "hello", "v": 1, "pid": 1, "lane": "main", "token": "0" * 32}),
    "no token": pack({"m": "begin", "c": 1, "k": "tool", "op": "x", "req": {}}),
    "a request without its fields": pack({"m": "session", "v": 2}),
    "a request of a later version": pack({"m": "session", "v": 99}),
    "a request with a wrong type": pack({"m": "session", "v": 2, "argv": [1], "env": [], "cwd": 3}),
}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to connect as the agent's user")
def test_no_nonsense_on_any_socket_ends_a_session_or_keeps_another_from_starting(two: World) -> None:
    process, _ = running(two)
    hosts = two.session_hosts()
    (folder,) = [path for path in (two.root / "run").iterdir() if path.is_dir()]
    two.write("hostile.py", HOSTILE)
    two.write("garbage.json", json.dumps([data.hex() for data in GARBAGE.values()]))
    hostile = two.popen(helpers.interpreter()[0], "hostile.py", str(two.socket), str(folder / "host"))
    out, error = hostile.communicate(timeout=120)
    assert (out, hostile.returncode) == (b"done\n", 0), error
    assert two.record("-c", "print(1)").returncode == 0
    assert set(hosts) <= set(two.session_hosts())
    assert finish(two, process).startswith("tacho: ses_")
    assert two.tacho("verify", "--all").returncode == 0
    assert "defect" not in two.log()


HOSTILE = """
import json, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)

def connect(path):
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.settimeout(30)
    end.connect(path)
    return end

kept = []
for path in sys.argv[1:]:
    for data in json.load(open("garbage.json")):
        end = connect(path)
        try:
            end.sendall(bytes.fromhex(data))
        except OSError:
            pass
        kept.append(end)
    for _ in range(3000):
        try:
            kept.append(connect(path))
        except OSError as error:
            if error.errno not in (11, 24):
                raise
            break
print("done")
"""


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_who_speaks_nonsense_is_refused_by_the_host_or_left_alone(data: bytes, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        helpers.need_users()
    with world() as made:
        end = connect(made.socket)
        with contextlib.suppress(OSError):
            end.sendall(data)
        assert made.record("-c", "print(1)").returncode == 0
        assert "defect" not in made.log()


def test_secret_values_of_launcher_and_environment_are_masked_and_lie_nowhere(one: World) -> None:
    secret, other = "plain-word-" + "7Hq2", "s3cr3t" + "Zx81QmT0pLw9"
    one.write("values.txt", secret + "\n")
    one.write("agent.py", f"import tachograph\ntachograph.note({'said ' + secret!r}, also={other!r})\n")
    done = one.record("agent.py", options=["--secret-from", "values.txt"], env={"MY_API_TOKEN": other})
    assert done.returncode == 0, done.stderr
    said = json.dumps(lines_of(one))
    assert secret not in said
    assert other not in said
    assert "[REDACTED:user:" in said


def test_what_cannot_be_recorded_there_is_said_in_one_line_before_anything_runs(one: World) -> None:
    missing = one.tacho("record", "--host", str(one.root / "none"), "--", "true", user=one.agent)
    stored = one.record("-c", "print(1)", options=["--store", "/somewhere"])
    named = one.record("-c", "print(1)", options=["--policy", "strict"])
    vault = one.record("-c", "print(1)", options=["--vault"])
    for done, words in (
        (missing, "cannot reach the host"),
        (stored, "a store of its own"),
        (named, "no policy strict"),
        (vault, "no vault key"),
    ):
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    assert one.sessions() == []


def test_the_hosts_policy_holds_and_one_of_its_others_can_be_asked_for_by_name(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        helpers.need_users()
    for name in ("own", "strict"):
        (tmp_path / f"{name}.toml").write_text(f'[redact]\nsecret_names = ["{name}_tenant"]\n')
    with world("--policy", str(tmp_path / "own.toml"), "--policy", f"strict={tmp_path / 'strict.toml'}") as made:
        made.write("tachograph.toml", '[redact]\nsecret_names = ["other_tenant"]\n')
        values = {"OWN_TENANT": "acme-one-1", "STRICT_TENANT": "acme-two-2", "OTHER_TENANT": "acme-six-6"}
        made.write(
            "agent.py", "import os, tachograph\ntachograph.note(' '.join(os.environ[n + '_TENANT'] for n in ('OWN', 'STRICT', 'OTHER')))\n"
        )
        own = made.record("agent.py", env=values)
        assert "the host's policy holds" in own.stderr
        said = next(line["text"] for line in lines_of(made) if line["type"] == "note")
        assert [value in said for value in values.values()] == [False, True, True]
        assert made.record("agent.py", env=values, options=["--policy", "strict"]).returncode == 0
        said = next(line["text"] for line in lines_of(made) if line["type"] == "note")
        assert [value in said for value in values.values()] == [True, False, True]


def test_two_hosts_do_not_listen_at_one_socket(one: World) -> None:
    done = one.tacho("host", "--listen", str(one.socket))
    assert done.returncode == 2
    assert "listens at" in done.stderr
    assert one.record("-c", "print(1)").returncode == 0


def test_no_host_listens_where_others_can_put_their_own_socket(one: World) -> None:
    (one.root / "run" / "open").mkdir()
    (one.root / "run" / "open").chmod(0o777)
    done = one.tacho("host", "--listen", str(one.root / "run" / "open" / "host"))
    assert done.returncode == 2
    assert "others can write" in done.stderr


def test_the_same_user_needs_no_permission() -> None:
    if os.geteuid() == 0:
        helpers.need_users()
    with world(keeper=SAME, agent=SAME) as made:
        made.write("agent.py", AGENT)
        assert made.record("agent.py").returncode == 0
        assert made.socket.stat().st_mode & 0o777 == 0o600
        assert lines_of(made)[-1]["status"] == "ok"
