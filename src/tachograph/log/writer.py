"""The writer of one session's log, and what it promises.

**The acknowledgement contract**

1. ``append`` returns: the event has its place in the order. It is in memory only.
2. ``flush`` returns: every event appended so far is with the operating system, and its content on the device. It survives the death of
   this process; after a power cut it is there whole, with its content, or a torn tail is there in its place.
3. ``commit`` returns: every event appended so far is on the device (content first, then the line that refers to it), and so is the
   directory entry of its file. It survives a power cut.
4. A call declared ``effect="external"`` runs only after the commit of its ``started`` line. Other calls do not wait.
5. ``seal`` returns: as ``commit``, and a signed statement of length and root over all lines is on the device, too.

A segment is created by its writer and never opened again; its three names are on the device before its first line, in two syncs of
their folder. What has no content costs no sync of the pack, and where nothing was written since the last sync there is none: an event
with content costs two, one without a single one, a seal one more. ``roll`` ends one and begins the next, whose first line says what the one
before holds, for stores that take complete files only.

**When a write or a sync fails** (disk full, a broken device) the writer is *broken*, whatever failed: it refuses to go on, and none of its
descriptors is used again, since the kernel may have dropped what it could not write, shows it to readers all the same, and reports the
next sync as done. What was committed before stays as it is. ``mark`` says where that ends; ``recover.restart`` begins the next segment
from there, with a line that makes void whatever the broken writer left behind its mark. ``lasting.LastingWriter`` does that by itself, and
gives what was not committed, and what came since, to the new segment. A writer that died is continued by ``recover.resume``.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec.structs

from tachograph.core import events
from tachograph.core.drafts import HASHED, Draft
from tachograph.core.errors import FormatError, StoreError
from tachograph.core.ids import EventIds
from tachograph.core.ports import AppendFile, Clock, Entropy, Lock
from tachograph.crypto import merkle, note
from tachograph.format import canonical, layout, line

from .appender import Appender
from .content import ContentWriter
from .opening import OpenStore

#: Unsealed lines after which whoever drives a writer seals; the host also seals by time.
SEAL_EVERY = 1024
#: Seconds to wait, at the end, for a store that takes only complete files. What it did not take by then is kept beside it.
SETTLE = 30.0
#: What is kept free in a line for its frames (one a FRAME of content, below 250 bytes each).
FRAMES_ROOM = 64 << 10
HASH_NAME = "hmac-sha256:"
URI = "content:"


@dataclass(frozen=True)
class Mark:
    """How far a log is on the device: so many bytes of the lines of a segment, where the chain stands there, and the tree over all lines
    until there (size and peaks)."""

    segment: int
    offset: int
    previous: str
    size: int = 0
    peaks: tuple[bytes, ...] = ()


class Companion(Protocol):
    """A file beside the log that must be as durable as the lines that speak of it: it is flushed and synced before they are."""

    failed: bool

    def flush(self) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...
    def let_go(self) -> None: ...


class SessionWriter:
    """Appends to one session; holds its lock. Contents of drafts must be redacted already."""

    def __init__(
        self,
        opened: OpenStore,
        session_id: str,
        data_key: bytes,
        *,
        clock: Clock,
        entropy: Entropy,
        segment: int = 1,
        previous: str | None = None,
        tree: merkle.Frontier | None = None,
        lock: Lock | None = None,
        companion: Companion | None = None,
    ) -> None:
        """``previous`` and ``tree``: where a log that is continued stands; ``lock``: its lock, if the caller has it already;
        ``companion``: see there; it is closed with the log."""
        store = opened.store
        self.session_id = session_id
        self._clock = clock
        self._key = opened.key
        self._ids = EventIds(entropy(10))
        self._previous = previous if previous is not None else line.genesis(session_id)
        self._tree = tree if tree is not None else merkle.Frontier()
        self._sealed = self._tree.size if previous is None else 0
        self._broken: str | None = None
        self._companion = companion
        self._lock = lock if lock is not None else store.lock(layout.lock(session_id))
        self._store = store
        self._segment = segment
        self._began: int | None = None
        self._mark = Mark(segment, 0, self._previous, self._tree.size, self._tree.peaks)
        try:
            lines, seals, pack = self._create(segment)
            self._events, self._seals = Appender(lines), Appender(seals)
            self.content = ContentWriter(pack, session_id, segment, data_key, digest=opened.digest(), salt=entropy(32))
        except BaseException:
            # A lock that nobody can give back any more would keep the session closed for as long as this process lives.
            self._lock.release()
            raise
        self._entropy = entropy

    def _create(self, segment: int) -> list[AppendFile]:
        # The lines first: a segment without them is none, and what a crash leaves must be one.
        return self._store.create_all([name(self.session_id, segment) for name in (layout.events, layout.seals, layout.content)])

    @property
    def size(self) -> int:
        """Lines so far."""
        return self._tree.size

    @property
    def root(self) -> bytes:
        """The Merkle root over them."""
        return self._tree.root()

    @property
    def unsealed(self) -> int:
        """Lines after the last seal."""
        return self._tree.size - self._sealed

    def new_id(self) -> str:
        """An event id for later use (a call's id is known when it starts)."""
        return self._ids.next(self._clock.unix_ms())

    def append(self, draft: Draft) -> events.Event:
        """Give the draft its place; returns the event as written (id, ``*_uri`` and ``*_hash`` filled in). Raises ``StoreError`` for
        an envelope that no line can hold, and ``FormatError`` for one that would say what the log says itself; neither leaves a
        trace."""
        self._check()
        event, now = draft.event, self._clock.unix_ms()
        filled: dict[str, Any] = {} if event.id else {"id": self._ids.next(now)}
        extra = dict(event.extra)
        for field, value in draft.contents.items():
            if value is None:
                continue
            if not field.endswith("_uri"):
                raise FormatError(f"content under the name {field[:80]!r}, event {event.id}; names of content end in _uri")
            name = self.content.put(value).hex()
            target = filled if hasattr(event, field) else extra
            target[field] = URI + name
            if field in HASHED and hasattr(event, HASHED[field]):
                filled[HASHED[field]] = HASH_NAME + name
        if extra != event.extra:
            filled["extra"] = extra
        if filled:
            event = msgspec.structs.replace(event, **filled)
        stamped: dict[str, Any] = {
            "v": layout.VERSION,
            "seq": self._tree.size + 1,
            "ts": timestamp(draft.unix_ms if draft.unix_ms is not None else now),
            "session_id": self.session_id,
            **events.encode(event),
        }
        # Refused before the frames are made and the chain moves on: a draft that does not fit must leave no trace in the log.
        length = len(canonical.dumps_ordered(stamped))
        if length > line.MAX_LINE - FRAMES_ROOM:
            raise StoreError(f"an envelope of {length} bytes, event {event.id}; put what is long into the draft's contents")
        frames = self.content.seal()
        if frames:
            stamped["frames"] = frames
        data, self._previous = line.make(self._previous, stamped)
        self._events.add(data)
        self._tree.add(merkle.leaf(data))
        if self._began is None:
            self._began = now
        return event

    def flush(self) -> None:
        """See the contract, 2."""
        self._check()
        if self._events.waits:
            with _Breaking(self):
                self._content_first()
                self._events.flush()

    def commit(self) -> None:
        """See the contract, 3."""
        self.flush()
        with _Breaking(self):
            self._events.sync()
        self._mark = Mark(self._segment, self._events.size, self._previous, self._tree.size, self._tree.peaks)

    def _content_first(self) -> None:
        """What lines speak of is on the device before they are given away. The system may write their pages at once and those of
        content in half a minute, and a line must not survive what it refers to."""
        if self._companion is not None:
            self._companion.flush()
            self._companion.sync()
        self.content.flush()
        self.content.sync()

    def seal(self) -> str | None:
        """See the contract, 5. Returns the signed note, or None where nothing is unsealed."""
        if not self.unsealed:
            return None
        self.commit()
        point = note.Checkpoint(note.origin(self.session_id), self._tree.size, self._tree.root())
        signed = note.sign(point, "tachograph/" + self._key.id, self._key.signer())
        with _Breaking(self):
            self._seals.add(signed.encode() + b"\n")
            self._seals.flush()
            self._seals.sync()
        self._sealed = self._tree.size
        return signed

    @property
    def full(self) -> bool:
        """Whether the store wants this segment to end: it is large, or what it holds has waited long."""
        limit = self._store.segments
        if limit is None or self._began is None:
            return False
        return self._events.size + self.content.size >= limit.size or self._clock.unix_ms() - self._began >= limit.seconds * 1000

    def roll(self) -> None:
        """Ends this segment, sealed, and begins the next. Nothing where nothing was appended since the last time."""
        if self._began is None:
            return
        self.seal()
        before, names = self._segment, (layout.events, layout.seals, layout.content)
        with _Breaking(self):
            for file in (self.content, self._events, self._seals):  # a store takes them in this order: content before what refers to it
                file.close()
            held = [self._store.read(name(self.session_id, before)) for name in names]
            self._segment += 1
            lines, seals, pack = self._create(self._segment)
            self._events, self._seals = Appender(lines), Appender(seals)
            self.content.next(pack, self._segment, self._entropy(32))
        files = {
            name(self.session_id, before).rpartition("/")[2]: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in zip(names, held, strict=True)
        }
        self.append(Draft(event=events.Segment(number=self._segment, files=files)))
        self._began = None

    @property
    def broken(self) -> bool:
        """Whether a write or a sync has failed."""
        return self._broken is not None

    @property
    def mark(self) -> Mark:
        """How far the log is on the device."""
        return self._mark

    def abandon(self) -> tuple[Lock, Companion | None]:
        """After a failure: closes what is open, and nothing that comes of it matters any more. The lock stays held; whoever goes on has
        it now, and the companion, where that has not failed itself."""
        self._broken = self._broken or f"the log of {self.session_id} was given up; nothing to do"
        for file in (self.content, self._events, self._seals):
            with contextlib.suppress(StoreError):
                file.close()
        return self._lock, self._companion

    def close(self) -> None:
        """Give the session free. Does not seal: the one who ends a session says so first."""
        with contextlib.ExitStack() as rest:  # each of them, whatever the others say
            rest.callback(self._lock.release)
            for file in (self._companion, self._seals, self._events, self.content):
                if file is not None:
                    rest.callback(file.close)

    def let_go(self) -> None:
        """After a fork: the other process has the session now."""
        with contextlib.ExitStack() as rest:
            rest.callback(self._lock.release)
            for file in (self._companion, self._seals, self._events, self.content):
                if file is not None:
                    rest.callback(file.let_go)

    def _check(self) -> None:
        if self._broken is not None:
            raise StoreError(self._broken)


class _Breaking:
    """A failure inside leaves the writer broken: the kernel may have dropped what was not yet on the device."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._writer._broken = str(error)


def timestamp(unix_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds and ``Z``."""
    moment = datetime.datetime.fromtimestamp(unix_ms // 1000, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{unix_ms % 1000:03d}Z"
