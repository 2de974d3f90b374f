"""Vectors that are good, or not good and honest about it."""

from __future__ import annotations

import shutil
from pathlib import Path

from vectors_common import Parts, add, cut, dead, finish, forged, resume, rolled, vector, whole, writer

# -- good --------------------------------------------------------------------------------------------------------------------


@vector("verified", "verified", "A finished session, sealed at its end.", good=True)
def _(folder: Path) -> None:
    whole(folder)


@vector("host-lost", "verified", "The writer was killed between two lines; a second segment says so and ends the session.", good=True)
def _(folder: Path) -> None:
    dead(folder)
    finish(resume(folder))


@vector("rolled", "verified", "The writer ended a segment by choice; the next one says what it holds.", events=7, good=True)
def _(folder: Path) -> None:
    rolled(folder)


@vector("torn-declared", "torn", "The last line was half written, its frame whole; the next segment declares what there is of both.",
        checks=("tail",), events=8, good=True)  # fmt: skip
def _(folder: Path) -> None:
    dead(folder, lines=5)
    cut(Parts(folder).path("events.jsonl"), 20)
    finish(resume(folder))


@vector("torn-everywhere", "torn", "A line, a frame and a seal were half written, the seal within a character; all three are declared.",
        checks=("tail",), events=9, good=True)  # fmt: skip
def _(folder: Path) -> None:
    dead(folder)
    parts = Parts(folder)
    add(parts.path("events.jsonl"), b'{"v":1,"seq":5,"ts":"2026')
    add(parts.path("content.pack"), bytes.fromhex("0000012c") + b"half a box")
    seal = parts.path("seals").read_bytes()
    add(parts.path("seals"), seal[: seal.index("—".encode()) + 2])
    finish(resume(folder))


@vector("torn-recovery", "torn", "The second writer died over its declarations; the third declares both torn lines.",
        checks=("tail",), events=9, good=True)  # fmt: skip
def _(folder: Path) -> None:
    dead(folder)
    parts = Parts(folder)
    add(parts.path("events.jsonl"), b'{"v":1,"seq":5')
    resume(folder).close()
    second = parts.path("events.jsonl", 2)
    second.write_bytes(second.read_bytes()[: second.read_bytes().index(b"\n") + 30])
    finish(resume(folder, attempt=3))


@vector("segment-half-made", "torn", "The second writer died while it made its files; the third goes on.",
        checks=("segments",), events=6, good=True)  # fmt: skip
def _(folder: Path) -> None:
    dead(folder)
    Parts(folder).path("events.jsonl", 2).write_bytes(b"")
    finish(resume(folder, attempt=3))


@vector("unknown-kept", "verified", "A type and fields that version 1 does not know.", good=True)
def _(folder: Path) -> None:
    def change(bodies: list[bytes]) -> None:
        bodies[3] = bodies[3].replace(b'"type":"git"', b'"type":"weather"').replace(b'"sha"', b'"rain":[1,{"mm":2.5}],"sha"')

    forged(folder, change)


@vector("cut-at-a-seal", "verified",
        "All behind the first seal was cut off, the second seal, too: whole in itself, but without an end. A seal kept elsewhere tells.",
        events=3, good=True, ended=False)  # fmt: skip
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    parts.lines = parts.lines[:3]
    parts.frames = parts.frames[:3]
    parts.keep_lines()
    parts.keep_frames()
    seals = parts.path("seals")
    seals.write_bytes(b"\n\n".join(seals.read_bytes().split(b"\n\n")[:2]) + b"\n\n")


# -- not good, and honest ----------------------------------------------------------------------------------------------------


@vector("unsealed", "unsealed", "A line after the last seal, and no end: the session still runs, or its writer was killed.",
        checks=("seal",), events=4, ended=False)  # fmt: skip
def _(folder: Path) -> None:
    dead(folder)


@vector("torn-undeclared", "torn", "The last line was half written, and nobody has declared it yet.", checks=("seal", "tail"), events=4,
        ended=False)  # fmt: skip
def _(folder: Path) -> None:
    dead(folder)
    add(Parts(folder).path("events.jsonl"), b'{"v":1,"seq":5,"ts":"2026')


@vector("empty", "unsealed", "A session without a line: nothing was verified.", checks=("line",), events=0, ended=False)
def _(folder: Path) -> None:
    writer(folder).close()


@vector("missing", "missing", "Keys, and no session.", checks=("segments",), events=0, ended=False)
def _(folder: Path) -> None:
    whole(folder)
    shutil.rmtree(folder / "sessions")
