"""The story as one JSON document, for ``--json``. Contents are in place and whole; nothing is clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tachograph.providers.conversation import Part, conversation

from .seen import message_chars, part_chars, parts_chars
from .shapes import FileChange, Item, Mark, Run, Seen, Step, Story
from .show_text import find_step
from .values import Value, plain, read, tokens
from .wording import input_tokens, total_usage

if TYPE_CHECKING:
    from .costs import Costs
    from .ports import Recording


def show_json(story: Story, *, left_out: int = 0, costs: Costs | None = None) -> dict[str, Any]:
    """``{"session_id", "started_at", "ended_at", "duration_ms", "status", "cut", "events", "redactions", "left_out",
    "turns", …}``. ``left_out``: the steps, runs and marks that the story has besides these (``picking.py``)."""
    start, end = story.start, story.end
    found = {
        "session_id": story.session_id,
        "name": start.name if start is not None else None,
        "agent": start.agent if start is not None else None,
        "source": start.source if start is not None else None,
        "forked_from": (start.forked_from or None) if start is not None else None,
        "started_at": story.started_at,
        "ended_at": story.ended_at,
        "duration_ms": story.duration_ms,
        "status": end.status if end is not None else None,
        "exit_code": end.exit_code if end is not None else None,
        "signal": end.signal if end is not None else None,
        "cut": story.cut,
        "events": story.events,
        "redactions": story.redactions,
        "redacted": story.redacted.to_json(),
        "kinds": story.kinds,
        "ambient": story.ambient,
        "unreadable": [{"seq": seq, "field": name, "why": why} for seq, name, why in story.unreadable],
        "left_out": left_out,
        "usage": total_usage(story.steps),
        "cost": costs.to_json() if costs is not None else None,
        "turns": [
            {"number": turn.number, "opening": turn.opening or None, "items": [_item(item, costs) for item in turn.items]}
            for turn in story.turns
        ],
    }
    return dict(plain(found))


def step_json(recording: Recording, story: Story, number: int, *, costs: Costs | None = None) -> dict[str, Any]:
    """One step in full: the story's step, and under ``saw`` the whole request with sizes. Raises ``NotFoundError``."""
    step = find_step(story, number)
    request = read(recording, step.call.prompt_redacted_uri)
    saw: dict[str, Any] = {"state": request.state}
    if request.state == "unreadable":
        saw["why"] = request.why
    if request.there:
        talk = conversation(step.call.provider, step.call.operation, request.value)
        size = parts_chars(talk.system) + sum(message_chars(message) for message in talk.messages)
        saw |= {
            "chars": size,
            "tokens": input_tokens(step.call.usage, step.call.provider),
            "tokens_estimated": tokens(size),
            "system": [_part(part) for part in talk.system],
            "tools": list(talk.tools),
            "messages": [
                {
                    "role": message.role,
                    "path": message.path,
                    "chars": message_chars(message),
                    "parts": [_part(part) for part in message.parts],
                }
                for message in talk.messages
            ],
        }
    return dict(plain({"session_id": story.session_id, **_step(step, costs), "saw": saw}))


def _item(item: Item, costs: Costs | None = None) -> dict[str, Any]:
    if isinstance(item, Step):
        return _step(item, costs)
    return _run(item) if isinstance(item, Run) else _mark(item)


def _step(step: Step, costs: Costs | None) -> dict[str, Any]:
    call = step.call
    return {
        "item": "step",
        "number": step.number,
        "seq": step.seq,
        "event_id": step.event_id,
        "ts": step.ts,
        "lane": step.lane,
        "inside": step.inside,
        "start_ms": step.start_ms,
        "end_ms": step.end_ms,
        "provider": call.provider,
        "operation": call.operation,
        "model_id": call.model_id,
        "served_model_id": call.served_model_id,
        "params": call.params,
        "prompt": call.prompt,
        "guardrail": call.guardrail,
        "usage": call.usage,
        "cost": costs.steps.get(step.number) if costs is not None else None,
        "outcome": call.outcome,
        "status": call.status,
        "finish_reason": call.finish_reason,
        "redactions": call.redactions,
        "redacted_kinds": step.redacted_kinds,
        "repeated": [one.to_json() for one in step.repeated],
        "attempts": [
            {
                "seq": one.seq,
                "event_id": one.event_id,
                "outcome": one.outcome,
                "status": one.status,
                "error": one.error.to_json(),
                "duration_ms": one.duration_ms,
            }
            for one in step.attempts
        ],
        "new": _seen(step.seen),
        "reply": [_part(part) for part in step.reply],
        "error": step.error.to_json(),
        "items": [_item(item) for item in step.items],
    }


def _seen(seen: Seen) -> dict[str, Any]:
    lists = ("tools", "tools_added", "tools_removed", "tools_altered")
    single = ("state", "why", "conversation", "history", "since_step", "kept", "dropped", "total_messages", "total_chars")
    return {
        **{name: getattr(seen, name) for name in single},
        "system_changed": seen.system_changed,
        "system": [_part(part) for part in seen.system],
        **{name: list(getattr(seen, name)) for name in lists},
        "messages": [
            {
                "index": new.index,
                "role": new.message.role,
                "echo": new.echo,
                "path": new.message.path,
                "parts": [_part(part) for part in new.message.parts],
            }
            for new in seen.messages
        ],
    }


def _part(part: Part) -> dict[str, Any]:
    found = {
        "type": part.type,
        "path": part.path,
        "text": part.text or None,
        "name": part.name,
        "call_id": part.call_id,
        "value": part.value,
        "is_error": part.is_error or None,
        "chars": part_chars(part),
    }
    return {key: value for key, value in found.items() if value is not None}


def _run(run: Run) -> dict[str, Any]:
    names = (
        "kind", "name", "title", "outcome", "bad", "source", "effect", "call_id", "exit_code", "status", "method", "host",
        "duration_ms", "start_ms", "end_ms", "exact", "redactions", "redacted_kinds", "lane", "event_id", "seq",
    )  # fmt: skip
    return {
        "item": run.kind,
        **{name: getattr(run, name) for name in names},
        "also": list(run.also),
        **{name: _value(getattr(run, name)) for name in ("input", "output", "error", "given")},
        "changes": [_change(change) for change in run.changes],
        "children": [_item(child) for child in run.children],
    }


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "item": mark.kind,
        "title": mark.title,
        "bad": mark.bad,
        "detail": mark.detail,
        "body": _value(mark.body),
        "changes": [_change(change) for change in mark.changes],
        "at_ms": mark.at_ms,
        "lane": mark.lane,
        "event_id": mark.event_id,
        "seq": mark.seq,
    }


def _change(change: FileChange) -> dict[str, Any]:
    return msgspec.structs.asdict(change)


def _value(value: Value) -> Any:
    return value.to_json()
