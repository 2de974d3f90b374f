"""Ports: what the layers above ask of the outside world, so that they can be tested without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Clock(Protocol):
    """Time, as the recorder stamps it."""

    def unix_ms(self) -> int:
        """Wall clock, milliseconds since 1970 UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        ...


class Entropy(Protocol):
    """Unpredictable bytes from the operating system."""

    def __call__(self, size: int, /) -> bytes: ...


class KeyWrap(Protocol):
    """One holder of a store's keys: somebody, or something, for whom they are wrapped (``docs/format/v1.md``, section 6).

    * ``recipient`` is public, and JSON: ``type``, ``id`` (text, no two recipients have the same) and what else ``wrap`` needs. It lies in the
      store.
    * ``wrap`` returns a JSON object with ``type``, ``key_id`` (the recipient's ``id``) and whatever ``unwrap`` needs. Nothing in it
      tells of the key. ``plain``: 32 or 64 bytes. ``StoreError``: a service that does it cannot be reached.
    * ``unwrap`` gives ``plain`` back, from a wrap that was made for this ``name`` and for no other one. ``NotHeldError``: the secret
      that opens it is not here, in one line that says what would bring it; nobody is asked, and no service called, before it is
      known to be needed. ``KeyUnavailableError``: it is here, and this is no wrap for it and that name.

    Anyone may be able to make a wrap: that it holds the right key is checked by its reader, not here.
    """

    @property
    def recipient(self) -> Mapping[str, Any]: ...
    def wrap(self, name: str, plain: bytes, entropy: Entropy) -> dict[str, Any]: ...
    def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes: ...


class AppendFile(Protocol):
    """A file that was created by this very opening and can only grow.

    ``write`` returns when the operating system has all bytes (short writes are repeated). ``sync`` returns when they are on the
    device; when it fails, the descriptor must not be used again, since the kernel may have dropped the dirty pages and a second
    ``fsync`` would report success (wiredtiger#4072). ``close`` says that the file is complete. ``let_go`` closes it for this process
    only, after a fork: another one goes on writing. ``size`` is the number of bytes written so far.
    """

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...
    def write(self, data: bytes) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...
    def let_go(self) -> None: ...


@dataclass(frozen=True)
class SegmentLimit:
    """A segment ends when its lines and its content are of so many bytes together, or when its oldest line is so many seconds old."""

    size: int
    seconds: float


class ObjectLocks(Protocol):
    """What a store itself keeps from being deleted, whoever asks (the Object Lock of S3). All versions of a name are meant.

    ``hold`` puts a legal hold on them, or lifts it, and returns on how many that changed something; ``held`` says whether there is one.
    ``until`` is the time (milliseconds since 1970 UTC) before which one cannot be deleted, None where nothing forbids it; ``extend``
    moves it, to a later time only. A ``StoreError`` says that the store has no such thing, or that this role may not.
    """

    def hold(self, name: str, on: bool) -> int: ...
    def held(self, name: str) -> bool: ...
    def until(self, name: str) -> int | None: ...
    def extend(self, name: str, until: int) -> None: ...


class Store(Protocol):
    """Named byte strings under ``/``-separated relative paths. The layout is ``format/layout.py``'s business, not the store's.
    How to write one: docs/howto/write-a-store.md.

    * A name that could lead out of the store (empty, absolute, with ``.``, ``..``, an empty part or NUL) is a ``StoreError``, and so
      is everything that goes wrong and has no error of its own here.
    * ``create`` makes a new append-only file and raises ``ConflictError`` if the name exists, even when it is empty.
    * ``create_all`` makes several, as ``create`` each, with one wait for the device where that can be: durable when it returns, and after
      a power cut none is there without the first. All or, as long as the store answers, none is kept open.
    * ``put_new`` writes a small object whole, durably and once: ``ConflictError`` if it exists with other bytes, nothing if with the
      same. Nobody ever reads a part of it, and of several at once one wins.
    * ``replace`` swaps a small object atomically and durably.
    * ``sync`` returns when what is there under a name, whoever wrote it, is on the device; nothing happens to what has no such name.
    * ``read`` raises ``NotFoundError`` for a missing name and ``StoreError`` for one that cannot be read; never returns less than
      there is. ``limit`` bounds what is read; a longer object is a ``StoreError``.
    * ``names`` lists all names below a prefix (empty, or a folder's name with its ``/``), sorted, and is empty when there is nothing;
      what cannot be listed is a ``StoreError``, never nothing.
    * ``sizes`` lists as ``names`` does, each name with its size in bytes: of a file that is being written what it has by now.
    * ``remove`` takes a name out of the store, durably and with all of its versions; nothing where there is none, ``StoreError`` where
      something forbids it. Of a folder's name with its ``/`` it takes what an emptied folder leaves. Only retention calls it.
    * ``locks``: None where the store cannot keep anything from being deleted.
    * ``lock`` is exclusive between processes and is given back by the kernel when its holder dies.
    * ``segments``: where a store can take files only when they are complete (an object store), after how much of one a writer is to
      begin the next; None: an append file is where it belongs from its first byte.
    * ``recover`` takes up, in the background, what dead processes left unfinished on the way here, and returns how many files that is.
    * ``settle`` waits, for at most so many seconds, until all files that this process has closed are where they belong, and returns
      how many are not yet.
    * ``notices``: what whoever uses this store must know, each in one line: files that could not be brought where they belong and are
      not tried again. Empty where all is well.
    """

    segments: SegmentLimit | None
    locks: ObjectLocks | None

    @property
    def url(self) -> str: ...
    def create(self, name: str) -> AppendFile: ...
    def create_all(self, names: Sequence[str]) -> list[AppendFile]: ...
    def put_new(self, name: str, data: bytes) -> None: ...
    def replace(self, name: str, data: bytes) -> None: ...
    def sync(self, name: str) -> None: ...
    def read(self, name: str, *, limit: int | None = None) -> bytes: ...
    def exists(self, name: str) -> bool: ...
    def names(self, prefix: str) -> Iterator[str]: ...
    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]: ...
    def remove(self, name: str) -> None: ...
    def lock(self, name: str) -> Lock: ...
    def recover(self) -> int: ...
    def settle(self, seconds: float) -> int: ...
    def notices(self) -> list[str]: ...


class Lock(Protocol):
    """Held until ``release`` or the end of the process. ``ConflictError`` was raised by ``lock`` if somebody else has it."""

    def release(self) -> None: ...
