"""Is this record whole and unaltered? Written from ``docs/format/v1.md``, sharing no code with the writer.

The steps, in the order in which they are taken (the numbers recur in the code, and ``check`` in a problem names the step):

1. ``segments``  Segments are numbered 1, 2, 3, … without a gap, and nothing else lies in the session's folder.
2. ``line``      Each line ends in a line feed, is a JSON object without duplicate keys, begins with the fields of its stamp, and is of
                 version 1 and of this session.
3. ``chain``     Its hash is the SHA-256 of the hash before it and its own bytes; ``seq`` counts 1, 2, 3, …
4. ``tail``      A later segment begins with a ``gap``, or with a ``segment`` line, which says size and SHA-256 of the files of the segment
                 before it: its writer ended that one by choice, and it has no tail. Bytes after the last good line of a segment are a torn
                 write *only if* nothing good follows them in the segment and one of the ``gap`` lines that follow them directly declares
                 them (file, offset, length, SHA-256). What comes after the place that a ``write_failed`` gap names, the first line of a
                 later segment, is void: its writer could not bring it to the device, so nobody knows what is there. Where the gaps go on
                 to the very end of the log nobody has declared them yet: the verdict is ``torn``.
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

Each line is read once (``lines.py``, ``form.py``); of what it says only what the later steps ask for is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tachograph.core.errors import FormatError, NotFoundError, StoreError
from tachograph.crypto import note

from . import content, lines, seals, tails
from .frames import Tiling
from .lines import NAME, Segment
from .result import SEVERITY, Anchor, Source, Verification

__all__ = ["SEVERITY", "Anchor", "Source", "Verification", "public_key", "verify"]


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
    segments = [Segment(number, f"{number:08d}.events.jsonl", data) for number, data in _numbered(store, prefix, files, out)]
    leaves = lines.read(segments, session_id, _tiling(store, prefix, files), out, content=data_key is not None)
    out.first = next((segment.first for segment in segments if segment.first is not None), {})
    _segments(segments, store, prefix, files, out)
    seals.check(segments, leaves, _seals(store, prefix, files, out), prefix, public, anchors, out)
    tails.ended(segments, out)
    if data_key is not None and out.verdict != "tampered":
        content.check(store, prefix, segments, session_id, data_key, out)
    if not out.events:
        out.problem("line", prefix, 0, "not a single line; nothing was verified", "unsealed")
        out.declared = False
    return out


def _files(store: Source, prefix: str, out: Verification) -> set[str]:
    # 1. Names.
    files: set[str] = set()
    for name in store.names(prefix):
        base = name.removeprefix(prefix)
        if base == "lock":
            continue
        if not NAME.match(base):
            # Somebody else chose this name: it must not speak to the terminal.
            out.problem("segments", base.encode("unicode_escape").decode("ascii"), 0, "a file that is no part of a session")
        files.add(base)
    return files


def _numbered(store: Source, prefix: str, files: set[str], out: Verification) -> list[tuple[int, bytes]]:
    # 1. Numbers without a gap.
    numbers = sorted({int(match[1]) for match in map(NAME.match, files) if match})
    loaded = []
    for expected, number in enumerate(numbers, 1):
        if number != expected:
            out.problem("segments", f"{expected:08d}.events.jsonl", 0, f"segment {expected} is missing, {number} is there")
            break
        name = f"{number:08d}.events.jsonl"
        if name not in files:
            out.problem("segments", name, 0, "the segment's lines are missing")
            break
        data = _read(store, prefix, name, "segments", out)
        if data is None:
            break
        loaded.append((number, data))
    return loaded


def _segments(segments: list[Segment], store: Source, prefix: str, files: set[str], out: Verification) -> None:
    """What the steps 4 and 5 have to say, segment by segment."""
    for segment in segments:
        if segment.number > 1:
            tails.begins(segment, _before(store, prefix, segment), out)
        after = tails.following(segments, segment.number, void=segment.void is not None)
        tails.tail(out, segment.file, segment.data[segment.tail :], segment.tail, after)
        # 1. Each segment has all of its three files (an empty one where nothing was written).
        for other in ("content.pack", "seals"):
            if f"{segment.number:08d}.{other}" not in files:
                # Its writer may have died while it made them, before there was a line.
                out.problem("segments", f"{segment.number:08d}.{other}", 0, "the file is missing", "tampered" if segment.tail else "torn")
                out.declared = out.declared and not (after.last and not after.gaps)
        pack = segment.pack
        if pack is None:
            continue
        for offset, what in pack.problems:
            out.problem("frames", pack.name, offset, what)
        if pack.lost:
            return
        if pack.there:
            tails.tail(out, pack.name, pack.rest, pack.end, after)


def _tiling(store: Source, prefix: str, files: set[str]) -> Callable[[Segment], Tiling]:
    def tiling(segment: Segment) -> Tiling:
        pack = Tiling(f"{segment.number:08d}.content.pack", segment.file)
        if pack.name in files:
            try:
                pack.open(store.read(prefix + pack.name))
            except (NotFoundError, StoreError) as error:
                pack.problems.append((0, f"cannot be read ({error})"))
        return pack

    return tiling


def _seals(store: Source, prefix: str, files: set[str], out: Verification) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in sorted(files):
        match = NAME.match(name)
        data = _read(store, prefix, name, "seal", out) if match is not None and match[2] == "seals" else None
        if data is not None:
            found[name] = data
    return found


def _before(store: Source, prefix: str, segment: Segment) -> dict[str, bytes]:
    """The files of the segment before, where this one says what they are. What cannot be read is told of elsewhere."""
    found: dict[str, bytes] = {}
    if segment.first is not None and segment.first.get("type") == "segment":
        for kind in ("events.jsonl", "content.pack", "seals"):
            name = f"{segment.number - 1:08d}.{kind}"
            data = _read(store, prefix, name, "segments", None)
            if data is not None:
                found[name] = data
    return found


def _read(store: Source, prefix: str, name: str, check: str, out: Verification | None) -> bytes | None:
    try:
        return store.read(prefix + name)
    except (NotFoundError, StoreError) as error:
        if out is not None:
            out.problem(check, name, 0, f"cannot be read ({error})")
        return None


def public_key(vkey: str) -> bytes:
    """The 32 bytes in a verifier key ``name+id+base64``. Raises ``FormatError``."""
    try:
        return note.public_of(vkey)
    except ValueError:
        raise FormatError(f"not an Ed25519 verifier key, {vkey[:80]!r}; take it from the store.json of whoever recorded") from None
