"""Chat completions (platform.openai.com, "Chat"; field names as in the ``openai`` SDK's types).

Spoken by many servers besides OpenAI's, each with fields of its own (``reasoning_content``, ``top_k``): those are kept
under their own names. The functions read bodies alone, so that Bedrock uses them for models whose InvokeModel bodies
have this shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.providers import wire
from tachograph.providers.model import AnswerFacts, Conversation, Decoded, Exchange, Message, Part, ToolResult, ToolUse
from tachograph.providers.wire import flat, obj, objects, seq, text, whole, word

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What is said, with which tools, and on whose behalf: not how the model is to answer.
CONTENT = frozenset({"messages", "tools", "functions", "prediction", "metadata", "user", "safety_identifier", "model"})

_PARAMS = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences"}

#: Both of OpenAI's spellings: chat completions say prompt and completion, responses say input and output.
_USAGE = {
    "input_tokens": "input_tokens",
    "prompt_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
_INPUT_DETAILS = {"cached_tokens": "cache_read_tokens", "cache_write_tokens": "cache_write_tokens"}
_OUTPUT_DETAILS = {"reasoning_tokens": "reasoning_tokens"}


def decode(exchange: Exchange, operation: str) -> Decoded:
    body = obj(exchange.request)
    error = None
    problems: list[str] = []
    if wire.is_sse(exchange):
        output, error = assemble(wire.sse_objects(exchange, problems))
    else:
        output = wire.answer_value(exchange, problems)
    facts = read_answer(output)
    if error is not None:
        kind = word(error.get("type")) or word(error.get("code")) or "error"
        error = wire.fault(kind, text(error.get("message")), exchange, code=error.get("code"))
    return Decoded(
        provider="openai",
        operation=operation,
        model_id=word(body.get("model")),
        served_model_id=facts.served_model_id,
        params=read_params(body),
        input=exchange.request,
        output=output,
        usage=facts.usage,
        tool_calls=facts.tool_calls,
        tool_results=read_tool_results(body),
        finish_reason=facts.finish_reason,
        request_id=wire.request_id(exchange),
        response_id=facts.response_id,
        stream=body.get("stream") is True or wire.is_sse(exchange),
        error=wire.failure(exchange, output) or error,
        problems=tuple(problems),
    )


def read_params(body: dict[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    wire.spread(params, body, names=_PARAMS, skip=CONTENT, origin="body")
    if isinstance(params.get("stop_sequences"), str):
        params["stop_sequences"] = [params["stop_sequences"]]
    return params


def read_usage(usage: dict[str, Any]) -> dict[str, int]:
    numbers = wire.counts(usage, _USAGE)
    for prefixes, names in ((("input", "prompt"), _INPUT_DETAILS), (("output", "completion"), _OUTPUT_DETAILS)):
        for prefix in prefixes:
            numbers |= wire.counts(obj(usage.get(f"{prefix}_tokens_details")), names)
    return numbers


def read_tool_results(body: dict[str, Any]) -> tuple[ToolResult, ...]:
    return tuple(
        ToolResult(call_id=_call_id_of(message), output=message.get("content"))
        for message in objects(body.get("messages"))
        if message.get("role") in ("tool", "function")
    )


def read_answer(output: Any) -> AnswerFacts:
    answer = obj(output)
    choices = objects(answer.get("choices"))
    return AnswerFacts(
        output=output,
        served_model_id=word(answer.get("model")),
        usage=read_usage(obj(answer.get("usage"))),
        tool_calls=tuple(
            call for choice in choices for call in _tool_calls(obj(choice.get("message")), finished=choice.get("finish_reason") is not None)
        ),
        finish_reason=next((reason for choice in choices if (reason := word(choice.get("finish_reason")))), None),
        response_id=word(answer.get("id")),
    )


def _tool_calls(message: dict[str, Any], *, finished: bool) -> list[ToolUse]:
    calls = []
    for call in objects(message.get("tool_calls")):
        if call.get("type") == "custom":
            custom = obj(call.get("custom"))
            calls.append(ToolUse(id=text(call.get("id")), name=text(custom.get("name")), input=custom.get("input")))
        else:
            function = obj(call.get("function"))
            given = wire.arguments(function.get("arguments"), finished=finished)
            calls.append(ToolUse(id=text(call.get("id")), name=text(function.get("name")), input=given))
    if legacy := obj(message.get("function_call")):
        # The first form of tool calling had no ids: name and result are paired by the function's name.
        given = wire.arguments(legacy.get("arguments"), finished=finished)
        calls.append(ToolUse(id=text(legacy.get("name")), name=text(legacy.get("name")), input=given))
    return calls


def _call_id_of(message: dict[str, Any]) -> str:
    return text(message.get("tool_call_id")) or text(message.get("name"))


# --- streams -------------------------------------------------------------------------------------------------------------


def assemble(chunks: Iterable[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The completion that a stream of chunks makes (None where none arrived), and the error that ended it, if one did."""
    answer: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    error: dict[str, Any] | None = None
    for chunk in chunks:
        if chunk.get("error"):
            error = obj(chunk["error"]) or {"message": flat(chunk["error"])}
            continue
        for key, value in chunk.items():
            if key not in ("choices", "obfuscation") and (value is not None or key not in answer):
                answer[key] = value
        for position, choice in enumerate(objects(chunk.get("choices"))):
            index = whole(choice.get("index"))
            choices.setdefault(position if index is None else index, _Choice()).add(choice)
    if not answer and not choices:
        return None, error
    if "object" in answer:
        answer["object"] = "chat.completion"
    answer["choices"] = [choices[index].value(index) for index in sorted(choices)]
    return answer, error


class _Joined:
    """An object that arrives in fragments: strings are joined in order, lists extended, anything else replaced."""

    _SET = ("id", "type", "role", "name", "index", "finish_reason")  # sent once, or again in full; never in fragments

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.pieces: dict[str, list[str]] = {}

    def add(self, fragment: dict[str, Any]) -> None:
        for key, value in fragment.items():
            if isinstance(value, str) and key not in self._SET:
                self.fields.setdefault(key, "")
                self.pieces.setdefault(key, []).append(value)
            elif isinstance(value, list) and isinstance(self.fields.get(key), list):
                self.fields[key].extend(value)
            elif isinstance(value, list):
                self.fields[key] = list(value)
            elif value is not None or key not in self.fields:
                self.fields[key] = value

    def value(self) -> dict[str, Any]:
        joined: dict[str, Any] = {key: "".join(pieces) for key, pieces in self.pieces.items()}
        for key, value in self.fields.items():
            if key in joined and isinstance(value, list):  # blocks and bare text under one name, as Mistral sends
                joined[key] = [*value, {"type": "text", "text": joined[key]}]
        return self.fields | joined


class _Choice:
    def __init__(self) -> None:
        self.choice = _Joined()
        self.message = _Joined()
        self.parts = {name: _Joined() for name in ("function_call", "audio", "logprobs")}
        self.calls: dict[int, dict[str, _Joined]] = {}
        self.places: dict[str, int] = {}

    def add(self, choice: dict[str, Any]) -> None:
        delta = obj(choice.get("delta"))
        self.choice.add({key: value for key, value in choice.items() if key not in ("delta", "logprobs")})
        self.parts["logprobs"].add(obj(choice.get("logprobs")))
        self.message.add({key: value for key, value in delta.items() if key not in ("tool_calls", *self.parts)})
        for name in ("function_call", "audio"):
            self.parts[name].add(obj(delta.get(name)))
        for call in objects(delta.get("tool_calls")):
            parts = self.calls.setdefault(self._place(call), {"call": _Joined(), "function": _Joined(), "custom": _Joined()})
            parts["call"].add({key: value for key, value in call.items() if key not in ("function", "custom", "index")})
            for name in ("function", "custom"):
                parts[name].add(obj(call.get(name)))

    def _place(self, call: dict[str, Any]) -> int:
        index = whole(call.get("index"))
        if index is not None:
            return index
        # Some servers leave the index out: then a new id starts a new call, and no id goes on with the last one.
        name = word(call.get("id"))
        if name is None:
            return next(reversed(self.calls), 0)
        return self.places.setdefault(name, len(self.calls))

    def value(self, index: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None} | self.message.value()
        if self.calls:
            message["tool_calls"] = [_whole_call(parts) for _, parts in sorted(self.calls.items())]
        for name in ("function_call", "audio"):
            if self.parts[name].fields:
                message[name] = self.parts[name].value()
        choice = {"index": index, "message": message, "finish_reason": None} | self.choice.value()
        if self.parts["logprobs"].fields:
            choice["logprobs"] = self.parts["logprobs"].value()
        return choice


def _whole_call(parts: dict[str, _Joined]) -> dict[str, Any]:
    call = parts["call"].value()
    for name in ("function", "custom"):
        if parts[name].fields:
            call[name] = parts[name].value()
    return {"type": "custom" if "custom" in call else "function"} | call


# --- as a conversation ---------------------------------------------------------------------------------------------------


def view_request(body: dict[str, Any]) -> Conversation:
    system: list[Part] = []
    messages: list[Message] = []
    for index, message in enumerate(map(obj, seq(body.get("messages")))):
        path, role = f"messages[{index}]", text(message.get("role"))
        parts = view_message(message, path)
        if role in ("system", "developer") and not messages:
            system.extend(parts)
        else:
            messages.append(Message(role=role, parts=parts, path=path))
    tools = [*objects(body.get("tools")), *({"function": function} for function in objects(body.get("functions")))]
    return Conversation(system=tuple(system), messages=tuple(messages), tools=tuple(map(view_tool, tools)))


def view_answer(answer: dict[str, Any]) -> tuple[Part, ...]:
    return tuple(
        part
        for index, choice in enumerate(map(obj, seq(answer.get("choices"))))
        for part in view_message(obj(choice.get("message")), f"choices[{index}].message")
    )


def view_message(message: dict[str, Any], path: str) -> tuple[Part, ...]:
    if message.get("role") in ("tool", "function"):
        content = message.get("content")
        return (
            Part(
                type="tool_result",
                path=f"{path}.content",
                text=flat(content),
                name=word(message.get("name")),
                call_id=_call_id_of(message),
                value=content,
            ),
        )
    parts: list[Part] = [
        Part(type="thinking", path=f"{path}.{key}", text=text(message[key]))
        for key in ("reasoning_content", "reasoning")
        if word(message.get(key))
    ]
    parts.extend(_view_content(message.get("content"), f"{path}.content"))
    if word(message.get("refusal")):
        parts.append(Part(type="text", path=f"{path}.refusal", text=message["refusal"]))
    if audio := obj(message.get("audio")):
        parts.append(Part(type="other", path=f"{path}.audio", text=text(audio.get("transcript")), value=audio))
    listed = len(objects(message.get("tool_calls")))
    for index, call in enumerate(_tool_calls(message, finished=True)):
        where = f"{path}.tool_calls[{index}]" if index < listed else f"{path}.function_call"
        parts.append(Part(type="tool_use", path=where, name=call.name, call_id=call.id, value=call.input))
    return tuple(parts)


def _view_content(content: Any, path: str) -> list[Part]:
    if isinstance(content, str):
        return [Part(type="text", path=path, text=content)]
    return [_view_block(block, f"{path}[{index}]") for index, block in enumerate(seq(content))]


def _view_block(value: Any, path: str) -> Part:
    block = obj(value)
    kind = text(block.get("type"))
    if kind in ("text", "refusal"):
        return Part(type="text", path=path, text=text(block.get(kind)))
    if kind == "thinking":
        return Part(type="thinking", path=path, text=flat(block.get("thinking")))
    if kind == "image_url":
        return Part(type="image", path=path, value=block)
    if kind == "file":
        return Part(type="document", path=path, name=word(obj(block.get("file")).get("filename")), value=block)
    return Part(type="other", path=path, text=flat(value), value=value)


def view_tool(tool: dict[str, Any]) -> dict[str, Any]:
    inner = obj(tool.get("function")) or obj(tool.get("custom")) or tool
    return {
        "name": word(inner.get("name")) or text(tool.get("type")),
        "description": text(inner.get("description")),
        "schema": inner.get("parameters") if "parameters" in inner else inner.get("format"),
    }
