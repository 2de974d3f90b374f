"""Results of calls that are seen on the wire alone, given to the wrong one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.agent_code import ANALYSIS


def http(session: Session, url: str, returned: Any, method: str = "GET", body: Any = None) -> None:
    session.tape.tick(5)
    request = {"method": method, "url": url, "headers": {}, **({"body": body} if body is not None else {})}
    session.tape.add(
        events.Http, method=method, host="api.example", status=200, lane="main", outcome="ok", duration_ms=4.0, request=request,
        wire={"data": json.dumps(returned)},
    )  # fmt: skip


def two(kind: str, tool: str, one: dict[str, Any], other: dict[str, Any]) -> Session:
    return Session(kind).user("Compare the two and act.").model("", (tool, one), (tool, other))


@pytest.mark.parametrize("kind", KINDS)
def test_told_what_the_other_call_s_exchange_returned(kind: str) -> None:
    session = two(kind, "niveau_citerne", {"citerne": "est"}, {"citerne": "ouest"})
    http(session, "https://api.example/citernes/ouest?unite=l", {"litres": 310})
    http(session, "https://api.example/citernes/est?unite=l", {"litres": 4200})
    session.gives({"litres": 310}, {"litres": 4200}).model("La citerne est est presque vide.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event, found.confidence) == ("harness", session.event("niveau_citerne"), 0.95)
    assert "citernes/ouest" in found.statement


def test_both_were_told_what_one_exchange_returned() -> None:
    session = two("responses", "glucose", {"patient": 7}, {"patient": 9})
    http(session, "https://api.example/labs", {"mmol": 5.1}, "POST", {"patient": 7})
    http(session, "https://api.example/labs", {"mmol": 14.8}, "POST", {"patient": 9})
    session.gives({"mmol": 14.8}, {"mmol": 14.8}).model("Both are high.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("glucose", 0)


def test_told_in_other_words_the_wrong_way_round() -> None:
    session = two("openai", "spot_price", {"zone": "SE3"}, {"zone": "SE4"})
    http(session, "https://api.example/zones/SE3/price", {"zone_price": 41.7, "currency": "EUR"})
    http(session, "https://api.example/zones/SE4/price", {"zone_price": 88.2, "currency": "EUR"})
    session.gives("88.2 EUR per MWh", "41.7 EUR per MWh").model("Buy in SE4.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("spot_price", 0)


def test_only_the_first_of_a_session_is_told() -> None:
    session = two("openai", "score", {"firm": "A-1"}, {"firm": "A-2"})
    for _ in range(2):
        http(session, "https://api.example/score/A-1", {"score": 80})
        http(session, "https://api.example/score/A-2", {"score": 20})
        session.gives({"score": 20}, {"score": 80}).model("", ("score", {"firm": "A-1"}), ("score", {"firm": "A-2"}))
    session.gives({"score": 80}, {"score": 20}).model("Done.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("score", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_each_has_its_own_whatever_the_order(kind: str) -> None:
    session = two(kind, "niveau_citerne", {"citerne": "est"}, {"citerne": "ouest"})
    http(session, "https://api.example/citernes/ouest", {"litres": 310})
    http(session, "https://api.example/citernes/est", {"litres": 4200})
    session.gives({"litres": 4200}, {"litres": 310}).model("Tout va bien.")
    assert session.findings(ANALYSIS) == []


def test_the_same_value_for_both_and_a_repeated_exchange() -> None:
    session = two("anthropic", "stock", {"sku": "K1"}, {"sku": "K2"})
    http(session, "https://api.example/stock/K1", {"state": "loading"})
    http(session, "https://api.example/stock/K1", {"pieces": 4})
    http(session, "https://api.example/stock/K2", {"pieces": 4})
    session.gives({"pieces": 4}, {"pieces": 4}).model("Four each.")
    assert session.findings(ANALYSIS) == []


def test_one_exchange_for_both_says_nothing() -> None:
    session = two("bedrock", "rate", {"pair": "EURUSD"}, {"pair": "EURGBP"})
    http(session, "https://api.example/rates?pairs=EURUSD,EURGBP", {"EURUSD": 1.1, "EURGBP": 0.84})
    http(session, "https://api.example/health", {"ok": True})
    session.gives("1.1", "0.84").model("1.1 and 0.84.")
    assert session.findings(ANALYSIS) == []
