"""Vectors of lines that were changed, moved or forged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vectors_common import OTHER, SESSION, Parts, flip, forged, vector, whole


@vector("line-flipped", "tampered", "One bit of the third line is another.", checks=("chain", "seal", "tail"), events=2, ended=False)
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    flip(parts.path("events.jsonl"), len(b"".join(parts.lines[:2])) + 100)


def moved(change: Callable[[list[bytes]], None]) -> Callable[[Path], None]:
    """The lines as they were written, but others, or in another order."""

    def make(folder: Path) -> None:
        whole(folder)
        parts = Parts(folder)
        change(parts.lines)
        parts.keep_lines()

    return make


def _cut_inside(lines: list[bytes]) -> None:
    lines[2] = lines[2][:-2] + b"\n"


_MOVED = {
    "line-deleted": (moved(lambda lines: lines.__delitem__(2)), "The third line is gone.", 2),
    "lines-swapped": (moved(lambda lines: lines.insert(2, lines.pop(3))), "The third and the fourth line have changed places.", 2),
    "line-doubled": (moved(lambda lines: lines.insert(3, lines[2])), "The third line stands there twice.", 3),
    "line-cut": (moved(_cut_inside), "The third line has lost its last character, and lines follow it.", 2),
}
for _name, (_make, _about, _count) in _MOVED.items():
    vector(_name, "tampered", _about, checks=("chain", "seal", "tail"), events=_count, ended=False)(_make)


def replaced(old: bytes, new: bytes) -> Callable[[Path], None]:
    """The fourth line says something else; chained and sealed."""

    def change(bodies: list[bytes]) -> None:
        bodies[3] = bodies[3].replace(old, new)

    return lambda folder: forged(folder, change)


_SHA = b'"sha":"c0ffee"'
_BROKEN: dict[str, Any] = {"checks": ("chain", "line", "seal", "tail"), "events": 3, "ended": False}
_FORGED = {
    "duplicate-key": (replaced(_SHA, _SHA + b',"sha":"decade"'), "A chained and sealed line says a field twice.", _BROKEN),
    "not-json": (replaced(_SHA, b'"sha":NaN'), "A chained and sealed line holds NaN, which is no JSON.", _BROKEN),
    "wrong-session": (
        replaced(SESSION.encode(), OTHER.encode()), "A chained and sealed line that says to be another session's.", {"checks": ("line",)},
    ),
    "newer-version": (
        replaced(b'{"v":1,', b'{"v":2,'), "A chained and sealed line of version 2: for a newer program only.", {"checks": ("line",)},
    ),
    "stamp-out-of-order": (
        replaced(b'{"v":1,"seq":4,', b'{"seq":4,"v":1,'), "A chained and sealed line whose first fields are in another order.",
        {"checks": ("line",)},
    ),
    "dangling-reference": (
        replaced(_SHA, _SHA + b',"detail_uri":"content:' + b"ab" * 32 + b'"'),
        "A chained and sealed line refers to content that is in no frame.", {"checks": ("content",)},
    ),
}  # fmt: skip
for _name, (_make, _about, _more) in _FORGED.items():
    vector(_name, "tampered", _about, **_more)(_make)


@vector("seq-gap", "tampered", "Chained and sealed lines that count 1, 2, 3, 5, 6, 7.", checks=("chain",))
def _(folder: Path) -> None:
    def change(bodies: list[bytes]) -> None:
        for number in (5, 4, 3):
            bodies[number] = bodies[number].replace(b'"seq":%d,' % (number + 1), b'"seq":%d,' % (number + 2))

    forged(folder, change)


@vector("after-end", "tampered", "A line follows session_end, chained and sealed.", checks=("end",), ended=False)
def _(folder: Path) -> None:
    def change(bodies: list[bytes]) -> None:
        git, remark, end = bodies[3:]
        bodies[3:] = [
            remark.replace(b'"seq":5', b'"seq":4'),
            end.replace(b'"seq":6', b'"seq":5'),
            git.replace(b'"seq":4', b'"seq":6'),
        ]

    forged(folder, change)
