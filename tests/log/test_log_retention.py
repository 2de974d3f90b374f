"""The states of a session's keeping, folded from the ledger: each transition by itself. Every order of them: ``tests/host/test_host_retaining.py``."""

from __future__ import annotations

import pytest

from fake_store import FakeStore
from tachograph.core.errors import ConflictError, UsageError
from tachograph.core.events import LedgerEntry, encode
from tachograph.log import retention
from tachograph.log.book import Book
from tachograph.log.retention import DAY, Custody, State, days_of, matter_of, may_delete, may_destroy, may_hold, may_keep
from tachograph.log.writer import timestamp

SES = "ses_01K0000000000000000000000A"
T0 = 1_790_000_000_000


def book(*told: tuple[int, str, str | None, dict[str, object]]) -> Book:
    """(days after T0, action, subject, detail) …"""
    made = Book(FakeStore())
    for seq, (day, action, subject, detail) in enumerate(told, 1):
        event = encode(LedgerEntry(action=action, subject=subject, detail=detail))
        made.add(b"line", {"seq": seq, "ts": timestamp(T0 + day * DAY), **event})
    return made


def custody(*told: tuple[int, str, str | None, dict[str, object]]) -> Custody:
    return retention.custody_of(book(*told), SES)


OPENED, SEALED = (0, "opened", SES, {}), (1, "sealed", SES, {"size": 3, "root": "00", "ended": True})


def test_without_a_choice_it_is_kept_for_ever() -> None:
    found = custody(OPENED, SEALED)
    assert (found.days, found.expires(), found.due()) == (None, None, None)
    assert found.state(T0 + 100_000 * DAY) is State.SEALED


def test_the_stores_choice_counts_from_its_entry_on() -> None:
    chosen = (0, "retention", None, {"days": 30})
    assert custody(chosen, OPENED, SEALED).days == 30
    assert custody(OPENED, chosen, SEALED).days is None
    assert custody(chosen, (0, "retention", None, {"days": 90}), OPENED).days == 90
    assert custody((0, "retention", None, {"days": 90}), chosen, OPENED).days == 30


def test_a_sessions_own_choice_only_grows() -> None:
    chosen = (0, "retention", None, {"days": 90})
    assert custody(chosen, OPENED, (2, "retention", SES, {"days": 183})).days == 183
    assert custody(chosen, OPENED, (2, "retention", SES, {"days": 30})).days == 90
    with pytest.raises(UsageError, match="only grows"):
        may_keep(custody(chosen, OPENED), 30)


def test_open_sealed_expired_due() -> None:
    chosen = (0, "retention", None, {"days": 30})
    running, ended = custody(chosen, OPENED), custody(chosen, OPENED, SEALED)
    assert running.state(T0 + DAY) is State.OPEN
    assert [ended.state(T0 + day * DAY) for day in (2, 30, 31, 37, 38)] == [
        State.SEALED, State.SEALED, State.EXPIRED, State.EXPIRED, State.DUE,
    ]  # fmt: skip
    assert ended.state(T0 + 31 * DAY, grace=0) is State.DUE
    assert ended.state(T0 + 99 * DAY, live=True) is State.OPEN


def test_a_session_that_goes_on_is_kept_from_the_last_that_was_heard_of_it() -> None:
    chosen = (0, "retention", None, {"days": 30})
    found = custody(chosen, OPENED, (20, "sealed", SES, {"ended": False}))
    assert found.state(T0 + 45 * DAY) is State.OPEN
    assert found.state(T0 + 50 * DAY) is State.EXPIRED


def test_several_matters_hold_and_each_lets_go_for_itself() -> None:
    told = [OPENED, SEALED, (2, "held", SES, {"matter": "A"}), (3, "held", SES, {"matter": "B"}), (4, "released", SES, {"matter": "A"})]
    assert custody(*told).matters == ("B",)
    with pytest.raises(ConflictError, match="held for B"):
        may_destroy(custody(*told))
    freed = custody(*told, (5, "released", SES, {"matter": "B"}))
    may_destroy(freed)
    assert not freed.held


def test_a_release_begins_the_grace_anew() -> None:
    told = (
        (0, "retention", None, {"days": 30}),
        OPENED,
        SEALED,
        (2, "held", SES, {"matter": "A"}),
        (400, "released", SES, {"matter": "A"}),
    )
    found = custody(*told)
    assert found.state(T0 + 401 * DAY) is State.EXPIRED
    assert found.state(T0 + 407 * DAY) is State.DUE
    with pytest.raises(ConflictError, match="expired, not due"):
        may_delete(found, T0 + 401 * DAY)
    may_delete(found, T0 + 407 * DAY)


def test_what_is_deleted_cannot_be_held() -> None:
    found = custody(OPENED, SEALED, (40, "deleted", SES, {"size": 3, "root": "00"}))
    assert found.state(T0) is State.DELETED
    for act in (may_hold, lambda each: may_keep(each, 99999)):
        with pytest.raises(ConflictError, match="deleted already"):
            act(found)


def test_a_shredded_session_keeps_its_time() -> None:
    found = custody((0, "retention", None, {"days": 30}), OPENED, SEALED, (2, "shredded", SES, {}))
    assert (found.shredded, found.state(T0 + 3 * DAY), found.state(T0 + 40 * DAY)) == (True, State.SEALED, State.DUE)


@pytest.mark.parametrize("text", ["30d", "90d", "183d", "183", "1", "99999d"])
def test_days(text: str) -> None:
    assert days_of(text) == int(text.rstrip("d"))


@pytest.mark.parametrize("text", ["", "0", "0d", "-1", "30 d", "6m", "100000", "1e3", "٣d"])
def test_what_is_no_number_of_days(text: str) -> None:
    with pytest.raises(UsageError, match="number of days"):
        days_of(text)


@pytest.mark.parametrize("text", ["", " INC-7", "a\nb", "\x1b[31m", "é", "x" * 101])
def test_what_is_no_matter(text: str) -> None:
    with pytest.raises(UsageError, match="matter"):
        matter_of(text)
    assert matter_of("INC-7 (fire)") == "INC-7 (fire)"
