from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from botocore.exceptions import ClientError, EventStreamError
from provider_wires import FRAMES, events, exception, frames, over_boto3

from tachograph.providers import Exchange, ToolResult, ToolUse, decode
from tachograph.providers.bedrock import Bedrock, model_of, prompt_of
from tachograph.providers.conversation import conversation, reply
from tachograph.testing.provider_suite import ProviderSuite

PROMPT = "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDE12345"
MODEL = "anthropic.claude-test-1-v1:0"
REQUEST: dict[str, Any] = {
    "system": [{"text": "You mend broken builds."}, {"cachePoint": {"type": "default"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "Why does the build fail?"},
                {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
                {"document": {"format": "txt", "name": "notes", "source": {"text": "Some notes."}}},
                {"guardContent": {"text": {"text": "Look at this only.", "qualifiers": ["query"]}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Read the log.", "signature": "c2ln"}}},
                {"toolUse": {"toolUseId": "t1", "name": "read_file", "input": {"path": "build.log"}}},
                {"toolUse": {"toolUseId": "t2", "name": "read_file", "input": {"path": "missing"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "t1",
                        "content": [{"text": "error"}, {"json": {"code": "E0425"}}],
                        "status": "success",
                    }
                },
                {"toolResult": {"toolUseId": "t2", "content": [{"text": "no such file"}], "status": "error"}},
            ],
        },
    ],
    "inferenceConfig": {"maxTokens": 900, "temperature": 0.25, "topP": 0.5, "stopSequences": ["STOP-HERE"]},
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "read_file", "description": "Reads.", "inputSchema": {"json": {"type": "object"}}}}],
        "toolChoice": {"auto": {}},
    },
    "guardrailConfig": {"guardrailIdentifier": "gr1", "guardrailVersion": "7", "trace": "enabled"},
    "additionalModelRequestFields": {
        "top_k": 40,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "anthropic_beta": ["context-1m-2025-08-07"],
        "inferenceConfig": {"topK": 41},
    },
    "additionalModelResponseFieldPaths": ["/stop_sequence"],
    "performanceConfig": {"latency": "optimized"},
    "serviceTier": {"type": "priority"},
    "requestMetadata": {"ticket": "a-ticket-of-ours"},
}
PARAMS = {
    "max_tokens": 900,
    "temperature": 0.25,
    "top_p": 0.5,
    "stop_sequences": ["STOP-HERE"],
    "tool_choice": {"auto": {}},
    "top_k": 40,
    "topK": 41,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "betas": ["context-1m-2025-08-07"],
    "additional_model_response_field_paths": ["/stop_sequence"],
    "latency": "optimized",
    "service_tier": "priority",
}
USAGE = {"inputTokens": 20, "outputTokens": 31, "totalTokens": 51, "cacheReadInputTokens": 1500, "cacheWriteInputTokens": 64}
TRACE = {
    "guardrail": {
        "inputAssessment": {"gr1": {"topicPolicy": {"topics": [{"name": "money", "type": "DENY", "action": "NONE", "detected": False}]}}}
    }
}
BLOCKED = {
    "guardrail": {
        "outputAssessments": {
            "gr9": [
                {
                    "sensitiveInformationPolicy": {
                        "piiEntities": [{"match": "Ann", "type": "NAME", "action": "ANONYMIZED", "detected": True}]
                    },
                    "appliedGuardrailDetails": {"guardrailId": "gr9", "guardrailVersion": "2"},
                }
            ]
        },
        "actionReason": "Guardrail masked.",
    }
}
CONTENT = [
    {"reasoningContent": {"reasoningText": {"text": "The symbol is gone.", "signature": "c2ln"}}},
    {"text": "I will fix it — naïvely 🙂."},
    {"toolUse": {"toolUseId": "t3", "name": "apply_patch", "input": {"patch": "--- a"}}},
    {"toolUse": {"toolUseId": "t4", "name": "now", "input": {}}},
]
ANSWER: dict[str, Any] = {
    "output": {"message": {"role": "assistant", "content": CONTENT}},
    "stopReason": "tool_use",
    "usage": USAGE,
    "metrics": {"latencyMs": 812},
    "trace": {**TRACE, "promptRouter": {"invokedModelId": "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-x"}},
}
STREAM: list[tuple[str, Any]] = [
    ("messageStart", {"role": "assistant", "p": "abc"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "The symbol "}}, "p": "abcd"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "is gone."}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "c2ln"}}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "I will fix "}}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "it — naïvely 🙂."}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    ("contentBlockStart", {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t3", "name": "apply_patch"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"patch": '}}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '"--- a"}'}}}),
    ("contentBlockStop", {"contentBlockIndex": 2}),
    ("contentBlockStart", {"contentBlockIndex": 3, "start": {"toolUse": {"toolUseId": "t4", "name": "now"}}}),
    ("contentBlockStop", {"contentBlockIndex": 3}),
    ("messageStop", {"stopReason": "tool_use", "p": "ab"}),
    ("metadata", {"usage": USAGE, "metrics": {"latencyMs": 812}, "trace": ANSWER["trace"]}),
]
APPLIED = {
    "usage": {"topicPolicyUnits": 1, "contentPolicyUnits": 2},
    "action": "GUARDRAIL_INTERVENED",
    "actionReason": "Guardrail blocked.",
    "outputs": [{"text": "I cannot say."}],
    "assessments": [{"topicPolicy": {"topics": [{"name": "money", "type": "DENY", "action": "BLOCKED"}]}}],
}


def read_stream(client: Any) -> Any:
    answer = client.converse_stream(modelId=MODEL, **REQUEST)
    return list(answer["stream"])


def converse(model: str = MODEL, answer: Any = ANSWER, **changes: Any) -> Any:
    return over_boto3(lambda client: client.converse(modelId=model, **{**REQUEST, **changes}), answer)


PLAIN = converse()
MANAGED = over_boto3(
    lambda client: client.converse(
        modelId=f"{PROMPT}:3",
        promptVariables={"project": {"text": "the-project-name"}},
        additionalModelRequestFields=REQUEST["additionalModelRequestFields"],
    ),
    ANSWER,
)
STREAMED = over_boto3(read_stream, frames(*STREAM), headers=FRAMES)
THROTTLED = over_boto3(
    lambda client: client.converse(modelId=MODEL, **REQUEST),
    {"message": "Too many requests"},
    status=429,
    headers={"x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/"},
)
BROKEN = over_boto3(read_stream, frames(*STREAM[:7]) + exception("throttlingException", {"message": "Slow down."}), headers=FRAMES)
GUARDRAIL = over_boto3(
    lambda client: client.apply_guardrail(
        guardrailIdentifier="arn:aws:bedrock:us-east-1:123456789012:guardrail/gr1",
        guardrailVersion="7",
        source="OUTPUT",
        content=[{"text": {"text": "Send the money to Ann.", "qualifiers": ["guard_content"]}}],
        outputScope="FULL",
    ),
    APPLIED,
)
COUNTED = over_boto3(
    lambda client: client.count_tokens(
        modelId=MODEL, input={"converse": {key: REQUEST[key] for key in ("system", "messages", "toolConfig")}}
    ),
    {"inputTokens": 812},
)


class TestBedrockConverse(ProviderSuite):
    provider = Bedrock()
    content_keys = frozenset({"system", "messages", "tools", "content", "promptVariables", "requestMetadata"})
    exchanges = tuple(run.exchange for run in (PLAIN, MANAGED, STREAMED, THROTTLED, BROKEN, GUARDRAIL, COUNTED))


def test_a_plain_answer() -> None:
    decoded = decode(PLAIN.exchange)
    assert decoded is not None
    assert PLAIN.value["stopReason"] == "tool_use"
    assert (decoded.provider, decoded.operation, decoded.kind) == ("bedrock", "Converse", "model")
    assert (decoded.model_id, decoded.served_model_id) == (MODEL, ANSWER["trace"]["promptRouter"]["invokedModelId"])
    assert decoded.params == PARAMS
    assert decoded.prompt is None
    assert decoded.guardrail == {
        "id": "gr1", "version": "7", "action": "NONE", "trace": "enabled", "assessments": TRACE["guardrail"],
    }  # fmt: skip
    assert decoded.usage == {
        "input_tokens": 20, "output_tokens": 31, "total_tokens": 51, "cache_read_tokens": 1500, "cache_write_tokens": 64,
    }  # fmt: skip
    assert decoded.tool_calls == (
        ToolUse(id="t3", name="apply_patch", input={"patch": "--- a"}),
        ToolUse(id="t4", name="now", input={}),
    )
    assert decoded.tool_results == (
        ToolResult(call_id="t1", output=[{"text": "error"}, {"json": {"code": "E0425"}}]),
        ToolResult(call_id="t2", output=[{"text": "no such file"}], is_error=True),
    )
    assert (decoded.finish_reason, decoded.response_id, decoded.request_id) == ("tool_use", None, "rid-1")
    assert (decoded.output, decoded.stream, decoded.error) == (ANSWER, False, None)


def test_a_stream_becomes_the_plain_answer() -> None:
    decoded = decode(STREAMED.exchange)
    assert decoded is not None
    assert decoded.output == ANSWER
    assert (decoded.operation, decoded.stream, decoded.finish_reason) == ("ConverseStream", True, "tool_use")
    assert decoded.guardrail == decode(PLAIN.exchange).guardrail  # type: ignore[union-attr]
    # botocore read the same bytes.
    texts = [e["contentBlockDelta"]["delta"].get("text", "") for e in STREAMED.value if "contentBlockDelta" in e]
    assert "".join(texts) == "I will fix it — naïvely 🙂."


def test_a_managed_prompt_is_in_the_path() -> None:
    decoded = decode(MANAGED.exchange)
    assert decoded is not None
    assert decoded.model_id == f"{PROMPT}:3"
    assert decoded.prompt == {"id": PROMPT, "version": "3"}
    shown = conversation("bedrock", "Converse", decoded.input)
    assert [(part.name, part.text, part.path) for message in shown.messages for part in message.parts] == [
        ("project", "the-project-name", "promptVariables.project")
    ]


@pytest.mark.parametrize(
    "encode",
    [lambda arn: arn, lambda arn: quote(arn, safe=""), lambda arn: quote(arn, safe=":"), lambda arn: quote(quote(arn, ""))],
)
def test_a_model_id_in_any_encoding(encode: Any) -> None:
    for arn in (
        f"{PROMPT}:3",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123",
        "arn:aws-us-gov:bedrock:us-gov-west-1:123456789012:custom-model/amazon.nova-lite-v1:0/abc123def456",
        "us.anthropic.claude-test-1-v1:0",
    ):
        for base in ("https://bedrock-runtime.us-east-1.amazonaws.com", "http://127.0.0.1:8080/gateway/model/x"):
            url = f"{base}/model/{encode(arn)}/converse-stream?x=/model/other/converse"
            assert model_of(url) == arn
            assert Bedrock().identify("POST", url, []) == "ConverseStream"


def test_prompt_arns() -> None:
    assert prompt_of(PROMPT) == {"id": PROMPT, "version": "DRAFT"}
    assert prompt_of(MODEL) is None
    assert prompt_of("arn:aws:bedrock:us-east-1:123456789012:default-prompt-router/anthropic.claude:1") is None


@pytest.mark.parametrize(
    "url",
    [
        "https://h/model/converse",
        "https://h/model//converse",
        "https://h/model/m/train",
        "https://h/models/m/converse",
        "https://h/guardrail/version/1/apply",
        "https://h/guardrail/g/version/apply",
        "https://h/guardrail/g/version/1/apply/now",
    ],
)
def test_paths_that_are_no_call(url: str) -> None:
    assert Bedrock().identify("POST", url, []) is None


def test_guardrail_actions() -> None:
    def guardrail(**changes: Any) -> Any:
        decoded = decode(converse(answer={**ANSWER, **changes}).exchange)
        assert decoded is not None
        return decoded.guardrail

    assert guardrail(stopReason="guardrail_intervened")["action"] == "INTERVENED"
    assert guardrail(trace={})["action"] == "NONE"
    masked = guardrail(trace=BLOCKED)  # masked, and the model went on to its own end
    assert (masked["action"], masked["reason"], masked["assessments"]) == (
        "INTERVENED", "Guardrail masked.", BLOCKED["guardrail"],
    )  # fmt: skip
    # One that the account enforces is named by the answer alone.
    body = {key: value for key, value in PLAIN.exchange.request.items() if key != "guardrailConfig"}
    enforced = replace(PLAIN.exchange, request=body, answer=json.dumps({**ANSWER, "trace": BLOCKED}).encode())
    decoded = decode(enforced)
    assert decoded is not None
    assert decoded.guardrail is not None
    assert (decoded.guardrail["id"], decoded.guardrail["version"], decoded.guardrail["action"]) == ("gr9", "2", "INTERVENED")
    decoded = decode(replace(enforced, answer=json.dumps({**ANSWER, "trace": {}}).encode()))
    assert decoded is not None
    assert decoded.guardrail is None


def test_a_guardrail_is_not_said_to_have_passed_what_it_never_saw() -> None:
    for run in (THROTTLED, BROKEN):
        decoded = decode(run.exchange)
        assert decoded is not None
        assert decoded.guardrail == {"id": "gr1", "version": "7", "action": None, "trace": "enabled"}


def test_apply_guardrail() -> None:
    decoded = decode(GUARDRAIL.exchange)
    assert decoded is not None
    assert (decoded.operation, decoded.kind, decoded.model_id) == ("ApplyGuardrail", "guardrail", None)
    assert decoded.guardrail == {
        "id": "arn:aws:bedrock:us-east-1:123456789012:guardrail/gr1",
        "version": "7",
        "action": "INTERVENED",
        "source": "OUTPUT",
        "reason": "Guardrail blocked.",
        "assessments": APPLIED["assessments"],
    }
    assert decoded.params == {"output_scope": "FULL"}
    assert decoded.usage == {"topic_policy_units": 1, "content_policy_units": 2}
    (message,) = conversation("bedrock", "ApplyGuardrail", decoded.input).messages
    assert (message.role, message.parts[0].text) == ("assistant", "Send the money to Ann.")
    assert [part.text for part in reply("bedrock", "ApplyGuardrail", decoded.output)] == ["I cannot say."]


def test_count_tokens() -> None:
    decoded = decode(COUNTED.exchange)
    assert decoded is not None
    assert (decoded.operation, decoded.usage) == ("CountTokens", {"input_tokens": 812})
    assert decoded.params == {"tool_choice": {"auto": {}}}
    shown = conversation("bedrock", "CountTokens", decoded.input)
    assert shown.messages[0].parts[0].path == "input.converse.messages[0].content[0]"


def test_errors() -> None:
    decoded = decode(THROTTLED.exchange)
    assert decoded is not None
    assert isinstance(THROTTLED.value, ClientError)
    assert decoded.error == {"type": "ThrottlingException", "message": "Too many requests", "status": 429}
    decoded = decode(BROKEN.exchange)
    assert decoded is not None
    assert isinstance(BROKEN.value, EventStreamError)
    assert decoded.error == {"type": "throttlingException", "message": "Slow down.", "status": 200}
    assert [part.text for part in reply("bedrock", "ConverseStream", decoded.output)] == [
        "The symbol is gone.", "I will fix it — naïvely 🙂.",
    ]  # fmt: skip
    refused = over_boto3(read_stream, {"message": "No."}, status=403, headers={"x-amzn-errortype": "AccessDeniedException"})
    decoded = decode(refused.exchange)
    assert decoded is not None
    assert decoded.error == {"type": "AccessDeniedException", "message": "No.", "status": 403}
    mislabelled = replace(refused.exchange, answer_headers=(*FRAMES.items(), ("x-amzn-errortype", "AccessDeniedException")))
    decoded = decode(mislabelled)
    assert decoded is not None
    assert decoded.error == {"type": "AccessDeniedException", "message": "No.", "status": 403}
    failed = exception("modelStreamErrorException", {"message": "Oh.", "originalStatusCode": 424, "originalMessage": "x"})
    decoded = decode(replace(STREAMED.exchange, answer=failed))
    assert decoded is not None
    assert decoded.error == {"type": "modelStreamErrorException", "message": "Oh.", "status": 200, "original_status": 424}


def test_a_damaged_stream_keeps_what_came_before_and_says_where() -> None:
    body = frames(*STREAM[:6])
    damaged = bytearray(body + frames(*STREAM[6:]))
    damaged[len(body) + 30] ^= 1
    decoded = decode(replace(STREAMED.exchange, answer=bytes(damaged)))
    assert decoded is not None
    assert [part.text for part in reply("bedrock", "ConverseStream", decoded.output)] == ["The symbol is gone.", "I will fix "]
    assert decoded.problems == (f"event stream: the message checksum does not match, message at byte {len(body)}",)
    assert (decoded.finish_reason, decoded.error) == (None, None)


def test_arguments_that_were_cut_are_no_arguments() -> None:
    for count, raw in ((9, ""), (10, '{"patch": '), (11, '{"patch": "--- a"}')):
        decoded = decode(replace(STREAMED.exchange, answer=frames(*STREAM[:count]), complete=False))
        assert decoded is not None
        assert decoded.tool_calls == (ToolUse(id="t3", name="apply_patch", input={"$invalid": raw}),)


def test_other_deltas_of_a_stream() -> None:
    citation = {"title": "notes", "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}}
    use = {"toolUseId": "s", "name": "nova_grounding", "type": "server_tool_use"}
    redacted = base64.b64encode(b"hidden").decode()
    body = frames(
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "As noted."}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"citation": citation}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"reasoningContent": {"redactedContent": redacted}}}),
        ("contentBlockStart", {"contentBlockIndex": 2, "start": {"toolUse": use}}),
        ("contentBlockStop", {"contentBlockIndex": 2}),
        ("contentBlockStart", {"contentBlockIndex": 3, "start": {"toolResult": {"toolUseId": "s", "status": "error"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 3, "delta": {"toolResult": [{"text": "no "}]}}),
        ("contentBlockDelta", {"contentBlockIndex": 3, "delta": {"toolResult": [{"text": "luck"}, {"json": {"n": 1}}]}}),
        ("contentBlockStart", {"contentBlockIndex": 4, "start": {"image": {"format": "png"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 4, "delta": {"image": {"source": {"bytes": "AAAA"}}}}),
    )  # fmt: skip
    decoded = decode(replace(STREAMED.exchange, answer=body))
    assert decoded is not None
    assert decoded.output["output"]["message"]["content"] == [
        {"citationsContent": {"content": [{"text": "As noted."}], "citations": [citation]}},
        {"reasoningContent": {"redactedContent": redacted}},
        {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "type": "server_tool_use", "input": {}}},
        {"toolResult": {"toolUseId": "s", "status": "error", "content": [{"text": "no luck"}, {"json": {"n": 1}}]}},
        {"image": {"format": "png"}, "deltas": [{"image": {"source": {"bytes": "AAAA"}}}]},
    ]
    assert decoded.tool_calls == (ToolUse(id="s", name="nova_grounding", input={}, provider_run=True),)
    assert decoded.provider_results == (ToolResult(call_id="s", output=[{"text": "no luck"}, {"json": {"n": 1}}], is_error=True),)
    assert [part.type for part in reply("bedrock", "ConverseStream", decoded.output)] == [
        "text", "thinking", "tool_use", "tool_result", "image",
    ]  # fmt: skip


def test_the_conversation() -> None:
    shown = conversation("bedrock", "Converse", PLAIN.exchange.request)
    assert [(part.type, part.text) for part in shown.system] == [("text", "You mend broken builds."), ("other", "")]
    parts = [part for message in shown.messages for part in message.parts]
    assert [(part.type, part.text) for part in parts] == [
        ("text", "Why does the build fail?"), ("image", ""), ("document", "Some notes."), ("text", "Look at this only."),
        ("thinking", "Read the log."), ("tool_use", ""), ("tool_use", ""), ("tool_result", 'error\n{"code": "E0425"}'),
        ("tool_result", "no such file"),
    ]  # fmt: skip
    assert (parts[5].name, parts[5].call_id, parts[5].value) == ("read_file", "t1", {"path": "build.log"})
    assert (parts[8].path, parts[8].is_error) == ("messages[2].content[1]", True)
    assert shown.tools == ({"name": "read_file", "description": "Reads.", "schema": {"type": "object"}},)


def test_server_sent_events_are_no_event_stream() -> None:
    # A gateway that answers in another format than the one asked for is shown as the text it sent.
    body = events({"text": "hello"})
    decoded = decode(replace(STREAMED.exchange, answer=body, answer_headers=(("content-type", "text/event-stream"),)))
    assert decoded is not None
    assert decoded.output == body.decode()
    assert decoded.problems == ("the answer is not JSON",)


def test_a_request_without_a_body() -> None:
    decoded = decode(Exchange(method="POST", url="https://h/model/m/converse"))
    assert decoded is not None
    assert (decoded.model_id, decoded.params, decoded.guardrail, decoded.input) == ("m", {}, None, None)
