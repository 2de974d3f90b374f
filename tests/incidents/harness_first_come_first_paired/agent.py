"""Compares freight offers: asks the carriers at the same time, and books the cheapest."""

import asyncio
import json
import os
import sys

import httpx

import tachograph

INSTRUCTIONS = "You ask carriers for their price and book the cheapest one."
SERVICES = os.environ["SERVICES_URL"]


@tachograph.tool(effect="read")
async def price(carrier):
    async with httpx.AsyncClient() as client:
        while True:
            answer = (await client.get(SERVICES + "/" + carrier + "/price")).json()
            if not answer.get("calculating"):
                return answer


@tachograph.tool(effect="external")
async def book(carrier):
    async with httpx.AsyncClient() as client:
        return (await client.post(SERVICES + "/" + carrier + "/bookings")).json()


def spec(name):
    return {"type": "function", "name": name, "parameters": {"type": "object", "properties": {"carrier": {"type": "string"}}}}


async def run(asked):
    tools = {"price": price, "book": book}
    pending = [tools[item["name"]](**json.loads(item["arguments"])) for item in asked]
    outputs = []
    for done in asyncio.as_completed(pending):
        item = asked[len(outputs)]
        outputs.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(await done)})
    return outputs


async def main(text):
    items = [{"role": "user", "content": text}]
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    async with httpx.AsyncClient(headers=headers) as client:
        while True:
            body = {
                "model": "gpt-freight",
                "instructions": INSTRUCTIONS,
                "input": items,
                "tools": [spec("price"), spec("book")],
                "temperature": 0,
            }
            answer = await client.post(os.environ["OPENAI_BASE_URL"] + "/responses", json=body)
            output = answer.raise_for_status().json()["output"]
            items += output
            asked = [item for item in output if item["type"] == "function_call"]
            if not asked:
                print(output[-1]["content"][0]["text"])
                return
            items += await run(asked)


asyncio.run(main(sys.argv[1]))
