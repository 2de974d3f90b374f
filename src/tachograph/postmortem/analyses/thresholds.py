"""“Above 1,000 EUR a sign-off is needed”: how much an effect is about, where its own arguments do not say it.

A call that names a thing (an invoice, a quote) is about the amount that the latest record of this thing has; one that names several, about each of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.amounts import amounts, number
from tachograph.postmortem.language.terms import values, words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.once import entered, once
from tachograph.postmortem.meaning.records import records

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.effects import Effect
    from tachograph.postmortem.meaning.instructions import Instruction

#: What a field of money is called.
_MONEY = frozenset(
    ["amount", "amt", "total", "sum", "price", "value", "cost", "fee", "eur", "usd", "gbp", "chf", "pln", "sek", "nok", "dkk", "euro", "euros", "dollars", "net", "gross", "due", "payable", "balance",
     "betrag", "summe", "preis", "wert", "montant", "somme", "prix", "importe", "monto", "precio", "importo", "prezzo", "valore", "valor", "preco", "montante", "bedrag", "prijs", "kwota", "cena"]
)  # fmt: skip
_PARTS = re.compile(r"[,;\s|]+")
#: Several calls of one thing name it in so many characters at most, and so many things at most.
_LONG, _SEVERAL = 2000, 60


def worth(case: Case, effect: Effect) -> list[float]:
    """The amounts that an effect is about, as far as they are known."""
    own = [amount for _, amount in amounts(effect.run.input.value)]
    if own:
        return own
    return list(of_things(case, effect).values())


def of_things(case: Case, effect: Effect) -> dict[str, float]:
    """The amounts of the things that a call names, by these names, as their latest records before it have them."""
    if any(True for _ in amounts(effect.run.input.value)):
        return {}
    known = _amounts_of(case)
    found: dict[str, float] = {}
    for _, text in values(effect.run.input.value):
        for part in _PARTS.split(text[:_LONG])[:_SEVERAL]:
            latest = [amount for seq, amount in known.get(part.lower(), ()) if seq < effect.run.seq]
            if latest:
                found[part] = latest[-1]
    return found


def below(case: Case, effect: Effect, rule: Instruction) -> bool:
    """Whether an effect is known to stay, with all that it is about, within what a rule leaves free."""
    found = worth(case, effect) if rule.beyond is not None else []
    return bool(found) and rule.beyond is not None and sum(found) <= rule.beyond


@once
def _amounts_of(case: Case) -> dict[str, list[tuple[int, float]]]:
    """By what names a thing in a record (a value with a digit in it): the lines at which records of it came in, and the one amount that each has."""
    found: dict[str, list[tuple[int, float]]] = {}
    for passage in entered(case):
        if passage.kind in ("system", "user", "model"):
            continue
        for record in records(passage.text):
            much = {amount for name, text in record.fields if set(words_of(fold(name))) & _MONEY and (amount := number(text)) is not None}
            if len(much) != 1:
                continue
            for _, text in record.fields:
                if 2 <= len(text) <= 60 and number(text) is None and any(character.isdigit() for character in text):
                    found.setdefault(text.lower(), []).append((passage.seq, next(iter(much))))
    return found
