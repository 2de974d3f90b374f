"""Bedrock guardrails: which one was in force, and what it did (AWS, "Guardrails"; SDK model ``bedrock-runtime``).

A guardrail is named in Converse's body, in InvokeModel's headers, in ApplyGuardrail's path, or not at all (an account may enforce
one). What it did stands in the answer's trace, in the reason why the model stopped, or in a field that Bedrock adds to a vendor's
body. ``action`` is ``NONE`` only where an answer says so by its end; a call without one leaves it None, because nobody knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tachograph.providers import wire
from tachograph.providers.converse import snake
from tachograph.providers.model import Conversation, Decoded, Message, Part
from tachograph.providers.wire import flat, obj, objects, seq, text, whole, word

if TYPE_CHECKING:
    from tachograph.providers.model import Exchange

_ACTED = ("BLOCKED", "ANONYMIZED")
_FIELDS = {"guardrailIdentifier": "id", "guardrailVersion": "version"}
_PREFIX = "x-amzn-bedrock-"
_ACTION = "amazon-bedrock-guardrailAction"
_TRACE = "amazon-bedrock-trace"
_CONFIG = "amazon-bedrock-guardrailConfig"
_DEPTH = 12


def applied(path: str) -> tuple[str, str] | None:
    """Id and version from the path of ApplyGuardrail. The id may be an ARN, whose slash some clients do not encode."""
    before, _, action = path.rpartition("/")
    before, _, version = before.rpartition("/")
    before, _, label = before.rpartition("/")
    _, found, guardrail = before.partition("/guardrail/")
    if action != "apply" or label != "version" or not found or not guardrail or not version:
        return None
    return unquote(unquote(guardrail)), unquote(unquote(version))


def decode(exchange: Exchange, operation: str) -> Decoded:
    """ApplyGuardrail: a check of text on its own, without a model."""
    body = obj(exchange.request)
    problems: list[str] = []
    output = wire.answer_value(exchange, problems)
    answer = obj(output)
    guardrail_id, version = applied(wire.path_of(exchange.url)) or (None, None)
    guardrail: dict[str, Any] = {"id": guardrail_id, "version": version, "action": _plain(answer.get("action"))}
    if word(body.get("source")):
        guardrail["source"] = body["source"]
    if word(answer.get("actionReason")):
        guardrail["reason"] = answer["actionReason"]
    if "assessments" in answer:
        guardrail["assessments"] = answer["assessments"]
    params: dict[str, Any] = {}
    names = {key: snake(key) for key in body}
    wire.spread(params, body, names=names, skip=("content", "source"), origin="body")
    units = {snake(key): number for key, value in obj(answer.get("usage")).items() if (number := whole(value)) is not None}
    return Decoded(
        provider="bedrock",
        operation=operation,
        kind="guardrail",
        params=params,
        guardrail=guardrail,
        input=exchange.request,
        output=output,
        usage={name: number for name, number in units.items() if number >= 0},
        request_id=wire.request_id(exchange),
        error=wire.failure(exchange, output),
        problems=tuple(problems),
    )


def of_model_call(exchange: Exchange, body: dict[str, Any], answer: dict[str, Any], finish_reason: str | None) -> dict[str, Any] | None:
    """The guardrail of a model call, or None where neither request nor answer speaks of one."""
    guardrail = _asked(exchange, body)
    trace = obj(obj(answer.get("trace")).get("guardrail")) or obj(obj(answer.get(_TRACE)).get("guardrail"))
    done = word(answer.get(_ACTION))
    if not guardrail and not trace and done is None and finish_reason != "guardrail_intervened":
        return None
    named, details = _named(trace)
    result: dict[str, Any] = {
        "id": guardrail.pop("id", None) or details.get("guardrailId") or named,
        "version": guardrail.pop("version", None) or details.get("guardrailVersion"),
        "action": None,
        **guardrail,
    }
    if done is not None:
        result["action"] = _plain(done)
    elif finish_reason == "guardrail_intervened" or _acted(trace):
        result["action"] = "INTERVENED"
    elif finish_reason is not None:
        result["action"] = "NONE"
    if word(trace.get("actionReason")):
        result["reason"] = trace["actionReason"]
    if trace:
        result["assessments"] = trace
    return result


def _asked(exchange: Exchange, body: dict[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    for config in (obj(body.get("guardrailConfig")), obj(body.get(_CONFIG))):
        asked |= {_FIELDS.get(key) or snake(key): value for key, value in config.items()}
    headers = {"id": "guardrailidentifier", "version": "guardrailversion", "trace": "trace"}
    for name, suffix in headers.items():
        value = wire.header(exchange.request_headers, _PREFIX + suffix)
        if value:
            asked.setdefault(name, value)
    # Asking for a trace alone names no guardrail.
    return asked if set(asked) - {"trace"} else {}


def _named(trace: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The guardrail that a trace speaks of: assessments are keyed by its id, and newer ones carry its details."""
    inputs = obj(trace.get("inputAssessment")) or obj(trace.get("input"))
    outputs = obj(trace.get("outputAssessments"))
    listed = next(iter(objects(trace.get("outputs"))), {})
    for assessments in (inputs, outputs, listed):
        for name, assessment in assessments.items():
            first = obj(assessment) or next(iter(objects(assessment)), {})
            return name, {k: v for k, v in obj(first.get("appliedGuardrailDetails")).items() if word(v)}
    return None, {}


def _acted(value: Any, depth: int = _DEPTH) -> bool:
    if isinstance(value, dict) and depth:
        return value.get("action") in _ACTED or any(_acted(item, depth - 1) for item in value.values())
    return isinstance(value, list) and depth > 0 and any(_acted(item, depth - 1) for item in value)


def _plain(action: Any) -> str | None:
    said = word(action)
    return said.removeprefix("GUARDRAIL_") if said is not None else None


# --- as a conversation ---------------------------------------------------------------------------------------------------


def view_request(body: dict[str, Any]) -> Conversation:
    role = "assistant" if body.get("source") == "OUTPUT" else "user"
    parts = tuple(_view_block(block, f"content[{index}]") for index, block in enumerate(seq(body.get("content"))))
    return Conversation(messages=(Message(role=role, parts=parts, path="content"),) if parts else ())


def view_answer(answer: dict[str, Any]) -> tuple[Part, ...]:
    return tuple(Part(type="text", path=f"outputs[{index}]", text=flat(block)) for index, block in enumerate(seq(answer.get("outputs"))))


def _view_block(value: Any, path: str) -> Part:
    block = obj(value)
    if "image" in block:
        return Part(type="image", path=path, value=block["image"])
    return Part(type="text" if "text" in block else "other", path=path, text=text(flat(block)), value=value)
