"""Makes the vectors of whole stores with their ledger: ``python tests/vectors/ledgers.py`` writes them all anew, byte for byte the same.

Each is a folder in ``ledgers/``: ``store/`` (two sessions and a ledger), ``key.json``, and ``expect.json``: what a verifier of all of it
must say: ``verdicts`` by log (a session that is gone among them), and ``about``, the scenario in a sentence.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from make import KEY, OTHER, SESSION, Clock, Entropy, drafts, store

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import ledger
from tachograph.log.writer import SessionWriter

LEDGER = layout.LEDGER
GOOD = {SESSION: "verified", OTHER: "verified", LEDGER: "verified"}


def enter(folder: Path, action: str, session_id: str, name: str, **detail: object) -> dict[str, object]:
    """An entry; the ledger's length and root behind it. ``name`` makes the writer's random bytes its own."""
    with ledger.writing(store(folder), clock=Clock(), entropy=Entropy(name), pause=time.sleep) as book:
        book.append(events.LedgerEntry(action=action, subject=session_id, user="ada", host="here", detail=dict(detail)))
        return {"size": book.size, "root": book.root.hex()}


def session(folder: Path, session_id: str) -> None:
    """As a recorder does it: opened before the first line, sealed at the end."""
    opened, entropy = store(folder), Entropy(session_id)
    log = SessionWriter(opened, session_id, opened.new_data_key(session_id, entropy), clock=Clock(), entropy=entropy)
    pin = enter(folder, "opened", session_id, "opened " + session_id)
    for number, draft in enumerate(drafts(), 1):
        event = draft.event
        if isinstance(event, events.SessionStart):
            event = events.SessionStart(name=event.name, recorder=event.recorder, ledger=pin)
        log.append(Draft(event=event, contents=draft.contents))
        if number in (3, 6):
            log.seal()
    enter(folder, "sealed", session_id, "sealed " + session_id, size=log.size, root=log.root.hex(), ended=True)
    log.close()


def whole(folder: Path) -> None:
    """Two sessions, one after the other: a ledger of four segments."""
    session(folder, SESSION)
    session(folder, OTHER)


def _dropped(folder: Path) -> None:
    shutil.rmtree(folder / layout.session(SESSION))


def _deleted(folder: Path) -> None:
    enter(folder, "deleted", SESSION, "deleted", size=6, root="", files={})
    shutil.rmtree(folder / layout.session(SESSION))


def _cut_at_a_seal(folder: Path) -> None:
    path = folder / layout.session(SESSION)
    lines = (path / "00000001.events.jsonl").read_bytes().splitlines(keepends=True)[:3]
    (path / "00000001.events.jsonl").write_bytes(b"".join(lines))
    seals = (path / "00000001.seals").read_bytes().split(b"\n\n")
    (path / "00000001.seals").write_bytes(b"\n\n".join(seals[:2]) + b"\n\n")
    last = json.loads(lines[-1])["frames"][-1]
    pack = path / "00000001.content.pack"
    pack.write_bytes(pack.read_bytes()[: last["at"] + last["len"]])


def _ledger_cut(folder: Path) -> None:
    for path in (folder / layout.session(LEDGER)).glob("0000000[34].*"):
        path.unlink()


def _ledger_removed(folder: Path) -> None:
    shutil.rmtree(folder / layout.session(LEDGER))


def _ledger_anew(folder: Path) -> None:
    _ledger_removed(folder)
    for name in (SESSION, OTHER):
        enter(folder, "read", name, "anew " + name, verb="cat")
        enter(folder, "opened", name, "anew opened " + name)


def _unentered(folder: Path) -> None:
    _ledger_cut(folder)
    enter(folder, "read", SESSION, "after the cut", verb="cat")


VECTORS: dict[str, tuple[Callable[[Path], None] | None, dict[str, str], str]] = {
    "whole": (None, GOOD, "Two finished sessions, each opened and sealed in the ledger."),
    "dropped": (_dropped, {**GOOD, SESSION: "missing"}, "The folder of the first session is gone."),
    "deleted": (_deleted, {OTHER: "verified", LEDGER: "verified"}, "The first session was deleted, and the ledger has its tombstone."),
    "cut-at-a-seal": (
        _cut_at_a_seal,
        {**GOOD, SESSION: "tampered"},
        "The first session was cut behind its first seal, and the second removed.",
    ),
    "ledger-cut": (_ledger_cut, {**GOOD, OTHER: "tampered", LEDGER: "tampered"}, "The ledger ends before the second session."),
    "ledger-removed": (_ledger_removed, dict.fromkeys(GOOD, "tampered") | {LEDGER: "tampered"}, "There is no ledger any more."),
    "ledger-anew": (_ledger_anew, dict.fromkeys(GOOD, "tampered"), "Another ledger, by the right key, in its place."),
    "ledger-forked": (_unentered, {**GOOD, OTHER: "tampered", LEDGER: "tampered"}, "An older ledger was put back, and went on."),
}


def make(target: Path, name: str) -> None:
    """One vector, into ``target/name``."""
    folder = target / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    change, verdicts, about = VECTORS[name]
    whole(folder / "store")
    if change is not None:
        change(folder / "store")
    (folder / "key.json").write_bytes(keys.dump(KEY))
    (folder / "expect.json").write_text(json.dumps({"about": about, "verdicts": verdicts}, indent=1) + "\n", encoding="utf-8")


def main(target: Path) -> None:
    for name in VECTORS:
        make(target, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "ledgers")
