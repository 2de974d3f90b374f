"""One of several like pairs that is unlike the others; and pairs that differ for a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.invented_value import ANALYSIS

ROOMS = {"R-11": 10442, "R-12": 20917, "R-13": 33381, "R-14": 48213, "R-15": 8120}


def rounds(kind: str, said: dict[str, Any], *, user: str = "Read and enter R-11 to R-15.", again: dict[str, Any] | None = None) -> Session:
    session = Session(kind).user(user)
    for room, value in ROOMS.items():
        session.model("", ("read_dial", {"dial": room})).gives(json.dumps({"dial": room, "shows": value, "battery": "ok"}))
        session.model("", ("record_value", {"dial": room, "units_used": said.get(room, value)})).gives(
            json.dumps({"dial": room, "kept": True})
        )
    for room, value in (again or {}).items():
        session.model("", ("record_value", {"dial": room, "units_used": value})).gives(json.dumps({"dial": room, "kept": True}))
    return session.model("All are entered.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [48123, 71950])
def test_one_value_of_several_is_another_one(kind: str, value: int) -> None:
    session = rounds(kind, {"R-14": value})
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("model", session.call(8))
    assert str(value) in found.statement
    assert "48213" in found.statement


def test_looked_up_in_one_list() -> None:
    every = [{"asset": f"INV-{number}", "reading": value} for number, value in zip(range(70, 75), ROOMS.values(), strict=True)]
    session = Session("openai").user("Übertrage die Liste.").model("", ("list_assets", {})).gives(json.dumps(every))
    for one in every:
        value = 81203 if one["asset"] == "INV-74" else one["reading"]
        session.model("", ("set_entry", {"asset": one["asset"], "wert": value})).gives("ok")
    (found,) = session.model("Fertig.").findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("model", session.call(6))


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ({}, {}),
        ({"R-14": 48123}, {"user": "Read and enter R-11 to R-15; R-14 is to be entered as 48123."}),
        ({"R-14": 48313}, {"user": "Read and enter R-11 to R-15; add 100 to R-14."}),
        ({"R-14": 48123}, {"again": {"R-14": 48213}}),
        ({"R-14": 48123, "R-12": 20971, "R-11": 10424}, {}),
    ],
)
def test_pairs_that_agree_or_differ_for_a_reason(said: dict[str, Any], more: dict[str, Any]) -> None:
    assert [one for one in rounds("anthropic", said, **more).findings(ANALYSIS) if "other calls" in one.statement] == []
