"""After a crash: begin the next segment, and say in its first lines what is missing.

Nothing is ever truncated. A torn tail (bytes after the last good line, with no good line behind them) is declared with file, offset,
length and hash, so a verifier can tell it from tampering. Whoever declares may die over it, so what counts is whether a tail was
declared, not whether a segment follows. A chain that breaks in the middle is not ours to continue.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from tachograph.core.drafts import Draft
from tachograph.core.errors import TamperedError
from tachograph.core.events import Gap
from tachograph.core.ports import Clock, Entropy, Lock
from tachograph.crypto import merkle, note
from tachograph.format import layout, line, pack, torn

from .opening import OpenStore
from .reader import Recording, frames, lines_of, parsed, segments, valid_lines
from .writer import Companion, Mark, SessionWriter


def resume(opened: OpenStore, session_id: str, *, clock: Clock, entropy: Entropy, reason: str, lock: Lock | None = None) -> SessionWriter:
    """A writer that continues the session after its writer died. ``reason`` goes into the gap (``host_lost``). ``lock``: the log's
    lock, if the caller has it already; it is given back on failure. Raises ``ConflictError`` while the old writer lives,
    ``TamperedError`` when the log is not one that a crash can leave."""
    store = opened.store
    try:
        Recording(opened, session_id)  # raises where there is none (a lock would make one), and where the chain breaks in the middle
        lock = lock if lock is not None else store.lock(layout.lock(session_id))
        left = left_behind(opened, session_id)  # read under the lock: the old writer may have had more to say
        writer = SessionWriter(
            opened, session_id, opened.data_key(session_id),
            clock=clock, entropy=entropy, segment=left.segments + 1, previous=left.previous, tree=left.tree, lock=lock,
        )  # fmt: skip
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    try:
        writer.append(Draft(event=Gap(reason=reason)))
        for gap in left.tails:
            writer.append(Draft(event=gap))
        writer.commit()
    except BaseException:
        writer.close()
        raise
    return writer


def restart(
    opened: OpenStore, session_id: str, data_key: bytes, mark: Mark, *, clock: Clock, entropy: Entropy, lock: Lock, reason: str,
    companion: Companion | None = None,
) -> SessionWriter:  # fmt: skip
    """A writer that goes on from the mark of one that is broken. What lies behind the mark is void, whatever it is: its lines, or the
    part of them that the device has, are no part of the log. Nothing is committed yet. Raises ``StoreError``, and has released the lock
    then as a new writer does, where no segment can be begun."""
    number = mark.segment + 1
    while opened.store.exists(layout.events(session_id, number)):
        number += 1  # somebody tried before, and failed, too
    tree = merkle.Frontier(mark.size, mark.peaks)
    writer = SessionWriter(
        opened, session_id, data_key, clock=clock, entropy=entropy, segment=number, previous=mark.previous, tree=tree, lock=lock,
        companion=companion,
    )  # fmt: skip
    file = layout.events(session_id, mark.segment).rpartition("/")[2]
    writer.append(Draft(event=Gap(reason=torn.WRITE_FAILED, file=file, offset=mark.offset)))
    if reason != torn.WRITE_FAILED:
        writer.append(Draft(event=Gap(reason=reason)))
    return writer


@dataclass
class Left:
    """What a dead writer left: where the chain stands, and the torn tails that nobody has declared yet. ``void``: instead of these, the
    line that makes void what was never sealed."""

    previous: str
    segments: int = 0
    tree: merkle.Frontier = field(default_factory=merkle.Frontier)
    tails: list[Gap] = field(default_factory=list)
    void: Gap | None = None


def left_behind(opened: OpenStore, session_id: str) -> Left:
    """What is there to be continued; read it under the log's lock. It is on the device when this returns. Raises ``TamperedError``."""
    store = opened.store
    left = Left(line.genesis(session_id))
    numbers = segments(store, session_id)
    for segment in numbers:
        for kind in (layout.content, layout.events, layout.seals):
            # What a process left when it was killed is not on the device yet. It must be before anything refers to it: the chain
            # goes on from its lines, and a tail that was declared must not be lost to a power cut.
            store.sync(kind(session_id, segment))
    for segment, data, void in lines_of(store, session_id, numbers):
        left.segments = segment
        name, content, seals = (kind(session_id, segment) for kind in (layout.events, layout.content, layout.seals))
        end, referred = 0, pack.HEADER
        for offset, raw, digest in valid_lines(left.previous, data):
            left.tree.add(merkle.leaf(raw))
            left.previous, end = digest, offset + len(raw)
            fields = parsed(raw, f"{store.url}/{name} offset {offset}")
            referred = max([referred, *(frame["at"] + frame["len"] for frame in frames(fields))])
            if fields.get("type") == "gap":
                declared = fields.get("file") if fields.get("reason") == "torn_tail" else None
                left.tails = [gap for gap in left.tails if gap.file != declared]
            elif left.tails:
                raise TamperedError(f"{left.tails[0].file} ends in bytes that nobody declared, {store.url}; run tacho verify {session_id}")
        if end < len(data) and (void or not torn.torn_line(data, end)):
            raise TamperedError(f"the chain breaks at {store.url}/{name} offset {end}; run tacho verify {session_id}")
        tails = _tail(name, data, end)
        held = store.read(content) if store.exists(content) else b""
        if referred > max(len(held), pack.HEADER):
            raise TamperedError(f"content that lines refer to is gone, {store.url}/{content}; run tacho verify {session_id}")
        tails.extend(_tail(content, held, referred if held.startswith(pack.MAGIC) and len(held) >= pack.HEADER else 0))
        notes = store.read(seals) if store.exists(seals) else b""
        whole = torn.whole_notes(notes)
        if _sealed(notes[:whole], session_id, opened.trusted) > left.tree.size:
            # What was sealed was on the device before its seal was: no crash takes it back.
            raise TamperedError(f"lines that were sealed are gone, {store.url}/{name} offset {end}; run tacho verify {session_id}")
        tails.extend(_tail(seals, notes, whole))
        if not void:  # of a segment that is, nobody knows what the device has of it
            left.tails.extend(tails)
    return left


def _tail(name: str, data: bytes, end: int) -> list[Gap]:
    tail = data[end:]
    if not tail:
        return []
    file = name.rsplit("/", 1)[-1]
    return [Gap(reason="torn_tail", file=file, offset=end, length=len(tail), sha256=hashlib.sha256(tail).hexdigest())]


def _sealed(notes: bytes, session_id: str, public: frozenset[bytes]) -> int:
    """The most lines that a seal of ours speaks of. Other people's seals are for the verifier."""
    most, parts = 0, notes.decode("utf-8", "replace").split("\n\n")
    for text, signatures in zip(parts[::2], parts[1::2], strict=False):
        try:
            point = note.open_note(f"{text}\n\n{signatures}\n", public)
        except ValueError:
            continue
        if point.origin == note.origin(session_id):
            most = max(most, point.size)
    return most
