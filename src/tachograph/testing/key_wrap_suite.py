"""The conformance suite for wraps of keys: subclass it with a way to make yours.

Needs pytest.

    from tachograph.testing.key_wrap_suite import KeyWrapSuite

    class TestAcme(KeyWrapSuite):
        @pytest.fixture
        def holder(self) -> KeyWrap:                    # its secret is here
            return AcmeWrap({"type": "acme", …}, secret)

        @pytest.fixture
        def stranger(self) -> KeyWrap:                  # another recipient, whose secret is here
            …

        @pytest.fixture
        def locked(self) -> KeyWrap:                    # the same recipient as ``holder``, whose secret is not here
            …

It checks what a store relies on (``core.ports.KeyWrap``): a wrap opens for its recipient and its name and for nothing else; it tells
nothing; whatever was done to it, an error of ours says so in one line.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tachograph.core.errors import FormatError, KeyUnavailableError, NotHeldError, StoreError
from tachograph.core.ports import KeyWrap

SESSION = "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV"
NAMES = ("store", "ledger", SESSION)


class KeyWrapSuite:
    """See the module's docstring."""

    @pytest.fixture
    def holder(self) -> KeyWrap:
        raise NotImplementedError

    @pytest.fixture
    def stranger(self) -> KeyWrap:
        raise NotImplementedError

    @pytest.fixture
    def locked(self) -> KeyWrap:
        raise NotImplementedError

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("size", [32, 64])
    def test_what_was_wrapped_comes_back(self, holder: KeyWrap, name: str, size: int) -> None:
        plain = os.urandom(size)
        assert holder.unwrap(name, holder.wrap(name, plain, os.urandom)) == plain

    def test_recipient_and_wrap_are_json_and_say_whose(self, holder: KeyWrap) -> None:
        recipient, wrap = holder.recipient, holder.wrap(SESSION, bytes(32), os.urandom)
        assert json.loads(json.dumps(dict(recipient))) == dict(recipient)
        assert json.loads(json.dumps(wrap)) == wrap
        assert (wrap["type"], wrap["key_id"]) == (recipient["type"], recipient["id"])
        assert isinstance(recipient["id"], str)
        assert recipient["id"]
        assert len(json.dumps(wrap)) < 4096

    def test_two_recipients_have_two_ids(self, holder: KeyWrap, stranger: KeyWrap) -> None:
        assert holder.recipient["type"] == stranger.recipient["type"]
        assert holder.recipient["id"] != stranger.recipient["id"]

    def test_a_wrap_tells_nothing(self, holder: KeyWrap) -> None:
        plain = os.urandom(32)
        first, second = (holder.wrap(SESSION, plain, os.urandom) for _ in range(2))
        assert first != second, "equal keys must not be seen to be equal"
        for text in (json.dumps(first), json.dumps(dict(holder.recipient))):
            assert plain.hex() not in text
            assert base64.b64encode(plain).decode().rstrip("=") not in text

    @pytest.mark.parametrize("other", ["store", "ledger", SESSION[:-1] + "W", SESSION + "\n", ""])
    def test_a_wrap_that_was_moved_to_another_name_does_not_open(self, holder: KeyWrap, other: str) -> None:
        wrap = holder.wrap(SESSION, bytes(32), os.urandom)
        with refused():
            holder.unwrap(other, wrap)

    def test_somebody_elses_does_not_open(self, holder: KeyWrap, stranger: KeyWrap) -> None:
        wrap = stranger.wrap(SESSION, bytes(32), os.urandom)
        for one in (wrap, {**wrap, "key_id": holder.recipient["id"]}, {**wrap, **holder.recipient, "key_id": holder.recipient["id"]}):
            with pytest.raises(KeyUnavailableError):
                holder.unwrap(SESSION, one)

    def test_no_bit_can_be_changed(self, holder: KeyWrap) -> None:
        wrap = holder.wrap(SESSION, b"k" * 32, os.urandom)
        for name in {"box", "wrapped", "nonce"} & set(wrap):
            data = base64.b64decode(wrap[name])
            for at in {0, 1, len(data) // 3, len(data) // 2, len(data) - 2, len(data) - 1}:
                bad = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                with refused():
                    holder.unwrap(SESSION, {**wrap, name: base64.b64encode(bad).decode()})

    @pytest.mark.parametrize("value", [None, 5, "", "!", "AAAA", [], {}, "A" * 10_000])
    def test_what_is_no_wrap_is_told(self, holder: KeyWrap, value: Any) -> None:
        wrap = holder.wrap(SESSION, bytes(32), os.urandom)
        for name in {"box", "wrapped", "nonce"} & set(wrap):
            with refused():
                holder.unwrap(SESSION, {**wrap, name: value})
            with refused():
                holder.unwrap(SESSION, {key: kept for key, kept in wrap.items() if key != name})

    def test_without_its_secret_it_says_what_would_bring_it(self, holder: KeyWrap, locked: KeyWrap) -> None:
        wrap = holder.wrap(SESSION, bytes(32), os.urandom)
        with pytest.raises((NotHeldError, StoreError)) as error:
            locked.unwrap(SESSION, wrap)
        assert "\n" not in str(error.value)
        assert ";" in str(error.value)


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Raised as ours, in one line, and not as "the secret is not here"."""
    with pytest.raises((KeyUnavailableError, FormatError)) as error:
        yield
    assert not isinstance(error.value, NotHeldError), str(error.value)
    assert "\n" not in str(error.value)
