"""Names that a model made up."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.postmortem.analyses import unknown_name
from tachograph.postmortem.case import open_case

TOOLS = (tool("write_file", "Write."), tool("run_build", "Build."), tool("look_up", "Look."))
NEEDS = "flask==3.0\nsecure-jwt-utils==1.2\n"


def write(text: str) -> Call:
    return Call(name="write_file", given={"path": "requirements.txt", "text": text}, declared="write")


def found(*turns: Turn, **more: Any) -> list[Any]:
    return list(
        unknown_name.run(open_case(session(*turns, **{"tools": TOOLS, "user": "Add tokens to the web app; it uses flask==3.0.", **more})))
    )


BUILD = Call(name="run_build", given={}, result="ERROR: No matching distribution found for secure-jwt-utils==1.2")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_package_that_does_not_exist(provider: str) -> None:
    (one,) = found(Turn(calls=(write(NEEDS),)), Turn(calls=(BUILD,)), Turn(say="Tokens are in."), provider=provider)
    assert (one.cause, one.first_event) == ("model", "evt_0001")
    assert "secure-jwt-utils" in one.statement
    assert one.confidence >= 0.8


def test_one_that_the_person_had_named_is_not_made_up() -> None:
    assert not found(Turn(calls=(write(NEEDS),)), Turn(calls=(BUILD,)), Turn(say="In."), user="Add secure-jwt-utils==1.2 to flask==3.0.")


def test_one_that_was_taken_back_did_no_harm() -> None:
    turns = (
        Turn(calls=(write(NEEDS),)),
        Turn(calls=(BUILD,)),
        Turn(calls=(write("flask==3.0\npyjwt==2.9\n"),)),
        Turn(say="Tokens are in."),
    )
    assert not found(*turns)


def test_looking_for_something_that_is_not_there_is_no_fault() -> None:
    look = Call(name="look_up", given={"name": "secure-jwt-utils"}, result="secure-jwt-utils: not found", declared="read")
    assert not found(Turn(calls=(look,)), Turn(say="There is none."))


def test_a_name_that_works_is_a_new_name() -> None:
    built = Call(name="run_build", given={}, result="installed secure-jwt-utils 1.2; 0 errors")
    assert not found(Turn(calls=(write(NEEDS),)), Turn(calls=(built,)), Turn(say="In."))
