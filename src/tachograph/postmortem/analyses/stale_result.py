"""A result that was old, or that another one contradicts, and was used.

* *Old by its own account*. A result says that it is from a cache or a snapshot, or has run out (``cached``, ``as_of``, ``stale``, ``age_seconds``,
  ``expires_at``), and is older than ``OLD``; the time is the one that the session was told, else its clock. Consequence: an effect or an
  answer uses a value of it that stands in no newer result, and does not say how old it is. Of a list the element that is old counts, and what stands in no
  other one. A date is no value, nor is a part of one; and that a thing runs out is not told of what an effect has just made, nor where the end is spoken of.
* *Contradicted*. Two results about the same thing (the same record, or the same call) have different values under one name, and nothing was done in
  between that would change it. Consequence: an effect, or the answer, uses the older value (of two with dates, the one of the older date), and not the other.
* *Contradicting documents* (class ``context``). Two documents say the same in the same words, with other numbers; an effect or the answer uses one of them and
  the other is not spoken of (``contradicting_texts.py``).
* *Old, and proved wrong*: see ``dated_result.py``. *From before the effect that it is to tell of*: see ``lagging_result.py``.

First event: the call that brought in what is old or wrong; of documents, the one whose number was used.

*Cannot see*: a result that is wrong and that nothing in the record contradicts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import bare
from tachograph.postmortem.language.dates import ANY_DATE, DATE, OLD, date_in, names_day
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import identifiers, names_one, terms, values
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import stem, stems
from tachograph.postmortem.meaning.actions import Doings, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.now import clock, told_now
from tachograph.postmortem.meaning.records import Record, records

from .contract import LIKELY, STRONG, Analysis, Finding
from .contradicting_texts import documents, versions
from .dated_result import COPY, dated
from .lagging_result import lagging
from .used import Use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

_SOURCES = ("tool_result", "document", "file", "memory", "subagent")
_MADE = re.compile(
    r"(?:^|_)(?:as_?of|cached_?(?:at|on|since)|fetched_?(?:at|on)|retrieved_?(?:at|on)|snapshot(?:_?(?:at|date|time|of))?|synced_?(?:at|on)|last_?(?:synced|sync|refreshed|fetched)(?:_?at)?|data_?(?:date|as_?of)|captured_?at|(?:sampled|measured|observed|polled|collected)_?(?:at|on)|indexed_?at|refreshed_?at|generated_?at|crawled_?at)\Z"
)
#: The same in the languages of ``tongues.py``, folded; also flags, and places that a value comes from.
_MADE_ABROAD = re.compile(
    r"(?:^|_)(?:gemessen\w*|mess(?:zeit|datum|zeitpunkt)\w*|erfasst\w*|abgerufen\w*|datenstand|stand|stichtag|mesure(?:_|e|\Z)\w*|releve(?:_|e|\Z)\w*|date_(?:de_)?(?:mesure|releve)|medid[oa]_\w*|medicion_\w*|fecha_(?:de_)?(?:medicion|lectura)"
    r"|leid[oa]_\w*|misurat[oa]_\w*|rilevat[oa]_\w*|data_(?:di_)?(?:misura|rilevazione|lettura|medicao|leitura)|aferid[oa]_\w*|lid[oa]_em|gemeten\w*|meetmoment|meetdatum|opgehaald\w*)\Z"
)
_FLAGS_ABROAD = re.compile(
    r"(?:^|_)(?:veraltet|ueberholt|uberholt|obsolet[eoa]?|perimee?|depassee?|caducad[oa]|caduco|desactualizad[oa]|superat[oa]|non_aggiornat[oa]|desatualizad[oa]|verouderd)\Z"
)
_ENDS = re.compile(r"(?:^|_)(?:expires?(?:_?(?:at|on))?|expiry(?:_?date)?|valid_?(?:until|to|thru|through)|good_?until)\Z")
_AGE = re.compile(r"(?:^|_)(?:age|staleness|cache_?age|lag)(?:_?(?P<unit>s|sec|secs|seconds|m|min|minutes|h|hours|d|days))?\Z")
_FLAGS = re.compile(r"(?:^|_)(?:stale|is_?stale|outdated|deprecated|superseded|expired)\Z")
_CACHED = re.compile(r"(?:^|_)(?:cached|from_?cache|cache_?hit|cache|x_cache|source)\Z")
_WORDS = re.compile(
    r"\b(?:as of|last (?:updated|synced|refreshed|changed|reviewed)|cached|snapshot (?:of|from|taken)|data from|valid until|expired on|effective (?:until|through)|superseded|outdated)\b[ :(on]{0,6}(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?)?",
    re.IGNORECASE,
)
_SAYS_SO = re.compile(
    r"\b(?:as of|cached|stale|outdated|old|may have changed|last (?:updated|known)|snapshot|expired|not (?:current|live|up to date)|out of date"
    r"|veraltet\w*|nicht (?:mehr )?aktuell|stammt (?:vom|aus)|stand (?:vom|von)|obsol[eè]te|p[eé]rim[eé]e?s?|date du|antigu[oa]s?|desactualizad[oa]s?|non aggiornat[oaie]|desatualizad[oa]s?|verouderd\w*|dateert van|aus dem cache|du cache|del cach[eé])\b",
    re.IGNORECASE,
)
_UNITS = {"s": 1, "sec": 1, "secs": 1, "seconds": 1, "m": 60, "min": 60, "minutes": 60, "h": 3600, "hours": 3600, "d": 86400, "days": 86400}


def find(case: Case) -> Iterator[Finding]:
    """What each rule finds."""
    known = doings(case)
    told: set[str] = set()
    for found in (*_contradicted(known), *lagging(known), *dated(known, case), *_old(known, case), *documents(known), *versions(known)):
        if found.first_event not in told:
            told.add(found.first_event)
            yield found


# -- old by its own account ------------------------------------------------------------------------------------------------------


def _old(known: Doings, case: Case) -> Iterator[Finding]:
    told = told_now(case)
    now = told or clock(case)
    spread: _Spread | None = None
    for place, passage in enumerate(known.passages):
        if passage.kind not in _SOURCES or len(passage.text) > 200_000:
            continue
        shown: tuple[_Sign, Use] | None = None
        for sign in _signs(passage, now, sure=told is not None):
            if sign.ends is not None and (_is_made(passage, known) or _end_is_told(sign.ends, place, known)):
                continue
            spread = spread or _Spread(known.passages)
            use = _used(passage, place, spread, known, sign.of)
            if use is not None:
                shown = sign, use
                break
        if shown is None:
            continue
        sign, use = shown
        why, confidence = sign.why, sign.sure
        yield Finding(
            cause="context" if passage.kind in ("document", "memory") and not _is_data(passage) else "tool", analysis="stale_result", confidence=confidence,
            first_event=passage.event_id, first_seq=passage.seq,
            evidence=(Evidence(event_id=passage.event_id, seq=passage.seq, what=f"the result says itself that it is old: {why}"), use.evidence()),
            statement=f"A result that says itself that it is old ({why}) was used as if it were new: {use.value} in {use.words()}.",
        )  # fmt: skip


class _Spread:
    """Where terms stand elsewhere."""

    def __init__(self, passages: tuple[Passage, ...]) -> None:
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        for place in range(len(passages) - 1, -1, -1):
            if passages[place].kind != "model":
                self._first.update(dict.fromkeys(terms(passages[place].text[:50_000]), place))
        for place, passage in enumerate(passages):
            if passage.kind in _SOURCES:
                self._last.update(dict.fromkeys(terms(passage.text[:50_000]), place))

    def elsewhere(self, term: str, place: int) -> bool:
        """Whether a term stands before a passage, other than in an answer, or in a newer result."""
        return self._first.get(term, place) < place or self._last.get(term, place) > place


def _is_data(passage: Passage) -> bool:
    return not isinstance(parsed(passage.text), str)


@dataclass(frozen=True, kw_only=True)
class _Sign:
    """By what a result says that it is old, and how sure that is. ``ends``: the day on which what it tells of runs out, where that is the sign; ``of``: the
    path of the list's element that has it (nothing: the whole)."""

    why: str
    sure: float
    ends: datetime | None = None
    of: str = ""


def _signs(passage: Passage, now: datetime | None, *, sure: bool) -> list[_Sign]:
    """The surest of each element, the surest first."""
    value = parsed(passage.text)
    found: list[_Sign] = []
    if isinstance(value, str):
        for match in _WORDS.finditer(value[:20_000]) if DATE.search(value) else ():
            date = date_in(match.group(1) or "")
            if date is not None and now is not None and now - date > OLD and "cached" not in match.group().lower():
                found.append(_Sign(why=match.group().strip(), sure=LIKELY if sure else 0.0))
            elif "cached" in match.group().lower() and date is not None and now is not None and now - date > OLD:
                found.append(_Sign(why=match.group().strip(), sure=STRONG))
        return [one for one in sorted(found, key=lambda one: -one.sure) if one.sure][:1]
    cached = False
    for path, text in [*values(value), *_flags(value)]:
        name = fold(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", path.rpartition(".")[2].partition("[")[0])).replace("-", "_").replace(" ", "_")
        told, of = f"{name}: {text}", _element(path)
        if (_FLAGS.search(name) or _FLAGS_ABROAD.search(name)) and text.lower() in ("true", "yes", "1", "ja", "oui", "si", "sí", "sim"):
            found.append(_Sign(why=told, sure=STRONG, of=of))
        if (_CACHED.search(name) and text.lower() in ("true", "hit", "yes")) or fold(text) in COPY:
            cached = True
        date = date_in(text)
        if date is not None and now is not None:
            if (_MADE.search(name) or _MADE_ABROAD.search(name)) and now - date > OLD:
                found.append(_Sign(why=told, sure=STRONG - 0.05 if sure else LIKELY, of=of))
            if _ENDS.search(name) and now > date + timedelta(days=1):
                found.append(_Sign(why=told, sure=LIKELY if sure else LIKELY - 0.1, ends=date, of=of))
        age = _AGE.search(name)
        if age is not None and re.fullmatch(r"\d+(?:\.\d+)?", text) and name != "age":
            seconds = float(text) * _UNITS.get(age.group("unit") or "s", 1)
            if seconds > OLD.total_seconds() or (cached and seconds > 3600):
                found.append(_Sign(why=told, sure=STRONG, of=of))
    best: dict[str, _Sign] = {}
    for one in sorted(found, key=lambda one: -one.sure):
        best.setdefault(one.of, replace(one, sure=min(one.sure + (0.08 if cached else 0), 0.9)))
    return list(best.values())[:20]


def _element(path: str) -> str:
    """The path of the innermost list's element in which a field stands."""
    within = path.rpartition(".")[0]
    return within[: within.rindex("]") + 1] if "]" in within else ""


def _is_made(passage: Passage, known: Doings) -> bool:
    """Whether a result is what an effect answered: it is of the moment in which that was done."""
    call = known.by_event.get(passage.event_id)
    return call is not None and call.effect is not None


def _end_is_told(end: datetime, place: int, known: Doings) -> bool:
    """Whether what came after says when it ended: in an answer, or in what a tool was given."""
    texts = [reply.text for reply in known.replies if reply.before > place]
    texts += [text for action in known.acting if action.before > place for _, text in action.leaves]
    return any(names_day(text[:20_000], end) for text in texts)


def _flags(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Truth values, which ``values`` leaves out."""
    if depth < 8 and isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, bool):
                yield f"{path}.{key}" if path else str(key), str(item)
            else:
                yield from _flags(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif depth < 8 and isinstance(value, list):
        for place, item in enumerate(value[:200]):
            yield from _flags(item, f"{path}[{place}]", depth + 1)


def _parts(text: str, of: str) -> tuple[str, str]:
    """The text of the list's element that is old, and that of what stands beside it, both without dates."""
    if not of:
        return ANY_DATE.sub(" ", text), ""
    inside: list[str] = []
    beside: list[str] = []
    for path, leaf in values(parsed(text)):
        (inside if path.startswith(of) and path[len(of) : len(of) + 1] in ("", ".", "[") else beside).append(leaf)
    return ANY_DATE.sub(" ", "\n".join(inside)), ANY_DATE.sub(" ", "\n".join(beside))


def _used(passage: Passage, place: int, spread: _Spread, known: Doings, of: str) -> Use | None:
    own, beside = _parts(passage.text[:50_000], of)
    others = set(terms(beside))
    mine = {
        term
        for term in terms(own)
        if (names_one(term) or term[:1].isdigit())
        and not re.match(r"\d{4}-\d\d|(?:19|20)\d\d\Z", term)
        and len(term) > 1
        and term not in others
        and not spread.elsewhere(term, place)
    }
    for action in known.acting if mine else ():
        if action.before > place and action.run.event_id != passage.event_id:
            common = sorted(action.terms & mine)
            if common and not any(_SAYS_SO.search(reply.text) for reply in known.replies if reply.before > place):
                return Use(what=action, value=common[0])
    for reply in known.replies:
        if reply.before > place and reply.rests and not _SAYS_SO.search(reply.text):
            common = sorted(set(terms(reply.text)) & mine)
            if common:
                return Use(what=reply, value=common[0])
    # The state that it tells, rather than a value: an effect on the thing that it is about.
    about = identifiers(own[:20_000]) - identifiers(beside[:20_000])
    if not about or any(_SAYS_SO.search(reply.text) for reply in known.replies if reply.before > place):
        return None
    for action in known.acting:
        later = action.before > place and action.run.event_id != passage.event_id
        if later and action.identifiers & about:
            return Use(what=action, value=min(action.identifiers & about))
    return None


# -- contradicted ----------------------------------------------------------------------------------------------------------------


def _contradicted(known: Doings) -> Iterator[Finding]:
    seen: dict[tuple[str, str], list[tuple[int, Passage, Record]]] = {}
    count = 0
    for place, passage in enumerate(known.passages):
        if passage.kind not in _SOURCES or len(passage.text) > 100_000:
            continue
        for record in records(passage.text):
            thing = _thing(record)
            if thing is None:
                continue
            for other_place, other, old in seen.get(thing, [])[-4:]:
                count += 1
                if other.event_id != passage.event_id and count < 4000:
                    yield from _differ(known, (other_place, other, old), (place, passage, record), thing)
            seen.setdefault(thing, []).append((place, passage, record))


def _thing(record: Record) -> tuple[str, str] | None:
    """What a record is about: its first identifier, with the name under which it stands."""
    for name, text in record.fields:
        found = terms(text)
        if (
            len(found) == 1
            and (names_one(found[0]) or re.search(r"(?:^|_)(?:id|sku|code|symbol|name|host|key|ticker|item|product|no|number)\Z", name))
            and "." not in found[0]
        ):
            return name.rpartition("_")[2], found[0]
    return None


def _differ(
    known: Doings, one: tuple[int, Passage, Record], other: tuple[int, Passage, Record], thing: tuple[str, str]
) -> Iterator[Finding]:
    (first_place, first, old), (place, passage, new) = one, other
    fresh = dict(new.fields)
    for name, text in old.fields:
        now = fresh.get(name)
        if (
            now is None
            or bare(now) == bare(text)
            or DATE.search(text)
            or name
            in (
                "state",
                "status",
                "phase",
                "progress",
                "step",
                "stage",
                "result",
                "message",
                "request_id",
                "trace_id",
                "timestamp",
                "etag",
                "version",
                "updated_at",
                "age",
                "count",
                "page",
            )
        ):
            continue
        if len(text) > 60 or len(now) > 60 or _changed_between(known, first, passage, thing[1]):
            continue
        older, newer, wrong, right = first, passage, text, now
        dates = [max((d for d in (date_in(value) for _, value in record.fields) if d is not None), default=None) for record in (old, new)]
        if dates[0] is not None and dates[1] is not None and dates[1] < dates[0]:
            older, newer, wrong, right = passage, first, now, text
        use = _uses(known, max(first_place, place), wrong, right, thing[1], name)
        if use is None:
            continue
        yield Finding(
            cause="tool", analysis="stale_result", confidence=STRONG + 0.04, first_event=older.event_id, first_seq=older.seq,
            evidence=(
                Evidence(event_id=older.event_id, seq=older.seq, what=f"{name} of {thing[1]} is {said(wrong)}"),
                Evidence(event_id=newer.event_id, seq=newer.seq, what=f"{name} of {thing[1]} is {said(right)}"), use.evidence(),
            ),
            statement=f"Two results differ about {name} of {thing[1]} ({said(wrong)}, then {said(right)}), and the older one was used in {use.words()}.",
        )  # fmt: skip
        return


def _changed_between(known: Doings, one: Passage, other: Passage, thing: str) -> bool:
    """Whether the agent itself changed the thing in between."""
    return any(
        one.seq <= action.run.seq <= other.seq and (thing in action.terms or not action.identifiers)
        for action in known.acting
    )  # fmt: skip


def _uses(known: Doings, place: int, wrong: str, right: str, thing: str, name: str) -> Use | None:
    """An effect, else the last answer, with the one value and not the other."""
    bad, good = set(terms(wrong)), set(terms(right))
    only_bad, only_good = bad - good, good - bad
    if not only_bad:
        return None
    for action in known.acting:
        if action.before > place and only_bad <= action.terms and not only_good & action.terms:
            return Use(what=action, value=wrong)
    for reply in known.replies:
        said_terms = set(terms(reply.text)) if reply.rests and reply.before > place else set()
        if (
            only_bad <= said_terms
            and not only_good & said_terms
            and (thing in said_terms or stem(name) in stems(reply.text) or names_one(wrong.lower()))
        ):
            return Use(what=reply, value=wrong)
    return None


ANALYSIS = Analysis(name="stale_result", looks_for="a result that was old, or that another one contradicts, and was used", run=find)
