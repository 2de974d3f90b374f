"""An answer that names several things as done, one of which nothing was done with.

Cause: one sentence of the last answer names things of one kind (``T-1041``, ``T-1042``, ``T-1043``), most of which an acting tool was called with, one call each.
Consequence: another of them, which stood in the same list that the model was given, is named in the same breath, and no call ever had it.

None where the sentence, or one beside it, says that it was left out. It cannot see things that have no name of their own (``counts.py`` looks at
numbers), nor calls that take a whole list under another name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .citing import called, cite, joined, said
from .contract import STRONG, Analysis, Finding
from .effects import effects
from .once import entered
from .outgoing import arguments_of
from .stopped import happened
from .terms import identifiers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Step

    from .effects import Effect

NAME = "left_out"

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n")
_EXCEPT = re.compile(
    r"\b(?:except|but|not|no|without|skip\w*|fail\w*|left|pending|remain\w*|still|could ?n.t|cannot|unable|later|next|already|other than|instead|will|to do|todo|open)\b|n['’]t\b",
    re.IGNORECASE,
)
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


def _finding(last: Step, other: str, mine: list[str], tool: dict[str, Effect]) -> Finding:
    effect = tool[mine[0]]
    return Finding(
        cause="claim", analysis=NAME, confidence=STRONG, first_event=last.event_id, first_seq=last.seq,
        evidence=joined([cite(last, "the answer names it as done"), *(called(tool[name].run) for name in mine[:3])]),
        statement=f"The answer names {said(other)} beside {said(', '.join(mine))} as done; {effect.run.name} was called with the others, and no call ever had {said(other)}.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="an answer that names several things as done, one of which nothing was done with", run=run)
