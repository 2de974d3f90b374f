"""``tacho reask``: the same question to the same model, several times: was its decision chance, or is there a cause?

No agent runs: what the model saw at a step is on the record, and is sent again as it is there. Each answer is kept as a session of its own
(``forked_from`` with ``by: reask``) that holds this one call.
"""

from __future__ import annotations

import concurrent.futures
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tachograph.core import ids
from tachograph.core.errors import ReplayError, UsageError
from tachograph.format import canonical
from tachograph.log.opening import check_signer
from tachograph.redact.engine import Redactor
from tachograph.replay import agreement, edits, tape
from tachograph.replay import fork as forks
from tachograph.replay.agreement import Answer
from tachograph.replay.tape import Tape, TapeCall

from . import answering, forking, patterns, replay
from .editing import editable
from .live import AT_ONCE, Live, Question
from .server import Peer

#: Statuses that say "later"; a question is put so many times, with so many seconds between at most.
_LATER = frozenset({429, 500, 502, 503, 504, 529})
_TRIES, _WAIT = 4, 20.0


@dataclass
class _Said:
    """One answer: its pieces with their times (monotonic, ns)."""

    began: int
    pieces: list[tuple[int, dict[str, Any], bytes]] = field(default_factory=list)
    tries: int = 1

    @property
    def head(self) -> dict[str, Any]:
        return next((header["head"] for _, header, _ in self.pieces if header["m"] == "head"), {})

    @property
    def error(self) -> str | None:
        last = self.pieces[-1][1] if self.pieces else {}
        return str(last["error"]["message"]) if last.get("error") else None


@dataclass
class _Spent:
    calls: int = 0
    tokens: int = 0


def reask(plan: forking.Plan, count: int, progress: Callable[[int, int], None] = lambda _done, _of: None) -> dict[str, Any]:
    """Ask ``count`` times. Returns the report. Raises ``UsageError`` and ``ReplayError`` where it cannot be asked at all."""
    live = plan.live
    if live is None:
        raise UsageError("asking a model again needs a live model; --live-model allows that, with your own credentials")
    check_signer(plan.opened)
    read = tape.load(plan.recording)
    point = forks.cut(read, plan.event_id).point
    policy, notes = replay.recorded_policy(read)
    redactor = Redactor(policy, key=plan.opened.fingerprint_key, learns=True)
    patterns.load(redactor.index, patterns.folder(os.environ), plan.opened.fingerprint_key)
    plan.given.teach(redactor)
    live.teach(redactor)
    request, changed = _request(plan, point)
    notes += changed
    sent = answering.question(request, _bytes(request.get("body")))
    endpoint = live.check(sent)
    if b"[REDACTED:" in sent.body:
        notes.append("what was masked in the recording was sent to the model as its placeholder")
    if count > plan.budget.calls:
        notes.append(f"asked {plan.budget.calls} times and not {count}: --budget is {plan.budget.calls} calls")
        count = plan.budget.calls
    answers: list[Answer] = []
    sessions: list[str] = []
    spent = _Spent()
    for said in _ask(live, sent, count, plan.budget, spent):
        if said.error is not None or said.head.get("status") in (401, 403):
            _refuse(said, endpoint, answered=bool(answers))
        answer, cost = answering.answer_of(
            request, said.head, [data for _, header, data in said.pieces if header["m"] == "chunk"], whole=said.error is None
        )
        spent.tokens += cost
        answers.append(answer)
        sessions.append(_keep(plan, read, point, redactor, request, sent, said))
        progress(len(answers), count)
    if len(answers) < count and (why := plan.budget.over(spent.calls, spent.tokens)) is not None:
        notes.append(f"asked {len(answers)} times and not {count}: {why}")
    recorded = answering.recorded_answer(point)
    found = agreement.compare(recorded, [_masked(answer, redactor) for answer in answers])
    return {
        "session_id": plan.recording.session_id, "step": plan.step, "event_id": plan.event_id, "endpoint": endpoint,
        "changed": [edit.what for edit in plan.edits], "model_id": edits.model(editable(request)), **found, "tokens": spent.tokens, "calls": spent.calls, "sessions": sessions, "notes": notes,
    }  # fmt: skip


def _masked(answer: Answer, redactor: Redactor) -> Answer:
    if answer.failed is not None:
        return Answer(failed=redactor.text(answer.failed))
    actions = tuple((name, redactor.document(value)) for name, value in answer.actions)
    return Answer(actions=actions, text=redactor.text(answer.text))


def _request(plan: forking.Plan, point: TapeCall) -> tuple[dict[str, Any], list[str]]:
    """What was asked, with the plan's edits."""
    if not plan.edits:
        return point.request, []
    seen = editable(point.request)
    request, changed = edits.apply(edits.bound(plan.edits, seen), seen, seen.body)
    notes = [f"{edit.what} was that already, so it changed nothing" for edit in plan.edits if edit.what not in changed]
    return {**point.request, "url": request.url, "body": request.body}, notes


def _bytes(body: Any) -> bytes:
    if isinstance(body, (dict, list)):
        return canonical.dumps_ordered(body)
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b""


def _ask(live: Live, sent: Question, count: int, budget: forking.Budget, spent: _Spent) -> Iterator[_Said]:
    """The answers, as they come; a few at once. Ends early when the budget is used up."""
    with concurrent.futures.ThreadPoolExecutor(min(AT_ONCE, count), thread_name_prefix="tacho-reask") as pool:
        waiting: set[concurrent.futures.Future[_Said]] = set()
        begun = 0
        try:
            while True:
                while begun < count and len(waiting) < AT_ONCE and budget.over(spent.calls + len(waiting), spent.tokens) is None:
                    waiting.add(pool.submit(_one, live, sent))
                    begun += 1
                if not waiting:
                    return
                done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                for each in done:
                    said = each.result()
                    spent.calls += said.tries
                    yield said
        finally:
            for each in waiting:
                each.cancel()


def _one(live: Live, sent: Question) -> _Said:
    tries = 0
    while True:
        tries += 1
        said = _Said(time.monotonic_ns(), tries=tries)

        def tell(header: dict[str, Any], data: bytes, said: _Said = said) -> None:
            said.pieces.append((time.monotonic_ns(), header, data))

        live.answer(sent, tell)
        if said.head.get("status") not in _LATER or tries == _TRIES:
            return said
        time.sleep(min(_WAIT, _after(said.head) or 0.5 * 2**tries))


def _after(head: dict[str, Any]) -> float | None:
    """Seconds that the endpoint asks to wait."""
    headers = {str(name).lower(): str(value) for name, value in head.get("headers", [])}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value) / unit
    return None


def _refuse(said: _Said, endpoint: str, *, answered: bool) -> None:
    """What will not get better by asking again."""
    if said.head.get("status") in (401, 403):
        raise ReplayError(f"{endpoint} refused the credentials ({said.head['status']}); check those in your environment")
    if not answered and not said.head:
        raise ReplayError(f"no answer from {said.error}")


def _keep(plan: forking.Plan, read: Tape, point: TapeCall, redactor: Redactor, request: dict[str, Any], sent: Question, said: _Said) -> str:
    """One answer, as a session."""
    session_id = ids.session_id(plan.clock.unix_ms(), plan.entropy(10))
    bound: Sequence[edits.Edit] = edits.bound(plan.edits, editable(point.request)) if plan.edits else ()
    writing = forking.Writing(plan, session_id, read, redactor, forking.origin(plan, point, bound), bound, source="reask")
    recorder = writing.recorder
    writing.begin()
    recorder.begin_session(None)
    recorder.joined = 1  # no process of an agent's, and none is missing
    with socket.socket(socket.AF_UNIX) as nobody:
        peer = Peer(nobody, 1, os.getpid())
        peer.lane = point.lane
        asked = {"method": request["method"], "url": request["url"], "headers": request["headers"]}
        recorder.message(
            peer, {"m": "begin", "c": 1, "lane": point.lane, "k": "http", "op": point.name, "req": asked, "t": said.began}, sent.body
        )
        for at, header, data in said.pieces:
            recorder.message(peer, {**header, "c": 1, "t": at}, data)
        failed = said.error is not None
        summary = writing.end({"exit_code": int(failed), "seconds": (time.monotonic_ns() - said.began) / 1e9}, [])
    if summary["failure"] is not None:
        raise ReplayError(f"an answer could not be written down, {summary['failure']}; what came before it is kept")
    return session_id
