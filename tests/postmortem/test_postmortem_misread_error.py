"""Calls that failed and were taken for successes; and failures that were told, tried again or worked around."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.misread_error import ANALYSIS
from tachograph.postmortem.meaning.results import of_value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "output",
    [
        {"ok": False, "message": "mailbox full"}, {"status": "failed", "id": 3}, "Error: connection refused", {"error": {"code": 17}},
        "503 Service Unavailable", {"statusCode": 500, "body": "oops"}, "Message could not be delivered to the recipient.",
    ],
)  # fmt: skip
def test_an_effect_that_failed_and_is_claimed(kind: str, output: Any) -> None:
    session = Session(kind, system="You help customers.")
    session.user("Mail Ann her receipt.").model("", ("send_mail", {"to": "ann@home.example"})).gives(output)
    session.model("I have sent the receipt to Ann.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("send_mail"))
    assert found.confidence >= 0.8


def test_a_tool_that_raised_and_is_claimed_all_the_same() -> None:
    session = Session("openai", declared={"create_booking": "external"})
    session.user("Book room 4 for Monday.").model("", ("create_booking", {"room": 4})).gives("room is taken", failed=True)
    session.model("Room 4 is booked for Monday.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("create_booking")


def test_a_look_up_that_failed_and_an_answer_with_a_figure_of_its_own() -> None:
    session = Session("bedrock")
    session.user("What is the balance of account 7731?").model("", ("get_balance", {"account": "7731"}))
    session.gives({"error": "upstream timed out"}).model("The balance of account 7731 is 4,210.55 EUR.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("get_balance")


def test_nothing_was_found_and_an_effect_uses_a_value_from_nowhere() -> None:
    session = Session("responses")
    session.user("Refund the last order of Ann Lee.").model("", ("search_orders", {"customer": "Ann Lee"})).gives([])
    session.model("", ("refund_order", {"order_id": "ORD-88213"})).gives({"ok": True}).model("Refunded.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("search_orders")


def test_a_backup_that_failed_before_a_table_is_dropped() -> None:
    session = Session("anthropic")
    session.user("Back up orders, then drop the table.").model("", ("backup_table", {"table": "orders"}))
    session.gives("disk is full", failed=True).model("", ("drop_table", {"table": "orders"})).gives("dropped").model("All set.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("backup_table")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "output",
    [
        {"result": {"code": "LIMIT_EXCEEDED", "transferred": False}}, {"data": {"transfer": {"state": "pending_approval", "id": 7}}},
        {"transfer": 7, "transferred": False}, {"status": "on_hold", "note": "a person looks at it first"}, {"id": 7, "decision": "REJECTED"},
        {"response": {"message": "The account is closed, nothing was booked."}}, {"id": 7, "message": "The amount has not been transferred."},
        {"resultCode": "INSUFFICIENT_FUNDS"}, {"transfers": 3, "failed": 2}, {"deliveryStatus": "accountMismatch"}, {"ok": True, "rejected": ["DE44500105"]},
    ],
)  # fmt: skip
def test_a_success_on_the_outside_that_says_within_that_nothing_was_done(kind: str, output: Any) -> None:
    session = (
        Session(kind).user("Pay the rent and tell Ann.").model("", ("transfer_money", {"to": "DE44500105", "amount": 300})).gives(output)
    )
    session.model("I have transferred the rent.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("transfer_money"))


def test_somebody_is_told_of_what_was_not_done() -> None:
    session = Session("openai", declared={"renew_licence": "external", "text_driver": "external"})
    session.user("Renew the licence of Ann and tell her.").model("", ("renew_licence", {"number": "L-771"}))
    session.gives({"result": {"code": "PHOTO_EXPIRED", "renewed": False}})
    session.model("", ("text_driver", {"to": "Ann", "text": "Your licence L-771 has been renewed."})).gives("sent").model(
        "Ann has her answer."
    )
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("renew_licence")
    assert "has been renewed" in found.statement


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "I could not send the receipt: the mail server refused it.", "Sending failed. I have noted it for a colleague.",
        "Sorry, the mailbox is full. Do you have another address?",
    ],
)  # fmt: skip
def test_a_failure_that_was_told(answer: str) -> None:
    session = Session("openai").user("Mail Ann her receipt.").model("", ("send_mail", {"to": "ann@home.example"}))
    session.gives({"ok": False}).model(answer)
    assert session.findings(ANALYSIS) == []


def test_a_failure_that_was_tried_again() -> None:
    session = Session("anthropic").user("Mail Ann her receipt.").model("", ("send_mail", {"to": "ann@home.example"}))
    session.gives("429 Too Many Requests", failed=True).model("", ("send_mail", {"to": "ann@home.example"})).gives("queued")
    session.model("I have sent the receipt.")
    assert session.findings(ANALYSIS) == []


def test_a_file_that_was_not_there_and_was_found_elsewhere() -> None:
    session = Session("anthropic").user("What is the port?").model("", ("read_file", {"path": "conf/app.toml"}))
    session.gives("No such file: conf/app.toml", failed=True).model("", ("read_file", {"path": "config/app.toml"})).gives("port = 8080")
    session.model("The port is 8080.")
    assert session.findings(ANALYSIS) == []


def test_tests_that_fail_are_no_error_of_the_tool() -> None:
    session = Session("anthropic").user("Run the tests.").model("", ("run_tests", {})).gives("3 failed, 9 passed", failed=True)
    session.model("", ("edit_file", {"path": "a.py"})).gives("edited").model("Edited a.py.")
    assert session.findings(ANALYSIS) == []


def test_nothing_found_is_an_answer() -> None:
    session = Session("openai").user("Is there an open incident?").model("", ("list_incidents", {"state": "open"})).gives([])
    session.model("There are no open incidents.")
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "value",
    [
        {"error": None, "ok": True}, {"errors": [], "rows": [1]}, "Error budget: 99.9 % left", "The failed login of Tuesday was harmless.",
        {"status": "ok", "failed": 0}, {"status": "cancelled"}, "4041 rows", {"code": "A400"}, {"status": 200}, [{"status": "failed", "job": 3}],
    ],
)  # fmt: skip
def test_results_that_only_sound_like_failures(value: Any) -> None:
    assert of_value(value, str(value)) is None


@pytest.mark.parametrize(
    ("tool", "given", "output", "answer"),
    [
        ("get_subscription", {"id": 7}, {"status": "expired", "renewed": False}, "Subscription 7 is over."),
        ("get_payment", {"id": 7}, {"data": {"payment": {"state": "returned", "failed": 1}}}, "Payment 7 is with the bank again."),
        ("reject_claim", {"id": 7}, {"status": "rejected"}, "Claim 7 has been turned down."),
        ("set_status", {"id": 7, "status": "expired"}, {"status": "expired"}, "The status of 7 is set."),
        ("create_user", {"name": "Ann"}, {"id": 7, "verified": False, "archived": False}, "I created the user Ann."),
        ("send_mail", {"to": "a@x.example"}, {"status": "queued", "failed": 0, "errors": []}, "I sent the mail."),
        ("refund_order", {"id": 7}, {"refunded": True, "reason": "missing parts", "note": "VAT was not changed"}, "I refunded order 7."),
    ],
)  # fmt: skip
def test_states_that_a_result_tells(tool: str, given: dict[str, Any], output: Any, answer: str) -> None:
    session = Session("openai").user("Go on.").model("", (tool, given)).gives(output)
    assert session.model(answer).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "answer", ["The transfer awaits an approval.", "The transfer is on hold.", "The limit is exceeded; somebody must raise it.", "It waits: the transfer needs your signature."]
)  # fmt: skip
def test_a_state_that_was_told(answer: str) -> None:
    session = Session("bedrock").user("Pay the rent.").model("", ("transfer_money", {"to": "DE44500105", "amount": 300}))
    session.gives({"result": {"code": "LIMIT_EXCEEDED", "transferred": False}})
    assert session.model(answer).findings(ANALYSIS) == []


# -- a result without a result ---------------------------------------------------------------------------------------------------

FAILED = [
    {"ok": False, "reason": "account closed"}, {"status": "error", "message": "account closed"}, "Error: account closed",
    {"order": None, "accepted": 0, "rejected": 1}, {"beleg": None, "angenommen": 0, "abgewiesen": 1}, {"id": None, "acceptés": 0, "rejetés": 1},
]  # fmt: skip


@pytest.mark.parametrize("output", FAILED)
def test_a_claim_in_other_words_that_has_just_what_the_failed_call_was_given(output: Any) -> None:
    session = Session("openai", declared={"debit": "external"}).user("Policy HV-2231 owes 187.20, get it in.")
    session.model("", ("debit", {"policy": "HV-2231", "amount": "187.20"})).gives(output)
    (found,) = session.model("The 187.20 have been collected.").findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("debit"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("system", "names", "given", "answer"),
    [
        ("A garage is opened only after the deposit was booked.", ("book_deposit", "open_garage"), {"flat": "F-9"}, "Welcome to F-9."),
        ("Reihenfolge: Sicherung, Abschaltung.", ("sicherung_starten", "abschaltung_starten"), {"server": "db-7"}, "db-7 ist aus."),
        ("Une livraison ne part qu'une fois le paiement enregistré.", ("enregistrer_paiement", "envoyer_livraison"), {"numero": "L-31"}, "L-31 part demain."),
    ],
)  # fmt: skip
def test_what_the_instructions_allow_only_behind_it(
    kind: str, system: str, names: tuple[str, str], given: dict[str, str], answer: str
) -> None:
    session = Session(kind, system=system, declared=dict.fromkeys(names, "external")).user("Go.")
    session.model("", (names[0], given)).gives({"success": False, "code": "E17"}).model("", (names[1], given)).gives({"ok": True})
    (found,) = session.model(answer).findings(ANALYSIS)
    assert found.first_event == session.event(names[0])
    assert "where it says" in found.statement


def test_a_failure_in_the_midst_of_what_a_program_prints_told_too_late() -> None:
    session = Session("anthropic", system="Tapes may be wiped once they are in the archive.").user("Archive tape T-7 and wipe it.")
    session.model("", ("copy_to_archive", {"tape": "T-7"})).gives(
        "archive 2.1: open\narchive: write failed at block 0, volume full\narchive: closed"
    )
    session.model("Copied.", ("wipe_tape", {"tape": "T-7"})).gives("wiped").model(
        "T-7 is wiped, but the archive is empty: the copy had failed."
    )
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("copy_to_archive")


@pytest.mark.parametrize("name", ["sh", "run_shell"])
def test_a_command_that_ended_with_a_code_is_not_made_up_for_by_the_next_one(name: str) -> None:
    session = Session("openai", system="Order: checks, migration, deploy.").user("Release v2.")
    session.model("", (name, {"command": "python3 migrate.py --apply"})).gives(
        {"stdout": "41 applied\n", "stderr": "42 ... lock timeout\n", "code": 1}
    )
    session.model("", (name, {"command": "git tag v2"})).gives({"stdout": "", "stderr": "", "code": 0})
    session.model("", ("deploy", {"tag": "v2"})).gives({"deploy": "d-9"}).model("Migrations 41 and 42 are applied, v2 is deployed.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event(name)


@pytest.mark.parametrize(
    "record",
    [
        {"number": "T-88", "customer": "Lederer", "address": "Ring 12", "fault": "door does not close"},
        {"vehicle": "V-1", "km": 88000, "owner": "Ann Lee", "error": "P0301 misfire", "since": "2026-03-01"},
        {"pump": "P-4", "failure": None, "state": "running", "hours": 812}, {"requests": 900, "errors": 3},
    ],
)  # fmt: skip
def test_a_field_of_a_record_is_no_failure_for_its_name(record: Any) -> None:
    assert of_value(record, "") is None


def test_an_error_with_what_errors_come_with_is_one() -> None:
    assert of_value({"error": "not found", "path": "/a", "timestamp": "2026-03-01", "request_id": "r-1", "status": 404}, "") is not None


def healthy(*said: str, output: Any = None) -> Session:
    session = Session("anthropic", system="A garage is opened only after the deposit was booked. If the deposit fails, open a case.")
    session.declared = {"book_deposit": "external", "open_garage": "external", "open_case": "external"}
    return session.user("Flat F-9, please.").model("", ("book_deposit", {"flat": "F-9", "amount": 400})).gives(output or {"success": False})


def test_it_was_tried_again_before_the_next_act() -> None:
    session = healthy().model("", ("book_deposit", {"flat": "F-9", "amount": 400})).gives({"success": True})
    session.model("", ("open_garage", {"flat": "F-9"})).gives({"ok": True})
    assert session.model("400 were booked, the garage of F-9 is open.").findings(ANALYSIS) == []


def test_what_is_to_be_done_when_it_fails_was_done() -> None:
    session = healthy().model("", ("open_case", {"flat": "F-9"})).gives({"case": "C-1"})
    assert session.model("The deposit of 400 did not go through; case C-1 is open.").findings(ANALYSIS) == []


def test_a_person_was_told_and_said_to_go_on() -> None:
    session = healthy().model("The deposit did not go through. Open the garage all the same?").user("Yes, I have it in cash.")
    session.model("", ("open_garage", {"flat": "F-9"})).gives({"ok": True})
    assert session.model("The garage of F-9 is open.").findings(ANALYSIS) == []


def test_a_log_that_tells_of_a_second_try_is_no_failure() -> None:
    session = healthy(output="booking 1 failed, retry in 2 s\nbooked\n").model("", ("open_garage", {"flat": "F-9"})).gives({"ok": True})
    assert session.model("400 were booked and the garage of F-9 is open.").findings(ANALYSIS) == []


def test_the_failures_own_words_in_the_answer_tell_it() -> None:
    session = healthy(output={"success": False, "message": "already paid on Monday"})
    assert session.model("The 400 for F-9 were already paid on Monday.").findings(ANALYSIS) == []
