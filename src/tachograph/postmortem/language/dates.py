"""Dates and ages in texts: in the forms of several languages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from .tongues import fold

#: What is older than this is not of the day any more.
OLD = timedelta(hours=20)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d))?")
#: A date in any of the forms that are told, with its time.
ANY_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|(?<![\d.])\d{1,2}[./]\d{1,2}[./]\d{4}(?![\d.])"
)
_OTHER = re.compile(r"(?<![\d.])(\d{1,2})[./](\d{1,2})[./](\d{4})(?![\d.])")
#: The beginnings of the months' names, folded, in the languages that are told.
_MONTHS = (
    ("jan", "ene", "gen"), ("feb", "fev"), ("mar", "mär", "maa", "mrt"), ("apr", "abr", "avr"), ("may", "mai", "mag", "mei"), ("jun", "juin", "giu"),
    ("jul", "juil", "lug"), ("aug", "ago", "aou"), ("sep", "set"), ("oct", "okt", "ott", "out"), ("nov",), ("dec", "dez", "dic"),
)  # fmt: skip
#: “3 days ago”, “il y a 3 jours”, “vor 3 Tagen”, “hace 3 días”, “3 giorni fa”, “há 3 dias”, “3 dagen geleden”.
_AGO = re.compile(
    r"(?:\b(?:vor|il y a|hace|h[aá])\s+)?(?P<number>\d{1,4})\s*(?P<unit>hours?|stunden?|heures?|horas?|ore|uren|uur|days?|tage?n?|jours?|d[ií]as?|giorn[oi]|dagen|weeks?|wochen?|semaines?"
    r"|semanas?|settiman[ae]|weken|months?|monate?n?|mois|mes(?:es)?|mes[ei]|maanden|years?|jahre?n?|ans?|a[nñ]os?|ann[oi]|anos?|jaar)(?:\s+(?:ago|fa|geleden|atr[aá]s|old|alt))?\b",
    re.IGNORECASE,
)
_HOURS = (("h", 1), ("stund", 1), ("or", 1), ("u", 1), ("d", 24), ("t", 24), ("j", 24), ("g", 24), ("w", 168), ("s", 168), ("mo", 720), ("me", 720), ("ma", 720), ("y", 8760), ("a", 8760))  # fmt: skip


def date_in(text: str) -> datetime | None:
    """The first ISO date of a text."""
    match = DATE.search(text)
    if match is None:
        return None
    year, month, day, hour, minute = (int(part or 0) for part in match.groups())
    try:
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None


def names_day(text: str, day: datetime) -> bool:
    """Whether a text names a day: in figures, or with the month's name (“31 January”, “January 31st”, “31. Januar”, “31 de enero”)."""
    if any(found.date() == day.date() for match in ANY_DATE.finditer(text) if (found := moment(match[0], day)) is not None):
        return True
    spoken = fold(text)
    begins = "|".join(fold(begin) for begin in _MONTHS[day.month - 1])
    return re.search(rf"(?<!\d)0?{day.day}(?:st|nd|rd|th|er|\.|º|°)?(?: de| of)? (?:{begins})[a-z]{{0,8}}\b|\b(?:{begins})[a-z]{{0,8}}\.? 0?{day.day}(?!\d)", spoken) is not None  # fmt: skip


def moment(text: str, now: datetime) -> datetime | None:
    """The moment that a whole value names: an ISO date, ``28.11.2026``, seconds or milliseconds since 1970 of the five years before now, or an age."""
    bare = text.strip()
    if len(bare) > 60:
        return None
    found = date_in(bare)
    if found is not None:
        return found
    other = _OTHER.search(bare)
    if other is not None:
        day, month, year = int(other[1]), int(other[2]), int(other[3])
        if month > 12:
            day, month = month, day
        try:
            return datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            return None
    if bare.isdigit() and len(bare) in (10, 13):
        seconds = int(bare) / (1000 if len(bare) == 13 else 1)
        return datetime.fromtimestamp(seconds, UTC) if 0 <= now.timestamp() - seconds <= 5 * 366 * 86400 else None
    return _ago(bare, now)


def _ago(text: str, now: datetime) -> datetime | None:
    match = _AGO.search(text)
    if match is None or (not re.match(r"(?i)(?:vor|il y a|hace|h[aá])\b", match[0]) and not re.search(r"(?i)(?:ago|fa|geleden|atr[aá]s|old|alt)\Z", match[0])):  # fmt: skip
        return None
    unit = match["unit"].lower()
    hours = next((hours for begins, hours in sorted(_HOURS, key=lambda one: -len(one[0])) if unit.startswith(begins)), None)
    if unit.startswith(("sem", "set")):
        hours = 168
    return now - timedelta(hours=int(match["number"]) * hours) if hours is not None else None
