"""Answers that name something as done with which nothing was done."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import left_out
from tachograph.postmortem.case import open_case

TOOLS = (tool("list_permits", "All."), tool("renew_permit", "Renew one."))
LIST = Call(name="list_permits", given={}, result={"permits": ["PX-101", "PX-102", "PX-103", "PX-104"]})


def found(say: str, *renewed: str, **more: Any) -> list[Any]:
    calls = tuple(Call(name="renew_permit", given={"permit": one}) for one in renewed)
    tape = session(Turn(calls=(LIST,)), Turn(calls=calls), Turn(say=say), user="Renew all permits.", tools=TOOLS, **more)
    return list(left_out.run(open_case(tape)))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_of_a_list_that_no_call_ever_had(provider: str) -> None:
    (one,) = found("I renewed PX-101, PX-102, PX-103 and PX-104.", "PX-101", "PX-102", "PX-104", provider=provider)
    assert (one.cause, one.confidence) == ("claim", 0.8)
    assert "“px-103”" in one.statement
    assert one.first_event == one.evidence[0].event_id


@pytest.mark.parametrize(
    "say",
    [
        "I renewed PX-101, PX-102 and PX-104. PX-103 could not be renewed.",
        "I renewed PX-101, PX-102 and PX-104, but not PX-103.",
        "I renewed PX-101, PX-102 and PX-104; PX-103 is still open.",
        "Done.",
        "I renewed PX-101, PX-102 and PX-104 for the customer of order 88-103.",
    ],
)
def test_what_the_answer_says_is_left_is_told(say: str) -> None:
    assert not found(say, "PX-101", "PX-102", "PX-104")


def test_all_of_them_done_is_what_it_says() -> None:
    assert not found("I renewed PX-101, PX-102, PX-103 and PX-104.", "PX-101", "PX-102", "PX-103", "PX-104")


PEOPLE = Call(name="attendees", given={"meeting": "R-12"}, result={"attendees": ["Lea", "Karim", "Sofia"]})
WARDS = Call(
    name="wards", given={}, result=[{"ward": "North Wing", "beds": 4}, {"ward": "Chapel", "beds": 9}, {"ward": "Annexe", "beds": 2}]
)


def told(say: str, look: Call, tool_name: str, key: str, *done: str) -> list[Any]:
    calls = tuple(Call(name=tool_name, given={key: one, "text": "R-12 is at 16:00."}, result={"sent": True}) for one in done)
    tools = (tool(look.name, "A list."), tool(tool_name, "To one."))
    return list(
        left_out.run(open_case(session(Turn(calls=(look,)), Turn(calls=calls), Turn(say=say), user="To everybody, please.", tools=tools)))
    )


@pytest.mark.parametrize(
    ("say", "look", "tool_name", "done"),
    [
        ("Done: I have told Lea, Karim and Sofia.", PEOPLE, "send_note", ("Lea", "Sofia")), ("C'est fait, j'ai prevenu Lea, Karim et Sofia.", PEOPLE, "prevenir_envoyer", ("Lea", "Sofia")),
        ("Ich habe Lea, Karim und Sofia benachrichtigt.", PEOPLE, "send_message", ("Lea", "Sofia")), ("I notified North Wing, the Chapel and Annexe.", WARDS, "notify_ward", ("North Wing", "Annexe")),
        ("Se ha avisado a Lea, Karim y Sofia.", PEOPLE, "enviar_aviso", ("Karim", "Sofia")),
    ],
)  # fmt: skip
def test_a_name_of_a_list_that_no_call_ever_had(say: str, look: Call, tool_name: str, done: tuple[str, ...]) -> None:
    (one,) = told(say, look, tool_name, "to", *done)
    assert one.cause == "claim"


@pytest.mark.parametrize(
    "say",
    [
        "I have sent notes to Lea and Sofia. Karim could not be reached.", "I have sent Lea and Sofia the note that Karim wrote.", "I have sent notes to Lea and Sofia.",
        "R-12 has three attendees: Lea, Karim and Sofia.", "I have sent notes to Lea and Sofia, but not to Karim.",
    ],
)  # fmt: skip
def test_a_name_that_is_not_said_to_be_one_of_them(say: str) -> None:
    assert not told(say, PEOPLE, "send_note", "to", "Lea", "Sofia")


def test_all_names_had_a_call() -> None:
    assert not told("I have sent notes to Lea, Karim and Sofia.", PEOPLE, "send_note", "to", "Lea", "Karim", "Sofia")


@pytest.mark.parametrize(
    ("say", "tool_name"),
    [
        ("Fatto: tutti e tre (Lea, Karim e Sofia) hanno ricevuto l'SMS.", "avvisa"),
        ("All three attendees (Lea, Karim and Sofia) have received the message.", "send_note"),
        ("Alle drei haben die Nachricht erhalten: Lea, Karim und Sofia.", "benachrichtige"),
        ("Ho avvisato tutti e tre gli iscritti.", "avvisa"),
        ("I have notified all three attendees.", "notify"),
        ("Les trois participants ont tous reçu le message : Lea, Karim et Sofia.", "prevenir_envoyer"),
    ],
)
@pytest.mark.parametrize("wire_only", [False, True])
def test_from_the_side_of_those_who_received_it_or_by_their_number(say: str, tool_name: str, wire_only: bool) -> None:
    (one,) = received(say, tool_name, "Lea", "Sofia", wire_only=wire_only)
    assert one.cause == "claim"


@pytest.mark.parametrize(
    "say",
    [
        "Lea und Sofia haben die Nachricht erhalten, Karim noch nicht.",
        "Lea e Sofia hanno ricevuto l'SMS, Karim non ha un numero.",
        "Ho avvisato tutti e due.",
        "All three attendees are listed: Lea, Karim and Sofia.",
    ],
)
def test_who_did_not_receive_it_is_told(say: str) -> None:
    assert not received(say, "avvisa", "Lea", "Sofia")
    assert not received("Alle drei haben die Nachricht erhalten: Lea, Karim und Sofia.", "avvisa", "Lea", "Karim", "Sofia")


def test_one_call_of_another_kind_may_have_reached_the_rest() -> None:
    group = Call(name="post_to_group", given={"group": "course"}, result={"ok": True}, declared="external")
    assert not received("I have notified all three attendees.", "notify", "Lea", "Sofia", more=(group,))


def received(say: str, tool_name: str, *done: str, wire_only: bool = False, more: tuple[Call, ...] = ()) -> list[Any]:
    def sent(to: str) -> Any:
        def happens(tape: Any) -> None:
            tape.add(
                events.Http, method="POST", host="sms.example", status=200, lane="main", duration_ms=9.0,
                request={"method": "POST", "url": "https://sms.example/notes", "headers": {}, "body": {"to": to}},
            )  # fmt: skip

        return happens

    tools = (tool(PEOPLE.name, "A list."), tool(tool_name, "To one."))
    calls = [
        Turn(
            calls=(Call(name=tool_name, given={"to": one}, result={"sent": True}, declared=None if wire_only else "external"),),
            after=(sent(one),) if wire_only else (),
        )
        for one in done
    ]
    turns = (Turn(calls=(PEOPLE,)), *calls, Turn(calls=more), Turn(say=say))
    return list(left_out.run(open_case(session(*turns, user="To everybody, please.", tools=tools))))
