"""Reads of the surroundings, gathered and given again."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest

from tachograph.core.errors import UsageError
from tachograph.host.ambient import Answering, Gathered
from tachograph.host.policy import read
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy


def redactor() -> Redactor:
    return Redactor(Policy.default(), key=b"k" * 32)


def test_reads_are_one_line_and_marks_are_numbered_among_the_answers() -> None:
    gathered, order = Gathered(), itertools.count(7).__next__
    gathered.joined(1, "main")
    floats = struct.pack("<3d", 1.5, 2.5, 3.5)
    gathered.add(
        1, {"reads": [["main", "clock.time", "a.f", 2], ["main", "clock.time", "a.g", 1]], "marks": [["main", "sleep", 3]]}, floats, order
    )
    gathered.add(1, {"reads": [["main", "clock.time", "a.f", [4.5]]]}, b"", order)
    assert gathered.size == 5
    draft = gathered.draft(redactor())
    assert draft is not None
    assert draft.contents["content_uri"] == {
        "reads": [["main", "clock.time", "a.f", [1.5, 2.5, 4.5]], ["main", "clock.time", "a.g", [3.5]]], "marks": [[7, "main", "sleep", 3]],
    }  # fmt: skip
    assert gathered.draft(redactor()) is None


def test_what_a_hostile_client_says_is_left_out() -> None:
    gathered = Gathered()
    for reads in (None, 3, [1], [["main", "clock.time", "a"]], [["main", "clock.time", "a", 1 << 60]], [["main", "clock.time", "a", -1]]):
        gathered.add(1, {"reads": reads, "marks": [1, [2]]}, b"\0" * 8, itertools.count().__next__)
    assert gathered.draft(redactor()) is None


def test_a_secret_in_a_name_is_masked_and_chance_is_not() -> None:
    gathered = Gathered()
    token = "ghp_" + "9aK2mQ7xVt4LpR8sWz3bNc6dEf1gHj5uYi0o"
    gathered.add(
        1,
        {"reads": [["main", "listing.listdir", "a", [[token]]], ["main", "entropy.urandom", "a", ["5f" * 20]]]},
        b"",
        itertools.count().__next__,
    )
    draft = gathered.draft(redactor())
    assert draft is not None
    assert token not in repr(draft.contents)
    assert draft.event.redactions == 1
    assert draft.contents["content_uri"]["reads"][1][3] == ["5f" * 20]


def test_a_process_that_exec_replaced_has_reads_of_its_own() -> None:
    gathered, order = Gathered(), itertools.count().__next__
    for peer in (1, 2):
        gathered.joined(peer, "main")
        gathered.add(peer, {"reads": [["main", "clock.time", "a", [peer]]]}, b"", order)
    draft = gathered.draft(redactor())
    assert draft is not None
    reads: dict[str, dict[tuple[str, str], list[int]]] = {}
    for lane, kind, site, values in draft.contents["content_uri"]["reads"]:
        reads.setdefault(lane, {})[kind, site] = values
    answering = Answering(reads)
    for peer in (5, 6):
        answering.joined(peer, "main")
    assert [answering.values(peer, "main") for peer in (5, 6)] == [[["clock.time", "a", [1]]], [["clock.time", "a", [2]]]]
    answering.told({"missing": [["clock.time", "agent.py:3", 2], ["x"], None]})
    assert answering.unrecorded == {("clock.time", "agent.py:3"): 2}


def test_a_policy_leaves_kinds_out(tmp_path: Path) -> None:
    file = tmp_path / "tachograph.toml"
    file.write_text("[record]\nentropy = false\nclock = true\n")
    assert read(str(file)).left_out == {"entropy"}
    for text in ("record = 3", "[record]\nentropi = false", "[record]\nentropy = 1"):
        file.write_text(text)
        with pytest.raises(UsageError, match="record"):
            read(str(file))
