"""From when to when signals are asked for: ``30m`` around the session, or two times with a slash between them (ISO 8601-1, 5.5)."""

from __future__ import annotations

import datetime
import re

from tachograph.core.errors import UsageError
from tachograph.core.signals import Window

#: What is taken where nothing is said.
MARGIN = "30m"
#: A longer time asks a monitor for more than a report can hold.
LONGEST = 31 * 86_400_000
_SPAN = re.compile(r"([0-9]{1,6})(s|m|h|d)\Z")
_UNIT = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_HOW = "write a margin (30m, 2h) or FROM/TO (2026-11-30T12:00:00Z/2026-11-30T14:00:00Z)"


def parse(text: str, start: int, end: int) -> Window:
    """The window for a session that ran from ``start`` to ``end`` (milliseconds since 1970). Raises ``UsageError``."""
    if match := _SPAN.match(text):
        margin = int(match[1]) * _UNIT[match[2]]
        found = Window(max(start - margin, 0), end + margin)
    else:
        first, slash, last = text.partition("/")
        times = (moment(first), moment(last))
        if not slash or times[0] is None or times[1] is None:
            raise UsageError(f"not a window, --window {text[:60]!r}; {_HOW}")
        found = Window(times[0], times[1])
    if found.end < found.start:
        raise UsageError(f"the window ends before it begins, --window {text[:60]!r}; {_HOW}")
    if found.end - found.start > LONGEST:
        raise UsageError("the window is longer than 31 days; name the time of the incident with --window FROM/TO")
    return found


def moment(text: object) -> int | None:
    """Milliseconds since 1970 of an ISO 8601 time with an offset; None for anything else."""
    if not isinstance(text, str) or len(text) > 64:
        return None
    try:
        found = datetime.datetime.fromisoformat(text.strip())
        at = round(found.timestamp() * 1000) if found.tzinfo is not None else -1
    except (ValueError, OverflowError, OSError):
        return None
    return at if at >= 0 else None


def seconds(text: str, option: str) -> int:
    """Seconds of ``30s``, ``5m``, ``1h`` or of a plain number. Raises ``UsageError``."""
    match = _SPAN.match(text if text[-1:].isalpha() else text + "s")
    if match is None or not int(match[1]):
        raise UsageError(f"not a time, {option}={text[:40]}; write 30s, 5m or 1h")
    return int(match[1]) * _UNIT[match[2]] // 1000
