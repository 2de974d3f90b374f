"""Whether something stands twice in the world that the agent was told to have made once: a result that was read later shows two equal objects.

One of them has what the call returned (an order's number); the other has the same fields with the same values, other than its own number and a time close
by, and nothing had told of it before. Without the second number nobody can say whether a request that ended in a time-out was carried out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import terms, values
from tachograph.postmortem.meaning.records import Record, records

from .whose import identifier

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage
    from tachograph.postmortem.shapes import Run

#: Results behind a call that are looked at, and records of one.
_NEAR, _MOST = 160, 200
_CLOCK = re.compile(r"(?:(\d{4}-\d\d-\d\d)[T ])?(\d{1,2}):(\d\d)(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?\Z")
#: Minutes within which two things were made at about the same time.
_TOGETHER = 30


@dataclass(frozen=True, kw_only=True)
class Double:
    """``other`` is the number of what nobody asked for, beside ``own``; ``seen`` shows both."""

    own: str
    other: str
    seen: Passage


def double_of(action: Action, made: Run, known: Doings) -> Double | None:
    """The second object that a later result shows beside the one that a call of the model returned."""
    given = {text.strip().lower() for _, text in action.leaves if len(text) <= 120}
    returned = {one for run in (made, action.run) for _, text in values(parsed(run.output.text()[:20_000])) if (one := identifier(text))}
    own = {one for one in returned - given if not one.isdigit() or len(one) > 2}
    if not own:
        return None
    for passage in known.passages[action.before : action.before + _NEAR]:
        if passage.kind == "model" or passage.seq <= made.seq or passage.event_id in (action.run.event_id, made.event_id):
            continue
        if not any(one in passage.text.lower() for one in own):
            continue
        every = [one for one in records(passage.text)[:_MOST] if len(one.fields) > 1]
        mine = next((one for one in every if own & _values(one)), None)
        if mine is None or not given & _values(mine):
            continue
        place = known.place(passage)
        for other in every:
            number = _differs_in(mine, other, own, given) if other is not mine else None
            if number is not None and known.first_told((terms(number) or (number,))[0]) == place:
                return Double(own=next(text for _, text in mine.fields if text.lower() in own), other=number, seen=passage)
    return None


def _values(record: Record) -> set[str]:
    return {text.lower() for _, text in record.fields}


def _differs_in(mine: Record, other: Record, own: set[str], given: set[str]) -> str | None:
    """The number of a record that is another one's equal in all but its number and the minute."""
    theirs = dict(other.fields)
    if theirs.keys() != {name for name, _ in mine.fields}:
        return None
    number = None
    for name, text in mine.fields:
        if text == theirs[name] or _close(text, theirs[name]):
            continue
        if text.lower() not in own or number is not None or theirs[name].lower() in given:
            return None
        number = theirs[name]
    return number


def _close(one: str, other: str) -> bool:
    first, second = _CLOCK.match(one), _CLOCK.match(other)
    if first is None or second is None or first[1] != second[1]:
        return False
    return abs(int(first[2]) * 60 + int(first[3]) - int(second[2]) * 60 - int(second[3])) <= _TOGETHER
