"""``cloudwatch:[REGION][?alarm=…&metric=…&logs=…]``: alarms, metrics and Logs Insights of AWS CloudWatch.

    cloudwatch:eu-west-1?alarm=checkout-
    cloudwatch:?metric=AWS/ApplicationELB/HTTPCode_Target_5XX_Count;LoadBalancer=app/shop/1&stat=Sum
    cloudwatch:?logs=/aws/lambda/refunds&filter=fields @timestamp, @message | filter @message like /refund/

Alarms: what ``DescribeAlarmHistory`` has of the window, and the state that ``DescribeAlarms`` tells now where that began in the window and the
history has nothing of it (it is kept for 30 days). Credentials, region and endpoint are found where AWS's own tools find them. What needs a
permission that the user lacks is missing; the rest is told.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from tachograph.core.errors import SignalError, UsageError
from tachograph.core.signals import Budget, Missing, Signal, Window

from .making import MOST, line, signal
from .options import options, single
from .window import moment, seconds

SOURCE = "cloudwatch"
_KNOWN = {
    "alarm": "PREFIX of names", "metric": "NAMESPACE/NAME;DIMENSION=VALUE", "stat": "Average", "period": "60s", "logs": "GROUP",
    "filter": "a query of Logs Insights", "profile": "PROFILE",
}  # fmt: skip
_QUERY = "fields @timestamp, @message | filter @message like /(?i)(error|exception|fatal|timed out)/ | sort @timestamp asc | limit 200"
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]{1,12}){1,3}-[0-9]{1,2}\Z")
#: Answers of one question, and points of one metric.
_MOST_PAGES, _MOST_POINTS = 20, 500
_PERIODS = (60, 300, 900, 3600, 21_600, 86_400)
_STAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)\Z")


class CloudWatch:
    """``connect`` makes a client of boto3 for a service, which tests replace."""

    def __init__(self, spec: str, connect: Callable[[str, str | None, str | None], Any] | None = None) -> None:
        place, _, query = spec.partition("?")
        if place and not _REGION.match(place):
            raise UsageError(f"not a region, --signals cloudwatch:{place[:40]}; write cloudwatch:eu-west-1, or cloudwatch: for your own")
        found = options(SOURCE, query, _KNOWN)
        self._region = place or None
        self._profile = single(found, "profile")
        self._prefixes = tuple(found.get("alarm", ()))
        self._metrics = [_metric(text) for text in found.get("metric", ())]
        self._stat = single(found, "stat") or "Average"
        period = single(found, "period")
        self._period = seconds(period, "period") if period is not None else None
        if self._period is not None and self._period % 60:
            raise UsageError("CloudWatch has periods of whole minutes, --signals cloudwatch:?period=; write 60s, 5m or 1h")
        self._groups = found.get("logs", [])
        self._query = single(found, "filter") or _QUERY
        if "filter" in found and not self._groups:
            raise UsageError("a filter of which logs, --signals cloudwatch:?filter=; name the group with logs=GROUP")
        if connect is None and importlib.util.find_spec("boto3") is None:
            raise UsageError("boto3 is not installed, which --signals cloudwatch: needs; pip install 'tachograph[cloudwatch]'")
        self._connect = connect or _client

    def read(self, window: Window, budget: Budget) -> tuple[list[Signal], list[Missing]]:
        """Alarms, then metrics, then logs; each is missing by itself."""
        found: list[Signal] = []
        missing: list[Missing] = []
        for what, ask in (("alarms", self._alarms), ("metrics", self._points), ("logs", self._logs)):
            try:
                for one in ask(window, budget):
                    if isinstance(one, Missing):
                        missing.append(one)
                    elif len(found) < MOST:
                        found.append(one)
                    else:
                        raise SignalError(f"more than {MOST:,} signals; ask for less, or a shorter --window")
            except SignalError as error:
                missing.append(Missing(f"{SOURCE} {what}", str(error)))
        return found, missing

    # -- alarms ----------------------------------------------------------------------------------------------------------------

    def _alarms(self, window: Window, budget: Budget) -> Iterator[Signal | Missing]:
        client = self._at("cloudwatch")
        told: set[tuple[str, str]] = set()
        times = {"StartDate": _date(window.start), "EndDate": _date(window.end)}
        asked = {"HistoryItemType": "StateUpdate", "ScanBy": "TimestampAscending", "AlarmTypes": ["MetricAlarm", "CompositeAlarm"], **times}
        try:
            for item in _pages(client, "describe_alarm_history", ("AlarmHistoryItems",), budget, asked):
                if self._wanted(item.get("AlarmName")) and (made := _changed(item, client.meta.region_name)) is not None:
                    told.add((made.name, made.state or ""))
                    yield made
        except SignalError as error:
            yield Missing(f"{SOURCE} alarms' history", str(error))
        for alarm in _pages(
            client, "describe_alarms", ("MetricAlarms", "CompositeAlarms"), budget, {"AlarmTypes": ["MetricAlarm", "CompositeAlarm"]}
        ):
            if not self._wanted(alarm.get("AlarmName")):
                continue
            at = _ms(alarm.get("StateTransitionedTimestamp") or alarm.get("StateUpdatedTimestamp"))
            state = line(alarm.get("StateValue"), 40)
            since = at is not None and at < window.start and state == "ALARM"
            if at is None or not (window.holds(at) or since) or (line(alarm.get("AlarmName")), state) in told:
                continue
            said = ". ".join(filter(None, (line(alarm.get(name), 800) for name in ("AlarmDescription", "StateReason"))))
            if since:
                said = f"In this state since before the window. {said}"
            yield signal(
                at=max(at, window.start), source=SOURCE, kind="alarm" if not since else "note", name=alarm.get("AlarmName"), state=state,
                text=said, url=_page(alarm.get("AlarmName"), client.meta.region_name),
            )  # fmt: skip

    def _wanted(self, name: object) -> bool:
        return not self._prefixes or any(str(name).startswith(prefix) for prefix in self._prefixes)

    # -- metrics ---------------------------------------------------------------------------------------------------------------

    def _points(self, window: Window, budget: Budget) -> Iterator[Signal | Missing]:
        if not self._metrics:
            return
        client = self._at("cloudwatch")
        period = self._period or next(
            (each for each in _PERIODS if (window.end - window.start) / each / 1000 <= _MOST_POINTS), _PERIODS[-1]
        )
        queries = [
            {"Id": f"m{number}", "MetricStat": {"Metric": metric, "Period": period, "Stat": self._stat}}
            for number, metric in enumerate(self._metrics)
        ]
        asked = {
            "MetricDataQueries": queries,
            "StartTime": _date(window.start),
            "EndTime": _date(window.end),
            "ScanBy": "TimestampAscending",
        }
        seen = dict.fromkeys((str(each["Id"]) for each in queries), 0)
        for result in _pages(client, "get_metric_data", ("MetricDataResults",), budget, asked):
            metric = next((metric for number, metric in enumerate(self._metrics) if f"m{number}" == result.get("Id")), None)
            if metric is None:
                continue
            name = "/".join((metric["Namespace"], metric["MetricName"])) + "".join(
                f";{each['Name']}={each['Value']}" for each in metric["Dimensions"]
            )
            for at, value in zip(result.get("Timestamps") or (), result.get("Values") or (), strict=False):
                if (ms := _ms(at)) is not None and seen[result["Id"]] < _MOST_POINTS * 3:
                    seen[result["Id"]] += 1
                    yield signal(at=ms, source=SOURCE, kind="metric", name=name, value=value, text=f"{self._stat} of {period} s")
        for number, metric in enumerate(self._metrics):
            if not seen[f"m{number}"]:
                yield Missing(
                    f"{SOURCE} metrics", f"{metric['Namespace']}/{metric['MetricName']} has no points in the window; check its dimensions"
                )

    # -- logs ------------------------------------------------------------------------------------------------------------------

    def _logs(self, window: Window, budget: Budget) -> Iterator[Signal | Missing]:
        if not self._groups:
            return
        client = self._at("logs")
        span = {"startTime": window.start // 1000, "endTime": -(-window.end // 1000)}
        began = _call(client, "start_query", logGroupNames=self._groups, queryString=self._query, limit=MOST, **span)
        query = str(began.get("queryId"))
        while True:
            answer = _call(client, "get_query_results", queryId=query)
            state = str(answer.get("status"))
            if state not in ("Scheduled", "Running", "Unknown"):
                break
            if not budget.wait(1.0):
                _call(client, "stop_query", queryId=query)
                raise SignalError(f"the query of the logs took more than {budget.seconds:.0f} s and was stopped; ask for less")
        if state != "Complete":
            raise SignalError(f"the query of the logs ended as {line(state, 40)}; try it in the console")
        timeless = 0
        for row in answer.get("results") or ():
            fields = {str(cell.get("field")): cell.get("value") for cell in row if isinstance(cell, dict)}
            at = next((ms for value in fields.values() if (ms := _stamped(value)) is not None), None)
            if at is None:
                timeless += 1
                continue
            told = fields.get("@message") or ", ".join(f"{name} {value}" for name, value in fields.items() if name != "@ptr")
            yield signal(at=at, source=SOURCE, kind="log", name=fields.get("@log") or " ".join(self._groups), text=told)
        if timeless:
            yield Missing(f"{SOURCE} logs", f"{timeless} rows have no time; let the query give @timestamp or bin(5m)")

    def _at(self, service: str) -> Any:
        return _guarded(lambda: self._connect(service, self._region, self._profile))


def _client(service: str, region: str | None, profile: str | None) -> Any:
    import boto3
    from botocore.config import Config

    patience = Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 3, "mode": "standard"})
    return boto3.session.Session(profile_name=profile, region_name=region).client(service, config=patience)


def _pages(client: Any, operation: str, keys: tuple[str, ...], budget: Budget, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The items of all answers, of which there are at most ``_MOST_PAGES``."""
    token: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        if not budget.left:
            raise SignalError(f"CloudWatch took more than {budget.seconds:.0f} s; ask for less, or a shorter --window")
        answer = _call(client, operation, **asked, **token)
        yield from (item for key in keys for item in answer.get(key) or () if isinstance(item, dict))
        if not answer.get("NextToken"):
            return
        token = {"NextToken": answer["NextToken"]}
    raise SignalError(f"more than {_MOST_PAGES} pages of {keys[0]}; ask for less, or a shorter --window")


def _call(client: Any, operation: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = _guarded(lambda: getattr(client, operation)(**arguments))
    return found


def _guarded(do: Callable[[], Any]) -> Any:
    """What boto3 raises, as one line of ours that repeats none of its texts."""
    from botocore import exceptions

    try:
        return do()
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.CredentialRetrievalError):
        raise SignalError("no credentials for AWS; set AWS_PROFILE or log in, as for the aws command") from None
    except exceptions.NoRegionError:
        raise SignalError("no region for AWS; write cloudwatch:REGION, or set AWS_REGION") from None
    except exceptions.ClientError as error:
        code = line(error.response.get("Error", {}).get("Code"), 60) or "an error"
        raise SignalError(
            f"CloudWatch refused {line(error.operation_name, 60)} ({code}); check what your role may do, and the names"
        ) from None
    except exceptions.BotoCoreError as error:
        raise SignalError(f"CloudWatch cannot be asked ({type(error).__name__}); check region, profile and network") from None


def _changed(item: dict[str, Any], region: str) -> Signal | None:
    at = _ms(item.get("Timestamp"))
    if at is None:
        return None
    try:
        data = json.loads(str(item.get("HistoryData") or "{}")[: 1 << 20])
    except (ValueError, RecursionError):
        data = {}
    new = data.get("newState") if isinstance(data, dict) else None
    new = new if isinstance(new, dict) else {}
    reason = new.get("stateReasonData")
    points = reason.get("recentDatapoints") if isinstance(reason, dict) else None
    state = new.get("stateValue") or _last_word(line(item.get("HistorySummary")))
    return signal(
        at=at, source=SOURCE, kind="alarm", name=item.get("AlarmName"), state=state, value=points[-1] if isinstance(points, list) and points else None,
        unit=reason.get("unit") if isinstance(reason, dict) else None, text=new.get("stateReason") or item.get("HistorySummary"),
        url=_page(item.get("AlarmName"), region),
    )  # fmt: skip


def _last_word(summary: str) -> str:
    """``ALARM`` of “Alarm updated from OK to ALARM”."""
    return summary.rpartition(" to ")[2]


def _page(name: object, region: str) -> str:
    part = quote(region, safe="")
    return f"https://{part}.console.aws.amazon.com/cloudwatch/home?region={part}#alarmsV2:alarm/{quote(line(name), safe='')}"


def _metric(text: str) -> dict[str, Any]:
    name, *pairs = text.split(";")
    space, slash, metric = name.rpartition("/")
    dimensions = [pair.partition("=") for pair in pairs if pair]
    if not slash or not space or not metric or any(not key or not mark for key, mark, _ in dimensions):
        raise UsageError(f"not a metric, --signals cloudwatch:?metric={text[:80]}; write AWS/Lambda/Errors;FunctionName=refunds")
    return {"Namespace": space, "MetricName": metric, "Dimensions": [{"Name": key, "Value": value} for key, _, value in dimensions]}


def _date(ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC)


def _ms(value: object) -> int | None:
    return round(value.timestamp() * 1000) if isinstance(value, datetime.datetime) else None


def _stamped(value: object) -> int | None:
    """Logs Insights writes times as ``2026-11-30 12:00:00.000``, in UTC."""
    text = str(value)
    if match := _STAMP.match(text):
        return moment(f"{match[1]}T{match[2]}+00:00")
    return int(text) if re.fullmatch(r"1[0-9]{12}", text) else None
