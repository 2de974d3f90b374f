"""Whether the result of a call is of another form or scale than that of the very same call in another session: what changed is the tool, not the data.

Data change all the time (another stock, price, date, state), so a value that is otherwise says nothing, nor does a field that is new or gone. What does:

* *form*: a plain value is an object or a list now, or the other way round;
* *scale*: a number is the old one times a hundred, a thousand, a million, sixty or 3,600, to the digit, and has digits enough for that to be no chance; or a
  whole number of up to a hundred is a fraction of one now, and a field beside it came or went (percent, share);
* *unit*: the text of a field beside a number names another unit, and the number stayed, or changed its order of magnitude;
* *name*: a field is gone and another one has its number, as it is or in another of these scales.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.shapes import Run

#: Characters of a result that are looked at, and values of one.
_READ, _MOST = 20_000, 400
_SCALES = (100, 1000, 1_000_000, 60, 3600)
_NUMBER = re.compile(r"(?<![\w.,])\d{1,15}(?:\.\d{1,12})?(?![\w]|[.,]\d)")
_UNITS = frozenset(["unit", "units", "uom", "scale", "measure", "currency", "ccy", "einheit", "währung", "waehrung", "skala", "unité", "unite", "devise", "échelle", "unidad", "moneda", "escala", "unità", "unita", "valuta", "scala", "eenheid", "schaal", "unidade", "moeda", "enhet", "enhed", "jednostka", "waluta"])  # fmt: skip
_IDS = frozenset(["id", "ids", "no", "nr", "number", "code", "ref", "reference", "version", "page", "year", "at", "time", "timestamp", "date", "etag", "hash"])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Drift:
    """``field`` was ``before`` and is ``after``; ``how``: in words."""

    field: str
    before: str
    after: str
    how: str


def drift(then: Run, now: Run) -> Drift | None:
    """How the result of a call is of another form or scale than that of the same call before."""
    old, new = _value(then), _value(now)
    if isinstance(old, str) and isinstance(new, str):
        return _of_texts(old, new)
    if type(old) is not type(new) or not isinstance(old, dict | list) or old == new:
        return None
    before, after = dict(_leaves(old)), dict(_leaves(new))
    found = next(_forms(before, after), None)
    if found is not None:
        return found
    same = sum(1 for path, value in before.items() if path in after and after[path] == value)
    if not same:
        return None  # nothing shows that it is of the same thing
    return next(_numbers(before, after), None)


def _value(run: Run) -> Any:
    told = run.given if run.given.there else run.output
    text = told.text()[:_READ]
    return parsed(text)


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Values by their paths, the objects and lists among them as well (by their type); the places of a list are one path, its first."""
    if isinstance(value, dict):
        if path:
            yield path, dict
        for key, item in list(value.items())[:_MOST] if depth < 8 else ():
            yield from _leaves(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        if path:
            yield path, list
        if value and depth < 8:
            yield from _leaves(value[0], f"{path}[0]", depth + 1)
    elif value is not None and value != "":
        yield path, value


def _forms(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Drift]:
    for path, one in before.items():
        other = after.get(path)
        if other is None or isinstance(one, type) == isinstance(other, type):
            continue
        yield Drift(field=path, before=_said(one), after=_said(other), how="is of another form")


def _numbers(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Drift]:
    apart = {path for path in before.keys() ^ after.keys() if "[" not in path}
    units = [path for path in before if path in after and _names_unit(path) and before[path] != after[path]]
    for path, one in before.items():
        other = after.get(path)
        if not _is_number(one) or set(words_of(path.rpartition(".")[2])) & _IDS:
            continue
        if _is_number(other):
            unit = next((name for name in units if name.rpartition(".")[0] == path.rpartition(".")[0]), None)
            if unit is not None and (one == other or not 0.1 < abs(other / one) < 10):
                yield Drift(field=unit, before=str(before[unit]), after=str(after[unit]), how=f"is another unit, with {path} = {other}")
            elif one != other and (_scaled(one, other) or (_share(one, other) and apart)):
                yield Drift(field=path, before=str(one), after=str(other), how="is in another scale")
        elif other is None:
            for name in sorted(apart - before.keys()):
                value = after[name]
                if not _is_number(value) or name.rpartition(".")[0] != path.rpartition(".")[0] or not _digits(one):
                    continue
                if value == one or _scaled(one, value):
                    yield Drift(field=path, before=str(one), after=f"{name} = {value}", how="has another name")


def _of_texts(old: str, new: str) -> Drift | None:
    """Two texts that differ in their numbers alone."""
    if old == new or len(old) > 2000 or len(new) > 2000 or _NUMBER.sub("#", old) != _NUMBER.sub("#", new):
        return None
    for one, other in zip(_NUMBER.finditer(old), _NUMBER.findall(new), strict=True):
        if one[0] != other and _scaled(float(one[0]), float(other)):
            before = old[: one.start()].split()[-2:]
            return Drift(field=" ".join(before) or "its number", before=one[0], after=other, how="is in another scale")
    return None


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0


def _digits(value: float) -> bool:
    """Whether a number has digits enough to be known again."""
    return len(f"{abs(value):.10g}".replace(".", "").strip("0")) >= 2


def _scaled(one: float, other: float) -> bool:
    """Whether a number is another one in a scale in which things are measured, to the digit."""
    if not one or not other or not _digits(one):
        return False
    ratio = abs(other / one)
    return one * other > 0 and any(abs(ratio / by - 1) < 1e-9 or abs(ratio * by - 1) < 1e-9 for by in _SCALES)


def _share(one: float, other: float) -> bool:
    """Whether a whole number of a hundred is a fraction of one now, or the other way round."""
    whole, part = (one, other) if abs(one) > abs(other) else (other, one)
    return isinstance(part, float) and 0 < part < 1 and 2 <= whole <= 100 and 20 < whole / part < 500


def _names_unit(path: str) -> bool:
    return bool(set(words_of(path.rpartition(".")[2])) & _UNITS)


def _said(value: Any) -> str:
    return ("an object" if value is dict else "a list") if isinstance(value, type) else str(value)
