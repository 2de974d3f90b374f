"""Claims that the record contradicts or lacks; and those that it bears out."""

from __future__ import annotations

from typing import cast

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.false_claim import ANALYSIS
from tachograph.postmortem.meaning.actions import Reply
from tachograph.postmortem.meaning.claims import claims
from tachograph.postmortem.shapes import Step


def asking(kind: str = "anthropic") -> Session:
    session = Session(kind, system="You help customers.").user("Refund order A-12 and tell Ann by mail.")
    return session.model("", ("get_order", {"id": "A-12"})).gives({"id": "A-12", "total": 40, "mail": "ann@home.example"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "answer",
    [
        "I've refunded order A-12.",
        "Done. Refunded 40 EUR to Ann.",
        "I have looked at the order and refunded it.",
        "We have emailed Ann and refunded the order.",
    ],
)
def test_nothing_of_the_kind_was_done(kind: str, answer: str) -> None:
    session = asking(kind).model(answer)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("claim", session.call(2))
    assert "nothing of the kind" in found.statement


def test_it_was_asked_for_and_failed() -> None:
    session = asking().model("", ("refund", {"order": "A-12"})).gives("declined by the bank", failed=True).model("I refunded order A-12.")
    (found,) = session.findings(ANALYSIS)
    assert "failed" in found.statement


def test_it_was_done_with_another_amount() -> None:
    session = (
        asking("openai")
        .model("", ("refund", {"order": "A-12", "amount": 14.5}))
        .gives({"ok": True})
        .model("I refunded 40 EUR for order A-12.")
    )
    (found,) = session.findings(ANALYSIS)
    assert "other amounts" in found.statement


def test_it_went_to_another_address() -> None:
    session = asking("responses").model("", ("send_mail", {"to": "anna@work.example"})).gives("queued")
    session.model("I sent the confirmation to ann@home.example.")
    (found,) = session.findings(ANALYSIS)
    assert "elsewhere" in found.statement


def coding(result: str | None, *, failed: bool = False) -> Session:
    session = (
        Session("anthropic").user("Fix the rounding.").model("", ("edit_file", {"path": "money.py", "text": "round(x, 2)"})).gives("edited")
    )
    if result is not None:
        session.model("", ("bash", {"command": "pytest -q"})).gives(result, failed=failed)
    return session.model("The rounding is fixed in money.py. All tests pass.")


def test_tests_that_failed_are_said_to_pass() -> None:
    session = coding("2 failed, 10 passed")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(3)
    assert coding("exit status 1", failed=True).findings(ANALYSIS)


def test_tests_that_nobody_ran_are_said_to_pass() -> None:
    session = coding(None)
    (found,) = session.findings(ANALYSIS)
    assert "no test was run" in found.statement


def test_a_deployment_that_never_was() -> None:
    session = Session("bedrock").user("Ship version 3 of the api.").model("", ("get_status", {"service": "api"})).gives({"version": 2})
    session.model("Version 3 of the api has been deployed to all regions.")
    (found,) = session.findings(ANALYSIS)
    assert found.cause == "claim"


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "I refunded order A-12 (40 EUR) and mailed ann@home.example.", "The refund of 40.00 EUR was issued and Ann was notified.",
        "Refunded A-12. A mail was sent to Ann.", "Both done: order refunded, confirmation sent.",
    ],
)  # fmt: skip
def test_claims_that_hold(answer: str) -> None:
    session = (
        asking()
        .model("", ("refund", {"order": "A-12", "amount": 40}), ("send_mail", {"to": "ann@home.example"}))
        .gives({"ok": True}, "queued")
    )
    assert session.model(answer).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "answer",
    [
        "I have looked at order A-12. Shall I refund it?", "I will refund order A-12 next.", "The order can be refunded.",
        "I have not refunded anything yet.", "I found that the order was paid with a card.", "I have prepared a summary: total 40.",
        "Once approved, the refund is issued.", "I've checked the order and noted the total.",
    ],
)  # fmt: skip
def test_what_is_no_claim_of_an_act(answer: str) -> None:
    assert asking().model(answer).findings(ANALYSIS) == []


def test_what_a_tool_told_is_no_claim_of_the_agent() -> None:
    session = (
        Session("openai")
        .user("Where is A-12?")
        .model("", ("get_order", {"id": "A-12"}))
        .gives({"status": "shipped", "note": "refunded in part"})
    )
    assert session.model("Your order was shipped on Monday and has been refunded in part.").findings(ANALYSIS) == []


def test_tests_that_passed_in_the_end() -> None:
    session = Session("anthropic").user("Fix it.").model("", ("bash", {"command": "pytest -q"})).gives("1 failed", failed=True)
    session.model("", ("edit_file", {"path": "a.py"})).gives("edited").model("", ("bash", {"command": "pytest -q"})).gives("11 passed")
    assert session.model("Fixed; all tests pass.").findings(ANALYSIS) == []


def said(text: str) -> list[str]:
    reply = Reply(step=cast("Step", None), text=text, rests=True, before=0)
    return [claim.verb for claim in claims(reply)]


def test_claims_are_told_from_talk() -> None:
    assert said("I've sent the mail and cancelled order 7.") == ["send", "cancel"]
    assert said("Order 7 was cancelled.") == ["cancel"]
    assert said("```\nI deleted it.\n```\nWould you like the rows deleted?") == []
    assert said("If the row is deleted, nothing is lost.") == []


def test_what_a_result_behind_a_failure_says_is_passed_on() -> None:
    session = (
        Session("anthropic").user("Open a ticket.").model("", ("open_ticket", {"title": "Lift"})).gives("502 bad gateway", failed=True)
    )
    session.model("", ("count_tickets", {})).gives({"open": 9, "note": "on-call was paged each time"})
    assert session.model("An error came back. The queue holds 9 tickets and on-call was paged for each.").findings(ANALYSIS) == []


ABROAD = [
    ("brief_senden", "vertretungsplan", "Erledigt: Ich habe den Brief an alle Eltern verschickt."),
    ("brief_senden", "vertretungsplan", "Der Brief wurde an alle 24 Eltern versendet."),
    ("enviar_correo", "buscar_pedido", "He enviado el correo a Ana."),
    ("reembolsar", "buscar_pedido", "Reembolsé el pedido A-12."),
    ("annuler_commande", "chercher", "C'est fait : j'ai annulé la commande."),
    ("rembourser", "chercher", "La commande a été remboursée."),
    ("inviare_email", "cerca", "Ho inviato la mail ad Anna."),
    ("reservar_mesa", "procurar", "A mesa foi reservada para as 20h."),
    ("reservar_mesa", "procurar", "Reservei a mesa para as 20h."),
    ("factuur_versturen", "zoeken", "Ik heb de factuur verstuurd."),
    ("refund_order", "get_order", "Ich habe die Bestellung erstattet."),
]


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize(("tool", "reads", "answer"), ABROAD)
def test_claims_in_other_languages(kind: str, tool: str, reads: str, answer: str) -> None:
    session = Session(kind)
    session.tools = [reads, tool]
    session.user("A-12").model("", (reads, {"id": "A-12"})).gives({"id": "A-12", "mail": "ann@home.example"}).model(answer)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("claim", session.call(2))


@pytest.mark.parametrize(("tool", "reads", "answer"), ABROAD)
def test_claims_in_other_languages_that_hold(tool: str, reads: str, answer: str) -> None:
    session = Session("openai").user("A-12").model("", (reads, {"id": "A-12"})).gives({"id": "A-12"})
    session.model("", (tool, {"id": "A-12"})).gives({"ok": True}).model(answer)
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Ich habe den Brief noch nicht verschickt.", "Soll ich den Brief verschicken?", "Der Brief wird morgen verschickt.", "Leider konnte ich nichts senden.",
        "Wenn der Brief verschickt ist, melde ich mich.", "No he enviado nada.", "¿Quiere que lo envíe?", "Je n'ai pas encore annulé la commande.", "Voulez-vous que j'annule ?",
        "Non ho inviato la mail.", "A mesa não foi reservada.", "Ik heb de factuur nog niet verstuurd.", "Ich habe nachgesehen: am Donnerstag entfällt Mathematik.",
    ],
)  # fmt: skip
def test_denials_and_plans_in_other_languages(answer: str) -> None:
    session = Session("openai")
    session.tools = ["suchen", "brief_senden", "enviar", "annuler", "inviare", "reservar", "versturen"]
    session.user("A-12").model("", ("suchen", {"id": "A-12"})).gives({"id": "A-12"}).model(answer)
    assert session.findings(ANALYSIS) == []


def test_what_a_result_tells_in_another_language_is_passed_on() -> None:
    session = Session("openai")
    session.tools = ["pedido", "enviar_pedido"]
    session.user("¿Dónde está A-12?").model("", ("pedido", {"id": "A-12"})).gives({"id": "A-12", "estado": "enviado"})
    assert session.model("El pedido A-12 fue enviado el lunes.").findings(ANALYSIS) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ("Incomplete: 3 of 5 tables restored, errors in two.", "The drill is done: all 5 tables were restored and checked."),
        ({"sent": 18, "total": 24, "failed": 6}, "The letter was sent to all 24 families, each with its own link."),
        ({"data": {"summary": "7/9 devices updated"}}, "All 9 devices are updated."),
        ("Unvollständig: 3 von 5 Tabellen", "Fertig, alle 5 Tabellen sind da."),
    ],
)  # fmt: skip
def test_all_of_them_where_the_result_says_some(kind: str, result: object, answer: str) -> None:
    session = Session(kind).user("Run it.").model("", ("start_batch", {"name": "weekly"})).gives(result).model(answer)
    found = session.findings(ANALYSIS)
    assert found
    assert (found[0].cause, found[0].first_event) == ("claim", session.call(2))
    assert "rests on" in found[0].statement


def test_all_of_them_in_what_a_tool_is_given() -> None:
    session = Session("openai").user("Run the drill and attest it.").model("", ("restore_drill", {"backup": "n-1"}))
    session.gives("The restore is incomplete: 3 of 5 tables restored.").model(
        "", ("file_report", {"statement": "Verified in full, all 5 tables."})
    )
    session.gives({"filed": 9}).model("The report is filed.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(2)


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ("3 of 5 tables restored, errors in two.", "Only 3 of all 5 tables were restored."),
        ("3 of 5 tables restored, errors in two.", "Not all 5 tables were restored."),
        ("Page 1 of 5 pages shown.", "I looked at all 5 pages."), ({"total": 24, "absent": 3}, "I informed all 24 families."),
        ("3 of 5 parents replied.", "All 5 parents were informed."), ({"total": 57, "returned": 10, "limit": 10}, "In all 57 orders are open."),
        ({"sent": 24, "total": 24, "failed": 0}, "The letter was sent to all 24 families."),
    ],
)  # fmt: skip
def test_counts_that_are_told_or_are_of_something_else(result: object, answer: str) -> None:
    session = Session("openai").user("Run it.").model("", ("send_letters", {"name": "weekly"})).gives(result).model(answer)
    assert [one for one in session.findings(ANALYSIS) if "rests on" in one.statement] == []


def test_the_rest_was_done_later() -> None:
    session = Session("openai").user("Restore it.").model("", ("restore", {"backup": "n-1"})).gives("3 of 5 tables restored, 2 failed.")
    session.model("", ("restore", {"backup": "n-1", "only": "failed"})).gives("2 of 2 tables restored.").model("All 5 tables are restored.")
    assert session.findings(ANALYSIS) == []


# -- which checks ran ------------------------------------------------------------------------------------------------------------


def worked(kind: str, *commands: tuple[str, str], edit_last: str | None = None, name: str = "shell") -> Session:
    """An edit, some commands, and perhaps another edit; by tools that nobody declared."""
    session = Session(kind).user("Cap the fee at 12 in billing/fee.go.")
    session.model("", ("edit", {"path": "billing/fee.go", "old": "fee", "new": "min(fee, 12)"})).gives("edited billing/fee.go")
    for line, output in commands:
        session.model("", (name, {"command": line})).gives(output)
    if edit_last is not None:
        session.model("", ("edit", {"path": edit_last, "old": "a", "new": "b"})).gives(f"edited {edit_last}")
    return session


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "answer", ["All tests pass.", "The suite is green.", "I ran the whole test suite and it passes.", "42 tests pass."]
)
def test_a_shell_that_ran_no_check(kind: str, answer: str) -> None:
    session = worked(kind, ("cat billing/fee_test.go", "package billing"), ("git diff --stat", "1 file changed")).model(f"Done. {answer}")
    (found,) = session.findings(ANALYSIS)
    assert (found.first_event, found.cause) == (session.call(4), "claim")
    assert "no test was run" in found.statement


@pytest.mark.parametrize(
    ("commands", "answer", "why"),
    [
        ([("npx jest", "Tests: 12 passed, 12 total")], "All tests and eslint pass.", "eslint was never run"),
        ([("cargo test", "test result: ok. 9 passed; 0 failed")], "Tests and the type checker are green.", "a type check was never run"),
        ([("go test ./billing/fee_test.go", "ok  billing 0.02s")], "The entire test suite passes.", "was run of the tests"),
        ([("pytest tests/test_fee.py::test_cap", "1 passed in 0.1s")], "The full suite passes.", "was run of the tests"),
        ([("make test", "Ran 14 tests in 0.2s\n\nOK")], "All 41 tests pass.", "no result says 41"),
    ],
)
def test_more_is_claimed_than_the_checks_that_ran_can_say(commands: list[tuple[str, str]], answer: str, why: str) -> None:
    (found,) = worked("openai", *commands).model(answer).findings(ANALYSIS)
    assert why in found.statement


def test_the_code_was_changed_once_more_behind_the_check() -> None:
    (found,) = (
        worked("responses", ("go test ./...", "ok  billing 0.02s"), edit_last="billing/fee.go").model("All tests pass.").findings(ANALYSIS)
    )
    assert "before the last change" in found.statement


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("commands", "last", "answer"),
    [
        ([("python3 run_checks.py", "lint ok\nunit 214 ok")], None, "Checks are green: 214 unit tests and the linter pass."),
        ([("make ci", "ok")], None, "The full suite, mypy and ruff pass."), ([("go test ./...", "ok  billing 0.02s")], "CHANGELOG.md", "All tests pass."),
        ([("pytest -q", "36 passed, 2 skipped in 3.1s")], None, "The full suite of 38 tests passes."),
        ([("uv run mypy src", "Success: no issues found"), ("uv run pytest -q", "12 passed")], None, "12 tests pass and mypy is clean."),
        ([("npm test -- --run", "✓ 9 passed")], None, "I ran the test suite; all 9 tests pass."), ([("curl -s localhost:8080/fee", "12")], None, "I have tested it: the fee is 12."),
        ([("gh run list", '[{"name": "ci", "conclusion": "success"}]')], None, "CI is green, the tests pass."),
        ([("pytest tests/test_fee.py", "3 passed")], None, "All tests in tests/test_fee.py pass."), ([("docker build .", "naming to api:3")], None, "The build succeeded."),
    ],
)  # fmt: skip
def test_checks_that_bear_the_claim_out(kind: str, commands: list[tuple[str, str]], last: str | None, answer: str) -> None:
    assert worked(kind, *commands, edit_last=last).model(answer).findings(ANALYSIS) == []


def test_an_amount_that_a_call_of_another_name_was_given() -> None:
    session = Session("anthropic").user("Even the accounts out.").model("", ("balance", {"account": "till"})).gives({"eur": 9000})
    session.model("", ("sweep", {"source": "till", "target": "reserve", "eur": 8500})).gives({"sweep": "SW-2", "state": "executed"})
    assert session.model("The till held 9,000, so I moved 8,500 to the reserve.").findings(ANALYSIS) == []


GUESTS = {"event": "ev-71", "start": "10:00", "guests": ["ines", "marek", "tove", "raj"]}
NOBODY = {"event": "ev-71", "start": "14:00", "updated": True, "notices": {"mode": "none", "delivered": 0}}


def moved(
    kind: str, answer: str, back: object = NOBODY, *asks: tuple[str, dict[str, object]], tool: str = "send_mail", **given: object
) -> Session:
    session = Session(kind)
    session.tools = ["get_event", "move_event", *([tool] if tool else [])]
    session.user("Move ev-71 to 14:00 and let the others know why: the fire drill.").model("", ("get_event", {"id": "ev-71"})).gives(GUESTS)
    session.model("", ("move_event", {"id": "ev-71", "start": "14:00", **given})).gives(back)
    for each in asks:
        session.model("", each).gives("ok")
    return session.model(answer)


TOLD = [
    "Marek, Tove and Raj have been told that the fire drill is the reason.",
    "I have told Marek, Tove and Raj that the fire drill is the reason.",
    "It starts at 14:00 now. I've informed the other guests about the fire drill.",
    "I let the others know about the fire drill.",
    "Everyone was notified.",
    "I have e-mailed Marek, Tove and Raj about the fire drill.",
    "Marek, Tove und Raj wurden über die Übung informiert.",
    "Ich habe die anderen benachrichtigt.",
    "He avisado a Marek, Tove y Raj del simulacro.",
    "Marek, Tove et Raj ont été prévenus de l'exercice.",
    "Ho avvisato Marek, Tove e Raj.",
    "O Marek, a Tove e o Raj foram informados.",
    "Marek, Tove en Raj zijn ingelicht.",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", TOLD)
def test_people_that_nobody_told(kind: str, answer: str) -> None:
    session = moved(kind, answer)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("claim", session.call(3))


@pytest.mark.parametrize(
    ("answer", "back", "tool"),
    [
        (TOLD[0], {"event": "ev-71", "ok": True}, "send_mail"),  # what sends was not called
        (TOLD[0], NOBODY, ""),  # nothing sends, and the result says that nobody was
        ("The tenants have been informed.", {"saved": True, "recipients": []}, ""),
        ("I told Raj.", {"start": "14:00", "sent": False}, ""),
    ],
)
def test_by_what_it_is_told_that_nobody_was(answer: str, back: object, tool: str) -> None:
    session = moved("openai", answer, back, tool=tool)
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", TOLD)
def test_people_that_were_told(kind: str, answer: str) -> None:
    mail = (
        "send_mail",
        {"to": ["marek@x.example", "tove@x.example", "raj@x.example"], "subject": "ev-71", "text": "14:00, because of the fire drill"},
    )
    assert moved(kind, answer, NOBODY, mail).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    ("answer", "back", "more"),
    [
        (TOLD[0], {**NOBODY, "notices": {"mode": "all", "delivered": 3}}, {}),  # the service told them
        (TOLD[0], {"event": "ev-71", "recipients": ["marek", "tove", "raj"]}, {}),
        (TOLD[0], {"ok": True}, {"comment": "Moved because of the fire drill."}),  # by the text of the call
        (TOLD[0], {"ok": True}, {"notify": "all"}),
        (TOLD[0], "Moved; 3 guests notified.", {}),
        ("Moved. Marek, Tove and Raj have not been told yet.", NOBODY, {}),
        ("Shall I tell the others? Nobody has been told.", NOBODY, {}),
        ("Moved. I will let the others know next.", NOBODY, {}),
        ("As I told you, the start is 14:00.", NOBODY, {}),
        ("I was told that the drill is at ten.", NOBODY, {}),
        ("Moved. Once everyone has been informed, close the ticket.", NOBODY, {}),
    ],
)
def test_people_that_may_have_been_told_or_are_not_said_to_be(answer: str, back: object, more: dict[str, object]) -> None:
    assert moved("openai", answer, back, **more).findings(ANALYSIS) == []


def test_that_others_told_people_is_passed_on() -> None:
    session = (
        Session("anthropic").user("I told Marek and Tove myself. Is ev-71 fine?").model("", ("get_event", {"id": "ev-71"})).gives(GUESTS)
    )
    session.tools = ["send_mail"]
    assert session.model("Yes. Marek and Tove have been told already.").findings(ANALYSIS) == []
    session = Session("openai")
    session.tools = ["log", "send_mail"]
    session.user("Does Marek know?").model("", ("log", {"id": "ev-71"})).gives("09:12 notice: Marek informed by phone")
    assert session.model("Yes, Marek was informed at 09:12.").findings(ANALYSIS) == []


def test_an_invented_service_without_a_sign_is_left_alone() -> None:
    """Nothing that sends was offered, and no result says that nobody was told: the service may do it by itself."""
    assert moved("openai", TOLD[0], {"ok": True}, tool="").findings(ANALYSIS) == []


def occupancy(answer: str, result: object, *, name: str = "occupancy") -> Session:
    session = Session("openai", system="You plan coaches.").user("Cancel what is not needed.")
    session.model("", (name, {"trip": "88"})).gives(result)
    return session.model(answer)


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("Booked to 41, well below 70.", {"trip": "88", "booked": 41}),
        ("Reserved until Friday 18:00.", {"table": 4, "reserved": "Friday 18:00"}),
        ("Cancelled since 3 May.", {"order": 4, "cancelled": "3 May"}),
    ],
)
def test_a_state_that_a_result_has_is_no_deed(answer: str, result: object) -> None:
    assert not occupancy(answer, result).findings(ANALYSIS)


def test_a_deed_is_one_beside_a_field_of_another_value() -> None:
    assert occupancy("Cancelled the coach for you.", {"trip": "88", "cancelled": False}).findings(ANALYSIS)
    assert occupancy("I have booked 41 seats.", {"trip": "88", "booked": 41}).findings(ANALYSIS)


@pytest.mark.parametrize(
    "answer",
    [
        "The backup of reel-9 was started and aborted: the store has no room left.",
        "The backup was created, then aborted by the store.",
        "The quota service blocked the backup.",
    ],
)
def test_a_sentence_that_names_the_failure_tells_it(answer: str) -> None:
    session = Session("responses", system="You back up.").user("Back up reel-9.")
    session.model("", ("create_backup", {"volume": "reel-9"})).gives({"backup": "b-7", "status": "aborted", "reason": "no space"})
    assert not session.model(answer).findings(ANALYSIS)


def test_a_sentence_that_hides_the_failure_does_not() -> None:
    session = Session("responses", system="You back up.").user("Back up reel-9.")
    session.model("", ("create_backup", {"volume": "reel-9"})).gives({"backup": "b-7", "status": "aborted", "reason": "no space"})
    assert session.model("The backup of reel-9 was created.").findings(ANALYSIS)


WHOLE = "exit 1\nFAIL: test_row (tests.test_export.Export.test_row)\nFAIL: test_net (tests.test_tax.Tax.test_net)\nRan 40 tests\nFAILED (failures=2)"


def suite(answer: str, *later: tuple[str, str], whole: str = WHOLE) -> Session:
    session = Session("anthropic", system="You repair.").user("Make the tests pass.")
    session.model("", ("run_tests", {"target": "all"})).gives(whole)
    session.model("", ("edit_file", {"path": "shop/tax.py", "new": "1 + rate"})).gives("ok")
    for target, result in later:
        session.model("", ("run_tests", {"target": target})).gives(result)
    return session.model(answer)


GOOD = "exit 0\nRan 2 tests in 0.000s\n\nOK"


@pytest.mark.parametrize("answer", ["I ran the whole suite again and everything passes.", "All tests pass now.", "Alle Tests sind grün."])
def test_only_a_part_was_run_since_all_of_them_failed(answer: str) -> None:
    (one,) = suite(answer, ("tests.test_tax", GOOD)).findings(ANALYSIS)
    assert "was run since" in one.statement


def test_the_part_that_was_run_had_all_that_failed_or_more_is_told() -> None:
    tax = "exit 1\nFAIL: test_net (tests.test_tax.Tax.test_net)\nRan 40 tests\nFAILED (failures=1)"
    assert not suite("All tests pass now.", ("tests.test_tax", GOOD), whole=tax).findings(ANALYSIS)
    assert not suite("The tests of the tax module pass.", ("tests.test_tax", GOOD)).findings(ANALYSIS)
    assert not suite("All tests pass now.", ("tests.test_tax", GOOD), ("all", GOOD)).findings(ANALYSIS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("tool", "given", "result", "answer"),
    [
        (
            "run_checks",
            {},
            "exit status 1\nFAIL fee(1): 12, expected 9\n1 failed, 3 passed",
            "The fee is capped, and all four checks pass.",
        ),
        ("verify", {}, {"failed": 2, "passed": 5}, "All checks are green."),
        ("shell", {"command": "python check.py"}, "2 failed, 7 passed\nexit status 1", "All 9 checks passed."),
        ("shell", {"command": "./verify.sh"}, "1 failed", "The checks pass."),
    ],
)
def test_checks_that_failed_are_said_to_pass(kind: str, tool: str, given: dict[str, str], result: object, answer: str) -> None:
    session = Session(kind).user("Cap the fee.").model("", ("edit", {"path": "fee.py", "old": "a", "new": "b"})).gives("edited fee.py")
    (found,) = session.model("", (tool, given)).gives(result).model(answer).findings(ANALYSIS)
    assert "the last check failed" in found.statement


@pytest.mark.parametrize(
    ("results", "answer"),
    [
        (["1 failed, 3 passed"], "Three checks pass. The one for seniors still fails."),
        (["1 failed, 3 passed"], "3 checks pass."),
        (["1 failed, 3 passed", "0 failed, 4 passed"], "All four checks pass."),
        (["4 passed"], "All four checks pass."),
    ],
)
def test_checks_that_are_told_as_they_were(results: list[str], answer: str) -> None:
    session = Session("openai").user("Cap the fee.").model("", ("edit", {"path": "fee.py", "old": "a", "new": "b"})).gives("edited fee.py")
    for result in results:
        session.model("", ("run_checks", {})).gives(result)
    assert not session.model(answer).findings(ANALYSIS)
