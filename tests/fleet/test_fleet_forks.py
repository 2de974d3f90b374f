"""What was tried from a session is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

from fork_helpers import scene
from tachograph import wiring
from tachograph.fleet import forks


def test_forks_and_answers_asked_for_again_are_found_and_told(tmp_path: Path, monkeypatch) -> None:
    with scene(tmp_path) as recorded:
        assert recorded("reask", recorded.session_id, "--step", "2", "-n", "3", "--live-model", "--json").returncode == 0
        fork = recorded("fork", recorded.session_id, "--at", "2", "--json").json()["session_id"]
        for name, value in recorded.tacho.settings.items():
            monkeypatch.setenv(name, value)
        opened = wiring.open_for_reading(wiring.settings(None))
        found, unseen = forks.forks_of(opened, recorded.session_id)
        assert (len(found), unseen) == (4, 0)
        assert fork in [one.session_id for one in found]
        assert forks.forks_of(opened, fork) == ([], 0)
        monkeypatch.setattr(forks, "MOST", 1)
        assert forks.forks_of(opened, recorded.session_id)[1] == 3
        answers = recorded("postmortem", recorded.session_id, "--json").json()["answers"]
        assert "It was asked again 3 times, at step 2" in answers["15"]["answer"]
        assert "It was forked 1 time, at step 2" in answers["15"]["answer"]


def test_other_sessions_that_saw_the_same_are_asked_of_the_catalogue(tmp_path: Path) -> None:
    with scene(tmp_path) as recorded:
        answer = recorded("postmortem", recorded.session_id, "--json").json()["answers"]["11"]
        assert "tacho catalogue makes the index" in answer["not_recorded"]
        assert recorded("catalogue").returncode == 0
        answer = recorded("postmortem", recorded.session_id, "--json").json()["answers"]["11"]
        assert "tacho catalogue makes" not in (answer["not_recorded"] or "")
