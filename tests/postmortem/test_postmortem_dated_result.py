"""Results that are old by a date of their own, and whose figures an effect proved wrong; and those that are old and right."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.stale_result import ANALYSIS
from tachograph.postmortem.language.dates import moment, names_day

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


def sized(
    kind: str, record: dict[str, Any], later: dict[str, Any] | None, *, say: str = "", declared: bool = True, again: bool = False,
) -> Session:  # fmt: skip
    """A farm's pumps are set by the level of a basin; the level is looked up again behind it."""
    session = Session(kind, system="You set the pumps. One pump for each 60 cm of level, at least 1.", declared={"level": "read", "set_pumps": "external"} if declared else None)  # fmt: skip
    session.user("Set the pumps of basin-7.").model("", ("clock", {})).gives({"now": "2026-03-02T09:44:10Z"})
    session.model("", ("level", {"basin": "basin-7"})).gives(record)
    session.model(say, ("set_pumps", {"basin": "basin-7", "pumps": 3})).gives({"basin": "basin-7", "pumps": 3})
    if later is not None:
        session.model("", ("level", {"basin": "basin-7"})).gives(later)
    if again:
        session.model("", ("set_pumps", {"basin": "basin-7", "pumps": 9})).gives({"basin": "basin-7", "pumps": 9})
    return session.model("The pumps of basin-7 are set.")


COPY = {"basin": "basin-7", "level_cm": 140, "sampled_at": "2026-03-02T02:10:00Z", "source": "cache"}
REAL = {"basin": "basin-7", "level_cm": 505, "sampled_at": "2026-03-02T09:46:00Z"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("record", "say"),
    [
        (COPY, "140 cm need 3 pumps."),
        (COPY, ""),  # 140 at 60 for each are 3
        ({"basin": "basin-7", "level_cm": 140, "stale": True}, ""),
        ({"basin": "basin-7", "level_cm": 140, "gemessen_am": "2026-02-20T04:00:00Z"}, "Bei 140 cm reichen drei Pumpen, also 3."),
    ],
)
def test_what_was_worked_out_from_an_old_sample(kind: str, record: dict[str, Any], say: str, declared: bool) -> None:
    session = sized(kind, record, REAL, say=say, declared=declared)
    found = session.findings(ANALYSIS)
    assert [(one.cause, one.first_event) for one in found] == [("tool", session.event("level"))]
    assert "505" in found[0].statement


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("record", "later", "more"),
    [
        ({**COPY, "sampled_at": "2026-03-02T09:40:00Z"}, REAL, {}),  # of a few minutes ago
        (COPY, None, {}),  # nothing shows it to be wrong
        (COPY, {**REAL, "level_cm": 138}, {}),  # still right
        (COPY, {**REAL, "basin": "basin-9"}, {}),  # of another thing
        (COPY, REAL, {"again": True}),  # seen, and done anew
        (COPY, REAL, {"say": "The level is as of 02:10 and may be old; 3 pumps for now."}),  # said to be old
        ({**COPY, "level_cm": 2000}, REAL, {}),  # the argument has nothing to do with it
    ],
)
def test_old_samples_without_harm(kind: str, record: dict[str, Any], later: dict[str, Any] | None, more: dict[str, Any]) -> None:
    assert sized(kind, record, later, **more).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [("until 2 June 2026", True), ("bis zum 2. Juni", True), ("hasta el 2 de junio", True), ("June 2nd", True), ("2026-06-02T10:00:00Z", True), ("02.06.2026", True),
     ("12 June", False), ("2 July", False), ("2026-06-20", False)],
)  # fmt: skip
def test_a_day_in_a_text(text: str, names: bool) -> None:
    assert names_day(text, datetime(2026, 6, 2, tzinfo=UTC)) is names
