"""A result that tells how it stands with a thing from before an effect on it, and that the next effect went by.

*Cause*: a look-up behind an effect, on the same thing, that has another value under the name of what the effect was given (another ``version``), and that value
nowhere; or whose times are all from before the time in the effect's own answer. *Consequence*: a further effect on the thing, and that it was wrong shows behind it:
a result has the effect's value under that name, or an answer tells of trouble. By values and times alone, whatever the names.

A result that has both values is a history; one that was noticed, or asked for anew, harmed nobody.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import bare, is_number
from tachograph.postmortem.language.dates import ANY_DATE, date_in
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import reports_trouble
from tachograph.postmortem.meaning.records import records
from tachograph.postmortem.values import quoted

from .contract import LIKELY, STRONG, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

#: Actions behind an effect that are looked at, and characters of a result.
_NEAR, _LONG = 24, 20_000
_CURRENCY = re.compile(r"\s*[A-Z]{3}\s*\Z")
#: How much older than an effect's own time a result's times are.
_BEFORE = timedelta(hours=1)


def lagging(known: Doings) -> Iterator[Finding]:
    """At most one finding for each look-up."""
    told: set[str] = set()
    for effect in known.acting:
        if effect.step is None or not effect.ok or effect.failure is not None or not effect.leaves:
            continue
        things = _things(effect)
        behind = known.actions_behind(effect.before, _NEAR)
        for look in behind if things else ():
            if look.step is None or look.step.number <= effect.step.number:
                continue
            if look.effect is not None:
                if look.run.name == effect.run.name and things & _things(look):
                    break
                continue
            if look.run.event_id in told or not look.ok or look.failure is not None or not things & _things(look):
                continue
            found = _lags(effect, look, things & _things(look), behind, known)
            if found is not None:
                told.add(look.run.event_id)
                yield found


def _things(action: Action) -> frozenset[str]:
    """What an action names that is no number."""
    return frozenset(
        fold(text.strip())
        for _, text in action.leaves
        if 3 <= len(text) <= 60 and any(one.isalpha() for one in text) and not _CURRENCY.match(text)
    )


def _lags(effect: Action, look: Action, about: frozenset[str], behind: tuple[Action, ...], known: Doings) -> Finding | None:
    text = look.run.output.text()[:_LONG]
    other = _otherwise(effect, text, about)
    since, latest = _latest(effect.run.output.text()[:_LONG]), _latest(text)
    old = since is not None and latest is not None and since[0] - latest[0] > _BEFORE
    if not old and (other is None or is_number(other[1])):
        return None  # an amount may well be another one, of something else
    assert look.step is not None
    then = next(
        (one for one in behind if one.effect is not None and one.step is not None and one.step.number > look.step.number and about & _things(one)), None
    )  # fmt: skip
    if then is None or then.step is None or then.run.name == effect.run.name:
        return None
    number = then.step.number
    if any(one.run.name == look.run.name and one.leaves == look.leaves and look.step.number < one.step.number < number for one in behind if one.step is not None):  # fmt: skip
        return None
    if any(
        reports_trouble(reply.text) for reply in known.replies_behind(look.before, _NEAR) if look.step.number < reply.step.number <= number
    ):
        return None
    shown = _contradicts(other, then, about, known) if other is not None else None
    trouble = next(
        (reply for reply in known.replies_behind(then.before, _NEAR) if reply.step.number > number and reports_trouble(reply.text)), None
    )
    if shown is None and (trouble is None or not old):
        return None
    differs = f"{other[0]} {other[2]} where {other[1]} had been given" if other is not None else ""
    age = f"{latest[1]}, before {since[1]}" if old and latest is not None and since is not None else ""
    how = "; ".join(part for part in (differs, age) if part)
    proof = (
        Evidence(event_id=shown.event_id, seq=shown.seq, what=f"a later result has {said(other[1])}") if shown is not None and other is not None
        else trouble.cite("the answer tells of trouble") if trouble is not None else then.cite("what was done by it")
    )  # fmt: skip
    return Finding(
        cause="tool", analysis="stale_result", confidence=STRONG + 0.05 if old and shown is not None else STRONG if shown is not None else LIKELY + 0.05,
        first_event=look.run.event_id, first_seq=look.run.seq,
        evidence=(effect.cite("what the result is to tell of"), look.cite(how), then.cite("what was done by it"), proof),
        statement=f"{quoted(look.run.title, 80)} told how it stood before {quoted(effect.run.title, 80)} ({how}), and {quoted(then.run.title, 80)} went by it.",
    )  # fmt: skip


def _otherwise(effect: Action, text: str, about: frozenset[str]) -> tuple[str, str, str] | None:
    """Of what an effect was given, that of which a result has another value under the same name: the name, the value, and the other one."""
    squeezed = bare(text)
    for path, leaf in effect.leaves:
        name = path.rpartition(".")[2].lower()
        if fold(leaf.strip()) in about or len(leaf) > 60 or len(bare(leaf)) < 2 or bare(leaf) in squeezed:
            continue
        for record in records(text)[:20]:
            found = record.get(name)
            if found is not None and _alike(found, leaf) and about & {fold(one) for _, one in record.fields}:
                return name, leaf, found
    return None


def _alike(one: str, other: str) -> bool:
    """Whether two values are of one kind: both with digits, or both without."""
    return len(one) <= 60 and any(mark.isdigit() for mark in one) == any(mark.isdigit() for mark in other)


def _latest(text: str) -> tuple[datetime, str] | None:
    """The latest time of a text, with its hour."""
    found = [
        (date, match.group()) for match in ANY_DATE.finditer(text) if ":" in match.group() and (date := date_in(match.group())) is not None
    ]
    return max(found, default=None)


def _contradicts(other: tuple[str, str, str], then: Action, about: frozenset[str], known: Doings) -> Passage | None:
    """A result behind an effect that has the value under the same name after all."""
    for passage in known.passages[then.before : then.before + 4 * _NEAR]:
        if passage.kind != "tool_result" or passage.seq <= then.run.seq or passage.event_id == then.run.event_id:
            continue
        if not any(one in fold(passage.text[:_LONG]) for one in about):
            continue
        if any(
            record.get(other[0]) is not None and bare(record.get(other[0]) or "") == bare(other[1])
            for record in records(passage.text[:_LONG])[:60]
        ):
            return passage
    return None
