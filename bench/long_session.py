"""One session of 100,000 events, as a long-running agent leaves it: for the benches of whatever explains a session.

Every turn of it asks for a tool: a model call that resends its history (compacted to a summary every 40 turns), the tool call as it is declared and as
it stands on the wire, the command or exchange in it, and what the agent read of its surroundings meanwhile.
"""

from __future__ import annotations

import os
import random
from typing import Any

from catalogue_store import WORDS, Clock, quick

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

SESSION = "ses_01K0000000000000000000000A"
KEEP = 40
SYSTEM = "You keep a shop running. Never push to a remote. Run the tests before you commit. " * 8


def make(folder: str, count: int = 100_000, *, words: int = 60, seed: int = 1) -> OpenStore:
    """The store with the session. ``words``: of each tool result."""
    quick()
    random_ = random.Random(seed)
    key = keys.generate(random_.randbytes)
    store = LocalStore(folder)
    opening.create(store, key, random_.randbytes)
    opened = opening.open_store(store, key)
    log = SessionWriter(opened, SESSION, opened.new_data_key(SESSION, os.urandom), clock=Clock(), entropy=os.urandom)

    def say(size: int) -> str:
        return " ".join(random_.choices(WORDS, k=size))

    written = 0

    def add(event: events.Event, **contents: Any) -> None:
        nonlocal written
        log.append(Draft(event=event, contents={f"{name}_uri": value for name, value in contents.items()}))
        written += 1
        if written % 256 == 0:
            log.commit()

    add(events.SessionStart(id="evt_start", recorder="bench", name="long", agent="bench"))
    messages: list[Any] = [{"role": "user", "content": "Keep the shop running. " + say(30)}]
    turn = 0
    while written < count - 10:
        turn += 1
        call, use = f"evt_m{turn}", f"toolu_{turn}"
        given = {"path": f"src/{turn}.py"} if turn % 2 else {"command": f"grep {random_.choice(WORDS)} src/{turn}.py"}
        tool = "read_file" if turn % 2 else "bash"
        answer = [{"type": "text", "text": say(20)}, {"type": "tool_use", "id": use, "name": tool, "input": given}]
        add(events.Started(id=f"evt_s{turn}", call_id=call, kind="model", name="m", lane="main"))
        add(
            events.ModelCall(
                id=call, provider="anthropic", operation="messages", model_id="m", lane="main", duration_ms=100.0, status=200,
                tool_calls=[{"id": use, "name": tool}], usage={"input_tokens": 10, "output_tokens": 10}, finish_reason="tool_use",
            ),
            prompt_redacted={"model": "m", "system": SYSTEM, "messages": list(messages)},
            output={"role": "assistant", "content": answer},
        )  # fmt: skip
        output = say(words) + f" result {turn}"
        add(events.Started(id=f"evt_b{turn}", call_id=f"evt_t{turn}", kind="tool", name=tool, lane="main"))
        if turn % 2:
            add(
                events.Http(id=f"evt_h{turn}", parent_id=f"evt_t{turn}", method="GET", host="files.example", status=200, lane="main"),
                request={"method": "GET", "url": f"https://files.example/{turn}"}, wire={"head": {}, "data": output.encode(), "last": True},
            )  # fmt: skip
        else:
            add(
                events.Process(id=f"evt_p{turn}", parent_id=f"evt_t{turn}", program="grep", exit_code=0, lane="main"),
                request={"shell": str(given)}, output={"stdout": output, "stderr": ""},
            )  # fmt: skip
        add(
            events.ToolCall(id=f"evt_t{turn}", name=tool, source="declared", effect="read", duration_ms=5.0, lane="main"),
            input=given, output=output,
        )  # fmt: skip
        add(events.Ambient(id=f"evt_r{turn}", kind="reads", size=3, lane="main"))
        add(
            events.ToolCall(
                id=f"evt_w{turn}", name=tool, source="wire", call_id=use, asked_by=call, told_to=f"evt_m{turn + 1}",
                declared_id=f"evt_t{turn}", lane="main",
            ),
            input=given, output=output,
        )  # fmt: skip
        messages += [
            {"role": "assistant", "content": answer},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use, "content": output}]},
        ]
        if len(messages) > 2 * KEEP:
            messages = [{"role": "user", "content": "Summary so far: " + say(40)}]
    add(events.SessionEnd(id="evt_end", status="ok", exit_code=0))
    log.close()
    return opened
