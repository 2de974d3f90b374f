"""An answer that names several things as done, one of which nothing was done with.

Cause: one sentence of the last answer names things of one kind (``T-1041``, ``T-1042``, ``T-1043``), most of which an acting tool was called with, one call each.
Consequence: another of them, which stood in the same list that the model was given, is named in the same breath, and no call ever had it.

Names of any kind (``Lea, Karim et Sofia``) are told by the list that a result gave: two of it were arguments of one tool, a third stands beside them in a
sentence that says with the tool's word, or one of its kind, that it was done, or that it reached them; or the sentence says that it was all of so many.

None where the sentence, or one beside it, says that it was left out. It cannot see things that have no name of their own (``counts.py`` looks at
numbers), nor calls that take a whole list under another name.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.counts import numbers_said, of_everything
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.reports_abroad import LEFT_OUT, RECEIVED
from tachograph.postmortem.language.reports_abroad import done as done_abroad
from tachograph.postmortem.language.terms import identifiers, values, words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import groups, stems
from tachograph.postmortem.meaning.citing import called, cite, joined, said
from tachograph.postmortem.meaning.claims import said_done
from tachograph.postmortem.meaning.effects import effects, looks
from tachograph.postmortem.meaning.once import entered
from tachograph.postmortem.meaning.outgoing import arguments_of
from tachograph.postmortem.meaning.stopped import happened
from tachograph.postmortem.values import textual

from .contract import STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.effects import Effect
    from tachograph.postmortem.shapes import Run, Step

NAME = "left_out"

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n")
_EXCEPT = re.compile(
    r"\b(?:except|but|not|no|without|skip\w*|fail\w*|left|pending|remain\w*|still|could ?n.t|cannot|unable|later|next|already|other than|instead|will|to do|todo|open)\b|n['’]t\b",
    re.IGNORECASE,
)
#: The kinds of doing by which something reaches somebody.
_REACHING = frozenset(["send", "tell", "money", "grant", "create", "book"])
_LETTERS, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")


def run(case: Case) -> Iterator[Finding]:
    """At most one finding: of the last answer."""
    last = next((step for step in reversed(case.story.steps) if _text(step)), None)
    if last is None:
        return
    done: dict[str, dict[str, Effect]] = {}
    every: set[str] = set()
    for _, run in case.story.runs():
        every |= identifiers(arguments_of(run)[:20_000]) if run.outcome != "asked" else set()
    for effect in effects(case):
        names = identifiers(arguments_of(effect.run)[:2000])
        if happened(effect.run) and 1 <= len(names) <= 4:
            for name in names:
                done.setdefault(effect.run.name, {}).setdefault(name, effect)
    sentences = [piece for piece in _SENTENCE.split(_text(last)) if piece.strip()]
    for place, sentence in enumerate(sentences):
        named = identifiers(sentence)
        around = " ".join(sentences[max(place - 1, 0) : place + 2])
        for tool in done.values():
            mine = sorted(named & tool.keys())
            shapes = {_shape(name) for name in mine}
            if len(mine) < 2 or len(shapes) != 1:
                continue
            for other in sorted(named - every):
                if _shape(other) in shapes and not _EXCEPT.search(around) and _listed(case, other, mine):
                    yield _finding(last, other, mine, tool)
                    return
    yield from _of_names(case, last, sentences)


def _of_names(case: Case, last: Step, sentences: list[str]) -> Iterator[Finding]:
    tools: dict[str, dict[str, Effect]] = {}
    given: list[tuple[str, Effect]] = []
    for name, value, effect in _acting(case):
        given.append((textual(value)[:20_000].lower(), effect))
        if happened(effect.run) and isinstance(value, dict):
            for item in value.values():
                if isinstance(item, str) and 2 <= len(item) <= 40:
                    tools.setdefault(name, {}).setdefault(item.lower(), effect)
    every = "\n".join(text for text, _ in given)
    for name, done in tools.items():
        if len({effect.run.seq for effect in done.values()}) < 2:
            continue
        for several in _lists(case):
            mine = [one for one in several if one.lower() in done]
            if len(mine) < 2 or len({done[one.lower()].run.seq for one in mine}) < len(mine):
                continue
            by_name = {one: done[one.lower()] for one in mine}
            others = [one for one in several if one.lower() not in every]
            for place, sentence in enumerate(sentences) if others else ():
                around = " ".join(sentences[max(place - 1, 0) : place + 2])
                if not _says_so(sentence, name) or _EXCEPT.search(around) or LEFT_OUT.search(around):
                    continue
                other = next((one for one in others if _beside(sentence, one, mine)), None)
                if other is not None:
                    yield _finding(last, other, mine, by_name, name)
                    return
                whole = len(mine) + len(others) == len(several) and of_everything(sentence) and len(several) in numbers_said(sentence)
                if whole and all(any(one.lower() in text for one in mine) for text, _ in given):
                    yield _finding(last, None, mine, by_name, name, len(several))
                    return


def _acting(case: Case) -> Iterator[tuple[str, Any, Effect]]:
    """What acted, by the name and the arguments that the model gave it: of an exchange, those of the one call that asked for it and whose values it has."""
    wired: dict[int, list[Run]] = {}
    for step, run in case.story.runs():
        if step is not None and run.kind == "tool" and run.source == "wire" and not looks(run.name):
            wired.setdefault(step.number, []).append(run)
    for effect in effects(case):
        if effect.run.kind == "tool":
            yield effect.run.name, effect.run.input.value, effect
            continue
        sent = textual(effect.run.input.value)[:20_000] if effect.run.kind == "http" else ""
        asked = wired.get(effect.step.number, ()) if effect.step is not None and sent else ()
        its = [run for run in asked if any(len(text) > 1 and text in sent for _, text in values(run.input.value))]
        if len(its) == 1:
            yield its[0].name, its[0].input.value, effect
        elif sent:
            yield "", sent, effect


def _lists(case: Case) -> list[tuple[str, ...]]:
    """The short texts of each list in a result: the list's own, or those that its objects have under one name."""
    found: dict[tuple[str, ...], None] = {}
    for passage in entered(case):
        if passage.kind not in ("tool_result", "document", "subagent") or len(passage.text) > 50_000:
            continue
        columns: dict[str, list[str]] = {}
        for path, text in values(parsed(passage.text)):
            if "[" in path and 2 <= len(text) <= 40 and not text.isdigit():
                columns.setdefault(re.sub(r"\[\d+\]", "[]", path), []).append(text)
        for column in columns.values():
            if 3 <= len(set(column)) <= 60:
                found[tuple(dict.fromkeys(column))] = None
    return list(found)[-40:]


def _beside(sentence: str, other: str, mine: list[str]) -> bool:
    """Whether a name stands in one row with another: with a comma, or one short word, between."""
    places = [
        (match.start(), match.end(), name == other)
        for name in (other, *mine)
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", sentence, re.IGNORECASE)
    ]
    places.sort()
    return any(
        first[2] != second[2] and len("".join(_LETTERS.findall(sentence[first[1] : second[0]]))) <= 3 and second[0] - first[1] <= 8
        for first, second in itertools.pairwise(places)
    )


def _says_so(sentence: str, tool: str) -> bool:
    """Whether a sentence says with the tool's own word, in whatever form, or with one of its kind, that it was done."""
    if not tool:
        return False
    if RECEIVED.search(sentence) and groups(stems(tool)) <= _REACHING:
        return True
    named = [fold(word) for word in words_of(tool) if len(word) > 2]
    spoken = [fold(word) for word in _LETTERS.findall(sentence)]
    if any(len(word) > 4 and word[:5] == other[:5] for word in spoken for other in named) or stems(sentence) & stems(" ".join(named)):
        return True
    kinds = groups(stems(tool))
    if "send" in kinds:
        kinds |= {"tell"}  # to have told somebody is what sending is for
    return bool(kinds & groups(said_done(sentence))) or bool(kinds & {one.kind for one in done_abroad(sentence)})


def _shape(name: str) -> str:
    return _DIGITS.sub("9", _LETTERS.sub("a", name))


def _listed(case: Case, other: str, mine: list[str]) -> bool:
    """Whether one text that came in holds them all: then they are things of one list."""
    return any(
        passage.kind != "model" and other in (found := identifiers(passage.text[:50_000])) and all(name in found for name in mine)
        for passage in entered(case)
    )


def _text(step: Step) -> str:
    return "\n".join(part.text for part in step.reply if part.type == "text" and part.text.strip())


def _finding(last: Step, other: str | None, mine: list[str], tool: dict[str, Effect], name: str = "", whole: int = 0) -> Finding:
    name = name or tool[mine[0]].run.name
    claimed = f"names {said(other)} beside {said(', '.join(mine))} as done" if other is not None else f"says that it was all {whole}"
    with_whom = f"the others, and no call ever had {said(other)}" if other is not None else f"{said(', '.join(mine))} alone"
    return Finding(
        cause="claim", analysis=NAME, confidence=STRONG, first_event=last.event_id, first_seq=last.seq,
        evidence=joined([cite(last, "the answer names it as done"), *(called(tool[one].run) for one in mine[:3])]),
        statement=f"The answer {claimed}; {name} was called with {with_whom}.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="an answer that names several things as done, one of which nothing was done with", run=run)
