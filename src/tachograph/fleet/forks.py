"""What was tried from a session: its forks, variations and answers that were asked for again, each a session of its own."""

from __future__ import annotations

import contextlib
from typing import Any

from tachograph.core.errors import TachographError
from tachograph.format import canonical, layout
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids

#: Newer sessions whose first line is looked at, and bytes that such a line may have, at most.
MOST, LINE = 2000, 1 << 20


def forks_of(opened: OpenStore, session_id: str) -> tuple[list[Recording], int]:
    """Those that can be read, oldest first, and how many newer sessions were not looked at. A copy is younger than its origin, and ids are in the order of
    time."""
    newer = [name for name in sorted(session_ids(opened.store)) if name > session_id]
    found = []
    for name in newer[:MOST]:
        with contextlib.suppress(TachographError):
            origin = _first(opened, name).get("forked_from")
            if isinstance(origin, dict) and origin.get("session_id") == session_id:
                found.append(Recording(opened, name, strict=False))
    return found, max(len(newer) - MOST, 0)


def _first(opened: OpenStore, session_id: str) -> dict[str, Any]:
    raw = opened.store.read(layout.events(session_id, 1), limit=LINE)
    line = raw.partition(b"\n")[0]
    with contextlib.suppress(ValueError):
        fields = canonical.loads(line)
        return fields if isinstance(fields, dict) else {}
    return {}
