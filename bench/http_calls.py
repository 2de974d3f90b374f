"""Many HTTP requests with ``requests``, each with a body of its own: plain (recorded from outside), or under a vcrpy cassette."""

from __future__ import annotations

import io
import json
import os
import sys
import time

import requests


def calls(session: requests.Session, base: str, count: int) -> float:
    began = time.perf_counter()
    for number in range(count):
        session.post(f"{base}/call", json={"n": number, "text": "x" * 500}).json()
    return time.perf_counter() - began


class Nothing(requests.adapters.BaseAdapter):
    """Answers without a transport: what the library itself costs."""

    def send(self, request: requests.PreparedRequest, **_: object) -> requests.Response:  # type: ignore[override]
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 200, str(request.url), request
        answer.headers["content-type"] = "application/json"
        answer.raw = io.BytesIO(b'{"answer": "' + b"y" * 2000 + b'"}')
        return answer

    def close(self) -> None:
        return


def main() -> None:
    kind, cassette, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    session = requests.Session()
    if kind == "bare":
        session.mount("http://", Nothing())
        took = calls(session, "http://127.0.0.1", count)
        print(json.dumps({"us": took / count * 1e6}), file=sys.stderr)
        return
    if kind == "vcr":
        import vcr

        with vcr.VCR(match_on=["method", "uri", "body"], record_mode="new_episodes").use_cassette(cassette):
            took = calls(session, os.environ["BASE"], count)
    else:
        took = calls(session, os.environ["BASE"], count)
    print(json.dumps({"per_second": count / took}), file=sys.stderr)  # what a replay compares is standard output


if __name__ == "__main__":
    main()
