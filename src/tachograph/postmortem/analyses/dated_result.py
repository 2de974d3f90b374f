"""A result that is old by a date of its own, and whose figure the effect that rested on it proves wrong.

*Cause*: a record of a result has a date (in any field: an ISO date, seconds since 1970, ``il y a 3 jours``) well before the session's now, and a figure that the
model goes by in words (where the record says itself that it may be old, it need not). *Consequence*: an effect on the same thing returns the same quantity (by the words of its name, or its unit) with quite another
figure, which no argument explains, and no answer tells. Or a later result on the same thing has quite another figure for it, and what the effect was given was
worked out from the old one (the answer that asked for it names it, or a number of the instructions makes the one of the other) of a record that says what its date is,
or that it comes from a cache; unless the same was done again when that was seen.

So no name of a field is needed; where it does say that the date is one of measuring or validity, or that the value comes from a cache, a smaller
difference is enough. Dates of business (ordered on, born on) are told apart by the effect: what it was to change is explained by its arguments.

*Cannot see*: figures that the model went by without saying so, of a date whose field says nothing.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import numbers
from tachograph.postmortem.language.dates import OLD, moment
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.actions import Action, Doings, Reply
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.now import clock, told_now
from tachograph.postmortem.meaning.records import Record, records
from tachograph.postmortem.values import quoted

from .contract import STRONG, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

_SOURCES = ("tool_result", "document", "file", "memory", "subagent")
#: A date of measuring or validity, or a copy; in several languages, folded.
_TELLS = re.compile(
    r"(?:^|_)(?:as_?of|cache\w*|fetched|sampled|measured|captured|snapshot\w*|synced|refreshed|generated|expir\w*|valid\w*|until|stale|observed|collected|stand|stichtag|gueltig\w*|gultig\w*|gemessen|erfasst"
    r"|abgerufen|valable\w*|valide\w*|mesure\w*|releve\w*|jusqu\w*|valido\w*|valida\w*|vigente\w*|medid\w*|hasta|caduca\w*|vence\w*|misurat\w*|scad\w*|fino|ate|geldig\w*|gemeten|tot)(?:_|\Z)"
)
#: Dates of business: of these nothing is concluded.
_BUSINESS = re.compile(
    r"(?:^|_)(?:birth\w*|born|dob|since|joined|member\w*|opened|created|ordered|signed|due|start\w*|begin\w*|end|arriv\w*|depart\w*|deliver\w*|ship\w*|paid|invoice\w*|hired|geburt\w*|seit|faellig\w*|bestellt\w*"
    r"|beginn\w*|liefer\w*|naissance|depuis|echeance|debut|commande\w*|nacimiento|desde|vencimiento|inicio|pedido|nascita|dal|scadenza|inizio)(?:_|\Z)"
)
#: An answer says that a figure is old.
_OLD_WORDS = re.compile(
    r"\b(?:as of|cached?|stale|outdated|old|hours? ago|days? ago|veraltet|alt(?:e[nrs]?)?|obsol[eè]te|p[eé]rim[eé]e?s?|antigu[oa]s?|desactualizad[oa]s?|vecchi[oae]?|antig[oa]s?|verouderd[e]?|snapshot)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
#: Words of names that say no quantity, and units, which alone are no quantity either.
_NO_QUANTITY = frozenset(["total", "id", "no", "nr", "number", "count", "value", "valeur", "wert", "valor", "amount", "the", "of", "per", "de", "page", "limit", "code", "status", "version"])  # fmt: skip
_UNITS = frozenset(["seconds", "second", "sec", "secs", "minutes", "min", "hours", "days", "eur", "usd", "gbp", "chf", "cents", "percent", "pct", "kg", "mg", "ml", "km", "m", "mm", "cm", "c", "bytes", "mb", "gb", "ms", "s", "h", "sekunden", "stunden", "tage", "secondes", "heures", "jours", "segundos", "horas", "dias"])  # fmt: skip
#: How far apart two figures are that cannot be of the same time: with the quantity's own name, with its unit alone, and where the date says what it is.
_APART, _UNIT_APART, _TOLD_APART = 1.5, 10.0, 1.02
#: What says that a copy was given; it is old from an hour on.
COPY = frozenset(
    [
        "cache",
        "cached",
        "replica",
        "snapshot",
        "fallback",
        "stale",
        "zwischenspeicher",
        "replik",
        "antememoire",
        "instantanea",
        "tussenopslag",
    ]
)
_FLAGGED = re.compile(
    r"[\"']((?:is_?)?(?:stale|outdated|veraltet|überholt|ueberholt|obsol[eè]te|obsoleto|obsoleta|p[eé]rim[eé]e?|desactualizado|desatualizado|superato|verouderd))[\"']\s{0,2}:\s{0,2}true\b",
    re.IGNORECASE,
)
_OLD_COPY = timedelta(hours=1)
#: Results behind an effect in which the figure is looked for.
_BEHIND = 24


def dated(known: Doings, case: Case) -> Iterator[Finding]:
    """At most one finding for each result."""
    now = told_now(case) or clock(case)
    if now is None or not known.acting:
        return
    for place, passage in enumerate(known.passages):
        if passage.kind not in _SOURCES or len(passage.text) > 50_000 or not re.search(r"\d", passage.text):
            continue
        for record in records(passage.text)[:60]:
            when = _when(record, now, _FLAGGED.search(passage.text[:20_000]))
            if when is None:
                continue
            found = _proved_wrong(known, place, record, tells=when[2]) or (_seen_later(known, place, record) if when[2] else None)
            if found is not None:
                yield _finding(passage, when, found)
                break


@dataclass(frozen=True, kw_only=True)
class _Wrong:
    """``name`` and ``figure`` of the record; ``action``: the effect; ``other`` and ``told``: name and figure of what shows it to be wrong, in the effect's own answer
    or ``later``; ``reply``: where the model goes by the first."""

    name: str
    figure: str
    action: Action
    other: str
    told: str
    reply: Reply | None
    later: Passage | None = None


def _when(record: Record, now: datetime, flag: re.Match[str] | None) -> tuple[str, str, bool] | None:
    """Its date, where that is old: the field, its text, and whether the name says that it is one of measuring or validity."""
    copy = flag is not None or any(text.lower() in COPY for _, text in record.fields)
    tells = copy or any(_TELLS.search(_folded(name)) for name, _ in record.fields)
    found: list[tuple[str, str]] = []
    for name, text in record.fields:
        date = moment(text, now)
        if date is None or _BUSINESS.search(_folded(name)):
            continue
        gap = timedelta(days=1, hours=12) if date.hour == date.minute == 0 and ":" not in text else _OLD_COPY if copy else OLD
        if now - date <= gap:
            return None  # it has a date of the day as well
        found.append((name, text))
    if not found and flag is not None:
        return flag[1], "true", True
    return (*found[0], tells) if found else None


def _folded(name: str) -> str:
    return fold(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).replace("-", "_").replace(" ", "_")


def _words(name: str) -> frozenset[str]:
    return frozenset(word for word in (fold(part) for part in _NAME.findall(name)) if word not in _NO_QUANTITY and len(word) > 1)


def _number(text: str) -> float | None:
    bare = text.strip()
    if not re.fullmatch(r"[+-]?\d{1,12}(?:\.\d{1,6})?", bare):
        return None
    return float(bare)


def _proved_wrong(known: Doings, place: int, record: Record, *, tells: bool) -> _Wrong | None:
    things, figures = _things(record), _figures(record)
    for action in known.acting if figures and things else ():
        if action.before <= place or not any(fold(text) in things for _, text in action.leaves):
            continue
        given = [value for _, text in action.leaves for value in numbers(text)]
        for back in records(action.run.output.text()[:20_000])[:20]:
            for name, text, old in figures:
                for other, told in back.fields:
                    new = _number(told)
                    if new is None or new == 0 or not _apart(name, other, old, new, tells=tells) or _explained(old, new, given):
                        continue
                    told_of, went_by = _went_by(known, old, new)
                    if not told_of and (went_by is not None or tells):
                        return _Wrong(name=name, figure=text, action=action, other=other, told=told, reply=went_by)
    return None


def _things(record: Record) -> set[str]:
    return {fold(text) for _, text in record.fields if len(text) >= 3 and _number(text) is None}


def _figures(record: Record) -> list[tuple[str, str, float]]:
    return [(name, text, value) for name, text in record.fields if (value := _number(text)) is not None and value != 0 and _words(name)]


def _seen_later(known: Doings, place: int, record: Record) -> _Wrong | None:
    """An effect whose argument was worked out from a figure, for which a result behind it has quite another one."""
    things, figures = _things(record), _figures(record)
    for action in known.acting if figures and things else ():
        if action.before <= place or action.step is None or not action.ok or not any(fold(text) in things for _, text in action.leaves):
            continue
        given = [value for _, text in action.leaves for value in numbers(text)]
        spoken = next((reply for reply in known.replies if reply.step.number == action.step.number), None)
        for name, text, old in figures:
            if not (spoken is not None and old in numbers(spoken.text)) and not _makes(old, given, known, action):
                continue
            if _warned(known, place, action):
                continue
            behind = (
                one
                for one in known.passages[action.before : action.before + 8 * _BEHIND]
                if one.kind == "tool_result" and one.seq > action.run.seq and one.event_id != action.run.event_id
            )
            for later in itertools.islice(behind, _BEHIND):
                for back in records(later.text[:20_000])[:20]:
                    new = next((value for other, told in back.fields if other == name and (value := _number(told)) is not None), None)
                    if (
                        new is None
                        or new == 0
                        or not things & _things(back)
                        or not _apart(name, name, old, new, tells=False)
                        or _explained(old, new, given)
                    ):
                        continue
                    if not _done_again(known, action, things, later):
                        return _Wrong(
                            name=name, figure=text, action=action, other=name, told=back.get(name) or "", reply=spoken, later=later
                        )
    return None


def _makes(old: float, given: list[float], known: Doings, action: Action) -> bool:
    """Whether a number of the instructions makes an argument of the figure: 140 at 60 for each are 3."""
    rules = [
        passage.text
        for passage in (*known.passages[: min(8, action.before)], *known.users(action.before, 8))
        if passage.kind in ("system", "user")
    ]
    factors = {value for text in rules for value in numbers(text[:8000]) if value not in (0, 1)}
    wanted = {value for value in given if value not in (0, 1, old)}
    return any(
        one in wanted
        for factor in sorted(factors)[:60]
        for made in (old / factor, old * factor)
        for one in (made, math.ceil(made), math.floor(made))
    )


def _warned(known: Doings, place: int, action: Action) -> bool:
    """Whether, before the effect, an answer says that the figure is old."""
    return any(
        _OLD_WORDS.search(reply.text)
        for reply in known.replies_behind(place)
        if reply.before > place and action.step is not None and reply.step.number <= action.step.number
    )


def _done_again(known: Doings, action: Action, things: set[str], later: Passage) -> bool:
    """Whether the same was done anew when the right figure was seen."""
    return any(
        other.run.name == action.run.name and other.run.seq > later.seq and any(fold(text) in things for _, text in other.leaves)
        for other in known.acting
    )  # fmt: skip


def _apart(name: str, other: str, old: float, new: float, *, tells: bool) -> bool:
    """Whether two figures are of the same quantity, and cannot both be right."""
    mine, theirs = _words(name), _words(other)
    ratio = max(abs(old), abs(new)) / min(abs(old), abs(new))
    shared = mine & theirs
    if (mine - _UNITS) and (mine <= theirs or theirs <= mine) and shared - _UNITS:
        return ratio >= (_TOLD_APART if tells else _APART)
    return bool(shared & _UNITS) and ratio >= (_UNIT_APART if tells else _UNIT_APART**2)


def _explained(old: float, new: float, given: list[float]) -> bool:
    """Whether what was asked for explains the difference: the new figure, or what was added, taken away or multiplied."""
    return any(
        abs(new - one) < 0.01 or abs(abs(new - old) - one) < 0.01 or abs(new - old * one) < 0.01 or (one and abs(new - old / one) < 0.01)
        for one in given
    )


def _went_by(known: Doings, old: float, new: float) -> tuple[bool, Reply | None]:
    """Whether any answer tells the new figure; and the first that goes by the old one."""
    first: Reply | None = None
    for reply in known.replies:
        spoken = numbers(reply.text)
        if new in spoken:
            return True, None
        if first is None and old in spoken:
            first = reply
    return False, first


def _finding(passage: Passage, when: tuple[str, str, bool], wrong: _Wrong) -> Finding:
    name, figure, action, reply, later = wrong.name, wrong.figure, wrong.action, wrong.reply, wrong.later
    done = quoted(action.run.title, 90)
    proof = (
        (action.cite(f"it was answered with {wrong.other} {wrong.told}"),) if later is None
        else (action.cite(f"it rests on {name} {figure}"), Evidence(event_id=later.event_id, seq=later.seq, what=f"a later result: {wrong.other} is {wrong.told}"))
    )  # fmt: skip
    outcome = (
        f"then {done} was answered with {wrong.other} {wrong.told}"
        if later is None
        else f"{done} rests on it, and a later result has {wrong.other} {wrong.told}"
    )
    age = f"says itself that it is old ({when[0]}: true)" if when[1] == "true" else f"was of {said(when[1])} ({when[0]})"
    return Finding(
        cause="tool", analysis="stale_result", confidence=round(STRONG + (0.05 if when[2] and reply is not None else 0.0), 2), first_event=passage.event_id, first_seq=passage.seq,
        evidence=(
            Evidence(event_id=passage.event_id, seq=passage.seq, what=f"{name} is {figure}, {when[0]} is {said(when[1])}"),
            *([reply.cite(f"the model goes by {figure}")] if reply is not None else []), *proof,
        ),
        statement=f"A result {age} and gone by all the same: {name} {figure}; {outcome}.",
    )  # fmt: skip
