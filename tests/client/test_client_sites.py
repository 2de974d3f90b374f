"""Which line of the agent a call is told to come from, where a library's thread or task makes it."""

from __future__ import annotations

from pathlib import Path

import fake_host

LIBRARY = r"""
import asyncio, subprocess, threading
from concurrent.futures import ThreadPoolExecutor

def call(name):
    subprocess.run(["true", name])

def in_thread(name):
    thread = threading.Thread(target=call, args=(name,))
    thread.start()
    thread.join()

def in_pool(name):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(call, name).result()

def deeper(name):
    thread = threading.Thread(target=in_pool, args=(name,))
    thread.start()
    thread.join()

async def acall(name):
    call(name)

async def in_task(name):
    await asyncio.create_task(acall(name))

async def in_thread_of_task(name):
    await asyncio.to_thread(call, name)

def loop_in_thread(name):
    thread = threading.Thread(target=lambda: asyncio.run(in_task(name)))
    thread.start()
    thread.join()
"""

AGENT = r"""
import asyncio, subprocess, sys, threading
sys.path.insert(0, "site-packages")
import helper

helper.call("plain")
helper.in_thread("thread")
helper.in_pool("pool")
helper.deeper("deeper")
async def main():
    await helper.in_task("task")
    await asyncio.gather(helper.in_task("gathered"), helper.in_thread_of_task("of task"))
asyncio.run(main())
asyncio.run(helper.in_task("loop"))
helper.loop_in_thread("loop in thread")
def own(name):
    helper.call(name)
thread = threading.Thread(target=own, args=("own",))
thread.start()
thread.join()
"""


def test_calls_of_a_librarys_threads_and_tasks_come_from_where_these_were_started(tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "helper.py").write_text(LIBRARY)
    host, ran = fake_host.record(tmp_path, AGENT)
    assert ran.code == 0, ran.err
    lines = AGENT.splitlines()
    seen = {}
    for call in host.of("process"):
        before, _, place = call.header["site"].rpartition(" ")
        seen[call.request["argv"][1]] = (before, lines[int(place.rpartition(":")[2]) - 1].strip())
    started = "started at"
    assert seen == {
        "plain": ("", 'helper.call("plain")'),
        "thread": (started, 'helper.in_thread("thread")'),
        "pool": (started, 'helper.in_pool("pool")'),
        "deeper": (started, 'helper.deeper("deeper")'),
        "task": (started, 'await helper.in_task("task")'),
        "gathered": (started, 'await asyncio.gather(helper.in_task("gathered"), helper.in_thread_of_task("of task"))'),
        "of task": (started, 'await asyncio.gather(helper.in_task("gathered"), helper.in_thread_of_task("of task"))'),
        "loop": (started, 'asyncio.run(helper.in_task("loop"))'),
        "loop in thread": (started, 'helper.loop_in_thread("loop in thread")'),
        "own": ("", "helper.call(name)"),
    }
