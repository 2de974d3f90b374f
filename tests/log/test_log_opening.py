"""Making and opening a store: two at once, one that died over it, another's, and one that is none."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from log_helpers import SESSION, Entropy, new_store

from fake_store import FakeStore
from tachograph.core.errors import (
    FormatError,
    KeyUnavailableError,
    NewerFormatError,
    NotFoundError,
    StoreError,
    TachographError,
    UsageError,
)
from tachograph.crypto import keys, wrapfile
from tachograph.crypto.ring import Ring
from tachograph.log import opening
from tachograph.log.verify import public_key
from tachograph.stores.local import LocalStore

KEY = keys.generate(Entropy())
STRANGER = keys.generate(lambda size: b"z" * size)


class OtherEntropy(Entropy):
    def __call__(self, size: int, /) -> bytes:
        return bytes(byte ^ 0x5A for byte in super().__call__(size))


def test_two_that_make_a_store_at_once_have_the_same(tmp_path: Path) -> None:
    results: list[opening.OpenStore] = []
    start = threading.Barrier(4)

    def make(number: int) -> None:
        store = LocalStore(str(tmp_path / "store"))
        start.wait()
        opening.create(store, KEY, lambda size: bytes([number]) * size)
        results.append(opening.open_store(store, KEY))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len({(opened.id, opened.content_key, opened.fingerprint_key) for opened in results}) == 1


def test_a_store_whose_maker_died_is_finished_by_the_next() -> None:
    store = FakeStore()
    opening.create(store, KEY, Entropy())
    first = opening.open_store(store, KEY)
    del store.objects["store.json"]  # the keys were written, what says that this is a store was not
    assert not opening.exists(store)
    opening.create(store, KEY, OtherEntropy())
    assert opening.open_store(store, KEY).content_key == first.content_key
    assert public_key(str(opening.describe(store)["verifier"])) == KEY.public()


def test_a_half_made_store_of_another_key_is_left_alone() -> None:
    store = FakeStore()
    opening.create(store, STRANGER, Entropy())
    del store.objects["store.json"]
    with pytest.raises(KeyUnavailableError, match=STRANGER.id):
        opening.create(store, KEY, OtherEntropy())
    assert not opening.exists(store)


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    with pytest.raises(KeyUnavailableError, match="TACHO_KEY"):
        opening.open_store(opened.store, STRANGER)


def test_its_repr_shows_no_key(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    for secret in (opened.content_key, opened.fingerprint_key, opened.key.kek, opened.key.seed):
        assert secret.hex() not in repr(opened)
        assert repr(secret) not in repr(opened)


def test_no_store_here() -> None:
    with pytest.raises(UsageError, match="--store"):
        opening.describe(FakeStore())


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"", FormatError, "JSON"), (b"[]", FormatError, "JSON"), (b"[" * 50_000, FormatError, "JSON"), (b"\xff", FormatError, "JSON"),
        (b'{"name":"my-package","version":"1.0.0"}', UsageError, "something else"),
        (b'{"v":2,"format":"tachograph-store"}', NewerFormatError, "update"),
    ],
)  # fmt: skip
def test_what_is_no_store_of_ours(data: bytes, error: type[TachographError], text: str) -> None:
    store = FakeStore()
    store.objects["store.json"] = bytearray(data)
    with pytest.raises(error, match=text) as caught:
        opening.describe(store)
    assert "\n" not in str(caught.value)


def test_a_store_json_that_never_ends_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_bytes(b" " * (2 << 20))
    with pytest.raises(StoreError, match="longer than"):
        opening.describe(LocalStore(str(tmp_path)))


def test_shared_keys_of_a_wrong_length() -> None:
    store = FakeStore()
    opening.create(store, KEY, Entropy())
    opened = opening.open_store(store, KEY)
    store.objects["keys/store.json"] = bytearray(opened.wrapped("store", b"short", opened.recipients(), Entropy()))
    with pytest.raises(FormatError, match="backup"):
        opening.open_store(store, KEY)


def test_data_keys_are_wrapped_for_their_session(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    made = opened.new_data_key(SESSION, Entropy())
    assert opened.data_key(SESSION) == made
    other = SESSION[:-1] + "B"
    with pytest.raises(NotFoundError):
        opened.data_key(other)
    folder = tmp_path / "store/keys"
    (folder / f"{other}.json").write_bytes((folder / f"{SESSION}.json").read_bytes())
    with pytest.raises(KeyUnavailableError):
        opened.data_key(other)


def test_a_key_that_the_store_did_not_sign_for_is_not_used(tmp_path: Path) -> None:
    """Whoever can write the folder can seal a box for a public half, and would read what is written from then on."""
    opened = new_store(tmp_path / "store")
    opened.new_data_key(SESSION, Entropy())
    forged = list(Ring(None).wrap(opened.recipients(), opened.id, SESSION, b"known to the thief".ljust(32), Entropy()).values())
    file = tmp_path / f"store/keys/{SESSION}.json"
    whole = json.loads(file.read_bytes())
    file.write_text(json.dumps({**whole, "wraps": forged}))
    with pytest.raises(KeyUnavailableError, match="was damaged"):
        opened.data_key(SESSION)
    file.write_bytes(wrapfile.dump(SESSION, b"known to the thief".ljust(32), forged, store_id=opened.id, owner=STRANGER))
    with pytest.raises(KeyUnavailableError, match="has signed"):
        opened.data_key(SESSION)


@pytest.mark.parametrize(
    "vkey",
    [
        "",
        "name",
        "name+00000000",
        "name+00000000+",
        "a+b+c",
        "name+00000000+AAAA",
        "name+xxxxxxxx+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_what_is_no_verifier_key(vkey: str) -> None:
    with pytest.raises(FormatError, match="verifier key"):
        public_key(vkey)


def test_content_names_are_keyed(tmp_path: Path) -> None:
    import hashlib
    import hmac

    opened = new_store(tmp_path / "store")
    digest = opened.digest()
    assert digest(b"x") == digest(b"x") == hmac.digest(opened.content_key, b"x", hashlib.sha256)
