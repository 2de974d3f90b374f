"""A private key in the key ring of the operating system, kept there with the ``keyring`` library. What is wrapped for it is a sealed box, so
the key ring is asked only for reading."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from tachograph.core.errors import NotHeldError, StoreError

SERVICE = "tachograph"


def put(name: str, private: bytes) -> None:
    """Keep a private key under that name. Raises ``NotHeldError`` without the library, ``StoreError`` for a key ring that does not take it."""
    keyring = _keyring()
    try:
        keyring.set_password(SERVICE, name, base64.b64encode(private).decode())
    except Exception as error:  # noqa: BLE001 - back ends raise what they like
        raise _failed("take", error) from None


def drop(name: str) -> None:
    """Forget it; nothing where there is none."""
    keyring = _keyring()
    try:
        if keyring.get_password(SERVICE, name) is not None:
            keyring.delete_password(SERVICE, name)
    except Exception as error:  # noqa: BLE001
        raise _failed("forget", error) from None


def private(name: str) -> Callable[[bytes], bytes]:
    """Gets it, when it is needed. Raises ``NotHeldError``."""

    def get(_public: bytes) -> bytes:
        keyring = _keyring()
        try:
            said = keyring.get_password(SERVICE, name)
        except Exception as error:  # noqa: BLE001
            raise NotHeldError(str(_failed("give", error))) from None
        try:
            found = base64.b64decode(said or "", validate=True)
        except (binascii.Error, ValueError):
            found = b""
        if len(found) != 32:
            raise NotHeldError(f"no key {name} in this user's key ring; read as the user that has it")
        return found

    return get


def _keyring() -> Any:
    try:
        import keyring
    except ImportError:
        raise NotHeldError("keyring is not installed, which the system's key ring needs; pip install 'tachograph[keyring]'") from None
    return keyring


def _failed(what: str, error: Exception) -> StoreError:
    # Not the error's own text: some back ends put the secret into it.
    return StoreError(
        f"the key ring does not {what} the key, {type(error).__name__}; unlock it, or name another back end (keyring --list-backends)"
    )
