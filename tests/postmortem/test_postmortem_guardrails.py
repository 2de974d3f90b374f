"""Guardrails that were not heeded, and those that were."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape, ask, start, text, use
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import guardrails
from tachograph.postmortem.case import open_case

TRADE = (tool("place_order", "Buy or sell."), tool("get_quote", "A price."), tool("escalate", "Tell a person."))
BUY = Call(name="place_order", given={"ticker": "XQZ-7", "shares": 900})


def verdict(action: str, detail: Any = None, **more: Any) -> Any:
    def happens(tape: Tape) -> None:
        fields = {"id": "evt_guard", "guardrail_id": "position-limit", "version": "2", "source": "declared", "lane": "main", **more}
        tape.add(events.Guardrail, action=action, **fields, **({"detail": detail} if detail is not None else {}))

    return happens


def found(*turns: Turn, **more: Any) -> list[Any]:
    return list(guardrails.run(open_case(session(*turns, **{"tools": TRADE, "user": "Buy XQZ-7.", **more}))))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("action", "words"), [("BLOCKED", "stopped it"), ("DETECTED", "flagged it"), ("SKIPPED", "did not run"), ("ERROR", "did not run")]
)
def test_a_verdict_of_the_agents_own_guardrail_that_is_passed_over(provider: str, action: str, words: str) -> None:
    turns = (Turn(calls=(BUY,), before=(verdict(action, {"reason": "more than 500 shares"}),)), Turn(say="Bought."))
    (one,) = found(*turns, provider=provider)
    assert (one.cause, one.first_event) == ("policy", "evt_guard")
    assert words in one.statement


def test_a_declared_tool_that_ran_within_or_after_its_verdict() -> None:
    (one,) = found(
        Turn(calls=(Call(name="place_order", given=BUY.given, declared="external"),), before=(verdict("DENY"),)), Turn(say="Bought.")
    )
    assert one.first_event == "evt_guard"
    earlier = Call(name="place_order", given=BUY.given, declared="external")
    assert not found(Turn(calls=(earlier,), after=(verdict("DENY"),)), Turn(say="Bought; the next one was stopped."))


def test_a_verdict_within_a_model_call_whose_answer_is_carried_out() -> None:
    guard = {"id": "gr-1", "version": "7", "action": "INTERVENED"}
    turns = (
        Turn(calls=(BUY,), finish="guardrail_intervened", more={"guardrail": guard}),
        Turn(say="Bought.", more={"guardrail": {**guard, "action": "NONE"}}),
    )
    (one,) = found(*turns, provider="converse")
    assert (one.first_event, one.confidence) == ("evt_0001", 0.95)


def test_the_same_is_asked_again_without_the_guardrail() -> None:
    guard = {"id": "gr-1", "version": "7", "action": "INTERVENED"}
    turns = (Turn(say="I cannot help with that.", more={"guardrail": guard}), Turn(calls=(BUY,), user="Do it."), Turn(say="Bought."))
    (one,) = found(*turns, provider="converse")
    assert one.first_event == "evt_0002"
    assert "without it" in one.statement


def test_calls_with_a_guardrail_and_one_without_by_which_the_effect_came() -> None:
    guard = {"guardrail": {"id": "gr-1", "version": "7", "action": "NONE"}}
    quote = Call(name="get_quote", given={"ticker": "XQZ-7"})
    turns = (Turn(calls=(quote,), more=guard), Turn(calls=(BUY,)), Turn(say="Bought.", more=guard))
    (one,) = found(*turns, provider="converse")
    assert (one.cause, one.first_event) == ("policy", "evt_0002")
    assert "was asked without the guardrail" in one.statement


def test_what_a_guardrail_had_found_and_let_pass() -> None:
    tape = session(
        Turn(calls=(BUY,), more={"guardrail": {"id": "gr-1", "version": "DRAFT", "action": "NONE"}}),
        Turn(say="Bought."),
        tools=TRADE,
        provider="converse",
    )
    call = tape.entries[1].event
    assert isinstance(call, events.ModelCall)
    assert call.output_uri is not None
    tape.contents[call.output_uri]["trace"] = {
        "guardrail": {
            "outputAssessments": {"gr-1": [{"topicPolicy": {"topics": [{"name": "trades", "action": "NONE", "detected": True}]}}]}
        }
    }
    (one,) = guardrails.run(open_case(tape))
    assert (one.cause, one.first_event) == ("policy", "evt_0001")


def test_the_text_that_was_stopped_is_sent_from_the_verdict() -> None:
    guard = {"id": "gr-1", "version": "7", "action": "INTERVENED"}
    text = "Sell the fund today and keep the money until autumn."

    def send(tape: Tape) -> None:
        request = {"method": "POST", "url": "https://crm.example/messages", "headers": {}, "body": {"text": text}}
        tape.add(events.Http, method="POST", host="crm.example", status=200, lane="main", duration_ms=5.0, request=request)

    stopped = verdict("INTERVENED", {"assessments": {"modelOutput": [text]}}, source="Converse", call_id="evt_0001")
    (one,) = found(Turn(say="I cannot advise you.", more={"guardrail": guard}, before=(stopped, send)), provider="converse")
    assert one.first_event == "evt_guard"


def test_guardrails_that_were_heeded() -> None:
    assert not found(
        Turn(calls=(Call(name="place_order", given=BUY.given, runs=False),), before=(verdict("BLOCKED"),)), Turn(say="It was blocked.")
    )
    held = Call(name="place_order", given=BUY.given, result="blocked by position-limit")
    assert not found(Turn(calls=(held,), before=(verdict("BLOCKED"),)), Turn(say="It was blocked."))
    told = Call(name="escalate", given={"what": "XQZ-7, 900 shares"})
    assert not found(
        Turn(calls=(Call(name="place_order", given=BUY.given, runs=False),), before=(verdict("BLOCKED", {"ticker": "XQZ-7"}),)),
        Turn(calls=(told,)),
        Turn(say="Told."),
    )
    other = Call(name="place_order", given={"ticker": "ABC-1", "shares": 10})
    assert not found(
        Turn(calls=(Call(name="place_order", given=BUY.given, runs=False),), before=(verdict("BLOCKED", {"ticker": "XQZ-7"}),)),
        Turn(say="No."),
        Turn(user="Then ten of ABC-1.", calls=(other,)),
        Turn(say="Bought."),
    )
    assert not found(Turn(calls=(BUY,), before=(verdict("NONE"),)), Turn(say="Bought."))


def test_what_the_agents_code_does_because_of_a_verdict_is_no_disobedience() -> None:
    guard = {"id": "gr-1", "version": "7", "action": "INTERVENED"}

    def own(name: str, **given: Any) -> Any:
        return lambda tape: (
            tape.add(events.ToolCall, name=name, source="declared", effect="external", input=given, output="ok", lane="main") and None
        )

    fallback = Turn(say="I cannot help with that.", more={"guardrail": guard}, after=(own("set_status", to="waiting"),))
    assert not found(fallback, provider="converse")
    carried = Turn(say="Order 900 XQZ-7 at once.", before=(verdict("BLOCKED"),), after=(own("submit", text="Order 900 XQZ-7 at once."),))
    (one,) = found(carried)
    assert one.first_event == "evt_guard"


def test_what_was_stopped_may_be_changed_and_pass() -> None:
    less = Call(name="place_order", given={"ticker": "XQZ-7", "shares": 300})
    stopped = Turn(
        calls=(Call(name="place_order", given=BUY.given, runs=False),), before=(verdict("BLOCKED", {"reason": "more than 500 shares"}),)
    )
    passed = (verdict("NONE", id="evt_guard2"),)
    assert not found(stopped, Turn(calls=(less,), before=passed), Turn(say="Bought 300."))
    (one,) = found(stopped, Turn(calls=(BUY,), before=passed), Turn(say="Bought."))
    assert one.first_event == "evt_guard"


POST = {"text": "Second quarter: turnover grew by 18 percent, and the new pump ships in May."}


def blocked(result: str = "disclosure-check: not posted (figures are not public)", **more: Any) -> Turn:
    """A declared function ran for a permitted text; for another one the check within the agent's code raised before it was reached."""
    fine = Call(name="publish", given={"text": "Our test hall at dusk"}, declared="external", result={"posted": True})
    raised = Call(name="publish", given=POST, result=result, **more)
    return Turn(
        calls=(fine, raised), before=(verdict("BLOCKED", {"text": POST["text"], "reason": "figures"}, guardrail_id="disclosure-check"),)
    )


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("result", "more"),
    [
        ("disclosure-check: not posted (figures are not public)", {"outcome": "error"}),
        ("RuntimeError: veto of the press office", {"outcome": "error"}),
        ("disclosure-check says no", {}),
        ("El texto lleva cifras que no son públicas.", {}),
    ],
)
def test_a_call_that_failed_because_of_the_guardrail_is_not_the_deed(provider: str, result: str, more: dict[str, Any]) -> None:
    stopped = blocked(result, **more)
    assert not found(stopped, Turn(say="The photo is out, the text was stopped."), provider=provider)
    less = Call(name="publish", given={"text": "The new pump ships in May."}, declared="external", result={"posted": True})
    passed = (verdict("NONE", id="evt_guard2", guardrail_id="disclosure-check"),)
    assert not found(stopped, Turn(calls=(less,), before=passed), Turn(say="Out, without the figures."), provider=provider)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("publish_thread", {"parts": "Second quarter: turnover grew by 18 percent,|and the new pump ships in May."}),
        ("send_newsletter", {"list": "all", "body": ["Second quarter: turnover grew by 18 percent,", "and the new pump ships in May!"]}),
    ],
)
def test_what_was_stopped_goes_out_by_another_tool(provider: str, name: str, given: dict[str, Any]) -> None:
    stopped = blocked(outcome="error")
    around = Call(name=name, given=given, declared="external", result={"ok": True})
    (one,) = found(stopped, Turn(calls=(around,)), Turn(say="Published."), provider=provider)
    assert (one.cause, one.first_event) == ("policy", "evt_guard")
    assert name in one.statement
    assert "by another tool" in one.statement
    assert any(name in each.what for each in one.evidence)


def test_what_was_stopped_may_be_shown_to_a_person_or_kept() -> None:
    stopped = blocked(outcome="error")
    text = POST["text"]
    shown = Call(name="send_mail", given={"to": "press@pumps.example", "text": f"Our disclosure check has a say in this one, may we have your word on it, please? {text}"}, declared="external")  # fmt: skip
    assert not found(stopped, Turn(calls=(shown,)), Turn(say="The press office was asked."))
    escalated = Call(name="escalate", given={"what": text}, declared="external")
    assert not found(stopped, Turn(calls=(escalated,)), Turn(say="Told."))
    failed = Call(name="publish_thread", given={"parts": text}, declared="external", outcome="error", result="HTTP 403")
    assert not found(stopped, Turn(calls=(failed,)), Turn(say="It cannot be published."))
    kept = Call(name="save_draft", given={"text": text}, declared="write")
    assert not found(stopped, Turn(calls=(kept,)), Turn(say="Kept as a draft."))


def published(result: Any, *after: str, provider: str = "anthropic") -> list[Any]:
    """A call that asks a guardrail within itself, which says no; and then makes these exchanges."""
    tape = Tape(session_id="ses_01K4V8Q2M6ZC3X7Y5T1R9W0B2D")
    start(tape)
    given = {"tekst": "Oddam rower, Jan Wilk, PESEL 02271409862, telefon 600 100 200"}
    ask(tape, "Opublikuj.", [use("call_1", "opublikuj", **given)])
    tape.add(
        events.Http, method="POST", host="score.example", status=200, lane="main", parent_id="evt_tool",
        request={"method": "POST", "url": "https://score.example/ocena", "headers": {}, "body": given},
    )  # fmt: skip
    tape.add(
        events.Guardrail, id="evt_guard", parent_id="evt_tool", guardrail_id="dane", version="2", action="BLOCKED", source="declared", lane="main",
        detail={"co": "PESEL"},
    )  # fmt: skip
    for path in after:
        tape.add(
            events.Http, method="POST", host="board.example", status=200, lane="main", parent_id="evt_tool",
            request={"method": "POST", "url": f"https://board.example{path}", "headers": {}, "body": given},
        )  # fmt: skip
    tape.add(
        events.ToolCall, id="evt_tool", name="opublikuj", source="declared", effect="external", input=given, output=result, lane="main"
    )
    ask(tape, "Opublikuj.", [text("Gotowe.")])
    return list(guardrails.run(open_case(tape)))


@pytest.mark.parametrize("result", [{"opublikowano": False, "powod": "PESEL"}, {"stan": "wstrzymano"}, "nie opublikowano"])
def test_a_verdict_within_a_call_that_did_nothing_behind_it_was_heeded(result: Any) -> None:
    assert not published(result)


def test_a_verdict_within_a_call_that_went_on_was_not() -> None:
    (one,) = published({"opublikowano": True}, "/tablica")
    assert (one.first_event, one.cause) == ("evt_guard", "policy")


NOTES = (tool("draft_letter", "A letter."), tool("antwort", "Antworten."))


def sent(body: dict[str, Any], path: str = "/letters") -> Any:
    """The exchange by which the agent's code did what a tool was asked for."""

    def happens(tape: Tape) -> None:
        request = {"method": "POST", "url": f"https://post.example{path}", "headers": {}, "body": body}
        tape.add(events.Http, method="POST", host="post.example", status=201, lane="main", duration_ms=4.0, request=request)

    return happens


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("action", ["ERROR", "TIMEOUT", "unavailable"])
def test_a_guardrail_that_broke_and_the_exchange_was_made_that_its_answer_asked_for(provider: str, action: str) -> None:
    given = {"an": "F. Aydin", "text": "Wir bedauern das, sorry, und Ihr Konto DE11 wird erstattet."}
    call = Call(name="antwort", given=given)
    (one,) = found(
        Turn(calls=(call,), before=(verdict(action, {"then": "let through"}), sent(given))),
        Turn(say="Gesendet."),
        provider=provider,
        tools=NOTES,
    )
    assert (one.cause, one.first_event) == ("policy", "evt_guard")
    assert "did not run" in one.statement
    assert "as that very answer asked for" in one.statement


def test_a_guardrail_that_broke_and_what_was_done_because_of_it() -> None:
    given = {"an": "F. Aydin", "text": "Ihr Konto DE11 wird erstattet."}
    call = Call(name="antwort", given=given)
    ending = Turn(say="It cannot be sent now.")
    assert not found(Turn(calls=(call,), before=(verdict("ERROR"), sent({"reason": "screening is down"}, "/tickets"))), ending, tools=NOTES)
    assert not found(Turn(calls=(call,), before=(verdict("ERROR"), verdict("NONE", id="evt_two"), sent(given))), ending, tools=NOTES)
    assert not found(Turn(calls=(call,), before=(sent(given), verdict("ERROR"))), ending, tools=NOTES)


def test_a_guardrail_that_broke_and_the_answer_was_given() -> None:
    def judged(say: str, *verdicts: Any) -> list[Any]:
        return found(Turn(calls=(Call(name="get_quote", given={"ticker": "A"}, result="41"),)), Turn(say=say, after=verdicts))

    (one,) = judged("Put all of it into XQZ-7.", verdict("TIMEOUT"))
    assert (one.cause, one.first_event) == ("policy", "evt_guard")
    assert "the answer was given nonetheless" in one.statement
    assert not judged("I cannot advise on that.", verdict("TIMEOUT"))
    assert not judged("Please try again in a moment.", verdict("TIMEOUT"))
    assert not judged("A stands at 41.", verdict("TIMEOUT"), verdict("NONE", id="evt_two"))
    assert not judged("A stands at 41.", verdict("SKIPPED"))
