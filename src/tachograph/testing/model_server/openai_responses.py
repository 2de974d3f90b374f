"""OpenAI's Responses API: ``POST /v1/responses`` (platform.openai.com, "Responses", "Streaming events").

``previous_response_id`` works without memory: a response's id carries how many responses came before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tachograph.format import sse
from tachograph.testing.model_server import wire
from tachograph.testing.model_server.openai_chat import openai_error, openai_headers
from tachograph.testing.model_server.wire import Ask, Line, Names, RefusedError, Reply, Request, dumps, pieces, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tachograph.testing.model_server.script import Turn

_INCOMPLETE = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
_ID = re.compile(r"resp_([0-9a-f]{4})[0-9a-f]{44}")
#: Request fields that a response repeats, and what they are where the request leaves them out.
_ECHOED: dict[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}


class OpenAIResponses:
    def mine(self, request: Request) -> bool:
        return request.path.partition("?")[0].endswith("/responses")

    def read(self, request: Request) -> Ask | Reply:
        body = wire.obj(request.body, "body")
        wire.need(body, "model")
        before = 0
        previous = body.get("previous_response_id")
        if previous is not None:
            match = _ID.fullmatch(str(previous))
            if match is None:
                raise RefusedError(f"Previous response with id '{previous}' not found.")
            before = int(match[1], 16)
        spoken, heard, opening = wire.follow(_read_input(body, continued=previous is not None))
        stream = body.get("stream") is True
        return Ask("responses", str(body["model"]), body, stream, before + spoken, heard, opening, request)

    def answer(self, ask: Ask, turn: Turn, names: Names) -> Reply:
        headers = openai_headers(names, turn)
        if not ask.stream:
            items = [item.done for item in _items(ask, turn, names)]
            return whole(_response(ask, turn, names, items), headers)
        events = list(_events(ask, turn, names))
        error = {
            "type": "error",
            "code": "server_error",
            "message": "The server had an error while processing your request. Sorry about that!",
            "param": None,
            "sequence_number": len(events),
        }
        return Reply(
            200,
            [("content-type", "text/event-stream; charset=utf-8"), *headers],
            [sse.encode(event["type"], dumps(event).decode()) for event in events],
            streamed=True,
            error_event=sse.encode("error", dumps(error).decode()),
        )

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        return openai_error(status, message, names)


def _read_input(body: dict[str, Any], *, continued: bool) -> list[Line]:
    """The conversation: what a response put out (text, reasoning, calls) is one assistant message."""
    given = body.get("input", "")
    if isinstance(given, str):
        return [Line(assistant=False, text=given)]
    lines: list[Line] = []
    calls: set[str] = set()
    results: set[str] = set()
    for index, value in enumerate(wire.seq(given, "input")):
        item = wire.obj(value, f"input[{index}]")
        kind = item.get("type", "message")
        if kind == "function_call_output":
            results.add(str(item.get("call_id")))
        elif kind == "function_call":
            calls.add(str(item.get("call_id")))
        if item.get("role") in ("system", "developer"):
            continue
        if kind in ("function_call", "reasoning") or item.get("role") == "assistant":
            if not (lines and lines[-1].assistant):
                lines.append(Line(assistant=True, text=wire.said(item)))
        else:
            lines.append(Line(assistant=False, text=wire.said(item)))
    if calls - results:
        raise RefusedError(f"No tool output found for function call {min(calls - results)}.")
    if results - calls and not continued:
        raise RefusedError(f"No tool call found for function call output with call_id {min(results - calls)}.")
    return lines


@dataclass(frozen=True)
class _Item:
    """An output item as it is announced and as it ends, with the events between; an event lacks the fields that place it."""

    opened: dict[str, Any]
    done: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)


def _items(ask: Ask, turn: Turn, names: Names) -> Iterator[_Item]:
    if turn.thinking and isinstance(ask.body.get("reasoning"), dict):
        yield _reasoning(turn, names)
    if turn.text or not turn.tool_calls:
        yield _message(turn, names)
    for n, call in enumerate(turn.tool_calls):
        arguments = wire.arguments(call)
        item = {
            "id": "fc_" + names.hexadecimal(f"item {n}", 48),
            "type": "function_call",
            "status": "completed",
            "arguments": arguments,
            "call_id": "call_" + names.token(f"tool {n}", 24),
            "name": call["name"],
        }
        kind = "response.function_call_arguments"
        yield _Item(
            item | {"status": "in_progress", "arguments": ""},
            item,
            [
                *({"type": f"{kind}.delta", "delta": piece} for piece in pieces(arguments, turn)),
                {"type": f"{kind}.done", "arguments": arguments},
            ],
        )


def _message(turn: Turn, names: Names) -> _Item:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": turn.text}
    item = {
        "id": "msg_" + names.hexadecimal("message", 48),
        "type": "message",
        "status": "incomplete" if turn.stop_reason in _INCOMPLETE else "completed",
        "content": [part],
        "role": "assistant",
    }
    at = {"content_index": 0}
    kind = "response.output_text"
    return _Item(
        item | {"status": "in_progress", "content": []},
        item,
        [
            {"type": "response.content_part.added", "part": part | {"text": ""}} | at,
            *({"type": f"{kind}.delta", "delta": piece, "logprobs": []} | at for piece in pieces(turn.text, turn)),
            {"type": f"{kind}.done", "text": turn.text, "logprobs": []} | at,
            {"type": "response.content_part.done", "part": part} | at,
        ],
    )


def _reasoning(turn: Turn, names: Names) -> _Item:
    part = {"type": "summary_text", "text": turn.thinking}
    item = {"id": "rs_" + names.hexadecimal("reasoning", 48), "type": "reasoning", "summary": [part]}
    at = {"summary_index": 0}
    kind = "response.reasoning_summary_text"
    return _Item(
        item | {"summary": []},
        item,
        [
            {"type": "response.reasoning_summary_part.added", "part": part | {"text": ""}} | at,
            *({"type": f"{kind}.delta", "delta": piece} | at for piece in pieces(turn.thinking, turn)),
            {"type": f"{kind}.done", "text": turn.thinking} | at,
            {"type": "response.reasoning_summary_part.done", "part": part} | at,
        ],
    )


def _events(ask: Ask, turn: Turn, names: Names) -> Iterator[dict[str, Any]]:
    count = 0

    def event(kind: str, **fields: Any) -> dict[str, Any]:
        nonlocal count
        count += 1
        return {"type": kind, "sequence_number": count - 1, **fields}

    begun = _response(ask, turn, names, []) | {
        "status": "in_progress",
        "completed_at": None,
        "incomplete_details": None,
        "usage": None,
    }
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    items = list(_items(ask, turn, names))
    for index, item in enumerate(items):
        yield from _item_events(item, index, event)
    end = _response(ask, turn, names, [item.done for item in items])
    yield event(f"response.{end['status']}", response=end)


def _item_events(item: _Item, index: int, event: Callable[..., dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield event("response.output_item.added", output_index=index, item=item.opened)
    for one in item.events:
        fields = {key: value for key, value in one.items() if key != "type"}
        yield event(one["type"], item_id=item.done["id"], output_index=index, **fields)
    yield event("response.output_item.done", output_index=index, item=item.done)


def _response(ask: Ask, turn: Turn, names: Names, output: list[dict[str, Any]]) -> dict[str, Any]:
    reason = _INCOMPLETE.get(turn.stop_reason or "")
    prompt = sum(wire.tokens(ask.body[key]) for key in ("instructions", "input", "tools") if ask.body.get(key))
    completion = wire.output_tokens(turn)
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": wire.tokens(turn.thinking)},
        "total_tokens": prompt + completion,
    }
    return {
        "id": f"resp_{ask.spoken + 1:04x}{names.hexadecimal('response', 44)}",
        "object": "response",
        "created_at": wire.CREATED,
        "status": "incomplete" if reason else "completed",
        "background": False,
        "completed_at": wire.CREATED,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": turn.model or ask.model,
        "output": output,
        "service_tier": "default",
        "usage": usage,
        **{key: ask.body.get(key, default) for key, default in _ECHOED.items()},
    }
