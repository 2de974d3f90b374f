"""What came of a session otherwise than of the last good one.

Two runs of one agent never say the same words, and may look things up in another order. What counts is what they did beyond reading and, where
neither did anything, what they answered: the facts in it (identifiers, amounts) and whether it is the same kind of text.

Where the two were given another input, what differs because of it is no departure: arguments that stand in what the user gave or a tool
returned are left out, and only the kinds of things done are compared.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.terms import identifiers, values
from tachograph.postmortem.values import arguments, one_line, plain, visible
from tachograph.replay.difference import first_difference

from .citing import LONG, called, cite, said
from .effects import effects, looks
from .instructions import stems
from .once import departed, once, spoken

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.shapes import Run, Step
    from tachograph.providers.conversation import Part

    from .effects import Effect

#: What differs between any two runs: times, drawn ids; a port and a temporary folder within a line.
_VOLATILE = re.compile(
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S{0,20}|\d{10}(?:\.\d{1,9})?|\d{13}|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-f]{16,64})\Z"
)
_PLACE = re.compile(r"(?<=127\.0\.0\.1):\d{1,5}|(?<=localhost):\d{1,5}|/(?:private/)?(?:tmp|var/folders)/[\w./-]{1,200}")
#: An argument longer than this is prose: of it only the facts are compared.
_PROSE = 48


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``same_input``: the users gave the same. ``what``: as a clause; ``evidence``: the event of this session that shows it. ``words``: the stems of
    what was done otherwise, here and there; ``tools``: the names of those tools. ``step``: the step by which it came."""

    same_input: bool
    what: str
    evidence: Evidence
    words: frozenset[str]
    tools: frozenset[str]
    step: Step | None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A call by its name, and as it reads."""

    name: str
    title: str


@once
def outcome(case: Case) -> Outcome | None:
    """The first thing that came otherwise, or ``None`` where there is no good session, or nothing that counts."""
    good = case.good
    if good is None or not comparable(good, case):
        return None
    same = given(good) == given(case)
    old, new = effects(good), effects(case)
    if not same:
        return _of_kinds(case, old, new)
    return _of_effects(case, old, new) or _of_actions(case) or _of_answers(good, case, old, new)


def given(case: Case) -> tuple[str, ...]:
    """What users said, up to blanks and case; of several turns, the first."""
    texts = [" ".join(passage.text.lower().split()) for passage in spoken(case) if passage.kind == "user"]
    return tuple(texts[:1])


def comparable(good: Case, case: Case) -> bool:
    """Whether two sessions are of one agent at all: some tool, or a part of the prompt, or what the user said is the same."""
    tools = [{name for step in one.story.steps for name in step.seen.tools} for one in (good, case)]
    if all(tools):
        return len(tools[0] & tools[1]) * 2 >= min(map(len, tools))
    texts = [
        frozenset().union(*(stems(passage.text[:6000]) for passage in spoken(one) if passage.kind == "system")) for one in (good, case)
    ]
    if all(texts):
        return len(texts[0] & texts[1]) * 3 >= min(map(len, texts))
    return given(good) == given(case) or case.story.start is None or good.story.start is None or _same_agent(good, case)


def _same_agent(good: Case, case: Case) -> bool:
    one, other = good.story.start, case.story.start
    return one is not None and other is not None and (one.name, one.agent) == (other.name, other.agent) and any((one.name, one.agent))


def _of_effects(case: Case, old: tuple[Effect, ...], new: tuple[Effect, ...]) -> Outcome | None:
    before, after = [_key(effect.run) for effect in old], [_key(effect.run) for effect in new]
    for place, effect in enumerate(new):
        if after[place] not in before:
            other = _counterpart(effect, [one for one, key in zip(old, before, strict=True) if key not in after] or list(old))
            what = f"this session does {_differing(effect, other)}"
            pair = [effect, *([other] if other is not None else [])]
            found = _outcome(same=True, what=what, evidence=called(effect.run), runs=[one.run for one in pair], step=effect.step)
            words, tools = found.words, found.tools
            for part in filter(None, map(_asked_for, pair)):
                words |= stems(part.title[:4000])
                tools |= {part.name or ""}
            return replace(found, words=words, tools=tools)
    for place, effect in enumerate(old):
        if before[place] not in after:
            return _missing(case, effect, same=True)
    return None


def _counterpart(effect: Effect, others: list[Effect]) -> Effect | None:
    """What the good session did instead: of its effects that this one has not, one by the same name, else of the same kind."""
    named = [one for one in others if one.run.name == effect.run.name]
    alike = named or [one for one in others if one.run.kind == effect.run.kind] or others
    if not alike:
        return None
    mine = _asked_for(effect)
    if mine is not None:
        same = [one for one in alike if (part := _asked_for(one)) is not None and part.name == mine.name]
        alike = same or alike
    return alike[0]


def _differing(effect: Effect, other: Effect | None) -> str:
    """Both as the model asked for them, where the exchange by which one was done says less; and where they differ, if nothing else shows it."""
    if other is None:
        return f"{_title(effect)}, which the good one never does"
    one, two = _title(effect), _title(other)
    if one == two:
        found = first_difference(plain(other.run.input.value), plain(effect.run.input.value))
        if found is not None and not isinstance(found[1], dict | list) and not isinstance(found[2], dict | list):
            name = found[0].rpartition(".")[2] or found[0]
            return f"{one} with {said(f'{name}={found[2]}')} where the good one has {said(f'{name}={found[1]}')}"
    return f"{one} where the good one has {two}"


def _title(effect: Effect) -> str:
    part = _asked_for(effect)
    return visible(one_line(part.title if part is not None else effect.run.title, LONG))


def _asked_for(effect: Effect) -> Asked | None:
    """The call that the model asked for, of an exchange or a command by which it was done."""
    if effect.run.kind == "tool" or effect.step is None:
        return None
    parts = [part for part in effect.step.reply if part.type == "tool_use" and part.name and not looks(part.name)]
    sent = effect.run.input.text()[:20_000]
    best = parts if len(parts) == 1 else [part for part in parts if any(len(text) > 2 and text in sent for _, text in values(part.value))]
    return Asked(name=best[0].name or "", title=f"{best[0].name}({arguments(best[0].value)})") if len(best) == 1 else None


def _of_kinds(case: Case, old: tuple[Effect, ...], new: tuple[Effect, ...]) -> Outcome | None:
    """Of another input: a tool that acts and that the good session never used."""
    known = {effect.run.name for effect in old}
    for effect in new:
        if effect.run.name not in known:
            what = f"this session does {visible(one_line(effect.run.title, LONG))}, which the good one never does"
            return _outcome(same=False, what=what, evidence=called(effect.run), runs=[effect.run], step=effect.step)
    done = {effect.run.name for effect in new}
    for effect in old:
        if effect.run.name not in done:
            return _missing(case, effect, same=False)
    return None


def _missing(case: Case, effect: Effect, *, same: bool) -> Outcome | None:
    """What the good session did and this one did not: shown by where this one parts from it, else by its last step."""
    steps = case.story.steps
    if not steps:
        return None
    found = departed(case)
    number = found.steps[1] if found is not None else None
    step = next((one for one in steps if one.number == number), steps[-1])
    what = f"this session does not do what the good one does: {visible(one_line(effect.run.title, LONG))}"
    return _outcome(same=same, what=what, evidence=cite(step, "where the two part"), runs=[effect.run], step=step)


def _of_actions(case: Case) -> Outcome | None:
    """Tools of which nobody knows whether they act: the first that is asked for otherwise."""
    found = departed(case)
    old, new = found.first if found is not None else (None, None)
    if new is None or looks(new.name):
        return None
    if old is not None and (_PLACE.sub("", old.name), _leaves(old.input)) == (_PLACE.sub("", new.name), _leaves(new.input)):
        return None
    step = next((one for one in case.story.steps if one.number == new.step), None)
    if step is None or (new.name, _leaves(new.input)) in [(one.name, _leaves(one.value)) for one in _asked(case.good)]:
        return None
    there = f" where the good one asks for {visible(one_line(old.title, LONG))}" if old is not None else ""
    what = f"this session asks for {visible(one_line(new.title, LONG))}{there}"
    both = [action for action in (old, new) if action is not None]
    words = frozenset().union(*(stems(one.title) for one in both))
    names = frozenset(one.name for one in both)
    return Outcome(same_input=True, what=what, evidence=cite(step, "where the two part"), words=words, tools=names, step=step)


def _asked(case: Case | None) -> list[Part]:
    return [part for step in case.story.steps for part in step.reply if part.type == "tool_use"] if case is not None else []


def _of_answers(good: Case, case: Case, old: tuple[Effect, ...], new: tuple[Effect, ...]) -> Outcome | None:
    """The same was done, or nothing: the last answers, by their facts and by their kind."""
    first, second = last_answer(good), last_answer(case)
    if first is None or second is None:
        return None
    (_, before), (step, after) = first, second
    facts = identifiers(before) ^ identifiers(after)
    apart = stems(before) ^ stems(after)
    together = stems(before) | stems(after)
    if old or new:
        differs = bool(facts) and is_json(before) == is_json(after) and len(facts) > len(identifiers(before) & identifiers(after))
    else:
        differs = bool(facts) or is_json(before) != is_json(after) or len(apart) * 2 > len(together)
    if not differs or " ".join(before.split()) == " ".join(after.split()):
        return None
    what = f"this session answers {said(after)} where the good one answers {said(before)}"
    words = stems(before) ^ stems(after)
    return Outcome(same_input=True, what=what, evidence=cite(step, "the answer"), words=words, tools=frozenset(), step=step)


def last_answer(case: Case) -> tuple[Step, str] | None:
    """The last text that a model gave, with its step."""
    for step in reversed(case.story.steps):
        text = "\n".join(part.text for part in step.reply if part.type == "text" and part.text.strip())
        if text:
            return step, text
    return None


def is_json(text: str) -> bool:
    """Whether a text is a JSON object or list, in a code fence or bare."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if bare[:1] not in "{[":
        return False
    try:
        json.loads(bare)
    except ValueError:
        return False
    return True


def _outcome(*, same: bool, what: str, evidence: Evidence, runs: list[Run], step: Step | None) -> Outcome:
    words = frozenset().union(*(stems(run.title[:2000]) | stems(run.input.text()[:4000]) for run in runs))
    names = frozenset(run.name for run in runs)
    return Outcome(same_input=same, what=what, evidence=evidence, words=words, tools=names, step=step)


def _key(run: Run) -> tuple[Any, ...]:
    """Equal for effects that come to the same. Of prose, only the facts; of commands and exchanges, their line."""
    if run.kind == "tool":
        return run.name, _leaves(run.input.value)
    return _PLACE.sub("", run.name), _PLACE.sub("", run.title), _leaves(run.input.value) if run.kind == "http" else ()


def _leaves(value: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(((path, _plain(text)) for path, text in values(value) if not _VOLATILE.match(text.strip())), key=repr))


def _plain(text: str) -> Any:
    text = _PLACE.sub("", text)
    return " ".join(text.lower().split()) if len(text) <= _PROSE else sorted(identifiers(text))
