"""The Responses API (platform.openai.com, "Responses"; item types as in the ``openai`` SDK).

A response is a list of items: messages, reasoning, and calls of many kinds. A tool is run by the agent or by OpenAI; OpenAI's own
calls carry their result in the same item, or beside it in the same answer.
"""

from __future__ import annotations

from typing import Any

from tachograph.providers import responses_stream, wire
from tachograph.providers.model import AnswerFacts, Conversation, Decoded, Exchange, Message, Part, ToolResult, ToolUse
from tachograph.providers.openai_chat import read_usage, view_tool
from tachograph.providers.wire import flat, obj, objects, seq, text, word

#: What is said, with which tools, and on whose behalf: not how the model is to answer. ``prompt`` has a field of its own.
CONTENT = frozenset({"input", "instructions", "tools", "prompt", "metadata", "user", "safety_identifier", "model"})

_PARAMS = {"max_output_tokens": "max_tokens"}

#: Calls that OpenAI always runs itself → the field that holds what it was given.
_PROVIDER_RUN = {
    "mcp_call": "arguments",
    "web_search_call": "action",
    "file_search_call": "queries",
    "code_interpreter_call": "code",
    "image_generation_call": "revised_prompt",
}
#: Calls that the agent runs, unless their output comes with them → the same.
_AGENT_RUN = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
}
_RESULT_FIELDS = ("output", "outputs", "results", "result", "tools")


def decode(exchange: Exchange, operation: str) -> Decoded:
    body = obj(exchange.request)
    error = None
    problems: list[str] = []
    if wire.is_sse(exchange):
        output, error = responses_stream.assemble(wire.sse_objects(exchange, problems))
    else:
        output = wire.answer_value(exchange, problems)
    facts = read_answer(output)
    error = error or facts.error
    if error is not None:
        kind = word(error.get("code")) or word(error.get("type")) or "error"
        error = wire.fault(kind, text(error.get("message")), exchange)
    return Decoded(
        provider="openai",
        operation=operation,
        model_id=word(body.get("model")),
        served_model_id=facts.served_model_id,
        params=read_params(body),
        prompt=_read_prompt(body),
        input=exchange.request,
        output=output,
        usage=facts.usage,
        tool_calls=facts.tool_calls,
        tool_results=_results(objects(body.get("input"))),
        provider_results=facts.provider_results,
        finish_reason=facts.finish_reason,
        request_id=wire.request_id(exchange),
        response_id=facts.response_id,
        stream=body.get("stream") is True or wire.is_sse(exchange),
        error=wire.failure(exchange, output) or error,
        problems=tuple(problems),
    )


def read_params(body: dict[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    nested = {key for key in ("reasoning", "text") if isinstance(body.get(key), dict)}
    wire.spread(params, body, names=_PARAMS, skip=CONTENT | nested, origin="body")
    reasoning, words = (obj(body.get(key)) for key in ("reasoning", "text"))
    wire.spread(params, {f"reasoning_{key}": value for key, value in reasoning.items()}, origin="reasoning")
    wire.spread(params, words, names={"format": "response_format"}, origin="text")
    return params


def read_answer(output: Any) -> AnswerFacts:
    response = obj(output)
    items = objects(response.get("output"))
    status = word(response.get("status"))
    reason = word(obj(response.get("incomplete_details")).get("reason"))
    beside = {result.call_id for result in _results(items)}
    usage = obj(response.get("usage"))
    return AnswerFacts(
        output=output,
        served_model_id=word(response.get("model")),
        # An answer to input_tokens has its one number at the top.
        usage=read_usage(usage or response),
        tool_calls=tuple(call for item in items if (call := _tool_call(item, beside)) is not None),
        provider_results=_results(items),
        finish_reason=reason or (status if status not in ("in_progress", "queued") else None),
        response_id=word(response.get("id")) if response.get("object") != "response.input_tokens" else None,
        error=obj(response.get("error")) or None if status is not None else None,
    )


def _read_prompt(body: dict[str, Any]) -> dict[str, str] | None:
    prompt = obj(body.get("prompt"))
    named = {key: prompt[key] for key in ("id", "version") if word(prompt.get(key))}
    return named or None


def _tool_call(item: dict[str, Any], beside: set[str] | frozenset[str] = frozenset()) -> ToolUse | None:
    kind = text(item.get("type"))
    field = _PROVIDER_RUN.get(kind) or _AGENT_RUN.get(kind)
    if field is None:
        return None
    given = item.get(field)
    if field == "arguments":
        given = wire.arguments(given, finished=item.get("status") not in ("in_progress", "incomplete"))
    call_id = _call_id(item)
    return ToolUse(
        id=call_id,
        name=word(item.get("name")) or kind.removesuffix("_call"),
        input=given,
        provider_run=kind in _PROVIDER_RUN or call_id in beside or item.get("execution") == "server",
    )


def _results(items: list[dict[str, Any]]) -> tuple[ToolResult, ...]:
    """Items that are a result, and results that stand in the call itself."""
    results = []
    for item in items:
        kind = text(item.get("type"))
        field = next((name for name in _RESULT_FIELDS if item.get(name) is not None), None)
        failed = item.get("status") == "failed" or item.get("error") is not None
        if kind.endswith(("_call_output", "tool_search_output")) or (kind in _PROVIDER_RUN and (field or failed)):
            output = item[field] if field else item.get("error")
            results.append(ToolResult(call_id=_call_id(item), output=output, is_error=failed))
    return tuple(results)


def _call_id(item: dict[str, Any]) -> str:
    return text(item.get("call_id")) or text(item.get("id"))


# --- as a conversation ---------------------------------------------------------------------------------------------------


def view_request(body: dict[str, Any]) -> Conversation:
    system = [Part(type="text", path="instructions", text=said)] if (said := word(body.get("instructions"))) else []
    messages: list[Message] = []
    variables = obj(obj(body.get("prompt")).get("variables"))
    if variables:
        parts = tuple(
            Part(type="other", path=f"prompt.variables.{name}", name=name, text=flat(value), value=value)
            for name, value in variables.items()
        )
        messages.append(Message(role="prompt", parts=parts, path="prompt.variables"))
    given = body.get("input")
    if isinstance(given, str):
        part = Part(type="text", path="input", text=given)
        messages.append(Message(role="user", parts=(part,), path="input"))
    for index, item in enumerate(map(obj, seq(given))):
        path = f"input[{index}]"
        role, parts = _role(item), view_item(item, path)
        if role in ("system", "developer") and not messages:
            system.extend(parts)
        else:
            messages.append(Message(role=role, parts=parts, path=path))
    tools = tuple(map(view_tool, objects(body.get("tools"))))
    return Conversation(system=tuple(system), messages=tuple(messages), tools=tools)


def view_answer(response: dict[str, Any]) -> tuple[Part, ...]:
    return tuple(part for index, item in enumerate(map(obj, seq(response.get("output")))) for part in view_item(item, f"output[{index}]"))


def view_item(item: dict[str, Any], path: str) -> tuple[Part, ...]:
    kind = text(item.get("type"))
    if kind == "message" or (not kind and "content" in item):
        return _view_content(item.get("content"), f"{path}.content")
    if kind == "reasoning":
        said = [flat(item.get(name)) for name in ("summary", "content")]
        return (Part(type="thinking", path=path, text="\n".join(filter(None, said)), value=item),)
    parts = []
    if (call := _tool_call(item)) is not None:
        parts.append(Part(type="tool_use", path=path, name=call.name, call_id=call.id, value=call.input))
    for result in _results([item]):
        part = Part(
            type="tool_result",
            path=path,
            text=flat(result.output),
            call_id=result.call_id,
            value=result.output,
            is_error=result.is_error,
        )
        parts.append(part)
    return tuple(parts) or (Part(type="other", path=path, text=flat(item), value=item),)


def _view_content(content: Any, path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Part(type="text", path=path, text=content),)
    parts = []
    for index, value in enumerate(seq(content)):
        block, where = obj(value), f"{path}[{index}]"
        kind = text(block.get("type"))
        if kind in ("input_text", "output_text", "text", "refusal"):
            parts.append(Part(type="text", path=where, text=text(block.get("refusal" if kind == "refusal" else "text"))))
        elif kind == "input_image":
            parts.append(Part(type="image", path=where, value=block))
        elif kind == "input_file":
            parts.append(Part(type="document", path=where, name=word(block.get("filename")), value=block))
        else:
            parts.append(Part(type="other", path=where, text=flat(value), value=value))
    return tuple(parts)


def _role(item: dict[str, Any]) -> str:
    if role := word(item.get("role")):
        return role
    kind = text(item.get("type"))
    return "tool" if kind.endswith("_output") else "user" if kind == "mcp_approval_response" else "assistant"
