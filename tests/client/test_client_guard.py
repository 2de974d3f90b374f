"""The audit hook, in interpreters of their own (a hook cannot be taken off)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tachograph.client.guard as guard

#: A program gets ``OUT``, ``PORT`` and ``refused(f)``, and prints what was reported as its last line.
PRELUDE = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {source!r})
import json, os, shutil, socket, subprocess, tempfile
from tachograph.client import guard
OUT, WORK = {out!r}, os.getcwd()
reports = []
guard.install([WORK], reports.append{options})
def refused(f):
    try: f()
    except PermissionError as error: assert error.errno == 13, error; return True
    except OSError as error: return error.errno
    return False
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "outside" / "sub").mkdir(parents=True)
    for file in ("outside/kept", "outside/sub/deep", "work/kept"):
        (tmp_path / file).write_text("original\n")
    return Path(os.path.realpath(tmp_path / "outside"))


def run(outside: Path, code: str, *, options: str = "", python: str = sys.executable) -> tuple[Any, list[dict[str, Any]]]:
    source = str(Path(guard.__file__).parents[2])
    program = PRELUDE.format(source=source, out=str(outside), options=options) + code + "\nprint(json.dumps([result, reports]))\n"
    done = subprocess.run(
        [python, "-c", program], cwd=outside.parent / "work", capture_output=True, text=True, env={"PATH": os.environ["PATH"]}
    )
    assert done.returncode == 0, done.stderr
    result, reports = json.loads(done.stdout.splitlines()[-1])
    return result, reports


CHANGES = [
    ("open(OUT + '/kept', 'w')", "write", "kept"),
    ("open(OUT + '/new', 'x')", "write", "new"),
    ("open(os.fsencode(OUT + '/kept'), 'r+b')", "write", "kept"),
    ("open('../outside/kept', 'a')", "write", "kept"),
    ("os.open(OUT + '/kept', os.O_RDWR)", "write", "kept"),
    ("os.symlink(OUT, 'door') or open('door/kept', 'w')", "write", "kept"),
    ("os.symlink(OUT + '/new', 'door') or open('door', 'w')", "write", "new"),
    ("__import__('pathlib').Path(OUT, 'kept').write_text('x')", "write", "kept"),
    ("os.remove(OUT + '/kept')", "unlink", "kept"),
    ("os.unlink('kept', dir_fd=os.open(OUT, os.O_RDONLY))", "unlink", "kept"),
    ("os.rmdir(OUT + '/sub')", "rmdir", "sub"),
    ("os.mkdir(OUT + '/new')", "mkdir", "new"),
    ("os.makedirs(OUT + '/new/er')", "mkdir", "new"),
    ("os.truncate(OUT + '/kept', 0)", "truncate", "kept"),
    ("os.symlink('x', OUT + '/new')", "symlink", "new"),
    ("os.chmod(OUT + '/kept', 0o777)", "chmod", "kept"),
    ("os.chown(OUT + '/kept', 1, 1)", "chown", "kept"),
    ("os.utime(OUT + '/kept')", "utime", "kept"),
    ("shutil.copy('kept', OUT)", "write", "kept"),
    ("shutil.copytree(WORK, OUT + '/new')", "mkdir", "new"),
    ("shutil.rmtree(OUT + '/sub')", "unlink", "sub/deep"),
    ("tempfile.mkdtemp(dir=OUT, prefix='new')", "mkdir", "new"),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "what", "where"), CHANGES, ids=[row[0][:50] for row in CHANGES])
def test_a_change_outside_is_refused_and_reported_with_its_line(outside: Path, attempt: str, what: str, where: str) -> None:
    result, reports = run(outside, f"result = refused(lambda: {attempt})")
    assert result is True
    first = reports[0]
    assert (first["what"], first["by"]) == (what, "audit")
    assert first["where"].startswith(str(outside / where))
    assert 1 <= len(first["stack"]) <= 5
    assert any(line.startswith("<string>:") and line.endswith(" <lambda>") for line in first["stack"])
    assert not any("tachograph" in line for line in first["stack"])
    assert sorted(path.name for path in outside.iterdir()) == ["kept", "sub"]
    assert (outside / "kept").read_text() == "original\n"


@pytest.mark.parametrize(
    ("attempt", "what", "where"),
    [
        ("os.rename(OUT + '/kept', 'stolen')", "rename", "{out}/kept -> {work}/stolen"),
        ("os.replace('kept', OUT + '/kept')", "rename", "{work}/kept -> {out}/kept"),
        ("os.link(OUT + '/kept', 'second')", "link", "{out}/kept -> {work}/second"),
    ],
)
def test_a_call_with_two_paths_names_both(outside: Path, attempt: str, what: str, where: str) -> None:
    result, reports = run(outside, f"result = refused(lambda: {attempt})")
    assert result is True
    assert [(r["what"], r["where"]) for r in reports] == [(what, where.format(out=outside, work=outside.parent / "work"))]


NETWORK = [
    ("socket.socket().connect(('127.0.0.1', 8080))", "connect", "127.0.0.1:8080"),
    ("socket.socket().connect_ex(('127.0.0.1', 8080))", "connect", "127.0.0.1:8080"),
    ("socket.socket(socket.AF_INET6).connect(('::1', 8080))", "connect", "[::1]:8080"),
    ("socket.socket().bind(('127.0.0.1', 0))", "bind", "127.0.0.1:0"),
    ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))", "sendto", "127.0.0.1:53"),
    ("socket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('127.0.0.1', 53))", "sendto", "127.0.0.1:53"),
    ("socket.getaddrinfo('localhost', 8080)", "getaddrinfo", "localhost:8080"),
    ("socket.create_connection(('127.0.0.1', 8080))", "getaddrinfo", "127.0.0.1:8080"),
    ("socket.gethostbyname('localhost')", "gethostbyname", "localhost"),
    ("socket.gethostbyaddr('127.0.0.1')", "gethostbyaddr", "127.0.0.1"),
    ("__import__('urllib.request').request.urlopen('http://127.0.0.1:8080/')", "getaddrinfo", "127.0.0.1:8080"),
]


@pytest.mark.parametrize(("attempt", "what", "where"), NETWORK, ids=[row[0][:50] for row in NETWORK])
def test_the_address_that_was_meant_is_reported(outside: Path, attempt: str, what: str, where: str) -> None:
    result, reports = run(outside, f"result = refused(lambda: {attempt}) is not False")  # urllib wraps the error in its own
    assert result is True
    assert [(r["what"], r["where"], r["by"]) for r in reports] == [(what, where, "audit")]


def test_asyncio_names_its_address_too(outside: Path) -> None:
    code = "import asyncio\nresult = refused(lambda: asyncio.run(asyncio.open_connection('127.0.0.1', 8080)))"
    result, reports = run(outside, code)
    assert result is True
    assert [(r["what"], r["where"]) for r in reports] == [("connect", "127.0.0.1:8080")]


def test_unix_sockets_stay(outside: Path) -> None:
    result, reports = run(
        outside,
        """
server = socket.socket(socket.AF_UNIX); server.bind("s"); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect("s"); client.sendmsg([b"hello"])
result = server.accept()[0].recv(5).decode()
a, b = socket.socketpair()
a.send(b"x")
""",
    )
    assert (result, reports) == ("hello", [])


def test_where_the_kernel_refuses_sockets_the_line_is_known(outside: Path) -> None:
    code = """
def agent(): socket.socket()
others = (lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), lambda: socket.socket(socket.AF_UNIX))
result = [refused(agent), *map(refused, others)]
"""
    result, reports = run(outside, code, options=", refuse_sockets=True")
    assert result == [True, True, False]
    assert [(r["what"], r["where"]) for r in reports] == [("socket", "AF_INET SOCK_STREAM")]
    assert reports[0]["stack"][1].endswith(" agent")


def test_a_library_that_only_tries_out_ipv6_is_not_reported(outside: Path) -> None:
    pytest.importorskip("urllib3")
    code = "import urllib3.util.connection as c\nresult = c.HAS_IPV6"
    assert run(outside, code, options=", refuse_sockets=True") == (False, [])


def test_what_fails_by_itself_and_what_changes_nothing_is_left_alone(outside: Path) -> None:
    result, reports = run(
        outside,
        """
result = [refused(f) for f in (
    lambda: os.mkdir(OUT + "/sub"), lambda: os.remove(OUT + "/missing"), lambda: open(OUT + "/missing/new", "w"),
    lambda: os.open(OUT + "/missing", os.O_WRONLY), lambda: open(OUT + "/kept", "x"), lambda: open(OUT, "w"),
    lambda: os.rename(OUT + "/missing", "here"), lambda: os.chmod(OUT + "/missing", 0), lambda: os.rmdir(OUT + "/missing"),
    lambda: open(OUT + "/kept").read(), lambda: os.makedirs(OUT + "/sub", exist_ok=True), lambda: os.listdir(OUT),
    lambda: open(os.devnull, "w"), lambda: os.open("/dev/null", os.O_RDWR), lambda: open(os.dup(1), "w"),
    lambda: open("new", "w").close(), lambda: os.rename("new", "newer"), lambda: os.chmod("newer", 0o600),
    lambda: os.utime(os.open(OUT + "/kept", os.O_RDONLY)), lambda: subprocess.run(["true"], stdin=subprocess.DEVNULL),
    lambda: shutil.rmtree(OUT + "/missing", ignore_errors=True),
)]
""",
    )
    assert result == [17, 2, 2, 2, 17, 21, 2, 2, 2] + [False] * 12
    assert reports == []


def test_an_agent_that_ignores_errors_may_go_on_ignoring_them(outside: Path) -> None:
    result, reports = run(outside, "result = refused(lambda: shutil.rmtree(OUT + '/sub', ignore_errors=True))")
    assert result is False
    assert {r["what"] for r in reports} == {"unlink", "rmdir"}
    assert (outside / "sub" / "deep").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the hook has to decide alone")
def test_the_times_of_a_link_that_leads_out_may_be_set(outside: Path) -> None:
    result, reports = run(
        outside,
        "os.mkdir('tree'); os.symlink(OUT + '/kept', 'tree/door')\n"
        "result = refused(lambda: shutil.copytree('tree', 'copy', symlinks=True))",
    )
    assert (result, reports) == (False, [])


def test_nothing_but_a_refusal_reaches_the_agent(outside: Path) -> None:
    result, reports = run(
        outside,
        """
def broken(entry): raise ValueError("the host is gone")
guard.install([WORK], broken)
for event in ("open", "os.rename", "os.mkdir", "os.chmod", "socket.connect", "socket.__new__", "socket.getaddrinfo"):
    for arguments in ((), (None,), (object(), object(), object()), ("\\0", "w", 1), ("x" * 10000, -1, "y")):
        try: sys.audit(event, *arguments)
        except PermissionError: pass
reports.clear()
result = [refused(lambda: os.mkdir(OUT + "/new")), refused(lambda: 0)]
""",
    )
    assert result == [True, False]
    assert len(reports) == 1


def test_the_report_may_write_and_connect_itself(outside: Path) -> None:
    result, _ = run(
        outside,
        """
def log(entry):
    with open(OUT + "/log", "a") as file: file.write(entry["what"] + "\\n")
os.chdir(OUT)
for path in (WORK,): guard.install([path, OUT + "/log"], log)
result = [refused(lambda: os.mkdir(OUT + "/new")), refused(lambda: open(OUT + "/log", "a").close())]
""",
    )
    assert result[0] is True


def test_forked_children_are_refused_as_well(outside: Path) -> None:
    result, _ = run(
        outside,
        """
child = os.fork()
if not child: os._exit(42 if refused(lambda: os.remove(OUT + "/kept")) is True else 1)
result = os.WEXITSTATUS(os.waitpid(child, 0)[1])
""",
    )
    assert result == 42


WATCH = """
import sys
sys.dont_write_bytecode = {quiet}
sys.path.insert(0, {source!r})
import json, os, subprocess, tempfile, sqlite3
from tachograph.client import guard
read = guard.install_watch()
def grows(f):
    before = read(); f(); return read() > before
"""


def test_the_watch_counts_what_may_have_changed_a_file(tmp_path: Path) -> None:
    source = str(Path(guard.__file__).parents[2])
    (tmp_path / "module.py").write_text("x = 1\n")
    code = (
        WATCH.format(source=source, quiet=True)
        + """
changing = [grows(f) for f in (
    lambda: open("f", "w").close(), lambda: open("f", "a").close(), lambda: os.close(os.open("f", os.O_RDWR)),
    lambda: os.rename("f", "g"), lambda: os.mkdir("d"), lambda: os.rmdir("d"), lambda: os.chmod("g", 0o600),
    lambda: os.utime("g"), lambda: os.truncate("g", 0), lambda: os.symlink("g", "s"), lambda: os.remove("g"),
    lambda: subprocess.run(["true"]), lambda: os.system("true"), lambda: sqlite3.connect("db").close(),
    lambda: tempfile.mkstemp(),
)]
def imports():
    sys.path.insert(0, os.getcwd()); sys.dont_write_bytecode = False
    import module
keeping = [grows(f) for f in (
    lambda: open("db").close(), lambda: os.listdir("."), lambda: os.stat("db"), lambda: open(os.devnull, "w").close(), imports,
)]
print(json.dumps([changing, keeping, os.path.exists("__pycache__")]))
"""
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    changing, keeping, cached = json.loads(done.stdout)
    assert changing == [True] * 15
    assert keeping == [False] * 5
    assert cached


def test_it_runs_on_the_oldest_python_that_agents_use(outside: Path) -> None:
    python = shutil.which("python3.9")
    if not python or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip("no Python 3.9 here")
    result, reports = run(outside, "result = [refused(lambda: os.mkdir(OUT + '/new')), refused(lambda: open('f', 'w'))]", python=python)
    assert result == [True, False]
    assert [r["what"] for r in reports] == ["mkdir"]
