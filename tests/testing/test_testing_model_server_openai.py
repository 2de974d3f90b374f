"""The server against the real openai SDK: Chat Completions and Responses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest

from tachograph.testing.model_server import ModelServer, Script, Turn

MODEL = "gpt-4.1"
CALLS = [{"name": "find", "input": {"q": 'Zoë \\ "x"'}}, {"name": "find", "input": {"q": "b"}}]
CHAT_TOOLS: Any = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
RESPONSE_TOOLS: Any = [{"type": "function", "name": "find", "parameters": {"type": "object"}, "strict": False}]


def client(server: ModelServer, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url + "/v1", api_key="test", **options)


def user(text: str) -> Any:
    return {"role": "user", "content": text}


class TestChat:
    def test_completion(self) -> None:
        with ModelServer(Script(turns=[Turn("Hello.", model="gpt-4.1-2025-04-14")])) as server:
            raw = client(server).chat.completions.with_raw_response.create(model=MODEL, messages=[user("hi")])
        completion = raw.parse()
        assert completion.choices[0].message.content == "Hello."
        assert completion.choices[0].finish_reason == "stop"
        assert completion.model == "gpt-4.1-2025-04-14"
        assert completion.id.startswith("chatcmpl-")
        assert completion.usage is not None
        assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
        assert completion._request_id == raw.headers["x-request-id"]

    @pytest.mark.parametrize("stream", [False, True])
    def test_tool_loop(self, stream: bool) -> None:
        with ModelServer(Script(turns=[Turn(tool_calls=CALLS), Turn("both found")])) as server:
            sdk = client(server)
            messages = [user("look")]

            def say() -> Any:
                if not stream:
                    return sdk.chat.completions.create(model=MODEL, messages=messages, tools=CHAT_TOOLS).choices[0]
                with sdk.chat.completions.stream(model=MODEL, messages=messages, tools=CHAT_TOOLS) as events:
                    events.until_done()
                    return events.get_final_completion().choices[0]

            first = say()
            assert first.finish_reason == "tool_calls"
            assert first.message.content is None
            calls = first.message.tool_calls
            assert [json.loads(call.function.arguments) for call in calls] == [call["input"] for call in CALLS]
            assert all(call.id.startswith("call_") and call.function.name == "find" for call in calls)
            given = [call.model_dump(include={"id", "type", "function"}) for call in calls]
            messages.append({"role": "assistant", "tool_calls": given})
            messages.extend({"role": "tool", "tool_call_id": call.id, "content": "1"} for call in calls)
            assert say().message.content == "both found"

    def test_stream_with_and_without_usage(self) -> None:
        with ModelServer(Script(turns=[Turn("one two")])) as server:
            create = client(server).chat.completions.create
            chunks = list(create(model=MODEL, messages=[user("a")], stream=True))
            assert [chunk.choices[0].delta.content for chunk in chunks] == ["", "one ", "two", None]
            assert [chunk.choices[0].finish_reason for chunk in chunks] == [None, None, None, "stop"]
            assert len({chunk.id for chunk in chunks}) == 1
            counted = list(create(model=MODEL, messages=[user("a")], stream=True, stream_options={"include_usage": True}))
        assert [chunk.usage is None for chunk in counted] == [True] * 4 + [False]
        assert counted[-1].choices == []

    def test_retry_and_errors(self) -> None:
        with ModelServer(Script(turns=[Turn("ok", status=[429, 500, 429, 401], retry_after_ms=1)])) as server:
            sdk = client(server)
            with pytest.raises(openai.RateLimitError) as caught:
                sdk.chat.completions.create(model=MODEL, messages=[user("a")])
            assert caught.value.code == "rate_limit_exceeded"
            assert len(server.requests) == 3
            with pytest.raises(openai.AuthenticationError):
                sdk.chat.completions.create(model=MODEL, messages=[user("a")])
            assert sdk.chat.completions.create(model=MODEL, messages=[user("a")]).choices[0].message.content == "ok"

    def test_broken_connections(self) -> None:
        with ModelServer(Script(turns=[Turn("one two three", drop_after=2)])) as server:
            sdk = client(server)
            seen: list[str | None] = []
            with pytest.raises(openai.APIConnectionError):
                read(sdk, seen)
            assert seen == ["", "one "]
            assert len(server.requests) == 1
        with ModelServer(Script(turns=[Turn("whole", drop_after=0)])) as server:
            # Nothing came at all, so the SDK tries again by itself.
            assert client(server).chat.completions.create(model=MODEL, messages=[user("a")]).choices[0].message.content
            assert len(server.requests) == 2

    def test_error_in_a_stream(self) -> None:
        with ModelServer(Script(turns=[Turn("one two", error_after=2)])) as server:
            with pytest.raises(openai.APIError, match="had an error while processing"):
                list(client(server).chat.completions.create(model=MODEL, messages=[user("a")], stream=True))

    def test_async_parallel(self) -> None:
        async def main() -> list[str | None]:
            async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="test") as sdk:

                async def say(text: str) -> str | None:
                    completion = await sdk.chat.completions.create(model=MODEL, messages=[user(text)])
                    return completion.choices[0].message.content

                return list(await asyncio.gather(*(say(f"number {n}") for n in range(3))))

        with ModelServer(Script(turns=[Turn(f"<{n}>", when=f"number {n}") for n in range(3)])) as server:
            assert asyncio.run(main()) == ["<0>", "<1>", "<2>"]

    @pytest.mark.parametrize(
        ("messages", "complaint"),
        [
            ([], "empty array"),
            ([user("a"), {"role": "assistant", "tool_calls": [{"id": "call_1"}]}, user("b")], "did not have response"),
            ([user("a"), {"role": "tool", "tool_call_id": "call_1", "content": ""}], "must be a response to a preceeding"),
        ],
    )
    def test_refusals(self, messages: list[Any], complaint: str) -> None:
        with ModelServer(Script(turns=[Turn("x"), Turn("y")])) as server:
            with pytest.raises(openai.BadRequestError, match=complaint):
                client(server).chat.completions.create(model=MODEL, messages=messages)


def read(sdk: openai.OpenAI, seen: list[str | None]) -> None:
    stream = sdk.chat.completions.create(model=MODEL, messages=[user("a")], stream=True)
    seen.extend(chunk.choices[0].delta.content for chunk in stream)


class TestResponses:
    def test_response(self) -> None:
        with ModelServer(Script(turns=[Turn("Hello.")])) as server:
            response = client(server).responses.create(model=MODEL, input="hi", instructions="Be brief.", temperature=0)
        assert response.output_text == "Hello."
        assert response.status == "completed"
        assert (response.instructions, response.temperature, response.top_p) == ("Be brief.", 0, 1)
        assert response.usage is not None
        assert response.usage.output_tokens > 0

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("by_id", [False, True])
    def test_tool_loop(self, stream: bool, by_id: bool) -> None:
        turns = [Turn("Looking.", tool_calls=CALLS), Turn("Found.", tool_calls=CALLS[:1]), Turn("Really.")]
        with ModelServer(Script(turns=turns)) as server:
            sdk = client(server)
            given: Any = [user("look")]
            previous: Any = openai.omit

            def say() -> Any:
                arguments: Any = {"model": MODEL, "input": given, "tools": RESPONSE_TOOLS, "previous_response_id": previous}
                if not stream:
                    return sdk.responses.create(**arguments)
                with sdk.responses.stream(**arguments) as events:
                    events.until_done()
                    return events.get_final_response()

            texts = []
            for _ in turns:
                response = say()
                texts.append(response.output_text)
                calls = [item for item in response.output if item.type == "function_call"]
                results = [{"type": "function_call_output", "call_id": call.call_id, "output": "1"} for call in calls]
                if by_id:
                    given, previous = results, response.id
                else:
                    given = [*given, *(item.to_dict() for item in response.output), *results]
            assert texts == ["Looking.", "Found.", "Really."]
            assert json.loads(server.requests[-1].body["input"][-1]["output"]) == 1

    def test_stream_events(self) -> None:
        with ModelServer(Script(turns=[Turn("a b", tool_calls=CALLS[:1])])) as server:
            events = list(client(server).responses.create(model=MODEL, input="hi", stream=True))
        assert [event.sequence_number for event in events] == list(range(len(events)))
        kinds = [event.type.removeprefix("response.") for event in events]
        assert kinds[:6] == [
            "created",
            "in_progress",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
        ]
        assert kinds[-3:] == ["function_call_arguments.done", "output_item.done", "completed"]
        assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "a b"

    def test_reasoning_and_incomplete(self) -> None:
        with ModelServer(Script(turns=[Turn("cut", thinking="Hm.", stop_reason="max_tokens")])) as server:
            sdk = client(server)
            response = sdk.responses.create(model="gpt-5", input="hi", reasoning={"summary": "auto"})
            with sdk.responses.stream(model="gpt-5", input="hi", reasoning={"summary": "auto"}) as events:
                kinds = [event.type for event in events]
        assert [item.type for item in response.output] == ["reasoning", "message"]
        assert response.output[0].summary[0].text == "Hm."  # type: ignore[union-attr]
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
        assert "response.reasoning_summary_text.delta" in kinds
        assert kinds[-1] == "response.incomplete"

    def test_error_in_a_stream(self) -> None:
        with ModelServer(Script(turns=[Turn("one two", error_after=3)])) as server:
            events = list(client(server).responses.create(model=MODEL, input="hi", stream=True))
        assert [event.type for event in events][2:] == ["response.output_item.added", "error"]
        assert events[-1].message.startswith("The server had an error")  # type: ignore[union-attr]

    def test_async_stream(self) -> None:
        async def main() -> str:
            async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="test") as sdk:
                async with sdk.responses.stream(model=MODEL, input="hi") as events:
                    return "|".join([event.delta async for event in events if event.type == "response.output_text.delta"])

        with ModelServer(Script(turns=[Turn("one two three")]), compress=True) as server:
            assert asyncio.run(main()) == "one |two |three"

    @pytest.mark.parametrize(
        ("given", "complaint"),
        [
            ({"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]}, "No tool output found"),
            ({"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]}, "No tool call found"),
            ({"input": "a", "previous_response_id": "resp_unknown"}, "not found"),
        ],
    )
    def test_refusals(self, given: Any, complaint: str) -> None:
        with ModelServer(Script(turns=[Turn("x"), Turn("y")])) as server:
            with pytest.raises(openai.BadRequestError, match=complaint):
                client(server).responses.create(model=MODEL, **given)
