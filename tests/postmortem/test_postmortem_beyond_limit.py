"""An answer that says that all is within its limits, where a result has a figure beyond one."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.false_claim import ANALYSIS


def looked(
    answer: str, *results: Any, kind: str = "anthropic", user: str = "Check them, please.", tool: str = "measure", wide: bool = True
) -> Session:
    """``results``: of one call each, with the thing's name as argument."""
    one = Session(kind, declared={tool: "read"} if wide else None).user(user)
    asks = [(tool, {"what": f"point {number}"}) for number, _ in enumerate(results)]
    return one.model("", *asks).gives(*results).model(answer)


FREEZERS = (
    {"freezer": "Nord", "temp_c": -20.5, "max_temp_c": -18},
    {"freezer": "Süd", "temp_c": -14.2, "max_temp_c": -18},
)


@pytest.mark.parametrize("kind", KINDS)
def test_all_are_said_to_be_within_their_limits(kind: str) -> None:
    one = looked("Both freezers are below their maximum temperature.", *FREEZERS, kind=kind, wide=kind in ("openai", "bedrock"))
    (found,) = one.findings(ANALYSIS)
    assert found.cause == "claim"
    assert "temp_c: -14.2, max_temp_c: -18" in found.statement


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        ("Alle Messpunkte liegen innerhalb der Grenzwerte.", ({"punkt": "Hof", "messwert_db": 92, "grenzwert_db": 85},)),
        ("Tous les points respectent la limite.", ({"point": "cour", "valeur": 9.4, "seuil": 8},)),
        ("Los tres depósitos están dentro del límite permitido.", ({"deposito": "norte", "lectura_bar": 6.1, "maximo_bar": 5.5},)),
        ("Tutte le pompe sono entro i limiti.", ({"pompa": "P-3", "misura": "7.2 bar", "limite": "6.5 bar"},)),
        ("No sample exceeds the limit.", ({"limit_mg": 3, "samples": [{"sample": "S-1", "mg": 2.1}, {"sample": "S-2", "mg": 4.4}]},)),
        ("The flow is within its limits.", ({"flow": 3.1, "min_flow": 4.0, "max_flow": 9.0},)),
        ("Line 4 is within tolerance.", ({"line": "Line 4", "measured_mm": 12.9, "nominal_mm": 12.0, "tolerance_mm": 0.5},)),
        ("All points passed.", ({"point": "A", "noise": 91, "limit": 85, "value_db": 1}, {"point": "B", "reading": 91, "limit": 85})),
        ("The chlorine of pool West is fine.", ({"pool": "West", "chlorine": 0.1, "limits": {"min_chlorine": 0.3}},)),
    ],
)
def test_in_other_trades_and_languages(answer: str, results: tuple[Any, ...]) -> None:
    assert [one.cause for one in looked(answer, *results).findings(ANALYSIS)] == ["claim"]


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        ("Nord is below its maximum. Süd is too warm with -14.2 degrees.", FREEZERS),
        ("Nord is below its maximum temperature.", FREEZERS),
        ("All freezers but Süd are within limits.", FREEZERS),
        ("Alle Gefrierschränke außer Süd liegen innerhalb der Grenzwerte.", FREEZERS),
        ("Are all freezers within limits? I shall look again.", FREEZERS[:1]),
        ("Both are within tolerance.", ({"deviation_mg": 0.2, "tolerance_mg": 0.5}, {"deviation_mg": -0.4, "tolerance_mg": 0.5})),
        ("All readings are within limits.", ({"limit": 50, "items": [{"point": "A", "value": 120}]},)),
        ("Your payment of 200 EUR is within the daily limit.", ({"account": "A-1", "balance_eur": 5000, "limit_eur": 1000},)),
        ("All are within tolerance.", ({"deviation_ug": 300, "tolerance_mg": 0.5},)),
        ("All are within the limits.", ({"wait_min": 40, "reading": 3, "max_reading": 8},)),
        ("All are within tolerance.", ({"weight_g": 100.2, "load_g": 100, "tolerance_g": 0.5},)),
    ],
)
def test_what_holds_or_is_told(answer: str, results: tuple[Any, ...]) -> None:
    assert not looked(answer, *results).findings(ANALYSIS)


LIFTS = ({"lift": "Ost", "load": "100 kg", "result": "passed"}, {"lift": "West", "load": "100 kg", "result": "failed"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", ["Both lifts passed.", "Lifts Ost and West passed the yearly test.", "All lifts are in order."])
def test_a_record_that_says_itself_that_it_failed(kind: str, answer: str) -> None:
    (found,) = looked(answer, *LIFTS, kind=kind).findings(ANALYSIS)
    assert "result: failed" in found.statement


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        ("Ost passed with 100 kg.", LIFTS),
        ("Ost passed. West did not, it has to be repaired.", LIFTS),
        ("Everything is fine, thank you for asking.", LIFTS),
        ("The invoice is in order.", LIFTS),
        ("Both lifts passed.", (*LIFTS, {"lift": "West", "load": "100 kg", "result": "passed"})),
        (
            "BAL-1 and BAL-3 are within tolerance with 100 g.",
            tuple(
                {"balance": f"BAL-{n}", "load": "100 g", "deviation_mg": mg, "tolerance_mg": 0.5}
                for n, mg in ((1, 0.2), (2, 0.9), (3, 0.1))
            ),
        ),
    ],
)
def test_failures_that_are_told_or_of_something_else(answer: str, results: tuple[Any, ...]) -> None:
    assert not looked(answer, *results).findings(ANALYSIS)


def test_a_later_look_and_another_limit() -> None:
    one = Session().user("Check the pumps.").model("", ("measure", {"pump": "P-3"})).gives({"pump": "P-3", "bar": 7.2, "max_bar": 6.5})
    one.model("", ("measure", {"pump": "P-3"})).gives({"pump": "P-3", "bar": 6.1, "max_bar": 6.5}).model("P-3 is within its limit.")
    assert not one.findings(ANALYSIS)
    said = "The limit is 8 bar until Friday. Check the pump."
    assert not looked("The pump is within its limit.", {"pump": "P-3", "bar": 7.2, "max_bar": 6.5}, user=said).findings(ANALYSIS)
