from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core import events
from tachograph.core.errors import ImportFailedError
from tachograph.exchange import jsonl
from tachograph.exchange.claude_code import ClaudeCodeImporter
from tachograph.exchange.claude_code_records import TYPES, commits, is_record
from tachograph.exchange.importing import HEAD
from tachograph.exchange.registry import IMPORTERS, recognise
from tachograph.testing.importer_suite import ImporterSuite

if TYPE_CHECKING:
    from tachograph.core.drafts import Draft, ImportedSession

FIXTURES = Path(__file__).parent / "fixtures"
SHOP = "0d5e0000-aaaa-4bbb-8ccc-000000000001"
FORK = "f04c0000-aaaa-4bbb-8ccc-000000000003"

#: Transcripts of others, published under licences of their own; they are no part of this project.
PUBLISHED = Path(__file__).parents[3] / "shared" / "samples" / "claude-code-jsonl"

#: Fields that the importer looks at.
KEYS = (
    "agentId", "aiTitle", "attachment", "content", "cwd", "data", "forkedFrom", "gitBranch", "isApiErrorMessage", "isMeta",
    "isSidechain", "leafUuid", "message", "parentUuid", "requestId", "sessionId", "snapshot", "subtype", "summary", "timestamp",
    "toolUseResult", "uuid",
)  # fmt: skip

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(("tool_use", "tool_result", "s", "u")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("type", "id", "tool_use_id", "content", "text", "model", "usage", *KEYS)), inner, max_size=5)
    ),
    max_leaves=8,
)

E = TypeVar("E", bound=events.Event)


def fixtures() -> dict[str, bytes]:
    return {str(path.relative_to(FIXTURES)): path.read_bytes() for path in sorted(FIXTURES.rglob("*.jsonl"))}


class TestClaudeCode(ImporterSuite):
    importer = ClaudeCodeImporter()
    samples = fixtures()
    foreign: ClassVar = {
        "codex.jsonl": b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/"}}\n',
        "agent_sdk.jsonl": b'{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"s","uuid":"u"}\n',
        "gemini.jsonl": b'{"sessionId":"s","projectHash":"p"}\n{"timestamp":"2026-01-01","type":"user","content":"x"}\n',
        "copilot.jsonl": b'{"type":"user.message","data":{"content":"x"},"timestamp":"2026-01-01T00:00:00Z","parentId":null}\n',
        "text.jsonl": b"no JSON, but lines\n",
        "empty.jsonl": b"",
    }


# Helpers


def load(name: str) -> dict[str, ImportedSession]:
    return {session.source_id: session for session in ClaudeCodeImporter().read(name, (FIXTURES / name).read_bytes())}


def shop() -> ImportedSession:
    return load(f"{SHOP}.jsonl")[SHOP]


def of(session: ImportedSession, cls: type[E], **fields: Any) -> list[tuple[Draft, E]]:
    return [
        (draft, draft.event)
        for draft in session.drafts
        if isinstance(draft.event, cls) and all(getattr(draft.event, key) == value for key, value in fields.items())
    ]


def only(session: ImportedSession, cls: type[E], **fields: Any) -> tuple[Draft, E]:
    (found,) = of(session, cls, **fields)
    return found


def read(*records: Any, name: str = "s.jsonl") -> list[ImportedSession]:
    lines = (record if isinstance(record, bytes) else json.dumps(record).encode() for record in records)
    return list(ClaudeCodeImporter().read(name, b"\n".join(lines)))


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": content}, **fields}


def assistant(*content: Any, model: str = "m", usage: Any = None, mid: str | None = "msg_1", **fields: Any) -> dict[str, Any]:
    message = {"id": mid, "role": "assistant", "model": model, "content": list(content), "usage": usage or {"output_tokens": 1}}
    return {"type": "assistant", "sessionId": "s", "message": message, **fields}


def use(call_id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


# A whole session


def test_the_session_tells_what_it_was() -> None:
    session = shop()
    draft, start = only(session, events.SessionStart)
    assert (start.name, start.agent, start.branch) == ("Round the cart total half up", "claude-code", "main")
    assert start.extra["imported"] == {"source_id": SHOP, "version": "2.1.40"}
    facts = draft.contents["facts_uri"]
    assert (facts["cwd"], facts["version"], facts["file"]["name"]) == ("/srv/shop", "2.1.40", f"{SHOP}.jsonl")
    _, end = only(session, events.SessionEnd)
    assert (end.duration_ms, end.calls) == (143_000, {"model": 7, "tool": 10})
    assert (session.understood, session.kept) == (46, 4)


def test_lines_of_one_response_are_one_model_call_with_the_usage_of_the_last() -> None:
    session = shop()
    draft, call = only(session, events.ModelCall, response_id="msg_one")
    assert [block["type"] for block in draft.contents["output_uri"]["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert call.usage == {"input_tokens": 12, "output_tokens": 187, "cache_read_tokens": 100, "cache_write_tokens": 900}
    assert (call.finish_reason, call.request_id, call.provider, call.operation) == (
        "tool_use",
        "req_one",
        "anthropic",
        "messages",
    )
    assert call.model_id == call.served_model_id == "claude-sonnet-4-5-20250929"
    assert call.tool_calls == [{"id": "toolu_read", "name": "Read"}, {"id": "toolu_grep", "name": "Grep"}]
    assert (call.params, call.extra["params_recorded"], call.extra["lines"]) == ({}, False, 4)
    assert "prompt_redacted_uri" not in draft.contents, "the format does not hold what the model was sent"
    assert [line["uuid"] for line in draft.contents["record_uri"]] == ["a01", "a02", "a03", "a04"]
    total = sum(call.usage.get("output_tokens", 0) for _, call in of(session, events.ModelCall))
    assert total == 187 + 60 + 44 + 52 + 70 + 31, "each response counts once, whatever was written again"


def test_tool_calls_have_what_was_asked_and_what_came_back() -> None:
    session = shop()
    _, asking = only(session, events.ModelCall, response_id="msg_one")
    draft, call = only(session, events.ToolCall, call_id="toolu_read")
    assert (call.name, call.source, call.outcome, call.asked_by) == ("Read", "wire", "ok", asking.id)
    assert draft.contents["input_uri"] == {"file_path": "/srv/shop/cart.py"}
    assert draft.contents["output_uri"].startswith("1→def total")
    assert draft.contents["detail_uri"]["file"]["numLines"] == 2
    assert (call.duration_ms, call.extra["duration_estimated"]) == (200, True)
    _, grep = only(session, events.ToolCall, call_id="toolu_grep")
    assert (grep.duration_ms, "duration_estimated" in grep.extra) == (41, False)
    draft, failed = only(session, events.ToolCall, call_id="toolu_test")
    assert (failed.outcome, draft.contents["error_uri"]) == ("error", "Exit code 1\nE   assert 2.68 == 2.67")
    assert "detail_uri" not in draft.contents, "it says the same again"
    _, task = only(session, events.ToolCall, call_id="toolu_p3")
    assert (task.extra["agent_id"], task.duration_ms) == ("b7e1", 12_400)


def test_several_results_on_one_line_and_words_beside_them() -> None:
    session = shop()
    first, _ = only(session, events.ToolCall, call_id="toolu_p1")
    second, _ = only(session, events.ToolCall, call_id="toolu_p2")
    assert "record_uri" in first.contents
    assert "record_uri" not in second.contents
    assert second.contents["output_uri"][0]["type"] == "image"
    said = [draft.contents["content_uri"] for draft, _ in of(session, events.Message, role="user", subtype=None)]
    assert [text("Both done.")] in said


def test_refusals_and_interruptions() -> None:
    session = shop()
    _, call = only(session, events.ToolCall, call_id="toolu_edit")
    assert call.outcome == "closed"
    _, approval = only(session, events.Approval)
    assert (approval.decision, approval.approver, approval.call_id) == ("refused", "user", "toolu_edit")
    _, message = only(session, events.Message, subtype="interrupted")
    assert message.role == "user"


def test_a_call_without_a_result_is_cut_and_a_result_without_a_call_is_an_orphan() -> None:
    session = shop()
    draft, cut = only(session, events.ToolCall, outcome="cut")
    assert (cut.call_id, cut.name, draft.contents["input_uri"]["content"]) == ("toolu_last", "Write", "- Round half up\n")
    assert session.drafts[-2] is draft
    _, orphan = only(session, events.ToolCall, call_id="toolu_gone")
    assert (orphan.extra["orphan"], orphan.asked_by) == (True, None)
    _, again = only(session, events.Note, subtype="repeated_tool_result")
    _, first = only(session, events.ToolCall, call_id="toolu_p1")
    assert again.extra["duplicate_of"] == first.id


def test_api_errors_are_model_calls_and_other_synthetic_answers_are_not() -> None:
    session = shop()
    draft, call = only(session, events.ModelCall, outcome="error")
    assert (call.status, call.request_id, call.model_id, call.usage) == (529, "req_overloaded1", None, {})
    assert (call.extra["error"], draft.contents["error_uri"][0]["type"]) == ("server_error", "text")
    draft, message = only(session, events.Message, subtype="synthetic")
    assert (message.role, draft.contents["content_uri"]) == ("assistant", [text("No response requested.")])
    _, retry = only(session, events.Note, subtype="api_error")
    assert retry.extra["imported"] == {"line": 19, "uuid": "e01"}


def test_what_the_harness_said_is_not_the_users() -> None:
    roles = {(event.role, event.subtype) for _, event in of(shop(), events.Message)}
    assert roles == {
        ("user", None), ("user", "interrupted"), ("user", "command"), ("user", "queued_command"), ("system", "compact_boundary"),
        ("system", "compaction"), ("system", "meta"), ("system", "local_command"), ("assistant", "synthetic"),
    }  # fmt: skip


def test_bookkeeping_is_noted_whole() -> None:
    session = shop()
    notes = Counter(event.subtype for _, event in of(session, events.Note))
    assert notes == {
        "summary": 1, "file-history-snapshot": 1, "queue-operation": 1, "permission-mode": 1, "progress": 1, "api_error": 1,
        "duplicate_record": 3, "attachment": 1, "unknown_record": 4, "repeated_tool_result": 1, "turn_duration": 1, "pr-link": 1,
        "last-prompt": 1, "ai-title": 1,
    }  # fmt: skip
    draft, _ = only(session, events.Note, subtype="pr-link")
    assert draft.contents["text_uri"]["prUrl"] == "https://example.com/shop/pull/7"
    assert draft.unix_ms == 1772701343000
    _, progress = only(session, events.Note, subtype="progress")
    assert (progress.extra["progress"], progress.extra["call_id"]) == ("hook_progress", "toolu_read")


def test_unknown_records_are_kept() -> None:
    kept = [draft.contents["text_uri"] for draft, _ in of(shop(), events.Note, subtype="unknown_record")]
    assert [record["type"] if isinstance(record, dict) else record for record in kept] == [
        "atis-latch",
        "system",
        "user",
        ["not", "a", "record"],
    ]


def test_history_that_compaction_wrote_again_counts_once() -> None:
    session = shop()
    firsts = {event.extra["imported"]["uuid"]: event.id for _, event in of(session, events.Event) if "imported" in event.extra
              and "uuid" in event.extra["imported"] and not isinstance(event, (events.Note, events.Git))}  # fmt: skip
    again = [
        (event.extra["imported"]["uuid"], event.extra["duplicate_of"]) for _, event in of(session, events.Note, subtype="duplicate_record")
    ]
    assert [uuid for uuid, _ in again] == ["u01", "a01", "r01"]
    assert all(firsts[uuid] == first for uuid, first in again)


def test_commits_and_branches() -> None:
    seen = [(event.action, event.branch, event.sha) for _, event in of(shop(), events.Git)]
    assert seen == [("commit", "main", "1a2b3c4"), ("branch", "rounding", None)]


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("git commit -m x", "[main (root-commit) 0123456] x\n 1 file", [("main", "0123456")]),
        ("cd a && git -C b commit -qam x; git log", "[detached HEAD abcdef0123] x", [(None, "abcdef0123")]),
        ("git commit -m a && git commit -m b", "[f/x 1111111] a\n[f/x 2222222] b", [("f/x", "1111111"), ("f/x", "2222222")]),
        ("cat log", "[main 1234567] x", []),
        ("git log; echo commit", "[main 1234567] x", []),
        ("git commit -m x", "nothing to commit, working tree clean", []),
        ("git commit -m x", "see [main 1234567] above", []),
        ("git commit -m x", [text("[main 1234567] x")], [("main", "1234567")]),
        ("git commit", None, []),
    ],
)
def test_commits_are_believed_only_of_a_command_that_commits(command: str, output: Any, expected: list[Any]) -> None:
    assert commits("Bash", {"command": command}, output) == expected
    assert commits("Read", {"command": command}, output) == []
    assert commits("Bash", command, output) == []


# Which session


def test_a_subagents_file_is_a_session_of_its_own() -> None:
    sessions = load(f"{SHOP}/subagents/agent-b7e1.jsonl")
    session = sessions[f"{SHOP}/b7e1"]
    assert len(sessions) == 1
    assert (session.parent_source_id, session.name) == (SHOP, "Explore")
    _, prompt = only(session, events.Message)
    assert (prompt.role, prompt.subtype) == ("user", "task")


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("/x/p1/subagents/agent-a9.jsonl", {"sessionId": "p1"}, ("p1/a9", "p1")),
        ("agent-a9.jsonl", {"sessionId": "p1", "isSidechain": True}, ("p1/a9", "p1")),
        ("C:\\x\\p1\\subagents\\agent-a9.jsonl", {"sessionId": "agent-a9", "agentId": "a9"}, ("p1/a9", "p1")),
        ("agent-a9.jsonl", {"sessionId": "agent-a9", "agentId": "a9"}, ("agent-a9", None)),
        ("p1/subagents/agent-a9.jsonl", {"sessionId": None}, ("p1/a9", "p1")),
        ("agent-a9.jsonl", {"sessionId": None}, ("agent-a9", None)),
        ("my-agent-a9.jsonl", {"sessionId": "p1"}, ("p1", None)),
        ("old.jsonl", {"sessionId": None}, ("old", None)),
        ("p1.jsonl", {"sessionId": "p1", "agentId": "a9"}, ("p1/a9", "p1")),
        ("p1.jsonl", {"sessionId": "p1", "agentId": " "}, ("p1", None)),
        ("p1.jsonl", {"sessionId": " \n", "agentId": 9}, ("\ufffd", None)),
    ],
)
def test_whose_record_it_is(name: str, fields: dict[str, Any], expected: tuple[str, str | None]) -> None:
    record = user("Look.", uuid="u", timestamp="2026-01-01T00:00:00Z", **fields) if "sessionId" not in fields else {
        **user("Look.", uuid="u", timestamp="2026-01-01T00:00:00Z"), **fields}  # fmt: skip
    (session,) = read({"type": "file-history-snapshot", "snapshot": {}}, record, name=name)
    assert (session.source_id, session.parent_source_id) == expected
    assert session.understood == 2


def test_inlined_sidechains_are_sessions_of_their_own() -> None:
    sessions = load("inlined_sidechains.jsonl")
    main = next(iter(sessions))
    assert list(sessions) == [main, f"{main}/sidechain-1", f"{main}/sidechain-2", f"{main}/sidechain-3"]
    assert [session.parent_source_id for session in sessions.values()] == [None, main, main, main]
    assert sessions[main].name == "Review of alpha and beta"
    said = {key: [call.response_id for _, call in of(session, events.ModelCall)] for key, session in sessions.items()}
    assert list(said.values()) == [["msg_m1", "msg_m2"], ["msg_j"], ["msg_k", "msg_k2"], ["msg_l"]]
    _, unlinked = only(sessions[f"{main}/sidechain-3"], events.ToolCall)
    assert unlinked.outcome == "ok", "links between records may be missing altogether"


def test_a_file_of_sidechains_alone_is_not_dropped() -> None:
    (session,) = read(user("Do it.", isSidechain=True, uuid="u"), assistant(text("Done."), isSidechain=True, uuid="a", parentUuid="u"))
    assert (session.source_id, session.parent_source_id, session.understood) == ("s/sidechain-1", "s", 2)


def test_a_fork_names_its_parent_and_does_not_count_its_tokens() -> None:
    session = load(f"{FORK}.jsonl")[FORK]
    assert session.parent_source_id == SHOP
    (_, copied), (_, own) = of(session, events.ModelCall)
    assert (copied.usage, copied.extra["replayed_usage"]["output_tokens"]) == ({}, 187)
    assert copied.extra["replayed_from"] == {"session": SHOP, "uuid": "a01"}
    assert (own.usage["output_tokens"], "replayed_from" in own.extra) == (22, False)
    _, tool = only(session, events.ToolCall)
    assert (tool.asked_by, tool.extra["replayed_from"]["uuid"]) == (copied.id, "r01")
    parents_ids = {draft.event.id for draft in shop().drafts}
    assert parents_ids.isdisjoint(draft.event.id for draft in session.drafts)


def test_two_sessions_in_one_file() -> None:
    old, new = load("resumed_two_sessions.jsonl").values()
    assert (old.understood, new.understood) == (2, 4)
    assert (old.parent_source_id, new.parent_source_id) == (None, old.source_id)


def test_a_record_that_another_session_of_the_file_wrote_first_is_a_copy() -> None:
    first, second = read(
        user("Hi.", uuid="u1"),
        assistant(text("Hello."), uuid="a1", parentUuid="u1"),
        {**user("Hi.", uuid="u1"), "sessionId": "t"},
        {**assistant(text("Hello."), uuid="a1", parentUuid="u1"), "sessionId": "t"},
        {**assistant(text("Bye."), uuid="a2", parentUuid="a1", mid="msg_2"), "sessionId": "t"},
    )
    assert second.parent_source_id == first.source_id == "s"
    assert [call.usage for _, call in of(second, events.ModelCall)] == [{}, {"output_tokens": 1}]
    assert [call.usage for _, call in of(first, events.ModelCall)] == [{"output_tokens": 1}]


def test_records_before_the_first_that_names_its_session_belong_to_it() -> None:
    (session,) = read(b"torn{", {"type": "summary", "summary": "x", "leafUuid": "y"}, user("Hi.", uuid="u"))
    assert [type(draft.event).__name__ for draft in session.drafts] == [
        "SessionStart", "Gap", "Note", "Note", "Message", "SessionEnd"
    ]  # fmt: skip
    assert session.name is None, "the summary is another conversation's"


# Model responses


def test_a_response_that_is_written_whole_again_and_again_is_one() -> None:
    one, two = text("Thinking."), use("t1", command="ls")
    (session,) = read(
        assistant(one, usage={"output_tokens": 2}),
        assistant(one, two, usage={"output_tokens": 9}),
        assistant(one, two, usage={"output_tokens": 9}),
    )
    draft, call = only(session, events.ModelCall)
    assert draft.contents["output_uri"]["content"] == [one, two]
    assert (call.usage, call.extra["lines"]) == ({"output_tokens": 9}, 3)
    assert len(of(session, events.ToolCall)) == 1


def test_a_tool_call_whose_input_grows_is_one_call() -> None:
    (session,) = read(assistant(use("t1")), assistant(use("t1", command="ls")), user([result("t1", "a.txt")]))
    draft, _ = only(session, events.ToolCall)
    assert draft.contents["input_uri"] == {"command": "ls"}
    assert only(session, events.ModelCall)[0].contents["output_uri"]["content"] == [use("t1", command="ls")]


def test_ids_of_responses_may_be_missing() -> None:
    (session,) = read(
        assistant(text("a"), mid=None),
        assistant(text("b"), mid=None),
        assistant(text("c"), mid=None, requestId="req_1"),
        assistant(text("d"), mid=None, requestId="req_1"),
        assistant(text("e"), requestId="req_2"),
        assistant(text("f")),
        assistant(text("g"), requestId="req_3"),
    )
    said = [[block["text"] for block in draft.contents["output_uri"]["content"]] for draft, _ in of(session, events.ModelCall)]
    assert said == [["a"], ["b"], ["c", "d"], ["e", "f"], ["g"]]


def test_tool_calls_without_ids_are_matched_in_order() -> None:
    ask = {"type": "tool_use", "name": "Bash", "input": {"n": 1}}
    (session,) = read(
        assistant(ask, {**ask, "input": {"n": 2}}, uuid="a"),
        user([{"type": "tool_result", "content": "one"}]),
        user([{"type": "tool_result", "content": "two"}]),
    )
    assert [(draft.contents["input_uri"], draft.contents["output_uri"]) for draft, _ in of(session, events.ToolCall)] == [
        ({"n": 1}, "one"),
        ({"n": 2}, "two"),
    ]


@pytest.mark.parametrize(
    ("fields", "detail", "outcome"),
    [
        ({}, {"interrupted": True, "stdout": ""}, "cancelled"),
        ({"content": "[Request interrupted by user for tool use]", "is_error": True}, None, "cancelled"),
        (
            {"content": "Claude requested permissions to write to /x, but you haven't granted it yet.", "is_error": True},
            None,
            "closed",
        ),
        ({"content": "The user doesn't want to proceed with this tool use."}, None, "ok"),
        ({"content": None, "is_error": True}, {"durationMs": "long"}, "error"),
        ({"is_error": "yes"}, ["a list"], "ok"),
    ],
)
def test_how_a_tool_call_ends(fields: dict[str, Any], detail: Any, outcome: str) -> None:
    (session,) = read(assistant(use("t1"), uuid="a"), user([{**result("t1", "x"), **fields}], toolUseResult=detail))
    _, call = only(session, events.ToolCall)
    assert call.outcome == outcome
    assert [approval.approver for _, approval in of(session, events.Approval)] == (["policy"] if outcome == "closed" else [])


@pytest.mark.parametrize("usage", [None, "many", [1], {"input_tokens": {"x": 1}}, {"output_tokens": True}, {1.5: 2}, {"input_tokens": -1}])
def test_malformed_metrics_are_no_counts(usage: Any) -> None:
    (session,) = read(assistant(text("x"), uuid="a", usage=usage if usage is not None else {"x": None}))
    assert only(session, events.ModelCall)[1].usage == {}


# Hostile values


@pytest.mark.parametrize("kind", sorted(TYPES))
@pytest.mark.parametrize("junk", [None, 5, "x", [], {}, [[{}]], {"content": [None, 5, {"type": []}]}, {"type": {}, "content": {"a": 1}}])
def test_fields_of_the_wrong_type_do_not_stop_the_import(kind: str, junk: Any) -> None:
    record = {"type": kind, "sessionId": "s", **dict.fromkeys(KEYS, junk)}
    sessions = read(user("Hi.", uuid="u"), record, {**record, "message": {"content": [use("t"), junk, result("t", junk)]}})
    assert sum(session.understood + session.kept for session in sessions) == 3


@given(st.lists(st.fixed_dictionaries({"type": st.sampled_from(sorted(TYPES))}, optional=dict.fromkeys(KEYS, _json)), max_size=5))
def test_nor_do_records_that_make_no_sense(made: list[dict[str, Any]]) -> None:
    sessions = read(user("Hi.", uuid="u"), *made)
    assert sum(session.understood + session.kept for session in sessions) == 1 + len(made)
    for session in sessions:
        assert len({draft.event.id for draft in session.drafts}) == len(session.drafts)


def test_what_is_said_stays_out_of_the_envelope() -> None:
    secret = "sk-ant-" + "q" * 40
    (session,) = read(
        user(secret, uuid="u", cwd=f"/home/{secret}"),
        assistant(text(secret), use("t1", command=secret), uuid="a"),
        user([result("t1", secret, is_error=True)], toolUseResult={"stdout": secret}),
        {"type": "progress", "sessionId": "s", "data": {"type": "bash_progress", "output": secret}},
        {"type": secret[:3], "sessionId": "s", "x": secret},
        f'{{"torn": "{secret}'.encode(),
    )
    for draft in session.drafts:
        assert secret not in json.dumps(events.encode(draft.event))


def test_a_line_of_nineteen_megabytes() -> None:
    big = "z" * 19_000_000
    head = user("Hi.", uuid="u")
    started = time.process_time()
    lines = ({"parentUuid": None, **user(big, uuid="b")}, head)
    data = b"\n".join(json.dumps(record, separators=(",", ":")).encode() for record in lines)
    assert recognise("x.jsonl", data[:HEAD]) is not None
    (session,) = ClaudeCodeImporter().read("x.jsonl", data)
    assert session.drafts[1].contents["content_uri"] == big
    assert time.process_time() - started < 5


def test_many_lines_take_time_in_proportion() -> None:
    lines = [assistant(use(f"t{n}"), mid="msg_same", uuid=f"a{n}") for n in range(3000)]
    lines += [user([result(f"t{n}", "ok")], uuid=f"r{n}", isSidechain=n % 2 == 0) for n in range(3000)]
    started = time.process_time()
    sessions = read(*lines)
    assert time.process_time() - started < 5
    assert sum(session.understood for session in sessions) == 6000


# Damage


def test_torn_and_spliced_lines() -> None:
    (session,) = load("torn_and_spliced.jsonl").values()
    assert (session.understood, session.kept) == (8, 5)
    said = [draft.contents["content_uri"] for draft, _ in of(session, events.Message)]
    assert said[1:5] == ["spliced first", "spliced second", "whole behind the torn one", "behind a run of nulls"]
    assert said[0] == "Separators: \u2028 and \u2029 and \u0085 stay inside."
    assert said[5].encode("utf-8", "surrogateescape") == b"latin \xe9\xff bytes"
    draft, call = only(session, events.ToolCall)
    assert (draft.contents["output_uri"], call.outcome) == ("half a pair: \ud83d.", "ok")
    data = (FIXTURES / "torn_and_spliced.jsonl").read_bytes()
    gaps, texts = of(session, events.Gap), of(session, events.Note, subtype="unreadable_line")
    assert len(gaps) == len(texts) == 5
    for (_, gap), (draft, _) in zip(gaps, texts, strict=True):
        assert gap.offset is not None
        assert gap.length is not None
        raw = draft.contents["text_uri"]
        assert data[gap.offset : gap.offset + gap.length] == (raw if isinstance(raw, bytes) else raw.encode())
        at = [draft.event for draft in session.drafts].index(gap)
        assert session.drafts[at + 1].event.extra["imported"] == gap.extra["imported"]


def test_every_piece_of_a_file_is_counted_once() -> None:
    for name, data in fixtures().items():
        found = list(jsonl.pieces(data, is_record=is_record))
        sessions = list(ClaudeCodeImporter().read(name, data))
        assert sum(session.understood + session.kept for session in sessions) == len(found)


def test_a_file_of_another_kind_is_refused_with_advice() -> None:
    with pytest.raises(ImportFailedError, match=r"^notes\.jsonl is no Claude Code transcript"):
        read({"type": "user", "content": "x"}, name="notes.jsonl")


def test_a_torn_first_record_alone_is_still_a_transcript() -> None:
    (session,) = read(b'{"parentUuid":null,"isSidechain":false,"userType":"exter', name="x.jsonl")
    assert (session.source_id, session.understood, session.kept) == ("x", 0, 1)


# The registry


def test_the_registry_finds_the_importer() -> None:
    data = (FIXTURES / f"{SHOP}.jsonl").read_bytes()
    found = recognise("any name", data)
    assert found in IMPORTERS
    assert found is not None
    assert found.name == "claude-code"
    assert recognise("x.jsonl", b"{}\n") is None
    assert len({importer.name for importer in IMPORTERS}) == len(IMPORTERS)


# Transcripts that others published


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published transcripts are not part of the project and not there")
class TestPublishedTranscripts(ImporterSuite):
    importer = ClaudeCodeImporter()
    samples: ClassVar = {
        path.name.replace("__", "/"): path.read_bytes()  # a flattened path; subagents are told by theirs
        for path in (sorted(PUBLISHED.glob("*.jsonl")) if PUBLISHED.is_dir() else ())
    }
    foreign: ClassVar = {
        "/".join(path.parts[-2:]): path.read_bytes()[:200_000]
        for path in (sorted(PUBLISHED.parent.glob("*/*.json*")) if PUBLISHED.is_dir() else ())
        if path.parent != PUBLISHED and "claude-code" not in path.name
    }

    def test_every_record_is_understood(self) -> None:
        kept = Counter(
            draft.event.extra.get("record_type")
            for name in self.samples
            for draft in self.drafts(name)
            if isinstance(draft.event, events.Note) and draft.event.subtype == "unknown_record"
        )
        assert not kept
        assert len(self.samples) == 26
