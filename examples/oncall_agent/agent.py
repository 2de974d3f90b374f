"""An on-call agent in one file: ``python agent.py ALARM`` looks into a CloudWatch alarm and pages a team if it must.

1. Triage by a managed prompt: the model and its prompt live in Bedrock Prompt Management, this program only fills them in.
2. Investigation: a Converse loop with tools, under a guardrail.
3. Summary for the incident channel, streamed.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timedelta, timezone
from typing import Any

import boto3
from botocore.config import Config

PROMPT_ARN = "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDEFGHIJ:3"
MODEL = "us.amazon.nova-pro-v1:0"
GUARDRAIL = {"guardrailIdentifier": "gr0n7c4ll5af", "guardrailVersion": "7", "trace": "enabled"}
INFERENCE = {"maxTokens": 1024, "temperature": 0.0, "topP": 0.9}
MAX_STEPS = 12

SYSTEM = """\
You are on call for a web shop. Find out with the tools what is wrong, and page the one team that can fix it.
Never change production yourself.
"""


def spec(name: str, description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


TOOLS = {
    "tools": [
        spec(
            "get_metric",
            "Read a CloudWatch metric, one value per minute, newest first.",
            ["namespace", "metric", "statistic", "minutes"],
            namespace={"type": "string"},
            metric={"type": "string"},
            dimensions={"type": "object", "additionalProperties": {"type": "string"}},
            statistic={"type": "string", "description": "Average, Sum, Maximum, p99, …"},
            minutes={"type": "integer", "minimum": 1, "maximum": 180},
        ),
        spec(
            "page_team",
            "Wake somebody up.",
            ["team", "severity", "message"],
            team={"type": "string"},
            severity={"type": "string", "enum": ["sev1", "sev2", "sev3"]},
            message={"type": "string"},
        ),
    ]
}


class Agent:
    def __init__(self) -> None:
        # Bedrock throttles in bursts; the SDK's own retries are enough.
        config = Config(retries={"mode": "standard", "total_max_attempts": 4}, read_timeout=120)
        region = os.environ.get("AWS_REGION", "us-east-1")
        self.bedrock = boto3.client("bedrock-runtime", region_name=region, config=config)
        self.cloudwatch = boto3.client("cloudwatch", region_name=region, config=config)
        self.moment = datetime.min

    def alarm(self, name: str) -> dict[str, Any]:
        found = self.cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
        if not found:
            sys.exit(f"no alarm is called {name}")
        self.moment = found[0]["StateUpdatedTimestamp"].astimezone(timezone.utc)  # noqa: UP017 - datetime.UTC is not in Python 3.9
        keys = ("AlarmName", "AlarmDescription", "StateValue", "StateReason", "Namespace", "MetricName", "Dimensions")
        return {key: found[0][key] for key in keys if key in found[0]}

    def get_metric(self, namespace: str, metric: str, statistic: str, minutes: int, dimensions: Any = None) -> dict[str, Any]:
        end = self.moment  # what led to the alarm, not what came after it
        pairs = [{"Name": name, "Value": value} for name, value in sorted((dimensions or {}).items())]
        stat = {"Metric": {"Namespace": namespace, "MetricName": metric, "Dimensions": pairs}, "Period": 60, "Stat": statistic}
        answer = self.cloudwatch.get_metric_data(
            MetricDataQueries=[{"Id": "m", "MetricStat": stat}], StartTime=end - timedelta(minutes=minutes), EndTime=end
        )
        result = answer["MetricDataResults"][0]
        # Minutes ago rather than times: models are bad at subtracting those.
        points = [
            {"minutes_ago": int((end - time).total_seconds() // 60), "value": value}
            for time, value in zip(result["Timestamps"], result["Values"])  # noqa: B905 - nor is `strict`
        ]
        return {"metric": metric, "statistic": statistic, "points": points}

    def page_team(self, team: str, severity: str, message: str) -> dict[str, Any]:
        say(f"PAGE {team} {severity}: {message}")
        return {"paged": team}

    def triage(self, alarm: dict[str, Any]) -> dict[str, Any]:
        variables = {
            "alarm_name": {"text": alarm["AlarmName"]},
            "alarm_reason": {"text": alarm["StateReason"]},
        }
        answer = self.bedrock.converse(modelId=PROMPT_ARN, promptVariables=variables, guardrailConfig=GUARDRAIL)
        return answer["output"]["message"]

    def investigate(self, messages: list[Any]) -> None:
        """The loop; it ends with the model's last word, or the guardrail's."""
        for _ in range(MAX_STEPS):
            answer = self.bedrock.converse(
                modelId=MODEL,
                system=[{"text": SYSTEM}],
                messages=messages,
                inferenceConfig=INFERENCE,
                toolConfig=TOOLS,
                guardrailConfig=GUARDRAIL,
                requestMetadata={"agent": "oncall", "stage": "investigate"},
            )
            message = answer["output"]["message"]
            messages.append(message)
            results = []
            for block in message["content"]:
                if "text" in block:
                    say(f"model: {block['text']}")
                if "toolUse" in block:
                    results.append({"toolResult": self.call(block["toolUse"])})
            if answer["stopReason"] == "guardrail_intervened":
                say(f"guardrail: {verdict(answer.get('trace', {}).get('guardrail', {}))}")
            if not results:
                return
            messages.append({"role": "user", "content": results})
        say(f"gave up after {MAX_STEPS} steps")

    def call(self, use: dict[str, Any]) -> dict[str, Any]:
        say(f"tool: {use['name']} {json.dumps(use['input'], sort_keys=True)}")
        tools = {"get_metric": self.get_metric, "page_team": self.page_team}
        try:
            result, status = tools[use["name"]](**use["input"]), "success"
        except (KeyError, TypeError) as error:
            result, status = {"error": f"{use['name']} cannot be called like this: {error}"}, "error"
        return {"toolUseId": use["toolUseId"], "content": [{"json": result}], "status": status}

    def summarise(self, messages: list[Any]) -> None:
        answer = self.bedrock.converse_stream(
            modelId=MODEL,
            system=[{"text": SYSTEM}],
            messages=messages,
            inferenceConfig=INFERENCE,
            toolConfig=TOOLS,
            guardrailConfig={**GUARDRAIL, "streamProcessingMode": "sync"},
            requestMetadata={"agent": "oncall", "stage": "summarise"},
        )
        for event in answer["stream"]:
            if "contentBlockDelta" in event:
                print(event["contentBlockDelta"]["delta"].get("text", ""), end="", flush=True)
            elif "messageStop" in event:
                print(flush=True)


def verdict(trace: dict[str, Any]) -> str:
    """What a guardrail found, as ``policy name (action)``."""
    found = list(trace.get("inputAssessment", {}).values())
    for assessments in trace.get("outputAssessments", {}).values():
        found.extend(assessments)
    topics = [topic for one in found for topic in one.get("topicPolicy", {}).get("topics", [])]
    return ", ".join(f"topic {topic['name']} ({topic['action']})" for topic in topics) or "intervened"


def say(line: str) -> None:
    print(line, flush=True)


def main(name: str) -> None:
    agent = Agent()
    alarm = agent.alarm(name)
    say(f"alarm: {alarm['AlarmName']} is {alarm['StateValue']}")
    triage = agent.triage(alarm)
    say(f"triage: {triage['content'][0]['text']}")
    messages = [
        {"role": "user", "content": [{"text": "This alarm went off:\n" + json.dumps(alarm, indent=2, sort_keys=True)}]},
        triage,
        {"role": "user", "content": [{"text": "Investigate, and page whoever can fix it."}]},
    ]
    agent.investigate(messages)
    messages.append({"role": "user", "content": [{"text": "Write two sentences for the incident channel."}]})
    say("summary:")
    agent.summarise(messages)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python agent.py ALARM")
    main(sys.argv[1])
