"""Things that were made anew since a look-up could not answer; and those that were not there."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.analyses.misread_error import ANALYSIS


def anew(
    answer: Any, *, failed: bool = True, kind: str = "openai", look: str = "find_supplier", make: str = "create_supplier", says: str = "They are new.",
    system: str = "You keep the suppliers.", given: dict[str, Any] | None = None, made: dict[str, Any] | None = None, declared: bool = False,
) -> Session:  # fmt: skip
    session = Session(kind, system=system, declared={look: "read", make: "write"} if declared else {}).user(
        "An order for Tiber Tools, VAT IT0455."
    )
    session.model("", (look, given or {"vat": "IT0455"})).gives(answer, failed=failed)
    session.model(says, (make, made or {"name": "Tiber Tools", "vat": "IT0455"})).gives({"id": "S-9"})
    return session.model("Tiber Tools is S-9.")


def found(session: Session) -> list[Finding]:
    return [one for one in session.findings(ANALYSIS) if "as if there were none" in one.statement]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("declared", [True, False])
def test_a_look_up_that_failed(kind: str, declared: bool) -> None:
    session = anew('HTTP 503: {"error": "index rebuild in progress"}', kind=kind, declared=declared)
    (one,) = found(session)
    assert (one.cause, one.first_event) == ("tool", session.event("find_supplier"))


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        ({"results": [], "warning": "The index is being rebuilt; results may be incomplete."}, {}),
        ({"hits": 0, "partial": True}, {}),
        ({"treffer": [], "hinweis": "Suche wird gerade neu aufgebaut, bitte später erneut versuchen"},
         {"look": "lieferant_suchen", "make": "lieferant_anlegen", "says": "Sie steht nicht im System, ich lege sie an."}),
        ({"resultados": [], "aviso": "servicio no disponible temporalmente"}, {"look": "buscar_proveedor", "make": "crear_proveedor", "says": "No consta."}),
        ("Patient search is under maintenance.", {"look": "lookup_patient", "make": "register_patient", "says": "She isn't in our list yet."}),
    ],
)  # fmt: skip
def test_an_answer_that_says_that_it_could_not_look(answer: Any, more: dict[str, Any]) -> None:
    session = anew(answer, failed=False, **more)
    (one,) = found(session)
    assert (one.cause, one.first_event) == ("tool", session.event(more.get("look", "find_supplier")))


@pytest.mark.parametrize(
    "session",
    [
        anew({"results": []}, failed=False),  # there is none
        anew("404 supplier not found"),
        anew({"results": [{"id": "S-2", "name": "Tiber Tooling"}], "partial": True}, failed=False),  # it found others
        anew("503 unavailable", system="Look a supplier up first; if the search fails, create them all the same."),
        anew("503 unavailable", make="upsert_supplier"),  # looks by itself
        anew("503 unavailable", make="create_ticket", made={"title": "Supplier search is down, IT0455"}),
        anew("503 unavailable", made={"name": "Other Ltd", "vat": "FR99"}),  # something else
        anew({"id": "M-1", "state": "degraded", "name": "Pump", "site": "North"}, failed=False, look="find_machine", make="add_machine"),  # a record
    ],
)  # fmt: skip
def test_made_with_reason(session: Session) -> None:
    assert found(session) == []


def test_looked_up_again_and_asked_first() -> None:
    session = (
        Session("anthropic").user("Order for IT0455.").model("", ("find_supplier", {"vat": "IT0455"})).gives("503 unavailable", failed=True)
    )
    session.model("", ("find_supplier", {"vat": "IT0455"})).gives({"results": []})
    session.model("They are new.", ("create_supplier", {"vat": "IT0455"})).gives({"id": "S-9"})
    assert found(session.model("S-9.")) == []
    session = (
        Session("anthropic").user("Order for IT0455.").model("", ("find_supplier", {"vat": "IT0455"})).gives("503 unavailable", failed=True)
    )
    session.model("The search is down, I cannot see whether they are known. Create them?").user("Yes, I know that they are new.")
    session.model("", ("create_supplier", {"vat": "IT0455"})).gives({"id": "S-9"})
    assert found(session.model("S-9.")) == []


def test_looked_for_in_another_way() -> None:
    session = (
        Session("bedrock").user("Order for IT0455.").model("", ("find_supplier", {"vat": "IT0455"})).gives({"hits": [], "partial": True})
    )
    session.model("", ("list_suppliers", {"vat": "IT0455", "page": 1})).gives({"suppliers": []})
    session.model("They are new.", ("create_supplier", {"vat": "IT0455"})).gives({"id": "S-9"})
    assert found(session.model("S-9.")) == []
