"""Bugs that were reported against other redactors, each tested as a whole kind here. A test's name begins with its report: project and number
on GitHub. Where only a report's subject is known to us, the docstring says so.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redact_samples import ANTHROPIC, AWS, GITHUB, JWT, KEY, PASSWORD, PEM, SLACK, redactor, trace

from tachograph.format import sse
from tachograph.redact.engine import Redactor, known_from_environment
from tachograph.redact.pipe import Pipe
from tachograph.redact.placeholder import PLACEHOLDER, neutral, placeholder
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import hexa, mixed, uuid

REDACTOR = redactor()
SSE = [["content-type", "text/event-stream"]]


def known(*values: str) -> Redactor:
    return Redactor(Policy.default(), key=KEY, known=dict.fromkeys(values, "env"))


def chat(pieces: list[str]) -> bytes:
    """A streamed chat completion."""
    return b"".join(sse.encode(None, json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]})) for piece in pieces)


def contents(body: bytes) -> str:
    return "".join(json.loads(event.data)["choices"][0]["delta"]["content"] for event in sse.parse(body))


def answered(red: Redactor, body: bytes, cuts: list[int], headers: list[list[str]] = SSE) -> bytes:
    """An answer that arrived in the pieces which ``cuts`` make."""
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    chunks = [body[low:high] for low, high in pairwise(edges)]
    _, out = red.answer(headers, chunks)
    assert len(out) == len(chunks)
    return b"".join(out)


# -- streaming -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [GITHUB, ANTHROPIC, AWS, JWT], ids=["github", "anthropic", "aws", "jwt"])
def test_litellm_41611_a_value_split_over_two_chunks(secret: str) -> None:
    """https://github.com/BerriAI/litellm/issues/41611: each chunk was judged by itself."""
    text = f"the value is {secret}, keep it"
    for at in range(1, len(text)):
        out = contents(answered(REDACTOR, chat([text[:at], text[at:]]), []))
        assert out == REDACTOR.text(text)


@pytest.mark.parametrize(
    "body",
    [
        f"data: not json {GITHUB}\n\n",
        f"data: {{broken {GITHUB}\n\n",
        f'event: x.unknown\ndata: {{"odd": ["{GITHUB}"]}}\n\n',
        f'data: "{GITHUB}"\n\n',
        f'data: {{"type":"error","error":{{"message":"bad key {GITHUB}"}}}}\n\n',
        f": a comment {GITHUB}\n\n",
        f"{GITHUB}",
        f'{{"not": "a stream", "key": "{GITHUB}"}}',
        f'data: {{"choices": 7, "x": "{GITHUB}"}}\n\ndata: {{"choices": [null, {{"delta": "{GITHUB}"}}]}}\n\n',
        f'data: {{"type":"content_block_delta","index":"x","delta":{{"text":"{GITHUB}"}}}}\n\n',
    ],
)
@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"\x00" * 3], ids=["whole", "not-utf8", "zeros"])
def test_litellm_30728_what_is_not_understood_is_not_let_through(body: str, damage: bytes) -> None:
    """https://github.com/BerriAI/litellm/issues/30728: unknown shapes, raw bytes and errors passed unmasked."""
    for headers in (SSE, [["content-type", "application/json"]], [["content-type", "application/octet-stream"]], []):
        out = answered(REDACTOR, damage + body.encode() + damage, [5, 40], headers)
        assert trace(GITHUB, out.decode("latin-1")) is None


@given(st.lists(st.integers(min_value=0, max_value=400), max_size=12))
@settings(max_examples=150, deadline=None)
def test_litellm_30028_network_chunks_cut_events_and_characters_anywhere(cuts: list[int]) -> None:
    """https://github.com/BerriAI/litellm/pull/30028: an event, or a character of several bytes, lay in two chunks and passed unread."""
    body = chat(["ключ – ", GITHUB[:9], GITHUB[9:], " 鍵 😀"]).replace(b"\\u0436", "ж".encode())
    out = answered(REDACTOR, body, cuts)
    assert contents(out) == f"ключ – {placeholder('github-token', KEY, GITHUB)} 鍵 😀"


def test_mastra_21049_a_prefix_in_one_delta_and_the_rest_in_the_next() -> None:
    """https://github.com/mastra-ai/mastra/issues/21049."""
    for pieces in (["Here is the key: sk-ant-", ANTHROPIC[7:] + " done"], ["Here is the key: ", *ANTHROPIC, " done"]):
        assert contents(answered(REDACTOR, chat(pieces), [])) == f"Here is the key: {placeholder('anthropic-key', KEY, ANTHROPIC)} done"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 19])
def test_mastra_23783_no_head_is_out_before_its_tail_is_known(size: int) -> None:
    """https://github.com/mastra-ai/mastra/issues/23783: a carry-over masked the tail of what was half out already, and overlapping findings
    ate the text beside them."""
    text = f"one {GITHUB} two password={PASSWORD} three https://me:{mixed(20)}@host/?token={mixed(30)} four\n{PEM}\nfive"
    for live in (False, True):
        pipe = Pipe(REDACTOR, live=live)
        out = "".join(pipe.feed(text[at : at + size]) for at in range(0, len(text), size)) + pipe.finish()
        assert out == REDACTOR.text(text)
        for word in ("one ", " two ", " three ", "@host/", "\nfive"):
            assert word in out


def test_mastra_23783_overlapping_values_are_one_mask() -> None:
    red = known("first-secret-part", "secret-part-second", "part")
    assert PLACEHOLDER.sub("#", red.text("a first-secret-part-second b")) == "a # b"


@pytest.mark.parametrize("cut", range(1, 18))
def test_eliza_15356_a_secret_in_fragments_of_a_processes_output(cut: int) -> None:
    """https://github.com/elizaOS/eliza/pull/15356 (known by its subject only; see also its issue 19787)."""
    value = "open sesame 12-34"
    pipe = Pipe(known(value), live=True)
    out = pipe.feed(f"line\nthe value: {value[:cut]}") + pipe.feed(f"{value[cut:]}\nnext\n") + pipe.finish()
    assert PLACEHOLDER.sub("#", out) == "line\nthe value: #\nnext\n"


def test_hermes_56040_the_arguments_of_a_function_come_in_pieces() -> None:
    """https://github.com/NousResearch/hermes-agent/pull/56040 (known by its subject only): tool calls of a streamed chat completion."""
    arguments = json.dumps({"command": f"curl -H 'Authorization: Bearer {mixed(40)}' https://x -u me:{mixed(12)}", "note": GITHUB})
    for size in (1, 5, 23):
        pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
        body = b"".join(
            sse.encode(
                None, json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]})
            )
            for piece in pieces
        )
        events = [json.loads(event.data) for event in sse.parse(answered(REDACTOR, body, []))]
        joined = "".join(event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] for event in events)
        assert json.loads(joined) == REDACTOR.document(json.loads(arguments))
        assert trace(mixed(40), joined) is None


def test_hermes_82758_a_name_in_one_piece_and_its_value_in_the_next() -> None:
    """https://github.com/NousResearch/hermes-agent/pull/82758 (known by its subject only): the tool input of a streamed message."""
    text = json.dumps({"env": {"DB_PASSWORD": PASSWORD}})
    at = text.index(PASSWORD)
    for pieces in ([text[:at], text[at:]], [text[: at - 6], text[at - 6 : at + 3], text[at + 3 :]]):
        events = [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "sh", "input": {}}},
            *(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
                for piece in pieces
            ),
            {"type": "content_block_stop", "index": 0},
        ]
        out = answered(REDACTOR, b"".join(sse.encode(event["type"], json.dumps(event)) for event in events), [])
        deltas = [json.loads(event.data).get("delta", {}) for event in sse.parse(out)]
        joined = "".join(delta.get("partial_json", "") for delta in deltas)
        assert json.loads(joined) == {"env": {"DB_PASSWORD": placeholder("password", KEY, PASSWORD)}}


@pytest.mark.parametrize("live", [False, True])
def test_goreleaser_6938_a_value_over_several_writes(live: bool) -> None:
    """https://github.com/goreleaser/goreleaser/issues/6938: two writes of half a value each, with a repeating value."""
    value = "key123key123"
    for cuts in ([6], [3, 6, 9], list(range(1, 12)), [0, 12]):
        pipe = Pipe(known(value), live=live)
        edges = [0, *cuts, len(value)]
        out = "".join(pipe.feed(value[low:high]) for low, high in pairwise(edges)) + pipe.finish()
        assert PLACEHOLDER.fullmatch(out)
    pipe = Pipe(known(value), live=live)
    assert pipe.feed("key1") + pipe.feed("23 is no secret") + pipe.finish() == "key123 is no secret"


@pytest.mark.parametrize("secret", [GITHUB, PEM, ANTHROPIC], ids=["github", "pem", "anthropic"])
def test_fountain_2359_a_stream_that_breaks_off_inside_a_secret(secret: str) -> None:
    """fountain#2359 (known by its subject only): what came of a secret before the end is one, too."""
    body = chat(["key: ", *[secret[at : at + 4] for at in range(0, len(secret), 4)]])
    for end in range(len(body) // 3, len(body), 41):
        out = answered(REDACTOR, body[:end], [])
        shown = "".join(re.findall(r'"content": ?"((?:[^"\\]|\\.)*)', out.decode("utf-8", "replace")))
        assert trace(secret.replace("\n", "\\n"), shown, 16) is None


# -- coverage ------------------------------------------------------------------------------------------------------------


def test_langsmith_3100_the_error_field() -> None:
    """https://github.com/langchain-ai/langsmith-sdk/pull/3100: inputs and outputs were masked, a traceback with the request in it was not."""
    headers = f"<CIMultiDict('Authorization': 'Bearer {mixed(40)}', 'X-Api-Key': '{hexa(32)}')>"
    error = f"ClientResponseError(RequestInfo(url=URL('https://me:{mixed(16)}@host/'), headers={headers}))\nTraceback (most recent call last):\n"
    for value in ({"error": error}, {"error": {"message": error}}, {"run": {"outputs": None, "error": [error]}}):
        out = json.dumps(REDACTOR.document(value))
        for secret in (mixed(40), hexa(32), mixed(16)):
            assert trace(secret, out) is None


def test_langfuse_4067_a_dictionary_instead_of_a_string() -> None:
    """https://github.com/langfuse/langfuse/issues/4067: the mask was written for strings and got arguments in a dictionary."""
    value = {"args": [GITHUB, 7], "kwargs": {"password": PASSWORD, "messages": [{"role": "user", "content": f"use {SLACK}"}]}}
    out = REDACTOR.document(value)
    assert out["args"][1] == 7
    assert out["kwargs"]["messages"][0]["role"] == "user"
    assert all(trace(secret, json.dumps(out)) is None for secret in (GITHUB, PASSWORD, SLACK))


@pytest.mark.parametrize("nothing", [None, "", 0, False, [], {}, 0.0, b""])
def test_langfuse_7778_nothing_is_no_secret_and_no_error(nothing: Any) -> None:
    """https://github.com/langfuse/langfuse/issues/7778: the mask was called with None."""
    for value in (nothing, {"password": nothing}, [nothing, nothing], {"input": {"token": nothing}, "output": nothing}):
        assert REDACTOR.document(value) == value


def test_langfuse_8306_every_part_of_a_message() -> None:
    """https://github.com/langfuse/langfuse/issues/8306 (known by its subject only): metadata, names, nested and serialised parts."""
    value = {
        "metadata": {"headers": {"authorization": f"Bearer {mixed(40)}"}, "tags": [f"token={mixed(30)}"]},
        "name": f"call with {GITHUB}",
        "input": json.dumps({"config": json.dumps({"api_key": hexa(32)})}),
        "statusMessage": f"401 for key {ANTHROPIC}",
    }
    out = json.dumps(REDACTOR.document(value))
    assert all(trace(secret, out) is None for secret in (mixed(40), mixed(30), GITHUB, hexa(32), ANTHROPIC))


def test_langfuse_11222_what_another_instrumentation_wrote() -> None:
    """https://github.com/langfuse/langfuse/issues/11222: an agent framework's spans hold inputs and outputs under flat keys."""
    value = {
        "attributes": {
            "input.value": json.dumps({"new_message": {"parts": [{"text": f"my key is {GITHUB}"}]}}),
            "llm.input_messages.0.message.content": f"password={PASSWORD}",
            "output.value": f"ok, {GITHUB}",
            "llm.invocation_parameters": json.dumps({"api_key": hexa(32), "temperature": 0}),
        }
    }
    out = REDACTOR.document(value)
    assert all(trace(secret, json.dumps(out)) is None for secret in (GITHUB, PASSWORD, hexa(32)))
    assert json.loads(out["attributes"]["llm.invocation_parameters"])["temperature"] == 0


def test_onyx_13826_reasoning_and_tool_calls() -> None:
    """https://github.com/onyx-dot-app/onyx/issues/13826: the answer was masked, the reasoning and the tools beside it were not."""
    value = {
        "reasoning": f"The user's key is {GITHUB}.",
        "reasoning_content": f"They gave {GITHUB}",
        "tools": [{"name": "sh", "arguments": json.dumps({"cmd": f"export T={GITHUB}"})}],
        "content": [
            {"type": "thinking", "thinking": f"hm, {GITHUB}", "signature": "EqoB" + hexa(120)},
            {"type": "tool_use", "id": "toolu_1", "name": "sh", "input": {"command": f"echo {GITHUB}"}},
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": GITHUB}]},
        ],
    }
    out = REDACTOR.document(value)
    assert trace(GITHUB, json.dumps(out)) is None
    assert out["content"][0]["signature"] == value["content"][0]["signature"]  # type: ignore[index]
    assert out["content"][1]["id"] == "toolu_1"


def _otlp(attributes: list[Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x", "events": [{"name": "exception", "attributes": attributes}]}]}]}]}


def test_otel_36633_events_of_a_span() -> None:
    """https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/36633."""
    value = _otlp(
        [
            {"key": "exception.message", "value": {"stringValue": f"no access with {JWT}"}},
            {"key": "db.url", "value": {"stringValue": f"mongodb://app:{mixed(16)}@db/x"}},
            {"key": "http.request.header.authorization", "value": {"stringValue": f"Bearer {mixed(40)}"}},
        ]
    )
    out = json.dumps(REDACTOR.document(value))
    assert all(trace(secret, out) is None for secret in (JWT, mixed(16), mixed(40)))


def test_otel_37591_arrays_numbers_and_maps() -> None:
    """https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/37591: only strings were looked at."""
    value = _otlp(
        [
            {"key": "headers", "value": {"arrayValue": {"values": [{"stringValue": "plain"}, {"stringValue": f"x {GITHUB}"}]}}},
            {"key": "config", "value": {"kvlistValue": {"values": [{"key": "password", "value": {"stringValue": PASSWORD}}]}}},
            {"key": "password", "value": {"intValue": 987654321}},
            {"key": "retries", "value": {"intValue": 3}},
            {"key": "ok", "value": {"boolValue": True}},
        ]
    )
    out = json.dumps(REDACTOR.document(value))
    assert all(trace(secret, out) is None for secret in (GITHUB, PASSWORD, "987654321"))
    assert '"plain"' in out
    assert '{"intValue": 3}' in out
    assert '{"boolValue": true}' in out
    plain = {"password": [PASSWORD, "second hunter2!"], "pin": 12345678, "client_secret": {"value": PASSWORD}, "port": 5432}
    masked = REDACTOR.document(plain)
    assert masked["port"] == 5432
    assert all(trace(secret, json.dumps(masked)) is None for secret in (PASSWORD, "12345678", "hunter2!"))


def test_otel_43826_names_that_are_flat_or_prefixed() -> None:
    """https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/43826 (known by its subject only)."""
    for name in ("app.db.password", "APP_DB_PASSWORD", "app/db-password", "request.headers.x-api-key", "ns:client_secret"):
        for value in ({name: PASSWORD}, {"key": name, "value": PASSWORD}, {"name": name, "value": {"stringValue": PASSWORD}}):
            assert trace(PASSWORD, json.dumps(REDACTOR.document(value))) is None, value


def test_gitleaks_1387_a_key_and_its_value_as_a_pair() -> None:
    """https://github.com/gitleaks/gitleaks/issues/1387: pairs as an API client exports them, in JSON and in pieces of it."""
    odd = "9@tm!(B/2" + "H_PRNz?4{/@"
    basic = "Basic " + "bWU6" + mixed(24)
    pairs = [
        {"key": "username", "value": "me@example.com", "type": "string"},
        {"key": "password", "value": odd, "type": "string"},
        {"key": "Authorization", "value": basic, "type": "text"},
    ]
    out = REDACTOR.document(pairs)
    assert out[0] is pairs[0]
    assert PLACEHOLDER.fullmatch(out[1]["value"])
    assert PLACEHOLDER.search(out[2]["value"])
    for text in (json.dumps(pairs), json.dumps(pairs, indent="\t"), ",\n".join(json.dumps(pair, indent=2) for pair in pairs) + "\n}"):
        masked = REDACTOR.text(text)
        assert trace(odd, masked) is None
        assert trace(basic[6:], masked) is None


@pytest.mark.parametrize("order", [("name", "value"), ("value", "name"), ("key", "value"), ("value", "key")])
def test_gitleaks_1933_pairs_in_any_order(order: tuple[str, str]) -> None:
    """https://github.com/gitleaks/gitleaks/issues/1933 (known by its subject only)."""
    content = {"name": "DB_PASSWORD", "key": "DB_PASSWORD", "value": PASSWORD}
    pair = {key: content[key] for key in order}
    for value in (pair, [pair], {"env": [pair]}, {"containers": [{"env": [pair, {"name": "PORT", "value": "8080"}]}]}):
        assert trace(PASSWORD, json.dumps(REDACTOR.document(value))) is None
        assert trace(PASSWORD, REDACTOR.text(json.dumps(value))) is None


# -- defects of maskers --------------------------------------------------------------------------------------------------


@given(
    st.sampled_from([GITHUB, PASSWORD, AWS, JWT, SLACK, mixed(20)]), st.sampled_from(["password=%s", "x://u:%s@h/", "?token=%s", "T: %s"])
)
@settings(max_examples=60, deadline=None)
def test_logfire_1909_a_mark_tells_nothing_of_what_it_hides(secret: str, place: str) -> None:
    """https://github.com/pydantic/logfire/issues/1909: the mark quoted the match. Neither marks nor rules nor tallies hold any of it."""
    text = f"postgresql://admin:{secret}@db/ and {place % secret}"
    spans = REDACTOR.spans(text)
    assert trace(secret, REDACTOR.text(text), 4) is None
    assert all(trace(secret, f"{span.kind} {span.rule}", 4) is None for span in spans)


@pytest.mark.parametrize("value", [PASSWORD, mixed(20), "open-sesame-now"])
def test_runner_475_the_command_that_declares_a_secret_shows_it(value: str) -> None:
    """https://github.com/actions/runner/issues/475."""
    for text in (f'echo "::add-mask::{value}"', f"::add-mask::{value}\n", f"##vso[task.setvariable variable=x;issecret=true]{value}\n"):
        assert trace(value, REDACTOR.text(text)) is None
    assert REDACTOR.text('echo "::add-mask::$the_secret"') == 'echo "::add-mask::$the_secret"'


def test_runner_326_a_value_of_several_lines_masks_no_single_letters() -> None:
    """https://github.com/actions/runner/issues/326 (known by its subject only): each line of a secret became one, also a line that was a bracket or a letter."""
    value = '{\n  "a": 1,\n  "private": "' + mixed(40) + '"\n}\n'
    red = known(value, PEM)
    ordinary = 'a {\n}\n  "a": 1,\nx = {"b": 2}\n-----\n'
    assert red.text(ordinary) == ordinary
    assert trace(mixed(40), red.text(f"out: {value}")) is None
    for line in PEM.splitlines()[1:-1]:
        if len(line) >= 16:
            assert trace(line, red.text(f"line: {line} end")) is None


@pytest.mark.parametrize("value", ["100%sure%25thing", "a%0Ab%0D-secret-c", "pass%word&more<x>", 'quote"and\\slash-x', "ключ-от-двери 1"])
def test_runner_2960_escapes_in_a_value(value: str) -> None:
    """https://github.com/actions/runner/pull/2960: a value with a percent sign was looked for in its escaped form only."""
    from urllib.parse import quote, quote_plus

    red = known(value)
    written = (
        value,
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
    )
    for form in {*written, json.dumps(json.dumps(value))[3:-3]}:
        out = red.text(f"x {form} y")
        assert PLACEHOLDER.sub("#", out) == "x # y", form


def test_mvm_1391_the_longest_value_first() -> None:
    """https://github.com/tinylabscom/mvm/pull/1391: the shorter of two values was masked first and the other's tail stayed."""
    short, long = "sk-live-abc", "sk-live-abc-12345-tail"
    for values in ((short, long), (long, short)):
        red = known(*values)
        assert PLACEHOLDER.sub("#", red.text(f"<{long}> <{short}>")) == "<#> <#>"
        red = known(values[0])
        red.learn(values[1], "env")
        assert PLACEHOLDER.sub("#", red.text(f"<{long}> <{short}>")) == "<#> <#>"


@pytest.mark.parametrize("value", ["", " ", "\n", "a", "  x ", "1", "\0", "true", "null", "****"])
def test_lightning_1585_an_empty_value_masks_nothing(value: str) -> None:
    """lightning#1585 (known by its subject only): an empty secret matched between all characters."""
    text = "An ordinary sentence: a, 1, true and null **** x.\n"
    red = known(value)
    red.learn(value, "env")
    assert red.text(text) == text
    assert red.document({"a": text, "b": ""}) == {"a": text, "b": ""}
    assert known_from_environment({"API_TOKEN": value, "DB_PASSWORD": value}) == {}


def test_buildkite_131_a_setting_is_no_secret_of_others() -> None:
    """https://github.com/buildkite/elastic-ci-stack-s3-secrets-hooks/pull/131: ``LIVE`` was masked inside ``DELIVERY``."""
    env = {"DEPLOYMENT_TARGET": "LIVE", "STAGE": "production", "REGION": "eu-central-1", "APP_SECRET": "LIVE", "X_TOKEN": "main"}
    values = known_from_environment(env)
    red = Redactor(Policy.default(), key=KEY, known=values)
    text = 'echo "this is a DELIVERY to production in eu-central-1, on main, LIVELY"'
    assert red.text(text) == text


# -- replay --------------------------------------------------------------------------------------------------------------


@given(
    st.recursive(
        st.sampled_from(
            [
                f'echo "=== deploy token ===" && T={GITHUB}"',
                f'password="{PASSWORD}" \'',
                f'{{"password": "{PASSWORD}"}}',
                f'a\\{GITHUB}\\n"',
                'quote"secret-value',
                "\\secret\\value",
                12345678,
                1234567890,
                None,
                True,
                f"TOKEN={GITHUB}",
            ]
        ),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["password", "text", "at_ms", "cmd", GITHUB]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
@settings(max_examples=200, deadline=None)
def test_paperclip_9856_masked_json_is_json(value: Any) -> None:
    """https://github.com/paperclipai/paperclip/issues/9856: a replacement in serialised text took a quote or a backslash with it."""
    red = Redactor(Policy.default(), key=KEY, known={'quote"secret-value': "env", "\\secret\\value": "env", "12345678": "env"})
    line = json.dumps({"type": "result", "value": value})
    for text in (line, json.dumps({"chunk": line}), json.dumps({"chunk": json.dumps({"chunk": line})})):
        once = red.text(text)
        assert json.loads(once) == red.document(json.loads(text))
        assert trace(GITHUB, once) is None


def test_openclaw_143030_a_mask_is_known_as_one() -> None:
    """https://github.com/openclaw/openclaw/pull/143030: masks came back in new calls as if they were values. Ours name what they stand for,
    stay as they are wherever they are copied to, and fit where the value stood."""
    mark = placeholder("password", KEY, PASSWORD)
    assert "REDACTED" in mark
    for text in (f"curl -u me:{mark} x", f"TOKEN={mark}", f"https://me:{mark}@host/", json.dumps({"password": mark}), f"mysql -p{mark}"):
        assert REDACTOR.text(text) == text
        assert REDACTOR.document({"text": text}) == {"text": text}
    assert REDACTOR.arguments(["mysql", f"-p{mark}", "--password", mark]) == ["mysql", f"-p{mark}", "--password", mark]
    assert PLACEHOLDER.findall(REDACTOR.text(f"password={PASSWORD}")) == [mark]


def test_feint_384_two_values_are_two_marks() -> None:
    """feint#384 (known by its subject only): two names became one REDACTED."""
    first, second = mixed(30), mixed(40)[5:]
    out = REDACTOR.document({"api_key": first, "client_secret": second, "copy": f"api_key={first}"})
    assert neutral(out["api_key"]) != neutral(out["client_secret"])
    assert neutral(out["copy"]) == neutral(f"api_key={out['api_key']}")
    keys = REDACTOR.document({GITHUB: 1, "gh" + "p_" + mixed(40)[4:]: 2, SLACK: 3})
    assert sorted(keys.values()) == [1, 2, 3]


def test_orcareplay_2_what_is_equal_stays_equal() -> None:
    """OrcaReplay PR#2 (known by its subject only): the live request could never equal the masked one."""
    request = {"messages": [{"role": "user", "content": f"use {GITHUB}"}], "headers": {"x-api-key": hexa(32)}, "n": 1}
    recorded, live = redactor(), redactor()
    live.text(f"first seen elsewhere, as api_key={GITHUB}")
    first, again = recorded.document(request), live.document(request)
    assert neutral(json.dumps(first)) == neutral(json.dumps(again))
    assert recorded.document(first) == first
    other = {**request, "messages": [{"role": "user", "content": f"use {SLACK}"}]}
    assert neutral(json.dumps(recorded.document(other))) != neutral(json.dumps(first))


# -- false alarms --------------------------------------------------------------------------------------------------------

SHA = hexa(40)
INTEGRITY = "sha512-" + mixed(86) + "=="
SEALED = "AgB" + mixed(300)


@pytest.mark.parametrize(
    "text",
    [
        # https://github.com/gitleaks/gitleaks/issues/1898: a commit, in the words of many tools
        f"commit {SHA}",
        f"HEAD is now at {SHA[:10]} a message",
        f"uses: actions/checkout@{SHA} # v4",
        f"https://sourcegraph.example.com/github.com/a/b@{SHA}/-/blob/x.go",
        f'"gitHead": "{SHA}"',
        f"index {SHA[:7]}..{SHA[7:14]} 100644",
        f"git+https://github.com/a/b.git#{SHA}",
        f"Subproject commit {SHA}",
        # https://github.com/gitleaks/gitleaks/issues/1219
        f"tokenizationId: '{hexa(32)}',",
        # https://github.com/gitleaks/gitleaks/issues/538 (known by its subject only)
        f'"integrity": "{INTEGRITY}",',
        f"integrity {INTEGRITY}",
        f'"resolved": "https://registry.example.org/a/-/a-1.0.0.tgz#{SHA}",',
        f"resolution: {{integrity: {INTEGRITY}}}",
        f"github.com/a/token v1.2.3 h1:{mixed(43)}=",
        f'{{file = "token-1.0.tar.gz", hash = "sha256:{hexa(64)}"}}',
        # https://github.com/gitleaks/gitleaks/issues/1111
        "org.springframework.security:spring-security-oauth2-token:2.0.6=default,runtimeClasspath",
        "com.auth0:java-jwt:4.4.0=compileClasspath\norg.slf4j:slf4j-api:2.0.6=default",
        # https://github.com/gitleaks/gitleaks/issues/2026 (known by its subject only)
        f"sha256:{hexa(64)}",
        f"digest: sha256:{hexa(64)}",
        f"image: ghcr.io/a/token-service@sha256:{hexa(64)}",
        # https://github.com/Yelp/detect-secrets/issues/250
        f"request {uuid()} failed",
        f'"id": "{uuid()}", "parent": "{uuid().upper()}"',
        f"session_id={uuid()}",
        # https://github.com/Yelp/detect-secrets/issues/746 (known by its subject only)
        "password = getpass.getpass('Password: ')",
        "secret = os.environ['SECRET_KEY']",
        'token: "${TOKEN}"',
        # https://github.com/luisgf/infrabroker/issues/86 (known by its subject only): commands that hold no secret
        "ssh -p 2222 deploy@host 'systemctl restart token-service'",
        "mysql -u root -p prod < dump.sql",
        "tar -pxzf a.tgz && cp -p a b",
        "mkdir -p /srv/tokens && psql -p 5432 -U app",
        "kubectl get secret app-token -o name",
        "vault token lookup -accessor",
        "git log --author=me -p src/auth/password.py",
    ],
)
def test_gitleaks_1898_1219_538_1111_2026_detect_secrets_250_746_infrabroker_86_no_secret(text: str) -> None:
    """Each line names its report."""
    assert REDACTOR.text(text) == text
    value = {"text": text}
    assert REDACTOR.document(value) is value


def test_gitleaks_1728_a_sealed_secret_is_encrypted() -> None:
    """https://github.com/gitleaks/gitleaks/issues/1728."""
    text = (
        "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata:\n  name: basic-auth\nspec:\n  encryptedData:\n"
        f"    host: {SEALED}\n    user: {SEALED}\n  template:\n    metadata:\n      name: basic-auth\n"
    )
    assert REDACTOR.text(text) == text
