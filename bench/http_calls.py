"""Many HTTP requests with ``urllib3``, each with a body of its own: plain (recorded from outside), or under a vcrpy cassette."""

from __future__ import annotations

import json
import os
import sys
import time

import urllib3


def calls(base: str, count: int) -> float:
    pool = urllib3.PoolManager()
    began = time.perf_counter()
    for number in range(count):
        pool.request("POST", f"{base}/call", json={"n": number, "text": "x" * 500}).json()
    return time.perf_counter() - began


def main() -> None:
    kind, cassette, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if kind == "vcr":
        import vcr

        with vcr.VCR(match_on=["method", "uri", "body"], record_mode="new_episodes").use_cassette(cassette):
            took = calls(os.environ["BASE"], count)
    else:
        took = calls(os.environ["BASE"], count)
    print(json.dumps({"per_second": count / took}), file=sys.stderr)  # what a replay compares is standard output


if __name__ == "__main__":
    main()
