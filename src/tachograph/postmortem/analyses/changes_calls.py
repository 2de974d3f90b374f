"""Models, parameters and guardrails that are not those of the last good session. See ``changes_found.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tachograph.core import events
from tachograph.postmortem.bundle import params_recorded
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.meaning.citing import begun, said
from tachograph.postmortem.values import one_line, read, textual, visible

from .changes_found import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Step

#: Parameters of the transport and of billing, which decide nothing of an answer.
_NOTHING = frozenset(
    ["stream", "stream_options", "metadata", "user", "store", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "anthropic_version", "anthropic_beta", "betas", "include", "request_metadata", "cache_control", "n", "timeout", "safety", "previous_response_id", "conversation", "background", "accept", "content_type"]
)  # fmt: skip
_RELEASE = re.compile(r"(?:[-@:.](?:\d+|v\d+|latest|preview|exp|beta|stable))+\Z")
_ROUTES = re.compile(
    r"\A(?:.*/)?(?:(?:us|eu|apac|global|us-gov|jp|au)\.)?(?:anthropic|amazon|meta|mistral|cohere|openai|ai21|deepseek|google|models|publishers)[./]",
    re.IGNORECASE,
)


def route(model: str | None) -> str:
    """A model's name without where it is served."""
    name = (model or "").strip().lower().rpartition("inference-profile/")[2]
    while (bare := _ROUTES.sub("", name, count=1)) != name:
        name = bare
    return name


def family(model: str | None) -> str:
    """A model's name without where it is served and which release of it: two ids of one family name the same line of models."""
    name = route(model)
    while (bare := _RELEASE.sub("", name)) != name and bare:
        name = bare
    return name


def models(good: Case, case: Case) -> Iterator[Found]:
    """The model asked for, and the one that served."""
    asked, served = _models(good, "model_id"), _models(good, "served_model_id")
    ordinary = {(step.call.model_id, step.call.served_model_id) for step in good.story.steps}
    for step in case.story.steps:
        call = step.call
        if call.model_id and asked and call.model_id not in asked:
            what = f"the model asked for is {said(call.model_id)}, it was {said(', '.join(asked))}"
            yield _call(step, "model", what, 0.7)
            return
        if step.bad or not call.served_model_id or not served or call.served_model_id in served:
            continue
        release = family(call.served_model_id) in {family(name) for name in served}
        if (call.model_id, None) in ordinary and len(ordinary) == 1:
            continue
        what = (
            f"{said(call.served_model_id)} answered, where {said(', '.join(served))} did; {said(call.model_id or 'no model')} was asked for"
        )
        yield _call(step, "model", what, 0.55 if release else 0.75)
        return


def _models(case: Case, name: str) -> list[str]:
    return list(dict.fromkeys(value for step in case.story.steps if not step.bad and (value := getattr(step.call, name))))


def parameters(good: Case, case: Case) -> Iterator[Found]:
    """Each parameter by itself, where the good session never had that value in an operation of the same name."""
    known: dict[str, dict[str, list[Any]]] = {}
    counted: dict[str, int] = {}
    for step in good.story.steps:
        if params_recorded(step.call):
            counted[step.call.operation] = counted.get(step.call.operation, 0) + 1
            for name, value in step.call.params.items():
                known.setdefault(step.call.operation, {}).setdefault(name, []).append(value)
    told: set[str] = set()
    for step in case.story.steps:
        if step.call.operation not in counted or not params_recorded(step.call):
            continue
        before = known.get(step.call.operation, {})
        every = counted[step.call.operation]
        for name in sorted({*step.call.params, *(name for name, values in before.items() if len(values) == every)} - _NOTHING - told):
            value, values = step.call.params.get(name), before.get(name, [])
            if value in values or (value is None and len(values) < every):
                continue
            told.add(name)
            was = f"it was {_shown(values[0])}" if values else "it was left to the provider"
            now = f"is {_shown(value)}" if value is not None else "is left to the provider"
            yield _call(step, "parameters", f"the parameter {visible(name)} {now}, {was}", 0.4 if name == "seed" else 0.6)


def _shown(value: Any) -> str:
    return visible(one_line(textual(value), 60))


def _call(step: Step, cause: str, what: str, weight: float) -> Found:
    event_id, seq = begun(step)
    return Found(cause=cause, what=what, event_id=event_id, seq=seq, evidence=(), weight=weight)


def guardrails(good: Case, case: Case) -> Iterator[Found]:
    """Guardrails by id: gone, in another version, configured otherwise."""
    old, new = _guards(good), _guards(case)
    calls = [step for step in case.story.steps if not step.bad or step.call.guardrail]
    for name, (_, version, config, verdicts) in old.items():
        if name not in new:
            other = next((key for key in new if key not in old), None)
            if other is not None:
                entry, now = new[other][0], new[other][1]
                what = f"the guardrail is {said(other)} in version {now}, it was {said(name)} in version {version}"
                yield Found(cause="policy", what=what, event_id=entry.event_id, seq=entry.seq, evidence=(), weight=0.75)
            elif calls:
                event_id, seq = begun(calls[0])
                what = f"the guardrail {said(name)} of the good session is not in force"
                yield Found(cause="policy", what=what, event_id=event_id, seq=seq, evidence=(), weight=0.75)
            continue
        entry, now, settings, given = new[name]
        if now != version:
            what = f"the guardrail {said(name)} is in version {now}, it was in version {version}"
            yield Found(cause="policy", what=what, event_id=entry.event_id, seq=entry.seq, evidence=(), weight=0.75)
        elif settings != config:
            key = next(key for key in sorted({*settings, *config}) if settings.get(key) != config.get(key))
            what = f"the guardrail {said(name)} is set to {visible(key)} {_shown(settings.get(key))}, it was {_shown(config.get(key))}"
            yield Found(cause="policy", what=what, event_id=entry.event_id, seq=entry.seq, evidence=(), weight=0.7)
        elif verdicts - given and given and any(word not in ("NONE", "") for word in verdicts):
            what = (
                f"the guardrail {said(name)} said {said(', '.join(sorted(given)))}, in the good session {said(', '.join(sorted(verdicts)))}"
            )
            yield Found(cause="policy", what=what, event_id=entry.event_id, seq=entry.seq, evidence=(), weight=0.6)


_Guard = tuple[Evidence, str | None, dict[str, Any], set[str]]


def _guards(case: Case) -> dict[str, _Guard]:
    """By id: the event that shows it first (its own, rather than that of the model call it belongs to), version, configuration, verdicts."""
    found: dict[str, _Guard] = {}
    for entry in case.recording.entries:
        event = entry.event
        if isinstance(event, events.Guardrail):
            one: dict[str, Any] = {"id": event.guardrail_id, "version": event.version, "action": event.action}
        elif isinstance(event, events.ModelCall) and event.guardrail:
            one = event.guardrail
        else:
            continue
        name = str(one.get("id") or "(unnamed)")
        version = str(one["version"]) if one.get("version") is not None else None
        shown = Evidence(event_id=event.id, seq=entry.seq, what="the guardrail")
        if name not in found:
            found[name] = shown, version, _config(case, event), set()
        elif isinstance(event, events.Guardrail) and event.call_id == found[name][0].event_id:
            found[name] = shown, *found[name][1:]
        found[name][3].add(str(one.get("action") or "").upper())
    return found


def _config(case: Case, event: events.Event) -> dict[str, Any]:
    """How a model call sets its guardrail, beside its id and version."""
    request = read(case.recording, event.prompt_redacted_uri).value if isinstance(event, events.ModelCall) else None
    config = request.get("guardrailConfig") if isinstance(request, dict) else None
    names = ("guardrailIdentifier", "guardrailVersion", "trace")
    return {key: value for key, value in config.items() if key not in names} if isinstance(config, dict) else {}
