"""A 200-turn conversation that is sent whole at every turn, written as the recorder writes it. Prints sizes and the rebuild time."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tachograph import wiring
from tachograph.core import ids
from tachograph.core.drafts import Draft
from tachograph.core.events import ModelCall
from tachograph.log import opening
from tachograph.log.reader import Recording
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

WORDS = Path(__file__).read_text().split()


def turn(number: int) -> list[dict[str, Any]]:
    def text(size: int, salt: int) -> str:
        return " ".join(f"{WORDS[(number * 31 + salt + i * i) % len(WORDS)]}{(number * i) % 97}" for i in range(size))

    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_file", "input": {"path": f"src/{number}.py"}}
    return [
        {"role": "assistant", "content": [{"type": "text", "text": text(40, 1)}, use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text(360, 2)}]},
    ]


def main() -> None:
    folder = Path(sys.argv[1])
    chosen = wiring.settings(str(folder / "store"))
    store = LocalStore(chosen.store)
    opened = wiring.open_for_writing(chosen)
    session_id = ids.session_id(chosen.clock.unix_ms(), os.urandom(10))
    writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, os.urandom), clock=chosen.clock, entropy=os.urandom)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "begin"}]
    naive = 0
    for number in range(200):
        request = {"model": "m", "temperature": 0, "system": "You are careful.", "messages": list(messages)}
        naive += len(json.dumps(request)) + 1
        draft = Draft(
            event=ModelCall(provider="p", operation="o"), contents={"prompt_redacted_uri": request, "output_uri": turn(number)[0]}
        )
        writer.append(draft)
        messages += turn(number)
    writer.seal()
    writer.close()
    stored = sum(path.stat().st_size for path in (folder / "store" / "sessions").rglob("*") if path.is_file())
    times, opened_in = [], []
    for _ in range(15):
        recording = Recording(opening.open_store(store, opened.key), session_id)
        uri = next(e.event.prompt_redacted_uri for e in reversed(recording.entries) if isinstance(e.event, ModelCall))
        first = next(e.event.prompt_redacted_uri for e in recording.entries if isinstance(e.event, ModelCall))
        began = time.perf_counter()
        recording.content(first)  # opens, decrypts and decompresses all frames
        opened_in.append(time.perf_counter() - began)
        rebuilt = recording.content(uri)
        times.append(time.perf_counter() - began)
        assert rebuilt == request
    print(
        json.dumps(
            {
                "stored": stored,
                "naive": naive,
                "rebuild_ms": statistics.median(times) * 1000,
                "open_ms": statistics.median(opened_in) * 1000,
            }
        )
    )


if __name__ == "__main__":
    main()
