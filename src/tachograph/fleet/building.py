"""Sessions into files of the catalogue: many at once, by several processes.

A *home* is the set of files that hold a session's rows: one of each table, with the same name under the same day. Sessions that have
ended share one; a session that is still being written has its own, so that little is written again when it has grown.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.core.ports import Store
from tachograph.format import layout
from tachograph.log.ahead import Ahead
from tachograph.log.retention import DAY, unix_ms

from . import parquet, rows, workers
from .rows import Rows

#: Tables that have a file in each home. In the order in which they are written: whoever dies over it leaves files that nobody speaks of.
HOMES = ("contents", "events", "sessions")
#: Sessions, and bytes of lines, that are read into one home at once.
BATCH, ROOM = 250, 48 << 20
#: Below so many sessions it takes longer to start processes than to read.
FEW = 64
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True)
class Listed:
    """A session as the store lists it: bytes of all its files, and of its lines."""

    session_id: str
    size: int
    lines: int


@dataclass(frozen=True)
class Home:
    """``day``: of its sessions; ``stem``: its files' name."""

    day: str
    stem: str

    def file(self, table: str) -> str:
        """The name in the store."""
        return f"{layout.CATALOGUE}{table}/day={self.day}/{self.stem}.parquet"


#: By file: size and the beginning of its SHA-256, so that a copy elsewhere can be brought up to date.
Written = dict[str, tuple[int, str]]


@dataclass(frozen=True)
class Job:
    """What all workers need: where sessions are, where the catalogue is, the time."""

    store: Store
    home: Store
    now: int


def day_of(session_id: str) -> str:
    """The day (UTC) in a session's id, on which it was begun or imported."""
    number = 0
    for digit in session_id[4:14]:
        number = number << 5 | _DIGITS.index(digit)
    try:
        return datetime.datetime.fromtimestamp(number / 1000, datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "9999-12-31"  # a time that no calendar has; the session is there all the same


def batches(wanted: Sequence[Listed]) -> list[list[Listed]]:
    """Sessions of one day together, in order, as many as one worker takes at once."""
    found: list[list[Listed]] = []
    size, day = 0, ""
    for each in sorted(wanted, key=lambda one: one.session_id):
        if not found or day != day_of(each.session_id) or len(found[-1]) >= BATCH or size + each.lines > ROOM:
            found.append([])
            size, day = 0, day_of(each.session_id)
        found[-1].append(each)
        size += each.lines
    return found


def build(job: Job, wanted: Sequence[Listed], done: Callable[[int], None]) -> Written:
    """Read these sessions and write their homes. ``done`` is told how many were read since it was told last."""
    parts, written = batches(wanted), Written()
    for count, files in _each(job, parts, len(wanted)):
        written |= files
        done(count)
    return written


def _each(job: Job, parts: list[list[Listed]], count: int) -> Iterator[tuple[int, Written]]:
    if job.store.segments is not None:
        with Ahead(job.store) as far:
            list(far.names(layout.SESSIONS))  # one list for all
            near = Job(far, job.home, job.now)
            for part in parts:
                yield len(part), _write(near, part)
        return
    yield from workers.spread(lambda part: (len(part), _write(job, part)), parts, alone=count < FEW)


def _write(job: Job, part: list[Listed]) -> Written:
    together: list[Rows] = []
    written = Written()
    for each in part:
        found = rows.read(job.store, each.session_id, each.size)
        if is_settled(found.session["status"], unix_ms(str(found.session["last"])), job.now):
            together.append(found)
        else:
            written |= write(job.home, home_of([each.session_id], own=True), [found])
    if together:
        written |= write(job.home, home_of([found.session["session_id"] for found in together]), together)
    return written


def is_settled(status: str | None, last: int, now: int) -> bool:
    """Whether a session will hardly grow any more: it has ended, or for a day nothing was heard of it."""
    return status != "open" or last < now - DAY


def home_of(session_ids: Sequence[str], *, own: bool = False) -> Home:
    """The home of these sessions, of one day and in order."""
    if own:
        return Home(day_of(session_ids[0]), session_ids[0])
    digest = hashlib.sha256("\n".join(session_ids).encode()).hexdigest()[:12]
    return Home(day_of(session_ids[0]), f"{session_ids[0]}-{len(session_ids)}-{digest}")


def write(store: Store, home: Home, found: Sequence[Rows]) -> Written:
    """The files of a home."""
    tables = {
        "contents": parquet.table("contents", [row for one in found for row in one.contents]).sort_by("id"),
        "events": parquet.table("events", [row for one in found for row in one.events]),
        "sessions": parquet.table("sessions", [one.session for one in found]),
    }
    return put(store, home, tables)


def put(store: Store, home: Home, tables: dict[str, Any]) -> Written:
    """These tables as the files of a home."""
    written = Written()
    for name in HOMES:
        data = parquet.dump(name, tables[name])
        store.replace(home.file(name), data)
        written[home.file(name)] = mark(data)
    return written


def mark(data: bytes) -> tuple[int, str]:
    """What a file can be told by."""
    return len(data), hashlib.sha256(data).hexdigest()[:16]
