"""Makes the test vectors of the format: ``python tests/vectors/make.py`` writes them all anew, byte for byte the same.

Each vector is a folder: ``store/`` (one session), ``key.json`` (its key; of no use for anything else), and ``expect.json``, what a
verifier that holds the key must say:

    verdict, good, events, ended    as in the result of ``tacho verify``
    checks                          the names of all checks that have something to say, sorted
    about                           the scenario, in a sentence

A vector shows one thing. Where a line is forged, the chain, the seals and the frames are forged with it, by the right key: only the
check that is named can notice.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys, merkle, note
from tachograph.format import layout, line
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

SESSION = "ses_01M3VECT0RS000000000000000"
OTHER = "ses_01M3VECT0RS000000000000001"
#: The compressor's output may change with its version; then only what does not depend on it can be compared.
MADE_WITH = "made_with.json"


class Clock:
    """Ticks a second a look."""

    def __init__(self) -> None:
        self._count = itertools.count(1_790_000_000_000, 1000)

    def unix_ms(self) -> int:
        return next(self._count)

    def monotonic(self) -> float:
        return next(self._count) / 1000


class Entropy:
    """Repeatable bytes; ``name`` makes them those of another process."""

    def __init__(self, name: str) -> None:
        self._name = name.encode()
        self._count = itertools.count()

    def __call__(self, size: int, /) -> bytes:
        return hashlib.shake_256(self._name + next(self._count).to_bytes(8, "big")).digest(size)


KEY = keys.generate(Entropy("key"))
STRANGER = keys.generate(Entropy("stranger"))


@dataclass(frozen=True)
class Vector:
    """One scenario: how it is made, and what a verifier must say."""

    make: Callable[[Path], None]
    verdict: str
    about: str
    checks: tuple[str, ...] = ()
    events: int = 6
    good: bool = False
    ended: bool = True

    def expect(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "verdict": self.verdict,
            "checks": sorted(self.checks),
            "good": self.good,
            "events": self.events,
            "ended": self.ended,
        }


VECTORS: dict[str, Vector] = {}


def vector(name: str, verdict: str, about: str, **more: Any) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def keep(make: Callable[[Path], None]) -> Callable[[Path], None]:
        VECTORS[name] = Vector(make, verdict, about, **more)
        return make

    return keep


# -- whole sessions ----------------------------------------------------------------------------------------------------------


def store(folder: Path) -> OpenStore:
    local = LocalStore(str(folder))
    if not opening.exists(local):
        opening.create(local, KEY, Entropy("store"))
    return opening.open_store(local, KEY)


def drafts() -> list[Draft]:
    """Six lines, one of them without content."""
    call = events.ModelCall(
        id="evt_01M3VECT0RS00000000000CA11", provider="openai", operation="chat", model_id="m-1", params={"temperature": 0},
        usage={"input_tokens": 9, "output_tokens": 2},
    )  # fmt: skip
    return [
        Draft(event=events.SessionStart(name="vector", recorder="vectors"), contents={"facts_uri": {"argv": ["agent"]}}),
        Draft(event=events.Message(role="user"), contents={"content_uri": "say hello"}),
        Draft(
            event=call, contents={"prompt_redacted_uri": {"messages": [{"role": "user", "content": "say hello"}]}, "output_uri": "hello"}
        ),
        Draft(event=events.Git(sha="c0ffee", branch="main")),
        Draft(event=events.Note(subtype="remark"), contents={"text_uri": "it said hello"}),
        Draft(event=events.SessionEnd(calls={"model": 1})),
    ]


def writer(folder: Path, session_id: str = SESSION) -> SessionWriter:
    opened, entropy = store(folder), Entropy(session_id)
    return SessionWriter(opened, session_id, opened.new_data_key(session_id, entropy), clock=Clock(), entropy=entropy)


def whole(folder: Path, session_id: str = SESSION) -> None:
    """Six lines in one segment, sealed after the third and at the end."""
    log = writer(folder, session_id)
    for number, draft in enumerate(drafts(), 1):
        log.append(draft)
        if number in (3, 6):
            log.seal()
    log.close()


def dead(folder: Path, lines: int = 4) -> None:
    """A writer that was killed: three lines sealed, the rest flushed, no end."""
    log = writer(folder)
    for number, draft in enumerate(drafts()[:lines], 1):
        log.append(draft)
        if number == 3:
            log.seal()
    log.commit()
    log.close()


def resume(folder: Path, *, attempt: int = 2) -> SessionWriter:
    return recover.resume(store(folder), SESSION, clock=Clock(), entropy=Entropy(f"segment {attempt}"), reason="host_lost")


def finish(log: SessionWriter) -> None:
    log.append(Draft(event=events.SessionEnd(status="lost")))
    log.seal()
    log.close()


# -- forging -----------------------------------------------------------------------------------------------------------------


@dataclass
class Parts:
    """A session's only segment, taken apart; ``save`` puts it together as its writer would have."""

    folder: Path
    lines: list[bytes] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    header: bytes = b""

    def __post_init__(self) -> None:
        self.lines = self.path("events.jsonl").read_bytes().splitlines(keepends=True)
        pack = self.path("content.pack").read_bytes()
        self.header, at = pack[:40], 40
        while at < len(pack):
            end = at + 4 + int.from_bytes(pack[at : at + 4], "big")
            self.frames.append(pack[at:end])
            at = end

    def path(self, kind: str, segment: int = 1) -> Path:
        return self.folder / "sessions" / SESSION / f"{segment:08d}.{kind}"

    def keep_lines(self) -> None:
        self.path("events.jsonl").write_bytes(b"".join(self.lines))

    def keep_frames(self) -> None:
        self.path("content.pack").write_bytes(self.header + b"".join(self.frames))

    def forge(self, bodies: list[bytes]) -> None:
        """Lines with these bytes before their hash: chained, and sealed with the right key."""
        previous, self.lines = line.genesis(SESSION), []
        for body in bodies:
            previous = hashlib.sha256(previous.encode() + body).hexdigest()
            self.lines.append(body + b',"hash":"' + previous.encode() + b'"}\n')
        self.keep_lines()
        self.seal()

    def bodies(self) -> list[bytes]:
        return [raw[: raw.rindex(b',"hash":"')] for raw in self.lines]

    def seal(self, *, key: keys.KeyFile = KEY, session_id: str = SESSION) -> None:
        """One seal over all lines."""
        tree = merkle.Frontier()
        for raw in self.lines:
            tree.add(merkle.leaf(raw))
        point = note.Checkpoint(note.origin(session_id), tree.size, tree.root())
        self.path("seals").write_bytes(note.sign(point, "tachograph/" + key.id, key.signer()).encode() + b"\n")


def forged(folder: Path, change: Callable[[list[bytes]], None]) -> None:
    whole(folder)
    parts = Parts(folder)
    bodies = parts.bodies()
    change(bodies)
    parts.forge(bodies)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:-size])


def add(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


# -- good --------------------------------------------------------------------------------------------------------------------


@vector("verified", "verified", "A finished session, sealed at its end.", good=True)
def _(folder: Path) -> None:
    whole(folder)


@vector("host-lost", "verified", "The writer was killed between two lines; a second segment says so and ends the session.", good=True)
def _(folder: Path) -> None:
    dead(folder)
    finish(resume(folder))


def rolled(folder: Path) -> None:
    """The six lines, the writer's own new segment after the third."""
    log = writer(folder)
    for number, draft in enumerate(drafts(), 1):
        log.append(draft)
        if number == 3:
            log.roll()
    log.seal()
    log.close()


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


# -- lines -------------------------------------------------------------------------------------------------------------------


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


# -- content -----------------------------------------------------------------------------------------------------------------


@vector("frame-flipped", "tampered", "One bit of the second frame is another.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    flip(parts.path("content.pack"), len(parts.header) + len(parts.frames[0]) + 20)


@vector("frame-missing", "tampered", "The second frame is gone.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    del parts.frames[1]
    parts.keep_frames()


@vector("frames-swapped", "tampered", "The second and the third frame have changed places.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    parts = Parts(folder)
    parts.frames[1], parts.frames[2] = parts.frames[2], parts.frames[1]
    parts.keep_frames()


@vector("pack-cut", "tampered", "The pack ends inside its last frame.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    cut(Parts(folder).path("content.pack"), 10)


@vector("pack-extra", "torn", "Bytes behind the last frame that nobody has declared.", checks=("tail",))
def _(folder: Path) -> None:
    whole(folder)
    add(Parts(folder).path("content.pack"), b"extra")


@vector("salt-flipped", "tampered", "One bit of the pack's salt is another: no frame would open any more.", checks=("frames",))
def _(folder: Path) -> None:
    whole(folder)
    flip(Parts(folder).path("content.pack"), 20)


@vector("wrong-data-key", "tampered", "The wrapped key is another than the one that the frames were sealed with.", checks=("content",))
def _(folder: Path) -> None:
    whole(folder)
    opened, other = store(folder), b"another data key".ljust(32, b".")
    (folder / layout.keys(SESSION)).write_bytes(opened.wrapped(SESSION, other, opened.recipients(), Entropy("wrap")))


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


def make(target: Path, name: str) -> None:
    """One vector, into ``target/name``."""
    folder = target / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    one = VECTORS[name]
    one.make(folder / "store")
    (folder / "key.json").write_bytes(keys.dump(KEY))
    (folder / "expect.json").write_text(json.dumps(one.expect(), indent=1) + "\n", encoding="utf-8")


def compressor() -> dict[str, str]:
    """What the bytes of a frame depend on besides this file."""
    return {"zstd": ".".join(map(str, zstandard.ZSTD_VERSION))}


def main(target: Path) -> None:
    for name in VECTORS:
        make(target, name)
    (target / MADE_WITH).write_text(json.dumps(compressor()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
