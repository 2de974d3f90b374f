"""Results from before the effect that they are to tell of; histories, fresh ones, and those that were noticed."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.stale_result import ANALYSIS

OLD, NEW, TIME = "2025-01-03T08:00:00Z", "2025-01-07T09:30:00Z", "2025-01-07T09:31:00Z"


def told(
    status: dict[str, Any],
    after: dict[str, Any],
    last: str = "Done.",
    *,
    kind: str = "openai",
    said: str = "It is through.",
    again: Any = None,
) -> Session:
    session = Session(kind, declared={"set_tariff": "external", "notify_tenants": "external", "tariff_state": "read", "audit": "read"})
    session.user("Set house Lindenhof to tariff T-9 and tell the tenants.")
    session.model("", ("set_tariff", {"house": "Lindenhof", "tariff": "T-9"})).gives({"accepted": True, "zeit": NEW})
    session.model("", ("tariff_state", {"house": "Lindenhof"})).gives(status)
    if again is not None:
        session.model("", ("tariff_state", {"house": "Lindenhof"})).gives(again)
    session.model(said, ("notify_tenants", {"house": "Lindenhof"})).gives({"sent": 12})
    session.model("", ("audit", {"house": "Lindenhof"})).gives(after)
    return session.model(last)


LAGS = {"house": "Lindenhof", "tariff": "T-4", "stand_am": OLD}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "after", "last"),
    [
        (LAGS, {"house": "Lindenhof", "tariff": "T-9"}, "The tenants were told."),
        ({"house": "Lindenhof", "tariff": "T-4"}, {"house": "Lindenhof", "tariff": "T-9", "active": False}, "The tenants were told."),
        ({"house": "Lindenhof", "active": True, "um": OLD}, {"house": "Lindenhof", "open": 3}, "The tariff was not active; the state was that of last week."),
    ],
)  # fmt: skip
def test_a_result_from_before_the_effect(kind: str, status: dict[str, Any], after: dict[str, Any], last: str) -> None:
    session = told(status, after, last, kind=kind)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("tariff_state"))
    assert "set_tariff" in found.statement
    assert "notify_tenants" in found.statement


@pytest.mark.parametrize(
    "session",
    [
        told({"house": "Lindenhof", "tariff": "T-9", "um": TIME}, {"house": "Lindenhof", "tariff": "T-9"}),  # of the day
        told({"house": "Lindenhof", "rows": [{"tariff": "T-4", "um": OLD}, {"tariff": "T-9", "um": TIME}]}, {"house": "Lindenhof", "tariff": "T-9"}),
        told({"house": "Lindenhof", "tariff": "T-4", "um": TIME}, {"house": "Lindenhof", "tariff": "T-4"}),  # it was not taken; all agree
        told(LAGS, {"house": "Lindenhof", "tariff": "T-9"}, said="That state does not show T-9 yet; the change itself was accepted."),
        told(LAGS, {"house": "Lindenhof", "tariff": "T-9"}, again={"house": "Lindenhof", "tariff": "T-9", "um": TIME}),
        told({"house": "Lindenhof", "built": "2019-04-01", "floors": 4}, {"house": "Lindenhof", "open": 3}, "12 were told, but one has no address."),
    ],
)  # fmt: skip
def test_a_result_that_does_not_lag(session: Session) -> None:
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "record",
    [
        {"silo": "S-4", "pegel": 31, "gemessen_am": OLD}, {"silo": "S-4", "niveau": 31, "mesuré_le": OLD}, {"silo": "S-4", "nivel": 31, "medido_em": OLD},
        {"silo": "S-4", "niveau": 31, "périmé": True}, {"silo": "S-4", "nivel": 31, "desactualizado": "sí", "medido_el": OLD}, {"silo": "S-4", "livello": 31, "rilevato_il": OLD, "fonte": "cache"},
    ],
)  # fmt: skip
def test_the_signs_of_age_in_other_languages(record: dict[str, Any]) -> None:
    session = Session("anthropic", system="Fill a silo below 40.", declared={"niveau": "read", "fill": "external"}).user(
        "Silo S-4, please."
    )
    session.model("", ("niveau", {"silo": "S-4"})).gives(record).model("", ("fill", {"silo": "S-4"})).gives({"ok": True})
    (found,) = session.model("S-4 had 31, so it is being filled.").findings(ANALYSIS)
    assert found.first_event == session.event("niveau")


@pytest.mark.parametrize(
    ("record", "last"),
    [
        ({"silo": "S-4", "pegel": 31, "gemessen_am": OLD}, "S-4 hatte 31 (Stand vom 3. Januar) und wird gefüllt."),
        ({"silo": "S-4", "pegel": 31, "geliefert_am": OLD}, "S-4 hat 31 und wird gefüllt."),
        ({"silo": "S-4", "pegel": 31, "baujahr": "2019-04-01"}, "S-4 hat 31 und wird gefüllt."),
    ],
)  # fmt: skip
def test_an_age_that_is_told_and_dates_of_the_object(record: dict[str, Any], last: str) -> None:
    session = Session("anthropic", declared={"pegel": "read", "fill": "external"}).user("Silo S-4, bitte.")
    session.model("", ("pegel", {"silo": "S-4"})).gives(record).model("", ("fill", {"silo": "S-4"})).gives({"ok": True})
    assert session.model(last).findings(ANALYSIS) == []
