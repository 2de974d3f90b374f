"""The server against the real anthropic SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import pytest

from tachograph.testing.model_server import ModelServer, Script, Turn

MODEL = "claude-sonnet-4-6"
TOOLS: list[Any] = [
    {"name": "add", "description": "Adds.", "input_schema": {"type": "object", "properties": {"a": {}, "b": {}}}},
]
CALLS = [{"name": "add", "input": {"a": 1, "b": 'naïve "quotes"'}}, {"name": "add", "input": {}}]


def client(server: ModelServer, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, api_key="test", **options)


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_message() -> None:
    with ModelServer(Script(turns=[Turn("Bonjour, Zoë 🚚", model="claude-sonnet-4-6-20260217")])) as server:
        raw = client(server).messages.with_raw_response.create(model=MODEL, max_tokens=9, messages=[user("hi")])
        message = raw.parse()
    assert message.content[0].text == "Bonjour, Zoë 🚚"
    assert message.id.startswith("msg_01")
    assert len(message.id) == 28
    assert message.model == "claude-sonnet-4-6-20260217"
    assert message.stop_reason == "end_turn"
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 0
    assert message._request_id == raw.headers["request-id"]


@pytest.mark.parametrize("stream", [False, True])
def test_tool_loop(stream: bool) -> None:
    script = Script(turns=[Turn("Adding.", tool_calls=CALLS), Turn("Done.")])
    with ModelServer(script) as server:
        sdk = client(server)
        messages = [user("add")]

        def say() -> Any:
            arguments: Any = {"model": MODEL, "max_tokens": 99, "messages": messages, "tools": TOOLS}
            if not stream:
                return sdk.messages.create(**arguments)
            with sdk.messages.stream(**arguments) as events:
                return events.get_final_message()

        first = say()
        assert first.stop_reason == "tool_use"
        assert [block.type for block in first.content] == ["text", "tool_use", "tool_use"]
        assert [(block.name, block.input) for block in first.content[1:]] == [(c["name"], c["input"]) for c in CALLS]
        ids = [block.id for block in first.content[1:]]
        assert all(id_.startswith("toolu_01") for id_ in ids)
        assert len(set(ids)) == 2
        messages.append({"role": "assistant", "content": first.content})
        messages.append(user([{"type": "tool_result", "tool_use_id": id_, "content": "2"} for id_ in ids]))
        assert say().content[0].text == "Done."


def test_stream_events_one_word_at_a_time() -> None:
    with ModelServer(Script(turns=[Turn("one two  three\n")])) as server:
        with client(server).messages.stream(model=MODEL, max_tokens=9, messages=[user("hi")]) as stream:
            assert list(stream.text_stream) == ["one ", "two  ", "three\n"]
            assert stream.get_final_message().stop_reason == "end_turn"


def test_pieces_of_a_given_length() -> None:
    with ModelServer(Script(turns=[Turn("sk-secret", chunk_chars=4)])) as server:
        with client(server).messages.stream(model=MODEL, max_tokens=9, messages=[user("hi")]) as stream:
            assert list(stream.text_stream) == ["sk-s", "ecre", "t"]


@pytest.mark.parametrize("stream", [False, True])
def test_thinking_is_shown_to_those_who_ask(stream: bool) -> None:
    with ModelServer(Script(turns=[Turn("42", thinking="Let me see.")])) as server:
        sdk = client(server)
        arguments: Any = {"model": MODEL, "max_tokens": 4000, "messages": [user("hi")]}

        def blocks(**more: Any) -> list[Any]:
            if not stream:
                return sdk.messages.create(**arguments, **more).content
            with sdk.messages.stream(**arguments, **more) as events:
                return events.get_final_message().content

        thinking, text = blocks(thinking={"type": "enabled", "budget_tokens": 1024})
        assert (thinking.thinking, text.text) == ("Let me see.", "42")
        assert len(thinking.signature) == 64
        assert [block.type for block in blocks()] == ["text"]


def test_async() -> None:
    async def main() -> tuple[list[str], list[str]]:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="test") as sdk:

            async def say(text: str) -> str:
                async with sdk.messages.stream(model=MODEL, max_tokens=9, messages=[user(text)]) as stream:
                    return "".join([piece async for piece in stream.text_stream])

            streamed = await asyncio.gather(*(say(f"number {n}") for n in range(4)))
            message = await sdk.messages.create(model=MODEL, max_tokens=9, messages=[user("number 2")])
            return streamed, [message.content[0].text]

    turns = [Turn(f"answer {n}", when=f"number {n}", first_delay_ms=30 - 10 * n) for n in range(4)]
    with ModelServer(Script(turns=turns)) as server:
        assert asyncio.run(main()) == ([f"answer {n}" for n in range(4)], ["answer 2"])


@pytest.mark.parametrize("status", [429, 500, 529])
def test_the_sdk_retries(status: int) -> None:
    with ModelServer(Script(turns=[Turn("ok", status=status, retry_after_ms=1)])) as server:
        message = client(server).messages.create(model=MODEL, max_tokens=9, messages=[user("hi")])
        assert message.content[0].text == "ok"
        assert [request.headers["x-stainless-retry-count"] for request in server.requests] == ["0", "1"]


def test_error_types() -> None:
    expected = {429: anthropic.RateLimitError, 401: anthropic.AuthenticationError, 500: anthropic.InternalServerError}
    with ModelServer(Script(turns=[Turn("ok", status=list(expected))])) as server:
        sdk = client(server, max_retries=0)
        for status, kind in expected.items():
            with pytest.raises(kind) as caught:
                sdk.messages.create(model=MODEL, max_tokens=9, messages=[user("hi")])
            assert caught.value.status_code == status
            assert caught.value.request_id is not None
            assert caught.value.request_id.startswith("req_011C")


def test_broken_stream() -> None:
    with ModelServer(Script(turns=[Turn("one two three four", drop_after=5)])) as server:
        sdk = client(server)
        seen = []
        with pytest.raises(Exception, match="incomplete chunked read"):  # the SDK hands on what its transport raises
            with sdk.messages.stream(model=MODEL, max_tokens=9, messages=[user("hi")]) as stream:
                seen.extend(stream.text_stream)
        assert seen == ["one ", "two "]
        with sdk.messages.stream(model=MODEL, max_tokens=9, messages=[user("hi")]) as stream:
            assert stream.get_final_text() == "one two three four"


def test_error_in_a_stream() -> None:
    with ModelServer(Script(turns=[Turn("one two", error_after=4)])) as server:
        with pytest.raises(anthropic.APIStatusError) as caught:
            with client(server).messages.stream(model=MODEL, max_tokens=9, messages=[user("hi")]) as stream:
                stream.until_done()
    assert caught.value.body == {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def test_gzip() -> None:
    with ModelServer(Script(turns=[Turn("packed and streamed")]), compress=True) as server:
        sdk = client(server)
        raw = sdk.messages.with_raw_response.create(model=MODEL, max_tokens=9, messages=[user("hi")])
        assert raw.headers["content-encoding"] == "gzip"
        assert raw.parse().content[0].text == "packed and streamed"
        with sdk.messages.stream(model=MODEL, max_tokens=9, messages=[user("hi")]) as stream:
            assert stream.response.headers["content-encoding"] == "gzip"
            assert stream.get_final_text() == "packed and streamed"


def test_count_tokens_and_stop_reason() -> None:
    with ModelServer(Script(turns=[Turn("cut", stop_reason="max_tokens")])) as server:
        sdk = client(server)
        message = sdk.messages.create(model=MODEL, max_tokens=1, messages=[user("hello there")])
        counted = sdk.messages.count_tokens(model=MODEL, messages=[user("hello there")])
    assert message.stop_reason == "max_tokens"
    assert counted.input_tokens == message.usage.input_tokens


@pytest.mark.parametrize(("version", "accepted"), [("2023-06-01", True), ("2026-10-21", False)])
def test_sampling_parameters_by_api_version(version: str, accepted: bool) -> None:
    with ModelServer(Script(turns=[Turn("x")])) as server:
        sdk = client(server, default_headers={"anthropic-version": version})
        said: Any = {"model": MODEL, "max_tokens": 9, "messages": [user("hi")], "extra_body": {"temperature": 0}}
        if accepted:
            assert sdk.messages.create(**said).content[0].text == "x"
            assert server.requests[0].body["temperature"] == 0
            assert server.requests[0].headers["anthropic-version"] == version
        else:
            with pytest.raises(anthropic.BadRequestError, match="temperature: Extra inputs are not permitted"):
                sdk.messages.create(**said)


CALL: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "2"}


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([user("a"), {"role": "assistant", "content": [CALL]}], "without `tool_result` blocks immediately after: toolu_1"),
        ([user("a"), {"role": "assistant", "content": [CALL]}, user("b")], "messages.1: `tool_use` ids"),
        ([user([RESULT])], "messages.0: unexpected `tool_use_id`"),
        ([], "at least one message"),
    ],
)
def test_conversations_that_the_real_service_refuses(messages: list[Any], complaint: str) -> None:
    with ModelServer(Script(turns=[Turn("x"), Turn("y")])) as server:
        with pytest.raises(anthropic.BadRequestError, match=complaint):
            client(server).messages.create(model=MODEL, max_tokens=9, messages=messages, tools=TOOLS)
