"""Exceptions and conditions of a choice that were said once, and are no longer in the history: told by the records of what was acted on.

``Pay all of it, Kessler stays unpaid`` names one of several records; ``no stopovers, direct flights only`` names a field of them, or a value in it. Such
a clause has a word that excludes or singles out (in several languages) beside a word which the record of one thing has, and that of another thing of
the same list has not. It is broken where an effect takes a record that it excludes, or one that lacks what it asks for while another one has it.

Or it names one of a row by its number (``leave flat 1 out``): it is broken where an effect is given that number, under a name by which others of the row were
looked at or acted on, too.

A clause that holds until something happens (``not before …``) is broken where nothing at all was done with the thing in between.

*Cannot see*: wishes that no record has a word of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.amounts import amounts
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import identifiers, names_one
from tachograph.postmortem.language.tongues import fold, gloss
from tachograph.postmortem.language.verbs import groups, stems
from tachograph.postmortem.meaning.records import Record, records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tachograph.postmortem.meaning.actions import Action, Doings

#: Words that exclude, without accents; English, German, French, Spanish, Italian, Portuguese, Dutch.
_EXCLUDES = frozenset([
    "not", "never", "except", "excepting", "excluding", "exclude", "without", "no", "none", "nothing", "nobody", "nichts", "niemand",
    "niemanden", "rien", "nadie", "nessuno", "ninguem", "niets", "nulla", "neither", "nor", "dont", "skip", "omit", "avoid", "spare",
    "ignore", "nicht", "nie", "kein", "keines", "keins", "keine", "keinen", "keiner", "keinem", "ausser", "ohne", "ausgenommen",
    "auslassen", "weglassen", "sauf", "pas", "jamais", "sans", "hormis", "excepte", "aucun", "aucune", "evite", "evitez", "excepto",
    "salvo", "menos", "sin", "nada", "ningun", "ninguna", "nunca", "evita", "evitar", "tranne", "eccetto", "non", "senza", "nessun",
    "nessuna", "niente", "evitare", "escluso", "esclusa", "exceto", "sem", "nao", "nenhum", "nenhuma", "behalve", "niet", "geen",
    "zonder", "nooit", "uitgezonderd"
])  # fmt: skip
#: “Leave that one out”, “it stays as it is”: words that exclude only together.
_LEFT = re.compile(
    r"\b(?:leave|keep|lass|lassen|lasst|laisse\w{0,2}|d[eé]j[ae]\w{0,2}|lascia\w{0,2}|deix[ae]\w{0,2}|laat)\b[^,;]{1,50}\b(?:alone|out|aside|untouched|as (?:it|they) (?:is|are)|weg|aus|stehen|liegen|in ruhe|de c[oô]t[eé]"
    r"|tranquille|fuera|en paz|fuori|stare|fora|em paz|met rust|weg|empty|free(?! of)|closed|blank|vides?|libres?|ferm[eé]\w{0,2}|vac[ií][oa]s?|cerrad[oa]s?|vuot[oaie]|liber[oaie]|chius[oaie]|vazi[oa]s?|livres?|fechad[oa]s?|leeg|vrij|leer|frei)\b"
    r"|\b(?:leer|frei|geschlossen|leeg|vrij|gesloten) (?:bleib|lass|halt|blijv|blijf|lat|laat|houd)\w{0,3}\b"
    r"|\b(?:stays?|remains?|bleib\w{0,3}|reste\w{0,2}|queda\w{0,2}|resta\w{0,2}|fica\w{0,2}|blijf\w{0,2})\b[^,;]{1,40}\b(?:empty|free(?! of)|closed|blank|vides?|libres?|ferm[eé]\w{0,2}|vac[ií][oa]s?|cerrad[oa]s?|vuot[oaie]|liber[oaie]|chius[oaie]|vazi[oa]s?|livres?|fechad[oa]s?|leeg|vrij|leer|frei)\b"
    r"|\b(?:stays?|remains?|bleibt|bleiben|reste|restent|queda|quedan|resta|restano|fica|ficam|blijft|blijven|rester|quedar|restare|ficar)\s*(?:\Z|(?:empty|free(?! of)|closed|blank|vides?|libres?|ferm[eé]\w{0,2}|vac[ií][oa]s?|cerrad[oa]s?|vuot[oaie]|liber[oaie]|chius[oaie]|vazi[oa]s?|livres?|fechad[oa]s?|leeg|vrij|leer|frei|as|until|till|bis|jusqu|hasta|finch|at[eé]|tot|here|put|out|wie|hier|draussen|drau[sß]+en|fuera|fuori|as[ií]|cos[iì]|de lado))",
    re.IGNORECASE,
)
_UN = re.compile(r"un(?:paid|touched|changed|sent|booked|opened|signed|published|deleted|answered|billed|shipped|moved|bezahlt\w*|ber[uü]e?hrt\w*|angetastet\w*|ver[aä]e?ndert\w*)$")  # fmt: skip
#: Words that single out.
_ONLY = frozenset([
    "only", "just", "solely", "exclusively", "nur", "ausschliesslich", "lediglich", "seulement", "uniquement", "exclusivement", "solo",
    "solamente", "unicamente", "exclusivamente", "soltanto", "apenas", "somente", "alleen", "uitsluitend", "slechts"
])  # fmt: skip
#: It holds until something happens.
_UNTIL = re.compile(r"\b(?:until|unless|before|till|bis|bevor|ehe|solange|avant|jusqu\w*|tant que|vor (?=de|ende|anfang|\d)|voor (?=de|het|eind|\d)|hasta|antes|mientras|finch[eé]|prima|at[eé]|tot|totdat|voordat)\b", re.IGNORECASE)  # fmt: skip
#: It tells of what was, or of an order of doing.
_WHILE = re.compile(
    r"\b(?:yet|still has|if|once|first|last|later|erst|falls|wenn|sobald|si|d'abord|cuando|quando|als"
    r"|(?:has|have|had|did|was|were|does)(?: not|n't)|hasn't|haven't|(?:hat|habe|haben|wurde|wurden|ist|sind) (?:\w+ ){0,2}nicht|n'(?:a|ont|est|avait) pas|no (?:ha|han|fue|es|est[aá])|non (?:ha|hanno|[eè])|not only|no problem|no rush|kein problem)\b",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"[.;:!?](?=\s|\Z)|[\n()]|\s[–—-]\s|\b(?:but|aber|sondern|mais|pero|sino|ma|mas|maar|however)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_NOT_TO = re.compile(r"\b(?:do not|don'?t|never|must not|please not|not to) (?:please |ever )?([a-z]{3,})", re.IGNORECASE)
#: Verbs of whatever is done to a thing.
_ANY = stems("touch include process use take handle treat count consider")
#: Records that are looked at for what an action is about, and passages before it.
_NEAR = 80
_FALSE = frozenset(["", "0", "0.0", "false", "none", "null", "no", "nein", "non", "nee", "nao", "-"])


@dataclass(frozen=True)
class Clause:
    """``words``: folded, without their endings of the plural; ``only``: it singles out, else it excludes; ``until``: what says until when."""

    text: str
    words: frozenset[str]
    only: bool
    until: str


def bare(word: str) -> str:
    """A word as it is compared: folded, without an ending of the plural."""
    word = fold(word)
    for ending in ("es", "en", "s", "n"):
        if len(word) > 4 + len(ending) and word.endswith(ending):
            return word.removesuffix(ending)
    return word


@remembered
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text that exclude or single out something."""
    return tuple(_clauses(text[:20_000]))


def _clauses(text: str) -> Iterator[Clause]:
    for sentence in _SENTENCES.split(text):
        if not sentence or len(sentence) > 400 or _WHILE.search(sentence):
            continue
        marked: bool | None = None
        for piece in re.split(r",", sentence):
            found = [fold(word.replace("'", "").replace("’", "")) for word in _WORD.findall(piece)]
            only = bool(_ONLY & set(found))
            left = _LEFT.search(piece.strip()) is not None
            excludes = left or any(
                word in _EXCLUDES or _UN.match(word) or word in ("dont", "wont", "shouldnt", "mustnt", "cant") for word in found
            )
            if only or excludes:
                marked = only and not excludes
            elif len(found) > 4:
                marked = None
            if marked is not None:
                telling = frozenset(bare(word) for word in found if len(word) > 3 and word not in _EXCLUDES and word not in _ONLY)
                telling = telling or frozenset(word for word in found if any(map(str.isdigit, word)))
                until = _UNTIL.search(piece) or _UNTIL.search(sentence)
                if telling:
                    yield Clause(piece.strip(), telling, marked, until.string[until.start() :].strip() if until is not None else "")


def lost_clauses(gone: Iterable[str], visible: str) -> list[Clause]:
    """Those of lost texts that have no counterpart in what is left: none of the same kind that shares a word with it."""
    lost = [one for text in gone for one in clauses(text) if one.text not in visible]
    left = clauses(visible) if lost else ()
    return [one for one in lost if not any(other.only == one.only and other.words & one.words for other in left)]


#: A thing and its number, or several of them: “flat 1”, “Wohnung 3 und 4”, “lots 7, 9”.
_NUMBERED = re.compile(
    r"\b(?P<noun>[^\W\d_]{3,24})\s+(?:(?:no|nr|n°|nº|num|number)\.?\s*|#)?(?P<numbers>\d{1,6}(?:\s?(?:,|&|and|or|und|oder|et|ou|y|o|e|en|of)\s?\d{1,6}){0,8})\b(?![.,]?\d|\s?[%€$£]|:\d)",
    re.IGNORECASE,
)
_NO_THING = frozenset([
    "than", "over", "under", "above", "below", "before", "after", "until", "till", "from", "only", "more", "less", "least", "most", "about", "exceed",
    "within", "every", "next", "last", "first", "the", "and", "for", "with", "als", "uber", "unter", "vor", "nach", "bis", "von", "ab", "mehr", "que", "plus",
    "moins", "avant", "apres", "jusqu", "sur", "sous", "mas", "menos", "antes", "hasta", "desde", "sobre", "piu", "meno", "prima", "dopo", "fino", "mais", "ate",
    "meer", "minder", "voor", "tot", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
])  # fmt: skip
#: What tells that something is left out, in whatever words, where its number stands.
_KEPT = re.compile(
    r"exclu|exempt|except|skip|omit|not? |n't|never|leave|left|hold|agree|instal|ausnahm|ausgenom|nicht|kein|ohne|auss?er|außer|sauf|pas |sans|exce|salvo|sin |esclu|tranne|senza|sem |niet|geen|behalve|zonder",
    re.IGNORECASE,
)
#: “Do not forget flat 2”: what is not to be left out.
_FORGET = re.compile(r"\b(?:forg[eo]t|miss|overlook|vergess|vergiss|übersehen|oubli|olvid|dimentic|esque[cç]|verge[et])", re.IGNORECASE)
#: So many of a row, at the least, have been under a name that an argument is known to name one of it.
_ROW = 3


@remembered
def numbered(text: str) -> tuple[tuple[str, str], ...]:
    """The things of a text that are named by a number, as (noun, number)."""
    return tuple(
        (bare(match["noun"]), number.lstrip("0") or "0")
        for match in _NUMBERED.finditer(text[:4000])
        if fold(match["noun"]) not in _NO_THING
        for number in re.findall(r"\d+", match["numbers"])
    )


def broken_number(
    gone: Iterable[str], visible: str, actions: Iterable[Action], known: Doings, since: int
) -> tuple[str, Action, str] | None:
    """The first effect on one of a row that a lost clause leaves out by its number: the clause, the effect, the number. ``since``: the line of the loss."""
    lost = [
        (clause, number)
        for text in gone
        for clause in clauses(text)
        if not clause.only and clause.text not in visible and not _FORGET.search(clause.text)
        for number in (*(number for _, number in numbered(clause.text)), *_codes(clause.text))
        if not _still_out(number, visible)
    ]
    if not lost:
        return None
    rows: dict[str, set[str]] = {}
    for action in known.actions:
        for path, text in action.leaves:
            if len(text) <= 6 and text.isdigit():
                rows.setdefault(path, set()).add(_number(text))
    for action in actions:
        if action.effect is None or action.run.kind != "tool":
            continue
        for clause, number in lost:
            under = [path for path, text in action.leaves if _number(text) == number and not _how_much(path)]
            if not any(not number.isdigit() or len(rows.get(path, ())) >= _ROW for path in under) or not _forbids(clause, action):
                continue
            if clause.until and (_looked_at(known, action) or until_met(clause, action, known, since)):
                continue
            if not any(
                passage.seq >= since and _stands(number, passage.text) and not _is_made(passage.text, known)
                for passage in known.users(action.before)
            ):
                return clause.text, action, number
    return None


def _is_made(text: str, known: Doings) -> bool:
    """Whether a message has what a model made of the history."""
    return any(len(reply.text) >= 60 and reply.text.strip() in text for reply in known.replies[-200:])


def _still_out(number: str, visible: str) -> bool:
    """Whether what is left says, near its number, that something is left out."""
    sentences = re.split(r"(?<=[.;!?])\s|\n|,\s", visible[:40_000])
    return any(_stands(number, sentence) and _KEPT.search(sentence) for sentence in sentences)


def _stands(number: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,-]){re.escape(number)}(?![\w-]|[.,]\d)", text, re.IGNORECASE) is not None


def _number(text: str) -> str:
    """A number without leading zeros, and anything else in lower case."""
    return (text.lstrip("0") or "0") if text.isdigit() else text.strip().lower()


def _codes(text: str) -> list[str]:
    """What a text names by letters and digits."""
    return sorted(one for one in identifiers(text) if any(map(str.isdigit, one)) and any(map(str.isalpha, one)))


def _how_much(path: str) -> bool:
    """Whether an argument says how much, rather than which."""
    return next(amounts({path.rpartition(".")[2]: 1}), None) is not None and not path.lower().endswith(("number", "unit", "units"))


def _forbids(clause: Clause, action: Action) -> bool:
    """Whether what a clause says not to do is what an action does; one that only leaves something out is of any."""
    plain = gloss(clause.text)
    verb = _NOT_TO.search(plain)
    if verb is None:
        return True
    told = stems(verb[1])
    return bool(told & (action.stems | _ANY) or groups(told) & action.groups)


def broken_clause(
    lost: list[Clause], actions: Iterable[Action], known: Doings, but: int | None = None
) -> tuple[Clause, Action, str] | None:
    """The first effect that takes what a clause excludes, or another one than it asks for; and by which word of its record. ``but``: a step whose own
    opening is no person's word."""
    for action in actions:
        if action.effect is None or action.run.kind != "tool":
            continue
        for mine, others in _records(known, action):
            for clause in lost:
                word = _breaks(clause, mine, others, action)
                if (
                    word is not None
                    and not (clause.until and _looked_at(known, action))
                    and not _told_again(known, clause, word, action, but)
                ):
                    return clause, action, word
    return None


def _records(known: Doings, action: Action) -> Iterator[tuple[Record, list[Record]]]:
    """The records of what an action was given, each with the others of its list."""
    ids = {term for term in action.terms if names_one(term)}
    if not ids:
        return
    for passage in reversed(known.recent(action.before, _NEAR)):
        if passage.kind in ("user", "system", "model"):
            continue
        every = records(passage.text)
        for one in every:
            own = {term for _, value in one.fields for term in (value.lower(),)}
            if not ids & own or ids & {value.lower() for key, value in one.fields if key in ("date", "day")}:
                continue
            kind = {key for key, _ in one.fields}
            others = [
                other
                for other in every
                if other is not one
                and not ids & {value.lower() for _, value in other.fields}
                and len(kind & {key for key, _ in other.fields}) * 2 >= len(kind)
            ]
            if others:
                yield one, others


def _has(record: Record, clause: Clause) -> frozenset[str]:
    """The words of a record: of its values, and the names of the fields that hold more than nothing (where the clause itself names no number)."""
    counts = not any(map(str.isdigit, clause.text))
    found: set[str] = set()
    for key, value in record.fields:
        if value.lower() in _FALSE:
            continue
        number = re.fullmatch(r"[\d.,]+", value)
        if len(value) <= 60 and not number:
            found.update(bare(word) for word in _WORD.findall(value) if len(word) > 3)
        if number and counts:
            found.update(bare(word) for word in re.split(r"[\W_]+", key) if len(word) > 3)
    return frozenset(found)


def _breaks(clause: Clause, mine: Record, others: list[Record], action: Action) -> str | None:
    has = _has(mine, clause)
    if clause.only:
        wanted = next((word for other in others for word in sorted((_has(other, clause) - has) & clause.words)), None)
        return wanted if wanted is not None and not has & clause.words else None
    shared = sorted(word for word in has & clause.words if any(word not in _has(other, clause) for other in others))
    if not shared:
        return None
    plain = gloss(re.sub(r"\bun(?=[a-z]{4})", "", clause.text))
    verb = _NOT_TO.search(plain)
    if verb is not None:  # what must not be done to it is said
        told = stems(verb[1])
        return shared[0] if told & (action.stems | _ANY) or groups(told) & action.groups else None
    doing = groups(stems(plain) - _ANY)
    return shared[0] if not doing or not action.groups or doing & action.groups else None


def _looked_at(known: Doings, action: Action) -> bool:
    """Whether the thing was dealt with before: what was to be waited for may have come."""
    ids = {term for term in action.terms if names_one(term)}
    return any(ids & other.terms for other in known.actions if other.before < action.before)


def until_met(clause: Clause, action: Action, known: Doings, since: int) -> bool:
    """Whether what a clause was to hold until was spoken of between the loss and an action."""
    awaited = {bare(word) for word in _WORD.findall(clause.until) if len(word) > 3 and not _UNTIL.fullmatch(word)}
    return bool(awaited) and any(
        passage.seq >= since and passage.kind in ("user", "tool_result", "subagent")
        and 2 * len(awaited & {bare(word) for word in _WORD.findall(passage.text[:20_000])}) > len(awaited)
        for passage in known.recent(action.before, _NEAR)
    )  # fmt: skip


def _told_again(known: Doings, clause: Clause, word: str, action: Action, but: int | None) -> bool:
    """Whether a person spoke of the same again, in another message."""
    return any(
        (but is None or passage.step != but)
        and clause.text not in passage.text
        and word in {bare(one) for one in _WORD.findall(passage.text)}
        for passage in known.users(action.before)
    )
