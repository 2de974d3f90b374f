"""What a person replaces in a later message, taking the blame: “my mistake, it should have been 7 July, not 9 July”, “c'est moi qui me suis trompée”.

*Blame*: words by which people own up to a mistake of theirs, in seven languages (``tongue_tables.py``). A new reason is none.

*Replaced*: a day, a time, a figure, an identifier or a word that stands in an earlier message of theirs and that an effect was given. The later message has
it behind a negation beside another one of its kind; or has another one of its kind and unit that is new, where but one of that kind was used; or calls
it wrong by what it is (``the wrong date``), or says that two of them changed places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tachograph.postmortem.language.computed import numbers, shape
from tachograph.postmortem.language.dates import Day, days
from tachograph.postmortem.language.figures import Figure, figures
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import identifiers, terms, words_of
from tachograph.postmortem.language.tongue_tables import BLAME_WORDS, BLAMES, SWAP_WORDS, SWAPPED
from tachograph.postmortem.language.tongues import fold, gloss
from tachograph.postmortem.language.verbs import stem, stems

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action

_BLAMES = Sieve(re.compile(rf"\b(?:{BLAMES})", re.IGNORECASE), BLAME_WORDS)
_SWAPPED = Sieve(re.compile(rf"\b(?:{SWAPPED})\b", re.IGNORECASE), SWAP_WORDS)
_SORRY = Sieve(re.compile(r"\b(?:sorry|apolog\w+|excuse\w*|oops|pardon|entschuldig\w*|verzeihung|d[ée]sol[ée]e?s?|perd[oó]n\w*|scusa\w*|mi dispiace|desculp\w*|sorry|excuses)\b", re.IGNORECASE), "sorry|apolog|excus|oops|pardon|entschuldig|verzeihung|sol|perd|scus|dispiac|desculp")  # fmt: skip
#: A reason of today's: somebody changed their mind.
_REASON = re.compile(
    r"\b(?:because|since|can't|cannot|can not|now|would rather|rather|prefer\w*|changed|moved|weil|da ich|doch|lieber|parce que|car|puisque|plut[oô]t|porque|ya que|mejor|perch[eé]|siccome|piuttosto|prefiro|omdat|liever)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(r"\b(?:also|as well|too|additionally|besides|another|forgot\w*|plus|auch|noch|zusätzlich|vergessen|aussi|oubli\w+|tambi[eé]n|olvid\w+|anche|dimenticat\w*|tamb[eé]m|esqueci\w*|ook|vergeten)\b", re.IGNORECASE)  # fmt: skip
#: What stands before a value that it is not.
IS_NOT = re.compile(
    r"(?:\b(?:not|no|nicht|kein\w{0,2}|pas|non|n[aã]o|niet|geen|instead of|rather than|statt|anstatt|anstelle (?:von|des)|au lieu d[eu]|et pas|en (?:vez|lugar) del?|y no|e non|invece d(?:i|el)|em vez d[eo]|e n[aã]o|in plaats van)"
    r"|≠)\s{1,3}(?:(?:on|at|am|um|vom|den|[aà]|le|the|die|der|das|les?|las?|los|el|il|i|gli|os?|as?|de|het|dia|op)\s){0,2}[$€£]?\s?\Z",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?<![\w.:,])(?P<hour>[01]?\d|2[0-4])(?:[:.h](?P<minute>[0-5]\d)(?!\.?\d)|\s?(?=h\b|uhr\b|am\b|pm\b|a\.m|p\.m|heures?\b|o'clock))\s?(?P<half>am|pm|a\.m|p\.m)?", re.IGNORECASE)  # fmt: skip
#: How a sentence begins that says what is right.
_GOES_ON = re.compile(
    r"(?:it|that|this|the (?:right|correct|real)|should|must|make it|richtig|es|das|gemeint|der|die|c['’]est|c['’]était|ce|il|la bonne|le bon|es|era|son|eran|debe|è|era|sono|deve|é|era|são|o certo|a certa|het|dat|juist)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?P<right>[^\W\d_]{3,30}),? (?:and |und |et |y |e |en )?(?:not|nicht|pas|no|non|não|niet|instead of|statt|au lieu de|invece di|em vez de|in plaats van) (?:the |in |to |die |der |das |le |la |el |il |lo |o |a |de |het )?(?P<wrong>[^\W\d_]{3,30})\b"
    r"|\b(?:not|nicht|pas|no|non|não|niet) (?P<wrong2>[^\W\d_]{3,30}),? (?:but|sondern|mais|sino|ma|mas|maar) (?P<right2>[^\W\d_]{3,30})\b",
    re.IGNORECASE,
)
_WRONG_WHAT = re.compile(r"\bwrong (?:\w{2,20} )?(\w{3,20})")
_KINDS = {"date": "day", "day": "day", "time": "time", "hour": "time", "amount": "figure", "sum": "figure", "figure": "figure", "number": "figure", "quantiti": "figure", "total": "figure"}  # fmt: skip
#: Short words behind a figure that are no unit.
JOINS = frozenset(["a", "an", "and", "as", "at", "for", "from", "in", "of", "on", "to", "und", "ab", "für", "pro", "et", "pour", "y", "para", "e", "per", "em", "en", "voor", "o", "or"])  # fmt: skip
_FIRST = re.compile(r"\b(?:i|we|my|mine|our|ich|wir|mein\w*|unser\w*|je|j|nous|mon|ma|mes|he|hemos|mi|mis|yo|ho|abbiamo|io|mio|mia|eu|meu|minha|ik|wij|mijn|enganei|troquei|confundi)\b")  # fmt: skip
_SECOND = re.compile(r"\b(?:you|your|du|dein\w*|ihr|sie|tu|vous|votre|usted|lei|voce|jij|jouw|u|uw)\b")
#: The speaker did it, rather than wants it done.
_DID = re.compile(
    r"\bi (?:have |had |must have |probably |accidentally )?(?:gave|given|wrote|written|sent|typed|entered|put|got|told|named|listed|mixed|swapped|transposed|switched|reversed)\b|\b(?:ich hab\w?|hab\w? ich|ich hatte|wir haben)\b|\bj['’]ai\b|\bnous avons\b"
    r"|\b(?:he|hemos|puse|di|escribi) |\b(?:ho|abbiamo|avevo) |\b(?:troquei|dei|escrevi|enganei|coloquei)\b|\b(?:ik heb|heb ik|wij hebben)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

V = TypeVar("V")


def blames(text: str) -> bool:
    """Whether somebody owns up to a mistake of theirs."""
    return _BLAMES.search(text[:4000]) is not None


def owns_up(text: str) -> bool:
    """Whether a message may take back something that was wrong in an earlier one: a quick look."""
    return blames(text) or _SORRY.search(text[:4000]) is not None or _SWAPPED.search(text[:4000]) is not None


def replaced(text: str, given: str, action: Action) -> tuple[str, str | None] | None:
    """The value of an earlier message that an effect was given and that a later one replaces, and the right one, if it has that."""
    sure = blames(text)
    if not sure and not (_SORRY.search(text) and not _REASON.search(text)):
        return _changed_places(text, given, action)
    leaves = [leaf[:400] for _, leaf in action.leaves]
    found = (
        _days(text, given, leaves, sure=sure)
        or _times(text, given, leaves, sure=sure)
        or _figures(text, given, leaves, sure=sure)
        or (_names(text, given, action) if sure else None)
        or _words(text, given, leaves)
    )
    if found is not None:
        return found
    return _changed_places(text, given, action) or (_called_wrong(text, given, action) if sure else None)


# -- one of a kind for another ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _One(Generic[V]):
    """A value of a text: ``text`` as written, ``sentence`` in which it stands, whether it is said not to be it, and whether the blame is taken in that sentence or
    in the one before, which it goes on with (“It is …”)."""

    value: V
    text: str
    sentence: str
    no: bool
    owned: bool


def _one(value: V, written: str, text: str, start: int) -> _One[V]:
    begin = max(text.rfind(mark, 0, start) for mark in (". ", "! ", "? ", "\n")) + 1
    end = min((at for mark in (". ", "! ", "? ", "\n") if (at := text.find(mark, start)) >= 0), default=len(text))
    sentence = text[begin:end]
    before = text[:begin].rstrip()
    last = before[max(before.rfind(mark) for mark in (". ", "! ", "? ", "\n", "\x00")) + 1 :]
    owned = blames(sentence) or (_GOES_ON.match(sentence.strip()) is not None and blames(last))
    return _One(value, written, sentence, IS_NOT.search(text[max(start - 48, 0) : start]) is not None, owned)


def _pick(told: list[_One[V]], before: list[V], used: list[tuple[str, V]], same: object, *, sure: bool) -> tuple[str, str] | None:
    """The used value that a message replaces, and by what. ``told``: what it has of a kind; ``before``: what the earlier one has."""
    assert callable(same)
    for no in told:
        if no.no:
            wrong = next(((text, value) for text, value in used if same(no.value, value)), None)
            right = next((one for one in told if not one.no and wrong is not None and not same(one.value, wrong[1])), None)
            if wrong is not None and right is not None:
                return wrong[0], right.text
    if not sure:
        return None
    new = [
        one
        for one in told
        if not one.no and one.owned and not any(same(one.value, value) for value in before) and not _ALSO.search(one.sentence)
    ]
    meant = [(text, value) for text, value in used if any(same(one.value, value) for one in told)] or used
    if new and meant and all(same(meant[0][1], value) for _, value in meant):
        return meant[0][0], new[0].text
    return None


def _days(text: str, given: str, leaves: list[str], *, sure: bool) -> tuple[str, str] | None:
    told = days(text)
    if not told:
        return None
    done = [day for leaf in leaves for day in days(leaf)]
    before = list(days(given))
    used = [(_written(day, given), day) for day in before if any(day.may_be(one) for one in done)]
    spoken = fold(text)
    return _pick([_one(day, _written(day, text), spoken, day.start) for day in told], before, used, Day.may_be, sure=sure) if used else None


def _written(day: Day, text: str) -> str:
    """A day as the text has it."""
    return text[day.start : day.end].strip(" .") if len(fold(text)) == len(text) else day.text


@remembered
def _clock(text: str) -> tuple[tuple[int, str, int], ...]:
    """The times of a text: the minute of the day, as written, and where it stands."""
    found: list[tuple[int, str, int]] = []
    for match in _TIME.finditer(text[:20_000]):
        hour, half = int(match["hour"]), (match["half"] or "").lower()
        hour = hour % 12 + 12 * half.startswith("p") if half else hour
        found.append((hour * 60 + int(match["minute"] or 0), match.group().strip(), match.start()))
    return tuple(found[:48])


def _times(text: str, given: str, leaves: list[str], *, sure: bool) -> tuple[str, str] | None:
    told = _clock(text)
    if not told:
        return None
    done = {minute for leaf in leaves for minute, _, _ in _clock(re.sub(r"(?<=\d)T(?=\d)", " ", leaf))}
    before = _clock(given)
    used = [(written, minute) for minute, written, _ in before if minute in done]
    ones = [_one(minute, written, text, start) for minute, written, start in told]
    return _pick(ones, [minute for minute, _, _ in before], used, int.__eq__, sure=sure) if used else None


def _figures(text: str, given: str, leaves: list[str], *, sure: bool) -> tuple[str, str] | None:
    told = _counted(text)
    if not told:
        return None
    done = {value for leaf in leaves for one in figures(leaf) for value in one.readings}
    before = _counted(given)
    used = [(one.text, one) for one in before if one.readings & done]

    def same(one: Figure, other: Figure) -> bool:
        return bool(one.readings & other.readings)

    ones = [_one(one, one.text, text, one.start) for one in told]
    for text_of, value in used:
        alike = [one for one in ones if one.no or _of_a_kind(one.value, value)]
        found = _pick(ones if any(one.no for one in ones) else alike, before, [(text_of, value)], same, sure=sure and bool(alike))
        if found is not None and (any(one.no for one in ones) or sum(_of_a_kind(value, other) for _, other in used) == 1):
            return found
    return None


def _of_a_kind(one: Figure, other: Figure) -> bool:
    return bool(one.unit) and one.unit not in JOINS and (one.unit == other.unit or stem(one.unit) == stem(other.unit))


def _counted(text: str) -> list[Figure]:
    """The figures of a text that are parts of no day or time."""
    taken = [(day.start, day.end) for day in days(text)] + [(start, start + len(written)) for _, written, start in _clock(text)]
    return [one for one in figures(text) if not any(begin < one.end and one.start < end for begin, end in taken)]


def _names(text: str, given: str, action: Action) -> tuple[str, str] | None:
    told, before = identifiers(text), identifiers(given)
    used = sorted(action.terms & before)
    for right in sorted(told - before):
        alike = [one for one in used if shape(one) == shape(right)]
        named = [one for one in alike if one in told] or alike
        if len(named) == 1 and not right.replace(".", "").isdigit() and not _ALSO.search(text):
            return _as_written(named[0], given), _as_written(right, text)
    return None


def _as_written(term: str, text: str) -> str:
    """A term as a text has it."""
    at = text.lower().find(term)
    return text[at : at + len(term)] if at >= 0 else term


def _words(text: str, given: str, leaves: list[str]) -> tuple[str, str] | None:
    """Words that stand against each other: “Lemaire, not Lemoine”."""
    before: set[str] | None = None
    for match in _CONTRAST.finditer(text[:4000]):
        right, wrong = match["right"] or match["right2"], match["wrong"] or match["wrong2"]
        before = before if before is not None else set(fold(given).split(" ")) | set(re.findall(r"[^\W\d_]+", fold(given)))
        used = any(fold(wrong) in re.findall(r"[^\W\d_]+", fold(leaf)) for leaf in leaves)
        if used and fold(wrong) in before and fold(right) != fold(wrong):
            return wrong, right
    return None


# -- called wrong ----------------------------------------------------------------------------------------------------------------


def _called_wrong(text: str, given: str, action: Action) -> tuple[str, None] | None:
    """The argument that a message calls wrong by its name or kind, as the earlier one gave it."""
    had = set(terms(given))
    for match in _WRONG_WHAT.finditer(gloss(text[:4000])):
        what = stems(match.group())
        kind = next((_KINDS[one] for one in what if one in _KINDS), None)
        for path, leaf in action.leaves:
            named = {stem(word) for word in words_of(path.rpartition(".")[2])} & (what - {"wrong"})
            mine = set(terms(leaf[:400]))
            if named and mine and mine <= had:
                return leaf[:80], None
            if kind == "day" and (day := next((one for one in days(given) if any(one.may_be(other) for other in days(leaf[:400]))), None)):
                return day.text, None
            if kind == "time" and {one for one, _, _ in _clock(given)} & {one for one, _, _ in _clock(leaf[:400])}:
                return leaf[:80], None
    return None


def _changed_places(text: str, given: str, action: Action) -> tuple[str, None] | None:
    """The values of an effect that stand in the earlier message in the same order, where the person says that they gave them the wrong way round."""
    if not any(
        _mine(sentence) and (_DID.search(fold(sentence)) or blames(text))
        for sentence in _SENTENCE.split(text[:4000])
        if _SWAPPED.search(sentence)
    ):
        return None
    had = numbers(given[:20_000])
    for _, leaf in action.leaves:
        mine = numbers(leaf[:400])
        if len(mine) >= 2 and any(had[at : at + 2] == mine[:2] for at in range(len(had) - 1)):
            return leaf[:80], None
    spoken = fold(given)
    whole = [leaf for _, leaf in action.leaves if len(leaf) >= 2 and len(leaf) <= 80 and fold(leaf) in spoken]
    return (" / ".join(whole[:2]), None) if len(whole) == 2 else None


def _mine(sentence: str) -> bool:
    """Whether a sentence is of what the speaker did."""
    spoken = fold(sentence)
    first, second = _FIRST.search(spoken), _SECOND.search(spoken)
    return first is not None and (second is None or first.start() < second.start())
