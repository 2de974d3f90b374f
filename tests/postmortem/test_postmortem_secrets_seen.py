"""Secrets that a model was shown."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import secrets_seen
from tachograph.postmortem.case import open_case

MARK = "[REDACTED:github-token:9f2c61aa]"
TOOLS = (tool("read_config", "Read."), tool("post_comment", "Comment."), tool("fetch_page", "Fetch."))


def found(*turns: Turn, links: tuple[str, ...] = (), **more: Any) -> list[Any]:
    tape = session(*turns, **{"tools": TOOLS, "user": "Why does the build fail?", "redactions": 1, **more})
    return list(secrets_seen.run(open_case(tape, links=links)))


READ = Call(name="read_config", given={"path": "ci.yaml"}, result=f"token: {MARK}\nretries: 3", declared="read")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_secret_of_a_result_that_is_posted(provider: str) -> None:
    turns = (Turn(calls=(READ,)), Turn(calls=(Call(name="post_comment", given={"text": f"The token is {MARK}."}),)), Turn(say="Posted."))
    (one,) = found(*turns, provider=provider)
    assert (one.cause, one.first_event, one.confidence) == ("secret", "evt_0002", 0.95)
    assert "github-token" in one.statement


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_secret_of_a_tool_that_nobody_declared(provider: str) -> None:
    read = Call(name="read_config", given={"path": "ci.yaml"}, result=f"token: {MARK}")
    (one,) = found(
        Turn(calls=(read,)),
        Turn(calls=(Call(name="post_comment", given={"text": f"It is {MARK}."}),)),
        Turn(say="Posted."),
        provider=provider,
    )
    assert (one.cause, one.first_event, one.confidence) == ("secret", "evt_0003", 0.95)


def test_a_secret_of_an_exchange_within_a_tool_came_in_by_the_tool() -> None:
    def exchange(tape: Tape) -> None:
        answer = {"head": {"status": 200, "headers": []}, "data": f"token {MARK}"}
        tape.add(
            events.Http,
            method="GET",
            host="wiki.example",
            status=200,
            lane="main",
            duration_ms=5.0,
            parent_id="evt_0003",
            wire=answer,
            redactions=1,
            request={"method": "GET", "url": "https://wiki.example/ci", "headers": {}, "body": None},
        )

    call = Call(name="read_config", given={"path": "ci"}, result=f"token {MARK}", declared="read")
    (one,) = found(Turn(calls=(call,), before=(exchange,)), Turn(say=f"It is {MARK}."))
    assert one.first_event == "evt_0003"


def test_a_secret_of_the_prompt_or_of_the_user_that_is_answered() -> None:
    (one,) = found(Turn(say=f"Use {MARK}."), system=f"The deploy key is {MARK}.")
    assert (one.first_event, "the system prompt" in one.statement) == ("evt_0001", True)
    (one,) = found(Turn(say=f"Use {MARK}."), user=f"My key is {MARK}, does it work?")
    assert "what the user said" in one.statement


def test_a_secret_that_is_given_to_what_only_reads_is_less_sure() -> None:
    (one,) = found(
        Turn(calls=(READ,)), Turn(calls=(Call(name="fetch_page", given={"url": f"https://x.example/?t={MARK}"}),)), Turn(say="Fetched.")
    )
    assert 0.6 < one.confidence < 0.8


def test_a_secret_that_was_only_seen() -> None:
    turns = (Turn(calls=(READ,)), Turn(say="Three retries are too few."))
    assert not found(*turns)
    (one,) = found(*turns, links=("incident=I-1",))
    assert one.confidence < 0.5


def test_a_secret_that_no_model_was_shown() -> None:
    assert not found(Turn(say=f"Try {MARK}."))  # the model made it up
    assert not found(Turn(say="Fine."), start={"facts": {"argv": ["agent.py"], "env": {"TOKEN": MARK}}})


def test_a_key_of_several_lines_that_was_indented_is_the_same_key() -> None:
    read = Call(name="read_config", given={"path": "host.pem"}, result="[REDACTED:private-key:d34b01e3]\n")
    write = Call(name="post_comment", given={"text": "key: |\n  [REDACTED:private-key:3970c702]\n"})
    (one,) = found(Turn(calls=(read,)), Turn(calls=(write,)), Turn(say="Posted."))
    assert (one.cause, one.first_event, one.confidence) == ("secret", "evt_0003", 0.8)


def test_of_two_keys_nobody_knows_which_it_is() -> None:
    read = Call(name="read_config", given={"path": "a"}, result="[REDACTED:private-key:d34b01e3] [REDACTED:private-key:aaaa01e3]")
    write = Call(name="post_comment", given={"text": "[REDACTED:private-key:3970c702]"})
    assert not found(Turn(calls=(read,)), Turn(calls=(write,)), Turn(say="Posted."))


def exposed(
    name: str = "show_settings",
    given: dict[str, Any] | None = None,
    user: str = "Why is the job slow?",
    masked: tuple[int, ...] = (0, 1, 1),
    mark: str = MARK,
    provider: str = "anthropic",
    declared: str | None = "read",
) -> list[Any]:
    """A result that holds a credential. ``masked``: how many were masked in the request of each step."""
    kind = mark[1:-1].split(":")[1]
    call = Call(name=name, given=given or {"job": "web"}, result=f"POOL=4\nGIT={mark}\n", declared=declared)
    note = Call(name="post_comment", given={"text": "The pool has four connections."}, declared="external")
    turns = (
        Turn(calls=(call,), more=count(kind, masked[0])),
        Turn(calls=(note,), more=count(kind, masked[1])),
        Turn(say="Noted.", more=count(kind, masked[2])),
    )
    return found(*turns, user=user, provider=provider, tools=(tool(name, "Show."), *TOOLS))


def count(kind: str, number: int) -> dict[str, Any]:
    return {"redacted_kinds": {kind: number}} if number else {}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("declared", ["read", None])
@pytest.mark.parametrize("mark", [MARK, "[REDACTED:stripe-key:11aa22bb]", "[REDACTED:private-key:d34b01e3]"])
def test_a_live_credential_that_a_result_brought_into_a_request(provider: str, declared: str | None, mark: str) -> None:
    (one,) = exposed(mark=mark, provider=provider, declared=declared)
    assert (one.cause, one.confidence) == ("secret", 0.65)
    assert "step 2" in one.statement
    assert "show_settings" in one.statement


def test_a_credential_that_no_request_had_or_that_is_meant_to_be_there() -> None:
    assert not exposed(masked=(0, 0, 0))  # the agent's code filtered it
    assert not exposed(masked=(1, 1, 1))  # what each request has stands in its headers
    assert not exposed(name="issue_token")
    assert not exposed(name="log_in")
    assert not exposed(user="Which token does the job use?")
    assert not exposed(user=f"Its token is {MARK}.")
    assert not exposed(given={"path": "config/settings.example.env"})
    assert not exposed(mark="[REDACTED:token:9f2c61aa]")
    assert not exposed(mark="[REDACTED:jwt:9f2c61aa]")


def test_a_credential_that_the_agents_code_works_with() -> None:
    call = Call(name="open_store", given={"shop": "north"}, result=f"access: {MARK}", declared="read")
    use = Call(name="post_comment", given={"text": "Open.", "as": MARK}, declared="read")
    plain = Turn(calls=(Call(name="post_comment", given={"text": "Open."}),), more=count("github-token", 1))

    def exchange(tape: Tape) -> None:
        tape.add(
            events.ToolCall, name=use.name, source="declared", effect="read", input=use.given, lane="main", duration_ms=1.0, outcome="ok"
        )

    turns = (Turn(calls=(call,)), plain, Turn(say="Open.", more=count("github-token", 1)))
    assert found(*turns)
    assert not found(turns[0], Turn(calls=plain.calls, more=plain.more, after=(exchange,)), turns[2])
