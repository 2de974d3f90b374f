"""Each attack on a store, and what finds it: the log in itself, the ledger, or only a seal that was kept outside.

``Copy`` stands for who can write the store; where an attack needs the signing key, too, the test says *stolen*.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from log_helpers import SESSION, Clock, Entropy, draft, enter, new_store, new_writer, write_session

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError
from tachograph.crypto import keys, merkle
from tachograph.format import layout
from tachograph.format import line as lines_of_format
from tachograph.log import book, opening, proof
from tachograph.log.opening import OpenStore
from tachograph.log.verdict import Judge
from tachograph.log.verify import Anchor, Verification
from tachograph.log.writer import SessionWriter

OTHER = "ses_01K0000000000000000000000B"


@dataclass
class Store:
    """A store with two finished sessions that the ledger knows."""

    opened: OpenStore
    folder: Path

    def judge(self) -> Judge:
        return Judge(self.opened.store, public=self.opened.key.public(), opened=self.opened)

    def session(self, session_id: str = SESSION, *anchors: Anchor) -> Verification:
        return self.judge().judge(session_id, anchors)

    def everything(self) -> dict[str, str]:
        """Verdicts by log."""
        results, ledger = self.judge().everything()
        return {result.session_id: result.verdict for result in (*results, *([ledger] if ledger is not None else []))}

    def seal(self, session_id: str = SESSION) -> Anchor:
        """What somebody keeps outside."""
        found = proof.check(proof.newest_seal(self.opened.store, session_id, self.opened.key.public()), self.opened.key.public())
        return Anchor(found.size, found.root, "the seal that was kept outside")

    def path(self, session_id: str = SESSION) -> Path:
        return self.folder / layout.session(session_id)

    def save(self, session_id: str) -> Callable[[], None]:
        """Keep a copy of a log, and give back what puts it in place again."""
        copy = self.folder.parent / f"copy-{session_id}"
        shutil.copytree(self.path(session_id), copy)

        def restore() -> None:
            shutil.rmtree(self.path(session_id), ignore_errors=True)
            shutil.copytree(copy, self.path(session_id))

        return restore


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = new_store(tmp_path / "store")
    for session_id in (SESSION, OTHER):
        write_session(opened, session_id=session_id, entered=True)
    return Store(opened, tmp_path / "store")


def whats(result: Verification, check: str) -> str:
    return "; ".join(problem["what"] for problem in result.problems if problem["check"] == check)


def cut_at_first_seal(store: Store, session_id: str = SESSION) -> None:
    """The lines behind the first seal, their frames, and all later seals are gone."""
    path = store.path(session_id)
    lines = (path / "00000001.events.jsonl").read_bytes().splitlines(keepends=True)
    seals = (path / "00000001.seals").read_bytes().split(b"\n\n")
    size = int(seals[0].split(b"\n")[1])
    kept = lines[:size]
    (path / "00000001.events.jsonl").write_bytes(b"".join(kept))
    (path / "00000001.seals").write_bytes(b"\n\n".join(seals[:2]) + b"\n\n")
    end = 40
    for line in kept:
        for frame in line.split(b'"at":')[1:]:
            at, _, rest = frame.partition(b",")
            end = max(end, int(at) + int(rest.split(b'"len":')[1].split(b",")[0]))
    pack = path / "00000001.content.pack"
    pack.write_bytes(pack.read_bytes()[:end])


def rewrite(store: Store, session_id: str = SESSION, *, lines: int = 6, pin: dict[str, Any] | None = None) -> None:
    """Another session in its place, whole and sealed with the *stolen* key."""
    shutil.rmtree(store.path(session_id))
    opened, entropy = store.opened, Entropy()
    entropy(3)
    writer = SessionWriter(opened, session_id, opened.data_key(session_id), clock=Clock(), entropy=lambda n: entropy(n)[::-1])
    found = pin if pin is not None else _old_pin(store, session_id)
    writer.append(Draft(event=events.SessionStart(name="forged", ledger=found)))
    for number in range(lines):
        writer.append(draft(number, "z"))
    writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    writer.close()


def _old_pin(store: Store, session_id: str) -> dict[str, Any]:
    found = book.read(store.opened.store)
    entry = found.opened(session_id)
    assert entry is not None
    root = found.root_at(entry.seq)
    assert root is not None
    return {"size": entry.seq, "root": root.hex()}


def test_an_untouched_store_is_verified(store: Store) -> None:
    assert store.everything() == {SESSION: "verified", OTHER: "verified", layout.LEDGER: "verified"}
    assert store.session(SESSION, store.seal()).verdict == "verified"
    assert store.session(layout.LEDGER, store.seal(layout.LEDGER)).verdict == "verified"


# -- a session ---------------------------------------------------------------------------------------------------------------


def test_a_cut_tail_whose_seals_were_left(store: Store) -> None:
    path = store.path() / "00000001.events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    result = store.session()
    assert result.verdict == "tampered"
    assert "the end was cut off" in whats(result, "seal")


def test_a_cut_tail_whose_seals_were_removed(store: Store) -> None:
    cut_at_first_seal(store)
    result = store.session()
    assert {problem["check"] for problem in result.problems} == {"anchor"}
    assert (result.verdict, "the ledger speaks of 8 lines, 5 are left" in whats(result, "anchor")) == ("tampered", True)
    assert store.everything() == {SESSION: "tampered", OTHER: "verified", layout.LEDGER: "verified"}


def test_a_dropped_session(store: Store) -> None:
    shutil.rmtree(store.path())
    (store.folder / layout.keys(SESSION)).unlink()
    assert store.everything() == {SESSION: "missing", OTHER: "verified", layout.LEDGER: "verified"}
    assert "it was dropped" in whats(store.session(), "segments")
    assert "8 lines sealed" in whats(store.session(), "segments")


def test_a_dropped_session_whose_tombstone_is_in_the_ledger_is_no_attack(store: Store) -> None:
    shutil.rmtree(store.path())
    enter(store.opened, "deleted", size=8)
    assert store.everything() == {OTHER: "verified", layout.LEDGER: "verified"}
    assert "deleted" in whats(store.session(), "segments")


def test_a_session_replaced_by_an_older_copy_of_itself(store: Store) -> None:
    opened, session_id = store.opened, "ses_01K0000000000000000000000C"
    writer = new_writer(opened, session_id)
    writer.append(Draft(event=events.SessionStart(ledger=enter(opened, "opened", session_id))))
    writer.seal()
    restore = store.save(session_id)
    writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    enter(opened, "sealed", session_id, size=writer.size, root=writer.root.hex(), ended=True)
    writer.close()
    assert store.session(session_id).verdict == "verified"
    restore()
    result = store.session(session_id)
    assert (result.verdict, "an older copy took its place" in whats(result, "anchor")) == ("tampered", True)


def test_a_session_rewritten_with_the_stolen_key(store: Store) -> None:
    rewrite(store)
    result = store.session()
    assert (result.verdict, "it was rewritten" in whats(result, "anchor")) == ("tampered", True)


def test_a_session_rewritten_and_made_longer_with_the_stolen_key(store: Store) -> None:
    rewrite(store, lines=30)
    assert "it was rewritten" in whats(store.session(), "anchor")


def test_a_replayed_old_seal(store: Store) -> None:
    """The newest seal is replaced by the one before: it is good, and the ledger knows of more."""
    seals = store.path() / "00000001.seals"
    seals.write_bytes(b"\n\n".join(seals.read_bytes().split(b"\n\n")[:2]) + b"\n\n")
    assert store.session().verdict == "unsealed"
    outside = store.seal()
    assert store.session(SESSION, outside).verdict == "unsealed"
    assert not store.session().good


def test_a_session_copied_under_another_id(store: Store) -> None:
    name = "ses_01K0000000000000000000000D"
    shutil.copytree(store.path(), store.folder / layout.session(name))
    shutil.copy(store.folder / layout.keys(SESSION), store.folder / layout.keys(name))
    result = store.session(name)
    assert (result.verdict, {problem["check"] for problem in result.problems} >= {"chain", "keys"}) == ("tampered", True)


def test_a_session_that_the_ledger_does_not_know(store: Store) -> None:
    """Made with the *stolen* key, in no other way than a recorder would, but past the ledger."""
    name = "ses_01K0000000000000000000000E"
    write_session(store.opened, session_id=name)
    result = store.session(name)
    assert (result.verdict, "the ledger does not know of it" in whats(result, "ledger")) == ("tampered", True)
    assert store.everything()[name] == "tampered"


def test_a_session_that_says_itself_that_it_could_not_be_entered(store: Store) -> None:
    name = "ses_01K0000000000000000000000F"
    writer = new_writer(store.opened, name)
    writer.append(Draft(event=events.SessionStart(ledger={"missing": "locked"})))
    writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    writer.close()
    result = store.session(name)
    assert (result.verdict, result.good, "(locked)" in whats(result, "ledger")) == ("unsealed", True, True)
    enter(store.opened, "opened", name, late=True)
    assert store.session(name).verdict == "verified"


def test_two_hosts_that_write_one_session(store: Store) -> None:
    with pytest.raises(ConflictError):
        SessionWriter(store.opened, SESSION, b"k" * 32, clock=Clock(), entropy=Entropy())
    # Each whole in itself, put together by somebody: the second's segment as the second of the first's.
    for kind in ("events.jsonl", "content.pack", "seals"):
        shutil.copy(store.path(OTHER) / f"00000001.{kind}", store.path() / f"00000002.{kind}")
    assert store.session().verdict == "tampered"
    for path in store.path().glob("00000002.*"):
        path.unlink()
    enter(store.opened, "opened")
    assert "opened 2 times" in whats(store.session(), "ledger")


def test_a_key_file_that_was_swapped(store: Store) -> None:
    """The wrapped keys of two sessions change places, and so do the store's and a stranger's."""
    mine, theirs = (store.folder / layout.keys(name) for name in (SESSION, OTHER))
    one, other = mine.read_bytes(), theirs.read_bytes()
    mine.write_bytes(other)
    theirs.write_bytes(one)
    assert store.session().verdict == "tampered"
    assert "keys" in {problem["check"] for problem in store.session().problems}
    stranger = keys.KeyFile(b"k" * 32, b"s" * 32)
    result = Judge(store.opened.store, public=stranger.public(), opened=None).judge(SESSION)
    assert (result.verdict, "no signature by the expected key" in whats(result, "seal")) == ("tampered", True)


# -- the ledger --------------------------------------------------------------------------------------------------------------


def _cut(store: Store, keep: int) -> None:
    for path in store.path(layout.LEDGER).glob("0*"):
        if int(path.name[:8]) > keep:
            path.unlink()


def test_a_ledger_that_was_cut(store: Store) -> None:
    _cut(store, 2)  # the second session's entries are gone; what is left is whole and sealed
    result = store.session(OTHER)
    assert (result.verdict, "does not know of it" in whats(result, "ledger")) == ("tampered", True)
    assert store.everything() == {SESSION: "verified", OTHER: "tampered", layout.LEDGER: "tampered"}


def test_a_ledger_that_was_removed_whole(store: Store) -> None:
    shutil.rmtree(store.path(layout.LEDGER))
    (store.folder / layout.keys(layout.LEDGER)).unlink()
    result = store.session()
    assert (result.verdict, "there is none: it was removed" in whats(result, "ledger")) == ("tampered", True)
    assert store.everything() == {SESSION: "tampered", OTHER: "tampered", layout.LEDGER: "tampered"}


def test_a_ledger_that_was_removed_and_begun_again(store: Store) -> None:
    shutil.rmtree(store.path(layout.LEDGER))
    write_session(store.opened, session_id="ses_01K0000000000000000000000G", entered=True)
    assert store.everything() == {
        SESSION: "tampered", OTHER: "tampered", "ses_01K0000000000000000000000G": "verified", layout.LEDGER: "tampered",
    }  # fmt: skip


def test_a_ledger_that_was_forked(store: Store) -> None:
    """An older copy was put back, and went on: both are good logs with a common beginning."""
    restore = store.save(layout.LEDGER)
    name = "ses_01K0000000000000000000000H"
    write_session(store.opened, session_id=name, entered=True)
    restore()
    enter(store.opened, "read", verb="cat")
    enter(store.opened, "read", verb="cat")
    assert store.judge().judge(layout.LEDGER).verdict == "verified"
    assert store.everything() == {SESSION: "verified", OTHER: "verified", name: "tampered", layout.LEDGER: "tampered"}


def test_a_ledger_that_was_changed_without_the_key(store: Store) -> None:
    """Chained anew, since that needs no key; the seals do not fit."""
    path = store.path(layout.LEDGER) / "00000004.events.jsonl"
    raw = path.read_bytes().splitlines(keepends=True)
    previous = raw[0][-67:-3].decode()
    body = raw[1][: raw[1].rindex(b',"hash":"')].replace(b'"size":8', b'"size":5')
    digest = hashlib.sha256(previous.encode() + body).hexdigest().encode()
    path.write_bytes(raw[0] + body + b',"hash":"' + digest + b'"}\n')
    assert store.everything() == {SESSION: "tampered", OTHER: "tampered", layout.LEDGER: "tampered"}
    assert "its newest seal is of other lines" in whats(store.session(), "ledger")


def test_a_ledger_rewritten_with_the_stolen_key(store: Store) -> None:
    """Without the second session: the first's place in it is another one than its first line says."""
    shutil.rmtree(store.path(layout.LEDGER))
    enter(store.opened, "read", verb="cat")
    enter(store.opened, "opened")
    result = store.session()
    assert (result.verdict, "was cut or rewritten" in whats(result, "ledger")) == ("tampered", True)


def test_all_rewritten_with_the_stolen_key_is_found_by_an_outside_seal_of_a_session(store: Store) -> None:
    """Nothing within the store can tell. One seal of one session does: its first line pins the ledger, too."""
    outside = store.seal(SESSION)
    shutil.rmtree(store.path(layout.LEDGER))
    shutil.rmtree(store.path(OTHER))
    pin = enter(store.opened, "opened")
    rewrite(store, pin=dict(pin))
    written = store.seal(SESSION)
    enter(store.opened, "sealed", size=written.size, root=written.root, ended=True)
    assert store.everything() == {SESSION: "verified", layout.LEDGER: "verified"}
    result = store.session(SESSION, outside)
    assert (result.verdict, "the seal that was kept outside" in whats(result, "anchor")) == ("tampered", True)


def test_a_ledger_rewritten_with_the_stolen_key_is_found_by_an_outside_seal_of_it(store: Store) -> None:
    outside = store.seal(layout.LEDGER)
    shutil.rmtree(store.path(layout.LEDGER))
    for number in range(9):
        enter(store.opened, "read", verb=str(number))
    assert store.session(layout.LEDGER).verdict == "verified"
    assert "it was rewritten" in whats(store.session(layout.LEDGER, outside), "anchor")


def test_the_whole_store_rolled_back_is_found_by_an_outside_seal_only(store: Store) -> None:
    copy = store.folder.parent / "old"
    shutil.copytree(store.folder, copy)
    write_session(store.opened, session_id="ses_01K0000000000000000000000J", entered=True)
    outside, session = store.seal(layout.LEDGER), store.seal("ses_01K0000000000000000000000J")
    shutil.rmtree(store.folder)
    shutil.copytree(copy, store.folder)
    assert set(store.everything().values()) == {"verified"}
    assert "an older copy took its place" in whats(store.session(layout.LEDGER, outside), "anchor")
    results, _ = store.judge().everything({"ses_01K0000000000000000000000J": [session]})
    assert results[-1].verdict == "missing"


def test_a_session_opened_after_the_ledger_was_read_is_no_attack(store: Store) -> None:
    judge = store.judge()
    name = "ses_01K0000000000000000000000K"
    write_session(store.opened, session_id=name, entered=True)
    assert judge.judge(name).verdict == "verified"
    assert opening.exists(store.opened.store)


# -- entries of somebody without a key


def forge(store: Store, entry: events.LedgerEntry, *, seal: bytes = b"") -> None:
    """A segment of the ledger that chains and has the right frontier, by somebody who can write the folder and has no key."""
    folder = store.path(layout.LEDGER)
    number = len(list(folder.glob("*.seals")))
    data, tree, previous = b"".join(path.read_bytes() for path in sorted(folder.glob("*.events.jsonl"))), merkle.Frontier(), ""
    for raw in data.splitlines(keepends=True):
        tree.add(merkle.leaf(raw))
        previous = raw[-67:-3].decode()
    lines = b""
    for event in (events.Gap(reason="next_writer", frontier=[peak.hex() for peak in tree.peaks]), entry):
        fields = {
            "v": 1, "seq": tree.size + 1, "ts": "2026-09-11T07:12:01.412Z", "session_id": layout.LEDGER, **events.encode(event),
        }  # fmt: skip
        made, previous = lines_of_format.make(previous, fields)
        tree.add(merkle.leaf(made))
        lines += made
    for kind, what in (("events.jsonl", lines), ("content.pack", b""), ("seals", seal)):
        (folder / f"{number + 1:08d}.{kind}").write_bytes(what)


@pytest.mark.parametrize("seal", [b"", b"tachograph/v1/ledger\n9\nAAAA\n\n\xe2\x80\x94 x AAAA\n\n"])
def test_an_entry_without_a_seal_is_not_believed_and_never_sealed_by_the_next_writer(store: Store, seal: bytes) -> None:
    before = book.believed(store.opened.store, store.opened.trusted)
    forge(
        store, events.LedgerEntry(action="deleted", subject=SESSION, user="alice", host="prod", detail={"size": 1, "root": "00"}), seal=seal
    )
    assert book.read(store.opened.store).tombstone(SESSION) is not None, "the forgery chains"
    assert book.believed(store.opened.store, store.opened.trusted).tombstone(SESSION) is None
    assert store.everything()[layout.LEDGER] != "verified"
    enter(store.opened, "held", OTHER, matter="INC-7")
    after = book.believed(store.opened.store, store.opened.trusted)
    assert after.tombstone(SESSION) is None
    assert list(after.holds(OTHER)) == ["INC-7"]
    assert len(after.entries) == len(before.entries) + 1
    results, found = store.judge().everything()
    assert found is not None
    assert (found.verdict, found.good) == (("tampered", False) if seal else ("torn", True)), "what was void stays there for all to see"
    assert all(result.verdict == "verified" for result in results)
    enter(store.opened, "held", OTHER, matter="INC-8")
    assert sorted(book.believed(store.opened.store, store.opened.trusted).holds(OTHER)) == ["INC-7", "INC-8"]


def test_a_writer_that_died_before_it_sealed_has_entered_nothing(store: Store) -> None:
    forge(store, events.LedgerEntry(action="held", subject=SESSION, user="ada", host="here", detail={"matter": "INC-7"}))
    (store.path(layout.LEDGER) / f"{len(list(store.path(layout.LEDGER).glob('*.seals'))):08d}.seals").write_bytes(b"torn")
    assert book.believed(store.opened.store, store.opened.trusted).holds(SESSION) == {}
    enter(store.opened, "held", SESSION, matter="INC-8")
    assert list(book.believed(store.opened.store, store.opened.trusted).holds(SESSION)) == ["INC-8"]
    found = store.judge().everything()[1]
    assert found is not None
    assert found.good
