"""What every importer needs: text that may stand in the clear envelope, times, and event ids that do not change.

Rules:

- The envelope is readable by anyone who can read the file, and foreign files are hostile input: only short, one-line labels
  (ids, names, versions, branches) go there, through ``label``. Whatever somebody *said* goes into a draft's contents.
- An importer has neither clock nor entropy. Times come from the file; event ids are derived from what the file says, so that the
  same file imported twice gives the same drafts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from tachograph.core import ids

#: How much of a file an importer is shown to recognise it, in bytes.
HEAD = 64 << 10

#: A ULID has 48 bits of milliseconds; a time beyond them is no time.
_MAX_MS = (1 << 48) - 1
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def label(value: Any, limit: int = 256) -> str | None:
    """``value`` as envelope text: one line, no control characters or lone surrogates, at most ``limit`` characters (a longer one
    ends in ``…``). None for what is no string or has nothing left."""
    if not isinstance(value, str):
        return None
    text = _UNFIT.sub("\ufffd", value[: limit + 1]).strip()
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return text or None


def unix_ms(value: Any) -> int | None:
    """Unix milliseconds of an ISO 8601 time; one without an offset is UTC. None for anything else and for times before 1970."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        milliseconds = round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return milliseconds if 0 <= milliseconds <= _MAX_MS else None


def count(value: Any) -> int | None:
    """A token count or the like. None for what is no whole number from 0 to 2⁶³ - 1 (``true`` is none, either)."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63:
        return value
    return None


class StableIds:
    """Event ids of one imported session: a pure function of the session's id in its source, of what each event was made from, and
    of how often that occurred before."""

    def __init__(self, source_id: str) -> None:
        self._salt = hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).digest()
        self._seen: Counter[bytes] = Counter()

    def next(self, seed: bytes, milliseconds: int) -> str:
        """``seed`` names the source of the event: a record's own id, or its bytes. It may come again."""
        seed = hashlib.sha256(seed).digest()
        self._seen[seed] += 1
        digest = hashlib.sha256(self._salt + seed + str(self._seen[seed]).encode()).digest()
        return "evt_" + ids.ulid(milliseconds, digest[:10])
