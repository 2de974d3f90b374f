"""``tacho link``."""

from __future__ import annotations

import argparse
import os

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.host import custody
from tachograph.links import linking, refs, repository
from tachograph.log.reader import resolve


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SES", help="an id, a unique prefix of one, or @last")
    parser.add_argument(
        "links", metavar="KIND=REF", nargs="+", help=f"KIND: {', '.join(refs.KINDS)}; a commit as git names it, a PR by URL or number"
    )
    parser.add_argument("--remove", action="store_true", help="take the links back; the ledger keeps that they were made")
    parser.add_argument("--reason", metavar="TEXT", help="with --remove: why; the ledger keeps it")


def run(options: argparse.Namespace) -> int:
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    session_id = resolve(opened.store, options.session)
    here = repository.here(os.getcwd())
    wanted = [refs.parse(text, here) for text in options.links]
    by = custody.keeper(opened, clock=chosen.clock, entropy=chosen.entropy)
    if options.remove:
        linking.unlink(by, session_id, wanted, custody.reason_of(options.reason))
        print(f"{session_id} is no longer linked to {', '.join(map(str, wanted))}.")
        return 0
    if options.reason is not None:
        raise UsageError("a reason is for --remove; a link says what it is by itself")
    new = linking.link(by, session_id, wanted)
    for ref in dict.fromkeys(wanted):
        print(f"{session_id} linked to {ref}" + ("" if ref in new else ", as it was already"))
    return 0
