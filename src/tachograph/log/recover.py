"""After a crash: begin the next segment, and say in its first lines what is missing.

Nothing is ever truncated. A torn tail (bytes after the last good line, with no good line behind them) is declared with file, offset,
length and hash, so a verifier can tell it from tampering. A chain that breaks in the middle is not ours to continue.
"""

from __future__ import annotations

import hashlib

from tachograph.core.drafts import Draft
from tachograph.core.events import Gap
from tachograph.core.ports import Clock, Entropy
from tachograph.crypto import merkle
from tachograph.format import canonical, layout, line, pack

from .opening import OpenStore
from .reader import Recording, segments, valid_lines
from .writer import SessionWriter


def resume(opened: OpenStore, session_id: str, *, clock: Clock, entropy: Entropy, reason: str) -> SessionWriter:
    """A writer that continues the session after its writer died. ``reason`` goes into the gap (``host_lost``). Raises
    ``ConflictError`` while the old writer lives, ``TamperedError`` when the log is not one that a crash can leave."""

    store = opened.store
    Recording(opened, session_id)  # raises where the chain breaks in the middle
    previous = line.genesis(session_id)
    tree = merkle.Frontier()
    gaps: list[Gap] = []
    numbers = segments(store, session_id)
    for segment in numbers:
        name = layout.events(session_id, segment)
        data = store.read(name)
        end, referred = 0, pack.HEADER
        for offset, raw, digest in valid_lines(previous, data):
            tree.add(merkle.leaf(raw))
            previous, end = digest, offset + len(raw)
            referred = _referred(raw, referred)
        if segment == numbers[-1]:
            gaps.extend(_tail(name, data, end))
            content = layout.content(session_id, segment)
            held = store.read(content) if store.exists(content) else b""
            gaps.extend(_tail(content, held, referred if len(held) >= pack.HEADER else 0))
            seals = layout.seals(session_id, segment)
            notes = store.read(seals) if store.exists(seals) else b""
            gaps.extend(_tail(seals, notes, _whole_notes(notes)))
    writer = SessionWriter(
        opened, session_id, opened.data_key(session_id),
        clock=clock, entropy=entropy, segment=numbers[-1] + 1, previous=previous, tree=tree,
    )  # fmt: skip
    writer.append(Draft(event=Gap(reason=reason)))
    for gap in gaps:
        writer.append(Draft(event=gap))
    writer.commit()
    return writer


def _tail(name: str, data: bytes, end: int) -> list[Gap]:
    tail = data[end:]
    if not tail:
        return []
    file = name.rsplit("/", 1)[-1]
    return [Gap(reason="torn_tail", file=file, offset=end, length=len(tail), sha256=hashlib.sha256(tail).hexdigest())]


def _whole_notes(data: bytes) -> int:
    """Where the last whole note (text, empty line, signatures, empty line) ends."""
    parts = data.split(b"\n\n")
    return sum(len(part) + 2 for part in parts[: (len(parts) - 1) // 2 * 2])


def _referred(raw: bytes, so_far: int) -> int:

    frames = canonical.loads(raw).get("frames", [])
    return max([so_far, *(int(frame["at"]) + int(frame["len"]) for frame in frames)])
