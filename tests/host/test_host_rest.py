"""When is an agent at rest? Processes that sleep, work, start others, wait for time or for input."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tachograph.host.rest import Agent

pytestmark = pytest.mark.skipif(not Agent().seen, reason="this system does not show what threads do")

BLOCKED = "import threading\nprint('up', flush=True)\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"


@contextlib.contextmanager
def started(code: str, **more: object) -> Iterator[subprocess.Popen[bytes]]:
    """A Python that has printed a line."""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def silent() -> bool:
    return True


def soon(check: Callable[[], bool]) -> bool:
    """Within what any machine needs for it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if check():
            return True
        time.sleep(0.002)
    return False


def _pids() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def _parent(pid: str) -> int | None:
    try:
        return int(Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def test_blocked_threads_are_at_rest_and_wait_for_nothing_outside() -> None:
    code = BLOCKED.replace("lock.acquire()\nlock", "lock.acquire()\nthreading.Thread(target=lock.acquire, daemon=True).start()\nlock", 1)
    agent = Agent()
    with started(code) as process:
        assert soon(lambda: agent.at_rest([process.pid], silent))
        assert not agent.blocked([process.pid]).outside
    agent.close()


def test_what_is_unread_is_no_rest() -> None:
    agent = Agent()
    with started(BLOCKED) as process:
        assert soon(lambda: agent.at_rest([process.pid], silent))
        assert not agent.at_rest([process.pid], lambda: False)


def test_a_process_at_work_is_never_at_rest() -> None:
    agent = Agent()
    with started("print('up', flush=True)\nwhile True: pass") as process:
        assert not any(agent.at_rest([process.pid], silent) for _ in range(200))
        assert soon(lambda: agent.used([process.pid]) > 0.05)


def test_one_busy_thread_among_sleeping_ones_is_no_rest() -> None:
    code = "import threading, time\nfor _ in range(4): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    agent = Agent()
    with started(code + "print('up', flush=True)\nwhile True: pass") as process:
        assert not any(agent.at_rest([process.pid], silent) for _ in range(200))


def test_threads_that_wake_each_other_are_never_at_rest() -> None:
    # One of them is always awake, or woken; each sleeps most of the time.
    code = """
import threading
one, other = threading.Lock(), threading.Lock()
one.acquire(), other.acquire()
def turn(mine, its):
    while True:
        mine.acquire()
        its.release()
threading.Thread(target=turn, args=(one, other), daemon=True).start()
print("up", flush=True)
one.release()
turn(other, one)
"""
    agent = Agent()
    with started(code) as process:
        assert not any(agent.at_rest([process.pid], silent) for _ in range(3000))


def test_a_child_counts_before_it_says_anything() -> None:
    busy = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
    code = f"import os, subprocess, sys\nprint('up', flush=True)\nsubprocess.run([sys.executable, '-c', {busy!r}, str(os.getpid())])"
    agent = Agent()
    with started(code) as process:
        assert soon(lambda: process.pid in map(_parent, _pids()))
        assert not any(agent.at_rest([process.pid], silent) for _ in range(200))


def test_a_stopped_child_is_at_rest() -> None:
    code = "import os, signal\nprint('up', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)"
    agent = Agent()
    with started(code) as process:
        assert soon(lambda: agent.at_rest([process.pid], silent))


@pytest.mark.parametrize(
    "code",
    [
        "import time; print('up', flush=True); time.sleep(60)",
        "import threading; print('up', flush=True); threading.Event().wait(60)",
        "import select; print('up', flush=True); select.select([], [], [], 60)",
        "import select; print('up', flush=True); select.poll().poll(60_000)",
        "import select; print('up', flush=True); select.epoll().poll(60)",
        "import sys; print('up', flush=True); sys.stdin.readline()",
    ],
)
def test_what_waits_for_time_or_input_may_go_on_by_itself(code: str) -> None:
    agent = Agent()
    with started(code) as process:
        assert soon(lambda: agent.at_rest([process.pid], silent) and agent.blocked([process.pid]).outside)


@pytest.mark.parametrize(
    "code",
    [
        "import select; print('up', flush=True); select.epoll().poll()",
        "import asyncio; print('up', flush=True); asyncio.run(asyncio.Event().wait())",
        "import os; r, w = os.pipe(); print('up', flush=True); os.read(r, 1)",
        "import signal; print('up', flush=True); signal.pause()",
    ],
)
def test_what_waits_for_ever_does_not(code: str) -> None:
    agent = Agent()
    with started(code) as process:
        assert soon(lambda: agent.at_rest([process.pid], silent))
        assert soon(lambda: agent.at_rest([process.pid], silent) and not agent.blocked([process.pid]).outside)


def test_processes_that_are_gone_are_at_rest(tmp_path: Path) -> None:
    agent = Agent()
    with started("print('up', flush=True)") as process:
        process.wait()
        assert agent.at_rest([process.pid], silent)
    assert not Agent(str(tmp_path)).seen


def test_more_threads_than_are_kept_open() -> None:
    code = "import threading\nlock = threading.Lock(); lock.acquire()\nfor _ in range(200): threading.Thread(target=lock.acquire, daemon=True).start()\n"
    agent = Agent()
    with started(code + "print('up', flush=True)\nlock.acquire()") as process:
        assert soon(lambda: agent.at_rest([process.pid], silent))
        assert agent.state is not None
        assert len(agent.state) == 201
