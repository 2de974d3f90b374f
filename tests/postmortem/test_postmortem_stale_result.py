"""Results that were old or contradicted and were used; and those that were not."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.stale_result import ANALYSIS

TODAY = "You sell parts. Today is 2026-09-11."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "sign",
    [{"as_of": "2026-09-02T06:00:00Z"}, {"cached": True, "cached_at": "2026-09-01"}, {"stale": True}, {"valid_until": "2026-08-31"}, {"age_seconds": 432000}],
)  # fmt: skip
def test_a_result_that_says_itself_that_it_is_old(kind: str, sign: dict[str, Any]) -> None:
    session = Session(kind, system=TODAY).user("I take WP-9 if there is any.").model("", ("get_stock", {"part": "WP-9"}))
    session.gives({"part": "WP-9", "available": 72, "price": 14.35, **sign}).model(
        "", ("place_order", {"part": "WP-9", "price": 14.35})
    ).gives("ok")
    session.model("Ordered at 14.35.")
    found = session.findings(ANALYSIS)
    assert [(each.cause, each.first_event) for each in found] == [("tool", session.event("get_stock"))]


def test_the_same_call_gave_another_value_and_the_old_one_was_used() -> None:
    session = Session("openai").user("Quote WP-9.").model("", ("get_price", {"part": "WP-9"})).gives({"part": "WP-9", "price": 14.35})
    session.model("", ("get_price", {"part": "WP-9"})).gives({"part": "WP-9", "price": 19.8}).model(
        "", ("send_quote", {"part": "WP-9", "price": 14.35})
    )
    session.gives("sent").model("Quoted.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("get_price", 0))


def test_two_documents_that_contradict_each_other() -> None:
    session = Session("anthropic").user("How long may I return a lamp?").model("", ("search_docs", {"q": "return lamp"}))
    session.gives([{"text": "Returns of lamps are accepted within 30 days of delivery."}]).model(
        "", ("search_docs", {"q": "lamps returns"})
    )
    session.gives([{"text": "Returns of lamps are accepted within 14 days of delivery."}]).model(
        "You may return lamps within 30 days of delivery."
    )
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.event("search_docs", 0))


def test_the_older_of_two_dated_texts_was_followed() -> None:
    session = Session("bedrock").user("How many days may I work from home?").model("", ("search_handbook", {"q": "home office"}))
    session.gives({"passages": [
        {"valid_from": "2019-01-01", "text": "Staff may work from home two mornings of each week after talking to their manager."},
        {"valid_from": "2025-03-01", "text": "Working from home is limited to Fridays and staff have to enter it into the portal."},
    ]})  # fmt: skip
    session.model("You may work from home two mornings of each week, after talking to your manager.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.event("search_handbook"))


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fields",
    [{"as_of": "2026-09-11T05:00:00Z"}, {"updated_at": "2024-02-01"}, {"created": "2019-05-05"}, {"cached": False}, {"valid_until": "2027-01-01"}, {"age": 44}],
)  # fmt: skip
def test_a_result_that_is_new_or_only_has_dates(kind: str, fields: dict[str, Any]) -> None:
    session = Session(kind, system=TODAY).user("I take WP-9.").model("", ("get_stock", {"part": "WP-9"}))
    session.gives({"part": "WP-9", "price": 14.35, **fields}).model("", ("place_order", {"part": "WP-9", "price": 14.35})).gives(
        "ok"
    ).model("Ordered.")
    assert session.findings(ANALYSIS) == []


def test_an_old_result_that_was_said_to_be_old() -> None:
    session = Session("openai", system=TODAY).user("Stock of WP-9?").model("", ("get_stock", {"part": "WP-9"}))
    session.gives({"part": "WP-9", "available": 72, "as_of": "2026-09-02"}).model("72, as of 2 September; it may have changed.")
    assert session.findings(ANALYSIS) == []


def test_waiting_for_a_job() -> None:
    session = (
        Session("openai")
        .user("Deploy api.")
        .model("", ("deploy", {"service": "api"}))
        .gives({"id": "job-77", "status": "pending", "progress": 10})
    )
    session.model("", ("get_job", {"id": "job-77"})).gives({"id": "job-77", "status": "running", "progress": 60})
    session.model("", ("get_job", {"id": "job-77"})).gives({"id": "job-77", "status": "done", "progress": 100}).model("Job job-77 is done.")
    assert session.findings(ANALYSIS) == []


def test_the_newer_value_was_used_and_what_the_agent_changed_itself() -> None:
    session = Session("openai").user("Quote WP-9.").model("", ("get_price", {"part": "WP-9"})).gives({"part": "WP-9", "price": 14.35})
    session.model("", ("get_price", {"part": "WP-9"})).gives({"part": "WP-9", "price": 19.8}).model(
        "", ("send_quote", {"part": "WP-9", "price": 19.8})
    )
    assert session.gives("sent").model("Quoted at 19.80.").findings(ANALYSIS) == []


def test_prices_of_two_things() -> None:
    session = Session("anthropic").user("What do rooms cost?").model("", ("search_docs", {"q": "rooms"}))
    session.gives("The single room costs 80 EUR a night with breakfast.\nThe double room costs 120 EUR a night with breakfast.")
    assert session.model("The single room costs 80 EUR a night.").findings(ANALYSIS) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["not_after", "valid_until", "expires_at", "due"])
def test_an_end_of_the_thing_itself_is_no_age_of_the_result(kind: str, key: str) -> None:
    """A certificate, a pass, a lease that has run out is looked up, made anew and told; its dates are no values that were used."""
    session = (
        Session(kind, system=TODAY)
        .user("The pass GP-77 has run out, renew it and tell the gate.")
        .model("", ("get_pass", {"pass": "GP-77"}))
    )
    session.gives({"pass": "GP-77", key: "2026-09-06"}).model("", ("renew_pass", {"pass": "GP-77"})).gives(
        {"pass": "GP-77", key: "2026-09-08"}
    )
    session.model("", ("notify", {"list": "gate", "text": "GP-77 is renewed, old end 2026-09-06, new end 2026-09-08"})).gives("ok")
    assert session.model("GP-77 is renewed until 8 September 2026.").findings(ANALYSIS) == []


def kb(kind: str, answer: str) -> Session:
    session = Session(kind, system=TODAY).user("May I return WP-9, which I opened?").model("", ("search", {"q": "returns"}))
    session.gives({"hits": [
        {"doc": "old-returns", "valid_to": "2026-01-31", "text": "Opened parts go back within 31 working days at 12.5 percent."},
        {"doc": "new-returns", "valid_from": "2026-02-01", "text": "Opened parts cannot go back; closed ones within 14 days."},
    ]})  # fmt: skip
    session.model("", ("answer_ticket", {"ticket": "T-6", "text": answer})).gives("ok")
    return session.model(answer)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ["Opened parts cannot go back; closed ones within 14 days.", "They cannot go back. The rule of 31 working days ended on 31 January."])  # fmt: skip
def test_of_several_hits_the_one_in_force_was_used(kind: str, answer: str) -> None:
    assert not [one for one in kb(kind, answer).findings(ANALYSIS) if "says itself that it is old" in one.statement]


@pytest.mark.parametrize("kind", KINDS)
def test_of_several_hits_the_one_that_ran_out_was_used(kind: str) -> None:
    session = kb(kind, "Yes, within 31 working days at 12.5 percent.")
    assert session.event("search") in [
        one.first_event for one in session.findings(ANALYSIS) if "says itself that it is old" in one.statement
    ]
