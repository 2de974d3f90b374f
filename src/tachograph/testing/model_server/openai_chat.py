"""OpenAI's Chat Completions: ``POST /v1/chat/completions`` (platform.openai.com, "Chat", "Streaming", "Error codes")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.format import sse
from tachograph.testing.model_server import wire
from tachograph.testing.model_server.wire import Ask, Line, Names, RefusedError, Reply, Request, dumps, pieces, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.testing.model_server.script import Turn

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
_STREAM_ERROR = {
    "message": "The server had an error while processing your request. Sorry about that!",
    "type": "server_error",
    "param": None,
    "code": None,
}


class OpenAIChat:
    def mine(self, request: Request) -> bool:
        return request.path.partition("?")[0].endswith("/chat/completions")

    def read(self, request: Request) -> Ask | Reply:
        body = wire.obj(request.body, "body")
        wire.need(body, "model", "messages")
        lines = _read_messages(body)
        spoken, heard, opening = wire.follow(lines)
        stream = body.get("stream") is True
        return Ask("chat", str(body["model"]), body, stream, spoken, heard, opening, request)

    def answer(self, ask: Ask, turn: Turn, names: Names) -> Reply:
        headers = openai_headers(names, turn)
        if not ask.stream:
            return whole(_completion(ask, turn, names), headers)
        chunks = [sse.encode(None, dumps(chunk).decode()) for chunk in _chunks(ask, turn, names)]
        return Reply(
            200,
            [("content-type", "text/event-stream; charset=utf-8"), *headers],
            [*chunks, sse.encode(None, "[DONE]")],
            streamed=True,
            error_event=sse.encode(None, dumps({"error": _STREAM_ERROR}).decode()),
        )

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        return openai_error(status, message, names)


def openai_headers(names: Names, turn: Turn | None = None) -> list[tuple[str, str]]:
    headers = [
        ("x-request-id", "req_" + names.hexadecimal("request", 32)),
        ("openai-organization", "org-example"),
        ("openai-version", "2020-10-01"),
    ]
    if turn is not None:
        headers.append(("openai-processing-ms", str(wire.latency_ms(turn))))
    return headers


def openai_error(status: int, message: str, names: Names) -> Reply:
    kind, code = _ERRORS.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
    error = {"message": message, "type": kind, "param": None, "code": code}
    return whole({"error": error}, openai_headers(names), status=status)


def _read_messages(body: dict[str, Any]) -> list[Line]:
    lines: list[Line] = []
    for index, value in enumerate(wire.seq(body["messages"], "messages")):
        message = wire.obj(value, f"messages[{index}]")
        role = message.get("role")
        if role in ("system", "developer"):
            continue
        text = wire.said(message.get("content"))
        if role == "tool":
            results = frozenset({str(message.get("tool_call_id"))})
            # The answers to one message's parallel calls are as many messages: together they are what the next one is told.
            if lines and lines[-1].results:
                results |= lines[-1].results
                text = f"{lines.pop().text}\n{text}"
            lines.append(Line(assistant=False, text=text, results=results))
        else:
            calls = frozenset(str(call.get("id")) for call in message.get("tool_calls") or () if isinstance(call, dict))
            lines.append(Line(assistant=role == "assistant", text=text, calls=calls))
    if not lines:
        raise RefusedError("Invalid 'messages': empty array. Expected an array with minimum length 1.")
    problem = wire.unpaired(lines)
    if problem is not None:
        _, unanswered, _ = problem
        if unanswered:
            raise RefusedError(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(sorted(unanswered))}"
            )
        raise RefusedError("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
    return lines


def _envelope(ask: Ask, turn: Turn, names: Names, kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-" + names.token("completion", 29),
        "object": kind,
        "created": wire.CREATED,
        "model": turn.model or ask.model,
        "service_tier": "default",
        "system_fingerprint": "fp_" + names.hexadecimal("fingerprint", 10),
    }


def _completion(ask: Ask, turn: Turn, names: Names) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None, "refusal": None, "annotations": []}
    if turn.tool_calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": call["name"], "arguments": wire.arguments(call)}}
            for id_, call in _calls(turn, names)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
    return _envelope(ask, turn, names, "chat.completion") | {"choices": [choice], "usage": _usage(ask, turn)}


def _chunks(ask: Ask, turn: Turn, names: Names) -> Iterator[dict[str, Any]]:
    envelope = _envelope(ask, turn, names, "chat.completion.chunk")
    with_usage = (ask.body.get("stream_options") or {}).get("include_usage") is True

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return envelope | {"choices": [choice]} | ({"usage": None} if with_usage else {})

    yield chunk({"role": "assistant", "content": "" if turn.text else None, "refusal": None})
    for piece in pieces(turn.text, turn):
        yield chunk({"content": piece})
    for index, (id_, call) in enumerate(_calls(turn, names)):
        function = {"name": call["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]})
        for piece in pieces(wire.arguments(call), turn):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(turn))
    if with_usage:
        yield envelope | {"choices": [], "usage": _usage(ask, turn)}


def _calls(turn: Turn, names: Names) -> list[tuple[str, Any]]:
    return [("call_" + names.token(f"tool {n}", 24), call) for n, call in enumerate(turn.tool_calls)]


def _finish(turn: Turn) -> str:
    reason = turn.stop_reason or ("tool_use" if turn.tool_calls else "end_turn")
    return _FINISH.get(reason, reason)


def _usage(ask: Ask, turn: Turn) -> dict[str, Any]:
    prompt = sum(wire.tokens(ask.body[key]) for key in ("messages", "tools") if key in ask.body)
    completion = wire.output_tokens(turn)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": wire.tokens(turn.thinking),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
