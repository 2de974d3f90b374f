"""Vectors of seals and of segments."""

from __future__ import annotations

from pathlib import Path

from vectors_common import OTHER, SESSION, STRANGER, Parts, add, dead, finish, flip, resume, rolled, vector, whole

# -- seals -------------------------------------------------------------------------------------------------------------------


@vector("seal-flipped", "tampered", "One bit of the last seal's signature is another.", checks=("seal",))
def _(folder: Path) -> None:
    whole(folder)
    seals = Parts(folder).path("seals")
    flip(seals, len(seals.read_bytes()) - 30)


@vector("seal-respelt", "tampered", "The last seal's signature is spelt otherwise: the same bytes in base64 with its spare bits set.",
        checks=("seal",))  # fmt: skip
def _(folder: Path) -> None:
    whole(folder)
    seals = Parts(folder).path("seals")
    data = seals.read_bytes()
    at = data.rindex(b"=") - 1
    digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    seals.write_bytes(data[:at] + digits[digits.index(data[at]) + 1 :][:1] + data[at + 1 :])


@vector("seal-by-another-key", "tampered", "The only seal is by a key that is not the recorder's.", checks=("seal",))
def _(folder: Path) -> None:
    whole(folder)
    Parts(folder).seal(key=STRANGER)


@vector("seal-of-another-session", "tampered", "The seals are another session's, by the right key.", checks=("seal",))
def _(folder: Path) -> None:
    whole(folder)
    Parts(folder).seal(session_id=OTHER)


@vector("tail-cut", "tampered", "The last two lines and their frame were cut off, the seal over them was left.", checks=("seal",), events=4,
        ended=False)  # fmt: skip
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    parts.lines, parts.frames = parts.lines[:4], parts.frames[:3]
    parts.keep_lines()
    parts.keep_frames()


@vector("rolled-seal-gone", "tampered", "The seal of a segment that was ended by choice is gone; later seals cover the same lines.",
        checks=("tail",), events=7)  # fmt: skip
def _(folder: Path) -> None:
    rolled(folder)
    (folder / "sessions" / SESSION / "00000001.seals").write_bytes(b"")


# -- segments ----------------------------------------------------------------------------------------------------------------


@vector("segment-missing", "tampered", "The first of two segments is gone.", checks=("line", "seal", "segments"), events=0, ended=False)
def _(folder: Path) -> None:
    dead(folder)
    finish(resume(folder))
    parts = Parts(folder)
    for kind in ("events.jsonl", "content.pack", "seals"):
        parts.path(kind).unlink()


@vector("stray-file", "tampered", "A file that is no part of a session lies in its folder.", checks=("segments",))
def _(folder: Path) -> None:
    whole(folder)
    (folder / "sessions" / SESSION / "00000001.events.jsonl.bak").write_bytes(b"")


@vector("gap-missing", "tampered", "The second segment begins with no gap; chained and sealed.", checks=("tail",), events=6)
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    lines = parts.lines
    parts.lines = lines[:5]
    parts.keep_lines()
    parts.path("events.jsonl", 2).write_bytes(b"".join(lines[5:]))
    for kind in ("content.pack", "seals"):
        parts.path(kind, 2).write_bytes(b"")


@vector("torn-declared-otherwise", "tampered", "The half line was changed after it had been declared.", checks=("tail",), events=7)
def _(folder: Path) -> None:
    dead(folder)
    parts = Parts(folder)
    add(parts.path("events.jsonl"), b'{"v":1,"seq":5,"ts":"2026')
    finish(resume(folder))
    flip(parts.path("events.jsonl"), len(parts.path("events.jsonl").read_bytes()) - 3)


@vector("torn-not-declared", "tampered", "Bytes behind the last line of a segment that the next one says nothing of.", checks=("tail",))
def _(folder: Path) -> None:
    dead(folder)
    finish(resume(folder))
    add(Parts(folder).path("events.jsonl"), b'{"v":1,"seq":5,"ts":"2026')
