# needs: pydantic-ai-slim
"""pydantic-ai: typed tools with dependencies, run whole, streamed and step by step."""

import asyncio
import os
import random
import sys
import time
from dataclasses import dataclass

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


@dataclass
class Books:
    owners: dict


model = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"]))
agent = Agent(model, deps_type=Books, system_prompt="You answer questions about services.", model_settings={"temperature": 0.0})


@agent.system_prompt
def now(context: RunContext[Books]) -> str:
    return "It is %d, you are number %d." % (time.time(), random.randrange(10**6))


@agent.tool
async def look_up(context: RunContext[Books], service: str) -> str:
    """Look up who owns a service."""
    await asyncio.sleep(random.random() / 50)
    return "%s is owned by %s" % (service, context.deps.owners.get(service, "nobody"))


@agent.tool_plain
def count_notes() -> int:
    """How many notes there are."""
    return 2


async def main():
    question = " ".join(sys.argv[1:]) or "Who owns checkout and payments?"
    books = Books({"checkout": "team-che", "payments": "team-pay"})
    result = await agent.run(question, deps=books)
    print(result.output, result.usage)
    async with agent.run_stream(question, deps=books) as streamed:
        async for text in streamed.stream_text(delta=True, debounce_by=None):
            print(repr(text))
    async with agent.iter(question, deps=books) as run:
        async for node in run:
            print(type(node).__name__)
        print(run.result.output)


asyncio.run(main())
