"""Identifiers: a prefix and a ULID (https://github.com/ulid/spec): 48 bits of Unix milliseconds, 80 bits of entropy, Crockford
base 32, so that names sort by time. Clock and entropy are handed in: nothing here reads either.
"""

from __future__ import annotations

import re

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ENTROPY_BITS = 80

SESSION_ID = re.compile(r"ses_[0-9A-HJKMNP-TV-Z]{26}\Z")
EVENT_ID = re.compile(r"evt_[0-9A-HJKMNP-TV-Z]{26}\Z")


def ulid(milliseconds: int, entropy: bytes) -> str:
    """The 26 characters for a time in Unix milliseconds and 10 bytes of entropy."""
    if len(entropy) != _ENTROPY_BITS // 8:
        raise ValueError("a ULID takes exactly 10 bytes of entropy")
    return _encode((milliseconds << _ENTROPY_BITS) | int.from_bytes(entropy, "big"))


def _encode(number: int) -> str:
    digits = []
    for _ in range(26):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits))


def session_id(milliseconds: int, entropy: bytes) -> str:
    """``ses_`` and a ULID."""
    return "ses_" + ulid(milliseconds, entropy)


class EventIds:
    """Event ids of one session: strictly increasing, also within one millisecond and when the clock steps back."""

    def __init__(self, entropy: bytes) -> None:
        if len(entropy) != _ENTROPY_BITS // 8:
            raise ValueError("event ids are seeded with exactly 10 bytes of entropy")
        self._low = int.from_bytes(entropy, "big") >> 1  # headroom: the counter must not overflow into the time
        self._milliseconds = 0

    def next(self, milliseconds: int) -> str:
        self._milliseconds = max(self._milliseconds, milliseconds)
        self._low += 1
        return "evt_" + _encode((self._milliseconds << _ENTROPY_BITS) | self._low)
