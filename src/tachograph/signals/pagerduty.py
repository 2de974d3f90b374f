"""``pagerduty:[eu][?service=…&team=…&incident=…]``: incidents that were opened in the window, and what was done about them.

Asked over PagerDuty's REST API with the token in ``PAGERDUTY_TOKEN``; a read-only one is enough. ``PAGERDUTY_URL`` names another address of the
API (a proxy of yours).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tachograph.core.errors import SignalError, UsageError
from tachograph.core.signals import Budget, Missing, Signal, Window, iso

from .asking import Server
from .making import line, signal
from .options import options
from .window import moment

SOURCE = "pagerduty"
_KNOWN = {"service": "ID", "team": "ID", "incident": "ID", "urgency": "high|low"}
_HOSTS = {"": "https://api.pagerduty.com", "us": "https://api.pagerduty.com", "eu": "https://api.eu.pagerduty.com"}
_PAGE, _MOST_INCIDENTS, _MOST_PAGES = 100, 50, 5
_STATES = {
    "trigger": "triggered", "acknowledge": "acknowledged", "unacknowledge": "unacknowledged", "resolve": "resolved", "escalate": "escalated",
    "assign": "assigned", "annotate": "note", "notify": "notified", "snooze": "snoozed", "priority_change": "priority changed",
    "responder_request": "responder requested", "status_update": "status update",
}  # fmt: skip


class PagerDuty:
    """``environment``: where the token is."""

    def __init__(self, spec: str, environment: Mapping[str, str]) -> None:
        place, _, query = spec.partition("?")
        if place not in _HOSTS:
            raise UsageError(f"not a place of PagerDuty, --signals pagerduty:{place[:40]}; write pagerduty: or pagerduty:eu")
        self._asked = options(SOURCE, query, _KNOWN)
        self._base = environment.get("PAGERDUTY_URL") or _HOSTS[place]
        if urlsplit(self._base).scheme not in ("http", "https"):
            raise UsageError("not an address in PAGERDUTY_URL; it begins with https://")
        token = (environment.get("PAGERDUTY_TOKEN") or "").strip()
        if not token:
            raise UsageError("no token for --signals pagerduty:; set PAGERDUTY_TOKEN to a read-only key of its REST API")
        if not token.isprintable() or not token.isascii():
            raise UsageError("PAGERDUTY_TOKEN holds what no header can; set it to the key alone")
        self._secret = {"Authorization": f"Token token={token}"}

    def read(self, window: Window, budget: Budget) -> tuple[list[Signal], list[Missing]]:
        """The log entries of every incident; of one whose entries cannot be had, that it was opened."""
        server = Server(self._base, budget, headers={"Accept": "application/vnd.pagerduty+json;version=2"}, secret=self._secret)
        found: list[Signal] = []
        missing: list[Missing] = []
        incidents = list(self._incidents(server, window))
        if len(incidents) > _MOST_INCIDENTS:
            missing.append(
                Missing(SOURCE, f"{len(incidents)} or more incidents, of which {_MOST_INCIDENTS} are told; name a service or a team")
            )
        for incident in incidents[:_MOST_INCIDENTS]:
            try:
                entries = list(_entries(server, incident, window))
            except SignalError as error:
                missing.append(Missing(SOURCE, f"what was done about {_name(incident)}: {error}"))
                entries = []
            found += entries or list(_opened(incident, window))
        return found, missing

    def _incidents(self, server: Server, window: Window) -> Iterator[dict[str, Any]]:
        for named in self._asked.get("incident", ()):
            answer = server.get(f"/incidents/{quote(named, safe='')}")
            if isinstance(answer, dict) and isinstance(answer.get("incident"), dict):
                yield answer["incident"]
        if "incident" in self._asked:
            return
        asked = [("since", iso(window.start)), ("until", iso(window.end)), ("time_zone", "UTC"), ("sort_by", "created_at:asc")]
        asked += [("service_ids[]", one) for one in self._asked.get("service", ())]
        asked += [("team_ids[]", one) for one in self._asked.get("team", ())]
        asked += [("urgencies[]", one) for one in self._asked.get("urgency", ())]
        yield from _pages(server, "/incidents", asked, "incidents")


def _entries(server: Server, incident: Mapping[str, Any], window: Window) -> Iterator[Signal]:
    path = f"/incidents/{quote(line(incident.get('id'), 60), safe='')}/log_entries"
    for entry in _pages(server, path, [("time_zone", "UTC"), ("is_overview", "false")], "log_entries"):
        at = moment(entry.get("created_at"))
        if at is None or not window.holds(at):
            continue
        kind = line(entry.get("type"), 60).removesuffix("_reference").removesuffix("_log_entry")
        channel = entry.get("channel") if isinstance(entry.get("channel"), dict) else {}
        said = (channel or {}).get("content") if kind == "annotate" else (channel or {}).get("summary")
        yield signal(
            at=at, source=SOURCE, kind="incident", name=_name(incident), state=_STATES.get(kind, kind.replace("_", " ")),
            text=said or entry.get("summary"), by=_agent(entry.get("agent")), url=entry.get("html_url") or incident.get("html_url"),
        )  # fmt: skip


def _opened(incident: Mapping[str, Any], window: Window) -> Iterator[Signal]:
    at = moment(incident.get("created_at"))
    if at is not None and window.holds(at):
        service = incident.get("service")
        yield signal(
            at=at, source=SOURCE, kind="incident", name=_name(incident), state="triggered", text=incident.get("description") or "",
            by=_agent(service), url=incident.get("html_url"),
        )  # fmt: skip


def _pages(server: Server, path: str, asked: list[tuple[str, str]], name: str) -> Iterator[dict[str, Any]]:
    for page in range(_MOST_PAGES):
        answer = server.get(f"{path}?" + urlencode([*asked, ("limit", str(_PAGE)), ("offset", str(page * _PAGE))]))
        found = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(found, list):
            raise SignalError("the answer is none of PagerDuty's REST API; check PAGERDUTY_URL")
        yield from (one for one in found if isinstance(one, dict))
        if answer.get("more") is not True:
            return


def _name(incident: Mapping[str, Any]) -> str:
    number = line(incident.get("incident_number"), 20)
    title = line(incident.get("title") or incident.get("summary"), 160)
    return f"#{number} {title}".strip() if number else title or line(incident.get("id"), 60)


def _agent(value: Any) -> str | None:
    return line(value.get("summary"), 120) or None if isinstance(value, dict) else None
