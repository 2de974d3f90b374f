"""Identifiers: a prefix and a ULID (https://github.com/ulid/spec): 48 bits of Unix milliseconds, 80 bits of entropy, Crockford
base 32, so that names sort by time. Clock and entropy are handed in: nothing here reads either.
"""

from __future__ import annotations

import re

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ENTROPY_BITS = 80
_TIME_BITS = 48

# 26 digits are 130 bits and a ULID has 128: the first digit is at most 7.
SESSION_ID = re.compile(r"ses_[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
EVENT_ID = re.compile(r"evt_[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")


def ulid(milliseconds: int, entropy: bytes) -> str:
    """The 26 characters for a time in Unix milliseconds and 10 bytes of entropy. Raises ``ValueError`` for a time that has no ULID
    (before 1970, or beyond 48 bits: the year 10889)."""
    if len(entropy) != _ENTROPY_BITS // 8:
        raise ValueError("a ULID takes exactly 10 bytes of entropy")
    if not 0 <= milliseconds < 1 << _TIME_BITS:
        raise ValueError(f"a ULID has 48 bits of milliseconds, and {milliseconds} is outside of them")
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
