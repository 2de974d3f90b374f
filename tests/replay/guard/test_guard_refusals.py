"""Each way out that we know is tried for real by a guarded program, must fail, must be named, and must change nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap
from typing import Any

import pytest

PRELUDE = """
import ctypes, os, socket, subprocess, sys
OUT = os.environ["OUTSIDE"]
libc = ctypes.CDLL(None, use_errno=True)
def c(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def sh(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr)
"""

# (what is tried, what it is called, where it is named to be (relative to the outside directory), by whom it is refused)
FILES = [
    ("open(OUT + '/kept', 'w')", "write", "kept", "landlock"),
    ("open(OUT + '/kept', 'a')", "write", "kept", "landlock"),
    ("open(OUT + '/kept', 'r+')", "write", "kept", "landlock"),
    ("open(OUT + '/new', 'x')", "write", "new", "landlock"),
    ("os.open(OUT + '/kept', os.O_RDONLY | os.O_TRUNC)", "write", "kept", "landlock"),
    ("os.open(OUT, os.O_TMPFILE | os.O_RDWR)", "write", "", "landlock"),
    ("open('../outside/kept', 'w')", "write", "kept", "landlock"),
    ("os.symlink(OUT, 'door'); open('door/kept', 'w')", "write", "kept", "landlock"),
    ("os.symlink(OUT + '/new', 'door'); open('door', 'w')", "write", "new", "landlock"),
    ("os.symlink('../outside/sub', 'door'); open('door/../kept', 'w')", "write", "kept", "landlock"),
    ("os.chdir(OUT + '/sub'); open('deep', 'w')", "write", "sub/deep", "landlock"),
    ("d = os.open(OUT, os.O_RDONLY); os.open('kept', os.O_WRONLY, dir_fd=d)", "write", "kept", "landlock"),
    ("f = open(OUT + '/kept'); open(f'/proc/self/fd/{f.fileno()}', 'w')", "write", "kept", "landlock"),
    ("f = open(OUT + '/kept'); open(f'/dev/fd/{f.fileno()}', 'w')", "write", "kept", "landlock"),
    ("os.chdir(OUT); open('/proc/self/cwd/kept', 'w')", "write", "kept", "landlock"),
    ("c(libc.open((OUT + '/kept').encode(), os.O_WRONLY))", "write", "kept", "landlock"),
    ("c(libc.creat((OUT + '/new').encode(), 0o644))", "write", "new", "landlock"),
    ("how = (ctypes.c_uint64 * 3)(os.O_WRONLY, 0, 0); c(libc.syscall(437, -100, (OUT + '/kept').encode(), how, 24))",
     "write", "kept", "landlock"),
    ("sh('echo x > \"$OUTSIDE/kept\"')", "write", "kept", "landlock"),
    ("sh('echo x >> \"$OUTSIDE/new\"')", "write", "new", "landlock"),
    ("os.remove(OUT + '/kept')", "unlink", "kept", "landlock"),
    ("d = os.open(OUT, os.O_RDONLY); os.unlink('kept', dir_fd=d)", "unlink", "kept", "landlock"),
    ("sh('rm -f \"$OUTSIDE/kept\"')", "unlink", "kept", "landlock"),
    ("os.rmdir(OUT + '/sub')", "rmdir", "sub", "landlock"),
    ("d = os.open(OUT, os.O_RDONLY); os.rmdir('sub', dir_fd=d)", "rmdir", "sub", "landlock"),
    ("os.mkdir(OUT + '/new')", "mkdir", "new", "landlock"),
    ("sh('mkdir -p \"$OUTSIDE/new/er\"')", "mkdir", "new", "landlock"),
    ("os.mkfifo(OUT + '/new')", "mknod", "new", "landlock"),
    ("os.symlink('x', OUT + '/new')", "symlink", "new", "landlock"),
    ("os.truncate(OUT + '/kept', 0)", "truncate", "kept", "landlock"),
    ("s = socket.socket(socket.AF_UNIX); s.bind(OUT + '/new')", "bind", "new", "landlock"),
    ("os.chmod(OUT + '/kept', 0o777)", "chmod", "kept", "seccomp"),
    ("os.fchmod(os.open(OUT + '/kept', os.O_RDONLY), 0o777)", "chmod", "kept", "seccomp"),
    ("c(libc.syscall(452, -100, (OUT + '/kept').encode(), 0o777, 0))", "chmod", "kept", "seccomp"),
    ("os.symlink(OUT + '/kept', 'door'); os.chmod('door', 0o777)", "chmod", "kept", "seccomp"),
    ("os.chown(OUT + '/kept', 1, 1)", "chown", "kept", "seccomp"),
    ("os.lchown(OUT + '/kept', 1, 1)", "chown", "kept", "seccomp"),
    ("os.fchown(os.open(OUT + '/kept', os.O_RDONLY), 1, 1)", "chown", "kept", "seccomp"),
    ("os.utime(OUT + '/kept', (1, 1))", "utime", "kept", "seccomp"),
    ("os.utime(os.open(OUT + '/kept', os.O_RDONLY), (1, 1))", "utime", "kept", "seccomp"),
    ("os.setxattr(OUT + '/kept', 'user.x', b'y')", "setxattr", "kept", "seccomp"),
    ("os.setxattr(os.open(OUT + '/kept', os.O_RDONLY), 'user.x', b'y')", "setxattr", "kept", "seccomp"),
    ("os.removexattr(OUT + '/kept', 'user.x')", "removexattr", "kept", "seccomp"),
    ("import fcntl; fcntl.ioctl(os.open(OUT + '/kept', 0), 0x40086602, b'@' + bytes(7))", "chattr", "kept", "seccomp"),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "what", "where", "by"), FILES, ids=[row[0][:60] for row in FILES])
def test_a_change_outside_is_refused_and_named(bench: Any, attempt: str, what: str, where: str, by: str) -> None:
    outcome = bench.python(
        PRELUDE + f"try:\n    {attempt}\nexcept OSError as error:\n    print('refused', error)\nelse:\n    print('LEAK')"
    )
    assert outcome.output.startswith("refused"), outcome.output
    assert outcome.defect is None
    assert bench.fingerprint() == bench.before
    path = str(bench.outside / where) if where else str(bench.outside)
    assert (what, path, by) in outcome.named(), outcome.attempts
    assert all(entry["what"] == what for entry in outcome.attempts), outcome.attempts
    entry = outcome.attempts[0]
    assert entry["where"] == f"{entry['path']} ({entry['program']}, pid {entry['pid']})"
    assert outcome.reported[0] == entry


@pytest.mark.parametrize(
    ("attempt", "what", "names"),
    [
        ("os.rename(OUT + '/kept', OUT + '/new')", "rename", "{out}/kept -> {out}/new"),
        ("os.rename(OUT + '/kept', 'stolen')", "rename", "{out}/kept -> {work}/stolen"),
        ("os.replace('kept', OUT + '/kept')", "rename", "{work}/kept -> {out}/kept"),
        ('sh(\'mv "$OUTSIDE/kept" "$OUTSIDE/new"\')', "rename", "{out}/kept -> {out}/new"),
        ("os.link(OUT + '/kept', 'second')", "link", "{out}/kept -> {work}/second"),
        ("os.link('kept', OUT + '/new')", "link", "{work}/kept -> {out}/new"),
    ],
)
def test_a_call_with_two_paths_names_both(bench: Any, attempt: str, what: str, names: str) -> None:
    outcome = bench.python(PRELUDE + f"try:\n    {attempt}\nexcept OSError as error:\n    print('refused', error)")
    assert outcome.output.startswith("refused"), outcome.output
    assert bench.fingerprint() == bench.before
    assert (what, names.format(out=bench.outside, work=bench.workspace), "landlock") in outcome.named()


@pytest.fixture
def listener() -> Any:
    """A server on loopback that must never be reached."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0)
        yield server
        with pytest.raises(BlockingIOError):
            server.accept()


NETWORK = {
    "python": ("socket.create_connection(('127.0.0.1', PORT))", "AF_INET SOCK_STREAM", "python"),
    "python ipv6": ("socket.socket(socket.AF_INET6)", "AF_INET6 SOCK_STREAM", "python"),
    "python udp": ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "AF_INET SOCK_DGRAM", "python"),
    "python raw": ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "AF_INET SOCK_RAW", "python"),
    "packet": ("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "AF_PACKET SOCK_RAW", "python"),
    "vsock": ("socket.socket(40, socket.SOCK_STREAM)", "AF_VSOCK SOCK_STREAM", "python"),
    "ctypes": ("c(libc.socket(2, 1, 0))", "AF_INET SOCK_STREAM", "python"),
    "ctypes, high bits set": ("c(libc.syscall(SOCKET, ctypes.c_long(2 | 1 << 32), 1, 0))", "AF_INET SOCK_STREAM", "python"),
    "uvloop": ("import asyncio, uvloop; uvloop.run(asyncio.open_connection('127.0.0.1', PORT))", "AF_INET SOCK_STREAM", "python"),
    "curl": ("sh('curl -sS http://127.0.0.1:%d/' % PORT)", "AF_INET SOCK_STREAM", "curl"),
    "bash": ("sh('exec bash -c \"echo x > /dev/tcp/127.0.0.1/%d\"' % PORT)", "AF_INET SOCK_STREAM", "bash"),
}


@pytest.mark.parametrize("case", NETWORK)
def test_the_network_is_out_of_reach_and_each_attempt_is_named(bench: Any, listener: socket.socket, case: str) -> None:
    attempt, where, program = NETWORK[case]
    if program in ("curl", "bash") and not shutil.which(program):
        pytest.skip(f"no {program} here")
    if case == "uvloop":
        pytest.importorskip("uvloop")
    prelude = PRELUDE + f"PORT = {listener.getsockname()[1]}\nSOCKET = {198 if os.uname().machine == 'aarch64' else 41}\n"
    outcome = bench.python(prelude + f"try:\n    {attempt}\nexcept OSError as error:\n    print('refused', error)\nelse: print('LEAK')")
    assert outcome.output.startswith("refused"), outcome.output
    assert ("socket", where, "seccomp") in outcome.named(), outcome.attempts
    assert any(entry["path"] == where and entry["program"].startswith(program) for entry in outcome.attempts)


def test_children_of_children_are_under_the_guard(bench: Any) -> None:
    inner = "import os, socket; os.setsid(); open(os.environ['OUTSIDE'] + '/kept', 'w')"
    outcome = bench.run(["sh", "-c", f'{sys.executable} -c "{inner}" & wait; env {sys.executable} -c "import socket; socket.socket()"'])
    assert outcome.output.count("PermissionError") == 2
    assert {entry["what"] for entry in outcome.attempts} == {"write", "socket"}
    assert bench.fingerprint() == bench.before


def test_netlink_and_io_uring_are_refused_without_a_word(bench: Any) -> None:
    outcome = bench.python(
        PRELUDE
        + """
for attempt in (lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), lambda: c(libc.syscall(425, 8, None))):
    try: attempt()
    except OSError as error: print(error.errno)
print(socket.getaddrinfo("127.0.0.1", 80)[0][4])
"""
    )
    assert outcome.output.split("\n")[:3] == ["13", "38", "('127.0.0.1', 80)"]
    assert outcome.attempts == []


def test_signals_to_strangers_are_refused_and_named(bench: Any) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            outcome = bench.python(
                PRELUDE
                + """
import signal
stranger = int(sys.argv[1])
for attempt in (
    lambda: os.kill(stranger, signal.SIGTERM),
    lambda: os.kill(-1, signal.SIGWINCH),  # which would harm nobody
    lambda: signal.pidfd_send_signal(os.pidfd_open(stranger), signal.SIGTERM),
):
    try: attempt()
    except PermissionError: print("refused")
    else: print("LEAK")
child = subprocess.Popen(["sleep", "60"])
child.terminate()
print(child.wait())
signal.raise_signal(signal.SIGUSR1)
""",
                stranger.pid,
            )
            assert stranger.poll() is None
        finally:
            stranger.kill()
    assert outcome.output.split() == ["refused", "refused", "refused", "-15"]
    assert outcome.status == -10  # its own signals still reach it
    assert outcome.named() == {("kill", f"process {stranger.pid}", "seccomp"), ("kill", "every process", "seccomp")}


def test_the_machine_itself_is_out_of_reach(bench: Any) -> None:
    outcome = bench.python(
        PRELUDE
        + """
for attempt in (
    lambda: c(libc.mount(b"none", b"/mnt", b"tmpfs", 0, None)),
    lambda: c(libc.umount2(os.getcwd().encode(), 2)),
    lambda: c(libc.sethostname(os.uname().nodename.encode(), len(os.uname().nodename))),
    lambda: os.chroot("/"),
    lambda: os.chmod("/dev/null", 0o666),
):
    try: attempt()
    except OSError as error: print(error.errno)
"""
    )
    assert outcome.output.split() == ["1"] * 5
    assert {entry["what"] for entry in outcome.attempts} == {"mount", "umount2", "sethostname", "chroot", "chmod"}


@pytest.mark.skipif(os.uname().machine != "x86_64" or not shutil.which("gcc"), reason="needs gcc on x86_64")
def test_calls_of_a_foreign_abi_are_refused_and_named(bench: Any) -> None:
    source = bench.workspace / "abi.c"
    source.write_text(
        textwrap.dedent("""
            #include <stdio.h>
            #include <unistd.h>
            #include <sys/syscall.h>
            int main(void) {
                long i386;
                __asm__ volatile("int $0x80" : "=a"(i386) : "a"(359), "b"(2), "c"(1), "d"(0) : "memory");  /* socket */
                printf("%ld %ld\\n", i386, syscall(41 | 0x40000000, 2, 1, 0));
            }
        """)
    )
    subprocess.run(["gcc", "-o", bench.workspace / "abi", source], check=True)
    outcome = bench.run(["./abi"])
    assert outcome.output.split() == ["-38", "-1"]
    assert {entry["path"] for entry in outcome.attempts} == {
        "system call 359 of a foreign ABI",
        "system call 41 of a foreign ABI",
    }


def test_what_fails_by_itself_is_not_named(bench: Any) -> None:
    outcome = bench.python(
        PRELUDE
        + """
os.symlink("door", "door")
for attempt in (
    lambda: os.mkdir(OUT + "/sub"),
    lambda: os.remove(OUT + "/missing"),
    lambda: open(OUT + "/missing/new", "w"),
    lambda: os.open(OUT + "/missing", os.O_WRONLY),
    lambda: open(OUT + "/kept", "x"),
    lambda: open(OUT, "w"),
    lambda: os.chmod(OUT + "/missing", 0o777),
    lambda: open(OUT + "/kept/below", "w"),
    lambda: open("door", "w"),
    lambda: os.rename(OUT + "/missing", OUT + "/new"),
    lambda: c(libc.open(None, os.O_WRONLY)),
    lambda: c(libc.open(b"x" * 5000, os.O_WRONLY)),
    lambda: os.utime(99, (1, 1)),
):
    try: attempt()
    except OSError as error: print(error.errno, end=" ")
os.makedirs(OUT + "/sub", exist_ok=True)
os.open(OUT + "/kept", os.O_RDONLY | os.O_CREAT)
subprocess.run(["rm", "-f", OUT + "/missing"], check=True)
subprocess.run(["mkdir", "-p", OUT + "/sub"], check=True)
"""
    )
    assert outcome.output.split() == ["17", "2", "2", "2", "17", "21", "2", "20", "40", "2", "14", "36", "9"], outcome.output
    assert outcome.status == 0
    assert outcome.attempts == []


def test_devices_pipes_and_the_interpreters_cache_are_not_named(bench: Any) -> None:
    (bench.outside / "module.py").write_text("x = 1\n")
    outcome = bench.python(
        PRELUDE
        + """
import pty
for device in ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"):
    open(device, "w").close()
sh("echo to null > /dev/null; echo to stdout > /dev/stdout; echo to fd > /dev/fd/2; echo to proc > /proc/self/fd/1")
open("/dev/stdout", "w").write("reopened\\n")
master, slave = pty.openpty()
with open(os.ttyname(slave), "w") as terminal: terminal.write("x")
print(os.read(master, 10))
f = os.memfd_create("m"); open(f"/proc/self/fd/{f}", "w").write("x"); os.fchmod(f, 0o600)
sys.path.insert(0, OUT); sys.dont_write_bytecode = False
import module
"""
    )
    assert "reopened" in outcome.output, outcome.output
    assert "b'x'" in outcome.output, outcome.output
    assert outcome.attempts == []
    assert not (bench.outside / "__pycache__").exists()


def test_equal_attempts_are_counted_not_repeated(bench: Any) -> None:
    outcome = bench.python(PRELUDE + "for _ in range(5):\n    try: open(OUT + '/kept', 'w')\n    except OSError: continue")
    assert [entry["count"] for entry in outcome.attempts] == [5]
    assert [entry["count"] for entry in outcome.reported] == [1]


def test_a_flood_of_different_attempts_stays_bounded(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tachograph.replay.guard.supervisor.MAX_NAMED", 10)
    outcome = bench.python(PRELUDE + "for n in range(25):\n    try: open(OUT + f'/{n}', 'w')\n    except OSError: continue")
    assert len(outcome.reported) == 10
    assert outcome.attempts[-1]["count"] == 15
    assert outcome.attempts[-1]["where"] == "15 more attempts at other places"


def test_a_name_that_is_no_text_is_still_reported(bench: Any) -> None:
    outcome = bench.python(PRELUDE + "try: open(OUT.encode() + b'/\\xff', 'w')\nexcept OSError: print('refused')")
    assert outcome.output.strip() == "refused"
    assert outcome.attempts[0]["path"] == str(bench.outside) + "/\\xff"


def test_a_path_swapped_by_another_thread_never_gets_through(bench: Any) -> None:
    """The report may be cheated by a race; what Landlock enforces may not."""
    outcome = bench.python(
        PRELUDE
        + """
import threading
inside, outside = (os.getcwd() + "/raced").encode(), (OUT + "/raced").encode()
buffer = ctypes.create_string_buffer(max(len(inside), len(outside)) + 1)
stop = False
def swap():
    while not stop:
        ctypes.memmove(buffer, inside + b"\\0", len(inside) + 1); ctypes.memmove(buffer, outside + b"\\0", len(outside) + 1)
thread = threading.Thread(target=swap); thread.start()
for _ in range(300):
    fd = libc.open(buffer, os.O_WRONLY | os.O_CREAT, 0o600)
    if fd >= 0: os.close(fd)
stop = True; thread.join()
"""
    )
    assert outcome.status == 0, outcome.output
    assert bench.fingerprint() == bench.before


def test_the_report_is_of_the_agents_view_when_paths_lead_through_the_workspace(bench: Any) -> None:
    """A link that exists only in the overlay is resolved there, not on the host's side."""
    outcome = bench.python(
        PRELUDE + "os.mkdir('fresh'); os.symlink(OUT, 'fresh/door')\ntry: open('fresh/door/kept', 'w')\nexcept OSError: print('refused')"
    )
    assert outcome.output.strip() == "refused"
    assert not (bench.workspace / "fresh").exists()
    assert outcome.named() == {("write", str(bench.outside / "kept"), "landlock")}


def test_the_original_cannot_be_reached_through_another_process(bench: Any) -> None:
    """A process outside sees the original under the very path that is the scratch workspace inside."""
    with open(bench.workspace / "kept") as held, subprocess.Popen(["sleep", "60"], cwd=bench.workspace) as stranger:
        try:
            outcome = bench.python(
                PRELUDE
                + """
stranger, host, fd = sys.argv[1:]
work = os.getcwd()
for path in (f"/proc/{stranger}/root{work}/kept", f"/proc/{stranger}/cwd/kept", f"/proc/{host}/fd/{fd}", f"/proc/./{host}/fd/{fd}"):
    os.path.lexists("door") and os.remove("door"); os.symlink(path, "door")
    for name in (path, "door"):
        for attempt in (lambda: os.chmod(name, 0o777), lambda: open(name, "w"), lambda: os.truncate(name, 0)):
            try: attempt()
            except OSError: print("refused")
            else: print("LEAK", name)
os.chmod("/proc/self/cwd/kept", 0o600); os.chmod(f"/proc/{os.getpid()}/cwd/kept", 0o600)
import threading
threading.Thread(target=lambda: os.chmod(f"/proc/{os.getpid()}/cwd/kept", 0o640)).start()
""",
                stranger.pid,
                os.getpid(),
                held.fileno(),
            )
        finally:
            stranger.kill()
    assert outcome.output.split() == ["refused"] * 24, outcome.output
    assert outcome.status == 0
    assert {entry["what"] for entry in outcome.attempts} == {"chmod", "write", "truncate"}
    assert bench.fingerprint() == bench.before
