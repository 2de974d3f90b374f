"""A little of Amazon CloudWatch, so that an agent has something to look at: GetMetricData and DescribeAlarms.

The protocol is AWS JSON 1.0 (smithy.io, "AWS JSON 1.0 protocol"), which is what botocore speaks to this service.
Values are the script's; times are counted back from the end of the interval that the request asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tachograph.testing.model_server import wire
from tachograph.testing.model_server.wire import Names, RefusedError, Reply, Request

if TYPE_CHECKING:
    from tachograph.testing.model_server.script import Metric, Script

_TARGET = "GraniteServiceVersion20100801."


class CloudWatch:
    def mine(self, request: Request) -> bool:
        return request.headers.get("x-amz-target", "").startswith(_TARGET)

    def answer(self, request: Request, script: Script, names: Names) -> Reply:
        operation = request.headers["x-amz-target"].removeprefix(_TARGET)
        body = wire.obj(request.body, "body")
        if operation == "GetMetricData":
            wire.need(body, "MetricDataQueries", "StartTime", "EndTime")
            queries = wire.seq(body["MetricDataQueries"], "MetricDataQueries")
            value = {"MetricDataResults": [_series(query, body, script) for query in queries], "Messages": []}
        elif operation == "DescribeAlarms":
            value = {"MetricAlarms": _alarms(body, script), "CompositeAlarms": []}
        else:
            raise RefusedError(f"{operation} is not served here; GetMetricData and DescribeAlarms are")
        return _reply(200, value, names)

    def refuse(self, status: int, message: str, names: Names) -> Reply:
        kind = {400: "ValidationException", 429: "ThrottlingException"}.get(status, "InternalFailure")
        return _reply(status, {"__type": f"com.amazonaws.cloudwatch#{kind}", "message": message}, names)


def _reply(status: int, value: dict[str, Any], names: Names) -> Reply:
    headers = [("content-type", "application/x-amz-json-1.0"), ("x-amzn-requestid", names.uuid("request"))]
    return Reply(status, headers, [wire.dumps(value)])


def _series(query: object, body: dict[str, Any], script: Script) -> dict[str, Any]:
    query = wire.obj(query, "MetricDataQueries")
    stat = wire.obj(query.get("MetricStat"), "MetricStat")
    period = int(stat.get("Period", 60))
    end = int(body["EndTime"]) // period * period
    found = _find(wire.obj(stat.get("Metric"), "Metric"), script)
    values = list(found.values) if found is not None else []
    room = max(0, (end - int(body["StartTime"]) // period * period) // period)
    values = values[len(values) - min(room, len(values)) :]
    times = [end - period * (len(values) - n) for n in range(len(values))]
    if body.get("ScanBy") != "TimestampAscending":
        values.reverse()
        times.reverse()
    return {
        "Id": query.get("Id"),
        "Label": query.get("Label") or stat["Metric"].get("MetricName"),
        "Timestamps": times,
        "Values": values,
        "StatusCode": "Complete",
    }


def _find(asked: dict[str, Any], script: Script) -> Metric | None:
    dimensions = {one["Name"]: one["Value"] for one in asked.get("Dimensions", ())}
    for metric in script.metrics:
        if (metric.namespace, metric.name) == (asked.get("Namespace"), asked.get("MetricName")) and (
            metric.dimensions is None or dict(metric.dimensions) == dimensions
        ):
            return metric
    return None


def _alarms(body: dict[str, Any], script: Script) -> list[dict[str, Any]]:
    named = body.get("AlarmNames")
    return [
        dict(alarm)
        for alarm in script.alarms
        if (not named or alarm["AlarmName"] in named)
        and str(alarm["AlarmName"]).startswith(body.get("AlarmNamePrefix", ""))
        and body.get("StateValue") in (None, alarm.get("StateValue"))
    ]
