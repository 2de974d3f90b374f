"""Lines of the log: JSON objects whose last field chains them (``docs/format/v1.md``, section 3).

    hash = SHA-256( hash of the line before, 64 hex digits ‖ this line's bytes up to the comma before "hash" )

The bytes as stored are what counts: nothing here ever parses a line to hash it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from . import canonical

_MARK = b',"hash":"'
_TAIL = len(_MARK) + 64 + len(b'"}\n')

#: A line is envelope only; whoever writes a longer one has put content where it does not belong.
MAX_LINE = 4 << 20


def genesis(session_id: str) -> str:
    """What the first line chains to: a log cannot be passed off as another session's."""
    return hashlib.sha256(b"tachograph/v1 session " + session_id.encode()).hexdigest()


def make(previous: str, fields: dict[str, Any]) -> tuple[bytes, str]:
    """The line with its line feed, and its hash."""
    body = canonical.dumps_ordered(fields)[:-1]
    digest = hashlib.sha256(previous.encode() + body).hexdigest()
    return body + _MARK + digest.encode() + b'"}\n', digest


def check(previous: str, line: bytes) -> str | None:
    """The line's hash if it continues ``previous``, else None."""
    if len(line) <= _TAIL or line[-3:] != b'"}\n' or line[-_TAIL : -_TAIL + len(_MARK)] != _MARK:
        return None
    digest = hashlib.sha256(previous.encode() + line[:-_TAIL]).hexdigest()
    return digest if line[-67:-3] == digest.encode() else None
