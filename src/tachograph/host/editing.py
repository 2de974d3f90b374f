"""Requests that were changed on their way to a model: what the agent asks, and what was recorded of it, differ by a fork's edits.

So a fork is replayed (and forked again) by making the same edits to what its agent asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tachograph import providers
from tachograph.core.errors import UsageError
from tachograph.replay import edits
from tachograph.replay.edits import Edit
from tachograph.replay.tape import TapeCall

from .player import Player


def editable(request: Mapping[str, Any]) -> edits.Request:
    """A recorded (or live) request document as far as it can be edited. Raises ``UsageError`` for one that is no model call."""
    found = providers.identify(str(request.get("method")), str(request.get("url")), request.get("headers") or [])
    if found is None:
        raise UsageError("this request is no call to a model that is known here, so nothing in it can be changed by name")
    return edits.Request(provider=found[0].name, operation=found[1], url=str(request.get("url")), body=request.get("body"))


def edited(changes: Sequence[Edit], request: dict[str, Any]) -> dict[str, Any] | None:
    """The request document with these edits; None where they change nothing in it."""
    if not changes or not isinstance(request.get("body"), dict):
        return None
    try:
        seen = editable(request)
    except UsageError:
        return None
    if edits.shape(seen) is None:
        return None
    out, changed = edits.apply(changes, seen, seen.body)
    return {**request, "url": out.url, "body": out.body} if changed else None


def as_edited(changes: Sequence[Edit], request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What may have been recorded of this request: all edits, else those that were in force there (of a fork of a fork: one fork's)."""
    for length in range(len(changes), 0, -1):
        for start in range(len(changes) - length + 1):
            if (found := edited(changes[start : start + length], request)) is not None:
                yield found


class EditedPlayer(Player):
    """A player of a fork's tape."""

    keeps_turns = False  # what comes later than the edit has no recorded order, and takes its time
    goes_ahead = False  # what is answered here may be another thing than what was recorded

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._earlier = tuple(edits.of_json(edit) for edit in self.tape.edits)

    def _once_more(
        self, kind: str, lane: str, name: str, told: dict[str, Any], payload: bytes, request: dict[str, Any]
    ) -> tuple[dict[str, Any], TapeCall | None]:
        request, call = super()._once_more(kind, lane, name, told, payload, request)
        if kind == "http":
            for other in () if call is not None else as_edited(self._earlier, request):
                call = call or self.matcher.take(kind, lane, name, other)
        return request, call
