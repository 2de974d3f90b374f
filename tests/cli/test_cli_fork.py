"""Options and errors of fork, reask and diff."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fork_helpers import Scene, scene


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("fork-errors")) as found:
        yield found


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fork", "@last"], "--at"),
        (["fork", "@last", "--at", "9"], "no step 9"),
        (["fork", "@last", "--at", "0"], "steps count from 1"),
        (["fork", "ses_nothing", "--at", "1"], "ses_nothing"),
        (["fork", "@last", "--at", "2", "--set", "temperature=0"], "nothing is called 'temperature'"),
        (["fork", "@last", "--at", "2", "--set", "prompt.system=@/nowhere"], "cannot read /nowhere"),
        (["fork", "@last", "--at", "2", "--set", "body.messages[44].content=x"], "has no place body.messages[44].content"),
        (["fork", "@last", "--at", "2", "--vary", "model=a,b", "--set", "model=c"], "exactly one thing"),
        (["fork", "@last", "--at", "2", "--vary", "prompt.system=Do this, or that"], "give them as files"),
        (["fork", "@last", "--at", "2", "--budget", "much"], "--budget 20"),
        (["reask", "@last", "--step", "1", "-n", "0", "--live-model"], "between 1 and 1000"),
        (["reask", "@last", "--step", "7", "--live-model"], "no step 7"),
        (["diff", "@last"], "is no fork"),
        (["diff", "@last", "ses_nothing"], "ses_nothing"),
        (["diff", "@last", "--", "x"], "takes no command"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(recorded: Scene, arguments: list[str], told: str) -> None:
    done = recorded(*arguments)
    assert done.returncode == 2
    assert (done.stdout, done.stderr.count("\n")) == ("", 1), done.stderr
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert recorded.models.requests == []
    assert len(recorded("ls", "--json").json()) == 1


@pytest.mark.parametrize(
    ("editor", "told"),
    [(None, "EDITOR is not set"), ("false", "ended with 1"), ("true", "nothing was changed"), ("/no/such", "cannot run the editor")],
)
def test_an_editor_that_does_nothing_forks_nothing(recorded: Scene, editor: str | None, told: str) -> None:
    around = {name: value for name, value in recorded.environment.items() if name not in ("EDITOR", "VISUAL")}
    done = recorded("fork", "@last", "--at", "2", "--edit", env={**around, **({"EDITOR": editor} if editor else {})})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert told in done.stderr


def test_missing_credentials_and_a_foreign_endpoint_are_told_before_anything_runs(recorded: Scene) -> None:
    around = {name: value for name, value in recorded.environment.items() if name != "ANTHROPIC_API_KEY"}
    done = recorded("fork", recorded.session_id, "--at", "2", "--live-model", env=around)
    assert (done.returncode, done.stderr) == (2, "error: no credentials for Anthropic in this environment; set ANTHROPIC_API_KEY\n")
    around = {name: value for name, value in recorded.environment.items() if name != "ANTHROPIC_BASE_URL"}
    done = recorded("fork", recorded.session_id, "--at", "2", "--live-model", env=around)
    assert done.returncode == 2
    assert "is not anthropic's own, so your credentials are not sent there" in done.stderr
    assert len(recorded("ls", "--json").json()) == 1


def test_a_tampered_tape_is_not_forked(tmp_path_factory: pytest.TempPathFactory) -> None:
    with scene(tmp_path_factory.mktemp("tampered")) as found:
        (log,) = (found.tacho.store / "sessions" / found.session_id).glob("*.events.jsonl")
        log.write_bytes(log.read_bytes().replace(b'"model-a"', b'"model-z"', 1))
        done = found("fork", found.session_id, "--at", "2")
        assert done.returncode == 2
        assert "tampered" in done.stderr
        assert found("reask", found.session_id, "--step", "2", "--live-model").returncode == 2
        assert found.models.requests == []


def test_diff_of_a_fork_and_of_two_sessions(recorded: Scene) -> None:
    report = recorded("fork", recorded.session_id, "--at", "2", "--set", "model=model-b", "--live-model", "--json").json()
    done = recorded("diff", report["session_id"])
    assert done.returncode == 1
    assert f"+ {report['session_id']}  (forked from it at step 2: model)" in done.stdout
    assert "  + step 2, #" in done.stdout
    assert 'patch(path="a.txt", text="ONE")' in done.stdout
    found = recorded("diff", report["session_id"], recorded.session_id, "--json").json()
    assert (found["same"], found["common"], found["saw"]["path"]) == (False, 1, "model")
    done = recorded("diff", recorded.session_id, recorded.session_id)
    assert (done.returncode, "in force: the same" in done.stdout) == (0, True)
