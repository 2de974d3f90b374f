"""Forks and processes of multiprocessing: each its own lane, its own link; in a replay they start for real."""

from __future__ import annotations

from pathlib import Path

import fake_host
import pytest
import tap_server

FORK = r"""
import os, subprocess, sys, threading, urllib.request
base = sys.argv[1]
def get(path):
    return urllib.request.urlopen(base + path).read().decode()
print(get("/count?a"), flush=True)
kept = urllib.request.urlopen(base + "/stream")
first = kept.readline()
for n in range(2):
    pid = os.fork()
    if pid == 0:
        print("child", n, get("/count?b"), subprocess.check_output(["echo", "in child"]), flush=True)
        inner = os.fork()
        if inner == 0:
            print("grandchild", get("/count?c"), flush=True)
            os._exit(0)
        os.waitpid(inner, 0)
        os._exit(n + 3)
    print("exit", os.waitpid(pid, 0)[1] >> 8, flush=True)
print(get("/count?d"), first, kept.read(), flush=True)
out = subprocess.run(["sh", "-c", "exit 2"], preexec_fn=lambda: os.setpgrp())
print(out.returncode, get("/count?e"), flush=True)
def in_thread():
    pid = os.fork()
    if pid == 0:
        print("from a thread", get("/count?f"), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
t = threading.Thread(target=in_thread); t.start(); t.join()
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    os.dup2(write, 1)
    os.execv(sys.executable, [sys.executable, "-c", "import os; print(os.environ.get('TACHO_LANE'))"])
os.close(write); print(os.fdopen(read).read(), os.waitpid(pid, 0)[1], flush=True)
"""


def test_forked_children_have_their_own_lanes(tmp_path: Path) -> None:
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, FORK, server.url)
        args = (server.url,)
    forks = ["main/fork-1", "main/fork-1/fork-1", "main/fork-2", "main/fork-2/fork-1", "main/thread-1/fork-1", "main/fork-3"]
    assert [hello["lane"] for hello in host.hellos] == ["main", *forks, "main/fork-3"]
    assert [call.lane for call in host.of("process")] == ["main/fork-1", "main/fork-2", "main"]
    assert all(call.last["state"] == "eof" for call in host.calls)
    assert b"main/fork-3" in first.out.encode()
    fake_host.same(host, first, FORK, *args)


PROCESSES = r"""
import multiprocessing, os, sys, urllib.request
from concurrent.futures import ProcessPoolExecutor

def get(n):
    return urllib.request.urlopen(sys.argv[1] + "/count?%s" % n).read().decode()

def child(n, queue):
    queue.put((n, get("p%d" % n)))

def main(method):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=child, args=(n, queue)) for n in range(3)]
    for p in processes: p.start()
    print(sorted(queue.get() for _ in processes), flush=True)
    for p in processes: p.join()
    with context.Pool(2) as pool:
        print(pool.map(get, ["m%d" % n for n in range(5)], chunksize=1), flush=True)
        print(pool.apply(get, ("a",)), [r.get() for r in [pool.apply_async(get, ("x%d" % n,)) for n in range(3)]], flush=True)
        print(list(pool.imap(get, ["i%d" % n for n in range(3)])), flush=True)
        try:
            pool.apply(int, ("no number",))
        except ValueError as error:
            print(error, flush=True)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        print(list(pool.map(get, ["e%d" % n for n in range(5)])), pool.submit(get, "s").result(), flush=True)
    p = context.Process(target=print, args=("after", ), kwargs={"flush": True}); p.start(); p.join()
    print(get("end"), p.exitcode, os.environ.get("TACHO_LANE"), flush=True)

if __name__ == "__main__":
    main(sys.argv[2])
else:
    assert "TACHO_SOCKET" in os.environ
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_have_their_own_lanes(tmp_path: Path, method: str) -> None:
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, PROCESSES, server.url, method)
        args = (server.url, method)
    by_path = {call.request["url"].rpartition("?")[2]: call.lane for call in host.calls}
    assert [by_path[f"p{n}"] for n in range(3)] == ["main/mp-1", "main/mp-2", "main/mp-3"]
    assert len({by_path[f"m{n}"] for n in range(5)}) == 5
    assert [by_path[f"e{n}"] for n in range(5)] == [f"main/work-{n}" for n in range(1, 6)]
    assert by_path["end"] == "main"
    lanes = [hello["lane"] for hello in host.hellos]
    assert len(lanes) == len(set(lanes))
    assert "main/mp-4" in lanes
    fake_host.same(host, first, PROCESSES, *args)


THREADS = r"""
import sys, threading, urllib.request
from multiprocessing.pool import ThreadPool
def get(n):
    return urllib.request.urlopen(sys.argv[1] + "/count?%s" % n).read().decode()
with ThreadPool(3) as pool:
    print(pool.map(get, range(9), chunksize=1), pool.apply(get, ("a",)))
"""


def test_a_thread_pools_work_has_its_lane_whoever_does_it(tmp_path: Path) -> None:
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, THREADS, server.url)
        args = (server.url,)
    assert len({call.lane for call in host.calls}) == 10
    fake_host.same(host, first, THREADS, *args)
