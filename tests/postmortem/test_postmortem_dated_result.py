"""Results that are old by a date of their own, and whose figures an effect proved wrong; and those that are old and right."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.dates import moment
from tachograph.postmortem.analyses.stale_result import ANALYSIS

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)


def stock(
    kind: str, record: dict[str, Any], back: dict[str, Any], answer: str = "The order for L-204 is placed.", *, before: str = "", act: tuple[str, dict[str, Any]] | None = None,
) -> Session:  # fmt: skip
    session = Session(kind, system="You order parts. Today: 2026-11-30.", declared={"part": "read", "order_part": "external"})
    session.user("Order 6 of L-204.").model("", ("part", {"part": "L-204"})).gives(record)
    session.model(before, act or ("order_part", {"part": "L-204", "pieces": 6})).gives(back)
    return session.model(answer)


OLD = {"part": "L-204", "unit_price": 18.5, "stand": "2026-03-02"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "record",
    [
        OLD,
        {"part": "L-204", "unit_price": 18.5, "mesure": "il y a 9 jours"},
        {"part": "L-204", "unit_price": 18.5, "gueltig_bis": "30.06.2026"},
        {"part": "L-204", "unit_price": 18.5, "cached": 1795000000},
        {"part": "L-204", "unit_price": 18.5, "t": "2026-11-20T04:00:00Z"},
    ],
)
def test_an_old_figure_that_the_order_proves_wrong(kind: str, record: dict[str, Any]) -> None:
    session = stock(kind, record, {"order": "O-1", "unit_price": 44.0}, before="At 18.5 each that is cheap.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("part"))
    assert "44" in found.statement


def test_a_unit_alone_and_orders_of_magnitude() -> None:
    session = stock(
        "anthropic",
        {"part": "L-204", "age_hours": 2, "sampled": "2026-11-01T10:00"},
        {"order": "O-1", "late_hours": 4100},
        before="Only 2 hours old.",
    )
    assert [one.first_event for one in session.findings(ANALYSIS)] == [session.event("part")]


@pytest.mark.parametrize(
    ("record", "back", "answer", "before"),
    [
        ({**OLD, "stand": "2026-11-30"}, {"order": "O-1", "unit_price": 44.0}, "Placed.", "At 18.5 each."),  # of the day
        (OLD, {"order": "O-1", "unit_price": 18.5}, "Placed.", "At 18.5 each."),  # still right
        (OLD, {"order": "O-1", "unit_price": 44.0}, "Placed, but at 44.0 each rather than 18.5.", "At 18.5 each."),  # told
        ({"part": "L-204", "in_stock": 40, "ordered_on": "2026-03-02"}, {"order": "O-1", "in_stock": 100}, "Placed.", "There are 40."),  # a date of business
        ({"part": "L-204", "in_stock": 40, "t": "2026-03-02"}, {"order": "O-1", "in_stock": 34}, "Placed.", "There are 40."),  # what was ordered explains it
        ({"part": "L-204", "unit_price": 18.5, "t": "2026-03-02"}, {"order": "O-1", "shipping_weight": 90}, "Placed.", "At 18.5 each."),  # another quantity
    ],
)  # fmt: skip
def test_what_is_old_without_harm(record: dict[str, Any], back: dict[str, Any], answer: str, before: str) -> None:
    assert [
        one for one in stock("openai", record, back, answer, before=before).findings(ANALYSIS) if "gone by all the same" in one.statement
    ] == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-28T02:00:00Z", 28), ("28.11.2026", 28), ("vor 2 Tagen", 28), ("hace 3 días", 27), ("3 dagen geleden", 27), ("1 week ago", 23), ("2 giorni fa", 28),
        ("48 hours ago", 28), ("1795910400", 29),
    ],
)  # fmt: skip
def test_moments(text: str, day: int) -> None:
    found = moment(text, NOW)
    assert found is not None
    assert found.day == day


@pytest.mark.parametrize("text", ["3 days", "L-204", "4915123456", "in 3 Tagen", "2 Stück", "99.99.2026"])
def test_what_is_no_moment(text: str) -> None:
    assert moment(text, NOW) is None
