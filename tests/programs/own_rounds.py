"""A loop whose rounds somebody else runs, from some moment on (as nest_asyncio does)."""

import asyncio
import heapq
import threading
from asyncio import base_events

import tachograph


@tachograph.tool(effect="read")
def conclude(seen: list) -> str:
    return " ".join(seen)


def own_round(self):
    while self._scheduled and self._scheduled[0]._cancelled:
        heapq.heappop(self._scheduled)
    self._process_events(self._selector.select(0 if self._ready else 0.01))
    for _ in range(len(self._ready)):
        self._ready.popleft()._run()


async def main():
    loop, items, seen = asyncio.get_running_loop(), asyncio.Queue(), []
    for nested in (False, True):
        if nested:
            base_events.BaseEventLoop._run_once = own_round
            await asyncio.sleep(0)
        threading.Thread(target=lambda: [loop.call_soon_threadsafe(items.put_nowait, str(n)) for n in range(3)]).start()
        for _ in range(3):
            seen.append(await items.get())
    print(conclude(seen))


asyncio.run(main())
