"""InvokeModel: the model vendor's own body inside a Bedrock call (AWS, "Inference request parameters").

A model id may be an ARN that says nothing about the vendor, so the vendor is told from the body. Anthropic and Nova
bodies are read fully, chat completions (OpenAI, Mistral, Qwen, DeepSeek on Bedrock) by their own reader; of the others
(Titan, Llama, Mistral's and Cohere's text bodies) the parameters, the text and the counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tachograph.providers import anthropic, converse, openai_chat, wire
from tachograph.providers.model import AnswerFacts, Conversation, Message, Part, ToolResult
from tachograph.providers.wire import flat, obj, objects, seq, text, word

if TYPE_CHECKING:
    from collections.abc import Sequence

BEDROCK = "amazon-bedrock-"
"""Fields with this prefix are Bedrock's own, added to the vendor's body: guardrail action, trace, invocation metrics."""

_CONTENT = frozenset({
    "prompt", "inputText", "message", "chat_history", "messages", "system", "preamble", "tools", "tool_results", "documents",
    "images", "metadata", "user",
})  # fmt: skip
_NAMES = {
    "max_gen_len": "max_tokens",
    "maxTokenCount": "max_tokens",
    "max_tokens_to_sample": "max_tokens",
    "topP": "top_p",
    "p": "top_p",
    "k": "top_k",
    "topK": "top_k",
    "stop": "stop_sequences",
    "stopSequences": "stop_sequences",
}
_METRICS = {
    "inputTokenCount": "input_tokens",
    "outputTokenCount": "output_tokens",
    "cacheReadInputTokenCount": "cache_read_tokens",
    "cacheWriteInputTokenCount": "cache_write_tokens",
}
_COUNTS = {
    "prompt_token_count": "input_tokens",
    "inputTextTokenCount": "input_tokens",
    "generation_token_count": "output_tokens",
    "totalOutputTextTokenCount": "output_tokens",
    "tokenCount": "output_tokens",
}


def shape_of_request(body: dict[str, Any]) -> str:
    """``anthropic``, ``nova``, ``chat`` or ``text``."""
    if "anthropic_version" in body:
        return "anthropic"
    if "inferenceConfig" in body or "schemaVersion" in body or "toolConfig" in body:
        return "nova"
    messages = objects(body.get("messages"))
    if not messages:
        return "text"
    blocks = [block for message in messages for block in objects(message.get("content"))]
    if isinstance(body.get("system"), list) or any("type" not in block for block in blocks):
        return "nova"
    return "chat"


def shape_of_answer(answer: dict[str, Any]) -> str:
    if "choices" in answer:
        return "chat"
    if isinstance(answer.get("output"), dict) and "message" in answer["output"]:
        return "nova"
    if isinstance(answer.get("content"), list):
        return "anthropic"
    return "text"


def read_params(body: dict[str, Any], headers: Sequence[Sequence[str]]) -> dict[str, Any]:
    own = {key: value for key, value in body.items() if not key.startswith(BEDROCK)}
    shape = shape_of_request(own)
    if shape == "anthropic":
        return anthropic.read_params(own, headers)
    if shape == "nova":
        return converse.read_params(own)
    if shape == "chat":
        return openai_chat.read_params(own)
    params: dict[str, Any] = {}
    config = own.get("textGenerationConfig")
    nested = {"textGenerationConfig"} if isinstance(config, dict) else set()
    wire.spread(params, own, names=_NAMES, skip=_CONTENT | nested, origin="body")
    wire.spread(params, obj(config), names=_NAMES, origin="textGenerationConfig")
    return params


def read_tool_results(body: dict[str, Any]) -> tuple[ToolResult, ...]:
    shape = shape_of_request(body)
    if shape == "anthropic":
        return anthropic.read_tool_results(body)
    if shape == "nova":
        return converse.read_tool_results(body)
    return openai_chat.read_tool_results(body)


def read_answer(output: Any) -> AnswerFacts:
    answer = obj(output)
    shape = shape_of_answer(answer)
    if shape == "anthropic":
        facts = anthropic.read_answer(output)
    elif shape == "nova":
        facts = converse.read_answer(output)
    elif shape == "chat":
        facts = openai_chat.read_answer(output)
    else:
        facts = _read_text_answer(answer)
    metrics = wire.counts(obj(answer.get(BEDROCK + "invocationMetrics")), _METRICS)
    return replace(facts, output=output, usage=metrics | facts.usage)


def _read_text_answer(answer: dict[str, Any]) -> AnswerFacts:
    usage = wire.counts(answer, _COUNTS)
    reason = word(answer.get("stop_reason")) or word(answer.get("completionReason")) or word(answer.get("finish_reason"))
    for result in [*objects(answer.get("results")), *objects(answer.get("outputs")), *objects(answer.get("generations"))]:
        usage = wire.counts(result, _COUNTS) | usage
        reason = reason or next(
            (said for key in ("completionReason", "stop_reason", "finish_reason") if (said := word(result.get(key)))), None
        )
    return AnswerFacts(usage=usage, finish_reason=reason, response_id=word(answer.get("generation_id")))


# --- streams -------------------------------------------------------------------------------------------------------------


def assemble(chunks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The answer that the payloads of ``chunk`` events make, and an error that the vendor put among them."""
    if not chunks:
        return None, None
    own = {key: value for chunk in chunks for key, value in chunk.items() if key.startswith(BEDROCK)}
    answer, error = _assemble_vendor(chunks)
    return ({**(answer or {}), **own} or None), error


def _assemble_vendor(chunks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    for chunk in chunks:
        if "type" in chunk:
            return anthropic.assemble(chunks)
        if "choices" in chunk:
            return openai_chat.assemble(chunks)
        if "messageStart" in chunk or "contentBlockDelta" in chunk or "contentBlockStart" in chunk:
            return converse.assemble((kind, obj(part)) for each in chunks for kind, part in each.items()), None
    return _assemble_text(chunks), None


def _assemble_text(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Titan, Llama, Mistral and Cohere: each chunk holds a piece of text and perhaps the last facts."""
    vendor = [{key: value for key, value in chunk.items() if not key.startswith(BEDROCK)} for chunk in chunks]
    ended = next((obj(chunk["response"]) for chunk in vendor if chunk.get("event_type") == "stream-end"), None)
    if ended:  # Cohere sends the whole answer at the end
        return ended
    answer = {key: value for chunk in vendor for key, value in chunk.items() if value is not None}
    if "outputText" in answer:
        result = {"outputText": _joined(vendor, "outputText"), "completionReason": answer.get("completionReason")}
        numbers = {key: answer[key] for key in ("inputTextTokenCount",) if key in answer}
        return {**numbers, "results": [{"tokenCount": answer.get("totalOutputTextTokenCount"), **result}]}
    if "generation" in answer:
        return {**answer, "generation": _joined(vendor, "generation")}
    if "outputs" in answer:
        return {**answer, "outputs": _join_outputs([objects(chunk.get("outputs")) for chunk in vendor])}
    if "text" in answer:
        return {**answer, "text": _joined(vendor, "text")}
    return {"chunks": vendor} if any(vendor) else {}


def _joined(chunks: Sequence[dict[str, Any]], key: str) -> str:
    return "".join(text(chunk.get(key)) for chunk in chunks)


def _join_outputs(outputs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    width = max(map(len, outputs))
    columns = [[row[index] for row in outputs if index < len(row)] for index in range(width)]
    return [{**column[-1], "text": _joined(column, "text")} for column in columns]


# --- as a conversation ---------------------------------------------------------------------------------------------------


def view_request(body: dict[str, Any]) -> Conversation:
    shape = shape_of_request(body)
    if shape == "anthropic":
        return anthropic.view_request(body)
    if shape == "nova":
        return converse.view_request(body)
    if shape == "chat":
        return openai_chat.view_request(body)
    messages = [
        Message(role=_cohere_role(turn), parts=(_said(turn.get("message"), f"{path}.message"),), path=path)
        for index, turn in enumerate(map(obj, seq(body.get("chat_history"))))
        if (path := f"chat_history[{index}]")
    ]
    messages.extend(
        Message(role="user", parts=(_said(body[key], key),), path=key) for key in ("prompt", "inputText", "message") if key in body
    )
    system = (_said(body["preamble"], "preamble"),) if "preamble" in body else ()
    return Conversation(system=system, messages=tuple(messages))


def _cohere_role(turn: dict[str, Any]) -> str:
    return {"CHATBOT": "assistant", "USER": "user", "SYSTEM": "system"}.get(text(turn.get("role")), "user")


def _said(value: Any, path: str) -> Part:
    return Part(type="text", path=path, text=flat(value))


def view_answer(answer: dict[str, Any]) -> tuple[Part, ...]:
    shape = shape_of_answer(answer)
    if shape == "anthropic":
        return anthropic.view_content(answer.get("content"), "content")
    if shape == "nova":
        return converse.view_answer(answer)
    if shape == "chat":
        return openai_chat.view_answer(answer)
    parts = [_said(answer[key], key) for key in ("generation", "text", "completion") if word(answer.get(key))]
    for name, key in (("results", "outputText"), ("outputs", "text"), ("generations", "text")):
        for index, result in enumerate(map(obj, seq(answer.get(name)))):
            if key in result:
                parts.append(_said(result[key], f"{name}[{index}].{key}"))
    return tuple(parts)
