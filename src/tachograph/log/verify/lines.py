"""Steps 2 and 3, and what a later segment makes void: the lines of a log, read once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from .form import MAX_LINE, misfit, parsed, stamp
from .frames import Frame, Tiling
from .result import Verification

NAME = re.compile(r"([0-9]{8})\.(events\.jsonl|content\.pack|seals)\Z")
#: What each line ends with besides its hash: `,"hash":"` + 64 digits + `"}` + line feed.
_MARK, _END = b',"hash":"', b'"}\n'
_CLOSING = len(_MARK) + 64 + len(_END)
_NONE: list[Any] = []


#: What a line says of content: its offset, its frames, and (field, name in hexadecimal digits) of each ``content:`` reference. Tuples of
#: tuples, which the garbage collector does not walk again and again: there is one for nearly each line.
Reference = tuple[int, tuple[Frame, ...], tuple[tuple[str, str], ...]]


@dataclass
class Segment:
    """One segment, and of its good lines what the later steps ask for."""

    number: int
    file: str
    data: bytes
    lines: int = 0
    tail: int = 0
    """Where the last good line ends."""
    void: int | None = None
    """From this offset on it is void: the writer could not bring it to the device, and wrote it anew in a later segment."""
    first: dict[str, Any] | None = None
    """The fields of the first line."""
    gaps: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    """(place, offset, fields) of the ``gap`` lines; places from 0."""
    ends: list[tuple[int, int]] = field(default_factory=list)
    """(place, offset of what follows) of ``session_end`` lines."""
    pack: Tiling | None = None
    content: list[Reference] = field(default_factory=list)
    """What its lines say of content, where that was asked for."""

    def leading_gaps(self) -> list[dict[str, Any]]:
        """The gaps that it begins with."""
        return [fields for number, (place, _, fields) in enumerate(self.gaps) if place == number]


def read(segments: list[Segment], session_id: str, tiling: Callable[[Segment], Tiling], out: Verification, *, content: bool) -> list[bytes]:
    """Fill the segments, down to where the chain breaks; the Merkle leaves of all good lines. ``tiling`` is asked for that of each
    segment, in order. ``content``: whether to note what the lines say of it."""
    _voids(segments)
    leaves: list[bytes] = []
    previous = sha256(b"tachograph/v1 session " + session_id.encode()).hexdigest().encode()
    broken = False
    for segment in segments:
        segment.pack = tiling(segment)
        if not broken:
            previous = _read(segment, previous, session_id, segment.pack, leaves, out, content=content)
            broken = _breaks(segment, len(leaves) + 1, out)
        segment.pack.close()
    out.events = len(leaves)
    return leaves


def _breaks(segment: Segment, seq: int, out: Verification) -> bool:
    """Whether the chain breaks in this segment, other than by a torn tail."""
    data, at = segment.data, segment.tail
    if segment.void is not None and at != segment.void:
        out.problem("chain", segment.file, at, f"{segment.void} bytes count, as a later segment says, and the chain breaks before")
        return True
    if segment.void is None and at < len(data):
        feed = data.find(b"\n", at)
        if feed not in (-1, len(data) - 1) and not hole(data, at, feed):
            # More lines where the chain has broken: a torn write spoils the very last line, or left a hole in this one.
            out.problem("chain", segment.file, at, f"line {seq} does not continue the chain")
            return True
    return False


def _read(
    segment: Segment, previous: bytes, session_id: str, tiling: Tiling, leaves: list[bytes], out: Verification, *, content: bool
) -> bytes:
    """The lines of one segment that continue the chain; where it stands behind them."""
    data, stamped, at, place, seq = segment.data, stamp(session_id).match, 0, 0, len(leaves) + 1
    until = len(data) if segment.void is None else min(segment.void, len(data))
    while at < until:
        end = data.find(b"\n", at) + 1
        raw = data[at:end] if end else data[at:]
        # 3. The chain, over stored bytes.
        digest = sha256(previous + raw[:-_CLOSING]).hexdigest().encode()
        if not raw.endswith(_MARK + digest + _END):
            break
        fields = parsed(raw)
        if fields is None:
            # 2. Form. A line that is chained but malformed was not written by a writer of this format.
            out.problem("line", segment.file, at, "chained, but not a JSON object without duplicate keys")
            break
        match = stamped(raw)
        if match is None or match[1] != b"%d" % seq:
            if what := misfit(fields, session_id):
                out.problem("line", segment.file, at, what)
            if type(fields.get("seq")) is not int or fields["seq"] != seq:
                out.problem("chain", segment.file, at, f"seq {fields.get('seq')!r:.20} where {seq} is due")
        leaves.append(sha256(b"\x00" + raw).digest())
        kind = fields.get("type")
        if kind == "gap":
            segment.gaps.append((place, at, fields))
        elif kind == "session_end":
            segment.ends.append((place, end))
        if not place:
            segment.first = fields
        frames = fields.get("frames", _NONE)
        if frames is not _NONE:
            found = tiling.take(frames if isinstance(frames, list) else [frames], at, place)
            if content:
                segment.content.append((at, found, _uris(fields)))
        elif content and (names := _uris(fields)):
            segment.content.append((at, (), names))
        previous, at, place, seq = digest, end, place + 1, seq + 1
    segment.tail, segment.lines = at, place
    return previous


def _uris(fields: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    found = []
    for name, value in fields.items():
        if name[-4:] == "_uri" and isinstance(value, str) and value[:8] == "content:":
            found.append((name, value[8:]))
    return tuple(found)


def _voids(segments: list[Segment]) -> None:
    # 4. What failed writes left. The newest such line counts first: it may make void an older one.
    at = len(segments)
    while at > 1:
        head = segments[at - 1].data
        fields = (parsed(head[: head.find(b"\n") + 1]) if b'"write_failed"' in head[:MAX_LINE] else None) or {}
        match, offset = NAME.match(str(fields.get("file"))), fields.get("offset")
        at -= 1
        if (fields.get("type"), fields.get("reason")) != ("gap", "write_failed") or match is None or match[2] != "events.jsonl":
            continue
        number = int(match[1])
        if type(offset) is not int or offset < 0 or not 0 < number <= at:
            continue
        segments[number - 1].void = offset
        for between in segments[number:at]:
            between.void = 0
        at = number if offset else number - 1


def hole(data: bytes, start: int, end: int) -> bool:
    """Whether a block of 512 bytes that was never written (zeros up to its last byte) ends between these offsets."""
    return any(data[last] == 0 for last in range(start + (511 - start) % 512, end, 512))
