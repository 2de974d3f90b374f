from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from provider_wires import FRAMES, chunks, exception, frames, over_anthropic_bedrock, over_boto3
from test_providers_anthropic import ANSWER as MESSAGE
from test_providers_anthropic import NAMED
from test_providers_anthropic import REQUEST as MESSAGES
from test_providers_anthropic import STREAM as MESSAGE_STREAM
from test_providers_bedrock import STREAM as CONVERSE_STREAM

from tachograph.providers import ToolResult, ToolUse, anthropic, decode
from tachograph.providers.bedrock import Bedrock
from tachograph.providers.conversation import conversation, reply
from tachograph.testing.provider_suite import ProviderSuite

MODEL = "anthropic.claude-test-1-v1:0"
METRICS = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 20, "outputTokenCount": 31, "invocationLatency": 812}}
BODY = {**{key: value for key, value in MESSAGES.items() if key != "model"}, "anthropic_version": "bedrock-2023-05-31"}
NOVA = {
    "schemaVersion": "messages-v1",
    "system": [{"text": "You mend broken builds."}],
    "messages": [{"role": "user", "content": [{"text": "Why does the build fail?"}]}],
    "inferenceConfig": {"max_new_tokens": 900, "temperature": 0.25, "topP": 0.5, "topK": 40, "stopSequences": ["STOP-HERE"]},
    "toolConfig": {"tools": [{"toolSpec": {"name": "read_file", "inputSchema": {"json": {}}}}], "toolChoice": {"any": {}}},
}
NOVA_ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "I will fix it."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 20, "outputTokens": 31, "totalTokens": 51, "cacheReadInputTokenCount": 8},
}


def invoke(body: Any, answer: Any, model: str = MODEL, headers: dict[str, str] | None = None, **more: Any) -> Any:
    act = lambda client: client.invoke_model(modelId=model, body=json.dumps(body), contentType="application/json", **more)
    return over_boto3(act, answer, headers=headers)


def invoke_stream(body: Any, answer: bytes, model: str = MODEL, **more: Any) -> Any:
    act = lambda client: list(client.invoke_model_with_response_stream(modelId=model, body=json.dumps(body), **more)["body"])
    return over_boto3(act, answer, headers={**FRAMES, "X-Amzn-Bedrock-Content-Type": "application/json"})


GUARDED = {"guardrailIdentifier": "gr1", "guardrailVersion": "7", "trace": "ENABLED"}
COUNTS = {"x-amzn-bedrock-input-token-count": "20", "x-amzn-bedrock-output-token-count": "31"}
ENDED = [*MESSAGE_STREAM[:-1], {**MESSAGE_STREAM[-1], **METRICS}]
PLAIN = invoke(BODY, MESSAGE, headers=COUNTS, performanceConfigLatency="optimized", serviceTier="flex", **GUARDED)
STREAMED = invoke_stream(BODY, chunks(*ENDED))
NOVA_PLAIN = invoke(NOVA, NOVA_ANSWER, model="amazon.nova-lite-v1:0")
NOVA_STREAMED = invoke_stream(NOVA, chunks(*({kind: part} for kind, part in CONVERSE_STREAM), METRICS), model="amazon.nova-lite-v1:0")
BROKEN = invoke_stream(BODY, chunks(*ENDED[:9]) + exception("modelTimeoutException", {"message": "Too slow."}))
SDK_PLAIN = over_anthropic_bedrock(lambda client: client.messages.create(**{**NAMED, "model": MODEL}), MESSAGE)


def _sdk_stream(client: Any) -> Any:
    with client.messages.stream(**{**NAMED, "model": MODEL}) as opened:
        return opened.get_final_message()


SDK_STREAMED = over_anthropic_bedrock(_sdk_stream, chunks(*ENDED), headers=FRAMES)

TEXTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[dict[str, Any]]]] = {
    # vendor: request, params, answer, stream
    "amazon.titan-text-express-v1": (
        {"inputText": "Hi", "textGenerationConfig": {"maxTokenCount": 9, "topP": 0.5, "stopSequences": ["X"], "temperature": 0}},
        {"max_tokens": 9, "top_p": 0.5, "stop_sequences": ["X"], "temperature": 0},
        {"inputTextTokenCount": 3, "results": [{"tokenCount": 4, "outputText": "Hello you.", "completionReason": "FINISH"}]},
        [
            {"outputText": "Hello ", "index": 0, "totalOutputTextTokenCount": None, "completionReason": None},
            {
                "outputText": "you.",
                "index": 0,
                "totalOutputTextTokenCount": 4,
                "completionReason": "FINISH",
                "inputTextTokenCount": 3,
            },
        ],
    ),
    "meta.llama3-8b-instruct-v1:0": (
        {"prompt": "Hi", "max_gen_len": 9, "temperature": 0, "top_p": 0.5},
        {"max_tokens": 9, "temperature": 0, "top_p": 0.5},
        {"generation": "Hello you.", "prompt_token_count": 3, "generation_token_count": 4, "stop_reason": "stop"},
        [
            {"generation": "Hello ", "prompt_token_count": 3, "generation_token_count": 2, "stop_reason": None},
            {"generation": "you.", "prompt_token_count": None, "generation_token_count": 4, "stop_reason": "stop"},
        ],
    ),
    "mistral.mistral-7b-instruct-v0:2": (
        {"prompt": "Hi", "max_tokens": 9, "stop": ["X"], "top_k": 5},
        {"max_tokens": 9, "stop_sequences": ["X"], "top_k": 5},
        {"outputs": [{"text": "Hello you.", "stop_reason": "stop"}]},
        [{"outputs": [{"text": "Hello ", "stop_reason": None}]}, {"outputs": [{"text": "you.", "stop_reason": "stop"}]}],
    ),
    "cohere.command-r-v1:0": (
        {"message": "Hi", "chat_history": [{"role": "CHATBOT", "message": "Yes?"}], "preamble": "Be kind.", "p": 0.5, "k": 5},
        {"top_p": 0.5, "top_k": 5},
        {"text": "Hello you.", "finish_reason": "COMPLETE", "generation_id": "g1"},
        [
            {"event_type": "text-generation", "text": "Hello "},
            {"event_type": "text-generation", "text": "you."},
            {
                "event_type": "stream-end",
                "response": {"text": "Hello you.", "finish_reason": "COMPLETE", "generation_id": "g1"},
            },
        ],
    ),
}
TEXT_RUNS = [
    run
    for model, (request, _, answer, stream) in TEXTS.items()
    for run in (invoke(request, answer, model), invoke_stream(request, chunks(*stream, METRICS), model))
]


class TestBedrockInvoke(ProviderSuite):
    provider = Bedrock()
    content_keys = anthropic.CONTENT | {"inputText", "message", "chat_history", "preamble"} - {"model"}
    exchanges = tuple(run.exchange for run in (PLAIN, STREAMED, NOVA_PLAIN, NOVA_STREAMED, BROKEN, SDK_PLAIN, SDK_STREAMED, *TEXT_RUNS))


def test_anthropic_bodies_are_read_fully() -> None:
    decoded = decode(PLAIN.exchange)
    assert decoded is not None
    assert (decoded.provider, decoded.operation, decoded.model_id) == ("bedrock", "InvokeModel", MODEL)
    assert decoded.served_model_id == MESSAGE["model"]
    assert decoded.params == {
        **{key: MESSAGES[key] for key in ("max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "thinking")},
        "tool_choice": MESSAGES["tool_choice"],
        "service_tier": "standard_only",
        "reasoning_effort": "high",
        "anthropic_version": "bedrock-2023-05-31",
        "latency": "optimized",
        "header.service_tier": "flex",
    }
    assert decoded.guardrail == {"id": "gr1", "version": "7", "action": "NONE", "trace": "ENABLED"}
    assert decoded.usage["cache_read_tokens"] == 1500
    assert decoded.tool_calls == (ToolUse(id="toolu_3", name="apply_patch", input={"patch": "--- a\n+++ b\n"}),)
    assert [result.call_id for result in decoded.tool_results] == ["srv_1", "toolu_1", "toolu_2"]
    assert (decoded.finish_reason, decoded.response_id, decoded.request_id) == ("tool_use", "msg_1", "rid-1")


def test_the_anthropic_sdk_speaks_invoke_model() -> None:
    decoded = decode(SDK_PLAIN.exchange)
    assert decoded is not None
    assert (decoded.provider, decoded.operation, decoded.model_id) == ("bedrock", "InvokeModel", MODEL)
    assert decoded.params["anthropic_version"]
    decoded = decode(SDK_STREAMED.exchange)
    assert decoded is not None
    assert (decoded.operation, decoded.stream) == ("InvokeModelWithResponseStream", True)
    theirs = SDK_STREAMED.value.to_dict()
    theirs.pop("amazon-bedrock-invocationMetrics", None)
    assert {key: value for key, value in decoded.output.items() if not key.startswith("amazon-")} == theirs


def test_an_anthropic_stream() -> None:
    decoded = decode(STREAMED.exchange)
    assert decoded is not None
    assert [call.name for call in decoded.tool_calls] == ["apply_patch", "now", "web_search"]
    assert decoded.output["amazon-bedrock-invocationMetrics"] == METRICS["amazon-bedrock-invocationMetrics"]
    parts = reply("bedrock", decoded.operation, decoded.output)
    assert parts[1].text == "I will fix it — naïvely 🙂."
    decoded = decode(BROKEN.exchange)
    assert decoded is not None
    assert decoded.error == {"type": "modelTimeoutException", "message": "Too slow.", "status": 200}
    assert [part.text for part in reply("bedrock", decoded.operation, decoded.output)] == ["The symbol is gone.", "I will fix "]


def test_an_error_event_of_the_vendor_within_the_stream() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    decoded = decode(replace(STREAMED.exchange, answer=chunks(*ENDED[:9], error)))
    assert decoded is not None
    assert decoded.error == {"type": "overloaded_error", "message": "Overloaded", "status": 200}


def test_nova() -> None:
    decoded = decode(NOVA_PLAIN.exchange)
    assert decoded is not None
    assert decoded.params == {
        "max_tokens": 900,
        "temperature": 0.25,
        "top_p": 0.5,
        "top_k": 40,
        "stop_sequences": ["STOP-HERE"],
        "tool_choice": {"any": {}},
        "schema_version": "messages-v1",
    }
    assert decoded.usage == {"input_tokens": 20, "output_tokens": 31, "total_tokens": 51, "cache_read_tokens": 8}
    assert decoded.finish_reason == "end_turn"
    decoded = decode(NOVA_STREAMED.exchange)
    assert decoded is not None
    assert [call.id for call in decoded.tool_calls] == ["t3", "t4"]
    assert decoded.output["stopReason"] == "tool_use"
    shown = conversation("bedrock", "InvokeModel", NOVA)
    assert (shown.system[0].text, shown.messages[0].parts[0].text) == ("You mend broken builds.", "Why does the build fail?")


@pytest.mark.parametrize("model", TEXTS)
def test_text_bodies_of_other_vendors(model: str) -> None:
    request, params, answer, stream = TEXTS[model]
    plain, streamed = invoke(request, answer, model), invoke_stream(request, chunks(*stream, METRICS), model)
    for run in (plain, streamed):
        decoded = decode(run.exchange)
        assert decoded is not None
        assert decoded.params == params
        assert "".join(part.text for part in reply("bedrock", decoded.operation, decoded.output)) == "Hello you."
        assert decoded.finish_reason is not None
        shown = conversation("bedrock", decoded.operation, decoded.input)
        assert shown.messages[-1].parts[0].text == "Hi"
    assert decoded.usage["output_tokens"] in (4, 31)
    assert decoded.output == {**answer, **METRICS}


def test_chat_bodies_of_other_vendors() -> None:
    request = {
        "messages": [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "c0", "content": "x"}],
        "top_p": 1,
    }
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}
    decoded = decode(invoke(request, answer, "mistral.mistral-large-2407-v1:0").exchange)
    assert decoded is not None
    assert (decoded.params, decoded.finish_reason) == ({"top_p": 1}, "stop")
    assert decoded.tool_results == (ToolResult(call_id="c0", output="x"),)
    assert [part.text for part in reply("bedrock", "InvokeModel", decoded.output)] == ["Hello."]
    assert conversation("bedrock", "InvokeModel", request).messages[0].parts[0].text == "Hi"
    stream = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("Hel", "lo.")]
    decoded = decode(invoke_stream(request, chunks(*stream), "openai.gpt-oss-20b-1:0").exchange)
    assert decoded is not None
    assert [part.text for part in reply("bedrock", decoded.operation, decoded.output)] == ["Hello."]


def test_guardrail_of_an_invocation() -> None:
    trace = {"guardrail": {"input": {"gr1": {"topicPolicy": {"topics": [{"name": "money", "action": "BLOCKED"}]}}}}}
    own = {"amazon-bedrock-guardrailAction": "INTERVENED", "amazon-bedrock-trace": trace}
    decoded = decode(invoke(BODY, {**MESSAGE, **own}, **GUARDED).exchange)
    assert decoded is not None
    assert decoded.guardrail == {
        "id": "gr1", "version": "7", "action": "INTERVENED", "trace": "ENABLED", "assessments": trace["guardrail"],
    }  # fmt: skip
    tagged = {**BODY, "amazon-bedrock-guardrailConfig": {"tagSuffix": "xyz", "streamProcessingMode": "ASYNCHRONOUS"}}
    decoded = decode(invoke_stream(tagged, chunks(*ENDED, own), **GUARDED).exchange)
    assert decoded is not None
    assert decoded.guardrail is not None
    assert decoded.guardrail["action"] == "INTERVENED"
    assert decoded.guardrail["stream_processing_mode"] == "ASYNCHRONOUS"
    assert not any(key.startswith("amazon-") for key in decoded.params)


def test_counts_from_headers_where_the_body_has_none() -> None:
    decoded = decode(invoke({"prompt": "Hi"}, {"completion": "Hello."}, headers=COUNTS).exchange)
    assert decoded is not None
    assert decoded.usage == {"input_tokens": 20, "output_tokens": 31}


def test_anthropic_text_completions() -> None:
    request = {"prompt": "Human: Hi", "max_tokens_to_sample": 9, "anthropic_version": "bedrock-2023-05-31"}
    decoded = decode(invoke(request, {"completion": "Hello.", "stop_reason": "stop_sequence"}).exchange)
    assert decoded is not None
    assert (decoded.params["max_tokens"], decoded.finish_reason) == (9, "stop_sequence")
    assert conversation("bedrock", "InvokeModel", request).messages[0].parts[0].text == "Human: Hi"
    assert [part.text for part in reply("bedrock", "InvokeModel", decoded.output)] == ["Hello."]


def test_chunks_that_are_not_json_are_left_out() -> None:
    noise = frames(("chunk", {"bytes": "!"}), ("chunk", {"bytes": "AAAA"}), ("chunk", []), ("other", {"bytes": "e30="}))
    decoded = decode(replace(STREAMED.exchange, answer=noise + chunks(*ENDED)))
    assert decoded is not None
    assert decoded.output == decode(STREAMED.exchange).output  # type: ignore[union-attr]
    assert len(decoded.problems) == 3
    assert decoded.problems[0] == "the payload of the message at byte 0 is not a JSON object"


def test_a_stream_of_an_unknown_vendor_is_kept_chunk_by_chunk() -> None:
    decoded = decode(invoke_stream({"x": 1}, chunks({"novel": "a"}, {"novel": "b"}), "acme.model-1").exchange)
    assert decoded is not None
    assert decoded.output == {"chunks": [{"novel": "a"}, {"novel": "b"}]}
