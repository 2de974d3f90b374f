"""Instructions of one prompt against each other, and those that only look so."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.postmortem.analyses import contradictions
from tachograph.postmortem.case import open_case


def found(
    system: str, *calls: Call, provider: str = "anthropic", links: tuple[str, ...] = (), say: str = "Done.", **more: Any
) -> list[Any]:
    tape = session(Turn(calls=calls), Turn(say=say), system=system, user="Do it.", tools=(tool("a"),), provider=provider, **more)
    return list(contradictions.run(open_case(tape, links=links)))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_forbids_what_the_other_wants(provider: str) -> None:
    system = "You run the warehouse.\nNever cancel a shipment.\nCancel every shipment that is late.\nBe brief."
    (one,) = found(system, Call(name="cancel_shipment", given={"shipment": "S-9"}), provider=provider)
    assert (one.cause, one.first_event) == ("prompt", "evt_0001")
    assert "“Never cancel a shipment.”" in one.statement
    assert "“Cancel every shipment that is late.”" in one.statement


def test_one_says_to_ask_and_the_other_not_to() -> None:
    system = "Get approval from a manager before you transfer money.\nTransfer money immediately, customers hate to wait."
    (one,) = found(system, Call(name="transfer_money", given={"amount": 10}))
    assert one.cause == "prompt"


def test_one_says_what_comes_first_and_the_other_to_go_ahead_without_it() -> None:
    system = "Weigh every parcel before you ship it.\nIn the evening there is no need to weigh a parcel, ship it at once."
    (one,) = found(system, Call(name="ship_parcel", given={"parcel": "P-9"}))
    assert "was done without it" in one.statement
    assert not found(system, Call(name="weigh_parcel", given={"parcel": "P-9"}), Call(name="ship_parcel", given={"parcel": "P-9"}))
    deploy = "Never deploy without having run the tests.\nWhen somebody waits, deploy right away and leave the tests for later."
    assert found(deploy, Call(name="bash", given={"command": "make deploy && ./deploy.sh > log"}))


def test_two_limits_and_an_effect_between_them() -> None:
    system = "Discounts are limited to at most 10 percent.\nMake the sale: you may give a discount of up to 40 percent to close a deal."
    (one,) = found(system, Call(name="give_discount", given={"percent": 35}))
    assert one.cause == "prompt"
    assert not found(system, Call(name="give_discount", given={"percent": 5}))


def test_two_languages_matter_where_somebody_complained() -> None:
    system = "Answer in German.\nYou help guests of a hotel.\nWrite every answer in English."
    assert not found(system)
    (one,) = found(system, links=("incident=H-1",))
    assert one.cause == "prompt"


@pytest.mark.parametrize(
    ("system", "call"),
    [
        ("Never refund more than 100.\nRefund what is due.", Call(name="refund", given={"amount": 50})),
        ("Never delete a file without asking.\nDelete temporary files when asked.", Call(name="delete_file", given={"path": "tmp/a"})),
        ("Gold customers get refunds up to 500.\nOthers get refunds up to 100.", Call(name="refund", given={"amount": 300})),
        ("P1: page within 5 minutes.\nP2: page within 30 minutes.", Call(name="page", given={"minutes": 10})),
        ("Refund up to 50 immediately.\nAsk a manager for approval of a refund above 50.", Call(name="refund", given={"amount": 30})),
        ("Never share passwords.\nShare the status of an order with its customer.", Call(name="share_status", given={"order": "A-1"})),
        ("Never cancel a shipment.\nCancel every shipment that is late.", Call(name="look_up", given={"shipment": "S-9"})),
    ],
)
def test_rules_with_their_exceptions_and_rules_that_nothing_broke(system: str, call: Call) -> None:
    assert not found(system, call)


def test_what_is_wanted_without_exception_leaves_no_room_for_what_is_forbidden() -> None:
    system = "Never pay an invoice that a supplier disputes.\nPay every invoice of the list, without exception."
    (one,) = found(system, Call(name="pay_invoice", given={"invoice": "I-7"}))
    assert one.cause == "prompt"
    assert not found(
        "Never pay an invoice that a supplier disputes.\nPay every invoice of the list.", Call(name="pay_invoice", given={"invoice": "I-7"})
    )
    assert not found(system, Call(name="list_invoices", given={"list": "May"}))


@pytest.mark.parametrize(
    ("prompt", "number"),
    [
        ("A late return is never charged, it gets a reminder.\n\nCharge 5 EUR for every late return, including the first late one.", 1),
        ("A late return is never charged, it gets a reminder.\n\nCharge 5 EUR for every lost book.", 0),
        ("A late return is never charged.\n\nRemind of every late return, including the first.", 0),
    ],
)
def test_every_one_including_those_that_the_other_spares(prompt: str, number: int) -> None:
    tape = session(
        Turn(calls=(Call(name="late_return", given={"card": "BB-310"}, result={"card": "BB-310", "days": 3}, declared="read"),)),
        Turn(calls=(Call(name="charge", given={"card": "BB-310", "eur": 5}, result="ok", declared="external"),)), Turn(say="Charged."),
        system="You work in a library.\n\n" + prompt, user="Handle BB-310.",
    )  # fmt: skip
    assert len(list(contradictions.run(open_case(tape)))) == number
