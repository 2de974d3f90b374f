"""Writes stores with the version of the format that this source has: ``python tests/corpus/freeze.py``, once for each version.

A folder of this version that is there is never written over: what lies in it was written by the tachograph of its time, and that it can
still be read is what it is for. Each store is a folder with ``store/``, ``key.json`` (of no use for anything else; the vault's, too) and
``expect.json``: what was read from it when it was new.

    recorded     an agent, recorded as its user does: a model call, HTTP, tools, a command, files, what it says itself; to be replayed
    kinds        a session with each type of event and each kind of content
    crashed      one that was cut in a line and continued, one cut and not continued, one whose device failed for a while
    rolled       one in several segments
    keeping      a ledger with holds, retention, a shredded and a deleted session, a key that followed another, a second reader
    vault        one with the originals of what was masked
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import venv
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tachograph import wiring
from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.crypto import keys, vaultkeys, wraps
from tachograph.format import layout
from tachograph.host import custody, facts, holds, recipients, record, retaining, rotation
from tachograph.host.custody import Keeper
from tachograph.host.entering import Entering
from tachograph.host.keyplace import KeyPlace
from tachograph.log import opening, recover, retention, vault
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids
from tachograph.log.verdict import Judge
from tachograph.log.writer import SessionWriter
from tachograph.redact.placeholder import fingerprint
from tachograph.stores.local import LocalStore

HERE = Path(__file__).parent
AGENT = """
import json, pathlib, subprocess, urllib.request
import tachograph

base = pathlib.Path("base").read_text()

@tachograph.tool(effect="read")
def look_up(order):
    return {"order": order, "total": 12.5, "of": ["a", "b"], "raw": b"bytes"}

@tachograph.tool(effect="external")
def refund(order, amount):
    if amount > 10:
        raise ValueError("too much")
    return "done"

def asked(path, body=None):
    request = urllib.request.Request(base + path, data=body and json.dumps(body).encode(), headers={"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "test"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

tachograph.message("please refund order 7")
print(asked("/v1/messages", {"model": "model-1", "max_tokens": 10, "messages": [{"role": "user", "content": "refund order 7?"}]})["content"][0]["text"])
print(look_up(7), asked("/stock")["left"])
tachograph.approval("approved", approver="on-call", scope="refund", shown={"amount": 5})
tachograph.guardrail("pii", version="2", action="BLOCKED", detail={"matched": "phone"})
print(refund(7, 5))
try:
    refund(7, 50)
except ValueError as error:
    print(error)
pathlib.Path("made.txt").write_text("one\\n")
print(subprocess.run(["sort", "made.txt"], capture_output=True).stdout)
tachograph.note("done", orders=[7])
"""


class Clock:
    """An hour in January; each look is ten milliseconds. ``days`` turns it on."""

    def __init__(self) -> None:
        self.now = 1_768_000_000_000

    def unix_ms(self) -> int:
        self.now += 10
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000

    def days(self, count: int) -> None:
        self.now += count * retention.DAY


CLOCK = Clock()


class Making:
    """A store that is being made, with its key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = keys.generate(os.urandom)
        folder.mkdir(parents=True)
        (folder / "key.json").write_bytes(keys.dump(self.key))
        self.store = LocalStore(str(folder / "store"))
        opening.create(self.store, self.key, os.urandom)
        self.by = Keeper(opened=self.opened(), clock=CLOCK, entropy=os.urandom, user="ada", host="here")

    def opened(self) -> OpenStore:
        return opening.open_store(self.store, self.key)

    def session(self, drafts: list[Draft], *, end: bool = True, roll: bool = False) -> str:
        """As a recorder writes it."""
        opened = self.opened()
        session_id = ids.session_id(CLOCK.unix_ms(), os.urandom(10))
        writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, os.urandom), clock=CLOCK, entropy=os.urandom)
        entering = Entering(opened, session_id, clock=CLOCK, entropy=os.urandom)
        start = events.SessionStart(recorder="tachograph", name="frozen", agent="agent.py", ledger=entering.begin())
        writer.append(Draft(event=start, contents={"facts_uri": {"argv": ["agent.py"], "env": {"LANG": "C"}}}))
        for number, draft in enumerate(drafts):
            writer.append(draft)
            if number == len(drafts) // 2:
                writer.seal()
                if roll:
                    writer.roll()
        if end:
            writer.append(Draft(event=events.SessionEnd(exit_code=0, duration_ms=10.0, calls={"tool": 1})))
            writer.seal()
            entering.sealed(writer.size, writer.root, ended=True)
        else:
            writer.commit()
        writer.close()
        return session_id


def recorded(folder: Path) -> None:
    made = Making(folder)
    with tempfile.TemporaryDirectory(prefix="tachograph-") as place, Server() as server:
        work, python = Path(place, "agent"), Path(place, "python")
        work.mkdir()
        (work / "agent.py").write_text(AGENT)
        (work / "base").write_text(server.url)
        venv.create(python, symlinks=True)
        site = next(python.glob("lib/python3*/site-packages"))
        (site / "tachograph.pth").write_text(os.path.dirname(os.path.dirname(os.path.dirname(record.__file__))) + "\n")
        before = os.getcwd()
        os.chdir(work)
        try:
            environment = {"PATH": f"{python}/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
            done = record.record(
                record.Plan(
                    opened=made.opened(),
                    command=["python3", "agent.py"],
                    environment=environment,
                    clock=wiring.SystemClock(),
                    entropy=os.urandom,
                    name="refund",
                    links=["pr=1"],
                )
            )
        finally:
            os.chdir(before)
    assert done.ended.exit_code == 0, done
    assert done.error is None


class Server(ThreadingHTTPServer):
    """A model and a shop, on the loopback interface."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        return

    def answer(self, said: dict[str, Any]) -> None:
        data = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.answer({"left": 3})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        content = [{"type": "text", "text": "Yes."}, {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"order": 7}}]
        usage = {"input_tokens": 9, "output_tokens": 4}
        self.answer(
            {
                "id": "m1",
                "type": "message",
                "role": "assistant",
                "model": "model-1",
                "content": content,
                "stop_reason": "tool_use",
                "usage": usage,
            }
        )


def kinds(folder: Path) -> None:
    Making(folder).session(every_kind())


def every_kind() -> list[Draft]:
    long = "x" * 1000
    history = [{"role": "user", "content": f"{number} " + long} for number in range(6)]
    request = {"method": "POST", "url": "https://api.example/v1", "body": {"messages": history}}
    wire = {
        "head": {"status": 200, "headers": [["a", "b"]]},
        "pieces": [["head", 1, 0], ["chunk", 2, 1, 3], ["end", 3, 2]],
        "data": b"abc",
        "last": {"state": "eof"},
    }
    odd = {
        "$s": "not a reference",
        "": None,
        "lone": "\ud800",
        "big": 2**70,
        "deep": json.dumps({"text": ["in", {"text": long}]}),
        "bytes": bytes(range(256)),
    }
    return [
        Draft(event=events.Started(call_id="evt_1", kind="http", operation="messages", site="agent.py:1"), contents={"request_uri": request}),
        Draft(
            event=events.ModelCall(provider="anthropic", operation="messages", model_id="m", usage={"input_tokens": 1}, stream=True, status=200, finish_reason="stop"),
            contents={"request_uri": request, "wire_uri": wire, "prompt_redacted_uri": {"messages": [*history, {"role": "user", "content": "more"}]}, "output_uri": "said"},
        ),
        Draft(event=events.ToolCall(name="look_up", effect="read", call_id="t1"), contents={"input_uri": {"order": 7}, "output_uri": odd, "error_uri": None}),
        Draft(event=events.Http(method="GET", host="api.example", status=404, outcome="error"), contents={"error_uri": "not there"}),
        Draft(event=events.Process(program="sort", exit_code=0, pid=1), contents={"output_uri": {"stdout": "a\n"}}),
        Draft(event=events.Guardrail(guardrail_id="pii", version="2", action="BLOCKED"), contents={"detail_uri": {"matched": "phone"}}),
        Draft(event=events.Message(role="user"), contents={"content_uri": "please"}),
        Draft(event=events.Approval(decision="approved", approver="on-call"), contents={"shown_uri": {"amount": 5}}),
        Draft(event=events.Git(sha="0" * 40, branch="main", dirty=False, action="checkout")),
        Draft(event=events.Workspace(changed=1), contents={"changes_uri": {"root": "/w", "changes": [{"path": "a", "action": "added", "before": None, "after": "text", "mode": 420, "size": 4}]}}),
        Draft(event=events.Ambient(kind="stdout", size=3), contents={"content_uri": "abc"}),
        Draft(event=events.Note(subtype="note", extra={"unheard_of": [1]}), contents={"text_uri": {"text": long}}),
        Draft(event=events.Gap(reason="dropped", count=2)),
        Draft(event=events.Unknown(type_name="of_the_future", extra={"answer": 42}), contents={}),
    ]  # fmt: skip


def crashed(folder: Path) -> None:
    made = Making(folder)
    notes = [Draft(event=events.Note(), contents={"text_uri": f"text {number}"}) for number in range(6)]
    for again in (True, False):
        session_id = made.session(notes, end=False)
        for name, size in ((layout.events, 20), (layout.content, 7)):
            path = folder / "store" / name(session_id, 1)
            path.write_bytes(path.read_bytes()[:-size] if again or name is layout.events else path.read_bytes() + b"torn")
            if again:
                break  # without its line a frame is a tail, too
        if again:
            writer = recover.resume(made.opened(), session_id, clock=CLOCK, entropy=os.urandom, reason="host_lost")
            writer.append(Draft(event=events.SessionEnd(status="lost")))
            writer.seal()
            Entering(made.opened(), session_id, clock=CLOCK, entropy=os.urandom).sealed_after_loss(writer.size, writer.root)
            writer.close()
    opened = made.opened()
    session_id = ids.session_id(CLOCK.unix_ms(), os.urandom(10))
    data_key = opened.new_data_key(session_id, os.urandom)
    writer = SessionWriter(opened, session_id, data_key, clock=CLOCK, entropy=os.urandom)
    entering = Entering(opened, session_id, clock=CLOCK, entropy=os.urandom)
    writer.append(Draft(event=events.SessionStart(name="a device that fails", ledger=entering.begin())))
    writer.commit()
    writer.append(notes[0])
    writer.flush()  # and the sync fails
    mark = writer.mark
    lock, _ = writer.abandon()
    writer = recover.restart(opened, session_id, data_key, mark, clock=CLOCK, entropy=os.urandom, lock=lock, reason="write_failed")
    for draft in (notes[0], Draft(event=events.Gap(reason="dropped", count=1)), Draft(event=events.SessionEnd())):
        writer.append(draft)
    writer.seal()
    entering.sealed(writer.size, writer.root, ended=True)
    writer.close()


def rolled(folder: Path) -> None:
    Making(folder).session(every_kind(), roll=True)


def keeping(folder: Path) -> None:
    made = Making(folder)
    by, note = made.by, [Draft(event=events.Note(), contents={"text_uri": "text"})]
    retaining.keep(by, None, 30, "the policy of the team")
    gone, held, shredded, kept = (made.session(note) for _ in range(4))
    holds.hold(by, held, "INC-7", "an incident")
    holds.hold(by, held, "INC-8", "another one")
    holds.release(by, held, "INC-8", "it is closed")
    retaining.keep(by, kept, 365, "asked for by the customer")
    custody.shred(by, shredded, "a request of the person concerned")
    retaining.keep(by, shredded, 365, "its lines stay")
    CLOCK.days(60)
    done = {row.session_id: row.done for row in retaining.run(by)}
    assert done[gone] == "deleted", done
    reader = keys.KeyFile(os.urandom(32), None, made.key.public())
    recipients.add(by, wraps.key_file_recipient(reader), "an auditor")
    place = KeyPlace(folder / "key.json")
    rotation.rotate(by, place, lambda key: wiring.ring(key, place), "once a year")
    made.key = place.current()
    made.session(note)
    (folder / "reader.json").write_bytes(keys.dump(reader))


def with_vault(folder: Path) -> None:
    made = Making(folder)
    private = vaultkeys.generate(os.urandom)
    custody.make_vault(made.by, private)
    (folder / "vault-key.json").write_bytes(vaultkeys.dump(private))
    session_id = made.session([Draft(event=events.Note(), contents={"text_uri": "a password"})])
    opened = made.opened()
    kept = vault.create(opened.store, session_id, private.public, os.urandom)
    for value in ("first original", "second \ud800 original", "y" * 700):
        kept.keep(fingerprint(opened.fingerprint_key, value), "password", value)
    kept.flush()
    kept.sync()
    kept.close()
    custody.unmask(made.by, session_id, private, [], "an incident")


STORES: dict[str, Callable[[Path], None]] = {
    "recorded": recorded, "kinds": kinds, "crashed": crashed, "rolled": rolled, "keeping": keeping, "vault": with_vault,
}  # fmt: skip


def said(value: Any) -> Any:
    """For JSON: bytes and lone surrogates in words."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {said(key): said(each) for key, each in value.items()}
    return [said(each) for each in value] if isinstance(value, (list, tuple)) else value


def read(folder: Path) -> dict[str, Any]:
    """All that a reader gets from a store."""
    opened = opening.open_store(LocalStore(str(folder / "store")), keys.load((folder / "key.json").read_bytes(), "key.json"))
    results, book = Judge(opened.store, public=opened.trusted, opened=opened).everything()
    assert book is not None
    found: dict[str, Any] = {
        "verdicts": {each.session_id: [each.verdict, each.events, each.sealed, each.content] for each in [*results, book]}
    }
    found["lines"] = {}
    for name in [*session_ids(opened.store), layout.LEDGER]:
        recording = Recording(opened, name)
        if opening.shredded_at(opened.store, name) is None:
            found["lines"][name] = [said(line) for line in recording.expanded()]
        else:
            found["lines"][name] = [said(entry.line) for entry in recording.entries]
    private = folder / "vault-key.json"
    if private.exists():
        key = vaultkeys.load(private.read_bytes(), "vault-key.json")
        found["originals"] = {
            name: [said([one.fingerprint, one.kind, one.value]) for one in vault.read(opened.store, name, key, opened.fingerprint_key)]
            for name in vault.session_ids(opened.store)
        }
    return found


def main(target: Path) -> None:
    random.seed(0)
    custody.keeper = lambda opened, *, clock, entropy: Keeper(opened=opened, clock=clock, entropy=entropy, user="ada", host="here")
    facts.host = functools.partial(dict, system="Linux", machine="x86_64")
    for name, make in STORES.items():
        make(target / name)
        for lock in (target / name).rglob("lock"):
            lock.unlink()
        (target / name / "expect.json").write_text(json.dumps(read(target / name), indent=1, sort_keys=True) + "\n")
        for lock in (target / name).rglob("lock"):
            lock.unlink()


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / f"v{layout.VERSION}"
    if place.exists():
        sys.exit(f"{place} was made already, by the tachograph of its time, and is never made anew")
    made_at = Path(tempfile.mkdtemp())
    try:
        main(made_at / "made")
        shutil.copytree(made_at / "made", place)
    finally:
        shutil.rmtree(made_at)
