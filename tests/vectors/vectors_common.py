"""What the makers of vectors share: the registry, repeatable keys and sessions, and the tools of a forger."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys, merkle, note
from tachograph.format import line
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

SESSION = "ses_01M3VECT0RS000000000000000"
OTHER = "ses_01M3VECT0RS000000000000001"


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


def rolled(folder: Path) -> None:
    """The six lines, the writer's own new segment after the third."""
    log = writer(folder)
    for number, draft in enumerate(drafts(), 1):
        log.append(draft)
        if number == 3:
            log.roll()
    log.seal()
    log.close()
