"""urllib.request: recorded against a server, then replayed without it."""

from __future__ import annotations

from pathlib import Path

import fake_host
import tap_server

AGENT = r"""
import sys, io, json, hashlib, http.client, urllib.error, urllib.request
base = sys.argv[1]

def show(*what):
    print(*what, flush=True)

def tried(name, what):
    try:
        show(name, what())
    except Exception as error:
        show(name, type(error).__module__, type(error).__name__, error, getattr(error, "reason", None), getattr(error, "partial", None))

def post(path, data, **headers):
    return urllib.request.urlopen(urllib.request.Request(base + path, data=data, headers=headers))

r = urllib.request.urlopen(base + "/json")
show(type(r) is http.client.HTTPResponse or isinstance(r, http.client.HTTPResponse), r.status, r.reason, r.version, r.headers["X-Twice"], r.geturl() == base + "/json")
show(json.load(r), r.isclosed(), r.read())
with urllib.request.urlopen(base + "/redirect") as r:
    show(r.url.replace(base, ""), r.read())
show(post("/echo", b"bytes").read())
show(post("/echo", io.BytesIO(b"file"), **{"Content-Length": "4"}).read())
show(post("/echo", (p for p in [b"a", b"b"])).read())
show(post("/echo", [b"a", b"b"]).read())
show(len(urllib.request.urlopen(base + "/gzip").read()))
show([len(urllib.request.urlopen(base + "/stream").readline()) for _ in range(2)])
show(list(urllib.request.urlopen(base + "/stream")))
show(urllib.request.urlopen(base + "/stream").readlines(20))
show([line for line in io.TextIOWrapper(urllib.request.urlopen(base + "/until_close"), "utf-8")][0][:20])
r = urllib.request.urlopen(base + "/stream"); show(r.read(3), r.read1(4), r.peek(2)[:2], r.readline(), r.read())
r = urllib.request.urlopen(base + "/big"); b = bytearray(1000); show(r.readinto(b), hashlib.sha256(b).hexdigest(), hashlib.sha256(r.read()).hexdigest())
r = urllib.request.urlopen(base + "/big_chunked"); n = 0
while True:
    part = r.read(9999)
    if not part: break
    n += len(part)
show(n, r.isclosed())
show(urllib.request.urlopen(urllib.request.Request(base + "/json", method="HEAD")).read())
show(urllib.request.urlopen(base + "/nothing").status)
show([urllib.request.urlopen(base + "/count").read() for _ in range(3)])
r = urllib.request.urlopen(base + "/big"); r.read(10); r.close(); show(r.closed)
def missing():
    try:
        urllib.request.urlopen(base + "/no/such")
    except urllib.error.HTTPError as error:
        return error.code, error.read(), str(error)
tried("missing", missing)
for path in ("/cut_length", "/cut_chunked", "/cut_between", "/reset", "/silence"):
    tried(path, lambda: urllib.request.urlopen(base + path).read())
    def slowly():
        r, got = urllib.request.urlopen(base + path), []
        try:
            while not got or got[-1]:
                got.append(r.read(16))
        finally:
            show(got, r.isclosed())
        return "all"
    tried(path, slowly)
for path in ("/slow_head", "/slow_body", "/slow_chunked"):
    tried(path, lambda: urllib.request.urlopen(base + path, timeout=0.2).read())
tried("refused", lambda: urllib.request.urlopen(sys.argv[2]))
"""


def test_urllib_is_replayed_as_it_was(tmp_path: Path) -> None:
    refused = f"http://127.0.0.1:{tap_server.refused_port()}"
    with tap_server.serving() as server:
        host, first = fake_host.record(tmp_path, AGENT, server.url, refused)
        args = (server.url, refused)
    assert "IncompleteRead" in first.out
    assert "Connection refused" in first.out
    ends = {call.last.get("state") for call in host.calls}
    assert ends == {"eof", "closed", "broken", "failed"}
    fake_host.same(host, first, AGENT, *args)
