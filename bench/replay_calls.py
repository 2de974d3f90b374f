"""A small declared tool, called again and again, by the recorder that is named: what a replay of it costs a call. Prints JSON on standard
error (what a replay compares is standard output).

    replay_calls.py tacho COUNT                      under tacho record, then tacho replay
    replay_calls.py reeltime COUNT                   under tape run, then tape replay
    replay_calls.py rewind COUNT record|replay FILE  agent-rewind records and replays within one process
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def look_up(number: int) -> str:
    """Two hundred characters, and never the same twice."""
    return f"{number:08d}" * 25


def calls(tool: Callable[[int], str], count: int) -> None:
    began = time.perf_counter()
    for number in range(count):
        tool(number)
    print(json.dumps({"per_second": count / (time.perf_counter() - began)}), file=sys.stderr)


def main() -> None:
    kind, count = sys.argv[1], int(sys.argv[2])
    if kind == "tacho":
        import tachograph

        calls(tachograph.tool(effect="read")(look_up), count)
    elif kind == "reeltime":
        import reeltime

        calls(reeltime.tool(look_up), count)
    else:
        import rewind

        tool = rewind.tool(look_up)
        with getattr(rewind, sys.argv[3])(sys.argv[4]):
            calls(tool, count)


if __name__ == "__main__":
    main()
