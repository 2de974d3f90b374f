"""Events that happen at one moment, as marks with a title that reads by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tachograph.core import events

from .changes import changes_of
from .shapes import Mark
from .values import ABSENT, Value

#: What guardrails say when they let something pass (Bedrock: ``NONE``; others in their own words).
_PASSED = {"", "NONE", "ALLOW", "ALLOWED", "PASS", "PASSED", "OK", "NO_ACTION"}
#: What approvers say when they refuse.
_REFUSED = {"deny", "denied", "refuse", "refused", "reject", "rejected", "no", "block", "blocked"}

#: Never marks.
NONE = (events.ModelCall, events.ToolCall, events.Http, events.Started, events.SessionStart, events.SessionEnd)

Reader = Callable[[str], Value]
"""Reads a ``*_uri`` field of the event at hand."""


def passed(action: str | None) -> bool:
    """Whether a guardrail's verdict let the content through unchanged."""
    return (action or "").strip().upper() in _PASSED


def refused(decision: str) -> bool:
    """Whether an approval is a refusal."""
    return decision.strip().lower() in _REFUSED


def mark(event: events.Event, *, seq: int, at_ms: int, read: Reader) -> Mark | None:
    """The mark for an event, or ``None`` for one that is no mark (calls, the frame of the session, reads of clock and
    entropy)."""
    made = _made(event, read)
    if made is None:
        return None
    kind, title, bad, body, detail = made
    files = changes_of(body, event_id=event.id, seq=seq) if isinstance(event, events.Workspace) else ()
    return Mark(
        kind=kind,
        title=title,
        bad=bad,
        body=ABSENT if files else body,
        detail={key: value for key, value in detail.items() if value is not None},
        changes=files,
        event_id=event.id,
        seq=seq,
        at_ms=at_ms,
        lane=event.lane,
    )


_Made = tuple[str, str, bool, Value, dict[str, Any]]


def _made(event: events.Event, read: Reader) -> _Made | None:
    detail: dict[str, Any]
    match event:
        case events.Guardrail():
            version = f" version {event.version}" if event.version else ""
            where = f" ({event.source})" if event.source else ""
            title = f"guardrail {event.guardrail_id or '(unnamed)'}{version}{where}: {event.action or 'no verdict recorded'}"
            detail = {"id": event.guardrail_id, "version": event.version, "action": event.action, "source": event.source}
            return "guardrail", title, not passed(event.action), read("detail_uri"), {**detail, "call_id": event.call_id}
        case events.Git():
            words = [event.action or "at", (event.sha or "an unknown commit")[:12]]
            words += [f"on {event.branch}"] if event.branch else []
            words += ["with uncommitted changes"] if event.dirty else []
            words += ["(by whom is not known)"] if event.cause == "seen" else []
            detail = {
                "sha": event.sha, "branch": event.branch, "dirty": event.dirty, "action": event.action, "previous": event.previous,
                "cause": event.cause,
            }  # fmt: skip
            return "git", "git " + " ".join(words), False, read("detail_uri"), detail
        case events.Approval():
            scope = f" for {event.scope}" if event.scope else ""
            title = f"approval: {event.decision or 'no decision recorded'} by {event.approver or 'somebody unnamed'}{scope}"
            detail = {"decision": event.decision, "approver": event.approver, "scope": event.scope, "call_id": event.call_id}
            return "approval", title, refused(event.decision), read("shown_uri"), detail
        case events.Message():
            kind = f" ({event.subtype})" if event.subtype else ""
            return "message", f"{event.role}{kind}", False, read("content_uri"), {"role": event.role, "subtype": event.subtype}
        case events.Note():
            return "note", event.subtype or "note", False, read("text_uri"), {"subtype": event.subtype}
        case events.Gap():
            return "gap", gap_title(event), True, ABSENT, gap_detail(event)
        case events.Workspace():
            count = f"{event.changed} file{'s' if event.changed != 1 else ''} changed outside any call"
            return "workspace", count, False, read("changes_uri"), {"changed": event.changed}
        case events.Ambient() if event.kind in ("stdout", "stderr"):
            return "printed", event.kind, False, read("content_uri"), {"stream": event.kind}
        case events.Process() if event.action != "ran":
            who = f"process {event.pid}" if event.pid is not None else "a process of the agent"
            ended = f" with exit code {event.exit_code}" if event.exit_code is not None else ""
            detail = {"pid": event.pid, "python": event.python, "exit_code": event.exit_code}
            return "process", f"{who} {event.action}{ended}", bool(event.exit_code), ABSENT, detail
        case events.Unknown():
            return "unknown", f"event of the unknown type {event.type_name or '(none)'}", False, ABSENT, dict(event.extra)
    return None


_GAPS = {
    "torn_tail": "the last write before a crash was torn",
    "host_lost": "the recorder was lost for a while",
    "host_stopped": "the recorder was stopped while the command ran",
    "not_captured": "something happened here that was not captured",
    "dropped": "events were dropped",
    "unreadable_line": "a line of the imported file could not be read",
}


def gap_title(event: events.Gap) -> str:
    """What is missing, in words."""
    words = _GAPS.get(event.reason, event.reason or "something is missing here")
    count = f", {event.count:,} times" if event.count and event.count > 1 else ""
    size = f", {event.length:,} bytes" if event.length else f", {event.what}" if event.what else ""
    return f"gap ({event.reason}): {words}{count}{size}" if event.reason in _GAPS else f"gap: {words}{count}{size}"


def gap_detail(event: events.Gap) -> dict[str, Any]:
    """The gap's own fields."""
    return {
        "reason": event.reason,
        "file": event.file,
        "offset": event.offset,
        "length": event.length,
        "sha256": event.sha256,
        "count": event.count,
        "what": event.what,
    }
