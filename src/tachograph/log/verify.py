"""Is this record whole and unaltered? Written from ``docs/format/v1.md``, sharing no code with the writer.

The steps, in the order in which they are taken (the numbers recur in the code, and ``check`` in a problem names the step):

1. ``segments``  Segments are numbered 1, 2, 3, … without a gap, and nothing else lies in the session's folder.
2. ``line``      Each line ends in a line feed, is a JSON object without duplicate keys, begins with the fields of its stamp, and is of
                 version 1 and of this session.
3. ``chain``     Its hash is the SHA-256 of the hash before it and its own bytes; ``seq`` counts 1, 2, 3, …
4. ``tail``      A later segment begins with a ``gap``, or with a ``segment`` line, which says size and SHA-256 of the files of the segment
                 before it: its writer ended that one by choice, and it has no tail. Bytes after the last good line of a segment are a torn write *only if* nothing good
                 follows them in the segment and one of the ``gap`` lines that follow them directly declares them (file, offset, length,
                 SHA-256). What comes after the place that a ``write_failed`` gap names, the first line of a later segment, is void: its
                 writer could not bring it to the device, so nobody knows what is there. Where the gaps go on to the very end of the log nobody has declared them yet: the verdict is ``torn``.
5. ``frames``    The frames that lines refer to are numbered 0, 1, 2, … and tile the content pack from its header on; each has the
                 SHA-256 that its line says, and the first one's line says the salt of the header.
6. ``seal``      Each seal is signed by the expected key; the log is at least as long as it says, and its Merkle root over that many lines
                 is the one that it says.
   ``frontier``  In the ledger, the first line of each later segment says the peaks of the tree over all lines before it.
   ``anchor``    What others say of the log (the ledger's entries, seals that were kept outside) holds: it is at least that long, and
                 has that root.
7. ``end``       Nothing follows ``session_end``, unless a later segment declares why.
8. ``content``   With the key: every frame opens, and every reference is to a node that is there.

Verdicts, worst first: ``tampered``, ``missing``, ``torn``, ``unsealed``, ``verified``. No lines is not verified.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from zstandard import ZstdDecompressor, ZstdError, frame_content_size

from tachograph.core.errors import FormatError, NotFoundError, StoreError
from tachograph.crypto import merkle, note

SEVERITY = ("verified", "unsealed", "torn", "missing", "tampered")
_NAME = re.compile(r"([0-9]{8})\.(events\.jsonl|content\.pack|seals)\Z")
_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n\Z')
_STAMP = ["v", "seq", "ts", "session_id", "type"]
_TS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z")
_PACK_HEADER = 8 + 32
_MAX_LINE = 4 << 20
_MAX_FRAME = 256 << 20


class Source(Protocol):
    """All that the verifier asks of a store."""

    def read(self, name: str, *, limit: int | None = None) -> bytes: ...
    def names(self, prefix: str) -> Any: ...


@dataclass(frozen=True)
class Anchor:
    """What somebody else says of a log: its first ``size`` lines have the Merkle root ``root`` (hex). ``by``: who, for people."""

    size: int
    root: str
    by: str


@dataclass
class Verification:
    """The outcome. ``sealed``: lines covered by the newest good seal; ``declared``: every torn or unsealed tail is declared by the log
    itself; ``ended``: the last line is ``session_end`` (a log cut exactly behind one of its seals, and rid of all later ones, is
    whole in itself: only this, the ledger, or a later seal kept elsewhere, tells); ``root``: the Merkle root over all lines, hex;
    ``first``: the fields of the first line."""

    session_id: str
    verdict: str = "verified"
    events: int = 0
    sealed: int = 0
    declared: bool = True
    ended: bool = False
    content: str = "not checked"
    root: str = ""
    first: dict[str, Any] = field(default_factory=dict)
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
            "ended": self.ended,
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
    void: int | None = None
    """From this offset on it is void: the writer could not bring it to the device, and wrote it anew in a later segment."""


def verify(
    store: Source, session_id: str, *, public: bytes | frozenset[bytes], data_key: bytes | None = None, anchors: Iterable[Anchor] = ()
) -> Verification:
    """Verify one session. ``public``: the 32 bytes of the key that seals must be signed with, or of all that are trusted;
    ``data_key``: to check content, too; ``anchors``: what it must agree with besides its own seals."""
    out = Verification(session_id)
    prefix = "ledger/" if session_id == "ledger" else f"sessions/{session_id}/"
    files = _files(store, prefix, out)
    if not files:
        out.problem("segments", prefix, 0, "no such session, or all of its files are gone", "missing")
        return out
    segments = [_Segment(number, f"{number:08d}.events.jsonl", data) for number, data in _numbered(store, prefix, files, out)]
    _lines(segments, session_id, out)
    _tails(store, prefix, files, segments, out)
    out.first = next((fields for segment in segments for _, _, fields in segment.lines), {})
    _seals(store, prefix, files, segments, public, anchors, out)
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
            # Somebody else chose this name: it must not speak to the terminal.
            out.problem("segments", base.encode("unicode_escape").decode("ascii"), 0, "a file that is no part of a session")
        files[base] = name
    return files


def _numbered(store: Source, prefix: str, files: dict[str, str], out: Verification) -> list[tuple[int, bytes]]:
    # 1. Numbers without a gap.
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
        try:
            loaded.append((number, store.read(prefix + name)))
        except (NotFoundError, StoreError) as error:
            out.problem("segments", name, 0, f"cannot be read ({error})")
            break
    return loaded


def _voids(segments: list[_Segment]) -> None:
    # 4. What failed writes left. The newest such line counts first: it may make void an older one.
    at = len(segments)
    while at > 1:
        head = segments[at - 1].data
        fields = (_object(head[: head.find(b"\n") + 1]) if b'"write_failed"' in head[:_MAX_LINE] else None) or {}
        match, offset = _NAME.match(str(fields.get("file"))), fields.get("offset")
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


def _lines(segments: list[_Segment], session_id: str, out: Verification) -> None:
    _voids(segments)
    previous = hashlib.sha256(b"tachograph/v1 session " + session_id.encode()).hexdigest()
    for segment in segments:
        at = 0
        until = len(segment.data) if segment.void is None else min(segment.void, len(segment.data))
        while at < until:
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
            if what := _misfit(fields, session_id):
                out.problem("line", segment.file, at, what)
            if type(fields.get("seq")) is not int or fields["seq"] != out.events + 1:
                out.problem("chain", segment.file, at, f"seq {fields.get('seq')!r:.20} where {out.events + 1} is due")
            segment.lines.append((at, raw, fields))
            out.events += 1
            previous = match[1].decode()
            at = end
        segment.tail = at
        if segment.void is not None and at != segment.void:
            out.problem("chain", segment.file, at, f"{segment.void} bytes count, as a later segment says, and the chain breaks before")
            return
        if segment.void is None and at < len(segment.data):
            rest = segment.data[at:]
            feed = segment.data.find(b"\n", at)
            if b"\n" in rest[:-1] and not _hole(segment.data, at, feed):
                # More lines where the chain has broken: a torn write spoils the very last line, or left a hole in this one.
                out.problem("chain", segment.file, at, f"line {out.events + 1} does not continue the chain")
                return


def _hole(data: bytes, start: int, end: int) -> bool:
    """Whether a block of 512 bytes that was never written (zeros up to its last byte) ends between these offsets."""
    return any(data[last] == 0 for last in range(start + (511 - start) % 512, end, 512))


def _object(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > _MAX_LINE or raw[:1] != b"{":
        return None
    try:
        fields = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("duplicate key")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _misfit(fields: dict[str, Any], session_id: str) -> str | None:
    version = fields.get("v")
    if type(version) is int and version > 1:
        return f"written in version {str(version)[:20]} of the format; update tachograph to read it"
    if type(version) is not int or version != 1 or fields.get("session_id") != session_id:
        return "of another version or another session"
    if (
        list(fields)[:5] != _STAMP
        or not isinstance(fields["type"], str)
        or not isinstance(fields["ts"], str)
        or not _TS.match(fields["ts"])
    ):
        return "does not begin with v, seq, ts, session_id and type"
    return None


def _tails(store: Source, prefix: str, files: dict[str, str], segments: list[_Segment], out: Verification) -> None:
    for place, segment in enumerate(segments):
        # 4. What lies behind the last good line.
        if place and segment.lines and segment.lines[0][2].get("type") == "segment":
            _rolled(store, prefix, segment, out)
        elif place and segment.lines and segment.lines[0][2].get("type") != "gap":
            out.problem("tail", segment.file, 0, "a later segment that begins with neither a gap nor a segment line")
        following = _gaps_after(segments, segment.number, void=segment.void is not None)
        _tail(out, segment.file, segment.data, segment.tail, following)
        # 1. Each segment has all of its three files (an empty one where nothing was written).
        for other in ("content.pack", "seals"):
            if f"{segment.number:08d}.{other}" not in files:
                # Its writer may have died while it made them, before there was a line.
                out.problem("segments", f"{segment.number:08d}.{other}", 0, "the file is missing", "tampered" if segment.tail else "torn")
                out.declared = out.declared and not (following.last and not following.gaps)
        # 5. The frames tile the pack.
        name = f"{segment.number:08d}.content.pack"
        if name not in files:
            continue
        try:
            data = store.read(prefix + name)
        except (NotFoundError, StoreError) as error:
            out.problem("frames", name, 0, f"cannot be read ({error})")
            continue
        at, count = _PACK_HEADER, 0
        for number, (offset, _, fields) in enumerate(segment.lines):
            for frame in _frames(fields):
                where = f"referred to by {segment.file} offset {offset}"
                if not _is_frame(frame) or (frame["n"], frame["at"]) != (count, at):
                    out.problem("frames", name, at, f"a frame out of place, {where} (line {number + 1} of the segment)")
                    return
                if count == 0 and frame.get("salt") != data[8:_PACK_HEADER].hex():
                    out.problem("frames", name, 8, f"the salt was changed, {where}")
                stored = data[at : at + frame["len"]]
                if len(stored) != frame["len"]:
                    out.problem("frames", name, at, f"the pack ends inside a frame, {where}")
                    return
                if hashlib.sha256(stored).hexdigest() != frame["sha256"] or int.from_bytes(stored[:4], "big") != len(stored) - 4:
                    out.problem("frames", name, at, f"the frame was changed, {where}")
                at += len(stored)
                count += 1
        headed = data[:8] == b"TACHOPK1" and len(data) >= _PACK_HEADER
        if count and not headed:
            out.problem("frames", name, 0, "not a content pack")
        # Without a whole header, and without a frame that a line refers to, it was torn while it was made: all of it is tail.
        _tail(out, name, data, min(at, len(data)) if headed else 0, following)


def _rolled(store: Source, prefix: str, segment: _Segment, out: Verification) -> None:
    """The files of the segment before are the ones that the first line of this one says."""
    fields = segment.lines[0][2]
    number, files = segment.number - 1, fields.get("files")
    expected = {f"{number:08d}.{kind}" for kind in ("events.jsonl", "content.pack", "seals")}
    if fields.get("number") != segment.number or not isinstance(files, dict) or set(files) != expected:
        out.problem("tail", segment.file, 0, "a segment line that does not fit its place")
        return
    for name in sorted(expected):
        said = files[name]
        try:
            data = store.read(prefix + name)
        except (NotFoundError, StoreError):
            continue  # told of already
        if not isinstance(said, dict) or (said.get("size"), said.get("sha256")) != (len(data), hashlib.sha256(data).hexdigest()):
            out.problem("tail", name, 0, f"not the file that segment {segment.number} says was closed")


def _frames(fields: dict[str, Any]) -> list[Any]:
    frames = fields.get("frames", [])
    return frames if isinstance(frames, list) else [frames]


def _is_frame(frame: Any) -> bool:
    return (
        isinstance(frame, dict)
        and all(type(frame.get(key)) is int for key in ("n", "at", "len"))
        and isinstance(frame.get("sha256"), str)
        and frame["len"] > 4
    )


@dataclass
class _Following:
    """The ``gap`` lines that follow a segment directly. ``last``: the log ends with them. ``void``: what is behind the end of the segment
    is, whatever it is."""

    gaps: list[tuple[int, dict[str, Any]]]
    last: bool
    void: bool


def _gaps_after(segments: list[_Segment], number: int, *, void: bool) -> _Following:
    gaps: list[tuple[int, dict[str, Any]]] = []
    # Over several segments: whoever continues a log may die before all is declared, or before there is a line at all.
    for segment in segments[number:]:
        for _, _, fields in segment.lines:
            if fields.get("type") != "gap":
                return _Following(gaps, last=False, void=void)
            gaps.append((segment.number, fields))
    return _Following(gaps, last=True, void=void)


def _tail(out: Verification, file: str, data: bytes, end: int, following: _Following) -> None:
    rest = data[end:]
    if following.void:
        if rest:
            out.problem("tail", file, end, f"{len(rest)} bytes of a write that failed; they are void, as a later segment says", "torn")
        return
    segment, declared = _declared(following, file)
    if not rest:
        if declared is not None:
            out.problem("tail", file, end, f"segment {segment} declares a torn tail that is not there")
        return
    expected = {"offset": end, "length": len(rest), "sha256": hashlib.sha256(rest).hexdigest()}
    if declared is None and following.last:
        out.problem("tail", file, end, f"{len(rest)} bytes of a write that was never finished", "torn")
        out.declared = False
    elif declared is None:
        out.problem("tail", file, end, f"{len(rest)} bytes that belong to no line and that nobody declared")
    elif any(type(declared.get(key)) is not type(value) or declared[key] != value for key, value in expected.items()):
        out.problem("tail", file, end, "a torn tail that is not the one that was declared")
    else:
        out.problem("tail", file, end, f"{len(rest)} bytes of an unfinished write, declared by segment {segment}", "torn")


def _declared(following: _Following, file: str) -> tuple[int, dict[str, Any] | None]:
    for segment, fields in following.gaps:
        if fields.get("reason") == "torn_tail" and fields.get("file") == file:
            return segment, fields
    return 0, None


def _seals(
    store: Source, prefix: str, files: dict[str, str], segments: list[_Segment], public: bytes | frozenset[bytes],
    anchors: Iterable[Anchor], out: Verification,
) -> None:  # fmt: skip
    # 6. Seals. Roots at all sealed sizes in one pass over the lines.
    wanted: dict[int, list[tuple[str, int, bytes]]] = {}
    for name in sorted(file for file in files if file.endswith(".seals")):
        try:
            data = store.read(prefix + name)
        except (NotFoundError, StoreError) as error:
            out.problem("seal", name, 0, f"cannot be read ({error})")
            continue
        offset = 0
        for one in _notes(data):
            if _hole(data, offset, offset + len(one)):
                break
            try:
                point = note.open_note(one.decode("utf-8"), public)
                if point.origin != note.origin(out.session_id):
                    raise ValueError("a seal of another log")
                wanted.setdefault(point.size, []).append((name, offset, point.root))
            except ValueError as error:
                out.problem("seal", name, offset, str(error))
            offset += len(one) + 1
        void = any(one.number == int(name[:8]) and one.void is not None for one in segments)
        _tail(out, name, data, offset, _gaps_after(segments, int(name[:8]), void=void))
    held: dict[int, list[Anchor]] = {}
    for anchor in anchors:
        held.setdefault(anchor.size, []).append(anchor)
    tree = merkle.Frontier()
    lines = [(segment.file, place, line) for segment in segments for place, line in enumerate(segment.lines)]
    for file, place, line in [(None, 0, None), *lines]:
        if file is not None and line is not None:
            offset, raw, fields = line
            _frontier(out, file, offset, fields, tree, due=out.session_id == "ledger" and not place and file[:8] != "00000001")
            tree.add(merkle.leaf(raw))
        for name, offset, root in wanted.pop(tree.size, []):
            if root != tree.root():
                out.problem("seal", name, offset, f"the first {tree.size} lines are not the ones that were sealed")
            else:
                out.sealed = tree.size
        for anchor in held.pop(tree.size, []):
            if anchor.root != tree.root().hex():
                out.problem("anchor", prefix, 0, f"the first {tree.size} lines are not those that {anchor.by} speaks of: it was rewritten")
    out.root = tree.root().hex()
    for size in sorted(held):
        what = f"{held[size][0].by} speaks of {size} lines, {out.events} are left: the end was cut off, or an older copy took its place"
        out.problem("anchor", prefix, 0, what)
    for size in sorted(wanted):
        if size > out.events:
            last = segments[-1] if segments else None
            where = (last.file, last.tail) if last is not None else (prefix, 0)
            out.problem("seal", *where, f"{size} lines were sealed, {out.events} are left: the end was cut off")
    if out.sealed < out.events:
        ended = any(fields.get("type") == "session_end" for segment in segments for _, _, fields in segment.lines)
        out.problem(
            "seal", segments[-1].file if segments else prefix, 0,
            f"{out.events - out.sealed} lines after the last seal" + ("" if ended else "; the session has not ended, or its end is lost"),
            "unsealed",
        )  # fmt: skip
        out.declared = False


def _frontier(out: Verification, file: str, offset: int, fields: dict[str, Any], tree: merkle.Frontier, *, due: bool) -> None:
    # 6. The next writer believes it, and reads no further back.
    said = fields.get("frontier", []) if due else fields.get("frontier")
    if not due and (said is None or fields.get("type") != "gap"):
        return
    if not due:
        out.problem("frontier", file, offset, "a frontier where none belongs")
    elif said != [peak.hex() for peak in tree.peaks]:
        out.problem("frontier", file, offset, f"the frontier is not that of the {tree.size} lines before")


def _notes(data: bytes) -> list[bytes]:
    """The whole notes, each of which an empty line follows. As bytes: a torn one may end inside a character."""
    parts = data.split(b"\n\n")
    return [parts[n] + b"\n\n" + parts[n + 1] + b"\n" for n in range(0, len(parts) - 2, 2)]


def _end(segments: list[_Segment], out: Verification) -> None:
    # 7. Nothing after the end.
    ended: tuple[str, int] | None = None
    for segment in segments:
        for place, (offset, _, fields) in enumerate(segment.lines):
            if ended is not None and not (place == 0 and fields.get("type") == "gap"):
                out.problem("end", segment.file, offset, "a line after session_end that nothing declares")
                return
            ended = (segment.file, offset) if fields.get("type") == "session_end" else None
    out.ended = ended is not None


def _content(store: Source, prefix: str, segments: list[_Segment], session_id: str, data_key: bytes, out: Verification) -> None:
    # 8. Every frame opens, every reference is there.
    names: set[str] = set()
    for segment in segments:
        file = f"{segment.number:08d}.content.pack"
        data = store.read(prefix + file) if any(_frames(fields) for _, _, fields in segment.lines) else b""
        key = HKDF(SHA256(), 32, None, b"tachograph/v1 segment " + data[8:_PACK_HEADER]).derive(data_key)
        aead = AESGCM(key)
        for offset, _, fields in segment.lines:
            for frame in _frames(fields):
                at, length, index = frame["at"], frame["len"], frame["n"]
                bound = f"tachograph/v1 frame {session_id} {segment.number} {index}".encode()
                try:
                    names |= _node_names(_inflate(aead.decrypt(index.to_bytes(12, "big"), data[at + 4 : at + length], bound)))
                except (InvalidTag, ZstdError, ValueError) as error:
                    what = "does not open with the session's key" if isinstance(error, InvalidTag) else str(error)
                    out.problem("content", file, at, f"the frame {what}")
            for name, value in fields.items():
                if name.endswith("_uri") and isinstance(value, str) and value.startswith("content:") and value[8:] not in names:
                    out.problem("content", segment.file, offset, f"{name} refers to content that is in no frame")
    out.content = "opened" if out.verdict != "tampered" else "damaged"


def _inflate(box: bytes) -> bytes:
    # The decompressor's own bound does not hold where the frame states its size.
    if frame_content_size(box) > _MAX_FRAME:
        raise ValueError("is larger than any frame may be")
    return ZstdDecompressor().decompress(box, max_output_size=_MAX_FRAME, allow_extra_data=False)


def _node_names(data: bytes) -> set[str]:
    names, at = set(), 0
    while at + 37 <= len(data):
        names.add(data[at : at + 32].hex())
        at += 37 + int.from_bytes(data[at + 33 : at + 37], "big")
    if at != len(data):
        raise ValueError("ends inside a node")
    return names


def public_key(vkey: str) -> bytes:
    """The 32 bytes in a verifier key ``name+id+base64``. Raises ``FormatError``."""
    try:
        return note.public_of(vkey)
    except ValueError:
        raise FormatError(f"not an Ed25519 verifier key, {vkey[:80]!r}; take it from the store.json of whoever recorded") from None
