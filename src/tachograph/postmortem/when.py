"""Times of a recording, as milliseconds since its first event. Nothing here reads a clock."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ports import Entry


def unix_ms(ts: str) -> int | None:
    """Milliseconds since 1970 of an ISO-8601 time; ``None`` for anything else."""
    try:
        parsed = datetime.fromisoformat(ts)
        return round(parsed.timestamp() * 1000) if parsed.tzinfo is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def offsets(entries: Sequence[Entry]) -> dict[int, int]:
    """Per ``seq``, the milliseconds since the session's first readable time. A time that cannot be read, or that lies
    before the first, takes its neighbour's: order is what ``seq`` says."""
    start: int | None = None
    found: dict[int, int] = {}
    last = 0
    for entry in entries:
        at = unix_ms(entry.ts)
        if at is not None:
            if start is None:
                start = at
            last = max(at - start, 0)
        found[entry.seq] = last
    return found


def duration(ms: float | None) -> str:
    """``812 ms``, ``4.2 s``, ``3 min 05 s``, ``2 h 07 min``; a dash where nothing is known."""
    if ms is None or ms < 0:
        return "–"
    if ms < 1000:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60:02d} s" if whole % 60 else "")
    return f"{whole // 3600} h" + (f" {whole % 3600 // 60:02d} min" if whole % 3600 // 60 else "")


def offset(ms: float) -> str:
    """A moment since the start: ``+0.8 s``, ``+3:05``, ``+2:07:00``; before it, ``−3:05``."""
    if ms < 0:
        return "−" + offset(-ms)[1:]
    if ms < 60_000:
        return f"+{ms / 1000:.1f} s"
    whole = int(ms // 1000)
    hours, rest = divmod(whole, 3600)
    return f"+{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"+{rest // 60}:{rest % 60:02d}"
