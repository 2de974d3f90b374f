"""The view of a request that resends its history is the one that it would have alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tachograph.core.events import ModelCall
from tachograph.postmortem import resent
from tachograph.postmortem.resent import Standing, Views
from tachograph.providers.conversation import conversation

ROLES = st.sampled_from(["user", "assistant", "system", "developer", "tool", ""])
ITEM = st.one_of(
    st.fixed_dictionaries({"role": ROLES, "content": st.text(max_size=5)}),
    st.fixed_dictionaries(
        {"role": ROLES, "content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=5)}), max_size=2)}
    ),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["function_call", "function_call_output", "reasoning"]),
            "call_id": st.just("c"),
            "output": st.text(max_size=4),
        }
    ),
    st.integers() | st.text(max_size=3) | st.none(),
)
WIRES = [("anthropic", "messages", "messages"), ("openai", "chat", "messages"), ("openai", "responses", "input"), ("bedrock", "Converse", "messages"),
         ("bedrock", "InvokeModel", "messages"), ("other", "", "messages")]  # fmt: skip


@pytest.mark.parametrize(("provider", "operation", "key"), WIRES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_view_is_the_same_whatever_was_viewed_before(provider: str, operation: str, key: str, data: st.DataObject) -> None:
    call = ModelCall(id="evt_1", provider=provider, operation=operation)
    pool = data.draw(st.lists(ITEM, min_size=1, max_size=14))
    views = Views()
    for _ in range(data.draw(st.integers(1, 5))):
        items = pool[: data.draw(st.integers(0, len(pool)))] + data.draw(st.lists(ITEM, max_size=3))
        body: dict[str, Any] = {
            key: items,
            **data.draw(st.sampled_from([{}, {"system": "a", "tools": [{"name": "t"}]}, {"system": "b"}, {"prompt": "p"}])),
        }
        assert views.view(call, body) == conversation(provider, operation, body)


@pytest.mark.parametrize(("provider", "operation", "key"), WIRES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_stands_in_front_is_the_same_as_in_the_whole_view(provider: str, operation: str, key: str, data: st.DataObject) -> None:
    call = ModelCall(id="evt_1", provider=provider, operation=operation)
    pool = data.draw(st.lists(ITEM, max_size=6))
    standing = Standing()
    for _ in range(data.draw(st.integers(1, 5))):
        items = pool[data.draw(st.integers(0, len(pool))) :] + data.draw(st.lists(ITEM, max_size=3))
        body: dict[str, Any] = {key: items, **data.draw(st.sampled_from([{}, {"system": "a", "tools": [{"name": "t"}]}, {"prompt": "p"}]))}
        whole, front = conversation(provider, operation, body), standing.view(call, body)
        assert (front.system, front.tools) == (whole.system, whole.tools)


def test_only_what_is_new_is_viewed(monkeypatch: pytest.MonkeyPatch) -> None:
    viewed: list[int] = []

    def counting(provider: str, operation: str, body: Any) -> Any:
        viewed.append(len(body["messages"]))
        return conversation(provider, operation, body)

    monkeypatch.setattr(resent, "conversation", counting)
    views, call = Views(), ModelCall(id="evt_1", provider="anthropic", operation="messages")
    items = [{"role": "user", "content": str(number)} for number in range(40)]
    talks = [views.view(call, {"messages": items[:end], "system": "s"}) for end in (30, 32, 40)]
    assert viewed == [30, 3, 9]
    assert talks[2].messages[:32] == talks[1].messages
    assert all(one is other for one, other in zip(talks[1].messages, talks[2].messages, strict=False))
    assert talks[2].messages[-1].path == "messages[39]"
