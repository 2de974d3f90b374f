"""How far answers to the same question agree: what the model decided to do, and what it said. Pure.

A *decision* is the list of actions in one answer: each tool call with its arguments. Two answers without a tool call decide the same: to
stop. Whether a decision was chance or cause is a share of draws with its interval (Wilson's, 95%): it is sound for small numbers and for
shares near 0 and 1, where the textbook interval is not (Brown, Cai, DasGupta, "Interval Estimation for a Binomial Proportion", 2001).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.format import canonical
from tachograph.providers.conversation import reply
from tachograph.providers.model import Decoded

#: Of the normal distribution, for 95%.
Z = 1.959963984540054
#: Texts are compared by their beginnings: difflib is quadratic.
_LONGEST = 4000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one answer comes to. ``actions``: ``[name, input]`` each; ``failed``: why there is no answer."""

    actions: tuple[tuple[str, Any], ...] = ()
    text: str = ""
    failed: str | None = None

    @property
    def key(self) -> bytes:
        """Equal for equal decisions."""
        return canonical.dumps([[name, value] for name, value in self.actions])

    def told(self) -> str:
        """For a table's cell."""
        if self.failed is not None:
            return f"no answer: {self.failed}"
        return "; ".join(action(name, value) for name, value in self.actions) or "no tool call"

    def to_json(self) -> dict[str, Any]:
        return {"actions": [{"name": name, "input": value} for name, value in self.actions], "text": self.text, "failed": self.failed}


def action(name: str, value: Any) -> str:
    """``apply_patch(path="a.py", …)``."""
    if isinstance(value, dict):
        inner = ", ".join(f"{key}={_short(item)}" for key, item in value.items())
    else:
        inner = _short(value) if value is not None else ""
    return f"{name}({inner})"


def _short(value: Any) -> str:
    text = canonical.dumps(value).decode("utf-8", "replace")
    return text if len(text) <= 60 else text[:59] + "…"


def answer(decoded: Decoded | None) -> Answer:
    """Of a decoded exchange."""
    if decoded is None:
        return Answer(failed="it cannot be read")
    if decoded.error is not None:
        return Answer(failed=str(decoded.error.get("message") or decoded.error.get("type") or "an error"))
    parts = reply(decoded.provider, decoded.operation, decoded.output)
    return Answer(
        actions=tuple((use.name, use.input) for use in decoded.tool_calls),
        text="\n".join(part.text for part in parts if part.type == "text" and part.text),
    )


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share."""
    if of == 0:
        return 0.0, 1.0
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == of else min(1.0, middle + half)


def compare(recorded: Answer, asked: Sequence[Answer]) -> dict[str, Any]:
    """How often the recorded decision came again, which others came, and how like the texts are. ``verdict``: ``cause`` where the
    decision surely is the usual one, ``chance`` where it surely is not, else ``open``; ``nothing`` where there was no answer."""
    good = [one for one in asked if one.failed is None]
    groups: dict[bytes, list[Answer]] = {}
    for one in good:
        groups.setdefault(one.key, []).append(one)
    same = len(groups.get(recorded.key, []))
    low, high = wilson(same, len(good))
    texts = sum(_plain(one.text) == _plain(recorded.text) for one in good)
    text_low, text_high = wilson(texts, len(good))
    verdict = "nothing" if not good else "cause" if low > 0.5 else "chance" if high < 0.5 else "open"
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group[0].key))
    return {
        "asked": len(asked),
        "answered": len(good),
        "failed": [one.failed for one in asked if one.failed is not None],
        "recorded": recorded.to_json(),
        "actions": {"same": same, "share": _share(same, len(good)), "low": round(low, 4), "high": round(high, 4)},
        "text": {
            "same": texts, "share": _share(texts, len(good)), "low": round(text_low, 4), "high": round(text_high, 4),
            "alike": round(_median([_alike(recorded.text, one.text) for one in good]), 4) if good else None,
        },
        "decisions": [
            {
                "count": len(group), "recorded": group[0].key == recorded.key, "told": group[0].told(),
                "actions": group[0].to_json()["actions"],
            }
            for group in ordered
        ],
        "verdict": verdict,
    }  # fmt: skip


def _share(hits: int, of: int) -> float | None:
    return round(hits / of, 4) if of else None


def _plain(text: str) -> str:
    return " ".join(text.split())


def _alike(one: str, other: str) -> float:
    first, second = _plain(one)[:_LONGEST], _plain(other)[:_LONGEST]
    return 1.0 if first == second else difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


def _median(values: list[float]) -> float:
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2
