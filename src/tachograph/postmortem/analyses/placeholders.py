"""A placeholder that nobody filled in: ``{{customer}}``, ``${order.id}``, ``[[city]]``, ``%(name)s``, ``<INSERT NAME>``, ``Customer: None`` in a system
prompt, or in what a user or a trigger gave.

Cause: the text has one where a value should stand. Consequence: it was passed on as it is or by its name (in an answer, in an effect), an effect was made
on the matter of its line (a limit that was never filled in), or the session shows by itself that it went wrong.

Templates that a prompt tells the model to fill in are none: those in code, in quotation, or on a line that speaks of a form, a template or an example;
nor is what goes into something that holds such marks by its name (``save_template``).
A value that is wrong, but is a value, is not seen here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.meaning.citing import called, joined, said
from tachograph.postmortem.meaning.effects import effects
from tachograph.postmortem.meaning.instructions import sentences, stems
from tachograph.postmortem.meaning.once import entered
from tachograph.postmortem.meaning.outgoing import last_answers, outgoing
from tachograph.postmortem.meaning.symptoms import doing, hard

from .contract import LIKELY, PROVEN, STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.outgoing import Left
    from tachograph.postmortem.passages import Passage

NAME = "unfilled_placeholder"

_MARKED = re.compile(
    r"\{\{\s*(?P<curly>[A-Za-z_@$][^{}\n]{0,60}?)\s*\}\}|[$#]\{(?P<dollar>[A-Za-z_][^{}\n]{0,60})\}|<%=?\s*(?P<erb>[\w.@ ]{1,60}?)\s*%>|%\((?P<percent>[A-Za-z_][\w.]{0,40})\)[sdrfi]"
    r"|\[\[\s*(?P<square>[A-Za-z_][\w. -]{0,60}?)\s*\]\]|<<\s*(?P<merge>[A-Za-z_][\w. -]{0,60}?)\s*>>|(?P<fence>%%|@@|##)(?P<fenced>[A-Za-z_][\w.]{1,40})(?P=fence)"
    r"|[<\[](?P<insert>(?:INSERT|YOUR|ENTER|ADD|FILL|REPLACE|TODO|TBD|PLACEHOLDER|Insert|Your|Enter)(?:[ _-][\w' -]{0,60})?)[>\]]"
    r"|(?<![\w{$#])\{(?P<brace>[A-Za-z_][\w.]{1,40}|\d)\}(?!\})|(?<![\w<])<(?P<angle>[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,4}|[A-Za-z][a-z0-9]{1,30}(?:[_.][A-Za-z0-9]{1,30}){1,4})>"
    r"|(?<![\w%])%(?P<printf>[sd])(?![\w%])"
)
_EMPTY = re.compile(
    r"(?m)^\W{0,6}(?P<label>[A-Za-z][\w ()/-]{0,40}):[ \t]*(?P<one>None|null|undefined|NaN|nan|TODO|TBD|\[object Object\])[ \t]*[.,;]?[ \t]*$"
    r"|\b(?P<before>for|to|of|from|customer|user|account|order|patient|named|called|is|dear|hello|hi)[ \t]+(?P<two>None|undefined|NaN|\[object Object\])(?=[\s.,;!?]|$)",
)
_TEMPLATE = re.compile(
    r"(?<![\w.@/-])(?:templates?|formats?|formatted|form|patterns?|e\.g|examples?|syntax|placeholders?|variables?|schema|fill(?:ed)?|replace[sd]?|substitut\w+|interpolat\w+|rendered?"
    r"|exactly as|verbatim|literal(?:ly)?|mail merge|merge fields?|says? that|means|stands? for|is for the|curly|braces|tokens?|markup|mustache|jinja|handlebars|in the style|subject line)\b(?!@)",
    re.IGNORECASE,
)
#: What is to hold such marks as they are, by the name of the tool or of its argument.
_HOLDS = re.compile(
    r"template|workflow|pipeline|campaign|manifest|snippet|macro|config|query|script|code|prompt|regex|pattern", re.IGNORECASE
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{0,400}`", re.DOTALL)
#: Looked at in one text.
_MOST_TEXT, _MOST = 60_000, 40


@dataclass(frozen=True, kw_only=True)
class Hole:
    """``mark``: as it stands there; ``name``: what it stands for; ``line``: around it; ``sure``: nothing but a placeholder looks like this."""

    mark: str
    name: str
    line: str
    sure: bool
    passage: Passage


def run(case: Case) -> Iterator[Finding]:
    """A finding for the first placeholder of each text that had a consequence."""
    told: set[str] = set()
    for passage in entered(case):
        if passage.kind not in ("system", "user") or passage.event_id in told or ".tools[" in passage.position:
            continue
        made = [found for hole in holes(passage) if (found := _finding(case, hole)) is not None]
        if made:
            told.add(passage.event_id)
            yield max(made, key=lambda found: found.confidence)


def holes(passage: Passage) -> Iterator[Hole]:
    """The placeholders of a text in a place where a value should stand."""
    text = passage.text[:_MOST_TEXT]
    if not any(mark in text for mark in ("{", "<", "[", "%", "@@", "##", "None", "undefined", "NaN", "nan", "null", "TODO", "TBD")):
        return
    bare = _CODE.sub(lambda found: " " * len(found[0]), text)
    count = 0
    for found in _MARKED.finditer(bare):
        line, before = _line(bare, found.start())
        kind = found.lastgroup or ""
        sure = kind in _SURE or (kind == "brace" and _awaits(bare, found.start()))
        given = passage.kind == "user" and kind in _SURE and _in_json(line)  # a trigger's text; of a prompt it is an example
        if _TEMPLATE.search(line) or _TEMPLATE.search(before) or (not given and (_quoted(bare, found) or _in_json(line))):
            continue
        yield Hole(mark=found[0], name=found[kind], line=line, sure=sure, passage=passage)
        count += 1
        if count >= _MOST:
            return
    for found in _EMPTY.finditer(bare):
        line, _ = _line(bare, found.start("label") if found["label"] else found.start())
        yield Hole(mark=found["one"] or found["two"], name=found["label"] or found["before"], line=line, sure=False, passage=passage)
        count += 1
        if count >= _MOST:
            return


#: Forms that nothing but a placeholder has.
_SURE = frozenset(["curly", "dollar", "insert", "percent", "erb", "square", "merge", "fenced"])


def _line(text: str, at: int) -> tuple[str, str]:
    """The line around a place, and the one before it."""
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    before = text[text.rfind("\n", 0, max(begin - 1, 0)) + 1 : max(begin - 1, 0)]
    return text[begin : end if end >= 0 else len(text)][:400], before[:400] if before.rstrip().endswith(":") else ""


def _quoted(text: str, found: re.Match[str]) -> bool:
    """Whether it stands within quotation marks."""
    begin = text.rfind("\n", 0, found.start()) + 1
    return any(text.count(mark, begin, found.start()) % 2 == 1 for mark in ('"', "“"))


def _in_json(line: str) -> bool:
    return line.lstrip()[:1] in '{["' and ":" in line


def _awaits(text: str, at: int) -> bool:
    """Whether a value is awaited here: behind a colon, or behind a word that takes one."""
    return (
        re.search(
            r"(?:[:=]|\b(?:is|are|for|to|of|at|from|named|called|by|with|in|customer|user|account|order|dear|hello|hi))[ \t]*\Z",
            text[max(at - 40, 0) : at],
            re.IGNORECASE,
        )
        is not None
    )


def _finding(case: Case, hole: Hole) -> Finding | None:
    passed = _passed_on(case, hole)
    wrong = hard(case)
    if passed is not None:
        left, by_name = passed
        sure = STRONG + 0.05 if by_name or hole.mark[0] not in "{$<[%#@" else PROVEN
        shown, clause = [left.evidence], f"it was passed on {'by its name ' if by_name else ''}in {left.evidence.what}"
    elif (effect := _on_the_matter(case, hole)) is not None and (hole.sure or wrong):
        sure = STRONG if wrong else LIKELY + 0.05
        shown = [Evidence(event_id=effect.event_id, seq=effect.seq, what=effect.what), *(one.evidence() for one in wrong[:2])]
        clause = f"{effect.what} was done without it"
    elif wrong and hole.sure:
        sure, shown, clause = LIKELY - 0.1, [wrong[0].evidence()], wrong[0].what
    else:
        return None
    cause, where = ("prompt", "the system prompt") if hole.passage.kind == "system" else ("input", "what the user gave")
    first = Evidence(event_id=hole.passage.event_id, seq=hole.passage.seq, what=f"{hole.passage.position}: {said(hole.line)}")
    return Finding(
        cause=cause, analysis=NAME, confidence=sure, first_event=hole.passage.event_id, first_seq=hole.passage.seq, evidence=joined([first, *shown]),
        statement=f"In {where} {said(hole.mark)} was never filled in ({said(hole.line)}); {clause}.",
    )  # fmt: skip


def _passed_on(case: Case, hole: Hole) -> tuple[Left, bool] | None:
    ends = last_answers(case)
    name = " ".join(words_of(hole.name))
    for left in outgoing(case):
        if left.seq < hole.passage.seq or left.how not in ("answer", "argument") or (left.effect is not None and _writes(left)):
            continue
        if left.how == "answer" and (left.step is None or left.step.number not in ends):
            continue
        if left.effect is not None and _HOLDS.search(left.effect.run.name):
            continue
        text = _CODE.sub(" ", left.text) if left.how == "answer" else left.text
        if hole.sure and hole.mark in text:
            return left, False
        if not hole.sure and left.how == "argument" and re.search(rf"(?<![\w.]){re.escape(hole.mark)}(?![\w(])", text):
            return left, False
        if not hole.sure and re.search(
            rf"\b(?:dear|hello|hi|for|to|customer|user|account|order)[ \t]+{re.escape(hole.mark)}(?=[\s.,;!?]|\Z)", text, re.IGNORECASE
        ):
            return left, False
        if hole.sure and left.how == "argument" and " " in name and any(" ".join(words_of(line)) == name for line in text.split("\n")):
            return left, True
    return None


def _writes(left: Left) -> bool:
    """Whether it is a file or a command: there such marks are code."""
    return left.effect is not None and (left.effect.reach == "workspace" or left.effect.run.kind == "process")


def _on_the_matter(case: Case, hole: Hole) -> Evidence | None:
    """An effect that the sentence with the placeholder is about: its verb is in it, or the placeholder's own words are among the arguments' names."""
    sentence = next((one for one in sentences(hole.line) if hole.mark in one), hole.line)
    about = (stems(sentence) | stems(" ".join(words_of(hole.name)))) - _GENERIC
    for effect in effects(case):
        if (
            effect.since >= hole.passage.seq
            and effect.reach == "outside"
            and effect.run.kind == "tool"
            and (about & doing(effect) - _GENERIC)
        ):
            return Evidence(event_id=effect.run.event_id, seq=effect.run.seq, what=called(effect.run).what)
    return None


#: Words of tools' names that say nothing of their matter.
_GENERIC = frozenset(["send", "creat", "updat", "set", "mak", "get", "add", "run", "messag", "new", "give", "do"])

ANALYSIS = Analysis(name=NAME, looks_for="a placeholder that was never filled in", run=run)
