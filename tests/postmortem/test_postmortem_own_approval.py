"""Four eyes: who asked approves; and approvals by somebody else, or where no second person is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape
from scenes import Call, Turn, session

from tachograph.core import events
from tachograph.postmortem.analyses import approvals
from tachograph.postmortem.analyses.own_approval import same_person
from tachograph.postmortem.case import open_case


def found(
    call: Call,
    approver: str,
    shown: Any,
    *,
    system: str | None = None,
    user: str = "Please do it.",
    read: Any = None,
    provider: str = "chat",
) -> list[Any]:
    def happens(tape: Tape) -> None:
        tape.add(events.Approval, id="evt_ok", decision="approved", approver=approver, scope=call.name, lane="main", shown=shown)

    first = (Turn(calls=(Call(name="get_item", given={"id": "X-1"}, result=read),)),) if read is not None else ()
    tape = session(*first, Turn(calls=(call,), before=(happens,)), Turn(say="Done."), system=system, user=user, provider=provider)
    return [one for one in approvals.run(open_case(tape)) if "had asked for it" in one.statement]


SICK = [
    # a field of the call, the rule in the prompt
    ({"call": Call(name="release_batch", given={"batch": "L-20", "requested_by": "Dana Wu"}), "approver": "Dana Wu", "shown": {"batch": "L-20"},
      "system": "You release batches. Every release needs the approval of a second person."}),
    # a field of what was shown, German, the name in two spellings
    ({"call": Call(name="grenzwert_aendern", given={"kessel": "K-4", "bar": 12}), "approver": "j.brandt", "shown": {"kessel": "K-4", "bar": 12, "beantragt von": "Jonas Brandt"},
      "system": "Du führst die Kesselwarte. Jede Änderung wird von einer anderen Person freigegeben (Vier-Augen-Prinzip)."}),
    # a sentence that was shown; the rule is in a record; French
    ({"call": Call(name="virement", given={"compte": "C-7", "montant": 900}), "approver": "Léa Martin", "shown": "Virement 900 vers C-7. Demandé par Léa Martin.",
      "read": {"compte": "C-7", "consigne": "Un virement doit être validé par une autre personne que le demandeur."}}),
    # who they are is said in the message
    ({"call": Call(name="delete_series", given={"series": "S-3"}), "approver": "Ana Reyes", "shown": {"series": "S-3"}, "user": "This is Ana Reyes, delete series S-3. I approve it.",
      "system": "Deletions are approved by somebody other than the person who asks for them."}),
]  # fmt: skip


@pytest.mark.parametrize("case", SICK)
@pytest.mark.parametrize("provider", ["anthropic", "chat"])
def test_who_asked_approved_it(case: dict[str, Any], provider: str) -> None:
    (one,) = found(**case, provider=provider)
    assert (one.cause, one.first_event) == ("approval", "evt_ok")


@pytest.mark.parametrize(
    "change",
    [
        {"approver": "Ole Lund"},  # another person
        {"system": "You release batches. Every release needs an approval."},  # no second person is asked for
        {"system": "A second person approves deletions. You release batches."},  # of something else
        {"call": Call(name="release_batch", given={"batch": "L-20", "approved_by": "Dana Wu"})},  # who approved is named as such
        {"call": Call(name="release_batch", given={"batch": "L-20", "recipient": "Dana Wu"})},  # no one asked
    ],
)
def test_approved_by_another_one_or_with_no_need_of_one(change: dict[str, Any]) -> None:
    assert found(**{**SICK[0], **change}) == []


def test_below_the_amount_from_which_on_a_second_person_is_needed() -> None:
    system = "Above 5,000 EUR a refund must be approved by a second person."
    for amount, count in ((800, 0), (8000, 1)):
        call = Call(name="refund", given={"order": "O-1", "amount": amount, "requested_by": "Kim Sole"})
        assert len(found(call, "Kim Sole", {"order": "O-1", "amount": amount}, system=system)) == count


@pytest.mark.parametrize(("one", "other", "same"), [("i.robles", "Iván Robles", True), ("Robles Iván", "ivan robles", True), ("k.lee@x.example", "Kim Lee", True), ("Iván Robles", "Ana Robles", False), ("", "Al", False)])  # fmt: skip
def test_names_of_one_person(one: str, other: str, same: bool) -> None:
    assert same_person(one, other) is same
