"""File changes: single ones, their sum, and diffs."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import AFTER, BEFORE, Tape, coding_agent

from tachograph.core import events
from tachograph.postmortem.changes import changes_of, diff_lines, totals
from tachograph.postmortem.story import tell
from tachograph.postmortem.values import there

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map("\n".join)


def tape(*changes: tuple[str, str | None, str | None]) -> Tape:
    made = Tape()
    for action, before, after in changes:
        listed = {"changes": [{"path": "f", "action": action, "before": before, "after": after, "binary": False}]}
        made.add(events.Process, program="x", workspace=listed)
    return made


def test_the_sum_of_changes_is_from_the_first_before_to_the_last_after() -> None:
    total = totals(tell(tape(("added", None, "1\n"), ("changed", "1\n", "1\n2\n"))))[0]
    assert (total.action, total.before, total.after, total.added, total.removed) == ("added", None, "1\n2\n", 2, 0)
    assert len(total.changes) == 2


def test_a_file_put_back_has_not_changed() -> None:
    total = totals(tell(tape(("changed", "1", "2"), ("changed", "2", "1"), ("changed", "1", "2"), ("changed", "2", "1"))))[0]
    assert total.action == "none"
    assert len(total.changes) == 4


def test_a_file_that_came_and_went_has_not_changed() -> None:
    assert totals(tell(tape(("added", None, "1"), ("deleted", "1", None))))[0].action == "none"


def test_a_change_seen_at_a_command_and_at_the_tool_around_it_counts_once() -> None:
    assert len(totals(tell(tape(("changed", "1", "2"), ("changed", "1", "2"))))[0].changes) == 1


def test_the_coding_agents_change_is_restorable() -> None:
    total = totals(tell(coding_agent()))[0]
    assert (total.path, total.before, total.after, total.restorable) == ("src/login.py", BEFORE, AFTER, True)


def test_a_deletion_without_the_text_before_cannot_be_put_back() -> None:
    assert not totals(tell(tape(("deleted", None, None))))[0].restorable


def test_odd_contents_are_no_changes() -> None:
    for odd in (None, 3, [], {"changes": "x"}, {"changes": [{"action": "added"}, 7]}):
        assert changes_of(there(odd), event_id="e", seq=1) == ()


@given(LINES, LINES)
def test_a_diff_has_exactly_the_lines_that_came_and_went(before: str, after: str) -> None:
    shown = diff_lines(before, after)
    if before == after:
        assert shown == []
    restored = [line[1:] for line in shown if line[:1] in (" ", "+")]
    removed = [line[1:] for line in shown if line[:1] in (" ", "-")]
    assert all(line in [*after.split("\n"), ""] for line in restored)
    assert all(line in [*before.split("\n"), ""] for line in removed)
    known = [line for line in difflib.ndiff(before.split("\n"), after.split("\n")) if line[0] in "+-"]
    if before and after and before.endswith("\n") == after.endswith("\n"):
        assert bool(shown) == bool(known)
