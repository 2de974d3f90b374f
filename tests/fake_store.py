"""A store in memory that writes down what it was asked to do, and fails when it is told to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tachograph.core.errors import ConflictError, NotFoundError, StoreError


class FakeStore:
    """``done``: (operation, last part of the name), in order. ``fail``: such pairs that fail once, from now on."""

    url = "memory"
    segments = None
    locks = None

    def __init__(self) -> None:
        self.objects: dict[str, bytearray] = {}
        self.synced: dict[str, bytes] = {}
        self.locked: set[str] = set()
        self.done: list[tuple[str, str]] = []
        self.fail: set[tuple[str, str]] = set()

    def did(self, operation: str, name: str) -> None:
        short = name.rsplit("/", 1)[-1].split(".", 1)[-1] if name.rsplit("/", 1)[-1][:8].isdigit() else name.rsplit("/", 1)[-1]
        self.done.append((operation, short))
        if (operation, short) in self.fail:
            self.fail.remove((operation, short))
            raise StoreError(f"cannot {operation} {name}, told so; nothing to do")

    def create(self, name: str) -> FakeFile:
        self.did("create", name)
        if name in self.objects:
            raise ConflictError(f"{name} exists; nothing to do")
        self.objects[name] = bytearray()
        return FakeFile(self, name)

    def create_all(self, names: Sequence[str]) -> list[FakeFile]:
        made: list[FakeFile] = []
        try:
            for name in names:
                made.append(self.create(name))
        except BaseException:
            for file in made:
                file.let_go()
            raise
        return made

    def put_new(self, name: str, data: bytes) -> None:
        self.did("put_new", name)
        if self.objects.setdefault(name, bytearray(data)) != data:
            raise ConflictError(f"{name} exists; nothing to do")

    def replace(self, name: str, data: bytes) -> None:
        self.did("replace", name)
        self.objects[name] = bytearray(data)

    def sync(self, name: str) -> None:
        self.did("sync", name)
        if name in self.objects:
            self.synced[name] = bytes(self.objects[name])

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        if name not in self.objects:
            raise NotFoundError(f"no {name}; nothing to do")
        return bytes(self.objects[name])

    def recover(self) -> int:
        return 0

    def settle(self, seconds: float) -> int:
        return 0

    def notices(self) -> list[str]:
        return []

    def exists(self, name: str) -> bool:
        return name in self.objects

    def names(self, prefix: str) -> Iterator[str]:
        return iter(sorted(name for name in self.objects if name.startswith(prefix)))

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return iter([(name, len(self.objects[name])) for name in self.names(prefix)])

    def remove(self, name: str) -> None:
        self.did("remove", name)
        self.objects.pop(name, None)

    def lock(self, name: str) -> FakeLock:
        self.did("lock", name)
        if name in self.locked:
            raise ConflictError(f"{name} is held; nothing to do")
        self.locked.add(name)
        self.objects.setdefault(name, bytearray())
        return FakeLock(self, name)


class FakeFile:
    def __init__(self, store: FakeStore, name: str) -> None:
        self._store, self.name, self._open = store, name, True

    @property
    def size(self) -> int:
        return len(self._store.objects[self.name])

    def write(self, data: bytes) -> None:
        self._check()
        self._store.did("write", self.name)
        self._store.objects[self.name] += data

    def sync(self) -> None:
        self._check()
        self._store.did("sync", self.name)
        self._store.synced[self.name] = bytes(self._store.objects[self.name])

    def let_go(self) -> None:
        self.close()

    def close(self) -> None:
        self._open = False

    def _check(self) -> None:
        if not self._open:
            raise StoreError(f"{self.name} is closed; nothing to do")


class FakeLock:
    def __init__(self, store: FakeStore, name: str) -> None:
        self._store, self._name = store, name

    def release(self) -> None:
        self._store.locked.discard(self._name)
