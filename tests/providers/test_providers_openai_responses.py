from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from provider_wires import SSE, events, over_openai

from tachograph.providers import ToolResult, ToolUse, decode
from tachograph.providers.conversation import conversation, reply
from tachograph.providers.openai import OpenAI
from tachograph.providers.openai_responses import CONTENT
from tachograph.testing.provider_suite import ProviderSuite

if TYPE_CHECKING:
    import openai

REQUEST: dict[str, Any] = {
    "model": "gpt-test",
    "max_output_tokens": 900,
    "temperature": 0.25,
    "top_p": 0.5,
    "top_logprobs": 2,
    "parallel_tool_calls": False,
    "max_tool_calls": 4,
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {"format": {"type": "json_schema", "name": "verdict", "schema": {"type": "object"}}, "verbosity": "low"},
    "tool_choice": "auto",
    "truncation": "disabled",
    "service_tier": "flex",
    "previous_response_id": "resp_0",
    "include": ["reasoning.encrypted_content"],
    "store": False,
    "metadata": {"ticket": "a-ticket-of-ours"},
    "instructions": "You mend broken builds.",
    "prompt": {"id": "pmpt_1", "version": "3", "variables": {"project": "the-project-name"}},
    "tools": [
        {"type": "function", "name": "read_file", "description": "Reads.", "parameters": {"type": "object"}, "strict": True},
        {"type": "web_search"},
    ],
    "input": [
        {"role": "developer", "content": "Answer in JSON."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Why does the build fail?"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
                {"type": "input_file", "file_id": "file-1", "filename": "notes.pdf"},
            ],
        },
        {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": "Read the log."}]},
        {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path": "build.log"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "error E0425"},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "shell", "input": "make -n"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "cargo"}]},
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "name": "lookup",
            "server_label": "docs",
            "arguments": '{"q": "E0425"}',
            "output": None,
            "error": {"type": "http_error", "code": 502, "message": "bad gateway"},
        },
        {
            "type": "apply_patch_call",
            "call_id": "call_3",
            "status": "completed",
            "operation": {"type": "delete_file", "path": "old.rs"},
        },
        {"type": "apply_patch_call_output", "call_id": "call_3", "status": "failed", "output": "no such file"},
    ],
}
MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I will fix it — naïvely 🙂.", "annotations": [], "logprobs": []}],
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "The symbol is gone."}]}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_4",
    "name": "apply_patch",
    "arguments": '{"patch": "--- a"}',
    "status": "completed",
}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "E0425"}}
USAGE = {
    "input_tokens": 1600,
    "input_tokens_details": {"cached_tokens": 1500, "cache_write_tokens": 64},
    "output_tokens": 31,
    "output_tokens_details": {"reasoning_tokens": 9},
    "total_tokens": 1631,
}
ANSWER: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_700_000_000,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "model": "gpt-test-2026-01-01",
    "output": [REASONING, MESSAGE, CALL, SEARCH],
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
    "metadata": {},
    "usage": USAGE,
}
STARTED = {**ANSWER, "status": "in_progress", "output": [], "usage": None}


def numbered(*stream: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(stream)]


def at(index: int, item_id: str, **more: Any) -> dict[str, Any]:
    return {"output_index": index, "item_id": item_id, **more}


STREAM = numbered(
    {"type": "response.created", "response": STARTED},
    {"type": "response.in_progress", "response": STARTED},
    {"type": "response.output_item.added", "output_index": 0, "item": {**REASONING, "summary": []}},
    {"type": "response.reasoning_summary_part.added", **at(0, "rs_1", summary_index=0),
     "part": {"type": "summary_text", "text": ""}},
    {"type": "response.reasoning_summary_text.delta", **at(0, "rs_1", summary_index=0), "delta": "The symbol "},
    {"type": "response.reasoning_summary_text.delta", **at(0, "rs_1", summary_index=0), "delta": "is gone."},
    {"type": "response.reasoning_summary_text.done", **at(0, "rs_1", summary_index=0), "text": "The symbol is gone."},
    {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
    {"type": "response.output_item.added", "output_index": 1, "item": {**MESSAGE, "status": "in_progress", "content": []}},
    {"type": "response.content_part.added", **at(1, "msg_1", content_index=0),
     "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []}},
    {"type": "response.output_text.delta", **at(1, "msg_1", content_index=0), "delta": "I will fix ", "logprobs": []},
    {"type": "response.output_text.delta", **at(1, "msg_1", content_index=0), "delta": "it — naïvely 🙂.", "logprobs": []},
    {"type": "response.output_text.done", **at(1, "msg_1", content_index=0), "text": "I will fix it — naïvely 🙂."},
    {"type": "response.content_part.done", **at(1, "msg_1", content_index=0), "part": MESSAGE["content"][0]},
    {"type": "response.output_item.done", "output_index": 1, "item": MESSAGE},
    {"type": "response.output_item.added", "output_index": 2, "item": {**CALL, "arguments": "", "status": "in_progress"}},
    {"type": "response.function_call_arguments.delta", **at(2, "fc_1"), "delta": '{"patch": '},
    {"type": "response.function_call_arguments.delta", **at(2, "fc_1"), "delta": '"--- a"}'},
    {"type": "response.function_call_arguments.done", **at(2, "fc_1"), "arguments": '{"patch": "--- a"}'},
    {"type": "response.output_item.done", "output_index": 2, "item": CALL},
    {"type": "response.output_item.added", "output_index": 3, "item": {**SEARCH, "status": "in_progress"}},
    {"type": "response.web_search_call.searching", **at(3, "ws_1")},
    {"type": "response.output_item.done", "output_index": 3, "item": SEARCH},
    {"type": "response.completed", "response": ANSWER},
)  # fmt: skip


def create(client: openai.OpenAI) -> Any:
    return client.responses.create(**REQUEST)


def stream(client: openai.OpenAI) -> Any:
    request = {key: value for key, value in REQUEST.items() if key != "text"}
    with client.responses.stream(**request) as opened:
        return [event for event in opened if event.type == "response.completed"]


PLAIN = over_openai(create, ANSWER)
STREAMED = over_openai(stream, events(*STREAM, named=True), headers=SSE)
REFUSED = over_openai(
    create,
    {"error": {"message": "No such tool.", "type": "invalid_request_error", "param": "tools", "code": None}},
    status=400,
)
FAILED = over_openai(
    stream,
    events(
        *STREAM[:11],
        {
            "type": "response.failed",
            "response": {**STARTED, "status": "failed", "error": {"code": "server_error", "message": "Oh."}},
        },
        named=True,
    ),
    headers=SSE,
)
RETRIEVED = over_openai(lambda client: client.responses.retrieve("resp_1"), ANSWER)
COUNTED = over_openai(
    lambda client: client.responses.input_tokens.count(model="gpt-test", input="How many?"),
    {"object": "response.input_tokens", "input_tokens": 812},
)


class TestOpenAIResponses(ProviderSuite):
    provider = OpenAI()
    content_keys = CONTENT - {"model", "prompt"} | {"variables"}
    exchanges = tuple(run.exchange for run in (PLAIN, STREAMED, REFUSED, FAILED, RETRIEVED, COUNTED))


def test_a_plain_answer() -> None:
    decoded = decode(PLAIN.exchange)
    assert decoded is not None
    assert (decoded.provider, decoded.operation, decoded.kind) == ("openai", "responses", "model")
    assert (decoded.model_id, decoded.served_model_id) == ("gpt-test", "gpt-test-2026-01-01")
    skipped = {"model", "input", "instructions", "tools", "metadata", "prompt", "reasoning", "text", "max_output_tokens"}
    assert decoded.params == {
        **{key: value for key, value in REQUEST.items() if key not in skipped},
        "max_tokens": 900,
        "reasoning_effort": "low",
        "reasoning_summary": "auto",
        "response_format": REQUEST["text"]["format"],
        "verbosity": "low",
    }
    assert decoded.prompt == {"id": "pmpt_1", "version": "3"}
    assert decoded.usage == {
        "input_tokens": 1600, "output_tokens": 31, "total_tokens": 1631, "cache_read_tokens": 1500, "cache_write_tokens": 64,
        "reasoning_tokens": 9,
    }  # fmt: skip
    assert decoded.tool_calls == (
        ToolUse(id="call_4", name="apply_patch", input={"patch": "--- a"}),
        ToolUse(id="ws_1", name="web_search", input={"type": "search", "query": "E0425"}, provider_run=True),
    )
    assert decoded.tool_results == (
        ToolResult(call_id="call_1", output="error E0425"),
        ToolResult(call_id="call_2", output=[{"type": "input_text", "text": "cargo"}]),
        ToolResult(call_id="mcp_1", output={"type": "http_error", "code": 502, "message": "bad gateway"}, is_error=True),
        ToolResult(call_id="call_3", output="no such file", is_error=True),
    )
    assert (decoded.finish_reason, decoded.response_id, decoded.request_id) == ("completed", "resp_1", "req_1")
    assert (decoded.output, decoded.stream, decoded.error) == (ANSWER, False, None)


def test_a_stream_ends_with_the_whole_response() -> None:
    decoded = decode(STREAMED.exchange)
    assert decoded is not None
    assert decoded.output == ANSWER
    assert decoded.stream
    (completed,) = STREAMED.value
    assert completed.response.output_text == "I will fix it — naïvely 🙂."
    assert [part.text for part in reply("openai", "responses", decoded.output) if part.type == "text"] == [completed.response.output_text]


def test_a_response_whose_end_never_came_is_rebuilt() -> None:
    decoded = decode(replace(STREAMED.exchange, answer=events(*STREAM[:-1], named=True), complete=False))
    assert decoded is not None
    assert decoded.output == {**ANSWER, "status": "in_progress", "usage": None}
    assert decoded.finish_reason is None
    # From the deltas alone: no item was finished, no part announced.
    deltas = [event for event in STREAM if event["type"].endswith(".delta")]
    decoded = decode(replace(STREAMED.exchange, answer=events(*deltas, named=True), complete=False))
    assert decoded is not None
    assert decoded.output["output"] == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "The symbol is gone."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "I will fix it — naïvely 🙂."}]},
        {"type": "function_call", "arguments": '{"patch": "--- a"}'},
    ]


def test_unfinished_items_keep_what_they_had() -> None:
    def after(kind: str) -> Any:
        (last,) = [index for index, event in enumerate(STREAM) if event["type"] == kind][:1]
        decoded = decode(replace(STREAMED.exchange, answer=events(*STREAM[: last + 1], named=True), complete=False))
        assert decoded is not None
        return decoded

    parts = reply("openai", "responses", after("response.output_text.delta").output)
    assert [(part.type, part.text) for part in parts] == [("thinking", "The symbol is gone."), ("text", "I will fix ")]
    decoded = after("response.function_call_arguments.delta")
    assert decoded.tool_calls == (ToolUse(id="call_4", name="apply_patch", input={"$invalid": '{"patch": '}),)


def test_errors() -> None:
    decoded = decode(REFUSED.exchange)
    assert decoded is not None
    assert decoded.error == {"type": "invalid_request_error", "message": "No such tool.", "status": 400}
    decoded = decode(FAILED.exchange)
    assert decoded is not None
    assert decoded.error == {"type": "server_error", "message": "Oh.", "status": 200}
    assert decoded.finish_reason == "failed"
    assert [part.text for part in reply("openai", "responses", decoded.output)] == ["The symbol is gone.", "I will fix "]
    ended = events(*STREAM[:2], {"type": "error", "code": "rate_limit", "message": "Slow down.", "param": None}, named=True)
    decoded = decode(replace(STREAMED.exchange, answer=ended))
    assert decoded is not None
    assert decoded.error == {"type": "rate_limit", "message": "Slow down.", "status": 200}


def test_an_error_that_a_gateway_puts_into_the_stream() -> None:
    for error, message in (({"message": "Upstream is gone."}, "Upstream is gone."), ("Gone.", "Gone.")):
        decoded = decode(replace(STREAMED.exchange, answer=events(*STREAM[:2], {"error": error})))
        assert decoded is not None
        assert decoded.error == {"type": "error", "message": message, "status": 200}


def test_annotations_of_an_unfinished_text() -> None:
    note = {"type": "url_citation", "url": "https://example.com", "title": "t", "start_index": 0, "end_index": 1}
    added = {"type": "response.output_text.annotation.added", **at(1, "msg_1", content_index=0), "annotation": note}
    decoded = decode(replace(STREAMED.exchange, answer=events(*STREAM[:11], added), complete=False))
    assert decoded is not None
    assert decoded.output["output"][1]["content"] == [{"type": "output_text", "text": "I will fix ", "annotations": [note], "logprobs": []}]


def test_an_incomplete_response_says_why() -> None:
    cut = {**ANSWER, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    decoded = decode(replace(STREAMED.exchange, answer=events({"type": "response.incomplete", "response": cut})))
    assert decoded is not None
    assert decoded.finish_reason == "max_output_tokens"


def test_calls_that_the_provider_ran() -> None:
    shell = {"type": "shell_call", "call_id": "sh_1", "action": {"commands": ["ls"]}, "status": "completed"}
    output = [
        {"type": "mcp_call", "id": "mcp_2", "name": "lookup", "arguments": '{"q": 1}', "output": "found", "error": None},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
        shell,
        {"type": "shell_call_output", "call_id": "sh_1", "output": [{"stdout": "a.rs"}]},
        {**shell, "call_id": "sh_2"},
    ]
    decoded = decode(over_openai(create, {**ANSWER, "output": output}).exchange)
    assert decoded is not None
    assert [(call.id, call.name, call.input, call.provider_run) for call in decoded.tool_calls] == [
        ("mcp_2", "lookup", {"q": 1}, True),
        ("ci_1", "code_interpreter", "1+1", True),
        ("sh_1", "shell", {"commands": ["ls"]}, True),
        ("sh_2", "shell", {"commands": ["ls"]}, False),
    ]
    assert [(result.call_id, result.output) for result in decoded.provider_results] == [
        ("mcp_2", "found"),
        ("ci_1", [{"type": "logs", "logs": "2"}]),
        ("sh_1", [{"stdout": "a.rs"}]),
    ]


def test_the_other_operations() -> None:
    decoded = decode(RETRIEVED.exchange)
    assert decoded is not None
    assert (decoded.operation, decoded.input, decoded.output) == ("responses.retrieve", None, ANSWER)
    decoded = decode(COUNTED.exchange)
    assert decoded is not None
    assert (decoded.operation, decoded.usage) == ("responses.input_tokens", {"input_tokens": 812})


def test_the_conversation() -> None:
    shown = conversation("openai", "responses", REQUEST)
    assert [(part.text, part.path) for part in shown.system] == [("You mend broken builds.", "instructions")]
    assert [(message.role, message.path) for message in shown.messages] == [
        ("prompt", "prompt.variables"), ("developer", "input[0]"), ("user", "input[1]"), ("assistant", "input[2]"),
        ("assistant", "input[3]"), ("tool", "input[4]"), ("assistant", "input[5]"), ("tool", "input[6]"),
        ("assistant", "input[7]"), ("assistant", "input[8]"), ("tool", "input[9]"),
    ]  # fmt: skip
    parts = [part for message in shown.messages for part in message.parts]
    assert [part.type for part in parts] == [
        "other", "text", "text", "image", "document", "thinking", "tool_use", "tool_result", "tool_use", "tool_result",
        "tool_use", "tool_result", "tool_use", "tool_result",
    ]  # fmt: skip
    assert (parts[0].name, parts[0].text) == ("project", "the-project-name")
    assert parts[5].text == "Read the log."
    assert (parts[9].text, parts[9].call_id) == ("cargo", "call_2")
    assert (parts[11].is_error, parts[13].is_error) == (True, True)
    assert [tool["name"] for tool in shown.tools] == ["read_file", "web_search"]
    leading = conversation("openai", "responses", {"input": [{"role": "system", "content": "Be brief."}]})
    assert [part.path for part in leading.system] == ["input[0].content"]
    alone = conversation("openai", "responses", {"input": "Hello"})
    assert [(part.text, part.path) for message in alone.messages for part in message.parts] == [("Hello", "input")]
