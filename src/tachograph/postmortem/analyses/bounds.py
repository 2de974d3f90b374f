"""A bound that a rule sets (“never below the night's floor rate”, “at most 10 %”), and whether a call keeps it.

The bound is a number in the sentence, or what a record holds under the name that the sentence has; of several records those count that share an identifier or
a value with the call. What cannot be compared (no such record, several numbers of the call that may be meant) is neither kept nor broken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.language.amounts import number
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.tongues import english_of, fold, gloss
from tachograph.postmortem.language.verbs import stem, stems
from tachograph.postmortem.meaning.records import records

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings

#: ``unknown``: there is a bound, and nothing to compare with it.
Kept = Literal["kept", "broken", "unknown", "none"]

_BELOW = r"below|beneath|underneath|under|less than|lower than|cheaper than|fewer than|shorter than|unter|unterhalb|weniger als|au-dessous d\w*|en dessous d\w*|moins d\w*|debajo d\w*|menos d\w*|sotto|meno d\w*|abaixo d\w*|onder|minder dan"
_ABOVE = r"above|over|more than|higher than|greater than|longer than|beyond|exceed\w*|in excess of|past|uber|oberhalb|mehr als|au-dessus d\w*|plus d\w*|encima d\w*|mas d\w*|sopra|oltre|piu d\w*|acima d\w*|mais d\w*|boven|meer dan"
_LEAST = r"at least|no less than|not less than|minimum|mindestens|au moins|al menos|como minimo|almeno|pelo menos|minstens"
_MOST = r"at most|no more than|not more than|up to|maximum|hochstens|au plus|como maximo|al massimo|no maximo|hoogstens"
_BOUND = re.compile(rf"\b(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<below>{_BELOW})|(?P<above>{_ABOVE}))\b", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:never|not|no|nothing|cannot|nobody|without|avoid|nie|niemals|nicht|kein\w*|jamais|pas|nunca|mai|nooit|niet)\b|n't\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"[^,.;:!?\n]{1,60}")
_FIGURE = re.compile(r"(?<![\w.-])\d[\d,._]{0,15}")
#: Passages before a call that are looked at for the record.
_NEAR = 120


def kept(known: Doings, rule: str, action: Action) -> Kept:
    """Whether a call keeps the bound of a sentence; ``none`` where the sentence has none."""
    plain = gloss(rule)
    match = _BOUND.search(plain)
    behind = _BEHIND.match(plain, match.end()) if match is not None else None
    if match is None or behind is None:
        return "none"
    denied = _NOT.search(plain[: match.start()]) is not None
    least = match.lastgroup == "least" or (match.lastgroup == "below" if denied else match.lastgroup == "above")
    mine = _numbers(action, frozenset(map(_plain, stems(plain))))
    bounds = _told(behind[0]) or _held(known, frozenset(map(_plain, stems(behind[0]))), action)
    if not bounds or len(mine) != 1:
        return "unknown"
    given = mine[0][1]
    broken = [given < bound if least else given > bound for bound in bounds]
    return "broken" if all(broken) else "kept" if not any(broken) else "unknown"


def _numbers(action: Action, about: frozenset[str]) -> list[tuple[str, float]]:
    """The numbers of a call that no name is one of; of several those that the sentence, or their own name, tells to be what is bounded."""
    found = [(path, value) for path, text in action.leaves if (value := number(text)) is not None and not _called(path) & _NAMING]
    if len(found) > 1:
        found = [one for one in found if _called(one[0]) & about] or [one for one in found if _called(one[0]) & _VALUE]
    return found


def _called(path: str) -> frozenset[str]:
    return frozenset(_plain(stem(english_of(word) or word)) for word in words_of(path.rpartition(".")[2]))


def _plain(word: str) -> str:
    """A word as names of fields have it: ``hoechstrate`` and ``höchstrate`` are one."""
    return re.sub(r"(?<=[aou])e", "", fold(word))


_NAMING = frozenset(map(_plain, stems("id number order account phone code year invoice reference zip port")))
_VALUE = frozenset(map(_plain, stems("price amount total rate cost fee value sum quantity qty percent discount limit level offer bid")))


def _told(behind: str) -> set[float]:
    match = _FIGURE.search(behind)
    value = number(match[0].rstrip(".,_")) if match is not None else None
    return {value} if value is not None else set()


def _held(known: Doings, about: frozenset[str], action: Action) -> set[float]:
    """What the records of the call's things hold under the name of a bound: of the latest result that has one, under the names that say the most of it."""
    for passage in reversed(known.recent(action.before, _NEAR)):
        if passage.kind not in ("tool_result", "document", "file") or passage.event_id == action.run.event_id:
            continue
        best: dict[int, set[float]] = {}
        for record in records(passage.text):
            if not record.terms & action.terms:
                continue
            for name, text in record.fields:
                said, value = _called(name) & about, number(text)
                if said and value is not None and not _called(name) & _NAMING:
                    best.setdefault(len(said), set()).add(value)
        if best:
            return best[max(best)]
    return set()
