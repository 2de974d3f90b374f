from __future__ import annotations

from dataclasses import replace
from typing import Any

import anthropic
from provider_wires import SSE, events, over_anthropic

from tachograph.providers import ToolResult, ToolUse, decode
from tachograph.providers.anthropic import CONTENT, Anthropic
from tachograph.providers.conversation import conversation, reply
from tachograph.testing.provider_suite import ProviderSuite

TOOL = {"name": "read_file", "description": "Reads a file.", "input_schema": {"type": "object", "properties": {}}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
REQUEST: dict[str, Any] = {
    "model": "claude-test-1",
    "max_tokens": 1024,
    "temperature": 0.25,
    "top_p": 0.9,
    "top_k": 40,
    "stop_sequences": ["STOP-HERE"],
    "service_tier": "standard_only",
    "thinking": {"type": "enabled", "budget_tokens": 512},
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "output_config": {"effort": "high"},
    "metadata": {"user_id": "a-user-of-ours-77"},
    "system": [{"type": "text", "text": "You mend broken builds.", "cache_control": {"type": "ephemeral"}}],
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "Why does the build fail?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I should read the log.", "signature": "c2ln"},
                {"type": "text", "text": "Let me read two files."},
                {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "build.log"}},
                {"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {"path": "missing"}},
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "E0425"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srv_1",
                    "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "error E0425"}, IMAGE]},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such file", "is_error": True},
                IMAGE,
                {"type": "document", "title": "notes", "source": {"type": "text", "media_type": "text/plain", "data": "Notes."}},
            ],
        },
    ],
}
ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-test-1-20260101",
    "content": [
        {"type": "text", "text": "I will fix it."},
        {"type": "tool_use", "id": "toolu_3", "name": "apply_patch", "input": {"patch": "--- a\n+++ b\n"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 20,
        "output_tokens": 31,
        "cache_read_input_tokens": 1500,
        "cache_creation_input_tokens": 64,
        "output_tokens_details": {"thinking_tokens": 9},
    },
}
CITATION = {"type": "char_location", "cited_text": "Notes.", "document_index": 0, "document_title": None, "file_id": None,
            "start_char_index": 0, "end_char_index": 6}  # fmt: skip


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


STREAM = [
    {"type": "message_start", "message": {**ANSWER, "content": [], "stop_reason": None, "usage": {
        "input_tokens": 20, "output_tokens": 1, "cache_read_input_tokens": 1500, "cache_creation_input_tokens": 64}}},
    {"type": "ping"},
    *block(0, {"type": "thinking", "thinking": "", "signature": ""},
           {"type": "thinking_delta", "thinking": "The symbol "}, {"type": "thinking_delta", "thinking": "is gone."},
           {"type": "signature_delta", "signature": "RXFrQ2tnSUFDQ0FCS0FJ"}),
    *block(1, {"type": "text", "text": ""},
           {"type": "text_delta", "text": "I will fix "}, {"type": "text_delta", "text": "it — naïvely 🙂."},
           {"type": "citations_delta", "citation": CITATION}),
    *block(2, {"type": "tool_use", "id": "toolu_3", "name": "apply_patch", "input": {}},
           {"type": "input_json_delta", "partial_json": ""}, {"type": "input_json_delta", "partial_json": '{"patch": "--- '},
           {"type": "input_json_delta", "partial_json": 'a\\n+++ b\\n"}'}),
    *block(3, {"type": "tool_use", "id": "toolu_4", "name": "now", "input": {}}),
    *block(4, {"type": "server_tool_use", "id": "srv_2", "name": "web_search", "input": {}},
           {"type": "input_json_delta", "partial_json": '{"query": "E0425"}'}),
    *block(5, {"type": "web_search_tool_result", "tool_use_id": "srv_2", "content": []}),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None, "stop_details": None},
     "usage": {"output_tokens": 31, "output_tokens_details": {"thinking_tokens": 9}}},
    {"type": "message_stop"},
]  # fmt: skip


#: Parameters that the API takes and newer SDKs no longer name go out as extra fields.
EXTRA = ("temperature", "top_p", "top_k")
NAMED: dict[str, Any] = {key: value for key, value in REQUEST.items() if key not in EXTRA}
NAMED["extra_body"] = {key: REQUEST[key] for key in EXTRA}


def create(client: anthropic.Anthropic) -> Any:
    return client.messages.create(**NAMED)


def stream(client: anthropic.Anthropic) -> Any:
    with client.messages.stream(**NAMED) as opened:
        return opened.get_final_message()


PLAIN = over_anthropic(create, ANSWER)
STREAMED = over_anthropic(stream, events(*STREAM, named=True), headers=SSE)
BETA = over_anthropic(lambda client: client.beta.messages.create(**NAMED, betas=["context-1m-2025-08-07", "files-api-2025-04-14"]), ANSWER)
OVERLOADED = over_anthropic(
    create, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_9"}, status=529
)
BROKEN = over_anthropic(
    stream,
    events(*STREAM[:9], {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, named=True),
    headers=SSE,
)
COUNTED = over_anthropic(
    lambda client: client.messages.count_tokens(
        **{key: REQUEST[key] for key in ("model", "messages", "system", "tools", "tool_choice", "thinking")}
    ),
    {"input_tokens": 812},
)


class TestAnthropic(ProviderSuite):
    provider = Anthropic()
    content_keys = CONTENT - {"model"}
    exchanges = tuple(run.exchange for run in (PLAIN, STREAMED, BETA, OVERLOADED, BROKEN, COUNTED))


def test_a_plain_answer() -> None:
    decoded = decode(PLAIN.exchange)
    assert decoded is not None
    assert (decoded.provider, decoded.operation, decoded.kind) == ("anthropic", "messages", "model")
    assert (decoded.model_id, decoded.served_model_id) == ("claude-test-1", "claude-test-1-20260101")
    assert decoded.params == {
        "max_tokens": 1024,
        "temperature": 0.25,
        "top_p": 0.9,
        "top_k": 40,
        "stop_sequences": ["STOP-HERE"],
        "service_tier": "standard_only",
        "thinking": {"type": "enabled", "budget_tokens": 512},
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "reasoning_effort": "high",
        "anthropic_version": dict(PLAIN.exchange.request_headers)["anthropic-version"],
    }
    assert decoded.usage == {
        "input_tokens": 20, "output_tokens": 31, "cache_read_tokens": 1500, "cache_write_tokens": 64, "reasoning_tokens": 9,
    }  # fmt: skip
    assert decoded.tool_calls == (ToolUse(id="toolu_3", name="apply_patch", input={"patch": "--- a\n+++ b\n"}),)
    assert decoded.tool_results == (
        ToolResult(
            call_id="srv_1",
            output={"type": "web_search_tool_result_error", "error_code": "unavailable"},
            is_error=True,
        ),
        ToolResult(call_id="toolu_1", output=[{"type": "text", "text": "error E0425"}, IMAGE]),
        ToolResult(call_id="toolu_2", output="no such file", is_error=True),
    )
    assert (decoded.finish_reason, decoded.response_id, decoded.request_id) == ("tool_use", "msg_1", "req_1")
    assert (decoded.output, decoded.stream, decoded.error, decoded.problems) == (ANSWER, False, None, ())


def test_a_stream_is_put_together_as_the_sdk_does_it() -> None:
    decoded = decode(STREAMED.exchange)
    assert decoded is not None
    theirs = STREAMED.value.to_dict()
    assert decoded.output == theirs
    assert decoded.stream
    assert decoded.usage["output_tokens"] == 31
    assert decoded.tool_calls == (
        ToolUse(id="toolu_3", name="apply_patch", input={"patch": "--- a\n+++ b\n"}),
        ToolUse(id="toolu_4", name="now", input={}),
        ToolUse(id="srv_2", name="web_search", input={"query": "E0425"}, provider_run=True),
    )
    assert decoded.provider_results == (ToolResult(call_id="srv_2", output=[]),)


def test_every_prefix_of_whole_events_agrees_with_the_sdk() -> None:
    for count in range(1, len(STREAM)):
        body = events(*STREAM[:count], named=True)

        def take(client: anthropic.Anthropic) -> Any:
            with client.messages.stream(**NAMED) as opened:
                opened.until_done()
                return opened.current_message_snapshot

        run = over_anthropic(take, body, headers=SSE)
        decoded = decode(run.exchange)
        assert decoded is not None
        # The SDK guesses at the input of a tool whose arguments are still arriving; a record must not.
        ours = [b for b in decoded.output["content"] if "$invalid" not in str(b.get("input"))]
        theirs = run.value.to_dict()["content"]
        assert ours == theirs[: len(ours)], count
        assert len(theirs) - len(ours) in (0, 1)


def test_arguments_that_were_cut_are_no_arguments() -> None:
    (start,) = [i for i, e in enumerate(STREAM) if e.get("delta", {}).get("partial_json", "").startswith('{"patch"')]
    run = replace(STREAMED.exchange, answer=events(*STREAM[: start + 1], named=True), complete=False)
    decoded = decode(run)
    assert decoded is not None
    assert decoded.tool_calls == (ToolUse(id="toolu_3", name="apply_patch", input={"$invalid": '{"patch": "--- '}),)
    assert decoded.finish_reason is None


def test_an_error_answer() -> None:
    decoded = decode(OVERLOADED.exchange)
    assert decoded is not None
    assert isinstance(OVERLOADED.value, anthropic.APIStatusError)
    assert decoded.error == {"type": "overloaded_error", "message": "Overloaded", "status": 529}
    assert decoded.request_id == "req_1"


def test_an_error_in_a_stream_keeps_what_came_before() -> None:
    decoded = decode(BROKEN.exchange)
    assert decoded is not None
    assert decoded.error == {"type": "overloaded_error", "message": "Overloaded", "status": 200}
    assert [part.text for part in reply("anthropic", "messages", decoded.output)] == ["The symbol is gone.", "I will fix "]
    assert decoded.finish_reason is None


def test_betas_from_the_header() -> None:
    decoded = decode(BETA.exchange)
    assert decoded is not None
    assert decoded.params["betas"] == ["context-1m-2025-08-07", "files-api-2025-04-14"]


def test_count_tokens() -> None:
    decoded = decode(COUNTED.exchange)
    assert decoded is not None
    assert (decoded.operation, decoded.usage) == ("count_tokens", {"input_tokens": 812})


def test_compaction_and_unknown_deltas_are_kept() -> None:
    body = events(
        STREAM[0],
        *block(0, {"type": "compaction", "content": None}, {"type": "compaction_delta", "content": "So far: nothing."}),
        *block(1, {"type": "novelty", "words": "a"}, {"type": "novelty_delta", "words": "b"}, {"type": "x", "level": 3}),
        {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {}, "context_management": {"applied_edits": []}},
    )
    decoded = decode(replace(STREAMED.exchange, answer=body))
    assert decoded is not None
    assert decoded.output["content"] == [
        {"type": "compaction", "content": "So far: nothing."},
        {"type": "novelty", "words": "ab", "level": 3},
    ]
    assert decoded.output["context_management"] == {"applied_edits": []}


def test_deltas_whose_block_was_never_announced() -> None:
    deltas = [event for event in STREAM if event["type"] == "content_block_delta"]
    decoded = decode(replace(STREAMED.exchange, answer=events(*deltas)))
    assert decoded is not None
    assert [part.type for part in reply("anthropic", "messages", decoded.output)] == [
        "thinking", "text", "tool_use", "tool_use",
    ]  # fmt: skip
    assert decoded.tool_calls[0].input == {"$invalid": '{"patch": "--- a\\n+++ b\\n"}'}
    odd = events(*block(0, {"type": "novelty"}, {"type": "input_json_delta", "partial_json": "{}"}))
    decoded = decode(replace(STREAMED.exchange, answer=odd))
    assert decoded is not None
    assert decoded.output["content"] == [{"type": "novelty", "partial_json": "{}"}]


def test_paths_that_are_and_are_not_a_call() -> None:
    identify, version = Anthropic().identify, [["Anthropic-Version", "2023-06-01"]]
    assert identify("POST", "https://gw.example/anthropic/v1/messages?beta=true", []) == "messages"
    assert identify("POST", "https://gw.example/claude/messages/count_tokens", version) == "count_tokens"
    assert identify("POST", "https://gw.example/v1/threads/t1/messages", []) is None
    assert identify("POST", "https://api.anthropic.com/v1/messages/batches", version) is None
    assert identify("GET", "https://api.anthropic.com/v1/messages", version) is None


def test_the_conversation() -> None:
    shown = conversation("anthropic", "messages", REQUEST)
    assert [(p.text, p.path) for p in shown.system] == [("You mend broken builds.", "system[0]")]
    assert shown.tools == ({"name": "read_file", "description": "Reads a file.", "schema": TOOL["input_schema"]},)
    assert [m.role for m in shown.messages] == ["user", "assistant", "user"]
    parts = [part for message in shown.messages for part in message.parts]
    assert [part.type for part in parts] == [
        "text", "thinking", "text", "tool_use", "tool_use", "tool_use", "tool_result", "tool_result", "tool_result", "image",
        "document",
    ]  # fmt: skip
    assert parts[0].path == "messages[0].content"
    assert (parts[3].name, parts[3].call_id, parts[3].value) == ("read_file", "toolu_1", {"path": "build.log"})
    assert (parts[7].text, parts[7].call_id, parts[7].path) == ("error E0425", "toolu_1", "messages[2].content[0]")
    assert (parts[8].text, parts[8].is_error) == ("no such file", True)
    assert (parts[10].name, parts[10].text) == ("notes", "Notes.")
    assert conversation("anthropic", "messages", {"system": "Be brief."}).system[0].path == "system"
