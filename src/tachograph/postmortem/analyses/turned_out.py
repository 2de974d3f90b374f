"""Values of a person's that turned out wrong behind the effect: they take it back themselves, or a result has another figure for the same thing.

*Replaced*. A later message of theirs takes the blame and has another value for it (``corrected.py``), and the same was not done anew.

*Taken back*. A later message says that a value was wrong, and repeats it; or it has a slip of it (``is_slip``) with words of a mistake or of undoing, names
nothing new, and nothing was done with the right one since.

*Said otherwise*. Or it has no such words, in whatever language: a figure that was used, and another one beside it that is new, and with which nothing was done
since. The one has two digits of the other changed over; or stands with a negation (``48.100, no 41.800``); or is what something *says*, in the same unit.

*Contradicted*. A figure of the person's went into a figure of the effect, and a result that came behind it has another one for the same thing in the same
unit; the answer names both, or the one is a slip of the other. Or the effect's own answer tells that what the person gave was wrong (``rejected.py``).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.amounts import number
from tachograph.postmortem.language.computed import numbers
from tachograph.postmortem.language.figures import Figure, figures, readings, whole
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import identifiers, terms, words_of
from tachograph.postmortem.language.tongues import gloss
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.meaning.records import records

from .corrected import IS_NOT, JOINS, owns_up, replaced
from .rejected import rejected

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

ADMITS = re.compile(
    r"\b(?:my (?:mistake|bad|fault|error)|i (?:gave|sent|wrote|typed|told|said|entered|named|put|mixed|confused|misread|mistyped)\b[^.!?\n]{0,50}\b(?:wrong|incorrect|mixed up|mistake|by mistake|instead of)"
    r"|i (?:mixed|mistyped|misspoke|misremembered)\b|i meant\b|i should have (?:said|written|given)|a typo (?:of mine|from me|on my side)|wrong \w+ from me)",
    re.IGNORECASE,
)
#: Words of a mistake, and of undoing, in the languages of ``tongues.py``.
_SLIPPED = re.compile(
    r"\b(?:typo\w*|mistake\w*|mistyped|wrong\w*|too many|too few|meant|should (?:have )?(?:be|been|say|read)|instead of|take (?:it|that|this) back|undo|revers\w+|revert\w*|call (?:it|that) back"
    r"|vertippt|tippfehler|versehen\w*|irrtum|falsch\w*|verschrieben|verlesen|gemeint|meinte|zu viele?|zu wenig|zurück\w*|rückgängig|stornier\w*"
    r"|erreur\w*|tromp\w+|faute de frappe|voulais dire|de trop|annul\w+|équivoqu\w*|equivoc\w+|equivoqu\w+|error\w*|quise decir|quería decir|de más|deshac\w+|anul\w+"
    r"|sbagliat\w*|errore|intendevo|volevo dire|di troppo|engano|enganei|errad\w+|queria dizer|a mais|desfaz\w*|vergist\w*|vergissing|fout\w*|bedoelde|te veel|terugdraai\w*|ongedaan)\b",
    re.IGNORECASE,
)
#: A year stays, as a rule, where a date is wrong.
_YEAR = re.compile(r"(?:19|20)\d\d")
_GIVEN = re.compile(r"(?<![\w.-])(?P<number>\d[\d,._]{0,15})\s*(?P<unit>%|[^\W\d_]{1,24})")
#: Effects, values and results that are looked at for one message or action.
_NEAR = 40
#: Requests before an action, and figures of one text or of what came behind it.
_REQUESTS, _MOST = 8, 48


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """``value``: as the person gave it in ``given``; ``action``: that used it; ``shown``: what told that it was wrong, ``right``: the other value there."""

    value: str
    right: str | None
    given: Passage
    action: Action
    shown: Passage
    by_person: bool


def taken_back(known: Doings) -> Wrong | None:
    """The first value that a person took back behind the effect."""
    for place, passage in enumerate(known.passages):
        if passage.kind != "user":
            continue
        text = known.own_words(passage)[:4000]
        if owns_up(text) and (found := _replaced(passage, place, text, known)) is not None:
            return found
        admits = ADMITS.search(gloss(text)) is not None
        if not admits and not _SLIPPED.search(text):
            if (otherwise := _said_otherwise(passage, place, known)) is not None:
                return otherwise
            continue
        said, named = set(terms(text)), identifiers(text)
        for action in known.actions_before(place + 1, _NEAR):
            if action.effect is None or action.before > place or action.run.seq > passage.seq:
                continue
            for given in reversed(known.users(action.before, _REQUESTS)):
                asked = _asked(known.own_words(given))
                both = {term for term in action.terms & asked if not _YEAR.fullmatch(term)}
                common = sorted(action.identifiers & both & named) or sorted(both & said)
                if admits and common:
                    return Wrong(value=common[0], right=None, given=given, action=action, shown=passage, by_person=True)
                for value in sorted(both):
                    right = next((one for one in sorted(said - asked) if is_slip(value, one)), None)
                    if right is not None and not named - asked - {right} and not _mended(right, place, known):
                        return Wrong(value=value, right=right, given=given, action=action, shown=passage, by_person=True)
        if (otherwise := _said_otherwise(passage, place, known)) is not None:
            return otherwise
    return None


def _replaced(passage: Passage, place: int, text: str, known: Doings) -> Wrong | None:
    """A value that an effect used and that a message replaces, of which the person takes the blame; unless it was done with the right one since."""
    for action in known.actions_before(place + 1, _NEAR):
        if action.effect is None or action.before > place or action.run.seq > passage.seq or not action.ok:
            continue
        for given in reversed(known.users(action.before, _REQUESTS)):
            found = replaced(text, known.own_words(given)[:8000], action)
            if found is not None and not _again(action, place, known):
                return Wrong(value=found[0], right=found[1], given=given, action=action, shown=passage, by_person=True)
    return None


def _again(action: Action, place: int, known: Doings) -> bool:
    """Whether the same was done anew behind a message, with other values."""
    return any(
        other.effect is not None and other.ok and other.run.name == action.run.name and other.leaves != action.leaves
        for other in known.actions_behind(place, _NEAR)
    )


#: What stands before a figure that a letter, a plan, a label has.
_SAYS = re.compile(
    r"\b(?:says?|said|states?|stated|shows?|showed|reads?|has it|specif(?:y|ies)|lists?|sagt|lautet|nennt|zeigt|weist|steht|stehen|dit|disent|indique\w{0,3}|affiche|mentionne|dice|dicen|pone|ponen|indica\w{0,2}|figura\w{0,1}|muestra"
    r"|riporta|segna|mostra|diz|consta\w{0,1}|marca|zegt|staat|vermeldt|toont)\b(?:[^\w.!?;]{1,3}[^\W\d_]{1,12}){0,2}[^\w.!?;]{1,3}[$€£]?\s?\Z",
    re.IGNORECASE,
)
#: What asks for something that might be, rather than tells.
_WHAT_IF = re.compile(
    r"\b(?:if|would|could|wenn|falls|würde|könnte|serait|pourrait|sería|podría|sarebbe|potrebbe|seria|poderia|zou)\b", re.IGNORECASE
)


def _said_otherwise(passage: Passage, place: int, known: Doings) -> Wrong | None:
    """A figure that was used, and that a later message has otherwise."""
    text = known.own_words(passage)[:4000]
    told = figures(text)
    if not told:
        return None
    for action in known.actions_before(place + 1, _NEAR):
        if action.effect is None or action.before > place or action.run.seq > passage.seq or not action.ok:
            continue
        used = {one for path, leaf in action.leaves if not _is_name(path) for one in _figure_of(leaf) if one >= _LEAST}
        for given in reversed(known.users(action.before, _REQUESTS)) if used else ():
            before = figures(known.own_words(given)[:8000])
            had = frozenset(one for figure in before for one in figure.readings)
            named = identifiers(known.own_words(given)) | {one.text for one in told}
            news = {one for one in identifiers(text) - named - action.identifiers if not _is_figure(one, told)}
            for old in before:
                value = next((one for one in old.readings if one in used), None)
                for new in told if value is not None and not news else ():
                    if (
                        value is not None
                        and not new.readings & had
                        and not _WHAT_IF.search(_sentence(text, new))
                        and _otherwise(value, old, new, told, text)
                        and not _used(new.readings, place, known)
                    ):
                        return Wrong(value=old.text, right=new.text, given=given, action=action, shown=passage, by_person=True)
    return None


def _sentence(text: str, figure: Figure) -> str:
    """The sentence in which a figure stands."""
    begin = max((text.rfind(mark, 0, figure.start) for mark in (". ", "! ", "? ", "\n")), default=-1) + 1
    ends = [end for mark in (". ", "! ", "? ", "\n") if (end := text.find(mark, figure.end)) >= 0]
    return text[begin : min(ends, default=len(text))]


def _figure_of(leaf: str) -> frozenset[float]:
    """What an argument may be that is one figure."""
    written = whole(leaf)
    return readings(written) if written is not None else frozenset()


#: A figure that is less may be anything.
_LEAST = 10


def _is_name(path: str) -> bool:
    """Whether an argument's figure is what something is called by."""
    return bool(frozenset(words_of(path.rpartition(".")[2])) & _CALLED)


_CALLED = frozenset(["id", "ids", "no", "nr", "number", "code", "ref", "reference", "room", "order", "invoice", "ticket", "case", "account", "card", "phone", "page", "gate", "seat", "zip", "year", "port", "version", "zimmer", "chambre", "habitacion", "camera", "quarto", "kamer", "unit", "line", "row", "flat", "house", "lot", "case", "bay", "dock", "flight", "bus", "track"])  # fmt: skip


def _is_figure(name: str, told: tuple[Figure, ...]) -> bool:
    found = terms(name)
    return len(found) == 1 and any(found[0] in terms(one.text) for one in told)


def _otherwise(value: float, old: Figure, new: Figure, told: tuple[Figure, ...], text: str) -> bool:
    """Whether a message has ``new`` where ``old`` had been given."""
    mine = {_plain(value)} | {_plain(one) for one in old.readings}
    if value >= 100 and any(is_swapped(one, _plain(other)) for one in mine for other in new.readings):
        return True
    if any(value in one.readings and one is not new and IS_NOT.search(text[max(one.start - 40, 0) : one.start]) for one in told):
        return not IS_NOT.search(text[max(new.start - 40, 0) : new.start])
    same = old.unit == new.unit or (bool(old.unit and new.unit) and stem(old.unit) == stem(new.unit))
    said = _SAYS.search(text[max(new.start - 60, 0) : new.start])
    if not same or not old.unit or old.unit in JOINS or said is None:
        return False
    # Money is also what an account or a price list says, of something else.
    return old.unit not in _MONEY or _PAPER.search(_sentence(text, new)) is not None


_MONEY = frozenset(["$", "€", "£", "¥", "%", "eur", "usd", "gbp", "chf", "euro", "euros", "dollar", "dollars", "pounds", "franken", "francs", "percent", "prozent"])  # fmt: skip
_PAPER = re.compile(
    r"\b(?:invoice|bill|letter|contract|agreement|quote|quotation|offer|receipt|order form|slip|\w*rechnung|\w*brief|\w*vertrag|\w*angebot|beleg|\w*schreiben|facture|lettre|contrat|devis|re[cç]u"
    r"|factura|carta|contrato|presupuesto|oferta|recibo|fattura|lettera|contratto|preventivo|ricevuta|fatura|or[cç]amento|factuur|rekening|contract|offerte|bon)\b",
    re.IGNORECASE,
)


def _used(found: frozenset[float], place: int, known: Doings) -> bool:
    """Whether something was done with a figure since."""
    return any(
        action.effect is not None and action.ok and any(found & _figure_of(leaf) for _, leaf in action.leaves)
        for action in known.actions_behind(place)
    )


@remembered
def _asked(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def is_slip(one: str, other: str) -> bool:
    """Whether one of two values is the other ten, a hundred or a thousand times, with a digit doubled, or with two digits that changed places. Another
    last digit is no sign of a slip: things are numbered one by one."""
    if one == other or len(one) > 40 or len(other) > 40:
        return False
    if (first := _number(one)) is not None and (second := _number(other)) is not None and (one + other).replace(".", "").isdigit():
        ratio = max(first, second) / min(first, second)
        if any(abs(ratio - power) < 1e-9 * power for power in (10, 100, 1000)):
            return True
    if re.sub(r"\d", "", one) != re.sub(r"\d", "", other) or min(sum(map(str.isdigit, one)), sum(map(str.isdigit, other))) < 2:
        return False
    if len(one) == len(other):
        return is_swapped(one, other)
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(
        long[:place] + long[place + 1 :] == short
        for place in range(1, len(long))
        if long[place] == long[place - 1] and long[place].isdigit()
    )


def is_swapped(one: str, other: str) -> bool:
    """Whether two neighbouring characters of a value changed places in the other one."""
    if len(one) != len(other):
        return False
    differ = [place for place in range(len(one)) if one[place] != other[place]]
    return len(differ) == 2 and differ[1] == differ[0] + 1 and one[differ[0]] == other[differ[1]] and one[differ[1]] == other[differ[0]]


def _mended(right: str, place: int, known: Doings) -> bool:
    """Whether something was done with the right value since."""
    return any(action.effect is not None and action.ok and right in action.terms for action in known.actions_behind(place))


def told_wrong(known: Doings) -> Wrong | None:
    """The first value of a person's of which the effect's own answer tells that it was wrong."""
    found = rejected(known)
    if found is None:
        return None
    value, right, given, action, shown = found
    return Wrong(value=value, right=right, given=given, action=action, shown=shown, by_person=False)


def contradicted(known: Doings) -> Wrong | None:
    """The first figure of a person's that a later result contradicts, and that the effect's figure was worked out from."""
    for action in known.acting:
        figures = [value for _, text in action.leaves if (value := number(text)) is not None and value > 0]
        later = _figures_behind(action, known) if action.step is not None and figures else []
        for given in known.users(action.before, 4) if later else ():
            for bare, unit in _quantities(known.own_words(given)[:8000]):
                value = _number(bare)
                if value is None or value in figures:
                    continue
                for passage, stems_of, text, other in later:
                    if unit not in stems_of or _is_done(value, other, figures):
                        continue
                    if (is_slip(_plain(value), _plain(other)) or _both_told(value, other, action, known)) and _from(
                        figures, value, given, action, known
                    ):
                        return Wrong(value=bare, right=text, given=given, action=action, shown=passage, by_person=False)
    return None


@remembered
def _quantities(text: str) -> tuple[tuple[str, str], ...]:
    """The numbers of a text with the stem of the unit behind them."""
    found = [(match["number"].rstrip(".,_"), stem(match["unit"])) for match in _GIVEN.finditer(text)]
    return tuple(found[:_MOST])


def _figures_behind(action: Action, known: Doings) -> list[tuple[Passage, frozenset[str], str, float]]:
    """The figures of later results for the thing that an action names, with the stems of their names."""
    about = {text.strip().lower() for _, text in action.leaves if number(text) is None and len(text) <= 60}
    found: list[tuple[Passage, frozenset[str], str, float]] = []
    for passage in known.passages[action.before : action.before + _NEAR] if about else ():
        if passage.kind != "tool_result" or passage.seq <= action.run.seq or not any(one in passage.text[:20_000].lower() for one in about):
            continue
        for record in records(passage.text):
            if any(text.lower() in about for _, text in record.fields):
                numeric = [(name, text, other) for name, text in record.fields if (other := number(text)) is not None and other > 0]
                found += [(passage, frozenset(map(stem, words_of(name))), text, other) for name, text, other in numeric]
    return found[:_MOST]


def _both_told(value: float, other: float, action: Action, known: Doings) -> bool:
    """Whether an answer behind it names both figures."""
    replies = [reply for reply in known.replies_behind(action.before, 24) if reply.rests][:2]
    return any({value, other} <= set(numbers(reply.text[:8000])) for reply in replies)


def _number(text: str) -> float | None:
    found = numbers(text)
    return found[0] if len(found) == 1 and found[0] > 0 else None


def _from(figures: list[float], value: float, given: Passage, action: Action, known: Doings) -> bool:
    """Whether one of the figures is worked out from a value, with one or two others of the prompts: so much of it, or so much for each so much."""
    others = [
        one
        for passage in known.recent(action.before, 60)
        if (passage is given or passage.kind == "system") and not passage.position.endswith(".schema")
        for one in numbers(passage.text[:8000])
        if one > 0 and one != value
    ]
    factors = list(dict.fromkeys([*others, 100.0, 1000.0]))[:16]
    rates = {*factors, *(1 / one for one in factors), *(one / other for one, other in itertools.permutations(factors, 2))}
    return any(abs(value * rate - figure) <= 0.005 * figure for figure in figures for rate in rates)


def _is_done(value: float, other: float, figures: list[float]) -> bool:
    """Whether a figure is (about) the same one, or what the effect made of it."""
    near = 0.1 * value
    return abs(value - other) <= near or any(
        abs(value - figure - other) <= near or abs(value + figure - other) <= near for figure in figures
    )


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
