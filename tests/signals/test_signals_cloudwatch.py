"""CloudWatch: alarms, metrics and Logs Insights through boto3, against moto; what moto lacks (the history of alarms) through botocore's stubber."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from signals_server import NOON, Hands
from tachograph.core.errors import UsageError
from tachograph.core.signals import Missing, Signal, Window
from tachograph.signals import cloudwatch
from tachograph.signals.cloudwatch import CloudWatch

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")
from botocore.exceptions import ClientError, NoCredentialsError  # noqa: E402
from botocore.stub import Stubber  # noqa: E402

HOUR = Window(NOON, NOON + 3_600_000)
REGION = "eu-west-1"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with moto.mock_aws():
        yield


class WithoutHistory:
    """A client against moto, which raises NotImplementedError for what it lacks, as a role sees it that may not do that."""

    def __init__(self, service: str, region: str | None, _profile: str | None) -> None:
        self._client = boto3.client(service, region)

    def __getattr__(self, name: str) -> Any:
        if name == "describe_alarm_history":
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "a text that may say anything"}}, "DescribeAlarmHistory")
        return getattr(self._client, name)


def read(spec: str, window: Window) -> tuple[list[Signal], list[Missing]]:
    return CloudWatch(spec, WithoutHistory).read(window, Hands().budget())


def around_now() -> Window:
    now = time.time_ns() // 1_000_000
    return Window(now - 1_800_000, now + 1_800_000)


def test_the_state_of_an_alarm_is_told_where_its_history_cannot_be_had(aws: None) -> None:
    client = boto3.client("cloudwatch", REGION)
    for name in ("checkout-5xx", "other"):
        client.put_metric_alarm(
            AlarmName=name, AlarmDescription="Checkout fails", MetricName="Errors", Namespace="Shop", Statistic="Sum", Period=60, EvaluationPeriods=1,
            Threshold=1.0, ComparisonOperator="GreaterThanThreshold",
        )  # fmt: skip
        client.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="7 errors in a minute")
    found, missing = read(f"{REGION}?alarm=checkout-", around_now())
    assert [(one.name, one.state, one.text, one.begins) for one in found] == [
        ("checkout-5xx", "ALARM", "Checkout fails. 7 errors in a minute", True)
    ]
    assert found[0].url == f"https://{REGION}.console.aws.amazon.com/cloudwatch/home?region={REGION}#alarmsV2:alarm/checkout-5xx"
    assert [one.source for one in missing] == ["cloudwatch alarms' history"]  # which moto does not have


def test_points_of_a_metric(aws: None) -> None:
    client, window = boto3.client("cloudwatch", REGION), around_now()
    moment = datetime.datetime.fromtimestamp(window.start / 1000 + 600, datetime.UTC).replace(second=0, microsecond=0)
    for value in (3.0, 4.0):
        client.put_metric_data(
            Namespace="Shop/Checkout",
            MetricData=[{"MetricName": "Errors", "Dimensions": [{"Name": "Stage", "Value": "prod"}], "Timestamp": moment, "Value": value}],
        )
    found, missing = read(f"{REGION}?metric=Shop/Checkout/Errors;Stage=prod&metric=Shop/Nothing&stat=Sum&period=60s", window)
    points = [one for one in found if one.kind == "metric"]
    assert [(one.name, one.value, one.text) for one in points if one.value] == [("Shop/Checkout/Errors;Stage=prod", 7.0, "Sum of 60 s")]
    assert ("cloudwatch metrics", "Shop/Nothing has no points in the window; check its dimensions") in [
        (one.source, one.why) for one in missing
    ]


def test_lines_of_a_log(aws: None) -> None:
    client, window = boto3.client("logs", REGION), around_now()
    client.create_log_group(logGroupName="/shop")
    client.create_log_stream(logGroupName="/shop", logStreamName="a")
    at = window.start + 900_000
    client.put_log_events(logGroupName="/shop", logStreamName="a", logEvents=[{"timestamp": at, "message": "refund failed"}])
    found, _ = read(f"{REGION}?logs=/shop&filter=fields @timestamp, @message", window)
    assert [(one.kind, one.at, one.text, one.name) for one in found if one.kind == "log"] == [("log", at, "refund failed", "/shop")]
    _, missing = read(f"{REGION}?logs=/none", window)
    assert [one.why for one in missing if one.source == "cloudwatch logs"] == [
        "CloudWatch refused StartQuery (ResourceNotFoundException); check what your role may do, and the names"
    ]


def stubbed(service: str, *answers: tuple[str, Any]) -> Any:
    client = boto3.client(service, REGION, aws_access_key_id="testing", aws_secret_access_key="testing")
    stub = Stubber(client)
    for operation, answer in answers:
        if isinstance(answer, str):
            stub.add_client_error(operation, answer, "a text that may say anything")
        else:
            stub.add_response(operation, answer)
    stub.activate()
    return client


def date(minute: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(NOON / 1000 + minute * 60, datetime.UTC)


def change(name: str, minute: int, old: str, new: str, **more: Any) -> dict[str, Any]:
    reason = {"recentDatapoints": [1.0, 7.0], "threshold": 5.0, "unit": "Count"}
    data = {"oldState": {"stateValue": old}, "newState": {"stateValue": new, "stateReason": "7.0 > 5.0", "stateReasonData": reason}}
    summary = f"Alarm updated from {old} to {new}"
    return {"AlarmName": name, "Timestamp": date(minute), "HistoryData": json.dumps(data), "HistorySummary": summary, **more}


def asked(
    spec: str, *answers: tuple[str, Any], service: str = "cloudwatch", hands: Hands | None = None
) -> tuple[list[Signal], list[Missing]]:
    client = stubbed(service, *answers)
    other = stubbed("cloudwatch", ("describe_alarm_history", {}), ("describe_alarms", {}))
    source = CloudWatch(spec, lambda name, _region, _profile: client if name == service else other)
    return source.read(HOUR, (hands or Hands()).budget())


def test_the_history_of_alarms_over_pages() -> None:
    now = {"AlarmName": "checkout", "StateValue": "OK", "StateTransitionedTimestamp": date(30)}
    since = {"AlarmName": "disk", "StateValue": "ALARM", "StateTransitionedTimestamp": date(-300), "StateReason": "full"}
    found, missing = asked(
        "",
        ("describe_alarm_history", {"AlarmHistoryItems": [change("checkout", 5, "OK", "ALARM")], "NextToken": "n"}),
        (
            "describe_alarm_history",
            {"AlarmHistoryItems": [change("checkout", 30, "ALARM", "OK"), change("odd", 31, "OK", "ALARM", HistoryData="{")]},
        ),
        ("describe_alarms", {"MetricAlarms": [now, since]}),
    )
    assert missing == []
    assert [(one.name, one.state, one.kind, (one.at - NOON) // 60_000) for one in found] == [
        ("checkout", "ALARM", "alarm", 5), ("checkout", "OK", "alarm", 30), ("odd", "ALARM", "alarm", 31), ("disk", "ALARM", "note", 0),
    ]  # fmt: skip
    assert (found[0].value, found[0].unit, found[0].text) == (7.0, "Count", "7.0 > 5.0")
    assert found[3].text == "In this state since before the window. full"


def test_pages_without_an_end_are_left() -> None:
    page = ("describe_alarm_history", {"AlarmHistoryItems": [change("a", 1, "OK", "ALARM")], "NextToken": "n"})
    found, missing = asked("", *[page] * 20, ("describe_alarms", {}))
    assert len(found) == 20
    assert missing[0].why.startswith("more than 20 pages")


def test_what_the_role_may_not_do_is_missing_and_the_rest_is_told() -> None:
    found, missing = asked(
        "", ("describe_alarm_history", "AccessDenied"), ("describe_alarms", {"MetricAlarms": [{"AlarmName": "a", "StateValue": "ALARM", "StateTransitionedTimestamp": date(1)}]})
    )  # fmt: skip
    assert [one.name for one in found] == ["a"]
    assert [one.why for one in missing] == [
        "CloudWatch refused DescribeAlarmHistory (AccessDenied); check what your role may do, and the names"
    ]


def test_a_query_of_logs_is_waited_for_and_stopped_when_its_time_is_over() -> None:
    rows = [[{"field": "@timestamp", "value": "2026-11-30 12:07:00.250"}, {"field": "@message", "value": "refund failed"}], [{"field": "count", "value": "3"}],
            [{"field": "bin(5m)", "value": "2026-11-30 12:05:00.000"}, {"field": "count", "value": "3"}]]  # fmt: skip
    hands = Hands()
    found, missing = asked(
        "?logs=/shop",
        ("start_query", {"queryId": "q"}), ("get_query_results", {"status": "Running"}), ("get_query_results", {"status": "Complete", "results": rows}),
        service="logs", hands=hands,
    )  # fmt: skip
    assert hands.pauses == [1.0]
    assert [(one.text, (one.at - NOON) / 60_000) for one in found] == [
        ("refund failed", 7 + 0.25 / 60),
        ("bin(5m) 2026-11-30 12:05:00.000, count 3", 5),
    ]
    assert [one.why for one in missing] == ["1 rows have no time; let the query give @timestamp or bin(5m)"]
    running = [("get_query_results", {"status": "Running"})] * 60
    found, missing = asked("?logs=/shop", ("start_query", {"queryId": "q"}), *running, ("stop_query", {"success": True}), service="logs")
    assert found == []
    assert missing[0].why.startswith("the query of the logs took more than 60 s and was stopped")


def test_without_credentials_or_with_a_failing_library_it_is_one_line() -> None:
    def none(*_: Any) -> Any:
        raise NoCredentialsError

    found, missing = CloudWatch("", none).read(HOUR, Hands().budget())
    assert found == []
    assert [(one.source, one.why) for one in missing] == [
        ("cloudwatch alarms", "no credentials for AWS; set AWS_PROFILE or log in, as for the aws command")
    ]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mars", "not a region"), ("?metric=Errors", "not a metric"), ("?metric=A/B;x", "not a metric"), ("?period=90s", "whole minutes"),
        ("?filter=fields @message", "a filter of which logs"), ("?alarms=x", "knows no 'alarms'"), ("?stat=Sum&stat=Max", "said 2 times"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_before_anything_is(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        CloudWatch(spec)


def test_a_client_of_our_own_is_not_patient_for_ever(aws: None) -> None:
    config = cloudwatch._client("logs", REGION, None).meta.config
    assert (config.connect_timeout, config.read_timeout, config.retries["total_max_attempts"]) == (5, 15, 3)
