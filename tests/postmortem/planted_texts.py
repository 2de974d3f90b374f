"""Texts planted in a session, one at each kind of source."""

from __future__ import annotations

import random
from typing import Any

from sample_recordings import TOOLS, Tape, ask, result, start, text, use

from tachograph.core import events
from ways_of_writing import WORDS

SOURCES = ("system", "user", "tool_result", "file", "document", "memory", "subagent")


def noise(seed: int) -> str:
    """Words like those that are planted."""
    rng = random.Random(seed + 90_000)
    return " ".join(rng.choices([*WORDS, "the", "a", "of", "must", "before", "sent"], k=40)) + f" {rng.randrange(1000, 9999)}."


def planted(seed: int, source: str, words: str, written: str) -> tuple[Tape, str]:
    """A session in which ``words`` enter at the source and the model writes them on as ``written``; and the event at which they enter."""
    tape = Tape()
    start(tape)

    def around(kind: str, number: int) -> str:
        said = f"{noise(seed * 10 + number)}\n{words}\n{noise(seed * 10 + number + 5)}"
        return said if kind == source else noise(seed * 10 + number)

    system = f"You help.\n{around('system', 1)}"
    history: list[Any] = [{"role": "user", "content": around("user", 2)}]
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("file", "read_file", {"path": "notes.txt"}), ("document", "search_docs", {"query": "notes"}), ("tool_result", "get_order", {"id": "A1"}),
        ("memory", "recall_memory", {"about": "orders"}), ("subagent", "delegate_to_agent", {"goal": "look"}),
    ]  # fmt: skip
    where = ""
    before = ""
    for number, (kind, tool, given) in enumerate(calls, 3):
        answer = [text(noise(seed * 10 + number + 40)), use(f"call_{number}", tool, **given)]
        asked = ask(tape, list(history), answer, system=system, tools=TOOLS)
        if not before:
            before = asked
        output = around(kind, number)
        if number % 2:
            called = tape.add(
                events.ToolCall, name=tool, source="declared", effect="read", input=given, output=output, lane="main", duration_ms=2.0
            )
        else:
            called = ""
        history += [{"role": "assistant", "content": answer}, {"role": "user", "content": [result(f"call_{number}", output)]}]
        wire = tape.add(
            events.ToolCall, name=tool, source="wire", call_id=f"call_{number}", input=given, output=output, asked_by=asked, lane="main",
            declared_id=called or None,
        )  # fmt: skip
        if kind == source:
            where = called or wire
    final = [
        text("I write it down: " + written if seed % 2 else noise(seed + 1)),
        use("call_9", "apply_patch", path="out.txt", patch=written),
    ]
    ask(tape, list(history), final, system=system, tools=TOOLS)
    return tape, where or before
