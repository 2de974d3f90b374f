"""Wrapped keys that were damaged, forged or put there twice."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import pytest

from tachograph.core.errors import FormatError, KeyUnavailableError
from tachograph.crypto import keys

KEY = keys.generate(os.urandom)


def wrap(**changes: Any) -> dict[str, Any]:
    return {**keys.wrap(KEY, "ses_A", b"d" * 32, os.urandom), **changes}


@pytest.mark.parametrize(
    "bad",
    [
        wrap(nonce="AA=="), wrap(nonce="!"), wrap(nonce=None), wrap(nonce=5), wrap(wrapped=""), wrap(wrapped=[]),
        wrap(wrapped=base64.b64encode(bytes(48)).decode()), {"type": "keyfile", "key_id": KEY.id},
    ],
)  # fmt: skip
def test_one_wrap_that_opens_is_enough(bad: dict[str, Any]) -> None:
    assert keys.unwrap(KEY, "ses_A", [bad, wrap()], "here") == b"d" * 32
    with pytest.raises(KeyUnavailableError, match="here; restore") as error:
        keys.unwrap(KEY, "ses_A", [bad], "here")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("wraps", [None, 5, "x", {}, [1], [None], [[]], ["keyfile"]])
def test_what_is_no_list_of_wraps_is_refused(wraps: Any) -> None:
    with pytest.raises(FormatError, match="here; restore"):
        keys.unwrap(KEY, "ses_A", wraps, "here")


@pytest.mark.parametrize("wraps", [[], [{}], [wrap(type="kms")], [wrap(key_id="0" * 16)], [wrap(key_id="x" * 10_000)]])
def test_a_wrap_for_somebody_else(wraps: Any) -> None:
    with pytest.raises(KeyUnavailableError, match=KEY.id) as error:
        keys.unwrap(KEY, "ses_A", wraps, "here")
    assert len(str(error.value)) < 300


def test_a_key_file_that_was_damaged_is_not_taken_for_another_key() -> None:
    fields = json.loads(keys.dump(KEY))
    fields["kek"] = base64.b64encode(bytes(32)).decode()
    with pytest.raises(KeyUnavailableError, match="not a tachograph key file"):
        keys.load(json.dumps(fields).encode(), "here")


def test_a_key_file_nested_beyond_sense() -> None:
    with pytest.raises(KeyUnavailableError, match="not a tachograph key file"):
        keys.load(b"[" * 100_000, "here")
