"""Hypothesis strategies for recordings made of any events in any order, with any contents: what an explanation must survive."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from sample_recordings import Tape

from tachograph.core import events

WORDS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "`` ` ```", "<script>alert(1)</script>", "a|b\n# c", "\u202ehidden\u200b", "\x1b[31mred", "@team #7 https://x.example"]
    ),
)
IDS = st.sampled_from([f"evt_{number:04d}" for number in range(14)] + ["evt_a", "evt_b"])
CALL_IDS = st.sampled_from(["call_1", "call_2", "call_3"])
LANES = st.sampled_from([None, "main", "main/task-1", "main/task-1/proc-1", "main/task-10"])
OUTCOMES = st.sampled_from(list(events.OUTCOMES))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
CONTENT = JSON | st.binary(max_size=12)
MAYBE = st.none() | WORDS

_BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": WORDS}),
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": CALL_IDS, "name": WORDS, "input": JSON}),
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_use_id": CALL_IDS, "content": JSON}),
    JSON,
)
_MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", ""]), "content": WORDS | st.lists(_BLOCK, max_size=3)}
)
REQUEST = st.one_of(
    st.fixed_dictionaries({"messages": st.lists(_MESSAGE, max_size=4), "system": WORDS, "tools": st.lists(JSON, max_size=2)}),
    st.fixed_dictionaries({"input": st.lists(_MESSAGE, max_size=2), "previous_response_id": st.sampled_from(["r1", "r2"])}),
    JSON,
)
OUTPUT = st.fixed_dictionaries({"content": st.lists(_BLOCK, max_size=3)}) | JSON
CHANGES = st.one_of(
    st.fixed_dictionaries(
        {
            "changes": st.lists(
                st.fixed_dictionaries(
                    {"path": WORDS, "action": st.sampled_from(["added", "changed", "deleted", ""]), "before": MAYBE, "after": MAYBE},
                    optional={"binary": st.booleans(), "size": st.integers(0, 9)},
                ),
                max_size=3,
            )
        }
    ),
    JSON,
)
_CALL: dict[str, Any] = {
    "outcome": OUTCOMES,
    "duration_ms": st.none() | st.floats(0, 1e7),
    "error": st.none() | CONTENT,
}


def _made(cls: type[events.Event], **fields: Any) -> st.SearchStrategy[tuple[type[events.Event], dict[str, Any]]]:
    common = {"lane": LANES, "parent_id": st.none() | IDS, "redactions": st.integers(0, 3)}
    return st.fixed_dictionaries({}, optional={**common, **fields}).map(lambda found: (cls, found))


def _is_free(name: str) -> bool:
    """Whether an unknown event may call a field so: the log refuses one that is named like a field of its own."""
    return name not in events.STAMP and name not in events.Unknown.__struct_fields__


EVENT = st.one_of(
    _made(
        events.SessionStart, name=WORDS, agent=WORDS, facts=JSON, workspace=JSON, repo_sha=WORDS, links=st.lists(WORDS, max_size=2),
        source=st.sampled_from(["record", "import"]), parent_session_id=WORDS, dirty=st.booleans(),
    ),
    _made(events.Started, call_id=IDS, kind=st.sampled_from(["tool", "process", "http", "model", ""]), name=MAYBE, request=JSON),
    _made(
        events.ModelCall, **_CALL, provider=st.sampled_from(["anthropic", "openai", "bedrock", "other"]), model_id=MAYBE,
        operation=st.sampled_from(["messages", "chat", "responses", "Converse", "InvokeModel", ""]), served_model_id=MAYBE,
        params=st.dictionaries(WORDS, JSON, max_size=2), prompt=st.dictionaries(WORDS, WORDS, max_size=2),
        guardrail=st.fixed_dictionaries({"id": WORDS, "version": WORDS, "action": WORDS}), prompt_redacted=REQUEST, output=OUTPUT,
        tool_calls=st.lists(st.fixed_dictionaries({"id": CALL_IDS | st.none(), "name": WORDS}), max_size=3),
        usage=st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "x"]), st.integers(0, 10**9), max_size=3),
        response_id=st.sampled_from(["r1", "r2"]), status=st.integers(100, 599), finish_reason=MAYBE,
    ),
    _made(
        events.ToolCall, **_CALL, name=WORDS, call_id=CALL_IDS, source=st.sampled_from(["declared", "wire"]), effect=WORDS, input=CONTENT,
        output=CONTENT, asked_by=IDS, told_to=IDS, declared_id=IDS, workspace=CHANGES, exact=st.booleans(),
    ),
    _made(
        events.Process, **_CALL, action=st.sampled_from(["ran", "joined", "left"]), program=WORDS, exit_code=st.integers(-9, 255),
        request=st.fixed_dictionaries({"argv": st.lists(WORDS, max_size=3)}) | JSON, output=CONTENT, workspace=CHANGES,
        pid=st.integers(0, 99),
    ),
    _made(
        events.Http, **_CALL, method=st.sampled_from(["GET", "POST", ""]), host=WORDS, status=st.integers(100, 599), wire=CONTENT,
        request=st.fixed_dictionaries({"method": WORDS, "url": WORDS, "body": CONTENT}) | JSON,
    ),
    _made(events.Guardrail, guardrail_id=WORDS, version=WORDS, action=WORDS, source=WORDS, call_id=IDS, detail=CONTENT),
    _made(events.Message, role=WORDS, subtype=MAYBE, content=CONTENT),
    _made(events.Approval, decision=WORDS, approver=WORDS, scope=WORDS, shown=CONTENT, call_id=IDS | CALL_IDS),
    _made(events.Git, sha=WORDS, branch=WORDS, dirty=st.booleans(), action=st.sampled_from(["commit", "branch", "push"])),
    _made(events.Workspace, changes=CHANGES, changed=st.integers(0, 9)),
    _made(events.Ambient, kind=st.sampled_from(["stdout", "stderr", "clock", "random", ""]), content=CONTENT),
    _made(events.Note, subtype=MAYBE, text=CONTENT),
    _made(events.Gap, reason=WORDS | st.sampled_from(["torn_tail", "host_lost"]), count=st.integers(0, 9), length=st.integers(0, 9)),
    _made(events.SessionEnd, status=st.sampled_from(["ok", "error", "killed", "lost", "imported", "odd"]), exit_code=st.integers(-1, 255)),
    _made(events.Unknown, type_name=WORDS, extra=st.dictionaries(WORDS.filter(_is_free), JSON, max_size=2)),
)  # fmt: skip


@st.composite
def recordings(draw: st.DrawFn) -> Tape:
    """A recording of up to fourteen events; sometimes shredded, sometimes with a content missing or ids that occur twice."""
    tape = Tape()
    for cls, fields in draw(st.lists(EVENT, max_size=14)):
        tape.tick(draw(st.sampled_from([0, 1, 40, 900, 100_000, -500])))
        if draw(st.integers(0, 9)) == 0:
            fields = {**fields, "id": draw(IDS)}
        tape.add(cls, **fields)
    tape.shredded = draw(st.integers(0, 5)) == 0
    if tape.contents and draw(st.booleans()):
        tape.contents.pop(draw(st.sampled_from(sorted(tape.contents))))
    return tape
