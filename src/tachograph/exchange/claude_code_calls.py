"""Model responses and tool calls, put together from the lines that a transcript scatters them over.

A transcript has one line per *content block*. The lines of one response share ``message.id`` and ``requestId``; tool results and
progress records may stand between them. Each line repeats the usage as it was known when the block ended, so the first lines
undercount and their sum overcounts: the last line is right (ccusage#888, #938, ccstatusline#549). The message itself is the
blocks in order, with the last line's other fields.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.drafts import Draft
from tachograph.core.events import ModelCall
from tachograph.format import canonical

from .claude_code_records import INTERRUPTED, is_block, plain, refused_by, text
from .importing import count, label

LANE = "main"

#: How many tool calls a line of the envelope names. All of them are in the output.
_MOST_CALLS = 1000

#: The API's names of token counts, and ours.
_USAGE = (
    ("input_tokens", "input_tokens"),
    ("output_tokens", "output_tokens"),
    ("cache_read_input_tokens", "cache_read_tokens"),
    ("cache_creation_input_tokens", "cache_write_tokens"),
)


@dataclass
class Asked:
    """A tool call that a response asked for and that has no result yet."""

    call_id: str | None
    name: str
    input: Any
    by: str
    unix_ms: int


@dataclass
class Response:
    """One response of the API. ``event_id`` is given out at its first line: tool calls refer to it before it is complete."""

    event_id: str
    unix_ms: int
    extra: dict[str, Any]
    lines: list[dict[str, Any]] = field(default_factory=list)
    content: list[Any] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)

    def add(self, record: dict[str, Any], blocks: list[Any]) -> list[Any]:
        """Takes a line; returns its blocks that are new or changed. A line may repeat blocks, or hold all so far (a snapshot)."""
        self.lines.append(record)
        fresh = []
        for block in blocks:
            name = self._name(block)
            at = self._known.setdefault(name, len(self.content))
            if at == len(self.content):
                self.content.append(block)
            elif self.content[at] != block:
                self.content[at] = block  # the same tool call, its input now complete
            else:
                continue
            fresh.append(block)
        return fresh

    @staticmethod
    def _name(block: Any) -> bytes:
        """What makes a block the same one: a tool call its id, any other its whole content."""
        if is_block(block, "tool_use") and text(block, "id"):
            return b"id " + str(block["id"]).encode("utf-8", "surrogatepass")
        return hashlib.sha256(canonical.dumps(block)).digest()

    def draft(self) -> Draft:
        """The finished model call. What the model was sent, and how, the format does not hold; nothing is made up."""
        last = self.lines[-1]
        message: dict[str, Any] = last["message"]
        model = label(message.get("model"))
        extra = {**self.extra, "params_recorded": False, "lines": len(self.lines)}
        usage = usage_of(self._last("usage"))
        if "replayed_from" in extra:
            extra["replayed_usage"], usage = usage, {}  # the session it was copied from counts these tokens
        event = ModelCall(
            id=self.event_id,
            lane=LANE,
            provider="anthropic",
            operation="messages",
            model_id=model,
            served_model_id=model,
            tool_calls=[
                {"id": label(block.get("id")), "name": label(block.get("name")) or ""}
                for block in self.content
                if is_block(block, "tool_use")
            ][:_MOST_CALLS],
            usage=usage,
            finish_reason=label(self._last("stop_reason")),
            request_id=next((label(line["requestId"]) for line in self.lines if text(line, "requestId")), None),
            response_id=label(message.get("id")),
            extra=extra,
        )
        contents = {"output_uri": {**message, "content": self.content}, "record_uri": self.lines}
        return Draft(event=event, contents=contents, unix_ms=self.unix_ms)

    def _last(self, key: str) -> Any:
        """The field of the message in the last line that has it."""
        values = (line["message"].get(key) for line in reversed(self.lines))
        return next((value for value in values if value is not None), None)


def usage_of(value: Any) -> dict[str, int]:
    """Token counts under the names that a recorded call has them by. What is no count is left in the record."""
    usage = value if isinstance(value, dict) else {}
    details = usage.get("output_tokens_details")
    found = {name: count(usage.get(key)) for key, name in _USAGE}
    found["reasoning_tokens"] = count(details.get("thinking_tokens")) if isinstance(details, dict) else None
    return {name: tokens for name, tokens in found.items() if tokens is not None}


def outcome_of(result: dict[str, Any], facts: dict[str, Any]) -> str:
    """How a tool call ended. ``result``: the ``tool_result`` block; ``facts``: ``toolUseResult``, if it is an object."""
    content = result.get("content")
    if facts.get("interrupted") is True or plain(content).lstrip().startswith(INTERRUPTED):
        return "cancelled"
    if result.get("is_error") is not True:
        return "ok"
    return "error" if refused_by(content) is None else "closed"


def duration_of(facts: dict[str, Any]) -> float | None:
    """Milliseconds that a tool says it took."""
    for key in ("durationMs", "totalDurationMs"):
        value = facts.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1 << 53:
            return float(value)
    return None


def detail_of(record: dict[str, Any], content: Any) -> Any:
    """The client's own account of a tool's result (``toolUseResult``), or None where it only repeats what the model was told."""
    detail = record.get("toolUseResult")
    if detail == content or (isinstance(content, str) and detail == f"Error: {content}"):
        return None
    return detail
