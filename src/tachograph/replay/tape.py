"""A session as a tape: the calls that a replay can answer, with the pieces of their answers in the order in which they came."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tachograph.core import events
from tachograph.core.errors import ReplayError
from tachograph.log.heap import unswept

from . import match

#: Ends that are the agent's doing: in a replay the agent does them again, nothing is delivered.
_BY_AGENT = ("closed", "cancelled")
#: The lowest bits of an order number: how it follows the one before in the same event loop (``host/order.py``).
BITS = 8
ROUNDS = (1 << BITS) - 1
#: In a loop, which may have slept; in the same round as the one before. 0: in no loop.
SLEPT, SAME_ROUND = 1, 2


class Source(Protocol):
    """What a tape is made of (``log.reader.Recording``)."""

    @property
    def entries(self) -> Iterable[Any]: ...
    def content(self, uri: str | None) -> Any: ...


@dataclass(frozen=True)
class Piece:
    """One delivery: ``order`` among all of the session, ``header`` as the client reads it, ``data`` its payload."""

    order: int
    header: dict[str, Any]
    data: bytes = b""


@dataclass(frozen=True)
class Mark:
    """What happened at one moment of the session-wide order, and is no call: a timer that fired, work that was done. ``value``: how many of
    the kind there were before in the lane, with this one (``client/turns``)."""

    order: int
    lane: str
    kind: str
    value: Any

    @property
    def label(self) -> str:
        return self.kind


@dataclass
class TapeCall:
    """One recorded call. ``covered``: it happened inside a tool or command that is itself answered, and will not be asked for."""

    event: events.Call | events.Started
    kind: str
    name: str
    lane: str
    request: dict[str, Any]
    pieces: list[Piece]
    key: bytes
    seq: int
    covered: bool = False
    used: bool = False
    cut: bool = False
    workspace: dict[str, Any] | None = None
    end: int = 0
    """The line with which it ended."""
    effects: list[dict[str, Any]] = field(default_factory=list)
    printed: list[list[Any]] = field(default_factory=list)
    """``[order, descriptor, text]`` of what a declared tool printed; after ``cover``, of the tools inside it, too."""

    @property
    def label(self) -> str:
        """``model_call Converse``, ``tool_call apply_patch`` …"""
        if isinstance(self.event, events.ModelCall):
            return f"model call {self.event.operation}"
        return f"{self.kind} {self.name}"

    @property
    def sort(self) -> str:
        """As counted in a report: model, tool, http, process."""
        return "model" if isinstance(self.event, events.ModelCall) else self.kind


@dataclass
class Tape:
    """All calls of a session, in the order in which they began."""

    calls: list[TapeCall] = field(default_factory=list)
    start: events.SessionStart | None = None
    end: events.SessionEnd | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    workspace: dict[str, Any] | None = None
    code: list[str] = field(default_factory=list)
    edits: list[dict[str, Any]] = field(default_factory=list)
    """What a fork changed in its agent's requests (``edits.Edit.to_json``)."""
    stdout: Any = None
    gap: str | None = None
    """Why the recording is not whole, if it is not (the reason of its gap)."""
    has_reads: bool = False
    """Whether the recorder kept what the agent read of its surroundings. Older ones did not."""
    reads: dict[str, dict[tuple[str, str], list[Any]]] = field(default_factory=dict)
    """lane → (kind, site) → the values, in the order of reading."""
    has_turns: bool = False
    """Whether the recorder kept when sleeps were over, timers fired and work was done. Where it did not, they take their time."""
    marks: list[Mark] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    """Files outside of the workspace that the agent read (``host/outside.py``)."""
    written: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    """(seq, enclosing call, changes) of files that a tool's own code wrote between its inner calls."""

    version: int = 0
    """Another number whenever the calls have other requests than before."""

    def __post_init__(self) -> None:
        self._free: dict[bytes, collections.deque[TapeCall]] = {}
        self._inner: dict[str, list[TapeCall]] = {}
        self._written: dict[str, list[tuple[int, dict[str, Any]]]] = {}

    def index(self) -> None:
        """Prepare ``take`` and ``cover`` (after all calls are in, or have other keys)."""
        self._free.clear()
        self._inner.clear()
        self._written.clear()
        self.version += 1
        for call in self.calls:
            if not call.covered and not call.used:
                self._free.setdefault(call.key, collections.deque()).append(call)
            if call.event.parent_id is not None:
                self._inner.setdefault(call.event.parent_id, []).append(call)
        for seq, parent, changes in self.written:
            self._written.setdefault(parent, []).append((seq, changes))

    def take(self, key: bytes) -> TapeCall | None:
        """The first unused call with this key, now used; None for a miss. An answer is never given twice."""
        waiting = self._free.get(key)
        while waiting:
            call = waiting.popleft()
            if not call.covered:
                call.used = True
                return call
        return None

    def next_with(self, key: bytes, after: int) -> TapeCall | None:
        """The call that ``take`` will give after that many more; None where there is none."""
        waiting = self._free.get(key, ())
        return waiting[after] if after < len(waiting) else None

    def alone(self, call: TapeCall) -> bool:
        """Whether nothing happened inside of a call."""
        return call.event.id not in self._inner and call.event.id not in self._written

    def rewrite(self, masked: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """The requests of the calls that are left, masked by what is known now, and found by what they are then."""
        for call in self.unused():
            call.request = masked(call.request)
            call.key = match.key(call.lane, call.kind, call.name, call.request)
        self.index()

    def said(self) -> Iterator[Any]:
        """All contents: JSON-like values, and the bytes of answers."""
        yield self.facts
        yield self.workspace
        yield self.files
        yield self.stdout
        for call in self.calls:
            yield call.request
            yield b"".join(piece.data for piece in call.pieces)
            yield [piece.header for piece in call.pieces]
            yield call.workspace
            yield call.printed

    def touched(self) -> set[str]:
        """The files of the workspace that changed in the session."""
        held = [call.workspace for call in self.calls if call.workspace is not None] + [changes for _, _, changes in self.written]
        return {str(change["path"]) for workspace in held for change in workspace.get("changes", [])}

    def cover(self, call: TapeCall) -> list[TapeCall]:
        """An answered tool does not run: what it did inside is not asked for. Returns what is covered by that, and gathers in
        ``call.effects`` all that it, and what it called, did to the workspace."""
        own = [(call.end, call.workspace)] if call.workspace is not None else []
        if call.kind != "tool" or not getattr(call.event, "exact", True):
            call.effects = [changes for _, changes in own]
            return []
        inside = [call.event.id]
        found: list[TapeCall] = []
        for parent in inside:  # grows as it goes: their own inner calls, too
            for other in self._inner.get(parent, ()):
                inside.append(other.event.id)
                if not other.used and not other.covered:
                    other.covered = True
                    found.append(other)
        found.sort(key=lambda other: other.seq)
        call.printed = sorted([*call.printed, *(entry for other in found for entry in other.printed)])
        inner = [(other.end, other.workspace) for other in found if other.workspace is not None]
        loose = [entry for parent in inside for entry in self._written.get(parent, ())]
        call.effects = [changes for _, changes in sorted([*own, *inner, *loose], key=lambda item: item[0])]
        return found

    def turns(self) -> list[list[Any]]:
        """``[[lane, what, [number, …]], …]`` of the turns that came."""
        found: dict[tuple[str, str], list[Any]] = {}
        for mark in self.marks:
            found.setdefault((mark.lane, mark.kind), []).append(mark.value)
        return [[lane, what, numbers] for (lane, what), numbers in found.items()]

    def unused(self) -> list[TapeCall]:
        return [call for call in self.calls if not call.used and not call.covered]


@unswept
def load(source: Source) -> Tape:
    """The tape of a recording. Raises ``ReplayError`` for a session that has no wire to replay."""
    tape = Tape()
    open_calls: dict[str, tuple[events.Started, int]] = {}
    began: dict[str, int] = {}
    for entry in source.entries:
        event = entry.event
        if isinstance(event, events.SessionStart):
            tape.start = event
            tape.has_reads = events.FLAG_READS in event.flags
            tape.has_turns = events.FLAG_TURNS in event.flags
            tape.facts = source.content(event.facts_uri) or {}
            tape.workspace = source.content(event.workspace_uri)
            tape.edits = source.content(event.edits_uri) or []
        elif isinstance(event, events.SessionEnd):
            tape.end = event
        elif isinstance(event, events.Started):
            open_calls[event.call_id] = (event, entry.seq)
            began[event.call_id] = entry.seq
        elif isinstance(event, events.Gap) and event.reason != "torn_tail":
            tape.gap = event.reason
        elif isinstance(event, events.Workspace) and event.parent_id is not None:
            tape.written.append((entry.seq, event.parent_id, source.content(event.changes_uri) or {}))
        elif isinstance(event, events.Ambient) and event.kind == "stdout":
            tape.stdout = source.content(event.content_uri)
        elif isinstance(event, events.Ambient) and event.kind == "reads":
            _add_reads(tape, source.content(event.content_uri))
        elif isinstance(event, events.Ambient) and event.kind == "files":
            tape.files.extend((source.content(event.content_uri) or {}).get("files", []))
        elif isinstance(event, events.Process) and event.action == "left" and "/proc-" not in (event.lane or ""):
            # The agent's own processes only: what a command of its ran (a test suite) is its work, not its code.
            tape.code.extend((source.content(event.facts_uri) or {}).get("code", []))
        elif isinstance(event, events.Call) and event.wire_uri is not None:
            open_calls.pop(event.id, None)
            tape.calls.append(_call(source, event, began.get(event.id, entry.seq), entry.seq))
    for started, seq in open_calls.values():
        tape.calls.append(_unfinished(source, started, seq))
    if tape.start is not None and tape.start.source == "reask":
        raise ReplayError(
            f"this is one answer that tacho reask was given, and no run of an agent; replay {tape.start.forked_from.get('session_id')}, "
            "which it was asked from"
        )
    if tape.start is not None and tape.start.source != "record":
        raise ReplayError(
            f"this session was imported ({tape.start.imported_from or tape.start.source}) and holds no wire exchange to replay; "
            "tacho show and tacho postmortem read it"
        )
    if tape.gap == "not_captured" and not tape.calls:
        raise ReplayError(
            "nothing of this command was captured (it is no Python, or runs with -I or -E), so there is nothing to replay; "
            "tacho show tells what is there"
        )
    tape.calls.sort(key=lambda call: call.seq)
    if tape.start is not None and events.FLAG_ROUNDS not in tape.start.flags:
        widen(tape)
    tape.index()
    return tape


def widen(tape: Tape) -> None:
    """Order numbers as they are now, of those with four bits for the rounds: these had 0 where a thread had something in between, too."""

    def wide(order: int) -> int:
        return order >> 4 << BITS | (order & 15) + 1

    for call in tape.calls:
        call.pieces = [replace(piece, order=wide(piece.order)) for piece in call.pieces]
    tape.marks = [replace(mark, order=wide(mark.order)) for mark in tape.marks]


def _add_reads(tape: Tape, content: Any) -> None:
    if not isinstance(content, dict):
        return
    for lane, kind, site, values in content.get("reads", []):
        tape.reads.setdefault(lane, {}).setdefault((kind, site), []).extend(values)
    tape.marks.extend(Mark(*mark) for mark in content.get("marks", []))


def _call(source: Source, event: events.Call, seq: int, end: int) -> TapeCall:
    kind, name = _kind(event)
    request = source.content(event.request_uri) or {}
    lane = event.lane or "main"
    wire = source.content(event.wire_uri) or {}
    changes = source.content(event.workspace_uri)
    return TapeCall(
        event=event, kind=kind, name=name, lane=lane, request=request, pieces=_pieces(wire), key=match.key(lane, kind, name, request),
        seq=seq, covered="/proc-" in lane, cut=event.outcome == "cut", workspace=changes, end=end,
        printed=list(wire.get("printed", [])),
    )  # fmt: skip


def _unfinished(source: Source, event: events.Started, seq: int) -> TapeCall:
    request = source.content(event.request_uri) or {}
    lane, name = event.lane or "main", event.name or event.operation
    return TapeCall(
        event=event, kind=event.kind, name=name, lane=lane, request=request, pieces=[],
        key=match.key(lane, event.kind, name, request), seq=seq, covered="/proc-" in lane, cut=True,
    )  # fmt: skip


def _kind(event: events.Call) -> tuple[str, str]:
    if isinstance(event, events.ToolCall):
        return "tool", event.name
    if isinstance(event, events.Process):
        return "process", event.program or ""
    if isinstance(event, events.ModelCall):
        return "http", event.operation
    return "http", getattr(event, "method", "")


def _pieces(wire: dict[str, Any]) -> list[Piece]:
    out: list[Piece] = []
    data, at = wire.get("data", b""), 0
    for m, order, _, *more in wire.get("pieces", []):
        if m == "chunk":
            length = int(more[0])
            fields = more[1] if len(more) > 1 else {}
            out.append(Piece(order, {"m": "chunk", **fields}, data[at : at + length]))
            at += length
        elif m == "head":
            out.append(Piece(order, {"m": "head", "head": wire.get("head") or {}}))
        else:
            last = wire.get("last") or {}
            if last.get("state") not in _BY_AGENT:
                out.append(Piece(order, {"m": m, **last}))
    return out
