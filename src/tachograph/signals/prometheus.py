"""``prometheus:URL[?query=…&alerts=…&step=…]``: what a Prometheus, or a server that speaks its HTTP API, kept of the window.

Alerts are read from the series ``ALERTS``, which Prometheus writes for every rule that fires: ``/api/v1/alerts`` knows only those of this moment,
and gives what people wrote about them (annotations). ``PROMETHEUS_TOKEN`` (a bearer token), or ``PROMETHEUS_USERNAME`` and
``PROMETHEUS_PASSWORD``, are sent where they are set.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from tachograph.core.errors import SignalError, UsageError
from tachograph.core.signals import Budget, Missing, Signal, Window, iso

from .asking import Server, UnreachableError
from .making import MOST, line, number, signal
from .options import options, single
from .window import moment, seconds

SOURCE = "prometheus"
_KNOWN = {"query": "PROMQL", "alerts": 'MATCHERS (severity="page")', "step": "30s"}
_MOST_POINTS, _MOST_SERIES = 500, 50
_OWN = ("__name__", "alertname", "alertstate")


class Prometheus:
    """``environment``: where the credentials are."""

    def __init__(self, spec: str, environment: Mapping[str, str]) -> None:
        base, _, query = spec.partition("?")
        try:
            parts = urlsplit(base)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if not good:
            raise UsageError("not an address, --signals prometheus:…; write prometheus:https://prometheus.example:9090?query=up")
        if "@" in parts.netloc:
            raise UsageError("a password in --signals prometheus:… is seen by all; set PROMETHEUS_USERNAME and PROMETHEUS_PASSWORD")
        found = options(SOURCE, query, _KNOWN)
        self._base = base
        self._queries = found.get("query", [])
        self._matchers = single(found, "alerts") or ""
        step = single(found, "step")
        self._step = seconds(step, "step") if step is not None else None
        self._secret = _authorization(environment)

    def read(self, window: Window, budget: Budget) -> tuple[list[Signal], list[Missing]]:
        """Alerts, then each query; each is missing by itself, but where the server is not there at all nothing else is asked."""
        server = Server(self._base, budget, headers={}, secret=self._secret)
        step = self._step or max(15, -(-(window.end - window.start) // (_MOST_POINTS * 1000)))
        found: list[Signal] = []
        missing: list[Missing] = []
        try:
            found += self._alerts(server, window, step)
        except UnreachableError:
            raise
        except SignalError as error:
            missing.append(Missing(f"{SOURCE} alerts", str(error)))
        for query in self._queries:
            try:
                points = list(self._points(server, query, window, step))
                found += points
                if not points:
                    missing.append(Missing(f"{SOURCE} query", f"{line(query, 80)} has no points in the window; check it"))
            except SignalError as error:
                missing.append(Missing(f"{SOURCE} query", f"{line(query, 80)}: {error}"))
        return found, missing

    def _alerts(self, server: Server, window: Window, step: int) -> Iterator[Signal]:
        now = [one for one in _list(server.get("/api/v1/alerts"), "alerts") if isinstance(one.get("labels"), dict)]
        told: set[str] = set()
        for labels, points in _series(server, f"ALERTS{{{self._matchers}}}", window, step):
            state, name = labels.get("alertstate"), labels.get("alertname")
            about = next((one for one in now if _own(one["labels"]) == _own(labels) and one["labels"].get("alertname") == name), {})
            told.add(_key(labels)) if state == "firing" else None
            for first, last in _runs([at for at, _ in points], step):
                before = "" if first - step * 1000 >= window.start else "It fired before the window began. "
                yield self._alert(labels, first, "firing" if state == "firing" else "pending", about, before if state == "firing" else "")
                if state == "firing" and last + step * 1000 <= window.end:
                    yield self._alert(labels, last + step * 1000, "resolved", about, "")
        for one in now if not self._matchers else ():
            at = moment(one.get("activeAt"))
            if one.get("state") == "firing" and at is not None and window.holds(at) and _key(one["labels"]) not in told:
                yield self._alert(one["labels"], at, "firing", one, "")

    def _alert(self, labels: Mapping[str, Any], at: int, state: str, about: Mapping[str, Any], before: str) -> Signal:
        notes = about.get("annotations")
        notes = notes if isinstance(notes, dict) else {}
        said = ". ".join(filter(None, (line(notes.get(name), 600) for name in ("summary", "description"))))
        return signal(
            at=at, source=SOURCE, kind="alarm", name=labels.get("alertname"), state=state,
            text=before + (said if state != "resolved" else "") + (" " if said else "") + _labels(labels),
            url=line(notes.get("runbook_url"), 1000) or self._base.rstrip("/") + "/alerts",
        )  # fmt: skip

    def _points(self, server: Server, query: str, window: Window, step: int) -> Iterator[Signal]:
        for labels, points in _series(server, query, window, step):
            name = f"{labels['__name__']}{_labels(labels)}" if labels.get("__name__") else f"{line(query, 120)} {_labels(labels)}".strip()
            for at, value in points:
                if (shown := number(value)) is not None:
                    yield signal(at=at, source=SOURCE, kind="metric", name=name, value=shown, text=f"every {step} s")


def _authorization(environment: Mapping[str, str]) -> dict[str, str]:
    token, user = environment.get("PROMETHEUS_TOKEN"), environment.get("PROMETHEUS_USERNAME")
    said = ""
    if token:
        said = f"Bearer {token.strip()}"
    elif user:
        said = "Basic " + base64.b64encode(f"{user}:{environment.get('PROMETHEUS_PASSWORD', '')}".encode()).decode()
    if not said.isprintable() or not said.isascii():
        raise UsageError("PROMETHEUS_TOKEN holds what no header can; set it to the token alone")
    return {"Authorization": said} if said else {}


def _series(server: Server, query: str, window: Window, step: int) -> Iterator[tuple[dict[str, Any], list[tuple[int, Any]]]]:
    span = {"start": iso(window.start), "end": iso(window.end), "step": str(step)}
    found = _list(server.get("/api/v1/query_range?" + urlencode({"query": query, **span})), "result")
    if len(found) > _MOST_SERIES:
        raise SignalError(f"it has {len(found):,} series, of which a report takes {_MOST_SERIES}; sum them up, or ask for fewer")
    count = 0
    for one in found:
        labels, values = one.get("metric"), one.get("values")
        points = []
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) == 2 and (at := number(pair[0])) is not None and window.holds(round(at * 1000)):
                points.append((round(at * 1000), pair[1]))
        count += len(points)
        if count > MOST:
            raise SignalError(f"it has more than {MOST:,} points; ask with a longer step")
        if isinstance(labels, dict):
            yield labels, sorted(points, key=lambda point: point[0])


def _list(answer: Any, name: str) -> list[dict[str, Any]]:
    """``{"status":"success","data":{NAME:[…]}}``."""
    data = answer.get("data") if isinstance(answer, dict) and answer.get("status") == "success" else None
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise SignalError("the answer is none of Prometheus' HTTP API; name its address without /api/v1")
    return [one for one in found if isinstance(one, dict)]


def _runs(times: list[int], step: int) -> Iterator[tuple[int, int]]:
    """First and last of the points that follow each other without a hole."""
    begin: int | None = None
    last = 0
    for at in times:
        if begin is not None and at - last > step * 1500:
            yield begin, last
            begin = None
        begin = at if begin is None else begin
        last = at
    if begin is not None:
        yield begin, last


def _own(labels: Mapping[str, Any]) -> dict[str, str]:
    return {line(name, 60): line(value, 120) for name, value in sorted(labels.items()) if name not in _OWN}


def _labels(labels: Mapping[str, Any]) -> str:
    found = _own(labels)
    return "{" + ", ".join(f'{name}="{value}"' for name, value in list(found.items())[:12]) + "}" if found else ""


def _key(labels: Mapping[str, Any]) -> str:
    return f"{labels.get('alertname')}{_own(labels)}"
