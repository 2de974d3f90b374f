"""``tacho shred``."""

from __future__ import annotations

import argparse

from tachograph import wiring
from tachograph.host import custody
from tachograph.log.opening import shredded_at
from tachograph.log.reader import resolve

from .output import confirm


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument("--reason", metavar="TEXT", help="why; the ledger keeps it")
    parser.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    reason = custody.reason_of(options.reason)
    if (at := shredded_at(opened.store, session_id)) is not None:
        print(f"{session_id} was shredded already, {at}; tacho cat ledger says by whom and why")
        return 0
    if not options.yes:
        confirm(f"Destroy the key of {session_id}? Nobody can read its content after this, and nothing brings it back.")
    line = custody.shred(custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy), session_id, reason)
    print(f"{session_id} shredded, line {line} of the ledger; its lines stay and verify. Copies of keys/{session_id}.json must go, too.")
    return 0
