"""An agent whose every prompt depends on the order in which eight parallel tools were done; in pools of threads and in tasks."""

import asyncio
import concurrent.futures
import random
import sys
import time

import tachograph

draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else None)
pauses = [draw.uniform(0, 0.004) for _ in range(400)]


@tachograph.tool(effect="read")
def look(number: int, pause: float) -> int:
    time.sleep(pause)
    return number


@tachograph.tool(effect="read")
async def alook(number: int, pause: float) -> int:
    await asyncio.sleep(pause)
    return number


@tachograph.tool(effect="write")
def ask(variant: str, order: list) -> str:
    return variant + "-".join(map(str, order))


def pool(first: int) -> list:
    with concurrent.futures.ThreadPoolExecutor(8) as workers:
        waiting = [workers.submit(look, n, pauses[first + n]) for n in range(8)]
        return [done.result() for done in concurrent.futures.as_completed(waiting)]


async def tasks(first: int) -> list:
    done = []

    async def work(n: int) -> None:
        done.append(await alook(n, pauses[first + n]))

    await asyncio.gather(*(work(n) for n in range(8)))
    return done


async def first_of(first: int) -> list:
    pending, order = {asyncio.create_task(alook(n, pauses[first + n])) for n in range(8)}, []
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        order.append([task.result() for task in done])
    return order


async def to_thread(first: int) -> list:
    order = []

    async def work(n: int) -> None:
        order.append(await asyncio.to_thread(look, n, pauses[first + n]))

    await asyncio.gather(*(work(n) for n in range(8)))
    return order


for turn in range(int(sys.argv[1])):
    start = 40 * turn % 360
    print(ask("pool", pool(start)))
    print(ask("tasks", asyncio.run(tasks(start + 16))))
    print(ask("first", asyncio.run(first_of(start + 24))))
    print(ask("to thread", asyncio.run(to_thread(start + 32))))
