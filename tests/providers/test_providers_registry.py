from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tachograph.format import eventstream, sse
from tachograph.providers import PROVIDERS, Conversational, Decoded, Exchange, Provider, decode, identify, wire
from tachograph.providers.conversation import conversation, reply
from tachograph.testing.provider_suite import check_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

URLS = (
    "https://h/v1/messages",
    "https://h/v1/messages/count_tokens",
    "https://h/v1/chat/completions",
    "https://h/v1/responses",
    "https://h/model/m/converse",
    "https://h/model/m/converse-stream",
    "https://h/model/m/invoke",
    "https://h/model/m/invoke-with-response-stream",
    "https://h/model/m/count-tokens",
    "https://h/guardrail/g/version/1/apply",
)
# Words that the readers look for, so that random bodies go deep into them.
WORDS = [
    "type", "index", "delta", "content", "content_block", "message", "messages", "role", "text", "thinking",
    "tool_use", "tool_result", "id", "name", "input", "usage", "error", "message_start", "content_block_start",
    "content_block_delta", "content_block_stop", "message_delta", "partial_json", "input_json_delta", "choices",
    "tool_calls", "function", "arguments", "finish_reason", "logprobs", "response", "output", "output_index", "item",
    "summary", "part", "status", "response.created", "response.output_item.added", "response.output_text.delta",
    "response.function_call_arguments.delta", "response.content_part.added", "response.completed", "function_call",
    "output_text", "contentBlockIndex", "start", "toolUse", "toolResult", "reasoningContent", "citation",
    "stopReason", "trace", "guardrail", "guardrailConfig", "inferenceConfig", "toolConfig", "tools", "system",
    "bytes", "anthropic_version", "outputs", "results", "inputTokens", "input_tokens", "input_tokens_details",
    "prompt", "version", "additionalModelRequestFields",
]  # fmt: skip
word = st.sampled_from(WORDS) | st.text(max_size=5)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.integers() | word,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(word, inner, max_size=5),
    max_leaves=25,
)
json_bytes = json_value.map(lambda value: wire.dumps(value).encode())
sse_bytes = st.lists(st.dictionaries(word, json_value, max_size=5), max_size=6).map(
    lambda datas: b"".join(sse.encode(None, wire.dumps(data)) for data in datas)
)
header = st.sampled_from([":event-type", ":message-type", ":exception-type"])
kind = st.sampled_from(["event", "exception", "error", "chunk", "messageStart", "contentBlockStart", "contentBlockDelta", "metadata"])
frame_bytes = st.lists(st.tuples(st.dictionaries(header, kind), json_bytes), max_size=6).map(
    lambda messages: b"".join(eventstream.encode(headers, payload) for headers, payload in messages)
)
TYPES = ((), (("content-type", "text/event-stream"),), (("content-type", "application/vnd.amazon.eventstream"),))
exchanges = st.builds(
    Exchange,
    method=st.just("POST"),
    url=st.sampled_from(URLS),
    request_headers=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=2).map(tuple),
    request=json_value | st.text(max_size=5) | st.binary(max_size=5),
    status=st.none() | st.integers(100, 599),
    answer_headers=st.sampled_from(TYPES),
    answer=st.binary(max_size=30) | json_bytes | sse_bytes | frame_bytes,
    complete=st.booleans(),
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(exchanges)
def test_decode_never_raises_and_no_provider_needs_the_guard(exchange: Exchange) -> None:
    decoded = decode(exchange)
    assert decoded is not None
    assert not any("could not read this exchange" in problem for problem in decoded.problems)
    check_shape(decoded)
    conversation(decoded.provider, decoded.operation, decoded.input)
    reply(decoded.provider, decoded.operation, decoded.output)


def test_names_are_unique_and_urls_belong_to_one_provider() -> None:
    assert len({provider.name for provider in PROVIDERS}) == len(PROVIDERS)
    for url in URLS:
        assert sum(provider.identify("POST", url, []) is not None for provider in PROVIDERS) == 1, url
    assert all(isinstance(provider, Conversational) for provider in PROVIDERS)


def test_what_is_no_model_call() -> None:
    assert identify("GET", "https://example.com/", []) is None
    assert decode(Exchange(method="GET", url="https://example.com/")) is None


class Clumsy:
    """A provider that fails at everything but its name."""

    name = "clumsy"

    def __init__(self, operation: str | None) -> None:
        self.operation = operation

    def identify(self, method: str, url: str, headers: Sequence[Sequence[str]]) -> str | None:
        if self.operation is None:
            raise KeyError(url)
        return self.operation

    def decode(self, exchange: Exchange, operation: str) -> Decoded:
        raise RecursionError("sk-secret in an exception text")


def test_a_provider_that_fails_hides_neither_the_others_nor_the_call() -> None:
    exchange = Exchange(
        method="POST", url=URLS[0], request={"a": 1}, status=200, answer=b'{"b": 2}', answer_headers=(("request-id", "r1"),)
    )
    providers: list[Provider] = [Clumsy(None), *PROVIDERS]
    found = identify("POST", URLS[0], [], providers=providers)
    assert found is not None
    assert found[0].name == "anthropic"
    decoded = decode(exchange, providers=[Clumsy("chat")])
    assert decoded == Decoded(
        provider="clumsy",
        operation="chat",
        input={"a": 1},
        output={"b": 2},
        request_id="r1",
        problems=("the provider clumsy could not read this exchange: RecursionError",),
    )


@pytest.mark.parametrize("value", [None, {"a": 1}, "text"])
def test_the_view_of_a_provider_that_has_none(value: Any) -> None:
    shown = conversation("clumsy", "chat", value, providers=[Clumsy("chat")])
    parts = [part for message in shown.messages for part in message.parts]
    assert [part.value for part in parts] == ([] if value is None else [value])
    assert [part.value for part in reply("unknown", "chat", value)] == ([] if value is None else [value])


def test_problems_are_named_and_counted() -> None:
    body = sse.encode(None, "{cut") * 20 + sse.encode(None, '{"type": "ping"}')
    decoded = decode(Exchange(method="POST", url=URLS[0], status=200, answer=body))
    assert decoded is not None
    assert decoded.problems[0] == "the data of the event at byte 0 are not a JSON object"
    assert len(decoded.problems) == 10
    decoded = decode(Exchange(method="POST", url=URLS[0], status=200, answer=b'{"id": "msg', complete=False))
    assert decoded is not None
    assert (decoded.output, decoded.problems) == ('{"id": "msg', ("the answer was cut and is not JSON",))
