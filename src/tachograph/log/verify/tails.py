"""Steps 4 and 7: what lies behind the last good line of a segment, how the next one begins, and what follows the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from .lines import Segment
from .result import Verification


@dataclass
class Following:
    """The ``gap`` lines that follow a segment directly, with the number of theirs. ``last``: the log ends with them. ``void``: what is
    behind the end of the segment is, whatever it is."""

    gaps: list[tuple[int, dict[str, Any]]]
    last: bool
    void: bool


def following(segments: list[Segment], number: int, *, void: bool) -> Following:
    """What follows the segment of that number."""
    gaps: list[tuple[int, dict[str, Any]]] = []
    # Over several segments: whoever continues a log may die before all is declared, or before there is a line at all.
    for place in range(number, len(segments)):
        segment = segments[place]
        leading = segment.leading_gaps()
        gaps.extend((segment.number, fields) for fields in leading)
        if len(leading) < segment.lines:
            return Following(gaps, last=False, void=void)
    return Following(gaps, last=True, void=void)


def begins(segment: Segment, files: Mapping[str, bytes], out: Verification) -> None:
    """How a later segment begins. ``files``: those of the segment before that are there and can be read."""
    kind = None if segment.first is None else segment.first.get("type")
    if segment.first is not None and kind == "segment":
        _rolled(segment, segment.first, files, out)
    elif segment.first is not None and kind != "gap":
        out.problem("tail", segment.file, 0, "a later segment that begins with neither a gap nor a segment line")


def _rolled(segment: Segment, fields: dict[str, Any], files: Mapping[str, bytes], out: Verification) -> None:
    """The files of the segment before are the ones that the first line of this one says."""
    number, told = segment.number - 1, fields.get("files")
    expected = {f"{number:08d}.{kind}" for kind in ("events.jsonl", "content.pack", "seals")}
    if fields.get("number") != segment.number or not isinstance(told, dict) or set(told) != expected:
        out.problem("tail", segment.file, 0, "a segment line that does not fit its place")
        return
    for name in sorted(expected & set(files)):
        said, data = told[name], files[name]
        if not isinstance(said, dict) or (said.get("size"), said.get("sha256")) != (len(data), sha256(data).hexdigest()):
            out.problem("tail", name, 0, f"not the file that segment {segment.number} says was closed")


def tail(out: Verification, file: str, rest: bytes, end: int, after: Following) -> None:
    """What a file of a segment holds from ``end`` on, if anything."""
    size = len(rest)
    if after.void:
        if size:
            out.problem("tail", file, end, f"{size} bytes of a write that failed; they are void, as a later segment says", "torn")
        return
    segment, declared = _declared(after, file)
    if not size:
        if declared is not None:
            out.problem("tail", file, end, f"segment {segment} declares a torn tail that is not there")
        return
    if declared is None and after.last:
        out.problem("tail", file, end, f"{size} bytes of a write that was never finished", "torn")
        out.declared = False
        return
    if declared is None:
        out.problem("tail", file, end, f"{size} bytes that belong to no line and that nobody declared")
        return
    expected = {"offset": end, "length": size, "sha256": sha256(rest).hexdigest()}
    if any(type(declared.get(key)) is not type(value) or declared[key] != value for key, value in expected.items()):
        out.problem("tail", file, end, "a torn tail that is not the one that was declared")
    else:
        out.problem("tail", file, end, f"{size} bytes of an unfinished write, declared by segment {segment}", "torn")


def _declared(after: Following, file: str) -> tuple[int, dict[str, Any] | None]:
    for segment, fields in after.gaps:
        if fields.get("reason") == "torn_tail" and fields.get("file") == file:
            return segment, fields
    return 0, None


def ended(segments: list[Segment], out: Verification) -> None:
    """Nothing follows ``session_end``, unless a later segment declares why. One that only declares leaves the session as ended as it was."""
    last = False
    for segment in segments:
        if not segment.lines:
            continue
        if last and not (segment.gaps and not segment.gaps[0][0]):
            out.problem("end", segment.file, 0, "a line after session_end that nothing declares")
            return
        for place, behind in segment.ends:
            if place + 1 < segment.lines:
                out.problem("end", segment.file, behind, "a line after session_end that nothing declares")
                return
        if last and len(segment.gaps) == segment.lines:
            continue
        last = bool(segment.ends)
    out.ended = last
