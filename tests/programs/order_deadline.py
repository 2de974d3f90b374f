"""A polling loop with a deadline on the monotonic clock, and a retry with back-off: how often they go round is the clock's doing."""

import random
import time

import tachograph


@tachograph.tool(effect="read")
def ask(number: int) -> int:
    time.sleep(random.uniform(0, 0.03))
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


deadline, rounds = time.monotonic() + 0.15, 0
while time.monotonic() < deadline:
    rounds += 1
    time.sleep(0.012)
print(rounds, conclude([rounds]))
for attempt in range(4):
    try:
        if ask(attempt) < 3:
            raise ConnectionError(attempt)
        print("got it", attempt)
    except ConnectionError as error:
        wait = 0.01 * 2**attempt
        print(error, round(wait, 4))
        time.sleep(wait)
