"""The wraps whose key is elsewhere (the OS key ring, age, AWS KMS) pass the suite of all wraps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import kms_stub
from tachograph.core.errors import KeyUnavailableError
from tachograph.core.ports import KeyWrap
from tachograph.crypto import wraps
from tachograph.testing.key_wrap_suite import KeyWrapSuite

STORE = "sto_0123456789abcdef0123"


class TestKeyring(KeyWrapSuite):
    @pytest.fixture(autouse=True)
    def ring(self) -> Iterator[dict[str, str]]:
        keyring = pytest.importorskip("keyring")
        from keyring.backend import KeyringBackend

        kept: dict[str, str] = {}

        class Memory(KeyringBackend):
            priority = 1

            def get_password(self, service: str, username: str) -> str | None:
                return kept.get(f"{service}/{username}")

            def set_password(self, service: str, username: str, password: str) -> None:
                kept[f"{service}/{username}"] = password

            def delete_password(self, service: str, username: str) -> None:
                del kept[f"{service}/{username}"]

        before = keyring.get_keyring()
        keyring.set_keyring(Memory())
        yield kept
        keyring.set_keyring(before)

    def made(self) -> KeyWrap:
        from tachograph.wraps import keyring

        private, recipient = wraps.box_recipient("keyring", os.urandom)
        keyring.put(f"{STORE}/{recipient['id']}", private)
        return wraps.BoxWrap("keyring", recipient, keyring.private(f"{STORE}/{recipient['id']}"))

    @pytest.fixture
    def holder(self) -> KeyWrap:
        return self.made()

    @pytest.fixture
    def stranger(self) -> KeyWrap:
        return self.made()

    @pytest.fixture
    def locked(self, holder: KeyWrap) -> KeyWrap:
        from tachograph.wraps import keyring

        return wraps.BoxWrap("keyring", holder.recipient, keyring.private("somebody else's"))

    def test_what_is_dropped_is_gone(self, holder: KeyWrap, ring: dict[str, str]) -> None:
        from tachograph.wraps import keyring

        for _ in range(2):
            keyring.drop(f"{STORE}/{holder.recipient['id']}")
            assert ring == {}


class TestAge(KeyWrapSuite):
    @pytest.fixture(autouse=True)
    def _pyrage(self) -> None:
        pytest.importorskip("pyrage")

    def made(self, identities: str | None = "own") -> KeyWrap:
        import pyrage

        from tachograph.wraps import age

        identity = pyrage.x25519.Identity.generate()
        own = f"# created: today\n# public key: {identity.to_public()}\n{identity}\n"
        return age.AgeWrap(age.recipient(str(identity.to_public())), lambda: own if identities == "own" else identities)

    @pytest.fixture
    def holder(self) -> KeyWrap:
        return self.made()

    @pytest.fixture
    def stranger(self) -> KeyWrap:
        return self.made()

    @pytest.fixture
    def locked(self, holder: KeyWrap) -> KeyWrap:
        from tachograph.wraps import age

        return age.AgeWrap(holder.recipient, lambda: None)

    @pytest.mark.parametrize("said", ["", "AGE-SECRET-KEY-1XYZ", "nothing", "age-encryption.org/v1\n"])
    def test_a_file_of_identities_that_is_none(self, holder: KeyWrap, said: str) -> None:
        from tachograph.wraps import age

        with pytest.raises(KeyUnavailableError, match="TACHO_AGE_IDENTITY") as error:
            age.AgeWrap(holder.recipient, lambda: said).unwrap("store", holder.wrap("store", bytes(64), os.urandom))
        assert said == "" or said not in str(error.value)


class TestKms(KeyWrapSuite):
    @pytest.fixture
    def kms(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[kms_stub.Kms]:
        pytest.importorskip("boto3")
        with kms_stub.running() as stub:
            for name, value in kms_stub.environment(stub).items():
                monkeypatch.setenv(name, value)
            yield stub

    def made(self, arn: str) -> KeyWrap:
        from tachograph.wraps import kms as service

        return service.KmsWrap(service.recipient(arn), STORE, service.connect)

    @pytest.fixture
    def holder(self, kms: kms_stub.Kms) -> KeyWrap:
        return self.made(kms_stub.ARNS[0])

    @pytest.fixture
    def stranger(self, kms: kms_stub.Kms) -> KeyWrap:
        return self.made(kms_stub.ARNS[1])

    @pytest.fixture
    def locked(self, holder: KeyWrap, kms: kms_stub.Kms) -> KeyWrap:
        class Locked:
            def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes:
                kms.away = True
                return holder.unwrap(name, wrap)

        return Locked()  # type: ignore[return-value]

    def test_the_context_names_store_and_session(self, holder: KeyWrap, kms: kms_stub.Kms) -> None:
        holder.unwrap("ledger", holder.wrap("ledger", bytes(32), os.urandom))
        assert kms.calls == [("Encrypt", {"store": STORE, "name": "ledger"}), ("Decrypt", {"store": STORE, "name": "ledger"})]
