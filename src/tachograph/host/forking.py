"""``tacho fork``: a session run again from its tape up to one model call, and on from there with one thing changed.

The agent runs under the guard as in a replay (``replay.Stage``): it reaches nothing but its host. The host answers from the tape, or, with
``--live-model``, asks the model (``live``), or stops the fork. What the agent is given, and what it does with it, is recorded by the
ordinary recorder as a session of its own.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import tachograph
from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.core.errors import ReplayError, UsageError
from tachograph.core.ports import Clock, Entropy
from tachograph.format import canonical
from tachograph.log.lasting import LastingWriter
from tachograph.log.opening import OpenStore, check_signer
from tachograph.log.reader import Recording
from tachograph.log.writer import SessionWriter
from tachograph.redact.engine import Redactor
from tachograph.replay import edits, report
from tachograph.replay import fork as forks
from tachograph.replay.agreement import Answer
from tachograph.replay.edits import Edit
from tachograph.replay.gate import Delivery
from tachograph.replay.tape import Tape, TapeCall

from . import answering, record, replay, requests
from .editing import EditedPlayer, as_edited, editable, edited
from .entering import Entering
from .git_watch import Move
from .player import NOTHING
from .recorder import Recorder, masked
from .secrets import Given
from .server import Peer, Server
from .workspace import Watcher

if TYPE_CHECKING:
    from .live import Asked, Live

#: Live calls of one fork, where nothing else is said: an agent that goes round in circles must not empty an account.
CALLS = 50
#: Recorded calls that are held against one that fits none.
_LIKELY = 200


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a fork, or a set of questions, may cost. ``tokens``: in and out together, as the providers' answers count them; None: no limit."""

    calls: int = CALLS
    tokens: int | None = None

    def over(self, calls: int, tokens: int) -> str | None:
        """Why nothing more may be asked, if so."""
        if calls >= self.calls:
            return f"the budget of {self.calls} live call{'s' if self.calls != 1 else ''} is used up; --budget raises it"
        if self.tokens is not None and tokens >= self.tokens:
            return f"the budget of {self.tokens} tokens is used up ({tokens} counted); --budget raises it"
        return None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One fork to be. ``event_id``: the model call at which it begins, ``step`` its number for people; ``live``: the way to live models, None
    where nothing may be asked; ``by``, ``group``: as ``by`` and ``set`` of ``forked_from``."""

    opened: OpenStore
    recording: Recording
    verified: bool
    event_id: str
    step: int
    clock: Clock
    entropy: Entropy
    edits: Sequence[Edit] = ()
    live: Live | None = None
    allowed: frozenset[str] = frozenset()
    budget: Budget = field(default_factory=Budget)
    command: Sequence[str] = ()
    quiet: bool = False
    given: Given = field(default_factory=Given)
    by: str = "fork"
    group: str | None = None


def fork(plan: Plan) -> dict[str, Any]:
    """Run the fork. Returns its report (``docs/reference/replay-report.md``). Raises ``ReplayError`` and ``UsageError`` where it cannot be
    begun."""
    check_signer(plan.opened)
    asked = replay.Plan(recording=plan.recording, verified=plan.verified, command=plan.command, quiet=plan.quiet, given=plan.given)
    with replay.staged(asked) as stage:
        cut = forks.cut(stage.read, plan.event_id)
        bound = edits.bound(plan.edits, editable(cut.point.request))
        endpoint = None
        if plan.live is not None:
            endpoint = plan.live.check(answering.question(cut.point.request, b""))
            plan.live.teach(stage.redactor)
        session_id = ids.session_id(plan.clock.unix_ms(), plan.entropy(10))
        writing = Writing(plan, session_id, stage.read, stage.redactor, origin(plan, cut.point, bound), bound)
        player = stage.player(
            Forking, cut.before, cut=cut, edits=bound, way=plan.live, allowed=plan.allowed, budget=plan.budget, writing=writing
        )
        ended = stage.run(player, player)
    if ended.interrupted is not None:
        raise KeyboardInterrupt  # the fork is sealed, and what the agent made of the interruption is no finding
    said = ended.host
    if said is None or "fork" not in said:
        record.declare_loss(plan.opened, session_id, ended, None, clock=plan.clock, entropy=plan.entropy)
        why = (said or {}).get("failure") or "its host ended early"
        raise ReplayError(f"the fork {session_id} could not be finished, {why}; run it again")
    found = said["fork"]
    if found["failure"] is not None:
        raise ReplayError(f"the fork {session_id} could not be written down, {found['failure']}; run it again")
    unshown = said["guards"].pop("unshown", {})
    return {
        "session_id": session_id,
        "forked_from": found["forked_from"],
        "edits": found["edits"],
        "reached": found["reached"],
        "ended": "by_itself" if found["stopped"] is None and said["divergence"] is None else "stopped",
        "stopped": found["stopped"],
        "decision": found["decision"],
        "calls": {
            "tape": {kind: said["matched"].get(kind, 0) for kind in ("model", "tool", "http", "process")},
            "live": found["live"], "tokens": found["tokens"], "endpoint": endpoint,
        },
        "tools_run": said["ran"],
        "divergence": said["divergence"],
        "blocked": said["blocked"],
        "guards": said["guards"],
        "exit_code": ended.exit_code if ended.signal is None else -ended.signal,
        "tape": "verified" if plan.verified else "unverified",
        "code_changed": stage.restore.code_changed,
        "workspace_missing": stage.restore.missing,
        "files_changed": report.files(stage.outside.unshown(unshown)),
        "notes": [*ended.notes, *stage.notes, *found["notes"]],
        "seconds": round(ended.seconds, 3),
    }  # fmt: skip


def origin(plan: Plan, point: TapeCall, bound: Sequence[Edit]) -> dict[str, Any]:
    """``forked_from`` of the fork's first line."""
    call_id = point.event.call_id if isinstance(point.event, events.Started) else point.event.id
    out: dict[str, Any] = {
        "session_id": plan.recording.session_id, "step": plan.step, "event_id": call_id, "seq": point.seq,
        "changed": [edit.what for edit in bound], "by": plan.by,
    }  # fmt: skip
    return {**out, "set": plan.group} if plan.group is not None else out


class Writing:
    """The record of a fork."""

    def __init__(
        self, plan: Plan, session_id: str, read: Tape, redactor: Redactor, forked_from: dict[str, Any], bound: Sequence[Edit],
        *, source: str = "record",
    ) -> None:  # fmt: skip
        self.plan = plan
        self.forked_from = forked_from
        opened = plan.opened
        data_key = opened.new_data_key(session_id, plan.entropy)
        writer = SessionWriter(opened, session_id, data_key, clock=plan.clock, entropy=plan.entropy)
        self.watcher = Told()
        # Of a fork of a fork: both its edits, since its agent asks as the first one's did.
        self.edits = [*read.edits, *redactor.document([edit.to_json() for edit in bound])]
        self.recorder = Recorder(
            LastingWriter(writer, opened, data_key, clock=plan.clock, entropy=plan.entropy), redactor,
            start=self._start(read, redactor, source), watcher=self.watcher, digest=opened.digest(),
            repo_sha=read.start.repo_sha if read.start is not None else None,
        )  # fmt: skip
        self._entering = Entering(opened, session_id, clock=plan.clock, entropy=plan.entropy)
        self._pin: dict[str, Any] = {}
        self._files = list(read.files)
        #: What its agent read of its surroundings is what the first one read.
        self._reads = (
            [[lane, kind, site, list(values)] for lane, found in read.reads.items() for (kind, site), values in found.items()]
            if read.has_reads
            else []
        )

    def _start(self, read: Tape, redactor: Redactor, source: str) -> Draft:
        old = read.start or events.SessionStart()
        tally: collections.Counter[str] = collections.Counter()
        found = {key: value for key, value in read.facts.items() if key not in ("python", "packages")}
        if self.plan.command:
            found["argv"] = redactor.arguments(list(self.plan.command), tally)
        start = events.SessionStart(
            recorder=f"tachograph {tachograph.__version__}", name=old.name, agent=old.agent, source=source, repo_url=old.repo_url,
            repo_sha=old.repo_sha, flags=sorted({*old.flags, events.FLAG_ROUNDS} - {events.FLAG_TURNS}), branch=old.branch, dirty=old.dirty, policy=redactor.policy.fingerprint, forked_from=self.forked_from,
            **masked(tally),
        )  # fmt: skip
        return Draft(event=start, contents={"facts_uri": found, "workspace_uri": read.workspace, "edits_uri": self.edits or None})

    def begin(self) -> None:
        """In the process that writes."""
        self._pin = record.enter(self.recorder, self._entering, self.plan.opened.store)

    def end(self, ended: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
        """The last lines. As ``record.close``."""
        self.recorder.begin_session(None)
        self.recorder.copy_files(self._files)
        self.recorder.copy_reads(self._reads)
        for note in notes:
            self.recorder.note("fork", note)
        return record.close(self.recorder, self._entering, self.plan.opened.store, ended, pin=self._pin)


class Told(Watcher):
    """Looks at no folder: what answered calls changed is on the tape."""

    def __init__(self) -> None:
        self.root = None
        self.changes: list[dict[str, Any]] = []

    @property
    def lost(self) -> str | None:
        return None

    def moves(self) -> list[Move]:
        return []

    def look(self, tally: collections.Counter[str]) -> dict[str, Any] | None:  # noqa: ARG002 - masked when it was recorded
        changes, self.changes = self.changes, []
        found = [change for one in changes for change in one.get("changes", [])]
        return {**changes[0], "changes": found} if found else None


class Tee(Peer):
    """A peer, of whom the recorder hears what it is given."""

    def __init__(self, peer: Peer, heard: Callable[[Peer, dict[str, Any], bytes], None]) -> None:
        self.__dict__ = peer.__dict__  # the same peer
        self._hears = heard

    def hold(self, header: dict[str, Any], payload: bytes = b"") -> None:
        self._hears(self, header, payload)
        super().hold(header, payload)


class Forking(EditedPlayer):
    """The driver of a fork: a player up to the cut, then whatever there is."""

    def __init__(
        self, tape: Tape, redactor: Redactor, *, cut: forks.Cut, edits: Sequence[Edit], way: Live | None, allowed: frozenset[str],
        budget: Budget, writing: Writing, **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(tape, redactor, **more)
        self._session_id = writing.recorder.writer.session_id
        self.reached = False
        self.decision: Answer | None = None
        self.live_calls = 0
        self.tokens = 0
        self.stopped: str | None = None
        self.notes: list[str] = []
        self._cut = cut
        self._edits = edits
        self._edited: set[str] = set()
        self._way = way
        self._allowed = allowed
        self._budget = budget
        self._writing = writing
        self._recorder = writing.recorder
        self._asked: dict[tuple[int, int], Exchange] = {}
        self._begun: tuple[Peer, dict[str, Any], bytes] | None = None
        self._answering: TapeCall | None = None
        self._point = editable(cut.point.request)
        first = tape.start.forked_from.get("step") if tape.start is not None else None
        self._first_edit = max(0, first - writing.plan.step) if isinstance(first, int) else 0

    # -- beside the replay -----------------------------------------------------------------------------------------------

    def begin(self, server: Server) -> None:
        self._writing.begin()
        if self._way is not None:
            self._way.begin()
            server.watch(self._way, self._way.deliver)

    def let_go(self) -> None:
        self._recorder.writer.let_go()

    def end(self, ended: Mapping[str, Any]) -> dict[str, Any]:
        if self.stop is not None:
            ended = {**ended, "status": "stopped"}
        for exchange in list(self._asked.values()):
            exchange.give_up()
        if self._way is not None:
            self._way.close()
        self._conclude()
        summary = self._writing.end(ended, self.notes)
        recorded = answering.recorded_answer(self._cut.point)
        decided = None
        if self.decision is not None:
            now = self._redactor.document(self.decision.to_json())
            decided = {"recorded": recorded.to_json(), "now": now, "flipped": self.decision.key != recorded.key,
                       "told": [recorded.told(), self._redactor.text(self.decision.told())]}  # fmt: skip
        return {
            "fork": {
                "forked_from": self._writing.forked_from, "edits": self._writing.edits, "reached": self.reached, "stopped": self.stopped,
                "decision": decided, "live": self.live_calls, "tokens": self.tokens, "notes": self.notes,
                "failure": summary["failure"],
            }
        }  # fmt: skip

    def _conclude(self) -> None:
        if not self.reached:
            why = "" if self.stopped or self.divergence else ": the agent ended before"
            self.notes.append(f"step {self._writing.forked_from['step']} was not reached{why}")
        for edit in self._edits:
            if self.reached and self._edited and edit.what not in self._edited:
                self.notes.append(f"{edit.what} was that already, so it changed nothing")
        if self.reached and self._edits and not self._edited:
            self.notes.append("nothing was changed by what was set: the request had it so already")
        if self.ran:
            self.notes.append(f"ran under the guard instead of being answered: {', '.join(sorted(set(self.ran)))}")
        if live := sum(self.unrecorded.values()):
            kinds = ", ".join(sorted({kind for kind, _ in self.unrecorded}))
            self.notes.append(
                f"{live} reads of its surroundings ({kinds}) are not on the tape and were made for real: a replay of this fork may differ there"
            )
        if self.stopped is not None:
            self.notes.append(f"stopped: {self.stopped}")

    # -- Driver ----------------------------------------------------------------------------------------------------------

    def hello(self, peer: Peer, header: dict[str, Any], /) -> dict[str, Any]:
        self._recorder.hello(peer, header)
        return super().hello(Tee(peer, self._tell_recorder), header)

    def message(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None:
        kind = header.get("m")
        if kind == "begin":
            self._begun = (peer, header, payload)
            super().message(Tee(peer, self._tell_recorder), header, payload)
            self._announce()
            return
        if kind == "end" and (exchange := self._asked.pop((peer.number, int(header.get("c", 0))), None)) is not None:
            exchange.give_up()
        if kind in ("end", "output", "event", "code"):
            self._recorder.message(peer, header, payload)
        super().message(Tee(peer, self._tell_recorder), header, payload)

    def left(self, peer: Peer) -> None:
        for key in [key for key in self._asked if key[0] == peer.number]:
            self._asked.pop(key).give_up()
        self._recorder.left(peer)
        super().left(Tee(peer, self._tell_recorder))

    def idle(self, now: float) -> float | None:
        waits = [wait for wait in (self._recorder.idle(now), super().idle(now)) if wait is not None]
        return min(waits, default=None)

    def _expecting(self) -> bool:
        return bool(self._asked)

    # -- the record ------------------------------------------------------------------------------------------------------

    def _announce(self, header: dict[str, Any] | None = None, payload: bytes = b"") -> None:
        """The recorder hears of the call that has just begun: as the agent made it, or as it is sent in its place."""
        if self._begun is not None:
            (peer, asked, body), self._begun = self._begun, None
            self._recorder.message(peer, asked if header is None else header, body if header is None else payload)

    def _tell_recorder(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None:
        """A piece that the agent is about to be given."""
        kind = header.get("m")
        if kind not in ("head", "chunk", "end", "fail", "result"):
            return
        self._announce()
        told = {key: value for key, value in header.items() if key not in ("ack", "workspace", "printed")}
        told["t"] = time.monotonic_ns()
        call = self._answering
        if kind in ("end", "fail", "result"):
            payload = b""  # the client is given files to write there
            if call is not None and call.effects:
                self._writing.watcher.changes = list(call.effects)
                if call.kind == "tool" and isinstance(told.get("result"), dict):
                    told["result"] = {**told["result"], "wrote": True}
                elif call.kind == "tool":
                    told["wrote"] = True
            for _, fd, text in call.printed if call is not None else ():
                printed = {"m": "printed", "c": header.get("c"), "fd": fd}
                self._recorder.message(peer, printed, str(text).encode("utf-8", "surrogatepass"))
        self._recorder.message(peer, told, payload)

    def _send(self, delivery: Delivery, how: Mapping[str, int] = NOTHING) -> Peer:
        self._answering = delivery.call
        try:
            return super()._send(delivery, how)
        finally:
            self._answering = None

    # -- what the tape before the cut does not hold ------------------------------------------------------------------------

    def _elsewhere(self, peer: Peer, header: dict[str, Any], payload: bytes, request: dict[str, Any]) -> bool:
        kind, lane, name = str(header.get("k")), str(header.get("lane", peer.lane)), str(header.get("name") or "")
        operation = requests.operation(kind, request)
        if not self.reached and operation is not None and self._is_point(kind, lane, name, request):
            self.reached = True
            self._ask(peer, header, payload, request)
            return True
        if operation is None:
            call = self._cut.recorded(kind, name, lane, request) or self._recorded_once_more(kind, name, lane, request)
            if call is not None:
                self._hand_over(peer, int(header.get("c", 0)), call)
                return True
            if not self.reached:
                return False
            self._unrecorded_tool(peer, header, kind, name)
            return True
        call = None if self.reached and self._reaches(header, request) else self._cut.same(lane, name, request)
        if call is not None:
            self._hand_over(peer, int(header.get("c", 0)), call)
        elif not self.reached:
            return False  # it went its own way before the cut: a divergence
        else:
            self._ask(peer, header, payload, request)
        return True

    def _reaches(self, header: dict[str, Any], request: dict[str, Any]) -> bool:
        """Whether what was changed changes this request."""
        return self._is_mine(header, editable(request)) and edited(self._edits, request) is not None

    def _is_mine(self, header: dict[str, Any], seen: edits.Request) -> bool:
        """Whether what was changed holds for this call: of the agent that asked at the cut (its lane), and of those that are like it."""
        like = edits.system(seen), edits.model(seen)
        return str(header.get("lane")) == self._cut.point.lane or like == (edits.system(self._point), edits.model(self._point))

    def _is_point(self, kind: str, lane: str, name: str, request: dict[str, Any]) -> bool:
        point = self._cut.point
        if forks.same_call(point, lane, kind, name, request):
            return True
        # As in a replay: other secrets may be known by now than were when it was recorded.
        self._known.align(point.request, request)
        again = forks.masked(point, lambda recorded: self._redactor.settled(recorded, -1))
        now = self._redactor.settled(request, -1)
        return any(forks.same_call(again, lane, kind, name, one) for one in (now, *as_edited(self._earlier, now)))

    def _recorded_once_more(self, kind: str, name: str, lane: str, request: dict[str, Any]) -> TapeCall | None:
        since = self._redactor.generation
        for call in self._cut.rest.unused()[:_LIKELY]:
            if (call.kind, call.name) == (kind, name):
                self._known.align(call.request, request)
        if self._redactor.generation == since:
            return None
        self._cut.rewrite(lambda recorded: self._redactor.settled(recorded, -1))
        return self._cut.recorded(kind, name, lane, self._redactor.settled(request, -1))

    def _hand_over(self, peer: Peer, number: int, call: TapeCall) -> None:
        """All of a recorded answer at once: behind the cut there is no order to keep."""
        self.matched[call.sort] += 1
        if call.kind == "tool" and not getattr(call.event, "exact", True):
            self._let_run(peer, number, call.name)
            return
        self._cut.rest.cover(call)
        self._where[id(call)] = (peer, number)
        for piece in call.pieces:
            self._send(Delivery(call, piece))
        peer.flush()

    def _let_run(self, peer: Peer, number: int, name: str) -> None:
        self.ran.append(name)
        peer.send({"m": "result", "c": number, "result": {"exact": False}})

    def _unrecorded_tool(self, peer: Peer, header: dict[str, Any], kind: str, name: str) -> None:
        what = f"{kind} {name or header.get('op') or ''}".strip()
        number = int(header.get("c", 0))
        if kind == "tool" and name in self._allowed:
            if header.get("effect") == "read":
                self._let_run(peer, number, name)
                return
            self._halt(peer, number, f'{name} was allowed with --allow-tool, but is not declared as effect="read", so it is not run')
            return
        hint = (
            f"; if it only reads, --allow-tool {name} lets it run under the guard"
            if kind == "tool" and header.get("effect") == "read"
            else ""
        )
        self._halt(peer, number, f"the agent's next call was never recorded ({what}), and nothing else answers for it{hint}")

    def _halt(self, peer: Peer, number: int, why: str) -> None:
        self.stopped = why
        self.stop = "the fork ends here"
        peer.send({"m": "stop", "c": number, "why": f"the fork ends here: {why}"})

    # -- the live model --------------------------------------------------------------------------------------------------

    def _ask(self, peer: Peer, header: dict[str, Any], payload: bytes, request: dict[str, Any]) -> None:
        number = int(header.get("c", 0))
        try:
            header, payload = self._changed(header, payload, request)
        except UsageError as error:
            self._halt(peer, number, str(error))
            return
        self._announce(header, payload)
        if self._way is None:
            step = "this step" if self.live_calls == 0 else "a step"
            self._halt(peer, number, f"{step} has to be asked of a live model; --live-model allows that, with your own credentials")
            return
        if (why := self._budget.over(self.live_calls, self.tokens)) is not None:
            self._halt(peer, number, why)
            return
        if b"[REDACTED:" in payload:
            self._say("what was masked in the recording was sent to the model as its placeholder")
        self.live_calls += 1
        exchange = Exchange(self, peer, number, {**header["req"], "body": _parsed(payload)}, str(header.get("lane", peer.lane)))
        self._asked[(peer.number, number)] = exchange
        exchange.asked = self._way.ask(answering.question(header["req"], payload), exchange.tell)

    def _changed(self, header: dict[str, Any], payload: bytes, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The call as it is to be made."""
        # Of a fork of a fork: what the first one changed holds from its own step on.
        earlier = self._earlier if self.live_calls >= self._first_edit else ()
        if not self._edits and not earlier:
            return header, payload
        seen = editable(edited(earlier, request) or request)
        if edits.shape(seen) is None:
            return header, payload
        body = _parsed(payload)
        if not isinstance(body, dict):
            raise UsageError("the request's body is no JSON, so nothing can be changed in it")
        live, changed = edits.apply(earlier, replace(seen, url=str(header["req"]["url"]), body=body), request["body"])
        if self._is_mine(header, seen):
            live, now = edits.apply(self._edits, live, seen.body)
            self._edited.update(now)
            changed += now
        if not changed:
            return header, payload
        return {**header, "req": {**header["req"], "url": live.url}}, canonical.dumps_ordered(live.body)

    def answered(self, exchange: Exchange) -> None:
        """A live answer is whole, or broke off."""
        self._asked.pop((exchange.peer.number, exchange.number), None)
        answer, tokens = answering.answer_of(exchange.request, exchange.head, exchange.chunks, whole=exchange.failed is None)
        self.tokens += tokens
        status = exchange.head.get("status")
        if exchange.failed is not None:
            self._end(f"no answer from {exchange.failed}")
        elif status in (401, 403):
            self._end(f"the model's endpoint refused the credentials ({status}); check those in your environment")
        elif answer.failed is None and self.decision is None and exchange.lane == self._cut.point.lane:
            self.decision = answer

    def _end(self, why: str) -> None:
        if self.stopped is None:
            self.stopped = why
        self.stop = "the fork ends here"

    def _say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


@dataclass
class Exchange:
    """A live call under way, as the driver sees it."""

    driver: Forking
    peer: Peer
    number: int
    request: dict[str, Any]
    lane: str
    head: dict[str, Any] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)
    failed: str | None = None
    asked: Asked | None = None

    def tell(self, header: dict[str, Any], data: bytes) -> None:
        """A piece has come."""
        if header["m"] == "head":
            self.head = header["head"]
        elif header["m"] == "chunk":
            self.chunks.append(data)
        elif header.get("error"):
            self.failed = str(header["error"].get("message"))
        self.peer.send({**header, "c": self.number}, data)  # and, as it is a Tee, to the recorder
        if header["m"] in ("end", "fail"):
            self.driver.answered(self)

    def give_up(self) -> None:
        if self.asked is not None:
            self.asked.give_up()


def _parsed(payload: bytes) -> Any:
    try:
        return canonical.loads(payload)
    except ValueError:
        return None
