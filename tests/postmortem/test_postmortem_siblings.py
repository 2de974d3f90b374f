"""Two tools, or two values of one argument, of which a person named one."""

from __future__ import annotations

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.analyses.wrong_argument import ANALYSIS
from tachograph.postmortem.case import open_case

TEXT = {"type": "string"}
QUEUES = (
    tool("purge_queue_eu", "Empties a queue in the EU.", queue=TEXT),
    tool("purge_queue_us", "Empties a queue in the US.", queue=TEXT),
    tool("list_queues", "All queues."),
)
ENTORNO = (tool("desplegar", "Despliega.", version=TEXT, entorno={"type": "string", "enum": ["pruebas", "produccion"]}),)


def found(
    *turns: Turn, tools: tuple[dict[str, object], ...] = QUEUES, user: str, provider: str = "anthropic", system: str = "You run queues."
) -> list[Finding]:
    return list(ANALYSIS.run(open_case(session(*turns, user=user, tools=tools, provider=provider, system=system))))


def purge(place: str, *before: Turn) -> tuple[Turn, ...]:
    return (
        *before,
        Turn(calls=(Call(name=f"purge_queue_{place}", given={"queue": "mail-retry"}, declared="external"),)),
        Turn(say="It is empty."),
    )


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "user",
    [
        "Compare the queues of eu and us, then purge mail-retry in us.",
        "Please empty mail-retry for the us region.",
        "I need the us side quiet. Purge mail-retry.\nIt is about the us: on us nobody reads it.",
    ],
)
def test_the_tool_for_the_other_target(provider: str, user: str) -> None:
    (one,) = found(*purge("eu"), user=user, provider=provider)
    assert (one.cause, one.first_event[:4], "purge_queue_us" in one.statement) == ("tool", "evt_", True)
    assert not found(*purge("us"), user=user, provider=provider)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_other_value_of_an_argument(provider: str) -> None:
    def deploy(where: str) -> list[Finding]:
        act = Turn(calls=(Call(name="desplegar", given={"version": "v4.2.0", "entorno": where}, declared="external"),))
        return found(act, Turn(say="Listo."), tools=ENTORNO, user="Despliega la v4.2.0 en pruebas, por favor.", provider=provider)

    (one,) = deploy("produccion")
    assert "pruebas" in one.statement
    assert not deploy("pruebas")


@pytest.mark.parametrize(
    "user",
    [
        "Purge mail-retry in eu and in us.",
        "Purge mail-retry, it is fuller than in us.",
        "Purge mail-retry, but do not touch us.",
        "Purge mail-retry.",
        "Look at us first, then purge mail-retry in eu.",
        "Tell us when mail-retry is purged.",
    ],
)
def test_a_target_that_was_not_another_one(user: str) -> None:
    assert not found(*purge("eu"), user=user)


def test_a_target_that_was_settled_in_between() -> None:
    asks = Turn(say="mail-retry is empty there; the one that is full is in eu. Shall I purge that?")
    act = Turn(calls=(Call(name="purge_queue_eu", given={"queue": "mail-retry"}, declared="external"),), user="Yes, please.")
    assert not found(asks, act, Turn(say="Done."), user="Purge mail-retry in us.")


def test_both_targets_one_after_the_other() -> None:
    first = Turn(calls=(Call(name="purge_queue_us", given={"queue": "mail-retry"}, declared="external"),))
    assert not found(*purge("eu", first), user="Purge mail-retry, begin in us.")


def test_tools_that_take_other_things() -> None:
    tools = (tool("create_user", "Creates a user.", person=TEXT), tool("create_ticket", "Creates a ticket.", title=TEXT, body=TEXT))
    act = Turn(calls=(Call(name="create_user", given={"person": "Bob"}, declared="external"),))
    assert not found(act, Turn(say="Done."), tools=tools, user="Create access to the ticket system for Bob.")
