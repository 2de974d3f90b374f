"""Much of a far store, read in order: one list for all that lies below a prefix, and files before they are asked for, by several threads.

For whoever reads every session of a store whose requests take time (``Store.segments`` is not None: an object store). What it shows is
the store as it was when it was listed: somebody may be recording meanwhile. So a result that is not good is looked at again in the store
itself, by whoever asked.

Files are read ahead by kind (``events.jsonl``, ``seals``, …, ``json``), each kind in the order of its names: who reads lines alone does
not fetch packs. Nothing is read ahead that the one before it was not.
"""

from __future__ import annotations

import bisect
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from tachograph.core.errors import NotFoundError, StoreError
from tachograph.core.ports import AppendFile, Lock, Store

#: Requests at once. A client in Python is busy itself with more.
THREADS = 16
#: Files of a kind that are asked for before they are needed. A segment in an object store has about 8 MB at most.
WINDOW = 32
#: Small files that were read are kept, since the ledger and keys are read twice: bytes of one, and of all.
SMALL, ROOM = 64 << 10, 64 << 20


class Ahead:
    """See ``core.ports.Store``. Used by one thread; ``close`` it (or use ``with``). It does not write."""

    def __init__(self, store: Store, *, threads: int = THREADS, window: int = WINDOW) -> None:
        self._store = store
        self._window = window
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tachograph-read")
        self._listed: dict[str, list[str]] = {}
        self._kinds: dict[tuple[str, str], list[str]] = {}
        self._coming: dict[tuple[str, str], OrderedDict[str, Future[bytes]]] = {}
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self.segments = store.segments
        self.locks = store.locks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    @property
    def url(self) -> str:
        return self._store.url

    # -- reading -----------------------------------------------------------------------------------------------------------

    def names(self, prefix: str) -> Iterator[str]:
        """Of a whole part of the store (``sessions/``) they are listed now; of what lies in a part, they are as when that was."""
        part = _part(prefix)
        if prefix != part and part in self._listed:
            return iter(_below(self._listed[part], prefix))
        found = list(self._store.names(prefix))
        if prefix == part:
            self._list(part, found)
        return iter(found)

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return self._store.sizes(prefix)

    def exists(self, name: str) -> bool:
        listed = self._listed.get(_part(name))
        return self._store.exists(name) if listed is None else _has(listed, name)

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        data = self._kept.get(name)
        if data is None:
            data = self._fetched(name, limit)
            if len(data) <= SMALL:
                self._keep(name, data)
        if limit is not None and len(data) > limit:
            raise StoreError(
                f"{self.url}/{name} is longer than {limit} bytes, which no such file should be; look at it before you trust it"
            )
        return data

    def _fetched(self, name: str, limit: int | None) -> bytes:
        part = _part(name)
        kind = (part, _kind(name))
        if part not in self._listed:
            if part != "keys/":
                return self._store.read(name, limit=limit)
            list(self.names(part))
        if not _has(self._listed[part], name):
            raise NotFoundError(f"no {name} in {self.url}; it was never written, or somebody has removed it")
        coming, order = self._coming.setdefault(kind, OrderedDict()), self._kinds[kind]
        at = bisect.bisect_left(order, name)
        for other in [each for each in coming if each < name]:
            coming.pop(other).cancel()  # passed over
        for wanted in order[at : at + self._window]:
            if wanted not in coming and wanted not in self._kept:
                coming[wanted] = self._pool.submit(self._store.read, wanted)
        return coming.pop(name).result()

    def _keep(self, name: str, data: bytes) -> None:
        self._kept[name] = data
        self._size += len(data)
        while self._size > ROOM:
            self._size -= len(self._kept.popitem(last=False)[1])

    def _list(self, part: str, names: list[str]) -> None:
        self._listed[part] = names
        for key in [key for key in self._kinds if key[0] == part]:
            del self._kinds[key]
        for name in names:
            self._kinds.setdefault((part, _kind(name)), []).append(name)

    # -- the rest of the contract ------------------------------------------------------------------------------------------

    def lock(self, name: str) -> Lock:
        return self._store.lock(name)

    def sync(self, name: str) -> None:
        self._store.sync(name)

    def recover(self) -> int:
        return self._store.recover()

    def settle(self, seconds: float) -> int:
        return self._store.settle(seconds)

    def notices(self) -> list[str]:
        return self._store.notices()

    def create(self, name: str) -> AppendFile:
        raise self._no(name)

    def create_all(self, names: Sequence[str]) -> list[AppendFile]:
        raise self._no(", ".join(names))

    def put_new(self, name: str, data: bytes) -> None:  # noqa: ARG002 - the port's
        raise self._no(name)

    def replace(self, name: str, data: bytes) -> None:  # noqa: ARG002 - the port's
        raise self._no(name)

    def remove(self, name: str) -> None:
        raise self._no(name)

    def _no(self, name: str) -> StoreError:
        return StoreError(f"{self.url}/{name} is only read here; write to the store itself")


def _part(name: str) -> str:
    return name.partition("/")[0] + "/" if "/" in name else ""


def _kind(name: str) -> str:
    return name.rpartition("/")[2].partition(".")[2]


def _below(names: list[str], prefix: str) -> list[str]:
    start = end = bisect.bisect_left(names, prefix)
    while end < len(names) and names[end].startswith(prefix):
        end += 1
    return names[start:end]


def _has(names: list[str], name: str) -> bool:
    at = bisect.bisect_left(names, name)
    return at < len(names) and names[at] == name
