"""Arguments of one call that are of two things; and those that are rightly so."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.wrong_argument import ANALYSIS

OLD = {"id": "C-2230", "name": "Ana Costa", "born": "1948-11-19", "town": "Faro", "email": "ana.costa@clix.example"}
YOUNG = {"id": "C-1187", "name": "Ana Costa", "born": "1981-06-04", "town": "Braga", "email": "acosta81@sapo.example"}


def sends(kind: str, user: str, given: dict[str, Any], *, young: dict[str, Any] = YOUNG, old: dict[str, Any] = OLD) -> Session:
    session = Session(kind).user(user).model("", ("find", {"name": "Ana Costa"}))
    session.gives({"hits": [{"id": "C-2230", "name": "Ana Costa"}, {"id": "C-1187", "name": "Ana Costa"}]})
    session.model("", ("card", {"id": "C-2230"}), ("card", {"id": "C-1187"})).gives(old, young)
    session.model("", ("papers", {"id": "C-1187"})).gives({"papers": [{"ref": "DOC-90871", "kind": "scan", "day": "2026-02-20"}]})
    return session.model("", ("send_paper", given)).gives({"sent": True}).model("It was sent.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "user",
    [
        "A Ana Costa, nascida a 4 de junho de 1981, pediu o exame. Envia-lho, por favor.",
        "Ana Costa, born 1981-06-04, wants her last scan. Please send it to her.",
        "Schick Ana Costa aus Braga bitte ihren letzten Scan.",
    ],
)
@pytest.mark.parametrize("beside", [{"ref": "DOC-90871"}, {"person": "C-1187"}])
def test_the_address_of_somebody_else(kind: str, user: str, beside: dict[str, str]) -> None:
    session = sends(kind, user, {**beside, "to": "ana.costa@clix.example"})
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("send_paper"))
    assert "acosta81@sapo.example" in found.statement


def test_a_postal_address() -> None:
    old, young = {**OLD, "street": "Rua Nova 4, Faro"}, {**YOUNG, "street": "Rua do Sol 11, Braga"}
    session = sends(
        "openai", "Ana Costa, 4 June 1981, wants a copy.", {"ref": "DOC-90871", "street": "Rua Nova 4, Faro"}, old=old, young=young
    )
    (found,) = session.findings(ANALYSIS)
    assert found.cause == "tool"


@pytest.mark.parametrize(
    ("user", "given", "more"),
    [
        ("Ana Costa, born 1981-06-04, wants her scan.", {"ref": "DOC-90871", "to": "acosta81@sapo.example"}, {}),
        ("Ana Costa, born 1981-06-04: send her scan to her mother, Ana Costa of Faro.", {"ref": "DOC-90871", "to": OLD["email"]}, {}),
        ("Ana Costa, born 1981-06-04: send her scan to ana.costa@clix.example.", {"ref": "DOC-90871", "to": OLD["email"]}, {}),
        ("Ana Costa, born 1981-06-04, wants her scan.", {"ref": "DOC-90871", "to": OLD["email"]}, {"young": {**YOUNG, "guardian": "C-2230"}}),
        ("Send Ana Costa's last scan.", {"ref": "DOC-90871", "to": OLD["email"]}, {}),
    ],
)  # fmt: skip
def test_arguments_that_belong_together(user: str, given: dict[str, Any], more: dict[str, Any]) -> None:
    assert sends("anthropic", user, given, **more).findings(ANALYSIS) == []
