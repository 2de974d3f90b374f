"""The aiohttp client: recorded against a server, then replayed without it."""

from __future__ import annotations

from pathlib import Path

import fake_host
import tap_server

AGENT = r"""
import sys, asyncio, hashlib, io, warnings
import aiohttp
warnings.simplefilter("ignore")
base, refused = sys.argv[1:]

def show(*what):
    print(*what, flush=True)

def told(name, error):
    more = [getattr(error, x, None) for x in ("host", "port", "errno", "status", "message")]
    show(name, type(error).__module__, type(error).__name__, str(error).split("0x")[0], more)

async def main():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as s:
        async with s.get(base + "/json") as r:
            show(r.status, r.reason, r.version, r.headers["X-Twice"], r.content_type, await r.json(), isinstance(r.content, aiohttp.StreamReader))
        r = await s.get(base + "/json"); show(await r.text(), r.closed, r.raw_headers[-1])
        r = await s.get(base + "/gzip"); show((await r.text())[:9], r.headers["Content-Encoding"], r.headers["Content-Length"])
        r = await s.get(base + "/gzip", auto_decompress=False); show(len(await r.read()))
        r = await s.get(base + "/gzip_chunked"); show(sum([1 async for _ in r.content]))
        r = await s.head(base + "/gzip_empty_head"); show(r.status, await r.read())
        r = await s.get(base + "/nothing"); show(r.status, await r.read())
        async with s.get(base + "/redirect") as r:
            show(r.url.path, [h.status for h in r.history], [c.key for c in s.cookie_jar])
        r = await s.post(base + "/repeat", data=b"abc"); show(await r.json())
        for data in (b"bytes", "text", {"form": "1"}, io.BytesIO(b"file" * 9)):
            r = await s.post(base + "/echo", data=data); show((await r.json()))
        r = await s.post(base + "/echo", json={"j": 1}); show(await r.json())
        async def parts():
            yield b"one"
            await asyncio.sleep(0)
            yield b"two"
        r = await s.post(base + "/echo", data=parts()); show(await r.json())
        with open(__file__, "rb") as file:
            r = await s.put(base + "/echo", data=file); show((await r.json())["framing"])
        form = aiohttp.FormData(); form.add_field("f", b"contents", filename="n.txt")
        writer = form(); writer._boundary = b"edge"
        r = await s.post(base + "/json", data=b"x", expect100=False); show(r.status); r.release()
        r = await s.get(base + "/br", auto_decompress=False); show(await r.read())
        async with s.get(base + "/stream") as r:
            show([line async for line in r.content], await r.content.readline(), await r.content.read(3), r.content.at_eof())
        async with s.get(base + "/stream") as r:
            show(await r.content.readline(), await r.content.readuntil(b"1"), await r.content.readexactly(3), await r.content.read(2), await r.content.read())
        async with s.get(base + "/stream") as r:
            show(b"".join([c async for c in r.content.iter_any()]))
        async with s.get(base + "/stream") as r:
            show([c async for c in r.content.iter_chunks()])
        async with s.get(base + "/stream") as r:
            show(await r.content.readany(), r.content.at_eof())
        async with s.get(base + "/big") as r:
            show(hashlib.sha256(b"".join([c async for c in r.content.iter_chunked(5000)])).hexdigest(), r.content.total_bytes > 0)
        async with s.get(base + "/until_close") as r:
            show(len(await r.read()))
        show([await (await s.get(base + "/count")).text() for _ in range(3)])
        for path in ("/cut_length", "/cut_chunked", "/cut_between", "/reset", "/silence", "/missing"):
            try:
                r = await s.get(base + path, raise_for_status=True)
                got = []
                try:
                    async for chunk in r.content.iter_any():
                        got.append(chunk)
                finally:
                    show(path, b"".join(got))
            except Exception as error:
                told(path, error)
        for path in ("/slow_head", "/slow_body"):
            for timeout in (aiohttp.ClientTimeout(total=0.2), aiohttp.ClientTimeout(sock_read=0.2)):
                try:
                    async with s.get(base + path, timeout=timeout) as r:
                        show(await r.read())
                except Exception as error:
                    told(path, error)
        async with s.get(base + "/slow_body") as r:
            show(await r.content.read(40))
            for _ in range(2):
                try:
                    await asyncio.wait_for(r.content.read(40), 0.1)
                except asyncio.TimeoutError:
                    show("nothing yet")
        try:
            await s.get(refused)
        except Exception as error:
            told("refused", error)
        try:
            await s.get("http://127.0.0.1:1/", timeout=aiohttp.ClientTimeout(total=0.0001, connect=0.00001))
        except Exception as error:
            show("too short", isinstance(error, (asyncio.TimeoutError, OSError)))
        async def ask(n):
            async with s.post(base + "/echo?%d" % n, data=b"%d" % n) as r:
                return (await r.json())["sha"]
        show(await asyncio.gather(*(ask(n) for n in range(8))))

asyncio.run(main())
"""


def test_aiohttp_is_replayed_as_it_was(tmp_path: Path) -> None:
    fake_host.needs("aiohttp")
    refused = f"http://127.0.0.1:{tap_server.refused_port()}"
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, AGENT, server.url, refused)
        args = (server.url, refused)
    for error in ("ClientConnectorError", "ClientPayloadError", "ServerDisconnectedError", "SocketTimeoutError", "ClientResponseError"):
        assert error in first.out
    squeezed = next(call for call in host.calls if call.request["url"].endswith("/gzip"))
    assert b"".join(squeezed.chunks).startswith(b"squeezed")
    assert not any(name.lower() == "content-encoding" for name, _ in squeezed.head["headers"])
    fake_host.same(host, first, AGENT, *args)


STREAM = r"""
import sys, asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession() as s, s.post(sys.argv[1] + "/gated") as r:
        print([line async for line in r.content if line.strip()])
asyncio.run(main())
"""


def test_the_first_chunk_is_told_before_the_last_is_sent(tmp_path: Path) -> None:
    fake_host.needs("aiohttp")
    with tap_server.serving() as server, fake_host.hosting(tmp_path) as host:
        host.heard = lambda kind, call, data: server.gate.set() if data.startswith(b"data: first") else None
        first = fake_host.run(host, STREAM, server.url)
        args = (server.url,)
    assert first.out == "[b'data: first\\n', b'data: heard\\n']\n", first.err
    fake_host.same(host, first, STREAM, *args)


WRAPPED = r"""
import sys, asyncio, httpx, aiohttp, contextlib

class Stream(httpx.AsyncByteStream):
    def __init__(self, r): self.r = r
    async def __aiter__(self):
        async for chunk in self.r.content.iter_chunked(1000):
            yield chunk
    async def aclose(self): self.r.release()

class OverAiohttp(httpx.AsyncBaseTransport):
    def __init__(self): self.s = aiohttp.ClientSession()
    async def handle_async_request(self, request):
        r = await self.s.request(request.method, str(request.url), data=await request.aread())
        return httpx.Response(r.status, headers=list(r.headers.items()), stream=Stream(r))
    async def aclose(self): await self.s.close()

async def main():
    async with httpx.AsyncClient(transport=OverAiohttp()) as client:
        print((await client.post(sys.argv[1] + "/echo", content=b"once")).json()["sha"])

asyncio.run(main())
"""


def test_httpx_over_aiohttp_is_recorded_once(tmp_path: Path) -> None:
    fake_host.needs("aiohttp")
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, WRAPPED, server.url)
        args = (server.url,)
    assert len(host.calls) == 1
    fake_host.same(host, first, WRAPPED, *args)
