"""Is this record whole and unaltered? Written from ``docs/format/v1.md``, sharing no code with the writer.

The steps, in the order in which they are taken (the numbers recur in the code, and ``check`` in a problem names the step):

1. ``segments``  Segments are numbered 1, 2, 3, … without a gap, and nothing else lies in the session's folder.
2. ``line``      Each line ends in a line feed, is a JSON object without duplicate keys, and is of version 1 and of this session.
3. ``chain``     Its hash is the SHA-256 of the hash before it and its own bytes; ``seq`` counts 1, 2, 3, …
4. ``tail``      Bytes after the last good line of a segment are a torn write *only if* nothing good follows them in the segment and the
                 next segment's first lines declare them (file, offset, length, SHA-256). At the very end of the log nobody has
                 declared them yet: the verdict is ``torn``.
5. ``frames``    The frames that lines refer to tile the content pack from its header on, and each has the SHA-256 that its line says.
6. ``seal``      Each seal is signed by the expected key; the log is at least as long as it says, and its Merkle root over that many lines
                 is the one that it says.
7. ``end``       Nothing follows ``session_end``, unless a later segment declares why.
8. ``content``   With the key: every frame opens, and every reference is to a node that is there.

Verdicts, worst first: ``tampered``, ``missing``, ``torn``, ``unsealed``, ``verified``. No lines is not verified.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from zstandard import ZstdDecompressor, ZstdError

from tachograph.core.errors import NotFoundError, StoreError
from tachograph.crypto import merkle, note

SEVERITY = ("verified", "unsealed", "torn", "missing", "tampered")
_NAME = re.compile(r"(\d{8})\.(events\.jsonl|content\.pack|seals)\Z")
_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n\Z')
_PACK_HEADER = 8 + 32
_MAX_LINE = 4 << 20


class Source(Protocol):
    """All that the verifier asks of a store."""

    def read(self, name: str, *, limit: int | None = None) -> bytes: ...
    def names(self, prefix: str) -> Any: ...


@dataclass
class Verification:
    """The outcome. ``sealed``: lines covered by the newest good seal; ``declared``: every torn or unsealed tail is declared by the log
    itself; ``root``: the Merkle root over all lines, hex."""

    session_id: str
    verdict: str = "verified"
    events: int = 0
    sealed: int = 0
    declared: bool = True
    content: str = "not checked"
    root: str = ""
    problems: list[dict[str, Any]] = field(default_factory=list)

    def problem(self, check: str, file: str, offset: int, what: str, verdict: str = "tampered") -> None:
        self.problems.append({"check": check, "file": file, "offset": offset, "what": what})
        self.verdict = max(self.verdict, verdict, key=SEVERITY.index)

    @property
    def good(self) -> bool:
        """Whether the answer is yes: verified, or torn or unsealed where the log itself says so."""
        return self.verdict == "verified" or (self.verdict in ("torn", "unsealed") and self.declared)

    def to_json(self) -> dict[str, Any]:
        """The shape of DESIGN §9."""
        return {
            "session_id": self.session_id,
            "verdict": self.verdict,
            "events": self.events,
            "sealed": self.sealed,
            "unsealed": self.events - self.sealed,
            "content": self.content,
            "root": self.root,
            "problems": self.problems,
        }


@dataclass
class _Segment:
    number: int
    file: str
    data: bytes
    lines: list[tuple[int, bytes, dict[str, Any]]] = field(default_factory=list)
    tail: int = 0


def verify(store: Source, session_id: str, *, public: bytes, data_key: bytes | None = None) -> Verification:
    """Verify one session. ``public``: the 32 bytes of the key that seals must be signed with; ``data_key``: to check content, too."""
    out = Verification(session_id)
    prefix = f"sessions/{session_id}/"
    files = _files(store, prefix, out)
    if not files:
        out.problem("segments", prefix, 0, "no such session, or all of its files are gone", "missing")
        return out
    segments = [_Segment(number, f"{number:08d}.events.jsonl", data) for number, data in _numbered(store, prefix, files, out)]
    _lines(segments, session_id, out)
    _tails(store, prefix, files, segments, out)
    _seals(store, prefix, files, segments, public, out)
    _end(segments, out)
    if data_key is not None and out.verdict != "tampered":
        _content(store, prefix, segments, session_id, data_key, out)
    if not out.events:
        out.problem("line", prefix, 0, "not a single line; nothing was verified", "unsealed")
        out.declared = False
    return out


def _files(store: Source, prefix: str, out: Verification) -> dict[str, str]:
    # 1. Names.
    files: dict[str, str] = {}
    for name in store.names(prefix):
        base = name.removeprefix(prefix)
        if base == "lock":
            continue
        if not _NAME.match(base):
            out.problem("segments", base, 0, "a file that is no part of a session")
        files[base] = name
    return files


def _numbered(store: Source, prefix: str, files: dict[str, str], out: Verification) -> list[tuple[int, bytes]]:
    # 1. Numbers without a gap; each segment has all of its three files (an empty one where nothing was written).
    numbers = sorted({int(match[1]) for match in map(_NAME.match, files) if match})
    loaded = []
    for expected, number in enumerate(numbers, 1):
        if number != expected:
            out.problem("segments", f"{expected:08d}.events.jsonl", 0, f"segment {expected} is missing, {number} is there")
            break
        name = f"{number:08d}.events.jsonl"
        if name not in files:
            out.problem("segments", name, 0, "the segment's lines are missing")
            break
        for other in ("content.pack", "seals"):
            if f"{number:08d}.{other}" not in files:
                out.problem("segments", f"{number:08d}.{other}", 0, "the file is missing")
        try:
            loaded.append((number, store.read(prefix + name)))
        except (NotFoundError, StoreError) as error:
            out.problem("segments", name, 0, f"cannot be read ({error})")
            break
    return loaded


def _lines(segments: list[_Segment], session_id: str, out: Verification) -> None:
    previous = hashlib.sha256(b"tachograph/v1 session " + session_id.encode()).hexdigest()
    for segment in segments:
        at = 0
        while at < len(segment.data):
            end = segment.data.find(b"\n", at) + 1
            raw = segment.data[at:end] if end else segment.data[at:]
            # 3. The chain, over stored bytes.
            match = _HASH.search(raw)
            good = match is not None and hashlib.sha256(previous.encode() + raw[: match.start()]).hexdigest() == match[1].decode()
            if not good:
                break
            assert match is not None
            fields = _object(raw)
            if fields is None:
                # 2. Form. A line that is chained but malformed was not written by a writer of this format.
                out.problem("line", segment.file, at, "chained, but not a JSON object without duplicate keys")
                break
            if fields.get("v") != 1 or fields.get("session_id") != session_id:
                out.problem("line", segment.file, at, "of another version or another session")
            if fields.get("seq") != out.events + 1:
                out.problem("chain", segment.file, at, f"seq {fields.get('seq')!r} where {out.events + 1} is due")
            segment.lines.append((at, raw, fields))
            out.events += 1
            previous = match[1].decode()
            at = end
        segment.tail = at
        if at < len(segment.data):
            rest = segment.data[at:]
            if b"\n" in rest[:-1]:
                # More lines where the chain has broken: a torn write spoils the very last line at most.
                out.problem("chain", segment.file, at, f"line {out.events + 1} does not continue the chain")
                return


def _object(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > _MAX_LINE:
        return None
    try:
        fields = json.loads(raw, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("duplicate key")
    return out


def _tails(store: Source, prefix: str, files: dict[str, str], segments: list[_Segment], out: Verification) -> None:
    for place, segment in enumerate(segments):
        following = segments[place + 1] if place + 1 < len(segments) else None
        # 4. What lies behind the last good line.
        _tail(out, segment.file, segment.data, segment.tail, following)
        # 5. The frames tile the pack.
        name = f"{segment.number:08d}.content.pack"
        if name not in files:
            continue
        try:
            data = store.read(prefix + name)
        except (NotFoundError, StoreError) as error:
            out.problem("frames", name, 0, f"cannot be read ({error})")
            continue
        at = _PACK_HEADER
        for number, (offset, _, fields) in enumerate(segment.lines):
            for frame in _frames(fields):
                start, length, digest = frame.get("at"), frame.get("len"), frame.get("sha256")
                where = f"referred to by {segment.file} offset {offset}"
                if start != at or not isinstance(length, int) or length <= 4:
                    out.problem("frames", name, at, f"a frame out of place, {where} (line {number + 1} of the segment)")
                    return
                stored = data[at : at + length]
                if len(stored) != length:
                    out.problem("frames", name, at, f"the pack ends inside a frame, {where}")
                    return
                if hashlib.sha256(stored).hexdigest() != digest:
                    out.problem("frames", name, at, f"the frame was changed, {where}")
                at += length
        if data[: min(8, len(data))] != b"TACHOPK1"[: len(data)]:
            out.problem("frames", name, 0, "not a content pack")
        if at > _PACK_HEADER and len(data) < at:
            out.problem("frames", name, len(data), "the pack is shorter than its lines say")
        # A pack shorter than its header was torn while it was made: all of it is tail.
        _tail(out, name, data, min(at, len(data)) if len(data) >= _PACK_HEADER else 0, following)


def _frames(fields: dict[str, Any]) -> list[dict[str, Any]]:
    frames = fields.get("frames", [])
    return [frame for frame in frames if isinstance(frame, dict)] if isinstance(frames, list) else []


def _tail(out: Verification, file: str, data: bytes, end: int, following: _Segment | None) -> None:
    rest = data[end:]
    declared = _declared(following, file)
    if not rest:
        if declared is not None:
            out.problem("tail", file, end, "the next segment declares a torn tail that is not there")
        return
    if following is None:
        out.problem("tail", file, end, f"{len(rest)} bytes of a write that was never finished", "torn")
        out.declared = False
        return
    expected = {"offset": end, "length": len(rest), "sha256": hashlib.sha256(rest).hexdigest()}
    if declared is None:
        out.problem("tail", file, end, f"{len(rest)} bytes that belong to no line and that nobody declared")
    elif any(declared.get(key) != value for key, value in expected.items()):
        out.problem("tail", file, end, "a torn tail that is not the one that was declared")
    else:
        out.problem("tail", file, end, f"{len(rest)} bytes of an unfinished write, declared by segment {following.number}", "torn")


def _declared(following: _Segment | None, file: str) -> dict[str, Any] | None:
    for _, _, fields in following.lines[:4] if following is not None else []:
        if fields.get("type") == "gap" and fields.get("reason") == "torn_tail" and fields.get("file") == file:
            return fields
    return None


def _seals(store: Source, prefix: str, files: dict[str, str], segments: list[_Segment], public: bytes, out: Verification) -> None:
    # 6. Seals. Roots at all sealed sizes in one pass over the lines.
    wanted: dict[int, list[tuple[str, int, bytes]]] = {}
    for name in sorted(file for file in files if file.endswith(".seals")):
        try:
            text = store.read(prefix + name).decode("utf-8")
        except (NotFoundError, StoreError, UnicodeDecodeError) as error:
            out.problem("seal", name, 0, f"cannot be read ({error})")
            continue
        offset = 0
        notes, rest = _notes(text)
        for one in notes:
            try:
                point = note.open_note(one, public)
                if point.origin != note.origin(out.session_id):
                    raise ValueError("a seal of another log")
                wanted.setdefault(point.size, []).append((name, offset, point.root))
            except ValueError as error:
                out.problem("seal", name, offset, str(error))
            offset += len(one.encode()) + 1
        following = next((segment for segment in segments if segment.number == int(name[:8]) + 1), None)
        _tail(out, name, text.encode(), len(text.encode()) - len(rest.encode()), following)
    tree = merkle.Frontier()
    for segment in segments:
        for _, raw, _ in segment.lines:
            tree.add(merkle.leaf(raw))
            for name, offset, root in wanted.pop(tree.size, []):
                if root != tree.root():
                    out.problem("seal", name, offset, f"the first {tree.size} lines are not the ones that were sealed")
                else:
                    out.sealed = tree.size
    out.root = tree.root().hex()
    for size in sorted(wanted):
        if size > out.events:
            last = segments[-1] if segments else None
            place = (last.file, last.tail) if last is not None else (prefix, 0)
            out.problem("seal", *place, f"{size} lines were sealed, {out.events} are left: the end was cut off")
    if out.sealed < out.events:
        ended = any(fields.get("type") == "session_end" for segment in segments for _, _, fields in segment.lines)
        out.problem(
            "seal", segments[-1].file if segments else prefix, 0,
            f"{out.events - out.sealed} lines after the last seal" + ("" if ended else "; the session has not ended, or its end is lost"),
            "unsealed",
        )  # fmt: skip
        out.declared = False


def _notes(text: str) -> tuple[list[str], str]:
    """The whole notes, each of which an empty line follows, and what is left."""
    parts = text.split("\n\n")
    whole = [f"{parts[n]}\n\n{parts[n + 1]}\n" for n in range(0, len(parts) - 2, 2)]
    return whole, text[sum(len(one) + 1 for one in whole) :]


def _end(segments: list[_Segment], out: Verification) -> None:
    # 7. Nothing after the end.
    ended: tuple[str, int] | None = None
    for segment in segments:
        for place, (offset, _, fields) in enumerate(segment.lines):
            if ended is not None and not (place == 0 and fields.get("type") == "gap"):
                out.problem("end", segment.file, offset, "a line after session_end that nothing declares")
                return
            ended = (segment.file, offset) if fields.get("type") == "session_end" else None


def _content(store: Source, prefix: str, segments: list[_Segment], session_id: str, data_key: bytes, out: Verification) -> None:
    # 8. Every frame opens, every reference is there.
    names: set[str] = set()
    for segment in segments:
        file = f"{segment.number:08d}.content.pack"
        data = store.read(prefix + file)
        if len(data) < _PACK_HEADER:
            continue
        key = HKDF(SHA256(), 32, None, b"tachograph/v1 segment " + data[8:_PACK_HEADER]).derive(data_key)
        aead = AESGCM(key)
        for offset, _, fields in segment.lines:
            for frame in _frames(fields):
                at, length, index = frame["at"], frame["len"], frame.get("n", 0)
                bound = f"tachograph/v1 frame {session_id} {segment.number} {index}".encode()
                try:
                    box = aead.decrypt(int(index).to_bytes(12, "big"), data[at + 4 : at + length], bound)
                    names |= _node_names(ZstdDecompressor().decompress(box, max_output_size=256 << 20))
                except (InvalidTag, ZstdError, ValueError) as error:
                    what = "does not open with the session's key" if isinstance(error, InvalidTag) else str(error)
                    out.problem("content", file, at, f"the frame {what}")
            for name, value in fields.items():
                if name.endswith("_uri") and isinstance(value, str) and value.startswith("content:") and value[8:] not in names:
                    out.problem("content", segment.file, offset, f"{name} refers to content that is in no frame")
    out.content = "opened" if out.verdict != "tampered" else "damaged"


def _node_names(data: bytes) -> set[str]:
    names, at = set(), 0
    while at + 37 <= len(data):
        names.add(data[at : at + 32].hex())
        at += 37 + int.from_bytes(data[at + 33 : at + 37], "big")
    if at != len(data):
        raise ValueError("ends inside a node")
    return names


def public_key(vkey: str) -> bytes:
    """The 32 bytes in a verifier key ``name+id+base64``. Raises ``ValueError``."""
    parts = vkey.split("+", 2)  # the base64 may hold a "+" itself
    data = base64.b64decode(parts[-1], validate=True)
    if len(data) != 33 or data[:1] != note.ED25519:
        raise ValueError("not an Ed25519 verifier key")
    return data[1:]
