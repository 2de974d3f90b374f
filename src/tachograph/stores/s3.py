"""A store in a bucket of S3, or of anything that speaks its protocol.

The layout is the local store's; each object is written once. What makes that hold against others, too:

- Every put says ``If-None-Match: *`` and carries a SHA-256 that the server checks; with a retention, also an Object Lock.
- A versioned bucket keeps the first version of a name whatever is put over it later, and a delete only hides it. So what a log
  consists of is read by the version that was written first, and never by name alone.

An append file cannot live in a bucket. It lives in the *spool*, a local store of files that are redacted and encrypted as they would
be anywhere, and becomes an object when it is closed; the writer begins a new segment from time to time (``segments``), so that little
waits. While the bucket cannot be reached the spool keeps what was closed, and whoever opens the store next uploads what a dead process
left. Until then it is read from the spool, on this machine.

S3 knows no locks. A lock holds among the processes of one machine; between machines the conditional put decides, when a segment is
uploaded: the second writer of a name gets ``ConflictError``.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import ConflictError, NotFoundError, StoreError
from tachograph.core.ports import AppendFile, Clock, Lock, ObjectLocks, SegmentLimit
from tachograph.stores.local import LocalStore
from tachograph.stores.s3_locks import RefusedError, S3Locks

#: Where a segment ends and the next begins, so that it can be uploaded.
LIMIT = SegmentLimit(size=8 << 20, seconds=60.0)
#: Seconds between tries while the bucket cannot be reached: doubled from the first to the last.
BACK_OFF = (0.5, 30.0)
#: Tries after which ``settle`` no longer waits for a bucket that is away.
PATIENCE = 3
#: Copied beside the spool when they are read, so that a recording can begin while the bucket is away. Keys in them are wrapped.
_NEEDED = ("store.json", "keys/store.json", "keys/recipients.json", "keys/verifiers.json")
#: Of these, those that a store may lack. Away from the bucket, one that was never copied counts as not there.
_OPTIONAL = _NEEDED[2:]
#: Never under an Object Lock, and older versions are removed: wraps of keys, which rotation replaces and shredding destroys, and the
#: catalogue, which is made anew from the sessions and must forget those that were deleted.
_REPLACED = ("keys/", "catalogue/")
#: Of these names the first version counts. Others (wraps of keys) are replaced on purpose.
_WRITTEN_ONCE = ("sessions/", "ledger/", "store.json")


@dataclass(frozen=True)
class Retention:
    """An Object Lock for every put. ``mode``: ``COMPLIANCE`` (nobody shortens it) or ``GOVERNANCE`` (a permission does)."""

    mode: str
    days: int


class S3Store:
    """See ``core.ports.Store`` for the contract."""

    def __init__(
        self, url: str, bucket: str, prefix: str, *, connect: Callable[[], Any], spool: str, clock: Clock,
        retention: Retention | None = None, segments: SegmentLimit = LIMIT,
    ) -> None:  # fmt: skip
        """``connect`` makes a boto3 S3 client; one is made for each process that uses the store, because connections do not survive a
        fork. ``prefix`` is empty or ends in ``/``; ``spool`` is a local folder of this store's own."""
        self._url = url
        self._bucket = bucket
        self._prefix = prefix
        self._connect = connect
        self._spool = LocalStore(os.path.join(spool, "files"))
        self._locks = LocalStore(os.path.join(spool, "locks"))
        self._copies = LocalStore(os.path.join(spool, "copies"))
        self._refused = LocalStore(os.path.join(spool, "refused"))
        self._retention = retention
        self.segments: SegmentLimit | None = segments
        self._clock = clock
        self._pid = 0
        self._made: Any = None
        self._versions: dict[str, str] = {}
        self._uploader = _Uploader(self)
        self.locks: ObjectLocks | None = S3Locks(self._call, self._object, self._all_versions)

    @property
    def url(self) -> str:
        return self._url

    # -- the contract ----------------------------------------------------------------------------------------------------

    def create(self, name: str) -> AppendFile:
        file = self._spool.create(name)
        try:
            taken = self._first_version(name) is not None
        except _AwayError:
            taken = False  # the conditional put will tell
        except BaseException:
            self._discard(file, name)
            raise
        if taken:
            self._discard(file, name)
            raise _exists(name, self._url)
        return SpooledFile(file, lambda: self._uploader.add(name))

    def create_all(self, names: Sequence[str]) -> list[AppendFile]:
        made: list[AppendFile] = []
        try:
            for name in names:
                made.append(self.create(name))
        except BaseException:
            for file in made:
                file.let_go()
            raise
        return made

    def put_new(self, name: str, data: bytes) -> None:
        self._spool.check(name)  # a bad name is refused before anything is asked of the network
        if self._spool.exists(name):
            if self._spool.read(name) != data:
                raise _exists(name, self._url)
            return
        try:
            self._put_once(name, data)
        except _AwayError as error:
            if not name.startswith(("sessions/", "ledger/", "keys/ses_")):
                raise StoreError(str(error)) from None
            self._spool.put_new(name, data)
            self._uploader.add(name)

    def replace(self, name: str, data: bytes) -> None:
        self._spool.check(name)
        held = name.startswith(_REPLACED) and self._held(name)
        more = {"ObjectLockLegalHoldStatus": "ON"} if held else {}
        self._call("write", name, "put_object", **self._object(name), Body=data, **self._locked(name), **more)
        self._versions.pop(name, None)
        if name.startswith(_REPLACED):
            self._forget_older(name, held=held)

    def sync(self, name: str) -> None:
        self._spool.sync(name)

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        self._spool.check(name)
        with contextlib.suppress(NotFoundError):
            return self._spool.read(name, limit=limit)
        if name not in _NEEDED:
            return self._fetched(name, limit)
        try:
            data = self._fetched(name, limit)
        except _AwayError:
            if not self._copies.exists(name):
                if name in _OPTIONAL and self._copies.exists("keys/store.json"):
                    raise NotFoundError(f"no {name} in {self._url} when it was last read, and it cannot be reached now") from None
                raise
            return self._copies.read(name, limit=limit)
        if not self._copies.exists(name) or self._copies.read(name) != data:
            self._copies.replace(name, data)
        return data

    def _fetched(self, name: str, limit: int | None) -> bytes:
        version = self._first_version(name)
        if version is None:
            raise NotFoundError(f"no {name} in {self._url}; it was never written, or somebody has removed it")
        more = {"VersionId": version} if version != "null" and name.startswith(_WRITTEN_ONCE) else {}
        found = self._call("read", name, "get_object", **self._object(name), **more)
        if limit is not None and found["ContentLength"] > limit:
            found["Body"].close()
            raise StoreError(
                f"{self._url}/{name} is longer than {limit} bytes, which no such file should be; look at it before you trust it"
            )
        try:
            data: bytes = found["Body"].read()
        except Exception as error:  # noqa: BLE001 - whatever a network does is one kind of failure to us
            raise _AwayError(f"cannot read {self._url}/{name}, {_first_line(error)}; try again") from None
        return data

    def exists(self, name: str) -> bool:
        if self._spool.exists(name):
            return True
        try:
            return self._first_version(name) is not None
        except _AwayError:
            if name in _NEEDED and self._copies.exists(name):
                return True
            raise

    def names(self, prefix: str) -> Iterator[str]:
        if prefix:
            self._spool.check(prefix.removesuffix("/"))
        return iter(sorted({*self._spool.names(prefix), *(name for name, _, _ in self._listed(prefix))}))

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        if prefix:
            self._spool.check(prefix.removesuffix("/"))
        # What is in both was closed here and is being brought there.
        return iter(sorted({**{name: size for name, _, size in self._listed(prefix)}, **dict(self._spool.sizes(prefix))}.items()))

    def remove(self, name: str) -> None:
        self._spool.remove(name)
        self._locks.remove(name)
        self._copies.remove(name)
        if name.endswith("/"):
            return
        self._spool.check(name)
        for version in list(self._all_versions(name, markers=True)):
            self._call("remove", name, "delete_object", **self._object(name), VersionId=version)
        self._versions.pop(name, None)

    def lock(self, name: str) -> Lock:
        return self._locks.lock(name)

    def settle(self, seconds: float) -> int:
        """Uploads what waits, for at most so long. Returns how many files still wait in the spool."""
        return self._uploader.settle(seconds)

    def recover(self) -> int:
        """Queues what dead processes left in the spool. Returns how many files that is. A session's files are left alone while somebody
        holds its lock; between the death of a writer and ``recover.resume`` they are complete as they are: a segment is never reopened."""
        count = 0
        for name in self.waiting():
            folder = name.rpartition("/")[0]
            if name.startswith(("sessions/", "ledger/")):
                try:
                    self._locks.lock(f"{folder}/lock").release()
                except ConflictError:
                    continue
            self._uploader.add(name)
            count += 1
        return count

    def notices(self) -> list[str]:
        aside = [name for name in self._refused.names("") if ".events.jsonl." in name]
        found = []
        if aside:
            found.append(
                f"{len(aside)} segment{'s' * (len(aside) > 1)} of the ledger of {self._url} could not be brought there, since another machine "
                f"had taken the number; what was entered in them is in no ledger: look at {self._refused.root}, enter it again where that "
                "matters, and remove the folder"
            )
        if self.failure is not None and not (aside and isinstance(self.failure, ConflictError)):
            found.append(f"{self.failure}; what could not be brought to the bucket stays in {self._spool.root}")
        return found

    @property
    def failure(self) -> StoreError | None:
        """Why the last file that could not be uploaded, and is not tried again by this process, was refused."""
        return self._uploader.failure

    # -- S3 --------------------------------------------------------------------------------------------------------------

    def _client(self) -> Any:
        # By one thread: the uploader asks, too, and must not meet a client that is half made, or that of the process before the fork.
        pid = os.getpid()
        if self._pid != pid:
            with _making:
                if self._pid != pid:
                    self._made = self._connect()
                    self._pid = pid
        return self._made

    def _object(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + name}

    def _held(self, name: str) -> bool:
        """As far as this role may know: of one that is held the old version cannot be deleted, which will say so."""
        try:
            return self.locks is not None and self.exists(name) and self.locks.held(name)
        except RefusedError:
            return False

    def _forget_older(self, name: str, *, held: bool) -> None:
        """What was replaced must be gone: it is the wrap of a key that was rotated or destroyed, and a version of it is as good. A hold is
        on the newest version by now."""
        for version in list(self._all_versions(name))[1:]:
            what = "remove the old version of"
            if held:
                off = {"Status": "OFF"}
                self._call(what, name, "put_object_legal_hold", **self._object(name), VersionId=version, LegalHold=off)
            self._call(what, name, "delete_object", **self._object(name), VersionId=version)

    def _all_versions(self, name: str, *, markers: bool = False) -> Iterator[str]:
        """The ids of all versions of exactly this name, the newest first; with those of delete markers on request."""
        more: dict[str, str] = {}
        while True:
            page = self._call("list", name, "list_object_versions", Bucket=self._bucket, Prefix=self._prefix + name, **more)
            for version in [*page.get("Versions", []), *(page.get("DeleteMarkers", []) if markers else [])]:
                if version["Key"] == self._prefix + name:
                    yield version.get("VersionId") or "null"
            # Keys come in order: when the next page begins with another one, all versions of this one were there.
            if not page.get("IsTruncated") or page["NextKeyMarker"] != self._prefix + name:
                return
            more = {"KeyMarker": page["NextKeyMarker"]}
            if page.get("NextVersionIdMarker"):
                more["VersionIdMarker"] = page["NextVersionIdMarker"]

    def _locked(self, name: str) -> dict[str, Any]:
        more: dict[str, Any] = {"ChecksumAlgorithm": "SHA256"}
        if self._retention is not None and not name.startswith(_REPLACED):
            until = datetime.datetime.fromtimestamp(self._clock.unix_ms() / 1000, datetime.UTC) + datetime.timedelta(
                days=self._retention.days
            )
            more |= {"ObjectLockMode": self._retention.mode, "ObjectLockRetainUntilDate": until}
        return more

    def _put_once(self, name: str, data: bytes) -> None:
        """Raises ``ConflictError`` where there is something else, ``_AwayError`` where nobody answers."""
        try:
            done = self._call("write", name, "put_object", **self._object(name), Body=data, IfNoneMatch="*", **self._locked(name))
        except _TakenError:
            # Perhaps by ourselves: the answer to an earlier try may have been lost.
            if self._remote(name) != data:
                raise _exists(name, self._url) from None
            return
        self._versions[name] = done.get("VersionId") or "null"

    def _remote(self, name: str) -> bytes:
        version = self._first_version(name)
        more = {"VersionId": version} if version not in (None, "null") else {}
        data: bytes = self._call("read", name, "get_object", **self._object(name), **more)["Body"].read()
        return data

    def _first_version(self, name: str) -> str | None:
        known = self._versions.get(name)
        if known is None:
            for found, version, _ in self._listed(name, exactly=True):
                if found == name:
                    known = self._versions[name] = version
        return known

    def _listed(self, prefix: str, *, exactly: bool = False) -> Iterator[tuple[str, str, int]]:
        """(name, its oldest version, the size of what is read under it) below a prefix."""
        oldest: dict[str, tuple[datetime.datetime, str]] = {}
        sizes: dict[str, int] = {}
        more: dict[str, str] = {}
        while True:
            page = self._call("list", prefix, "list_object_versions", Bucket=self._bucket, Prefix=self._prefix + prefix, **more)
            for version in page.get("Versions", []):
                name = version["Key"].removeprefix(self._prefix)
                if exactly and name != prefix:
                    continue
                # Listed newest first; of equal times the later in the list is the older.
                if name not in oldest or version["LastModified"] <= oldest[name][0]:
                    if name not in oldest or name.startswith(_WRITTEN_ONCE):
                        sizes[name] = int(version.get("Size", 0))
                    oldest[name] = version["LastModified"], version.get("VersionId") or "null"
            if not page.get("IsTruncated"):
                break
            more = {"KeyMarker": page["NextKeyMarker"]}
            if page.get("NextVersionIdMarker"):
                more["VersionIdMarker"] = page["NextVersionIdMarker"]
        for name, (_, version) in oldest.items():
            self._versions.setdefault(name, version)
            yield name, version, sizes[name]

    def _call(self, what: str, name: str, operation: str, **arguments: Any) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return getattr(self._client(), operation)(**arguments)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if code in ("PreconditionFailed", "ConditionalRequestConflict") or status in (409, 412):
                raise _TakenError from None
            if code in ("NoSuchKey", "404", "NoSuchVersion"):
                raise NotFoundError(f"no {name} in {self._url}; it was never written, or somebody has removed it") from None
            if status >= 500 or code in ("SlowDown", "RequestTimeout", "Throttling", "ThrottlingException"):
                raise _AwayError(f"cannot {what} {self._url}/{name}, the server says {code or status}; try again later") from None
            raise RefusedError(f"cannot {what} {self._url}/{name}, {code or status}; {_advice(code)}", code) from None
        except BotoCoreError as error:
            if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
                raise StoreError(f"cannot {what} {self._url}/{name}, no credentials; set AWS_PROFILE or AWS_ACCESS_KEY_ID") from None
            raise _AwayError(f"cannot {what} {self._url}/{name}, {_first_line(error)}; check the endpoint and the network") from None

    # -- the spool -------------------------------------------------------------------------------------------------------

    def _discard(self, file: AppendFile, name: str) -> None:
        file.let_go()
        self._spool.remove(name)

    def waiting(self) -> list[str]:
        """Files of the spool that no living writer holds, content before the lines that refer to it."""
        order = (".content.pack", ".events.jsonl", ".seals")
        return sorted(
            self._spool.names(""),
            key=lambda name: (name.rsplit(".", 2)[0], next((n for n, end in enumerate(order) if name.endswith(end)), -1)),
        )

    def set_aside(self, name: str) -> None:
        """A segment of the ledger whose number another machine has taken: all of its files leave the spool, so that nobody here takes
        them for a part of the log and goes on from there. They are kept beside it."""
        prefix = name.rpartition("/")[2].partition(".")[0]
        for each in list(self._spool.names("ledger/")):
            if each.startswith(f"ledger/{prefix}."):
                data = self._spool.read(each)
                self._refused.put_new(f"{each}.{hashlib.sha256(data).hexdigest()[:16]}", data)
                self._spool.remove(each)

    def upload(self, name: str) -> None:
        """One file of the spool becomes an object. Raises what ``_put_once`` raises."""
        self._put_once(name, self._spool.read(name))
        self._spool.remove(name)


class SpooledFile:
    """An append file in the spool; ``closed`` is called once, when it is complete."""

    def __init__(self, file: AppendFile, closed: Callable[[], None]) -> None:
        self._file = file
        self._closed: Callable[[], None] | None = closed

    @property
    def name(self) -> str:
        return self._file.name

    @property
    def size(self) -> int:
        return self._file.size

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def sync(self) -> None:
        self._file.sync()

    def let_go(self) -> None:
        self._closed = None
        self._file.close()

    def close(self) -> None:
        self._file.close()
        if self._closed is not None:
            closed, self._closed = self._closed, None
            closed()


class _Uploader:
    """Brings closed files to the bucket, in order, in a thread of the process that closed them. The thread lives while there is something
    to bring."""

    def __init__(self, store: S3Store) -> None:
        self._store = store
        self._pid = 0
        self._condition = threading.Condition()
        self._queue: list[str] = []
        self._busy = False
        self._running = False
        self._failed = 0
        self._hurry = False
        self.failure: StoreError | None = None

    def add(self, name: str) -> None:
        if self._pid != os.getpid():  # threads do not survive a fork, and what the parent queued is the parent's
            self._pid, self._condition, self._queue, self._busy, self._running = os.getpid(), threading.Condition(), [], False, False
        with self._condition:
            self._queue.append(name)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="tachograph-upload", daemon=True).start()
            self._condition.notify_all()

    def settle(self, seconds: float) -> int:
        if self._pid != os.getpid():
            return 0
        with self._condition:
            # Somebody waits now: what failed before is tried again at once, and a few times.
            self._failed, self._hurry = 0, True
            self._condition.notify_all()
            self._condition.wait_for(lambda: (not self._queue and not self._busy) or self._failed >= PATIENCE, timeout=seconds)
            return len(self._queue) + self._busy

    def _run(self) -> None:
        pause = BACK_OFF[0]
        while True:
            with self._condition:
                if not self._queue:
                    self._running = False
                    return
                name, self._busy = self._queue.pop(0), True
            try:
                self._store.upload(name)
                pause, again, self._failed = BACK_OFF[0], False, 0
            except _AwayError:
                again = True
            except NotFoundError:
                again = False  # another process of this machine has uploaded it
            except ConflictError as error:
                self.failure, again = error, False
                if name.startswith("ledger/"):
                    self._store.set_aside(name)
            except StoreError as error:
                self.failure, again = error, False  # it stays in the spool: refused now, it may be allowed later
            except Exception:  # noqa: BLE001 - whatever the network did: without this thread nothing more would be brought
                again = True
            with self._condition:
                self._busy = False
                if again:
                    self._failed += 1
                    self._queue.insert(0, name)
                self._condition.notify_all()
                if again:
                    self._hurry = False
                    self._condition.wait_for(lambda: self._hurry, timeout=pause)
                    pause = min(2 * pause, BACK_OFF[1])


#: Held while a client is made; after a fork the child has none of its threads.
_making = threading.Lock()


def _remake() -> None:
    global _making
    _making = threading.Lock()


os.register_at_fork(after_in_child=_remake)


class _AwayError(StoreError):
    """Nobody answers, or says that he will later."""


class _TakenError(Exception):
    """The name is there already."""


def _exists(name: str, url: str) -> ConflictError:
    return ConflictError(f"{name} exists already in {url}; it is written once and never opened again")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _advice(code: str) -> str:
    return {
        "AccessDenied": "the role lacks a permission: docs/howto/store-in-s3.md lists them",
        "NoSuchBucket": "make the bucket, with versioning and Object Lock, or name another with --store",
        "InvalidAccessKeyId": "check the credentials",
        "SignatureDoesNotMatch": "check the credentials",
        "InvalidRequest": "the bucket may have no Object Lock, which can only be switched on when a bucket is made",
        "ObjectLockConfigurationNotFoundError": "the bucket has no Object Lock; make one that has, or leave retention out",
    }.get(code, "see the bucket's settings and its log")
