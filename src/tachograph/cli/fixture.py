"""``tacho fixture``."""

from __future__ import annotations

import argparse
import sys

from tachograph import wiring
from tachograph.core.errors import TachographError, TamperedError, UsageError
from tachograph.host import checkout, fixture, replay
from tachograph.log.reader import Recording, resolve
from tachograph.log.verdict import verdict
from tachograph.log.writer import timestamp

from . import reading
from .app import NO
from .output import plural, policy_argument, print_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho fixture SES -o DIR [--repo DIR] [--policy FILE] [--json]"
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument(
        "-o",
        dest="folder",
        metavar="DIR",
        required=True,
        help="where to write: a new or empty folder, in the repository of the agent's code",
    )
    parser.add_argument("--repo", metavar="DIR", help="a clone that has the recorded commit, where the recorded place is gone or has not")
    policy_argument(parser)
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def run(options: argparse.Namespace) -> int:
    checkout.unused(options.folder)
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    checked = verdict(opened.store, session_id, public=opened.trusted, opened=opened)
    if checked.verdict != "verified":
        raise TamperedError(
            f"the record of {session_id} is {checked.verdict}, and only a verified one is handed on; tacho verify tells all"
        )
    reading.enter(chosen, opened, [session_id], "fixture")
    policy = wiring.policy(options.policy).policy
    found = fixture.missed(opened, session_id, policy)
    if found:
        raise UsageError(
            f"the rules of today mask {plural(len(found), 'value')} that {session_id} holds as they are (the first: {found[0].kind} in {found[0].place}), "
            "and a fixture is for a repository; tacho audit-secrets names them: record it anew, or allow them in the policy"
        )
    at = timestamp(chosen.clock.unix_ms())
    written = fixture.write(Recording(opened, session_id), options.folder, at=at, policy=policy, repository=options.repo)
    try:
        replayed = str(replay.replay(fixture.Fixture(written.folder).plan(silent=True))["verdict"])
    except TachographError as error:
        replayed = f"no replay ({error})"
    if options.json:
        print_json({**written.to_json(), "replay": replayed})
    else:
        print(
            f"tacho: {session_id} is in {options.folder} ({written.bytes / 1024:,.0f} KiB); it replays: {replayed.upper()}", file=sys.stderr
        )
        if written.as_now:
            print(f"  too large to put in, and taken as they are then: {plural(written.as_now, 'committed file')}", file=sys.stderr)
        print(f"  next: pytest {written.test}", file=sys.stderr)
    return 0 if replayed == "identical" else NO
