"""Explaining a session of 100,000 events: ``python bench/explain.py [EVENTS] [--keep FOLDER]``. Prints JSON, after a minute or two to make the sessions.

Two sessions of one agent, by the real writer, with ledger and catalogue: in each some 2,000 model calls that resend a history (compacted to a summary
every 100 calls), ten tool calls for each, as they are declared and as they stand on the wire, a command or an exchange in every one of them, reads of
the surroundings; now and then a tool that fails, a guardrail's verdict, an approval. The second, linked to an incident, has another model and prompt
and departs from the first halfway.

Then ``tacho`` itself, each verb in a process of its own, as a person runs it. Seconds are of the clock (``wall``) and of the processor (``cpu``): on a
machine that others use, only the second says something.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from catalogue_store import START, WORDS, Clock, _ledger, quick

from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

#: Calls until the history is a summary again, tool calls of each.
KEEP, TOOLS = 100, 10
#: Seconds that each verb may take.
BOUND = 3.0
SYSTEM = "You keep a shop running. Never push to a remote. Run the tests before you commit. " * 8
DEFINITIONS = [
    {
        "name": name,
        "description": f"{name}, as everybody knows it. " * 6,
        "input_schema": {"type": "object", "properties": {field: {"type": "string"}}},
    }
    for name, field in (("read_file", "path"), ("bash", "command"), ("http_get", "url"), ("pay", "amount"))
]


class Session:
    """One session, while it is written."""

    def __init__(self, opened: OpenStore, at: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.clock = Clock()
        self.clock.now = at
        self.id = ids.session_id(at, self.random.randbytes(10))
        self.log = SessionWriter(
            opened, self.id, opened.new_data_key(self.id, os.urandom), clock=self.clock, entropy=os.urandom
        )  # fmt: skip
        self.count = 0

    def add(self, event: events.Event, **contents: Any) -> None:
        self.log.append(Draft(event=event, contents={f"{name}_uri": value for name, value in contents.items()}))
        self.count += 1
        if self.count % 256 == 0:
            self.log.commit()

    def say(self, size: int) -> str:
        return " ".join(self.random.choices(WORDS, k=size))

    def write(self, count: int, *, model: str, prompt: str, depart: int | None) -> None:
        """``depart``: the turn from which on it does something else than the same seed did."""
        self.add(
            events.SessionStart(
                recorder="bench",
                name="shop",
                agent="agent.py",
                repo_url="git@github.com:acme/shop.git",
                repo_sha=f"{len(prompt):040x}",
                branch="main",
            ),
            facts={"argv": ["python", "agent.py"], "cwd": "/shop", "env": {"MODEL": model}, "packages": {"anthropic": "0.70.0"}},
        )
        messages: list[Any] = [{"role": "user", "content": "Keep the shop running. " + self.say(30)}]
        turn = 0
        while self.count < count - 60:
            turn += 1
            messages = self._turn(turn, messages, model, prompt, turn == depart)
        self.add(events.SessionEnd(status="ok", exit_code=0, duration_ms=1000.0, calls={"model": turn, "tool": turn * TOOLS}))
        self.log.seal()
        self.log.close()

    def _turn(self, turn: int, messages: list[Any], model: str, prompt: str, departs: bool) -> list[Any]:
        call = f"evt_m{turn}"
        asked = [self._asked(turn, each) for each in range(TOOLS)]
        if departs:
            asked[3] = asked[3] | {"name": "pay", "input": {"amount": "100000"}}
        answer = [{"type": "text", "text": self.say(20)}, *asked]
        self.add(events.Started(id=f"evt_s{turn}", call_id=call, kind="model", name=model, lane="main"))
        usage = {"input_tokens": 400 + 900 * len(messages), "output_tokens": 600, "cache_read_tokens": 800 * len(messages)}
        self.add(
            events.ModelCall(
                id=call, provider="anthropic", operation="messages", model_id=model, served_model_id=model, lane="main", duration_ms=900.0, status=200,
                params={"max_tokens": 4096, "temperature": 0}, tool_calls=[{"id": one["id"], "name": one["name"]} for one in asked],
                usage=usage, finish_reason="tool_use", redactions=1 if turn % 50 == 0 else 0, prompt={"id": "shop", "version": str(len(prompt))},
            ),
            prompt_redacted={"model": model, "max_tokens": 4096, "temperature": 0, "system": prompt, "tools": DEFINITIONS, "messages": list(messages)},
            output={"role": "assistant", "content": answer, "stop_reason": "tool_use"},
        )  # fmt: skip
        if turn % 40 == 0:
            self.add(events.Guardrail(call_id=call, guardrail_id="pii", version="3", action="NONE", lane="main"))
        results = [self._run(turn, number, call, one) for number, one in enumerate(asked)]
        messages = [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": results}]
        if len(messages) > 2 * KEEP:
            return [{"role": "user", "content": "Summary so far: " + self.say(200)}]
        return messages

    def _asked(self, turn: int, number: int) -> dict[str, Any]:
        name, field, word = ("read_file", "path", "src/") if number % 2 else ("bash", "command", "grep shop src/")
        return {"type": "tool_use", "id": f"toolu_{turn}_{number}", "name": name, "input": {field: f"{word}{turn}/{number}.py"}}

    def _run(self, turn: int, number: int, call: str, asked: dict[str, Any]) -> dict[str, Any]:
        mark, name, given = f"{turn}_{number}", asked["name"], asked["input"]
        declared, output = f"evt_t{mark}", self.say(50)
        failed = self.random.random() < 0.01
        self.add(events.Started(id=f"evt_b{mark}", call_id=declared, kind="tool", name=name, lane="main"))
        if number % 2:
            self.add(
                events.Http(id=f"evt_h{mark}", parent_id=declared, method="GET", host="files.example", status=500 if failed else 200, lane="main"),
                request={"method": "GET", "url": f"https://files.example/{mark}"}, wire={"head": {}, "data": output.encode(), "last": True},
            )  # fmt: skip
        else:
            self.add(
                events.Process(id=f"evt_p{mark}", parent_id=declared, program="grep", exit_code=2 if failed else 0, lane="main"),
                request={"argv": ["grep", "shop", str(given)]}, output={"stdout": output, "stderr": ""},
            )  # fmt: skip
        if name == "pay":
            self.add(events.Approval(call_id=declared, decision="approved", approver="ada", lane="main"), shown="pay 1000")
        ended: dict[str, Any] = {"outcome": "error"} if failed else {}
        effect = "external" if name == "pay" else "read"
        self.add(
            events.ToolCall(id=declared, name=name, source="declared", effect=effect, duration_ms=5.0, lane="main", **ended),
            input=given, **{"error" if failed else "output": output},
        )  # fmt: skip
        if number % 3 == 0:
            self.add(events.Ambient(id=f"evt_r{mark}", kind="reads", size=3, lane="main"))
        self.add(
            events.ToolCall(
                id=f"evt_w{mark}", name=name, source="wire", call_id=asked["id"], asked_by=call, told_to=f"evt_m{turn + 1}", declared_id=declared,
                lane="main",
            ),
            input=given, output=output,
        )  # fmt: skip
        return {"type": "tool_result", "tool_use_id": asked["id"], "content": output, **({"is_error": True} if failed else {})}


def make(folder: Path, count: int) -> tuple[str, str]:
    """A store and its key in a folder; the good session, and the bad one."""
    quick()
    random_, clock = random.Random(1), Clock()
    key = keys.generate(random_.randbytes)
    with open(os.open(folder / "key.json", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(keys.dump(key))
    store = LocalStore(str(folder / "store"))
    opening.create(store, key, random_.randbytes)
    opened = opening.open_store(store, key)
    ledger = _ledger(opened, clock, random_)
    made = []
    for day, (model, prompt, depart) in enumerate(((("m-1"), SYSTEM, None), ("m-2", SYSTEM + "Pay what is asked. ", 500))):
        session = Session(opened, START + day * 86_400_000, seed=7)
        ledger.append(Draft(event=events.LedgerEntry(action="opened", subject=session.id, user="bench", host="here")))
        session.write(count, model=model, prompt=prompt, depart=depart)
        detail = {"size": session.log.size, "root": session.log.root.hex(), "ended": True}
        ledger.append(Draft(event=events.LedgerEntry(action="sealed", subject=session.id, detail=detail)))
        made.append(session.id)
    ledger.append(Draft(event=events.LedgerEntry(action="linked", subject=made[1], detail={"kind": "incident", "ref": "INC-7"})))
    ledger.seal()
    ledger.close()
    return made[0], made[1]


def timed(folder: Path, *arguments: str) -> dict[str, Any]:
    """A verb, run as a person runs it."""
    environment = {**os.environ, "TACHO_STORE": str(folder / "store"), "TACHO_KEY": str(folder / "key.json")}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "tachograph.cli.app", *arguments], env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 1):
        raise SystemExit(f"tacho {' '.join(arguments)}: {done.stderr.decode()}")
    return {"wall": round(wall, 2), "cpu": round(cpu, 2), "bytes": len(done.stdout), "within": min(wall, cpu) <= BOUND}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", type=int, nargs="?", default=100_000)
    parser.add_argument("--keep", metavar="FOLDER", help="where the store is made, and left; one that is there is taken")
    parser.add_argument("--only", metavar="VERB", help="this verb alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        folder.mkdir(parents=True, exist_ok=True)
        names = folder / "sessions.json"
        if not names.exists():
            names.write_text(json.dumps(make(folder, options.events)), encoding="utf-8")
        good, bad = json.loads(names.read_text(encoding="utf-8"))
        timed(folder, "catalogue")
        verbs = {
            "show": ["show", bad], "show --json": ["show", bad, "--json"], "show --step": ["show", bad, "--step", "1200"],
            "show --errors": ["show", bad, "--errors"], "show --step --json": ["show", bad, "--step", "1200", "--json"],
            "diff": ["diff", bad], "diff A B": ["diff", good, bad], "postmortem": ["postmortem", bad],
            "postmortem --no-baseline": ["postmortem", bad, "--no-baseline"], "postmortem --json": ["postmortem", bad, "--json"],
            "postmortem -o html": ["postmortem", bad, "-o", str(folder / "report.html")], "verify": ["verify", bad],
        }  # fmt: skip
        found = {}
        for name, arguments in verbs.items():
            if options.only is None or name.split()[0] == options.only:
                found[name] = timed(folder, *arguments)
        print(json.dumps({"events": options.events, "verbs": found}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
