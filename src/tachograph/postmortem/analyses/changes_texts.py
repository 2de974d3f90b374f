"""Prompts and tools that are not those of the last good session. See ``changes_found.py``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.bundle import system_text
from tachograph.postmortem.definitions import schema_changes
from tachograph.postmortem.meaning.citing import begun, said
from tachograph.postmortem.meaning.instructions import read as read_instruction
from tachograph.postmortem.meaning.instructions import sentences, stems
from tachograph.postmortem.meaning.once import once
from tachograph.postmortem.seen import tool_texts
from tachograph.postmortem.values import read
from tachograph.providers.conversation import conversation

from .changes_found import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Step

#: What changes from run to run in a prompt that is the same: dates, times, ids. Numbers are no such thing: a limit is one.
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d(?::\d\d)?\b|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\b[0-9a-f]{16,64}\b"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:, \d{4})?"
    r"|(?<=127\.0\.0\.1):\d{1,5}|(?<=localhost):\d{1,5}|/(?:private/)?(?:tmp|var/folders)/[\w./-]{1,200}"
)
_LABEL = re.compile(r"\A[\w ]{1,40}:\s")


@once
def systems(case: Case) -> tuple[tuple[Step, str], ...]:
    """Each system prompt with the first step that had it, in order. Developer messages count."""
    found: dict[str, Step] = {}
    for step in case.story.steps:
        if step.seen.state != "there":
            continue
        parts = list(step.seen.system)
        for new in step.seen.messages:
            if new.message.role in ("system", "developer"):
                parts += new.message.parts
        if parts:
            found.setdefault(system_text(parts), step)
    return tuple((step, text) for text, step in found.items())


@once
def definitions(case: Case) -> dict[str, list[tuple[Step, dict[str, Any], str]]]:
    """By a tool's name: each of its definitions with the first step that had it."""
    found: dict[str, list[tuple[Step, dict[str, Any], str]]] = {}
    conversations: set[int] = set()
    for step in case.story.steps:
        seen = step.seen
        fresh = seen.state == "there" and (seen.conversation not in conversations or seen.tools_added or seen.tools_altered)
        conversations.add(seen.conversation)
        if not fresh or not seen.tools:
            continue
        request = read(case.recording, step.call.prompt_redacted_uri)
        talk = conversation(step.call.provider, step.call.operation, request.value)
        for (name, text), tool in zip(tool_texts(talk).items(), talk.tools, strict=False):
            known = found.setdefault(name, [])
            if all(text != other for _, _, other in known):
                known.append((step, tool, text))
    return found


def prompts(good: Case, case: Case) -> Iterator[Found]:
    """System prompts by their sentences, and managed prompts by their versions."""
    old = [text for _, text in systems(good)]
    known = {_same(text) for text in old}
    told: set[int] = set()
    for step, text in systems(case):
        if _same(text) in known or not old:
            continue
        before = max(old, key=lambda other: _likeness(other, text))
        found = _prompt(before, text, step)
        if found is not None:
            told.add(step.number)
            yield found
    if systems(case) and not old and any(step.seen.state == "there" for step in good.story.steps):
        step, text = systems(case)[0]
        yield _texts(step, "a system prompt that the good session does not have", [], [text], 0.6)
    if old and not systems(case) and (first := next((one for one in case.story.steps if one.seen.state == "there"), None)) is not None:
        yield _texts(first, "the good session's system prompt is not there", old, [], 0.8)
    if not told:
        yield from _managed(good, case)


def _managed(good: Case, case: Case) -> Iterator[Found]:
    versions = {str(step.call.prompt.get("id")): step.call.prompt.get("version") for step in good.story.steps if step.call.prompt}
    told = set()
    for step in case.story.steps:
        prompt = step.call.prompt or {}
        name, version = str(prompt.get("id")), prompt.get("version")
        if not prompt or (name in versions and versions[name] == version) or name in told or not versions:
            continue
        told.add(name)
        before = f"version {versions[name]}" if name in versions else f"prompt {', '.join(versions)}"
        what = f"managed prompt {said(name)} is in version {version}, the good session had {before}"
        yield Found(cause="prompt", what=what, event_id=begun(step)[0], seq=begun(step)[1], evidence=(), weight=0.75)


def _prompt(before: str, after: str, step: Step) -> Found | None:
    old, new = list(sentences(before)), list(sentences(after))
    kept, now = {_same(text) for text in old}, {_same(text) for text in new}
    gone = [text for text in old if _same(text) not in now]
    come = [text for text in new if _same(text) not in kept]
    if not gone and not come:
        if sorted(map(_same, old)) == sorted(map(_same, new)):
            return None
        return _texts(step, "the system prompt's sentences stand in another order", [], [], 0.3)
    return replace(_texts(step, _difference(gone, come), gone, come, 0.7), texts=(tuple(gone), tuple(come)))


def bearing(found: Found, words: frozenset[str]) -> Found:
    """A change of a prompt, told by those of its sentences that speak of what was done otherwise, if any does."""
    gone, come = found.texts
    there = [[text for text in texts if stems(text[:4000]) & words] for texts in (gone, come)]
    if not any(there) or not words:
        return found
    best = max(len(stems(text[:4000]) & words) for texts in there for text in texts)
    kept = [[text for text in texts if len(stems(text[:4000]) & words) == best] for texts in there]
    # Both halves where one was put for the other; else the half that speaks of it.
    if all(there) and not all(kept):
        kept = [[max(texts, key=lambda text: len(stems(text[:4000]) & words))] for texts in there]
    return replace(found, what=_difference(*kept))


def _difference(gone: list[str], come: list[str]) -> str:
    first = next(iter(sorted(gone, key=_weighty)), None)
    second = next(iter(sorted(come, key=_weighty)), None)
    if first is not None and second is not None and len(stems(first) & stems(second)) * 2 >= len(stems(first)):
        return f"the system prompt says {said(second)}, where the good session's says {said(first)}"
    words = [f"the system prompt no longer says {said(first)}"] if first is not None else []
    words += (
        [f"{'and says' if words else 'the system prompt says'} {said(second)}, which the good session's does not"]
        if second is not None
        else []
    )
    return " ".join(words)


def _weighty(text: str) -> int:
    """Sentences that forbid, ask or name an amount come first; lines that label a value come last."""
    found = read_instruction(text)
    return 3 if _LABEL.match(text) and found.tone == "tells" else 0 if found.tone in ("forbids", "asks") else 1


def _texts(step: Step, what: str, gone: list[str], come: list[str], weight: float) -> Found:
    event_id, seq = begun(step)
    about = frozenset().union(*(stems(text[:4000]) for text in (*gone, *come)))
    if (gone or come) and all(_weighty(text) == 3 for text in (*gone, *come)):
        weight = min(weight, 0.35)  # the day's facts: who the customer is, which shop
    return Found(cause="prompt", what=what, event_id=event_id, seq=seq, evidence=(), about=about, weight=weight)


def _same(text: str) -> str:
    return " ".join(_VOLATILE.sub("~", text).split())


def _likeness(one: str, other: str) -> float:
    first, second = stems(one[:8000]), stems(other[:8000])
    return len(first & second) / max(len(first | second), 1)


def tools(good: Case, case: Case) -> Iterator[Found]:
    """Definitions that are other than in the good session, that are gone, or that came."""
    old, new = definitions(good), definitions(case)
    if not old or not new:
        return
    for name, found in new.items():
        if name not in old:
            step, tool, _ = found[0]
            about = stems(f"{name} {tool.get('description') or ''}"[:4000])
            yield _tool(step, f"the tool {said(name)} is offered, which the good session did not have", name, about, 0.5)
            continue
        texts = [text for _, _, text in old[name]]
        for step, tool, text in found:
            if text not in texts:
                words = altered(old[name][0][1], tool)
                yield _tool(step, f"the tool {said(name)} is defined otherwise: {words[0]}", name, words[1], 0.65)
                break
    first = next(step for step, _, _ in next(iter(new.values())))
    for name, known in old.items():
        if name not in new:
            about = stems(f"{name} {known[0][1].get('description') or ''}"[:4000])
            yield _tool(first, f"the tool {said(name)} of the good session is not offered", name, about, 0.65)


def _tool(step: Step, what: str, name: str, about: frozenset[str], weight: float) -> Found:
    event_id, seq = begun(step)
    return Found(cause="tool", what=what, event_id=event_id, seq=seq, evidence=(), about=about, tools=frozenset([name]), weight=weight)


def altered(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, frozenset[str]]:
    """In which words two definitions of a tool differ, and the stems of what differs."""
    old, new = str(before.get("description") or ""), str(after.get("description") or "")
    words: list[str] = []
    about: frozenset[str] = frozenset()
    if old != new:
        come = [text for text in sentences(new) if text not in set(sentences(old))]
        gone = [text for text in sentences(old) if text not in set(sentences(new))]
        words.append(
            f"its description says {said(come[0])}"
            if come
            else f"its description no longer says {said(gone[0])}"
            if gone
            else "its description"
        )
        about |= stems(" ".join(come + gone)[:4000])
    changed = list(schema_changes(before, after))
    if changed:
        place, was, now = changed[0]
        if now is None:
            words.append(f"its schema no longer has {said(f'{place}: {was}')}")
        else:
            there = f", which was {said(was)}" if was is not None else ""
            words.append(f"its schema says {said(f'{place}: {now}')}{there}")
        about |= frozenset().union(*(stems(f"{path} {was or ''} {now or ''}"[:600]) for path, was, now in changed))
    return " and ".join(words) or "in its order", about
