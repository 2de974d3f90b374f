"""Anthropic's Messages API (docs.claude.com, "Messages"; field names as in the ``anthropic`` SDK's types).

The functions below the class read bodies alone, so that Bedrock, whose InvokeModel carries the same bodies, uses them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.providers import wire
from tachograph.providers.model import (
    INVALID,
    AnswerFacts,
    Conversation,
    Decoded,
    Exchange,
    Message,
    Part,
    ToolResult,
    ToolUse,
)
from tachograph.providers.wire import flat, obj, objects, seq, text, whole, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: What is said, to whom and with which tools, and who says it: not how the model is to answer.
CONTENT = frozenset({"messages", "system", "tools", "mcp_servers", "metadata", "user_profile_id", "workspace_id", "prompt", "model"})

_PARAMS = {"output_format": "response_format", "anthropic_beta": "betas", "max_tokens_to_sample": "max_tokens"}
_OUTPUT_CONFIG = {"format": "response_format", "effort": "reasoning_effort"}
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}
_TOOL_USE = ("tool_use", "server_tool_use", "mcp_tool_use")


class Anthropic:
    """``POST …/v1/messages`` and ``…/v1/messages/count_tokens``; without the ``/v1`` where the version header is there."""

    name = "anthropic"

    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        if method.upper() != "POST":
            return None
        path = wire.path_of(url)
        for suffix, operation in (("/messages", "messages"), ("/messages/count_tokens", "count_tokens")):
            if path.endswith(suffix) and (path.endswith("/v1" + suffix) or wire.header(headers, "anthropic-version") is not None):
                return operation
        return None

    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        body = obj(exchange.request)
        error = None
        problems: list[str] = []
        if wire.is_sse(exchange):
            output, error = assemble(wire.sse_objects(exchange, problems))
        else:
            output = wire.answer_value(exchange, problems)
        facts = read_answer(output)
        if error is not None:
            error = wire.fault(word(error.get("type")) or "error", text(error.get("message")), exchange)
        return Decoded(
            provider=self.name,
            operation=operation,
            model_id=word(body.get("model")),
            served_model_id=facts.served_model_id,
            params=read_params(body, exchange.request_headers),
            input=exchange.request,
            output=output,
            usage=facts.usage,
            tool_calls=facts.tool_calls,
            tool_results=read_tool_results(body),
            provider_results=facts.provider_results,
            finish_reason=facts.finish_reason,
            request_id=wire.request_id(exchange) or word(obj(output).get("request_id")),
            response_id=facts.response_id,
            stream=body.get("stream") is True or wire.is_sse(exchange),
            error=wire.failure(exchange, output) or error,
            problems=tuple(problems),
        )

    def conversation(self, operation: str, request: Any) -> Conversation:  # noqa: ARG002 - all operations look the same
        return view_request(obj(request))

    def reply(self, operation: str, output: Any) -> tuple[Part, ...]:  # noqa: ARG002
        return view_content(obj(output).get("content"), "content")


def read_params(body: dict[str, Any], headers: Sequence[Sequence[str]]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    config = body.get("output_config")
    skip = CONTENT | {"output_config"} if isinstance(config, dict) else CONTENT
    wire.spread(params, body, names=_PARAMS, skip=skip, origin="body")
    wire.spread(params, obj(config), names=_OUTPUT_CONFIG, origin="output_config")
    if (betas := wire.header(headers, "anthropic-beta")) is not None:
        wire.spread(params, {"betas": [beta.strip() for beta in betas.split(",")]}, origin="header")
    if (version := wire.header(headers, "anthropic-version")) is not None:
        wire.spread(params, {"anthropic_version": version}, origin="header")
    return params


def read_tool_results(body: dict[str, Any]) -> tuple[ToolResult, ...]:
    return tuple(
        result
        for message in objects(body.get("messages"))
        for block in objects(message.get("content"))
        if (result := _result(block)) is not None
    )


def read_answer(output: Any) -> AnswerFacts:
    """What a message says, whole or put together by ``assemble``."""
    message = obj(output)
    usage = obj(message.get("usage"))
    # An answer to count_tokens has its one number at the top.
    numbers = wire.counts(usage or message, _USAGE)
    thinking = whole(obj(usage.get("output_tokens_details")).get("thinking_tokens"))
    if thinking is not None:
        numbers["reasoning_tokens"] = thinking
    blocks = objects(message.get("content"))
    return AnswerFacts(
        output=output,
        served_model_id=word(message.get("model")),
        usage=numbers,
        tool_calls=tuple(
            ToolUse(
                id=text(block.get("id")),
                name=text(block.get("name")),
                input=block.get("input"),
                provider_run=block.get("type") != "tool_use",
            )
            for block in blocks
            if block.get("type") in _TOOL_USE
        ),
        provider_results=tuple(result for block in blocks if (result := _result(block)) is not None),
        finish_reason=word(message.get("stop_reason")),
        response_id=word(message.get("id")),
    )


def assemble(events: Iterable[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The message that a stream of events makes (None where none arrived), and the error that ended it, if one did."""
    message: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    blocks: dict[int, _Block] = {}
    for event in events:
        kind, index = event.get("type"), whole(event.get("index"))
        if kind == "message_start":
            message = dict(obj(event.get("message")))
        elif kind == "content_block_start" and index is not None:
            blocks[index] = _Block(obj(event.get("content_block")))
        elif kind == "content_block_delta" and index is not None:
            blocks.setdefault(index, _Block({})).add(obj(event.get("delta")))
        elif kind == "content_block_stop" and index in blocks:
            blocks[index].stopped = True
        elif kind == "message_delta":
            message = message if message is not None else {}
            _merge_delta(message, event)
        elif kind == "error":
            error = obj(event.get("error")) or {"type": "error", "message": flat(event.get("error"))}
    if message is None and not blocks:
        return None, error
    message = {"type": "message", "role": "assistant", **(message or {})}
    message["content"] = [blocks[index].value() for index in sorted(blocks)] or seq(message.get("content"))
    return message, error


def _merge_delta(message: dict[str, Any], event: dict[str, Any]) -> None:
    # Counts in a message_delta are totals, not increments; what it leaves out stands as message_start had it.
    for key, value in event.items():
        if key == "delta":
            message.update({name: said for name, said in obj(value).items() if said is not None or name not in message})
        elif key == "usage":
            totals = {name: count for name, count in obj(value).items() if count is not None}
            message["usage"] = {**obj(message.get("usage")), **totals}
        elif key != "type" and not key.startswith("amazon-bedrock-"):
            message[key] = value


class _Block:
    """A content block under way. Text arrives in many small pieces, so they are joined once, at the end."""

    _REPLACED = ("signature_delta", "compaction_delta")

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = dict(start)
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []
        self.stopped = False

    def add(self, delta: dict[str, Any]) -> None:
        if not self.start:  # its start never came
            self.start = _start_for(delta)
        for key, value in delta.items():
            if key == "citation":
                self.citations.append(value)
            elif key != "type" and isinstance(value, str) and delta.get("type") not in self._REPLACED:
                self.pieces.setdefault(key, []).append(value)
            elif key != "type" and value is not None:
                self.start[key] = value

    def value(self) -> dict[str, Any]:
        block = dict(self.start)
        if self.citations:
            block["citations"] = [*seq(block.get("citations")), *self.citations]
        for key, pieces in self.pieces.items():
            if key != "partial_json":
                block[key] = text(block.get(key)) + "".join(pieces)
        if block.get("type") in _TOOL_USE:
            raw = "".join(self.pieces.get("partial_json", ()))
            if not self.stopped:
                block["input"] = {INVALID: raw}
            elif raw:
                block["input"] = wire.arguments(raw)
        elif "partial_json" in self.pieces:
            block["partial_json"] = "".join(self.pieces["partial_json"])
        return block


def _start_for(delta: dict[str, Any]) -> dict[str, Any]:
    kind = text(delta.get("type")).removesuffix("_delta")
    return {"type": {"input_json": "tool_use", "signature": "thinking", "citations": "text"}.get(kind, kind)}


def _result(block: dict[str, Any]) -> ToolResult | None:
    kind = text(block.get("type"))
    if kind != "tool_result" and not kind.endswith("_tool_result"):
        return None
    content = block.get("content")
    failed = block.get("is_error") is True or text(obj(content).get("type")).endswith("_error")
    return ToolResult(call_id=text(block.get("tool_use_id")), output=content, is_error=failed)


# --- as a conversation ---------------------------------------------------------------------------------------------------


def view_request(body: dict[str, Any]) -> Conversation:
    messages = [
        Message(
            role=text(message.get("role")),
            parts=view_content(message.get("content"), f"messages[{index}].content"),
            path=f"messages[{index}]",
        )
        for index, message in enumerate(map(obj, seq(body.get("messages"))))
    ]
    if "prompt" in body:  # the older text completions, still spoken through InvokeModel
        part = Part(type="text", path="prompt", text=text(body["prompt"]))
        messages.append(Message(role="user", parts=(part,), path="prompt"))
    return Conversation(
        system=view_content(body.get("system"), "system"),
        messages=tuple(messages),
        tools=tuple(_view_tool(tool) for key in ("tools", "mcp_servers") for tool in objects(body.get(key))),
    )


def view_content(content: Any, path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Part(type="text", path=path, text=content),)
    return tuple(view_block(block, f"{path}[{index}]") for index, block in enumerate(seq(content)))


def view_block(value: Any, path: str) -> Part:
    block = obj(value)
    kind = text(block.get("type"))
    if kind == "text":
        return Part(type="text", path=path, text=text(block.get("text")))
    if kind in ("thinking", "redacted_thinking"):
        return Part(type="thinking", path=path, text=text(block.get("thinking")), value=block)
    if kind in _TOOL_USE:
        return Part(
            type="tool_use",
            path=path,
            name=text(block.get("name")),
            call_id=text(block.get("id")),
            value=block.get("input"),
        )
    if (result := _result(block)) is not None:
        return Part(
            type="tool_result",
            path=path,
            text=flat(result.output),
            call_id=result.call_id,
            value=result.output,
            is_error=result.is_error,
        )
    if kind == "image":
        return Part(type="image", path=path, value=block)
    if kind in ("document", "search_result"):
        source = obj(block.get("source"))
        said = text(source.get("data")) if source.get("type") == "text" else flat(source or block)
        return Part(type="document", path=path, text=said, name=word(block.get("title")), value=block)
    return Part(type="other", path=path, text=flat(value), value=value)


def _view_tool(tool: dict[str, Any]) -> dict[str, Any]:
    name = word(tool.get("name")) or text(tool.get("type"))
    return {"name": name, "description": text(tool.get("description")), "schema": tool.get("input_schema")}
