"""A secret that stood in what a model was shown: passed on by the model, or a live credential that nobody meant it to have.

Cause: a placeholder of the redaction (``[REDACTED:<kind>:<fingerprint>]``: the model had the original) in a prompt, in what a user said, in a tool's result.
Consequence: the model says it again, in an answer, in the arguments of what acts, in a file. Or a credential of a kind that is certain (of a known service,
a private key) came by a tool's result, and the next request held it: it left for the provider, and stands in every history from then on.

The second is *likely* only, and is not told of what is meant to be so: the user gave it or speaks of it, the tool's name says that it is for such things (a login, a
vault), the agent's code or another call works with it later, it is read from an example. What the agent's code filtered before the model saw it left no mark in
the request (``redacted_kinds`` of the model call, which counts what was masked while it was recorded). Of another kind, or where nothing counted it, only seen is not enough; it
is told, as the weakest of all findings, where the session shows by itself that it went wrong. What stands in headers, in the environment, or in the arguments of the agent's own code, no model saw. A
model that makes up a secret, or has it from elsewhere, is no such case: nothing that it was shown has it.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.meaning.citing import cite, joined
from tachograph.postmortem.meaning.effects import effects
from tachograph.postmortem.meaning.once import entered, once
from tachograph.postmortem.meaning.outgoing import last_answers
from tachograph.postmortem.meaning.symptoms import hard
from tachograph.postmortem.values import visible
from tachograph.redact.placeholder import PLACEHOLDER

from .contract import LIKELY, PROVEN, STRONG, WEAK, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage
    from tachograph.postmortem.shapes import Run, Step

NAME = "secret_seen"

_WHERE = {
    "system": "the system prompt", "user": "what the user said", "tool_result": "a tool's result", "file": "a file", "document": "a document that was retrieved",
    "memory": "the history", "subagent": "another agent's answer",
}  # fmt: skip


def run(case: Case) -> Iterator[Finding]:
    """A finding for each secret that was passed on, by where it came in."""
    if not any(passage.kind != "model" for passage in entered(case)) or not case.story.redactions:
        return
    first: dict[str, Passage] = {}
    kinds: dict[str, set[str]] = {}
    for passage in entered(case):
        if passage.kind != "model" and "[REDACTED:" in passage.text:
            for found in PLACEHOLDER.finditer(passage.text):
                first.setdefault(found[0], passage)
                kinds.setdefault(_kind(found[0]), set()).add(found[0])
    told: set[str] = set()
    for mark, passage in first.items():
        made = _passed_on(case, mark, passage)
        if made is None and len(kinds[_kind(mark)]) == 1:
            made = _written_otherwise(case, mark, passage)
        if made is not None and passage.event_id not in told:
            told.add(passage.event_id)
            yield made
    if first and not told:
        for mark, passage in first.items():
            exposed = _exposed(case, mark, passage)
            if exposed is not None and passage.event_id not in told:
                told.add(passage.event_id)
                yield exposed
    wrong = hard(case)
    if first and not told and wrong:
        mark, passage = next(iter(first.items()))
        yield _finding(case, mark, passage, WEAK, f"no answer has it; {wrong[0].what}", [wrong[0].evidence()])


def _exposed(case: Case, mark: str, passage: Passage) -> Finding | None:
    """A live credential that came by a tool's result into a request, without anybody's having meant it."""
    if passage.step is None or passage.kind in ("user", "system", "memory") or not _certain(_kind(mark)) or _meant(case, mark, passage):
        return None
    sent = _sent_with(case, _kind(mark), passage.step)
    if sent is None or _given(case).get(mark, 0) > passage.seq:  # it is there to be used
        return None
    clause = f"the request of step {sent.number} sent it to {visible(sent.call.provider or 'the provider')}"
    return _finding(case, mark, passage, LIKELY, clause, [cite(sent, "the request that holds it")])


#: Kinds that say no more than that something looks like a credential, or that many keep for tests.
_UNSURE = frozenset(["service-key", "service-token", "secret-key", "api-token", "url-key", "cloud-token"])


def _certain(kind: str) -> bool:
    return kind.rpartition("-")[2] in ("key", "token", "secret") and "-" in kind and kind not in _UNSURE


_ABOUT_SECRETS = frozenset(
    ["token", "tokens", "secret", "secrets", "credential", "credentials", "login", "log", "auth", "authenticate", "oauth", "sso", "vault", "password", "passwords", "passwort", "key", "keys", "signin", "sign",
     "mint", "rotate", "keychain", "keyring", "zugangsdaten", "schlüssel", "clave", "claves", "contraseña", "credenciales", "clé", "clés", "jeton", "identifiants", "chiave", "chiavi", "credenziali", "chave", "chaves",
     "credenciais", "sleutel", "wachtwoord"]
)  # fmt: skip
_EXAMPLE = re.compile(
    r"example|sample|template|fixture|dummy|fake|mock|placeholder|(?:\A|[\W_])(?:tests?|docs?|demo|specs?)(?:[\W_]|\Z)", re.IGNORECASE
)


def _meant(case: Case, mark: str, passage: Passage) -> bool:
    """Whether a user gave it or speaks of such things, or the call by which it came is for them, or reads an example."""
    asked = _asked_for(case)
    if asked is None or mark in asked or set(words_of(passage.name or "")) & _ABOUT_SECRETS:
        return True
    calls = [
        run for event_id in (passage.event_id, passage.within) if event_id is not None and (run := _calls(case).get(event_id)) is not None
    ]
    return any(set(words_of(run.name)) & _ABOUT_SECRETS or _EXAMPLE.search(run.input.text()[:4000]) for run in calls)


_WORD = re.compile(r"[^\W\d_]{2,20}")


@once
def _asked_for(case: Case) -> frozenset[str] | None:
    """The secrets that users and prompts have themselves; ``None`` where a user speaks of such things."""
    found: set[str] = set()
    for one in entered(case):
        if one.kind in ("user", "system"):
            if one.kind == "user" and _ABOUT_SECRETS & set(_WORD.findall(one.text[:8000].lower())):
                return None
            if "[REDACTED:" in one.text:
                found.update(match[0] for match in PLACEHOLDER.finditer(one.text))
    return frozenset(found)


@once
def _calls(case: Case) -> dict[str, Run]:
    """The calls by the ids of their events, and of what ran within them."""
    found: dict[str, Run] = {}
    for _, run in case.story.runs():
        found.setdefault(run.event_id, run)
        found.update((child.event_id, run) for child in run.children)
    return found


#: Requests behind the one that asked among which that is looked for that has the result.
_NEAR = 60


def _sent_with(case: Case, kind: str, number: int) -> Step | None:
    """The first request behind a step that had more of a kind masked than that of the step itself."""
    steps = case.story.steps
    place = bisect_left(steps, number, key=lambda step: step.number)
    before: int | None = None
    for step in steps[place : place + _NEAR]:
        entry = case.recording.by_id(step.event_id)
        masked = entry.event.redacted_kinds.get(kind, 0) if entry is not None else 0
        if before is None:
            before = masked
        elif masked > before:
            return step
    return None


@once
def _given(case: Case) -> dict[str, int]:
    """The last line at which a call, or an exchange of the agent's code, was given a secret."""
    found: dict[str, int] = {}
    for _, run in case.story.runs():
        if run.input.there and "[REDACTED:" in (text := run.input.text()):
            for match in PLACEHOLDER.finditer(text):
                found[match[0]] = max(run.seq, found.get(match[0], 0))
    return found


def _written_otherwise(case: Case, mark: str, passage: Passage) -> Finding | None:
    """A secret of several lines that was indented, or joined, has another fingerprint. Where one of its kind came in and one goes out that nobody had
    brought, they are taken for the same."""
    for step in case.story.steps:
        if passage.step is not None and step.number < passage.step:
            continue
        for part in step.reply:
            for found in PLACEHOLDER.finditer(part.text or repr(part.value)):
                if _kind(found[0]) == _kind(mark):
                    made = _passed_on(case, found[0], passage)
                    return None if made is None else dataclasses.replace(made, confidence=min(made.confidence, STRONG))
    return None


def _kind(mark: str) -> str:
    return mark[1:-1].split(":")[1]


def _passed_on(case: Case, mark: str, passage: Passage) -> Finding | None:
    """The strongest way in which the model passed it on."""
    best: tuple[float, str, list[Evidence]] | None = None
    ends = last_answers(case)
    for step in case.story.steps:
        if passage.step is not None and step.number < passage.step + (passage.kind not in ("system", "user")):
            continue  # a result came in behind the answer that asked for it
        for found in _said(case, step, mark, final=step.number in ends):
            if best is None or found[0] > best[0]:
                best = found
    return None if best is None else _finding(case, mark, passage, *best)


def _said(case: Case, step: Step, mark: str, *, final: bool) -> Iterator[tuple[float, str, list[Evidence]]]:
    for part in step.reply:
        if part.type == "text" and mark in part.text:
            sure = PROVEN if final else LIKELY
            yield sure, f"the answer of step {step.number} has it", [cite(step, "the answer")]
        elif part.type == "tool_use" and mark in repr(part.value):
            effect = next(
                (one for one in effects(case) if one.step is not None and one.step.number == step.number and one.run.name == part.name),
                None,
            )
            shown = [cite(step, "the tool call")]
            if effect is not None:
                shown.append(cite(effect.run, f"{effect.run.name} ran"))
            yield (PROVEN if effect is not None else STRONG - 0.1), f"step {step.number} gives it to {part.name or 'a tool'}", shown


def _finding(case: Case, mark: str, passage: Passage, sure: float, clause: str, shown: list[Evidence]) -> Finding:
    kind = _kind(mark)
    outer = case.recording.by_id(passage.within) if passage.within is not None else None
    event_id, seq = (outer.event.id, outer.seq) if outer is not None else (passage.event_id, passage.seq)
    name = getattr(outer.event, "name", None) if outer is not None else None
    name = name if isinstance(name, str) else passage.name
    named = f" ({name})" if name and passage.kind not in ("system", "user") else ""
    first = Evidence(event_id=event_id, seq=seq, what=f"{passage.position} has {mark}")
    return Finding(
        cause="secret", analysis=NAME, confidence=sure, first_event=event_id, first_seq=seq, evidence=joined([first, *shown]),
        statement=f"A secret of the kind {kind} stood in {_WHERE.get(passage.kind, 'a text')}{named} that the model was shown; {clause}.",
    )  # fmt: skip


ANALYSIS = Analysis(
    name=NAME,
    looks_for="a secret that a model was shown and passed on, or a live credential that a tool's result brought into a request",
    run=run,
)
