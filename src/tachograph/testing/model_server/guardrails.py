"""Bedrock Guardrails: the verdict of a turn in the three shapes in which AWS reports it, and ``ApplyGuardrail``.

Shapes: ``GuardrailTraceAssessment``, ``GuardrailAssessment`` and ``ApplyGuardrailResponse`` of the Bedrock Runtime API; the
``amazon-bedrock-*`` members of InvokeModel's bodies as in the user guide, "Use guardrails with the Converse and InvokeModel
APIs".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.testing.model_server import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.testing.model_server.script import Turn
    from tachograph.testing.model_server.wire import Ask

_UNITS = (
    "topicPolicyUnits",
    "contentPolicyUnits",
    "wordPolicyUnits",
    "sensitiveInformationPolicyUnits",
    "sensitiveInformationPolicyFreeUnits",
    "contextualGroundingPolicyUnits",
)
_INTERVENED = "GUARDRAIL_INTERVENED"


@dataclass(frozen=True)
class Guardrail:
    identifier: str
    version: str


def intervened(turn: Turn) -> bool:
    return turn.guardrail is not None and turn.guardrail.get("action") == _INTERVENED


def converse_trace(ask: Ask, turn: Turn) -> dict[str, Any] | None:
    """``trace.guardrail`` of a Converse answer, where the request names a guardrail and asks for its trace."""
    config = ask.body.get("guardrailConfig")
    if not isinstance(config, dict) or config.get("trace") not in ("enabled", "enabled_full"):
        return None
    who = Guardrail(str(config.get("guardrailIdentifier")), str(config.get("guardrailVersion")))
    trace, inputs, outputs = _verdict(who, ask, turn)
    trace["inputAssessment"] = {who.identifier: inputs}
    if outputs:
        trace["outputAssessments"] = {who.identifier: outputs}
    return trace


def invoke_fields(ask: Ask, turn: Turn) -> dict[str, Any]:
    """What a guardrail adds to an InvokeModel answer; there it is named by headers."""
    headers = ask.request.headers
    identifier = headers.get("x-amzn-bedrock-guardrailidentifier")
    if identifier is None:
        return {}
    fields: dict[str, Any] = {"amazon-bedrock-guardrailAction": "INTERVENED" if intervened(turn) else "NONE"}
    if headers.get("x-amzn-bedrock-trace", "").upper() in ("ENABLED", "ENABLED_FULL"):
        who = Guardrail(identifier, headers.get("x-amzn-bedrock-guardrailversion", "DRAFT"))
        trace, inputs, outputs = _verdict(who, ask, turn)
        trace["input"] = {identifier: inputs}
        if outputs:
            trace["outputs"] = [{identifier: assessment} for assessment in outputs]
        fields["amazon-bedrock-trace"] = {"guardrail": trace}
    return fields


def apply(turns: Sequence[Turn], body: dict[str, Any], who: Guardrail) -> dict[str, Any]:
    """The answer to ``ApplyGuardrail``: the verdict of the first turn with a guardrail whose ``when`` occurs in the content."""
    text = wire.said(body.get("content"))
    answer: dict[str, Any] = {"usage": _usage(text), "action": "NONE", "outputs": [], "assessments": []}
    for turn in turns:
        if turn.guardrail is not None and turn.when is not None and turn.when in text:
            verdict = turn.guardrail
            found = [verdict["input"]] if "input" in verdict else list(verdict.get("outputs", ()))
            answer["action"] = verdict.get("action", "NONE")
            answer["assessments"] = [_assessed(assessment, text, who) for assessment in found]
            if verdict.get("reason"):
                answer["actionReason"] = verdict["reason"]
            if answer["action"] == _INTERVENED:
                answer["outputs"] = [{"text": turn.text}]
            break
    return answer


def _verdict(who: Guardrail, ask: Ask, turn: Turn) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """The members that both traces share, the input's assessment and the outputs'."""
    verdict = turn.guardrail or {}
    trace: dict[str, Any] = {}
    if verdict.get("model_output"):
        trace["modelOutput"] = list(verdict["model_output"])
    if verdict.get("reason"):
        trace["actionReason"] = verdict["reason"]
    outputs = [_assessed(assessment, turn.text, who) for assessment in verdict.get("outputs", ())]
    return trace, _assessed(verdict.get("input", {}), ask.heard, who), outputs


def _assessed(assessment: dict[str, Any], text: str, who: Guardrail) -> dict[str, Any]:
    metrics = {
        "guardrailProcessingLatency": 20 + len(text) // 100,
        "usage": _usage(text),
        "guardrailCoverage": {"textCharacters": {"guarded": len(text), "total": len(text)}},
    }
    applied = {"guardrailId": who.identifier, "guardrailVersion": who.version}
    return assessment | {"invocationMetrics": metrics, "appliedGuardrailDetails": applied}


def _usage(text: str) -> dict[str, int]:
    # A text unit is a thousand characters; policies that are not set up cost nothing.
    units = max(1, (len(text) + 999) // 1000)
    return {name: units if name in ("topicPolicyUnits", "contentPolicyUnits") else 0 for name in _UNITS}
