"""Step 6: what others say of the log's length and Merkle root (its seals, anchors, and the frontiers in a ledger) holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tachograph.crypto import merkle, note

from .lines import Segment, hole
from .result import Anchor, Verification
from .tails import following, tail


def check(
    segments: list[Segment], leaves: list[bytes], files: Mapping[str, bytes], prefix: str, public: bytes | frozenset[bytes],
    anchors: Iterable[Anchor], out: Verification,
) -> None:  # fmt: skip
    """``leaves``: the hashes of all good lines; ``files``: the files of seals, by name."""
    wanted: dict[int, list[tuple[str, int, bytes]]] = {}
    for name in sorted(files):
        for offset, point in _points(segments, name, files[name], public, out):
            wanted.setdefault(point.size, []).append((name, offset, point.root))
    held: dict[int, list[Anchor]] = {}
    for anchor in anchors:
        held.setdefault(anchor.size, []).append(anchor)
    frontiers = _frontiers(segments, ledger=out.session_id == "ledger")
    tree = merkle.Tree(leaves)
    for size in sorted({*wanted, *held, *frontiers}):
        if not 0 <= size <= tree.size:
            continue
        if size in wanted or size in held:
            root = tree.root_at(size)
            for name, offset, said in wanted.pop(size, []):
                if said != root:
                    out.problem("seal", name, offset, f"the first {size} lines are not the ones that were sealed")
                else:
                    out.sealed = size
            for anchor in held.pop(size, []):
                if anchor.root != root.hex():
                    what = f"the first {size} lines are not those that {anchor.by} speaks of: it was rewritten"
                    out.problem("anchor", prefix, 0, what)
        for file, offset, told, due in frontiers.get(size, []):
            # The next writer believes it, and reads no further back.
            if not due:
                out.problem("frontier", file, offset, "a frontier where none belongs")
            elif told != [peak.hex() for peak in tree.peaks_at(size)]:
                out.problem("frontier", file, offset, f"the frontier is not that of the {size} lines before")
    out.root = tree.root_at(tree.size).hex()
    for size in sorted(held):
        what = f"{held[size][0].by} speaks of {size} lines, {out.events} are left: the end was cut off, or an older copy took its place"
        out.problem("anchor", prefix, 0, what)
    for size in sorted(wanted):
        last = segments[-1] if segments else None
        where = (last.file, last.tail) if last is not None else (prefix, 0)
        out.problem("seal", *where, f"{size} lines were sealed, {out.events} are left: the end was cut off")
    if out.sealed < out.events:
        ended = any(segment.ends for segment in segments)
        out.problem(
            "seal", segments[-1].file if segments else prefix, 0,
            f"{out.events - out.sealed} lines after the last seal" + ("" if ended else "; the session has not ended, or its end is lost"),
            "unsealed",
        )  # fmt: skip
        out.declared = False


def _points(
    segments: list[Segment], name: str, data: bytes, public: bytes | frozenset[bytes], out: Verification
) -> list[tuple[int, note.Checkpoint]]:
    """The good seals in a file, with their offsets."""
    points, offset = [], 0
    for one in _notes(data):
        if hole(data, offset, offset + len(one)):
            break
        try:
            point = note.open_note(one.decode("utf-8"), public)
            if point.origin != note.origin(out.session_id):
                raise ValueError("a seal of another log")
            points.append((offset, point))
        except ValueError as error:
            out.problem("seal", name, offset, str(error))
        offset += len(one) + 1
    number = int(name[:8])
    void = number <= len(segments) and segments[number - 1].void is not None
    tail(out, name, data[offset:], offset, following(segments, number, void=void))
    return points


def _notes(data: bytes) -> list[bytes]:
    """The whole notes, each of which an empty line follows. As bytes: a torn one may end inside a character."""
    parts = data.split(b"\n\n")
    return [parts[n] + b"\n\n" + parts[n + 1] + b"\n" for n in range(0, len(parts) - 2, 2)]


def _frontiers(segments: list[Segment], *, ledger: bool) -> dict[int, list[tuple[str, int, object, bool]]]:
    """By the number of lines before: (file, offset, what is said, whether a frontier belongs there)."""
    found: dict[int, list[tuple[str, int, object, bool]]] = {}
    before = 0
    for segment in segments:
        due = ledger and segment.number != 1
        if due and segment.first is not None:
            found.setdefault(before, []).append((segment.file, 0, segment.first.get("frontier", []), True))
        for place, offset, fields in segment.gaps:
            if fields.get("frontier") is not None and not (due and place == 0):
                found.setdefault(before + place, []).append((segment.file, offset, fields["frontier"], False))
        before += segment.lines
    return found
