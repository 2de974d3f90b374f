"""asyncio.wait, the first of several, and what is pending; as_completed of coroutines, whose tasks it makes itself."""

import asyncio
import random

import tachograph


@tachograph.tool(effect="read")
async def ask(number: int) -> int:
    await asyncio.sleep(random.uniform(0, 0.03))
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


async def main():
    pending, order = [asyncio.create_task(ask(n)) for n in range(8)], []
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        order.extend(task.result() for task in done)
    print(conclude(order))
    print(conclude([await done for done in asyncio.as_completed([ask(n) for n in range(8)])]))
    tasks = [asyncio.create_task(ask(n)) for n in range(4)]
    done, pending = await asyncio.wait(tasks)
    print([task.result() for task in done], pending)
    done, pending = await asyncio.wait([asyncio.create_task(asyncio.sleep(n / 20, n)) for n in (0.2, 30, 20)], timeout=0.1)
    print([task.result() for task in done], len(pending))
    for task in pending:
        task.cancel()


asyncio.run(main())
