"""Where a guard is missing the others hold, the report says which, and nothing that could harm is done quietly."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tachograph.replay.guard import (
    GuardError,
    GuardPlan,
    Supervisor,
    available,
    discard,
    enter,
    kernel,
    landlock,
    mount,
    namespace,
    probe,
    receive,
    seccomp,
)

ATTEMPTS = """
import os, socket
out = os.environ["OUTSIDE"]
def attempt(f):
    try: f()
    except OSError as error: print(error.errno, end=" ")
    else: print("done", end=" ")
for f in (
    lambda: open(out + "/kept", "w"), lambda: os.remove(out + "/kept"), lambda: os.rename("kept", out + "/new"),
    lambda: os.truncate(out + "/kept", 0), lambda: os.chmod(out + "/kept", 0o777), lambda: socket.socket(),
    lambda: open("kept", "w"), lambda: os.kill(os.getppid(), 28),
): attempt(f)
"""


def fail(*_: Any, **__: Any) -> Any:
    raise OSError(38, "not on this kernel")


def test_without_landlock_the_supervisor_refuses(bench: Any) -> None:
    def lose() -> None:
        landlock.restrict = fail

    outcome = bench.python(ATTEMPTS, before=lose)
    assert outcome.guards["landlock"] == "[Errno 38] not on this kernel"
    assert outcome.output.split() == ["13", "13", "13", "13", "1", "13", "done", "1"]
    assert bench.fingerprint() == bench.before
    assert {(entry["what"], entry["by"]) for entry in outcome.attempts} == {
        (what, "seccomp") for what in ("write", "unlink", "rename", "truncate", "chmod", "socket", "kill")
    }


def test_a_low_landlock_abi_leaves_the_rest_to_the_supervisor(bench: Any) -> None:
    def age() -> None:
        landlock.abi = lambda: 1

    outcome = bench.python(ATTEMPTS, before=age)
    assert outcome.guards["landlock"] == 1
    assert outcome.output.split() == ["13", "13", "18", "13", "1", "13", "done", "1"]
    assert bench.fingerprint() == bench.before
    by = {entry["what"]: entry["by"] for entry in outcome.attempts}
    assert (by["write"], by["truncate"]) == ("landlock", "seccomp")


def test_a_kernel_that_announces_more_landlock_than_it_has(bench: Any) -> None:
    def boast() -> None:
        real = landlock._ruleset
        landlock._ruleset = lambda level: fail() if level > 3 else real(level)

    outcome = bench.python(ATTEMPTS, before=boast)
    assert outcome.guards["landlock"] == 3
    assert bench.fingerprint() == bench.before


def test_without_a_listener_sockets_and_files_are_refused_unnamed(bench: Any) -> None:
    def age() -> None:
        kernel.release = lambda: (5, 4)

    # What only a supervisor could refuse (chmod) is done here: the program must not be given one that matters.
    outcome = bench.python(ATTEMPTS.replace('lambda: os.chmod(out + "/kept", 0o777)', "lambda: fail()"), before=age)
    assert outcome.guards["seccomp"] == "refuses, but cannot name (kernel older than 5.6)"
    assert outcome.output.split()[:4] == ["13", "13", "18", "13"]
    assert bench.fingerprint() == bench.before
    assert outcome.attempts == []


def test_a_second_supervisor_is_impossible_and_said_so(bench: Any) -> None:
    """As in a container whose runtime supervises already."""

    def supervised() -> None:
        kernel.no_new_privileges()
        seccomp._install(seccomp.program(seccomp.table.ARCHES[kernel.MACHINE], named=False), seccomp._NEW_LISTENER)

    outcome = bench.python("import socket\ntry: socket.socket()\nexcept OSError: print('refused')", before=supervised)
    assert outcome.guards["seccomp"].startswith("refuses, but cannot name (")
    assert outcome.output.strip() == "refused"


def test_without_any_filter_the_report_says_why(bench: Any) -> None:
    def lose() -> None:
        seccomp.install = fail

    outcome = bench.python("import os\ntry: open(os.environ['OUTSIDE'] + '/kept', 'w')\nexcept OSError: print('refused')", before=lose)
    assert outcome.guards["seccomp"] == "[Errno 38] not on this kernel"
    assert outcome.output.strip() == "refused"


def test_on_another_system_nothing_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel, "LINUX", False)
    assert available() == {
        "seccomp": "seccomp is a part of Linux",
        "landlock": "Landlock is a part of Linux",
        "namespace": "none",
        "shm": "shared",
    }
    assert probe(tmp_path).best == "none"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        plan = GuardPlan(workspace=tmp_path / "w", scratch=tmp_path / "s", tmp=tmp_path / "s/tmp", mount="none", source=tmp_path / "s/w")
        mount(plan)
        enter(plan, theirs)
        fd, guards = receive(ours)
    assert fd is None
    assert guards == {
        "namespace": "none",
        "shm": "shared",
        "seccomp": "seccomp is a part of Linux",
        "landlock": "Landlock is a part of Linux",
    }


def test_a_copied_tree_is_shown_at_the_recorded_path(bench: Any) -> None:
    copy = bench.plan.scratch / "tree"
    shutil.copytree(bench.workspace, copy)
    bench.plan = replace(bench.plan, mount="bind", source=copy)
    outcome = bench.python(ATTEMPTS + "print(os.getcwd()); open('kept', 'w').write('edited')")
    assert outcome.guards["namespace"] == "bind"
    assert outcome.output.split()[-1] == str(bench.workspace)
    assert (copy / "kept").read_text() == "edited"
    assert bench.fingerprint() == bench.before


def test_without_a_namespace_the_agent_works_in_the_copy_and_the_original_is_closed(bench: Any) -> None:
    copy = bench.plan.scratch / "tree"
    shutil.copytree(bench.workspace, copy)
    bench.plan = replace(bench.plan, mount="none", source=copy)
    outcome = bench.python(
        "import os, sys\nprint(os.getcwd()); open('kept', 'w').write('edited')\nopen(sys.argv[1], 'w')", bench.workspace / "kept"
    )
    assert outcome.guards["shm"] == "shared"
    assert outcome.output.startswith(str(copy))
    assert (copy / "kept").read_text() == "edited"
    assert bench.fingerprint() == bench.before
    assert outcome.named() == {("write", str(bench.workspace / "kept"), "landlock")}


@pytest.mark.parametrize("mode", ["overlay", "bind"])
def test_the_original_is_never_opened_for_writing_in_place_of_the_scratch(bench: Any, mode: Any) -> None:
    """``enter`` without ``mount`` would allow writing to the original: nothing runs."""
    source = None if mode == "overlay" else bench.outside
    plan = replace(bench.plan, mount=mode, source=source)
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(GuardError, match="is the original"):
        enter(plan, theirs)


def test_a_mount_that_fails_is_an_error(bench: Any) -> None:
    bench.plan = replace(bench.plan, workspace=bench.top / "missing")
    outcome = bench.run(["true"])
    assert outcome.status == 97
    assert outcome.output.startswith("GuardError: cannot show the scratch workspace at")
    assert "ended before it was under guard" in outcome.guards["error"]


@pytest.mark.parametrize(("mode", "source"), [("overlay", Path("/x")), ("bind", None), ("none", None)])
def test_a_plan_that_contradicts_itself_is_refused(mode: Any, source: Path | None) -> None:
    with pytest.raises(GuardError, match="only a copied tree has a source"):
        GuardPlan(workspace=Path("/w"), scratch=Path("/s"), tmp=Path("/s/tmp"), mount=mode, source=source)


def test_odd_names_are_mounted_and_told_apart(bench: Any) -> None:
    odd = bench.top / "a,b:c\\d e\té"
    for made in ("work", "work-not", "scratch"):
        (odd / made).mkdir(parents=True)
    bench.plan = replace(bench.plan, workspace=odd / "work", scratch=odd / "scratch", tmp=odd / "scratch" / "tmp")
    outcome = bench.python("open('new', 'w').write('x'); print('inside'); open('../work-not/new', 'w')")
    assert outcome.output.startswith("inside"), outcome.output
    assert outcome.named() == {("write", str(odd / "work-not" / "new"), "landlock")}
    assert (odd / "scratch" / "upper" / "new").read_text() == "x"
    assert list((odd / "work").iterdir()) == []
    discard(odd / "scratch")


def test_the_merged_workspace_looks_like_the_original(bench: Any) -> None:
    bench.workspace.chmod(0o2750)
    outcome = bench.python("import os; s = os.stat('.'); print(oct(s.st_mode), s.st_uid, s.st_gid)")
    status = bench.workspace.stat()
    assert outcome.output.split() == [oct(status.st_mode), str(status.st_uid), str(status.st_gid)]
    assert bench.plan.scratch.stat().st_mode & 0o777 == 0o700


def test_the_probe_tells_the_truth_about_renaming(bench: Any) -> None:
    found = probe(bench.top)
    assert (found.overlay, found.bind, found.best) == (True, True, "overlay")
    outcome = bench.python("import os\ntry: os.rename('sub', 'moved')\nexcept OSError as error: print(error.errno)\nelse: print('renamed')")
    assert outcome.output.strip() == ("renamed" if found.renames else "18")
    assert list(bench.top.glob("tachograph-probe-*")) == []


@pytest.fixture
def waiting(bench: Any) -> Any:
    """A guarded program that waits, then opens a file for writing: (listener, "go on, and what was the error")."""
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    until, gone = os.pipe()
    child = os.fork()
    if not child:
        try:
            mount(bench.plan)
            os.chdir(bench.workspace)
            os.dup2(until, 0)
            os.dup2(write, 1)
            os.close(gone)
            enter(bench.plan, theirs)
            code = "import sys\nsys.stdin.read()\ntry: open('kept', 'w')\nexcept OSError as error: print(error.errno)"
            os.execvp(sys.executable, [sys.executable, "-c", code])
        finally:
            os._exit(97)
    os.close(write)
    os.close(until)
    theirs.close()
    fd, _ = receive(ours)
    assert fd is not None

    def go_on() -> str:
        os.close(gone)
        with open(read) as pipe:
            return pipe.read().strip()

    yield fd, go_on
    os.kill(child, 9)
    os.waitpid(child, 0)
    ours.close()


def test_when_the_host_is_gone_writes_fail_closed(waiting: Any) -> None:
    fd, go_on = waiting
    os.close(fd)
    assert go_on() == "38"


def test_a_supervisor_that_is_closed_leaves_nobody_waiting(bench: Any, waiting: Any) -> None:
    fd, go_on = waiting
    supervisor = Supervisor(fd, writable=bench.plan.writable, report=print)
    assert not supervisor.wait(0)
    supervisor.close()
    supervisor.close()
    assert supervisor.wait(0)
    assert go_on() == "38"


def test_an_error_of_our_own_refuses_and_is_told(bench: Any, waiting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fd, go_on = waiting
    monkeypatch.setattr(Supervisor, "_judge", lambda *_: 1 // 0)
    with Supervisor(fd, writable=bench.plan.writable, report=lambda _: fail()) as supervisor:
        assert go_on() == "13"
        assert supervisor.wait(60)
    assert isinstance(supervisor.defect, ZeroDivisionError)
    assert [(entry["what"], entry["path"]) for entry in supervisor.attempts] == [("defect", "ZeroDivisionError")]


UNPRIVILEGED = """
import json, os, socket, sys
from pathlib import Path
from tachograph.replay.guard import GuardPlan, Supervisor, discard, enter, mount, probe, receive
top = Path(sys.argv[1])
plan = GuardPlan(workspace=top / "work", scratch=top / "scratch", tmp=top / "scratch" / "tmp")
if probe(top).best != "overlay":
    print(json.dumps({"skip": probe(top).why})); sys.exit()
ours, theirs = socket.socketpair()
read, write = os.pipe()
if not os.fork():
    os.dup2(write, 1)
    mount(plan); os.chdir(plan.workspace); enter(plan, theirs)
    script = "id -u; echo edited > kept; cat kept; echo x > ../outside; (setsid chmod 777 ../outside); touch ../new"
    os.execvp("sh", ["sh", "-c", script])
os.close(write)
fd, guards = receive(ours)
with Supervisor(fd, writable=plan.writable, report=lambda entry: None, landlock=guards["landlock"]) as supervisor:
    supervisor.wait()
    attempts = sorted({(a["what"], a["path"]) for a in supervisor.attempts})
print(json.dumps({"guards": guards, "output": open(read).read(), "attempts": attempts, "user": probe(top).user,
                  "original": (plan.workspace / "kept").read_text()}))
discard(plan.scratch)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="an ordinary user's run is what all other tests are then")
def test_an_ordinary_user_gets_the_same_guard_from_a_user_namespace(guards: dict[str, Any]) -> None:
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    source = Path(namespace.__file__).parents[3]
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    test = "import sys, tachograph.replay.guard; sys.exit(sys.version_info < (3, 11))"
    if (
        not python
        or subprocess.run([python, "-c", test], cwd="/", env={"PYTHONPATH": str(source)}, capture_output=True, **nobody).returncode
    ):
        pytest.skip("no interpreter that another user may run")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        top = Path(directory)
        (top / "work").mkdir()
        for file in ("work/kept", "outside"):
            (top / file).write_text("original\n")
        for path in (top, *top.rglob("*")):
            os.chown(path, 65534, 65534)
        done = subprocess.run(
            [python, "-c", UNPRIVILEGED, directory],
            cwd="/",
            env={"PYTHONPATH": str(source), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            **nobody,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        if "skip" in found:
            pytest.skip(found["skip"])
        assert found["user"] is True
        assert found["guards"]["namespace"] == "overlay"
        assert found["guards"]["seccomp"] is True
        assert found["output"] == "65534\nedited\n"
        assert found["original"] == (top / "outside").read_text() == "original\n"
        assert found["attempts"] == [["chmod", f"{top}/outside"], ["write", f"{top}/new"], ["write", f"{top}/outside"]]
        assert (top / "outside").stat().st_mode & 0o777 == 0o644
        assert not (top / "scratch").exists()
