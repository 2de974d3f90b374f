# needs: openai-agents
"""The OpenAI Agents SDK: tools, a handoff, an input guardrail; run once whole and once streamed, on the Chat Completions and the Responses API."""

import asyncio
import os
import sys
import uuid
from datetime import datetime

from agents import Agent, GuardrailFunctionOutput, InputGuardrail, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI


@function_tool
async def look_up(service: str) -> str:
    """Look up who owns a service."""
    await asyncio.sleep(0.02 if service == "checkout" else 0.01)
    return "%s is owned by team-%s (ticket %s)" % (service, service[:3], uuid.uuid4())


@function_tool
def count_notes() -> int:
    """How many notes there are."""
    return 2


async def polite(context, agent, text):
    return GuardrailFunctionOutput(output_info={"checked": str(datetime.now())}, tripwire_triggered=False)


async def main():
    client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"])
    question = " ".join(sys.argv[1:]) or "Who owns checkout and payments?"
    for model in (OpenAIChatCompletionsModel("gpt-4.1", client), OpenAIResponsesModel("gpt-4.1", client)):
        agent = Agent(
            name="Owner finder",
            instructions="You answer questions about services. It is %s." % datetime.now(),
            tools=[look_up, count_notes],
            model=model,
            input_guardrails=[InputGuardrail(guardrail_function=polite)],
        )
        result = await Runner.run(agent, question)
        print(result.final_output, [type(item).__name__ for item in result.new_items])
        streamed = Runner.run_streamed(agent, question)
        async for event in streamed.stream_events():
            print(event.type, getattr(getattr(event, "item", None), "type", ""))
        print(streamed.final_output)


asyncio.run(main())
