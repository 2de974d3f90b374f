"""``tacho hold add|remove|ls``."""

from __future__ import annotations

import argparse

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import custody, holds
from tachograph.log import book as books
from tachograph.log import retention
from tachograph.log.book import entry_of, said_by
from tachograph.log.opening import OpenStore
from tachograph.log.reader import resolve

from .app import FAILURE
from .output import confirm, plural, print_json, print_notes

_WHAT = ("add", "remove", "ls")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tacho hold add SES --matter M --reason TEXT | remove SES --matter M --reason TEXT [--yes] | ls [SES] [--json]"
    parser.add_argument("what", metavar="add|remove|ls", choices=_WHAT, help="hold a session; release it from a matter; list what is held")
    parser.add_argument("session", metavar="SES", nargs="?", help="an id, a unique prefix of one, or @last")
    parser.add_argument(
        "--matter", metavar="M", help="what it is held for, as your team numbers it (INC-7); a session can be held for several"
    )
    parser.add_argument("--reason", metavar="TEXT", help="why; the ledger keeps it")
    parser.add_argument("--yes", action="store_true", help="do not ask before a removal; needed where there is no terminal")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    if options.what == "ls":
        return _list(opened, options)
    if options.session is None or options.matter is None:
        raise UsageError(f"which session, for which matter; tacho hold {options.what} SES --matter INC-7 --reason TEXT")
    session_id = resolve(opened.store, options.session)
    matter, reason = retention.matter_of(options.matter), custody.reason_of(options.reason)
    keeper = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    if options.what == "add":
        done = holds.hold(keeper, session_id, matter, reason)
        entered = "it was already" if done.line is None else f"line {done.line} of the ledger"
        print(f"{session_id} held for {matter}, {entered}; neither tacho retain nor tacho shred touches it now.")
    else:
        if not options.yes:
            confirm(f"Release {session_id} from {matter}? Where nothing else holds it, its retention goes on.")
        done = holds.release(keeper, session_id, matter, reason)
        others = keeper.custody(session_id).matters
        rest = f"still held for {', '.join(others)}" if others else "nothing holds it any more"
        print(f"{session_id} released from {matter}, line {done.line} of the ledger; {rest}.")
    if done.objects:
        print(f"{plural(done.objects, 'object')} of the bucket {'held' if options.what == 'add' else 'released'}, too.")
    if done.unlocked is None or opened.store.locks is None:
        return 0
    print_notes([f"the ledger has it, the bucket does not: {done.unlocked}; then say it again with a role that may"])
    return FAILURE


def _list(opened: OpenStore, options: argparse.Namespace) -> int:
    session_id = resolve(opened.store, options.session) if options.session else None
    book = books.believed(opened.store, opened.trusted)
    rows = []
    for name in sorted({str(entry_of(entry).subject) for entry in book.entries}):
        for matter, entry in book.holds(name).items() if session_id in (None, name) else ():
            event = entry_of(entry)
            rows.append({
                "session_id": name, "matter": matter, "since": entry.ts, "user": event.user, "host": event.host, "line": entry.seq,
            })  # fmt: skip
    if options.json:
        print_json(rows)
        return 0
    for row in rows:
        who = said_by(book.holds(str(row["session_id"]))[str(row["matter"])])
        print(f"{row['session_id']}  {row['matter']:12}  since {who}")
    if not rows:
        print(f"{session_id or 'no session'} is held" if session_id is None else f"nothing holds {session_id}")
    return 0
