# needs: anthropic
"""The real SDK, streaming, sync and async."""

import asyncio
import os

import anthropic

base = os.environ["BASE"] + "/anthropic"
question = {"model": "claude-test", "max_tokens": 64, "messages": [{"role": "user", "content": "hello"}]}
with anthropic.Anthropic(api_key="test-key", base_url=base).messages.stream(**question) as stream:
    print("|".join(stream.text_stream), stream.get_final_message().usage.output_tokens)


async def main():
    client = anthropic.AsyncAnthropic(api_key="test-key", base_url=base)
    async with client.messages.stream(**question) as stream:
        print([text async for text in stream.text_stream])


asyncio.run(main())
