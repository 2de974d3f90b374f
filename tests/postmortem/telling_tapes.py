"""Sessions in a few lines, in the shapes of several SDKs: what was asked, what the model did, what came back.

``Session`` plays an agent: each ``model(...)`` is a model call with the whole history, each tool that it asked for is answered before the next one.
"""

from __future__ import annotations

import json
from typing import Any

from sample_recordings import Tape, start

from tachograph.core import events
from tachograph.postmortem.analyses.contract import Analysis, Finding
from tachograph.postmortem.case import open_case

KINDS = ("anthropic", "openai", "responses", "bedrock")
MODELS = {"anthropic": "claude-sonnet-4", "openai": "gpt-4.1", "responses": "gpt-4.1", "bedrock": "amazon.nova-pro-v1:0"}


class Session:
    """``declared``: the agent's tools are declared, so that each call is recorded where it ran and on the wire; with these effects."""

    def __init__(self, kind: str = "anthropic", *, system: str = "", declared: dict[str, str] | None = None) -> None:
        self.kind, self.system, self.declared = kind, system, declared or {}
        self.tape = Tape()
        start(self.tape, name="agent", agent="agent")
        self.history: list[Any] = []
        self.tools: list[str] = []
        self._waiting: list[tuple[str, str, Any, str]] = []
        self._wired: list[tuple[str, str, Any, Any, bool, str, str | None]] = []
        self._calls = 0

    # -- the history, in the provider's shapes -------------------------------------------------------------------------------

    def user(self, text: str) -> Session:
        """The person says something."""
        if self.kind == "bedrock":
            self.history.append({"role": "user", "content": [{"text": text}]})
        else:
            self.history.append({"role": "user", "content": text})
        return self

    def model(self, text: str = "", *asks: tuple[str, dict[str, Any]], **more: Any) -> Session:
        """A model call that says ``text`` and asks for these tools."""
        calls = []
        for name, given in asks:
            self._calls += 1
            calls.append((f"call_{self._calls}", name, given))
        event_id = self._model_call(text, calls, more)
        self._flush(event_id)
        self._waiting = [(call_id, name, given, event_id) for call_id, name, given in calls]
        return self

    def gives(
        self, *outputs: Any, failed: bool = False, told: Any = None, effect: str | None = None, run: Any = None, ran: bool = True
    ) -> Session:
        """The results of what was asked for last, in order. ``told``: what the model is told instead of (the last of) them; ``run``: with which
        arguments it ran instead of those asked for; ``ran=False``: the agent's code never ran it."""
        results = []
        for output in outputs:
            call_id, name, given, asked_by = self._waiting.pop(0)
            said = output if told is None else told
            declared_id = None
            if ran and (name in self.declared or effect is not None):
                self.tape.tick(40)
                fields = {"error": {"type": "ToolError", "message": str(output)}} if failed else {"output": output}
                declared_id = self.tape.add(
                    events.ToolCall, name=name, source="declared", effect=effect or self.declared.get(name), input=given if run is None else run,
                    outcome="error" if failed else "ok", lane="main", duration_ms=30.0, **fields,
                )  # fmt: skip
            self._wired.append((call_id, name, given, said, failed, asked_by, declared_id if run is None else None))
            results.append((call_id, said, failed))
        self._append_results(results)
        return self

    def _append_results(self, results: list[tuple[str, Any, bool]]) -> None:
        texts = [
            (call_id, said if isinstance(said, str) else json.dumps(said, ensure_ascii=False), failed) for call_id, said, failed in results
        ]
        if self.kind == "anthropic":
            blocks = [{"type": "tool_result", "tool_use_id": c, "content": t, **({"is_error": True} if f else {})} for c, t, f in texts]
            self.history.append({"role": "user", "content": blocks})
        elif self.kind == "openai":
            self.history += [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text, _ in texts]
        elif self.kind == "responses":
            self.history += [{"type": "function_call_output", "call_id": call_id, "output": text} for call_id, text, _ in texts]
        else:
            blocks = [
                {"toolResult": {"toolUseId": c, "content": [{"text": t}], "status": "error" if f else "success"}} for c, t, f in texts
            ]
            self.history.append({"role": "user", "content": blocks})

    # -- events ----------------------------------------------------------------------------------------------------------------

    def _model_call(self, text: str, calls: list[tuple[str, str, Any]], more: dict[str, Any]) -> str:
        names = dict.fromkeys([*self.tools, *(name for _, name, _ in calls)])
        self.tools = list(names)
        provider, operation = {
            "anthropic": ("anthropic", "messages"), "openai": ("openai", "chat.completions"), "responses": ("openai", "responses"),
            "bedrock": ("bedrock", "Converse"),
        }[self.kind]  # fmt: skip
        request, output, echo = getattr(self, "_" + self.kind)(text, calls)
        self.tape.tick(700)
        fields: dict[str, Any] = {
            "provider": provider, "operation": operation, "model_id": MODELS[self.kind], "served_model_id": MODELS[self.kind],
            "params": {"temperature": 0}, "prompt_redacted": request, "output": output, "status": 200, "duration_ms": 600.0, "lane": "main",
            "tool_calls": [{"id": call_id, "name": name} for call_id, name, _ in calls], "finish_reason": "tool_use" if calls else "stop",
            "response_id": f"resp_{len(self.tape.entries)}",
        }  # fmt: skip
        event_id = self.tape.add(events.ModelCall, **{**fields, **more})
        self.history += echo
        return event_id

    def _anthropic(self, text: str, calls: list[Any]) -> tuple[Any, Any, list[Any]]:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in self.tools]
        content = ([{"type": "text", "text": text}] if text else []) + [
            {"type": "tool_use", "id": call_id, "name": name, "input": given} for call_id, name, given in calls
        ]
        request = {"model": MODELS["anthropic"], "messages": list(self.history), "tools": tools}
        if self.system:
            request["system"] = self.system
        return request, {"role": "assistant", "content": content}, [{"role": "assistant", "content": content}]

    def _openai(self, text: str, calls: list[Any]) -> tuple[Any, Any, list[Any]]:
        head = [{"role": "system", "content": self.system}] if self.system else []
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": c, "type": "function", "function": {"name": n, "arguments": json.dumps(g)}} for c, n, g in calls
            ]
        tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in self.tools]
        request = {"model": MODELS["openai"], "messages": [*head, *self.history], "tools": tools}
        return request, {"choices": [{"index": 0, "message": message}]}, [message]

    def _responses(self, text: str, calls: list[Any]) -> tuple[Any, Any, list[Any]]:
        items: list[Any] = []
        if text:
            items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        items += [{"type": "function_call", "call_id": c, "name": n, "arguments": json.dumps(g)} for c, n, g in calls]
        request = {"model": MODELS["responses"], "instructions": self.system or None, "input": list(self.history), "tools": []}
        return request, {"output": items}, items

    def _bedrock(self, text: str, calls: list[Any]) -> tuple[Any, Any, list[Any]]:
        content = ([{"text": text}] if text else []) + [{"toolUse": {"toolUseId": c, "name": n, "input": g}} for c, n, g in calls]
        request = {"messages": list(self.history), **({"system": [{"text": self.system}]} if self.system else {})}
        message = {"role": "assistant", "content": content}
        return request, {"output": {"message": message}, "stopReason": "tool_use" if calls else "end_turn"}, [message]

    def _flush(self, told_to: str) -> None:
        for call_id, name, given, said, failed, asked_by, declared_id in self._wired:
            fields = {"output": said, "error": said} if failed else {"output": said}
            self.tape.add(
                events.ToolCall, name=name, call_id=call_id, source="wire", lane="main", input=given, outcome="error" if failed else "ok",
                asked_by=asked_by, told_to=told_to, declared_id=declared_id, **fields,
            )  # fmt: skip
        self._wired = []

    def end(self) -> Tape:
        """The finished recording."""
        self.tape.add(events.SessionEnd, status="ok", exit_code=0, duration_ms=float(self.tape.at_ms))
        return self.tape

    # -- what is asked of it ---------------------------------------------------------------------------------------------------

    def event(self, name: str, number: int = 0) -> str:
        """The id of a tool call's event: the declared one, where there is one."""
        found = [e.event for e in self.tape.entries if isinstance(e.event, events.ToolCall) and e.event.name == name]
        declared = [one for one in found if one.source == "declared"]
        return (declared or found)[number].id

    def call(self, number: int) -> str:
        """The id of a model call's event, from 1."""
        return [e.event for e in self.tape.entries if isinstance(e.event, events.ModelCall)][number - 1].id

    def findings(self, analysis: Analysis) -> list[Finding]:
        """What an analysis says of the finished recording."""
        return list(analysis.run(open_case(self.end())))
