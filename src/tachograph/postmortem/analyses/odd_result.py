"""One of several results of a tool is no such thing: it has nothing where all the others have words, and a number that is far from all of theirs.

So answers a tool that reads a page that is not the page (a wall of cookies, a log-in, "enable JavaScript"), a row that is not filled in yet, or a sensor
that is off: in form a result like any other. Two others of the same tool at least have to agree, within a factor of three; the odd one is twenty times off.

*Consequence*: an effect whose number comes from the odd one: it is near it, and far from the others. First event: the call with the odd result.

*Cannot see*: one alone; an odd number beside full words (that may be a bargain).
"""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import is_number
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import terms
from tachograph.postmortem.meaning.actions import Action, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.records import empty_fields
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import quoted

from .contract import STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.actions import Doings

NAME = "odd_result"
#: Calls of the same tool on either side, and how many of them have to agree; actions behind it that are looked at.
_NEAR, _AGREE, _BEHIND = 6, 2, 60
#: How far the odd one is from the others, how far these are from each other, and how near an effect's number is to the odd one.
_OFF, _WITHIN, _CLOSE = 20, 3, 1.5
#: What a page that is not the page says, in any language.
_NO_PAGE = re.compile(
    r"[^<>\n]{0,60}\b(?:java ?script|captcha|cookies?|cloudflare|robots?|log ?in|sign ?in|anmelden|paywall)\b[^<>\n]{0,60}", re.IGNORECASE
)

_TAG = re.compile(r"<[^<>]{0,400}>")
#: Characters of a page that are looked at.
_PAGE = 4000


def find(case: Case) -> Iterator[Finding]:
    """A finding for each odd result that an effect rests on."""
    known = doings(case)
    by_tool: dict[tuple[str, int], list[Action]] = {}
    for action in known.actions:
        if action.run.kind == "tool" and action.ok and action.step is not None:
            by_tool.setdefault((action.name, action.step.seen.conversation), []).append(action)
    for together in by_tool.values():
        if len(together) <= _AGREE:
            continue
        for at, action in enumerate(together):
            if empty_fields(action.run.output.text()):
                found = _odd(action, [*together[max(at - _NEAR, 0) : at], *together[at + 1 : at + 1 + _NEAR]], known)
                if found is not None:
                    yield found


def _odd(action: Action, others: list[Action], known: Doings) -> Finding | None:
    own = _fields(action)
    like = [(one, fields) for one in others if one.call != action.call and (fields := _fields(one)).keys() == own.keys()]
    blank = next((key for key, value in own.items() if value in ("", None) and all(_words(fields[key]) for _, fields in like)), None)
    if len(like) < _AGREE or blank is None:
        return None
    for key, value in own.items():
        number = _number(value)
        theirs = [size for _, fields in like if (size := _number(fields[key]))]
        if number is None or len(theirs) < len(like):
            continue
        usual = median(theirs)
        if max(theirs) > min(theirs) * _WITHIN or usual / _OFF < number < usual * _OFF:
            continue
        used = _used(action, number, usual, known)
        if used is not None:
            return _finding(action, (blank, key, value), like[-1], used)
    return None


def _used(action: Action, value: float, usual: float, known: Doings) -> Action | None:
    """The first effect that has a number near the odd one, and far from the others."""
    for later in known.actions_behind(action.before, _BEHIND):
        if later.effect is None or later.step is None or action.step is None or later.step.number <= action.step.number:
            continue
        for _, text in later.leaves:
            number = _number(text)
            near = number is not None and (number == value if not value or not number else 1 / _CLOSE <= number / value <= _CLOSE)
            if near and number is not None and not usual / 10 < number < usual * 10 and later.name != action.name:
                return later
    return None


def _finding(action: Action, odd: tuple[str, str, Any], other: tuple[Action, dict[str, Any]], used: Action) -> Finding:
    blank, key, value = odd
    page = _page(action.run)
    shown = (
        (Evidence(event_id=page[0].event_id, seq=page[0].seq, what=f"what was fetched says {said(page[1])}"),) if page is not None else ()
    )
    return Finding(
        cause="tool", analysis=NAME, confidence=STRONG + (0.05 if page is not None else 0), first_event=action.run.event_id, first_seq=action.run.seq,
        evidence=(
            action.cite(f"it has {key} = {value}, and no {blank}"), *shown, other[0].cite(f"another one has {key} = {other[1][key]}"),
            used.cite("what was done by it"),
        ),
        statement=(
            f"The result of {quoted(action.run.title, 90)} is unlike the others of this tool: it has no {blank}, and {key} = {said(str(value))} where another one has"
            f" {said(str(other[1][key]))}{f' (what was fetched says {said(page[1])})' if page is not None else ''}; {quoted(used.run.title, 100)} rests on it."
        ),
    )  # fmt: skip


def _page(run: Run) -> tuple[Run, str] | None:
    """The exchange of a call that fetched a page which says that it is not the page."""
    for child in run.children:
        if isinstance(child, Run) and child.kind == "http":
            match = _NO_PAGE.search(_TAG.sub("\n", child.output.text()[:_PAGE]))
            if match is not None:
                return child, " ".join(match[0].split())
    return None


def _fields(action: Action) -> dict[str, Any]:
    value = parsed(action.run.output.text()[:20_000])
    return {str(key): item for key, item in value.items() if not isinstance(item, dict | list)} if isinstance(value, dict) else {}


def _words(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _number(value: Any) -> float | None:
    """The size of a number, also of one in a text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return abs(float(value))
    return abs(float(terms(value.strip())[0])) if isinstance(value, str) and len(value) <= 40 and is_number(value) else None


ANALYSIS = Analysis(
    name=NAME, looks_for="one of several results of a tool that is empty where the others are not, and far off in its number", run=find
)
