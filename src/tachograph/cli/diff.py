"""``tacho diff``."""

from __future__ import annotations

import argparse

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.core.events import SessionStart
from tachograph.log.reader import Recording, resolve
from tachograph.postmortem import departure

from . import reading
from .app import NO
from .output import print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho diff SES [SES] [--json]"
    parser.add_argument(
        "session", metavar="SES", help="an id, a unique prefix of one, or @last; a fork alone is compared with what it was forked from"
    )
    parser.add_argument("other", metavar="SES", nargs="?", help="the session that is compared with it")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    first = resolve(opened.store, options.session)
    if options.other is None:
        second, first = first, _origin(Recording(opened, first))
    else:
        second = resolve(opened.store, options.other)
    reading.enter(chosen, opened, list(dict.fromkeys([first, second])), "diff")
    found = departure.compare(Recording(opened, first), Recording(opened, second))
    if options.json:
        print_json(found.to_json())
    else:
        print("\n".join(departure.lines(found)))
    return 0 if found.same else NO


def _origin(recording: Recording) -> str:
    start = next((entry.event for entry in recording.entries if isinstance(entry.event, SessionStart)), None)
    origin = start.forked_from.get("session_id") if start is not None else None
    if not origin:
        raise UsageError(f"{recording.session_id} is no fork; name the session that it is to be compared with, tacho diff SES SES")
    return resolve(recording.opened.store, str(origin))
