"""Which session is taken as the last good one; with a catalogue and without it is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fleet_helpers import Fleet, call

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.fleet import last_good, sessions
from tachograph.log.reader import Recording

SHOP = "git@github.com:acme/shop.git"


class Told:
    """Sessions in the order in which they are told, a day after the other."""

    def __init__(self, folder: Path) -> None:
        self.fleet = Fleet(folder)
        self._day = 0

    def __call__(
        self, name: str | None = "task", agent: str | None = "agent.py", *, status: str | None = "ok", model: bool = True, **fields: Any
    ) -> str:
        self._day += 1
        fields.setdefault("repo_url", SHOP)
        drafts = [call()] if model else []
        if status not in ("ok", None):
            drafts.append(Draft(event=events.SessionEnd(status=status, exit_code=1)))
        start = events.SessionStart(name=name, agent=agent, recorder="test", **fields)
        return self.fleet.session(drafts, day=self._day, start=start, end=status == "ok")

    def search(self, session_id: str) -> last_good.Search:
        """By reading, and by a catalogue that is up to date, and by one of before."""
        store, recording = self.fleet.store, Recording(self.fleet.opened, session_id)
        read = last_good.search(self.fleet.opened, recording)
        self.fleet.update()
        assert sessions.is_there(store)
        kept = last_good.search(self.fleet.opened, recording)
        assert [one.session_id for one in kept.found[:1]] == [one.session_id for one in read.found[:1]]
        return kept

    def best(self, session_id: str) -> last_good.LastGood | None:
        return next(iter(self.search(session_id).found), None)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "store")


def test_the_newest_good_one_of_the_kind_before_it(told: Told) -> None:
    told()
    good = told()
    bad = told(status="error")
    told()
    found = told.best(bad)
    assert found is not None
    assert (found.session_id, found.why) == (good, "the same name and agent, ended ok, linked to no incident")


@pytest.mark.parametrize("status", ["error", "killed", "lost", "stopped", None])
def test_what_did_not_end_well_is_passed_over_and_named(told: Told, status: str | None) -> None:
    good, worse, bad = told(), told(status=status), told()
    found = told.best(bad)
    assert found is not None
    assert found.session_id == good
    assert found.passed == ((worse, f"ended {status}" if status else "not ended"),)


def test_an_incident_takes_a_session_out_and_another_link_does_not(told: Told) -> None:
    good, worse, bad = told(), told(), told()
    told.fleet.enter("opened", good)
    told.fleet.enter("linked", good, kind="pr", ref="acme/shop#7")
    told.fleet.enter("linked", worse, kind="incident", ref="INC-6")
    found = told.best(bad)
    assert found is not None
    assert (found.session_id, found.passed) == (good, ((worse, "linked to INC-6"),))
    told.fleet.enter("unlinked", worse, kind="incident", ref="INC-6")
    taken = told.best(bad)
    assert taken is not None
    assert taken.session_id == worse


def test_what_was_shredded_cannot_be_compared_with(told: Told) -> None:
    good, gone, bad = told(), told(), told()
    told.fleet.enter("shredded", gone)
    found = told.best(bad)
    assert found is not None
    assert found.session_id == good


def test_what_was_deleted_is_nothing(told: Told) -> None:
    gone, bad = told(), told()
    told.fleet.remove(gone)
    assert told.search(bad) == last_good.Search()


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "import", "imported_from": "claude-code"},
        {"source": "fork", "forked_from": {"session_id": "ses_1", "step": 1}},
        {"parent_session_id": "ses_1"},
        {"model": False},
        {"name": "other", "agent": "other.py"},
        {"name": "other", "repo_url": "git@github.com:acme/else.git"},
    ],
)
def test_what_is_of_another_kind_is_none(told: Told, fields: dict[str, Any]) -> None:
    told(**fields)
    assert told.best(told()) is None


def test_the_better_kind_goes_before_the_newer_session(told: Told) -> None:
    one = told("refund")
    other = told("refund", "new.py", repo_url=None)
    third = told("else")
    fourth = told("else", repo_url=None)
    bad = told("refund")
    found = told.search(bad).found
    assert [(each.session_id, each.kind) for each in found] == [
        (one, "the same name and agent"),
        (other, "the same name"),
        (third, "the same agent and repository"),
        (fourth, "the same agent"),
    ]


def test_a_session_without_a_name_is_compared_with_its_agent_s(told: Told) -> None:
    told(agent="else.py")
    good = told(name="whatever")
    found = told.best(told(name=None))
    assert found is not None
    assert (found.session_id, found.kind) == (good, "the same agent and repository")


def test_what_the_catalogue_does_not_know_yet_is_read(told: Told) -> None:
    old = told()
    open_ = told(status=None)
    told.fleet.update()
    good = told()
    bad = told()
    found = last_good.search(told.fleet.opened, Recording(told.fleet.opened, bad)).found
    assert [one.session_id for one in found] == [good, old]
    assert found[1].passed == ((open_, "not ended"),)


def test_a_file_of_the_catalogue_that_is_gone_costs_a_look(told: Told) -> None:
    good = told()
    told.fleet.update()
    bad = told()
    for name in list(told.fleet.store.names("catalogue/sessions/")):
        told.fleet.store.remove(name)
    assert [one.session_id for one in last_good.search(told.fleet.opened, Recording(told.fleet.opened, bad)).found] == [good]


def test_without_a_catalogue_so_many_are_looked_at_and_no_more(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    told()
    other = [told("else", "else.py") for _ in range(4)]
    bad = told()
    monkeypatch.setattr(last_good, "MOST", len(other))
    found = last_good.search(told.fleet.opened, Recording(told.fleet.opened, bad))
    assert (found.found, found.looked, found.unseen) == ([], 4, 1)


def test_a_catalogue_that_lies_is_found_out(told: Told) -> None:
    opened = told.fleet.opened
    assert last_good.confirmed(Recording(opened, told()))
    assert not last_good.confirmed(Recording(opened, told(status="error")))
    assert not last_good.confirmed(Recording(opened, told(status=None)))
    assert not last_good.confirmed(Recording(opened, told(source="import")))
    assert not last_good.confirmed(Recording(opened, told(forked_from={"session_id": "ses_1"})))
