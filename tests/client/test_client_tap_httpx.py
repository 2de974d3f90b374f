"""httpx and httpx2, sync and async: recorded against a server, then replayed without it."""

from __future__ import annotations

from pathlib import Path

import fake_host
import pytest
import tap_server

AGENT = r"""
import sys, asyncio, hashlib, importlib
base, refused, name = sys.argv[1:]
httpx = importlib.import_module(name)

def show(*what):
    print(*what, flush=True)

def told(error):
    show(type(error).__module__, type(error).__name__, error, type(error.__cause__).__name__, getattr(error, "request", None))

client = httpx.Client(timeout=5)
r = client.get(base + "/json"); show(r.status_code, r.reason_phrase, r.http_version, r.json(), r.headers["x-twice"], r.is_closed)
show(client.get(base + "/gzip").text[:9], client.get(base + "/br").content, client.get(base + "/nothing").content, client.head(base + "/gzip_empty_head").content)
r = client.get(base + "/redirect", follow_redirects=True); show(r.url.path, [h.status_code for h in r.history], client.cookies.get("crumb"))
show(client.post(base + "/echo", json={"a": 1}).json(), client.post(base + "/echo", content=(p for p in [b"a", b"b"])).json())
with client.stream("GET", base + "/stream") as r:
    show(list(r.iter_raw()))
with client.stream("GET", base + "/stream") as r:
    show(list(r.iter_lines()))
with client.stream("GET", base + "/stream") as r:
    show(next(r.iter_text()))
with client.stream("GET", base + "/big") as r:
    show(hashlib.sha256(b"".join(r.iter_bytes(1000))).hexdigest(), r.num_bytes_downloaded)
show([client.get(base + "/count").text for _ in range(3)])
for path in ("/cut_length", "/cut_chunked", "/reset", "/silence"):
    got = []
    try:
        with client.stream("GET", base + path) as r:
            for chunk in r.iter_raw():
                got.append(chunk)
    except Exception as error:
        show(path, got)
        told(error)
for path in ("/slow_head", "/slow_body"):
    try:
        client.get(base + path, timeout=0.2)
    except Exception as error:
        told(error)
try:
    client.get(refused)
except Exception as error:
    told(error)
def invented(request):
    return httpx.Response(201, json={"asked": request.url.path}, headers={"x-made": "up"})
mock = httpx.Client(transport=httpx.MockTransport(invented))
r = mock.get("http://nowhere.invalid/x"); show(r.status_code, r.json(), r.headers["x-made"])
with mock.stream("GET", "http://nowhere.invalid/y") as r:
    show(r.text)

async def main():
    async with httpx.AsyncClient(timeout=5) as client:
        r = await client.get(base + "/json"); show(r.status_code, r.json())
        async with client.stream("GET", base + "/stream") as r:
            show([chunk async for chunk in r.aiter_raw()])
        async with client.stream("GET", base + "/stream") as r:
            async for line in r.aiter_lines():
                show(line); break
        show(await asyncio.gather(*(ask(client, n) for n in range(6))))
        for path in ("/cut_chunked", "/reset", "/silence"):
            try:
                await client.get(base + path)
            except Exception as error:
                told(error)
        try:
            await asyncio.wait_for(client.get(base + "/slow_head"), 0.2)
        except asyncio.TimeoutError as error:
            show("gave up", type(error).__name__)
        try:
            async with client.stream("GET", base + "/slow_body") as r:
                async def rest():
                    async for chunk in r.aiter_raw():
                        show(chunk)
                await asyncio.wait_for(rest(), 0.2)
        except asyncio.TimeoutError as error:
            show("gave up", type(error).__name__)
        try:
            await client.get(refused)
        except Exception as error:
            told(error)
        mock = httpx.AsyncClient(transport=httpx.MockTransport(invented))
        show((await mock.post("http://nowhere.invalid/z", content=b"sent")).json())

async def ask(client, n):
    r = await client.post(base + "/echo", content=b"%d" % n)
    return r.json()["sha"]

asyncio.run(main())
"""


@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_httpx_is_replayed_as_it_was(tmp_path: Path, name: str) -> None:
    fake_host.needs(name)
    refused = f"http://127.0.0.1:{tap_server.refused_port()}"
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, AGENT, server.url, refused, name)
        args = (server.url, refused, name)
    for error in ("ConnectError", "ReadTimeout", "RemoteProtocolError", "gave up"):
        assert error in first.out
    assert {call.last["state"] for call in host.calls} == {"eof", "closed", "broken", "failed", "cancelled"}
    fake_host.same(host, first, AGENT, *args)


STREAM = r"""
import sys, httpx
with httpx.Client() as client, client.stream("POST", sys.argv[1] + "/gated") as r:
    print(list(r.iter_raw()))
"""


def test_the_first_chunk_is_told_before_the_last_is_sent(tmp_path: Path) -> None:
    with tap_server.serving() as server, fake_host.hosting(tmp_path) as host:
        host.heard = lambda kind, call, data: server.gate.set() if data.startswith(b"data: first") else None
        first = fake_host.run(host, STREAM, server.url)
        args = (server.url,)
    assert first.out == "[b'data: first\\n\\n', b'data: heard\\n\\n']\n", first.err
    fake_host.same(host, first, STREAM, *args)


LOOKED_FOR = r"""
import importlib.util, sys
found = importlib.util.find_spec("httpx")
print(found.name, found.loader.is_package("httpx"), bool(found.loader.get_code("httpx")))
import httpx
print(httpx.__spec__.loader is httpx.__loader__, type(httpx.__loader__).__name__)
print(httpx.get(sys.argv[1] + "/json").status_code)
sys.modules.pop("httpx")
import httpx
print(httpx.get(sys.argv[1] + "/json").status_code)
importlib.reload(httpx)
print(httpx.get(sys.argv[1] + "/count").text)
"""


def test_a_module_that_was_only_looked_for_is_tapped_when_it_is_imported(tmp_path: Path) -> None:
    """`importlib.util.find_spec` before the import, a second import and a reload must not lose the tap (nor double it)."""
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, LOOKED_FOR, server.url)
        args = (server.url,)
    assert len(host.of("http")) == 3
    assert first.out.splitlines()[1] == "True SourceFileLoader"
    fake_host.same(host, first, LOOKED_FOR, *args)
