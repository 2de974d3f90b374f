"""Which commits are asked, and what is made of their answers. No replays here: ``tests/cli/test_cli_bisect.py`` has those."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core.errors import NotFoundError, ReplayError, UsageError
from tachograph.host import bisect
from tachograph.host.bisect import Answer, Result
from tachograph.host.versions import Moved


def history(folder: Path, parents: list[list[int]]) -> list[str]:
    """A repository whose commit n has these parents (numbers of earlier ones). The ids, in order."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    stream = []
    for number, over in enumerate(parents):
        said = f"commit {number}"
        stream.append(
            f"commit refs/heads/c{number}\nmark :{number + 1}\ncommitter t <t@example.com> {1_700_000_000 + number} +0000\ndata {len(said)}\n{said}\n"
        )
        stream += [f"{'merge' if index else 'from'} :{one + 1}\n" for index, one in enumerate(over)]
        stream.append(f"M 644 inline n\ndata {len(str(number))}\n{number}\n")
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    return [
        subprocess.run(["git", "-C", str(folder), "rev-parse", f"c{number}"], check=True, capture_output=True, text=True).stdout.strip()
        for number in range(len(parents))
    ]


def linear(count: int) -> list[list[int]]:
    return [[], *([number] for number in range(count - 1))]


def search(folder: Path, shas: list[str], good: int, bad: int, does: Callable[[int], Result]) -> Answer:
    def attempt(sha: str) -> tuple[Result, str, dict[str, Any] | None]:
        return does(shas.index(sha)), "why", None

    return bisect.bisect(str(folder), shas[good], shas[bad], attempt)


def below(parents: list[list[int]], number: int) -> set[int]:
    """The commit and all that it comes from."""
    found, todo = set(), [number]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += parents[one]
    return found


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("history") / "straight"
    return folder, history(folder, linear(65))


@pytest.mark.parametrize("culprit", range(1, 65))
def test_64_commits_take_seven_replays_at_most(straight: tuple[Path, list[str]], culprit: int) -> None:
    folder, shas = straight
    answer = search(folder, shas, 0, 64, lambda n: "replays" if n < culprit else "differs")
    assert answer.culprit == shas[culprit]
    assert not answer.starts
    assert len(answer.log) <= 7
    # Every word of the answer was tried: the culprit, and the commit before it.
    tried = {each.sha: each.result for each in answer.log}
    assert (tried[shas[culprit]], tried[shas[culprit - 1]]) == ("differs", "replays")


@pytest.mark.parametrize("culprit", [1, 2, 31, 32, 33, 63, 64])
def test_with_good_and_bad_the_other_way_round_it_is_where_it_starts(straight: tuple[Path, list[str]], culprit: int) -> None:
    folder, shas = straight
    answer = search(folder, shas, 64, 0, lambda n: "differs" if n < culprit else "replays")
    assert (answer.culprit, answer.starts) == (shas[culprit], True)
    assert len(answer.log) <= 7


@pytest.mark.parametrize(
    ("culprit", "broken"), [(40, range(20, 36)), (10, range(33, 60)), (30, [32]), (64, range(1, 30)), (1, range(5, 64))]
)
def test_commits_that_cannot_tell_are_passed_over(straight: tuple[Path, list[str]], culprit: int, broken: Iterable[int]) -> None:
    folder, shas = straight
    broken = set(broken)
    answer = search(folder, shas, 0, 64, lambda n: "cannot tell" if n in broken else "replays" if n < culprit else "differs")
    assert answer.culprit == shas[culprit]


def test_where_nobody_can_tell_the_candidates_are_named(straight: tuple[Path, list[str]]) -> None:
    folder, shas = straight
    answer = search(folder, shas, 0, 64, lambda n: "cannot tell" if 30 <= n < 33 else "replays" if n < 31 else "differs")
    assert answer.culprit is None
    assert set(answer.candidates) == {shas[n] for n in (30, 31, 32, 33)}


def test_an_end_that_is_otherwise_is_said(straight: tuple[Path, list[str]]) -> None:
    folder, shas = straight
    with pytest.raises(ReplayError, match="replays at --bad"):
        search(folder, shas, 0, 64, lambda n: "replays")
    with pytest.raises(ReplayError, match="does not replay, why, at --good"):
        search(folder, shas, 0, 64, lambda n: "differs")
    with pytest.raises(ReplayError, match="does not start at --bad"):
        search(folder, shas, 0, 64, lambda n: "cannot tell" if n == 64 else "replays")


def test_ends_that_are_none(straight: tuple[Path, list[str]]) -> None:
    folder, shas = straight
    with pytest.raises(UsageError, match="same commit"):
        search(folder, shas, 3, 3, lambda n: "replays")
    for name in ("no-such", "--all", ""):
        with pytest.raises(NotFoundError, match="no commit"):
            bisect.bisect(str(folder), name, shas[0], lambda sha: ("replays", "", None))


def test_branches_that_part_are_asked_where_they_part(tmp_path: Path) -> None:
    parents = [[], [0], [1], [2], [1], [4]]
    shas = history(tmp_path / "r", parents)
    answer = search(tmp_path / "r", shas, 3, 5, lambda n: "differs" if n in (4, 5) else "replays")
    assert answer.culprit == shas[4]
    assert next(each.sha for each in answer.log) == shas[1]
    with pytest.raises(ReplayError, match="which does not replay, either"):
        search(tmp_path / "r", shas, 3, 5, lambda n: "replays" if n == 3 else "differs")


@st.composite
def merging(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """A history with merges in which all comes from commit 0 and all is in the last, and the commit that changed things."""
    parents: list[list[int]] = [[]]
    for number in range(1, draw(st.integers(3, 24))):
        parents.append(sorted(draw(st.sets(st.integers(max(0, number - 4), number - 1), min_size=1, max_size=2))))
    heads = sorted(set(range(len(parents))) - {one for over in parents for one in over})
    while len(heads) > 1:
        parents.append(heads[:2])
        heads = [*heads[2:], len(parents) - 1]
    return parents, draw(st.integers(1, len(parents) - 1))


@given(merging(), st.data())
def test_histories_with_merges(tmp_path_factory: pytest.TempPathFactory, made: tuple[list[list[int]], int], data: st.DataObject) -> None:
    parents, culprit = made
    folder = tmp_path_factory.mktemp("merges") / "r"
    shas = history(folder, parents)
    bad = {number for number in range(len(parents)) if culprit in below(parents, number)}
    broken = data.draw(st.sets(st.sampled_from(range(1, len(parents) - 1)), max_size=3)) if len(parents) > 2 else set()
    answer = search(folder, shas, 0, len(parents) - 1, lambda n: "cannot tell" if n in broken else "differs" if n in bad else "replays")
    assert shas[culprit] in answer.candidates
    if not broken:
        assert answer.culprit == shas[culprit]


def report(**more: Any) -> dict[str, Any]:
    first = more.pop("first", None)
    divergence = {"step": None, "kind": "end", "operation": "", "path": "exit_code", **first} if first is not None else None
    return {"verdict": "diverged", "divergence": divergence, "matched": 0, "exit_code": 1, "recorded_exit_code": 0, "unused": [1], **more}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (report(verdict="identical"), "replays"),
        (report(first={}), "cannot tell"),
        (report(verdict="incomplete"), "cannot tell"),
        (report(exit_code=-11, first={}), "cannot tell"),
        (report(first={}, matched=1), "differs"),
        (report(first={}, exit_code=0), "differs"),
        (report(first={"kind": "http", "operation": "messages"}), "differs"),
        (report(first={}, recorded_exit_code=1), "differs"),
    ],
)
def test_an_agent_that_failed_before_it_asked_for_anything_cannot_tell(found: dict[str, Any], expected: str) -> None:
    assert bisect.result(found)[0] == expected


def test_paths_of_a_repository_that_is_elsewhere_now() -> None:
    moved = Moved("/srv/agent", "/tmp/x/code")
    assert moved.text("/srv/agent") == "/tmp/x/code"
    assert moved.text("--file=/srv/agent/main.py") == "--file=/tmp/x/code/main.py"
    assert moved.text("/lib:/srv/agent/src:/srv/agent") == "/lib:/tmp/x/code/src:/tmp/x/code"
    assert moved.text("/srv/agent/.venv/bin/python") == "/srv/agent/.venv/bin/python"
    assert moved.text("/srv/agents/main.py") == "/srv/agents/main.py"
