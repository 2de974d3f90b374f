"""What a person gave, went into an effect word for word, and is told to be wrong by the effect's own answer: too late, for something had come of it.

*The other way round*: two figures of the person's, in their order, of which the answer has the same two in the other one (``5.30, 52.12`` where it starts from
``52.12 N, 5.30 E``), and it says that it failed, or the model says that they changed places.
*Said to be wrong*: the answer says that it failed, and the model's last words find the fault in a value in what the person gave.

A request that was turned down, so that nothing came of it, did no harm: the answer names nothing new.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tachograph.postmortem.language.computed import numbers
from tachograph.postmortem.language.terms import names_one, terms
from tachograph.postmortem.language.tongue_tables import SWAPPED
from tachograph.postmortem.meaning.claims import sentences

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

_SWAPPED = re.compile(rf"\b(?:{SWAPPED})\b", re.IGNORECASE)
#: The model speaks of what the person gave.
_YOURS = re.compile(
    r"\b(?:you (?:gave|sent|wrote|entered|provided|typed|specified|named|put|uploaded|supplied)|(?:in|of|from) your|your (?:\w+ ){0,2}(?:file|list|message|table|request|form|sheet|data|input|order|note|mail|csv|values?|figures?|coordinates|points)"
    r"|(?:in|aus|auf|laut) (?:deine[rmn]?|ihre[rmn]?|eure[rmn]?)|(?:dans|de|sur) (?:votre|ton|ta|vos|tes)|(?:en|de) (?:tu|su|tus|sus)|(?:nel|del|nella|della) (?:tuo|suo|tua|sua)|(?:no|do|na|da) (?:teu|seu|tua|sua)|(?:in|uit|van) (?:je|jouw|uw))\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:wrong\w*|typo|incorrect\w*|mistake\w*|mistyped|invalid|erroneous|misspelt|misspelled|falsch\w*|tippfehler|fehlerhaft\w*|faux|fausse|erron\w+|incorrecte?s?|equivocad\w+|sbagliat\w+|errat\w+|errad\w+|fout\w*|onjuist\w*|verkeerd\w*)\b",
    re.IGNORECASE,
)
#: Figures of one argument, and requests before an effect.
_MOST, _REQUESTS = 12, 4
Rejected = tuple[str, str, "Passage", "Action", "Passage"]


def rejected(known: Doings) -> Rejected | None:
    """The value, what the answer has instead or says, the message that gave it, the effect and its answer."""
    for action in known.acting:
        if action.step is None or not action.run.output.there:
            continue
        pairs = [(one, other) for one, other in _pairs(action) if abs(one - other) > 0.1 * max(abs(one), abs(other))]
        failed = action.failure is not None
        if not failed and not pairs:
            continue
        shown = _answer(action, known)
        if shown is None or not _made(shown, action, known) or _again(action, known):
            continue
        for given in reversed(known.users(action.before, _REQUESTS)):
            found = _other_way_round(pairs, given, shown, action, known, failed=failed) or (
                _said_wrong(given, action, known) if failed else None
            )
            if found is not None:
                return *found, given, action, shown
    return None


def _pairs(action: Action) -> list[tuple[float, float]]:
    """The figures of an effect's arguments that stand side by side."""
    found: list[tuple[float, float]] = []
    alone: list[float] = []
    for _, leaf in action.leaves:
        mine = numbers(leaf[:400])[:_MOST]
        found += list(pairwise(mine))
        alone += mine if len(mine) == 1 and len(leaf) <= 24 else []
    return found + list(pairwise(alone[:_MOST]))


def _answer(action: Action, known: Doings) -> Passage | None:
    behind = known.passages[action.before : action.before + 40]
    return next((one for one in behind if one.kind == "tool_result" and one.event_id == action.run.event_id), None) or next(
        (one for one in behind if one.kind == "tool_result" and one.step == (action.step.number if action.step is not None else None)), None
    )


def _made(shown: Passage, action: Action, known: Doings) -> bool:
    """Whether an effect's answer names something that stood nowhere before: it came into being."""
    place = known.place(shown)
    return any(
        any(mark.isalpha() for mark in term) and any(mark.isdigit() for mark in term) and names_one(term) and known.first(term) == place
        for term in terms(action.run.output.text()[:4000])
        if len(term) <= 24
    )


def _again(action: Action, known: Doings) -> bool:
    return any(
        other.effect is not None and other.ok and other.failure is None and other.run.name == action.run.name and other.leaves != action.leaves
        and other.run.seq > action.run.seq and other.terms & action.terms
        for other in known.actions_behind(action.before - 1, 40)
    )  # fmt: skip


def _other_way_round(
    pairs: list[tuple[float, float]], given: Passage, shown: Passage, action: Action, known: Doings, *, failed: bool
) -> tuple[str, str] | None:
    told = numbers(action.run.output.text()[:4000])[:60] if pairs else []
    had = numbers(known.own_words(given)[:20_000]) if told else []
    for one, other in pairs:
        if not any(had[at : at + 2] == [one, other] for at in range(len(had) - 1)):
            continue
        beside = list(pairwise(told))
        back = next((pair for pair in beside if _near(pair[0], other) and _near(pair[1], one)), None)
        if back is None or any(_near(first, one) and _near(second, other) for first, second in beside):
            continue
        if failed or any(_SWAPPED.search(reply.text) for reply in known.replies_behind(known.place(shown), 4)):
            return f"{one:g}, {other:g}", f"{back[0]:g}, {back[1]:g}"
    return None


def _near(one: float, other: float) -> bool:
    return one == other or abs(one - other) <= 0.01 * max(abs(one), abs(other))


def _said_wrong(given: Passage, action: Action, known: Doings) -> tuple[str, str] | None:
    had = set(terms(known.own_words(given)[:20_000]))
    used = [(leaf, own) for _, leaf in action.leaves if (own := {term for term in terms(leaf[:400]) if names_one(term)}) and own <= had]
    for reply in known.replies_behind(action.before, 6) if used else ():
        if not reply.rests:
            continue
        for sentence in sentences(reply.text):
            if _YOURS.search(sentence) and (_WRONG.search(sentence) or _SWAPPED.search(sentence)):
                spoken = set(terms(sentence))
                found = next((leaf for leaf, own in used if own & spoken), None)
                if found is not None:
                    return found[:60], sentence.strip()[:200]
        return None
    return None
