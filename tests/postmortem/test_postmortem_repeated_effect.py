"""Effects that were made twice, and calls that were tried again and again."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape, start
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.repeated_effect import ANALYSIS
from tachograph.postmortem.case import open_case

PAY: tuple[str, dict[str, Any]] = ("transfer_money", {"to": "DE44500105", "amount": 300})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ["request timed out", "504 Gateway Timeout", "connection reset by peer"])
def test_the_model_asks_again_after_a_time_out(kind: str, error: str) -> None:
    session = Session(kind).user("Pay the rent.").model("", PAY).gives(error, failed=True).model("", PAY).gives({"ok": True}).model("Paid.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("transfer_money", 0))


def test_the_agent_s_code_does_it_twice() -> None:
    session = (
        Session("openai", declared={"send_sms": "external"}).user("Tell Ann.").model("", ("send_sms", {"to": "+4915112345", "text": "hi"}))
    )
    session.gives("queued")
    session.tape.add(
        events.ToolCall, name="send_sms", source="declared", effect="external", input={"to": "+4915112345", "text": "hi"}, output="queued",
        lane="main",
    )  # fmt: skip
    session.model("I told Ann.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.event("send_sms", 0))
    assert found.confidence >= 0.9


def test_the_same_exchange_twice_by_the_agent_s_code() -> None:
    tape = Tape()
    start(tape)
    for _ in range(2):
        tape.tick(10)
        tape.add(
            events.Http, method="POST", host="shop.example", status=201, lane="main",
            request={"method": "POST", "url": "https://shop.example/orders", "headers": {}, "body": {"sku": "K-9", "qty": 2}},
        )  # fmt: skip
    (found,) = ANALYSIS.run(open_case(tape))
    assert (found.cause, found.first_event) == ("harness", "evt_0001")


def test_a_storm_by_the_model_and_by_the_code() -> None:
    session = Session("bedrock").user("What is the weather?")
    for _ in range(6):
        session.model("", ("get_weather", {"city": "Bonn"})).gives("503 Service Unavailable", failed=True)
    (found,) = session.model("I cannot reach it.").findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("get_weather", 0))
    code = Session("openai", declared={"get_weather": "read"}).user("What is the weather?").model("", ("get_weather", {"city": "Bonn"}))
    for _ in range(8):
        code.tape.add(
            events.ToolCall, name="get_weather", source="declared", effect="read", input={"city": "Bonn"}, outcome="error", lane="main",
            error={"type": "OSError", "message": "refused"},
        )  # fmt: skip
    (found,) = code.findings(ANALYSIS)
    assert found.cause == "harness"


def posts(session: Session, status: int, times: int = 1, path: str = "orders", **body: Any) -> Session:
    """What a tool that is seen on the wire alone sends."""
    for _ in range(times):
        session.tape.tick(10)
        session.tape.add(
            events.Http, method="POST", host="shop.example", status=status, lane="main", outcome="ok" if status < 400 else "error", duration_ms=5.0,
            request={"method": "POST", "url": f"https://shop.example/{path}", "headers": {}, "body": body},
        )  # fmt: skip
    return session


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ["It gave an error.", "The order was placed.", "The list has 9 orders; the shop was mailed for each."])
def test_a_storm_within_one_call_that_the_model_asked_for(kind: str, answer: str) -> None:
    session = Session(kind).user("Order lamp K-9.").model("", ("buy", {"sku": "K-9"}))
    posts(session, 502, 9, sku="K-9").gives("502 bad gateway", failed=True).model(answer)
    first = next(entry.event.id for entry in session.tape.entries if isinstance(entry.event, events.Http))
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", first)
    assert found.confidence >= 0.8


def test_an_exchange_that_succeeded_twice_within_one_call() -> None:
    session = Session("openai").user("Order lamp K-9.").model("", ("buy", {"sku": "K-9"}))
    (found,) = posts(session, 201, 2, sku="K-9").gives("ok").model("Ordered.").findings(ANALYSIS)
    assert (found.cause, found.first_event, "asked for once" in found.statement) == ("harness", session.event("buy"), True)


def booked(kind: str, bookings: Any, *, first: int = 504, told_before: Any = None, head: str = "accept") -> Session:
    """A pitch is booked: the first exchange ends with ``first``, the second succeeds; then the list is read."""
    session = Session(kind).user("Book pitch 7 for the 4th.")
    if told_before is not None:
        session.model("", ("agenda", {"pitch": 7})).gives(told_before)
    session.model("", ("book_pitch", {"pitch": 7, "day": "2026-05-04"}))
    for status in (first, 201):
        session.tape.tick(10)
        session.tape.add(
            events.Http, method="POST", host="park.example", status=status, lane="main", outcome="ok", duration_ms=5.0,
            request={"method": "POST", "url": "https://park.example/slots", "headers": [[head, "a"]], "body": {"pitch": 7, "day": "2026-05-04"}},
        )  # fmt: skip
    session.gives({"slot": "S-412", "pitch": 7, "day": "2026-05-04"}).model("", ("agenda", {"pitch": 7})).gives(bookings)
    return session.model("Booked: S-412.")


TWO = [{"slot": "S-411", "pitch": 7, "at": "09:58"}, {"slot": "S-412", "pitch": 7, "at": "09:59"}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bookings", [{"slots": TWO}, TWO, "slot,pitch,state\nS-411,7,held\nS-412,7,held"])
def test_made_again_behind_an_open_end_and_there_twice(kind: str, bookings: Any) -> None:
    session = booked(kind, bookings)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.event("book_pitch"))
    assert "S-411" in found.statement
    assert "S-412" in found.statement


@pytest.mark.parametrize(
    ("bookings", "more"),
    [
        (TWO[1:], {}),
        (TWO, {"head": "Idempotency-Key"}),
        (TWO, {"first": 429}),
        (TWO, {"told_before": TWO[:1]}),
        ([{"slot": "S-411", "pitch": 6, "at": "09:58"}, TWO[1]], {}),
        ([{"slot": "S-411", "pitch": 7, "at": "2026-04-02T09:58"}, {"slot": "S-412", "pitch": 7, "at": "2026-05-01T09:59"}], {}),
        ([{"slot": "S-411", "pitch": 7, "by": "Ivo"}, {"slot": "S-412", "pitch": 7, "by": "Ada"}], {}),
    ],
)
def test_made_again_and_there_once(bookings: Any, more: dict[str, Any]) -> None:
    assert booked("openai", bookings, **more).findings(ANALYSIS) == []


def test_a_key_in_the_head_of_two_exchanges_that_succeeded() -> None:
    assert booked("anthropic", TWO, first=201, head="Idempotency-Key").findings(ANALYSIS) == []
    assert len(booked("anthropic", TWO, first=201, head="X-Request-Id").findings(ANALYSIS)) == 1


def test_all_tries_are_counted_and_the_first_is_cited() -> None:
    session = Session("openai", declared={"hire_van": "external"}).user("Hire a van.").model("", ("hire_van", {"size": "L"}))
    session.gives("429 Too Many Requests", failed=True).model("", ("hire_van", {"size": "L"}))
    for _ in range(2):
        session.gives("504 Gateway Timeout", failed=True).model("", ("hire_van", {"size": "L"}))
    session.gives({"van": "V-3"}).model("Hired.")
    (found,) = session.findings(ANALYSIS)
    assert (found.first_event, "made 3 times" in found.statement) == (session.event("hire_van", 1), True)
    assert [one.event_id for one in found.evidence] == [session.event("hire_van", number) for number in (1, 2, 3)]


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ["429 Too Many Requests", "401 Unauthorized", "amount is missing", "connection refused"])
def test_a_retry_behind_a_refusal(error: str) -> None:
    session = (
        Session("anthropic")
        .user("Pay the rent.")
        .model("", PAY)
        .gives(error, failed=True)
        .model("", PAY)
        .gives({"ok": True})
        .model("Paid.")
    )
    assert session.findings(ANALYSIS) == []


def test_an_idempotency_key_makes_it_safe() -> None:
    pay = ("transfer_money", {"to": "DE44500105", "amount": 300, "idempotency_key": "k-1"})
    session = (
        Session("anthropic").user("Pay.").model("", pay).gives("timed out", failed=True).model("", pay).gives({"ok": True}).model("Paid.")
    )
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize("name", ["get_order", "list_messages", "update_ticket", "close_incident", "set_flag", "bash"])
def test_what_may_be_done_twice(name: str) -> None:
    session = (
        Session("openai").user("Go on.").model("", (name, {"id": 7})).gives("ok").model("", (name, {"id": 7})).gives("ok").model("Done.")
    )
    assert session.findings(ANALYSIS) == []


def test_a_person_asks_for_it_again_and_two_that_differ() -> None:
    session = Session("openai").user("Order a pizza.").model("", ("order_food", {"what": "pizza"})).gives("ok").model("Ordered.")
    session.user("One more of the same!").model("", ("order_food", {"what": "pizza"})).gives("ok").model("Ordered.")
    assert session.findings(ANALYSIS) == []
    session = Session("openai").user("Mail both.").model("", ("send_mail", {"to": "a@x.example"}), ("send_mail", {"to": "b@x.example"}))
    assert session.gives("ok", "ok").model("Done.").findings(ANALYSIS) == []


def test_a_few_failures_are_no_storm() -> None:
    session = Session("bedrock").user("What is the weather?")
    for _ in range(3):
        session.model("", ("get_weather", {"city": "Bonn"})).gives("503", failed=True)
    assert session.model("I cannot reach it.").findings(ANALYSIS) == []


@pytest.mark.parametrize("name", ["place_order", "flyers"])
def test_two_of_the_same_that_the_model_asked_for_in_one_answer(name: str) -> None:
    given = {"sku": "K-9", "to": "Leith"}
    session = Session("openai").user("Two boxes for Leith, separately.").model("", (name, given), (name, given))
    assert posts(session, 201, 2, **given).gives("O-1", "O-2").model("Both are ordered.").findings(ANALYSIS) == []


def test_a_few_tries_within_a_call_and_what_only_looks() -> None:
    session = Session("openai").user("Order lamp K-9.").model("", ("buy", {"sku": "K-9"}))
    posts(session, 502, 2, sku="K-9")
    assert posts(session, 201, 1, sku="K-9").gives("ok").model("Ordered.").findings(ANALYSIS) == []
    session = Session("openai").user("Find lamps.").model("", ("lamps", {"kind": "lamp"}))
    assert posts(session, 200, 3, "catalogue/search", kind="lamp").gives("K-9").model("There is K-9.").findings(ANALYSIS) == []


@pytest.mark.parametrize("look", ["[]", {"bookings": []}, "no booking found", {"count": 0, "items": []}])
def test_a_look_in_between_that_showed_nothing_done(look: Any) -> None:
    session = (
        Session("openai").user("Book the ferry.").model("", ("book_ferry", {"sailing": "F-9"})).gives("504 Gateway Timeout", failed=True)
    )
    session.model("", ("list_bookings", {"sailing": "F-9"})).gives(look)
    session.model("", ("book_ferry", {"sailing": "F-9"})).gives("booked").model("Booked.")
    assert session.findings(ANALYSIS) == []


def test_a_look_in_between_that_showed_it_done() -> None:
    session = (
        Session("openai").user("Book the ferry.").model("", ("book_ferry", {"sailing": "F-9"})).gives("504 Gateway Timeout", failed=True)
    )
    session.model("", ("list_bookings", {"sailing": "F-9"})).gives({"bookings": [{"sailing": "F-9", "seat": 4}]})
    session.model("", ("book_ferry", {"sailing": "F-9"})).gives("booked").model("Booked.")
    (found,) = session.findings(ANALYSIS)
    assert found.cause == "tool"
