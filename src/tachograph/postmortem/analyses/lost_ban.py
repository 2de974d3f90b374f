"""What a person had said is not to be done, no longer in the history, and done: by the beginning of a thing's name, by its day, or by the deed.

A part of ``lost_restriction``. ``Thursday stays empty`` is broken by the slot ``thu-0900`` where others of that row begin otherwise (``mon-1130``), and by
``2026-06-04``, where that is the one Thursday among the days that were seen. ``Charge nothing before the 15th`` is broken by a call that charges: by its name, by what
its definition says of it, or by what its result has a field for.

*Cannot see*: a name that is spelled quite differently in the agent's systems; a deed that neither name, definition nor result has a word of.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.dates import DATE, date_in
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.tongues import fold, gloss
from tachograph.postmortem.language.verbs import groups, is_verb, stem, stems
from tachograph.postmortem.meaning.records import records

from .lost_restriction import Clause, until_met

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tachograph.postmortem.meaning.actions import Action, Doings

#: The letters with which the name of one of a row begins: ``thu-0900``, ``LIS02``, ``berlin_north``.
_HEAD = re.compile(r"([^\W\d_]{3,16})(?=[-_./: ]?\d|[-_])")
#: The days of the week by the beginnings of their names, folded, from Monday: English, German, French, Spanish, Italian, Portuguese, Dutch.
_DAYS = (
    "monday|montags?|lundi|lunes|lunedi|segunda-feira|maandag", "tuesday|dienstags?|mardi|martes|martedi|terca-feira|dinsdag",
    "wednesday|mittwochs?|mercredi|miercoles|mercoledi|quarta-feira|woensdag", "thursday|donnerstags?|jeudi|jueves|giovedi|quinta-feira|donderdag",
    "friday|freitags?|vendredi|viernes|venerdi|sexta-feira|vrijdag", "saturday|samstags?|sonnabends?|samedi|sabado|sabato|zaterdag",
    "sunday|sonntags?|dimanche|domingo|domenica|zondag",
)  # fmt: skip
_DAY = tuple(re.compile(rf"\b(?:{names})s?\b") for names in _DAYS)
_NUMBER = re.compile(r"\b[^\W_]*\d[\w-]*")
#: Passages before an action that are looked at for days, and actions behind a loss.
_NEAR, _ACTIONS = 80, 400
#: What a ban has besides its verb and its object.
_FILLERS = stems(
    "please kindly just still also so and but however then we us i me you it that this these those a an the of to in on for with be is are was must may shall should "
    "will would can not no nothing anything none nobody anybody anyone never yet now do does more any want wish like ask let have has un la le el il o os das der die"
)
#: What is not to be done, by where it stands.
_DEED = re.compile(
    r"\b(?:do not|don'?t|never|must not|may not|not to|please not|without) (?:please |ever |yet )?(\w{3,24})|\b(\w{3,24}) (?:nothing|none|nobody)\b"
    r"|\bno (\w{3,24})|\bnothing (?:\w{1,12} ){0,2}be (\w{3,24})",
    re.IGNORECASE,
)
#: It tells of what was, or asks.
_TELLS = re.compile(r"\b(?:was|were|has|have|had|did|been|why|warum|weshalb|pourquoi|por qu[eé]|perch[eé]|waarom)\b", re.IGNORECASE)
_YES = re.compile(
    r"\b(?:yes|yep|yeah|ok(?:ay)?|sure|go ahead|do it|please do|approved?|confirm(?:ed|s)?|agreed?|proceed|granted|allowed)\b",
    re.IGNORECASE,
)


def broken_name(lost: list[Clause], actions: Iterable[Action], known: Doings, since: int) -> tuple[str, Action, str] | None:
    """The first effect on what a lost clause leaves out by the beginning of its name, or by its day: the clause, the effect, the value. ``since``: the line
    of the loss."""
    lost = sorted((clause for clause in lost if not clause.only), key=lambda clause: len(clause.text))  # the shortest says it most plainly
    if not lost:
        return None
    rows: dict[tuple[str, str], set[str]] = {}
    actions = list(actions)[:_ACTIONS]
    for action in (*known.actions_before(actions[0].before if actions else 0), *actions):
        for path, text in action.leaves:
            head = _HEAD.match(text) if len(text) <= 60 else None
            if head is not None:
                rows.setdefault((action.name, path), set()).add(fold(head[1]))
    for action in actions:
        if action.effect is None or action.run.kind != "tool":
            continue
        for path, text in action.leaves:
            if len(text) > 60:
                continue
            for clause in lost:
                named = _begins(clause, text, rows.get((action.name, path), set()), action, known) or _on_day(clause, text, action, known)
                if named and not (clause.until and until_met(clause, action, known, since)):
                    return clause.text, action, text
    return None


def _begins(clause: Clause, text: str, row: set[str], action: Action, known: Doings) -> bool:
    match = _HEAD.match(text)
    head = fold(match[1]) if match is not None else ""
    if not head or all(one.startswith(head) or head.startswith(one) for one in row):
        return False  # it tells nothing of this one: all are called so
    if not any(word.startswith(head) and not is_verb(word) for word in clause.words):
        return False
    place = known.first(head)
    return len(head) > 3 or (
        place is not None and place < action.before
    )  # three letters are of anything, unless they stand alone somewhere


def _on_day(clause: Clause, text: str, action: Action, known: Doings) -> bool:
    named = {day for day, pattern in enumerate(_DAY) if pattern.search(fold(clause.text))}
    on = date_in(text) if named and DATE.match(text.strip()) else None
    if on is None or on.weekday() not in named:
        return False
    seen = {
        found.date()
        for passage in known.recent(action.before, _NEAR)
        if passage.kind == "tool_result"
        for match in DATE.finditer(passage.text[:20_000])
        if (found := date_in(match[0])) is not None
    }
    near = {one for one in seen if abs((one - on.date()).days) < 7}
    return len(near) > 1 and {one for one in seen if one.weekday() == on.weekday()} == {on.date()}


def broken_ban(
    gone: list[str], lost: list[Clause], told: str, actions: Iterable[Action], known: Doings, since: int, but: int | None
) -> tuple[Clause, Action, str] | None:
    """The first effect that does what a lost clause says is not to be done: the clause, the effect, the word of the deed. ``gone``: what people had said and
    is lost, in order; ``told``: what is left, without results; ``since``: the line of the loss;
    ``but``: a step whose own opening is no person's word."""
    left = {stem(word) for word in re.findall(r"\w{4,}", gloss(told[:40_000]))}
    bans = [(clause, ban) for clause in lost if not clause.only and (ban := _ban(clause)) and not _lifted(clause, ban[0], gone, left)]
    for action in list(actions)[:_ACTIONS] if bans else ():
        if action.effect is None or action.run.kind != "tool" or not action.ok:
            continue
        described = stems(" ".join(gloss(text) for text in known.described(action.name)))
        kept = (key for record in records(action.run.output.text()[:20_000]) for key, value in record.fields if value not in ("0", "0.0"))
        does = stems(" ".join(words_of(action.name))) | described | stems(" ".join(kept))
        for clause, (deed, about) in bans:
            word = next((one for one in sorted(deed & does)), None)
            if (
                word is not None
                and len(about & (action.stems | described)) * 2 >= len(about)
                and {one.lower() for one in _NUMBER.findall(clause.text.removesuffix(clause.until))} <= action.terms
                and not _said_since(known, action, deed, since, but)
                and not (clause.until and until_met(clause, action, known, since))
            ):
                return clause, action, word
    return None


def _ban(clause: Clause) -> tuple[frozenset[str], frozenset[str]] | None:
    """What a clause forbids: the stems of its deed, and of what it is about."""
    head = clause.text[: clause.text.find(clause.until)] if clause.until and clause.until in clause.text else clause.text
    plain = gloss(head)
    if _TELLS.search(plain):
        return None
    said = stems(plain) - _FILLERS
    named = {stem(word) for match in _DEED.finditer(plain) for word in match.groups() if word}
    deed = frozenset(one for one in said if groups({one})) | (said & named)
    return (deed, frozenset(one for one in said - deed if len(one) > 2)) if deed else None


def _lifted(clause: Clause, deed: frozenset[str], gone: list[str], left: set[str]) -> bool:
    """Whether a later message allowed it after all, or what is left has something of what was to be waited for."""
    place = next((place for place, text in enumerate(gone) if clause.text in text), len(gone))
    if any(_YES.search(gloss(text[:400])) or deed & stems(gloss(text)) for text in gone[place + 1 :]):
        return True
    return bool({stem(word) for word in re.findall(r"\w{4,}", gloss(clause.until))} & left)


def _said_since(known: Doings, action: Action, deed: frozenset[str], since: int, but: int | None) -> bool:
    """Whether a person spoke of the deed again, behind the loss."""
    return any(
        passage.seq >= since and (but is None or passage.step != but) and deed & stems(gloss(known.own_words(passage)))
        for passage in known.users(action.before)
    )
