"""What was in force during a session, as one bundle, and the difference between two.

A change that broke an agent is a change of one of these: its code, its prompt, its model, its parameters, its tools,
its guardrails, a package below it. So a bundle holds each with the events that show it, in a form in which two
sessions can be compared: every entry is a set of plain values. Nothing is filled in: what the recording does not say
is absent.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tachograph.core import events

from .commands import command_line
from .resent import Standing
from .seen import parts_chars, tool_texts
from .values import plain, read, textual

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tachograph.providers.conversation import Part

    from .ports import Entry, Recording

#: Parameters that decide how a model answers; the ones that a request leaves out are the provider's defaults and are named as such.
SAMPLING = ("temperature", "top_p", "top_k", "seed", "max_tokens", "stop_sequences", "tool_choice")
#: Words in the names of packages that matter most to an agent, in the order in which packages are listed.
_RELEVANT = re.compile(
    r"anthropic|openai|boto|bedrock|langchain|langgraph|llama|litellm|mcp|pydantic|instructor|strands|autogen|crewai|dspy"
    r"|httpx|aiohttp|requests|urllib3|agent"
)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing in force. ``key`` identifies it among its kind, ``value`` is what is compared, ``seqs`` are lines
    that show it (``count`` of them in all)."""

    key: str
    value: Any
    seqs: tuple[int, ...] = ()
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Everything in force. ``parameters``: each distinct set with ``defaults``, the names left to the provider.
    ``prompts``: managed prompts by id and version, and system texts by the first characters of their SHA-256
    (of the redacted text)."""

    session_id: str
    agent: str | None = None
    name: str | None = None
    source: str = "record"
    argv: str | None = None
    cwd: str | None = None
    repository: dict[str, Any] = field(default_factory=dict)
    models: tuple[Fact, ...] = ()
    parameters: tuple[Fact, ...] = ()
    prompts: tuple[Fact, ...] = ()
    guardrails: tuple[Fact, ...] = ()
    tools: tuple[Fact, ...] = ()
    packages: dict[str, str] = field(default_factory=dict)
    python: str | None = None
    system: str | None = None
    policy: str | None = None
    recorder: str | None = None
    facts_recorded: bool = False
    start_seq: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The bundle as JSON; facts as ``{"key", "value", "seqs", "count"}``."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("models", "parameters", "prompts", "guardrails", "tools"):
            found[name] = [
                {"key": fact.key, "value": plain(fact.value), "seqs": list(fact.seqs), "count": fact.count} for fact in found[name]
            ]
        return dict(plain(found))


@dataclass(frozen=True, kw_only=True)
class Detail:
    """Within a change, what it is that differs: a parameter, a place in a tool's schema, a text. ``before`` and ``after`` are the values, of a
    prompt its hashes; ``lines``: of texts, the hunks of their difference; ``seqs``: the line of each session's log that shows it."""

    name: str
    before: Any
    after: Any
    lines: tuple[str, ...] = ()
    seqs: tuple[int | None, int | None] = (None, None)

    def to_json(self) -> dict[str, Any]:
        """The detail as JSON."""
        return {
            "name": self.name, "before": plain(self.before), "after": plain(self.after), "text": list(self.lines), "seqs": list(self.seqs),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference: ``before`` in the baseline, ``after`` in this session; ``None`` where there was or is none. ``details``: what it comes to,
    where the two are more than a word (``in_force.py`` finds them)."""

    what: str
    key: str
    before: Any
    after: Any
    details: tuple[Detail, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON."""
        return {
            "what": self.what, "key": self.key, "before": plain(self.before), "after": plain(self.after),
            "details": [detail.to_json() for detail in self.details],
        }  # fmt: skip


def bundle(recording: Recording) -> Bundle:
    """What was in force in a recording."""
    start = next((entry for entry in recording.entries if isinstance(entry.event, events.SessionStart)), None)
    event = start.event if start is not None else events.SessionStart()
    assert isinstance(event, events.SessionStart)
    facts = read(recording, event.facts_uri)
    known: dict[str, Any] = facts.value if isinstance(facts.value, dict) else {}
    calls = [entry for entry in recording.entries if isinstance(entry.event, events.ModelCall)]
    texts, tools = _requests(recording, calls)
    repository = {"url": event.repo_url, "sha": event.repo_sha, "branch": event.branch, "dirty": event.dirty}
    argv = known.get("argv")
    return Bundle(
        session_id=recording.session_id,
        agent=event.agent,
        name=event.name,
        source=event.imported_from or event.source,
        argv=command_line({"argv": argv}) if argv else None,
        cwd=known.get("cwd") if isinstance(known.get("cwd"), str) else None,
        repository={key: value for key, value in repository.items() if value is not None},
        models=_models(calls),
        parameters=_parameters(calls),
        prompts=(*_managed_prompts(calls), *texts),
        guardrails=_guardrails(recording.entries),
        tools=tools,
        packages=_packages(known),
        python=_python(known),
        system=_system(known),
        policy=event.policy,
        recorder=event.recorder or None,
        facts_recorded=facts.there,
        start_seq=start.seq if start is not None else None,
    )


def fingerprint(text: str) -> str:
    """A short name for a redacted text, so that two can be compared by eye."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Tally:
    """Collects equal facts with the lines that show them."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, Any, list[int]]] = {}

    def add(self, key: str, value: Any, seq: int) -> list[int]:
        """Returns the lines that show it, to which more may be added."""
        seqs = self._found.setdefault(key + "\0" + textual(value), (key, value, []))[2]
        seqs.append(seq)
        return seqs

    def facts(self) -> tuple[Fact, ...]:
        return tuple(Fact(key=key, value=value, seqs=tuple(seqs[:5]), count=len(seqs)) for key, value, seqs in self._found.values())


def _models(calls: Sequence[Entry]) -> tuple[Fact, ...]:
    tally = _Tally()
    answered = {getattr(entry.event, "model_id", None) for entry in calls if getattr(entry.event, "outcome", None) == "ok"}
    for entry in calls:
        call = entry.event
        assert isinstance(call, events.ModelCall)
        if call.outcome != "ok" and call.model_id in answered:
            continue  # an attempt without an answer cannot say what would have served it
        value = {"provider": call.provider, "requested": call.model_id, "served": call.served_model_id}
        tally.add(call.model_id or "(not named)", value, entry.seq)
    return tally.facts()


def _parameters(calls: Sequence[Entry]) -> tuple[Fact, ...]:
    tally = _Tally()
    for entry in calls:
        call = entry.event
        assert isinstance(call, events.ModelCall)
        if not params_recorded(call):
            continue
        defaults = [name for name in SAMPLING if name not in call.params]
        value = {"set": dict(sorted(call.params.items())), "defaults": defaults}
        tally.add(call.operation or call.provider or "model call", value, entry.seq)
    return tally.facts()


def params_recorded(call: events.ModelCall) -> bool:
    """Whether an empty set of parameters means that none were given: only where the request itself was seen."""
    return bool(call.params) or (call.prompt_redacted_uri is not None and call.extra.get("params_recorded") is not False)


def _managed_prompts(calls: Sequence[Entry]) -> tuple[Fact, ...]:
    tally = _Tally()
    for entry in calls:
        prompt = getattr(entry.event, "prompt", None)
        if prompt:
            tally.add(f"managed prompt {prompt.get('id', '?')}", {"version": prompt.get("version")}, entry.seq)
    return tally.facts()


def _requests(recording: Recording, calls: Sequence[Entry]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """System texts and tool definitions. Each request is read once; one that cannot be read shows nothing."""
    prompts, tools, standing = _Tally(), _Tally(), Standing()
    known: dict[tuple[str, int], list[int]] = {}
    given: tuple[dict[str, Any], ...] | None = None
    shown: list[list[int]] = []
    for entry in calls:
        call = entry.event
        assert isinstance(call, events.ModelCall)
        request = read(recording, call.prompt_redacted_uri)
        if not request.there:
            continue
        talk = standing.view(call, request.value)
        if talk.system:
            text = system_text(talk.system)
            key = text, parts_chars(talk.system)
            if key in known:
                known[key].append(entry.seq)
            else:
                known[key] = prompts.add("system text", {"hash": fingerprint(text), "chars": key[1]}, entry.seq)
        if talk.tools is given:
            for seqs in shown:
                seqs.append(entry.seq)
        else:
            given = talk.tools
            shown = [tools.add(name, {"hash": fingerprint(text)}, entry.seq) for name, text in tool_texts(talk).items()]
    return prompts.facts(), tools.facts()


def system_text(parts: Sequence[Part]) -> str:
    """The system prompt as one text."""
    return "\n\n".join(part.text or textual(part.value) for part in parts)


def _guardrails(entries: Sequence[Entry]) -> tuple[Fact, ...]:
    """Each guardrail by id and version with the number of each verdict; a verdict told by an event of its own is not
    counted again at the model call it belongs to."""
    told = {entry.event.call_id for entry in entries if isinstance(entry.event, events.Guardrail)}
    verdicts: dict[tuple[str, str | None], Counter[str]] = {}
    seqs: dict[tuple[str, str | None], list[int]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, events.Guardrail):
            one: Mapping[str, Any] = {"id": event.guardrail_id, "version": event.version, "action": event.action}
        elif isinstance(event, events.ModelCall) and event.guardrail and event.id not in told:
            one = event.guardrail
        else:
            continue
        name = (str(one.get("id") or "(unnamed)"), str(one["version"]) if one.get("version") is not None else None)
        verdicts.setdefault(name, Counter())[str(one.get("action") or "no verdict")] += 1
        seqs.setdefault(name, []).append(entry.seq)
    return tuple(
        Fact(
            key=name,
            value={"version": version, "verdicts": dict(sorted(verdicts[name, version].items()))},
            seqs=tuple(seqs[name, version][:5]),
            count=len(seqs[name, version]),
        )
        for name, version in verdicts
    )


def _packages(known: Mapping[str, Any]) -> dict[str, str]:
    listed = known.get("packages")
    if not listed and isinstance(known.get("python"), dict):
        listed = known["python"].get("packages")
    found = {str(name): str(version) for name, version in listed.items()} if isinstance(listed, dict) else {}
    return dict(sorted(found.items(), key=lambda item: (not _RELEVANT.search(item[0].lower()), item[0].lower())))


def relevant(name: str) -> bool:
    """Whether a package is of the kind that usually matters to an agent."""
    return _RELEVANT.search(name.lower()) is not None


def _python(known: Mapping[str, Any]) -> str | None:
    python = known.get("python")
    if isinstance(python, dict):
        words = [str(python[key]) for key in ("implementation", "python") if python.get(key)]
        return " ".join(words) or None
    host = known.get("host")
    found = python or (host.get("python") if isinstance(host, dict) else None)
    return f"Python {found}" if found else None


def _system(known: Mapping[str, Any]) -> str | None:
    host = known.get("host")
    if not isinstance(host, dict):
        return None
    return " ".join(str(host[key]) for key in ("system", "release", "machine") if host.get(key)) or None


# -- comparing ---------------------------------------------------------------------------------------------------------------

_SINGLE = ("agent", "argv", "cwd", "python", "system", "policy", "recorder")
_KEYED = ("models", "parameters", "prompts", "guardrails", "tools")


def difference(before: Bundle, after: Bundle) -> tuple[Change, ...]:
    """What is different in ``after``, in the order in which a reader should look: code, prompts, models, parameters,
    tools, guardrails, surroundings. How often a thing was seen and which verdicts a guardrail gave are no
    differences of the bundle."""
    found: list[Change] = []
    for key in ("url", "sha", "branch", "dirty"):
        _compare(found, "repository", key, before.repository.get(key), after.repository.get(key))
    for kind in ("prompts", "models", "parameters", "tools", "guardrails"):
        old, new = _values(getattr(before, kind)), _values(getattr(after, kind))
        gone, come = old.keys() - new.keys(), new.keys() - old.keys()
        if kind == "models" and len(gone) == len(come) == 1:  # one in the place of the other
            _compare(found, kind, "", old.pop(gone.pop()), new.pop(come.pop()))
        for key in sorted(old.keys() | new.keys()):
            _compare(found, kind, key, old.get(key), new.get(key))
    for name in _SINGLE:
        _compare(found, name, "", getattr(before, name), getattr(after, name))
    for name in [*after.packages, *(name for name in before.packages if name not in after.packages)]:
        _compare(found, "packages", name, before.packages.get(name), after.packages.get(name))
    return tuple(found)


def _compare(found: list[Change], what: str, key: str, before: Any, after: Any) -> None:
    if before != after:
        found.append(Change(what=what, key=key, before=before, after=after))


def _values(facts: Sequence[Fact]) -> dict[str, Any]:
    """Per key, the value, or all of several."""
    found: dict[str, list[Any]] = {}
    for fact in facts:
        value = {k: v for k, v in fact.value.items() if k != "verdicts"} if isinstance(fact.value, dict) else fact.value
        if value not in found.setdefault(fact.key, []):
            found[fact.key].append(value)
    return {key: values[0] if len(values) == 1 else sorted(values, key=textual) for key, values in found.items()}
