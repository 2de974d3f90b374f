"""Bedrock's Converse shape: its parameters, its stream, its blocks (AWS SDK model ``bedrock-runtime``, "Converse").

Amazon's Nova models speak nearly the same through InvokeModel, so the functions here take events and bodies, not exchanges.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tachograph.providers import wire
from tachograph.providers.model import INVALID, AnswerFacts, Conversation, Message, Part, ToolResult, ToolUse
from tachograph.providers.wire import flat, obj, objects, seq, text, whole, word

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What is said, with which tools, and on whose behalf; ``guardrailConfig`` and the tools' choice are read apart.
CONTENT = frozenset({"messages", "system", "promptVariables", "requestMetadata"})

_NAMES = {
    "maxTokens": "max_tokens",
    "max_new_tokens": "max_tokens",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop_sequences",
    "anthropic_beta": "betas",
    "toolChoice": "tool_choice",
    "textFormat": "response_format",
    "effort": "reasoning_effort",
}
_USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
    "cacheReadInputTokenCount": "cache_read_tokens",  # Nova's spelling
    "cacheWriteInputTokenCount": "cache_write_tokens",
}
#: Objects of the request whose fields are parameters themselves.
_NESTED = ("inferenceConfig", "outputConfig", "toolConfig", "additionalModelRequestFields")
#: Objects with one field that is the parameter.
_SINGLE = {"performanceConfig": ("latency", "latency"), "serviceTier": ("type", "service_tier")}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read_params(body: dict[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for origin in _NESTED:
        _spread(params, obj(body.get(origin)), origin)
    for key, value in body.items():
        if key in _SINGLE and isinstance(value, dict):
            field, name = _SINGLE[key]
            wire.spread(params, value, names={field: name}, origin=key)
        elif key not in CONTENT and key != "guardrailConfig" and not (key in _NESTED and isinstance(value, dict)):
            _spread(params, {key: value}, "body")
    return params


def _spread(params: dict[str, Any], source: dict[str, Any], origin: str) -> None:
    # Nova's additional fields hold an inferenceConfig again; its fields are parameters, not one more object.
    inner = source.get("inferenceConfig")
    nested = {"inferenceConfig"} if isinstance(inner, dict) else set()
    names = {key: _NAMES.get(key) or snake(key) for key in source}
    wire.spread(params, source, names=names, skip={"tools"} | nested if origin == "toolConfig" else nested, origin=origin)
    if nested:
        inner_names = {key: _NAMES.get(key) or snake(key) for key in obj(inner)}
        wire.spread(params, obj(inner), names=inner_names, origin=f"{origin}.inferenceConfig")


def snake(name: str) -> str:
    return _HUMP.sub("_", name).lower() if name.isidentifier() else name


def read_usage(usage: dict[str, Any]) -> dict[str, int]:
    return wire.counts(usage, _USAGE)


def read_tool_results(body: dict[str, Any]) -> tuple[ToolResult, ...]:
    return tuple(
        result
        for message in objects(body.get("messages"))
        for block in objects(message.get("content"))
        if (result := _result(block)) is not None
    )


def read_answer(output: Any) -> AnswerFacts:
    answer = obj(output)
    blocks = objects(obj(obj(answer.get("output")).get("message")).get("content"))
    router = obj(obj(answer.get("trace")).get("promptRouter"))
    return AnswerFacts(
        output=output,
        served_model_id=word(router.get("invokedModelId")),
        # An answer to CountTokens has its one number at the top.
        usage=read_usage(obj(answer.get("usage")) or answer),
        tool_calls=tuple(
            ToolUse(
                id=text(use.get("toolUseId")),
                name=text(use.get("name")),
                input=use.get("input"),
                provider_run=use.get("type") == "server_tool_use",
            )
            for block in blocks
            if (use := obj(block.get("toolUse")))
        ),
        provider_results=tuple(result for block in blocks if (result := _result(block)) is not None),
        finish_reason=word(answer.get("stopReason")),
    )


def _result(block: dict[str, Any]) -> ToolResult | None:
    result = block.get("toolResult")
    if not isinstance(result, dict):
        return None
    return ToolResult(
        call_id=text(result.get("toolUseId")),
        output=result.get("content"),
        is_error=result.get("status") == "error",
    )


# --- streams -------------------------------------------------------------------------------------------------------------


def assemble(events: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any] | None:
    """The answer of Converse that a stream of (event type, payload) makes; None where nothing arrived."""
    answer: dict[str, Any] = {}
    role: Any = None
    blocks: dict[int, _Block] = {}
    for kind, payload in events:
        index = whole(payload.get("contentBlockIndex"))
        if kind == "messageStart":
            role = payload.get("role")
        elif kind == "contentBlockStart" and index is not None:
            blocks[index] = _Block(obj(payload.get("start")))
        elif kind == "contentBlockDelta" and index is not None:
            blocks.setdefault(index, _Block({})).add(obj(payload.get("delta")))
        elif kind == "contentBlockStop" and index in blocks:
            blocks[index].stopped = True
        elif kind in ("messageStop", "metadata"):
            answer |= {key: value for key, value in payload.items() if key != "p"}  # p is padding against eavesdroppers
    if role is None and not answer and not blocks:
        return None
    content = [blocks[index].value() for index in sorted(blocks)]
    return {"output": {"message": {"role": role or "assistant", "content": content}}, **answer}


class _Block:
    """A content block under way. Deltas of text come in pieces and are joined once, at the end."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.text: list[str] = []
        self.input: list[str] = []
        self.reasoning: dict[str, list[str]] = {}
        self.citations: list[Any] = []
        self.result: list[Any] = []
        self.other: list[Any] = []
        self.stopped = False

    def add(self, delta: dict[str, Any]) -> None:
        for kind, value in delta.items():
            if kind == "text" and isinstance(value, str):
                self.text.append(value)
            elif kind == "toolUse" and isinstance(value, dict):
                self.input.append(text(value.get("input")))
            elif kind == "reasoningContent" and isinstance(value, dict):
                for key, piece in value.items():
                    self.reasoning.setdefault(key, []).append(text(piece))
            elif kind == "citation":
                self.citations.append(value)
            elif kind == "toolResult" and isinstance(value, list):
                self.result.extend(value)
            else:
                self.other.append({kind: value})

    def value(self) -> dict[str, Any]:
        block = {key: value for key, value in self.start.items() if key not in ("toolUse", "toolResult")}
        if "toolUse" in self.start or self.input:
            raw = "".join(self.input)
            given = wire.arguments(raw) if self.stopped else {INVALID: raw}
            block["toolUse"] = {**obj(self.start.get("toolUse")), "input": given}
        if "toolResult" in self.start or self.result:
            block["toolResult"] = {**obj(self.start.get("toolResult")), "content": _join_texts(self.result)}
        if self.reasoning:
            joined = {key: "".join(pieces) for key, pieces in self.reasoning.items()}
            redacted = {"redactedContent": joined.pop("redactedContent")} if "redactedContent" in joined else {}
            block["reasoningContent"] = ({"reasoningText": joined} if joined else {}) | redacted
        if self.citations:
            said = [{"text": "".join(self.text)}] if self.text else []
            block["citationsContent"] = {"content": said, "citations": self.citations}
        elif self.text or not (block or self.other):
            block["text"] = "".join(self.text)
        if self.other:
            block["deltas"] = self.other
        return block


def _join_texts(items: list[Any]) -> list[Any]:
    joined: list[Any] = []
    run: list[str] = []
    for item in [*items, None]:
        said = obj(item).get("text")
        if isinstance(said, str):
            run.append(said)
            continue
        if run:
            joined.append({"text": "".join(run)})
            run = []
        if item is not None:
            joined.append(item)
    return joined


# --- as a conversation ---------------------------------------------------------------------------------------------------


def view_request(body: dict[str, Any], before: str = "") -> Conversation:
    """``before`` is put before each path, for a body that stands within another."""
    messages = []
    variables = obj(body.get("promptVariables"))
    if variables:
        parts = tuple(
            Part(type="other", path=f"{before}promptVariables.{name}", name=name, text=flat(value), value=value)
            for name, value in variables.items()
        )
        messages.append(Message(role="prompt", parts=parts, path=f"{before}promptVariables"))
    for index, message in enumerate(map(obj, seq(body.get("messages")))):
        path = f"{before}messages[{index}]"
        parts = view_content(message.get("content"), f"{path}.content")
        messages.append(Message(role=text(message.get("role")), parts=parts, path=path))
    return Conversation(
        system=view_content(body.get("system"), f"{before}system"),
        messages=tuple(messages),
        tools=tuple(_view_tool(tool) for tool in objects(obj(body.get("toolConfig")).get("tools"))),
    )


def view_answer(answer: dict[str, Any]) -> tuple[Part, ...]:
    return view_content(obj(obj(answer.get("output")).get("message")).get("content"), "output.message.content")


def view_content(content: Any, path: str) -> tuple[Part, ...]:
    if isinstance(content, str):  # Nova takes it, Converse does not
        return (Part(type="text", path=path, text=content),)
    return tuple(_view_block(block, f"{path}[{index}]") for index, block in enumerate(seq(content)))


def _view_block(value: Any, path: str) -> Part:
    block = obj(value)
    if "text" in block:
        return Part(type="text", path=path, text=text(block["text"]))
    if use := obj(block.get("toolUse")):
        call_id, name = text(use.get("toolUseId")), text(use.get("name"))
        return Part(type="tool_use", path=path, name=name, call_id=call_id, value=use.get("input"))
    if (result := _result(block)) is not None:
        return Part(
            type="tool_result",
            path=path,
            text=flat(result.output),
            call_id=result.call_id,
            value=result.output,
            is_error=result.is_error,
        )
    if "reasoningContent" in block:
        said = obj(obj(block["reasoningContent"]).get("reasoningText"))
        return Part(type="thinking", path=path, text=text(said.get("text")), value=block["reasoningContent"])
    if "citationsContent" in block:
        cited = obj(block["citationsContent"])
        return Part(type="text", path=path, text=flat(cited.get("content")), value=cited)
    if "guardContent" in block:
        guarded = obj(block["guardContent"])
        return Part(type="image" if "image" in guarded else "text", path=path, text=flat(guarded.get("text")), value=guarded)
    if "image" in block:
        return Part(type="image", path=path, value=block["image"])
    for kind in ("document", "searchResult"):
        if kind in block:
            document = obj(block[kind])
            words = flat(document.get("content") or document.get("source"))
            title = word(document.get("name")) or word(document.get("title"))
            return Part(type="document", path=path, text=words, name=title, value=document)
    return Part(type="other", path=path, text=flat(value), value=value)


def _view_tool(tool: dict[str, Any]) -> dict[str, Any]:
    inner = obj(tool.get("toolSpec")) or obj(tool.get("systemTool"))
    name = word(inner.get("name")) or next(iter(tool), "")
    schema = obj(inner.get("inputSchema")).get("json")
    return {"name": name, "description": text(inner.get("description")), "schema": schema}
