"""The replaying driver: every call is answered from the tape, or the replay ends with a divergence. Nothing is ever run for real."""

from __future__ import annotations

import base64
import collections
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import neutral
from tachograph.replay import divergence, unify
from tachograph.replay.divergence import Divergence
from tachograph.replay.gate import Delivery, Gate
from tachograph.replay.tape import Mark, Tape, TapeCall

from . import facts, filtering, requests
from .again import Again
from .ahead import Ahead
from .ambient import Answering
from .known import Known
from .recorder import MAX_OUTPUT
from .rest import Agent
from .server import Peer

#: An agent that never rests (it turns in a loop until something comes) gets what is due after it has used the processor for so many
#: seconds; so many once that has happened. The report counts it.
BUSY = (2.0, 0.1)
#: Seconds between looks at an agent that is still at work, while something is due; the last again and again.
LOOKS = (0.0, 0.00003, 0.00006, 0.00012, 0.00025, 0.0005)
#: The longest pause between looks that only ask whether it can go on. Seconds.
PAUSE = 0.05
#: An agent that is at rest but waits for a time-out that is not recorded, or for standard input, may go on without us. It is given up
#: when it has not done anything for this long. Seconds.
PATIENCE = 10.0
#: Where a system does not show whether an agent rests, it counts as resting when it has said nothing for this long. Seconds.
SETTLE = 0.005
NOTHING: Mapping[str, int] = {}
#: Calls that are held against one that fits none.
_LIKELY = 200


class Player:
    """See ``server.Driver``. ``stop`` says why the agent is to be ended, if it is."""

    #: Whether answers may be sent ahead: not where they may be other ones than the recorded.
    goes_ahead = True
    #: Whether sleeps, timers and background work keep their recorded order, and take no time.
    keeps_turns = True

    def __init__(
        self, tape: Tape, redactor: Redactor, *, session_id: str, writable: list[str], alias: Callable[[Any], Any], known: Known, tree: str,
        live: Sequence[str] = (), matcher: unify.Matcher | None = None,
    ) -> None:  # fmt: skip
        self.tape = tape
        self.matcher = matcher or unify.Strict(tape)
        self.divergence: Divergence | None = None
        self.stop: str | None = None
        self.ended_at_cut = False
        self.blocked: list[dict[str, Any]] = []
        self.matched: collections.Counter[str] = collections.Counter()
        self.ran: list[str] = []
        self.output: list[bytes] = []
        self.size = 0
        self.joined = 0
        self.ambient = Answering(tape.reads)
        self._gate = Gate(tape.calls, tape.marks if self.keeps_turns else ())
        self._ahead = Ahead(tape, self._gate)
        self._redactor = redactor
        self._session_id = session_id
        self._writable = writable
        self.alias = alias
        self._known = known
        self._masked = redactor.generation
        self._tree = tree
        self.reads_live = sorted(live)
        self._live: dict[tuple[int, int], TapeCall] = {}
        self._where: dict[int, tuple[Peer, int]] = {}
        self._spent: set[int] = set()
        self._goes_ahead = self.goes_ahead and isinstance(self.matcher, unify.Strict)
        #: Turns that were asked for: who waits for each, and back.
        self._turns: dict[int, tuple[Peer, int]] = {}
        self._turn_of: dict[tuple[int, int], int] = {}
        #: Who was told to hold an event loop since they were last told to go on.
        self._holding: dict[int, Peer] = {}
        #: How many wait for a turn that the recording does not hold.
        self._never = 0
        self._main: int | None = None
        self._pids: set[int] = set()
        self.agent = Agent()
        self.by_time = not self.agent.seen
        self.early = 0
        self.reordered = 0
        self.silent: Callable[[], bool] = lambda: True
        self._alone = False
        self._heard = 0.0
        self._pause = 0.001
        self._worked: float | None = None
        self._quiet: tuple[float, Any] | None = None

    @property
    def unrecorded(self) -> collections.Counter[tuple[str, str]]:
        """(kind, site) of reads of the surroundings that had no recorded value, and how many."""
        return self.ambient.unrecorded

    # -- Driver ----------------------------------------------------------------------------------------------------------

    def hello(self, peer: Peer, _: dict[str, Any]) -> dict[str, Any]:
        self.joined += 1
        self._pids.add(peer.pid)
        if self._main is None:
            self._main = peer.number
        self.ambient.joined(peer.number, peer.lane)
        return {
            "m": "welcome", "mode": "replay", "session": self._session_id, "writable": self._writable, "reads": int(self.tape.has_reads),
            "live": self.reads_live, "turns": int(self.tape.has_turns and self.keeps_turns),
        }  # fmt: skip

    def message(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None:
        kind = header.get("m")
        self._pause = 0.001
        self._heard = time.monotonic()
        if kind == "begin":
            self._begin(peer, header, payload)
        elif kind == "end":
            which = (peer.number, int(header.get("c", 0)))
            call, turn = self._live.pop(which, None), self._turn_of.pop(which, None)
            if call is not None:
                self._gate.drop(call)
            elif turn is not None:
                self._gate.withdraw(turn)
        elif kind == "turn":
            self._turn(peer, header)
        elif kind == "turns":
            peer.send({"m": "turns", "c": header.get("c"), "turns": self.tape.turns()})
        elif kind == "values":
            peer.send({"m": "values", "c": header.get("c"), "reads": self.ambient.values(peer.number, str(header.get("lane")))})
        elif kind == "ambient":
            self.ambient.told(header)
        elif kind == "sync":
            peer.send({"m": "synced", "n": header.get("n")})
        elif kind == "output" and peer.number == self._main and header.get("fd") == 1:
            self.size += len(payload)
            if self.size <= MAX_OUTPUT:
                self.output.append(payload)
        elif kind == "filter":
            self._known.look({}, payload)
            peer.send(*filtering.answer(self._redactor, header, payload))
        elif kind == "blocked":
            self.block(header.get("attempt", {}))
        self._pump()

    def left(self, peer: Peer) -> None:
        self._pids.discard(peer.pid)
        self._holding.pop(peer.number, None)
        for key, call in list(self._live.items()):
            if key[0] == peer.number:
                del self._live[key]
                self._gate.drop(call)
        for key, turn in list(self._turn_of.items()):
            if key[0] == peer.number:
                del self._turn_of[key]
                self._gate.withdraw(turn)
        self._pump()

    def idle(self, now: float) -> float | None:
        if self.stop is not None:
            return None
        if self._gate.due:
            return self._give(now)
        return self._judge(now)

    # -- calls -----------------------------------------------------------------------------------------------------------

    def _begin(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None:
        kind, lane, name = str(header.get("k")), str(header.get("lane", peer.lane)), str(header.get("name") or "")
        number = int(header.get("c", 0))
        self._alone = bool(header.get("alone")) and len(self._pids) == 1
        if header.get("ahead") == "taken":
            self._taken_ahead(peer, header, lane, name)
            return
        if header.get("ahead") != "spent":
            self._ahead.asked(peer.number)
        tally: collections.Counter[str] = collections.Counter()
        told = self.alias(header.get("req") or {})
        # A request that is the recorded one as it stands needs no masking: what was recorded is masked.
        request, call = told, None
        if kind == "tool" and not payload and self.stop is None:
            call = self.matcher.as_it_stands(kind, lane, name, told)
        if call is None:
            self._known.look(told, payload)
            request = requests.document(kind, told, payload, self._redactor, tally)
            call = self.matcher.take(kind, lane, name, request) if self.stop is None else None
        if call is None and self.stop is None:
            request, call = self._once_more(kind, lane, name, told, payload, request)
        if call is None and self.stop is None and self._elsewhere(peer, header, payload, request):
            return
        if call is None:
            if self.tape.gap is not None and not self.tape.unused() and self.stop is None:
                # The recorder had died; the agent had gone on.
                self.ended_at_cut = True
                self.stop = "the recording ends here"
            elif self.divergence is None and self.stop is None:
                shown = name or requests.operation(kind, request) or str(header.get("op"))
                self.divergence = divergence.miss(
                    kind, shown, lane, request, self.tape.calls, header.get("site"), self.matcher, self.unrecorded
                )
                self.stop = "diverged"
            peer.send({"m": "stop", "c": number, "why": "the recording does not hold this call"})
            return
        self.matched[call.sort] += 1
        if kind == "tool" and not getattr(call.event, "exact", True):
            # Its result cannot be rebuilt from data, so the tool runs, under the guard; its inner calls are asked for as usual.
            self.ran.append(call.name)
            self._gate.drop(call)
            more = self._ahead.spent(peer.number, call) if header.get("ahead") == "spent" else {}
            peer.send({"m": "result", "c": number, "result": {"exact": False}, **more})
            return
        self._cover(call, header)
        if header.get("ahead") == "spent":
            self._spent.add(id(call))
        self._live[(peer.number, number)] = call
        self._where[id(call)] = (peer, number)
        self._gate.begin(call)

    def _taken_ahead(self, peer: Peer, header: dict[str, Any], lane: str, name: str) -> None:
        """The client has its answer already; whether it was that of what it asks for is looked at all the same."""
        if self.stop is not None:
            return
        call = self._ahead.took(peer.number, header.get("req") or {})
        if call is None:
            request = header.get("req") or {}
            self.divergence = divergence.miss(
                "tool", name, lane, request, self.tape.calls, header.get("site"), self.matcher, self.unrecorded
            )
            self.stop = "diverged"
            return
        self.matched[call.sort] += 1
        if header.get("inside"):
            self._gate.cover(str(header["inside"]))
        self._gate.begin(call)
        self._gate.next()
        more = self._ahead.more(peer.number, lane)
        if more is not None:
            peer.send(*more)

    def _elsewhere(self, peer: Peer, header: dict[str, Any], payload: bytes, request: dict[str, Any]) -> bool:  # noqa: ARG002 - a fork's
        """Whether a call that the tape does not hold is answered by somebody else (``host/forking.py``)."""
        return False

    def _once_more(
        self, kind: str, lane: str, name: str, told: dict[str, Any], payload: bytes, request: dict[str, Any]
    ) -> tuple[dict[str, Any], TapeCall | None]:
        """No recorded call fits. It may be that by now more secrets are known than when the call was recorded, or fewer: both are masked by
        what can be known now, and compared again (``redact.learned`` says why that is exact)."""
        for call in self.tape.unused()[:_LIKELY]:
            if (call.kind, call.lane) == (kind, lane):
                self._known.align(call.request, request)
        if self._redactor.generation == self._masked:
            return request, None
        self._masked = self._redactor.generation
        self.tape.rewrite(Again(self._redactor))
        request = requests.document(kind, told, payload, self._redactor, collections.Counter())
        return request, self.matcher.take(kind, lane, name, request)

    def _cover(self, call: TapeCall, header: dict[str, Any]) -> None:
        for inner in self.tape.cover(call):
            self._gate.drop(inner)
        if header.get("inside"):
            self._gate.cover(str(header["inside"]))

    def _turn(self, peer: Peer, header: dict[str, Any]) -> None:
        """Something in the agent waits for its turn. One that the recording does not hold never comes."""
        self._alone = bool(header.get("alone")) and len(self._pids) == 1
        which = (str(header.get("lane")), str(header.get("what")), int(header.get("n", 0)))
        call = int(header.get("c", 0))
        self._ahead.asked(peer.number)
        owner = self._gate.ask(*which)
        if owner is not None:
            self._turns[owner], self._turn_of[(peer.number, call)] = (peer, call), owner
        elif self._gate.passed(*which):
            self.reordered += 1  # it was passed over, since nobody had asked for it yet
            peer.send({"m": "turn", "c": call})
        else:
            self._never += 1

    def _pump(self) -> None:
        """What is due, if nothing else can run in the agent: its only thread waits for it."""
        if self._alone and self.stop is None:
            while not self._gate.due and self._pass_over():
                pass
            self._release(all_of_it=True)

    def _pass_over(self) -> bool:
        """The agent rests, and waits. If the next entry is a turn that it has not asked for, it never will, and the turn is passed over."""
        missing = self._gate.missing
        if not self._gate.waiting or not isinstance(missing, Mark):
            return False
        self._gate.skip()
        return True

    def _unstick(self) -> bool:
        """The agent rests, and what is next is a call that it does not make, while a part of it has all it needs but its place in the order:
        the order cannot be kept there."""
        turn = self._gate.unstick() if isinstance(self._gate.missing, TapeCall) else None
        if turn is None:
            return False
        self.reordered += 1
        self._let(turn).flush()
        return True

    def _release(self, *, all_of_it: bool = False) -> None:
        touched: dict[int, Peer] = {}
        apart = 0
        while (due := self._gate.next()) is not None:
            more = self._gate.together
            how = {"more": 1} if more else {}
            if apart > 1:
                how["apart"] = apart - 1
            held = 0 if more else self._gate.held
            if held:
                how["hold"] = held
            peer = self._send(due, how) if isinstance(due, Delivery) else self._let(due, how)
            if held:
                self._holding[peer.number] = peer
            touched[peer.number] = peer
            apart = more
            if not (all_of_it or more):
                break
        for peer in touched.values():
            peer.flush()
        self._worked = None

    def _let(self, turn: int, how: Mapping[str, int] = NOTHING) -> Peer:
        peer, number = self._turns.pop(turn)
        del self._turn_of[(peer.number, number)]
        peer.hold({"m": "turn", "c": number, **how})
        return peer

    def _send(self, delivery: Delivery, how: Mapping[str, int] = NOTHING) -> Peer:
        call, piece = delivery.call, self.matcher.piece(delivery.call, delivery.piece)
        peer, number = self._where[id(call)]
        header: dict[str, Any] = {**piece.header, "c": number, **how}
        payload = piece.data
        if piece.header["m"] in ("end", "result", "fail"):
            self._live.pop((peer.number, number), None)
            if call.effects:
                # Answered, not run: what it did to the files is done by the client, under the guard.
                payload = changes(self.matcher.told(call.effects), self._tree)
                header["workspace"] = 1
            if call.printed:
                header["printed"] = self.matcher.told([[fd, text] for _, fd, text in call.printed])
        if id(call) in self._spent:
            header |= self._ahead.spent(peer.number, call)
        if self._alone and self._goes_ahead and call.kind == "tool" and (more := self._ahead.more(peer.number, call.lane)) is not None:
            peer.hold(*more)  # first, so that it is there when the agent goes on
        peer.hold(header, payload)
        return peer

    def look(self, printed: bytes) -> None:
        """Learn the recorded secrets that were printed."""
        self._known.look(None, printed)

    def block(self, attempt: dict[str, Any]) -> None:
        """Something that the guard refused."""
        known = {key: attempt[key] for key in ("what", "where", "by", "stack", "count") if key in attempt}
        if known not in self.blocked and len(self.blocked) < 1000:
            self.blocked.append(self._redactor.document(known))

    # -- rest ------------------------------------------------------------------------------------------------------------

    def _at_rest(self, now: float) -> bool:
        if not self._pids or not self.silent():
            return False
        if self.by_time:
            return now - self._heard >= SETTLE
        return self.agent.at_rest(self._pids, self.silent)

    def _give(self, now: float) -> float:
        """Something is due: it is given when the agent rests."""
        for wait in LOOKS:
            if wait:
                time.sleep(wait)
            if not self.silent():
                return 0.0
            if self._at_rest(now):
                self._release()
                self._heard = now
                return 0.0
        if not self.by_time:
            used = self.agent.used(self._pids)
            if self._worked is None:
                self._worked = used
            elif used - self._worked >= BUSY[self.early > 0]:
                self.early += 1
                self._release()
        return LOOKS[-1]

    def _judge(self, now: float) -> float | None:
        """Nothing is due. If the agent rests, it can do nothing any more but what something outside of it makes it do."""
        if self._expecting():
            return None
        if not self._at_rest(now):
            self._pause = min(2 * self._pause, PAUSE)
            return self._pause
        self._pause = PAUSE
        if self._holding:
            # What the loops are held for does not come, unless they go on.
            for peer in self._holding.values():
                peer.send({"m": "go"})
            self._holding.clear()
            return 0.0
        if self._pass_over() or self._unstick():
            return 0.0
        waiting, live = self._gate.waiting, list(self._live.values())
        cut = self.tape.end is None or self.tape.end.status in ("killed", "lost", "stopped")
        if cut and not waiting and all(call.cut for call in live):
            if not self.tape.unused() and self._given_up(now):
                self.ended_at_cut = True
                self.stop = "the recording ends here"
        elif not waiting and not self._never and (live or not self._pids):
            # A command that nobody waits for, or something outside: the agent ends by itself.
            if not all(call.cut for call in live) and self._given_up(now):
                self.divergence = divergence.stuck(live, self._gate.missing, self.tape.calls)
                self.stop = "diverged"
        elif not waiting and not self._never:
            if not self.agent.blocked(self._pids).outside and self._unmoved(now):
                self.divergence = divergence.stuck([], None, self.tape.calls)
                self.stop = "diverged"
        elif self._given_up(now):
            self.divergence = divergence.stuck(waiting or live, self._gate.missing, self.tape.calls)
            self.stop = "diverged"
        return None if self.stop is not None else PAUSE

    def _given_up(self, now: float) -> bool:
        """Whether an agent that rests goes on no more. At once, where everything in it waits for us, or for other parts of it."""
        if not self.by_time and not self.agent.blocked(self._pids).outside:
            return True
        return self._unmoved(now)

    def _unmoved(self, now: float) -> bool:
        """Whether nothing in it has moved for long."""
        state = self._heard if self.by_time else self.agent.state
        if self._quiet is None or self._quiet[1] != state:
            self._quiet = (now, state)
        return now - self._quiet[0] >= PATIENCE

    def _expecting(self) -> bool:
        """Whether an answer is to come from somewhere else than the tape (a fork's)."""
        return False


def changes(effects: list[dict[str, Any]], tree: str) -> bytes:
    """Recorded changes, in order, as ``client/workspace.apply`` reads them; ``tree``: where the agent works now."""
    out = []
    for change in (change for workspace in effects for change in workspace.get("changes", [])):
        item = {"path": change["path"], "action": change["action"], "mode": change.get("mode", 0o644)}
        data = change.get("after")
        if change["action"] != "deleted":
            if "link" in change:
                item["link"] = change["link"]
            elif isinstance(data, (bytes, bytearray)):
                item["base64"] = base64.b64encode(data).decode()
            elif isinstance(data, str):
                item["text"] = data
            else:
                continue  # too large to be kept; the recording says so
        out.append(item)
    return json.dumps({"root": tree, "changes": out}).encode()


def printed(player: Player, redactor: Redactor) -> Any:
    """What the main process wrote to standard output, redacted as the recorder does it, with paths as they were recorded."""
    if not player.output:
        return ""
    player.look(b"".join(player.output))
    return player.alias(facts.text(b"".join(redactor.answer([], [b"".join(player.output)], collections.Counter())[1])))


def as_recorded(player: Player, redactor: Redactor, text: Any) -> bool:
    """Whether what was printed is what was printed then, both masked by what is known now."""
    then = player.tape.stdout
    if not isinstance(then, str) or not isinstance(text, str) or player.size > MAX_OUTPUT:
        return False
    return player.matcher.output(neutral(redactor.settled(then, -1)), neutral(text))
