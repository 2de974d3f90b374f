"""The recording driver: what clients say becomes redacted, sealed lines.

Nothing raw leaves this process's memory: a request is redacted before its ``started`` line is made, an answer when it is whole (a
secret may be cut over any two chunks), and only then is anything encoded for disk.
"""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import FormatError, StoreError, TachographError
from tachograph.format.tree import Digest
from tachograph.log.lasting import LastingWriter
from tachograph.log.writer import HASH_NAME, SEAL_EVERY
from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import neutral, split_url

from . import facts, filtering, requests
from .ambient import MOST, Gathered
from .authorship import Authorship
from .flight import Flight, wire
from .moving import Moving
from .order import Order
from .outside import Outside
from .server import Peer
from .wiretools import WireTools
from .workspace import Watcher

#: Seconds between the first uncommitted line and its commit: the first, or as much more as it takes, up to the second, that a slow
#: device is busy with commits a fifth of the time at most.
COMMIT_AFTER = (0.005, 0.05)
REST = 4
#: A seal at the latest this long after the last one. Seconds.
SEAL_AFTER = 30.0
#: Seconds that the end of a session waits for a device that takes nothing.
LAST_TRIES = 2.0
#: What an agent prints is kept up to here; beyond it only counted.
MAX_OUTPUT = 16 << 20


class Recorder:
    """See ``server.Driver``. ``failure`` says why recording stopped, if it did; ``trouble``, why something was not written in time, and
    perhaps not at all."""

    def __init__(
        self, writer: LastingWriter, redactor: Redactor, *, start: Draft, watcher: Watcher, digest: Digest, repo_sha: str | None,
        stops: bool = False, packages: Callable[[list[str]], dict[str, str]] = facts.packages, left_out: Iterable[str] = (), outside: Outside | None = None,
    ) -> None:  # fmt: skip
        """``left_out``: kinds of ambient reads that are not kept. ``outside``: keeps the files outside of the workspace. ``stops``: a record that is not whole is none (``--on-host-loss stop``): nothing goes on after the first failure."""
        self.writer = writer
        self._stops = stops
        self.trouble: str | None = None
        self._digest = digest
        self.failure: str | None = None
        self._redactor = redactor
        self._start: Draft | None = start
        self._watcher = watcher
        self._packages = packages
        self._blind = False
        self._repo_sha = repo_sha
        self._flights: dict[tuple[int, int], Flight] = {}
        self._ids: dict[tuple[int, int], str] = {}
        self._order = Order()
        self._outside = outside
        self._reads = Gathered(outside.opened if outside is not None else None)
        self._left_out = sorted(left_out)
        self._tools = WireTools()
        self._authorship = Authorship()
        self._moving = Moving(watcher, redactor, writer.session_id)
        self._counts: collections.Counter[str] = collections.Counter()
        self._output: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        self._sizes: collections.Counter[str] = collections.Counter()
        self._main: int | None = None
        self._dirty_since: float | None = None
        self._pause = COMMIT_AFTER[0]
        self._sealed_at: float | None = None
        self.joined = 0

    # -- Driver ----------------------------------------------------------------------------------------------------------

    def hello(self, peer: Peer, header: dict[str, Any]) -> dict[str, Any]:
        self.joined += 1
        self._reads.joined(peer.number, peer.lane)
        found = {key: header.get(key) for key in ("python", "implementation", "executable", "argv", "cwd", "ppid")}
        found["packages"] = self._packages([str(p) for p in header.get("path", [])])
        tally: collections.Counter[str] = collections.Counter()
        found["argv"] = self._redactor.arguments([str(a) for a in header.get("argv", [])], tally)
        if self._main is None:
            self._main = peer.number
            self.begin_session(found)
        event = events.Process(action="joined", lane=peer.lane, pid=peer.pid, python=str(header.get("python")), **masked(tally))
        self._append(Draft(event=event, contents={"facts_uri": found}))
        return {
            "m": "welcome", "mode": "record", "session": self.writer.session_id, "reads": 1, "turns": 1, "live": self._left_out,
            "root": self._watcher.root,
        }  # fmt: skip

    def begin_session(self, main: dict[str, Any] | None) -> None:
        """Write ``session_start`` (once): when the main process has told of itself, or when it is clear that it will not."""
        draft, self._start = self._start, None
        if draft is None:
            return
        found = {**draft.contents["facts_uri"], **({"python": main} if main else {}), "packages": (main or {}).get("packages", {})}
        self._append(Draft(event=draft.event, contents={**draft.contents, "facts_uri": found}))

    def note(self, subtype: str, text: str) -> None:
        """A remark of the host's own."""
        tally: collections.Counter[str] = collections.Counter()
        said = self._redactor.text(text, tally)
        self._append(Draft(event=events.Note(subtype=subtype, **masked(tally)), contents={"text_uri": said}))

    def copy_reads(self, reads: list[list[Any]]) -> None:
        """What another session's agent had read, and this one's was given (``host.ambient``)."""
        if reads:
            event = events.Ambient(kind="reads", size=sum(len(values) for *_, values in reads))
            self._append(Draft(event=event, contents={"content_uri": {"reads": reads, "marks": []}}))

    def copy_files(self, files: list[dict[str, Any]]) -> None:
        """What another session's agent had read outside of its workspace (``host.outside``)."""
        if files:
            self._append(Draft(event=events.Ambient(kind="files", size=len(files)), contents={"content_uri": {"files": files}}))

    @property
    def links(self) -> list[str]:
        """What the session is linked to, as its first line will say."""
        event = self._start.event if self._start is not None else None
        return event.links if isinstance(event, events.SessionStart) else []

    def entered(self, pin: dict[str, Any]) -> None:
        """What ``session_start`` says of the store's ledger; before it is written."""
        assert self._start is not None
        event = self._start.event
        assert isinstance(event, events.SessionStart)
        self._start = replace(self._start, event=msgspec.structs.replace(event, ledger=pin))

    def seal(self) -> tuple[int, bytes] | None:
        """Seal what there is: its number of lines and their Merkle root; None where nothing can be written."""
        try:
            if self.failure is None:
                self._write_reads()
                self.writer.seal()
        except StoreError as error:
            self._trouble(error)
        return (self.writer.size, self.writer.root) if self.failure is None and self.writer.failure is None else None

    def message(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None:
        kind = header.get("m")
        if kind == "filter":  # somebody waits for it, whether or not anything can still be kept
            peer.send(*filtering.answer(self._redactor, header, payload))
            return
        if self.failure is not None:
            return
        call = (peer.number, int(header.get("c", 0)))
        if kind == "begin":
            self._begin(peer, call, header, payload)
        elif kind in ("head", "chunk", "end", "fail", "result"):
            flight = self._flights.get(call)
            if flight is not None:
                flight.add(str(kind), self._number(peer, header), int(header.get("t", 0)), header, payload)
                if kind in ("end", "fail", "result"):
                    del self._flights[call]
                    self._finish(flight)
        elif kind == "printed":
            if call in self._flights:
                self._flights[call].print(self._number(peer, header), int(header.get("fd", 1)), payload)
        elif kind == "sync":
            self._flush(durable=bool(header.get("durable", True)))
            if self.failure is None:  # else it goes by the loss of the host, which is next
                peer.send({"m": "synced", "n": header.get("n")})
        elif kind == "ambient":
            self._reads.add(peer.number, header, payload, lambda: self._number(peer, header))
            if self._reads.size >= MOST:
                self._write_reads()
        elif kind == "output":
            self._print(peer, header, payload)
        elif kind == "event":
            self._told(peer, header)
        elif kind == "code":
            files = [str(f) for f in header.get("files", [])][:20000]
            self._append(Draft(event=events.Process(action="left", lane=peer.lane, pid=peer.pid), contents={"facts_uri": {"code": files}}))

    def _number(self, peer: Peer, header: dict[str, Any]) -> int:
        # That the agent gave up is nothing that a replay gives: what follows in the loop follows what was before.
        given_up = header.get("m") == "end" and header.get("state") in ("closed", "cancelled")
        return self._order.number(peer.number, header.get("t"), None if given_up else header.get("i"))

    def left(self, peer: Peer) -> None:
        for call, flight in list(self._flights.items()):
            if call[0] == peer.number:
                del self._flights[call]
                self._finish(flight)

    def idle(self, now: float) -> float | None:
        if self.failure is not None:
            return None
        if self.writer.failure is not None:
            if not self.writer.waits:
                self._flush(durable=True)
            return self.writer.waits if self.writer.failure is not None else 0.0
        if self._dirty_since is not None and now < self._dirty_since + self._pause:
            return self._dirty_since + self._pause - now
        try:
            if self._dirty_since is not None:
                self._write_reads()
                self.writer.commit()
                self._dirty_since = None
                self._pause = min(max(COMMIT_AFTER[0], REST * (time.monotonic() - now)), COMMIT_AFTER[1])
            if self._sealed_at is None:
                self._sealed_at = now
            if self.writer.unsealed >= SEAL_EVERY or (self.writer.unsealed and now - self._sealed_at >= SEAL_AFTER):
                self.writer.seal()
                self._sealed_at = now
            if self.writer.full:
                self.writer.roll()
        except StoreError as error:
            self._trouble(error)
        # Lines that nothing follows are sealed in time, too.
        return max(0.0, self._sealed_at + SEAL_AFTER - now) if self._sealed_at is not None and self.writer.unsealed else None

    def visited(self, header: dict[str, Any]) -> dict[str, Any]:
        """The answer to a commit hook: which of these lines this session wrote, and, where it made the commit (``maker``) or wrote any, its seal."""
        lines, maker = header.get("lines"), bool(header.get("maker"))
        claims = self._authorship.claims(str(line) for line in lines) if isinstance(lines, list) else {}
        answer: dict[str, Any] = {"m": "visited", "session": self.writer.session_id, "claims": claims}
        if (maker or any(claims.values())) and (point := self.seal()) is not None:
            self._moving.sealed(point[0], maker=maker)
            answer |= {"size": point[0], "root": point[1].hex()}
        return answer

    # -- the end ---------------------------------------------------------------------------------------------------------

    def finish(
        self,
        *,
        exit_code: int | None,
        signal: int | None,
        duration_ms: float,
        lost: bool = False,
        stopped: bool = False,
        status: str | None = None,
    ) -> None:
        """Close what is open, write ``session_end``, seal. ``stopped``: the host was told to end, and the command goes on or not. ``status``: where
        it is another than the command's end says."""
        if self.failure is not None:
            with contextlib.suppress(StoreError):
                self.writer.again()  # what is in memory is not lost for one failure
            return
        self.begin_session(None)
        for flight in self._flights.values():
            self._finish(flight)
        self._flights.clear()
        for draft in self._tools.unanswered():
            self._append(draft)
        self._look("main", None)
        self._write_reads()
        if not self.joined:
            self._append(Draft(event=events.Gap(reason="not_captured")))
        stdout_hash = self._printed()
        if stopped:
            self._append(Draft(event=events.Gap(reason="host_stopped")))
        status = status or ("lost" if lost or stopped else "killed" if signal is not None else "ok" if exit_code == 0 else "error")
        end = events.SessionEnd(
            status=status, exit_code=exit_code, signal=signal, duration_ms=round(duration_ms, 3),
            stdout_hash=stdout_hash, calls=dict(self._counts),
        )  # fmt: skip
        self._append(Draft(event=end))
        try:
            self._recover(LAST_TRIES)
        except StoreError as error:
            self._fail(error)
        self.seal()
        if self.writer.failure is not None and self.failure is None:
            self.failure = self.writer.failure

    @property
    def counts(self) -> dict[str, int]:
        """Calls recorded, by kind."""
        return dict(self._counts)

    # -- calls -----------------------------------------------------------------------------------------------------------

    def _begin(self, peer: Peer, call: tuple[int, int], header: dict[str, Any], payload: bytes) -> None:
        kind, operation = str(header.get("k")), str(header.get("op"))
        request = header.get("req")
        tally: collections.Counter[str] = collections.Counter()
        document = requests.document(kind, request if isinstance(request, dict) else {}, payload, self._redactor, tally)
        parent = header.get("parent")
        if header.get("look"):
            self._look(peer.lane, self._ids.get((peer.number, int(parent))) if parent is not None else None)
        flight = Flight(
            kind=kind, operation=operation, lane=str(header.get("lane", peer.lane)), began=int(header.get("t", 0)),
            event_id=self.writer.new_id(), started_id=self.writer.new_id(), request=document, tally=tally,
            parent_id=self._ids.get((peer.number, int(parent))) if parent is not None else None,
            name=header.get("name"), effect=header.get("effect"), site=header.get("site"),
        )  # fmt: skip
        if kind == "http":
            from tachograph import providers  # only sessions that speak HTTP pay for it

            flight.provider = providers.identify(document["method"], document["url"], document["headers"])
            if flight.provider is not None:
                flight.operation = flight.provider[1]
        self._flights[call] = flight
        self._ids[call] = flight.event_id
        started = events.Started(
            id=flight.started_id, parent_id=flight.parent_id, lane=flight.lane, call_id=flight.event_id, kind=kind,
            operation=flight.operation, name=flight.name, effect=flight.effect, site=flight.site, **masked(tally),
        )  # fmt: skip
        self._append(Draft(event=started, contents={"request_uri": document}))

    def _look(self, lane: str, parent: str | None) -> None:
        """What the agent's own code changed since the last look; the call that begins now must not be charged with it."""
        tally: collections.Counter[str] = collections.Counter()
        changes = self._changes(tally)
        if changes is not None:
            event = events.Workspace(lane=lane, changed=len(changes["changes"]), parent_id=parent, **masked(tally))
            self._append(Draft(event=event, contents={"changes_uri": changes}))
        self._moves(lane, None)

    def _moves(self, lane: str | None, call: str | None) -> None:
        """What happened to the repository's heads, during ``call`` if one is named."""
        for draft in self._moving.drafts(lane, call):
            self._append(draft)

    def _changes(self, tally: collections.Counter[str]) -> dict[str, Any] | None:
        changes = self._watcher.look(tally)
        if self._watcher.lost is not None and not self._blind:
            self._blind = True
            self._append(Draft(event=events.Gap(reason="not_captured", what="workspace")))
        return changes

    def _finish(self, flight: Flight) -> None:
        if flight.kind == "http":
            self._finish_http(flight)
        elif flight.kind == "tool":
            self._finish_tool(flight)
        else:
            self._finish_process(flight)

    def _common(self, flight: Flight) -> dict[str, Any]:
        return {
            "id": flight.event_id, "parent_id": flight.parent_id, "lane": flight.lane, "started_id": flight.started_id,
            "duration_ms": flight.duration_ms, "site": flight.site, **masked(flight.tally),
        }  # fmt: skip

    def _last(self, flight: Flight) -> dict[str, Any] | None:
        last = flight.last
        return None if last is None else self._redactor.document(last.fields, flight.tally)

    def _finish_http(self, flight: Flight) -> None:
        head = flight.head
        raw_headers = [[str(k), str(v)] for k, v in head.get("headers", [])]
        headers, chunks = self._redactor.answer(raw_headers, [piece.data for piece in flight.chunks], flight.tally)
        stored_head = {**head, "headers": headers} if head else None
        last = self._last(flight)
        contents: dict[str, Any] = {
            "request_uri": flight.request,
            "wire_uri": wire(flight, stored_head, chunks, last),
            "error_uri": (last or {}).get("error"),
        }
        status = head.get("status")
        outcome = flight.outcome()
        if outcome in ("ok", "closed") and isinstance(status, int) and status >= 400:
            outcome = "error"
        decoded = None
        if flight.provider is not None:
            from tachograph import providers

            body = facts.decoded(headers, b"".join(chunks))
            decoded = providers.decode(
                providers.Exchange(
                    method=flight.request["method"], url=flight.request["url"],
                    request_headers=tuple((k, v) for k, v in flight.request["headers"]), request=flight.request["body"],
                    status=status, answer_headers=tuple((k, v) for k, v in headers), answer=body, complete=outcome in ("ok", "error"),
                )
            )  # fmt: skip
        if decoded is None:
            self._counts["http"] += 1
            host = split_url(str(flight.request["url"])).netloc.rpartition("@")[2]
            event: events.Event = events.Http(
                **self._common(flight), outcome=outcome, method=flight.request["method"], host=host, status=status
            )
            self._append(Draft(event=event, contents=contents))
            return
        self._counts["model"] += 1
        self._authorship.said(decoded.output)
        if outcome == "closed" and decoded.finish_reason and not decoded.error:
            outcome = "ok"  # the answer was at its end; clients stop reading at the marker behind it, or before
        contents |= {"prompt_redacted_uri": decoded.input, "output_uri": decoded.output}
        if decoded.error and not contents["error_uri"]:
            contents["error_uri"] = decoded.error
            outcome = "error" if outcome == "ok" else outcome
        first = next((piece.ms for piece in flight.chunks), None)
        self._append(
            Draft(
                event=events.ModelCall(
                    **self._common(flight), outcome=outcome, provider=decoded.provider, operation=decoded.operation,
                    model_id=decoded.model_id, served_model_id=decoded.served_model_id, params=decoded.params, prompt=decoded.prompt,
                    guardrail=_envelope(decoded.guardrail), tool_calls=[{"id": t.id, "name": t.name} for t in decoded.tool_calls],
                    usage=decoded.usage, finish_reason=decoded.finish_reason, request_id=decoded.request_id,
                    response_id=decoded.response_id, status=status, stream=decoded.stream, first_token_ms=first,
                    repo_sha=self._repo_sha,
                ),
                contents=contents,
            )
        )  # fmt: skip
        if decoded.guardrail and decoded.guardrail.get("action") is not None:
            verdict = decoded.guardrail
            self._append(
                Draft(
                    event=events.Guardrail(
                        lane=flight.lane, parent_id=flight.parent_id, guardrail_id=verdict.get("id"), version=verdict.get("version"),
                        action=verdict.get("action"), source=decoded.operation, call_id=flight.event_id,
                    ),
                    contents={"detail_uri": {k: v for k, v in verdict.items() if k in ("assessments", "reason")} or None},
                )
            )  # fmt: skip
        for draft in self._tools.seen(decoded, event_id=flight.event_id, lane=flight.lane):
            self._append(draft)

    def _finish_tool(self, flight: Flight) -> None:
        self._counts["tool"] += 1
        last = self._last(flight) or {}
        result = last.get("result") if isinstance(last.get("result"), dict) else {}
        assert isinstance(result, dict)
        chunks = self._redactor.answer([], [piece.data for piece in flight.chunks], flight.tally)[1]
        error = result.get("error") or last.get("error")
        output: Any = result.get("shown", result.get("value"))
        if flight.chunks:
            output = [facts.parsed(chunk) for chunk in chunks]
        changes = self._changes(flight.tally) if result.get("wrote") or last.get("wrote") else None
        said = wire(flight, flight.head or None, chunks, last or None)
        if flight.printed:
            said["printed"] = [[order, fd, self._redactor.text(text, flight.tally)] for order, fd, text in flight.printed]
        event = events.ToolCall(
            **self._common(flight), outcome="error" if error else flight.outcome(), name=flight.name or flight.operation,
            source="declared", effect=flight.effect, exact=bool(result.get("exact", last.get("exact", True))),
        )  # fmt: skip
        contents = {
            "request_uri": flight.request, "wire_uri": said,
            "input_uri": flight.request.get("input"), "output_uri": output, "error_uri": error, "workspace_uri": changes,
        }  # fmt: skip
        written = self._append(Draft(event=event, contents=contents))
        self._authorship.said(flight.request.get("input"))
        self._authorship.changed(changes)
        self._tools.declared(written, flight.request.get("input"))
        if changes is not None or result.get("wrote") or last.get("wrote"):
            self._moves(flight.lane, flight.event_id)

    def _finish_process(self, flight: Flight) -> None:
        self._counts["process"] += 1
        last = self._last(flight) or {}
        chunks = self._redactor.answer([], [piece.data for piece in flight.chunks], flight.tally)[1]
        output: dict[str, Any] = {}
        for piece, data in zip(flight.chunks, chunks, strict=True):
            stream = {0: "stdin", 1: "stdout", 2: "stderr"}.get(int(piece.fields.get("fd", 1)), "other")
            output[stream] = output.get(stream, b"") + data
        code = last.get("exit")
        outcome = flight.outcome()
        if outcome == "ok" and isinstance(code, int) and code != 0:
            outcome = "error"
        event = events.Process(
            **self._common(flight), outcome=outcome, program=flight.operation, exit_code=code if isinstance(code, int) else None,
            pid=flight.head.get("pid"),
        )  # fmt: skip
        contents = {
            "request_uri": flight.request, "wire_uri": wire(flight, flight.head or None, chunks, last or None),
            "output_uri": {key: facts.text(value) for key, value in output.items()} or None, "error_uri": last.get("error"),
            "workspace_uri": self._changes(flight.tally),
        }  # fmt: skip
        self._append(Draft(event=event, contents=contents))
        self._authorship.changed(contents["workspace_uri"])
        self._moves(flight.lane, flight.event_id)

    # -- what the agent says by itself -------------------------------------------------------------------------------------

    def _told(self, peer: Peer, header: dict[str, Any]) -> None:
        """note(), approval(), guardrail(), message(): the client names type, envelope fields and contents."""
        cls = events.TYPES.get(str(header.get("type")))
        if cls not in (events.Note, events.Approval, events.Guardrail, events.Message):
            return
        tally: collections.Counter[str] = collections.Counter()
        # Only what such an event has: an agent must not be able to say what the recorder says (a type, an id, a hash).
        own = set(cls.__struct_fields__) - set(events.Event.__struct_fields__)
        told, said = header.get("fields"), header.get("contents")
        fields = self._redactor.document(
            {k: v for k, v in (told if isinstance(told, dict) else {}).items() if v is not None and k in own and not k.endswith("_uri")},
            tally,
        )
        contents = self._redactor.document(
            {k: v for k, v in (said if isinstance(said, dict) else {}).items() if k in own and k.endswith("_uri")}, tally
        )
        parent = header.get("parent")
        line = {
            "type": cls.TYPE, "lane": str(header.get("lane", peer.lane)), **masked(tally), **fields,
            "parent_id": self._ids.get((peer.number, int(parent))) if parent is not None else None,
        }  # fmt: skip
        event = events.decode({key: value for key, value in line.items() if value is not None})
        self._append(Draft(event=event, contents=contents))

    def _print(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None:
        if peer.number != self._main:
            return
        stream = "stderr" if header.get("fd") == 2 else "stdout"
        self._sizes[stream] += len(payload)
        if self._sizes[stream] <= MAX_OUTPUT:
            self._output[stream].append(payload)

    def _printed(self) -> str | None:
        """Write what the main process printed; the hash of its redacted standard output."""
        found: dict[str, str] = {}
        for stream, parts in self._output.items():
            tally: collections.Counter[str] = collections.Counter()
            text = facts.text(b"".join(self._redactor.answer([], [b"".join(parts)], tally)[1])) if parts else ""
            found[stream] = output_hash(text, self._sizes[stream], self._digest)
            if parts:
                event = events.Ambient(kind=stream, size=self._sizes[stream], **masked(tally))
                self._append(Draft(event=event, contents={"content_uri": text}))
        return found["stdout"] if self.joined else None

    # -- the log ---------------------------------------------------------------------------------------------------------

    def _append(self, draft: Draft) -> events.Event:
        try:
            event = self.writer.append(draft)
        except (StoreError, FormatError) as error:
            self._fail(error)
            return draft.event
        if self._dirty_since is None:
            self._dirty_since = time.monotonic()
        return event

    def _write_reads(self) -> None:
        """What was read of the surroundings, before the lines that may depend on it are on the device."""
        for gathered in (self._outside.draft() if self._outside is not None else None, self._reads.draft(self._redactor)):
            if gathered is not None:
                self._append(gathered)

    def _flush(self, *, durable: bool) -> None:
        try:
            if durable:
                self._write_reads()
                self.writer.commit()
                self._dirty_since = None
            else:
                self.writer.flush()
        except StoreError as error:
            self._trouble(error)

    def _recover(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.writer.failure is not None:
            try:
                self.writer.again()
            except StoreError:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.1)

    def _trouble(self, error: StoreError) -> None:
        self.trouble = str(error)
        if self._stops or self.writer.failure is None:
            self._fail(error)

    def _fail(self, error: TachographError) -> None:
        self.failure = self.failure or str(error)


def masked(tally: Mapping[str, int]) -> dict[str, Any]:
    """What an event says of the values that were masked in it."""
    return {"redactions": sum(tally.values()), "redacted_kinds": dict(sorted(tally.items()))}


def output_hash(text: Any, size: int, digest: Digest) -> str:
    """Compares what was printed, redacted, in recording and replay; keyed, so that a guess cannot be confirmed. The kinds of secrets do
    not count: a replay without the recorded environment finds the same secret by another rule."""
    data = neutral(text).encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return HASH_NAME + digest(b"output" + data + b"\0" + (str(size).encode() if size > MAX_OUTPUT else b"")).hex()


def _envelope(guardrail: dict[str, Any] | None) -> dict[str, Any] | None:
    """Id, version and verdict are envelope; the assessments quote content and are not."""
    return {k: v for k, v in guardrail.items() if k in ("id", "version", "action")} if guardrail else None
