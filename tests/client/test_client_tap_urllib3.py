"""urllib3 and requests: recorded against a server, then replayed without it."""

from __future__ import annotations

from pathlib import Path

import fake_host
import tap_server

URLLIB3 = r"""
import sys, urllib3, hashlib
base = sys.argv[1]
http = urllib3.PoolManager(retries=False, timeout=5)

def show(*what):
    print(*what, flush=True)

def tried(name, what):
    try:
        show(name, what())
    except Exception as error:
        show(name, type(error).__module__, type(error).__name__, error, repr(error.__cause__)[:60])

r = http.request("GET", base + "/json")
show(r.status, r.reason, r.version, dict(r.headers).get("X-Twice"), r.data, r.closed)
r = http.request("GET", base + "/gzip"); show(len(r.data), r.headers["content-encoding"])
r = http.request("GET", base + "/br"); show(r.data, r.headers["content-encoding"], getattr(r, "version_string", None))
r = http.request("GET", base + "/gzip", decode_content=False); show(hashlib.sha256(r.data).hexdigest())
r = http.request("GET", base + "/gzip_chunked", preload_content=False)
show(hashlib.sha256(b"".join(r.stream(100))).hexdigest(), r.closed)
r = http.request("GET", base + "/gzip_chunked", preload_content=False)
show([len(c) for c in r.stream(None, decode_content=False)])
r = http.request("HEAD", base + "/gzip_empty_head"); show(r.status, r.data)
r = http.request("HEAD", base + "/big"); show(r.status, r.data, r.headers["content-length"])
for path in ("/nothing", "/unchanged"):
    r = http.request("GET", base + path); show(path, r.status, r.data, r.closed)
r = http.request("GET", base + "/big", preload_content=False)
show([len(r.read(100_000)) for _ in range(14)], r.read(), r.closed)
r.release_conn()
r = http.request("GET", base + "/big_chunked", preload_content=False)
show(len(r.read(10)), hashlib.sha256(r.read()).hexdigest())
r = http.request("GET", base + "/stream", preload_content=False)
show(list(r.stream(7)))
r = http.request("GET", base + "/stream", preload_content=False)
show(list(r.read_chunked()))
r = http.request("GET", base + "/stream", preload_content=False)
show(next(r.stream()), r.closed); r.close(); show(r.closed)
r = http.request("GET", base + "/until_close", preload_content=False); show(len(r.read()), r.closed)
r = http.request("GET", base + "/until_close", preload_content=False); show(len(b"".join(r.stream(1000))))
r = http.request("POST", base + "/echo", body=b"\0\xff" * 50); show(r.data)
r = http.request("POST", base + "/echo", body="text"); show(r.data)
r = http.request("POST", base + "/echo", fields={"a": "1"}, encode_multipart=False); show(r.data)
r = http.request("POST", base + "/echo", body=(part for part in [b"one", b"two"]), chunked=True); show(r.data)
with open(__file__, "rb") as file:
    file.read(5)
    r = http.request("PUT", base + "/echo", body=file); show(r.data)
for _ in range(3):
    show(http.request("GET", base + "/count").data)
r = http.request("GET", base + "/limited", retries=urllib3.Retry(3, backoff_factor=0, status_forcelist=[429])); show(r.status, r.data)
r = http.request("GET", base + "/redirect", retries=2); show(r.status, r.data, len(r.retries.history))
r = http.request("POST", base + "/repeat", body=b"twice", retries=2); show(r.status, r.data)
r = http.request("GET", base + "/redirect", redirect=False); show(r.status, r.headers["location"])
for path in ("/cut_length", "/cut_chunked", "/cut_between", "/reset", "/silence"):
    tried(path, lambda: http.request("GET", base + path).data)
    def streamed():
        r = http.request("GET", base + path, preload_content=False)
        got = []
        try:
            for chunk in r.stream(16):
                got.append(chunk)
        finally:
            show(got, r.closed)
    tried(path, streamed)
for path in ("/slow_head", "/slow_body", "/slow_chunked"):
    tried(path, lambda: http.request("GET", base + path, timeout=0.2).data)
tried("refused", lambda: http.request("GET", sys.argv[2] + "/", retries=1))
tried("refused", lambda: http.request("GET", sys.argv[2] + "/"))
"""

REQUESTS = r"""
import sys, requests, hashlib, threading, io
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry
base = sys.argv[1]

def show(*what):
    print(*what, flush=True)

def tried(name, what):
    try:
        show(name, what())
    except Exception as error:
        show(name, type(error).__module__, type(error).__name__, str(error).split("0x")[0])

s = requests.Session()
r = s.get(base + "/json"); show(r.status_code, r.reason, r.json(), r.headers["X-Twice"], r.raw.version, r.ok)
show(s.get(base + "/gzip").text[:20], s.get(base + "/br").content)
r = s.get(base + "/redirect"); show(r.url.replace(base, ""), [h.status_code for h in r.history], s.cookies.get_dict())
r = s.post(base + "/repeat", data=b"abc"); show(r.json())
show(s.post(base + "/echo", json={"a": 1}).json(), s.post(base + "/echo", data={"b": "2"}).json())
show(s.post(base + "/echo", data=(p for p in [b"x" * 10, b"y" * 20])).json())
show(s.post(base + "/echo", data=io.BytesIO(b"z" * 100)).json())
import urllib3.filepost
urllib3.filepost.choose_boundary = lambda: "edge"
show(s.post(base + "/echo", files={"f": ("name.txt", b"contents")}).json())
show(s.head(base + "/json").headers["Content-Type"], repr(s.head(base + "/json").content))
show(s.get(base + "/nothing").content, s.get(base + "/unchanged").status_code)
r = s.get(base + "/stream", stream=True); show(list(r.iter_content(None)))
r = s.get(base + "/stream", stream=True); show(list(r.iter_lines()))
r = s.get(base + "/gzip_chunked", stream=True); show(sum(1 for _ in r.iter_lines()))
r = s.get(base + "/big", stream=True); show(hashlib.sha256(b"".join(r.iter_content(4096))).hexdigest())
r = s.get(base + "/big", stream=True); show(hashlib.sha256(r.raw.read()).hexdigest())
r = s.get(base + "/stream", stream=True); show(len(b"".join(r.raw.stream(9))))
with s.get(base + "/stream", stream=True) as r:
    show(next(r.iter_content(4)))
show([s.get(base + "/count").text for _ in range(3)])
s.mount("http://", HTTPAdapter(max_retries=Retry(total=3, backoff_factor=0, status_forcelist=[429])))
show(s.get(base + "/limited").text)
t = requests.Session()
for path in ("/cut_length", "/cut_chunked", "/cut_between", "/reset", "/silence"):
    tried(path, lambda: t.get(base + path).text)
for path in ("/slow_head", "/slow_body", "/slow_chunked"):
    tried(path, lambda: t.get(base + path, timeout=0.2).text)
tried("refused", lambda: t.get(sys.argv[2]))
out = {}
def work(n):
    out[n] = requests.get(base + "/count?%d" % n).text + requests.post(base + "/echo", data=b"%d" % n).json()["sha"]
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[x.start() for x in threads]; [x.join() for x in threads]
show(sorted(out.items()))
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    show(list(pool.map(lambda n: requests.get(base + "/count?p%d" % n).text, range(8))))
"""

STREAM = r"""
import sys, urllib3
r = urllib3.PoolManager().request("POST", sys.argv[1] + "/gated", preload_content=False)
print(list(r.stream()))
"""


def test_urllib3_is_replayed_as_it_was(tmp_path: Path) -> None:
    fake_host.needs("urllib3")
    refused = f"http://127.0.0.1:{tap_server.refused_port()}"
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, URLLIB3, server.url, refused)
        args = (server.url, refused)
    assert "IncompleteRead" in first.out
    assert "ReadTimeoutError" in first.out
    assert "NewConnectionError" in first.out
    assert all(call.last for call in host.calls)
    fake_host.same(host, first, URLLIB3, *args)


def test_requests_is_replayed_as_it_was(tmp_path: Path) -> None:
    fake_host.needs("requests")
    refused = f"http://127.0.0.1:{tap_server.refused_port()}"
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, REQUESTS, server.url, refused)
        args = (server.url, refused)
    assert "ConnectionError" in first.out
    fake_host.same(host, first, REQUESTS, *args)


def test_the_first_chunk_is_told_before_the_last_is_sent(tmp_path: Path) -> None:
    with tap_server.serving() as server, fake_host.hosting(tmp_path) as host:
        host.heard = lambda kind, call, data: server.gate.set() if data.startswith(b"data: first") else None
        first = fake_host.run(host, STREAM, server.url)
        args = (server.url,)
    assert first.out == "[b'data: first\\n\\n', b'data: heard\\n\\n']\n", first.err
    fake_host.same(host, first, STREAM, *args)
