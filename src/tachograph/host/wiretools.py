"""Tool calls as the wire shows them: the model asks in one answer, the result goes back in a later request. So a session shows its tool
calls even when nobody declared any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.core.drafts import Draft
from tachograph.core.events import Event, ToolCall
from tachograph.format import canonical

if TYPE_CHECKING:
    from tachograph.providers.model import Decoded  # at run time only sessions that speak HTTP pay for it


@dataclass
class _Asked:
    name: str
    input: Any
    by: str
    lane: str


class WireTools:
    """What was asked for and not yet answered, over all lanes of a session."""

    def __init__(self) -> None:
        self._asked: dict[str, _Asked] = {}
        self._declared: list[tuple[str, str, Any]] = []

    def declared(self, event: Event, value: Any) -> None:
        """A declared tool ran: its wire twin will point at it."""
        if isinstance(event, ToolCall):
            self._declared.append((event.id, event.name, value))

    def seen(self, call: Decoded, *, event_id: str, lane: str) -> Iterator[Draft]:
        """The tool calls that this model call completes, then remember what its answer asks for."""
        for result in call.tool_results:
            asked = self._asked.pop(result.call_id, None)
            if asked is None:
                continue  # sent again with the history, or from before the session
            event = ToolCall(
                name=asked.name, call_id=result.call_id, source="wire", lane=lane, asked_by=asked.by, told_to=event_id,
                outcome="error" if result.is_error else "ok", declared_id=self._twin(asked),
            )  # fmt: skip
            error = result.output if result.is_error else None
            yield Draft(event=event, contents={"input_uri": asked.input, "output_uri": result.output, "error_uri": error})
        for use in call.tool_calls:
            self._asked[use.id] = _Asked(use.name, use.input, event_id, lane)

    def unanswered(self) -> Iterator[Draft]:
        """What the model asked for and was never told."""
        for call_id, asked in self._asked.items():
            event = ToolCall(
                name=asked.name, call_id=call_id, source="wire", lane=asked.lane, asked_by=asked.by, outcome="cut",
                declared_id=self._twin(asked),
            )  # fmt: skip
            yield Draft(event=event, contents={"input_uri": asked.input})

    def _twin(self, asked: _Asked) -> str | None:
        for place, (event_id, name, value) in enumerate(self._declared):
            if name == asked.name and _same(value, asked.input):
                del self._declared[place]
                return event_id
        return None


def _same(declared: Any, asked: Any) -> bool:
    return canonical.dumps(_textual(declared)) == canonical.dumps(_textual(asked))


def _textual(value: Any) -> Any:
    return repr(value) if isinstance(value, (bytes, bytearray)) else value
