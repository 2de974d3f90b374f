"""Proofs that need neither log nor store: that one line stands in a sealed log (C2SP tlog-proof), or the log's newest seal alone.

    c2sp.org/tlog-proof@v1
    extra <base64 of the line as stored>
    index <the line's number, from 0>
    <hashes of the inclusion proof, base64, from the sibling to the root's child>

    <the signed note>

The line is in ``extra``, which the format calls opaque and unauthenticated; here its hash is the leaf that is proved, so it is vouched
for once the proof has been checked. Nothing of this needs a key but the public one; a line holds no content.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import FormatError, NotFoundError, TamperedError, UsageError
from tachograph.core.ports import Store
from tachograph.crypto import merkle, note
from tachograph.format import layout, line

from .book import whole_notes
from .reader import lines_of, parsed, segments, valid_lines

HEADER = "c2sp.org/tlog-proof@v1"
#: Bytes of a proof: a line, a path of 64 hashes, a note.
LIMIT = 16 << 20
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})\Z")
_IN_PAGE = re.compile(r'<pre class="proof"[^<>]{0,200}>([^<]{1,16777216})</pre>')
_ORIGIN = note.origin("")


@dataclass(frozen=True)
class Proven:
    """What a proof shows: ``line`` (as stored) is number ``seq`` of the log ``session_id``, which the key has sealed at ``size`` lines with
    this ``root`` (hex). Of a seal alone: no line."""

    session_id: str
    size: int
    root: str
    seq: int | None = None
    line: bytes | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The parsed line; empty where there is none."""
        found: dict[str, Any] = parsed(self.line, "the proof") if self.line is not None else {}
        return found


def newest_seal(store: Store, session_id: str, public: bytes | frozenset[bytes]) -> str:
    """The newest signed note of a log. Raises ``NotFoundError`` where there is none, ``TamperedError`` where it is not over the lines that
    are there."""
    return _sealed(store, session_id, public)[0]


def prove(store: Store, session_id: str, event: str, public: bytes | frozenset[bytes]) -> str:
    """The proof of one line, under the newest seal. ``event``: an event's id, the beginning of one, or a line's number. Raises as
    ``newest_seal``, and ``UsageError`` for an event that is not there or not sealed yet."""
    signed, point, lines = _sealed(store, session_id, public)
    index = _place(lines, event, session_id)
    if index >= point.size:
        raise UsageError(f"line {index + 1} of {session_id} is not sealed yet, {point.size} are; try again when it is")
    hashes = [merkle.leaf(raw) for raw in lines[: point.size]]
    return _written(lines[index], index, merkle.path(hashes, index), signed)


def prove_lines(store: Store, session_id: str, numbers: Sequence[int], public: bytes | frozenset[bytes]) -> dict[int, tuple[bytes, str]]:
    """Of each of these lines that is sealed (by number, from 1) what is stored, and its proof. Raises as ``newest_seal``."""
    signed, point, lines = _sealed(store, session_id, public)
    hashes = [merkle.leaf(raw) for raw in lines[: point.size]]
    wanted = [number - 1 for number in numbers if 0 < number <= point.size]
    proofs = zip(wanted, merkle.paths(hashes, wanted), strict=True)
    return {index + 1: (lines[index], _written(lines[index], index, path, signed)) for index, path in proofs}


def _written(raw: bytes, index: int, path: Sequence[bytes], signed: str) -> str:
    hashes = [base64.b64encode(one).decode() for one in path]
    return "\n".join([HEADER, "extra " + base64.b64encode(raw).decode(), f"index {index}", *hashes]) + "\n\n" + signed


def is_page(text: str) -> bool:
    """Whether this is a page, as ``tacho export`` writes it."""
    return text[:15].lower() == "<!doctype html>"


def in_page(text: str) -> list[str]:
    """The proofs and seals that a page holds, in its order. What else it says is not looked at."""
    return [html.unescape(found) for found in _IN_PAGE.findall(text)]


def is_proof(text: str) -> bool:
    """Whether this wants to be a proof of a line (else it may be a seal)."""
    return text.startswith(HEADER + "\n")


def check(text: str, public: bytes | frozenset[bytes]) -> Proven:
    """What a proof, or a signed note alone, shows. Raises ``ValueError`` saying why it shows nothing."""
    if not is_proof(text):
        point = note.open_note(text, public)
        return Proven(_log(point), point.size, point.root.hex())
    head, mark, signed = text.partition("\n\n")
    if not mark:
        raise ValueError("a proof without a seal")
    lines = head.split("\n")[1:]
    if len(lines) < 2 or not lines[0].startswith("extra "):
        raise ValueError("a proof without the line that it is of")
    raw = _base64(lines[0][6:])
    match = _INDEX.match(lines[1])
    if match is None:
        raise ValueError("a proof without an index")
    index, path = int(match[1]), [_base64(one) for one in lines[2:]]
    if any(len(one) != 32 for one in path):
        raise ValueError("a hash of the path that is none")
    point = note.open_note(signed, public)
    if merkle.root_of(merkle.leaf(raw), index, point.size, path) != point.root:
        raise ValueError("the line is not in the log that was sealed")
    found = Proven(_log(point), point.size, point.root.hex(), index + 1, raw)
    try:
        fields = found.fields
    except FormatError as error:
        raise ValueError(f"what was sealed is no line ({error})") from None
    if (fields.get("seq"), fields.get("session_id")) != (index + 1, found.session_id):
        raise ValueError("the line says to be another one")
    return found


def verifier(text: str) -> str:
    """The verifier key in a file: alone in a line, or in a ``store.json``. Raises ``FormatError``."""
    try:
        fields = json.loads(text)
        found = fields.get("verifier") if isinstance(fields, dict) else None
    except (ValueError, RecursionError):
        found = next((one.strip() for one in text.splitlines() if one.strip()), None)
    if not isinstance(found, str):
        raise FormatError("no verifier key in the file; name one with a line like tachograph/…+…+…, or a store.json")
    return found


def _sealed(store: Store, session_id: str, public: bytes | frozenset[bytes]) -> tuple[str, note.Checkpoint, list[bytes]]:
    """(the newest seal, what it says, all lines of the log)."""
    where = f"run tacho verify {session_id}"
    lines, newest = _lines(store, session_id), b""
    for segment in segments(store, session_id):
        name = layout.seals(session_id, segment)
        newest = [newest, *(whole_notes(store.read(name)) if store.exists(name) else ())][-1]
    if not newest:
        raise NotFoundError(f"{session_id} has no seal yet, {store.url}; a recorder seals every 30 seconds and at the end")
    try:
        signed = newest.decode("utf-8")
        point = note.open_note(signed, public)
    except ValueError as error:
        raise TamperedError(f"the newest seal of {session_id} is not good ({error}), {store.url}; {where}") from None
    tree = merkle.Frontier()
    for raw in lines[: point.size]:
        tree.add(merkle.leaf(raw))
    if point.origin != note.origin(session_id) or (tree.size, tree.root()) != (point.size, point.root):
        raise TamperedError(f"the newest seal of {session_id} is not over the lines that are there, {store.url}; {where}")
    return signed, point, lines


def _lines(store: Store, session_id: str) -> list[bytes]:
    found: list[bytes] = []
    previous = line.genesis(session_id)
    for _, data, _ in lines_of(store, session_id, segments(store, session_id)):
        for _, raw, digest in valid_lines(previous, data):
            found.append(raw)
            previous = digest
    return found


def _place(lines: list[bytes], event: str, session_id: str) -> int:
    if event.isascii() and event.isdigit():
        if not 1 <= int(event) <= len(lines):
            raise UsageError(f"no line {event} in {session_id}, it has {len(lines)}; tacho cat {session_id} shows them")
        return int(event) - 1
    ids = [str(parsed(raw, session_id).get("id", "")) for raw in lines]
    found = [place for place, one in enumerate(ids) if one == event] or [
        place for place, one in enumerate(ids) if event and one.startswith(event)
    ]
    if len(found) != 1:
        what = f"{len(found)} events of {session_id} begin with {event}; give more of the id" if found else None
        raise UsageError(what or f"no event {event} in {session_id}; tacho cat {session_id} shows their ids")
    return found[0]


def _log(point: note.Checkpoint) -> str:
    if not point.origin.startswith(_ORIGIN):
        raise ValueError("the seal of something else than a log of tachograph")
    return point.origin.removeprefix(_ORIGIN)


def _base64(text: str) -> bytes:
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 with spare bits set")
    return data
