"""One session, opened and looked through: frame by frame, as they lie in its packs. Lines are read only where something was found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, ShreddedError, StoreError, TachographError
from tachograph.crypto.boxes import SegmentBox
from tachograph.format import canonical, layout, pack
from tachograph.format.tree import BLOB, BYTES, STRING
from tachograph.log.opening import OpenStore

from . import rows
from .needle import Needle

#: Characters on either side of what was found.
AROUND = 60
#: Places that are kept of one session.
MOST = 1000
_PARTS = re.compile(rb'\{"\$b":\[("[0-9a-f]{64}"(?:,"[0-9a-f]{64}")+)\]\}')


@dataclass(frozen=True)
class Hit:
    """One place. ``seq``, ``event_id``, ``type``, ``name``: the line with which the content came into the session; ``before``, ``match``, ``after``: the text."""

    session_id: str
    seq: int
    event_id: str
    type: str
    name: str | None
    before: str
    match: str
    after: str


@dataclass
class Found:
    """Of one session. ``read``: bytes of content that were looked at; ``hits``: the first of ``count``; ``problem``: why not all was looked at;
    ``shredded``: there is nothing to look at; ``filter``: made by the way where that was asked for."""

    session_id: str
    size: int = 0
    read: int = 0
    count: int = 0
    hits: list[Hit] = field(default_factory=list)
    problem: str | None = None
    shredded: bool = False
    filter: bytes | None = None


def frames(opened: OpenStore, session_id: str) -> Iterator[tuple[int, int, bytes]]:
    """(segment, index, plain nodes) of all frames. What a dead writer left behind the last whole one is passed over. Raises
    ``TachographError``."""
    store, key = opened.store, opened.data_key(session_id)
    segment = 0
    while True:
        segment += 1
        name = layout.content(session_id, segment)
        try:
            data = store.read(name)
        except NotFoundError:
            if store.exists(layout.events(session_id, segment)):
                continue
            return
        if len(data) <= pack.HEADER:
            continue
        try:
            box = SegmentBox(key, pack.salt_of(data))
        except ValueError as error:
            raise FormatError(f"{error}, {store.url}/{name}; run tacho verify {session_id}") from None
        at, index = pack.HEADER, 0
        while at + 4 <= len(data):
            end = at + 4 + int.from_bytes(data[at : at + 4], "big")
            if end > len(data):
                break
            try:
                plain = pack.unpacked(box.open(index, data[at + 4 : end], pack.associated(session_id, segment, index)))
            except (ValueError, OverflowError, KeyUnavailableError) as error:
                if _void(store, session_id, segment, index):
                    break
                raise FormatError(f"{error}, {store.url}/{name} offset {at}; run tacho verify {session_id}") from None
            yield segment, index, plain
            at, index = end, index + 1


def _void(store: Any, session_id: str, segment: int, index: int) -> bool:
    """Whether no line of this segment refers to such a frame: a power cut left it."""
    try:
        data = store.read(layout.events(session_id, segment))
    except (NotFoundError, StoreError):
        return False
    return f'"n":{index},'.encode() not in data


def search(opened: OpenStore, session_id: str, needle: Needle) -> Found:
    """Look through a session."""
    found = Found(session_id)
    places: list[tuple[int, int, bytes, str, int, int]] = []
    large = False
    try:
        for segment, index, plain in frames(opened, session_id):
            found.read += len(plain)
            large = large or len(plain) >= BLOB
            if needle.may_hold(plain):
                for node, text in _texts(plain):
                    places += [(segment, index, node, text, start, end) for start, end in needle.find(text)]
        if large:
            places = _joined(opened, session_id, needle, places)
        if places:
            _located(opened, found, places)
    except ShreddedError:
        found.shredded = True
    except (TachographError, ValueError, KeyError, RecursionError) as error:
        found.problem = (
            str(error)
            if isinstance(error, TachographError)
            else f"it does not decode ({type(error).__name__}); run tacho verify {session_id}"
        )
    return found


def parts(opened: OpenStore, session_id: str) -> Iterator[bytes]:
    """Byte strings in which every text of a session stands as it is, for its filter. Raises ``TachographError``, ``ValueError``; ``LargeError``
    where a text may stand across two of them."""
    for _, _, plain in frames(opened, session_id):
        if len(plain) >= BLOB:
            raise LargeError
        yield plain
        if b"\\" in plain:
            for _, kind, payload in pack.nodes_of(plain):
                if kind not in (STRING, BYTES) and b"\\" in payload:
                    yield b"\n".join(text.encode("utf-8", "surrogatepass") for text in _strings(canonical.loads(payload)))


class LargeError(Exception):
    """Byte strings that are stored in several parts: a filter would have to know what stands across them."""


def _texts(plain: bytes) -> Iterator[tuple[bytes, str]]:
    """(node, text) of all strings in a frame, names of members included, and of bytes as far as they are text."""
    for node, kind, payload in pack.nodes_of(plain):
        if kind == STRING:
            yield node, payload.decode("utf-8", "surrogatepass")
        elif kind == BYTES:
            yield node, payload.decode("utf-8", "replace")
        else:
            for text in _strings(canonical.loads(payload)):
                yield node, text


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            if len(item) == 1 and next(iter(item)) in ("$s", "$j", "$l", "$b", "$t"):
                continue  # a reference, which is no text of anybody's
            for name, inner in item.items():
                yield name.removeprefix("$")
                waiting.append(inner)


def _joined(
    opened: OpenStore, session_id: str, needle: Needle, places: list[tuple[int, int, bytes, str, int, int]]
) -> list[tuple[int, int, bytes, str, int, int]]:
    """Bytes that are stored in several parts are one text: they are put together, and looked through again."""
    wholes: dict[bytes, tuple[int, int, list[bytes]]] = {}
    for segment, index, plain in frames(opened, session_id):
        for match in _PARTS.finditer(plain):
            wholes.setdefault(match[1], (segment, index, [bytes.fromhex(each.decode().strip('"')) for each in match[1].split(b",")]))
    wanted = {name for _, _, names in wholes.values() for name in names}
    blobs: dict[bytes, bytes] = {}
    for _, _, plain in frames(opened, session_id):
        if len(plain) > 37:
            blobs |= {node: payload for node, kind, payload in pack.nodes_of(plain) if kind == BYTES and node in wanted}
    kept = [place for place in places if place[2] not in wanted]
    for segment, index, names in wholes.values():
        text = b"".join(blobs.get(name, b"") for name in names).decode("utf-8", "replace")
        kept += [(segment, index, names[0], text, start, end) for start, end in needle.find(text)]
    return kept


def _located(opened: OpenStore, found: Found, places: list[tuple[int, int, bytes, str, int, int]]) -> None:
    """Which lines the frames belong to. What no line speaks of is no part of the session."""
    lines: dict[tuple[int, int], dict[str, Any]] = {}
    for segment, line in rows.lines(opened.store, found.session_id, lambda why: setattr(found, "problem", why)):
        for frame in line.get("frames") or ():
            lines[segment, frame["n"]] = line
    seen: set[tuple[int, bytes, int, str]] = set()
    for segment, index, node, text, start, end in places:
        if (segment, index) not in lines:
            continue
        line = lines[segment, index]
        if (mark := (line["seq"], node, start, text[start:end])) in seen:
            continue
        seen.add(mark)
        found.count += 1
        if len(found.hits) < MOST:
            name = line.get("name") or line.get("program") or line.get("model_id")
            found.hits.append(
                Hit(
                    found.session_id, line["seq"], str(line.get("id")), str(line.get("type")), name if isinstance(name, str) else None,
                    text[max(0, start - AROUND) : start], text[start : min(end, start + 4 * AROUND)], text[end : end + AROUND],
                )
            )  # fmt: skip
    found.hits.sort(key=lambda hit: hit.seq)
