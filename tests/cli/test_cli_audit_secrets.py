"""``tacho audit-secrets``: what older rules let through is found by place, kind and rule, and never shown."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho
from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.log import opening
from tachograph.log.writer import SessionWriter
from tachograph.redact.engine import Redactor
from tachograph.stores.local import LocalStore
from tachograph.wiring import SystemClock

SECRET = "gh" + "p_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI"
IDS = [f"ses_01K000000000000000000000{letters}" for letters in ("0A", "0B", "0C")]


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    made = Tacho(tmp_path)
    assert made("record", "--", sys.executable, "-c", "print(input())", stdin=SECRET.encode()).returncode == 0
    return made


def write(tacho: Tacho, session_id: str, *drafts: Draft) -> None:
    """A session as an older version with fewer rules has written it."""
    key = keys.load((tacho.store.parent / "key.json").read_bytes(), "x")
    opened = opening.open_store(LocalStore(str(tacho.store)), key)
    writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, os.urandom), clock=SystemClock(), entropy=os.urandom)
    for draft in drafts:
        writer.append(draft)
    writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    writer.close()


def found(tacho: Tacho) -> list[dict[str, Any]]:
    done = tacho("audit-secrets", "--json")
    assert SECRET not in done.stdout + done.stderr
    return list(done.json()["found"])


def test_what_was_masked_does_not_alarm(tacho: Tacho) -> None:
    done = tacho("audit-secrets")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 session looked at; nothing that today's rules would mask\n"


def test_a_secret_is_told_by_session_event_place_kind_and_rule(tacho: Tacho) -> None:
    body = {"messages": [{"role": "user", "content": "hello"}, {"role": "user", "content": f"use {SECRET} please " + "x" * 500}]}
    write(tacho, IDS[0], Draft(event=events.ModelCall(id="evt_1"), contents={"prompt_redacted_uri": body}))
    (one,) = found(tacho)
    assert (one["session_id"], one["event_id"], one["seq"]) == (IDS[0], "evt_1", 1)
    assert (one["place"], one["kind"], one["count"]) == ("prompt_redacted_uri.messages[1].content", "github-token", 1)
    assert one["rule"]
    done = tacho("audit-secrets", str(tacho.store))
    assert done.returncode == 1
    assert "prompt_redacted_uri.messages[1].content  github-token" in done.stdout
    assert "next: change each secret where it is in force, then tacho shred" in done.stdout
    assert SECRET not in done.stdout


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("text_uri", {"password": "wE_xe%Eg30B0di"}, "text_uri.password"),
        ("text_uri", [["authorization", "Bearer 9f8e7d6c5b4a39281706f5e4d3c2b1a0"]], "text_uri[0][1]"),
        ("text_uri", {SECRET: 1}, "(the name itself)"),
        ("text_uri", f"bytes {SECRET}".encode(), "text_uri"),
        ("text_uri", {"deep": [[{"x": f"{SECRET} " * 200}]] * 9}, "text_uri.deep[0][0].x"),
    ],
)  # fmt: skip
def test_secrets_are_found_wherever_they_are(tacho: Tacho, field: str, value: Any, place: str) -> None:
    write(tacho, IDS[0], Draft(event=events.Note(), contents={field: value}))
    assert any(place in one["place"] for one in found(tacho))


def test_the_envelope_is_looked_at(tacho: Tacho) -> None:
    write(tacho, IDS[0], Draft(event=events.Note(subtype=f"see {SECRET}")))
    assert [one["place"] for one in found(tacho)] == ["line.subtype"]


def test_an_answer_is_put_together_before_it_is_looked_at(tacho: Tacho) -> None:
    data = [SECRET[:10].encode(), SECRET[10:].encode()]
    wire = {"head": None, "pieces": [["chunk", n, 0, len(part)] for n, part in enumerate(data)], "data": b"".join(data), "last": None}
    write(tacho, IDS[0], Draft(event=events.Http(), contents={"wire_uri": wire}))
    assert [one["place"] for one in found(tacho)] == ["wire_uri.data"]


def test_what_many_events_share_is_looked_at_once(tacho: Tacho, monkeypatch: pytest.MonkeyPatch) -> None:
    from tachograph.host.audit import Audit
    from tachograph.redact.policy import Policy

    history = [{"role": "user", "content": f"turn {n} " + "y" * 600} for n in range(40)]
    history[3] = {"role": "user", "content": f"{SECRET} " + "y" * 600}
    drafts = [
        Draft(
            event=events.ModelCall(), contents={"prompt_redacted_uri": {"messages": history[:n]}, "request_uri": {"messages": history[:n]}}
        )
        for n in range(1, 41)
    ]
    write(tacho, IDS[0], *drafts)
    write(tacho, IDS[1], *drafts[-2:])
    opened = opening.open_store(LocalStore(str(tacho.store)), keys.load((tacho.store.parent / "key.json").read_bytes(), "x"))
    walked = itertools.count()
    plain = Redactor.edits

    def counting(self: Redactor, text: str, *more: Any) -> Any:
        if len(text) > 500:  # a message
            next(walked)
        return plain(self, text, *more)

    monkeypatch.setattr(Redactor, "edits", counting)
    audit = Audit(opened, Policy.default())
    results = [one for name in audit.names() for one in audit.session(name)]
    assert [one.session_id for one in results] == [IDS[0]]
    # 40 messages, some 200 looks in all (a few more where another thread of this process masks); 40 turns with all of the turns before them are thousands.
    assert next(walked) < 500


def test_other_files_in_the_store_are_looked_at_and_our_own_are_not(tacho: Tacho) -> None:
    (tacho.store / "notes.txt").write_text(f"token={SECRET}\n")
    assert [(one["session_id"], one["place"], one["kind"]) for one in found(tacho)] == [(None, "file notes.txt", "github-token")]


def test_a_torn_tail_is_looked_at(tacho: Tacho) -> None:
    with next(tacho.store.glob("sessions/*/*.jsonl")).open("ab") as file:
        file.write(f'{{"v":1,"x":"{SECRET}'.encode())
    assert any("torn tail" in one["place"] for one in found(tacho))


def test_what_cannot_be_looked_at_is_no_yes(tacho: Tacho) -> None:
    pack = next(tacho.store.glob("sessions/*/*.pack"))
    data = bytearray(pack.read_bytes())
    data[-20] ^= 1
    pack.write_bytes(data)
    done = tacho("audit-secrets")
    assert done.returncode == 2
    assert "not looked at: ses_" in done.stderr


def test_a_shredded_session_is_told_and_no_failure(tacho: Tacho) -> None:
    assert tacho("shred", "@last", "--reason", "x", "--yes").returncode == 0
    done = tacho("audit-secrets")
    assert (done.returncode, done.stdout) == (0, "1 session looked at, 1 of them shredded; nothing that today's rules would mask\n")


def test_no_store_and_two_stores_are_usage(tacho: Tacho, tmp_path: Path) -> None:
    assert tacho("audit-secrets", str(tmp_path / "none")).returncode == 2
    assert tacho("audit-secrets", "a", "--store", "b").returncode == 2
