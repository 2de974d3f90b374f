"""All kinds of wraps pass their suite, and a bad one does not."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Any

import pytest

from tachograph.core.errors import NotHeldError
from tachograph.core.ports import Entropy, KeyWrap
from tachograph.crypto import keys, wraps
from tachograph.testing import key_wrap_suite
from tachograph.testing.key_wrap_suite import KeyWrapSuite

STORE = "sto_0123456789abcdef0123"
CHEAP = 1 << 14


def key_file(key: keys.KeyFile, held: keys.KeyFile | None) -> KeyWrap:
    return wraps.KeyFileWrap(wraps.key_file_recipient(key), lambda name: held if held is not None and held.id == name else None)


class TestKeyFile(KeyWrapSuite):
    key = keys.generate(os.urandom)

    @pytest.fixture
    def holder(self) -> KeyWrap:
        return key_file(self.key, self.key)

    @pytest.fixture
    def stranger(self) -> KeyWrap:
        other = keys.generate(os.urandom)
        return key_file(other, other)

    @pytest.fixture
    def locked(self) -> KeyWrap:
        return key_file(self.key, None)

    def test_who_has_it_opens_what_somebody_else_wrapped(self, holder: KeyWrap, locked: KeyWrap) -> None:
        assert holder.unwrap("store", locked.wrap("store", b"k" * 64, os.urandom)) == b"k" * 64


class TestKeyFileOfAnother(TestKeyFile):
    """Wrapped without the key file, by its public half."""

    @pytest.fixture
    def holder(self) -> KeyWrap:
        class Both:
            recipient = key_file(self.key, self.key).recipient
            wrap = staticmethod(key_file(self.key, None).wrap)
            unwrap = staticmethod(key_file(self.key, self.key).unwrap)

        return Both()  # type: ignore[return-value]


class TestPassphrase(KeyWrapSuite):
    said = "correct horse battery staple"
    mine = wraps.passphrase_recipient(said, os.urandom, cost=CHEAP)

    @pytest.fixture
    def holder(self) -> KeyWrap:
        return wraps.passphrase_wrap(self.mine, lambda: ["a wrong one, typed first", self.said])

    @pytest.fixture
    def stranger(self) -> KeyWrap:
        return wraps.passphrase_wrap(wraps.passphrase_recipient(self.said, os.urandom, cost=CHEAP), lambda: [self.said])

    @pytest.fixture(params=[[], ["a wrong one"]])
    def locked(self, request: pytest.FixtureRequest) -> KeyWrap:
        return wraps.passphrase_wrap(self.mine, lambda: request.param)

    def test_nobody_is_asked_to_wrap(self) -> None:
        def asked() -> list[str]:
            raise AssertionError("asked")

        wraps.passphrase_wrap(self.mine, asked).wrap("store", bytes(64), os.urandom)


class Careless:
    """Opens for any name, and is the same each time."""

    def __init__(self, name: str = "careless") -> None:
        self.recipient = {"type": "careless", "id": name}

    def wrap(self, name: str, plain: bytes, entropy: Entropy) -> dict[str, Any]:
        return {"type": "careless", "key_id": self.recipient["id"], "box": base64.b64encode(plain).decode()}

    def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes:
        return base64.b64decode(wrap["box"])


@pytest.mark.parametrize("check", ["test_a_wrap_tells_nothing", "test_no_bit_can_be_changed"])
def test_a_bad_one_is_found(check: str) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        getattr(KeyWrapSuite(), check)(Careless())
    with pytest.raises(pytest.fail.Exception):
        KeyWrapSuite().test_a_wrap_that_was_moved_to_another_name_does_not_open(Careless(), "store")
    with pytest.raises(pytest.fail.Exception):
        KeyWrapSuite().test_somebody_elses_does_not_open(Careless(), Careless("other"))


def test_the_suite_tells_not_here_from_not_good() -> None:
    with pytest.raises(AssertionError), key_wrap_suite.refused():
        raise NotHeldError("not here; name it")


@pytest.mark.parametrize("n", [1, 1 << 13, (1 << 17) + 1, 1 << 21, 1 << 40, "131072", None, True, -4])
def test_a_cost_that_somebody_else_chose_is_bounded(n: Any) -> None:
    from tachograph.core.errors import FormatError

    with pytest.raises(FormatError, match="cost"):
        wraps.passphrase_wrap({**TestPassphrase.mine, "n": n}, lambda: ["x"])


@pytest.mark.parametrize("said", ["", "short", "eleven char"])
def test_a_passphrase_that_is_guessed_is_refused(said: str) -> None:
    from tachograph.core.errors import UsageError

    with pytest.raises(UsageError, match="characters"):
        wraps.passphrase_recipient(said, os.urandom)


def test_keyboards_differ_in_how_they_write_one_letter() -> None:
    mine = wraps.passphrase_recipient("M\u00fcnchen ist sch\u00f6n", os.urandom, cost=CHEAP)
    wrap = wraps.passphrase_wrap(mine, list).wrap("store", bytes(64), os.urandom)
    assert wraps.passphrase_wrap(mine, lambda: ["Mu\u0308nchen ist scho\u0308n"]).unwrap("store", wrap) == bytes(64)
