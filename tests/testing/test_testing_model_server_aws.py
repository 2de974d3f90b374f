"""The server against the real boto3: the Bedrock runtime and CloudWatch. botocore's own parser checks the event streams."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic
import boto3
import botocore.config
import pytest
from botocore.exceptions import ClientError, EventStreamError

from tachograph.testing.model_server import Metric, ModelServer, Script, Turn

MODEL = "us.anthropic.claude-sonnet-4-20250514-v1:0"
PROMPT = "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDEFGHIJ:3"
TOOLS = {"tools": [{"toolSpec": {"name": "page", "inputSchema": {"json": {"type": "object"}}}}]}
CALLS = [{"name": "page", "input": {"team": "Zürich", "n": 1}}, {"name": "page", "input": {}}]
GUARDRAIL = {"guardrailIdentifier": "gr-1", "guardrailVersion": "7", "trace": "enabled"}
TOPIC = {"topicPolicy": {"topics": [{"name": "finance", "type": "DENY", "action": "BLOCKED"}]}}
BLOCKED = {"action": "GUARDRAIL_INTERVENED", "reason": "Guardrail blocked.", "input": TOPIC, "model_output": ["raw"]}


def client(server: ModelServer, service: str = "bedrock-runtime", attempts: int = 2) -> Any:
    return boto3.client(
        service,
        region_name="us-east-1",
        endpoint_url=server.url,
        aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="secret",
        config=botocore.config.Config(retries={"mode": "standard", "total_max_attempts": attempts}),
    )


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": part} if isinstance(part, str) else part for part in content]}


def converse_stream(aws: Any, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The message put together from the stream, and the members of the events at its end."""
    blocks: dict[int, dict[str, Any]] = {}
    end: dict[str, Any] = {}
    for event in aws.converse_stream(**arguments)["stream"]:
        (kind, value), *_ = event.items()
        if kind == "contentBlockStart":
            blocks[value["contentBlockIndex"]] = {"toolUse": {**value["start"]["toolUse"], "input": ""}}
        elif kind == "contentBlockDelta":
            delta = value["delta"]
            if "toolUse" in delta:
                blocks[value["contentBlockIndex"]]["toolUse"]["input"] += delta["toolUse"]["input"]
            elif "text" in delta:
                block = blocks.setdefault(value["contentBlockIndex"], {"text": ""})
                block["text"] += delta["text"]
            else:
                block = blocks.setdefault(value["contentBlockIndex"], {"reasoningContent": {"reasoningText": {"text": ""}}})
                reasoning = block["reasoningContent"]["reasoningText"]
                reasoning["text"] += delta["reasoningContent"].get("text", "")
                reasoning |= {k: v for k, v in delta["reasoningContent"].items() if k == "signature"}
        else:
            end |= value
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return {"role": end.pop("role"), "content": [blocks[index] for index in sorted(blocks)]}, end


def converse(aws: Any, *, stream: bool, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if stream:
        return converse_stream(aws, **arguments)
    answer = aws.converse(**arguments)
    return answer["output"]["message"], answer


@pytest.mark.parametrize("stream", [False, True])
class TestConverse:
    def test_tool_loop(self, stream: bool) -> None:
        with ModelServer(Script(turns=[Turn("Paging.", tool_calls=CALLS), Turn("Paged.")])) as server:
            aws = client(server)
            messages = [user("page them")]
            message, end = converse(aws, stream=stream, modelId=MODEL, messages=messages, toolConfig=TOOLS)
            assert end["stopReason"] == "tool_use"
            assert end["usage"]["totalTokens"] == end["usage"]["inputTokens"] + end["usage"]["outputTokens"]
            assert end["metrics"]["latencyMs"] > 0
            text, *uses = message["content"]
            assert text == {"text": "Paging."}
            assert [use["toolUse"]["input"] for use in uses] == [call["input"] for call in CALLS]
            results = [{"toolResult": {"toolUseId": u["toolUse"]["toolUseId"], "content": [{"json": {}}]}} for u in uses]
            messages += [message, user(*results)]
            message, end = converse(aws, stream=stream, modelId=MODEL, messages=messages, toolConfig=TOOLS)
            assert message == {"role": "assistant", "content": [{"text": "Paged."}]}
            assert end["stopReason"] == "end_turn"

    def test_prompt_resource(self, stream: bool) -> None:
        turns = [Turn("triaged", when="checkout-p99"), Turn("first"), Turn("second")]
        with ModelServer(Script(turns=turns)) as server:
            aws = client(server)
            variables = {"alarm": {"text": "checkout-p99"}}
            message, _ = converse(aws, stream=stream, modelId=PROMPT, promptVariables=variables)
            assert message["content"] == [{"text": "triaged"}]
            path = server.requests[0].path
            assert path.startswith("/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aprompt%2FABCDEFGHIJ%3A3/converse")
            with pytest.raises(ClientError, match="together with a prompt resource"):
                converse(aws, stream=stream, modelId=PROMPT, promptVariables=variables, inferenceConfig={"temperature": 0})

    def test_guardrail(self, stream: bool) -> None:
        with ModelServer(Script(turns=[Turn("Sorry, I cannot say.", guardrail=BLOCKED)])) as server:
            aws = client(server)
            said: Any = {"modelId": MODEL, "messages": [user("buy shares?")]}
            message, end = converse(aws, stream=stream, **said, guardrailConfig=GUARDRAIL)
            assert message["content"] == [{"text": "Sorry, I cannot say."}]
            assert end["stopReason"] == "guardrail_intervened"
            trace = end["trace"]["guardrail"]
            assert trace["actionReason"] == "Guardrail blocked."
            assert trace["modelOutput"] == ["raw"]
            assessment = trace["inputAssessment"]["gr-1"]
            assert assessment["topicPolicy"] == TOPIC["topicPolicy"]
            assert assessment["invocationMetrics"]["guardrailCoverage"]["textCharacters"] == {"guarded": 11, "total": 11}
            _, untraced = converse(aws, stream=stream, **said, guardrailConfig={**GUARDRAIL, "trace": "disabled"})
            assert "trace" not in untraced
            assert untraced["stopReason"] == "guardrail_intervened"
            _, unguarded = converse(aws, stream=stream, **said)
            assert unguarded["stopReason"] == "end_turn"

    def test_output_guardrail_and_router(self, stream: bool) -> None:
        verdict = {"action": "NONE", "outputs": [TOPIC]}
        router = "arn:aws:bedrock:us-east-1:123456789012:default-prompt-router/anthropic.claude:1"
        with ModelServer(Script(turns=[Turn("fine", guardrail=verdict, model="arn:served")])) as server:
            _, end = converse(
                client(server),
                stream=stream,
                modelId=router,
                messages=[user("hi")],
                guardrailConfig=GUARDRAIL,
                performanceConfig={"latency": "optimized"},
            )
        assert end["trace"]["promptRouter"] == {"invokedModelId": "arn:served"}
        assert end["trace"]["guardrail"]["outputAssessments"]["gr-1"][0]["topicPolicy"] == TOPIC["topicPolicy"]
        assert end["performanceConfig"] == {"latency": "optimized"}
        assert end["stopReason"] == "end_turn"

    def test_reasoning(self, stream: bool) -> None:
        with ModelServer(Script(turns=[Turn("42", thinking="Let me see.")])) as server:
            fields = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
            message, _ = converse(client(server), stream=stream, modelId=MODEL, messages=[user("hi")], additionalModelRequestFields=fields)
        reasoning = message["content"][0]["reasoningContent"]["reasoningText"]
        assert reasoning["text"] == "Let me see."
        assert len(reasoning["signature"]) == 64
        assert message["content"][1] == {"text": "42"}

    @pytest.mark.parametrize("status", [429, 503])
    def test_retry(self, stream: bool, status: int) -> None:
        with ModelServer(Script(turns=[Turn("ok", status=status)])) as server:
            message, end = converse(client(server), stream=stream, modelId=MODEL, messages=[user("hi")])
            assert message["content"] == [{"text": "ok"}]
            attempts = [request.headers["amz-sdk-request"] for request in server.requests]
        assert ["attempt=1" in attempt for attempt in attempts] == [True, False]
        assert "attempt=2" in attempts[1]
        assert stream or end["ResponseMetadata"]["RetryAttempts"] == 1

    def test_errors(self, stream: bool) -> None:
        kinds = {429: "ThrottlingException", 403: "AccessDeniedException", 500: "InternalServerException"}
        with ModelServer(Script(turns=[Turn("ok", status=list(kinds))])) as server:
            aws = client(server, attempts=1)
            for kind in kinds.values():
                with pytest.raises(ClientError) as caught:
                    converse(aws, stream=stream, modelId=MODEL, messages=[user("hi")])
                assert caught.value.response["Error"]["Code"] == kind
                assert len(caught.value.response["ResponseMetadata"]["RequestId"]) == 36

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ({"messages": []}, "must start with a user message"),
            (
                {
                    "messages": [
                        user("a"),
                        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "page", "input": {}}}]},
                    ]
                },
                "toolConfig field must be defined",
            ),
            (
                {
                    "toolConfig": TOOLS,
                    "messages": [
                        user("a"),
                        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "page", "input": {}}}]},
                    ],
                },
                "Expected toolResult blocks",
            ),
            (
                {"toolConfig": TOOLS, "messages": [user({"toolResult": {"toolUseId": "t", "content": [{"text": "x"}]}})]},
                "exceeds the number of toolUse",
            ),
        ],
    )
    def test_refusals(self, stream: bool, arguments: dict[str, Any], complaint: str) -> None:
        with ModelServer(Script(turns=[Turn("x"), Turn("y")])) as server:
            with pytest.raises(ClientError, match=complaint):
                converse(client(server), stream=stream, modelId=MODEL, **arguments)


def read(aws: Any, seen: list[str]) -> None:
    for event in aws.converse_stream(modelId=MODEL, messages=[user("hi")])["stream"]:
        seen.extend(event)


def test_error_in_a_stream() -> None:
    seen: list[str] = []
    with ModelServer(Script(turns=[Turn("one two", error_after=3)])) as server:
        with pytest.raises(EventStreamError, match="modelStreamErrorException"):
            read(client(server), seen)
    assert seen == ["messageStart", "contentBlockDelta", "contentBlockDelta"]


def test_broken_stream() -> None:
    seen: list[str] = []
    with ModelServer(Script(turns=[Turn("one two", drop_after=2)])) as server:
        with pytest.raises(Exception, match="Response ended prematurely"):  # urllib3's own
            read(client(server), seen)
    assert seen == ["messageStart", "contentBlockDelta"]


BODY: dict[str, Any] = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}


class TestInvokeModel:
    def test_whole(self) -> None:
        with ModelServer(Script(turns=[Turn("raw", tool_calls=CALLS[:1], guardrail=BLOCKED)])) as server:
            aws = client(server)
            answer = aws.invoke_model(modelId=MODEL, body=json.dumps(BODY))
            body = json.loads(answer["body"].read())
            assert [block["type"] for block in body["content"]] == ["text", "tool_use"]
            assert body["model"] == "claude-sonnet-4-20250514"
            headers = answer["ResponseMetadata"]["HTTPHeaders"]
            assert int(headers["x-amzn-bedrock-output-token-count"]) == body["usage"]["output_tokens"]
            assert "amazon-bedrock-guardrailAction" not in body
            guarded = aws.invoke_model(
                modelId=MODEL, body=json.dumps(BODY), guardrailIdentifier="gr-1", guardrailVersion="7", trace="ENABLED"
            )
            body = json.loads(guarded["body"].read())
        assert body["amazon-bedrock-guardrailAction"] == "INTERVENED"
        trace = body["amazon-bedrock-trace"]["guardrail"]
        assert trace["input"]["gr-1"]["topicPolicy"] == TOPIC["topicPolicy"]

    def test_stream(self) -> None:
        with ModelServer(Script(turns=[Turn("one two")])) as server:
            answer = client(server).invoke_model_with_response_stream(modelId=MODEL, body=json.dumps(BODY))
            events = [json.loads(event["chunk"]["bytes"]) for event in answer["body"]]
        assert answer["contentType"] == "application/json"
        assert [event["type"] for event in events] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert events[-1]["amazon-bedrock-invocationMetrics"]["outputTokenCount"] == events[-2]["usage"]["output_tokens"]

    def test_anthropic_bedrock_client(self) -> None:
        with ModelServer(Script(turns=[Turn("through httpx")])) as server:
            sdk = anthropic.AnthropicBedrock(
                base_url=server.url, aws_region="us-east-1", aws_access_key="AKIDEXAMPLE", aws_secret_key="secret"
            )
            said: Any = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
            assert sdk.messages.create(**said).content[0].text == "through httpx"  # type: ignore[union-attr]
            streamed = sdk.messages.create(**said, stream=True)
            assert [event.type for event in streamed][-1] == "message_stop"

    def test_other_families_are_refused(self) -> None:
        with ModelServer(Script(turns=[Turn("x")])) as server:
            with pytest.raises(ClientError, match="anthropic_version"):
                client(server).invoke_model(modelId="meta.llama3", body=json.dumps({"prompt": "hi"}))


class TestApplyGuardrail:
    @pytest.mark.parametrize(
        ("text", "action", "outputs"),
        [("buy shares now", "GUARDRAIL_INTERVENED", [{"text": "Sorry."}]), ("hello", "NONE", [])],
    )
    def test_verdict(self, text: str, action: str, outputs: list[Any]) -> None:
        with ModelServer(Script(turns=[Turn("Sorry.", when="shares", guardrail=BLOCKED)])) as server:
            answer = client(server).apply_guardrail(
                guardrailIdentifier="gr-1", guardrailVersion="7", source="INPUT", content=[{"text": {"text": text}}]
            )
            assert server.requests[0].path == "/guardrail/gr-1/version/7/apply"
        assert (answer["action"], answer["outputs"]) == (action, outputs)
        assert answer["usage"]["topicPolicyUnits"] == 1
        assert [one["topicPolicy"] for one in answer["assessments"]] == [TOPIC["topicPolicy"]] * len(outputs)


class TestCloudWatch:
    script = Script(
        metrics=[
            Metric("AWS/ApplicationELB", "TargetResponseTime", [0.1, 0.2, 0.9], {"LoadBalancer": "app/checkout"}),
            Metric("AWS/RDS", "CPUUtilization", [50, 99.5]),
        ],
        alarms=[
            {"AlarmName": "checkout-p99", "StateValue": "ALARM", "Threshold": 0.5, "StateUpdatedTimestamp": 1767225600},
            {"AlarmName": "search-p99", "StateValue": "OK"},
        ],
    )

    def query(self, name: str, **dimensions: str) -> dict[str, Any]:
        metric = {"Namespace": "AWS/ApplicationELB", "MetricName": name}
        pairs = [{"Name": key, "Value": value} for key, value in dimensions.items()]
        return {"Id": "m", "MetricStat": {"Metric": {**metric, "Dimensions": pairs}, "Period": 60, "Stat": "p99"}}

    def test_metric_data(self) -> None:
        end = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
        with ModelServer(self.script) as server:
            aws = client(server, "cloudwatch")

            def values(minutes: int, query: dict[str, Any], **more: Any) -> tuple[list[float], list[datetime]]:
                answer = aws.get_metric_data(MetricDataQueries=[query], StartTime=end - timedelta(minutes=minutes), EndTime=end, **more)
                (result,) = answer["MetricDataResults"]
                assert (result["Id"], result["StatusCode"]) == ("m", "Complete")
                return result["Values"], [time.astimezone(UTC) for time in result["Timestamps"]]

            query = self.query("TargetResponseTime", LoadBalancer="app/checkout")
            newest = datetime(2026, 1, 1, 11, 59, tzinfo=UTC)
            times = [newest - timedelta(minutes=n) for n in range(3)]
            assert values(30, query) == ([0.9, 0.2, 0.1], times)
            assert values(2, query, ScanBy="TimestampAscending") == ([0.2, 0.9], times[1::-1])
            assert values(30, self.query("TargetResponseTime", LoadBalancer="other")) == ([], [])

    def test_alarms(self) -> None:
        with ModelServer(self.script) as server:
            aws = client(server, "cloudwatch")
            assert [a["AlarmName"] for a in aws.describe_alarms()["MetricAlarms"]] == ["checkout-p99", "search-p99"]
            (alarm,) = aws.describe_alarms(StateValue="ALARM")["MetricAlarms"]
            assert alarm["StateUpdatedTimestamp"].astimezone(UTC) == datetime(2026, 1, 1, tzinfo=UTC)
            assert [a["AlarmName"] for a in aws.describe_alarms(AlarmNames=["search-p99"])["MetricAlarms"]] == ["search-p99"]
            assert aws.describe_alarms(AlarmNamePrefix="check")["MetricAlarms"] == [alarm]

    def test_other_operations_are_refused(self) -> None:
        with ModelServer(self.script) as server:
            with pytest.raises(ClientError, match="ListMetrics is not served here"):
                client(server, "cloudwatch").list_metrics()
