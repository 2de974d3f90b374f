"""``tacho diff``."""

from __future__ import annotations

import argparse

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.core.events import SessionStart
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve
from tachograph.postmortem import departure

from . import last_good, reading
from .app import NO
from .output import print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho diff SES [SES] [--json]"
    parser.add_argument(
        "session",
        metavar="SES",
        help="an id, a unique prefix of one, or @last; alone, a fork is compared with what it was forked from, any other with the last good session of its kind",
    )
    parser.add_argument("other", metavar="SES", nargs="?", help="the session that is compared with it (+, where the first is -)")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    reading.quickly()
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    first = Recording(opened, resolve(opened.store, options.session))
    found = last_good.Found(None, ())
    if options.other is not None:
        second = Recording(opened, resolve(opened.store, options.other))
    else:
        second = first
        first, found = _before(opened, second)
    reading.enter(chosen, opened, list(dict.fromkeys([first.session_id, second.session_id])), "diff")
    compared = departure.compare(first, second)
    if options.json:
        print_json(compared.to_json() | {"last_good": found.told})
    else:
        print("\n".join([*found.lines, *departure.lines(compared)]))
    return 0 if compared.same else NO


def _before(opened: OpenStore, recording: Recording) -> tuple[Recording, last_good.Found]:
    """What a session is compared with that is named alone."""
    start = next((entry.event for entry in recording.entries if isinstance(entry.event, SessionStart)), None)
    origin = start.forked_from.get("session_id") if start is not None else None
    if origin:
        return Recording(opened, resolve(opened.store, str(origin))), last_good.Found(None, ())
    found = last_good.find(opened, recording)
    if found.recording is None:
        raise UsageError(f"{recording.session_id} is no fork, and {'; '.join(found.lines)}; name both, tacho diff GOOD BAD")
    return found.recording, found
