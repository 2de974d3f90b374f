"""Signals from what other systems answer, which is hostile input: every text is cut and on one line, every number is finite."""

from __future__ import annotations

import math
import re
from typing import Any

from tachograph.core.signals import KINDS, Signal

#: Characters of a name and of a text.
MOST_NAME, MOST_TEXT = 200, 2000
#: Signals of one source. More is no longer something that a person reads.
MOST = 5000
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def line(value: Any, limit: int = MOST_NAME) -> str:
    """A value as one line of at most ``limit`` characters; a longer one ends in ``…``. Empty for what is neither text nor number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = _UNFIT.sub(" ", str(value)[: limit + 1]).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def number(value: Any) -> float | None:
    """A finite number, also one that is spelt as text (Prometheus does); None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or (isinstance(value, str) and len(value) > 40):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def link(value: Any) -> str | None:
    """An address that may be clicked: http or https, without a user in it; None for anything else."""
    text = line(value, 1000)
    match = re.match(r"https?://([^/?#\s]{1,300})", text)
    return text if match is not None and "@" not in match[1] and not re.search(r"[\s\"<>…]", text) else None


def signal(
    *, at: int, source: str, kind: str, name: Any, state: Any = None, value: Any = None, unit: Any = None, text: Any = "", by: Any = None,
    url: Any = None,
) -> Signal:  # fmt: skip
    """A signal of whatever was answered."""
    return Signal(
        at=at, source=source, kind=kind if kind in KINDS else "note", name=line(name) or "(unnamed)", state=line(state, 40) or None,
        value=number(value), unit=line(unit, 40) or None, text=line(text, MOST_TEXT), by=line(by, 120) or None, url=link(url),
    )  # fmt: skip
