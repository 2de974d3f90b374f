"""The records of one Claude Code session → its drafts, in file order.

| record | becomes |
|---|---|
| ``assistant`` lines of one response | one ``ModelCall`` at the place of the first |
| ``assistant`` with ``isApiErrorMessage`` | ``ModelCall`` with outcome ``error`` |
| ``assistant`` of the model ``<synthetic>`` otherwise | ``Message`` (``synthetic``): the client wrote it |
| ``tool_result`` block of a ``user`` record | ``ToolCall`` at the place of the result; ``toolUseResult`` in ``detail_uri`` |
| ``tool_use`` that never got a result | ``ToolCall`` with outcome ``cut``, at the end |
| a refused tool | ``ToolCall`` with outcome ``closed``, and ``Approval`` (``refused``) |
| ``git commit`` that a shell tool ran | ``Git`` (``commit``) behind its ``ToolCall`` |
| other content of a ``user`` record | ``Message``; subtypes in ``claude_code_records.spoken`` |
| ``system`` | ``Message`` where it has text, else ``Note``, by its subtype |
| ``attachment`` of a queued input | ``Message`` (``queued_command``) |
| bookkeeping | ``Note`` by its type |
| ``gitBranch`` changes | ``Git`` (``branch``) before the record that shows it |
| a ``uuid`` that was there before (compaction writes history again) | ``Note`` (``duplicate_record``) |
| a second result of one tool call | ``Note`` (``repeated_tool_result``) |
| anything else; a piece that is no JSON | ``Note`` (``unknown_record``); ``Gap`` and ``Note`` (``unreadable_line``) |

No record is lost: a note holds its record whole, and the first draft of any other record has it in ``record_uri`` (a model call:
the list of its lines). ``extra.imported`` says which line (from 1) and ``uuid`` an event was made from.

Times: a record without one has that of the record before. A tool call's duration is the tool's own figure, or else the time
between the two records (``extra.duration_estimated``), which includes waiting for approval.
"""

from __future__ import annotations

import re
from typing import Any

from tachograph.core.drafts import Draft, ImportedSession
from tachograph.core.events import Approval, Event, Gap, Git, Message, ModelCall, Note, SessionEnd, SessionStart, ToolCall

from . import claude_code_records as records
from .claude_code_about import About
from .claude_code_calls import LANE, Asked, Response, detail_of, duration_of, outcome_of
from .claude_code_records import Record, text
from .importing import StableIds, count, label, unix_ms

_API_STATUS = re.compile(r"API Error:? \(?(\d{3})\b")
_API_REQUEST = re.compile(r'"request_id":"(req_[0-9A-Za-z]{1,80})"')


class SessionDrafts:
    """Makes one session. ``agent_id``: that of a subagent; ``file``: name, size and hash of the file, which go with the session's
    facts."""

    def __init__(
        self,
        source_id: str,
        *,
        parent: str | None = None,
        agent_id: str | None = None,
        file: dict[str, Any] | None = None,
    ) -> None:
        self._source_id, self._parent, self._agent_id, self._file = source_id, parent, agent_id, file or {}
        self._ids = StableIds(source_id)
        self._about = About()
        self._out: list[Draft | Response] = []
        self._responses: dict[tuple[str, str], Response] = {}
        self._asked: dict[str, Asked] = {}
        self._asked_without_id: list[Asked] = []
        self._answered: dict[str, str] = {}  # tool call → its event
        self._seen: dict[str, str] = {}  # uuid of a record → its first event
        self._now = 0
        self._times: list[int] = []
        self._record = records.NOWHERE
        self._record_is_kept = False
        self._understood = self._kept = 0

    def build(self, found: list[Record]) -> ImportedSession:
        """The whole session."""
        start = self._now = next((time for time in map(_time, found) if time is not None), 0)
        start_id = self._ids.next(b"session_start", start)
        for record in found:
            self._add(record)
        for asked in [*self._asked.values(), *self._asked_without_id]:
            self._cut(asked)
        drafts = [item.draft() if isinstance(item, Response) else item for item in self._out]
        name = self._about.name(self._seen) or (self._about.first("agent_type") if self._agent_id else None)
        facts = {**self._about.facts(), "file": self._file}
        first = Draft(event=self._start(start_id, name), contents={"facts_uri": facts}, unix_ms=start)
        last = Draft(event=self._end(drafts), unix_ms=self._now)
        return ImportedSession(
            source_id=self._source_id,
            name=name,
            parent_source_id=self._parent,
            drafts=(first, *drafts, last),
            understood=self._understood,
            kept=self._kept,
        )

    def _start(self, event_id: str, name: str | None) -> SessionStart:
        imported = {"source_id": self._source_id, "version": self._about.first("version"), "agent_id": self._agent_id}
        return SessionStart(
            id=event_id,
            lane=LANE,
            source="import",
            imported_from="claude-code",
            name=name,
            agent="claude-code",
            branch=self._about.first_branch,
            extra={"imported": _known(imported)},
        )

    def _end(self, drafts: list[Draft]) -> SessionEnd:
        calls = {"model": ModelCall, "tool": ToolCall}
        return SessionEnd(
            id=self._ids.next(b"session_end", self._now),
            lane=LANE,
            status="imported",
            duration_ms=max(self._times) - min(self._times) if self._times else None,
            calls={kind: sum(isinstance(draft.event, cls) for draft in drafts) for kind, cls in calls.items()},
        )

    # One record

    def _add(self, record: Record) -> None:
        self._record, self._record_is_kept = record, False
        moment = _time(record)
        if moment is not None:
            self._now = moment
            self._times.append(moment)
        if not record.piece.readable:
            self._unreadable()
            self._kept += 1
        elif self._repeated(record.value) or self._understand(record.value):
            self._understood += 1
        else:
            self._note("unknown_record", record_type=_type_of(record.value))
            self._kept += 1

    def _understand(self, value: dict[str, Any]) -> bool:
        """Makes the record's drafts, or none and returns False."""
        kind = text(value, "type")
        if kind is None or kind not in records.TYPES:
            return False
        branch = self._about.learn(value)
        if branch is not None:
            self._emit(Git(id=self._next_id(), lane=LANE, branch=branch, action="branch", extra=self._extra()))
        if kind == "user":
            return self._user(value)
        if kind == "assistant":
            return self._assistant(value)
        if kind == "system":
            return self._system(value)
        return self._bookkeeping(kind, value)

    def _repeated(self, value: dict[str, Any]) -> bool:
        first = self._seen.get(text(value, "uuid") or "")
        if first is not None:
            self._note("duplicate_record", duplicate_of=first, record_type=_type_of(value))
        return first is not None

    def _unreadable(self) -> None:
        piece = self._record.piece
        gap = Gap(
            id=self._next_id(),
            lane=LANE,
            reason="unreadable_line",
            file=label(self._file.get("name")),
            offset=piece.offset,
            length=len(piece.raw),
            extra=self._extra(),
        )
        self._emit(gap)
        self._note("unreadable_line")

    # What is said

    def _user(self, value: dict[str, Any]) -> bool:
        message = value.get("message")
        content = records.blocks(message)
        if not isinstance(message, dict) or content is None:
            return False
        results = [block for block in content if records.is_block(block, "tool_result")]
        for result in results:
            self._result(value, result, alone=len(results) == 1)
        rest = [block for block in content if not records.is_block(block, "tool_result")]
        if rest or not results:
            said = rest if results else message["content"]
            role, subtype = records.spoken(value, said)
            if (role, subtype) == ("user", None) and self._agent_id is not None:
                subtype = "task"  # a subagent's user is the agent that called it
            self._message(role, subtype, said)
        return True

    def _system(self, value: dict[str, Any]) -> bool:
        subtype = value.get("subtype")
        if not (subtype is None or isinstance(subtype, str)) or subtype not in records.SYSTEM_SUBTYPES:
            return False
        if subtype != "api_error" and text(value, "content"):
            self._message("system", subtype, value["content"])
        else:
            self._note(subtype or "system")
        return True

    def _bookkeeping(self, kind: str, value: dict[str, Any]) -> bool:
        if kind == "attachment":
            attached = value.get("attachment")
            prompt = attached.get("prompt") if isinstance(attached, dict) else None
            if prompt and _type_of(attached) == "queued_command":
                role, _ = records.spoken(value, prompt)
                self._message(role, "queued_command", prompt)
            else:
                self._note(kind, attachment=_type_of(attached))
        elif kind == "progress":
            self._note(kind, progress=_type_of(value.get("data")), call_id=label(value.get("parentToolUseID")))
        else:
            self._note(kind)
        return True

    # Model and tools

    def _assistant(self, value: dict[str, Any]) -> bool:
        message = value.get("message")
        content = records.blocks(message)
        if not isinstance(message, dict) or content is None:
            return False
        if value.get("isApiErrorMessage") is True:
            self._api_error(value, message)
        elif message.get("model") == records.SYNTHETIC:
            self._message("assistant", "synthetic", message["content"])
        else:
            response = self._response(value, message)
            for block in response.add(value, content):
                if records.is_block(block, "tool_use"):
                    self._ask(block, response)
        return True

    def _response(self, value: dict[str, Any], message: dict[str, Any]) -> Response:
        """The response that a line belongs to. One without any id is a response of its own."""
        message_id, request_id = text(message, "id") or "", text(value, "requestId") or ""
        response = self._responses.get((message_id, request_id)) if message_id or request_id else None
        if response is None:
            response = Response(self._next_id(), self._now, self._extra())
            self._out.append(response)
            self._responses[message_id, request_id] = response
        if message_id:
            self._responses[message_id, ""] = response  # for a line that has lost its request's id
        self._see(response.event_id)
        return response

    def _api_error(self, value: dict[str, Any], message: dict[str, Any]) -> None:
        said = records.plain(message["content"])
        status, request = _API_STATUS.search(said), _API_REQUEST.search(said)
        model = label(message.get("model"))
        event = ModelCall(
            id=self._next_id(),
            lane=LANE,
            provider="anthropic",
            operation="messages",
            model_id=None if model == records.SYNTHETIC else model,
            outcome="error",
            status=count(value.get("apiErrorStatus")) or (int(status[1]) if status else None),
            request_id=label(value.get("requestId")) or (request[1] if request else None),
            extra=self._extra(params_recorded=False, error=label(value.get("error"))),
        )
        self._emit(event, error_uri=message["content"])

    def _ask(self, block: dict[str, Any], response: Response) -> None:
        call_id = text(block, "id")
        asked = Asked(call_id, label(block.get("name")) or "", block.get("input"), response.event_id, self._now)
        if call_id is None:
            self._asked_without_id.append(asked)
        elif call_id not in self._answered:
            self._asked[call_id] = asked

    def _result(self, value: dict[str, Any], result: dict[str, Any], *, alone: bool) -> None:
        """``alone``: ``toolUseResult`` is about this result and no other of the same record."""
        call_id = text(result, "tool_use_id")
        if call_id is not None and call_id in self._answered:
            self._note("repeated_tool_result", duplicate_of=self._answered[call_id], call_id=label(call_id))
            return
        asked = self._asked_for(call_id)
        output = result.get("content")
        detail = detail_of(value, output) if alone else None
        facts = detail if isinstance(detail, dict) else {}
        outcome, duration = outcome_of(result, facts), duration_of(facts)
        estimated = duration is None and asked is not None and _time(self._record) is not None
        event = ToolCall(
            id=self._next_id(),
            lane=LANE,
            name=asked.name if asked else "",
            call_id=label(call_id),
            source="wire",
            asked_by=asked.by if asked else None,
            outcome=outcome,
            duration_ms=max(0, self._now - asked.unix_ms) if asked and estimated else duration,
            extra=self._extra(
                duration_estimated=True if estimated else None,
                orphan=True if asked is None else None,
                agent_id=label(facts.get("agentId")),
            ),
        )
        self._emit(
            event,
            input_uri=asked.input if asked else None,
            output_uri=output,
            error_uri=output if result.get("is_error") is True else None,
            detail_uri=detail,
        )
        if call_id is not None:
            self._answered[call_id] = event.id
        if outcome == "closed":
            who = records.refused_by(output)
            refused = Approval(id=self._next_id(), lane=LANE, decision="refused", approver=who, call_id=label(call_id), extra=self._extra())
            self._emit(refused)
        elif outcome == "ok" and asked is not None:
            self._committed(asked, output)

    def _asked_for(self, call_id: str | None) -> Asked | None:
        if call_id is not None:
            return self._asked.pop(call_id, None)
        return self._asked_without_id.pop(0) if self._asked_without_id else None

    def _committed(self, asked: Asked, output: Any) -> None:
        for branch, sha in records.commits(asked.name, asked.input, output):
            extra = self._extra(call_id=label(asked.call_id))
            self._emit(Git(id=self._next_id(), lane=LANE, sha=sha, branch=label(branch), action="commit", extra=extra))

    def _cut(self, asked: Asked) -> None:
        self._record = records.NOWHERE
        event = ToolCall(
            id=self._ids.next(f"cut {asked.by} {asked.call_id}".encode("utf-8", "surrogatepass"), self._now),
            lane=LANE,
            name=asked.name,
            call_id=label(asked.call_id),
            source="wire",
            asked_by=asked.by,
            outcome="cut",
        )
        self._out.append(Draft(event=event, contents={"input_uri": asked.input}, unix_ms=self._now))

    # Drafts

    def _message(self, role: str, subtype: str | None, content: Any) -> None:
        event = Message(id=self._next_id(), lane=LANE, role=role, subtype=subtype, extra=self._extra())
        self._emit(event, content_uri=content)

    def _note(self, subtype: str, **extra: str | None) -> None:
        """A note that holds the record."""
        piece = self._record.piece
        self._record_is_kept = True
        note = Note(id=self._next_id(), lane=LANE, subtype=subtype, extra=self._extra(**extra))
        self._emit(note, text_uri=piece.value if piece.readable else piece.text)

    def _emit(self, event: Event, **contents: Any) -> None:
        if not isinstance(event, (Git, Gap)):  # these stand beside the record's own events
            self._see(event.id)
            if not self._record_is_kept:
                contents["record_uri"] = self._record.piece.value
                self._record_is_kept = True
        self._out.append(Draft(event=event, contents=_known(contents), unix_ms=self._now))

    def _see(self, event_id: str) -> None:
        uuid = text(self._record.value, "uuid")
        if uuid is not None:
            self._seen.setdefault(uuid, event_id)

    def _extra(self, **more: Any) -> dict[str, Any]:
        imported = {"line": self._record.piece.line, "uuid": label(self._record.value.get("uuid"))}
        return _known({"imported": _known(imported), "replayed_from": self._record.replayed, **more})

    def _next_id(self) -> str:
        uuid = text(self._record.value, "uuid")
        seed = self._record.piece.raw if uuid is None else uuid.encode("utf-8", "surrogatepass")
        return self._ids.next(seed, self._now)


def _time(record: Record) -> int | None:
    snapshot = record.value.get("snapshot")
    # The snapshot in an update still has the time of the first one.
    inner = snapshot.get("timestamp") if isinstance(snapshot, dict) and not record.value.get("isSnapshotUpdate") else None
    return unix_ms(record.value.get("timestamp") or inner)


def _type_of(value: Any) -> str | None:
    """``type/subtype``, as far as an object has them."""
    if not isinstance(value, dict):
        return None
    return "/".join(filter(None, (label(value.get("type"), 100), label(value.get("subtype"), 100)))) or None


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
