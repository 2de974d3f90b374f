# needs: langgraph langchain-openai
"""LangGraph's prebuilt ReAct agent, with tools that the graph runs at once on its own threads, then async."""

import asyncio
import os
import sys
import uuid
from datetime import datetime

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent

notes = []


@tool
def look_up(service: str) -> str:
    """Look up who owns a service."""
    notes.append(service)
    return "%s is owned by team-%s, asked %s (ticket %s)" % (service, service[:3], datetime.now().astimezone().isoformat(), uuid.uuid4())


@tool
def count_notes() -> int:
    """How many services were looked up so far."""
    return len(notes)


def agent():
    model = ChatOpenAI(model="gpt-4.1", temperature=0, base_url=os.environ["OPENAI_BASE_URL"])
    return create_react_agent(
        model,
        [look_up, count_notes],
        prompt="You answer questions about services. Today is %s." % datetime.now(),
        checkpointer=InMemorySaver(),
    )


question = {"messages": [("user", " ".join(sys.argv[1:]) or "Who owns checkout and payments?")]}
thread = {"configurable": {"thread_id": str(uuid.uuid4())}}
for message in agent().invoke(question, thread)["messages"]:
    print(message.type, message.id, message.content)


async def main():
    for message in (await agent().ainvoke(question, thread))["messages"]:
        print(message.type, message.content)


asyncio.run(main())
