"""Anthropic's Messages API: ``POST /v1/messages`` and ``/v1/messages/count_tokens`` (docs.claude.com, "Messages",
"Streaming Messages", "Errors"). Bedrock's InvokeModel carries the same bodies and uses the functions at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.format import sse
from tachograph.testing.model_server import wire
from tachograph.testing.model_server.wire import Ask, Line, Names, RefusedError, Reply, Request, dumps, pieces, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.testing.model_server.script import Turn

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
#: From this API version on, sampling parameters are refused whatever their value.
_NO_SAMPLING = "2026-10-21"


class Anthropic:
    def mine(self, request: Request) -> bool:
        return request.path.partition("?")[0].endswith(("/messages", "/messages/count_tokens"))

    def read(self, request: Request) -> Ask | Reply:
        body = wire.obj(request.body, "body")
        wire.need(body, "model", "messages")
        lines = read_messages(body)
        if request.path.partition("?")[0].endswith("/count_tokens"):
            return whole({"input_tokens": input_tokens(body)}, [])
        wire.need(body, "max_tokens")
        if request.headers.get("anthropic-version", "") >= _NO_SAMPLING:
            for name in ("temperature", "top_k", "top_p"):
                if name in body:
                    raise RefusedError(f"{name}: Extra inputs are not permitted")
        spoken, heard, opening = wire.follow(lines)
        stream = body.get("stream") is True
        return Ask("messages", str(body["model"]), body, stream, spoken, heard, opening, request)

    def answer(self, ask: Ask, turn: Turn, names: Names) -> Reply:
        headers = _headers(names)
        if not ask.stream:
            return whole(message(ask, turn, names), headers)
        chunks = [sse.encode(event["type"], dumps(event).decode()) for event in events(ask, turn, names)]
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return Reply(
            200,
            [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"), *headers],
            chunks,
            streamed=True,
            error_event=sse.encode("error", dumps(error).decode()),
        )

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        error = {"type": _ERRORS.get(status, "api_error"), "message": message}
        request_id = _headers(names)[0][1]
        return whole({"type": "error", "error": error, "request_id": request_id}, _headers(names), status=status)


def _headers(names: Names) -> list[tuple[str, str]]:
    return [("request-id", "req_011C" + names.token("request", 20)), ("anthropic-organization-id", names.uuid("org"))]


def read_messages(body: dict[str, Any]) -> list[Line]:
    """The conversation. Raises RefusedError for tool calls and results that do not pair."""
    lines = []
    for index, value in enumerate(wire.seq(body["messages"], "messages")):
        message = wire.obj(value, f"messages.{index}")
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        lines.append(
            Line(
                assistant=message.get("role") == "assistant",
                text=wire.said(content),
                calls=frozenset(str(block.get("id")) for block in blocks if block.get("type") == "tool_use"),
                results=frozenset(str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"),
            )
        )
    if not lines:
        raise RefusedError("messages: at least one message is required")
    problem = wire.unpaired(lines)
    if problem is not None:
        index, unanswered, uncalled = problem
        if unanswered:
            raise RefusedError(
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(sorted(unanswered))}. Each `tool_use` block must have a corresponding `tool_result` block "
                "in the next message."
            )
        raise RefusedError(
            f"messages.{index + 1}: unexpected `tool_use_id` found in `tool_result` blocks: "
            f"{', '.join(sorted(uncalled))}. Each `tool_result` block must have a corresponding `tool_use` block in the "
            "previous message."
        )
    return lines


def input_tokens(body: dict[str, Any]) -> int:
    return sum(wire.tokens(body[key]) for key in ("system", "messages", "tools") if key in body)


def message(ask: Ask, turn: Turn, names: Names) -> dict[str, Any]:
    """The answer in one piece."""
    content: list[dict[str, Any]] = []
    if _thinks(ask, turn):
        content.append({"type": "thinking", "thinking": turn.thinking, "signature": _signature(names)})
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    content.extend(
        {"type": "tool_use", "id": _tool_id(names, n), "name": call["name"], "input": call["input"]}
        for n, call in enumerate(turn.tool_calls)
    )
    return _envelope(ask, turn, names) | {
        "content": content,
        "stop_reason": _stop_reason(turn),
        "usage": _usage(ask, wire.output_tokens(turn)),
    }


def events(ask: Ask, turn: Turn, names: Names) -> Iterator[dict[str, Any]]:
    """The answer as it streams."""
    yield {"type": "message_start", "message": _envelope(ask, turn, names) | {"usage": _usage(ask, 1)}}
    yield {"type": "ping"}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if _thinks(ask, turn):
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(turn.thinking, turn)]
        deltas.append({"type": "signature_delta", "signature": _signature(names)})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if turn.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(turn.text, turn)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for n, call in enumerate(turn.tool_calls):
        parts = ["", *pieces(wire.arguments(call), turn)]
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
        blocks.append(({"type": "tool_use", "id": _tool_id(names, n), "name": call["name"], "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(turn), "stop_sequence": None},
        "usage": _usage(ask, wire.output_tokens(turn)),
    }
    yield {"type": "message_stop"}


def _envelope(ask: Ask, turn: Turn, names: Names) -> dict[str, Any]:
    return {
        "model": turn.model or ask.model,
        "id": "msg_01" + names.token("message", 22),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _usage(ask: Ask, output: int) -> dict[str, Any]:
    return {
        "input_tokens": input_tokens(ask.body),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
    }


def _thinks(ask: Ask, turn: Turn) -> bool:
    thinking = ask.body.get("thinking")
    return bool(turn.thinking) and isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")


def _stop_reason(turn: Turn) -> str:
    return turn.stop_reason or ("tool_use" if turn.tool_calls else "end_turn")


def _signature(names: Names) -> str:
    return names.token("signature", 64)


def _tool_id(names: Names, n: int) -> str:
    return "toolu_01" + names.token(f"tool {n}", 22)
