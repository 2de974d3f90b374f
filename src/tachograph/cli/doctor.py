"""``tacho doctor``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import doctor, launch, record, replay, secrets

from . import reading, verified
from .app import NO
from .output import plural, print_json, print_notes


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho doctor (SES | -- CMD…) [--unverified] [--secret-from F]… [--json]"
    parser.add_argument(
        "session", metavar="SES", nargs="?", help="an id, a unique prefix of one, or @last; without one, CMD is recorded first"
    )
    parser.add_argument("--unverified", action="store_true", help="replay a tape that does not verify")
    parser.add_argument("--secret-from", action="append", default=[], metavar="F", help=secrets.HELP)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(options: argparse.Namespace) -> int:
    given = secrets.collect(options.secret_from, os.environ)
    print_notes(given.notes)
    if options.session is None:
        if not options.command:
            raise UsageError("doctor needs a session, or a command after --; as in tacho doctor -- python agent.py")
        options.session, options.command = _record(options, given), []
    chosen, opened, recording, good = verified.recording(options)
    reading.enter(chosen, opened, [recording.session_id], "replay")
    found = doctor.examine(
        replay.Plan(recording=recording, verified=good, command=options.command, given=given),
        _progress if sys.stderr.isatty() else lambda *_: None,
    )
    if options.json:
        print_json(found)
    else:
        _print(found)
    return 0 if found["deterministic"] else NO


def _record(options: argparse.Namespace, given: secrets.Given) -> str:
    """The command, once for real. Its output goes to standard error: standard output is the answer's."""
    launch.executable(options.command, os.environ)
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        done = _recorded(options, given)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    print_notes(done.notices)
    print(f"tacho: {done.session_id} recorded; it is replayed now, nothing is called for real any more", file=sys.stderr)
    return done.session_id


def _recorded(options: argparse.Namespace, given: secrets.Given) -> record.Recorded:
    policy = wiring.policy(None)
    chosen = wiring.settings(options.store)
    return record.record(
        record.Plan(
            opened=wiring.open_for_writing(chosen), command=options.command, environment=os.environ, clock=chosen.clock,
            entropy=chosen.entropy, name="doctor", links=[], on_loss="continue", id_file=None, given=given, policy=policy, vault=False,
        )
    )  # fmt: skip


def _progress(name: str, number: int, of: int) -> None:
    print(f"\rtacho: replay {number} of {of}: {name}\033[K", end="\r", file=sys.stderr, flush=True)


def _print(found: dict[str, Any]) -> None:
    trials = found["trials"]
    so = "it runs the same each time" if found["deterministic"] else "it does NOT run the same each time"
    print(f"{found['session_id']}: {so}, from the record ({plural(len(trials), 'replay')} in {sum(t['seconds'] for t in trials):.1f} s)")
    bare = [source for source in found["sources"] if not source["covered"]]
    used = [source for source in found["sources"] if source["covered"] and source["matters"]]
    idle = [source for source in found["sources"] if source["covered"] and not source["matters"]]
    for source in bare:
        print(f"  NOT COVERED  {source['source']}: {source['what']}")
        if source["field"] is not None:
            print(f"    in {source['field']}: {_short(source['expected'])} was recorded, {_short(source['actual'])} now")
        for place in source["places"]:
            print(f"    at {place}")
        print(f"    cover it: {source['advice']}")
        if source["lenient"] is not None:
            print(f"    with --lenient the replay is {source['lenient']}")
    for source in used:
        print(f"  covered by {source['tap']}, and the agent depends on it: {source['source']}, {plural(source['reads'], 'read')}")
        if source["field"] is not None:
            print(f"    live, it differs in {source['field']}: {_short(source['expected'])} was recorded, {_short(source['actual'])} now")
        for place in source["places"]:
            print(f"    read in {place}")
    for source in idle:
        print(f"  covered by {source['tap']}, and decides nothing here: {source['source']}, {plural(source['reads'], 'read')}")
    if not found["sources"]:
        print("  it reads no clock, no entropy and nothing else of its surroundings that a tap records")


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else text[:79] + "…"
