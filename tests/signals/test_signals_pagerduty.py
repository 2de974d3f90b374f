"""PagerDuty: incidents of the window and what was done about them, over pages, with the token where it belongs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signals_server import NOON, Asked, Hands, Reply, serve
from tachograph.core.errors import SignalError, UsageError
from tachograph.core.signals import Missing, Signal, Window
from tachograph.signals.pagerduty import PagerDuty

HOUR = Window(NOON, NOON + 3_600_000)
TOKEN = "y_NbAkKc66ryYTWUXYEu"


def incident(number: int) -> dict[str, Any]:
    return {
        "id": f"P{number}", "incident_number": number, "title": "Checkout is down", "created_at": "2026-11-30T12:05:00Z", "status": "resolved",
        "html_url": f"https://acme.pagerduty.com/incidents/P{number}", "service": {"summary": "checkout"}, "description": "5 % fail",
    }  # fmt: skip


def entry(kind: str, minute: int, by: str, **channel: str) -> dict[str, Any]:
    at = f"2026-11-30T12:{minute:02d}:00Z"
    return {"type": f"{kind}_log_entry", "created_at": at, "agent": {"summary": by}, "channel": channel, "summary": f"{kind} by {by}"}


ENTRIES = [entry("trigger", 5, "Prometheus", summary="5 % fail"), entry("notify", 6, "Dana"), entry("acknowledge", 9, "Dana"),
           entry("annotate", 20, "Dana", content="rolled back"), entry("resolve", 30, "Dana")]  # fmt: skip


def read(answer: Any, spec: str = "", window: Window = HOUR) -> tuple[list[Signal], list[Missing], list[Asked]]:
    with serve(answer) as told:
        found, missing = PagerDuty(spec, {"PAGERDUTY_TOKEN": TOKEN, "PAGERDUTY_URL": told.url}).read(window, Hands().budget())
        return found, missing, told.asked


def account(asked: Asked) -> Any:
    if asked.path == "/incidents":
        return {"incidents": [incident(7)], "more": False}
    return {"log_entries": ENTRIES, "more": False}


def test_an_incident_is_told_by_what_was_done_about_it() -> None:
    found, missing, asked = read(account, "?service=PSVC&urgency=high")
    assert missing == []
    assert [(one.state, one.by, (one.at - NOON) // 60_000) for one in found] == [
        ("triggered", "Prometheus", 5), ("notified", "Dana", 6), ("acknowledged", "Dana", 9), ("note", "Dana", 20), ("resolved", "Dana", 30),
    ]  # fmt: skip
    assert {one.name for one in found} == {"#7 Checkout is down"}
    assert found[3].text == "rolled back"
    assert found[0].begins
    assert found[2].taken
    assert found[4].ends
    first = asked[0]
    assert first.headers["authorization"] == f"Token token={TOKEN}"
    assert first.headers["accept"] == "application/vnd.pagerduty+json;version=2"
    assert first.query["since"] == ["2026-11-30T12:00:00.000Z"]
    assert first.query["service_ids[]"] == ["PSVC"]
    assert first.query["urgencies[]"] == ["high"]


def test_pages_are_followed_and_have_an_end() -> None:
    def endless(asked: Asked) -> Any:
        if asked.path == "/incidents":
            start = int(asked.query["offset"][0])
            return {"incidents": [incident(start + number) for number in range(30)], "more": True}
        return {"log_entries": [], "more": True}

    found, missing, asked = read(endless)
    assert sum(one.path == "/incidents" for one in asked) == 5
    assert len(found) == 50
    assert missing[0].why.startswith("150 or more incidents, of which 50 are told")
    assert len(asked) == 5 + 50 * 5


def test_one_incident_can_be_named_and_an_id_is_no_path() -> None:
    def answer(asked: Asked) -> Any:
        return {"incident": {**incident(7), "id": "../../x"}} if "log_entries" not in asked.path else {"log_entries": []}

    found, _, asked = read(answer, "?incident=P7")
    assert [one.path for one in asked] == ["/incidents/P7", "/incidents/..%2F..%2Fx/log_entries"]
    assert [(one.state, one.by, one.text) for one in found] == [("triggered", "checkout", "5 % fail")]


def test_entries_that_cannot_be_had_are_missing_and_the_incident_is_told() -> None:
    found, missing, _ = read(lambda asked: {"incidents": [incident(7)]} if asked.path == "/incidents" else Reply({}, 403))
    assert [one.state for one in found] == ["triggered"]
    assert missing[0].why.startswith("what was done about #7 Checkout is down: 127.0.0.1")


@pytest.mark.parametrize("reply", [Reply({"error": TOKEN}, 401), {"incidents": {}}, [], Reply(TOKEN.encode())])
def test_a_refusal_never_repeats_the_token(reply: Any) -> None:
    with pytest.raises(SignalError) as error:
        read(lambda _: reply)
    assert TOKEN not in str(error.value)


def test_without_a_token_nothing_is_asked() -> None:
    with pytest.raises(UsageError, match="set PAGERDUTY_TOKEN"):
        PagerDuty("", {})
    with pytest.raises(UsageError, match="holds what no header can") as error:
        PagerDuty("", {"PAGERDUTY_TOKEN": "a\r\nX-Evil: 1"})
    assert "Evil" not in str(error.value)
    with pytest.raises(UsageError, match="not a place of PagerDuty"):
        PagerDuty("mars", {"PAGERDUTY_TOKEN": TOKEN})
    with pytest.raises(UsageError, match="PAGERDUTY_URL"):
        PagerDuty("", {"PAGERDUTY_TOKEN": TOKEN, "PAGERDUTY_URL": "ftp://x"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("2026-11-30T12:09:00Z"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "created_at", "agent", "channel", "summary", "id", "title", "incident_number", "html_url", "service"]), inner, max_size=6
    ), max_leaves=15,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(JSON, JSON)
def test_no_answer_breaks_the_reader(one: Any, other: Any) -> None:
    found, _, _ = read(lambda asked: {"incidents": [one, other]} if asked.path == "/incidents" else {"log_entries": [other, one]})
    assert all(HOUR.holds(each.at) and each.name for each in found)
