"""A store in memory whose process dies at any byte, and whose device loses at a power cut what no device has to keep.

Of each file what was synced stays. Of what was written since, any page may be there as it was written, or as it was at the last sync
with zeros behind; and the file's size is any between the two. Files are as good as each other: the pages of one may survive though those
that were written earlier to another do not. Directory entries survive, since whoever creates a file syncs its directory.
"""

from __future__ import annotations

from collections.abc import Callable

from fake_store import FakeFile, FakeStore
from tachograph.core.errors import StoreError


class Killed(BaseException):
    """The process is no more."""


class PageStore(FakeStore):
    """``budget``: how many bytes and creations the process lives to see. ``refuse(operation, name)``: whether this one fails."""

    def __init__(self) -> None:
        super().__init__()
        self.budget: int | None = None
        self.refuse: Callable[[str, str], bool] = lambda operation, name: False

    def spend(self, wanted: int) -> int:
        if self.budget is None:
            return wanted
        spent = min(wanted, self.budget)
        self.budget -= spent
        return spent

    def create(self, name: str) -> FakeFile:
        if self.spend(1) == 0:
            raise Killed
        if self.refuse("create", name):
            raise StoreError(f"cannot create {name}, told so; nothing to do")
        super().create(name)
        self.synced[name] = b""
        return PageFile(self, name)

    def power_cut(self, number: Callable[[int, int], int], *, page: int) -> None:
        """``number(least, most)`` decides what is lost, of pages of so many bytes."""
        self.locked.clear()
        for name, now in self.objects.items():
            was = self.synced.get(name, bytes(now))
            if was == now:
                continue
            size = number(len(was), len(now))
            after = bytearray(now[:size])
            for start in range(len(was) // page * page, size, page):
                if not number(0, 1):
                    end = min(start + page, size)
                    after[start:end] = was[start:end].ljust(end - start, b"\0")
            self.objects[name] = after
            self.synced[name] = bytes(after)


class PageFile(FakeFile):
    _store: PageStore

    def write(self, data: bytes) -> None:
        self._check()
        if self._store.refuse("write", self.name):
            super().write(data[: len(data) // 2])
            self.close()
            raise StoreError(f"cannot write {self.name}, told so; nothing to do")
        super().write(data[: self._store.spend(len(data))])
        if self._store.budget == 0:
            raise Killed

    def sync(self) -> None:
        self._check()
        if self._store.refuse("sync", self.name):
            # Nobody knows what is on the device. A second sync would succeed and say nothing about it.
            self.close()
            raise StoreError(f"cannot sync {self.name}, told so; nothing to do")
        super().sync()
