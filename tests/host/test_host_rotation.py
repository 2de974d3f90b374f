"""Rotation, and changes of recipients, that fail or die at any step: the store opens with the key file that is in place by then, and running it again finishes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tachograph.core.errors import ConflictError, KeyUnavailableError, TachographError
from tachograph.core.ports import Store
from tachograph.crypto import keys, sealed, wraps
from tachograph.crypto.keys import KeyFile
from tachograph.crypto.ring import Ring
from tachograph.host import custody, keyplace, recipients, rotation
from tachograph.host.custody import Keeper
from tachograph.host.keyplace import KeyPlace
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.verdict import verdict
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore
from tachograph.wiring import SystemClock

SESSIONS = [f"ses_01ARZ3NDEKTSV4RRFFQ69G5FA{end}" for end in "ABC"]


class Killed(BaseException):
    """Nothing catches it, as nothing catches a kill."""


class Failing:
    """A store that fails at its n-th change: before it is done, or after."""

    def __init__(self, store: Store, fails: Callable[[], None]) -> None:
        self._store = store
        self._fails = fails

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def replace(self, name: str, data: bytes) -> None:
        self._fails()
        self._store.replace(name, data)
        self._fails()


def rings(place: KeyPlace) -> Callable[[KeyFile | None], Ring]:
    return lambda key: Ring(key, find=place.find)


def open_with(root: Path, store: Store | None = None, key: KeyFile | None = None) -> OpenStore:
    place = KeyPlace(root / "key.json")
    return opening.open_store(store or LocalStore(str(root / "store")), rings(place)(key or place.current()))


def keeper(opened: OpenStore) -> Keeper:
    return custody.keeper(opened, clock=SystemClock(), entropy=os.urandom)


def session(opened: OpenStore, name: str) -> bytes:
    key = opened.new_data_key(name, os.urandom)
    SessionWriter(opened, name, key, clock=SystemClock(), entropy=os.urandom).close()
    return key


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A store with sessions, one of them shredded, and a second recipient."""
    root = tmp_path_factory.mktemp("made")
    key = keys.generate(os.urandom)
    (root / "key.json").write_bytes(keys.dump(key))
    opening.create(LocalStore(str(root / "store")), key, os.urandom)
    opened = open_with(root)
    found = {name: session(opened, name) for name in SESSIONS}
    custody.shred(keeper(opened), SESSIONS[2], "x")
    reader = keys.generate(os.urandom)
    (root / "reader.json").write_bytes(keys.dump(keys.KeyFile(reader.kek, None, key.public())))
    recipients.add(keeper(opened), wraps.key_file_recipient(reader), "x")
    return root, {name: found[name] for name in SESSIONS[:2]}


@pytest.fixture
def root(made: tuple[Path, dict[str, bytes]], tmp_path: Path) -> Path:
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def rotate(root: Path, store: Store | None = None) -> rotation.Rotated:
    place = KeyPlace(root / "key.json")
    return rotation.rotate(keeper(open_with(root, store)), place, rings(place), "x")


def whole(root: Path, expected: dict[str, bytes]) -> None:
    """All opens with the key file that is in place, and with the reader's."""
    reader = keys.load((root / "reader.json").read_bytes(), "")
    for opened in (open_with(root), open_with(root, key=reader)):
        assert {name: opened.data_key(name) for name in expected} == expected
        for name in (*expected, "ledger"):
            found = verdict(opened.store, name, public=opened.trusted, opened=opened)
            assert found.content == "opened", found.problems
    assert opening.shredded_at(opened.store, SESSIONS[2]) is not None


def steps() -> Iterator[int]:
    yield from range(60)


def test_killed_at_each_change_of_the_store_and_of_the_key_file(
    root: Path, made: tuple[Path, dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = keys.load((root / "key.json").read_bytes(), "")
    ended = 0
    for step in steps():
        here = tmp_path_factory.mktemp("step")
        shutil.copytree(root, here, dirs_exist_ok=True)
        left = [step]

        def fails(left: list[int] = left) -> None:
            if left[0] == 0:
                left[0] -= 1
                raise Killed
            left[0] -= 1

        real = {name: getattr(KeyPlace, name) for name in ("begin", "switch", "forget")}
        for name, method in real.items():

            def failing(*arguments: Any, method: Any = method) -> None:
                fails()
                method(*arguments)
                fails()

            monkeypatch.setattr(KeyPlace, name, failing)
        synced = keyplace._sync

        def failing_sync(folder: Path, synced: Callable[[Path], None] = synced) -> None:
            fails()  # between the parts of each change of a key file
            synced(folder)

        monkeypatch.setattr(keyplace, "_sync", failing_sync)
        try:
            rotate(here, Failing(LocalStore(str(here / "store")), fails))  # type: ignore[arg-type]
            ended += 1
        except Killed:
            pass
        monkeypatch.setattr(keyplace, "_sync", synced)
        for name, method in real.items():
            monkeypatch.setattr(KeyPlace, name, method)
        whole(here, made[1])
        late = SESSIONS[0][:-1] + "Z"
        found = {**made[1], late: session(open_with(here), late)}
        whole(here, found)
        if left[0] < 0 and not ended:
            rotate(here)
        whole(here, found)
        assert open_with(here).key.id != original.id
        assert sorted(path.name for path in here.glob("key.json*")) == ["key.json"]
        shutil.copy(root / "key.json", here / "key.json")
        with pytest.raises(KeyUnavailableError):
            open_with(here)
        if ended:
            break
    assert ended == 1
    assert step > 15


def test_a_session_that_begins_while_the_key_is_rotated_is_wrapped_for_the_new_one(root: Path, made: tuple[Path, dict[str, bytes]]) -> None:
    """Its recorder has opened the store with the old key file, and goes on with it."""
    recorder = open_with(root)
    recorder.data_key("ledger")
    writer = SessionWriter(recorder, SESSIONS[0][:-1] + "X", recorder.new_data_key(SESSIONS[0][:-1] + "X", os.urandom), clock=SystemClock(), entropy=os.urandom)  # fmt: skip
    rotate(root)
    late = SESSIONS[0][:-1] + "Y"
    key = session(recorder, late)
    writer.close()
    keeper(recorder).enter(keeper(recorder).entry("sealed", late), "x")
    whole(root, {**made[1], late: key})
    now = open_with(root)
    assert now.data_key(SESSIONS[0][:-1] + "X") == writer_key(now)


def writer_key(opened: OpenStore) -> bytes:
    return opened.data_key(SESSIONS[0][:-1] + "X")


def test_a_key_that_is_shredded_meanwhile_does_not_come_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made from the key before is not put in its place."""
    opened = open_with(root)
    put = recipients._put

    def shredded_first(by: Any, opened: Any, made: Any, out: Any) -> None:
        if SESSIONS[0] in made and opening.shredded_at(opened.store, SESSIONS[0]) is None:
            custody.shred(keeper(open_with(root)), SESSIONS[0], "x")
        put(by, opened, made, out)

    monkeypatch.setattr(recipients, "_put", shredded_first)
    done = recipients.rewrap(keeper(opened), anew=True)
    assert (done.shredded, done.failed) == (2, [])
    assert opening.shredded_at(opened.store, SESSIONS[0]) is not None


def test_a_shredding_that_was_entered_and_not_done_yet_is_left_to_whoever_does_it(root: Path) -> None:
    opened = open_with(root)
    before = opened.store.read(f"keys/{SESSIONS[0]}.json")
    keeper(opened).enter(keeper(opened).entry("shredded", SESSIONS[0]), "x")
    assert recipients.rewrap(keeper(opened), anew=True).shredded == 2
    assert opened.store.read(f"keys/{SESSIONS[0]}.json") == before


def test_one_changes_keys_at_a_time(root: Path) -> None:
    opened = open_with(root)
    with recipients.changing(opened.store), pytest.raises(ConflictError, match="somebody else"):
        rotate(root)
    assert not (root / "key.json.next").exists()


def test_an_interrupted_add_is_seen_and_finished(root: Path) -> None:
    opened = open_with(root)
    other = wraps.passphrase_recipient("a passphrase of a test", os.urandom, cost=1 << 14)
    opened.ring._makers["passphrase"] = lambda fields, _: wraps.passphrase_wrap(fields, list)
    left = [2]

    def fails() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    with pytest.raises(Killed):
        failing = OpenStore(Failing(opened.store, fails), opened.id, opened.key, opened.content_key, opened.fingerprint_key, opened.ring)  # type: ignore[arg-type]
        recipients.add(keeper(failing), other, "x")
    assert len(recipients.state(opened).lacking[other["id"]]) == 4
    assert recipients.rewrap(keeper(opened)).failed == []
    assert recipients.state(opened).lacking[other["id"]] == []


def test_a_damaged_file_is_told_and_does_not_keep_the_others_from_being_rewrapped(root: Path) -> None:
    (root / f"store/keys/{SESSIONS[0]}.json").write_text("{}")
    done = recipients.rewrap(keeper(open_with(root)), anew=True)
    assert ([name for name, _ in done.failed], done.changed) == ([SESSIONS[0]], 3)
    with pytest.raises(KeyUnavailableError, match=SESSIONS[0]):
        rotate(root)
    assert (root / "key.json.next").exists()
    open_with(root).data_key(SESSIONS[1])


def test_a_recipient_that_is_none_changes_nothing(root: Path) -> None:
    opened = open_with(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != "lock"}
    private = os.urandom(32)
    for bad in (
        {"type": "acme", "id": "x"}, {"type": "keyfile", "id": "x"}, {"type": "keyfile", "id": "y", "public": "AAAA"},
        wraps.key_file_recipient(opened.key), {"type": "keyring", "id": "x", "public": sealed.public_of(private).hex()},
    ):  # fmt: skip
        with pytest.raises(TachographError):
            recipients.add(keeper(opened), bad, "x")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != "lock"} == before
