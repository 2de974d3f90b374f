"""What tokens cost: a table of prices, as data with a date (``prices.toml``), that anybody can replace.

A model without an entry is unknown, and so is what it cost: nothing is guessed from a name that looks alike.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.providers.model import CACHED_WITHIN

#: Tokens of each kind. ``input`` are those that came from no cache.
KINDS = ("input", "output", "cache_read", "cache_write")


@dataclass
class Tokens:
    """Counts of one model's calls, as the provider says them; parts of a token where calls are shared by several."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0

    def add(self, other: Tokens) -> None:
        for kind in KINDS:
            setattr(self, kind, getattr(self, kind) + getattr(other, kind))


def counted(usage: Mapping[str, Any]) -> Tokens | None:
    """The counts of a model call, recorded or imported, or their sums: importers and recorders write the same names. None where nothing was
    counted."""
    found = [usage.get(f"{kind}_tokens") for kind in KINDS]
    if not any(type(count) is int for count in found):
        return None
    return Tokens(*(count if type(count) is int else 0 for count in found))


@dataclass(frozen=True)
class _Entry:
    prices: dict[str, float]
    since: datetime.date | None
    until: datetime.date | None


@dataclass(frozen=True)
class Prices:
    """``where``: the file; ``date``: when its prices were read; ``currency``: a word for people."""

    where: str
    date: str
    currency: str
    per: int
    sources: tuple[str, ...]
    entries: dict[str, list[_Entry]] = field(repr=False)

    def cost(self, provider: str | None, models: Sequence[str | None], day: datetime.date | None, tokens: Tokens) -> float | None:
        """What these tokens cost on that day; None where that is not known. ``models``: the names of one model, the most exact first."""
        entry = next((found for model in models if (found := self._entry(model, day)) is not None), None)
        if entry is None:
            return None
        fresh = tokens.input - (tokens.cache_read + tokens.cache_write if provider in CACHED_WITHIN else 0)
        total = 0.0
        for kind in KINDS:
            count = max(fresh, 0) if kind == "input" else getattr(tokens, kind)
            if count:
                if kind not in entry.prices:
                    return None
                total += count * entry.prices[kind]
        return total / self.per

    def _entry(self, model: str | None, day: datetime.date | None) -> _Entry | None:
        for entry in self.entries.get(model or "", []):
            if day is None and (entry.since or entry.until):
                continue
            if (entry.since is None or (day is not None and day >= entry.since)) and (
                entry.until is None or (day is not None and day < entry.until)
            ):
                return entry
        return None


def load(path: str | None = None) -> Prices:
    """The prices in a file, else those of the package. Raises ``UsageError`` for a file that is no such table."""
    if path is None:
        return _parsed(resources.files(__package__).joinpath("prices.toml").read_bytes(), "the price table of this version")
    try:
        with open(path, "rb") as file:
            data = file.read(4 << 20)
    except OSError as error:
        raise UsageError(f"cannot read the price table {path}, {error.strerror}; name another with --prices") from None
    return _parsed(data, path)


def _parsed(data: bytes, where: str) -> Prices:
    def wrong(what: str) -> UsageError:
        return UsageError(f"not a price table, {where}: {what}; docs/howto/ask-all-sessions.md shows one")

    try:
        table = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise wrong(" ".join(str(error).split())[:120]) from None
    date, per = table.get("date"), table.get("per", 1_000_000)
    if not isinstance(date, datetime.date):
        raise wrong("it has no date, a day as in date = 2026-01-31")
    if type(per) is not int or per <= 0:
        raise wrong("per must be a number of tokens")
    entries: dict[str, list[_Entry]] = {}
    models = table.get("model", [])
    for number, entry in enumerate(models if isinstance(models, list) else [], 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("ids"), list) or not all(isinstance(one, str) for one in entry["ids"]):
            raise wrong(f"entry {number} has no ids")
        prices = {kind: _price(entry[kind]) for kind in KINDS if kind in entry}
        if None in prices.values():
            raise wrong(f"a price of entry {number} is no sum of money")
        since, until = entry.get("from"), entry.get("until")
        if not all(day is None or type(day) is datetime.date for day in (since, until)):
            raise wrong(f"from and until of entry {number} must be days")
        for name in entry["ids"]:
            entries.setdefault(name, []).append(_Entry({kind: price for kind, price in prices.items() if price is not None}, since, until))
    sources = table.get("sources", [])
    return Prices(
        where, date.isoformat(), str(table.get("currency", "USD")), per,
        tuple(str(one) for one in sources) if isinstance(sources, list) else (), entries,
    )  # fmt: skip


def _price(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        return None
    return float(value)
