"""Dates and ages in texts: in the forms of several languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from .remembered import remembered
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


#: The months' names, and what they are shortened to, folded; no short ones that are words of their own (``set``, ``out``, ``ago``).
_NAMES = (
    "january jan januar janvier janv enero gennaio janeiro januari", "february feb februar fevrier fevr febrero febbraio fevereiro februari",
    "march mar marz maerz mars marzo marco maart mrt", "april apr avril avr abril aprile", "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho", "july jul juli juillet juil julio luglio julho", "august aug aout agosto augustus",
    "september sep sept septembre septiembre settembre setembro", "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro", "december dec dezember dez decembre diciembre dicembre dezembro",
)  # fmt: skip
_MONTH_OF = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_MONTH_NAME = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_SPOKEN = re.compile(
    rf"(?<![\w.:,])(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|e|\.|º|°)?(?: (?:de|of|d'))? ?(?P<month>{_MONTH_NAME})\b\.?"
    rf"|\b(?P<month2>{_MONTH_NAME})\b\.? (?:the )?(?P<day2>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:]|[.,]\d)"
)
#: A day without its month: “the 9th”, “le 9”, “am 9.”, “el 9”.
_DAY_ALONE = re.compile(
    r"(?<![\w.:,])(?P<day>[0-3]?\d)(?:st|nd|rd|th)\b|\b(?:den|der|am|vom|zum|le|au|el|al|il|dal|dia|giorno|jour|de|op)(?:\s(?:dia|giorno|jour))? (?P<day2>[0-3]?\d)(?:\.(?!\d)|e|er)?(?![\w:%€$]|[.,]\d| ?[a-z%€$])"
)
_WRITTEN = re.compile(r"(?<![\d.])(\d{4})-(\d\d)-(\d\d)(?!\d)|(?<![\d./])(\d{1,2})([./])(\d{1,2})(?:\5((?:20)?\d\d)?)?(?![\d/]|\.\d)")


@dataclass(frozen=True)
class Day:
    """A day that a text names. ``of``: what it may be, as (month, day), the month 0 where none is named; ``text``: as written, in lower case; ``start``, ``end``:
    where it stands in the folded text."""

    of: frozenset[tuple[int, int]]
    text: str
    start: int
    end: int

    def may_be(self, other: Day) -> bool:
        """Whether both may be of one day."""
        return any(day == there and (not month or not where or month == where) for month, day in self.of for where, there in other.of)


@remembered
def days(text: str) -> tuple[Day, ...]:
    """The days that a text names, in order: in figures, with the month's name, or by their number alone."""
    spoken = fold(text[:20_000])
    if not any(character.isdigit() for character in spoken):
        return ()
    found: list[Day] = []
    for pattern in (_WRITTEN, _SPOKEN, _DAY_ALONE):
        for match in pattern.finditer(spoken):
            of = _day_of(match, pattern)
            if of and not any(one.start < match.end() and match.start() < one.end for one in found):
                found.append(Day(of, match.group().strip(), match.start(), match.end()))
    return tuple(sorted(found, key=lambda one: one.start)[:48])


def _day_of(match: re.Match[str], pattern: re.Pattern[str]) -> frozenset[tuple[int, int]]:
    if pattern is _WRITTEN:
        if match[1]:
            pairs = [(int(match[2]), int(match[3]))]
        elif match[7] is None and match[5] == ".":
            pairs = [(int(match[6]), int(match[4]))] if match.group().endswith(".") else []
        else:
            pairs = (
                [(int(match[6]), int(match[4])), (int(match[4]), int(match[6]))] if match[5] == "/" else [(int(match[6]), int(match[4]))]
            )
    else:
        month = match.groupdict().get("month") or match.groupdict().get("month2")
        pairs = [(_MONTH_OF[month] if month else 0, int(match["day"] or match["day2"]))]
    return frozenset((month, day) for month, day in pairs if month <= 12 and 1 <= day <= 31 and (month or pattern is _DAY_ALONE))
