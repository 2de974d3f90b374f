"""Amounts among a call's arguments: numbers that say how much."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .terms import values, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MUCH = frozenset(
    ["amount", "amt", "total", "sum", "price", "value", "cost", "fee", "limit", "budget", "quantity", "qty", "count", "units", "number", "percent", "discount", "credit", "debit", "balance", "salary", "usd", "eur", "gbp", "cents", "dollars", "euros", "dose", "mg", "ml", "replicas", "size", "volume", "shares", "tokens", "days", "hours", "minutes", "rate"]
)  # fmt: skip
_HUNDREDTHS = frozenset(["cents", "pence", "minor"])
_NUMBER = re.compile(r"\A\s*(?:[A-Z]{3}|[$€£])?\s*(?P<number>[+-]?\d[\d,_]{0,15}(?:\.\d{1,8})?)\s*(?:[A-Za-z%€£$]{0,8})\s*\Z")


def amounts(value: Any) -> Iterator[tuple[str, float]]:
    """(path, amount) of the arguments whose names say that they are amounts; hundredths are told in wholes."""
    for path, text in values(value):
        names = set(words_of(path.rpartition(".")[2]))
        if names & _MUCH and (found := number(text)) is not None:
            yield path, found / 100 if names & _HUNDREDTHS else found


def number(text: str) -> float | None:
    """A text that is a number, with or without its currency or unit; else ``None``."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    return float(found["number"].replace(",", "").replace("_", ""))
