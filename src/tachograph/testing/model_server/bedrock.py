"""The AWS Bedrock runtime: Converse, ConverseStream, InvokeModel, InvokeModelWithResponseStream, ApplyGuardrail.

Shapes are those of the service model that botocore ships (``bedrock-runtime/2023-09-30``). Signatures are not checked.
InvokeModel carries Anthropic's bodies (``anthropic_version``); of other model families it refuses them.
"""

from __future__ import annotations

import base64
import re
import string
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tachograph.format import eventstream
from tachograph.testing.model_server import anthropic, guardrails, wire
from tachograph.testing.model_server.wire import Ask, Line, Names, RefusedError, Reply, Request, dumps, pieces, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.testing.model_server.script import Script, Turn

# Clients differ on escaping "/" and ":" in an ARN, so a model id may hold slashes here.
_MODEL = re.compile(r"/model/(.+)/(converse|converse-stream|invoke|invoke-with-response-stream)")
_APPLY = re.compile(r"/guardrail/(.+)/version/([^/]+)/apply")
_ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}
#: What a request to a prompt resource must leave to that resource.
_KEPT_BY_PROMPT = ("system", "inferenceConfig", "toolConfig", "additionalModelRequestFields")
_EVENT_STREAM = "application/vnd.amazon.eventstream"


class Bedrock:
    def mine(self, request: Request) -> bool:
        path = request.path.partition("?")[0]
        return _MODEL.fullmatch(path) is not None

    def read(self, request: Request) -> Ask | Reply:
        path = request.path.partition("?")[0]
        body = wire.obj(request.body, "body")
        match = _MODEL.fullmatch(path)
        assert match is not None, "mine() was asked first"
        model, operation = unquote(match[1]), match[2]
        if operation.startswith("converse"):
            spoken, heard, opening = wire.follow(_read_converse(body, model))
        else:
            if "anthropic_version" not in body:
                raise RefusedError("This server invokes Anthropic models only: #: required key [anthropic_version] not found")
            wire.need(body, "messages", "max_tokens")
            spoken, heard, opening = wire.follow(anthropic.read_messages(body))
        return Ask(operation, model, body, operation.endswith("stream"), spoken, heard, opening, request)

    def answer(self, ask: Ask, turn: Turn, names: Names) -> Reply:
        headers = _headers(names)
        if ask.operation == "converse":
            return whole(_converse(ask, turn, names), headers)
        if ask.operation == "invoke":
            return whole(
                anthropic.message(_anthropic(ask), turn, names) | guardrails.invoke_fields(ask, turn),
                [
                    *headers,
                    ("x-amzn-bedrock-invocation-latency", str(wire.latency_ms(turn))),
                    ("x-amzn-bedrock-input-token-count", str(anthropic.input_tokens(ask.body))),
                    ("x-amzn-bedrock-output-token-count", str(wire.output_tokens(turn))),
                ],
            )
        if ask.operation == "converse-stream":
            frames = [_frame(kind, event | _padding(names, n)) for n, (kind, event) in enumerate(_converse_events(ask, turn, names))]
        else:
            headers.append(("x-amzn-bedrock-content-type", "application/json"))
            frames = [_chunk(event, names, n) for n, event in enumerate(_invoke_events(ask, turn, names))]
        error = eventstream.encode(
            {
                ":exception-type": "modelStreamErrorException",
                ":content-type": "application/json",
                ":message-type": "exception",
            },
            dumps({"message": "The model returned the following errors: Overloaded", "originalStatusCode": 529}),
        )
        return Reply(200, [("content-type", _EVENT_STREAM), *headers], frames, streamed=True, error_event=error)

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        return _error(status, message, names)


class ApplyGuardrail:
    """Text judged apart from any conversation: it takes no turn of its own, see ``guardrails.apply``."""

    def mine(self, request: Request) -> bool:
        return _APPLY.fullmatch(request.path.partition("?")[0]) is not None

    def answer(self, request: Request, script: Script, names: Names) -> Reply:
        match = _APPLY.fullmatch(request.path.partition("?")[0])
        assert match is not None, "mine() was asked first"
        body = wire.obj(request.body, "body")
        wire.need(body, "source", "content")
        who = guardrails.Guardrail(unquote(match[1]), unquote(match[2]))
        return whole(guardrails.apply(script.turns, body, who), _headers(names))

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        return _error(status, message, names)


def _error(status: int, message: str, names: Names) -> Reply:
    kind = _ERRORS.get(status, "InternalServerException")
    named = ("x-amzn-errortype", f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/")
    return whole({"message": message}, [named, *_headers(names)], status=status)


def _headers(names: Names) -> list[tuple[str, str]]:
    return [("x-amzn-requestid", names.uuid("request"))]


def _read_converse(body: dict[str, Any], model: str) -> list[Line]:
    lines: list[Line] = []
    if ":prompt/" in model:
        kept = [key for key in _KEPT_BY_PROMPT if key in body]
        if kept:
            raise RefusedError(f"{', '.join(kept)} cannot be given together with a prompt resource as the model.")
        # The prompt's own text is kept in AWS; its variables are what of it the request holds.
        variables = wire.obj(body.get("promptVariables", {}), "promptVariables")
        lines.append(Line(assistant=False, text=wire.said(list(variables.values()))))
    else:
        wire.need(body, "messages")
    for index, value in enumerate(wire.seq(body.get("messages", []), "messages")):
        message = wire.obj(value, f"messages.{index}")
        content = [block for block in wire.seq(message.get("content"), f"messages.{index}.content") if isinstance(block, dict)]
        lines.append(
            Line(
                assistant=message.get("role") == "assistant",
                text=wire.said(content),
                calls=frozenset(str(block["toolUse"].get("toolUseId")) for block in content if "toolUse" in block),
                results=frozenset(str(block["toolResult"].get("toolUseId")) for block in content if "toolResult" in block),
            )
        )
    if not lines:
        raise RefusedError("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
    if any(line.calls or line.results for line in lines) and "toolConfig" not in body:
        raise RefusedError("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
    problem = wire.unpaired(lines)
    if problem is not None:
        index, unanswered, uncalled = problem
        ids = ", ".join(sorted(unanswered or uncalled))
        raise RefusedError(
            f"Expected toolResult blocks at messages.{index + 1}.content for the following Ids: {ids}"
            if unanswered
            else f"The number of toolResult blocks at messages.{index + 1}.content exceeds the number of toolUse blocks of "
            f"previous turn: {ids}"
        )
    return lines


def _converse(ask: Ask, turn: Turn, names: Names) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if _reasons(ask, turn):
        reasoning = {"text": turn.thinking, "signature": names.token("signature", 64)}
        content.append({"reasoningContent": {"reasoningText": reasoning}})
    if turn.text:
        content.append({"text": turn.text})
    content.extend({"toolUse": {"toolUseId": id_, "name": call["name"], "input": call["input"]}} for id_, call in _calls(turn, names))
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": _stop_reason(ask, turn),
        **_metadata(ask, turn),
    }


def _converse_events(ask: Ask, turn: Turn, names: Names) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "messageStart", {"role": "assistant"}
    # A text block begins with its first delta: only tools are announced.
    blocks: list[tuple[dict[str, Any] | None, list[dict[str, Any]]]] = []
    if _reasons(ask, turn):
        deltas: list[dict[str, Any]] = [{"reasoningContent": {"text": piece}} for piece in pieces(turn.thinking, turn)]
        deltas.append({"reasoningContent": {"signature": names.token("signature", 64)}})
        blocks.append((None, deltas))
    if turn.text:
        blocks.append((None, [{"text": piece} for piece in pieces(turn.text, turn)]))
    for id_, call in _calls(turn, names):
        start = {"toolUse": {"toolUseId": id_, "name": call["name"]}}
        blocks.append((start, [{"toolUse": {"input": piece}} for piece in pieces(wire.arguments(call), turn)]))
    for index, (opened, deltas) in enumerate(blocks):
        at = {"contentBlockIndex": index}
        if opened is not None:
            yield "contentBlockStart", at | {"start": opened}
        for delta in deltas:
            yield "contentBlockDelta", at | {"delta": delta}
        yield "contentBlockStop", at
    yield "messageStop", {"stopReason": _stop_reason(ask, turn)}
    yield "metadata", _metadata(ask, turn)


def _metadata(ask: Ask, turn: Turn) -> dict[str, Any]:
    prompt = sum(wire.tokens(ask.body[key]) for key in ("system", "messages", "promptVariables", "toolConfig") if key in ask.body)
    output = wire.output_tokens(turn)
    metadata: dict[str, Any] = {
        "usage": {"inputTokens": prompt, "outputTokens": output, "totalTokens": prompt + output},
        "metrics": {"latencyMs": wire.latency_ms(turn)},
    }
    trace: dict[str, Any] = {}
    verdict = guardrails.converse_trace(ask, turn)
    if verdict is not None:
        trace["guardrail"] = verdict
    if "prompt-router/" in ask.model and turn.model:
        trace["promptRouter"] = {"invokedModelId": turn.model}
    if trace:
        metadata["trace"] = trace
    if "performanceConfig" in ask.body:
        metadata["performanceConfig"] = ask.body["performanceConfig"]
    return metadata


def _invoke_events(ask: Ask, turn: Turn, names: Names) -> Iterator[dict[str, Any]]:
    for event in anthropic.events(_anthropic(ask), turn, names):
        if event["type"] == "ping":
            continue
        if event["type"] == "message_stop":
            latency = wire.latency_ms(turn)
            event |= guardrails.invoke_fields(ask, turn) | {
                "amazon-bedrock-invocationMetrics": {
                    "inputTokenCount": anthropic.input_tokens(ask.body),
                    "outputTokenCount": wire.output_tokens(turn),
                    "invocationLatency": latency,
                    "firstByteLatency": latency // 2,
                }
            }
        yield event


def _anthropic(ask: Ask) -> Ask:
    # Bedrock names the model in the path, and the answer names it as Anthropic does.
    name = re.sub(r"^.*anthropic\.|-v\d+(:\d+)?$", "", ask.model)
    return Ask(ask.operation, name, ask.body, ask.stream, ask.spoken, ask.heard, ask.opening, ask.request)


def _frame(kind: str, payload: dict[str, Any]) -> bytes:
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return eventstream.encode(headers, dumps(payload))


def _chunk(event: dict[str, Any], names: Names, n: int) -> bytes:
    return _frame("chunk", {"bytes": base64.b64encode(dumps(event)).decode()} | _padding(names, n))


def _padding(names: Names, n: int) -> dict[str, str]:
    # Bedrock blurs the length of its events for those who watch the line.
    letters = string.ascii_letters + string.digits
    return {"p": letters[: 1 + names.number(f"padding {n}", len(letters))]}


def _calls(turn: Turn, names: Names) -> list[tuple[str, Any]]:
    return [("tooluse_" + names.token(f"tool {n}", 22), call) for n, call in enumerate(turn.tool_calls)]


def _reasons(ask: Ask, turn: Turn) -> bool:
    fields = ask.body.get("additionalModelRequestFields")
    return bool(turn.thinking) and isinstance(fields, dict) and bool({"thinking", "reasoning_config"} & set(fields))


def _stop_reason(ask: Ask, turn: Turn) -> str:
    if turn.stop_reason:
        return {"refusal": "content_filtered"}.get(turn.stop_reason, turn.stop_reason)
    if guardrails.intervened(turn) and "guardrailConfig" in ask.body:
        return "guardrail_intervened"
    return "tool_use" if turn.tool_calls else "end_turn"
