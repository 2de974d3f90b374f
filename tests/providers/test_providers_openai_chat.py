from __future__ import annotations

from dataclasses import replace
from typing import Any

import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from provider_wires import SSE, events, over_openai

from tachograph.providers import ToolResult, ToolUse, decode
from tachograph.providers.conversation import conversation, reply
from tachograph.providers.openai import OpenAI
from tachograph.providers.openai_chat import CONTENT
from tachograph.testing.provider_suite import ProviderSuite

REQUEST: dict[str, Any] = {
    "model": "gpt-test",
    "max_completion_tokens": 900,
    "temperature": 0.25,
    "top_p": 0.5,
    "seed": 7,
    "n": 1,
    "stop": "STOP-HERE",
    "frequency_penalty": 0.1,
    "presence_penalty": 0.2,
    "logprobs": True,
    "top_logprobs": 2,
    "logit_bias": {"50256": -100},
    "parallel_tool_calls": False,
    "reasoning_effort": "low",
    "service_tier": "flex",
    "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}},
    "tool_choice": {"type": "function", "function": {"name": "read_file"}},
    "metadata": {"ticket": "a-ticket-of-ours"},
    "user": "a-user-of-ours-77",
    "tools": [
        {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": {"type": "object"}}},
        {"type": "custom", "custom": {"name": "shell", "description": "Runs a line.", "format": {"type": "text"}}},
    ],
    "messages": [
        {"role": "developer", "content": "You mend broken builds."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Why does the build fail?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                {"type": "file", "file": {"filename": "notes.pdf", "file_id": "file-1"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "build.log"}'}},
                {"id": "call_2", "type": "custom", "custom": {"name": "shell", "input": "make -n"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "error E0425"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "cargo build"}]},
        {"role": "system", "content": "Answer in JSON."},
    ],
}
USAGE = {
    "prompt_tokens": 1600,
    "completion_tokens": 31,
    "total_tokens": 1631,
    "prompt_tokens_details": {"cached_tokens": 1500, "cache_write_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 9},
}
ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "gpt-test-2026-01-01",
    "service_tier": "flex",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "I will fix it.",
                "refusal": None,
                "tool_calls": [
                    {"id": "call_3", "type": "function", "function": {"name": "apply_patch", "arguments": '{"patch": "--- a"}'}},
                    {"id": "call_4", "type": "function", "function": {"name": "oops", "arguments": "{not json"}},
                    {"id": "call_5", "type": "function", "function": {"name": "now", "arguments": ""}},
                    {"id": "call_6", "type": "custom", "custom": {"name": "shell", "input": "make"}},
                ],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ],
    "usage": USAGE,
}


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    logprobs = more.pop("logprobs", None)
    choices = [{"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}] if delta is not None else []
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-test-2026-01-01",
        "service_tier": "flex",
        "system_fingerprint": "fp_1",
        "choices": choices,
        "obfuscation": "x7",
        **more,
    }


def call(index: int, **fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **fields}]}


def token(text: str) -> dict[str, Any]:
    return {"content": [{"token": text, "logprob": -0.5, "bytes": None, "top_logprobs": []}], "refusal": None}


STREAM = [
    chunk({"role": "assistant", "content": "", "refusal": None}),
    chunk({"content": "I will "}, logprobs=token("I will ")),
    chunk({"content": "fix it — naïvely 🙂."}, logprobs=token("fix it")),
    chunk(call(0, id="call_3", type="function", function={"name": "apply_patch", "arguments": ""})),
    chunk(call(0, function={"arguments": '{"patch": '})),
    chunk(call(0, function={"arguments": '"--- a"}'})),
    chunk(call(1, id="call_5", type="function", function={"name": "now", "arguments": ""})),
    chunk(call(1, function={"arguments": "{}"})),
    chunk({}, finish="tool_calls"),
    chunk(None, usage=USAGE),
]


def create(client: openai.OpenAI) -> Any:
    return client.chat.completions.create(**REQUEST)


def stream(client: openai.OpenAI) -> Any:
    state = ChatCompletionStreamState()
    for piece in client.chat.completions.create(**REQUEST, stream=True, stream_options={"include_usage": True}):
        list(state.handle_chunk(piece))
    return state.current_completion_snapshot


PLAIN = over_openai(create, ANSWER)
STREAMED = over_openai(stream, events(*STREAM, done=True), headers=SSE)
LIMITED = over_openai(
    create,
    {"error": {"message": "Too many tokens.", "type": "tokens", "param": None, "code": "rate_limit_exceeded"}},
    status=429,
)
BROKEN = over_openai(stream, events(*STREAM[:3], {"error": {"message": "Upstream is gone.", "type": "server_error"}}), headers=SSE)


class TestOpenAIChat(ProviderSuite):
    provider = OpenAI()
    content_keys = CONTENT - {"model"}
    exchanges = tuple(run.exchange for run in (PLAIN, STREAMED, LIMITED, BROKEN))


def test_a_plain_answer() -> None:
    decoded = decode(PLAIN.exchange)
    assert decoded is not None
    assert (decoded.provider, decoded.operation, decoded.kind) == ("openai", "chat.completions", "model")
    assert (decoded.model_id, decoded.served_model_id) == ("gpt-test", "gpt-test-2026-01-01")
    skipped = {"model", "messages", "tools", "metadata", "user", "max_completion_tokens", "stop"}
    assert decoded.params == {
        **{key: value for key, value in REQUEST.items() if key not in skipped},
        "max_tokens": 900,
        "stop_sequences": ["STOP-HERE"],
    }
    assert decoded.usage == {
        "input_tokens": 1600, "output_tokens": 31, "total_tokens": 1631, "cache_read_tokens": 1500, "cache_write_tokens": 64,
        "reasoning_tokens": 9,
    }  # fmt: skip
    assert decoded.tool_calls == (
        ToolUse(id="call_3", name="apply_patch", input={"patch": "--- a"}),
        ToolUse(id="call_4", name="oops", input={"$invalid": "{not json"}),
        ToolUse(id="call_5", name="now", input={}),
        ToolUse(id="call_6", name="shell", input="make"),
    )
    assert decoded.tool_results == (
        ToolResult(call_id="call_1", output="error E0425"),
        ToolResult(call_id="call_2", output=[{"type": "text", "text": "cargo build"}]),
    )
    assert (decoded.finish_reason, decoded.response_id, decoded.request_id) == ("tool_calls", "chatcmpl-1", "req_1")
    assert (decoded.output, decoded.stream, decoded.error) == (ANSWER, False, None)


def test_a_stream_is_put_together_as_the_sdk_does_it() -> None:
    decoded = decode(STREAMED.exchange)
    assert decoded is not None
    theirs = STREAMED.value.to_dict(exclude_none=True)
    ours = openai.types.chat.ChatCompletion.model_validate(decoded.output).to_dict(exclude_none=True)
    del theirs["choices"][0]["message"]["tool_calls"][0]["index"], theirs["choices"][0]["message"]["tool_calls"][1]["index"]
    theirs["object"] = "chat.completion"
    theirs.pop("obfuscation", None)
    assert ours == theirs
    assert decoded.stream
    assert decoded.params["stream_options"] == {"include_usage": True}
    assert decoded.usage["total_tokens"] == 1631
    assert decoded.tool_calls == (
        ToolUse(id="call_3", name="apply_patch", input={"patch": "--- a"}),
        ToolUse(id="call_5", name="now", input={}),
    )


def test_what_came_of_a_stream_that_was_cut() -> None:
    decoded = decode(replace(STREAMED.exchange, answer=events(*STREAM[:5]), complete=False))
    assert decoded is not None
    assert next(part.text for part in reply("openai", "chat.completions", decoded.output)) == "I will fix it — naïvely 🙂."
    assert decoded.tool_calls == (ToolUse(id="call_3", name="apply_patch", input={"$invalid": '{"patch": '}),)
    decoded = decode(replace(STREAMED.exchange, answer=events(*STREAM[:4]), complete=False))
    assert decoded is not None
    assert decoded.tool_calls[0].input == {"$invalid": ""}


def test_errors() -> None:
    decoded = decode(LIMITED.exchange)
    assert decoded is not None
    assert isinstance(LIMITED.value, openai.RateLimitError)
    assert decoded.error == {"type": "tokens", "message": "Too many tokens.", "status": 429, "code": "rate_limit_exceeded"}
    decoded = decode(BROKEN.exchange)
    assert decoded is not None
    assert isinstance(BROKEN.value, openai.APIError)
    assert decoded.error == {"type": "server_error", "message": "Upstream is gone.", "status": 200}
    assert decoded.output["choices"][0]["message"]["content"] == "I will fix it — naïvely 🙂."


def answered(*chunks: dict[str, Any]) -> Any:
    decoded = decode(replace(STREAMED.exchange, answer=events(*chunks, done=True)))
    assert decoded is not None
    return decoded


def test_dialects_of_other_servers() -> None:
    # No index, and whole calls in one piece (Gemini's and Ollama's OpenAI endpoints).
    decoded = answered(
        chunk({"tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
        chunk({"tool_calls": [{"id": "b", "type": "function", "function": {"name": "g", "arguments": '{"x": '}}]}),
        chunk({"tool_calls": [{"function": {"arguments": "1}"}}]}, finish="tool_calls"),
    )
    assert decoded.tool_calls == (ToolUse(id="a", name="f", input={}), ToolUse(id="b", name="g", input={"x": 1}))
    # Thinking beside the content (DeepSeek, vLLM); id and name repeated in every chunk.
    decoded = answered(
        chunk({"role": "assistant", "reasoning_content": "Hm, "}),
        chunk({"role": "assistant", "reasoning_content": "yes."}),
        chunk({"role": "assistant", "content": "Yes."}),
        chunk(call(0, id="c", function={"name": "f", "arguments": "{"})),
        chunk(call(0, id="c", function={"name": "f", "arguments": "}"}), finish="tool_calls"),
    )
    parts = reply("openai", "chat.completions", decoded.output)
    assert [(part.type, part.text) for part in parts[:2]] == [("thinking", "Hm, yes."), ("text", "Yes.")]
    assert decoded.tool_calls == (ToolUse(id="c", name="f", input={}),)
    # Thinking as blocks, then bare text, under one name (Mistral).
    blocks = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    decoded = answered(chunk({"content": ""}), chunk({"content": blocks}), chunk({"content": "Ye"}), chunk({"content": "s."}))
    parts = reply("openai", "chat.completions", decoded.output)
    assert [(part.type, part.text) for part in parts] == [("thinking", "Hm."), ("text", "Yes.")]
    # Halves of a surrogate pair, each in a chunk of its own, must not become text that cannot be stored.
    halves = b'data: {"choices": [{"index": 0, "delta": {"content": "\\ud83d"}}]}\n\n' * 2
    decoded = decode(replace(STREAMED.exchange, answer=halves))
    assert decoded is not None
    assert decoded.output["choices"][0]["message"]["content"] == "��"


def test_refusals_and_sound() -> None:
    decoded = answered(
        chunk({"refusal": "I ca"}),
        chunk({"refusal": "nnot."}),
        chunk({"audio": {"id": "a1", "transcript": "No"}}),
        chunk({"audio": {"transcript": "pe.", "data": "AAAA"}}),
    )
    assert decoded.output["choices"][0]["message"]["audio"] == {"id": "a1", "transcript": "Nope.", "data": "AAAA"}
    parts = reply("openai", "chat.completions", decoded.output)
    assert [(part.type, part.text) for part in parts] == [("text", "I cannot."), ("other", "Nope.")]
    body = {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA"}}]}]}
    (message,) = conversation("openai", "chat.completions", body).messages
    assert (message.parts[0].type, message.parts[0].value) == ("other", body["messages"][0]["content"][0])


def test_several_choices() -> None:
    pieces = [(0, "a"), (1, "x"), (0, "b"), (1, "y")]
    decoded = answered(*({"id": "i", "choices": [{"index": i, "delta": {"content": text}}]} for i, text in pieces))
    assert [c["message"]["content"] for c in decoded.output["choices"]] == ["ab", "xy"]


def test_the_first_form_of_tool_calling() -> None:
    request = {"model": "m", "functions": [{"name": "f", "parameters": {}}], "messages": [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    ]}  # fmt: skip
    answer = events(
        {"choices": [{"index": 0, "delta": {"function_call": {"name": "f", "arguments": '{"x"'}}}]},
        {"choices": [{"index": 0, "delta": {"function_call": {"arguments": ": 1}"}}, "finish_reason": "function_call"}]},
    )
    decoded = decode(replace(STREAMED.exchange, request=request, answer=answer))
    assert decoded is not None
    assert decoded.tool_calls == (ToolUse(id="f", name="f", input={"x": 1}),)
    assert decoded.tool_results == (ToolResult(call_id="f", output="done"),)
    parts = [part for message in conversation("openai", "chat.completions", request).messages for part in message.parts]
    assert [(part.type, part.path, part.call_id) for part in parts] == [
        ("tool_use", "messages[0].function_call", "f"),
        ("tool_result", "messages[1].content", "f"),
    ]


def test_both_names_of_the_limit_are_kept() -> None:
    decoded = decode(replace(PLAIN.exchange, request={"max_tokens": 5, "max_completion_tokens": 6, "model": "m"}))
    assert decoded is not None
    assert decoded.params == {"max_tokens": 5, "max_completion_tokens": 6}


def test_the_conversation() -> None:
    shown = conversation("openai", "chat.completions", REQUEST)
    assert [(part.text, part.path) for part in shown.system] == [("You mend broken builds.", "messages[0].content")]
    assert [message.role for message in shown.messages] == ["user", "assistant", "tool", "tool", "system"]
    parts = [part for message in shown.messages for part in message.parts]
    assert [part.type for part in parts] == [
        "text", "image", "document", "tool_use", "tool_use", "tool_result", "tool_result", "text",
    ]  # fmt: skip
    assert parts[0].path == "messages[1].content[0]"
    assert (parts[3].path, parts[3].name, parts[3].value) == ("messages[2].tool_calls[0]", "read_file", {"path": "build.log"})
    assert (parts[4].name, parts[4].value) == ("shell", "make -n")
    assert (parts[6].call_id, parts[6].text, parts[6].path) == ("call_2", "cargo build", "messages[4].content")
    assert [tool["name"] for tool in shown.tools] == ["read_file", "shell"]
    assert shown.tools[0]["schema"] == {"type": "object"}


@pytest.mark.parametrize(
    ("method", "url", "headers", "operation"),
    [
        ("POST", "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", [], "chat.completions"),
        ("POST", "http://127.0.0.1:11434/v1/chat/completions/", [], "chat.completions"),
        ("GET", "https://api.openai.com/v1/chat/completions", [], None),
        ("POST", "https://api.openai.com/v1/responses", [], "responses"),
        ("POST", "https://x.openai.azure.com/openai/responses?api-version=1", [], "responses"),
        ("POST", "http://127.0.0.1:9/llm/responses", [["Authorization", "Bearer x"]], "responses"),
        ("POST", "https://forms.example/forms/7/responses", [], None),
        ("GET", "https://api.openai.com/v1/responses", [], None),
        ("GET", "https://api.openai.com/v1/responses/resp_1?stream=true", [], "responses.retrieve"),
        ("POST", "https://api.openai.com/v1/responses/resp_1/cancel", [], None),
        ("POST", "https://api.openai.com/v1/responses/input_tokens", [], "responses.input_tokens"),
        ("POST", "https://api.openai.com/v1/responses/compact", [], "responses.compact"),
    ],
)
def test_paths(method: str, url: str, headers: list[list[str]], operation: str | None) -> None:
    assert OpenAI().identify(method, url, headers) == operation
