"""Instructions that were added or replaced within a session and took away what the first had asked for; and those that did not."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.changed_instructions import ANALYSIS

FIRST = "You look after the mailing lists. Before a list is closed, the person has to confirm it by its name."
CLOSE = ("close_list", {"list": "alumni-2019"})
ASKS = "alumni-2019 has not been used for a year. Shall I close it?"


def add(session: Session, text: str) -> None:
    """A further message of the harness, where a provider has one for it; else the system prompt gets longer."""
    if session.kind in ("openai", "responses"):
        session.history.append({"role": "developer", "content": text})
    else:
        session.system += "\n\n" + text


def lists(
    kind: str, more: str, said: str = "Go on.", *, first: str = FIRST, asks: str = ASKS, act: tuple[str, dict[str, Any]] = CLOSE
) -> Session:
    session = Session(kind, system=first, declared={"lists": "read"})
    session.user("Tidy up the lists.").model("", ("lists", {"unused": True})).gives([{"list": "alumni-2019", "last": "2025-11"}])
    session.model(asks)
    if more:
        add(session, more)
    session.user(said).model("", act).gives("closed")
    return session.model("Done.")


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_to_be_asked_any_more(kind: str) -> None:
    session = lists(kind, "This is a night run: no questions can be answered, decide by yourself.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("prompt", session.call(3))
    assert found.evidence[-1].event_id == session.event("close_list")
    assert "alumni-2019" in found.statement


def test_in_german() -> None:
    session = lists(
        "openai", "Nachtlauf: Rückfragen sind nicht möglich, entscheide eigenständig.", "Weiter.",
        first="Du pflegst die Verteiler. Vor jedem Schließen muss die Nutzerin bestätigen.", asks="Soll ich alumni-2019 schließen?",
    )  # fmt: skip
    assert [one.first_event for one in session.findings(ANALYSIS)] == [session.call(3)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_in_the_place_of_the_first(kind: str) -> None:
    session = Session(kind, system=FIRST)
    session.user("Tidy up the lists.").model(ASKS)
    session.system = "You look after the mailing lists. Finish what was begun."
    session.user("Go on.").model("", CLOSE).gives("closed").model("Done.")
    assert [(one.cause, one.first_event) for one in session.findings(ANALYSIS)] == [("prompt", session.call(2))]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "Go on."),  # no change: the model went on by itself
        ("This is a night run: no questions can be answered, decide by yourself.", "Yes, do that."),
        ("This is a night run: no questions can be answered, decide by yourself.", "Close alumni-2019."),
        ("Today is Tuesday. The person's name is Mona.", "Go on."),
        ("Do not ask for the password, it is on file.", "The older of them."),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_an_answer_or_nothing_that_bears_on_it(kind: str, more: str, said: str) -> None:
    assert lists(kind, more, said).findings(ANALYSIS) == []


def test_an_added_rule_against_the_first() -> None:
    session = Session("openai", system="You sell tickets. Never sell standing tickets to groups.")
    session.user("Two groups are waiting.").model("I look.")
    add(session, "Sell standing tickets to groups as well, the hall is empty.")
    session.user("Serve them.").model("", ("sell_tickets", {"kind": "standing", "to": "groups", "count": 20})).gives("sold").model("Done.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("prompt", session.call(2))


@pytest.mark.parametrize("more", ["Sales of standing tickets have begun.", "Groups get a map of the hall."])
def test_what_does_not_go_against_it(more: str) -> None:
    session = Session("openai", system="You sell tickets. Never sell standing tickets to groups.")
    session.user("Two groups are waiting.").model("I look.")
    add(session, more)
    session.user("Serve them.").model("", ("sell_tickets", {"kind": "seated", "to": "group", "count": 20})).gives("sold").model("Done.")
    assert session.findings(ANALYSIS) == []


def test_what_was_done_before_the_change_as_well() -> None:
    session = Session("openai", system="You sell tickets. Never sell standing tickets to groups.")
    session.user("Two groups are waiting.").model("", ("sell_tickets", {"kind": "standing", "to": "groups", "count": 10})).gives("sold")
    add(session, "Sell standing tickets to groups as well, the hall is empty.")
    session.user("Serve them.").model("", ("sell_tickets", {"kind": "standing", "to": "groups", "count": 20})).gives("sold").model("Done.")
    assert session.findings(ANALYSIS) == []


def test_an_added_text_that_says_nobody_approves_today() -> None:
    session = Session("openai", system="You run the pumps. Get approval before you drain a tank.")
    session.user("Tank 4 is full.").model("I look at it.")
    add(session, "The approval desk is down, work without it.")
    session.user("Handle it.").model("", ("drain_tank", {"tank": "TK-4"})).gives("drained").model("Done.")
    assert [(one.cause, one.first_event) for one in session.findings(ANALYSIS)] == [("prompt", session.call(2))]


def test_a_reminder_that_speaks_of_asking_takes_nothing_away() -> None:
    session = lists("openai", "Reminder: the person opened settings.toml. If something is unclear, ask before you go on.", "Continue.")
    assert session.findings(ANALYSIS) == []
