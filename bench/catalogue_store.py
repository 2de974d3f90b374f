"""A store with many sessions, for the benches: by the real writer, with a device that is never waited for."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Iterator
from typing import Any

from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.stores import local
from tachograph.stores.local import LocalStore

START = 1_790_000_000_000
DAYS = 30
MODELS = ("claude-sonnet-4-20250514", "claude-opus-4-1-20250805", "gpt-4.1", "gpt-4o-mini", "house-model")
TOOLS = (("read_file", "read"), ("run_tests", "external"), ("apply_patch", "write"), ("search_docs", "read"), ("deploy", "external"))
WORDS = [
    "".join(random.Random(number).choices("etaoinshrdlucmfwypvbgkjqxz", weights=range(26, 0, -1), k=3 + number % 8))
    for number in range(20_000)
]


class Clock:
    """A clock that the maker sets."""

    def __init__(self) -> None:
        self.now = START

    def unix_ms(self) -> int:
        self.now += 7
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


def quick() -> None:
    """Nothing is synced in this process from now on: a bench's store is thrown away."""
    local.os = _Unsynced()  # type: ignore[attr-defined]


class _Unsynced:
    def __getattr__(self, name: str) -> Any:
        return (lambda *_: None) if name in ("fsync", "fdatasync") else getattr(os, name)


def make(folder: str, sessions: int, per_session: int, text: int = 0, *, seed: int = 1) -> OpenStore:
    """``per_session``: events of each; ``text``: bytes of content of each event, about."""
    random_ = random.Random(seed)
    key = keys.generate(random_.randbytes)
    store = LocalStore(folder)
    opening.create(store, key, random_.randbytes)
    opened = opening.open_store(store, key)
    add(opened, sessions, per_session, text, seed=seed)
    return opened


def add(
    opened: OpenStore, sessions: int, per_session: int, text: int = 0, *, seed: int = 1, marks: dict[int, str] | None = None
) -> list[str]:
    """More sessions, entered in the ledger by one writer. ``marks``: what is said once in the session of that number."""
    random_, clock = random.Random(seed), Clock()
    made = []
    ledger = _ledger(opened, clock, random_)
    for number in range(sessions):
        clock.now = START + number * DAYS * 86_400_000 // max(sessions, 1) + seed
        session_id = ids.session_id(clock.now, random_.randbytes(10))
        made.append(session_id)
        ledger.append(Draft(event=events.LedgerEntry(action="opened", subject=session_id, user="bench", host="here")))
        writer = SessionWriter(
            opened, session_id, opened.new_data_key(session_id, random_.randbytes), clock=clock, entropy=random_.randbytes
        )
        for draft in _drafts(random_, number, per_session, text, (marks or {}).get(number)):
            writer.append(draft)
        writer.seal()
        writer.close()
        ledger.append(
            Draft(
                event=events.LedgerEntry(
                    action="sealed", subject=session_id, detail={"size": writer.size, "root": writer.root.hex(), "ended": True}
                )
            )
        )
    ledger.seal()
    ledger.close()
    return made


def _ledger(opened: OpenStore, clock: Clock, random_: random.Random) -> SessionWriter:
    from tachograph.log import tail

    left = tail.left_behind(opened)
    if not left.segments:
        opened.new_data_key(layout.LEDGER, random_.randbytes)
    writer = SessionWriter(
        opened, layout.LEDGER, opened.data_key(layout.LEDGER), clock=clock, entropy=random_.randbytes, segment=left.segments + 1,
        previous=left.previous if left.segments else None, tree=left.tree,
    )  # fmt: skip
    if left.segments:
        writer.append(Draft(event=events.Gap(reason="next_writer", frontier=[peak.hex() for peak in left.tree.peaks])))
    return writer


def _drafts(random_: random.Random, number: int, count: int, text: int, mark: str | None) -> Iterator[Draft]:
    model, sha = MODELS[number % len(MODELS)], f"{number % 977:040x}"
    yield Draft(
        event=events.SessionStart(
            name=f"task {number % 100}", agent="coder", repo_url="git@github.com:acme/shop.git", repo_sha=sha, branch="main"
        ),
        contents={"facts_uri": {"argv": ["agent.py"], "n": number}},
    )
    said = count // 2
    for step in range(count - 2):
        words = prose(random_, text)
        if mark is not None and step == said:
            words += f" {mark} "
        if step % 2:
            name, effect = TOOLS[random_.randrange(len(TOOLS))]
            yield Draft(
                event=events.ToolCall(name=name, effect=effect, call_id=f"call_{step}", duration_ms=3.0),
                contents={
                    "input_uri": {"path": f"src/{random_.randrange(200)}.py"},
                    "output_uri": words or f"result {random_.randrange(5000)}",
                },
            )
        else:
            usage = {"input_tokens": 900 + step, "output_tokens": 120}
            yield Draft(
                event=events.ModelCall(
                    provider="anthropic", operation="messages", model_id=model, served_model_id=model, params={"temperature": 0},
                    prompt={"id": "coder", "version": str(number % 7)}, usage=usage, finish_reason="tool_use", status=200, duration_ms=812.0,
                ),
                contents={"prompt_redacted_uri": {"step": step, "n": number}, "output_uri": {"text": words or f"answer {step} of {number}"}},
            )  # fmt: skip
    yield Draft(event=events.SessionEnd(exit_code=0, duration_ms=1000.0, calls={"model": count // 2, "tool": count // 2}))


def prose(random_: random.Random, size: int) -> str:
    """So many characters from a long text of words, rare ones rarely: no two places of it are much alike."""
    if not size:
        return ""
    at = random_.randrange(len(_pool()) - size)
    return _pool()[at : at + size]


@functools.cache
def _pool() -> str:
    random_ = random.Random(0)
    return " ".join(WORDS[min(int(random_.paretovariate(0.6)) * 3 + random_.randrange(3), len(WORDS) - 1)] for _ in range(1_500_000))
