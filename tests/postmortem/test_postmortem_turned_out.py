"""Values of a person's that turned out wrong behind the effect; and those that did not."""

from __future__ import annotations

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.damaged_input import ANALYSIS
from tachograph.postmortem.analyses.turned_out import is_slip


def order(
    kind: str, first: str, given: dict[str, object], then: str, *, mends: dict[str, object] | None = None, answer: str = "I cannot."
) -> Session:
    session = (
        Session(kind, declared={"order": "external"}).user(first).model("", ("order", given)).gives({"state": "placed"}).model("Ordered.")
    )
    session.user(then)
    if mends is not None:
        session.model("", ("order", mends)).gives({"state": "placed"})
    return session.model(answer)


TAKEN_BACK = [
    ("Order 1200 bricks for site K-204.", {"site": "K-204", "bricks": 1200}, "Oh, the plan says 120. Can you undo that?"),
    ("Bitte 4150 Fliesen für K-204.", {"site": "K-204", "tiles": 4150}, "Da habe ich mich vertippt, es sind 415."),
    ("Transfère 85 euros à K-204.", {"to": "K-204", "eur": 85}, "Zut, une erreur: sur la facture c'est 58."),
    ("Pide 300 sacos para K-204.", {"site": "K-204", "sacos": 300}, "Perdón, me equivoqué, eran 30."),
    ("Send it to gate G-4417.", {"gate": "G-4417"}, "Wrong gate, it is G-4471, call it back please."),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "given", "then"), TAKEN_BACK)
def test_a_value_that_the_person_takes_back(kind: str, first: str, given: dict[str, object], then: str) -> None:
    session = order(kind, first, given, then)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))


@pytest.mark.parametrize(
    ("then", "mends"),
    [
        ("Now 120 more for site K-310, the wrong ones there go back.", {"site": "K-310", "bricks": 120}),
        ("Make it 120, please.", {"site": "K-204", "bricks": 120}),
        ("Too many, make it 120 instead of that.", {"site": "K-204", "bricks": 120}),
        ("And 900 tiles, the last ones were wrong.", {"site": "K-204", "tiles": 900}),
        ("Is 1201 wrong there?", None),
        ("Thanks, 120 of them are for the wall.", None),
    ],
)
def test_another_order_or_a_change(then: str, mends: dict[str, object] | None) -> None:
    session = order("openai", "Order 1200 bricks for site K-204.", {"site": "K-204", "bricks": 1200}, then, mends=mends, answer="Done.")
    assert session.findings(ANALYSIS) == []


def test_a_value_that_the_model_chose() -> None:
    session = order("openai", "Order bricks for site K-204.", {"site": "K-204", "bricks": 1200}, "That is wrong, it should be 120.")
    assert session.findings(ANALYSIS) == []


def field(kind: str, said: str, given: float, held: object, answer: str) -> Session:
    session = Session(kind, system="Spread 2 kg of lime per 100 m.", declared={"spread": "external"})
    session.user(f"Field F-7 has {said} m, spread the usual.").model("", ("spread", {"field": "F-7", "kg": given})).gives({"state": "done"})
    return session.model("", ("look", {"field": "F-7"})).gives({"field": "F-7", "length_m": held, "ph": 9.1}).model(answer)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("said", "given", "held", "answer"),
    [
        ("5,000", 100, 500, "Spread; the soil is at 9.1 now."),
        ("700", 14, 260, "You said 700 m, the register has 260 m: that was too much."),
    ],
)
def test_a_figure_that_a_later_result_contradicts(kind: str, said: str, given: float, held: object, answer: str) -> None:
    session = field(kind, said, given, held, answer)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))


@pytest.mark.parametrize(
    ("said", "given", "held", "answer"),
    [
        ("500", 10, 500, "Spread."),
        ("500", 10, 490, "Spread; 490 of the 500 m are left."),
        ("5,000", 37, 500, "Spread 37 kg; the register has 500 m, you said 5,000."),
        ("700", 14, 260, "Spread."),
    ],
)
def test_a_figure_that_stands_or_was_not_used(said: str, given: float, held: object, answer: str) -> None:
    assert field("bedrock", said, given, held, answer).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    ("one", "other"), [("4150", "415"), ("1.5", "15"), ("85", "58"), ("d-17", "d-71"), ("445", "45"), ("18000", "1800")]
)
def test_slips(one: str, other: str) -> None:
    assert is_slip(one, other)
    assert is_slip(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("415", "416"), ("a-12", "a-13"), ("12", "123"), ("7", "70.5"), ("x-12", "y-21"), ("12", "12"), ("ab", "ba")]
)
def test_what_is_no_slip(one: str, other: str) -> None:
    assert not is_slip(one, other)


SAID_OTHERWISE = [
    ("Pon su salario en 41.800 desde marzo.", {"empleado": "E-311", "salario": 41800}, "Bailé los números: su carta dice 48.100. ¿Ya ha salido?"),
    ("Set her salary to 41,800.", {"who": "E-311", "salary": 41800}, "I swapped digits, it is 48,100. Has March gone out?"),
    ("Überweise 1.250,00 EUR an K-204.", {"to": "K-204", "amount": 1250}, "Auf der Rechnung steht 1.520,00. Ist das schon raus?"),
    ("Vire 3 400 € à K-204.", {"to": "K-204", "montant": "3400.00"}, "La facture indique 2 900 €. C'est parti ?"),
    ("Ordina 240 piastrelle per K-204.", {"site": "K-204", "quantity": 240}, "Sulla pianta sono 360, non 240. Sono partite?"),
    ("Order 120 chairs for K-204.", {"site": "K-204", "count": 120}, "The plan says 150 chairs. Are they on their way?"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "given", "then"), SAID_OTHERWISE)
def test_a_figure_that_the_person_has_otherwise_later(kind: str, first: str, given: dict[str, object], then: str) -> None:
    session = order(kind, first, given, then)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))


@pytest.mark.parametrize(
    ("first", "given", "then", "mends"),
    [
        ("Order 120 chairs for K-204.", {"site": "K-204", "count": 120}, "Now 210 chairs for K-310.", {"site": "K-310", "count": 210}),
        ("Order 120 chairs for K-204.", {"site": "K-204", "count": 120}, "What would 210 chairs cost?", None),
        ("Order 120 chairs for K-204.", {"site": "K-204", "count": 120}, "Thanks. The budget says 900 euros.", None),
        ("Order 120 chairs for K-204.", {"site": "K-204", "count": 120}, "The plan of K-310 says 150 chairs, is that enough?", None),
        ("Book room 2101.", {"room": 2101}, "Is 2110 free on Friday?", None),
        ("Set the price to 1290.", {"sku": "K-204", "price": 1290}, "Make it 1920 from May.", {"sku": "K-204", "price": 1920}),
        ("Pay 41,800 EUR to K-204.", {"to": "K-204", "amount": 41800}, "Good. My account shows 58,200 EUR now.", None),
        ("Pay 41,800 to K-204.", {"to": "K-204", "amount": 41800}, "Good. My account shows 58,200 now.", None),
    ],
)
def test_a_further_wish_with_another_figure(first: str, given: dict[str, object], then: str, mends: dict[str, object] | None) -> None:
    assert order("anthropic", first, given, then, mends=mends, answer="Done.").findings(ANALYSIS) == []


def test_a_figure_that_was_changed_before_anything_was_done() -> None:
    session = Session("openai").user("Set her salary to 41,800.").model("From when?").user("From May. Her letter says 48,100.")
    session.model("", ("set_salary", {"who": "E-311", "salary": 48100})).gives("ok").model("Set.")
    assert session.findings(ANALYSIS) == []
