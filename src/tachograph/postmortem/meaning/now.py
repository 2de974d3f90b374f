"""A session's now: the time at which it began, and the time that it was told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.language.dates import DATE, date_in

from .actions import doings
from .once import once

if TYPE_CHECKING:
    from datetime import datetime

    from tachograph.postmortem.case import Case


#: A field of a result that is its service's now.
_NOW_FIELD = re.compile(
    r"[\"'](?:now|today|server_?time|current_?(?:date|time)|jetzt|heute|aktuelle_?zeit|maintenant|heure_?actuelle|date_?actuelle|ahora|hoy|(?:fecha|hora)_?actual|adesso|oggi|(?:data|ora)_?attuale|agora|hoje|(?:data|hora)_?atual|nu|vandaag|huidige_?(?:tijd|datum))[\"']\s{0,2}:\s{0,2}[\"'](\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?)",
    re.IGNORECASE,
)
_TODAY = re.compile(
    r"\b(?:today|now|current (?:date|time)|date|it|heute|jetzt|aujourd'hui|hoy|oggi|hoje|vandaag|datum|fecha|data)"
    r" ?(?:is|:|=|ist|est|es|è|é)?\s{0,3}(?:\w+day,? |der |le |el |il )?(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?)",
    re.IGNORECASE,
)


@once
def told_now(case: Case) -> datetime | None:
    """The time that the session was told."""
    for passage in doings(case).passages:
        if passage.kind in ("system", "user", "tool_result"):
            text = passage.text[:20_000]
            if DATE.search(text) is None:
                continue
            match = _TODAY.search(text) or (_NOW_FIELD.search(text) if passage.kind == "tool_result" else None)
            if match is not None:
                return date_in(match.group(1))
    return None


def clock(case: Case) -> datetime | None:
    """The time at which the session began."""
    return date_in(case.story.started_at or "")
