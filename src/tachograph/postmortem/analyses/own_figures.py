"""An input whose own figures contradict each other: so many at such a price are not its total, and another number of them is.

“Price per tray: 21.60 / Trays: 240 / Total: 518.40”: 24 trays are 518.40. That number must be a slip of the one that is there (a digit too many or too few,
digits swapped, a point in another place); a total that differs by some percent (taxes, a discount, shipping) or that no whole number explains says nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.figures import figures
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.records import records

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the words for a price of one, for a total and for how many begin with, without accents.
_PRICE = re.compile(r"\b(?:(?:unit|list|net|trade|piece)? ?price|rate|per|each|apiece|unit ?cost|preis|stuckpreis|einzelpreis|stuck|je|prix|unitaire|precio|unitario|prezzo|preco|prijs|stuksprijs|cena)|@")  # fmt: skip
_TOTAL = Sieve(re.compile(r"\b(?:(?:sub|grand)?-?total\w*|sum\b|amount|gesamt\w*|summe\w*|betrag\w*|gesamtpreis|montant\w*|somme|importe\w*|suma|importo\w*|somma|valor total|totaal\w*|bedrag\w*|kwota)"), "total|sum|amount|summe|betrag|gesamt|montant|somm|importe|importo|totaal|bedrag|kwota")  # fmt: skip
_COUNT = re.compile(r"\b(?:qty|quantity|quantities|count|number of|no\. of|units?|pieces?|pcs|menge\w*|anzahl|stuckzahl|quantite\w*|nombre|cantidad\w*|unidades|quantita|numero di|quantidade\w*|aantal|hoeveelheid|ilosc)\b")  # fmt: skip
#: What makes a total another one than price by quantity.
_OTHERWISE = re.compile(
    r"\b(?:discount|rebate|vat|tax|shipping|freight|delivery|deposit|instal?ment|down ?payment|surcharge|credit|minimum|free of charge|per (?:month|week|day|hour|year|night)|rabatt|skonto|mwst|versand|fracht|anzahlung|zuschlag|gutschrift|remise|tva|livraison|acompte"
    r"|descuento|iva|envio|anticipo|sconto|spedizione|acconto|desconto|frete|korting|btw|verzend\w*|aanbetaling)\b"
)
_LABELLED = re.compile(r"^[\s*•>|-]{0,6}(?P<label>[^\W\d][^:=\n|]{0,70}?)\s{0,3}[:=|]\s{0,3}(?P<value>[^\n|]{1,60})", re.MULTILINE)
_LONG = 20_000


@dataclass(frozen=True)
class Slip:
    """``count``: how many the input says, as written, under ``label``; ``meant``: how many its total is for."""

    label: str
    count: str
    number: float
    price: float
    total: float
    meant: int


@remembered
def slips(text: str) -> tuple[Slip, ...]:
    """The quantities of a text that its price and total contradict."""
    text = text[:_LONG]
    bare = fold(text).replace("_", " ")
    if not _TOTAL.search(bare) or not _PRICE.search(bare):
        return ()
    sets = [_of_fields(text)] if len(_labels(bare)) >= 3 else []
    sets += [[(name.replace("_", " "), value) for name, value in record.fields] for record in records(text) if len(record.fields) >= 3]
    found: dict[tuple[str, str], Slip] = {}
    for fields in sets:
        for slip in _slips_of(fields, bare):
            found.setdefault((slip.label, slip.count), slip)
    return tuple(found.values())


def _labels(bare: str) -> list[str]:
    return [match["label"] for match in _LABELLED.finditer(bare)]


def _of_fields(text: str) -> list[tuple[str, str]]:
    return [(match["label"], match["value"]) for match in _LABELLED.finditer(text)]


def _slips_of(fields: list[tuple[str, str]], bare: str) -> Iterator[Slip]:
    prices: list[float] = []
    totals: list[float] = []
    counts: list[tuple[str, str, float]] = []
    for label, value in fields[:60]:
        numbers = [figure for figure in figures(value) if len(figure.readings) >= 1]
        if len(numbers) != 1 or any(figure.unit == "%" for figure in numbers):
            continue
        (figure,) = numbers
        named = fold(label)
        if _COUNT.search(named) and not re.search(r"price|preis|prix|preci|prezz|prec|prij", named):
            counts += [(label, figure.text, number) for number in figure.readings if number.is_integer()]
        elif _TOTAL.search(named):
            totals += figure.readings
        elif _PRICE.search(named):
            prices += figure.readings
        else:
            counts += [(label, figure.text, number) for number in figure.readings if number.is_integer()]
    if not 1 <= len(prices) <= 2 or not 1 <= len(totals) <= 2:
        return
    known = {number for figure in figures(bare) for number in figure.readings}
    for price in prices:
        for total in totals:
            meant = round(total / price) if price > 0 and total > 0 else 0
            if meant < 1 or abs(meant * price - total) > max(0.011, total * 1e-6):
                continue
            if any(number == meant for _, _, number in counts) or meant in known:
                return  # there is a number of them that the total is for
            for label, written, number in counts:
                if number >= 1 and abs(number * price - total) > 0.02 and _slip(int(number), meant, plain=not _OTHERWISE.search(bare)):
                    yield Slip(label, written, number, price, total, meant)


def _slip(one: int, other: int, *, plain: bool) -> bool:
    """Whether a whole number is another one with a digit too many or too few, with two swapped, or, where nothing else explains it (``plain``) and they are
    far apart, with another one."""
    a, b = str(one), str(other)
    if abs(len(a) - len(b)) == 1:
        long, short = (a, b) if len(a) > len(b) else (b, a)
        return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
    if len(a) != len(b):
        return (a.rstrip("0") == b or b.rstrip("0") == a) and (a.endswith("00") or b.endswith("00"))
    apart = [place for place in range(len(a)) if a[place] != b[place]]
    far = not 0.5 <= one / other <= 1.6
    swapped = len(apart) == 2 and apart[1] == apart[0] + 1 and a[apart[0]] == b[apart[1]] and a[apart[1]] == b[apart[0]]
    return (swapped and (plain or far)) or (len(apart) == 1 and len(a) > 1 and plain and far)


def of_this(slip: Slip, path: str, text: str) -> bool:
    """Whether an argument is the contradicted number: the same figure, under a name that has a word of its label, or that says how many."""
    number = next((value for figure in figures(text) for value in figure.readings if value == slip.number), None)
    if number is None or len(text) > 24:
        return False
    name = " ".join(fold(word) for word in words_of(path.rpartition(".")[2].partition("[")[0]))
    words = {word[:4] for word in re.findall(r"[^\W\d_]{3,}", fold(slip.label))}
    return bool(_COUNT.search(name)) or any(word[:4] in words for word in name.split())
