"""Wrapped keys that were damaged, forged or put there twice."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import pytest

from tachograph.core.errors import FormatError, KeyUnavailableError
from tachograph.crypto import keys, wraps
from tachograph.crypto.ring import Ring

KEY = keys.generate(os.urandom)


RING = Ring(KEY)
HERE = wraps.key_file_recipient(KEY)


def wrap(**changes: Any) -> dict[str, Any]:
    return {**RING.holder(HERE, "sto_A").wrap("ses_A", b"d" * 32, os.urandom), **changes}


def unwrap(found: Any) -> bytes:
    return RING.open("sto_A", "ses_A", found, "here", good=lambda plain: plain == b"d" * 32)


@pytest.mark.parametrize(
    "bad",
    [
        wrap(nonce="AA=="), wrap(nonce="!"), wrap(nonce=None), wrap(nonce=5), wrap(wrapped=""), wrap(wrapped=[]),
        wrap(wrapped=base64.b64encode(bytes(48)).decode()), {"type": "keyfile", "key_id": KEY.id},
    ],
)  # fmt: skip
def test_one_wrap_that_opens_is_enough(bad: dict[str, Any]) -> None:
    assert unwrap([bad, wrap()]) == b"d" * 32
    with pytest.raises(KeyUnavailableError, match="here; restore") as error:
        unwrap([bad])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("found", [None, 5, "x", {}, [1], [None], [[]], ["keyfile"]])
def test_what_is_no_list_of_wraps_is_refused(found: Any) -> None:
    with pytest.raises(FormatError, match="here; restore"):
        unwrap(found)


@pytest.mark.parametrize("found", [[], [wrap(type="kms")], [wrap(key_id="0" * 16)], [wrap(key_id="x" * 4096)]])
def test_a_wrap_for_somebody_else(found: Any) -> None:
    with pytest.raises(KeyUnavailableError, match=KEY.id) as error:
        unwrap(found)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("found", [[{}], [{"type": "keyfile"}], [wrap(key_id="x" * 10_000)], [wrap(key_id=5)]])
def test_what_is_no_wrap(found: Any) -> None:
    with pytest.raises(KeyUnavailableError) as error:
        unwrap(found)
    assert len(str(error.value)) < 300


def test_a_forged_wrap_that_opens_is_not_the_key() -> None:
    """Anyone can seal a box for a public half."""
    forged = Ring(None).holder(HERE, "sto_A").wrap("ses_A", b"e" * 32, os.urandom)
    assert "box" in forged
    assert unwrap([forged, wrap()]) == unwrap([wrap(), forged]) == b"d" * 32
    with pytest.raises(KeyUnavailableError, match="was damaged"):
        unwrap([forged])


@pytest.mark.parametrize("key", [KEY, KEY.reading(), keys.KeyFile(None, KEY.seed)])
def test_key_files_with_less_come_back(key: keys.KeyFile) -> None:
    again = keys.load(keys.dump(key), "here")
    assert (again, again.public()) == (key, KEY.public())
    secrets = {base64.b64encode(one) for one in (KEY.kek, KEY.seed) if one is not None and one not in (key.kek, key.seed)}
    assert not any(secret in keys.dump(key) for secret in secrets)


def test_a_key_file_without_its_seed_does_not_sign() -> None:
    assert KEY.reading().id == KEY.id
    with pytest.raises(KeyUnavailableError, match="cannot seal"):
        KEY.reading().signer()


@pytest.mark.parametrize("without", [("seed",), ("kek", "seed"), ("id",), ("v",)])
def test_a_key_file_that_lacks_what_it_needs(without: tuple[str, ...]) -> None:
    fields = {name: value for name, value in json.loads(keys.dump(KEY)).items() if name not in without}
    with pytest.raises(KeyUnavailableError, match="not a tachograph key file"):
        keys.load(json.dumps(fields).encode(), "here")


def test_a_key_file_that_was_damaged_is_not_taken_for_another_key() -> None:
    fields = json.loads(keys.dump(KEY))
    fields["kek"] = base64.b64encode(bytes(32)).decode()
    with pytest.raises(KeyUnavailableError, match="not a tachograph key file"):
        keys.load(json.dumps(fields).encode(), "here")


def test_a_key_file_nested_beyond_sense() -> None:
    with pytest.raises(KeyUnavailableError, match="not a tachograph key file"):
        keys.load(b"[" * 100_000, "here")
