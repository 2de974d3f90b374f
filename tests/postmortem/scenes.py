"""Sessions of small agents, made in memory, in the shapes of any provider: a system prompt, what a user says, and turns.

A turn is an answer with its tool calls and what came of them. What else is to stand in the record before a turn's tools run (an approval, a guardrail's
verdict) is given as ``before``, and what stands behind them as ``after``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sample_recordings import Tape

from tachograph.core import events

PROVIDERS = ("anthropic", "chat", "responses", "converse")
_NAMES = {
    "anthropic": ("anthropic", "messages"),
    "chat": ("openai", "chat.completions"),
    "responses": ("openai", "responses"),
    "converse": ("bedrock", "Converse"),
}
_MODELS = {
    "anthropic": "claude-sonnet-4-20250514",
    "chat": "gpt-4o-2024-08-06",
    "responses": "gpt-4.1",
    "converse": "us.amazon.nova-pro-v1:0",
}

Happens = Callable[[Tape], None]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call. ``declared``: its effect, where the tool is declared; ``outcome`` other than ``ok`` is an error; ``runs``: whether it ran at all."""

    name: str
    given: dict[str, Any]
    result: Any = "ok"
    declared: str | None = None
    outcome: str = "ok"
    runs: bool = True
    changes: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Turn:
    """``user``: said before this answer; ``more``: further fields of the model call."""

    say: str = ""
    calls: tuple[Call, ...] = ()
    user: str | None = None
    system: str | None = None
    tools: tuple[dict[str, Any], ...] | None = None
    finish: str | None = None
    before: tuple[Happens, ...] = ()
    after: tuple[Happens, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    """A definition as ``Conversation.tools`` has it."""
    return {"name": name, "description": description, "schema": {"type": "object", "properties": properties}}


def session(
    *turns: Turn,
    provider: str = "anthropic",
    system: str | None = None,
    user: str = "Go on.",
    tools: tuple[dict[str, Any], ...] = (),
    start: dict[str, Any] | None = None,
    end: dict[str, Any] | None = None,
    session_id: str = "ses_01K4V8Q2M6ZC3X7Y5T1R9W0B2D",
    before: tuple[Happens, ...] = (),
    **call: Any,
) -> Tape:
    """A whole session. ``call``: fields of every model call (``params``, ``model_id``, ``served_model_id``, ``guardrail``, ``prompt``)."""
    tape = Tape(session_id=session_id)
    tape.add(
        events.SessionStart,
        **{"recorder": "tachograph 0.1.0", "agent": "helper", "facts": {"argv": ["python", "agent.py"]}, **(start or {})},
    )
    for happens in before:
        happens(tape)
    history: list[tuple[str, Any]] = [("user", user)]
    open_calls: list[tuple[str, Call, str, str | None]] = []
    for number, turn in enumerate(turns):
        if turn.user is not None:
            history.append(("user", turn.user))
        asked = tuple((f"call_{number}_{place}", each) for place, each in enumerate(turn.calls))
        request = _request(provider, turn.system or system, history, turn.tools if turn.tools is not None else tools)
        fields: dict[str, Any] = {
            "provider": _NAMES[provider][0], "operation": _NAMES[provider][1], "model_id": _MODELS[provider],
            "served_model_id": _MODELS[provider], "params": {"temperature": 0, "max_tokens": 1024}, "prompt_redacted": request,
            "output": _answer(provider, turn.say, asked, turn.finish), "tool_calls": [{"id": key, "name": each.name} for key, each in asked],
            "finish_reason": turn.finish or _finish(provider, bool(asked)), "response_id": f"r{number}", "status": 200, "duration_ms": 100.0,
            "lane": "main", **call, **turn.more,
        }  # fmt: skip
        tape.tick(100)
        told = tape.add(events.ModelCall, **fields)
        _wire(tape, open_calls, told)
        open_calls = []
        for happens in turn.before:
            happens(tape)
        for key, each in asked:
            declared = None
            if each.declared is not None and each.runs:
                tape.tick(10)
                declared = tape.add(
                    events.ToolCall, name=each.name, source="declared", effect=each.declared, input=each.given, lane="main", duration_ms=9.0,
                    outcome=each.outcome, **({"workspace": {"changes": list(each.changes)}} if each.changes else {}),
                    **({"output": each.result} if each.outcome == "ok" else {"error": each.result}),
                )  # fmt: skip
            if each.runs:
                open_calls.append((key, each, told, declared))
        for happens in turn.after:
            happens(tape)
        history.append(("assistant", (turn.say, asked)))
        history += [("tool", (key, each)) for key, each in asked if each.runs]
    _wire(tape, open_calls, None)
    tape.add(events.SessionEnd, **{"status": "ok", "exit_code": 0, **(end or {})})
    return tape


def _wire(tape: Tape, calls: list[tuple[str, Call, str, str | None]], told_to: str | None) -> None:
    for key, each, asked_by, declared in calls:
        tape.add(
            events.ToolCall, name=each.name, call_id=key, source="wire", input=each.given, output=each.result, outcome=each.outcome,
            asked_by=asked_by, told_to=told_to, declared_id=declared, lane="main",
            **({"workspace": {"changes": list(each.changes)}} if each.changes and declared is None else {}),
        )  # fmt: skip


def _finish(provider: str, asked: bool) -> str:
    names = {
        "anthropic": ("tool_use", "end_turn"),
        "chat": ("tool_calls", "stop"),
        "responses": ("completed", "completed"),
        "converse": ("tool_use", "end_turn"),
    }
    return names[provider][0 if asked else 1]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _request(provider: str, system: str | None, history: list[tuple[str, Any]], tools: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    model = _MODELS[provider]
    if provider == "anthropic":
        body: dict[str, Any] = {"model": model, "max_tokens": 1024, "messages": [_anthropic(role, said) for role, said in history]}
        body |= {"system": system} if system is not None else {}
        body |= (
            {"tools": [{"name": one["name"], "description": one["description"], "input_schema": one["schema"]} for one in tools]}
            if tools
            else {}
        )
        return body
    if provider == "chat":
        messages = [{"role": "system", "content": system}] if system is not None else []
        body = {"model": model, "messages": [*messages, *(_chat(role, said) for role, said in history)]}
        defined = [
            {"type": "function", "function": {"name": one["name"], "description": one["description"], "parameters": one["schema"]}}
            for one in tools
        ]
        return {**body, "tools": defined} if tools else body
    if provider == "responses":
        body = {"model": model, "input": [item for role, said in history for item in _responses(role, said)]}
        body |= {"instructions": system} if system is not None else {}
        defined = [
            {"type": "function", "name": one["name"], "description": one["description"], "parameters": one["schema"]} for one in tools
        ]
        return {**body, "tools": defined} if tools else body
    body = {"messages": [_converse(role, said) for role, said in history]}
    body |= {"system": [{"text": system}]} if system is not None else {}
    specs = [
        {"toolSpec": {"name": one["name"], "description": one["description"], "inputSchema": {"json": one["schema"]}}} for one in tools
    ]
    return {**body, "toolConfig": {"tools": specs}} if tools else body


def _anthropic(role: str, said: Any) -> dict[str, Any]:
    if role == "assistant":
        text, asked = said
        blocks = [{"type": "text", "text": text}] if text else []
        return {
            "role": role,
            "content": [*blocks, *({"type": "tool_use", "id": key, "name": one.name, "input": one.given} for key, one in asked)],
        }
    if role == "tool":
        key, one = said
        return {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": key, "content": _text(one.result), "is_error": one.outcome != "ok"}],
        }
    return {"role": role, "content": said}


def _chat(role: str, said: Any) -> dict[str, Any]:
    if role == "assistant":
        text, asked = said
        calls = [{"id": key, "type": "function", "function": {"name": one.name, "arguments": json.dumps(one.given)}} for key, one in asked]
        return {"role": role, "content": text or None, **({"tool_calls": calls} if calls else {})}
    if role == "tool":
        key, one = said
        return {"role": "tool", "tool_call_id": key, "content": _text(one.result)}
    return {"role": role, "content": said}


def _responses(role: str, said: Any) -> list[dict[str, Any]]:
    if role == "assistant":
        text, asked = said
        items: list[dict[str, Any]] = [{"role": "assistant", "content": text}] if text else []
        return items + [
            {"type": "function_call", "call_id": key, "name": one.name, "arguments": json.dumps(one.given)} for key, one in asked
        ]
    if role == "tool":
        key, one = said
        return [{"type": "function_call_output", "call_id": key, "output": _text(one.result)}]
    return [{"role": role, "content": said}]


def _converse(role: str, said: Any) -> dict[str, Any]:
    if role == "assistant":
        text, asked = said
        blocks: list[dict[str, Any]] = [{"text": text}] if text else []
        return {
            "role": role,
            "content": blocks + [{"toolUse": {"toolUseId": key, "name": one.name, "input": one.given}} for key, one in asked],
        }
    if role == "tool":
        key, one = said
        status = "success" if one.outcome == "ok" else "error"
        return {"role": "user", "content": [{"toolResult": {"toolUseId": key, "content": [{"text": _text(one.result)}], "status": status}}]}
    return {"role": role, "content": [{"text": said}]}


def _answer(provider: str, say: str, asked: tuple[tuple[str, Call], ...], finish: str | None) -> dict[str, Any]:
    if provider == "anthropic":
        return {"role": "assistant", "content": _anthropic("assistant", (say, asked))["content"]}
    if provider == "chat":
        return {
            "choices": [
                {"index": 0, "message": _chat("assistant", (say, asked)), "finish_reason": finish or _finish(provider, bool(asked))}
            ]
        }
    if provider == "responses":
        message = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": say}]}] if say else []
        return {"output": message + [item for item in _responses("assistant", ("", asked)) if item.get("type")]}
    return {"output": {"message": _converse("assistant", (say, asked))}, "stopReason": finish or _finish(provider, bool(asked))}
