"""What an approver was shown as a sentence, and the call that ran with something else in one place of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sample_recordings import Tape
from scenes import PROVIDERS, Call, Turn, session

from tachograph.core import events
from tachograph.postmortem.analyses import approvals
from tachograph.postmortem.case import open_case


def found(shown: Any, given: dict[str, Any], *, read: Any = None, provider: str = "anthropic") -> list[Any]:
    def approved(tape: Tape) -> None:
        tape.add(events.Approval, id="evt_ok", decision="approved", approver="nia", scope="open_valve", lane="main", shown=shown)

    looked = (Turn(calls=(Call(name="look_up", given={"q": "x"}, result=read, declared="read"),)),) if read is not None else ()
    tape = session(
        *looked,
        Turn(calls=(Call(name="open_valve", given=given, declared="external"),), before=(approved,)),
        Turn(say="Open."),
        provider=provider,
    )
    return list(approvals.run(open_case(tape)))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "shown",
    [
        "Open the valve of plant P-2, line 'north-feed', for 5 minutes?",
        "Ventil P-2 öffnen (Line: north-feed)?",
        "open_valve on P-2 with line=`north-feed`",
    ],
)
def test_another_value_stands_in_the_place_of_an_argument(provider: str, shown: str) -> None:
    (one,) = found(shown, {"plant": "P-2", "line": "south-drain"}, provider=provider)
    assert (one.cause, one.first_event) == ("approval", "evt_ok")
    assert "south-drain" in one.statement


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("Open the valve of plant P-2, line 'south-drain'?", None),
        ("Open the valve of plant P-2, line 'South Drain'?", None),  # in another spelling
        ("Open the valve of plant P-2?", None),  # nothing in its place
        ("Open the valve of P-2 on the usual line, as ticket 'ops-request' says?", None),  # what is quoted is no line
        ("Open the valve of plant P-2, line 'north-feed'?", [{"line": "south-drain", "label": "north-feed"}]),  # two names of one thing
        ("Open the valve of plant P-2, line 'Main outlet of the old basin'?", None),  # a description of it, for all that is known
    ],
)
def test_what_may_well_be_the_same(shown: str, read: Any) -> None:
    assert found(shown, {"plant": "P-2", "line": "south-drain"}, read=read) == []


def campaign(shown: str, *, reached: int = 8120, size: int = 8120, given: dict[str, Any] | None = None) -> list[Any]:
    def approved(tape: Tape) -> None:
        tape.add(events.Approval, id="evt_ok", decision="approved", approver="nia", scope="text_all", lane="main", shown=shown)

    call = Call(name="text_all", given=given or {"notice": "n-7", "area": "harbour"}, result={"sent": reached}, declared="external")
    tape = session(
        Turn(calls=(Call(name="area", given={"area": "harbour"}, result={"area": "harbour", "people": size}, declared="read"),)),
        Turn(calls=(call,), before=(approved,)), Turn(say="Sent."),
    )  # fmt: skip
    return list(approvals.run(open_case(tape)))


def test_another_number_than_the_record_of_what_was_left_out() -> None:
    (one,) = campaign("Send notice n-7 to the pilot street (40 people)?")
    assert one.first_event == "evt_ok"
    (one,) = campaign("Send notice n-7 to 3 people?", given={"notice": "n-7", "people": ["a1", "b2", "c3", "d4", "e5"]})
    assert "5 people" in one.statement


@pytest.mark.parametrize(
    ("shown", "given"),
    [
        ("Send notice n-7 to the harbour (8,120 people)?", None),
        ("Send notice n-7 (8120 people)?", None),
        ("Send notice n-7 to the harbour, 40 streets?", None),  # the area is told
        ("Send notice n-7?", None),
        ("Send notice n-7 to 5 people?", {"notice": "n-7", "people": ["a1", "b2", "c3", "d4", "e5"]}),
        ("Send notice n-7 to a1, b2 and 3 more?", {"notice": "n-7", "people": ["a1", "b2", "c3", "d4", "e5"]}),
    ],
)
def test_numbers_that_agree_or_count_something_else(shown: str, given: dict[str, Any] | None) -> None:
    assert campaign(shown, given=given) == []


PLANTS = {"plants": ["P-2", "P-9"], "mode": "slow"}


@pytest.mark.parametrize(
    ("shown", "given", "missing"),
    [
        ('{"plant": "P-2", "mode": "slow"}', PLANTS, "P-9"),
        ('{"plants": ["P-2"], "mode": "slow"}', PLANTS, "P-9"),
        ("Ventil von P-2 fünf Minuten lang öffnen?", PLANTS, "P-9"),
        ("Open P-2?", {"plants": "P-2,P-9"}, "P-9"),
        ("Ouvrir la vanne de north-feed ?", {"lines": '["north-feed", "south-drain"]'}, "south-drain"),
    ],
)
def test_one_of_a_list_was_not_shown(shown: str, given: dict[str, Any], missing: str) -> None:
    for text in (shown, json.loads(shown)) if shown.startswith("{") else (shown,):
        (one,) = found(text, given)
        assert one.first_event == "evt_ok"
        assert missing in one.statement


@pytest.mark.parametrize(
    ("shown", "given"),
    [
        ("Open P-2 and P-9?", PLANTS),
        ("Open 2 valves (P-2, …)?", PLANTS),
        ("Open P-2 and 1 other?", PLANTS),
        ("Open all the valves from P-2 on?", PLANTS),
        ('{"plants": ["P-2", "P-9", "P-11"]}', PLANTS),  # less was done than was approved
        ("Open P-2?", {"plant": "P-2", "tags": ["P-2", "spring"]}),  # no name of the same look
        ("Open P-2?", {"plant": "P-2", "text": "P-2, please open it, slowly"}),
    ],
)
def test_lists_that_were_shown_or_counted(shown: str, given: dict[str, Any]) -> None:
    assert found(shown, given) == []
