"""Where prompt, parameters, model and messages lie in each wire format, and that edits reach them there."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph import providers
from tachograph.core.errors import UsageError
from tachograph.replay import edits
from tachograph.replay.edits import NOTHING, Edit, Request

TEXT = [{"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}}]
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("https://api.anthropic.com/v1/messages", {"model": "m", "max_tokens": 5, "temperature": 1, "system": "Be careful.", "messages": []}),
    "blocks": ("https://api.anthropic.com/v1/messages", {"model": "m", "max_tokens": 5, "temperature": 1, "system": TEXT, "messages": []}),
    "chat": (
        "https://api.openai.com/v1/chat/completions",
        {"model": "m", "temperature": 1, "max_tokens": 5, "messages": [{"role": "system", "content": "Be careful."}, {"role": "user", "content": "x"}]},
    ),
    "responses": ("https://api.openai.com/v1/responses", {"model": "m", "temperature": 1, "max_output_tokens": 5, "instructions": "Be careful.", "input": "x"}),
    "responses items": (
        "https://api.openai.com/v1/responses",
        {"model": "m", "temperature": 1, "max_output_tokens": 5, "input": [{"role": "developer", "content": "Be careful."}]},
    ),
    "converse": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse",
        {"system": [{"text": "Be careful."}, {"cachePoint": {"type": "default"}}], "inferenceConfig": {"temperature": 1, "maxTokens": 5}, "messages": []},
    ),
    "invoke anthropic": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke",
        {"anthropic_version": "bedrock-2023-05-31", "system": "Be careful.", "temperature": 1, "max_tokens": 5, "messages": []},
    ),
    "invoke nova": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke-with-response-stream",
        {"schemaVersion": "messages-v1", "system": [{"text": "Be careful."}], "inferenceConfig": {"temperature": 1, "max_new_tokens": 5}, "messages": []},
    ),
}  # fmt: skip
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "titan": ("https://b/model/amazon.titan/invoke", {"inputText": "x", "textGenerationConfig": {"temperature": 1, "maxTokenCount": 5}}),
    "llama": ("https://b/model/meta.llama/invoke", {"prompt": "x", "temperature": 1, "max_gen_len": 5}),
}


def request(name: str) -> Request:
    url, body = (REQUESTS | OTHERS)[name]
    found = providers.identify("POST", url, [])
    assert found is not None
    return Request(provider=found[0].name, operation=found[1], url=url, body=copy.deepcopy(body))


def decoded(of: Request) -> providers.Decoded:
    found = providers.decode(providers.Exchange(method="POST", url=of.url, request=of.body))
    assert found is not None
    return found


def changed(of: Request, *what: Edit) -> Request:
    before = copy.deepcopy(of.body)
    out, names = edits.apply(edits.bound(what, of), of, of.body)
    assert of.body == before, "the request itself is left alone"
    assert names == [edit.what for edit in what]
    return out


@pytest.mark.parametrize("name", REQUESTS)
def test_the_system_prompt_is_read_and_replaced(name: str) -> None:
    of = request(name)
    assert edits.system(of) == "Be careful."
    out = changed(of, Edit(what="prompt.system", value="Be brave."))
    assert edits.system(out) == "Be brave."
    assert "Be careful." not in str(out.body)


def test_how_a_system_prompt_is_cached_stays() -> None:
    out = changed(request("blocks"), Edit(what="prompt.system", value="x"))
    assert out.body["system"] == [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]
    out = changed(request("converse"), Edit(what="prompt.system", value="x"))
    assert out.body["system"] == [{"text": "x"}, {"cachePoint": {"type": "default"}}]


@pytest.mark.parametrize("name", REQUESTS)
def test_a_system_prompt_is_put_where_there_was_none(name: str) -> None:
    of = request(name)
    of.body.pop("system", None)
    of.body.pop("instructions", None)
    for key in ("messages", "input"):
        if isinstance(of.body.get(key), list):
            of.body[key] = [message for message in of.body[key] if message.get("role") not in ("system", "developer")]
    assert edits.system(of) is None
    assert edits.system(changed(of, Edit(what="prompt.system", value="x"))) == "x"


@pytest.mark.parametrize("name", [*REQUESTS, *OTHERS])
@pytest.mark.parametrize(("param", "value"), [("temperature", 0), ("max_tokens", 77), ("top_p", 0.5), ("stop_sequences", ["x"])])
def test_a_parameter_lands_where_the_provider_reads_it(name: str, param: str, value: Any) -> None:
    out = changed(request(name), Edit(what=f"params.{param}", value=value))
    assert decoded(out).params[param] == value


@pytest.mark.parametrize("name", [*REQUESTS, *OTHERS])
def test_null_takes_a_parameter_away(name: str) -> None:
    out = changed(request(name), Edit(what="params.temperature", value=None))
    assert "temperature" not in decoded(out).params


@pytest.mark.parametrize("name", [*REQUESTS, *OTHERS])
def test_the_model_is_changed_where_it_is_named(name: str) -> None:
    wanted = "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude:0"
    out = changed(request(name), Edit(what="model", value=wanted))
    assert decoded(out).model_id == wanted
    assert edits.model(out) == wanted


def test_azure_names_the_deployment_in_the_path() -> None:
    of = Request(
        provider="openai",
        operation="chat.completions",
        url="https://x.openai.azure.com/openai/deployments/a/chat/completions?api-version=1",
        body={"messages": []},
    )
    assert (
        changed(of, Edit(what="model", value="b")).url == "https://x.openai.azure.com/openai/deployments/b/chat/completions?api-version=1"
    )


def test_bedrock_has_its_other_parameters_beside() -> None:
    out = changed(request("converse"), Edit(what="params.top_k", value=3), Edit(what="params.latency", value="optimized"))
    assert out.body["additionalModelRequestFields"] == {"top_k": 3}
    assert out.body["performanceConfig"] == {"latency": "optimized"}


def test_an_edit_that_changes_nothing_says_so() -> None:
    of = request("anthropic")
    assert edits.apply([Edit(what="params.temperature", value=1)], of, of.body)[1] == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_text_model_has_no_system_prompt(name: str) -> None:
    with pytest.raises(UsageError, match=r"body\.prompt=@FILE"):
        edits.bound([Edit(what="prompt.system", value="x")], request(name))


HISTORY = [
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "a"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "one [REDACTED:key:0011aabb]"}]},
]
PLACE = "body.messages[2].content[0].content"


def test_a_message_is_replaced_in_every_request_that_carries_it() -> None:
    point = request("anthropic")
    point.body["messages"] = copy.deepcopy(HISTORY)
    bound = edits.bound([Edit(what=PLACE, value="nothing")], point)
    # Later it stands at its place again, masked by another rule, and live it is not masked at all.
    later = copy.deepcopy(point)
    later.body["messages"] += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "go on"}]
    masked = copy.deepcopy(later.body)
    masked["messages"][2]["content"][0]["content"] = "one [REDACTED:other:0011aabb]"
    later.body["messages"][2]["content"][0]["content"] = "one the-secret"
    out, names = edits.apply(bound, later, masked)
    assert names == [PLACE]
    assert [block["content"] for block in out.body["messages"][2]["content"]] == ["nothing"]
    # The history was shortened: it stands elsewhere.
    later.body["messages"], masked["messages"] = later.body["messages"][2:], masked["messages"][2:]
    out, _ = edits.apply(bound, later, masked)
    assert out.body["messages"][0]["content"][0]["content"] == "nothing"
    # And where another text stands at its place, that is left alone.
    masked["messages"][0]["content"][0]["content"] = "two"
    assert edits.apply(bound, later, masked)[1] == []


def test_a_place_that_is_not_there_is_refused_and_a_new_field_is_not() -> None:
    with pytest.raises(UsageError, match=r"body\.messages\[9\]\.content"):
        edits.bound([Edit(what="body.messages[9].content", value="x")], request("anthropic"))
    out = changed(request("anthropic"), Edit(what="body.thinking.budget_tokens", value=5))
    assert out.body["thinking"] == {"budget_tokens": 5}


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("params.temperature=0", Edit(what="params.temperature", value=0)),
        ('params.stop_sequences=["a", "b"]', Edit(what="params.stop_sequences", value=["a", "b"])),
        ("params.temperature=null", Edit(what="params.temperature", value=None)),
        ("params.reasoning_effort=low", Edit(what="params.reasoning_effort", value="low")),
        ("model=a=b", Edit(what="model", value="a=b")),
        ("prompt.system=0", Edit(what="prompt.system", value="0")),
        ("prompt.system=@file", Edit(what="prompt.system", value="from file")),
        ("body.messages[0].content=@file", Edit(what="body.messages[0].content", value="from file")),
    ],
)  # fmt: skip
def test_what_a_person_writes(text: str, edit: Edit) -> None:
    assert edits.parse(text, lambda path: f"from {path}\n") == edit


@pytest.mark.parametrize("text", ["temperature=0", "model", "params.=1", "body.=1", "body.[=1", "prompt.user=x", "model= ", "params.a b=1"])
def test_what_nothing_is_called(text: str) -> None:
    with pytest.raises(UsageError):
        edits.parse(text, str)


def test_values_are_parted_at_commas_outside_of_json() -> None:
    found = edits.parse_values('params.stop_sequences=["a,b"],["c"],{"d": [1, 2]},null', str)
    assert [edit.value for edit in found] == [["a,b"], ["c"], {"d": [1, 2]}, None]
    assert [edit.value for edit in edits.parse_values("model=a, b", str)] == ["a", "b"]
    assert [edit.value for edit in edits.parse_values("prompt.system=@1,@2", lambda path: path * 2)] == ["11", "22"]
    with pytest.raises(UsageError, match=r"@one\.txt"):
        edits.parse_values("prompt.system=Do this, then that", str)


def test_an_edit_is_the_same_after_json() -> None:
    for edit in (Edit(what="model", value="x"), Edit(what="body.a", value=None, was="y"), Edit(what="body.a", value=1, was=None)):
        assert edits.of_json(edit.to_json()) == edit


texts = st.text(max_size=40).filter(lambda text: "\r" not in text and not any(c in text for c in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"))


@given(
    st.lists(
        st.one_of(texts, st.sampled_from(["==== x", "===== y", "# a", "a\n==== messages[0].content\nb", "\n\n"])), min_size=1, max_size=5
    ),
    texts,
    st.integers(0, 4),
)
def test_a_page_left_alone_changes_nothing_and_a_changed_part_is_found(contents: list[str], new: str, at: int) -> None:
    body = {"model": "m", "system": "s", "messages": [{"role": "user", "content": text} for text in contents]}
    page = edits.sheet(body, "title")
    assert edits.changed_in(body, page) == []
    other = copy.deepcopy(body)
    other["messages"][at % len(contents)]["content"] = new
    lines = edits.sheet(other, "title")
    if edits._rule(edits.said(other)) == edits._rule(edits.said(body)):
        found = edits.changed_in(body, lines)
        old = contents[at % len(contents)]
        expected = (
            [] if new in (old, old.removesuffix("\n")) else [Edit(what=f"body.messages[{at % len(contents)}].content", value=new, was=old)]
        )
        assert found == expected


def test_json_results_are_edited_as_json() -> None:
    body = {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"json": {"a": 1}}]}}]}]}
    page = edits.sheet(body, "t")
    assert edits.changed_in(body, page.replace('"a": 1', '"a": 2')) == [
        Edit(what="body.messages[0].content[0].toolResult.content[0].json", value={"a": 2}, was={"a": 1})
    ]
    with pytest.raises(UsageError, match="no JSON"):
        edits.changed_in(body, page.replace('"a": 1', '"a": '))


def test_a_page_with_a_broken_line_is_refused() -> None:
    body = {"messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(UsageError, match="no place in the request"):
        edits.changed_in(body, edits.sheet(body, "t").replace("messages[0]", "messages[7]"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_each_place_of_a_value_is_found_by_its_path_and_can_be_written(value: Any) -> None:
    for path, item in edits._walk(value, ""):
        assert edits.get(value, path) == item
        other = copy.deepcopy(value)
        assert edits.put(other, path, "new")
        assert edits.get(other, path) == "new"
    assert edits.get(value, "zzz[3].q") is NOTHING
