"""Look-ups that failed and were read as “there is none”; and those that found none, were told, or were made anew."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.misread_error import ANALYSIS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["none", "keine", "aucune", [], "None."])
def test_a_field_of_the_look_ups_own_name_is_filled_with_none(kind: str, value: Any) -> None:
    session = Session(kind, system="You hand out medicine.").user("Patient P-31 gets ibuprofen.")
    session.model("", ("get_interactions", {"patient": "P-31"})).gives(
        {"patient": "P-31", "error": "pharmacy index is rebuilt", "interactions": None}
    )
    session.model("", ("dispense", {"patient": "P-31", "drug": "ibuprofen", "interactions": value or "none"})).gives({"ok": True})
    (found,) = session.model("P-31 has the ibuprofen.").findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("get_interactions"))
    assert "that there is none (interactions: " in found.statement


@pytest.mark.parametrize(
    ("name", "system", "said"),
    [
        ("pfandrechte", "Ein Fahrzeug wird nur übergeben, wenn kein Pfandrecht besteht.", "Für K-77 liegen keine Pfandrechte vor."),
        ("list_liens", "You register sales. A sale is registered only if there are no liens.", "No liens on K-77."),
        ("servitudes", "Tu rédiges des actes.", "Il n'y a pas de servitudes sur K-77."),
        ("alerts", "You hand over machines.", "K-77: no open alerts, so it can go."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("declared", [True, False])
def test_an_answer_says_that_there_are_none(name: str, system: str, said: str, declared: bool) -> None:
    session = Session("openai", system=system, declared={name: "read", "hand_over": "external"} if declared else {})
    session.user("K-77, please.").model("", (name, {"id": "K-77"})).gives(
        'HTTP 503: {"error": "the register is being migrated"}', failed=True
    )
    session.model(said, ("hand_over", {"id": "K-77"})).gives({"ok": True})
    (found,) = session.model("K-77.").findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event(name))


def test_an_act_that_depends_on_a_look_up_that_failed() -> None:
    session = Session(
        "bedrock",
        system="Release a container only after customs cleared it.",
        declared={"customs": "read", "release_container": "external"},
    )
    session.user("Container MSKU-88 is here.").model("", ("customs", {"container": "MSKU-88"})).gives("connection reset", failed=True)
    session.model("", ("release_container", {"container": "MSKU-88"})).gives({"state": "released"})
    (found,) = session.model("MSKU-88 is released.").findings(ANALYSIS)
    assert found.first_event == session.event("customs")


def looked(said: str, output: Any = "HTTP 503: register is down", *, again: Any = None, **then: Any) -> Session:
    session = Session("anthropic", system="You register sales.").user("Sell plot K-77.").model("", ("list_liens", {"plot": "K-77"}))
    session.gives(output, failed=isinstance(output, str) and output.startswith("HTTP"))
    if again is not None:
        session.model("", ("list_liens", {"plot": "K-77"})).gives(again)
    if then:
        session.model("", ("register_sale", {"plot": "K-77", **then})).gives({"ok": True})
    return session.model(said)


@pytest.mark.parametrize(
    "session",
    [
        looked("K-77 has no liens; it is registered.", {"plot": "K-77", "liens": []}, liens="none"),
        looked("No liens of K-77.", "HTTP 404: no liens found", liens="none"),
        looked("K-77 is registered, no liens.", again={"liens": []}, liens="none"),
        looked("The register of liens is unavailable; K-77 is registered as unchecked.", liens="none"),
        looked("No liens could be read for K-77, the register is down."),
        looked("K-77 is registered.", liens="unknown"),
        looked("K-77 is registered.", mortgage="none"),
    ],
)  # fmt: skip
def test_what_is_none(session: Session) -> None:
    assert session.findings(ANALYSIS) == []


def test_the_person_says_that_there_are_none() -> None:
    session = Session("anthropic").user("Sell plot K-77. There are no liens on it.").model("", ("list_liens", {"plot": "K-77"}))
    session.gives("HTTP 503: register is down", failed=True).model("", ("register_sale", {"plot": "K-77", "liens": "none"})).gives(
        {"ok": True}
    )
    assert session.model("K-77 is registered.").findings(ANALYSIS) == []
