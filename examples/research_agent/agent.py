"""A research agent in one file: ``python agent.py QUESTION…``.

The model picks lookups, which run side by side; each lookup has its finding summarised by a smaller model as soon as it
has it. The answer is then written from the notes, in the order in which they came in, and streamed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from openai import AsyncOpenAI

PLANNER = "gpt-4.1"
SUMMARISER = "gpt-4.1-mini"
SAMPLING: dict[str, Any] = {"temperature": 0, "top_p": 1}
SEED = 7
MAX_ROUNDS = 4

# Three small collections stand in for slow services: (seconds an answer takes, entries).
COLLECTIONS: dict[str, tuple[float, dict[str, str]]] = {
    "papers": (
        0.65,
        {
            "cold": "Below 0 °C lithium diffuses into graphite about ten times more slowly than at 25 °C; charged fast, "
            "it is deposited as metal on the anode instead, which is not reversible (measured on 18650 cells, n = 48).",
        },
    ),
    "standards": (
        0.35,
        {
            "cold": "A battery management system shall refuse charging above C/10 while any cell is below 0 °C and shall log the refusal.",
        },
    ),
    "field_reports": (
        0.05,
        {
            "cold": "Depot in Tromsø: 31 of 40 vans lost more than 12 % of capacity in their first winter. The nine that were "
            "plugged in at arrival, packs still warm, lost 3 %.",
        },
    ),
}


class Researcher:
    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client
        self.notes: list[str] = []

    async def lookup(self, collection: str, topic: str) -> str:
        """One collection's finding on a topic, summarised."""
        seconds, entries = COLLECTIONS[collection]
        await asyncio.sleep(seconds)
        finding = next((text for key, text in entries.items() if key in topic.lower()), "")
        if not finding:
            return f"nothing in {collection} on {topic}"
        answer = await self.client.chat.completions.create(
            model=SUMMARISER,
            messages=[
                {"role": "system", "content": "Summarise in one sentence. Keep the numbers."},
                {"role": "user", "content": f"From {collection}:\n{finding}"},
            ],
            seed=SEED,
            **SAMPLING,
        )
        return answer.choices[0].message.content or ""

    async def answer_call(self, call: Any) -> dict[str, Any]:
        arguments = json.loads(call.function.arguments)
        collection = call.function.name[len("search_") :]
        note = await self.lookup(collection, arguments["topic"])
        self.notes.append(f"{collection}: {note}")
        say(f"[{len(self.notes)}] {self.notes[-1]}")
        return {"role": "tool", "tool_call_id": call.id, "content": note}

    async def gather(self, question: str) -> None:
        """Rounds of parallel lookups until the model has seen enough."""
        messages: list[Any] = [
            {"role": "system", "content": "Look things up until you can answer. Use all collections that may help, at once."},
            {"role": "user", "content": question},
        ]
        for _ in range(MAX_ROUNDS):
            answer = await self.client.chat.completions.create(
                model=PLANNER, messages=messages, tools=TOOLS, parallel_tool_calls=True, seed=SEED, **SAMPLING
            )
            message = answer.choices[0].message
            if message.content:
                say(f"planner: {message.content}")
            if not message.tool_calls:
                return
            say("looking up: " + ", ".join(call.function.name for call in message.tool_calls))
            messages.append(message)
            messages += await asyncio.gather(*(self.answer_call(call) for call in message.tool_calls))

    async def write(self, question: str) -> None:
        notes = "\n".join(f"[{number}] {note}" for number, note in enumerate(self.notes, start=1))
        say("answer:")
        async with self.client.responses.stream(
            model=PLANNER,
            instructions="Answer from the notes alone and cite them by number.",
            input=f"Question: {question}\n\nNotes:\n{notes}",
            store=False,
            **SAMPLING,
        ) as events:
            async for event in events:
                if event.type == "response.output_text.delta":
                    print(event.delta, end="", flush=True)
        print(flush=True)


TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": f"search_{name}",
            "description": f"Search the {name.replace('_', ' ')}.",
            "parameters": {
                "type": "object",
                "properties": {"topic": {"type": "string"}},
                "required": ["topic"],
                "additionalProperties": False,
            },
        },
    }
    for name in COLLECTIONS
]


def say(line: str) -> None:
    print(line, flush=True)


async def main(question: str) -> None:
    say(f"question: {question}")
    async with AsyncOpenAI() as client:
        researcher = Researcher(client)
        await researcher.gather(question)
        await researcher.write(question)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python agent.py QUESTION…")
    asyncio.run(main(" ".join(sys.argv[1:])))
