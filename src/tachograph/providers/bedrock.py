"""Amazon Bedrock's runtime API (AWS SDK model ``bedrock-runtime``): paths, headers, prompts, and which reader the body needs.

The model id stands in the path, percent-encoded by some clients and not by others, and may be the ARN of a managed
prompt with its version. Exceptions arrive with a status, or in the middle of a stream that began with 200.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tachograph.format import eventstream
from tachograph.providers import converse, guardrail, invoke, wire
from tachograph.providers.model import Conversation, Decoded, Exchange, Part
from tachograph.providers.wire import obj, text, word

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPERATIONS = {
    "converse": "Converse",
    "converse-stream": "ConverseStream",
    "invoke": "InvokeModel",
    "invoke-with-response-stream": "InvokeModelWithResponseStream",
    "count-tokens": "CountTokens",
}
_MAX_PROBLEMS = 10
_PROMPT = re.compile(r"(?P<id>arn:[^:]*:bedrock:[^:]*:[^:]*:prompt/[^:/]+)(?::(?P<version>[^:/]+))?")
_HEADERS = {
    "x-amzn-bedrock-performanceconfig-latency": "latency",
    "x-amzn-bedrock-service-tier": "service_tier",
    "x-amzn-bedrock-projectidentifier": "project_identifier",
}
_COUNT_HEADERS = {
    "x-amzn-bedrock-input-token-count": "input_tokens",
    "x-amzn-bedrock-output-token-count": "output_tokens",
    "x-amzn-bedrock-cache-read-input-token-count": "cache_read_tokens",
    "x-amzn-bedrock-cache-write-input-token-count": "cache_write_tokens",
}


class Bedrock:
    """``POST …/model/{id}/{converse|…}`` and ``…/guardrail/{id}/version/{version}/apply``."""

    name = "bedrock"

    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:  # noqa: ARG002
        if method.upper() != "POST":
            return None
        path = wire.path_of(url)
        if guardrail.applied(path) is not None:
            return "ApplyGuardrail"
        before, _, action = path.rpartition("/")
        return _OPERATIONS.get(action) if "/model/" in before and not before.endswith("/model/") else None

    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        if operation == "ApplyGuardrail":
            return guardrail.decode(exchange, operation)
        body = _counted(exchange.request) if operation == "CountTokens" else obj(exchange.request)
        model_id = model_of(exchange.url)
        invoked = operation.startswith("InvokeModel")
        problems: list[str] = []
        output, error = _read_output(exchange, operation, problems)
        facts = invoke.read_answer(output) if invoked else converse.read_answer(output)
        params = invoke.read_params(body, exchange.request_headers) if invoked else converse.read_params(body)
        named = {name: said for key, name in _HEADERS.items() if (said := wire.header(exchange.request_headers, key))}
        wire.spread(params, named, origin="header")
        return Decoded(
            provider=self.name,
            operation=operation,
            model_id=model_id,
            served_model_id=facts.served_model_id,
            params=params,
            prompt=prompt_of(model_id),
            guardrail=guardrail.of_model_call(exchange, body, obj(output), facts.finish_reason),
            input=exchange.request,
            output=output,
            usage=facts.usage or _header_counts(exchange),
            tool_calls=facts.tool_calls,
            tool_results=invoke.read_tool_results(body) if invoked else converse.read_tool_results(body),
            provider_results=facts.provider_results,
            finish_reason=facts.finish_reason,
            request_id=wire.request_id(exchange),
            response_id=facts.response_id,
            stream=operation in ("ConverseStream", "InvokeModelWithResponseStream"),
            error=wire.failure(exchange, output) or error,
            problems=tuple(problems),
        )

    def conversation(self, operation: str, request: Any) -> Conversation:
        body = obj(request)
        if operation == "ApplyGuardrail":
            return guardrail.view_request(body)
        if operation == "CountTokens":
            return converse.view_request(_counted(body), "input.converse.")
        return invoke.view_request(body) if operation.startswith("InvokeModel") else converse.view_request(body)

    def reply(self, operation: str, output: Any) -> tuple[Part, ...]:
        answer = obj(output)
        if operation == "ApplyGuardrail":
            return guardrail.view_answer(answer)
        return invoke.view_answer(answer) if operation.startswith("InvokeModel") else converse.view_answer(answer)


def model_of(url: str) -> str | None:
    """The model id in the path, decoded. Some gateways encode it twice; no id holds a percent sign, so decoding twice is safe."""
    before, _, _ = wire.path_of(url).rpartition("/")
    _, found, encoded = before.rpartition("/model/")
    return unquote(unquote(encoded)) if found and encoded else None


def prompt_of(model_id: str | None) -> dict[str, str] | None:
    """The managed prompt that a model id names. Without a version the ARN means the working draft."""
    found = _PROMPT.fullmatch(model_id or "")
    return {"id": found["id"], "version": found["version"] or "DRAFT"} if found else None


def _counted(request: Any) -> dict[str, Any]:
    """What CountTokens counts, where it is given in Converse's shape."""
    return obj(obj(obj(request).get("input")).get("converse"))


def _read_output(exchange: Exchange, operation: str, problems: list[str]) -> tuple[Any, dict[str, Any] | None]:
    """The answer (a stream put together), and the error that ended the stream."""
    media = (wire.header(exchange.answer_headers, "content-type") or "").lower()
    streams = operation in ("ConverseStream", "InvokeModelWithResponseStream")
    # A failed call is answered with plain JSON also where a stream was asked for; a message starts with a length.
    failed = exchange.status is not None and exchange.status >= 400
    if failed or ("eventstream" not in media and not (streams and exchange.answer.startswith(b"\0"))):
        return wire.answer_value(exchange, problems), None
    events: list[tuple[str, dict[str, Any]]] = []
    error: dict[str, Any] | None = None
    try:
        for message in eventstream.iterate(exchange.answer):
            kind = message.headers.get(":event-type", "")
            payload = _json(message.payload)
            if payload is not None and kind == "chunk" and operation == "InvokeModelWithResponseStream":
                payload = _json_of_base64(payload.get("bytes"))
            if payload is None and len(problems) < _MAX_PROBLEMS:
                problems.append(f"the payload of the message at byte {message.start} is not a JSON object")
            if message.headers.get(":message-type", "event") == "event":
                events.append((kind, payload or {}))
            else:
                error = _stream_error(message.headers, payload or {}, exchange)
    except ValueError as damage:
        problems.append(str(damage))
    if operation != "InvokeModelWithResponseStream":
        return converse.assemble(events), error
    output, vendor_error = invoke.assemble([chunk for kind, chunk in events if kind == "chunk" and chunk])
    if error is None and vendor_error is not None:
        error = wire.fault(word(vendor_error.get("type")) or "error", text(vendor_error.get("message")), exchange)
    return output, error


def _json(payload: bytes) -> dict[str, Any] | None:
    """A JSON object; empty where there is no payload, None where it is something else."""
    try:
        value = wire.loads(payload) if payload else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _json_of_base64(encoded: Any) -> dict[str, Any] | None:
    try:
        return _json(base64.b64decode(text(encoded), validate=True))
    except ValueError:
        return None


def _stream_error(headers: dict[str, str], payload: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    kind = headers.get(":exception-type") or headers.get(":error-code") or "error"
    message = word(payload.get("message")) or word(payload.get("Message")) or headers.get(":error-message", "")
    error = wire.fault(kind, message, exchange)
    if "originalStatusCode" in payload:
        error["original_status"] = payload["originalStatusCode"]
    return error


def _header_counts(exchange: Exchange) -> dict[str, int]:
    found = {}
    for key, name in _COUNT_HEADERS.items():
        value = wire.header(exchange.answer_headers, key) or ""
        if value.isascii() and value.isdigit() and len(value) < 16:
            found[name] = int(value)
    return found
