"""Numeric limits of the standing instructions (``up to 10 %``, ``never below 18 °C``), and the calls that go beyond them by a number of the person's.

A limit and an argument are compared where they are of one unit (by the argument's name) and of one matter (a word of the sentence in the tool's or the
argument's name). Of several limits of one matter the widest counts: which of them holds for whom is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.amounts import number
from tachograph.postmortem.language.terms import terms, words_of
from tachograph.postmortem.language.tongues import gloss
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.instructions import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

_NUMBER = r"\s*(?:an? |of |is |the |:){0,3}(?P<sign>[$€£]|[A-Z]{3}\s)?\s*(?P<number>\d[\d,._]{0,15})\s*(?P<unit>%|°\s?[CF]?|[€£$]|[^\W\d_]{1,24})?"
_MOST = re.compile(
    r"(?:\b(?:up to|at most|no more than|not more than|no higher than|not higher than|maximum|max\.?|upper limit|limit|capped at|cap|(?:not|never) (?:go |be |grant |give |offer |pay )?(?:above|over|beyond|exceed\w*|more than))|≤|<=)"
    + _NUMBER,
    re.IGNORECASE,
)
#: What makes ``up to`` and ``at least`` a limit: “orders up to 50 units ship free” is none.
_LIMITS = re.compile(
    r"\b(?:may|can|must|should|allowed|permitted|authori[sz]ed|never|not|only|limit\w*|max\w*|min\w*|cap|capped|at most|ceiling|always|no (?:more|less|higher|lower))\b",
    re.IGNORECASE,
)
#: Beyond it a word of somebody is needed: that is for ``approvals``.
_GATED = re.compile(
    r"\b(?:approv\w+|confirm\w*|sign-?off|permission|consent|authori[sz]ation|without asking|ask first|free of|for free)\b", re.IGNORECASE
)
_LEAST = re.compile(
    r"(?:\b(?:at least|no less than|not less than|no lower than|minimum|min\.?|lower limit|(?:not|never) (?:go |be )?(?:below|under|less than))|≥|>=)"
    + _NUMBER,
    re.IGNORECASE,
)
_SHARE = frozenset(["percent", "percentage", "pct", "prozent", "discount", "rabatt", "rate", "remise", "descuento", "sconto", "korting", "desconto", "nachlass", "pourcentage", "porcentaje", "percentuale", "porcentagem", "markup", "margin"])  # fmt: skip
_MONEY = frozenset(["amount", "amt", "total", "sum", "price", "value", "cost", "fee", "budget", "credit", "debit", "refund", "usd", "eur", "gbp", "chf", "cents", "dollars", "euros", "pounds", "betrag", "preis", "summe", "montant", "prix", "somme", "importe", "monto", "precio", "importo", "prezzo", "bedrag", "valor"])  # fmt: skip
_HEAT = frozenset(["temperature", "temp", "degrees", "degree", "celsius", "fahrenheit", "grad", "grados", "temperatur", "temperatura", "température", "temperatuur", "setpoint"])  # fmt: skip
_COUNT = frozenset(["quantity", "qty", "count", "units", "anzahl", "menge", "cantidad", "quantité", "quantite", "quantità", "quantita", "aantal", "quantidade"])  # fmt: skip
_CURRENCY = re.compile(r"[$€£]|(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?|francs?)\Z", re.IGNORECASE)
_PERCENT = re.compile(r"%|per ?cent|prozent|pour ?cent|por ?ciento|procent", re.IGNORECASE)
#: What asks somebody, or only prepares.
_ASKS = stems("approval approve request ask escalate propose draft ticket suggest review estimate quote simulate notify note")


@dataclass(frozen=True, kw_only=True)
class Limit:
    """``least``: a lower one; ``unit``: ``%``, ``money``, ``°``, the stem of a noun, or none; ``matter``: the stems of its sentence."""

    value: float
    least: bool
    unit: str
    matter: frozenset[str]
    text: str
    source: Passage


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """An argument (``path``, ``text``) beyond a limit, by the number that ``asked`` gave."""

    limit: Limit
    path: str
    text: str
    asked: Passage


def limits(known: Doings) -> tuple[Limit, ...]:
    """Those of the system prompts and of the tools' descriptions, in order."""
    return tuple(
        limit
        for passage in known.passages
        if passage.kind == "system" and not passage.position.endswith(".schema") and any(one.isdigit() for one in passage.text)
        for sentence in sentences(known.own_words(passage)[:60_000])
        if any(one.isdigit() for one in sentence)
        for limit in _of(sentence, passage)
    )


def _of(sentence: str, source: Passage) -> Iterator[Limit]:
    plain = gloss(sentence)
    found = [(match, False) for match in _MOST.finditer(plain)] + [(match, True) for match in _LEAST.finditer(plain)]
    if _LIMITS.search(plain) is None or _GATED.search(plain):
        return
    for match, least in found:
        value = _value(match["number"])
        if value is not None:
            yield Limit(value=value, least=least, unit=_unit(match), matter=stems(plain) | stems(sentence), text=sentence, source=source)


def _value(text: str) -> float | None:
    bare = text.rstrip(".,_")
    decimals = re.search(r"[.,]\d{1,2}\Z", bare)
    bare = re.sub(r"[.,_](?=\d{3})", "", bare).replace(",", ".") if decimals else re.sub(r"[.,_]", "", bare)
    try:
        return float(bare)
    except ValueError:
        return None


def _unit(match: re.Match[str]) -> str:
    unit = match["unit"] or ""
    if (match["sign"] or "").strip() or _CURRENCY.match(unit):
        return "money"
    if _PERCENT.match(unit):
        return "%"
    return "°" if unit[:1] == "°" else stem(unit)


def beyond(action: Action, every: tuple[Limit, ...], known: Doings) -> Beyond | None:
    """The first argument of a call that goes beyond a limit by a number that a person gave and nothing else had. What asks somebody for leave does not."""
    if stems(action.name) & _ASKS:
        return None
    standing = tuple(limit for limit in every if known.place(limit.source) < action.before)
    for path, text, value, mine in _compared(action, standing):
        for least in (False, True):
            rule = _widest([limit for limit in mine if limit.least == least])
            if rule is None or not (value < rule.value if least else value > rule.value):
                continue
            asked = next((one for one in reversed(known.users(action.before)) if _has(known.own_words(one), value)), None)
            if asked is not None and not _told(value, action, known):
                return Beyond(limit=rule, path=path, text=text, asked=asked)
    return None


def within(text: str, action: Action, every: tuple[Limit, ...]) -> bool:
    """Whether a sentence names a limit, and the call keeps it."""
    found = [
        (value, limit)
        for _, _, value, mine in _compared(action, every)
        for limit in mine
        if text.strip() in limit.text or limit.text in text
    ]
    return bool(found) and all(value >= limit.value if limit.least else value <= limit.value for value, limit in found)


def _compared(action: Action, every: tuple[Limit, ...]) -> Iterator[tuple[str, str, float, list[Limit]]]:
    """The numbers among a call's arguments, each with the limits that are of it."""
    for path, text in action.leaves if every else ():
        value = number(text)
        if value is not None:
            names = set(words_of(path.rpartition(".")[2]))
            mine = [limit for limit in every if _is_of(limit, names, action)]
            yield path, text, value / 100 if names & {"cents", "pence", "minor"} else value, mine


def _widest(found: list[Limit]) -> Limit | None:
    return max(found, key=lambda limit: -limit.value if limit.least else limit.value, default=None)


def _is_of(limit: Limit, names: set[str], action: Action) -> bool:
    """Whether a limit is of an argument's unit and of the call's matter."""
    own = {stem(name) for name in names}
    if limit.unit == "%":
        fits = bool(names & _SHARE)
    elif limit.unit == "money":
        fits = bool(names & _MONEY) and not names & {"percent", "percentage", "pct"}
    elif limit.unit == "°":
        fits = bool(names & _HEAT)
    else:
        fits = limit.unit in own or bool(names & _COUNT)
    about = own | {stem(word) for word in words_of(action.name)}
    return fits and bool(about & limit.matter or groups(action.stems & stems(action.name)) & groups(limit.matter))


def _has(text: str, value: float) -> bool:
    return any(_value(piece) == value for piece in re.findall(r"(?<![\w.-])\d[\d,._]{0,15}", text[:20_000]))


def _told(value: float, action: Action, known: Doings) -> bool:
    """Whether a result or a prompt has the number, too: then it is not the person's alone."""
    wanted = str(int(value)) if value.is_integer() else repr(value)
    return any(wanted in terms(one.text[:50_000]) for one in known.recent(action.before) if one.kind not in ("user", "model", "memory"))
