"""The log by itself: events a second with everything on, verification against raw SHA-256, shipping against plain puts. Prints JSON.

1. 2 KB of content an event, redacted, in the chain, zstd, AES-256-GCM, with a commit (content, then lines, each synced) every 5 ms.
2. ``verify`` of that session, content opened and not, against SHA-256 over the same files in the same pieces; and of one whose events hold
   35 KB of content each, mostly. All take turns, so that a busy machine is as busy for each.
3. Segments of 1 MiB into an S3 (SeaweedFS) against puts of the same bytes by boto3, where both can be had.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.ports import SegmentLimit, Store
from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.lasting import LastingWriter
from tachograph.log.verify import verify
from tachograph.log.writer import SEAL_EVERY, SessionWriter
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy
from tachograph.stores.local import LocalStore
from tachograph.wiring import SystemClock

SESSION = "ses_01K0000000000000000000000A"
GROUP = 0.005
COUNT = 20_000


def texts(count: int, length: int = 390) -> list[str]:
    """Prose of about 2 KB each, no two alike. ``length``: in words."""
    rng = random.Random(1)
    words = [
        "the",
        "agent",
        "reads",
        "a",
        "file",
        "and",
        "writes",
        "its",
        "answer",
        "into",
        "table",
        "of",
        "results",
        "again",
        "without",
        "error",
    ]
    return [" ".join(rng.choices(words, k=length)) + f" {number}" for number in range(count)]


def write(store: Store, contents: list[str], redactor: Redactor | None, key: keys.KeyFile) -> float:
    opening.create(store, key, os.urandom)
    opened = opening.open_store(store, key)
    data_key = opened.new_data_key(SESSION, os.urandom)
    first = SessionWriter(opened, SESSION, data_key, clock=SystemClock(), entropy=os.urandom)
    writer = LastingWriter(first, opened, data_key, clock=SystemClock(), entropy=os.urandom)
    began = committed = time.perf_counter()
    for text in contents:
        tally: collections.Counter[str] = collections.Counter()
        value: Any = {"text": text}
        writer.append(Draft(event=events.Note(), contents={"text_uri": redactor.document(value, tally) if redactor else value}))
        if time.perf_counter() - committed >= GROUP:
            writer.commit()
            if writer.unsealed >= SEAL_EVERY:
                writer.seal()
            if writer.full:
                writer.roll()
            committed = time.perf_counter()
    writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    writer.close()
    return time.perf_counter() - began


def best(act: Callable[[], object], times: int = 3, *, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of CPU time, unless the clock is another."""
    found = []
    for _ in range(times):
        began = clock()
        act()
        found.append(clock() - began)
    return min(found)


def in_turn(acts: dict[str, Callable[[], object]], times: int = 5) -> dict[str, float]:
    """Seconds of CPU time of each, the best of some, taken in turn."""
    found = dict.fromkeys(acts, float("inf"))
    for _ in range(times):
        for name, act in acts.items():
            found[name] = min(found[name], best(act, 1))
    return found


def checking(store: LocalStore, key: keys.KeyFile) -> dict[str, Any]:
    """How long a session takes to verify, and SHA-256 over its files: whole, and line by line."""
    files = [path.read_bytes() for path in sorted((Path(store.root) / "sessions").rglob("*")) if path.is_file()]
    data_key = opening.open_store(store, key).data_key(SESSION)
    lines = [line for data in files if data.startswith(b"{") for line in data.splitlines(keepends=True)]
    rest = [data for data in files if not data.startswith(b"{")]
    took = in_turn(
        {
            "sha256": lambda: [hashlib.sha256(data).digest() for data in files],
            "sha256_by_line": lambda: [hashlib.sha256(data).digest() for data in (*lines, *rest)],
            "verify": lambda: verify(store, SESSION, public=key.public()),
            "verify_content": lambda: verify(store, SESSION, public=key.public(), data_key=data_key),
        }
    )
    size = sum(map(len, files))
    return {
        "bytes": size, "lines": len(lines), **{f"{name}_mb_s": size / one / 1e6 for name, one in took.items()},
        "verify_of_sha256": took["verify"] / took["sha256"], "verify_content_of_sha256": took["verify_content"] / took["sha256"],
    }  # fmt: skip


def local(folder: Path) -> dict[str, Any]:
    key, store, contents = keys.generate(os.urandom), LocalStore(str(folder / "store")), texts(COUNT)
    redactor = Redactor(Policy.default(), key=os.urandom(32))
    redactor.document({"text": contents[0]}, collections.Counter())  # what is compiled is compiled once
    took = write(store, contents, redactor, key)
    plain = write(LocalStore(str(folder / "plain")), contents, None, key)
    large = LocalStore(str(folder / "large"))
    write(large, texts(COUNT // 5, 7000), None, key)
    return {
        "events_s": COUNT / took, "events_s_unredacted": COUNT / plain,
        "small": checking(store, key), "mostly_content": checking(large, key),
    }  # fmt: skip


def shipping(folder: Path) -> dict[str, Any] | None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    try:
        import boto3  # noqa: F401

        from tachograph.stores.s3 import S3Store
        from weed import binary, running
    except ImportError:
        return None
    if binary() is None:
        return None
    with running(folder / "weed") as server:
        server.bucket("ours")
        server.bucket("theirs")
        contents = [os.urandom(2000).hex() for _ in range(8000)]
        store = S3Store(
            "s3://ours", "ours", "", connect=server.client, spool=str(folder / "spool"), clock=SystemClock(),
            segments=SegmentLimit(size=1 << 20, seconds=60),
        )  # fmt: skip
        began = time.perf_counter()
        write(store, contents, None, keys.generate(os.urandom))
        waiting = store.settle(120)
        ours = time.perf_counter() - began
        client, objects = server.client(), {name: store.read(name) for name in store.names("")}
        size = sum(map(len, objects.values()))

        def put() -> None:
            for name, data in objects.items():
                client.put_object(Bucket="theirs", Key=name, Body=data, ChecksumAlgorithm="SHA256")

        theirs = best(put, 1, clock=time.perf_counter)
        return {
            "bytes": size,
            "waiting": waiting,
            "objects": len(objects),
            "ours_mb_s": size / ours / 1e6,
            "puts_mb_s": size / theirs / 1e6,
        }


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tacho-bench-", dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        print(json.dumps({"local": local(Path(folder)), "s3": shipping(Path(folder))}))


if __name__ == "__main__":
    main()
