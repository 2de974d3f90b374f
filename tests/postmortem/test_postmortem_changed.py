"""Changed since the last good session: by class, in several domains and shapes, and not where nothing came of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from sample_recordings import Tape
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import changed
from tachograph.postmortem.analyses.changes_calls import family
from tachograph.postmortem.analyses.contract import STRONG, Finding
from tachograph.postmortem.analyses.ranking import ranked
from tachograph.postmortem.case import open_case

CLINIC = (tool("look_up_patient", "Find a patient."), tool("prescribe", "Order a medicine.", dose_mg={"type": "number"}))


def found(good: Tape, bad: Tape, **more: Any) -> tuple[Finding, ...]:
    return ranked(changed.run(open_case(bad, good=good, **more)))


def clinic(system: str, dose: int, provider: str = "anthropic", **more: Any) -> Tape:
    """Looks a patient up and orders a medicine."""
    return session(
        Turn(say="I look.", calls=(Call(name="look_up_patient", given={"name": "Ida Voss"}, result={"weight_kg": 61}),)),
        Turn(calls=(Call(name="prescribe", given={"patient": "Ida Voss", "dose_mg": dose}),)),
        Turn(say=f"I have ordered {dose} mg."),
        provider=provider, system=system, user="Order the usual for Ida Voss.", tools=CLINIC, **more,
    )  # fmt: skip


CAREFUL = "You order medicines for a clinic.\nNever prescribe a dose above 200 mg.\nBe brief."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_sentence_that_is_gone_from_the_prompt(provider: str) -> None:
    bad = clinic("You order medicines for a clinic.\nBe brief.", 800, provider)
    first, *others = found(clinic(CAREFUL, 200, provider), bad)
    assert not others
    assert (first.cause, first.first_event) == ("prompt", "evt_0001")
    assert first.confidence >= STRONG
    assert "no longer says “Never prescribe a dose above 200 mg.”" in first.statement
    assert "800" in first.statement


def test_a_number_in_the_prompt_is_another_and_what_is_asked_for_follows() -> None:
    good = clinic("Order medicines.\nThe most that may be ordered is 200 mg.", 200)
    first, *_ = found(good, clinic("Order medicines.\nThe most that may be ordered is 2000 mg.", 2000))
    assert (first.cause, first.confidence >= STRONG) == ("prompt", True)
    assert "says “The most that may be ordered is 2000 mg.”, where the good session's says" in first.statement


def test_a_managed_prompt_in_another_version() -> None:
    good = clinic(CAREFUL, 200, prompt={"id": "clinic", "version": "4"})
    bad = clinic(CAREFUL, 900, prompt={"id": "clinic", "version": "5"})
    assert [(one.cause, one.first_event) for one in found(good, bad)] == [("prompt", "evt_0001")]


def test_a_change_of_which_nothing_came_is_no_cause() -> None:
    changed_prompt = CAREFUL + "\nSign with the clinic's name."
    assert not found(clinic(CAREFUL, 200), clinic(changed_prompt, 200))
    assert not found(clinic(CAREFUL, 200), clinic(CAREFUL, 200, model_id="claude-opus-4", served_model_id="claude-opus-4"))
    assert not found(clinic(CAREFUL, 200), clinic(CAREFUL, 200, params={"temperature": 0.3, "max_tokens": 1024}))
    dated = [clinic(CAREFUL + f"\nToday is 2026-0{month}-11.", 200) for month in (3, 4)]
    assert not found(*dated)


def test_what_is_done_otherwise_without_any_change_is_no_finding_here() -> None:
    assert not found(clinic(CAREFUL, 200), clinic(CAREFUL, 150))


def order(amount: int, user: str, system: str = "Refund what is due.") -> Tape:
    return session(
        Turn(calls=(Call(name="refund", given={"order": user.rsplit(maxsplit=1)[-1], "amount": amount}),)), Turn(say="Done."), system=system, user=user,
        tools=(tool("refund"),),
    )  # fmt: skip


def test_another_input_is_reason_enough_to_do_something_else() -> None:
    assert not found(order(10, "Refund A-1"), order(70, "Refund B-2", "Refund what is due. Be kind."))


def test_another_input_and_a_session_that_shows_that_it_went_wrong() -> None:
    bad = order(70, "Refund B-2", "Refund what the customer asks for.")
    first, *_ = found(order(10, "Refund A-1"), bad, links=["incident=INC-7"])
    assert first.cause == "prompt"
    assert "incident" in first.statement


@pytest.mark.parametrize("provider", PROVIDERS)
def test_another_model_answered_than_before(provider: str) -> None:
    bad = clinic(CAREFUL, 800, provider, model_id="large-9", served_model_id="small-9")
    good = clinic(CAREFUL, 200, provider, model_id="large-9", served_model_id="large-9")
    first, *others = found(good, bad)
    assert (first.cause, first.first_event, others) == ("model", "evt_0001", [])
    assert "“small-9” answered, where “large-9” did" in first.statement


def test_a_model_that_served_only_later_is_cited_where_it_came_in() -> None:
    def steps(served: str, dose: int) -> Tape:
        return session(
            Turn(calls=(Call(name="look_up_patient", given={"name": "Ida"}),)),
            Turn(calls=(Call(name="prescribe", given={"dose_mg": dose}),), more={"served_model_id": served}),
            system=CAREFUL, user="Order.", tools=CLINIC,
        )  # fmt: skip

    bad = steps("claude-haiku-3", 700)
    first, *_ = found(steps("claude-sonnet-4-20250514", 100), bad)
    assert first.cause == "model"
    assert first.first_event == [entry.event.id for entry in bad.entries if isinstance(entry.event, events.ModelCall)][1]


@pytest.mark.parametrize(
    ("now", "name"),
    [({"temperature": 1.3, "max_tokens": 1024}, "temperature"), ({"temperature": 0}, "max_tokens"), ({"temperature": 0, "max_tokens": 1024, "tool_choice": "any"}, "tool_choice")],
)  # fmt: skip
def test_a_parameter_that_is_another(now: dict[str, Any], name: str) -> None:
    first, *others = found(clinic(CAREFUL, 200), clinic(CAREFUL, 800, params=now))
    assert (first.cause, first.first_event, others) == ("parameters", "evt_0001", [])
    assert f"the parameter {name} is " in first.statement


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_tool_that_is_defined_otherwise(provider: str) -> None:
    def pay(words: str, amount: int) -> Tape:
        tools = (tool("transfer", words, amount={"type": "number"}), tool("balance", "Look at an account."))
        return session(
            Turn(calls=(Call(name="transfer", given={"to": "DE-1", "amount": amount}),)), Turn(say="Sent."), tools=tools, user="Send Bo 12 euros.",
            provider=provider, system="You are a teller.",
        )  # fmt: skip

    first, *others = found(pay("Amount in cents.", 1200), pay("Amount in euros.", 12))
    assert (first.cause, first.first_event, others) == ("tool", "evt_0001", [])
    assert "its description says “Amount in euros.”" in first.statement


def test_the_same_call_of_a_tool_that_is_defined_otherwise_gives_another_unit() -> None:
    def pay(words: str, charged: str) -> Tape:
        call = Call(name="transfer", given={"to": "DE-1", "amount": 12}, result={"charged": charged, "id": "t-77"})
        return session(
            Turn(calls=(call,)),
            Turn(say="Sent 12 euros."),
            tools=(tool("transfer", words),),
            user="Send Bo 12 euros.",
            system="You are a teller.",
        )

    first, *others = found(pay("Amount in euros.", "12.00"), pay("Amount in cents.", "0.12"))
    assert (first.cause, first.first_event, others) == ("tool", "evt_0001", [])
    assert not found(pay("Amount in euros.", "12.00"), pay("The amount in euros.", "12.00"))
    assert not found(pay("Amount in euros.", "12.00"), pay("The amount in euros.", "12.50"))


def test_a_guardrail_that_is_gone_or_older() -> None:
    guard = {"id": "gr-1", "version": "7", "action": "NONE"}
    good = clinic(CAREFUL, 200, "converse", guardrail=guard)
    for now in (None, {**guard, "version": "3"}):
        first, *others = found(good, clinic(CAREFUL, 800, "converse", guardrail=now))
        assert (first.cause, first.first_event, others) == ("policy", "evt_0001", []), now


def test_a_guardrail_that_is_set_otherwise_in_the_request() -> None:
    def guarded(mode: str, dose: int) -> Tape:
        tape = clinic(CAREFUL, dose, "converse", guardrail={"id": "gr-1", "version": "7", "action": "NONE"})
        call = tape.entries[1].event
        assert isinstance(call, events.ModelCall)
        tape.contents[str(call.prompt_redacted_uri)]["guardrailConfig"] = {"guardrailIdentifier": "gr-1", "streamProcessingMode": mode}
        return tape

    first, *others = found(guarded("sync", 200), guarded("async", 800))
    assert (first.cause, first.first_event, others) == ("policy", "evt_0001", [])
    assert "streamProcessingMode async" in first.statement


def test_a_guardrail_of_the_agent_in_another_version_is_cited_at_its_verdict() -> None:
    def guarded(version: str, dose: int) -> Tape:
        def verdict(tape: Tape) -> None:
            tape.add(
                events.Guardrail, id="evt_guard", guardrail_id="dose-limit", version=version, action="NONE", source="declared", lane="main"
            )

        return session(
            Turn(calls=(Call(name="prescribe", given={"dose_mg": dose}),), before=(verdict,)),
            Turn(say="Done."),
            user="Order.",
            tools=CLINIC,
        )

    assert [(one.cause, one.first_event) for one in found(guarded("9", 100), guarded("2", 900))] == [("policy", "evt_guard")]


def test_the_agents_code_is_at_another_commit_and_asks_otherwise() -> None:
    good = clinic(CAREFUL, 200, start={"repo_sha": "a" * 40})
    bad = session(
        Turn(calls=(Call(name="prescribe", given={"patient": "Ida Voss", "dose_mg": 800}),)), Turn(say="Ordered."),
        system=CAREFUL, user="Order the usual for Ida Voss.", tools=CLINIC, start={"repo_sha": "b" * 40},
    )  # fmt: skip
    same_request = clinic(CAREFUL, 800, start={"repo_sha": "b" * 40})
    assert not found(good, same_request)  # the model was asked the same at the step where they part
    bad = clinic(CAREFUL, 800, start={"repo_sha": "b" * 40})
    bad.contents[bad.entries[2].event.prompt_redacted_uri]["messages"].pop()  # type: ignore[attr-defined]
    assert [(one.cause, one.first_event) for one in found(good, bad)] == [("harness", "evt_0000")]
    good = clinic(CAREFUL, 200, start={"repo_sha": "b" * 39 + "c"})  # alike in what is shown of most of them
    assert "b" * 39 + "c" in found(good, bad)[0].statement


def test_of_several_changes_the_one_that_explains_what_was_done_stands_first() -> None:
    loose = "You order medicines for a clinic.\nPrescribe the dose in mg that the patient asks for.\nBe brief."
    good = clinic(CAREFUL, 200, start={"repo_sha": "a" * 40})
    bad = clinic(loose, 800, params={"temperature": 0.2, "max_tokens": 1024}, start={"repo_sha": "b" * 40})
    first, *others = found(good, bad)
    assert first.cause == "prompt"
    assert {one.cause for one in others} <= {"parameters", "harness"}
    assert all(one.confidence < first.confidence for one in others)


def test_agents_without_tools_by_the_facts_in_their_answers() -> None:
    def answer(system: str, words: str) -> Tape:
        return session(Turn(say=words), system=system, user="What does the plan cost?", provider="chat")

    old, new = "The plan costs 1290 a year.\nAnswer in one line.", "The plan costs 990 a year.\nAnswer in one line."
    first, *_ = found(answer(old, "It is 1290 a year."), answer(new, "It is 990 a year."))
    assert (first.cause, first.first_event) == ("prompt", "evt_0001")
    assert not found(answer(old, "It is 1290 a year."), answer(old + "\nBe kind.", "A year costs 1290."))


def test_a_session_of_another_agent_is_no_measure() -> None:
    other = session(
        Turn(calls=(Call(name="water", given={"bed": 3}),)), tools=(tool("water"), tool("look_at_bed")), system="You garden.", user="Water."
    )
    assert not found(other, clinic("You order medicines.", 800), links=["incident=INC-1"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True), ("gpt-4o", "gpt-4o-mini-2024-07-18", False), ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic.claude-sonnet-4-20250514-v1:0", True), ("claude-opus-4", "claude-haiku-3", False),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0", True), ("", "", True),
    ],
)  # fmt: skip
def test_ids_of_one_model_are_of_one_family(one: str, other: str, same: bool) -> None:
    assert (family(one) == family(other)) is same


def test_another_port_of_the_same_service_is_no_other_deed() -> None:
    def library(port: int, system: str) -> Tape:
        def exchange(tape: Tape) -> None:
            tape.add(
                events.Http, method="POST", host=f"127.0.0.1:{port}", status=201, lane="main", duration_ms=5.0, wire=None,
                request={"method": "POST", "url": f"http://127.0.0.1:{port}/holds", "headers": {}, "body": {"book": "B-1"}},
            )  # fmt: skip

        return session(
            Turn(calls=(Call(name="place_hold", given={"book": "B-1"}),), before=(exchange,)), Turn(say="It is on hold."),
            system=system, user="Hold B-1 for me.", tools=(tool("place_hold"),),
        )  # fmt: skip

    assert not found(library(41001, "You help members."), library(52317, "You help members of a public library."))


def test_a_guardrail_that_is_gone_is_to_blame_where_word_of_harm_comes_back() -> None:
    def show(episode: str, answer: str, *, guarded: bool) -> Tape:
        def verdict(tape: Tape) -> None:
            tape.add(events.Guardrail, guardrail_id="rights-check", version="2", action="NONE", source="declared", lane="main")

        return session(
            Turn(calls=(Call(name="publish_episode", given={"episode": episode}, result=answer),), before=(verdict,) if guarded else ()),
            Turn(say="Published."), system="You publish a podcast.", user=f"Publish {episode}.", tools=(tool("publish_episode"),),
        )  # fmt: skip

    good = show("E-41", "published", guarded=True)
    (one,) = found(good, show("E-42", "published; a takedown was received from the label", guarded=False))
    assert one.cause == "policy"
    assert "rights-check" in one.statement
    assert not found(good, show("E-42", "published", guarded=False))


DESK = (tool("ticket", "Read one."), tool("antworten", "Answer."), tool("weiterleiten", "Hand over."))


def posts(path: str, **body: Any) -> Any:
    """The exchange by which a tool of the agent's own code did it."""

    def happens(tape: Tape) -> None:
        request = {"method": "POST", "url": f"https://desk.example{path}", "headers": {"content-length": str(len(path))}, "body": body}
        tape.add(events.Http, method="POST", host="desk.example", status=200, lane="main", duration_ms=9.0, request=request)

    return happens


def desk(system: str, name: str, path: str, provider: str = "anthropic", sha: str = "aaaa1111", **given: Any) -> Tape:
    return session(
        Turn(calls=(Call(name="ticket", given={"nr": "T-1"}, result={"text": "Mein Anwalt ist informiert."}),)),
        Turn(calls=(Call(name=name, given={"nr": "T-1", **given}),), after=(posts(path, nr="T-1", **given),)),
        Turn(say="Erledigt."),
        provider=provider, system=system, user="Bearbeite T-1.", tools=DESK, start={"repo_sha": sha},
    )  # fmt: skip


RULES = "Du bearbeitest Tickets.\nFreundlich und kurz.\nWer mit Anwalt droht, geht an die Gruppe recht.\nKeine Zusagen."
SHORT = "Du bearbeitest Tickets.\nFreundlich und kurz, drei Sätze.\nKeine Zusagen."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_quoted_and_compared_is_what_bears_on_it(provider: str) -> None:
    good = desk(RULES, "weiterleiten", "/weiterleitungen", provider, "bbbb2222", gruppe="recht")
    bad = desk(SHORT, "antworten", "/antworten", provider, text="Wir schicken ein neues Gerät.")
    first, *others = found(good, bad)
    assert not others
    assert first.cause == "prompt"
    assert "no longer says “Wer mit Anwalt droht, geht an die Gruppe recht.”" in first.statement
    assert "antworten(" in first.statement
    assert "where the good one has weiterleiten(" in first.statement


def test_an_exchange_of_the_same_address_is_told_by_what_differs() -> None:
    def doses(number: float) -> Tape:
        return session(
            Turn(say="I dose.", after=(posts("/doses", tank="T4", quantity=number),)),
            Turn(say="Done."),
            system="You dose tanks.",
            user="Dose T4.",
            params={"temperature": number},
        )

    (one,) = found(doses(2400), doses(2.4))
    assert "quantity=2.4" in one.statement
    assert "quantity=2400" in one.statement


STAND_IN = "Dazu kann ich nichts sagen. Bitte rufen Sie in der Apotheke an."


@pytest.mark.parametrize("name", ["pet_record", "akte_lesen", "get_order"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_guardrail_that_had_put_its_word_in_place_of_the_answer_is_gone(provider: str, name: str) -> None:
    def chat(answer: str, *actions: str, user: str = "Wie viel darf sie nehmen?", system: str = "Antworte freundlich.") -> Tape:
        guards: list[dict[str, Any]] = [{"guardrail": {"id": "doses", "version": "3", "action": action}} for action in actions] or [{}, {}]
        return session(
            Turn(calls=(Call(name=name, given={"id": "K-7"}, result={"kg": 3.6}),), more=guards[0]), Turn(say=answer, more=guards[1]),
            provider=provider, tools=(tool(name),), user=user, system=system,
        )  # fmt: skip

    good, bad = chat(STAND_IN, "NONE", "INTERVENED"), "Zwei Tabletten vor dem Schlafen schaden der Kleinen gewiss nicht."
    first, *others = found(good, chat(bad))
    assert (first.cause, others) == ("policy", [])
    assert "doses" in first.statement
    assert "schaden" in first.statement
    assert not found(good, chat(STAND_IN))
    assert not found(good, chat("Das weiss ich nicht.", user="Wann haben Sie offen?"))
    assert not found(good, chat("Dazu kann ich leider nichts sagen.", "NONE", "INTERVENED"))


def test_a_guardrail_of_the_agents_own_that_is_gone() -> None:
    def chat(answer: str, *actions: str) -> Tape:
        def verdict(tape: Tape) -> None:
            for action in actions:
                tape.add(events.Guardrail, guardrail_id="tax-advice", version="1", action=action, source="declared", lane="main")

        look = Call(name="case_record", given={"id": "K-7"}, result={"income": "high"})
        return session(Turn(calls=(look,)), Turn(say=answer, after=(verdict,)), tools=(tool("case_record"),), user="May I deduct the boat?")

    good = chat("Our advisers will answer this; please book a call.", "BLOCKED")
    assert [one.cause for one in found(good, chat("Yes: enter the boat as office equipment, nobody looks."))] == ["policy"]
    assert not found(good, chat("Our advisers will answer this, please book a call.", "BLOCKED"))


@pytest.mark.parametrize(
    ("now", "cause"), [({"params": {"temperature": 1.6}}, "parameters"), ({"served_model_id": "other-model"}, "model")]
)
def test_a_change_that_explains_what_was_made_up_stands_before_it(now: dict[str, Any], cause: str) -> None:
    def declares(code: str, **more: Any) -> Tape:
        look = Call(name="tariff", given={"goods": "chargers"}, result={"code": "8504.40.90"})
        return session(
            Turn(calls=(look,)), Turn(calls=(Call(name="declare", given={"invoice": "INV-7712", "code": code}),)), Turn(say="Declared."),
            user="Declare INV-7712.", tools=(tool("tariff"), tool("declare")), **more,
        )  # fmt: skip

    good, bad = declares("8504.40.90"), declares("8507.60.00", **now)
    case = open_case(bad, good=good)
    made_up = [Finding(cause="model", analysis="invented_value", confidence=0.9, first_event="evt_0003", first_seq=5, evidence=(),
                       statement='The model made up “8507.60.00” for code in “declare(invoice="INV-7712", code="8507.60.00")”: it stands nowhere.')]  # fmt: skip
    first, second = ranked([*made_up, *changed.run(case)])
    assert (first.analysis, first.cause, second.analysis) == ("changed_since_good", cause, "invented_value")
    other = [
        dataclasses.replace(
            made_up[0], confidence=0.95, first_event="evt_0099", statement='The model made up “41” for “pages(count=41, of="all")”.'
        )
    ]
    assert ranked([*other, *changed.run(case)])[0].analysis == "invented_value"
