"""What command lines say: how they read, what checks, what git was told."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import Tape, ask, coding_agent, text, use

from tachograph.core import events
from tachograph.postmortem.commands import command_line, git_actions, is_check
from tachograph.postmortem.story import tell

SHA = "5ae9dfd40df3255a6d10046163127ba7c4ed51d9"


def ran(tape: Tape, *argv: str, **more: Any) -> None:
    tape.add(events.Process, program=argv[0], request={"argv": list(argv)}, lane="main", **{"exit_code": 0, **more})


def session(*commands: tuple[tuple[str, ...], dict[str, Any]]) -> Tape:
    tape = Tape()
    ask(tape, [{"role": "user", "content": "Go."}], [text("Yes."), use("call_1", "commit")])
    for argv, more in commands:
        ran(tape, *argv, **more)
    return tape


def done(*commands: tuple[tuple[str, ...], dict[str, Any]]) -> list[tuple[str, str | None, bool]]:
    return [(action.verb, action.sha, action.ok) for action in git_actions(tell(session(*commands)))]


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=4))
def test_a_command_line_means_the_same_to_a_shell(argv: list[str]) -> None:
    line = command_line({"argv": argv})
    assert line is not None
    assert shlex.split(line) == argv


def test_quotes_within_a_word_are_spared_where_that_is_safe() -> None:
    assert command_line({"argv": ["echo", "it's", "a b"]}) == "echo \"it's\" 'a b'"
    assert command_line({"argv": ["echo", "it's $HOME"]}) == "echo 'it'\"'\"'s $HOME'"
    assert command_line({"shell": "a | b"}) == "a | b"
    assert command_line({"argv": []}) is None
    assert command_line("odd") is None


@pytest.mark.parametrize(
    ("argv", "verb"),
    [
        (("git", "commit", "-am", "x"), "commit"),
        (("git", "-c", "user.name=A B", "-C", "/x", "--no-pager", "commit"), "commit"),
        (("/usr/bin/git", "push", "origin", "main"), "push"),
        (("git", "--git-dir", "x y/.git", "merge", "topic"), "merge"),
    ],
)
def test_verbs_that_write_are_found_behind_options(argv: tuple[str, ...], verb: str) -> None:
    assert done((argv, {})) == [(verb, None, True)]


@pytest.mark.parametrize("argv", [("git", "log", "--grep", "commit"), ("git", "status"), ("echo", "git"), ("legit", "commit")])
def test_other_commands_are_no_git_actions(argv: tuple[str, ...]) -> None:
    assert done((argv, {})) == []


def test_a_commit_is_named_by_what_git_printed_or_by_what_was_asked_next() -> None:
    assert done((("git", "commit"), {"output": {"stdout": "[main 9c11aa2] Safe login\n"}})) == [("commit", "9c11aa2", True)]
    assert done((("git", "commit", "--quiet"), {}), (("git", "rev-parse", "HEAD"), {"output": {"stdout": SHA + "\n"}})) == [
        ("commit", SHA, True)
    ]
    assert done((("git", "rev-parse", "HEAD"), {"output": {"stdout": SHA}}), (("git", "commit"), {})) == [("commit", None, True)]


def test_a_commit_that_failed_is_told_as_failed_and_has_no_name() -> None:
    failed = {"exit_code": 1, "outcome": "error", "output": {"stdout": "nothing to commit"}}
    assert done((("git", "commit"), failed)) == [("commit", None, False)]


def test_an_event_tells_more_than_the_command_beside_it() -> None:
    actions = git_actions(tell(coding_agent()))
    assert [(action.words, action.seq) for action in actions] == [("git commit 9c11aa2f0011 on main", 15)]


def test_git_names_a_first_and_an_amended_commit_otherwise() -> None:
    tape = coding_agent()
    tape.add(events.Git, sha=SHA, branch="main", action="commit (initial)")
    tape.add(events.Git, sha=SHA, branch="main", action="commit (amend)")
    tape.add(events.Git, sha=SHA, branch="main", action="merge")
    assert [action.verb for action in git_actions(tell(tape))] == ["commit", "commit", "commit", "merge"]


@pytest.mark.parametrize(
    "line", ["pytest -q", "python -m unittest discover", "npm run test", "go test ./...", "make check", "ruff check ."]
)
def test_checks_are_recognised(line: str) -> None:
    tape = Tape()
    ran(tape, *line.split())
    assert all(is_check(run) for _, run in tell(tape).runs())


@pytest.mark.parametrize("line", ["git commit -m x", "cat latest.txt", "npm install", "make build"])
def test_other_commands_are_no_checks(line: str) -> None:
    tape = Tape()
    ran(tape, *line.split())
    assert not any(is_check(run) for _, run in tell(tape).runs())
