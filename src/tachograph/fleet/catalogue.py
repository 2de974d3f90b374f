"""The catalogue of a store: brought up to date from sessions and ledger, and asked.

What is there is what the files say: each row of ``sessions`` has the size that its session had, so an update lists the store, reads the
sessions whose size is another one, and leaves the rest alone. Nobody else writes meanwhile (a lock). New files are written before old ones
lose their rows, and a home's ``sessions`` is its last file; whoever dies over an update leaves rows twice or files without a session, and
the next update puts both right.

Nothing here is evidence: who can write the store can write what he likes into the catalogue. ``rebuild`` and ``tacho verify`` tell.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import ConflictError, NotFoundError, StoreError
from tachograph.core.ids import SESSION_ID
from tachograph.core.ports import Clock, Store
from tachograph.format import layout
from tachograph.log.opening import OpenStore

from . import building, parquet
from .building import HOMES, Home, Job, Listed, Written
from .columns import SCHEMA
from .heard import Heard, listen

STATE, LOCK, LINKS = f"{layout.CATALOGUE}state.json", f"{layout.CATALOGUE}lock", f"{layout.CATALOGUE}links/links.parquet"
#: So many files of a day and of one size are made into one.
MANY = 16
#: Where one size ends and the next begins: bytes of a file of events.
SIZES = (1 << 20, 16 << 20, 256 << 20)
_FILE = re.compile(rf"{layout.CATALOGUE}([a-z]+)/day=([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})/([0-9A-Za-z_-]+)\.parquet\Z")
_BESIDE = re.compile(r".*\.[0-9]+-[0-9]+\.new\Z")

Progress = Callable[[int, int], None]


@dataclass
class State:
    """``catalogue/state.json``. ``files``: size and digest of each file; ``filters``: by file of filters (``search/``), the size of each of
    its sessions when it was looked through."""

    heard: Heard = field(default_factory=Heard)
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    filters: dict[str, dict[str, int]] = field(default_factory=dict)

    def dump(self) -> bytes:
        fields = {"schema": SCHEMA, "ledger": self.heard.to_json(), "files": self.files, "filters": self.filters}
        return json.dumps(fields, separators=(",", ":"), sort_keys=True).encode() + b"\n"


@dataclass(frozen=True)
class Report:
    """What an update did. ``problem``: why the ledger was not read to its end."""

    sessions: int
    read: int
    dropped: int
    problem: str | None


@dataclass(frozen=True)
class _Known:
    """A session's row in a home."""

    size: int
    settled: bool


class Catalogue:
    """``home``: the store in which it lies, where that is another one than the sessions'."""

    def __init__(self, opened: OpenStore, *, clock: Clock, home: Store | None = None, pause: Callable[[float], None] = time.sleep) -> None:
        parquet.library()
        self.opened = opened
        self.store = opened.store
        self.home = home if home is not None else opened.store
        self._clock = clock
        self._pause = pause

    @contextlib.contextmanager
    def held(self, wait: float = 60.0) -> Iterator[None]:
        """Nobody else changes it meanwhile. Raises ``ConflictError`` where somebody else did for all of that time."""
        until = self._clock.monotonic() + wait
        while True:
            try:
                lock = self.home.lock(LOCK)
                break
            except ConflictError:
                if self._clock.monotonic() >= until:
                    raise ConflictError(
                        f"the catalogue of {self.store.url} is being changed by somebody else for {wait:g} seconds; see who it is, then try again"
                    ) from None
                self._pause(0.05)
        try:
            yield
        finally:
            lock.release()

    def update(self, *, rebuild: bool = False, progress: Progress | None = None) -> Report:
        """Bring it up to date. Call it while it is ``held``. ``progress``: sessions read, and to read."""
        state = State() if rebuild else self.state()
        known = {home: self._known(home) for home in self.homes(state)}
        whole = {home.file(table) for home in known for table in HOMES}
        # Of a home that somebody died over nothing is kept.
        state.files = {name: told for name, told in state.files.items() if name in whole or name in state.filters or name == LINKS}
        state.heard = listen(self.store, self.opened.trusted, state.heard if state.heard.size else None)
        there = self._listed(state.heard.deleted)
        best = _best(known, there)
        wanted = [each for name, each in there.items() if name not in best]
        count = 0

        def done(more: int) -> None:
            nonlocal count
            count += more
            if progress is not None:
                progress(count, len(wanted))

        if progress is not None and wanted:
            progress(0, len(wanted))
        written = building.build(Job(self.store, self.home, self._clock.unix_ms()), wanted, done)
        state.files |= written
        dropped = self._drop(state, known, best, written)
        self._drop_filters(state, there)
        self._clean(state)
        self._merge(state)
        self._links(state)
        self._keep(state)
        return Report(len(there), len(wanted), dropped, state.heard.problem)

    def state(self) -> State:
        """What was kept; nothing where it is of another version, or cannot be read: then all is made anew."""
        try:
            kept = json.loads(self.home.read(STATE))
            if kept["schema"] != SCHEMA:
                return State()
            return State(
                Heard.from_json(kept["ledger"]), {str(name): (int(size), str(digest)) for name, (size, digest) in kept["files"].items()},
                {str(name): {str(k): int(v) for k, v in sizes.items()} for name, sizes in kept["filters"].items()},
            )  # fmt: skip
        except (NotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return State()

    def exists(self) -> bool:
        """Whether one was ever made here."""
        return self.home.exists(STATE)

    def homes(self, state: State) -> list[Home]:
        """Those whose files are whole, as far as their sizes tell."""
        sizes = {name: size for name, size in self.home.sizes(layout.CATALOGUE) if name in state.files}
        whole = {name for name, (size, _) in state.files.items() if sizes.get(name) == size}
        found = []
        for name in sorted(whole):
            match = _FILE.match(name)
            if match is not None and match[1] == "sessions":
                home = Home(match[2], match[3])
                if all(home.file(table) in whole for table in HOMES):
                    found.append(home)
        return found

    def keep_filters(self, state: State, name: str, data: bytes, sizes: dict[str, int]) -> None:
        """A file of filters, with the sizes of its sessions. Call it while it is ``held``."""
        self.home.replace(name, data)
        state.files[name] = building.mark(data)
        state.filters[name] = sizes
        self._keep(state)

    def drop_filters(self, state: State, name: str) -> None:
        """No such file any more."""
        state.filters.pop(name, None)
        state.files.pop(name, None)
        self._keep(state)
        self.home.remove(name)

    # -- the steps of an update --------------------------------------------------------------------------------------------------

    def _known(self, home: Home) -> dict[str, _Known]:
        name = home.file("sessions")
        try:
            found = parquet.load(self.home.read(name), f"{self.home.url}/{name}", ("session_id", "bytes", "status", "last")).to_pydict()
        except (NotFoundError, StoreError):
            return {}
        now = self._clock.unix_ms()
        return {
            session_id: _Known(size, building.is_settled(status, int(last.timestamp() * 1000) if last is not None else 0, now))
            for session_id, size, status, last in zip(found["session_id"], found["bytes"], found["status"], found["last"], strict=True)
        }

    def _listed(self, deleted: set[str]) -> dict[str, Listed]:
        sizes: dict[str, list[int]] = {}
        for name, size in self.store.sizes(layout.SESSIONS):
            parts = name.split("/")
            if len(parts) == 3 and (kind := layout.segment_of(parts[2])) is not None and SESSION_ID.match(parts[1]):
                both = sizes.setdefault(parts[1], [0, 0])
                both[0] += size
                if kind[1] == "events.jsonl":
                    both[1] += size
        # What was deleted and is still there in part is somebody's who died over it: tacho retain finishes it.
        return {name: Listed(name, size, lines) for name, (size, lines) in sizes.items() if name not in deleted}

    def _drop(self, state: State, known: dict[Home, dict[str, _Known]], best: dict[str, Home], written: Written) -> int:
        """Homes lose the rows of sessions that are gone, or that have another home by now."""
        dropped = 0
        for home, sessions in known.items():
            if home.file("sessions") in written:
                continue  # written anew, whole
            keep = [name for name in sessions if best.get(name) == home]
            if len(keep) == len(sessions) and sessions:
                continue
            dropped += len(sessions) - len(keep)
            if keep:
                state.files |= building.put(self.home, home, {table: _only(self._load(home, table), keep) for table in HOMES})
            else:
                self._remove(state, home)
        return dropped

    def _drop_filters(self, state: State, there: dict[str, Listed]) -> None:
        shredded = {session_id for session_id, kind, _ in state.heard.links if kind == "shredded"}
        for name, sizes in list(state.filters.items()):
            keep = [session_id for session_id in sizes if session_id in there and session_id not in shredded]
            if len(keep) == len(sizes):
                continue
            if not keep:
                self.drop_filters(state, name)
                continue
            data = parquet.dump("filters", _only(parquet.load(self.home.read(name), f"{self.home.url}/{name}"), keep))
            self.keep_filters(state, name, data, {session_id: sizes[session_id] for session_id in keep})

    def _clean(self, state: State) -> None:
        """Files that nobody speaks of: somebody died over them."""
        for name, _ in list(self.home.sizes(layout.CATALOGUE)):
            if name not in state.files and name not in (STATE, LOCK, LINKS) and (_FILE.match(name) or _BESIDE.match(name)):
                self.home.remove(name)
        there = {name for name, _ in self.home.sizes(layout.CATALOGUE)}
        state.files = {name: told for name, told in state.files.items() if name in there}

    def _merge(self, state: State) -> None:
        """Small files of a day become one, so that nobody has to open thousands."""
        groups: dict[tuple[str, int], list[Home]] = {}
        for home in self.homes(state):
            size = state.files[home.file("events")][0]
            tier = next((number for number, limit in enumerate(SIZES) if size < limit), None)
            if tier is not None:
                groups.setdefault((home.day, tier), []).append(home)
        for group in groups.values():
            if len(group) < MANY:
                continue
            settled = [home for home in group if all(one.settled for one in self._known(home).values())]
            if len(settled) >= MANY:
                self._merged(state, settled)

    def _merged(self, state: State, homes: list[Home]) -> None:
        import pyarrow as pa

        tables = {table: pa.concat_tables([self._load(home, table) for home in homes]) for table in HOMES}
        tables["sessions"] = tables["sessions"].sort_by("session_id")
        tables["events"] = tables["events"].sort_by([("session_id", "ascending"), ("seq", "ascending")])
        tables["contents"] = tables["contents"].sort_by([("id", "ascending"), ("session_id", "ascending"), ("seq", "ascending")])
        new = building.home_of(tables["sessions"].column("session_id").to_pylist())
        state.files |= building.put(self.home, new, tables)
        for home in homes:
            if home != new:
                self._remove(state, home)

    def _links(self, state: State) -> None:
        data = parquet.dump("links", parquet.table("links", state.heard.rows()))
        if state.files.get(LINKS) != building.mark(data):
            self.home.replace(LINKS, data)
            state.files[LINKS] = building.mark(data)

    def _keep(self, state: State) -> None:
        data = state.dump()
        if not self.home.exists(STATE) or self.home.read(STATE) != data:
            self.home.replace(STATE, data)

    def _load(self, home: Home, table: str) -> Any:
        name = home.file(table)
        return parquet.load(self.home.read(name), f"{self.home.url}/{name}")

    def _remove(self, state: State, home: Home) -> None:
        for table in reversed(HOMES):  # what speaks of the others first
            state.files.pop(home.file(table), None)
            self.home.remove(home.file(table))


def _best(known: dict[Home, dict[str, _Known]], there: dict[str, Listed]) -> dict[str, Home]:
    """The home of each session whose rows are of what it is now. Where somebody died over a change, two may say so."""
    found: dict[str, Home] = {}
    for home, sessions in known.items():
        for name, row in sessions.items():
            if name in there and there[name].size == row.size:
                found[name] = home
    return found


def _only(table: Any, session_ids: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table.column("session_id"), value_set=pa.array(session_ids)))
