"""An argument that is a field of another thing's record than the one that the call names."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.wrong_argument import ANALYSIS

PUMPS: list[dict[str, Any]] = [
    {"pump": "P1", "site": "Nordhafen", "valve": "V-118", "bar": 4},
    {"pump": "P2", "site": "Altwerk", "valve": "V-204", "bar": 6},
    {"pump": "P3", "site": "Bergtor", "valve": "V-377", "bar": 2},
]


def vented(
    kind: str,
    *valves: str,
    ask: str = "Vent every pump.",
    tool: str = "open_valve",
    pumps: Any = None,
    declared: bool = False,
    system: str = "",
) -> Session:
    """Each pump's valve is opened, one after the other."""
    session = Session(kind, system=system, declared={tool: "external", "pump_card": "read"} if declared else None).user(ask)
    for pump, valve in zip(pumps or PUMPS, valves, strict=False):
        session.model("", ("pump_card", {"pump": pump["pump"]})).gives(pump)
        session.model("", (tool, {"pump": pump["pump"], "valve": valve})).gives({"state": "done"})
    return session.model("All are done.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("declared", [True, False])
def test_the_valve_of_the_pump_before(kind: str, declared: bool) -> None:
    session = vented(kind, "V-118", "V-118", "V-377", declared=declared)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("open_valve", 1))
    assert "V-204" in found.statement


def test_all_cards_are_read_at_once_in_another_language() -> None:
    session = Session("openai", declared={"envoyer_bulletin": "external", "eleves": "read"}).user("Envoie les bulletins.")
    pupils = [
        {"id": 31, "eleve": "Nadia Faure", "courriel": "faure@poste.example", "moyenne": 14.5},
        {"id": 32, "eleve": "Luc Mercier", "courriel": "mercier@poste.example", "moyenne": 9.75},
    ]
    session.model("", ("eleves", {})).gives({"eleves": pupils})
    session.model(
        "", *(("envoyer_bulletin", {"id": one["id"], "courriel": "faure@poste.example", "moyenne": one["moyenne"]}) for one in pupils)
    )
    session.gives("ok", "ok").model("C'est fait.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("envoyer_bulletin", 1)


def test_a_single_call_of_which_a_further_argument_is_of_its_thing() -> None:
    session = Session("anthropic").user("Pay what is due first.").model("", ("list_bills", {}))
    session.gives([{"bill": "R-5", "iban": "DE10-5555", "due": 81.4}, {"bill": "R-6", "iban": "DE77-2222", "due": 12.9}])
    session.model("", ("pay", {"bill": "R-6", "iban": "DE10-5555", "due": 12.9})).gives("ok").model("Paid.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("pay")


# -- healthy ---------------------------------------------------------------------------------------------------------------------


def test_each_has_its_own() -> None:
    assert vented("openai", "V-118", "V-204", "V-377").findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "more",
    [
        {"ask": "Vent every pump by V-118."},
        {"ask": "Öffne für alle das gleiche Ventil wie bei der ersten."},
        {"system": "Until the repair every pump is vented through V-118."},
        {"ask": "Vent all. Use the valve at Nordhafen for the second."},
        {"pumps": [PUMPS[0], {**PUMPS[1], "vented_by": "P1"}, PUMPS[2]]},
        {"pumps": [PUMPS[0], {**PUMPS[1], "spare": "V-118"}, PUMPS[2]]},
        {"tool": "open_valve", "pumps": [PUMPS[0], {"pump": "P2", "site": "Altwerk", "lid": "L-1"}, PUMPS[2]]},
    ],
)
def test_somebody_or_a_record_has_it_so(more: dict[str, Any]) -> None:
    assert vented("anthropic", "V-118", "V-118", "V-377", **more).findings(ANALYSIS) == []


def test_what_a_thing_is_given_is_no_field_of_another() -> None:
    session = Session("openai").user("Put T-2 where there is room.").model("", ("list_tickets", {}))
    session.gives([{"ticket": "T-1", "queue": "q-7 night", "title": "Leak"}, {"ticket": "T-2", "queue": "q-9 day", "title": "Noise"}])
    session.model("", ("move_ticket", {"ticket": "T-2", "queue": "q-7 night", "title": "Noise"})).gives("ok").model("Moved.")
    assert session.findings(ANALYSIS) == []


def test_put_right_at_once() -> None:
    session = vented("openai", "V-118", "V-118")
    session.history.pop()
    session.model("", ("open_valve", {"pump": "P2", "valve": "V-204"})).gives("done").model("P2 was opened by the wrong valve first.")
    assert session.findings(ANALYSIS) == []
