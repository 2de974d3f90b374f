"""The session that another one is compared with where none is named: the last good one."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import TachographError
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording

from .output import plural

#: Sessions that are read until one is what the catalogue said of it.
_TRIES = 5


@dataclass(frozen=True)
class Found:
    """``recording``: None where there is none. ``lines``: which was taken and why, or why none was, for a person. ``alone``: there is no session
    before this one, which is no news to anybody."""

    recording: Recording | None
    lines: tuple[str, ...]
    told: dict[str, Any] | None = None
    alone: bool = False


def find(opened: OpenStore, recording: Recording) -> Found:
    """The last good session before this one."""
    from tachograph.fleet import last_good

    searched = last_good.search(opened, recording)
    notes = [f"what the ledger says is known in part, so one may be linked to an incident: {searched.problem}"] if searched.problem else []
    for one in searched.found[:_TRIES]:
        try:
            good = Recording(opened, one.session_id)
        except TachographError as error:
            notes.append(f"{one.session_id} cannot be read, and an older one is taken: {error}")
            continue
        if not last_good.confirmed(good):
            continue
        begun = _time(one.started)
        line = f"compared with the last good session, {one.session_id}" + (f" ({begun})" if begun else "") + f": {one.why}"
        return Found(good, (line, *_passed(one.passed, one.more), *notes), one.to_json())
    seen = f"none of the {plural(searched.looked, 'session')} before it" if searched.looked else "there is no session before it"
    if searched.looked:
        seen += " is of the same name, or of the same agent and repository, ended ok and is linked to no incident"
    if searched.unseen:
        seen += f"; {searched.unseen:,} older ones were not looked at, tacho catalogue makes that quick"
    alone = not searched.looked and not searched.unseen
    return Found(None, (f"no last good session to compare with: {seen}", *notes), alone=alone)


def _passed(passed: tuple[tuple[str, str], ...], more: int) -> list[str]:
    if not passed:
        return []
    named = ", ".join(f"{name} ({why})" for name, why in passed)
    return [f"newer ones of the kind, passed over: {named}" + (f" and {more:,} more" if more else "")]


def _time(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
