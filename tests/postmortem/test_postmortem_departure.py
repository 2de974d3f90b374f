"""Where two sessions depart, and what was in force."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from sample_recordings import (
    SYSTEM,
    TOOLS,
    Tape,
    ask,
    coding_agent,
    imported,
    killed,
    on_call,
    parallel,
    result,
    shredded,
    start,
    text,
    use,
)

from tachograph.core import events
from tachograph.postmortem import departure


def session(
    *,
    second: list[Any] | None = None,
    told: str = "one",
    system: str = SYSTEM,
    model: str = "model-a",
    tools: list[Any] | None = None,
    **about: Any,
) -> Tape:
    """Two steps: it looks, and then ``second``."""
    tape = Tape(session_id=about.pop("session_id", "ses_" + "A" * 26))
    start(tape, **about)
    more: dict[str, Any] = {"system": system, "tools": tools or TOOLS, "model_id": model, "served_model_id": model}
    history: list[Any] = [{"role": "user", "content": "Fix it."}]
    answer = [use("c1", "read_file", path="a.txt")]
    ask(tape, list(history), answer, **more)
    tape.add(events.ToolCall, name="read_file", call_id="c1", source="declared", input={"path": "a.txt"}, output=told, lane="main")
    history += [{"role": "assistant", "content": answer}, {"role": "user", "content": [result("c1", told)]}]
    ask(tape, list(history), second if second is not None else [text("I stop.")], **more)
    tape.add(events.SessionEnd, status="ok", exit_code=0)
    return tape


def test_the_first_differing_action_and_argument() -> None:
    one = session(second=[use("c2", "apply_patch", path="a.txt", patch="x")])
    other = session(second=[use("c9", "apply_patch", path="a.txt", patch="y")])
    found = departure.compare(one, other)
    assert (found.at, found.counts, found.same) == (1, (2, 2), False)
    assert found.argument == ("patch", "x", "y")
    assert (found.steps, found.changes, found.saw) == ((2, 2), (), None)
    shown = "\n".join(departure.lines(found))
    assert "1 action in common (2 and 2 in all); then they depart:" in shown
    assert "in the argument patch:" in shown
    assert "in force: the same" in shown


def test_one_goes_on_where_the_other_stops() -> None:
    found = departure.compare(session(), session(second=[use("c2", "bash", command="rm -rf /")]))
    assert found.first[0] is None
    assert found.first[1] is not None
    assert found.first[1].title == 'bash(command="rm -rf /")'
    assert "  - no further action" in departure.lines(found)


def test_ids_of_calls_are_no_difference() -> None:
    one = session(second=[use("c2", "bash", command="ls")])
    found = departure.compare(one, session(second=[use("zzz", "bash", command="ls")]))
    assert found.same


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"model": "model-b"}, ["model: model-a → model-b"]),
        ({"system": SYSTEM + "\nBe brave."}, ["system prompt", f"   {SYSTEM}", "  +Be brave."]),
        ({"tools": TOOLS[:2]}, ["tool bash is gone: was “Run a command.”"]),
        ({"repo_sha": "f" * 40}, [f"repository sha: 4e1243bd22c66e76c2ba9eddc1f91394e57f9f83 → {'f' * 40}"]),
        ({"policy": "policy-v1:other"}, ["policy: policy-v1:7d1f → policy-v1:other"]),
    ],
)
def test_what_was_in_force(change: dict[str, Any], what: list[str]) -> None:
    found = departure.compare(session(), session(**change))
    assert found.same
    shown = departure.lines(found)
    assert shown[shown.index("in force:") + 1 :] == [f"  {line}" for line in what]


def test_environment_and_packages_are_compared() -> None:
    one, other = session(), session()
    facts = copy.deepcopy(other.content(other.entries[0].event.facts_uri))  # type: ignore[attr-defined]
    facts["env"] |= {"AWS_REGION": "us-east-1", "NEW": "1", "PYTHONHASHSEED": "77"}
    facts["packages"]["anthropic"] = "0.99.0"
    changed = {(change.what, change.key, change.before, change.after) for change in departure.compare(one, session(facts=facts)).changes}
    assert changed == {
        ("environment", "AWS_REGION", "eu-central-1", "us-east-1"), ("environment", "NEW", None, "1"), ("packages", "anthropic", "0.80.0", "0.99.0"),
    }  # fmt: skip
    assert departure.compare(one, other).changes == ()


def test_what_the_model_was_told_where_they_depart() -> None:
    found = departure.compare(session(), session(told="two", second=[use("c2", "bash", command="ls")]))
    assert found.saw == ("messages[2].content[0].content", "one", "two")


def test_the_lines_of_the_system_prompt_that_differ() -> None:
    found = departure.compare(session(system="a\nb\nc"), session(system="a\nB\nc", second=[use("c2", "bash", command="ls")]))
    assert [line for line in found.system if line[:1] in "+-"] == ["-b", "+B"]


def test_the_same_actions_answered_otherwise() -> None:
    found = departure.compare(session(), session(told="two"))
    assert found.same
    assert found.answers == ('read_file(path="a.txt")', "one", "two")
    assert any(line.startswith("first answered otherwise") for line in departure.lines(found))


def test_where_they_do_the_same_again() -> None:
    one = session(second=[use("c2", "bash", command="make"), use("c3", "bash", command="test")])
    other = session(second=[use("c2", "bash", command="wait"), use("c3", "bash", command="make"), use("c4", "bash", command="test")])
    found = departure.compare(one, other)
    assert found.meet is not None
    assert found.meet[0].title == found.meet[1].title == 'bash(command="make")'


def test_a_fork_says_what_it_is_of() -> None:
    one = session()
    fork = session(forked_from={"session_id": one.session_id, "step": 2, "changed": ["model"]}, session_id="ses_" + "B" * 26)
    assert "(forked from it at step 2: model)" in departure.lines(departure.compare(one, fork))[1]
    assert departure.compare(session(session_id="ses_" + "C" * 26), fork).origin is None


@pytest.mark.parametrize("make", [coding_agent, imported, on_call, parallel, killed, shredded])
def test_any_session_is_the_same_as_itself_and_comparable_with_any_other(make: Callable[[], Tape]) -> None:
    found = departure.compare(make(), make())
    assert (found.same, found.changes, found.argument) == (True, (), None)
    for other in (coding_agent(), shredded(), session()):
        json.dumps(departure.compare(make(), other).to_json())
        assert all("\x1b" not in line and "\n" not in line for line in departure.lines(departure.compare(other, make())))


def test_hostile_texts_do_not_drive_the_terminal() -> None:
    found = departure.compare(session(), session(told="\x1b[2J\u202e", second=[use("c2", "bash", command="\x1b]0;x\x07\n\n")]))
    assert not any(set("\x1b\x07\u202e\n") & set(line) for line in departure.lines(found))
