"""How taps are installed: when their library is imported, and what happens when it is not the library that they know."""

from __future__ import annotations

from pathlib import Path

import fake_host
import tap_server

STRANGE = r"""
import sys, types, urllib.request
from tachograph.client import taps
import urllib3
print(urllib3.answer(), dict(taps.failed))
"""


def _strange_library(folder: Path) -> None:
    package = folder / "urllib3"
    package.mkdir()
    (package / "__init__.py").write_text("from . import connectionpool\ndef answer(): return 42\n")
    (package / "connectionpool.py").write_text("class HTTPConnectionPool: pass\n")


def test_a_library_of_another_shape_is_left_alone_and_named(tmp_path: Path) -> None:
    _strange_library(tmp_path)
    _, ran = fake_host.record(tmp_path, STRANGE)
    assert ran.out.startswith("42 {'urllib3.connectionpool': ")


def test_in_a_replay_it_may_not_run_untapped(tmp_path: Path) -> None:
    _strange_library(tmp_path)
    tape, _ = fake_host.record(tmp_path, STRANGE)
    _, ran = fake_host.replay(tape, STRANGE)
    assert ran.code != 0
    assert "42" not in ran.out


def test_nothing_is_imported_by_installing_the_taps(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "libraries = {'httpx', 'httpx2', 'urllib3', 'aiohttp', 'urllib.request', 'asyncio', 'multiprocessing', 'http.client', 'ssl'}\n"
        "print(sorted(libraries & set(sys.modules)))\n"
    )
    _, ran = fake_host.record(tmp_path, script)
    assert ran.out == "[]\n"


WITHOUT_HOST = r"""
import asyncio, os, subprocess, sys, urllib.request, httpx, requests
base = sys.argv[1]
def all_of_it():
    out = [urllib.request.urlopen(base + "/gzip_chunked").read(20), requests.get(base + "/gzip").text[:8], httpx.get(base + "/json").json()]
    out.append([len(chunk) for chunk in requests.post(base + "/stream", data=(p for p in [b"a"]), stream=True).iter_content(7)])
    out.append(subprocess.run(["cat"], input=b"through", capture_output=True).stdout)
    p = subprocess.Popen("echo one; exit 3", shell=True, stdout=subprocess.PIPE)
    out.append((p.stdout.readline(), p.wait(), os.system("exit 2")))
    async def later():
        p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
        async with httpx.AsyncClient() as client:
            return await p.communicate(b"async"), p.returncode, (await client.get(base + "/json")).status_code
    out.append(asyncio.run(later()))
    if os.fork() == 0:
        print(urllib.request.urlopen(base + "/json").status, flush=True)
        os._exit(0)
    os.wait()
    return out
print(all_of_it() == all_of_it() == all_of_it(), flush=True)
"""


def test_the_agent_goes_on_when_the_host_is_gone(tmp_path: Path) -> None:
    fake_host.needs("httpx")
    for lives in (0, 1, 7, 60):  # messages
        with tap_server.serving() as server, fake_host.hosting(tmp_path) as host:
            host.lives = lives
            ran = fake_host.run(host, WITHOUT_HOST, server.url)
        assert (ran.code, ran.out, ran.err) == (0, "200\n200\n200\nTrue\n", ""), lives
